//! Checks that the cost model divides the flash of the worked examples as their paper states. The
//! scenarios are the pages of docs/spec/partition.
#![allow(clippy::unwrap_used, clippy::panic)] // test code, also outside test functions

use crate::zipf;

use std::fs;
use std::path::PathBuf;

use wordline_partition::Costs;
use wordline_partition::cost::{Load, Model};

/// Pages of a flash of 4 GB. `PER_CENT` is one per cent of them.
const PAGES: u32 = 1_000_000;
const PER_CENT: f64 = 10_000.0;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/partition")
}

/// Returns the cells of the table with these columns, row by row.
fn table<'a>(text: &'a str, columns: &[&str]) -> Result<Vec<Vec<&'a str>>, String> {
    let row = |line: &'a str| -> Vec<&'a str> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(str::trim).collect()
    };
    let mut lines = text.lines();
    lines
        .by_ref()
        .find(|line| line.starts_with('|') && row(line) == columns)
        .ok_or_else(|| format!("there is no table with the columns {}", columns.join(", ")))?;
    let body = lines.skip(1).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = body.map(row).collect();
    match rows.iter().find(|cells| cells.len() != columns.len()) {
        Some(cells) => Err(format!(
            "{}: not {} cells",
            cells.join(" | "),
            columns.len()
        )),
        None => Ok(rows),
    }
}

fn number(cell: &str) -> Result<f64, String> {
    cell.parse()
        .map_err(|_| format!("`{cell}` is not a number"))
}

/// Hits of reads or writes: their share of the requests, and a hit curve through the end of each
/// per cent of the flash.
struct Part {
    share: f64,
    hits: Vec<f64>,
}

impl Part {
    fn of(name: &str, rows: &[Vec<&str>]) -> Result<Self, String> {
        let row = rows.iter().find(|row| row[0] == name);
        let row = row.ok_or_else(|| format!("the load has no row for {name}"))?;
        let range = number(row[3])?;
        Ok(Self {
            share: number(row[1])?,
            hits: zipf::shares(number(row[2])?, range as u32),
        })
    }
    fn hit_ratio(&self, pages: f64) -> f64 {
        let at = pages / PER_CENT;
        let last = self.hits.len() - 1;
        let below = (at.floor() as usize).min(last);
        let above = (below + 1).min(last);
        self.hits[below] + (self.hits[above] - self.hits[below]) * (at - below as f64)
    }
}

/// Printed value, if any, and bounds of the result.
struct Bounds {
    printed: Option<f64>,
    from: f64,
    to: f64,
}

impl Bounds {
    fn of(what: &str, rows: &[Vec<&str>]) -> Result<Self, String> {
        let row = rows.iter().find(|row| row[0] == what);
        let row = row.ok_or_else(|| format!("the results have no row for the {what}"))?;
        Ok(Self {
            printed: if row[1].is_empty() {
                None
            } else {
                Some(number(row[1])?)
            },
            from: number(row[2])?,
            to: number(row[3])?,
        })
    }
    fn hold(&self, what: &str, found: f64) -> Result<(), String> {
        // The last digit of a bound may not be representable in binary.
        if (self.from - 1e-9..=self.to + 1e-9).contains(&found) {
            return Ok(());
        }
        Err(format!(
            "{what} is {found}, which is not from {} to {}",
            self.from, self.to
        ))
    }
}

const UTILISATION: &str = "utilisation";
const READS: &str = "share of reads";
const COST: &str = "cost at the printed division over the lowest cost";

fn check(text: &str) -> Result<(), String> {
    let load = table(text, &["load", "share", "exponent", "range %"])?;
    let (reads, writes) = (Part::of("reads", &load)?, Part::of("writes", &load)?);
    let choices = table(text, &["reads that hit written data", "steps"])?;
    let [choice] = &choices[..] else {
        return Err("the table of steps must have one row".into());
    };
    let answers = table(text, &["what", "printed", "from", "to"])?;
    let (utilisation, ratio) = (
        Bounds::of(UTILISATION, &answers)?,
        Bounds::of(READS, &answers)?,
    );
    let cost = Bounds::of(COST, &answers)?;
    let model = Model {
        costs: Costs::PUBLISHED,
        pages_per_block: 64,
        total_pages: PAGES,
    };
    let load = Load {
        read_hit_ratio: &|pages| reads.hit_ratio(pages),
        write_hit_ratio: &|pages| writes.hit_ratio(pages),
        reads: reads.share,
        writes: writes.share,
        reads_of_write_hits: number(choice[0])?,
    };
    let found = model.divide(number(choice[1])? as u32, &load);
    utilisation.hold(UTILISATION, found.utilisation)?;
    ratio.hold(READS, found.read_ratio)?;
    let (Some(at), Some(split)) = (utilisation.printed, ratio.printed) else {
        return Err("the utilisation or the share of reads has no printed value".into());
    };
    cost.hold(COST, model.cost_us(at, split, &load) / found.cost_us)
}

#[test]
fn flash_is_divided_as_in_the_worked_examples() {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 2);
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        if let Err(wrong) = check(&text) {
            panic!("{}: {wrong}", path.display());
        }
    }
}

/// A scenario with a wrong value fails with a message.
#[test]
fn wrong_scenarios_are_detected() {
    let text = fs::read_to_string(folder().join("op-fcl-figure-4.md")).unwrap();
    assert_eq!(check(&text), Ok(()));
    for (from, to, told) in [
        (
            "| 0.64 | 0.62 | 0.67 |",
            "| 0.64 | 0.66 | 0.67 |",
            "utilisation is 0.65",
        ),
        (
            "| 0.25 | 0.25 | 0.35 |",
            "| 0.25 | 0.25 | 0.30 |",
            "share of reads is 0.31",
        ),
        (
            "| 1.0 | 1.007 |",
            "| 1.0 | 1.005 |",
            "over the lowest cost is 1.006",
        ),
        (
            "| writes | 0.8 | 1.4 |",
            "| writes | 0.8 | x |",
            "`x` is not a number",
        ),
        ("| 0.2 | 100 |", "| 0.2 |", "not 2 cells"),
    ] {
        assert!(text.contains(from), "{from}");
        let wrong = check(&text.replace(from, to)).unwrap_err();
        assert!(wrong.contains(told), "{wrong}");
    }
}
