//! Scenarios: a part, its operations and the timeline worked out by hand, written as Markdown. The
//! format is described in docs/spec/index.md.

pub mod commands;
pub mod package;
pub mod parse;
pub mod place;
pub mod text;

use serde::Deserialize;
use wordline_kernel::Time;
use wordline_nand::die::Row;
use wordline_nand::part::Part;
use wordline_nand::{
    Arbitration, Cell, DataSheet, Die, Geometry, Layout, Operation, PlaneRule, Stage,
};
use wordline_nand::{Suspend, Timing};

/// Part of a scenario: the tables under `[nand]` that apply to a package.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nand {
    pub endurance_cycles: u32,
    pub partial_programs: u32,
    pub plane_rule: PlaneRule,
    pub cell: Cell,
    pub geometry: Geometry,
    pub timing: Timing,
    pub arbitration: Arbitration,
    pub suspend: Suspend,
}

impl Default for Nand {
    fn default() -> Self {
        let sheet = DataSheet::default();
        Self {
            endurance_cycles: sheet.endurance_cycles,
            partial_programs: sheet.partial_programs,
            plane_rule: sheet.plane_rule,
            cell: sheet.cell,
            geometry: sheet.geometry,
            timing: sheet.timing,
            arbitration: Arbitration::default(),
            suspend: sheet.suspend,
        }
    }
}

impl Nand {
    /// Returns the data sheet for the command interface.
    pub fn sheet(&self) -> DataSheet {
        DataSheet {
            geometry: self.geometry.clone(),
            timing: self.timing.clone(),
            cell: self.cell.clone(),
            plane_rule: self.plane_rule,
            suspend: self.suspend.clone(),
            endurance_cycles: self.endurance_cycles,
            partial_programs: self.partial_programs,
        }
    }
    /// Returns the part for the package; `None` if it has too many pages.
    pub fn part(&self) -> Option<Part> {
        let part = Part::of(&self.sheet())?;
        Some(Part {
            arbitration: self.arbitration.clone(),
            ..part
        })
    }
    /// Returns the number of bytes transferred per page.
    pub fn bytes(&self) -> u32 {
        let spare = if self.timing.transfer_spare {
            self.geometry.spare_bytes
        } else {
            0
        };
        self.geometry.page_bytes + spare
    }
}

/// Pages programmed before the scenario starts.
#[derive(Debug)]
pub struct Given {
    pub line: usize,
    pub die: Die,
    pub pages: Vec<Row>,
}

/// Operation requested of a die.
#[derive(Debug)]
pub struct Asked {
    pub line: usize,
    /// Time of submission; `None` means as soon as die and bus are ready.
    pub at: Option<Time>,
    pub die: Die,
    pub what: Ask,
}

#[derive(Debug)]
pub enum Ask {
    Transactions(Vec<Wanted>),
    /// Cycles for the command interface.
    Cycles(Vec<Item>),
}

/// Transaction: rows of pages in different planes.
#[derive(Debug)]
pub struct Wanted {
    pub operation: Operation,
    pub rows: Vec<Vec<Row>>,
    pub targets: Vec<Vec<Row>>,
}

/// Element of a bus grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A command, with its address if it has one; 70h includes the status byte.
    Command(u8, Option<Row>),
    /// A page of data to the page register.
    In,
    /// This page of data, from the page register.
    Out(Row),
}

/// Row of a timeline.
#[derive(Clone, Debug)]
pub struct Strip {
    pub line: usize,
    pub from: Time,
    pub until: Time,
    pub die: Die,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    /// Bus grant.
    Bus(Vec<Item>),
    /// Array work.
    Array(Stage, Vec<Row>),
    /// RDY = 0 after this command, if not caused by array work alone.
    Busy(u8),
}

#[derive(Debug)]
pub struct Scenario {
    pub file: String,
    pub nand: Nand,
    pub layout: Layout,
    pub given: Vec<Given>,
    pub asked: Vec<Asked>,
    pub timeline: Vec<Strip>,
}

/// Returns a message about a line of a file.
pub fn fault(file: &str, line: usize, what: impl std::fmt::Display) -> String {
    format!("{file}:{line}: {what}")
}

impl Scenario {
    /// Executes the scenario on every model that supports it. Returns the differences from the
    /// expected timeline as an error.
    pub fn check(&self) -> Result<(), String> {
        let by_hand = self
            .asked
            .iter()
            .any(|it| matches!(it.what, Ask::Cycles(_)));
        let mut differences = Vec::new();
        if !by_hand {
            let package = package::run(self)?;
            differences.extend(text::differences(self, "package", &package, text::codes));
        }
        match commands::run(self) {
            Ok(lines) => {
                let who = "command interface";
                differences.extend(text::differences(self, who, &lines, |strip| {
                    Some(text::whole(strip))
                }));
            }
            Err(refusal) => differences.push(refusal),
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(differences.join("\n"))
    }
}
