//! Static wear levelling.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::{Pristine, Spend};

/// As dynamic wear levelling; besides, data that stays where it is does not keep its block from
/// wear. When a block is written that has been erased over `threshold_erases` times more often than
/// another of its plane that holds data, the data of the least erased such block moves to the free
/// block that has been erased most, and its block is free for data that changes often (collections of
/// kind `wear`). Between two blocks that are erased anyhow there is at most one such move, and none
/// without a collection that is needed.
///
/// The least erased free block is written next, so that the most erased block of a plane falls back
/// while it waits. What is compared is therefore a block that was written in spite of its erases, and
/// not the most erased one: that would be given data that is not cold, and be erased the more.
///
/// Page mapping (`page`, `dftl`) gathers moved data in blocks of its own, one a plane, which has to
/// have room for it. Block mapping (`block`) copies a logical block without a replacement block as a
/// whole. Families that merge (`log-block`, `hybrid`, `buffered`) do not have it. Each move costs an
/// erase and the copies of a block; because its block has to fall behind by the threshold before the
/// next, erases grow by about the share of blocks with cold data divided by the threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Static {
    /// Difference of erases that is left alone. Count.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub threshold_erases: u32,
}

impl Default for Static {
    fn default() -> Self {
        Self {
            threshold_erases: 64,
        }
    }
}

impl Cited for Static {
    const PAPER: &'static str = "Y.-H. Chang, J.-W. Hsieh and T.-W. Kuo, Endurance enhancement of flash-memory storage systems: an efficient static wear leveling design, DAC 2007";
}

/// Per plane the erased blocks that are free and the blocks that are in use, each in the order of
/// their erases: a step is logarithmic in the blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    threshold: u32,
    pristine: Pristine,
    /// Erases, when it became free, and the block.
    free: Vec<BTreeSet<(u32, u64, Block)>>,
    used: Vec<BTreeSet<(u32, Block)>>,
    /// By block.
    erases: Vec<u32>,
    /// By plane, the most erases of a block that was taken since data moved the last time.
    level: Vec<u32>,
    sequence: u64,
}

impl State {
    pub(super) const MOVES_DATA: bool = true;
    /// The sets hold every block that was ever used; their nodes are two thirds full on average, and
    /// hold as much again for their own.
    pub(super) fn memory(layout: &Layout, fill: Fill) -> Table {
        let nodes = 3 * size_of::<(u32, Block)>() as u64;
        let table = Table::zeroed::<u32>(
            "erases of free and used blocks",
            layout.blocks().into(),
            0.0,
        );
        let blocks = u64::from(layout.blocks());
        Table {
            prepared: (blocks as f64 * fill.physical) as u64 * nodes,
            most: table.most + blocks * nodes,
            ..table
        }
    }
    pub(super) fn new(policy: &Static, layout: &Layout) -> Self {
        let planes = layout.planes() as usize;
        Self {
            threshold: policy.threshold_erases,
            pristine: Pristine::new(layout),
            free: vec![BTreeSet::new(); planes],
            used: vec![BTreeSet::new(); planes],
            erases: vec![0; layout.blocks() as usize],
            level: vec![0; planes],
            sequence: 0,
        }
    }
    fn enter_use(&mut self, plane: Plane, block: Block) -> Block {
        self.used[plane.index()].insert((self.erases[block.index()], block));
        block
    }
    fn leave_use(&mut self, plane: Plane, block: Block, erases: u32) {
        let before = &mut self.erases[block.index()];
        self.used[plane.index()].remove(&(*before, block));
        *before = erases;
    }
}

impl Spend for State {
    fn erased(&mut self, plane: Plane, block: Block, erases: u32) {
        self.leave_use(plane, block, erases);
        self.sequence += 1;
        self.free[plane.index()].insert((erases, self.sequence, block));
    }
    fn take(&mut self, plane: Plane) -> Option<Block> {
        let block = match self.pristine.take(plane) {
            Some(block) => block,
            None => self.free[plane.index()].pop_first()?.2,
        };
        let level = &mut self.level[plane.index()];
        *level = self.erases[block.index()].max(*level);
        Some(self.enter_use(plane, block))
    }
    fn take_worn(&mut self, plane: Plane) -> Option<Block> {
        match self.free[plane.index()].pop_last() {
            Some((_, _, block)) => Some(self.enter_use(plane, block)),
            None => self.take(plane),
        }
    }
    fn in_use(&mut self, plane: Plane, block: Block, erases: u32) {
        self.leave_use(plane, block, erases);
        self.enter_use(plane, block);
    }
    fn rested(&mut self, plane: Plane, may_move: impl Fn(Block) -> bool) -> Option<Block> {
        let plane = plane.index();
        let (worn, _, _) = *self.free[plane].last()?;
        let most = self.level[plane].min(worn).checked_sub(self.threshold)?;
        let rested = self.used[plane].range(..(most, Block(0)));
        let mut blocks = rested.map(|(_, block)| *block);
        let block = blocks.find(|block| may_move(*block))?;
        self.level[plane] = 0;
        Some(block)
    }
}
