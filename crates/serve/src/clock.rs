//! Relation between simulated time and wall-clock time.

use std::time::{Duration, Instant};

use wordline_kernel::Time;

/// Nice value of a thread that follows the wall clock.
#[cfg(target_os = "linux")]
const PRIORITY: i32 = -10;

/// Clock of a live device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// Simulated time passes while requests are in progress, as fast as the simulation runs.
    Simulated {
        /// Simulated seconds per wall-clock second in which no request is in progress, from the
        /// first completion on; finite and at least 0.
        think_time: f64,
    },
    /// Simulated time follows wall-clock time.
    Real {
        /// Wall-clock seconds per simulated second, at least 1.
        scale: f64,
    },
}

/// Prepares this thread to wake up on time: Linux prolongs a sleep by up to 50 µs by default, and a
/// thread that wakes up waits for other threads of its priority. Without the permission to raise
/// the priority (`RLIMIT_NICE`), the priority stays as it is.
pub(crate) fn wake_up_on_time() {
    #[cfg(target_os = "linux")]
    {
        // A failure only makes the thread less punctual.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), PRIORITY);
    }
}

/// Returns `factor` times a wall-clock pause, as simulated time.
pub(crate) fn simulated(pause: Duration, factor: f64) -> Time {
    Time((pause.as_nanos() as f64 * 1000.0 * factor) as u64)
}

/// Real clock that has started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    at: Instant,
    /// Picoseconds of simulated time per nanosecond of wall-clock time.
    ps_per_ns: f64,
}

impl Started {
    pub(crate) fn now(scale: f64) -> Self {
        Self {
            at: Instant::now(),
            ps_per_ns: 1000.0 / scale,
        }
    }
    /// Returns the simulated time at a wall-clock instant.
    pub(crate) fn time(&self, instant: Instant) -> Time {
        let ns = instant.saturating_duration_since(self.at).as_nanos();
        Time((ns as f64 * self.ps_per_ns) as u64)
    }
    /// Returns the wall-clock time from `instant` to a simulated time, or zero if that time has
    /// passed.
    pub(crate) fn until(&self, time: Time, instant: Instant) -> Duration {
        let due = Duration::from_nanos((time.0 as f64 / self.ps_per_ns) as u64);
        due.saturating_sub(instant.saturating_duration_since(self.at))
    }
    /// Returns the wall-clock time from a simulated time to `instant`, or zero if that time is
    /// still to come.
    pub(crate) fn since(&self, time: Time, instant: Instant) -> Duration {
        let due = Duration::from_nanos((time.0 as f64 / self.ps_per_ns) as u64);
        instant
            .saturating_duration_since(self.at)
            .saturating_sub(due)
    }
}

/// Numbers of replies by delay, in whole microseconds of wall-clock time.
#[derive(Clone, Debug)]
pub(crate) struct Lateness {
    counts: Vec<u64>,
}

/// Smallest delay of a reply that counts as late. µs.
pub(crate) const LATE_US: usize = 100;
/// Longest delay with its own counter; longer delays are counted with it. µs.
const MAX_US: usize = 10_000;

impl Default for Lateness {
    fn default() -> Self {
        Self {
            counts: vec![0; MAX_US + 1],
        }
    }
}

impl Lateness {
    pub(crate) fn count(&mut self, delay: Duration) {
        self.counts[(delay.as_micros() as usize).min(MAX_US)] += 1;
    }
    pub(crate) fn replies(&self) -> u64 {
        self.counts.iter().sum()
    }
    /// Returns the median delay, rounded down. µs.
    pub(crate) fn median_us(&self) -> usize {
        let half = self.replies().div_ceil(2);
        let mut sum = 0;
        let place = self.counts.iter().position(|count| {
            sum += count;
            sum >= half
        });
        place.unwrap_or_default()
    }
    /// Returns the number of replies that were at least [`LATE_US`] late.
    pub(crate) fn late(&self) -> u64 {
        self.counts[LATE_US..].iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_clock_runs_slower_than_the_wall_clock() {
        let clock = Started::now(10.0);
        let later = clock.at + Duration::from_micros(50);
        assert_eq!(clock.time(later), Time::from_us(5));
        let due = Time::from_us(7);
        assert_eq!(clock.until(due, later), Duration::from_micros(20));
        assert_eq!(clock.since(due, later), Duration::ZERO);
        let past = Time::from_us(4);
        assert_eq!(clock.until(past, later), Duration::ZERO);
        assert_eq!(clock.since(past, later), Duration::from_micros(10));
    }

    #[test]
    fn pause_is_scaled() {
        let pause = Duration::from_micros(30);
        assert_eq!(simulated(pause, 0.5), Time::from_us(15));
        assert_eq!(simulated(pause, 0.0), Time(0));
    }

    #[test]
    fn lateness_reports_the_median_and_the_late_replies() {
        let mut lateness = Lateness::default();
        for delay in [3, 5, 7, 100, 1_000_000] {
            lateness.count(Duration::from_micros(delay));
        }
        assert_eq!(lateness.replies(), 5);
        assert_eq!(lateness.median_us(), 7);
        assert_eq!(lateness.late(), 2);
    }
}
