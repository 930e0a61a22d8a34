//! What whoever acts at an instant has at hand.

use crate::{EventQueue, Probe, Time};

/// An instant of a simulation: the time, the events to come, and who watches.
///
/// Handed down by the owner of the event queue, so that what is simulated holds neither clock nor queue.
#[derive(Debug)]
pub struct Context<'a, E, P> {
    /// The simulated time.
    pub now: Time,
    /// The events to come.
    pub queue: &'a mut EventQueue<E>,
    /// Hears of everything that happens.
    pub probe: &'a mut P,
}

impl<'a, E, P> Context<'a, E, P> {
    /// The instant `now`.
    #[inline(always)]
    pub fn new(now: Time, queue: &'a mut EventQueue<E>, probe: &'a mut P) -> Self {
        Self { now, queue, probe }
    }
}

impl<E: Copy + Default, P> Context<'_, E, P> {
    /// Schedules `event` at `at`, which is not before now.
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, event: impl Into<E>) {
        self.queue.schedule(at, event.into());
    }
    /// Tells the probe that something happens now.
    #[inline(always)]
    pub fn observe<O>(&mut self, observation: O)
    where
        P: Probe<O>,
    {
        self.probe.observe(self.now, observation);
    }
    /// The same, if the probe hears pieces ([`Probe::WANTS_FRAGMENTS`]).
    #[inline(always)]
    pub fn observe_fragment<O>(&mut self, piece: impl FnOnce() -> O)
    where
        P: Probe<O>,
    {
        if self.probe.wants_fragments() {
            self.probe.observe(self.now, piece());
        }
    }
}
