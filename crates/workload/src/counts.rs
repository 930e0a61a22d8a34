//! Counts of the reader and the adapters of a trace.

use serde::Serialize;

/// Counts of a trace's records, and of the changes on their way to requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Requests in the files, without bad lines.
    pub records: u64,
    /// Bad lines and records, skipped.
    pub lines_skipped: u64,
    /// Lines that are not requests: headers, other events, summaries.
    pub lines_ignored: u64,
    /// Requests to volumes that are not selected, dropped.
    pub other_volumes: u64,
    /// Requests moved to the range of their volume in the stack.
    pub stacked: u64,
    /// Records that are earlier than the previous record of the file.
    pub time_inversions: u64,
    /// Records without a usable time stamp: missing, or out of the clock's range from the first of
    /// the file. In the order of the file.
    pub times_unknown: u64,
    /// Gaps between time stamps that were cut or scaled.
    pub gaps_changed: u64,
    /// Milliseconds by which gaps were shortened.
    pub gaps_removed_ms: u64,
    /// Milliseconds by which gaps were lengthened, because a clock went back or gaps were
    /// stretched.
    pub gaps_added_ms: u64,
    /// Requests that were earlier than the previous one and got its time.
    pub times_clamped: u64,
    /// Requests that were earlier than a previous one and were sorted.
    pub times_sorted: u64,
    /// Requests expanded to whole sectors.
    pub expanded: u64,
    /// TRIMs shrunk to the whole sectors in them, or dropped if there are none.
    pub trims_shrunk: u64,
    /// Requests beyond the capacity, wrapped around.
    pub wrapped: u64,
    /// Wrapped requests across the end, which became two; part of `wrapped`.
    pub split: u64,
    /// Requests whose offset was scaled.
    pub scaled: u64,
}

impl Counts {
    /// Returns the number of adjustments: clamped, sorted, stacked, expanded, shrunk, wrapped and
    /// scaled.
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
