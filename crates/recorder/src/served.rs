//! Served requests of one stream, or of all streams.

use super::component_sums::ComponentSums;
use serde::{Deserialize, Serialize};
use wordline_block::{LatencyComponents, Op};
use wordline_kernel::Time;
use wordline_observe::{Excess, Histogram, Merge};

/// Requests served. Reads come first in every pair.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Served {
    /// Response times of reads and of writes.
    pub latency: [Histogram; 2],
    /// Time of reads and of writes beyond the marginal response time.
    pub excess: [Excess; 2],
    /// Latency components of reads and of writes.
    pub parts: [ComponentSums; 2],
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Response times of TRIMs.
    pub trims: Histogram,
    /// Response times of flushes.
    pub flushes: Histogram,
    /// Completion time of the last request.
    pub last_completion: Time,
}

impl Served {
    pub(super) fn new(marginal: Time) -> Self {
        Self {
            latency: Default::default(),
            excess: [Excess::beyond(marginal), Excess::beyond(marginal)],
            parts: Default::default(),
            bytes: [0; 2],
            trims: Histogram::default(),
            flushes: Histogram::default(),
            last_completion: Time::ZERO,
        }
    }
    /// Returns the number of reads and writes.
    pub fn count(&self) -> u64 {
        self.latency.iter().map(Histogram::count).sum()
    }
    /// Returns the response times of reads and writes together.
    pub fn all(&self) -> Histogram {
        let [read, write] = &self.latency;
        let mut all = read.clone();
        all.merge(write);
        all
    }
    #[inline(always)]
    pub(super) fn add(&mut self, op: usize, bytes: u64, latency: Time, parts: &LatencyComponents) {
        self.latency[op].record(latency);
        self.excess[op].record(latency);
        self.parts[op].add(parts, latency);
        self.bytes[op] += bytes;
    }
    /// Adds a TRIM or a flush.
    #[inline(never)]
    pub(super) fn add_without_data(&mut self, op: Op, latency: Time) {
        match op {
            Op::Trim => self.trims.record(latency),
            _ => self.flushes.record(latency),
        }
    }
}

impl Merge for Served {
    fn merge(&mut self, other: &Self) {
        for op in 0..2 {
            self.latency[op].merge(&other.latency[op]);
            self.excess[op].merge(&other.excess[op]);
            self.parts[op] = self.parts[op].plus(&other.parts[op]);
            self.bytes[op] += other.bytes[op];
        }
        self.trims.merge(&other.trims);
        self.flushes.merge(&other.flushes);
        self.last_completion = self.last_completion.max(other.last_completion);
    }
}
