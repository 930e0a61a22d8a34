//! Counts of a trace's reader and adapters.

use serde::Serialize;

/// Counts of a trace's records and of changes to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Requests in the files, excluding bad lines.
    pub records: u64,
    /// Bad lines and records that were skipped.
    pub lines_skipped: u64,
    /// Lines that are not requests: headers, other events, summaries.
    pub lines_ignored: u64,
    /// Requests dropped because their volume is not selected.
    pub other_volumes: u64,
    /// Requests moved to the range of their volume when volumes are stacked.
    pub stacked: u64,
    /// Records that are earlier than the previous record of the file.
    pub time_inversions: u64,
    /// Records whose time stamp is missing or out of the range of the clock, which is counted from
    /// the first record of the file. Counted only if the order of the file is kept.
    pub times_unknown: u64,
    /// Gaps between time stamps that were cut or scaled.
    pub gaps_changed: u64,
    /// Time by which gaps were shortened. Milliseconds.
    pub gaps_removed_ms: u64,
    /// Time by which gaps were lengthened, because a clock was set back or gaps were stretched.
    /// Milliseconds.
    pub gaps_added_ms: u64,
    /// Requests that were earlier than the previous one and were set to its time.
    pub times_clamped: u64,
    /// Requests that were earlier than a previous one and were sorted.
    pub times_sorted: u64,
    /// Requests expanded to whole sectors.
    pub expanded: u64,
    /// TRIMs shrunk to the whole sectors that they cover, or dropped if they cover none.
    pub trims_shrunk: u64,
    /// Requests beyond the capacity that were wrapped around.
    pub wrapped: u64,
    /// Wrapped requests that crossed the end and became two. Included in `wrapped`.
    pub split: u64,
    /// Requests whose offset was scaled down.
    pub scaled: u64,
}

impl Counts {
    /// Returns the number of adjustments: times clamped or sorted; requests stacked, expanded,
    /// shrunk, wrapped or scaled.
    pub fn adjusted(&self) -> u64 {
        self.times_clamped
            + self.times_sorted
            + self.stacked
            + self.expanded
            + self.trims_shrunk
            + self.wrapped
            + self.scaled
    }
}
