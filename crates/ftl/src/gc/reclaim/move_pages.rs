//! Every valid page is moved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Reclaim;
use crate::lpn::Lpn;
use crate::owner::Owner;

/// All of them: what the flash holds has no other copy.
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
