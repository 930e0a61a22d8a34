//! Checks that the package and the command interface reproduce the timelines that were worked out
//! by hand.
//!
//! The scenarios are the pages of docs/spec/nand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // test code

use crate::scenario;

use std::fs;
use std::path::PathBuf;

use scenario::parse;

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Returns the names and texts of all scenarios.
fn files() -> Vec<(String, String)> {
    let entries = fs::read_dir(docs().join("spec/nand")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let text = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let shown = format!("docs/spec/nand/{name}");
        (shown, fs::read_to_string(&path).unwrap())
    };
    paths.into_iter().map(text).collect()
}

fn check(file: &str, markdown: &str) -> Result<(), String> {
    parse::scenario(file, markdown)?.check()
}

#[test]
fn every_scenario_reproduces_its_timeline() {
    let files = files();
    assert!(!files.is_empty(), "docs/spec/nand contains no scenario");
    let results = files.iter().map(|(file, text)| check(file, text));
    let faults: Vec<String> = results.filter_map(Result::err).collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n\n"));
}

#[test]
fn a_missing_row_of_a_timeline_is_detected() {
    for (file, text) in files() {
        let rows = parse::scenario(&file, &text).unwrap().timeline;
        for row in rows.iter().map(|row| row.line) {
            let lines = (1..).zip(text.lines()).filter(|(line, _)| *line != row);
            let without: Vec<&str> = lines.map(|(_, text)| text).collect();
            assert!(check(&file, &without.join("\n")).is_err(), "{file}:{row}");
        }
    }
}

#[test]
fn every_scenario_is_listed_in_the_index_and_the_navigation() {
    let index = fs::read_to_string(docs().join("spec/index.md")).unwrap();
    let site = fs::read_to_string(docs().join("../mkdocs.yml")).unwrap();
    for (file, _) in files() {
        let link = file.strip_prefix("docs/spec/").unwrap();
        assert!(index.contains(&format!("({link})")), "index.md: {link}");
        assert!(site.contains(&format!("spec/{link}")), "mkdocs.yml: {link}");
    }
}

/// Read of one page: 7 cycles of 10 ns, 1 us of array time, a status read, and 8 bytes of 10 ns.
const READ: &str = "# Read

```toml
[nand.geometry]
planes_per_die = 1
page_bytes = 8
[nand.timing]
read_ns = 1000
command_cycle_ns = 10
bus_mt_per_s = 100.0
```

```operations
given die 0: plane 0 block 0 pages 0-1
at 0 us read die 0: plane 0 block 0 page 1
```

| from ns | until ns | die | stage | what |
|--:|--:|--:|---|---|
| 0 | 70 | 0 | CLE ALE CLE | 00h plane 0 block 0 page 1, 30h |
| 70 | 1,070 | 0 | TON | plane 0 block 0 page 1 |
| 1,070 | 1,170 | 0 | status TOR | 70h, out plane 0 block 0 page 1 |
";

#[test]
fn a_correct_timeline_passes() {
    assert_eq!(check("read.md", READ), Ok(()));
}

#[test]
fn an_error_in_a_timeline_is_reported_with_its_line() {
    let wrong = [
        ("| 0 | 70 |", "| 0 | 80 |", 20),
        ("| 1,070 | 1,170 |", "| 1,071 | 1,171 |", 22),
        ("| 0 | TON", "| 0 | TIN", 21),
        (
            "TON | plane 0 block 0 page 1",
            "TON | plane 0 block 0 page 0",
            21,
        ),
        (
            "out plane 0 block 0 page 1",
            "out plane 0 block 0 page 0",
            22,
        ),
        (
            "00h plane 0 block 0 page 1",
            "00h plane 0 block 0 page 0",
            21,
        ),
        ("| 1,070 | 1,170 |", "| 1,069 | 1,169 |", 22),
        ("1, 30h", "1, 35h", 20),
        (
            "page 1 |\n",
            "page 1 |\n| 1,170 | 1,180 | 0 | busy | 30h |\n",
            0,
        ),
    ];
    for (right, wrong, line) in wrong {
        let markdown = READ.replacen(right, wrong, 1);
        assert_ne!(markdown, READ);
        let fault = check("read.md", &markdown).unwrap_err();
        let place = if line == 0 {
            String::new()
        } else {
            format!("read.md:{line}: ")
        };
        assert!(fault.contains(&place), "{wrong}: {fault}");
    }
}

#[test]
fn a_wrong_row_is_reported_with_the_expected_and_the_actual_row() {
    let fault = check("read.md", &READ.replace("| 1,170 |", "| 1,180 |")).unwrap_err();
    let lines: Vec<&str> = fault.lines().collect();
    assert_eq!(
        lines,
        [
            "read.md: package has | 1,070 | 1,170 | 0 | status TOR | 70h |",
            "read.md:22: expected  | 1,070 | 1,180 | 0 | status TOR | 70h |",
            "read.md: command interface has | 1,070 | 1,170 | 0 | status TOR | 70h, out plane 0 block 0 page 1 |",
            "read.md:22: expected  | 1,070 | 1,180 | 0 | status TOR | 70h, out plane 0 block 0 page 1 |",
        ]
    );
}

#[test]
fn a_parse_error_is_reported_with_its_line() {
    let cases = [
        (
            "# Read",
            "Read",
            "read.md:1: a scenario starts with its title",
        ),
        ("```toml", "```", "read.md:1: there is no ```toml block"),
        (
            "page_bytes = 8",
            "page_byte = 8",
            "read.md:6: unknown field `page_byte`",
        ),
        (
            "given die",
            "given read die",
            "read.md:14: `given` accepts only pages",
        ),
        (
            "page 1\n```",
            "page 1\nthen commands die 0: 70h\n```",
            "read.md:16: commands and transactions are mixed",
        ),
        ("at 0 us", "at noon", "read.md:15: `noon"),
        ("at 0 us", "at 0 s", "read.md:15: `s` is not a unit"),
        (
            "read die",
            "reed die",
            "read.md:15: `reed` is not an operation",
        ),
        (
            "read die",
            "multi-plane read die",
            "read.md:15: `multi-plane` must be given exactly if",
        ),
        (
            "read die 0",
            "read die 1",
            "read.md:15: die 1 is out of range",
        ),
        (
            "pages 0-1",
            "pages 0-64",
            "read.md:14: plane 0 block 0 page 64 is out of range",
        ),
        (
            "| CLE ALE CLE |",
            "| CLE CLE |",
            "read.md:20: the stages of these cycles must be `CLE ALE CLE`",
        ),
        (
            "| 70 | 1,070 |",
            "| 70 | soon |",
            "read.md:21: `soon` is not a time",
        ),
        ("| from ns |", "| from |", "read.md:1: there is no timeline"),
        (
            "| 1,070 | 1,170 |",
            "| 60 | 1,170 |",
            "read.md:22: the row starts before",
        ),
        (
            "at 0 us read die 0: plane 0 block 0 page 1\n",
            "",
            "read.md:1: there are no operations",
        ),
    ];
    for (right, wrong, expected) in cases {
        let markdown = READ.replacen(right, wrong, 1);
        let fault = check("read.md", &markdown).unwrap_err();
        assert!(fault.starts_with(expected), "{wrong}: {fault}");
    }
    let end = READ.find("| 0 | 70 |").unwrap();
    let fault = check("read.md", &READ[..end]).unwrap_err();
    assert!(fault.contains("the timeline is empty"), "{fault}");
}

#[test]
fn an_operation_refused_by_the_array_is_reported_with_its_line() {
    let fault = check("read.md", &READ.replace("pages 0-1", "page 0")).unwrap_err();
    assert!(fault.starts_with("read.md:15: "), "{fault}");
}
