//! Hybrid mapping (H-FTL).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;

use super::Build;
use super::logical::shape::Stripe;
use super::logical::{LogicalMap, Rules};
use crate::plan::{Plan, PlanError};

/// A logical block has `data_blocks` data blocks and up to `update_blocks` update blocks (n:m). A
/// page may be anywhere in these blocks. A look-up costs no flash operation. A write that finds all
/// update blocks full waits for a merge: blocks whose pages are all current remain, all other
/// current pages are copied into free blocks in ascending order, the remaining blocks are erased,
/// and a metadata page is programmed for each erase. (A merge without copies is a switch merge.
/// Otherwise it is partial if some blocks remain, and full if none do.)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hybrid {
    /// Number of data blocks per logical block (n).
    #[schemars(range(min = 1, max = 64))]
    pub data_blocks: u32,
    /// Maximum number of update blocks per logical block (m).
    #[schemars(range(min = 1, max = 64))]
    pub update_blocks: u32,
    /// Pages that share a logical block: consecutive pages (`block`), or the pages of a plane
    /// (`page`).
    pub stripe: Stripe,
    /// Number of consecutive pages that go to the same plane if pages are striped.
    #[schemars(range(min = 1, max = 65_536))]
    pub stripe_pages: u32,
    /// Whether a metadata page is programmed for every block that a merge erases, to keep the block
    /// table in flash up to date.
    pub record_erases: bool,
}

impl Default for Hybrid {
    fn default() -> Self {
        Self {
            data_blocks: 2,
            update_blocks: 8,
            stripe: Stripe::Block,
            stripe_pages: 1,
            record_erases: true,
        }
    }
}

impl Cited for Hybrid {
    const PAPER: &'static str = "J. Kang et al., A superblock-based flash translation layer for NAND flash memory, EMSOFT 2006";
}

impl Hybrid {
    fn rules(&self) -> Rules {
        Rules {
            data_blocks: self.data_blocks.clamp(1, 64),
            update_blocks: self.update_blocks.clamp(1, 64),
            in_place: false,
            record_erases: self.record_erases,
            stripe: self.stripe,
            stripe_pages: self.stripe_pages,
            buffer_ratio: 0.0,
        }
    }
}

impl Build for Hybrid {
    type Map = LogicalMap;
    fn reserve_blocks(&self) -> u32 {
        self.rules().data_blocks
    }
    fn check(&self, plan: &Plan) -> Result<(), PlanError> {
        Rules::check_policies(plan)?;
        self.rules()
            .check_room(plan, "ftl.mapping.hybrid.data_blocks or ")
    }
    fn memory(&self, plan: &Plan, fill: Fill) -> Vec<Table> {
        LogicalMap::memory(plan, self.rules(), fill)
    }
    fn build(&self, plan: &Plan) -> LogicalMap {
        LogicalMap::new(plan, self.rules())
    }
}
