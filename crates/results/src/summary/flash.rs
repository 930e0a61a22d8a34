//! Section `flash` of the summary: operations of the flash.

use super::energy::MeanEnergy;
use super::figures::{heading, mean, ratio};
use super::programmed::ProgrammedSummary;
use crate::device::Device;
use schemars::JsonSchema;
use serde::Serialize;
use wordline_ftl::MapCache;
use wordline_ftl::precondition::Preconditioned;
use wordline_kernel::Plus;
use wordline_observe::{Column, values};
use wordline_recorder::{Collections, FlashCounts};

wordline_recorder::flash_figures! {
    figures {
        /// Operations of the flash, and its state at the end of the run.
        #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
        #[schemars(rename = "Flash")]
        FlashSummary of FlashCounts, FlashEnd; columns ""
    }
    counts now end
}

/// State of the flash at the end of a run.
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
    /// Combines the counters with the state of `devices` at the end of the run.
    pub(crate) fn new(flash: &FlashCounts, devices: &[Device]) -> Self {
        Self::of(flash, &FlashEnd::of(devices))
    }
}

section! {
    /// Look-ups in cached maps.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "MapCache")]
    pub struct MapCacheSummary by of(all: &MapCache);

    /// Requests for pages whose map entries were in memory. The whole table is null if the whole
    /// map is in memory.
    hits: u64 = all.hits;
    /// Requests for pages whose map entries had to be loaded into memory. This takes a metadata
    /// read, unless the translation page is not in flash.
    misses: u64 = all.misses;
    /// Hits / (hits + misses).
    hit_ratio: Option<f64> = ratio(all.hits, all.hits + all.misses);
    /// Map entries evicted from memory.
    evictions: u64 = all.evictions;
    /// Evicted map entries that were newer than their translation page, which therefore had to be
    /// written.
    dirty_evictions: u64 = all.dirty_evictions;
}

impl MapCacheSummary {
    /// Returns the section, or `None` if all maps are entirely in memory.
    pub(super) fn new(devices: &[Device]) -> Option<Self> {
        let counts = devices.iter().filter_map(|device| device.map_cache);
        counts.reduce(MapCache::plus).as_ref().map(Self::of)
    }
}

section! {
    /// GC runs of one kind with the same trigger.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Collections")]
    pub struct CollectionSummary by new(collections: &Collections, mean: &MeanEnergy);

    /// Method by which the GC runs freed space: move (relocate the valid pages of a block), switch,
    /// partial or full merge, wear (relocate a block for wear levelling), refresh (relocate a block
    /// before its data becomes unreadable), fold (relocate pages of the SLC cache). One row for
    /// each kind and trigger that occurred.
    kind: &'static str = collections.kind.name();
    /// Trigger of the GC runs. On demand, while the host is served: free-blocks, update-block.
    /// Other triggers: look-ahead, compaction, retroactive, background, trim (a TRIM that erases),
    /// idle-fold (full blocks of the SLC cache, in idle time). For a refresh: read-disturb,
    /// retention.
    trigger: &'static str = collections.trigger.name();
    /// GC runs of this kind and trigger.
    runs: u64 = collections.runs;
    /// Pages that these GC runs moved.
    pages_moved: u64 = collections.moved;
    /// Blocks that these GC runs erased. Blocks of translation pages that `dftl` erases along with
    /// them count in `flash.erases` only.
    blocks_erased: u64 = collections.erased;
    /// Total time of these GC runs from start to end, including suspensions.
    time_s: f64 = collections.time.as_secs();
    /// Time of the longest GC run.
    longest_ms: f64 = collections.longest.as_secs() * 1e3;
    /// Array energy of the pages that these GC runs read and programmed, and of the blocks that
    /// they erased. Each operation counts with the mean of its kind over the run, such as
    /// `energy.read_mj / flash.page_reads`.
    energy_mj: f64 = mean.of_moves(collections.moved) + mean.of_erases(collections.erased);
}

section! {
    /// Flash commands, by the parallelism that they use within a package.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Commands")]
    pub struct CommandSummary by new(commands: [u64; 4], flash: &FlashCounts);

    /// Commands that dies executed. Each works on one page or block, or on several in different
    /// planes.
    total: u64 = commands.iter().sum();
    /// Commands on one plane, with no other die of the package occupied (no flash-level
    /// parallelism; non-PAL in Jung 2013).
    plain: u64 = commands[0];
    /// Commands on several planes, with no other die of the package occupied (plane sharing; PAL1).
    planes_shared: u64 = commands[1];
    /// Commands on one plane, while another die of the package was occupied (die interleaving;
    /// PAL2).
    dies_interleaved: u64 = commands[2];
    /// Commands on several planes, while another die of the package was occupied (PAL3).
    dies_interleaved_planes_shared: u64 = commands[3];
    /// Pages read and programmed and blocks erased per command; an internal data move counts as
    /// two.
    pages_per_command: Option<f64> = ratio(flash.page_reads() + flash.page_programs() + flash.erases(), commands.iter().sum());
}

section! {
    /// Operations before the measurement. Other metrics exclude them unless described otherwise.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Precondition")]
    pub struct PreconditionSummary by new(done: &Preconditioned);

    /// Pages filled before the run, each written once.
    pages_filled: u64 = done.fill.written;
    /// Pages overwritten at random after the fill.
    pages_overwritten: u64 = done.overwrites.written;
    /// Pages that GC moved during preconditioning.
    pages_moved: u64 = done.fill.moved + done.overwrites.moved;
    /// Write amplification of the last window of random writes with `precondition.settle`,
    /// otherwise of all random writes.
    write_amplification: Option<f64> = done.last_write_amplification;
    /// Blocks erased during preconditioning.
    erases: u64 = done.fill.erased + done.overwrites.erased;
}

/// Returns the population standard deviation of counts; 0 if there are none.
pub(super) fn deviation(values: impl Iterator<Item = u32> + Clone) -> f64 {
    let mean = mean(values.clone());
    let count = values.clone().count().max(1) as f64;
    let squares: f64 = values.map(|value| (f64::from(value) - mean).powi(2)).sum();
    (squares / count).sqrt()
}

/// Returns bytes programmed per byte written; `None` if nothing was written.
pub(crate) fn write_amplification(flash: &FlashCounts) -> Option<f64> {
    ratio(flash.programmed_bytes(), flash.host_written_bytes)
}
