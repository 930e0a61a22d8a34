//! Greedy composition of multi-plane commands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Compose, Open, Waiting};

/// On each other plane, the earliest queued operation joins the command of the first operation if
/// it fits. An operation may overtake operations on other planes, but never one on its own plane,
/// so programs of a block stay in order. Up to 64 queued operations are examined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Greedy {}

impl Cited for Greedy {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 6.4";
}

impl Compose for Greedy {
    fn joins(&self) -> bool {
        true
    }
    fn skips(&self) -> bool {
        true
    }
    fn pick(&self, line: &[Waiting], most: usize, picked: &mut Vec<usize>) {
        let Some(&first) = line.first() else {
            return;
        };
        let mut open = Open::beside(first);
        let rest = line.iter().enumerate().skip(1);
        let fitting = rest.filter(|(_, waiting)| open.close(waiting.plane) && waiting.fits);
        picked.extend(fitting.map(|(place, _)| place).take(most));
    }
}
