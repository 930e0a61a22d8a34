//! Read-ahead by physical address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::RunsAhead;

/// A die that has read a page for the host and has no other work reads the next page of its block
/// into its data register (ONFI Read Cache Sequential, 31h). If the host requests that page next,
/// its data is transferred without tR, while the array reads the page after it. This policy needs
/// no buffer. It has no benefit if the next page of the die is not the next address, and it delays
/// other operations of the die.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Physical {
    /// Time to free the die for another operation (reset, FFh; tRST). If 0, the read cannot be
    /// aborted, and the other operation waits for its end. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub abort_ns: u32,
}

impl Cited for Physical {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 2.3.1";
}

impl RunsAhead for Physical {
    fn in_dies(&self) -> Option<&Physical> {
        Some(self)
    }
}
