//! Static wear levelling.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::{Pristine, Spend};

/// Like dynamic wear levelling, but cold data does not protect its block from wear. The free block
/// with the most erases and the most erased block written since the last move are compared with the
/// blocks of their plane that contain data. If both have over `threshold_erases` more erases than
/// one of these, the data of the least erased one moves to that free block. The emptied block is
/// then free for data that changes often (GC runs of kind `wear`). Between two ordinary GC runs
/// there is at most one move, and a move happens only when a GC run is needed.
///
/// The least erased free block is written next, so the other blocks of a plane catch up with the
/// most erased block while it waits. Therefore the comparison uses the erases of blocks that were
/// actually written, not of the most erased block. Otherwise the most erased block would receive
/// data that is not cold, and be erased even more.
///
/// Page mapping (`page`, `dftl`) gathers moved data in separate blocks, one per plane, which need
/// room. Block mapping (`block`) moves a whole logical block, which must not have a replacement
/// block. The families that merge (`log-block`, `hybrid`, `buffered`) do not support this policy.
/// Each move costs an erase and the copies of a block. Because the block that received the data
/// must fall behind by the threshold before the next move, the number of erases grows by about the
/// share of blocks with cold data, divided by the threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Static {
    /// Tolerated difference in the number of erases between blocks of a plane. Count.
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

/// Erased free blocks and blocks in use of each plane, both ordered by erases. Operations take time
/// logarithmic in the number of blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    threshold: u32,
    pristine: Pristine,
    /// Erased free blocks of each plane: number of erases, sequence number of the last erase, and
    /// block.
    free: Vec<BTreeSet<(u32, u64, Block)>>,
    used: Vec<BTreeSet<(u32, Block)>>,
    /// Number of erases of each block.
    erases: Vec<u32>,
    /// Maximum number of erases of a block taken since the last move, per plane.
    level: Vec<u32>,
    sequence: u64,
}

impl State {
    pub(super) const MOVES_DATA: bool = true;
    /// Returns the memory estimate. The sets contain every block that was ever used. Their nodes
    /// are two thirds full on average, and the nodes' own data takes as much memory as their slots.
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
