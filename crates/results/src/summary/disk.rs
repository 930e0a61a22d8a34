//! Section `disks` of the summary: hard disks.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_hdd::{DiskStats, Plan};
use wordline_kernel::Time;

/// Hard disk, at any level of the store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Disk")]
pub struct DiskSummary {
    /// Name of the disk. The list of disks is empty if the store has none.
    pub name: String,
    /// Disks (volumes) of the trace that are mapped to this disk, if requests are routed by disk.
    pub disks: Vec<u32>,
    /// Capacity of the disk.
    pub capacity_bytes: u64,
    /// Reads that the disk received.
    pub reads: u64,
    /// Writes that the disk received.
    pub writes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
    /// Reads that were served entirely from the disk's buffer.
    pub reads_buffered: u64,
    /// Writes that completed in the disk's buffer (write cache).
    pub writes_buffered: u64,
    /// Sectors that the disk read ahead.
    pub sectors_read_ahead: u64,
    /// Writes from the disk's buffer to the platters.
    pub destages: u64,
    /// Share of the time in which the disk's mechanism was busy. Null if requests do not wait for
    /// each other.
    pub utilisation: Option<f64>,
    /// Time that the disk's controller spent on commands.
    pub overhead_s: f64,
    /// Time of arm movements, head switches and settling. If the model has no positions, the whole
    /// positioning time.
    pub seek_s: f64,
    /// Time spent waiting for sectors to rotate under the head.
    pub rotation_s: f64,
    /// Time spent transferring sectors under the head.
    pub transfer_s: f64,
    /// Accesses of the disk's mechanism.
    pub accesses: u64,
    /// Mean seek distance between consecutive accesses. Cylinders; null without an access.
    pub seek_distance_mean: Option<f64>,
    /// Accesses by seek distance; one row for each power of two that occurred.
    pub seek_distances: Vec<SeekDistance>,
    /// Maximum number of requests that the disk held at once.
    pub held_most: u32,
    /// Mean number of requests that the disk held, over time.
    pub held_mean: Option<f64>,
}

/// Accesses whose seek distance is in a range.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct SeekDistance {
    /// Smallest distance of the range, in cylinders; 0 means no seek.
    pub from_cylinders: u32,
    /// Largest distance of the range, in cylinders.
    pub to_cylinders: u32,
    /// Accesses with a seek distance in the range.
    pub accesses: u64,
}

impl DiskSummary {
    /// Returns the summary of a disk. `disks` are the volumes of a trace that it holds; `span` is
    /// the simulated time since measuring began.
    pub(crate) fn new(
        name: String,
        disks: Vec<u32>,
        plan: &Plan,
        figures: &DiskStats,
        span: Time,
    ) -> Self {
        Self {
            name,
            disks,
            capacity_bytes: plan.capacity_bytes,
            utilisation: (plan.serial && span > Time::ZERO)
                .then(|| figures.busy().as_secs() / span.as_secs()),
            ..Self::of(figures, span)
        }
    }
    fn of(figures: &DiskStats, span: Time) -> Self {
        Self {
            name: String::new(),
            disks: Vec::new(),
            capacity_bytes: 0,
            reads: figures.reads,
            writes: figures.writes,
            read_bytes: figures.bytes_read,
            written_bytes: figures.bytes_written,
            reads_buffered: figures.reads_buffered,
            writes_buffered: figures.writes_buffered,
            sectors_read_ahead: figures.sectors_ahead,
            destages: figures.destages,
            utilisation: None,
            overhead_s: figures.overhead.as_secs(),
            seek_s: figures.seek.as_secs(),
            rotation_s: figures.rotation.as_secs(),
            transfer_s: figures.transfer.as_secs(),
            accesses: figures.accesses,
            seek_distance_mean: (figures.accesses > 0)
                .then(|| figures.cylinders as f64 / figures.accesses as f64),
            seek_distances: distances(figures),
            held_most: figures.held_most,
            held_mean: (span > Time::ZERO).then(|| figures.held_time as f64 / span.ps() as f64),
        }
    }
}

fn distances(figures: &DiskStats) -> Vec<SeekDistance> {
    let bins = (0_u32..)
        .zip(figures.seeks)
        .filter(|(_, accesses)| *accesses > 0);
    let rows = bins.map(|(bin, accesses)| SeekDistance {
        from_cylinders: (1_u32 << bin) >> 1,
        to_cylinders: (1_u32 << bin) - 1,
        accesses,
    });
    rows.collect()
}
