//! Reclaim policy that moves every valid page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Reclaim;
use crate::lpn::Lpn;
use crate::owner::Owner;

/// All valid pages. Without a backing store, the flash contains the only copy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Move {}

impl Cited for Move {
    const PAPER: &'static str = "";
}

impl Reclaim for Move {
    fn moves(&self, _page: Lpn, _owner: &impl Owner) -> bool {
        true
    }
}
