//! Results of a run: the summary and the tables.

use wordline_observe::{ObserveError, Table};
use wordline_recorder::Served;
use wordline_workload::InputFile;

use crate::outcome::Outcome;
use crate::summary::Summary;
use crate::tables;

/// Names of all tables that a run may have.
pub const TABLES: [&str; 9] = [
    "requests",
    "series",
    "members",
    "latency",
    "latency_by",
    "dies",
    "blocks",
    "wear",
    "chip_load",
];

/// Origin of a stream's requests.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// `generated` or `trace`.
    pub kind: &'static str,
    /// Files of a trace.
    pub files: Vec<InputFile>,
    /// Digest of the bytes that were read from the files.
    pub digest: Option<String>,
    /// Bad lines that were skipped. Count.
    pub lines_skipped: u64,
    /// Changes that options made to requests, such as clamping or scaling. Count.
    pub requests_adjusted: u64,
    /// Notes about the input, for the summary.
    pub notes: Vec<String>,
}

/// Results of a run.
#[derive(Debug)]
pub struct Results {
    /// Summary of the run.
    pub summary: Summary,
    /// Whether the user ended the run.
    pub interrupted: bool,
    outcome: Outcome,
    rows: Option<Table>,
}

impl Results {
    /// Computes the results of a run. An error in `rows`, the table of requests, marks the run as
    /// ended early.
    pub fn new(mut outcome: Outcome, rows: Result<Option<Table>, ObserveError>) -> Self {
        if let Err(error) = &rows {
            outcome.error.get_or_insert(error.to_string());
        }
        let summary = Summary::new(&outcome);
        let interrupted = outcome.interrupted;
        Self {
            summary,
            interrupted,
            outcome,
            rows: rows.ok().flatten(),
        }
    }
    /// Adds the origin of each stream's requests to the summary.
    pub fn describe_input(&mut self, provenances: Vec<Provenance>) {
        let Summary {
            input,
            streams,
            notes,
            ..
        } = &mut self.summary;
        input.kind = provenances.first().map_or("", |first| first.kind);
        if provenances.iter().any(|other| other.kind != input.kind) {
            input.kind = "mixed";
        }
        let several = provenances.len() > 1;
        for (place, provenance) in provenances.into_iter().enumerate() {
            input.files.extend(provenance.files.iter().cloned());
            input.lines_skipped += provenance.lines_skipped;
            input.requests_adjusted += provenance.requests_adjusted;
            input.digest = provenance.digest.clone().filter(|_| !several);
            let Some(stream) = streams.get_mut(place) else {
                notes.extend(provenance.notes);
                continue;
            };
            let said = provenance.notes.iter();
            notes.extend(said.map(|note| format!("Stream {}: {note}", stream.name)));
            stream.input.files = provenance.files;
            stream.input.digest = provenance.digest;
            stream.input.lines_skipped = provenance.lines_skipped;
            stream.input.requests_adjusted = provenance.requests_adjusted;
        }
    }
    /// Returns the served requests of all streams together.
    pub fn served(&self) -> &Served {
        &self.outcome.record.total
    }
    /// Returns the number of measured requests of all kinds, per stream.
    pub fn issued(&self) -> impl Iterator<Item = u64> + '_ {
        self.outcome
            .streams
            .iter()
            .map(|issued| issued.counts.issued())
    }
    /// Compares a stream with its results in `alone`, a run of the same plan in which no other
    /// stream issued requests. If `alone` ended early, these results become partial.
    pub fn compare(&mut self, stream: usize, alone: &Self) {
        let (own, other) = (&mut self.summary, &alone.summary);
        if let Some(error) = &other.error {
            self.interrupted |= alone.interrupted;
            own.partial = true;
            own.error = Some(if alone.interrupted {
                error.clone()
            } else {
                format!("run of stream {} alone: {error}", own.streams[stream].name)
            });
            own.notes.push(format!(
                "Stream {}: the run without the other streams ended early, so the slowdowns are incomplete.",
                own.streams[stream].name
            ));
            return;
        }
        own.streams[stream].compare(&other.streams[stream].latency);
    }
    /// Computes the fairness metrics from the slowdowns of the streams.
    pub fn judge(&mut self) {
        if let Some(fairness) = &mut self.summary.fairness {
            fairness.compare(&self.summary.streams);
        }
    }
    /// Returns the summary as indented JSON.
    pub fn summary_json(&self) -> String {
        serde_json::to_string_pretty(&self.summary).unwrap_or_default()
    }
    /// Returns `true` if the run has several streams, or several members of an array.
    fn has_several(&self) -> bool {
        self.outcome.plan.streams.len() > 1 || self.outcome.members.len() > 1
    }
    fn has_flash(&self) -> bool {
        self.outcome.plan.ssds().next().is_some()
    }
    /// Returns the names of the tables that this run has.
    pub fn tables(&self) -> Vec<&'static str> {
        let has = |name: &&str| match *name {
            "requests" => self.rows.is_some(),
            "members" => self.outcome.plan.has_members(),
            "chip_load" => self.outcome.chip_loads.is_some(),
            "latency_by" => self.has_several(),
            "dies" | "blocks" | "wear" => self.has_flash(),
            _ => true,
        };
        TABLES.into_iter().filter(has).collect()
    }
    /// Returns a table; `None` if this run does not have it.
    pub fn table(&self, name: &str) -> Option<Result<Table, ObserveError>> {
        match name {
            "dies" | "blocks" | "wear" if !self.has_flash() => None,
            "requests" => self.rows.clone().map(Ok),
            "series" => Some(tables::series(&self.outcome.record)),
            "members" if self.outcome.plan.has_members() => Some(tables::members(&self.outcome)),
            "latency" => Some(tables::latency(&self.outcome.record)),
            "latency_by" if self.has_several() => Some(tables::latency_by(&self.outcome)),
            "dies" => Some(tables::dies(&self.outcome)),
            "blocks" => Some(tables::blocks(&self.outcome)),
            "chip_load" => {
                let loads = self.outcome.chip_loads.as_ref()?;
                Some(tables::chip_load(loads))
            }
            "wear" => Some(tables::wear(&self.outcome)),
            _ => None,
        }
    }
}
