//! The numbers of a run, and the sentences beside them.

use serde::{Serialize, Serializer};
use wordline_block::{PARTS, Part};
use wordline_device::host::nvme::Arbitration;
use wordline_device::precondition::Preconditioned;
use wordline_device::{Interface, Usage};
use wordline_ftl::MapCache;
use wordline_kernel::Time;
use wordline_nand::Energy;
use wordline_observe::{Busy, Histogram};
use wordline_workload::{InputFile, grouped};

use crate::chip_load::ChipLoadSummary;
use crate::config::plan::{Replay, Ssd};
use crate::config::{Config, Plan, chosen};
use crate::devices::Device;
use crate::fairness::{Fairness, StreamSummary, streams};
use crate::members::{MemberSummary, members};
use crate::outcome::{Asked, Outcome, SsdOutcome};
use crate::record::{Collections, FlashCounts, PartSums, Power, Record, Served};
use crate::slow::{ExcessSummary, WorstCase};

/// Version of the summary's format.
pub const SCHEMA: u32 = 1;

/// The numbers of a run; `summary.json`. [`crate::metrics`] says what each one is.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Summary {
    pub schema: u32,
    pub version: &'static str,
    pub partial: bool,
    pub error: Option<String>,
    pub seed: u64,
    pub digest: String,
    pub device: DeviceSummary,
    pub input: InputSummary,
    pub time: TimeSummary,
    pub latency: ByOp<LatencySummary>,
    pub breakdown: ByOp<Breakdown>,
    pub worst_case: WorstCase,
    pub excess: ExcessSummary,
    pub throughput: Throughput,
    pub streams: Vec<StreamSummary>,
    pub fairness: Option<Fairness>,
    pub members: Vec<MemberSummary>,
    pub flash: FlashSummary,
    pub map_cache: Option<MapCacheSummary>,
    pub buffer: Option<BufferSummary>,
    pub chip_load: Option<ChipLoadSummary>,
    pub collections: Vec<CollectionSummary>,
    pub power: Option<PowerSummary>,
    pub commands: CommandSummary,
    pub utilisation: Utilisation,
    pub execution: Execution,
    pub energy: EnergySummary,
    pub precondition: PreconditionSummary,
    pub verification: Option<VerificationSummary>,
    pub notes: Vec<String>,
    pub references: Vec<Reference>,
    pub speed: SpeedSummary,
}

#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct DeviceSummary {
    pub name: String,
    pub capacity_bytes: u64,
    pub user_bytes: u64,
    pub over_provisioning_ratio: f64,
    pub channels: u32,
    pub ways: u32,
    pub dies: u32,
    pub planes: u32,
    pub blocks: u32,
    pub pages_per_block: u32,
    pub page_bytes: u32,
}

#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct InputSummary {
    pub kind: &'static str,
    pub files: Vec<InputFile>,
    pub digest: Option<String>,
    pub replay: &'static str,
    pub time_scale: Option<f64>,
    pub recorded_s: Option<f64>,
    pub queue_depth: u32,
    pub requests: u64,
    pub reads: u64,
    pub writes: u64,
    pub durable_writes: u64,
    pub trims: u64,
    pub flushes: u64,
    pub flushes_ignored: u64,
    pub lines_skipped: u64,
    pub requests_adjusted: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub unwritten_pages_read: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct TimeSummary {
    pub simulated_s: f64,
    pub first_arrival_s: f64,
    pub last_completion_s: f64,
    pub busy_s: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ByOp<T> {
    pub all: T,
    pub read: T,
    pub write: T,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct LatencySummary {
    pub count: u64,
    pub mean_us: Option<f64>,
    pub std_us: Option<f64>,
    pub min_us: Option<f64>,
    pub p50_us: Option<f64>,
    pub p90_us: Option<f64>,
    pub p95_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub p99_9_us: Option<f64>,
    pub p99_99_us: Option<f64>,
    pub max_us: Option<f64>,
}

/// The parts of the mean response time, in microseconds, in the order of [`Part::ALL`]; they sum to it.
#[derive(Clone, Copy, Debug)]
pub struct Breakdown(pub [f64; PARTS]);

impl Serialize for Breakdown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Part::ALL.iter().map(|part| part.figure).zip(self.0))
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Throughput {
    pub iops: f64,
    pub read_iops: f64,
    pub write_iops: f64,
    pub read_mb_per_s: f64,
    pub write_mb_per_s: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct FlashSummary {
    pub host_page_writes: u64,
    pub page_programs: u64,
    pub page_reads: u64,
    pub erases: u64,
    pub write_amplification: Option<f64>,
    pub read_modify_writes: u64,
    pub pages_trimmed: u64,
    pub own_page_reads: u64,
    pub own_page_programs: u64,
    pub blocks_replaced: u64,
    pub gc_runs: u64,
    pub gc_pages_moved: u64,
    pub gc_time_s: f64,
    pub gc_die_time_s: f64,
    pub erases_per_block_min: u32,
    pub erases_per_block_mean: f64,
    pub erases_per_block_max: u32,
    pub erases_per_block_std: f64,
    pub erases_per_block_spread: u32,
    pub valid_pages: u64,
    pub free_blocks: u64,
}

/// Look-ups in maps of which a cache is in memory.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct MapCacheSummary {
    pub hits: u64,
    pub misses: u64,
    pub hit_ratio: Option<f64>,
    pub evictions: u64,
    pub dirty_evictions: u64,
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

/// The DRAM buffer.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct BufferSummary {
    pub read_hits: u64,
    pub read_misses: u64,
    pub write_hits: u64,
    pub write_misses: u64,
    pub hit_ratio: Option<f64>,
    pub read_hit_ratio: Option<f64>,
    pub write_hit_ratio: Option<f64>,
    pub clean_evictions: u64,
    pub dirty_evictions: u64,
    pub clean_eviction_ratio: Option<f64>,
    pub pages_destaged: u64,
    pub pages_destaged_partial: u64,
    pub write_amplification: Option<f64>,
    pub dirty_pages_left: u64,
    pub flushes: u64,
    pub flush_mean_us: Option<f64>,
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
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PowerSummary {
    pub cuts: u64,
    pub requests_lost: u64,
    pub pages_lost: u64,
    pub pages_saved: u64,
    pub pages_torn: u64,
    pub erases_torn: u64,
    pub recovery_pages_read: u64,
    pub recovery_blocks_erased: u64,
    pub recovery_mean_ms: f64,
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
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct CollectionSummary {
    pub kind: &'static str,
    pub trigger: &'static str,
    pub runs: u64,
    pub pages_moved: u64,
    pub blocks_erased: u64,
    pub time_s: f64,
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

/// Commands of the flash, by the parallelism that they use.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct CommandSummary {
    pub total: u64,
    pub plain: u64,
    pub planes_shared: u64,
    pub dies_interleaved: u64,
    pub dies_interleaved_planes_shared: u64,
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

/// What the dies did with their time: shares of it, from the first arrival to the last event.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Execution {
    pub bus_active: f64,
    pub bus_contention: f64,
    pub cell_active: f64,
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

/// Energy of the flash, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct EnergySummary {
    pub read_mj: f64,
    pub program_mj: f64,
    pub erase_mj: f64,
    pub bus_mj: f64,
    pub standby_mj: f64,
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

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Utilisation {
    pub channel_mean: f64,
    pub channel_max: f64,
    pub die_mean: f64,
    pub die_max: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PreconditionSummary {
    pub pages_filled: u64,
    pub pages_overwritten: u64,
    pub pages_moved: u64,
    pub write_amplification: Option<f64>,
    pub erases: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct VerificationSummary {
    pub reads_checked: u64,
    pub writes_followed: u64,
}

/// The paper of a policy.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Reference {
    pub family: &'static str,
    pub policy: &'static str,
    pub paper: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct SpeedSummary {
    pub wall_s: f64,
    pub cpu_s: f64,
    pub precondition_cpu_s: f64,
    pub events: u64,
    pub requests_per_cpu_s: f64,
    pub resident_bytes: u64,
    pub pages_touched: u64,
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
    InputSummary {
        replay: if alike { replay } else { "mixed" },
        time_scale: single.and_then(Asked::time_scale),
        recorded_s: single.filter(|_| !generated).and_then(Asked::recorded_s),
        queue_depth: match replay {
            "closed-loop" if alike => depths.fold(0, u32::saturating_add),
            _ => slots,
        },
        requests: counts.requests(),
        reads: counts.reads,
        writes: counts.writes,
        durable_writes: counts.durable_writes,
        trims: counts.trims,
        flushes: counts.flushes,
        flushes_ignored: counts.flushes_ignored,
        read_bytes: served.bytes[0],
        written_bytes: served.bytes[1],
        unwritten_pages_read: flash.unwritten_pages_read,
        ..InputSummary::default()
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
