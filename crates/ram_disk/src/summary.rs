//! Section `ram_disks` of the summary.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::Time;

use crate::plan::Plan;
use crate::stats::RamDiskStats;

/// Statistics of a RAM disk, wherever it is in the store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RamDisk")]
pub struct RamDiskSummary {
    /// Name of the RAM disk. The list of RAM disks is empty if the store has none.
    pub name: String,
    /// Disks of the trace (its volumes) that are mapped to the RAM disk, if requests are routed by
    /// disk.
    pub disks: Vec<u32>,
    /// Capacity of the RAM disk.
    pub capacity_bytes: u64,
    /// Number of requests that the RAM disk serves at the same time.
    pub channels: u32,
    /// Reads that the RAM disk completed.
    pub reads: u64,
    /// Writes that the RAM disk completed.
    pub writes: u64,
    /// Bytes of the RAM disk's completed reads.
    pub read_bytes: u64,
    /// Bytes of the RAM disk's completed writes.
    pub written_bytes: u64,
    /// Share of time in which the RAM disk's channels were busy, averaged over the channels.
    pub utilisation: Option<f64>,
    /// Maximum number of requests in the RAM disk.
    pub held_most: u32,
    /// Mean number of requests in the RAM disk, over time.
    pub held_mean: Option<f64>,
    /// Response times of the RAM disk's reads and writes.
    pub response: ResponseSummary,
}

/// Response times in the RAM disk, from submission to completion, of reads and writes together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "RamDiskResponse")]
pub struct ResponseSummary {
    /// Completed reads and writes.
    pub count: u64,
    /// Mean response time.
    pub mean_ns: Option<f64>,
    /// Median response time; at most 0.1 % above the exact value.
    pub p50_ns: Option<f64>,
    /// 99th percentile of the response time; at most 0.1 % above the exact value.
    pub p99_ns: Option<f64>,
    /// Longest response time.
    pub max_ns: Option<f64>,
}

impl RamDiskSummary {
    /// Returns the summary of a RAM disk. `disks` are the volumes of a trace that it holds; `span`
    /// is the simulated time since measuring began.
    pub fn new(
        name: String,
        disks: Vec<u32>,
        plan: &Plan,
        stats: &RamDiskStats,
        span: Time,
    ) -> Self {
        let mean = |sum: u128| (span > Time::ZERO).then(|| sum as f64 / span.ps() as f64);
        Self {
            name,
            disks,
            capacity_bytes: plan.capacity_bytes,
            channels: plan.channels,
            reads: stats.reads,
            writes: stats.writes,
            read_bytes: stats.bytes_read,
            written_bytes: stats.bytes_written,
            utilisation: mean(stats.busy_time).map(|busy| busy / f64::from(plan.channels)),
            held_most: stats.held_most,
            held_mean: mean(stats.held_time),
            response: ResponseSummary::new(stats),
        }
    }
}

impl ResponseSummary {
    fn new(stats: &RamDiskStats) -> Self {
        let of = &stats.response;
        let ns = |time: Time| time.ps() as f64 / 1e3;
        Self {
            count: of.count(),
            mean_ns: (of.count() > 0).then(|| of.sum_ps() as f64 / of.count() as f64 / 1e3),
            p50_ns: of.percentile(0.5).map(ns),
            p99_ns: of.percentile(0.99).map(ns),
            max_ns: of.max().map(ns),
        }
    }
}
