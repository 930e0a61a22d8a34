//! Arbitration that prefers commands to data.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Arbitrate, Asking};
use crate::Die;

/// Requests that start, suspend or resume an array operation get the bus first, in order of
/// increasing bus time. Requests that only transfer data or status follow. Ties go to the die that
/// has waited longest. A read command of a few cycles does not wait behind data transfers, so
/// arrays do not idle while the bus is busy. Data of a die may wait while other dies issue
/// commands. This wait is bounded, because each die has one command at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandsFirst {}

impl Cited for CommandsFirst {
    const PAPER: &'static str = "";
}

impl Arbitrate for CommandsFirst {
    fn choose(&mut self, line: &VecDeque<Asking>, _last: Die) -> usize {
        let rank = |asking: &Asking| {
            let command = asking.starts_array || asking.urgent;
            (!command, if command { asking.hold.0 } else { 0 })
        };
        let best = line
            .iter()
            .enumerate()
            .min_by_key(|(_, asking)| rank(asking));
        best.map_or(0, |(place, _)| place)
    }
}
