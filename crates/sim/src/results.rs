//! What a run has found out: a summary and tables.

use wordline_device::{Ssd, Usage};
use wordline_ftl::PageMap;
use wordline_observe::{ObserveError, Table};

use crate::outcome::Outcome;
use crate::summary::{InputSummary, Summary};
use crate::tables;

/// The results of a run.
#[derive(Debug)]
pub struct Results {
    /// The numbers.
    pub summary: Summary,
    /// Whether the user ended the run.
    pub interrupted: bool,
    outcome: Outcome,
    blocks: Vec<u32>,
    usage: Vec<Usage>,
    rows: Option<Table>,
}

impl Results {
    /// Sums a run up.
    pub fn new(
        mut outcome: Outcome,
        rows: Result<Option<Table>, ObserveError>,
        ssd: &Ssd<PageMap>,
    ) -> Self {
        if let Err(error) = &rows {
            outcome.error.get_or_insert(error.to_string());
        }
        let blocks = ssd.array().erases().to_vec();
        let usage: Vec<Usage> = ssd.usage().collect();
        let summary = Summary::new(&outcome, ssd, &blocks, &usage);
        let interrupted = outcome.interrupted;
        Self {
            summary,
            interrupted,
            outcome,
            blocks,
            usage,
            rows: rows.ok().flatten(),
        }
    }
    /// Says where the requests came from.
    pub fn describe_input(&mut self, describe: impl FnOnce(&mut InputSummary, &mut Vec<String>)) {
        describe(&mut self.summary.input, &mut self.summary.notes);
    }
    /// The summary as JSON, indented.
    pub fn summary_json(&self) -> String {
        serde_json::to_string_pretty(&self.summary).unwrap_or_default()
    }
    /// Names of the tables that this run has.
    pub fn tables(&self) -> Vec<&'static str> {
        let mut names = vec!["series", "latency", "dies", "blocks"];
        if self.rows.is_some() {
            names.insert(0, "requests");
        }
        names
    }
    /// A table; `None` if this run has none of that name.
    pub fn table(&self, name: &str) -> Option<Result<Table, ObserveError>> {
        match name {
            "requests" => self.rows.clone().map(Ok),
            "series" => Some(tables::series(&self.outcome.record)),
            "latency" => Some(tables::latency(&self.outcome.record)),
            "dies" => Some(tables::dies(&self.outcome, &self.usage)),
            "blocks" => Some(tables::blocks(&self.outcome.plan, &self.blocks)),
            _ => None,
        }
    }
}
