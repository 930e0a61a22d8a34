//! Log-block mapping (L-FTL).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;

use super::Build;
use super::logical::shape::Stripe;
use super::logical::{LogicalMap, Rules};
use crate::plan::{Plan, PlanError};

/// A logical block has one data block, in which every page has a fixed offset, and one update
/// block, which takes new versions in order of arrival (1:1). A look-up costs no flash operation. A
/// write that finds the update block full waits for a merge: all current pages are copied into a
/// free block in ascending order, both blocks are erased, and a metadata page is programmed for
/// each erase (full merge). If the update block was written from its first page on without a gap,
/// it becomes the data block, either unchanged (switch merge) or after the remaining pages have
/// been copied into it (partial merge). If pages before a copied page were never written, filler
/// pages are programmed to keep the order in the block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogBlock {
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

impl Default for LogBlock {
    fn default() -> Self {
        Self {
            stripe: Stripe::Block,
            stripe_pages: 1,
            record_erases: true,
        }
    }
}

impl Cited for LogBlock {
    const PAPER: &'static str = "J. Kim et al., A space-efficient flash translation layer for CompactFlash systems, IEEE Transactions on Consumer Electronics 48(2), 2002";
}

impl LogBlock {
    fn rules(&self) -> Rules {
        Rules {
            data_blocks: 1,
            update_blocks: 1,
            in_place: true,
            record_erases: self.record_erases,
            stripe: self.stripe,
            stripe_pages: self.stripe_pages,
            buffer_ratio: 0.0,
        }
    }
}

impl Build for LogBlock {
    type Map = LogicalMap;
    fn reserve_blocks(&self) -> u32 {
        self.rules().data_blocks
    }
    fn check(&self, plan: &Plan) -> Result<(), PlanError> {
        Rules::check_policies(plan)?;
        self.rules().check_room(plan, "")
    }
    fn memory(&self, plan: &Plan, fill: Fill) -> Vec<Table> {
        LogicalMap::memory(plan, self.rules(), fill)
    }
    fn build(&self, plan: &Plan) -> LogicalMap {
        LogicalMap::new(plan, self.rules())
    }
}
