//! What reads have found.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_ssd::ErrorCounts;

use super::LatencySummary;
use super::figures::ratio;
use crate::outcome::Outcome;
use wordline_recorder::ReadsMet;

/// What reads have found, for the host and for the device itself, where they err (`nand.reliability`).
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReadErrors")]
pub struct ErrorSummary {
    /// Pages read.
    pub page_reads: u64,
    /// Of them those that had to be read again: the first level of the decoder did not correct them.
    pub page_reads_retried: u64,
    /// Further reads of their pages (read retries).
    pub retries: u64,
    /// Mean errors of the worst codeword of a page.
    pub worst_codeword_mean: Option<f64>,
    /// Pages that were read for requests, or written in part, and that could not be corrected: these requests ended with an error. In front
    /// of a disk, the cache is who asks: see `cache.hits_uncorrectable` and `cache.host_failures`.
    pub uncorrectable: u64,
    /// The same for each bit read, for whatever purpose (uncorrectable bit error rate).
    pub uncorrectable_bit_error_rate: Option<f64>,
    /// Pages that could not be read when a collection moved them, or of which a part could not: reads of them end with an error until
    /// they are written as a whole.
    pub pages_lost: u64,
    /// Reads whose raw bit error rate was beyond what the model is good for, and was taken as its limit.
    pub reads_beyond_model: u64,
    /// Response times of reads by what they have met.
    pub reads_met: ReadsMetSummary,
}

/// Response times of the reads of SSDs by what they have met on their way: the reads of the host, those of each member
/// of an array, or what a cache reads of its flash. Reads that have met more than one of these count with each.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReadsMet")]
pub struct ReadsMetSummary {
    /// Nothing of what follows.
    pub nothing: LatencySummary,
    /// A page of theirs was read again, because its first read could not be corrected.
    pub retry: LatencySummary,
    /// Data was moving for its own sake on the die of a page of theirs when the flash was asked for that page (read reclaim, refresh).
    pub reclaim: LatencySummary,
    /// A block on the die of a page of theirs was being replaced by a spare one then.
    pub bad_block: LatencySummary,
}

impl ReadsMetSummary {
    fn new(met: &ReadsMet) -> Self {
        let [retry, reclaim, bad_block] = met.each.each_ref().map(LatencySummary::new);
        Self {
            nothing: LatencySummary::new(&met.nothing),
            retry,
            reclaim,
            bad_block,
        }
    }
}

impl ErrorSummary {
    /// None if no device errs.
    pub(super) fn new(outcome: &Outcome) -> Option<Self> {
        let devices = || {
            outcome
                .ssds()
                .filter_map(|ssd| Some((ssd.plan, ssd.device.read_errors?)))
        };
        devices().next()?;
        let sum =
            |of: fn(&ErrorCounts) -> u64| devices().map(|(_, counts)| of(&counts)).sum::<u64>();
        let bits =
            devices().map(|(plan, counts)| counts.reads * u64::from(plan.geometry.page_bytes) * 8);
        let (reads, failures) = (
            sum(|counts| counts.reads),
            sum(|counts| counts.host_failures),
        );
        Some(Self {
            page_reads: reads,
            page_reads_retried: sum(|counts| counts.reads_retried),
            retries: sum(|counts| counts.retries),
            worst_codeword_mean: ratio(sum(|counts| counts.worst_codewords), reads),
            uncorrectable: failures,
            uncorrectable_bit_error_rate: ratio(failures, bits.sum()),
            pages_lost: sum(|counts| counts.pages_lost),
            reads_beyond_model: sum(|counts| counts.limited),
            reads_met: outcome.record.reads_met.as_deref().map_or_else(
                || ReadsMetSummary::new(&ReadsMet::default()),
                ReadsMetSummary::new,
            ),
        })
    }
}
