//! What distinguishes the families with logical blocks.

use serde::{Deserialize, Serialize};

use super::record;
use super::shape::{Shape, Stripe};
use crate::plan::{Plan, PlanError};

/// What a family with logical blocks is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rules {
    /// Data blocks of a logical block.
    pub data_blocks: u32,
    /// Update blocks that a logical block may have before it is merged.
    pub update_blocks: u32,
    /// Whether page i of a data block is the i-th of the logical block.
    pub in_place: bool,
    /// Whether a page is programmed for every block that a merge erases.
    pub record_erases: bool,
    pub stripe: Stripe,
    /// Consecutive pages that go to a plane together, if it is by pages.
    pub stripe_pages: u32,
    /// Blocks of a plane that make up the write buffer, as a share of its blocks.
    pub buffer_ratio: f64,
}

impl Rules {
    /// Blocks of the write buffer in a plane of `blocks`.
    pub fn buffer_blocks(&self, blocks: u32) -> u32 {
        (self.buffer_ratio * f64::from(blocks)).floor() as u32
    }
    /// Blocks of a plane that hold records.
    pub fn record_blocks(&self) -> u32 {
        if self.record_erases {
            record::BLOCKS
        } else {
            0
        }
    }
    /// Blocks that a plane needs beside the free ones: `logical` logical blocks, records, buffer.
    pub fn kept_blocks(&self, logical: u32, blocks: u32) -> u64 {
        u64::from(logical) * u64::from(self.data_blocks)
            + u64::from(self.record_blocks())
            + u64::from(self.buffer_blocks(blocks))
    }
    /// Most logical blocks of a plane.
    pub fn logical_blocks(&self, plan: &Plan) -> u32 {
        Shape::new(plan, self.data_blocks, self.stripe, self.stripe_pages).blocks_of_a_plane()
    }

    /// Refuses wear levelling that moves data, which merges do not, and allocation that leaves a logical
    /// block without a plane.
    pub fn check_policies(plan: &Plan) -> Result<(), PlanError> {
        let config = &plan.config;
        let name = config.mapping.name();
        if config.wear.moves_data() {
            return Err(PlanError {
                key: "ftl.wear",
                reason: format!(
                    "static wear levelling moves blocks, and {name} empties blocks by merges only"
                ),
                remedy: "use dynamic, or another ftl.mapping".into(),
            });
        }
        if !config.allocate.is_by_address() {
            return Err(PlanError {
                key: "ftl.allocate",
                reason: format!(
                    "{name} keeps the blocks of a logical block on one plane, and dynamic \
                     allocation has no plane for a page"
                ),
                remedy: "use ftl.allocate = \"static\"".into(),
            });
        }
        Ok(())
    }
    /// Merges must be able to reach the threshold: when fewer blocks are free, some logical block has
    /// more blocks than it needs. And a merge must find free blocks for its pages, which the reserve
    /// holds. `lower` names what else of the family's takes blocks.
    pub fn check_room(&self, plan: &Plan, lower: &str) -> Result<(), PlanError> {
        let blocks = plan.layout.blocks_per_plane;
        let logical = self.logical_blocks(plan);
        let kept = self.kept_blocks(logical, blocks);
        if plan.user_pages > 0 && kept + u64::from(plan.start_blocks) <= u64::from(blocks) {
            return Ok(());
        }
        Err(PlanError {
            key: "ftl.over_provisioning_ratio",
            reason: format!(
                "the data blocks of the {logical} logical blocks of a plane ({} each), {} blocks for \
                 records and {} for the write buffer take {kept} of its {blocks} blocks, and garbage \
                 collection needs {} more",
                self.data_blocks,
                self.record_blocks(),
                self.buffer_blocks(blocks),
                plan.start_blocks
            ),
            remedy: format!(
                "raise it, lower {lower}ftl.gc.start_free_ratio, or give a plane more blocks"
            ),
        })
    }
}
