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
