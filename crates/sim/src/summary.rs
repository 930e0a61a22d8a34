//! The numbers of a run, and the sentences beside them.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, json};
use wordline_block::{PARTS, Part};
use wordline_device::host::nvme::Arbitration;
use wordline_device::precondition::Preconditioned;
use wordline_device::{Interface, Usage};
use wordline_ftl::MapCache;
use wordline_kernel::Time;
use wordline_nand::Energy;
use wordline_observe::{Busy, Histogram};
use wordline_workload::grouped;

use crate::chip_load::ChipLoadSummary;
use crate::devices::Device;
use crate::fairness::{Fairness, StreamInput, StreamSummary, streams};
use crate::members::{MemberSummary, members};
use crate::outcome::{Asked, Outcome, SsdOutcome};
use crate::record::{Collections, FlashCounts, PartSums, Power, Record, Served};
use crate::slow::{ExcessSummary, WorstCase};
use wordline_config::plan::{Replay, Ssd};
use wordline_config::{Config, Plan, chosen};

/// Version of the summary's format.
pub const SCHEMA: u32 = 1;

/// The content of `summary.json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// Version of the format of the summary.
    pub schema: u32,
    /// Version of the program.
    pub version: &'static str,
    /// Whether the run ended before its time.
    pub partial: bool,
    /// Why it did; null if it did not.
    pub error: Option<String>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Digest of all events: equal runs have equal ones.
    pub digest: String,
    /// The device, or the array as one.
    pub device: DeviceSummary,
    /// What it was asked to do.
    pub input: InputSummary,
    /// Simulated time.
    pub time: TimeSummary,
    /// Response times.
    pub latency: ByOp<LatencySummary>,
    /// The parts of the mean response time; they sum to it.
    pub breakdown: ByOp<Breakdown>,
    /// The longest response times, interval by interval.
    pub worst_case: WorstCase,
    /// What requests took beyond the marginal response time.
    pub excess: ExcessSummary,
    /// Requests and bytes a second.
    pub throughput: Throughput,
    /// The streams of `[[streams]]` or `--stream`; empty where a run has one stream without a name.
    pub streams: Vec<StreamSummary>,
    /// How the streams shared the device; null with one stream.
    pub fairness: Option<Fairness>,
    /// The members of the array; empty without one.
    pub members: Vec<MemberSummary>,
    /// What happened to the flash.
    pub flash: FlashSummary,
    /// Look-ups in the part of the map that is in memory; null if the whole map is.
    pub map_cache: Option<MapCacheSummary>,
    /// The DRAM buffer; null without one.
    pub buffer: Option<BufferSummary>,
    /// The load of the dies; null if it was not looked at.
    pub chip_load: Option<ChipLoadSummary>,
    /// Collections by kind and trigger; one row for each pair that came up.
    pub collections: Vec<CollectionSummary>,
    /// Power cuts; null if the power never failed.
    pub power: Option<PowerSummary>,
    /// Commands of the flash.
    pub commands: CommandSummary,
    /// How busy channels and dies were.
    pub utilisation: Utilisation,
    /// What the dies did with their time.
    pub execution: Execution,
    /// What the flash took.
    pub energy: EnergySummary,
    /// What happened before the run.
    pub precondition: PreconditionSummary,
    /// How much was checked; null without --verify.
    pub verification: Option<VerificationSummary>,
    /// What to know before the numbers are used.
    pub notes: Vec<String>,
    /// The policies in the slots of the configuration, and their papers.
    pub references: Vec<Reference>,
    /// What the simulation cost.
    pub speed: SpeedSummary,
}

/// The device that was simulated; of an array, sums over its members, and of the first what adds to nothing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Device")]
pub struct DeviceSummary {
    /// Name of the configuration.
    pub name: String,
    /// All pages of the device; of all members of an array.
    pub capacity_bytes: u64,
    /// What the host can address: the capacity less over-provisioning.
    pub user_bytes: u64,
    /// (capacity - user) / capacity, as configured; of an array that of its first member, as are the ways, the pages of a block and the bytes of a page.
    pub over_provisioning_ratio: f64,
    /// Channels.
    pub channels: u32,
    /// Packages on a channel.
    pub ways: u32,
    /// Dies of the whole device.
    pub dies: u32,
    /// Planes of the whole device.
    pub planes: u32,
    /// Erase blocks of the whole device.
    pub blocks: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// User bytes in a page.
    pub page_bytes: u32,
}

/// What the device was asked to do, by all streams together.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Input")]
pub struct InputSummary {
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub of: StreamInput,
    /// Pages read that were never written: answered without flash, in no time.
    pub unwritten_pages_read: u64,
}

/// Simulated time.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Time")]
pub struct TimeSummary {
    /// Simulated time from the start of the clock to the last event.
    pub simulated_s: f64,
    /// When the first request was issued.
    pub first_arrival_s: f64,
    /// When the last request was completed; collections may go on after it.
    pub last_completion_s: f64,
    /// Simulated time in which the device held a request: from the moment in which its command, and the data of a write, was there.
    pub busy_s: f64,
}

/// The same of all requests, of reads, of writes.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}ByOp")]
pub struct ByOp<T> {
    /// Of all requests.
    pub all: T,
    /// Of reads.
    pub read: T,
    /// Of writes.
    pub write: T,
}

/// Response times, from arrival to completion; null where there was no request.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Latency")]
pub struct LatencySummary {
    /// Completed requests.
    pub count: u64,
    /// Mean response time, from arrival to completion. Exact.
    pub mean_us: Option<f64>,
    /// Standard deviation of response times. Exact.
    pub std_us: Option<f64>,
    /// Shortest response time. Exact.
    pub min_us: Option<f64>,
    /// Median: half of the requests took no longer. Percentiles are at most 0.1 % high.
    pub p50_us: Option<f64>,
    /// 90 % of the requests took no longer.
    pub p90_us: Option<f64>,
    /// 95 % of the requests took no longer.
    pub p95_us: Option<f64>,
    /// 99 % of the requests took no longer.
    pub p99_us: Option<f64>,
    /// 99.9 % of the requests took no longer.
    pub p99_9_us: Option<f64>,
    /// 99.99 % of the requests took no longer.
    pub p99_99_us: Option<f64>,
    /// Longest response time. Exact.
    pub max_us: Option<f64>,
}

/// The parts of the mean response time, in microseconds, in the order of [`Part::ALL`]; they sum to it.
#[derive(Clone, Copy, Debug)]
pub struct Breakdown(pub [f64; PARTS]);

impl JsonSchema for Breakdown {
    fn schema_name() -> Cow<'static, str> {
        "Breakdown".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let part = |part: &Part| {
            let figure = json!({ "description": part.meaning, "type": "number" });
            (part.figure.to_owned(), figure)
        };
        json_schema!({
            "description": "The parts of the mean response time; they sum to it.",
            "type": "object",
            "properties": Part::ALL.iter().map(part).collect::<Map<_, _>>(),
        })
    }
}

impl Serialize for Breakdown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Part::ALL.iter().map(|part| part.figure).zip(self.0))
    }
}

/// Requests and 10^6 bytes a second, from the first arrival to the last completion.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Throughput {
    /// Requests completed a second, from the first arrival to the last completion.
    pub iops: f64,
    /// Reads completed a second.
    pub read_iops: f64,
    /// Writes completed a second.
    pub write_iops: f64,
    /// Bytes read a second, in 10^6 bytes.
    pub read_mb_per_s: f64,
    /// Bytes written a second, in 10^6 bytes.
    pub write_mb_per_s: f64,
}

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
    /// Pages programmed per page of `flash.host_page_writes`. With power cuts, pages that were placed and never programmed are among those written.
    pub write_amplification: Option<f64>,
    /// Partial writes that had to read the rest of their page.
    pub read_modify_writes: u64,
    /// Pages that the host discarded, whole ones only.
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
    /// Requests for pages whose map entries had to be brought into memory, which takes a read unless nothing of their translation page is in flash.
    pub misses: u64,
    /// Hits, of hits and misses.
    pub hit_ratio: Option<f64>,
    /// Map entries that left memory.
    pub evictions: u64,
    /// Those of them that had changed since their translation page was written, so that it was to be written.
    pub dirty_evictions: u64,
}

impl Deref for InputSummary {
    type Target = StreamInput;
    fn deref(&self) -> &StreamInput {
        &self.of
    }
}

impl DerefMut for InputSummary {
    fn deref_mut(&mut self) -> &mut StreamInput {
        &mut self.of
    }
}

impl MapCacheSummary {
    /// None if the maps are in memory.
    fn new(devices: &[Device]) -> Option<Self> {
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
    /// Pages written from the buffer to the flash: evicted, flushed, written through.
    pub pages_destaged: u64,
    /// Of these, pages of which a part was written only, so that the flash was read to complete them, if it held the page.
    pub pages_destaged_partial: u64,
    /// Pages programmed in the flash per page that the host wrote to the buffer: below 1 where the buffer saves more writes than collections add.
    pub write_amplification: Option<f64>,
    /// Pages newer than the flash in the buffer at the end of the run.
    pub dirty_pages_left: u64,
    /// Flushes completed.
    pub flushes: u64,
    /// Mean response time of a flush. Exact.
    pub flush_mean_us: Option<f64>,
    /// Longest response time of a flush. Exact.
    pub flush_max_us: Option<f64>,
}

impl BufferSummary {
    /// None without a buffer.
    pub(crate) fn new(plan: &Plan, record: &Record, devices: &[Device]) -> Option<Self> {
        plan.ssds().find(|ssd| ssd.buffer.is_some())?;
        let counts = record.buffer();
        let [reads, writes] = [0, 1].map(|op: usize| counts.hits[op] + counts.misses[op]);
        let hits: u64 = counts.hits.iter().sum();
        let evictions: u64 = counts.evictions.iter().sum();
        let flushes = LatencySummary::new(&record.total.flushes);
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
            pages_destaged: counts.destaged,
            pages_destaged_partial: counts.destaged_partial,
            write_amplification: ratio(record.flash().page_programs(), writes),
            dirty_pages_left: devices.iter().map(|device| device.dirty_pages).sum(),
            flushes: flushes.count,
            flush_mean_us: flushes.mean_us,
            flush_max_us: flushes.max_us,
        })
    }
}

/// Power cuts and the recoveries from them.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Power")]
pub struct PowerSummary {
    /// Power cuts; the table is there with --power-cut-every.
    pub cuts: u64,
    /// Requests that were under way then; they are in no other number.
    pub requests_lost: u64,
    /// Pages in the DRAM buffer that were newer than the flash then, and are lost.
    pub pages_lost: u64,
    /// Pages in the DRAM buffer that were newer than the flash then, and were saved by its capacitors.
    pub pages_saved: u64,
    /// Pages that were being programmed then and cannot be read.
    pub pages_torn: u64,
    /// Blocks that were being erased then.
    pub erases_torn: u64,
    /// Pages whose spare areas the recoveries read; one of every erased block.
    pub recovery_pages_read: u64,
    /// Blocks that the recoveries erased.
    pub recovery_blocks_erased: u64,
    /// Mean time of a recovery: its reads and erases, spread over the dies.
    pub recovery_mean_ms: f64,
    /// The longest recovery.
    pub recovery_longest_ms: f64,
}

impl PowerSummary {
    /// None if the power never failed.
    fn new(power: &Power, requests_lost: u64) -> Option<Self> {
        let cost = power.cost;
        (power.cuts > 0).then(|| Self {
            cuts: power.cuts,
            requests_lost,
            pages_lost: cost.pages_lost.into(),
            pages_saved: cost.pages_saved.into(),
            pages_torn: cost.pages_torn.into(),
            erases_torn: cost.erases_torn.into(),
            recovery_pages_read: cost.pages_read,
            recovery_blocks_erased: cost.blocks_erased.into(),
            recovery_mean_ms: cost.time.as_secs() * 1e3 / power.cuts as f64,
            recovery_longest_ms: power.longest.as_secs() * 1e3,
        })
    }
}

/// Collections of one kind that were started for the same reason.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Collections")]
pub struct CollectionSummary {
    /// How the collections of this row gained room: move (valid pages of a block), switch, partial or full merge, wear (a block moved for even wear). One row for each kind and trigger that came up.
    pub kind: &'static str,
    /// What they were started for: free-blocks or update-block (on demand, while the host is served), look-ahead, compaction, retroactive, background.
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
}

impl CollectionSummary {
    pub(crate) fn new(collections: &Collections) -> Self {
        Self {
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

/// What the dies did with their time. Shares, sum 1.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Execution {
    /// Share of the dies' time, from the first arrival to the last event, in which commands, addresses, data or status moved for them.
    pub bus_active: f64,
    /// Share in which they waited for the bus of their channel.
    pub bus_contention: f64,
    /// Share in which their arrays worked, and in which they were busy taking in planes.
    pub cell_active: f64,
    /// The rest: no operation, or one laid aside.
    pub idle: f64,
}

impl Execution {
    pub(crate) fn new<'a>(
        usage: impl IntoIterator<Item = &'a Usage, IntoIter: Clone>,
        span: Time,
    ) -> Self {
        let usage = usage.into_iter();
        let all = (span.0 as f64 * usage.clone().count() as f64).max(1.0);
        let share = |of: &dyn Fn(&Usage) -> Time| {
            usage.clone().map(|usage| of(usage).0 as f64).sum::<f64>() / all
        };
        let bus_active = share(&|usage| usage.bus);
        let bus_contention = share(&|usage| usage.bus_wait);
        let cell_active = share(&|usage| usage.cell);
        Self {
            bus_active,
            bus_contention,
            cell_active,
            idle: (1.0 - bus_active - bus_contention - cell_active).max(0.0),
        }
    }
}

/// What the flash took, from the first arrival to the last event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Energy")]
pub struct EnergySummary {
    /// Energy of array reads, from the first arrival to the last event: supply voltage x read current x array time, for every plane that works.
    pub read_mj: f64,
    /// Energy of array programs.
    pub program_mj: f64,
    /// Energy of erases.
    pub erase_mj: f64,
    /// Energy of the interface of the dies while the bus is in use for them.
    pub bus_mj: f64,
    /// Energy that dies take while they are not occupied.
    pub standby_mj: f64,
    /// The sum of the five. Host link, controller and DRAM are not modelled.
    pub total_mj: f64,
}

impl EnergySummary {
    /// What a die took that was used so during `span`.
    pub(crate) fn of_die(energy: &Energy, usage: &Usage, work: Time, span: Time) -> Self {
        let mj = |nj: f64| nj / 1e6;
        let [read, program, erase, bus] = energy.stages_nj(usage.array, usage.bus).map(mj);
        let mut sum = Self {
            read_mj: read,
            program_mj: program,
            erase_mj: erase,
            bus_mj: bus,
            standby_mj: mj(energy.standby_nj(span.since(work))),
            total_mj: 0.0,
        };
        sum.total_mj = sum.read_mj + sum.program_mj + sum.erase_mj + sum.bus_mj + sum.standby_mj;
        sum
    }
    fn plus(&self, other: &Self) -> Self {
        Self {
            read_mj: self.read_mj + other.read_mj,
            program_mj: self.program_mj + other.program_mj,
            erase_mj: self.erase_mj + other.erase_mj,
            bus_mj: self.bus_mj + other.bus_mj,
            standby_mj: self.standby_mj + other.standby_mj,
            total_mj: self.total_mj + other.total_mj,
        }
    }
}

/// The energy of every die of a device during `span`.
pub(crate) fn energy_of_dies(ssd: &SsdOutcome<'_>, span: Time) -> Vec<EnergySummary> {
    let occupied = ssd.record.dies.totals();
    let dies = ssd.device.usage.iter().zip(occupied);
    dies.map(|(usage, work)| EnergySummary::of_die(&ssd.plan.energy, usage, work, span))
        .collect()
}

/// The energy of all dies of a device during `span`.
pub(crate) fn sum_of_dies(ssd: &SsdOutcome<'_>, span: Time) -> EnergySummary {
    let dies = energy_of_dies(ssd, span);
    dies.iter()
        .fold(EnergySummary::default(), |sum, die| sum.plus(die))
}

/// Share of the simulated time in which the hardware was busy, 0 to 1.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Utilisation {
    /// Share of the time from the first arrival to the last event in which a channel's bus was held, mean of the channels.
    pub channel_mean: f64,
    /// The same of the busiest channel.
    pub channel_max: f64,
    /// Share of the time from the first arrival to the last event in which a die was occupied, from the first command cycle of an operation to its last bus cycle; mean of the dies.
    pub die_mean: f64,
    /// The same of the busiest die.
    pub die_max: f64,
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

/// How much `--verify` looked at.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Verification")]
pub struct VerificationSummary {
    /// Page reads compared with the shadow store.
    pub reads_checked: u64,
    /// Page writes whose versions were followed.
    pub writes_followed: u64,
}

/// A policy that was used, and the paper behind it.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Reference {
    /// The family of the policy.
    pub family: &'static str,
    /// Its name.
    pub policy: &'static str,
    /// The paper; empty where there is none.
    pub paper: &'static str,
}

/// What the simulation cost.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Speed")]
pub struct SpeedSummary {
    /// Wall-clock time of the run, preconditioning included.
    pub wall_s: f64,
    /// Processor time of the run, preconditioning included.
    pub cpu_s: f64,
    /// Of that, the processor time of preconditioning.
    pub precondition_cpu_s: f64,
    /// Events simulated.
    pub events: u64,
    /// Completed requests per second of processor time.
    pub requests_per_cpu_s: f64,
    /// Growth of the process's resident memory from the empty device to the end of the run.
    pub resident_bytes: u64,
    /// Logical pages written at least once, at most: pages written, bounded by the user pages.
    pub pages_touched: u64,
    /// The ratio of the two; fixed costs weigh on short runs, the shadow store on verified ones.
    pub resident_bytes_per_touched_page: f64,
}

fn us(time: Time) -> f64 {
    time.as_us()
}

impl Utilisation {
    pub(crate) fn new(record: &Record, span: Time) -> Self {
        let (channel_mean, channel_max) = share(&record.channels, span);
        let (die_mean, die_max) = share(&record.dies, span);
        Self {
            channel_mean,
            channel_max,
            die_mean,
            die_max,
        }
    }
}

impl LatencySummary {
    pub(crate) fn by_op(served: &Served) -> ByOp<Self> {
        let [read, write] = &served.latency;
        ByOp {
            all: Self::new(&served.all()),
            read: Self::new(read),
            write: Self::new(write),
        }
    }
    fn new(histogram: &Histogram) -> Self {
        let at = |q| histogram.percentile(q).map(us);
        Self {
            count: histogram.count(),
            mean_us: histogram.mean_us(),
            std_us: histogram.std_us(),
            min_us: histogram.min().map(us),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p99_9_us: at(0.999),
            p99_99_us: at(0.9999),
            max_us: histogram.max().map(us),
        }
    }
}

impl Breakdown {
    pub(crate) fn by_op(served: &Served) -> ByOp<Self> {
        let [read, write] = &served.parts;
        ByOp {
            all: Self::new(&read.plus(write)),
            read: Self::new(read),
            write: Self::new(write),
        }
    }
    fn new(sums: &PartSums) -> Self {
        Self(sums.means_us())
    }
}

impl Throughput {
    /// From the first arrival to the last completion.
    pub(crate) fn new(served: &Served, first_arrival: Time) -> Self {
        let span = served.last_completion.since(first_arrival);
        let seconds = span.as_secs().max(1e-12);
        let rate = |count: u64| count as f64 / seconds;
        let [read, write] = &served.latency;
        Self {
            iops: rate(served.count()),
            read_iops: rate(read.count()),
            write_iops: rate(write.count()),
            read_mb_per_s: rate(served.bytes[0]) / 1e6,
            write_mb_per_s: rate(served.bytes[1]) / 1e6,
        }
    }
}

fn share(busy: &Busy, span: Time) -> (f64, f64) {
    let totals = busy.totals();
    let span = span.0.max(1) as f64;
    let shares = totals.iter().map(|total| total.0 as f64 / span);
    let max = shares.clone().fold(0.0, f64::max);
    (shares.sum::<f64>() / totals.len().max(1) as f64, max)
}

/// A part of a whole, or programs per page that the host wrote; none of nothing.
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The mean of counts; zero without any.
pub(crate) fn mean(values: impl Iterator<Item = u32> + Clone) -> f64 {
    let count = values.clone().count().max(1) as f64;
    values.map(u64::from).sum::<u64>() as f64 / count
}

/// The standard deviation of counts (divided by their number); zero without any.
fn deviation(values: impl Iterator<Item = u32> + Clone) -> f64 {
    let mean = mean(values.clone());
    let count = values.clone().count().max(1) as f64;
    let squares: f64 = values.map(|value| (f64::from(value) - mean).powi(2)).sum();
    (squares / count).sqrt()
}

impl Summary {
    /// Sums a run up.
    pub(crate) fn new(outcome: &Outcome) -> Self {
        let Outcome {
            plan,
            record,
            devices,
            end,
            error,
            speed,
            ..
        } = outcome;
        let flash = record.flash();
        let total = &record.total;
        let first_arrival = outcome.first_arrival();
        let span = end.since(first_arrival);
        let pages_touched = outcome.ssds().map(|ssd| pages_touched(&ssd)).sum::<u64>();
        let mut summary = Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            partial: error.is_some(),
            error: error.clone(),
            seed: plan.seed,
            digest: format!("{:016x}", outcome.digest),
            device: DeviceSummary::new(plan),
            input: input_summary(outcome, &flash),
            time: TimeSummary {
                simulated_s: end.as_secs(),
                first_arrival_s: first_arrival.as_secs(),
                last_completion_s: total.last_completion.as_secs(),
                busy_s: record.busy().as_secs(),
            },
            latency: LatencySummary::by_op(total),
            breakdown: Breakdown::by_op(total),
            worst_case: WorstCase::new(&record.worst),
            excess: ExcessSummary::new(plan.observe.marginal_response, total),
            throughput: Throughput::new(total, first_arrival),
            streams: streams(outcome),
            fairness: (plan.streams.len() > 1).then(|| Fairness::new(outcome.contest.as_ref())),
            members: members(outcome),
            flash: FlashSummary::new(&flash, devices),
            map_cache: MapCacheSummary::new(devices),
            buffer: BufferSummary::new(&outcome.plan, record, devices),
            chip_load: outcome.chip_loads.as_ref().map(ChipLoadSummary::new),
            collections: record
                .collections
                .iter()
                .map(CollectionSummary::new)
                .collect(),
            power: PowerSummary::new(&record.power, outcome.counts().lost),
            commands: CommandSummary::new(record.commands, &flash),
            execution: Execution::new(usage(devices), span),
            utilisation: Utilisation::new(record, span),
            energy: outcome.ssds().fold(EnergySummary::default(), |sum, ssd| {
                sum.plus(&sum_of_dies(&ssd, span))
            }),
            precondition: PreconditionSummary::new(&outcome.preconditioned()),
            verification: verification(devices),
            notes: Vec::new(),
            references: Vec::new(),
            speed: SpeedSummary {
                wall_s: speed.wall.as_secs_f64(),
                cpu_s: speed.cpu.as_secs_f64(),
                precondition_cpu_s: speed.precondition_cpu.as_secs_f64(),
                events: speed.events,
                requests_per_cpu_s: total.count() as f64 / speed.cpu.as_secs_f64().max(1e-9),
                resident_bytes: speed.resident_bytes,
                pages_touched,
                resident_bytes_per_touched_page: speed.resident_bytes as f64
                    / pages_touched.max(1) as f64,
            },
        };
        summary.notes = notes(outcome, &summary);
        summary
    }
}

impl Reference {
    /// The papers of the policies that a configuration names.
    pub(crate) fn of(config: &Config) -> Vec<Self> {
        let cited = chosen(config).into_iter();
        cited
            .filter(|member| !member.paper.is_empty())
            .map(|member| Self {
                family: member.family,
                policy: member.name,
                paper: member.paper,
            })
            .collect()
    }
}

impl DeviceSummary {
    /// A device; or an array, with sums over its members, and of its first what adds to nothing.
    pub(crate) fn new(plan: &Plan) -> Self {
        let sum = |of: fn(&Ssd) -> u32| plan.ssds().map(of).sum();
        Self {
            capacity_bytes: plan.capacity_bytes(),
            user_bytes: plan.user_bytes(),
            channels: sum(|ssd| ssd.dimensions.channels),
            dies: sum(|ssd| ssd.part.layout.dies),
            planes: sum(|ssd| ssd.part.layout.planes()),
            blocks: sum(|ssd| ssd.part.layout.blocks()),
            ..Self::of_ssd(plan.first())
        }
    }
    pub(crate) fn of_ssd(plan: &Ssd) -> Self {
        let layout = &plan.part.layout;
        Self {
            name: plan.name.clone(),
            capacity_bytes: plan.capacity_bytes(),
            user_bytes: plan.user_bytes(),
            over_provisioning_ratio: plan.ftl.config.over_provisioning_ratio,
            channels: plan.dimensions.channels,
            ways: plan.dimensions.ways,
            dies: layout.dies,
            planes: layout.planes(),
            blocks: layout.blocks(),
            pages_per_block: layout.pages_per_block,
            page_bytes: plan.geometry.page_bytes,
        }
    }
}

fn usage(devices: &[Device]) -> impl Iterator<Item = &Usage> + Clone {
    devices.iter().flat_map(|device| &device.usage)
}

/// What was checked of all devices, if they were verified.
fn verification(devices: &[Device]) -> Option<VerificationSummary> {
    let mut sum = VerificationSummary {
        reads_checked: 0,
        writes_followed: 0,
    };
    for device in devices {
        let (reads, writes) = device.verified?;
        sum.reads_checked += reads;
        sum.writes_followed += writes;
    }
    Some(sum)
}

fn input_summary(outcome: &Outcome, flash: &FlashCounts) -> InputSummary {
    let (counts, served) = (outcome.counts(), &outcome.record.total);
    let mut replays = outcome
        .streams
        .iter()
        .map(|asked| replay_name(&asked.replay));
    let replay = replays.next().unwrap_or_default();
    let alike = replays.all(|other| other == replay);
    let slots = outcome.plan.first().queue_depth;
    let depths = outcome
        .streams
        .iter()
        .map(|asked| queue_depth(slots, &asked.replay));
    let single = match outcome.streams.as_slice() {
        [single] => Some(single),
        _ => None,
    };
    let generated = outcome.plan.is_generated(0);
    let of = StreamInput {
        replay: if alike { replay } else { "mixed" },
        time_scale: single.and_then(Asked::time_scale),
        recorded_s: single.filter(|_| !generated).and_then(Asked::recorded_s),
        queue_depth: match replay {
            "closed-loop" if alike => depths.fold(0, u32::saturating_add),
            _ => slots,
        },
        ..StreamInput::new(&counts, served)
    };
    InputSummary {
        of,
        unwritten_pages_read: flash.unwritten_pages_read,
    }
}

pub(crate) fn replay_name(replay: &Replay) -> &'static str {
    match replay {
        Replay::OpenLoop { .. } => "open-loop",
        Replay::ClosedLoop { .. } => "closed-loop",
    }
}

/// Requests that can be under way: those of a closed loop, or as many as the device has `slots`.
pub(crate) fn queue_depth(slots: u32, replay: &Replay) -> u32 {
    match replay {
        Replay::OpenLoop { .. } => slots,
        Replay::ClosedLoop { queue_depth } => *queue_depth,
    }
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

/// Logical pages of a device that were written, at most.
fn pages_touched(ssd: &SsdOutcome<'_>) -> u64 {
    let Preconditioned {
        fill, overwrites, ..
    } = &ssd.device.preconditioned;
    let written = fill.written + overwrites.written + ssd.record.flash().host_page_writes;
    written.min(ssd.device.user_pages.into())
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
            write_amplification: ratio(flash.page_programs(), flash.host_page_writes),
            read_modify_writes: flash.read_modify_writes,
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

/// Sentences that a careful reader of the numbers needs.
fn notes(outcome: &Outcome, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let preconditioned = outcome.preconditioned();
    let counts = outcome.counts();
    let filled = preconditioned.fill.written;
    if filled > 0 {
        notes.push(format!(
            "Before the run {} pages were written in order and {} at random, without timing; none of that is in the results.",
            grouped(filled),
            grouped(preconditioned.overwrites.written)
        ));
    } else {
        notes.push("The device was empty at the start (precondition.fill_ratio = 0).".into());
    }
    if preconditioned.unsettled {
        notes.push("Preconditioning reached precondition.settle_limit_ratio before write amplification settled.".into());
    }
    let unwritten = summary.input.unwritten_pages_read;
    if unwritten > 0 {
        notes.push(format!(
            "{} pages were read that were never written; such a read takes no flash operation and no time. Raise precondition.fill_ratio to have them on flash.",
            grouped(unwritten)
        ));
    }
    if let Some(power) = summary.power {
        notes.push(format!(
            "The power failed {} times: {} requests under way were lost and are in no other number; recoveries took {:.3} ms on average, {:.3} ms at most.",
            grouped(power.cuts),
            grouped(power.requests_lost),
            power.recovery_mean_ms,
            power.recovery_longest_ms,
        ));
    }
    if counts.flushes_ignored > 0 {
        notes.push(format!(
            "{} flushes of the input were left out: without a DRAM buffer they change nothing.",
            grouped(counts.flushes_ignored)
        ));
    }
    if counts.durable_writes > 0 && !outcome.plan.has_buffer() {
        notes.push(format!(
            "{} writes are to be durable when they are done (FUA): without a DRAM buffer every write is.",
            grouped(counts.durable_writes)
        ));
    }
    let plan = &outcome.plan;
    let streams = outcome.streams.iter().zip(&outcome.record.streams);
    for (place, (asked, served)) in streams.enumerate() {
        let own = plan.streams.get(place);
        let said = |text: &str| match own {
            Some(stream) => format!("Stream {}: {text}", stream.name),
            None => text.to_owned(),
        };
        if own.is_some() && asked.counts.requests() == 0 {
            notes.push(said("no read or write was issued."));
        }
        let generated = plan.is_generated(place);
        if !generated && asked.time_scale().is_none() && asked.recorded.is_some() {
            notes.push(said(STAMPS_IGNORED));
        }
        if is_crowded(asked, served) {
            notes.push(said(&crowding(outcome, generated)));
        }
    }
    notes.extend(classes_ignored(plan));
    notes
}

const STAMPS_IGNORED: &str = "The time stamps of the trace were ignored: a closed loop issues a request when another completes. Leave replay.mode out to play the trace by them.";

/// Whether an open loop waited for the device more than it was served.
fn is_crowded(asked: &Asked, served: &Served) -> bool {
    let waited: u128 = served.parts.iter().map(|parts| parts.sums()[0]).sum();
    let total: u128 = served.latency.iter().map(Histogram::sum_ps).sum();
    matches!(asked.replay, Replay::OpenLoop { .. }) && waited * 2 > total
}

/// Share of the time from the first request to the last completion above which a device that held
/// requests never caught up.
const ALWAYS_BUSY: f64 = 0.95;

fn crowding(outcome: &Outcome, generated: bool) -> String {
    let record = &outcome.record;
    let span = record.total.last_completion.since(outcome.first_arrival());
    let busy = record.busy().as_secs() / span.as_secs().max(1e-12);
    if busy < ALWAYS_BUSY {
        return format!(
            "More than half of the response time was spent waiting for the device queue, and the device held requests in {:.3} % of the time: they come in bursts longer than its queue (host.queue_depth).",
            busy * 100.0
        );
    }
    let remedy = if generated {
        "Lower the rate (workload.arrival) or take a closed loop."
    } else {
        "Stretch the trace (replay.mode.open-loop.time_scale above 1) or replay it closed loop."
    };
    format!(
        "More than half of the response time was spent waiting for the device queue: the input offers more than this device serves. {remedy}"
    )
}

/// A class says nothing to most interfaces.
fn classes_ignored(plan: &Plan) -> Option<String> {
    let deaf = plan.ssds().find(|ssd| {
        !matches!(
            &ssd.interface,
            Interface::Nvme(nvme) if nvme.arbitration == Arbitration::WeightedRoundRobin
        )
    })?;
    let streams = &plan.streams;
    let differ = streams
        .iter()
        .any(|stream| stream.class != streams[0].class);
    differ.then(|| {
        format!(
            "The classes of the streams were ignored: host.interface = {} serves all alike. Weighted round robin heeds them (host.interface.nvme.arbitration = \"weighted-round-robin\").",
            deaf.interface.name()
        )
    })
}
