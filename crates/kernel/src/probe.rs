//! Observation without influence.

use crate::Time;

/// Observes a model without influencing it.
///
/// Models are generic over their probe; the probe `()` compiles to nothing.
pub trait Probe<E> {
    /// Whether the probe wants fragments in addition to the aggregate observation. Models may skip
    /// fragments otherwise.
    const WANTS_FRAGMENTS: bool = true;
    /// Returns `true` if this probe wants fragments. A type that stands for several types of probes
    /// overrides it; for all others the value is [`Self::WANTS_FRAGMENTS`].
    #[inline(always)]
    fn wants_fragments(&self) -> bool {
        Self::WANTS_FRAGMENTS
    }
    /// Receives `event`, which happened at `now`. Calls are in order of `now`.
    fn observe(&mut self, now: Time, event: E);
}

impl<E> Probe<E> for () {
    const WANTS_FRAGMENTS: bool = false;
    #[inline(always)]
    fn observe(&mut self, _now: Time, _event: E) {}
}

/// Type-erased probe. A model that is called with it is compiled once for all its probes, at the
/// cost of an indirect call per observation.
pub struct AnyProbe<'a, E>(&'a mut (dyn Receive<E> + 'a));

impl<'a, E> AnyProbe<'a, E> {
    /// Erases the type of a probe.
    pub fn new(probe: &'a mut impl Probe<E>) -> Self {
        Self(probe)
    }
}

impl<E> Probe<E> for AnyProbe<'_, E> {
    fn wants_fragments(&self) -> bool {
        self.0.receives_fragments()
    }
    fn observe(&mut self, now: Time, event: E) {
        self.0.receive(now, event);
    }
}

/// [`Probe`] without the constant, which a trait object cannot have.
trait Receive<E> {
    fn receives_fragments(&self) -> bool;
    fn receive(&mut self, now: Time, event: E);
}

impl<E, P: Probe<E>> Receive<E> for P {
    fn receives_fragments(&self) -> bool {
        self.wants_fragments()
    }
    fn receive(&mut self, now: Time, event: E) {
        self.observe(now, event);
    }
}
