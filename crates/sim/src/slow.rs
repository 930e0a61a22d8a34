//! Slow requests: the worst case of each interval, and what response times have beyond a marginal one.

use serde::Serialize;
use wordline_kernel::Time;
use wordline_observe::{Excess, Intervals, Merge};

use crate::record::{Longest, Served};
use crate::summary::ByOp;

/// The longest response times, interval by interval.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct WorstCase {
    pub interval_s: f64,
    #[serde(flatten)]
    pub by_op: ByOp<WorstCaseOf>,
}

/// The longest response time of each interval; none in one that no request ended in.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct WorstCaseOf {
    pub mean_us: Option<f64>,
    pub max_us: Option<f64>,
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

/// Response times beyond the marginal one.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ExcessSummary {
    pub marginal_response_us: f64,
    #[serde(flatten)]
    pub by_op: ByOp<ExcessOf>,
}

/// What requests took beyond the marginal response time.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ExcessOf {
    pub requests: u64,
    pub share: Option<f64>,
    pub sum_s: f64,
    pub mean_us: Option<f64>,
    pub max_us: Option<f64>,
    pub above: Vec<AboveSummary>,
}

/// How many requests have a longer excess.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs)]
pub struct AboveSummary {
    pub excess_us: f64,
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
