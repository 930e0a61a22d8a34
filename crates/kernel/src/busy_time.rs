//! Busy time of a resource.

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// Accumulated busy time of a resource, plus the start of the busy interval in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyTime {
    over: Time,
    /// Start of the busy interval in progress, or [`Time::MAX`] if the resource is idle.
    since: Time,
}

impl BusyTime {
    /// Creates a busy time of `over` in ended intervals, with an interval in progress since
    /// `since`, if given.
    #[inline]
    pub fn new(over: Time, since: Option<Time>) -> Self {
        Self {
            over,
            since: since.unwrap_or(Time::MAX),
        }
    }
    /// Returns the busy time up to `at`, which must not be earlier than the end of the last ended
    /// interval.
    #[inline]
    #[must_use]
    pub fn until(self, at: Time) -> Time {
        self.over + at.since(self.since)
    }
    /// Returns the start of the busy interval in progress, or [`Time::MAX`] if the resource is
    /// idle.
    #[inline]
    pub const fn since(self) -> Time {
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_in_progress_counts_from_its_start() {
        let busy = BusyTime::new(Time(30), Some(Time(100)));
        assert_eq!(busy.until(Time(90)), Time(30));
        assert_eq!(busy.until(Time(100)), Time(30));
        assert_eq!(busy.until(Time(107)), Time(37));
        let idle = BusyTime::new(Time(30), None);
        assert_eq!(idle.until(Time(107)), Time(30));
    }
}
