//! The members of an array beside each other: what each did of what was asked of the whole.

use serde::Serialize;
use wordline_kernel::Time;

use crate::outcome::{Outcome, SsdOutcome};
use crate::record::{FlashCounts, Record, Served};
use crate::slow::{ExcessOf, WorstCase};
use crate::summary::{
    Breakdown, ByOp, CollectionSummary, CommandSummary, DeviceSummary, EnergySummary, Execution,
    FlashSummary, LatencySummary, PreconditionSummary, Throughput, Utilisation, sum_of_dies,
};

/// A member of an array. Its requests are the parts of the array's that went to it.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct MemberSummary {
    pub name: String,
    pub disks: Vec<u32>,
    pub device: DeviceSummary,
    pub input: MemberInput,
    pub busy_s: f64,
    pub latency: ByOp<LatencySummary>,
    pub breakdown: ByOp<Breakdown>,
    pub worst_case: WorstCase,
    pub excess: ByOp<ExcessOf>,
    pub throughput: Throughput,
    pub bytes_share: Option<f64>,
    pub flash: FlashSummary,
    pub collections: Vec<CollectionSummary>,
    pub commands: CommandSummary,
    pub utilisation: Utilisation,
    pub execution: Execution,
    pub energy: EnergySummary,
    pub precondition: PreconditionSummary,
}

/// What of the requests went to a member.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct MemberInput {
    pub requests: u64,
    pub reads: u64,
    pub writes: u64,
    pub trims: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub unwritten_pages_read: u64,
}

/// The members of the array of a run; none if there is no array.
pub(crate) fn members(outcome: &Outcome) -> Vec<MemberSummary> {
    if outcome.plan.array().is_none() {
        return Vec::new();
    }
    let all: u64 = outcome.record.total.bytes.iter().sum();
    let leaves = outcome.plan.leaves().into_iter().zip(outcome.ssds());
    leaves
        .map(|(leaf, ssd)| MemberSummary {
            name: leaf.name,
            disks: leaf.disks.to_vec(),
            ..summary(&ssd, outcome, all)
        })
        .collect()
}

fn summary(ssd: &SsdOutcome<'_>, outcome: &Outcome, all: u64) -> MemberSummary {
    let SsdOutcome { record, device, .. } = *ssd;
    let (flash, served) = (record.flash(), &record.total);
    let from = outcome.first_arrival();
    let span: Time = outcome.end.since(from);
    let bytes: u64 = served.bytes.iter().sum();
    MemberSummary {
        name: String::new(),
        disks: Vec::new(),
        device: DeviceSummary::of_ssd(ssd.plan),
        input: input(served, &flash),
        busy_s: record.busy().as_secs(),
        latency: LatencySummary::by_op(served),
        breakdown: Breakdown::by_op(served),
        worst_case: WorstCase::new(&record.worst),
        excess: ExcessOf::by_op(served),
        throughput: Throughput::new(served, from),
        bytes_share: (all > 0).then(|| bytes as f64 / all as f64),
        flash: FlashSummary::new(&flash, std::slice::from_ref(device)),
        collections: collections(record),
        commands: CommandSummary::new(record.commands, &flash),
        utilisation: Utilisation::new(record, span),
        execution: Execution::new(&device.usage, span),
        energy: sum_of_dies(ssd, span),
        precondition: PreconditionSummary::new(&device.preconditioned),
    }
}

fn collections(record: &Record) -> Vec<CollectionSummary> {
    record
        .collections
        .iter()
        .map(CollectionSummary::new)
        .collect()
}

fn input(served: &Served, flash: &FlashCounts) -> MemberInput {
    let [reads, writes] = [0, 1].map(|op: usize| served.latency[op].count());
    MemberInput {
        requests: reads + writes,
        reads,
        writes,
        trims: served.trims,
        read_bytes: served.bytes[0],
        written_bytes: served.bytes[1],
        unwritten_pages_read: flash.unwritten_pages_read,
    }
}
