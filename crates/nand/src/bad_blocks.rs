//! Bad blocks and their replacement by spare blocks.
//!
//! The last blocks of every plane are spare blocks. A block that fails is replaced by a spare block
//! of its plane (reserve block area; Micron TN-29-59, section "Bad block replacement"). The number
//! of the failed block then addresses the cells of the spare block, so the FTL does not see the
//! replacement. The bad-block table is stored in flash and survives a power cut.

use serde::{Deserialize, Serialize};
use wordline_kernel::{Rng, Time};

use crate::{Block, Layout, Plane};

/// Reason why a block is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The block was bad from the factory.
    Factory,
    /// An erase failed.
    Erase,
    /// A program failed.
    Program,
}

/// Entry of the bad-block table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlock {
    /// Block number that addressed the bad cells.
    pub block: Block,
    /// Spare block whose cells the number addresses after the failure. `None` if no spare block was
    /// left, if those left were reserved for others, or if the bad block was itself a spare block.
    pub spare: Option<Block>,
    /// Reason why the block is bad.
    pub cause: Cause,
    /// Erases of the cells during the run and its preparation. Count.
    pub erases: u32,
    /// Time of the failure.
    pub at: Time,
}

/// Error of a plane that has more factory-bad blocks than spare blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyBad {
    /// Plane with too many bad blocks.
    pub plane: Plane,
    /// Bad blocks of the plane. Count.
    pub bad: u32,
}

/// Bad and spare blocks of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlocks {
    layout: Layout,
    /// Spare blocks per plane at the start, including bad ones. Count.
    spare_blocks: u32,
    /// Good spare blocks of each plane. The last block of a list is used first.
    spares: Vec<Vec<Block>>,
    table: Vec<BadBlock>,
}

impl BadBlocks {
    /// Creates the table of a new array. The last `spare_blocks` blocks of each plane are spare.
    /// Each block is bad independently, with probability `factory_ratio`. Fails if a plane has more
    /// bad blocks than spare blocks.
    pub fn new(
        layout: &Layout,
        spare_blocks: u32,
        factory_ratio: f64,
        seed: u64,
    ) -> Result<Self, TooManyBad> {
        let spare_blocks = spare_blocks.min(layout.blocks_per_plane);
        let used = layout.blocks_per_plane - spare_blocks;
        let mut draws = Rng::new(seed, "nand.bad_blocks");
        let mut bad = Vec::new();
        if factory_ratio > 0.0 {
            let all = (0..layout.blocks()).map(Block);
            bad.extend(all.filter(|_| draws.unit() < factory_ratio));
        }
        let is_bad = |block: &Block| bad.binary_search(block).is_ok();
        let of_plane = |plane| {
            let all = (used..layout.blocks_per_plane).rev();
            let all = all.map(|block| layout.block(plane, block));
            all.filter(|block| !is_bad(block)).collect()
        };
        let mut one = Self {
            layout: *layout,
            spare_blocks,
            spares: (0..layout.planes()).map(Plane).map(of_plane).collect(),
            table: Vec::new(),
        };
        for &block in &bad {
            let plane = layout.plane_of(block);
            let is_spare = layout.block_in_plane(block) >= used;
            if one.replace(block, Cause::Factory, 0, Time::ZERO).is_none() && !is_spare {
                let all = bad.iter().filter(|one| layout.plane_of(**one) == plane);
                let bad = all.count() as u32;
                return Err(TooManyBad { plane, bad });
            }
        }
        Ok(one)
    }
    /// Records a bad block and returns the spare block that replaces it, if one is left. A spare
    /// block has no replacement.
    pub(crate) fn replace(
        &mut self,
        block: Block,
        cause: Cause,
        erases: u32,
        at: Time,
    ) -> Option<Block> {
        let used = self.layout.blocks_per_plane - self.spare_blocks;
        let is_spare = self.layout.block_in_plane(block) >= used;
        let spares = &mut self.spares[self.layout.plane_of(block).index()];
        let spare = if is_spare { None } else { spares.pop() };
        self.add(BadBlock {
            block,
            spare,
            cause,
            erases,
            at,
        });
        spare
    }
    /// Adds an entry to the table. A bad block without a replacement is listed only once.
    pub(crate) fn add(&mut self, line: BadBlock) {
        let is_known = |bad: &BadBlock| bad.block == line.block && bad.spare.is_none();
        if line.spare.is_some() || !self.table.iter().any(is_known) {
            self.table.push(line);
        }
    }
    /// Returns the number of good spare blocks of a plane.
    pub fn spares_of(&self, plane: Plane) -> u32 {
        self.spares[plane.index()].len() as u32
    }
    /// Returns the number of good spare blocks of all planes.
    pub fn spares(&self) -> u32 {
        self.spares.iter().map(|spares| spares.len() as u32).sum()
    }
    /// Returns the number of good spare blocks of the plane with the fewest.
    pub fn fewest_spares(&self) -> u32 {
        let counts = self.spares.iter().map(|spares| spares.len() as u32);
        counts.min().unwrap_or_default()
    }
    /// Returns the bad blocks in the order in which they failed.
    pub fn table(&self) -> &[BadBlock] {
        &self.table
    }
    /// Returns the number of blocks that are bad for the given reason.
    pub fn count(&self, cause: Cause) -> u32 {
        let bad = self.table.iter().filter(|bad| bad.cause == cause);
        bad.count() as u32
    }
    /// Returns the number of blocks in use: neither bad nor spare.
    pub fn in_use(&self) -> u32 {
        self.layout.blocks() - self.spares() - self.table.len() as u32
    }
}
