//! Measurements of a run, and the results that are computed from them: at the end of the run, or
//! while a live run proceeds.

use wordline_config::Plan;
use wordline_ftl::precondition::Preconditioned;
use wordline_results::outcome::{ContentionWindow, Issued, Outcome, Speed};
use wordline_results::results::{Provenance, Results};
use wordline_results::summary::Reference;

use super::Clocks;
use super::checkpoint::Spent;
use super::event_loop::{LoopEnd, Stop};
use super::intake::Intake;
use super::issuer::Host;
use super::shape::{RunShape, StoreOutcome, resident_bytes};

/// Cost of a run before and since its clocks started.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    /// Time spent before the clocks started, and the CPU time of preconditioning.
    pub(super) spent: Spent,
    pub(super) clocks: Clocks,
    /// Resident memory before the devices were filled or, for a resumed run, before their state was
    /// read. Bytes.
    pub(super) memory: u64,
}

impl Cost {
    /// Returns the cost of a run after `events` events. `resident_bytes` is its current resident
    /// memory.
    pub(super) fn speed(&self, events: u64, resident_bytes: u64) -> Speed {
        let (spent, (wall, cpu)) = (&self.spent, self.clocks);
        Speed {
            wall: spent.wall + wall.elapsed(),
            cpu: spent.cpu + cpu.elapsed(),
            precondition_cpu: spent.precondition_cpu,
            events,
            resident_bytes: resident_bytes.saturating_sub(self.memory),
        }
    }
}

/// Parts of a run that do not change after its start.
pub(super) struct Origin<'a> {
    pub(super) plan: &'a Plan,
    pub(super) preconditioned: &'a [Preconditioned],
    pub(super) cost: Cost,
}

/// Measurements of a run. Another thread can compute the results while the run proceeds.
pub struct Snapshot {
    pub(super) plan: Plan,
    pub(super) ended: LoopEnd,
    pub(super) store: StoreOutcome,
    pub(super) issued: Vec<Issued>,
    /// Interval in which all streams issued requests, if there was one.
    pub(super) contention: Option<ContentionWindow>,
    pub(super) error: Option<String>,
    pub(super) speed: Speed,
    pub(super) notes: Vec<String>,
    /// Policies that are based on a paper, and the papers.
    pub(super) references: Vec<Reference>,
}

impl Snapshot {
    /// Copies the measurements of a live run. `ended` and `recorder` are copies already.
    pub(super) fn of_live<S: RunShape>(
        origin: &Origin<'_>,
        references: &[Reference],
        (ended, recorder): (LoopEnd, S::Recorder),
        store: &S,
        host: &Host<'_>,
    ) -> Self {
        Self {
            plan: origin.plan.clone(),
            store: store.end(recorder, origin.preconditioned),
            issued: issued(host),
            contention: None,
            error: None,
            speed: origin.cost.speed(ended.events.total(), resident_bytes()),
            notes: Vec::new(),
            references: references.to_vec(),
            ended,
        }
    }
    /// Computes the results of a live run so far. Their tables are not complete.
    pub fn live_results(self) -> Results {
        let mut results = self.results();
        describe_live(&mut results);
        results
    }
    /// Computes the results of the run from its measurements.
    pub(super) fn results(self) -> Results {
        let Self {
            ended,
            store:
                StoreOutcome {
                    recorder,
                    members,
                    devices,
                    stats,
                    caches,
                    host_side,
                },
            ..
        } = self;
        let (record, rows) = recorder.finish(ended.now);
        let members = members.into_iter().map(|member| member.finish(ended.now).0);
        let outcome = Outcome {
            plan: self.plan,
            record,
            chip_loads: ended.chip_loads,
            members: members.collect(),
            devices,
            stats,
            caches,
            host_side,
            streams: self.issued,
            contention: self.contention,
            digest: ended.digest.value(),
            measured_from: ended.measured_from,
            end: ended.now,
            error: self.error,
            interrupted: matches!(ended.stop, Some(Stop::Interrupted)),
            speed: self.speed,
        };
        let mut results = Results::new(outcome, rows);
        results.summary.notes.extend(self.notes);
        results.summary.references = self.references;
        results
    }
}

/// Returns the requests that each stream has issued.
pub(super) fn issued(host: &Host<'_>) -> Vec<Issued> {
    host.intakes.iter().map(Intake::issued_so_far).collect()
}

/// Adds the origin of the requests of a live run.
pub(super) fn describe_live(results: &mut Results) {
    results.describe_input(vec![Provenance {
        kind: "live",
        ..Provenance::default()
    }]);
}
