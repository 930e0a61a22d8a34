//! Section `members` of the summary: the devices of a multi-device store.

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

/// Device of a multi-device store. Its requests are the parts of host requests that it received.
/// For a device behind a cache, they are the requests of the cache.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Member")]
pub struct MemberSummary {
    /// Name of the device, preceded by the names of the members that contain it. `members` is empty
    /// for one SSD, for hard disks alone, and for one cache in front of them, each without a host
    /// side.
    pub name: String,
    /// Disks of the trace that are mapped to the member, if requests are routed by disk.
    pub disks: Vec<u32>,
    /// Description of the member, with the meanings of `device`.
    pub device: DeviceSummary,
    /// Parts of requests that the member received.
    pub input: MemberInput,
    /// Simulated time in which the member held at least one part of a request.
    pub busy_s: f64,
    /// Response times of the parts, with the meanings of `latency`. They start when the request
    /// arrives at the array, or at the backing store of the cache.
    pub latency: LatencyByOp,
    /// Components of the response times, with the meanings of `breakdown`. The wait for a slot of
    /// the member counts as host queue.
    pub breakdown: ByOp<Breakdown>,
    /// Longest response time per interval, with the meanings of `worst_case`. The intervals of
    /// members can differ in width.
    pub worst_case: WorstCase,
    /// Time beyond the marginal response time, with the meanings of `excess`.
    pub excess: ByOp<ExcessOf>,
    /// Parts and their bytes per second, with the meanings of `throughput`.
    pub throughput: Throughput,
    /// Share of the bytes of all completed requests that the member served.
    pub bytes_share: Option<f64>,
    /// Flash operations of the member, with the meanings of `flash`.
    pub flash: FlashSummary,
    /// Results of the member as a cache, with the meanings of `cache`. Null for other members.
    pub cache: Option<CacheSummary>,
    /// GC runs of the member, with the meanings of `collections`.
    pub collections: Vec<CollectionSummary>,
    /// Commands of the member's dies, with the meanings of `commands`.
    pub commands: CommandSummary,
    /// Utilisation of the member's channels and dies, with the meanings of `utilisation`.
    pub utilisation: Utilisation,
    /// Breakdown of the member's die time, with the meanings of `execution`.
    pub execution: Execution,
    /// Energy of the member's flash, with the meanings of `energy`.
    pub energy: EnergySummary,
    /// Preconditioning of the member, with the meanings of `precondition`.
    pub precondition: PreconditionSummary,
}

/// Parts of requests that a member received.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct MemberInput {
    /// Reads and writes completed in the member. If a request is split, every member counts the
    /// part that it serves. This applies to all metrics of a member.
    pub requests: u64,
    /// Reads completed in the member.
    pub reads: u64,
    /// Writes completed in the member.
    pub writes: u64,
    /// TRIMs completed in the member.
    pub trims: u64,
    /// Bytes of completed reads. The sum over all members is the value of the array.
    pub read_bytes: u64,
    /// Bytes of completed writes. The sum over all members is the value of the array.
    pub written_bytes: u64,
    /// Pages read from the member that had never been written, or had been trimmed.
    pub unwritten_pages_read: u64,
}

/// Returns the members of a multi-device store; empty for a single device.
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
