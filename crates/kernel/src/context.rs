//! Simulation context passed to a model at each event.

use crate::{EventQueue, Probe, Time};

/// Current time, event queue and probe of a simulation.
///
/// The owner of the event queue passes the context to each call, so that models hold neither clock
/// nor queue.
#[derive(Debug)]
pub struct Context<'a, E, P> {
    /// Current simulated time.
    pub now: Time,
    /// Event queue.
    pub queue: &'a mut EventQueue<E>,
    /// Probe, which receives all observations.
    pub probe: &'a mut P,
}

impl<'a, E, P> Context<'a, E, P> {
    /// Creates the context of an event at `now`.
    #[inline(always)]
    pub fn new(now: Time, queue: &'a mut EventQueue<E>, probe: &'a mut P) -> Self {
        Self { now, queue, probe }
    }
}

impl<E: Copy + Default, P> Context<'_, E, P> {
    /// Schedules `event` at `at`, which must not be earlier than [`Context::now`].
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, event: impl Into<E>) {
        self.queue.schedule(at, event.into());
    }
    /// Reports an observation to the probe.
    #[inline(always)]
    pub fn observe<O>(&mut self, observation: O)
    where
        P: Probe<O>,
    {
        self.probe.observe(self.now, observation);
    }
    /// Reports a fragment of a larger observation if the probe wants fragments
    /// ([`Probe::WANTS_FRAGMENTS`]). `piece` is not evaluated otherwise.
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
