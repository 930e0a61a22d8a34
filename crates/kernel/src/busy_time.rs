//! How long something has been busy.

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// How long something that is at one thing at a time has been busy: what is over, and since when it
/// has been at what is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyTime {
    over: Time,
    /// [`Time::MAX`] if it is idle.
    since: Time,
}

impl BusyTime {
    /// Busy for `over`, and since `since` if that is not over.
    #[inline]
    pub fn new(over: Time, since: Option<Time>) -> Self {
        Self {
            over,
            since: since.unwrap_or(Time::MAX),
        }
    }
    /// Busy until `at`, no earlier than anything that is over has ended.
    #[inline]
    #[must_use]
    pub fn until(self, at: Time) -> Time {
        self.over + at.since(self.since)
    }
    /// Since when it has been at what is not over; [`Time::MAX`] if it is idle.
    #[inline]
    pub const fn since(self) -> Time {
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_over_counts_from_its_start() {
        let busy = BusyTime::new(Time(30), Some(Time(100)));
        assert_eq!(busy.until(Time(90)), Time(30));
        assert_eq!(busy.until(Time(100)), Time(30));
        assert_eq!(busy.until(Time(107)), Time(37));
        let idle = BusyTime::new(Time(30), None);
        assert_eq!(idle.until(Time(107)), Time(30));
    }
}
