//! Rules in which the mapping families with logical blocks differ.

use serde::{Deserialize, Serialize};

use super::record;
use super::shape::{Shape, Stripe};
use crate::plan::{Plan, PlanError};

/// Rules of a mapping family with logical blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rules {
    /// Number of data blocks per logical block.
    pub data_blocks: u32,
    /// Maximum number of update blocks of a logical block before it is merged.
    pub update_blocks: u32,
    /// Whether page i of a data block is page i of the logical block.
    pub in_place: bool,
    /// Whether a metadata page is programmed for every block that a merge erases.
    pub record_erases: bool,
    pub stripe: Stripe,
    /// Number of consecutive pages that go to the same plane if pages are striped.
    pub stripe_pages: u32,
    /// Share of a plane's blocks that form the write buffer. Ratio.
    pub buffer_ratio: f64,
}

impl Rules {
    /// Returns the number of write buffer blocks in a plane of `blocks` blocks.
    pub fn buffer_blocks(&self, blocks: u32) -> u32 {
        (self.buffer_ratio * f64::from(blocks)).floor() as u32
    }
    /// Returns the number of blocks per plane for records.
    pub fn record_blocks(&self) -> u32 {
        if self.record_erases {
            record::BLOCKS
        } else {
            0
        }
    }
    /// Returns the number of blocks that a plane needs in addition to its free blocks: for the data
    /// of `logical` logical blocks, for records and for the write buffer.
    pub fn kept_blocks(&self, logical: u32, blocks: u32) -> u64 {
        u64::from(logical) * u64::from(self.data_blocks)
            + u64::from(self.record_blocks())
            + u64::from(self.buffer_blocks(blocks))
    }
    /// Returns the maximum number of logical blocks of a plane.
    pub fn logical_blocks(&self, plan: &Plan) -> u32 {
        Shape::new(plan, self.data_blocks, self.stripe, self.stripe_pages).blocks_of_a_plane()
    }

    /// Rejects wear levelling that moves data, which merges do not support, and allocation that
    /// does not determine the plane of a logical block.
    pub fn check_policies(plan: &Plan) -> Result<(), PlanError> {
        let config = &plan.config;
        let name = config.mapping.name();
        if config.wear.moves_data() {
            return Err(PlanError {
                key: "ftl.wear",
                reason: format!(
                    "static wear levelling moves blocks, and ftl.mapping = \"{name}\" empties blocks only by merges"
                ),
                remedy: "set ftl.wear to \"dynamic\", or choose another ftl.mapping".into(),
            });
        }
        if !config.allocate.is_by_address() {
            return Err(PlanError {
                key: "ftl.allocate",
                reason: format!(
                    "ftl.mapping = \"{name}\" keeps the blocks of a logical block on one plane, so the \
                     address must determine the plane"
                ),
                remedy: "set ftl.allocate to \"static\", or choose another ftl.mapping".into(),
            });
        }
        Ok(())
    }
    /// Checks that merges can reach the free-block threshold: with fewer free blocks, some logical
    /// block must have more blocks than it needs. A merge also needs free blocks for its pages,
    /// which the reserve provides. `lower` names other keys of the family that reserve blocks.
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
                "raise ftl.over_provisioning_ratio, lower {lower}ftl.gc.start_free_ratio, or give a plane more blocks"
            ),
        })
    }
}
