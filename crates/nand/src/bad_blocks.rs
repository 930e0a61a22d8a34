//! Blocks that have become bad, and those that take their place.
//!
//! The last blocks of every plane stand by as spare ones. One that goes bad is replaced by a spare one of its plane (reserve block
//! area; Micron TN-29-59, section "Bad block replacement"): from then on its number means the cells of the spare one. Whoever uses
//! block numbers, such as a translation layer, does not notice. The table of bad blocks is in flash and survives a power cut.

use serde::{Deserialize, Serialize};
use wordline_kernel::{Rng, Time};

use crate::{Block, Layout, Plane};

/// Why cells are not used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// They were bad from the factory.
    Factory,
    /// An erase has failed.
    Erase,
    /// A program has failed.
    Program,
}

/// A line of the table of bad blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlock {
    /// The number that meant the cells.
    pub block: Block,
    /// The spare block whose cells it means from then on; none if there was none left, and of a spare block that was bad itself.
    pub spare: Option<Block>,
    /// Why.
    pub cause: Cause,
    /// Erases that the cells have seen during the run and its preparation.
    pub erases: u32,
    /// When.
    pub at: Time,
}

/// A plane that has more bad blocks from the factory than spare ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyBad {
    /// The plane.
    pub plane: Plane,
    /// Its bad blocks.
    pub bad: u32,
}

/// The bad and the spare blocks of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlocks {
    layout: Layout,
    /// Blocks of a plane that stood by at first, bad ones among them.
    spare_blocks: u32,
    /// By plane: spare blocks that are good, in the order in which they are taken, from the end.
    spares: Vec<Vec<Block>>,
    table: Vec<BadBlock>,
}

impl BadBlocks {
    /// Those of a new array, of each plane of which the last `spare_blocks` blocks stand by. Each block is bad with probability
    /// `factory_ratio`, by itself.
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
    /// The cells of a block are bad: the spare block that takes its place, if there is one; a spare block has none.
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
    /// A line more of the table. A block that is bad with none in its place is bad once.
    pub(crate) fn add(&mut self, line: BadBlock) {
        let is_known = |bad: &BadBlock| bad.block == line.block && bad.spare.is_none();
        if line.spare.is_some() || !self.table.iter().any(is_known) {
            self.table.push(line);
        }
    }
    /// Good blocks that stand by in a plane.
    pub fn spares_of(&self, plane: Plane) -> u32 {
        self.spares[plane.index()].len() as u32
    }
    /// Good blocks that stand by.
    pub fn spares(&self) -> u32 {
        self.spares.iter().map(|spares| spares.len() as u32).sum()
    }
    /// Good blocks that stand by in the plane that has fewest.
    pub fn fewest_spares(&self) -> u32 {
        let counts = self.spares.iter().map(|spares| spares.len() as u32);
        counts.min().unwrap_or_default()
    }
    /// All that have become bad, in the order in which they did.
    pub fn table(&self) -> &[BadBlock] {
        &self.table
    }
    /// Those that have become bad for a reason.
    pub fn count(&self, cause: Cause) -> u32 {
        let bad = self.table.iter().filter(|bad| bad.cause == cause);
        bad.count() as u32
    }
    /// Good blocks in use: neither bad nor standing by.
    pub fn in_use(&self) -> u32 {
        self.layout.blocks() - self.spares() - self.table.len() as u32
    }
}
