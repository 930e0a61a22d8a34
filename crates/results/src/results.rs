//! What a run has found out: a summary and tables.

use wordline_observe::{ObserveError, Table};
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

/// Where the requests of a stream came from.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// `generated` or `trace`.
    pub kind: &'static str,
    /// The files of a trace.
    pub files: Vec<InputFile>,
    /// Digest of what was read of them.
    pub digest: Option<String>,
    /// Lines left out.
    pub lines_skipped: u64,
    /// Changes that options asked for.
    pub requests_adjusted: u64,
    /// Sentences about it.
    pub notes: Vec<String>,
}

/// The results of a run.
#[derive(Debug)]
pub struct Results {
    /// The numbers.
    pub summary: Summary,
    /// Whether the user ended the run.
    pub interrupted: bool,
    outcome: Outcome,
    rows: Option<Table>,
}

impl Results {
    /// Sums a run up.
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
    /// Says where the requests of each stream came from.
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
    /// Requests issued, by stream.
    pub fn requests(&self) -> impl Iterator<Item = u64> + '_ {
        self.outcome
            .streams
            .iter()
            .map(|issued| issued.counts.requests())
    }
    /// Sets what a stream got beside what it got in `alone`, a run of the same plan in which no other
    /// stream issued requests. A run that ended early makes these results partial.
    pub fn compare(&mut self, stream: usize, alone: &Self) {
        let (own, other) = (&mut self.summary, &alone.summary);
        if let Some(error) = &other.error {
            self.interrupted |= alone.interrupted;
            own.partial = true;
            own.error = Some(if alone.interrupted {
                error.clone()
            } else {
                format!("stream {} alone: {error}", own.streams[stream].name)
            });
            own.notes.push(format!(
                "Stream {} alone: the run ended early; slowdowns are incomplete.",
                own.streams[stream].name
            ));
            return;
        }
        own.streams[stream].compare(&other.streams[stream].latency);
    }
    /// Judges how fairly the streams were served, from what each got beside the others and alone.
    pub fn judge(&mut self) {
        if let Some(fairness) = &mut self.summary.fairness {
            fairness.compare(&self.summary.streams);
        }
    }
    /// The summary as JSON, indented.
    pub fn summary_json(&self) -> String {
        serde_json::to_string_pretty(&self.summary).unwrap_or_default()
    }
    /// Whether there are streams, or members of an array, to be told apart.
    fn has_several(&self) -> bool {
        self.outcome.plan.streams.len() > 1 || self.outcome.members.len() > 1
    }
    fn has_flash(&self) -> bool {
        self.outcome.plan.ssds().next().is_some()
    }
    /// Names of the tables that this run has.
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
    /// A table; `None` if this run has none of that name.
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
