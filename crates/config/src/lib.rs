//! Reads, completes and checks configurations.
//!
//! A configuration is one TOML file with the keys of [`Config`]. It overrides the preset that it
//! names as its base, and the command line overrides the file. [`load`] reads it into a [`Config`].
//! [`Plan::new`] checks all rules, including those between keys, and derives a [`Plan`], which the
//! simulation runs. This crate does not simulate.

pub mod array;
mod check;
mod chosen;
pub mod costs;
mod disk;
mod error;
mod explain;
pub mod keys;
mod limits;
mod load;
mod merge;
mod origin;
pub mod plan;
pub mod presets;
pub mod range;
mod read;
pub mod reference;
pub mod reliability;
pub mod replay;
pub mod streams;
mod write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_dram_buffer::config::Buffer;
use wordline_host_link::Interface;
use wordline_host_link::config::Host;
use wordline_io_scheduler::Composition;
use wordline_kernel::slot::PolicyInfo;
use wordline_nand::{
    Arbitration, Cell, Energy, Geometry, PlaneRule, Scheduler, SlcMode, Suspend, Timing,
};
use wordline_reliability::Programming;
use wordline_ssd::config::Ssd;
use wordline_workload::generate;

pub use array::Array;
pub use chosen::chosen;
pub use error::ConfigError;
pub use explain::nearest;
pub use load::{Loaded, load};
pub use origin::{Origin, Place};
pub use plan::Plan;
pub use reliability::Reliability;
pub use streams::Stream;

/// Version of the configuration format that this program reads.
pub const SCHEMA: u32 = 1;

/// Device, its preconditioning, and the load of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Version of the configuration format.
    #[schemars(extend("enum" = [SCHEMA]))]
    pub schema: u32,
    /// Preset that supplies the keys that the file leaves out. Without a preset, these keys have
    /// their defaults. A preset itself has no base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Name of the device, for titles. By default, it is the name of the file.
    pub name: String,
    /// Description of the device, in one or two sentences.
    pub description: String,
    /// Sources of the values, such as papers and data sheets.
    pub source: String,
    /// Flash packages.
    pub nand: Nand,
    /// Wiring of the packages, scheduling and error correction.
    pub ssd: Ssd,
    /// DRAM buffer between the host interface and the translation layer.
    pub buffer: Buffer,
    /// Host interface and queue depth.
    pub host: Host,
    /// Flash translation layer.
    pub ftl: wordline_ftl::Config,
    /// Flash cache in front of a disk or an array. `[nand]`, `[ssd]`, `[host]` and `[ftl]` then
    /// describe the flash of the cache, which starts empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<wordline_flash_cache::Config>,
    /// Hard disk that is the store itself, or the backing store of `[cache]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<wordline_hdd::Config>,
    /// RAM disk that is the store itself, or the backing store of `[cache]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ram: Option<wordline_ram_disk::Config>,
    /// Host side of the store: threads, cores, lock and map. Without it, the host takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_side: Option<wordline_host_cpu::Config>,
    /// Array of several devices, instead of a single device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<Array>,
    /// Rule by which the requests of a trace are issued.
    pub replay: Replay,
    /// Preconditioning before the run. Metrics exclude it unless described otherwise.
    pub precondition: Precondition,
    /// Time series in the results.
    pub series: Series,
    /// Measurements of a run, and its warm-up.
    pub observe: Observe,
    /// Load to generate if no trace is given. Its `arrival` determines when requests are issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<generate::Config>,
    /// Several concurrent streams of requests, instead of `[workload]` or a single trace.
    #[schemars(length(max = streams::MAX_STREAMS))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<Stream>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            base: None,
            name: String::new(),
            description: String::new(),
            source: String::new(),
            nand: Nand::default(),
            ssd: Ssd::default(),
            buffer: Buffer::default(),
            host: Host::default(),
            ftl: wordline_ftl::Config::default(),
            cache: None,
            disk: None,
            ram: None,
            host_side: None,
            array: None,
            replay: Replay::default(),
            precondition: Precondition::default(),
            series: Series::default(),
            observe: Observe::default(),
            workload: None,
            streams: Vec::new(),
        }
    }
}

impl Config {
    /// Returns the name of element `place` of the array of tables at the path `tables`; `None` if
    /// there is no such element.
    fn name_in(&self, tables: &str, place: usize) -> Option<&str> {
        match tables {
            "streams" => Some(&self.streams.get(place)?.name),
            _ => Some(&self.array.as_ref()?.at(tables)?.members.get(place)?.name),
        }
    }
}

/// Flash packages (`[nand]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nand {
    /// Endurance of a block. An erase after this number of cycles is an error, unless
    /// `nand.reliability.failures` models failures. Program/erase cycles.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub endurance_cycles: u32,
    /// Maximum number of programs of a page between two erases of its block (NOP). Count.
    #[schemars(range(min = 1, max = 8))]
    pub partial_programs: u32,
    /// Address fields that must match in a multi-plane command. `page-offset`: the offset of the
    /// page in its block. `page-and-block-offset`: also the offset of the block in its plane.
    pub plane_rule: PlaneRule,
    /// Cell type. The read and program times of a page depend on which bit of its cells it uses.
    pub cell: Cell,
    /// Dies, planes, blocks and pages of a package.
    pub geometry: Geometry,
    /// Times of array operations and of the bus.
    pub timing: Timing,
    /// Page times in single-level mode, which an SLC cache uses.
    pub slc_mode: SlcMode,
    /// Program modes: the time and wear of a program, and the time of later reads of the page.
    pub programming: Programming,
    /// Read errors, read reclaim, refresh, and bad blocks.
    pub reliability: Reliability,
    /// Arbitration of a channel's bus between its dies.
    pub arbitration: Arbitration,
    /// Order in which a standalone package distributes a stream: over its dies first or over its
    /// planes first. An SSD uses `ftl.allocate` and `ssd.composition` instead.
    pub scheduler: Scheduler,
    /// Whether the part can move a page inside a plane (internal data move, copyback).
    pub internal_data_move: bool,
    /// Suspension of programs and erases, to serve reads.
    pub suspend: Suspend,
    /// Voltages and currents, for the energy of operations.
    pub energy: Energy,
}

impl Default for Nand {
    fn default() -> Self {
        Self {
            endurance_cycles: 100_000,
            partial_programs: 1,
            plane_rule: PlaneRule::default(),
            cell: Cell::default(),
            geometry: Geometry::default(),
            timing: Timing::default(),
            slc_mode: SlcMode::default(),
            programming: Programming::default(),
            reliability: Reliability::default(),
            arbitration: Arbitration::default(),
            scheduler: Scheduler::default(),
            internal_data_move: false,
            suspend: Suspend::default(),
            energy: Energy::default(),
        }
    }
}

/// Rule by which the requests of a trace are issued (`[replay]`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Replay {
    /// Replay mode: at time stamps, at a queue depth, or after recorded think times.
    pub mode: replay::Mode,
}

/// Placement of the pages that preconditioning fills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FillLayout {
    /// Places pages by address.
    #[default]
    Address,
    /// Places pages in the order in which the run first reads them. A page that the run writes
    /// first is placed by address. This layout is for data of unknown write order: allocation
    /// decides "the order in which coalesced data pages are written to physical pages, which in
    /// turn influences the order in which the pages are read" (Jung 2013, section 3.3). Placement
    /// ends with the first GC run; pages not read by then keep their place. Needs page mapping, and
    /// no overwrites after the fill.
    FirstRead,
    /// Places pages in a random order, from the random stream `scattered`. Addresses then do not
    /// reveal the location of data, as on an aged device ("artificial alignment of LBAs and
    /// physical addresses", Jung 2013, section 6.7). Needs an allocation that does not depend on
    /// the address.
    Scattered,
}

/// Preconditioning (`[precondition]`): writes before the run. They pass through the translation
/// layer, take no simulated time and are excluded from all results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Precondition {
    /// Share of the user pages that is written once, sequentially from the first page. Ratio.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fill_ratio: f64,
    /// Placement of the filled pages. `address`: by address. `first-read`: in the order in which
    /// the run first reads them, for data of unknown write order; needs page mapping, and no
    /// overwrites after the fill. `scattered`: in a random order, as on an aged device; needs an
    /// allocation that does not depend on the address.
    pub layout: FillLayout,
    /// Random page writes to the filled pages, after the fill, as a multiple of the user pages.
    /// Ratio.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub overwrite_ratio: f64,
    /// Whether further random page writes follow until write amplification reaches steady state.
    pub settle: bool,
    /// Tolerance of steady state: write amplification of successive windows must differ by less
    /// than this share. Ratio.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub settle_tolerance_ratio: f64,
    /// Limit of random page writes to reach steady state, as a multiple of the user pages. It is
    /// checked after each window of half the filled pages. Ratio.
    #[schemars(range(max = 1000.0), extend("exclusiveMinimum" = 0.0))]
    pub settle_limit_ratio: f64,
}

impl Default for Precondition {
    fn default() -> Self {
        Self {
            fill_ratio: 1.0,
            layout: FillLayout::default(),
            overwrite_ratio: 0.0,
            settle: false,
            settle_tolerance_ratio: 0.01,
            settle_limit_ratio: 20.0,
        }
    }
}

/// Time series in the results (`[series]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Series {
    /// Width of an interval; 0 for a width that gives at most `intervals` intervals. Milliseconds.
    #[schemars(range(min = 0.0, max = 86_400_000.0))]
    pub interval_ms: f64,
    /// Maximum number of intervals if the width is automatic. Count.
    #[schemars(range(min = 2, max = 1_048_576))]
    pub intervals: u32,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            interval_ms: 0.0,
            intervals: 512,
        }
    }
}

/// Measurements of a run, and its warm-up (`[observe]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Observe {
    /// Width of the intervals for the maximum response times (`worst_case` of the summary); 0 for a
    /// width that gives at most 64 intervals. Seconds.
    #[schemars(range(min = 0.0, max = 8_640_000.0))]
    pub worst_case_interval_s: f64,
    /// Sampling interval of the die load (`chip_load` of the results); 0 for no samples. The
    /// interval doubles whenever 2^20 samples have found a die with work. Milliseconds.
    #[schemars(range(min = 0.0, max = 86_400_000.0))]
    pub chip_load_interval_ms: f64,
    /// Whether the die load is sampled at every eviction from the DRAM buffer
    /// (`buffer.balance_above_10_ratio` of the results).
    pub balance_at_evictions: bool,
    /// Acceptable response time. Time beyond it is the excess of a request (`excess` of the
    /// summary). Milliseconds.
    #[schemars(range(min = 0.0, max = 86_400_000.0))]
    pub marginal_response_ms: f64,
    /// Number of pages sampled for the miss-ratio curve of a cache (`[cache]`). They are drawn from
    /// the pages that are read, at most one in 16; 0 for no curve. Pages.
    #[schemars(range(min = 0, max = 1_048_576))]
    pub miss_ratio_pages: u32,
    /// Warm-up as simulated time; 0 for no warm-up. The results cover only the time after it. At
    /// most one of the three `warm_up` keys may be set. Seconds.
    #[schemars(range(min = 0.0, max = 8_640_000.0))]
    pub warm_up_s: f64,
    /// Warm-up as the number of issued requests, over all streams, including TRIMs and flushes.
    /// Count.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    pub warm_up_requests: u64,
    /// Warm-up as the number of trace files to replay, for each stream with a trace. If the same
    /// file is given twice, a value of 1 measures the second pass. Count.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub warm_up_files: u32,
}

impl Default for Observe {
    fn default() -> Self {
        Self {
            worst_case_interval_s: 0.0,
            chip_load_interval_ms: 0.0,
            balance_at_evictions: false,
            marginal_response_ms: 30.0,
            miss_ratio_pages: 4096,
            warm_up_s: 0.0,
            warm_up_requests: 0,
            warm_up_files: 0,
        }
    }
}

/// Returns the JSON schema of a configuration file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Config).to_value()
}

/// Returns all policies of all slots, in the order of the configuration.
pub fn policies() -> Vec<PolicyInfo> {
    [
        Cell::members(),
        Programming::members(),
        wordline_reliability::Errors::members(),
        wordline_reliability::Failures::members(),
        Arbitration::members(),
        Scheduler::members(),
        Composition::members(),
        Interface::members(),
        wordline_io_scheduler::Scheduler::members(),
        wordline_reliability::Ecc::members(),
        wordline_cache::Replacement::members(),
        wordline_dram_buffer::ReadAhead::members(),
        wordline_dram_buffer::Flush::members(),
        wordline_ftl::mapping::Family::members(),
        wordline_ftl::allocate::Allocate::members(),
        wordline_ftl::gc::victim::Victim::members(),
        wordline_ftl::gc::reclaim::Reclaiming::members(),
        wordline_ftl::gc::schedule::Scheduling::members(),
        wordline_ftl::wear::Wear::members(),
        wordline_ftl::refresh::Target::members(),
        wordline_ftl::program_mode::Regulation::members(),
        wordline_ftl::slc_cache::SlcCache::members(),
        wordline_ftl::trim::Answer::members(),
        wordline_ftl::trim::Frees::members(),
        wordline_flash_cache::admission::Admission::members(),
        wordline_partition::Partition::members(),
        wordline_hdd::Model::members(),
        wordline_hdd::queue::Policy::members(),
        wordline_host_cpu::Architecture::members(),
        wordline_host_cpu::Mapping::members(),
        replay::Mode::members(),
        generate::Pattern::members(),
        generate::Arrival::members(),
    ]
    .concat()
}
