//! The DRAM buffer.

use super::energy::MeanEnergy;
use super::figures::ratio;
use super::flash::write_amplification;
use crate::device::Device;
use schemars::JsonSchema;
use serde::Serialize;
use wordline_config::Plan;
use wordline_recorder::Record;

/// The DRAM buffer. Hits and misses are of pages.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Buffer")]
pub struct BufferSummary {
    /// Pages of reads of which all bytes asked for were in the DRAM buffer. Null, as all of these, without one.
    pub read_hits: u64,
    /// Pages of reads that had to be read from the flash.
    pub read_misses: u64,
    /// Pages of writes that were in the buffer.
    pub write_hits: u64,
    /// Pages of writes that were not.
    pub write_misses: u64,
    /// Hits, of hits and misses.
    pub hit_ratio: Option<f64>,
    /// The same of reads.
    pub read_hit_ratio: Option<f64>,
    /// The same of writes.
    pub write_hit_ratio: Option<f64>,
    /// Pages that left the buffer as the flash held them.
    pub clean_evictions: u64,
    /// Pages that left it and had to be written to the flash first.
    pub dirty_evictions: u64,
    /// Clean evictions, of all.
    pub clean_eviction_ratio: Option<f64>,
    /// Evictions at which the die with most to do had more than ten times the mean of all (LCR, section II-A), of all evictions; if no die had anything to do, it had not. Null unless `observe.balance_at_evictions`.
    pub balance_above_10_ratio: Option<f64>,
    /// Pages written from the buffer to the flash: evicted, flushed, written through.
    pub pages_destaged: u64,
    /// Of these, pages of which a part was written only, so that the flash was read to complete them, if it held the page.
    pub pages_destaged_partial: u64,
    /// Pages read into the buffer before the host asked for them (`buffer.read_ahead`).
    pub pages_read_ahead: u64,
    /// Of these, pages that a read asked for then.
    pub pages_read_ahead_used: u64,
    /// Pages written to the flash because no request was under way (`buffer.idle_flush_ms`).
    pub pages_destaged_idle: u64,
    /// Energy of the arrays for programming these, each at the mean of a program over the run.
    pub idle_energy_mj: f64,
    /// Batches of pages written to the flash together (`buffer.flush`).
    pub batches: u64,
    /// Bytes programmed in the flash per byte written, as `flash.write_amplification`: below 1 where the buffer saves more writes than collections add.
    pub write_amplification: Option<f64>,
    /// Pages programmed in the flash per page that the host wrote to the buffer.
    pub page_write_amplification: Option<f64>,
    /// Pages newer than the flash in the buffer at the end of the run.
    pub dirty_pages_left: u64,
}

impl BufferSummary {
    /// None without a buffer.
    pub(crate) fn new(
        plan: &Plan,
        record: &Record,
        devices: &[Device],
        mean: &MeanEnergy,
    ) -> Option<Self> {
        let buffer = plan.ssds().find_map(|ssd| ssd.device.buffer.as_ref())?;
        let counts = record.buffer();
        let [reads, writes] = [0, 1].map(|op: usize| counts.hits[op] + counts.misses[op]);
        let hits: u64 = counts.hits.iter().sum();
        let evictions: u64 = counts.evictions.iter().sum();
        Some(Self {
            read_hits: counts.hits[0],
            read_misses: counts.misses[0],
            write_hits: counts.hits[1],
            write_misses: counts.misses[1],
            hit_ratio: ratio(hits, reads + writes),
            read_hit_ratio: ratio(counts.hits[0], reads),
            write_hit_ratio: ratio(counts.hits[1], writes),
            clean_evictions: counts.evictions[0],
            dirty_evictions: counts.evictions[1],
            clean_eviction_ratio: ratio(counts.evictions[0], evictions),
            balance_above_10_ratio: buffer
                .watches_balance
                .then(|| ratio(counts.unbalanced, evictions))
                .flatten(),
            pages_destaged: counts.destaged,
            pages_destaged_partial: counts.destaged_partial,
            pages_read_ahead: counts.read_ahead,
            pages_read_ahead_used: counts.read_ahead_used,
            pages_destaged_idle: counts.flushed_idly,
            idle_energy_mj: mean.of_programs(counts.flushed_idly),
            batches: counts.batches,
            write_amplification: write_amplification(&record.flash()),
            page_write_amplification: ratio(record.flash().page_programs(), writes),
            dirty_pages_left: devices.iter().map(|device| device.dirty_pages).sum(),
        })
    }
}
