//! The crates of the workspace depend on each other downward only, and what is slow to build stays
//! in one of them.
#![allow(clippy::expect_used)] // outside test functions too, this file is a test

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Each crate of the workspace and what it may use, itself or through others.
const MAY_USE: &[(&str, &[&str])] = &[
    ("kernel", &[]),
    ("nand", &["kernel"]),
    ("workload", &["block", "kernel"]),
    ("observe", &["kernel"]),
    ("block", &["kernel"]),
    ("cache", &["kernel"]),
    ("buffer", &["block", "cache", "kernel"]),
    ("ftl", &["cache", "nand", "kernel"]),
    (
        "device",
        &["buffer", "block", "cache", "ftl", "nand", "kernel"],
    ),
    (
        "store",
        &[
            "block", "buffer", "cache", "device", "ftl", "nand", "kernel",
        ],
    ),
    (
        "config",
        &[
            "store", "device", "buffer", "block", "ftl", "cache", "nand", "workload", "kernel",
        ],
    ),
    ("memory", &["kernel"]),
    (
        "package",
        &[
            "config", "memory", "store", "device", "buffer", "block", "ftl", "cache", "nand",
            "workload", "kernel",
        ],
    ),
    (
        "cachesim",
        &[
            "config", "store", "device", "buffer", "block", "ftl", "cache", "nand", "workload",
            "observe", "kernel",
        ],
    ),
    (
        "sim",
        &[
            "config", "memory", "store", "device", "buffer", "block", "ftl", "cache", "nand",
            "workload", "observe", "kernel",
        ],
    ),
    (
        "py",
        &[
            "sim", "cachesim", "package", "config", "memory", "store", "device", "buffer", "block",
            "ftl", "cache", "nand", "workload", "observe", "kernel",
        ],
    ),
];

/// Libraries that only the named crates may use directly.
const CONFINED: &[(&str, &[&str])] = &[
    ("arrow-array", &["observe", "py"]),
    ("arrow-schema", &["observe", "py"]),
    ("parquet", &["observe"]),
    ("pyo3", &["py"]),
];

/// Direct dependencies of each crate of the workspace, for any purpose, names without `wordline-`.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let names = |list: &Value| list.as_array().into_iter().flatten().map(name).collect();
    metadata["packages"]
        .as_array()
        .expect("metadata lists packages")
        .iter()
        .map(|package| (name(package), names(&package["dependencies"])))
        .collect()
}

fn name(package: &Value) -> String {
    let name = package["name"].as_str().expect("a package has a name");
    name.strip_prefix("wordline-").unwrap_or(name).to_owned()
}

#[test]
fn crates_depend_downward_only() {
    let dependencies = dependencies();
    for (package, used) in &dependencies {
        let (_, may_use) = MAY_USE
            .iter()
            .find(|(member, _)| member == package)
            .unwrap_or_else(|| panic!("`{package}` is new: give it a line in MAY_USE"));
        for other in used
            .iter()
            .filter(|other| dependencies.contains_key(*other))
        {
            assert!(
                may_use.contains(&other.as_str()),
                "`{package}` must not use `{other}`"
            );
        }
    }
}

#[test]
fn slow_or_foreign_libraries_stay_in_their_room() {
    for (package, used) in dependencies() {
        for (library, rooms) in CONFINED {
            let allowed = !used.contains(*library) || rooms.contains(&package.as_str());
            assert!(
                allowed,
                "`{package}` must not use `{library}`, only {rooms:?} may"
            );
        }
    }
}
