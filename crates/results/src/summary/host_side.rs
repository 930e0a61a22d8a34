//! The host side of the store.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_host_cpu::Cause;
use wordline_kernel::Time;

use crate::outcome::Outcome;

/// What requests and flash software took of the host (`[host_side]`). Null, as all of these, without one.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "HostSide")]
pub struct HostSideSummary {
    /// Cores.
    pub cores: u32,
    /// CPU time of workers, submitting requests and taking completions.
    pub cpu_worker_s: f64,
    /// CPU time of look-ups in the map.
    pub cpu_lookup_s: f64,
    /// CPU time of updates of the map.
    pub cpu_update_s: f64,
    /// CPU time of the steps of collections.
    pub cpu_collection_s: f64,
    /// Share of the time that the cores were at work, all of them together.
    pub cpu_utilisation: Option<f64>,
    /// Share of the time that the lock was held by who ran.
    pub lock_utilisation: Option<f64>,
    /// Share of the time that the bridge converted.
    pub bridge_utilisation: Option<f64>,
    /// Requests that the host held, on average over the time.
    pub held_mean: Option<f64>,
    /// Requests that it held at once, at most.
    pub held_most: u32,
    /// Steps of look-ups: entries of a table, nodes or further extents of a tree.
    pub lookup_steps: u64,
    /// Steps of updates.
    pub update_steps: u64,
    /// Steps of collections: pages read, programmed or moved, blocks erased.
    pub collection_steps: u64,
    /// Units that are mapped at the end.
    pub map_units: u64,
    /// Entries that say where they are.
    pub map_entries: u64,
    /// What the map takes of the memory of the host at the end.
    pub map_bytes: u64,
    /// What it has taken at most.
    pub map_most_bytes: u64,
    /// Pages of a map that is a cache which were in memory when they were looked at or changed.
    pub map_hits: u64,
    /// Pages of it that had to be read from the store.
    pub map_misses: u64,
    /// Share of hits in both. Null if the map is all in memory, or nothing was looked at.
    pub map_hit_ratio: Option<f64>,
    /// Pages of it that were written to the store to make room.
    pub map_write_backs: u64,
}

impl HostSideSummary {
    /// None without a host side; `span` is the simulated time from the first arrival on.
    pub(super) fn new(outcome: &Outcome, span: Time) -> Option<Self> {
        let cores = outcome.plan.host_side.as_ref()?.cores;
        let figures = outcome.host_side?;
        let share = |time: Time| (span > Time::ZERO).then(|| time.as_secs() / span.as_secs());
        let loads = figures.loads;
        let looked = loads.hits + loads.misses;
        let cpu = |cause| figures.cpu.get(cause).as_secs();
        Some(Self {
            cores,
            cpu_worker_s: cpu(Cause::Worker),
            cpu_lookup_s: cpu(Cause::LookUp),
            cpu_update_s: cpu(Cause::Update),
            cpu_collection_s: cpu(Cause::Collection),
            cpu_utilisation: share(figures.cpu.total()).map(|all| all / f64::from(cores)),
            lock_utilisation: share(figures.locked),
            bridge_utilisation: share(figures.bridge),
            held_mean: (span > Time::ZERO).then(|| figures.held_time as f64 / span.ps() as f64),
            held_most: figures.held_most,
            lookup_steps: figures.lookups,
            update_steps: figures.updates,
            collection_steps: figures.collection_steps,
            map_units: figures.memory.units,
            map_entries: figures.memory.entries,
            map_bytes: figures.memory.bytes,
            map_most_bytes: figures.most_bytes,
            map_hits: loads.hits,
            map_misses: loads.misses,
            map_hit_ratio: (looked > 0).then(|| loads.hits as f64 / looked as f64),
            map_write_backs: loads.write_backs,
        })
    }
}
