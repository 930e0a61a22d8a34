//! What the translation layer knows of each block.

use wordline_nand::{Block, Layout};

/// Where a block is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Erased, or never used.
    Free = 0,
    /// Taking programs.
    Active = 1,
    /// Full; may be collected.
    Closed = 2,
    /// Being collected.
    Victim = 3,
    /// Not free: it holds pages of the mapping's own.
    Own = 4,
}

/// All blocks. Four bytes each, zero for a free block and so untouched before its first use.
#[derive(Clone, Debug)]
pub struct Blocks {
    layout: Layout,
    /// Valid pages, and the phase in the bits above [`PHASE_SHIFT`].
    states: Vec<u32>,
}

const PHASE_SHIFT: u32 = 16;

impl Blocks {
    /// All free.
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            states: vec![0; layout.blocks() as usize],
        }
    }
    /// Pages of a block that hold the current copy of a logical page.
    #[inline]
    pub fn valid(&self, block: Block) -> u32 {
        self.states[block.index()] & ((1 << PHASE_SHIFT) - 1)
    }
    /// Where a block is in its life.
    #[inline]
    pub fn phase(&self, block: Block) -> Phase {
        match self.states[block.index()] >> PHASE_SHIFT {
            0 => Phase::Free,
            1 => Phase::Active,
            2 => Phase::Closed,
            3 => Phase::Victim,
            _ => Phase::Own,
        }
    }
    /// Moves a block on in its life.
    pub(crate) fn enter(&mut self, block: Block, phase: Phase) {
        self.states[block.index()] = self.valid(block) | ((phase as u32) << PHASE_SHIFT);
    }
    /// One more valid page.
    #[inline]
    pub(crate) fn gain(&mut self, block: Block) {
        self.states[block.index()] += 1;
    }
    /// One valid page less.
    #[inline]
    pub(crate) fn lose(&mut self, block: Block) {
        debug_assert!(
            self.valid(block) > 0,
            "block {} has no valid page to lose",
            block.0
        );
        self.states[block.index()] -= 1;
    }
    /// Valid pages of the whole array.
    pub fn valid_pages(&self) -> u64 {
        (0..self.layout.blocks())
            .map(|block| u64::from(self.valid(Block(block))))
            .sum()
    }
}
