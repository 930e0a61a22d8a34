//! The host side of the store.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_host_cpu::{Cause, HostStats};
use wordline_kernel::Time;

use super::figures::ratio;
use crate::outcome::Outcome;

section! {
    /// What requests and flash software took of the host (`[host_side]`). Null, as all of these, without one.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "HostSide")]
    pub struct HostSideSummary by of(of: &HostOfRun);

    /// Cores.
    cores: u32 = of.cores;
    /// CPU time of workers, submitting requests and taking completions.
    cpu_worker_s: f64 = of.cpu(Cause::Worker);
    /// CPU time of look-ups in the map.
    cpu_lookup_s: f64 = of.cpu(Cause::LookUp);
    /// CPU time of updates of the map.
    cpu_update_s: f64 = of.cpu(Cause::Update);
    /// CPU time of the steps of collections.
    cpu_collection_s: f64 = of.cpu(Cause::Collection);
    /// Share of the time that the cores were at work, all of them together.
    cpu_utilisation: Option<f64> = of.share(of.stats.cpu.total()).map(|all| all / f64::from(of.cores));
    /// Share of the time that the lock was held by who ran.
    lock_utilisation: Option<f64> = of.share(of.stats.locked);
    /// Share of the time that the bridge converted.
    bridge_utilisation: Option<f64> = of.share(of.stats.bridge);
    /// Requests that the host held, on average over the time.
    held_mean: Option<f64> = of.held_mean();
    /// Requests that it held at once, at most.
    held_most: u32 = of.stats.held_most;
    /// Steps of look-ups: entries of a table, nodes or further extents of a tree.
    lookup_steps: u64 = of.stats.lookups;
    /// Steps of updates.
    update_steps: u64 = of.stats.updates;
    /// Steps of collections: pages read, programmed or moved, blocks erased.
    collection_steps: u64 = of.stats.collection_steps;
    /// Units that are mapped at the end.
    map_units: u64 = of.stats.memory.units;
    /// Entries that say where they are.
    map_entries: u64 = of.stats.memory.entries;
    /// What the map takes of the memory of the host at the end.
    map_bytes: u64 = of.stats.memory.bytes;
    /// What it has taken at most.
    map_most_bytes: u64 = of.stats.most_bytes;
    /// Pages of a map that is a cache which were in memory when they were looked at or changed.
    map_hits: u64 = of.stats.loads.hits;
    /// Pages of it that had to be read from the store.
    map_misses: u64 = of.stats.loads.misses;
    /// Share of hits in both. Null if the map is all in memory, or nothing was looked at.
    map_hit_ratio: Option<f64> = ratio(of.stats.loads.hits, of.stats.loads.hits + of.stats.loads.misses);
    /// Pages of it that were written to the store to make room.
    map_write_backs: u64 = of.stats.loads.write_backs;
}

/// A host side and what it has done in a run.
pub(super) struct HostOfRun {
    cores: u32,
    stats: HostStats,
    /// Simulated time from the first arrival on.
    span: Time,
}

impl HostOfRun {
    fn cpu(&self, cause: Cause) -> f64 {
        self.stats.cpu.get(cause).as_secs()
    }
    fn share(&self, time: Time) -> Option<f64> {
        (self.span > Time::ZERO).then(|| time.as_secs() / self.span.as_secs())
    }
    fn held_mean(&self) -> Option<f64> {
        let span = self.span;
        (span > Time::ZERO).then(|| self.stats.held_time as f64 / span.ps() as f64)
    }
}

impl HostSideSummary {
    /// None without a host side; `span` is the simulated time from the first arrival on.
    pub(super) fn new(outcome: &Outcome, span: Time) -> Option<Self> {
        Some(Self::of(&HostOfRun {
            cores: outcome.plan.host_side.as_ref()?.cores,
            stats: outcome.host_side?,
            span,
        }))
    }
}
