//! What pages hold: for verification, and for recovery from a power cut.

use serde::{Deserialize, Serialize};
use wordline_ftl::recovery::SpareWriter;
use wordline_kernel::Time;

use super::power::LosesPower;
use super::spare::Carried;
use super::verification::Verification;
use crate::plan::Plan;

/// Spare areas and the shadow store, where the run asks for them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Contents {
    /// Spare areas, if the power may fail.
    pub journal: Option<Box<SpareWriter>>,
    /// What the spare areas of pages on their way will say.
    pub carried: Carried,
    pub verification: Option<Box<Verification>>,
}

impl LosesPower for Contents {
    fn lose_power(&mut self, _now: Time, _plan: &Plan) {
        let Self {
            journal: _,
            carried,
            verification: _,
        } = self;
        *carried = Carried::default();
    }
}
