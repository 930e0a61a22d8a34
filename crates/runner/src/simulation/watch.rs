//! Progress of a run, and its interruption.

use std::time::{Duration, Instant};
use wordline_kernel::Time;
use wordline_kernel::memory::is_short;

use super::checkpoint::Checkpoints;

/// Phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Preconditioning, without simulated time.
    Precondition,
    /// Serving requests.
    Run,
    /// Serving the requests of one stream alone, to measure the slowdown by the others.
    Alone,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Current phase.
    pub phase: Phase,
    /// Simulated time.
    pub now: Time,
    /// Requests issued, or pages written while preconditioning.
    pub done: u64,
    /// Share of the input consumed, or of the pages to write while preconditioning, if known.
    pub fraction: Option<f64>,
}

/// Receives the progress of a run about ten times a second, and at once if memory runs short.
/// Returns `false` to end the run.
pub type Watch<'a> = &'a mut dyn FnMut(&Progress) -> bool;

/// Events and requests between two checks of the clock.
pub(super) const STRIDE: u32 = 4096;

pub(super) const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// Progress reporter, which calls the watch at intervals.
pub(super) struct Watcher<'a> {
    pub(super) watch: Watch<'a>,
    /// Events and requests between two checks of the clock. Count.
    pub(super) stride: u32,
    /// Events and requests until the next check of the clock. Count.
    countdown: u32,
    between: Duration,
    pub(super) last: Instant,
    /// Writer of checkpoints; `None` if the run writes none.
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
    /// Returns `true` if a report is due after `further` events or requests.
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
