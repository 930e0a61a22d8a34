//! Log-block mapping with a write buffer (P-FTL).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;

use super::Build;
use super::logical::shape::Stripe;
use super::logical::{LogicalMap, Rules};
use crate::plan::{Plan, PlanError};

/// Log-block mapping (1:1) with a write buffer in flash. A write that finds no room in its logical
/// block goes to the buffer, page by page, instead of waiting for the merge. The merge runs at the
/// same time and includes the buffered pages of the logical block (partial block cleaning, if
/// `ftl.gc.schedule` is incremental). Buffer blocks without a current page are erased. When the
/// buffer is full, a write waits until the logical blocks of its oldest pages have been merged, one
/// after another (thrashing).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Buffered {
    /// Share of a plane's blocks that form the write buffer. They are part of the
    /// over-provisioning. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub buffer_ratio: f64,
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

impl Default for Buffered {
    fn default() -> Self {
        Self {
            buffer_ratio: 0.1,
            stripe: Stripe::Block,
            stripe_pages: 1,
            record_erases: true,
        }
    }
}

impl Cited for Buffered {
    const PAPER: &'static str = "S. Choudhuri and T. Givargis, Deterministic service guarantees for NAND flash using partial block cleaning, CODES+ISSS 2008";
}

impl Buffered {
    fn rules(&self) -> Rules {
        Rules {
            data_blocks: 1,
            update_blocks: 1,
            in_place: true,
            record_erases: self.record_erases,
            stripe: self.stripe,
            stripe_pages: self.stripe_pages,
            buffer_ratio: self.buffer_ratio,
        }
    }
}

impl Build for Buffered {
    type Map = LogicalMap;
    fn reserve_blocks(&self) -> u32 {
        self.rules().data_blocks
    }
    fn check(&self, plan: &Plan) -> Result<(), PlanError> {
        let rules = self.rules();
        Rules::check_policies(plan)?;
        let blocks = plan.layout.blocks_per_plane;
        let fits = (0.0..1.0).contains(&self.buffer_ratio);
        if !fits || rules.buffer_blocks(blocks) == 0 {
            return Err(PlanError {
                key: "ftl.mapping.buffered.buffer_ratio",
                reason: format!(
                    "a share of {} of the {blocks} blocks of a plane is less than one block, or is all of them",
                    self.buffer_ratio
                ),
                remedy: "set a ratio below 1 that yields at least one block, or set ftl.mapping to \"log-block\""
                    .into(),
            });
        }
        rules.check_room(plan, "ftl.mapping.buffered.buffer_ratio or ")
    }
    fn memory(&self, plan: &Plan, fill: Fill) -> Vec<Table> {
        LogicalMap::memory(plan, self.rules(), fill)
    }
    fn build(&self, plan: &Plan) -> LogicalMap {
        LogicalMap::new(plan, self.rules())
    }
}
