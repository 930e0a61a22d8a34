//! The devices of a store of several beside each other: what each did of what was asked of the whole.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::Time;

use crate::outcome::{LeafOutcome, Outcome, SsdOutcome};
use crate::summary::energy::MeanEnergy;
use crate::summary::{
    Breakdown, ByOp, CacheSummary, CollectionSummary, CommandSummary, DeviceSummary, EnergySummary,
    Execution, FlashSummary, LatencyByOp, LatencySummary, PreconditionSummary, Throughput,
    Utilisation, sum_of_dies,
};
use crate::summary::{ExcessOf, WorstCase};
use wordline_recorder::{FlashCounts, Record, Served};

/// A device of a store of several. Its requests are the parts of the host's that went to it; behind a cache, those of the cache.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Member")]
pub struct MemberSummary {
    /// Name of the device, behind those of the arrays that it stands in; `members` is empty for a store of one device.
    pub name: String,
    /// Disks of the trace that it holds, if requests go by disk.
    pub disks: Vec<u32>,
    /// The member itself, as `device`.
    pub device: DeviceSummary,
    /// What of the requests went to it.
    pub input: MemberInput,
    /// Simulated time in which the member held a part of a request.
    pub busy_s: f64,
    /// Response times of the parts, as `latency`: from the arrival of the request at the array, or at the cache's store behind it.
    pub latency: LatencyByOp,
    /// Where their time went, as `breakdown`; the wait for a slot of the member is host queue.
    pub breakdown: ByOp<Breakdown>,
    /// The longest of each interval, as `worst_case`. Members can have intervals of different width.
    pub worst_case: WorstCase,
    /// What they took beyond the marginal response time, as `excess`.
    pub excess: ByOp<ExcessOf>,
    /// Parts and their bytes a second, as `throughput`.
    pub throughput: Throughput,
    /// Share of the bytes of all completed requests that went to the member.
    pub bytes_share: Option<f64>,
    /// Its flash operations, as `flash`.
    pub flash: FlashSummary,
    /// What it has done as a cache, as `cache`; null if it is none.
    pub cache: Option<CacheSummary>,
    /// Its collections, as `collections`.
    pub collections: Vec<CollectionSummary>,
    /// The commands of its dies, as `commands`.
    pub commands: CommandSummary,
    /// How busy its channels and dies were, as `utilisation`.
    pub utilisation: Utilisation,
    /// How its dies spent their time, as `execution`.
    pub execution: Execution,
    /// Energy of its flash, as `energy`.
    pub energy: EnergySummary,
    /// What happened to it before the run, as `precondition`.
    pub precondition: PreconditionSummary,
}

/// What of the requests went to a member.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct MemberInput {
    /// Reads and writes completed in the member. A request that is split counts in every member that it touches, with the part there; so do all numbers of a member.
    pub requests: u64,
    /// Of these, reads.
    pub reads: u64,
    /// Of these, writes.
    pub writes: u64,
    /// Trims completed in the member.
    pub trims: u64,
    /// Bytes of these reads; all members together have those of the array.
    pub read_bytes: u64,
    /// Bytes of these writes.
    pub written_bytes: u64,
    /// Pages read there that were never written.
    pub unwritten_pages_read: u64,
}

/// The devices of a run on several; none on one.
pub(crate) fn members(outcome: &Outcome) -> Vec<MemberSummary> {
    let all: u64 = outcome.record.total.bytes.iter().sum();
    let leaves = outcome.leaves().into_iter();
    leaves
        .map(|member| summary(&member, outcome, all))
        .collect()
}

fn summary(member: &LeafOutcome<'_>, outcome: &Outcome, all: u64) -> MemberSummary {
    let LeafOutcome { record, device, .. } = *member;
    let (flash, served) = (record.flash(), &record.total);
    let from = outcome.measured_from();
    let span: Time = outcome.end.since(from);
    let bytes: u64 = served.bytes.iter().sum();
    let ssd = member.leaf.of.ssd().zip(device);
    let ssd = ssd.map(|(plan, device)| SsdOutcome {
        plan,
        record,
        device,
    });
    let energy = ssd.map_or_else(EnergySummary::default, |ssd| sum_of_dies(&ssd, span));
    let preconditioned = device.map(|device| device.preconditioned);
    MemberSummary {
        name: member.leaf.name.clone(),
        disks: member.leaf.disks.to_vec(),
        device: DeviceSummary::of_device(member.leaf.of),
        input: input(served, &flash),
        busy_s: record.busy().as_secs(),
        latency: LatencySummary::by_op(served),
        breakdown: Breakdown::by_op(served),
        worst_case: WorstCase::new(&record.worst),
        excess: ExcessOf::by_op(served),
        throughput: Throughput::new(served, from),
        bytes_share: (all > 0).then(|| bytes as f64 / all as f64),
        flash: FlashSummary::new(&flash, device.map_or(&[], std::slice::from_ref)),
        cache: CacheSummary::of_member(member, span),
        collections: collections(record, &MeanEnergy::new(&energy, &flash)),
        commands: CommandSummary::new(record.commands, &flash),
        utilisation: Utilisation::new(record, span),
        execution: Execution::new(device.map_or(&[][..], |device| &device.usage), span),
        energy,
        precondition: PreconditionSummary::new(&preconditioned.unwrap_or_default()),
    }
}

fn collections(record: &Record, mean: &MeanEnergy) -> Vec<CollectionSummary> {
    record
        .collections
        .iter()
        .map(|one| CollectionSummary::new(one, mean))
        .collect()
}

fn input(served: &Served, flash: &FlashCounts) -> MemberInput {
    let [reads, writes] = [0, 1].map(|op: usize| served.latency[op].count());
    MemberInput {
        requests: reads + writes,
        reads,
        writes,
        trims: served.trims.count(),
        read_bytes: served.bytes[0],
        written_bytes: served.bytes[1],
        unwritten_pages_read: flash.unwritten_pages_read,
    }
}
