//! Section `host_side` of the summary: CPU, lock and map of the host.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_host_cpu::{Cause, HostStats};
use wordline_kernel::Time;

use super::figures::ratio;
use crate::outcome::Outcome;

section! {
    /// CPU time, lock time and memory that requests and flash software took on the host
    /// (`[host_side]`). Null without a host CPU model.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "HostSide")]
    pub struct HostSideSummary by of(of: &HostOfRun);

    /// Cores of the host.
    cores: u32 = of.cores;
    /// CPU time of the worker threads for submissions and completions.
    cpu_worker_s: f64 = of.cpu(Cause::Worker);
    /// CPU time of map look-ups.
    cpu_lookup_s: f64 = of.cpu(Cause::LookUp);
    /// CPU time of map updates.
    cpu_update_s: f64 = of.cpu(Cause::Update);
    /// CPU time of GC and rewrite steps.
    cpu_collection_s: f64 = of.cpu(Cause::Collection);
    /// Share of the time in which the cores were busy, mean over the cores.
    cpu_utilisation: Option<f64> = of.share(of.stats.cpu.total()).map(|all| all / f64::from(of.cores));
    /// Share of the time in which a running thread held the lock.
    lock_utilisation: Option<f64> = of.share(of.stats.locked);
    /// Share of the time in which the protocol bridge was converting requests.
    bridge_utilisation: Option<f64> = of.share(of.stats.bridge);
    /// Mean number of requests that the host side held, over time.
    held_mean: Option<f64> = of.held_mean();
    /// Maximum number of requests that the host side held at once.
    held_most: u32 = of.stats.held_most;
    /// Steps of map look-ups: table entries, tree nodes, or further extents of a tree.
    lookup_steps: u64 = of.stats.lookups;
    /// Steps of map updates.
    update_steps: u64 = of.stats.updates;
    /// GC and rewrite steps: pages read, programmed or moved, and blocks erased.
    collection_steps: u64 = of.stats.collection_steps;
    /// Mapping units in the map at the end of the run.
    map_units: u64 = of.stats.memory.units;
    /// Map entries at the end of the run.
    map_entries: u64 = of.stats.memory.entries;
    /// Host memory of the map at the end of the run.
    map_bytes: u64 = of.stats.memory.bytes;
    /// Maximum host memory of the map.
    map_most_bytes: u64 = of.stats.most_bytes;
    /// Pages of a cached map that were in memory when they were looked up or changed.
    map_hits: u64 = of.stats.loads.hits;
    /// Pages of a cached map that had to be read from the store.
    map_misses: u64 = of.stats.loads.misses;
    /// Map hits / (map hits + map misses). Null if the whole map is in memory, or without a
    /// look-up.
    map_hit_ratio: Option<f64> = ratio(of.stats.loads.hits, of.stats.loads.hits + of.stats.loads.misses);
    /// Pages of a cached map that were written to the store to make room.
    map_write_backs: u64 = of.stats.loads.write_backs;
}

/// Host-side model with its results.
pub(super) struct HostOfRun {
    cores: u32,
    stats: HostStats,
    /// Simulated time since measuring began.
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
    /// Returns the section, or `None` without a host CPU model. `span` is the simulated time since
    /// measuring began.
    pub(super) fn new(outcome: &Outcome, span: Time) -> Option<Self> {
        Some(Self::of(&HostOfRun {
            cores: outcome.plan.host_side.as_ref()?.cores,
            stats: outcome.host_side?,
            span,
        }))
    }
}
