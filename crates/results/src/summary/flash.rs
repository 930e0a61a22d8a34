//! What happened to the flash.

use super::energy::MeanEnergy;
use super::figures::{mean, ratio};
use super::programmed::ProgrammedSummary;
use crate::device::Device;
use schemars::JsonSchema;
use serde::Serialize;
use wordline_ftl::MapCache;
use wordline_recorder::{Collections, FlashCounts};
use wordline_ssd::precondition::Preconditioned;

/// What happened to the flash.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Flash")]
pub struct FlashSummary {
    /// Pages that the host wrote, whole or in part; behind a DRAM buffer, pages that came from it (destaged).
    pub host_page_writes: u64,
    /// Pages programmed, for the host, for garbage collection and for the mapping itself.
    pub page_programs: u64,
    /// Pages read from flash, for the host, for partial writes and for garbage collection.
    pub page_reads: u64,
    /// Blocks erased during the run.
    pub erases: u64,
    /// Bytes of the writes that the SSDs completed without an error, each at its interface: writes of the host, or of the array or the cache in front of it. With a DRAM buffer, writes that went to the buffer.
    pub host_written_bytes: u64,
    /// Bytes that the flash programmed: the sum of `flash.programmed`.
    pub programmed_bytes: u64,
    /// Bytes that the flash programmed, by purpose.
    pub programmed: ProgrammedSummary,
    /// Bytes programmed per byte written: `flash.programmed_bytes` of `flash.host_written_bytes`, as the counters of drives have it. Below 1 where a DRAM buffer absorbs writes. Null if nothing was written.
    pub write_amplification: Option<f64>,
    /// Pages programmed per page written: `flash.page_programs` of `flash.host_page_writes`, where a page of which a part was written counts as one. With power cuts, pages that were placed and never programmed are among those written.
    pub page_write_amplification: Option<f64>,
    /// Pages that dies began to read before the host asked for them (`buffer.read_ahead.physical`); those that were not aborted are among `flash.page_reads`.
    pub pages_read_ahead: u64,
    /// Of these, pages that a read took from the data register of their die.
    pub pages_read_ahead_used: u64,
    /// Partial writes that had to read the rest of their page.
    pub read_modify_writes: u64,
    /// Pages that TRIMs covered as a whole.
    pub pages_trim_asked: u64,
    /// Pages that TRIMs freed: fewer than they covered where firmware frees whole mapping units only (`ftl.trim.frees`).
    pub pages_trimmed: u64,
    /// Pages that the mapping read for itself: parts of the map, for requests and for collections.
    pub own_page_reads: u64,
    /// Pages that the mapping programmed for itself: parts of the map, records of erases, and pages that only fill a block.
    pub own_page_programs: u64,
    /// Free blocks that took the place of full update blocks, so that a collection could wait.
    pub blocks_replaced: u64,
    /// Collections: blocks moved, logical blocks merged.
    pub gc_runs: u64,
    /// Valid pages that garbage collection moved.
    pub gc_pages_moved: u64,
    /// Durations of all collections, from the choice of the victim to its erase, summed over planes.
    pub gc_time_s: f64,
    /// Time that dies were occupied for garbage collection, from first command cycles to last bus cycles, summed over dies.
    pub gc_die_time_s: f64,
    /// Fewest erases of a block, preconditioning included.
    pub erases_per_block_min: u32,
    /// Mean erases of a block, preconditioning included.
    pub erases_per_block_mean: f64,
    /// Most erases of a block, preconditioning included.
    pub erases_per_block_max: u32,
    /// Standard deviation of the erases of the blocks, preconditioning included.
    pub erases_per_block_std: f64,
    /// Most erases of a block less fewest.
    pub erases_per_block_spread: u32,
    /// Pages that hold current data at the end.
    pub valid_pages: u64,
    /// Erased blocks at the end.
    pub free_blocks: u64,
}

/// Look-ups in maps of which a cache is in memory.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "MapCache")]
pub struct MapCacheSummary {
    /// Requests for pages whose map entries were in memory. Null, as all of these, if the whole map is.
    pub hits: u64,
    /// Requests for pages whose map entries had to be fetched into memory, which takes a metadata
    /// read unless their translation page is not in flash.
    pub misses: u64,
    /// Hits, of hits and misses.
    pub hit_ratio: Option<f64>,
    /// Map entries evicted from memory.
    pub evictions: u64,
    /// Those of them that had changed since their translation page was written, so that it was to be written.
    pub dirty_evictions: u64,
}

impl MapCacheSummary {
    /// None if the maps are in memory.
    pub(super) fn new(devices: &[Device]) -> Option<Self> {
        let counts = devices.iter().filter_map(|device| device.map_cache);
        let all = counts.reduce(MapCache::plus)?;
        Some(Self {
            hits: all.hits,
            misses: all.misses,
            hit_ratio: ratio(all.hits, all.hits + all.misses),
            evictions: all.evictions,
            dirty_evictions: all.dirty_evictions,
        })
    }
}

/// Collections of one kind that were started for the same reason.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Collections")]
pub struct CollectionSummary {
    /// How the collections of this row gained room: move (valid pages of a block), switch, partial or full merge, wear (a block moved for even wear), refresh (a block moved for the sake of its data), fold (pages of the SLC cache moved). One row for each kind and trigger that came up.
    pub kind: &'static str,
    /// What they were started for: free-blocks or update-block (on demand, while the host is served), look-ahead, compaction, retroactive, background; of a refresh, read-disturb or retention; trim (a TRIM that erases); idle-fold (full blocks of the SLC cache, in idle time).
    pub trigger: &'static str,
    /// How many.
    pub runs: u64,
    /// Pages that they moved.
    pub pages_moved: u64,
    /// Blocks that they erased. With `dftl`, blocks of translation pages that are erased beside them count in `flash.erases` only.
    pub blocks_erased: u64,
    /// From start to end, stops included, summed up.
    pub time_s: f64,
    /// The longest.
    pub longest_ms: f64,
    /// Energy of the arrays for the pages that they read and programmed and the blocks that they erased, each at the mean of its kind over the run (`energy.read_mj / flash.page_reads` and so on).
    pub energy_mj: f64,
}

impl CollectionSummary {
    pub(crate) fn new(collections: &Collections, mean: &MeanEnergy) -> Self {
        Self {
            energy_mj: mean.of_moves(collections.moved) + mean.of_erases(collections.erased),
            kind: collections.kind.name(),
            trigger: collections.trigger.name(),
            runs: collections.runs,
            pages_moved: collections.moved,
            blocks_erased: collections.erased,
            time_s: collections.time.as_secs(),
            longest_ms: collections.longest.as_secs() * 1e3,
        }
    }
}

/// Commands of the flash, by the parallelism inside a package that they use.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Commands")]
pub struct CommandSummary {
    /// Commands that dies carried out; each works on one page or block, or on several in different planes.
    pub total: u64,
    /// Of these, on one plane, with no other die of the package occupied (no flash-level parallelism; non-PAL in Jung 2013).
    pub plain: u64,
    /// On several planes at once (plane sharing; PAL1).
    pub planes_shared: u64,
    /// On one plane, while another die of the package was occupied (die interleaving; PAL2).
    pub dies_interleaved: u64,
    /// Both (PAL3).
    pub dies_interleaved_planes_shared: u64,
    /// Pages read and programmed and blocks erased per command; an internal data move counts as two.
    pub pages_per_command: Option<f64>,
}

impl CommandSummary {
    pub(crate) fn new(commands: [u64; 4], flash: &FlashCounts) -> Self {
        let [plain, planes_shared, dies_interleaved, both] = commands;
        let total: u64 = commands.iter().sum();
        let pages = flash.page_reads() + flash.page_programs() + flash.erases();
        Self {
            total,
            plain,
            planes_shared,
            dies_interleaved,
            dies_interleaved_planes_shared: both,
            pages_per_command: ratio(pages, total),
        }
    }
}

/// What happened before the measurement and is in none of the other numbers.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Precondition")]
pub struct PreconditionSummary {
    /// Pages written in order before the run.
    pub pages_filled: u64,
    /// Pages written at random after that.
    pub pages_overwritten: u64,
    /// Pages that garbage collection moved meanwhile.
    pub pages_moved: u64,
    /// Write amplification of the last window of random writes.
    pub write_amplification: Option<f64>,
    /// Blocks erased meanwhile.
    pub erases: u64,
}

/// The standard deviation of counts (divided by their number); zero without any.
pub(super) fn deviation(values: impl Iterator<Item = u32> + Clone) -> f64 {
    let mean = mean(values.clone());
    let count = values.clone().count().max(1) as f64;
    let squares: f64 = values.map(|value| (f64::from(value) - mean).powi(2)).sum();
    (squares / count).sqrt()
}

impl PreconditionSummary {
    pub(crate) fn new(done: &Preconditioned) -> Self {
        Self {
            pages_filled: done.fill.written,
            pages_overwritten: done.overwrites.written,
            pages_moved: done.fill.moved + done.overwrites.moved,
            write_amplification: done.last_write_amplification,
            erases: done.fill.erased + done.overwrites.erased,
        }
    }
}

/// Bytes programmed per byte written; none if nothing was written.
pub(crate) fn write_amplification(flash: &FlashCounts) -> Option<f64> {
    ratio(flash.programmed_bytes(), flash.host_written_bytes)
}

impl FlashSummary {
    /// What was counted, with what `devices` are like at the end.
    pub(crate) fn new(flash: &FlashCounts, devices: &[Device]) -> Self {
        let blocks = || {
            devices
                .iter()
                .flat_map(|device| device.erases.iter().copied())
        };
        let least = blocks().min().unwrap_or(0);
        let most = blocks().max().unwrap_or(0);
        Self {
            host_page_writes: flash.host_page_writes,
            page_programs: flash.page_programs(),
            page_reads: flash.page_reads(),
            erases: flash.erases(),
            host_written_bytes: flash.host_written_bytes,
            programmed_bytes: flash.programmed_bytes(),
            programmed: ProgrammedSummary::new(flash),
            write_amplification: write_amplification(flash),
            page_write_amplification: ratio(flash.page_programs(), flash.host_page_writes),
            pages_read_ahead: flash.read_ahead,
            pages_read_ahead_used: flash.read_ahead_used,
            read_modify_writes: flash.read_modify_writes,
            pages_trim_asked: flash.pages_trim_asked,
            pages_trimmed: flash.pages_trimmed,
            own_page_reads: flash.own_page_reads,
            own_page_programs: flash.own_page_programs,
            blocks_replaced: flash.blocks_replaced,
            gc_runs: flash.gc_runs,
            gc_pages_moved: flash.gc_pages_moved,
            gc_time_s: flash.gc_time.as_secs(),
            gc_die_time_s: flash.gc_die_time.as_secs(),
            erases_per_block_min: least,
            erases_per_block_mean: mean(blocks()),
            erases_per_block_max: most,
            erases_per_block_std: deviation(blocks()),
            erases_per_block_spread: most - least,
            valid_pages: devices.iter().map(|device| device.valid_pages).sum(),
            free_blocks: devices
                .iter()
                .map(|device| u64::from(device.free_blocks))
                .sum(),
        }
    }
}
