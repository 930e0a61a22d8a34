//! Response times, their components, and throughput.

use super::figures::us;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, json};
use std::borrow::Cow;
use wordline_block::{LATENCY_COMPONENTS, LatencyComponent};
use wordline_kernel::Time;
use wordline_observe::Histogram;
use wordline_recorder::{ComponentSums, Served};

/// A value for all requests, for reads and for writes.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}ByOp")]
pub struct ByOp<T> {
    /// Value for reads and writes together.
    pub all: T,
    /// Value for reads.
    pub read: T,
    /// Value for writes.
    pub write: T,
}

/// Response times of each operation, from arrival to completion.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct LatencyByOp {
    /// Response times of reads and writes together.
    pub all: LatencySummary,
    /// Response times of reads.
    pub read: LatencySummary,
    /// Response times of writes.
    pub write: LatencySummary,
    /// Response times of TRIMs.
    pub trim: LatencySummary,
    /// Response times of flushes.
    pub flush: LatencySummary,
}

/// Response times, from arrival to completion. Null without a request.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Latency")]
pub struct LatencySummary {
    /// Number of completed requests.
    pub count: u64,
    /// Mean response time, from arrival to completion. Exact.
    pub mean_us: Option<f64>,
    /// Standard deviation of response times. Exact.
    pub std_us: Option<f64>,
    /// Shortest response time. Exact.
    pub min_us: Option<f64>,
    /// Median: half of the requests took no longer. Percentiles are at most 0.1 % too high.
    pub p50_us: Option<f64>,
    /// 90th percentile: 90 % of the requests took no longer.
    pub p90_us: Option<f64>,
    /// 95th percentile: 95 % of the requests took no longer.
    pub p95_us: Option<f64>,
    /// 99th percentile: 99 % of the requests took no longer.
    pub p99_us: Option<f64>,
    /// 99.9th percentile: 99.9 % of the requests took no longer.
    pub p99_9_us: Option<f64>,
    /// 99.99th percentile: 99.99 % of the requests took no longer.
    pub p99_99_us: Option<f64>,
    /// Longest response time. Exact.
    pub max_us: Option<f64>,
}

/// Components of the mean response time, in the order of [`LatencyComponent::ALL`]. They add up to
/// the mean. Microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Breakdown(pub [f64; LATENCY_COMPONENTS]);

impl JsonSchema for Breakdown {
    fn schema_name() -> Cow<'static, str> {
        "Breakdown".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let part = |part: &LatencyComponent| {
            let figure = json!({ "description": part.meaning, "type": "number" });
            (part.figure.to_owned(), figure)
        };
        json_schema!({
            "description": "Components of the mean response time. They add up to it.",
            "type": "object",
            "properties": LatencyComponent::ALL.iter().map(part).collect::<Map<_, _>>(),
        })
    }
}

impl Serialize for Breakdown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            LatencyComponent::ALL
                .iter()
                .map(|part| part.figure)
                .zip(self.0),
        )
    }
}

/// Rates of reads, writes and their bytes, from the first arrival to the last completion.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Throughput {
    /// Reads and writes completed per second, from the first arrival to the last completion.
    pub iops: f64,
    /// Reads completed per second.
    pub read_iops: f64,
    /// Writes completed per second.
    pub write_iops: f64,
    /// Bytes read per second, in 10^6 bytes.
    pub read_mb_per_s: f64,
    /// Bytes written per second, in 10^6 bytes.
    pub write_mb_per_s: f64,
}

impl LatencySummary {
    pub(crate) fn by_op(served: &Served) -> LatencyByOp {
        let [read, write] = &served.latency;
        LatencyByOp {
            all: Self::new(&served.all()),
            read: Self::new(read),
            write: Self::new(write),
            trim: Self::new(&served.trims),
            flush: Self::new(&served.flushes),
        }
    }
    pub(super) fn new(histogram: &Histogram) -> Self {
        let at = |q| histogram.percentile(q).map(us);
        Self {
            count: histogram.count(),
            mean_us: histogram.mean_us(),
            std_us: histogram.std_us(),
            min_us: histogram.min().map(us),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p99_9_us: at(0.999),
            p99_99_us: at(0.9999),
            max_us: histogram.max().map(us),
        }
    }
}

impl Breakdown {
    pub(crate) fn by_op(served: &Served) -> ByOp<Self> {
        let [read, write] = &served.parts;
        ByOp {
            all: Self::new(&read.plus(write)),
            read: Self::new(read),
            write: Self::new(write),
        }
    }
    pub(super) fn new(sums: &ComponentSums) -> Self {
        Self(sums.means_us())
    }
}

impl Throughput {
    /// Computes the rates from the first arrival to the last completion.
    pub(crate) fn new(served: &Served, first_arrival: Time) -> Self {
        let span = served.last_completion.since(first_arrival);
        let seconds = span.as_secs().max(1e-12);
        let rate = |count: u64| count as f64 / seconds;
        let [read, write] = &served.latency;
        Self {
            iops: rate(served.count()),
            read_iops: rate(read.count()),
            write_iops: rate(write.count()),
            read_mb_per_s: rate(served.bytes[0]) / 1e6,
            write_mb_per_s: rate(served.bytes[1]) / 1e6,
        }
    }
}
