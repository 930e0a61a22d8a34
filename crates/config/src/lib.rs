//! What a user says of a device and a run, and what is meant by it.
//!
//! A configuration is one TOML file of the keys below, on top of a preset if it names one, below
//! the overrides of the command line. [`load`] reads it ([`Config`]), [`Plan::new`] checks it
//! against everything that has to hold together ([`Plan`]).

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
use wordline_host_link::Interface;
use wordline_io_scheduler::Composition;
use wordline_kernel::slot::Member;
use wordline_nand::{
    Arbitration, Cell, Energy, Geometry, PlaneRule, Scheduler, SlcMode, Suspend, Timing,
};
use wordline_reliability::Programming;
use wordline_ssd::config::{Buffer, Host, Ssd};
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

/// The version of the format that this program reads.
pub const SCHEMA: u32 = 1;

/// A device, how it is filled before the run, and what it is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Version of this format.
    #[schemars(extend("enum" = [SCHEMA]))]
    pub schema: u32,
    /// Preset that gives the keys which the file leaves out; without one they have their defaults.
    /// A preset has no base of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Name of the device, for titles; a file that gives none lends its own.
    pub name: String,
    /// What the device is, in a sentence or two.
    pub description: String,
    /// Where the values come from: papers, data sheets.
    pub source: String,
    /// The flash packages.
    pub nand: Nand,
    /// How packages are wired.
    pub ssd: Ssd,
    /// The DRAM buffer between the host interface and the translation layer.
    pub buffer: Buffer,
    /// What the host sees.
    pub host: Host,
    /// The flash translation layer.
    pub ftl: wordline_ftl::Config,
    /// Flash in front of a disk or of an array: what the tables above describe is the flash of the cache, which starts empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<wordline_flash_cache::Config>,
    /// A hard disk: the store itself, or what lies behind `[cache]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<wordline_hdd::Config>,
    /// The host side of the store: workers, cores, a bridge or flash software. Without it the host takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_side: Option<wordline_host_cpu::Config>,
    /// Several devices in place of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<Array>,
    /// When requests are issued.
    pub replay: Replay,
    /// What happens to the device before the run; excluded from every result.
    pub precondition: Precondition,
    /// The time series of the results.
    pub series: Series,
    /// Measurements of a run, and the start of measuring.
    pub observe: Observe,
    /// Load to generate when no trace is given; its own `arrival` says when requests are issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<generate::Config>,
    /// Several streams of requests at once, in place of `[workload]` or a single trace.
    #[schemars(length(max = streams::MOST))]
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
    /// The name of an element of an array of tables.
    fn name_in(&self, tables: &str, place: usize) -> Option<&str> {
        match tables {
            "streams" => Some(&self.streams.get(place)?.name),
            _ => Some(&self.array.as_ref()?.at(tables)?.members.get(place)?.name),
        }
    }
}

/// The flash packages (`[nand]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nand {
    /// Erases that a block endures; the next one is an error. Program/erase cycles.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub endurance_cycles: u32,
    /// Maximum programs of a page between two erases of its block (NOP). Count.
    #[schemars(range(min = 1, max = 8))]
    pub partial_programs: u32,
    /// Address fields that must match in a multi-plane command: `page-offset`, the offset of the
    /// page in its block; `page-and-block-offset`, also the offset of the block in its plane.
    pub plane_rule: PlaneRule,
    /// Which bit of its cells a page stores, and with it how long it takes.
    pub cell: Cell,
    /// How a package is divided.
    pub geometry: Geometry,
    /// How long its operations take.
    pub timing: Timing,
    /// How long pages take in single-level mode, in an SLC cache.
    pub slc_mode: SlcMode,
    /// What programs and the reads after them cost, where pages are not all programmed alike.
    pub programming: Programming,
    /// How reads err.
    pub reliability: Reliability,
    /// Who gets the bus of a channel.
    pub arbitration: Arbitration,
    /// Whether a standalone package spreads a stream over its dies or its planes first; an SSD has
    /// `ftl.allocate` and `ssd.composition` for that.
    pub scheduler: Scheduler,
    /// Whether the part can move a page inside a plane (internal data move, copyback).
    pub internal_data_move: bool,
    /// Whether programs and erases can be interrupted for reads.
    pub suspend: Suspend,
    /// What its operations cost.
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

/// When requests are issued (`[replay]`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Replay {
    /// By the clock of the trace, or one after another.
    pub mode: replay::Mode,
}

/// The order in which the pages lie that are filled before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FillLayout {
    /// That of their addresses.
    #[default]
    Address,
    /// That in which the run first reads them; a page that it writes before lies where its address puts it. For data whose order
    /// of writing is unknown: allocation decides "the order in which coalesced data pages are written to physical pages, which
    /// in turn influences the order in which the pages are read" (Jung 2013, section 3.3). It ends with the first collection; what
    /// was not read by then stays where it is. Page mapping, and nothing overwritten after the fill.
    FirstRead,
    /// A random one, of the stream `scattered`: consecutive addresses lie anywhere, as after a long life, where addresses do not say
    /// where data are ("artificial alignment of LBAs and physical addresses", Jung 2013, section 6.7). Allocation that
    /// does not go by address.
    Scattered,
}

/// What happens to the device before the run (`[precondition]`): through the translation layer,
/// without taking simulated time; excluded from every result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Precondition {
    /// Share of the user pages that is written once, in order, from the first. Ratio.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fill_ratio: f64,
    /// In which order the filled pages lie.
    pub layout: FillLayout,
    /// Random page writes after the fill, over the filled pages, as a multiple of the user pages. Ratio.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub overwrite_ratio: f64,
    /// Whether random page writes go on until write amplification has settled.
    pub settle: bool,
    /// Settled: successive windows differ by less than this share. Ratio.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub settle_tolerance_ratio: f64,
    /// Most random page writes spent on settling, as a multiple of the user pages. Ratio.
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

/// The time series of the results (`[series]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Series {
    /// Width of an interval; 0 chooses one that gives at most `intervals` of them. Milliseconds.
    #[schemars(range(min = 0.0, max = 86_400_000.0))]
    pub interval_ms: f64,
    /// Most intervals of an automatic width. Count.
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

/// Measurements of a run, and the start of measuring (`[observe]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Observe {
    /// Width of the intervals for the maximum response times (`worst_case` of the summary); 0
    /// chooses one that gives at most 64 of them. Seconds.
    #[schemars(range(min = 0.0, max = 8_640_000.0))]
    pub worst_case_interval_s: f64,
    /// Sampling interval of the load of the dies (`chip_load` of the results); 0 for never. A run
    /// of more than a million of them doubles it. Milliseconds.
    #[schemars(range(min = 0.0, max = 86_400_000.0))]
    pub chip_load_interval_ms: f64,
    /// Whether the load of the dies is looked at whenever a page leaves the DRAM buffer (`buffer.balance_above_10_ratio` of the
    /// results).
    pub balance_at_evictions: bool,
    /// Acceptable response time; the time beyond it is a request's excess (`excess` of the
    /// summary). Milliseconds.
    #[schemars(range(min = 0.0, max = 86_400_000.0))]
    pub marginal_response_ms: f64,
    /// Pages that the miss-ratio curve beside what a cache hits is made of (`[cache]`): a sample of the pages of
    /// reads, at most a sixteenth of them; 0 for no curve. Pages.
    #[schemars(range(min = 0, max = 1_048_576))]
    pub miss_ratio_pages: u32,
    /// Simulated time before anything is measured: only what happens later is in the results. One of the three
    /// `warm_up` keys at most; 0 measures from the start. Seconds.
    #[schemars(range(min = 0.0, max = 8_640_000.0))]
    pub warm_up_s: f64,
    /// Requests issued before anything is measured, of all streams together; TRIMs and flushes count. Count.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    pub warm_up_requests: u64,
    /// Files of the trace replayed before anything is measured, of each stream with a trace. With the same file given
    /// twice, 1 measures the second pass. Count.
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

/// The JSON schema of a configuration file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Config).to_value()
}

/// All policies of all slots, in the order of the configuration.
pub fn policies() -> Vec<Member> {
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
