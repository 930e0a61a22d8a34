//! Composition of multi-plane commands without reordering.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Compose, Open, Waiting};

/// The operations that directly follow the first one in the queue join its command. The command
/// ends before the first operation that does not fit. Operations are never reordered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InOrder {}

impl Cited for InOrder {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 3.2";
}

impl Compose for InOrder {
    fn joins(&self) -> bool {
        true
    }
    fn pick(&self, line: &[Waiting], most: usize, picked: &mut Vec<usize>) {
        let Some(&first) = line.first() else {
            return;
        };
        let mut open = Open::beside(first);
        let rest = line.iter().enumerate().skip(1);
        let run = rest.take_while(|(_, waiting)| waiting.fits && open.close(waiting.plane));
        picked.extend(run.map(|(place, _)| place).take(most));
    }
}
