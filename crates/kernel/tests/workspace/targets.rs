//! Library targets. `cargo test` compiles a library again for its unit tests, and reads it once
//! more for the examples in its comments, unless its manifest states that it has none.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{metadata, name, sources};

/// Returns whether a text has unit tests, and whether its comments have examples.
fn has_tests_and_examples(text: &str) -> (bool, bool) {
    let mut found = (false, false);
    for line in text.lines().map(str::trim_start) {
        found.0 |= line.starts_with("#[test]") || line.starts_with("#[cfg(test)]");
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
        found.1 |= comment.is_some_and(|comment| comment.trim_start().starts_with("```"));
    }
    found
}

#[test]
fn every_library_states_whether_it_has_unit_tests_and_examples() {
    for package in metadata() {
        let targets = package["targets"]
            .as_array()
            .expect("a package has targets");
        let of_kind = |target: &&Value| target["kind"][0] == "lib";
        let Some(library) = targets.iter().find(of_kind) else {
            continue; // A library that is linked into Python cannot be run by itself.
        };
        let root = library["src_path"].as_str().expect("a target has a path");
        let folder = Path::new(root).parent().expect("a file is in a folder");
        let (mut tests, mut examples) = (false, false);
        for file in sources(folder) {
            let text = fs::read_to_string(file).expect("sources are readable");
            let found = has_tests_and_examples(&text);
            (tests, examples) = (tests | found.0, examples | found.1);
        }
        let name = name(&package);
        let remedy = "correct `[lib]` of its Cargo.toml";
        assert_eq!(
            library["test"], tests,
            "unit tests of {name}: {remedy} (test)"
        );
        assert_eq!(
            library["doctest"], examples,
            "examples of {name}: {remedy} (doctest)"
        );
    }
}

#[test]
fn tests_and_examples_are_found() {
    assert_eq!(
        has_tests_and_examples("fn a() {}\n// ```\n"),
        (false, false)
    );
    assert_eq!(
        has_tests_and_examples("    #[test]\nfn a() {}"),
        (true, false)
    );
    assert_eq!(
        has_tests_and_examples("#[cfg(test)]\nmod tests;"),
        (true, false)
    );
    assert_eq!(
        has_tests_and_examples("/// ```\n/// a();\n/// ```"),
        (false, true)
    );
    assert_eq!(has_tests_and_examples("//! ```no_run"), (false, true));
}
