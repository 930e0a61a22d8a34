//! What happened to the flash.

use super::energy::MeanEnergy;
use super::figures::{heading, mean, ratio};
use super::programmed::ProgrammedSummary;
use crate::device::Device;
use schemars::JsonSchema;
use serde::Serialize;
use wordline_ftl::MapCache;
use wordline_observe::{Column, values};
use wordline_recorder::{Collections, FlashCounts};
use wordline_ssd::precondition::Preconditioned;

wordline_recorder::flash_figures! {
    figures {
        /// What happened to the flash.
        #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
        #[schemars(rename = "Flash")]
        FlashSummary of FlashCounts, FlashEnd; columns ""
    }
    counts now end
}

/// What the flash is like at the end of a run.
struct FlashEnd {
    least_erases: u32,
    mean_erases: f64,
    most_erases: u32,
    /// Standard deviation of the erases of the blocks.
    erase_deviation: f64,
    valid_pages: u64,
    free_blocks: u64,
}

impl FlashEnd {
    fn of(devices: &[Device]) -> Self {
        let erases = || devices.iter().flat_map(|device| &device.erases).copied();
        let free = devices.iter().map(|device| u64::from(device.free_blocks));
        Self {
            least_erases: erases().min().unwrap_or(0),
            mean_erases: mean(erases()),
            most_erases: erases().max().unwrap_or(0),
            erase_deviation: deviation(erases()),
            valid_pages: devices.iter().map(|device| device.valid_pages).sum(),
            free_blocks: free.sum(),
        }
    }
}

impl FlashSummary {
    /// What was counted, with what `devices` are like at the end.
    pub(crate) fn new(flash: &FlashCounts, devices: &[Device]) -> Self {
        Self::of(flash, &FlashEnd::of(devices))
    }
}

section! {
    /// Look-ups in maps of which a cache is in memory.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "MapCache")]
    pub struct MapCacheSummary by of(all: &MapCache);

    /// Requests for pages whose map entries were in memory. Null, as all of these, if the whole map is.
    hits: u64 = all.hits;
    /// Requests for pages whose map entries had to be fetched into memory, which takes a metadata
    /// read unless their translation page is not in flash.
    misses: u64 = all.misses;
    /// Hits, of hits and misses.
    hit_ratio: Option<f64> = ratio(all.hits, all.hits + all.misses);
    /// Map entries evicted from memory.
    evictions: u64 = all.evictions;
    /// Those of them that had changed since their translation page was written, so that it was to be written.
    dirty_evictions: u64 = all.dirty_evictions;
}

impl MapCacheSummary {
    /// None if the maps are in memory.
    pub(super) fn new(devices: &[Device]) -> Option<Self> {
        let counts = devices.iter().filter_map(|device| device.map_cache);
        counts.reduce(MapCache::plus).as_ref().map(Self::of)
    }
}

section! {
    /// Collections of one kind that were started for the same reason.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Collections")]
    pub struct CollectionSummary by new(collections: &Collections, mean: &MeanEnergy);

    /// How the collections of this row gained room: move (valid pages of a block), switch, partial or full merge, wear (a block moved for even wear), refresh (a block moved for the sake of its data), fold (pages of the SLC cache moved). One row for each kind and trigger that came up.
    kind: &'static str = collections.kind.name();
    /// What they were started for: free-blocks or update-block (on demand, while the host is served), look-ahead, compaction, retroactive, background; of a refresh, read-disturb or retention; trim (a TRIM that erases); idle-fold (full blocks of the SLC cache, in idle time).
    trigger: &'static str = collections.trigger.name();
    /// How many.
    runs: u64 = collections.runs;
    /// Pages that they moved.
    pages_moved: u64 = collections.moved;
    /// Blocks that they erased. With `dftl`, blocks of translation pages that are erased beside them count in `flash.erases` only.
    blocks_erased: u64 = collections.erased;
    /// From start to end, stops included, summed up.
    time_s: f64 = collections.time.as_secs();
    /// The longest.
    longest_ms: f64 = collections.longest.as_secs() * 1e3;
    /// Energy of the arrays for the pages that they read and programmed and the blocks that they erased, each at the mean of its kind over the run (`energy.read_mj / flash.page_reads` and so on).
    energy_mj: f64 = mean.of_moves(collections.moved) + mean.of_erases(collections.erased);
}

section! {
    /// Commands of the flash, by the parallelism inside a package that they use.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Commands")]
    pub struct CommandSummary by new(commands: [u64; 4], flash: &FlashCounts);

    /// Commands that dies carried out; each works on one page or block, or on several in different planes.
    total: u64 = commands.iter().sum();
    /// Of these, on one plane, with no other die of the package occupied (no flash-level parallelism; non-PAL in Jung 2013).
    plain: u64 = commands[0];
    /// On several planes at once (plane sharing; PAL1).
    planes_shared: u64 = commands[1];
    /// On one plane, while another die of the package was occupied (die interleaving; PAL2).
    dies_interleaved: u64 = commands[2];
    /// Both (PAL3).
    dies_interleaved_planes_shared: u64 = commands[3];
    /// Pages read and programmed and blocks erased per command; an internal data move counts as two.
    pages_per_command: Option<f64> = ratio(flash.page_reads() + flash.page_programs() + flash.erases(), commands.iter().sum());
}

section! {
    /// What happened before the measurement and is in none of the other numbers.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Precondition")]
    pub struct PreconditionSummary by new(done: &Preconditioned);

    /// Pages written in order before the run.
    pages_filled: u64 = done.fill.written;
    /// Pages written at random after that.
    pages_overwritten: u64 = done.overwrites.written;
    /// Pages that garbage collection moved meanwhile.
    pages_moved: u64 = done.fill.moved + done.overwrites.moved;
    /// Write amplification of the last window of random writes.
    write_amplification: Option<f64> = done.last_write_amplification;
    /// Blocks erased meanwhile.
    erases: u64 = done.fill.erased + done.overwrites.erased;
}

/// The standard deviation of counts (divided by their number); zero without any.
pub(super) fn deviation(values: impl Iterator<Item = u32> + Clone) -> f64 {
    let mean = mean(values.clone());
    let count = values.clone().count().max(1) as f64;
    let squares: f64 = values.map(|value| (f64::from(value) - mean).powi(2)).sum();
    (squares / count).sqrt()
}

/// Bytes programmed per byte written; none if nothing was written.
pub(crate) fn write_amplification(flash: &FlashCounts) -> Option<f64> {
    ratio(flash.programmed_bytes(), flash.host_written_bytes)
}
