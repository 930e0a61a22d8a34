//! First-come, first-served arbitration.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Arbitrate, Asking};
use crate::Die;

/// The die that has waited longest gets the bus (FCFS). Under a saturating read load all dies
/// synchronise: they read at the same time and leave the bus idle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FirstCome {}

impl Cited for FirstCome {
    const PAPER: &'static str = "";
}

impl Arbitrate for FirstCome {
    #[inline]
    fn choose(&mut self, _line: &VecDeque<Asking>, _last: Die) -> usize {
        0
    }
}
