//! Section `streams` of the summary: each stream, and how the streams slow each other down.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_host_link::Class;
use wordline_kernel::Time;
use wordline_workload::InputFile;

use crate::outcome::{ContentionWindow, InputCounts, Issued, Outcome};
use crate::summary::ExcessOf;
use crate::summary::{Breakdown, ByOp, LatencyByOp, LatencySummary, Throughput};
use wordline_config::plan::{self, Replay};
use wordline_recorder::Served;

/// Stream of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Stream")]
pub struct StreamSummary {
    /// Name of the stream.
    pub name: String,
    /// Priority class of the stream's commands, if the interface has priorities.
    pub class: Class,
    /// Requests of a stream of `[[streams]]` or --stream, with the meanings of `input`. The list is
    /// empty if the run has one unnamed stream.
    pub input: StreamInput,
    /// Response times of the stream, with the meanings of `latency`.
    pub latency: LatencyByOp,
    /// Components of the stream's mean response times, with the meanings of `breakdown`.
    pub breakdown: ByOp<Breakdown>,
    /// Time that the stream's requests took beyond the marginal response time, with the meanings of
    /// `excess`.
    pub excess: ByOp<ExcessOf>,
    /// Throughput of the stream, with the meanings of `throughput`. The time starts with the first
    /// arrival of the stream, or at the end of the warm-up, and ends with the stream's last
    /// completion.
    pub throughput: Throughput,
    /// Share of the stream in the bytes read and written in the whole run. If all requests were
    /// served, this is the stream's share of the demand.
    pub bytes_share: Option<f64>,
    /// Share of the stream in the bytes read and written while all streams issued requests
    /// (`fairness.contest_from_s` to `contest_until_s`).
    pub contest_share: Option<f64>,
    /// Response times of the same requests with no other stream on the device, with the meanings of
    /// `latency`. Null without --slowdown.
    pub alone: Option<LatencyByOp>,
    /// Mean response time with the other streams / mean response time alone. Null without
    /// --slowdown.
    pub slowdown: Option<ByOp<Option<f64>>>,
}

/// Requests of a stream.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct StreamInput {
    /// Source of the requests: a trace, generated load, clients of a live device, or streams of a
    /// trace and of generated load.
    #[schemars(extend("enum" = ["trace", "generated", "live", "mixed"]))]
    pub kind: &'static str,
    /// Files of the trace.
    pub files: Vec<InputFile>,
    /// Digest of the bytes that were read of the trace. Null for generated load, and for several
    /// streams together.
    pub digest: Option<String>,
    /// Replay mode: open loop, closed loop, or one request at a time with think times; mixed if the
    /// streams differ.
    #[schemars(extend("enum" = ["open-loop", "closed-loop", "think-time", "mixed"]))]
    pub replay: &'static str,
    /// Factor by which an open loop multiplies recorded times. Null in a closed loop, and for
    /// several streams together.
    pub time_scale: Option<f64>,
    /// Time from the first to the last issued request, by the time stamps of the recording, before
    /// scaling. Null for generated load, for a trace without time stamps, and for several streams
    /// together.
    pub recorded_s: Option<f64>,
    /// Maximum number of requests in progress. Open loop: slots of the device queue, or of the
    /// queue of each member of an array; null if unlimited, or if members differ. Closed loop:
    /// outstanding requests. Think times: 1.
    pub queue_depth: Option<u32>,
    /// Read and write requests admitted to the device since measuring began.
    pub requests: u64,
    /// Reads admitted to the device.
    pub reads: u64,
    /// Writes admitted to the device.
    pub writes: u64,
    /// Writes that are durable on completion (FUA); part of `writes`. Without a DRAM buffer or a
    /// write cache of a disk, all writes are durable on completion.
    pub durable_writes: u64,
    /// TRIMs admitted to the device. `latency.trim` has their response times, `flash.pages_trimmed`
    /// their pages.
    pub trims: u64,
    /// Flushes admitted to the device. `latency.flush` has their response times.
    pub flushes: u64,
    /// Requests of all kinds admitted during the warm-up. No other metric includes them, except
    /// that requests completed after the warm-up count as completed.
    pub warm_up_requests: u64,
    /// Flushes of the input that were dropped because no device has a DRAM buffer or a write cache.
    pub flushes_ignored: u64,
    /// Bad lines of the trace, skipped because of --on-bad-line skip.
    pub lines_skipped: u64,
    /// Changes that options made to requests of the trace: clamped, sorted, stacked, expanded,
    /// shrunk, wrapped or scaled.
    pub requests_adjusted: u64,
    /// Bytes of completed reads.
    pub read_bytes: u64,
    /// Bytes of completed writes.
    pub written_bytes: u64,
}

/// Fairness among several streams: shares while all of them issued requests, and slowdowns.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Fairness {
    /// Time at which every stream with requests had issued its first request.
    pub contest_from_s: Option<f64>,
    /// Time at which the first stream issued its last request, or reached its duration.
    pub contest_until_s: Option<f64>,
    /// Jain's index of the bytes served to each stream while all of them issued requests, (sum x)^2
    /// / (n sum x^2): 1 if all got equal shares, 1/n if one got everything (Jain, Chiu and Hawe
    /// 1984, A Quantitative Measure of Fairness and Discrimination).
    pub jain_index: Option<f64>,
    /// Smallest slowdown / largest slowdown: 1 if all streams are slowed down equally (Gabor, Weiss
    /// and Mendelson, MICRO 2006; computed from response times as in Tavakkol et al., FLIN, ISCA
    /// 2018). Null without --slowdown.
    pub slowdown_ratio: Option<f64>,
    /// Sum over the streams of mean response time alone / mean response time with the others. It
    /// equals the number of streams if none is slowed down (Snavely and Tullsen, ASPLOS 2000). Null
    /// without --slowdown.
    pub weighted_speedup: Option<f64>,
    /// Harmonic mean over the streams of mean response time alone / mean response time with the
    /// others: streams / sum of slowdowns (Luo, Gummaraju and Franklin, ISPASS 2001). Null without
    /// --slowdown.
    pub harmonic_speedup: Option<f64>,
}

/// Returns the streams of a run; empty if they have no names.
pub(crate) fn streams(outcome: &Outcome) -> Vec<StreamSummary> {
    let all: u64 = outcome.record.total.bytes.iter().sum();
    let streams = outcome.plan.streams.iter().zip(&outcome.streams);
    let streams = streams.zip(&outcome.record.streams).enumerate();
    streams
        .map(|(place, ((stream, issued), served))| StreamSummary {
            name: stream.name.clone(),
            class: stream.class,
            input: input(outcome.plan.slots(), stream, issued, served),
            latency: LatencySummary::by_op(served),
            breakdown: Breakdown::by_op(served),
            excess: ExcessOf::by_op(served),
            throughput: Throughput::new(
                served,
                outcome
                    .measured_from
                    .or(issued.first_arrival)
                    .unwrap_or(Time::ZERO),
            ),
            bytes_share: share(served.bytes.iter().sum(), all),
            contest_share: outcome.contention.as_ref().and_then(|window| {
                share(window.bytes[place]?, window.bytes.iter().flatten().sum())
            }),
            alone: None,
            slowdown: None,
        })
        .collect()
}

fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

fn input(
    slots: Option<u32>,
    stream: &plan::Stream,
    issued: &Issued,
    served: &Served,
) -> StreamInput {
    StreamInput {
        kind: if stream.workload.is_some() {
            "generated"
        } else {
            "trace"
        },
        replay: replay_name(&issued.replay),
        time_scale: issued.time_scale(),
        recorded_s: issued.recorded_s().filter(|_| stream.workload.is_none()),
        queue_depth: queue_depth(slots, &issued.replay),
        warm_up_requests: issued.unmeasured,
        ..StreamInput::new(&issued.counts, served)
    }
}

pub(super) fn replay_name(replay: &Replay) -> &'static str {
    match replay {
        Replay::OpenLoop { .. } => "open-loop",
        Replay::ClosedLoop { .. } => "closed-loop",
        Replay::ThinkTime { .. } => "think-time",
    }
}

/// Returns the maximum number of requests in progress: the queue depth of a closed loop, 1 with
/// think times, or `slots` of the device in an open loop. `None` if unlimited.
pub(super) fn queue_depth(slots: Option<u32>, replay: &Replay) -> Option<u32> {
    match replay {
        Replay::OpenLoop { .. } => slots,
        Replay::ClosedLoop { queue_depth } => Some(*queue_depth),
        Replay::ThinkTime { .. } => Some(1),
    }
}

impl StreamInput {
    /// Combines the requests issued with the bytes served.
    pub(crate) fn new(issued: &InputCounts, served: &Served) -> Self {
        Self {
            requests: issued.requests(),
            reads: issued.reads,
            writes: issued.writes,
            durable_writes: issued.durable_writes,
            trims: issued.trims,
            flushes: issued.flushes,
            flushes_ignored: issued.flushes_ignored,
            read_bytes: served.bytes[0],
            written_bytes: served.bytes[1],
            ..Self::default()
        }
    }
}

impl StreamSummary {
    /// Adds the response times of this stream without the others, and the slowdown.
    pub(crate) fn compare(&mut self, alone: &LatencyByOp) {
        let slowdown = |together: &LatencySummary, alone: &LatencySummary| {
            let alone = alone.mean_us.filter(|&mean| mean > 0.0)?;
            Some(together.mean_us? / alone)
        };
        self.slowdown = Some(ByOp {
            all: slowdown(&self.latency.all, &alone.all),
            read: slowdown(&self.latency.read, &alone.read),
            write: slowdown(&self.latency.write, &alone.write),
        });
        self.alone = Some(*alone);
    }
}

impl Fairness {
    /// Computes the shares from the bytes served in a window.
    pub(crate) fn new(window: Option<&ContentionWindow>) -> Self {
        let bytes = window.map(|window| window.bytes.iter().flatten().copied());
        Self {
            contest_from_s: window.map(|window| window.from.as_secs()),
            contest_until_s: window.map(|window| window.until.as_secs()),
            jain_index: bytes.and_then(|bytes| jain(&bytes.collect::<Vec<u64>>())),
            slowdown_ratio: None,
            weighted_speedup: None,
            harmonic_speedup: None,
        }
    }

    /// Adds the slowdowns of the streams. Does nothing unless the slowdown of every stream with
    /// requests is known.
    pub(crate) fn compare(&mut self, streams: &[StreamSummary]) {
        let asking = streams.iter().filter(|stream| stream.input.requests > 0);
        let slowdowns = asking.map(|stream| stream.slowdown?.all.filter(|&one| one > 0.0));
        let Some(slowdowns) = slowdowns.collect::<Option<Vec<f64>>>() else {
            return;
        };
        if slowdowns.is_empty() {
            return;
        }
        let least = slowdowns.iter().copied().fold(f64::INFINITY, f64::min);
        let most = slowdowns.iter().copied().fold(0.0, f64::max);
        self.slowdown_ratio = Some(least / most);
        self.weighted_speedup = Some(slowdowns.iter().map(|slowdown| 1.0 / slowdown).sum());
        self.harmonic_speedup = Some(slowdowns.len() as f64 / slowdowns.iter().sum::<f64>());
    }
}

/// Returns Jain's index of shares, (sum x)^2 / (n sum x^2): 1 if all are equal, 1/n if one has
/// everything. `None` if all shares are 0.
fn jain(shares: &[u64]) -> Option<f64> {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jain, Chiu and Hawe 1984: if k of n users have equal shares and the others have nothing, the
    /// index is k / n.
    #[test]
    fn jain_index_of_k_equal_users_among_n_is_k_over_n() {
        for n in 1..8 {
            for k in 1..=n {
                let shares: Vec<u64> = (0..n).map(|user| if user < k { 4096 } else { 0 }).collect();
                let index = jain(&shares).unwrap();
                assert!(
                    (index - k as f64 / n as f64).abs() < 1e-12,
                    "{k} of {n}: {index}"
                );
            }
        }
        assert_eq!(jain(&[0, 0]), None);
        assert_eq!(jain(&[]), None);
    }
}
