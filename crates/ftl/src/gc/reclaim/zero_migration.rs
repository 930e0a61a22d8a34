//! Reclaim policy that moves no clean page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Reclaim;
use crate::lpn::Lpn;
use crate::owner::Owner;

/// Only dirty pages. A GC run erases its victim, and the cache evicts all other valid pages. In a
/// cache that keeps no writes, no page is moved. Only for flash in front of a backing store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ZeroMigration {}

impl Cited for ZeroMigration {
    const PAPER: &'static str = "Q. Xia, Towards Design and Analysis for High-Performance and Reliable SSDs, PhD thesis, Virginia Commonwealth University, 2017, chapter 3";
}

impl Reclaim for ZeroMigration {
    fn moves(&self, _page: Lpn, _owner: &impl Owner) -> bool {
        false
    }
    fn needs_room(&self) -> bool {
        false
    }
}
