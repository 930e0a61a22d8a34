//! What became of the lines of a trace.

use serde::Serialize;

/// What happened on the way from the lines to the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Requests that the files state, without bad lines.
    pub records: u64,
    /// Bad lines and records left out.
    pub lines_skipped: u64,
    /// Lines that are no requests: headers, other events, summaries.
    pub lines_ignored: u64,
    /// Requests to volumes that were not asked for, left out.
    pub other_volumes: u64,
    /// Requests moved to the place of their volume in the stack.
    pub stacked: u64,
    /// Records that are earlier than the one that stands before them.
    pub time_inversions: u64,
    /// Records without a time that the clock reaches from the first of their file, in the order of the file.
    pub times_unknown: u64,
    /// Gaps between time stamps that were cut or scaled.
    pub gaps_changed: u64,
    /// Milliseconds that gaps lost by it.
    pub gaps_removed_ms: u64,
    /// Milliseconds that gaps won by it, where a clock went back or gaps were stretched.
    pub gaps_added_ms: u64,
    /// Requests that were earlier than the one before and got its time.
    pub times_clamped: u64,
    /// Requests that were earlier than one before and were sorted.
    pub times_sorted: u64,
    /// Requests expanded to whole sectors.
    pub expanded: u64,
    /// Trims cut down to the whole sectors in them, or left out if there are none.
    pub trims_shrunk: u64,
    /// Requests beyond the capacity, wrapped around.
    pub wrapped: u64,
    /// Of those, requests across the end, which became two.
    pub split: u64,
    /// Requests whose offset was scaled.
    pub scaled: u64,
}

impl Counts {
    /// Adjustments: clamped, sorted, stacked, expanded, cut down, wrapped and scaled, counted one by one.
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
