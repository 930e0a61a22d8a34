//! Loss of the volatile state of a part of the controller.

use wordline_kernel::Time;

use crate::plan::Plan;

/// State that loses its volatile part in a power cut.
pub(super) trait LosesPower {
    /// Cuts and restores power. Implementations destructure themselves without `..`, so that no
    /// field is forgotten.
    fn lose_power(&mut self, now: Time, plan: &Plan);
}
