//! Slow requests: the longest response time of each interval, and the time beyond the marginal
//! response time.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::Time;
use wordline_observe::{Excess, Intervals, Merge};

use crate::summary::ByOp;
use wordline_recorder::{Longest, Served};

/// Longest response time of each interval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorstCase {
    /// Width of the intervals of simulated time, which start with the clock or at the end of the
    /// warm-up. It is `observe.worst_case_interval_s`, doubled until at most 1024 intervals cover
    /// the run. If that key is 0, it is the smallest of 1, 2, 4, 8, ... microseconds at which 64
    /// intervals cover the run.
    pub interval_s: f64,
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub by_op: ByOp<WorstCaseOf>,
}

/// Longest response time of each interval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorstCaseOf {
    /// Worst-case response time (Jung 2013, section 7.6.2): longest response time of the requests
    /// completed in an interval, mean over the intervals with completions.
    pub mean_us: Option<f64>,
    /// Longest response time of the run. Exact.
    pub max_us: Option<f64>,
    /// Longest response time of each interval, in order of time. Null without a completion. Exact.
    pub intervals_us: Vec<Option<f64>>,
}

impl WorstCase {
    pub(crate) fn new(worst: &Intervals<Longest>) -> Self {
        let of = |longest: fn(&Longest) -> Option<Time>| {
            WorstCaseOf::new(worst.iter().map(|interval| longest(interval.value)))
        };
        Self {
            interval_s: worst.grid().width().as_secs(),
            by_op: ByOp {
                all: of(|longest| longest.0[0].max(longest.0[1])),
                read: of(|longest| longest.0[0]),
                write: of(|longest| longest.0[1]),
            },
        }
    }
}

impl WorstCaseOf {
    fn new(longest: impl Iterator<Item = Option<Time>>) -> Self {
        let intervals_us: Vec<_> = longest.map(|one| one.map(Time::as_us)).collect();
        let known: Vec<f64> = intervals_us.iter().copied().flatten().collect();
        Self {
            mean_us: (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64),
            max_us: known.iter().copied().reduce(f64::max),
            intervals_us,
        }
    }
}

/// Time that requests took beyond the marginal response time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Excess")]
pub struct ExcessSummary {
    /// Acceptable response time, `observe.marginal_response_ms`. The excess of a request is the
    /// part of its response time beyond it (excess waiting time: Jung 2013, section 7.6.3, footnote
    /// 4, with 30 ms).
    pub marginal_response_us: f64,
    #[serde(flatten)]
    #[allow(missing_docs)]
    pub by_op: ByOp<ExcessOf>,
}

/// Time that requests took beyond the marginal response time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExcessOf {
    /// Requests that took longer than the marginal response time. Exact.
    pub requests: u64,
    /// Share of the completed requests that took longer than the marginal response time.
    pub share: Option<f64>,
    /// Sum of the excess of all requests.
    pub sum_s: f64,
    /// Mean excess of the requests that took longer than the marginal response time.
    pub mean_us: Option<f64>,
    /// Longest excess of a request.
    pub max_us: Option<f64>,
    /// Distribution of the excess, in ascending order.
    pub above: Vec<AboveSummary>,
}

/// Number of requests with an excess above a limit.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Above")]
pub struct AboveSummary {
    /// Limit of the excess: 0, then 1, 2 and 5 times each power of ten from 1 us to 1000 s, up to
    /// the first limit that no request exceeds.
    pub excess_us: f64,
    /// Requests with an excess above the limit. Exact.
    pub requests: u64,
}

impl ExcessSummary {
    pub(crate) fn new(marginal: Time, served: &Served) -> Self {
        Self {
            marginal_response_us: marginal.as_us(),
            by_op: ExcessOf::by_op(served),
        }
    }
}

impl ExcessOf {
    pub(crate) fn by_op(served: &Served) -> ByOp<Self> {
        let [read, write] = &served.excess;
        let mut all = read.clone();
        all.merge(write);
        let [reads, writes] = [0, 1].map(|op: usize| served.latency[op].count());
        ByOp {
            all: Self::new(&all, reads + writes),
            read: Self::new(read, reads),
            write: Self::new(write, writes),
        }
    }
    fn new(excess: &Excess, requests: u64) -> Self {
        let tally = excess.tally();
        Self {
            requests: tally.count(),
            share: (requests > 0).then(|| tally.count() as f64 / requests as f64),
            sum_s: tally.sum_ps() as f64 / 1e12,
            mean_us: tally.mean_us(),
            max_us: tally.max().map(Time::as_us),
            above: excess
                .above()
                .iter()
                .map(|above| AboveSummary {
                    excess_us: above.than.as_us(),
                    requests: above.count,
                })
                .collect(),
        }
    }
}
