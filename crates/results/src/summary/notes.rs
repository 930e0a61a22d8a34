//! Notes of the summary: conditions of the run that limit the use of its numbers.

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

/// Returns the notes on read errors and bad blocks.
fn of_cells(summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(errors) = summary.read_errors {
        if errors.reads_beyond_model > 0 {
            notes.push(format!(
                "{} of {} page reads exceeded the raw bit error rate limit of the error model; the limit was used instead (nand.reliability.errors).",
                grouped(errors.reads_beyond_model),
                grouped(errors.page_reads)
            ));
        }
        if let Some(cache) = &summary.cache
            && cache.hits_uncorrectable + cache.host_failures > 0
        {
            notes.push(format!(
                "{} pages in the cache were uncorrectable and were read from the disk. {} requested pages could not be read or written; their requests ended with an error and count as completed. The newest content of {} pages was lost.",
                grouped(cache.hits_uncorrectable),
                grouped(cache.host_failures),
                grouped(cache.pages_lost)
            ));
        } else if errors.uncorrectable > 0 {
            notes.push(format!(
                "{} page reads were of uncorrectable or lost pages. Their requests ended with an error and count as completed.",
                grouped(errors.uncorrectable)
            ));
        }
    }
    if let Some(bad) = summary.bad_blocks
        && let Some(read_only_s) = bad.read_only_s
    {
        notes.push(format!(
            "The device became read-only at {read_only_s:.3} s: a block went bad and its plane had no spare block left. Writes and TRIMs of {} pages ended with an error; their requests count as completed (ftl.spare_blocks, nand.reliability.failures).",
            grouped(bad.host_failures)
        ));
    }
    notes
}

/// Returns the notes on a run, in the order in which the summary has them.
pub(super) fn notes(outcome: &Outcome, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let preconditioned = outcome.preconditioned();
    let counts = outcome.counts();
    let filled = preconditioned.fill.written;
    if filled > 0 {
        notes.push(format!(
            "The device was filled before the run ({} pages, then {} overwritten at random, untimed); results exclude this.",
            grouped(filled),
            grouped(preconditioned.overwrites.written)
        ));
    } else if outcome.measured_from.is_some() {
        // The warm-up wrote to the device, so it is not empty.
    } else if outcome.plan.cached().is_some() {
        notes.push("The cache was empty at the start, so its first reads miss.".into());
    } else if !outcome.caches.is_empty() {
        notes.push("The caches were empty at the start, so their first reads miss.".into());
    } else if outcome.plan.first().is_some() {
        notes.push("The device was empty at the start (precondition.fill_ratio = 0).".into());
    }
    if let Some(from) = outcome.measured_from {
        notes.push(format!(
            "Measurement started at {:.3} s; results exclude the {} requests of the warm-up ([observe]).",
            from.as_secs(),
            grouped(summary.input.warm_up_requests)
        ));
    }
    if preconditioned.unsettled {
        notes.push("Write amplification did not reach steady state within precondition.settle_limit_ratio; raise it, or precondition.settle_tolerance_ratio.".into());
    }
    let unwritten = summary.input.unwritten_pages_read;
    if unwritten > 0 {
        notes.push(format!(
            "{} pages read held no data, because they had never been written or had been trimmed; those reads take no time and no flash operation. A higher precondition.fill_ratio writes more pages before the run.",
            grouped(unwritten)
        ));
    }
    notes.extend(of_cells(summary));
    if let Some(power) = summary.power {
        notes.push(format!(
            "Power failures: {}. {} requests in progress were lost and are excluded from all other metrics. Recovery took {:.3} ms on average, {:.3} ms at most.",
            grouped(power.cuts),
            grouped(power.requests_lost),
            power.recovery_mean_ms,
            power.recovery_longest_ms,
        ));
    }
    if counts.flushes_ignored > 0 {
        notes.push(format!(
            "{} flushes were ignored: without a DRAM buffer (buffer.capacity_kib) or a disk with a write cache they have no effect.",
            grouped(counts.flushes_ignored)
        ));
    }
    if counts.durable_writes > 0 && !outcome.plan.takes_flushes() {
        notes.push(format!(
            "{} writes are FUA, which has no effect without a DRAM buffer or a disk with a write cache: every write is durable when it completes.",
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
                "The load issued all {} requests before {} s had passed; raise workload.requests to end it by time.",
                grouped(load.requests),
                load.duration_s
            )));
        }
        if !generated && issued.time_scale().is_none() && issued.recorded.is_some() {
            notes.push(said(STAMPS_IGNORED));
        }
        if let Some(overload) = Overload::of(issued, served) {
            notes.push(said(&overload.note(remedy(issued, generated))));
        } else if is_crowded(issued, served) {
            notes.push(said(&crowding(outcome, remedy(issued, generated))));
        }
    }
    notes.extend(classes_ignored(plan));
    notes
}

pub(super) const STAMPS_IGNORED: &str = "The time stamps of the trace were ignored: a closed loop issues a request when another completes. Remove replay.mode to replay by time stamp.";

/// Returns `true` if the requests of an open loop spent more time waiting for the device than being
/// served.
pub(super) fn is_crowded(issued: &Issued, served: &Served) -> bool {
    let waited: u128 = served.parts.iter().map(|parts| parts.sums()[0]).sum();
    let total: u128 = served.latency.iter().map(Histogram::sum_ps).sum();
    matches!(issued.replay, Replay::OpenLoop { .. }) && waited * 2 > total
}

/// Share of busy time, from the first request to the last completion, above which the device counts
/// as always busy.
pub(super) const ALWAYS_BUSY: f64 = 0.95;

pub(super) fn crowding(outcome: &Outcome, remedy: &str) -> String {
    let record = &outcome.record;
    let span = record.total.last_completion.since(outcome.measured_from());
    // Busy time after the last completion, in a run that was ended early, is not part of the span.
    let busy = (record.busy().as_secs() / span.as_secs().max(1e-12)).min(1.0);
    if busy < ALWAYS_BUSY {
        return format!(
            "Requests spent more than half of their response time waiting for a slot of the device queue, and the device was busy {:.3} % of the time: the bursts of the input exceed the queue depth (host.queue_depth).",
            busy * 100.0
        );
    }
    format!(
        "Requests spent more than half of their response time waiting for a slot of the device queue, and the device was busy {:.3} % of the time: the offered load is close to the throughput of this device. {remedy}",
        busy * 100.0
    )
}

/// Returns advice on how to reduce the load to what the store can serve.
fn remedy(issued: &Issued, generated: bool) -> &'static str {
    if issued.is_live {
        "Let the clients keep fewer requests in flight."
    } else if generated {
        "Lower the rate (workload.arrival) or use a closed loop."
    } else {
        "Stretch the trace (replay.mode.open-loop.time_scale above 1) or replay it in a closed loop."
    }
}

/// Minimum number of requests of an open loop for an overload; a smaller backlog counts as a burst.
const MIN_OF_OVERLOAD: u64 = 1_000;

/// Minimum response time at the end of an overloaded run, as a share of the time from the first
/// arrival to the last completion. If an open loop offers 1/(1 - s) times the throughput of the
/// store, this share is s for its last request.
const LEAST_SHARE_OF_RUN: f64 = 0.05;

/// Open loop whose backlog grew until the last arrival.
struct Overload {
    requests: u64,
    /// Time from the first arrival to the last.
    arrivals: Time,
    /// Time from the first arrival to the last completion.
    span: Time,
    /// 90th percentile of the response time in the first and in the last quarter of the requests.
    responses: [Time; 2],
}

impl Overload {
    /// Detects whether a stream is overloaded, independently of the kind of store. If a backlog
    /// grows evenly, response times grow linearly from request to request. If the store keeps up,
    /// they do not depend on the length of the run. After a burst in the last quarter, the response
    /// times of the third quarter are short; after a pause, those of the last quarter are not the
    /// longest.
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
    fn note(&self, remedy: &str) -> String {
        let [first, last] = self.responses.map(|time| time.as_secs() * 1e3);
        format!(
            "{} requests arrived in {:.3} s and were served in {:.3} s: the offered load exceeds the throughput of this store. The 90th percentile of the response time grew from {first:.3} ms in the first quarter of the requests to {last:.3} ms in the last, so it depends on the length of the run. {remedy}",
            grouped(self.requests),
            self.arrivals.as_secs(),
            self.span.as_secs()
        )
    }
}

/// Returns the note that priority classes were ignored, if they were. Only NVMe with weighted round
/// robin uses them.
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
            "The priority classes of the streams were ignored: only NVMe with weighted round robin uses them. Replace host.interface = \"{}\" by host.interface.nvme.arbitration = \"weighted-round-robin\".",
            deaf.device.interface.name()
        )
    })
}
