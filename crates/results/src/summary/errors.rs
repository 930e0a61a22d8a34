//! Section `read_errors` of the summary: outcomes of page reads.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_ssd::ErrorCounts;

use super::LatencySummary;
use super::figures::ratio;
use crate::outcome::Outcome;
use wordline_recorder::DelayedReads;

/// Outcomes of page reads, for the host and for the device itself, if reads can fail
/// (`nand.reliability`).
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReadErrors")]
pub struct ErrorSummary {
    /// Page reads, for the host and for the device itself.
    pub page_reads: u64,
    /// Pages that were read more than once, because the first sense level that was tried did not
    /// correct them.
    pub page_reads_retried: u64,
    /// Read retries: further reads of pages that the first read did not correct.
    pub retries: u64,
    /// Mean number of bit errors in the worst codeword of a page.
    pub worst_codeword_mean: Option<f64>,
    /// Uncorrectable or lost pages that were read for a request or to complete a partial write.
    /// Their requests ended with an error. In a flash cache, these are requests of the cache: see
    /// `cache.hits_uncorrectable` and `cache.host_failures`.
    pub uncorrectable: u64,
    /// Uncorrectable bit error rate: `uncorrectable` per user bit of all pages read, for any
    /// purpose.
    pub uncorrectable_bit_error_rate: Option<f64>,
    /// Pages that were lost completely or in part. They could not be read when they were moved,
    /// copied to a spare block, or completed by a partial write. Reads of a lost page end with an
    /// error until it is written as a whole.
    pub pages_lost: u64,
    /// Page reads whose raw bit error rate exceeded the range of the error model. The limit of the
    /// model was used instead.
    pub reads_beyond_model: u64,
    /// Response times of reads by the flash events that delayed them.
    pub reads_met: DelayedReadsSummary,
}

/// Response times of SSD reads by the flash events that delayed them. The reads are those of the
/// host, of each member of an array, or of the cache from its flash. A read that several events
/// delayed is counted for each of them.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReadsMet")]
pub struct DelayedReadsSummary {
    /// Reads that no flash event delayed.
    pub nothing: LatencySummary,
    /// Reads with a page that was read again because its first read was not corrected.
    pub retry: LatencySummary,
    /// Reads of a page on a die in which read reclaim or refresh was moving data when the page was
    /// requested.
    pub reclaim: LatencySummary,
    /// Reads of a page on a die in which a spare block was replacing a bad one when the page was
    /// requested.
    pub bad_block: LatencySummary,
}

impl DelayedReadsSummary {
    fn new(met: &DelayedReads) -> Self {
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
    /// Returns the section, or `None` if reads cannot fail on any device.
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
                || DelayedReadsSummary::new(&DelayedReads::default()),
                DelayedReadsSummary::new,
            ),
        })
    }
}
