//! Read-ahead by place in the flash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::RunsAhead;

/// A die that has read a page for the host and has nothing else to do reads the next page of its block into its data register (ONFI
/// Read Cache Sequential, 31h). If that is what the die is asked for next, it goes out without tR, while the array reads the one
/// behind it. Needs no buffer. Of no use where the next page of the die is not the next address, and in the way of whatever else the
/// die is wanted for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Physical {
    /// After how long a die that is wanted for something else is free of it (reset, FFh; tRST); 0 if it cannot be aborted, and is
    /// waited for. ns.
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
