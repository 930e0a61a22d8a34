//! Several streams beside each other: what each got, and what the others cost it.

use serde::Serialize;
use wordline_device::host::Class;
use wordline_kernel::Time;
use wordline_workload::InputFile;

use crate::config::plan;
use crate::outcome::{Asked, Contest, Outcome};
use crate::record::Served;
use crate::slow::ExcessOf;
use crate::summary::{Breakdown, ByOp, LatencySummary, Throughput, queue_depth, replay_name};

/// A stream of a run.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct StreamSummary {
    pub name: String,
    pub class: Class,
    pub input: StreamInput,
    pub latency: ByOp<LatencySummary>,
    pub breakdown: ByOp<Breakdown>,
    pub excess: ByOp<ExcessOf>,
    pub throughput: Throughput,
    pub bytes_share: Option<f64>,
    pub contest_share: Option<f64>,
    pub alone: Option<ByOp<LatencySummary>>,
    pub slowdown: Option<ByOp<Option<f64>>>,
}

/// What a stream asked for.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct StreamInput {
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
}

/// How fairly the device served its streams.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Fairness {
    pub contest_from_s: Option<f64>,
    pub contest_until_s: Option<f64>,
    pub jain_index: Option<f64>,
    pub slowdown_ratio: Option<f64>,
    pub weighted_speedup: Option<f64>,
    pub harmonic_speedup: Option<f64>,
}

/// The streams of a run, if they have names.
pub(crate) fn streams(outcome: &Outcome) -> Vec<StreamSummary> {
    let all: u64 = outcome.record.total.bytes.iter().sum();
    let streams = outcome.plan.streams.iter().zip(&outcome.streams);
    let streams = streams.zip(&outcome.record.streams).enumerate();
    streams
        .map(|(place, ((stream, asked), served))| StreamSummary {
            name: stream.name.clone(),
            class: stream.class,
            input: input(outcome.plan.first().queue_depth, stream, asked, served),
            latency: LatencySummary::by_op(served),
            breakdown: Breakdown::by_op(served),
            excess: ExcessOf::by_op(served),
            throughput: Throughput::new(served, asked.first_arrival.unwrap_or(Time::ZERO)),
            bytes_share: share(served.bytes.iter().sum(), all),
            contest_share: outcome.contest.as_ref().and_then(|contest| {
                share(contest.bytes[place]?, contest.bytes.iter().flatten().sum())
            }),
            alone: None,
            slowdown: None,
        })
        .collect()
}

fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

fn input(slots: u32, stream: &plan::Stream, asked: &Asked, served: &Served) -> StreamInput {
    StreamInput {
        kind: if stream.workload.is_some() {
            "generated"
        } else {
            "trace"
        },
        replay: replay_name(&asked.replay),
        time_scale: asked.time_scale(),
        recorded_s: asked.recorded_s().filter(|_| stream.workload.is_none()),
        queue_depth: queue_depth(slots, &asked.replay),
        requests: asked.counts.requests(),
        reads: asked.counts.reads,
        writes: asked.counts.writes,
        durable_writes: asked.counts.durable_writes,
        trims: asked.counts.trims,
        flushes: asked.counts.flushes,
        flushes_ignored: asked.counts.flushes_ignored,
        read_bytes: served.bytes[0],
        written_bytes: served.bytes[1],
        ..StreamInput::default()
    }
}

impl StreamSummary {
    /// Sets the response times of this stream without the others beside those that it had with them.
    pub(crate) fn compare(&mut self, alone: &ByOp<LatencySummary>) {
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
    /// Of the bytes in a contest.
    pub(crate) fn new(contest: Option<&Contest>) -> Self {
        let bytes = contest.map(|contest| contest.bytes.iter().flatten().copied());
        Self {
            contest_from_s: contest.map(|contest| contest.from.as_secs()),
            contest_until_s: contest.map(|contest| contest.until.as_secs()),
            jain_index: bytes.and_then(|bytes| jain(&bytes.collect::<Vec<u64>>())),
            slowdown_ratio: None,
            weighted_speedup: None,
            harmonic_speedup: None,
        }
    }

    /// Takes in how much each stream was slowed down; nothing unless all that asked are known.
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

/// Jain's index of shares, (sum x)^2 / (n sum x^2): 1 if all are equal, 1/n if one has everything.
/// None if nobody has anything.
fn jain(shares: &[u64]) -> Option<f64> {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jain, Chiu and Hawe 1984: if k of n users share all equally, and the others get nothing, the index
    /// is k / n.
    #[test]
    fn k_of_n_users_make_an_index_of_k_over_n() {
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
