//! The numbers of a run, and the sentences beside them.

#[macro_use]
mod section;

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
pub(crate) use self::figures::mean;
use self::figures::usage;
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
use wordline_kernel::Time;
use wordline_recorder::{FlashCounts, Served};

/// Version of the summary's format. In 2 `write_amplification` is a ratio of bytes, in 1 it is one of pages.
pub const SCHEMA: u32 = 2;

section! {
    /// The content of `summary.json`.
    #[derive(Clone, Debug, Serialize, JsonSchema)]
    pub struct Summary by of_run(run: &Run<'_>);

    /// Version of the format of the summary.
    schema: u32 = SCHEMA;
    /// Version of the program.
    version: &'static str = env!("CARGO_PKG_VERSION");
    /// Whether the run ended early.
    partial: bool = run.outcome.error.is_some();
    /// Why it did; null if it did not.
    error: Option<String> = run.outcome.error.clone();
    /// Seed of all random streams.
    seed: u64 = run.outcome.plan.seed;
    /// Digest of all events: equal runs have equal ones.
    digest: String = format!("{:016x}", run.outcome.digest);
    /// The device, or the array as one.
    device: DeviceSummary = DeviceSummary::new(&run.outcome.plan);
    /// What it was asked to do.
    input: InputSummary = input_summary(run.outcome, &run.flash);
    /// Simulated time.
    time: TimeSummary = run.time();
    /// Response times.
    latency: LatencyByOp = LatencySummary::by_op(run.total());
    /// The parts of the mean response time; they sum to it.
    breakdown: ByOp<Breakdown> = Breakdown::by_op(run.total());
    /// The longest response times, interval by interval.
    worst_case: WorstCase = WorstCase::new(&run.outcome.record.worst);
    /// What requests took beyond the marginal response time.
    excess: ExcessSummary = ExcessSummary::new(run.outcome.plan.observe.marginal_response, run.total());
    /// Requests and bytes a second.
    throughput: Throughput = Throughput::new(run.total(), run.outcome.measured_from());
    /// The streams of `[[streams]]` or `--stream`; empty where a run has one stream without a name.
    streams: Vec<StreamSummary> = streams(run.outcome);
    /// How the streams shared the device; null with one stream.
    fairness: Option<Fairness> = run.fairness();
    /// The devices of a store of several: SSDs, caches, hard disks; empty for one SSD, for hard disks alone, and for one cache before them.
    members: Vec<MemberSummary> = members(run.outcome);
    /// What happened to the flash.
    flash: FlashSummary = FlashSummary::new(&run.flash, &run.outcome.devices);
    /// Look-ups in the part of the map that is in memory; null if the whole map is.
    map_cache: Option<MapCacheSummary> = MapCacheSummary::new(&run.outcome.devices);
    /// What reads have found; null where they never err.
    read_errors: Option<ErrorSummary> = ErrorSummary::new(run.outcome);
    /// Bad and spare blocks; null where no block can go bad.
    bad_blocks: Option<BadBlockSummary> = BadBlockSummary::new(&run.outcome.devices);
    /// What each SSD that is no cache would say of its health.
    smart: Vec<SmartSummary> = SmartSummary::all(run.outcome);
    /// What was done of each cost; null where all pages are programmed alike.
    regulation: Option<RegulationSummary> = RegulationSummary::new(&run.outcome.devices);
    /// The SLC cache; null without one.
    slc_cache: Option<SlcCacheSummary> = SlcCacheSummary::new(&run.outcome.devices);
    /// The DRAM buffer; null without one.
    buffer: Option<BufferSummary> = BufferSummary::new(&run.outcome.plan, &run.outcome.record, &run.outcome.devices, &run.mean_energy);
    /// The cache; null unless the store is flash in front of another.
    cache: Option<CacheSummary> = CacheSummary::of_store(run.outcome, run.span);
    /// The host side of the store; null without one.
    host_side: Option<HostSideSummary> = HostSideSummary::new(run.outcome, run.span);
    /// The hard disks, wherever they stand in the store; empty without one.
    disks: Vec<DiskSummary> = DiskSummary::all(run.outcome, run.span);
    /// The load of the dies; null if it was not looked at.
    chip_load: Option<ChipLoadSummary> = run.outcome.chip_loads.as_ref().map(ChipLoadSummary::new);
    /// Collections by kind and trigger; one row for each pair that came up.
    collections: Vec<CollectionSummary> = run.collections();
    /// Power cuts; null if the power never failed.
    power: Option<PowerSummary> = PowerSummary::new(&run.outcome.record.power, run.outcome.counts().lost);
    /// Commands of the flash.
    commands: CommandSummary = CommandSummary::new(run.outcome.record.commands, &run.flash);
    /// How busy channels and dies were.
    utilisation: Utilisation = Utilisation::new(&run.outcome.record, run.span);
    /// What the dies did with their time.
    execution: Execution = Execution::new(usage(&run.outcome.devices), run.span);
    /// What the flash took.
    energy: EnergySummary = run.energy;
    /// What happened before the run.
    precondition: PreconditionSummary = PreconditionSummary::new(&run.outcome.preconditioned());
    /// How much was checked; null without --verify.
    verification: Option<VerificationSummary> = verification(&run.outcome.devices);
    /// What to know before the numbers are used.
    notes: Vec<String> = Vec::new();
    /// The policies in the slots of the configuration, and their papers.
    references: Vec<Reference> = Vec::new();
    /// What the simulation cost.
    speed: SpeedSummary = run.speed();
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
        let mut summary = Self::of_run(&Run::new(outcome));
        summary.notes = notes(outcome, &summary);
        summary
    }
}

/// A run that is summed up.
pub(crate) struct Run<'a> {
    outcome: &'a Outcome,
    flash: FlashCounts,
    /// From where measuring began to the last event.
    span: Time,
    energy: EnergySummary,
    mean_energy: MeanEnergy,
}

impl<'a> Run<'a> {
    fn new(outcome: &'a Outcome) -> Self {
        let flash = outcome.record.flash();
        let span = outcome.end.since(outcome.measured_from());
        let energy = outcome.ssds().fold(EnergySummary::default(), |sum, ssd| {
            sum.plus(&sum_of_dies(&ssd, span))
        });
        Self {
            outcome,
            flash,
            span,
            energy,
            mean_energy: MeanEnergy::new(&energy, &flash),
        }
    }
    /// The requests of all streams.
    fn total(&self) -> &Served {
        &self.outcome.record.total
    }
    fn time(&self) -> TimeSummary {
        TimeSummary {
            simulated_s: self.outcome.end.as_secs(),
            first_arrival_s: self.outcome.first_arrival().as_secs(),
            measured_from_s: self.outcome.measured_from().as_secs(),
            last_completion_s: self.total().last_completion.as_secs(),
            busy_s: self.outcome.record.busy().as_secs(),
        }
    }
    fn fairness(&self) -> Option<Fairness> {
        let has_several = self.outcome.plan.streams.len() > 1;
        has_several.then(|| Fairness::new(self.outcome.contention.as_ref()))
    }
    fn collections(&self) -> Vec<CollectionSummary> {
        let collections = self.outcome.record.collections.iter();
        collections
            .map(|one| CollectionSummary::new(one, &self.mean_energy))
            .collect()
    }
    fn speed(&self) -> SpeedSummary {
        let touched = self.outcome.ssds().map(|ssd| pages_touched(&ssd)).sum();
        SpeedSummary::new(&self.outcome.speed, self.total().count(), touched)
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
