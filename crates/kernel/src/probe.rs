//! Observation without influence.

use crate::Time;

/// Hears what happens in a model and cannot change it.
///
/// Models are generic over their probe: with `()` observation compiles to nothing.
pub trait Probe<E> {
    /// Whether it listens to what is told piece by piece of something that it hears of as a whole,
    /// too. A model may spare others the pieces.
    const WANTS_FRAGMENTS: bool = true;
    /// The same of this probe, where its type stands for probes of several types.
    #[inline(always)]
    fn wants_fragments(&self) -> bool {
        Self::WANTS_FRAGMENTS
    }
    /// Hears that `event` happened at `now`. Calls come in order of `now`.
    fn observe(&mut self, now: Time, event: E);
}

impl<E> Probe<E> for () {
    const WANTS_FRAGMENTS: bool = false;
    #[inline(always)]
    fn observe(&mut self, _now: Time, _event: E) {}
}
