//! Round-robin arbitration.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Arbitrate, Asking};
use crate::Die;

/// The next requesting die after the last bus holder, in die order, gets the bus. The first die
/// follows the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoundRobin {}

impl Cited for RoundRobin {
    const PAPER: &'static str = "";
}

impl Arbitrate for RoundRobin {
    fn choose(&mut self, line: &VecDeque<Asking>, last: Die) -> usize {
        let turn = |asking: &Asking| asking.die.0.wrapping_sub(last.0 + 1);
        let next = line
            .iter()
            .enumerate()
            .min_by_key(|(_, asking)| turn(asking));
        next.map_or(0, |(place, _)| place)
    }
}
