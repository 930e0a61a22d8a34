//! Greedy victim selection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::Choose;
use crate::block::Blocks;
use crate::lists::Lists;

/// The block with the fewest valid pages; among equals the one that has been so longest. Least
/// work now, and the best choice under uniform load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Greedy {}

impl Cited for Greedy {
    const PAPER: &'static str = "W. Bux and I. Iliadis, Performance of greedy garbage collection in flash-based solid-state drives, Performance Evaluation 67(11), 2010";
}

/// Per plane one list of blocks for each count of valid pages: every step is constant, but for
/// the search of the next non-empty list, which the pages that fill it have paid for.
#[derive(Clone, Debug)]
pub struct State {
    lists: Lists,
    counts: usize,
    planes: usize,
    lowest: Vec<u32>,
}

impl State {
    pub(super) fn new(_policy: &Greedy, layout: &Layout, _seed: u64) -> Self {
        let counts = layout.pages_per_block as usize + 1;
        let planes = layout.planes() as usize;
        let lists = Lists::new(planes * counts, layout.blocks() as usize);
        Self {
            lists,
            counts,
            planes,
            lowest: vec![0; planes],
        }
    }
    /// Lists of the same count are neighbours: blocks that are closed full, as those of a new device
    /// are, touch little memory.
    #[inline]
    fn list(&self, plane: Plane, valid: u32) -> usize {
        valid as usize * self.planes + plane.index()
    }
    #[inline]
    fn insert(&mut self, plane: Plane, block: Block, valid: u32) {
        let list = self.list(plane, valid);
        self.lists.push_back(list, block.0);
        self.lower(plane, valid);
    }
    /// There is a block with `valid` valid pages.
    #[inline]
    fn lower(&mut self, plane: Plane, valid: u32) {
        let lowest = &mut self.lowest[plane.index()];
        if valid < *lowest {
            *lowest = valid;
        }
    }
}

impl Choose for State {
    #[inline]
    fn closed(&mut self, plane: Plane, block: Block, valid: u32) {
        self.insert(plane, block, valid);
    }
    #[inline(always)]
    fn invalidated(&mut self, plane: Plane, block: Block, valid: u32) {
        let list = self.list(plane, valid);
        if self.lists.move_back(list, block.0) {
            self.lower(plane, valid);
        }
    }
    #[inline]
    fn foresee(&self, block: Block) {
        self.lists.foresee(block.0);
    }
    fn choose(&mut self, plane: Plane, _blocks: &Blocks) -> Option<Block> {
        for valid in self.lowest[plane.index()]..self.counts as u32 {
            if let Some(block) = self.lists.front(self.list(plane, valid)) {
                self.lowest[plane.index()] = valid;
                self.lists.remove(block);
                return Some(Block(block));
            }
        }
        self.lowest[plane.index()] = 0;
        None
    }
    fn withdraw(&mut self, _plane: Plane, block: Block, _valid: u32) {
        self.lists.remove(block.0);
    }
}
