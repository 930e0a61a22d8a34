//! Dependencies of the workspace: crates depend on each other downward only, few crates use the
//! libraries that are slow to build, and modules form only the documented cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{metadata, name, sources};

/// Each crate of the workspace, with the crates directly below it. It may use these, and all that
/// they may use.
const BELOW: &[(&str, &[&str])] = &[
    ("kernel", &[]),
    ("reliability", &["kernel"]),
    ("nand", &["reliability"]),
    ("trace-format", &["block"]),
    ("workload", &["trace-format"]),
    ("histogram", &["kernel"]),
    ("observe", &["histogram"]),
    ("block", &["kernel"]),
    ("cache", &["kernel"]),
    ("miss-ratio", &["cache"]),
    ("partition", &["miss-ratio"]),
    ("dram-buffer", &["block", "cache"]),
    ("hdd", &["block"]),
    ("ram-disk", &["block", "histogram"]),
    ("host-cpu", &["block", "cache"]),
    ("ftl", &["cache", "nand"]),
    ("content-oracle", &["ftl"]),
    ("host-link", &["block"]),
    ("io-scheduler", &["block", "nand"]),
    (
        "ssd",
        &["host-link", "io-scheduler", "content-oracle", "dram-buffer"],
    ),
    ("flash-cache", &["hdd", "partition", "ssd"]),
    ("array", &["flash-cache", "ram-disk"]),
    ("config", &["host-cpu", "array", "workload"]),
    ("memory", &["kernel"]),
    ("package", &["config", "memory"]),
    ("cachesim", &["config", "observe"]),
    ("recorder", &["config", "memory", "observe"]),
    ("results", &["recorder"]),
    ("state-file", &["observe"]),
    ("state", &["config", "state-file"]),
    ("runner", &["state", "results"]),
    ("serve", &["runner"]),
    ("py", &["serve", "cachesim", "package"]),
];

/// Libraries that only the named crates may use directly.
const CONFINED: &[(&str, &[&str])] = &[
    ("arrow-array", &["observe", "py"]),
    ("arrow-schema", &["observe", "py"]),
    ("parquet", &["observe"]),
    ("pyo3", &["py"]),
];

/// Returns the direct dependencies of each crate of the workspace, of any kind, without the prefix
/// `wordline-`.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let names = |list: &Value| list.as_array().into_iter().flatten().map(name).collect();
    metadata()
        .iter()
        .map(|package| (name(package), names(&package["dependencies"])))
        .collect()
}

/// Returns the crates that a crate may use, directly or indirectly.
fn may_use(package: &str) -> BTreeSet<&'static str> {
    let (_, below) = BELOW
        .iter()
        .find(|(member, _)| *member == package)
        .unwrap_or_else(|| panic!("`{package}` is new; add a line to BELOW"));
    let further = below.iter().flat_map(|member| may_use(member));
    below.iter().copied().chain(further).collect()
}

#[test]
fn crates_depend_only_downward() {
    let dependencies = dependencies();
    for (package, used) in &dependencies {
        let may_use = may_use(package);
        for other in used
            .iter()
            .filter(|other| dependencies.contains_key(*other))
        {
            assert!(
                may_use.contains(other.as_str()),
                "`{package}` must not use `{other}`"
            );
        }
    }
}

#[test]
fn confined_libraries_are_used_only_by_their_crates() {
    for (package, used) in dependencies() {
        for (library, rooms) in CONFINED {
            let allowed = !used.contains(*library) || rooms.contains(&package.as_str());
            assert!(
                allowed,
                "`{package}` must not use `{library}`; only {rooms:?} may"
            );
        }
    }
}

/// Returns the crate and the modules of each cycle listed in ARCHITECTURE.md, one per table row.
fn known_circles() -> BTreeSet<(String, Vec<String>)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let page = fs::read_to_string(page).expect("ARCHITECTURE.md exists");
    let table = page.split("| cycle in | modules | reason |").nth(1);
    let rows = table
        .expect("ARCHITECTURE.md has a table of cycles")
        .lines()
        .skip(2);
    let rows = rows.take_while(|row| row.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, modules, reason] = cells[..] else {
            panic!("a row must have three cells: {row}");
        };
        assert!(!reason.is_empty(), "the cycle in {name} has no reason");
        let modules = modules.split(", ").map(|module| module.trim_matches('`'));
        let name = name.trim_matches('`').to_owned();
        (name, modules.map(str::to_owned).collect())
    })
    .collect()
}

/// Returns the top-level modules of a crate, with the modules that each uses. Tests do not count.
fn modules(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let lib = fs::read_to_string(source.join("lib.rs")).unwrap_or_default();
    let exported = exports(&lib);
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in sources(source) {
        let within = file
            .strip_prefix(source)
            .expect("the file is in the folder");
        let top = within.iter().next().expect("the file has a name");
        let top = top.to_string_lossy().trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(&file).expect("sources are readable");
        let text = text.split("#[cfg(test)]\nmod tests").next().expect("one");
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let code = code.collect::<Vec<_>>().join("\n");
        let root = if within.iter().count() == 1 {
            "super::"
        } else {
            "crate::"
        };
        let names = names_behind(&code, "crate::").chain(names_behind(&code, root));
        let named = names.map(|name| exported.get(&name).cloned().unwrap_or(name));
        uses.entry(top).or_default().extend(named);
    }
    uses.remove("lib");
    let tops: BTreeSet<String> = uses.keys().cloned().collect();
    for (top, used) in &mut uses {
        used.retain(|name| name != top && tops.contains(name));
    }
    uses
}

/// Returns the names that the root of a crate exports, with the module of each.
fn exports(lib: &str) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    for statement in lib.split("use ").skip(1) {
        let path = statement.split(';').next().unwrap_or_default();
        let words = || path.split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut words = words().filter(|word| !word.is_empty() && *word != "self");
        let Some(module) = words.next() else { continue };
        exported.extend(words.map(|name| (name.to_owned(), module.to_owned())));
    }
    exported
}

/// Returns the names after `root` in paths: a single name, or the first level of a list.
fn names_behind<'a>(code: &'a str, root: &'a str) -> impl Iterator<Item = String> + 'a {
    code.split(root).skip(1).flat_map(|rest| {
        let list = rest
            .strip_prefix('{')
            .and_then(|list| list.split('}').next());
        let names = list.map_or_else(|| vec![rest], |list| list.split(',').collect());
        let word = |name: &str| {
            let name = name
                .trim_start()
                .split(|c: char| !c.is_alphanumeric() && c != '_');
            name.take(1).collect::<String>()
        };
        names.into_iter().map(word).collect::<Vec<_>>()
    })
}

fn reaches(uses: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(next) = open.pop() {
        for name in &uses[&next] {
            if found.insert(name.clone()) {
                open.push(name.clone());
            }
        }
    }
    found
}

#[test]
fn modules_form_only_the_documented_cycles() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = fs::read_dir(&crates)
        .expect("the folder of crates exists")
        .flatten();
    let mut circles = BTreeSet::new();
    for folder in folders
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
    {
        let uses = modules(&folder.join("src"));
        let reached: BTreeMap<_, _> = uses.keys().map(|top| (top, reaches(&uses, top))).collect();
        for (top, below) in &reached {
            if below.contains(*top) {
                let both = below.iter().filter(|other| reached[other].contains(*top));
                let name = folder.file_name().expect("a folder has a name");
                let name = name.to_string_lossy().into_owned();
                circles.insert((name, both.cloned().collect::<Vec<_>>()));
            }
        }
    }
    assert_eq!(
        circles,
        known_circles(),
        "module cycles differ from the table in ARCHITECTURE.md; update the code or the table"
    );
}
