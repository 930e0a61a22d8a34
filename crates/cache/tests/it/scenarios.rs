//! Compares the victims of the flash-aware policies with victims calculated by hand. The scenarios
//! are the pages of docs/spec/replacement.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // test code, also outside test functions

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use wordline_cache::{Entry, Owner, Replace, Replacement, Replacing};

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Returns the names and texts of all scenarios.
fn files() -> Vec<(String, String)> {
    let entries = fs::read_dir(docs().join("spec/replacement")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let text = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(&path).unwrap())
    };
    paths.into_iter().map(text).collect()
}

/// Returns the rows of the table with these columns. Each row has its line number.
fn table<'a>(text: &'a str, columns: &[&str]) -> Result<Vec<(usize, Vec<&'a str>)>, String> {
    let row = |line: &'a str| -> Vec<&'a str> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(str::trim).collect()
    };
    let mut lines = (1..).zip(text.lines());
    lines
        .by_ref()
        .find(|(_, line)| line.starts_with('|') && row(line) == columns)
        .ok_or_else(|| format!("no table has the columns {}", columns.join(", ")))?;
    let body = lines.skip(1).take_while(|(_, line)| line.starts_with('|'));
    let rows: Vec<(usize, Vec<&str>)> = body.map(|(number, line)| (number, row(line))).collect();
    match rows.iter().find(|(_, cells)| cells.len() != columns.len()) {
        Some((number, _)) => Err(format!(
            "line {number}: the row does not have {} cells",
            columns.len()
        )),
        None => Ok(rows),
    }
}

#[derive(Clone, Copy)]
struct Chip {
    load_ms: u64,
    collects: bool,
}

#[derive(Clone)]
struct Block {
    name: String,
    dirty: bool,
    chip: Chip,
}

/// Owner of the blocks. The number of an entry is its position in the table.
struct Blocks<'a> {
    all: &'a [Block],
    evicted: Vec<Entry>,
}

impl Owner for Blocks<'_> {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.all[entry.index()].dirty
    }
    fn load(&self, entry: Entry) -> u64 {
        self.all[entry.index()].chip.load_ms * 1_000_000_000
    }
    fn is_collecting(&self, entry: Entry) -> bool {
        self.all[entry.index()].chip.collects
    }
    fn evicted(&mut self, entry: Entry) {
        self.evicted.push(entry);
    }
}

struct Scenario {
    /// Blocks in the cache, the most recently used first.
    blocks: Vec<Block>,
    window: usize,
    /// Expected victims: line, policy, block.
    evicts: Vec<(usize, String, String)>,
}

fn word<T: Copy>(line: usize, cell: &str, words: [(&str, T); 2]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == cell);
    let [(one, _), (other, _)] = words;
    let wrong = || format!("line {line}: `{cell}` is neither {one} nor {other}");
    found.map(|(_, value)| *value).ok_or_else(wrong)
}

fn parse(text: &str) -> Result<Scenario, String> {
    let mut chips = HashMap::new();
    for (line, cells) in table(text, &["chip", "load ms", "collects"])? {
        let wrong = |_| format!("line {line}: `{}` is not an integer", cells[1]);
        let chip = Chip {
            load_ms: cells[1].parse().map_err(wrong)?,
            collects: word(line, cells[2], [("yes", true), ("no", false)])?,
        };
        chips.insert(cells[0], chip);
    }
    let (mut blocks, mut window) = (Vec::new(), 0);
    for (line, cells) in table(text, &["block", "region", "state", "chip"])? {
        let destaging = word(line, cells[1], [("destaging", true), ("working", false)])?;
        if window > 0 && !destaging {
            return Err(format!(
                "line {line}: the rows of the working region must come first"
            ));
        }
        window += usize::from(destaging);
        let chip = chips.get(cells[3]);
        blocks.push(Block {
            name: cells[0].to_owned(),
            dirty: word(line, cells[2], [("dirty", true), ("clean", false)])?,
            chip: *chip.ok_or_else(|| format!("line {line}: no row defines chip {}", cells[3]))?,
        });
    }
    let evicts = table(text, &["policy", "evicts"])?.into_iter();
    Ok(Scenario {
        blocks,
        window,
        evicts: evicts
            .map(|(line, cells)| (line, cells[0].to_owned(), cells[1].to_owned()))
            .collect(),
    })
}

/// Returns the policy with a name. `window_ratio` applies if the policy has a window.
fn policy(name: &str, window_ratio: f64) -> Option<Replacement> {
    let policy: Replacement = serde_json::from_value(name.into()).ok()?;
    let mut parameters = serde_json::to_value(&policy).ok()?;
    let Some(ratio) = parameters[name].get_mut("window_ratio") else {
        return Some(policy);
    };
    *ratio = window_ratio.into();
    serde_json::from_value(parameters).ok()
}

/// Returns the policies that every scenario must contain: LRU and those with a window.
fn shown() -> impl Iterator<Item = &'static str> {
    let has_window = |name: &str| policy(name, 0.0) != policy(name, 1.0);
    let names = Replacement::NAMES.iter().copied();
    names.filter(move |&name| name == "lru" || has_window(name))
}

fn check(text: &str) -> Result<(), String> {
    let Scenario {
        blocks,
        window,
        evicts,
    } = parse(text)?;
    if let Some(missing) = shown().find(|name| evicts.iter().all(|(_, shown, _)| shown != name)) {
        return Err(format!("no row names the victim of {missing}"));
    }
    if evicts.len() != shown().count() {
        return Err(format!(
            "{} policies, not {}",
            evicts.len(),
            shown().count()
        ));
    }
    let capacity = blocks.len();
    for (line, name, expected) in evicts {
        // Half a block is added, so that rounding down does not lose a block.
        let ratio = ((window as f64 + 0.5) / capacity as f64).min(1.0);
        let policy =
            policy(&name, ratio).ok_or_else(|| format!("line {line}: no policy `{name}`"))?;
        let mut state = Replacing::new(&policy, capacity);
        let newcomer = Block {
            name: "the newcomer".into(),
            ..blocks[0].clone()
        };
        let mut all = blocks.clone();
        all.push(newcomer);
        let mut owner = Blocks {
            all: &all,
            evicted: Vec::new(),
        };
        for place in (0..capacity).rev() {
            state.access(Entry(place as u32), all[place].dirty, &mut owner);
        }
        assert!(owner.evicted.is_empty());
        state.access(Entry(capacity as u32), true, &mut owner);
        let [victim] = owner.evicted[..] else {
            return Err(format!(
                "line {line}: {} evictions instead of one",
                owner.evicted.len()
            ));
        };
        let found = &all[victim.index()].name;
        if *found != expected {
            return Err(format!(
                "line {line}: {name} evicts {found}, not {expected}"
            ));
        }
    }
    Ok(())
}

#[test]
fn every_scenario_evicts_its_stated_victim() {
    let files = files();
    assert!(
        files.len() >= 4,
        "docs/spec/replacement contains no scenarios"
    );
    let results = files.iter().map(|(file, text)| (file, check(text)));
    let faults: Vec<String> = results
        .filter_map(|(file, result)| result.err().map(|fault| format!("{file}: {fault}")))
        .collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// A scenario that names another victim of any policy must be detected.
#[test]
fn scenario_with_another_victim_fails() {
    for (file, text) in files() {
        let scenario = parse(&text).unwrap();
        for (line, name, expected) in &scenario.evicts {
            for block in scenario
                .blocks
                .iter()
                .filter(|block| block.name != *expected)
            {
                let right = format!("| {name} | {expected} |");
                let wrong = format!("| {name} | {} |", block.name);
                let changed = text.replace(&right, &wrong);
                assert_ne!(changed, text);
                let fault = check(&changed).unwrap_err();
                assert!(
                    fault.starts_with(&format!("line {line}:")),
                    "{file}: {fault}"
                );
            }
        }
    }
}

#[test]
fn every_scenario_is_listed_in_the_index_and_the_navigation() {
    let index = fs::read_to_string(docs().join("spec/index.md")).unwrap();
    let site = fs::read_to_string(docs().join("../mkdocs.yml")).unwrap();
    for (file, _) in files() {
        assert!(
            index.contains(&format!("(replacement/{file})")),
            "index.md: {file}"
        );
        assert!(
            site.contains(&format!("spec/replacement/{file}")),
            "mkdocs.yml: {file}"
        );
    }
}
