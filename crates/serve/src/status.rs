//! Status of a live device: the results of the run so far, and facts about its clients.

use serde::Serialize;
use wordline_runner::simulation::Snapshot;
use wordline_runner::{Results, Summary};

use crate::clock::{Clock, Lateness};

/// Facts about a live device that its summary does not contain.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LiveFacts {
    /// Simulated time, which also passes without requests if the clock is real. Seconds.
    pub(crate) simulated_s: f64,
    /// Wall-clock seconds per simulated second; null with the simulated clock.
    pub(crate) scale: Option<f64>,
    /// Open connections. Count.
    pub(crate) connections: u64,
    /// Connections accepted since the start. Count.
    pub(crate) connections_accepted: u64,
    /// Commands without a reply. Count.
    pub(crate) in_flight: u64,
    /// Power cuts on demand. Count.
    pub(crate) power_cuts: u64,
    /// Replies since the start; null with the simulated clock. Count.
    pub(crate) replies: Option<u64>,
    /// Median lateness of the replies, rounded down; null with the simulated clock. µs.
    pub(crate) lateness_median_us: Option<u64>,
    /// Replies that were at least [`LATE_US`](crate::clock::LATE_US) late; null with the simulated
    /// clock. Count.
    pub(crate) late_replies: Option<u64>,
    /// Share of the replies that were late; null with the simulated clock. Ratio.
    pub(crate) late_ratio: Option<f64>,
}

impl LiveFacts {
    /// Adds the delays of the replies, if they were held for the real clock.
    pub(crate) fn with_lateness(self, clock: Clock, lateness: &Lateness) -> Self {
        let Clock::Real { scale } = clock else {
            return self;
        };
        let (replies, late) = (lateness.replies(), lateness.late());
        Self {
            scale: Some(scale),
            replies: Some(replies),
            lateness_median_us: Some(lateness.median_us() as u64),
            late_replies: Some(late),
            late_ratio: Some(late as f64 / replies.max(1) as f64),
            ..self
        }
    }
}

/// Status of a live device, from which the response is computed.
pub(crate) struct Status {
    pub(crate) facts: LiveFacts,
    pub(crate) snapshot: Box<Snapshot>,
}

/// Histogram of response times: upper end of each bucket that is not empty (µs), and its count.
type Buckets = Vec<(f64, u64)>;

/// Response to a request for the status.
#[derive(Serialize)]
struct StatusResponse<'a> {
    live: &'a LiveFacts,
    /// Response times by operation.
    histograms: Histograms,
    /// Summary of the run so far.
    summary: &'a Summary,
}

#[derive(Serialize)]
struct Histograms {
    read: Buckets,
    write: Buckets,
    trim: Buckets,
    flush: Buckets,
}

impl Histograms {
    fn of(results: &Results) -> Self {
        let served = results.served();
        let [read, write] = &served.latency;
        Self {
            read: read.coarse(),
            write: write.coarse(),
            trim: served.trims.coarse(),
            flush: served.flushes.coarse(),
        }
    }
}

impl Status {
    /// Computes the response. Takes some milliseconds.
    pub(crate) fn json(self) -> serde_json::Result<String> {
        let results = self.snapshot.live_results();
        serde_json::to_string(&StatusResponse {
            live: &self.facts,
            histograms: Histograms::of(&results),
            summary: &results.summary,
        })
    }
}
