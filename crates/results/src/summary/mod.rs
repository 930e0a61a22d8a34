//! Summary of a run: its metrics and notes.

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
mod idle_periods;
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
pub use self::idle_periods::IdlePeriodSummary;
pub use self::input::InputSummary;
use self::input::input_summary;
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
use wordline_config::{Config, chosen, plan};
use wordline_kernel::{Plus, Time};
use wordline_ram_disk::RamDiskSummary;
use wordline_recorder::{FlashCounts, Served};

/// Version of the format of the summary. In 2, `write_amplification` is a ratio of bytes; in 1, of
/// pages.
pub const SCHEMA: u32 = 2;

section! {
    /// Content of `summary.json`.
    #[derive(Clone, Debug, Serialize, JsonSchema)]
    pub struct Summary by of_run(run: &Run<'_>);

    /// Version of the format of the summary.
    schema: u32 = SCHEMA;
    /// Version of Wordline.
    version: &'static str = env!("CARGO_PKG_VERSION");
    /// Whether the run ended early.
    partial: bool = run.outcome.error.is_some();
    /// Reason why the run ended early. Null if it did not.
    error: Option<String> = run.outcome.error.clone();
    /// Seed of all random streams.
    seed: u64 = run.outcome.plan.seed;
    /// Digest of all events. Equal runs have equal digests.
    digest: String = format!("{:016x}", run.outcome.digest);
    /// The device, or the array as a whole.
    device: DeviceSummary = DeviceSummary::new(&run.outcome.plan);
    /// Requests that the host issued.
    input: InputSummary = input_summary(run.outcome, &run.flash);
    /// Times of the run on the simulated clock.
    time: TimeSummary = run.time();
    /// Response times of the host's requests.
    latency: LatencyByOp = LatencySummary::by_op(run.total());
    /// Components of the mean response time. They add up to it.
    breakdown: ByOp<Breakdown> = Breakdown::by_op(run.total());
    /// Longest response time of each interval.
    worst_case: WorstCase = WorstCase::new(&run.outcome.record.worst);
    /// Time that requests took beyond the marginal response time.
    excess: ExcessSummary = ExcessSummary::new(run.outcome.plan.observe.marginal_response, run.total());
    /// Requests and bytes per second.
    throughput: Throughput = Throughput::new(run.total(), run.outcome.measured_from());
    /// Streams of `[[streams]]` or `--stream`. Empty if the run has one unnamed stream.
    streams: Vec<StreamSummary> = streams(run.outcome);
    /// Fairness among the streams. Null with one stream.
    fairness: Option<Fairness> = run.fairness();
    /// Devices of the store: SSDs, caches, hard disks, RAM disks. Empty for one SSD, for hard disks
    /// alone, and for one cache in front of them, each without a host side.
    members: Vec<MemberSummary> = members(run.outcome);
    /// Operations of the flash, and its state at the end of the run.
    flash: FlashSummary = FlashSummary::new(&run.flash, &run.outcome.devices);
    /// Look-ups in the cached map. Null if the whole map is in memory.
    map_cache: Option<MapCacheSummary> = MapCacheSummary::new(&run.outcome.devices);
    /// Outcomes of page reads. Null if reads cannot fail.
    read_errors: Option<ErrorSummary> = ErrorSummary::new(run.outcome);
    /// Bad and spare blocks. Null if no block can be bad.
    bad_blocks: Option<BadBlockSummary> = BadBlockSummary::new(&run.outcome.devices);
    /// SMART health information of each SSD that is not a cache.
    smart: Vec<SmartSummary> = SmartSummary::all(run.outcome);
    /// Operations by program mode. Null if all pages are programmed in one mode.
    regulation: Option<RegulationSummary> = RegulationSummary::new(&run.outcome.devices);
    /// SLC cache. Null without one.
    slc_cache: Option<SlcCacheSummary> = SlcCacheSummary::new(&run.outcome.devices);
    /// DRAM buffer. Null without one.
    buffer: Option<BufferSummary> = BufferSummary::new(&run.outcome.plan, &run.outcome.record, &run.outcome.devices, &run.mean_energy);
    /// Flash cache. Null unless the store is flash in front of another device.
    cache: Option<CacheSummary> = CacheSummary::of_store(run.outcome, run.span);
    /// Host side of the store. Null without a host CPU model.
    host_side: Option<HostSideSummary> = HostSideSummary::new(run.outcome, run.span);
    /// Hard disks, at any level of the store. Empty without hard disks.
    disks: Vec<DiskSummary> = run.of_kind(&run.outcome.stats.disks, DiskSummary::new);
    /// RAM disks, at any level of the store. Empty without RAM disks.
    ram_disks: Vec<RamDiskSummary> = run.of_kind(&run.outcome.stats.ram_disks, RamDiskSummary::new);
    /// Load of the dies. Null if it was not sampled.
    chip_load: Option<ChipLoadSummary> = run.outcome.chip_loads.as_ref().map(ChipLoadSummary::new);
    /// GC runs by kind and trigger; one row for each pair that occurred.
    collections: Vec<CollectionSummary> = run.collections();
    /// Idle periods of the SSDs. Null if no SSD uses idle time for GC.
    idle_periods: Option<IdlePeriodSummary> = IdlePeriodSummary::new(&run.outcome.devices);
    /// Power cuts. Null if power never failed.
    power: Option<PowerSummary> = PowerSummary::new(&run.outcome.record.power, run.outcome.counts().lost);
    /// Flash commands of all dies.
    commands: CommandSummary = CommandSummary::new(run.outcome.record.commands, &run.flash);
    /// Utilisation of channels and dies.
    utilisation: Utilisation = Utilisation::new(&run.outcome.record, run.span);
    /// Breakdown of the dies' time.
    execution: Execution = Execution::new(usage(&run.outcome.devices), run.span);
    /// Energy of the flash.
    energy: EnergySummary = run.energy;
    /// Preconditioning before the run.
    precondition: PreconditionSummary = PreconditionSummary::new(&run.outcome.preconditioned());
    /// Pages that were verified. Null without --verify.
    verification: Option<VerificationSummary> = verification(&run.outcome.devices);
    /// Conditions of the run that limit the use of these numbers.
    notes: Vec<String> = Vec::new();
    /// Policies of the configuration that are based on a paper, and the papers.
    references: Vec<Reference> = Vec::new();
    /// Cost of the simulation.
    speed: SpeedSummary = run.speed();
}

/// Pages that `--verify` checked.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Verification")]
pub struct VerificationSummary {
    /// Page reads compared with the content oracle.
    pub reads_checked: u64,
    /// Page writes whose versions were tracked.
    pub writes_followed: u64,
}

/// Policy that was used, and its paper.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Reference {
    /// Family of the policy.
    pub family: &'static str,
    /// Name of the policy.
    pub policy: &'static str,
    /// Paper that describes the policy.
    pub paper: &'static str,
}

impl Summary {
    /// Computes the summary of a run.
    pub(crate) fn new(outcome: &Outcome) -> Self {
        let mut summary = Self::of_run(&Run::new(outcome));
        summary.notes = notes(outcome, &summary);
        summary
    }
}

/// Inputs from which a summary is computed.
pub(crate) struct Run<'a> {
    outcome: &'a Outcome,
    flash: FlashCounts,
    /// Time from the start of measuring to the last event.
    span: Time,
    energy: EnergySummary,
    mean_energy: MeanEnergy,
}

impl<'a> Run<'a> {
    fn new(outcome: &'a Outcome) -> Self {
        let flash = outcome.record.flash();
        let span = outcome.end.since(outcome.measured_from());
        let energy = outcome.ssds().fold(EnergySummary::default(), |sum, ssd| {
            sum.plus(sum_of_dies(&ssd, span))
        });
        Self {
            outcome,
            flash,
            span,
            energy,
            mean_energy: MeanEnergy::new(&energy, &flash),
        }
    }
    /// Returns the served requests of all streams.
    fn total(&self) -> &Served {
        &self.outcome.record.total
    }
    /// Summarises the devices of a kind. `stats` are in the order of the store; `new` also takes
    /// the name of the device, its volumes of a trace and its plan.
    fn of_kind<P, S, T>(
        &'a self,
        stats: &'a [S],
        new: fn(String, Vec<u32>, &'a P, &'a S, Time) -> T,
    ) -> Vec<T>
    where
        &'a P: TryFrom<plan::Device<'a>>,
    {
        let leaves = self.outcome.plan.leaves().into_iter();
        let plans = leaves.filter_map(|leaf| {
            let plan = leaf.of.try_into().ok()?;
            Some((leaf.name, leaf.disks.to_vec(), plan))
        });
        let devices = plans.zip(stats);
        let summary =
            devices.map(|((name, disks, plan), stats)| new(name, disks, plan, stats, self.span));
        summary.collect()
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
    /// Returns the policies of a configuration that are based on a paper, and the papers.
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

/// Sums the verification of all devices; `None` without `--verify`.
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
