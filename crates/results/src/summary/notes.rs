//! What to know before the numbers are used.

use super::Summary;
use crate::outcome::{Issued, Outcome};
use wordline_config::Plan;
use wordline_config::plan::Replay;
use wordline_host_link::Interface;
use wordline_host_link::nvme::Arbitration;
use wordline_kernel::Time;
use wordline_observe::Histogram;
use wordline_recorder::Served;
use wordline_workload::grouped;

/// What reads that err and blocks that go bad have done.
fn of_cells(summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(errors) = summary.read_errors {
        if errors.reads_beyond_model > 0 {
            notes.push(format!(
                "{} of {} page reads had a raw bit error rate beyond what their model is good for, and were taken at its limit (nand.reliability.errors).",
                grouped(errors.reads_beyond_model),
                grouped(errors.page_reads)
            ));
        }
        if let Some(cache) = &summary.cache
            && cache.hits_uncorrectable + cache.host_failures > 0
        {
            notes.push(format!(
                "{} pages that the flash held could not be corrected and were read from the disk; {} pages of requests ended with an error, and are among those served, and {} pages were lost when they were destaged.",
                grouped(cache.hits_uncorrectable),
                grouped(cache.host_failures),
                grouped(cache.pages_lost)
            ));
        } else if errors.uncorrectable > 0 {
            notes.push(format!(
                "{} page reads could not be corrected: their requests ended with an error, and are among those served.",
                grouped(errors.uncorrectable)
            ));
        }
    }
    if let Some(bad) = summary.bad_blocks
        && let Some(read_only_s) = bad.read_only_s
    {
        notes.push(format!(
            "A block went bad and no spare block was left in its plane: the device was read-only from {read_only_s:.3} s on. {} pages that the host wrote or discarded ended with an error, and their requests are among those served (ftl.spare_blocks, nand.reliability.failures).",
            grouped(bad.host_failures)
        ));
    }
    notes
}

/// Sentences that a careful reader of the numbers needs.
pub(super) fn notes(outcome: &Outcome, summary: &Summary) -> Vec<String> {
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
    } else if outcome.measured_from.is_some() {
        // The warm-up has filled what was empty.
    } else if outcome.plan.cached().is_some() {
        notes.push("The cache was empty at the start: its first reads miss.".into());
    } else if !outcome.caches.is_empty() {
        notes.push("The caches were empty at the start: their first reads miss.".into());
    } else if outcome.plan.first().is_some() {
        notes.push("The device was empty at the start (precondition.fill_ratio = 0).".into());
    }
    if let Some(from) = outcome.measured_from {
        notes.push(format!(
            "Measured from {:.3} s on: the results exclude the warm-up of {} requests ([observe]).",
            from.as_secs(),
            grouped(summary.input.warm_up_requests)
        ));
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
    notes.extend(of_cells(summary));
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
    if counts.durable_writes > 0 && !outcome.plan.takes_flushes() {
        notes.push(format!(
            "{} writes are to be durable when they are done (FUA): without a DRAM buffer every write is.",
            grouped(counts.durable_writes)
        ));
    }
    let plan = &outcome.plan;
    let streams = outcome.streams.iter().zip(&outcome.record.streams);
    for (place, (issued, served)) in streams.enumerate() {
        let own = plan.streams.get(place);
        let said = |text: &str| match own {
            Some(stream) => format!("Stream {}: {text}", stream.name),
            None => text.to_owned(),
        };
        if own.is_some() && issued.counts.requests() == 0 {
            notes.push(said("no read or write was issued."));
        }
        let generated = plan.load(place).is_some();
        if let Some(load) = plan.load(place)
            && load.duration_s > 0.0
            && issued.counts.issued() + issued.counts.flushes_ignored == load.requests
        {
            notes.push(said(&format!(
                "The load ended with its {} requests, before its {} s: raise workload.requests to have it end by time.",
                grouped(load.requests),
                load.duration_s
            )));
        }
        if !generated && issued.time_scale().is_none() && issued.recorded.is_some() {
            notes.push(said(STAMPS_IGNORED));
        }
        if let Some(overload) = Overload::of(issued, served) {
            notes.push(said(&overload.note(generated)));
        } else if is_crowded(issued, served) {
            notes.push(said(&crowding(outcome, generated)));
        }
    }
    notes.extend(classes_ignored(plan));
    notes
}

pub(super) const STAMPS_IGNORED: &str = "The time stamps of the trace were ignored: a closed loop issues a request when another completes. Leave replay.mode out to play the trace by them.";

/// Whether an open loop waited for the device more than it was served.
pub(super) fn is_crowded(issued: &Issued, served: &Served) -> bool {
    let waited: u128 = served.parts.iter().map(|parts| parts.sums()[0]).sum();
    let total: u128 = served.latency.iter().map(Histogram::sum_ps).sum();
    matches!(issued.replay, Replay::OpenLoop { .. }) && waited * 2 > total
}

/// Share of the time from the first request to the last completion above which a device that held
/// requests never caught up.
pub(super) const ALWAYS_BUSY: f64 = 0.95;

pub(super) fn crowding(outcome: &Outcome, generated: bool) -> String {
    let record = &outcome.record;
    let span = record.total.last_completion.since(outcome.measured_from());
    let busy = record.busy().as_secs() / span.as_secs().max(1e-12);
    if busy < ALWAYS_BUSY {
        return format!(
            "More than half of the response time was spent waiting for the device queue, and the device held requests in {:.3} % of the time: they come in bursts longer than its queue (host.queue_depth).",
            busy * 100.0
        );
    }
    format!(
        "More than half of the response time was spent waiting for the device queue, and the device held requests in {:.3} % of the time: the input offers nearly as much as this device serves. {}",
        busy * 100.0,
        remedy(generated)
    )
}

/// Advice on a load that the store can serve.
fn remedy(generated: bool) -> &'static str {
    if generated {
        "Lower the rate (workload.arrival) or take a closed loop."
    } else {
        "Stretch the trace (replay.mode.open-loop.time_scale above 1) or replay it closed loop."
    }
}

/// Requests of an open loop below which a backlog is taken for a burst.
const MIN_OF_OVERLOAD: u64 = 1_000;

/// Share of the time from the first arrival to the last completion that a response takes in the end if the store is overloaded. The
/// last request of an open loop that offers 1/(1 - s) times what the store serves takes the share s.
const LEAST_SHARE_OF_RUN: f64 = 0.05;

/// An open loop whose backlog grew for as long as requests arrived.
struct Overload {
    requests: u64,
    /// From the first arrival to the last.
    arrivals: Time,
    /// From the first arrival to the last completion.
    span: Time,
    /// 90th percentile of the response time in the first and in the last quarter of the requests.
    responses: [Time; 2],
}

impl Overload {
    /// Whether a stream is overloaded, whatever store serves it. Response times in a backlog that grows evenly are a line over the
    /// requests. Those of a store that keeps up do not depend on the length of the run. With a burst in the last quarter the third one is
    /// short, and with a pause the fourth is not the longest.
    fn of(issued: &Issued, served: &Served) -> Option<Self> {
        let (Replay::OpenLoop { .. }, Some((first, last))) = (issued.replay, issued.recorded)
        else {
            return None;
        };
        let requests = issued.counts.issued() - issued.counts.lost;
        let [q1, q2, q3, q4] = issued.response_quarters?;
        let grows = q2 < q3 && q3 < q4 && q1 * 2 <= q4 && q3 * 4 >= q4;
        let span = served.last_completion.since(issued.first_arrival?);
        let is_long = q4.as_secs() >= LEAST_SHARE_OF_RUN * span.as_secs();
        (requests >= MIN_OF_OVERLOAD && grows && is_long).then_some(Self {
            requests,
            arrivals: last.since(first),
            span,
            responses: [q1, q4],
        })
    }
    fn note(&self, generated: bool) -> String {
        let [first, last] = self.responses.map(|time| time.as_secs() * 1e3);
        format!(
            "{} requests arrived in {:.3} s and were served in {:.3} s: the input offers more than this store serves. The 90th percentile of the response time grew from {first:.3} ms in the first quarter of the requests to {last:.3} ms in the last: it depends on the length of the run. {}",
            grouped(self.requests),
            self.arrivals.as_secs(),
            self.span.as_secs(),
            remedy(generated)
        )
    }
}

/// A class says nothing to most interfaces.
pub(super) fn classes_ignored(plan: &Plan) -> Option<String> {
    let deaf = plan.ssds().find(|ssd| {
        !matches!(
            &ssd.device.interface,
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
            deaf.device.interface.name()
        )
    })
}
