//! Reclaim policy that moves only dirty and recently used pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Reclaim;
use crate::lpn::Lpn;
use crate::owner::Owner;

/// Dirty pages, and pages in the hot half of the cache's replacement list; the cache evicts all
/// other pages of the victim. Only for flash in front of a backing store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Conditional {}

impl Cited for Conditional {
    const PAPER: &'static str = "Q. Xia, Towards Design and Analysis for High-Performance and Reliable SSDs, PhD thesis, Virginia Commonwealth University, 2017, chapter 3";
}

impl Reclaim for Conditional {
    fn moves(&self, page: Lpn, owner: &impl Owner) -> bool {
        owner.is_hot(page)
    }
}
