//! Timelines as text, for comparison and messages.

use std::collections::BTreeMap;

use wordline_kernel::Time;
use wordline_nand::{Die, Stage};

use super::place::words_of;
use super::{Item, Scenario, Strip, What, fault};

/// Compared properties of a strip.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    pub from: Time,
    pub until: Time,
    pub die: Die,
    pub stage: String,
    pub what: String,
}

impl Line {
    fn show(&self) -> String {
        let Self { stage, what, .. } = self;
        let (from, until) = (grouped(self.from), grouped(self.until));
        format!("| {from} | {until} | {} | {stage} | {what} |", self.die.0)
    }
}

/// Formats a time in nanoseconds, with thousands separators.
fn grouped(time: Time) -> String {
    let digits = time.ns().to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    match time.ps() % 1000 {
        0 => text,
        ps => format!("{text}.{ps:03}"),
    }
}

/// Returns the stages of the elements of a bus grant.
pub fn stages(items: &[Item]) -> String {
    let stages = items.iter().flat_map(|item| match item {
        Item::Command(0x70, _) => vec![Stage::Status],
        Item::Command(_, None) => vec![Stage::Cle],
        Item::Command(_, Some(_)) => vec![Stage::Cle, Stage::Ale],
        Item::In => vec![Stage::Tir],
        Item::Out(_) => vec![Stage::Tor],
    });
    let names: Vec<&str> = stages.map(Stage::name).collect();
    names.join(" ")
}

fn line(strip: &Strip, stage: &str, what: String) -> Line {
    Line {
        from: strip.from,
        until: strip.until,
        die: strip.die,
        stage: stage.to_owned(),
        what,
    }
}

/// Returns the properties of a strip that a package reports: commands without addresses, and no
/// busy times.
pub fn codes(strip: &Strip) -> Option<Line> {
    if let What::Bus(items) = &strip.what {
        let commands = items.iter().filter_map(|item| match item {
            Item::Command(code, _) => Some(format!("{code:02X}h")),
            _ => None,
        });
        let commands: Vec<String> = commands.collect();
        return Some(line(strip, &stages(items), commands.join(" ")));
    }
    (!matches!(strip.what, What::Busy(_))).then(|| whole(strip))
}

/// Returns all properties of a strip.
pub fn whole(strip: &Strip) -> Line {
    match &strip.what {
        What::Bus(items) => {
            let words: Vec<String> = items.iter().map(word).collect();
            line(strip, &stages(items), words.join(", "))
        }
        What::Array(stage, row) => line(strip, stage.name(), words_of(row, *stage != Stage::Ber)),
        What::Busy(code) => line(strip, "busy", format!("{code:02X}h")),
    }
}

fn word(item: &Item) -> String {
    match item {
        Item::Command(code @ 0x60, Some(row)) => {
            format!("{code:02X}h {}", words_of(&[*row], false))
        }
        Item::Command(code, Some(row)) => format!("{code:02X}h {}", words_of(&[*row], true)),
        Item::Command(code, None) => format!("{code:02X}h"),
        Item::In => "in".to_owned(),
        Item::Out(row) => format!("out {}", words_of(&[*row], true)),
    }
}

/// Returns the expected lines that are missing and the actual lines that are unexpected, in order
/// of time.
pub fn differences(
    scenario: &Scenario,
    who: &str,
    actual: &[Line],
    view: impl Fn(&Strip) -> Option<Line>,
) -> Vec<String> {
    let mut open: BTreeMap<&Line, usize> = BTreeMap::new();
    for line in actual {
        *open.entry(line).or_default() += 1;
    }
    let mut shown = Vec::new();
    for strip in &scenario.timeline {
        let Some(line) = view(strip) else { continue };
        match open.get_mut(&line).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => shown.push((line, Some(strip.line))),
        }
    }
    for (line, count) in open {
        shown.extend((0..count).map(|_| (line.clone(), None)));
    }
    shown.sort();
    let show = |(line, place): &(Line, Option<usize>)| match place {
        Some(place) => fault(&scenario.file, *place, format!("expected  {}", line.show())),
        None => format!("{}: {who} has {}", scenario.file, line.show()),
    };
    shown.iter().map(show).collect()
}
