//! The numbers of a run, and the sentences beside them.

mod bad_blocks;
mod buffer;
mod cache;
mod chip_load;
mod device;
mod disk;
mod energy;
mod errors;
mod figures;
mod flash;
mod host_side;
mod input;
mod latency;
mod members;
mod notes;
mod power;
mod programmed;
mod regulation;
mod slc_cache;
mod smart;
mod speed;
mod streams;
mod tail_latency;
mod utilisation;

pub use self::bad_blocks::BadBlockSummary;
pub use self::buffer::BufferSummary;
pub use self::cache::{CacheSummary, CurvePoint, TiersSummary};
pub use self::chip_load::ChipLoadSummary;
pub use self::device::DeviceSummary;
pub use self::disk::{DiskSummary, SeekDistance};
pub use self::energy::EnergySummary;
use self::energy::MeanEnergy;
pub(crate) use self::energy::{energy_of_dies, sum_of_dies};
pub use self::errors::ErrorSummary;
pub(crate) use self::figures::ratio;
use self::figures::usage;
pub(crate) use self::flash::write_amplification;
pub use self::flash::{
    CollectionSummary, CommandSummary, FlashSummary, MapCacheSummary, PreconditionSummary,
};
pub use self::host_side::HostSideSummary;
pub use self::input::InputSummary;
use self::input::input_summary;
pub(crate) use self::input::{queue_depth, replay_name};
pub use self::latency::{Breakdown, ByOp, LatencyByOp, LatencySummary, Throughput};
pub(crate) use self::members::members;
pub use self::members::{MemberInput, MemberSummary};
use self::notes::notes;
pub use self::power::PowerSummary;
pub use self::programmed::ProgrammedSummary;
pub use self::regulation::{ByMode, RegulationSummary};
pub use self::slc_cache::SlcCacheSummary;
pub use self::smart::SmartSummary;
pub use self::speed::SpeedSummary;
use self::speed::pages_touched;
pub(crate) use self::streams::streams;
pub use self::streams::{Fairness, StreamInput, StreamSummary};
pub use self::tail_latency::{AboveSummary, ExcessOf, ExcessSummary, WorstCase, WorstCaseOf};
pub use self::utilisation::{Execution, TimeSummary, Utilisation};

use crate::device::Device;
use crate::outcome::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use wordline_config::{Config, chosen};

/// Version of the summary's format. In 2 `write_amplification` is a ratio of bytes, in 1 it is one of pages.
pub const SCHEMA: u32 = 2;

/// The content of `summary.json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// Version of the format of the summary.
    pub schema: u32,
    /// Version of the program.
    pub version: &'static str,
    /// Whether the run ended early.
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
    pub latency: LatencyByOp,
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
    /// The devices of a store of several: SSDs, caches, hard disks; empty for one SSD, for hard disks alone, and for one cache before them.
    pub members: Vec<MemberSummary>,
    /// What happened to the flash.
    pub flash: FlashSummary,
    /// Look-ups in the part of the map that is in memory; null if the whole map is.
    pub map_cache: Option<MapCacheSummary>,
    /// What reads have found; null where they never err.
    pub read_errors: Option<ErrorSummary>,
    /// Bad and spare blocks; null where no block can go bad.
    pub bad_blocks: Option<BadBlockSummary>,
    /// What each SSD that is no cache would say of its health.
    pub smart: Vec<SmartSummary>,
    /// What was done of each cost; null where all pages are programmed alike.
    pub regulation: Option<RegulationSummary>,
    /// The SLC cache; null without one.
    pub slc_cache: Option<SlcCacheSummary>,
    /// The DRAM buffer; null without one.
    pub buffer: Option<BufferSummary>,
    /// The cache; null unless the store is flash in front of another.
    pub cache: Option<CacheSummary>,
    /// The host side of the store; null without one.
    pub host_side: Option<HostSideSummary>,
    /// The hard disks, wherever they stand in the store; empty without one.
    pub disks: Vec<DiskSummary>,
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
        let measured_from = outcome.measured_from();
        let span = end.since(measured_from);
        let energy = outcome.ssds().fold(EnergySummary::default(), |sum, ssd| {
            sum.plus(&sum_of_dies(&ssd, span))
        });
        let mean_energy = MeanEnergy::new(&energy, &flash);
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
                measured_from_s: measured_from.as_secs(),
                last_completion_s: total.last_completion.as_secs(),
                busy_s: record.busy().as_secs(),
            },
            latency: LatencySummary::by_op(total),
            breakdown: Breakdown::by_op(total),
            worst_case: WorstCase::new(&record.worst),
            excess: ExcessSummary::new(plan.observe.marginal_response, total),
            throughput: Throughput::new(total, measured_from),
            streams: streams(outcome),
            fairness: (plan.streams.len() > 1).then(|| Fairness::new(outcome.contention.as_ref())),
            members: members(outcome),
            flash: FlashSummary::new(&flash, devices),
            map_cache: MapCacheSummary::new(devices),
            read_errors: ErrorSummary::new(outcome),
            bad_blocks: BadBlockSummary::new(devices),
            smart: SmartSummary::all(outcome),
            regulation: RegulationSummary::new(devices),
            slc_cache: SlcCacheSummary::new(devices),
            buffer: BufferSummary::new(&outcome.plan, record, devices, &mean_energy),
            cache: CacheSummary::of_store(outcome, span),
            host_side: HostSideSummary::new(outcome, span),
            disks: DiskSummary::all(outcome, span),
            chip_load: outcome.chip_loads.as_ref().map(ChipLoadSummary::new),
            collections: record
                .collections
                .iter()
                .map(|one| CollectionSummary::new(one, &mean_energy))
                .collect(),
            power: PowerSummary::new(&record.power, outcome.counts().lost),
            commands: CommandSummary::new(record.commands, &flash),
            execution: Execution::new(usage(devices), span),
            utilisation: Utilisation::new(record, span),
            energy,
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
    pub fn of(config: &Config) -> Vec<Self> {
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

/// What was checked of all devices, if they were verified.
fn verification(devices: &[Device]) -> Option<VerificationSummary> {
    let mut sum = VerificationSummary {
        reads_checked: 0,
        writes_followed: 0,
    };
    if devices.is_empty() {
        return None;
    }
    for device in devices {
        let (reads, writes) = device.verified?;
        sum.reads_checked += reads;
        sum.writes_followed += writes;
    }
    Some(sum)
}
