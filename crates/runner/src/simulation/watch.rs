//! How far a run has come, and whether it goes on.

use std::time::{Duration, Instant};
use wordline_kernel::Time;
use wordline_kernel::memory::is_short;

use super::checkpoint::Checkpoints;

/// What a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Filling the device, without timing.
    Precondition,
    /// Serving requests.
    Run,
    /// Serving the requests of one stream alone, to see what the others cost it.
    Alone,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What it is at.
    pub phase: Phase,
    /// Simulated time.
    pub now: Time,
    /// Requests admitted, or pages written while preconditioning.
    pub done: u64,
    /// Share of the input consumed, if known.
    pub fraction: Option<f64>,
}

/// Hears how far a run has come, about ten times a second, and at once when memory is short; returns whether to go on.
pub type Watch<'a> = &'a mut dyn FnMut(&Progress) -> bool;

/// Time between two looks at the clock, in events and requests.
pub(super) const STRIDE: u32 = 4096;

pub(super) const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// Calls the watch from time to time.
pub(super) struct Watcher<'a> {
    pub(super) watch: Watch<'a>,
    /// Events and requests between two looks at the clock, and what is left of them.
    pub(super) stride: u32,
    countdown: u32,
    between: Duration,
    pub(super) last: Instant,
    /// Writes the state of the run from time to time.
    pub(super) checkpoints: Option<Checkpoints>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(watch: Watch<'a>) -> Self {
        Self {
            watch,
            stride: STRIDE,
            countdown: STRIDE,
            between: BETWEEN_REPORTS,
            last: Instant::now(),
            checkpoints: None,
        }
    }
    /// Calls the watch after every event and request.
    #[must_use]
    pub(super) fn at_every_event(self) -> Self {
        Self {
            stride: 1,
            countdown: 1,
            between: Duration::ZERO,
            ..self
        }
    }
    /// Whether to report, after so many events or requests more.
    #[inline]
    pub(super) fn is_due(&mut self, further: u32) -> bool {
        self.countdown = self.countdown.saturating_sub(further);
        if self.countdown > 0 {
            return false;
        }
        self.countdown = self.stride;
        is_short() || self.last.elapsed() >= self.between
    }
    pub(super) fn report(&mut self, progress: &Progress) -> bool {
        self.last = Instant::now();
        (self.watch)(progress)
    }
}
