//! What the translation layer knows of each block.

use wordline_nand::{Block, Layout, Ppn};

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

/// All blocks. Four bytes each and a bit a page, zero for a free block and so untouched before its
/// first use.
#[derive(Clone, Debug)]
pub struct Blocks {
    layout: Layout,
    /// Count of valid pages, and the phase in the bits above [`PHASE_SHIFT`].
    states: Vec<u32>,
    /// By physical page, a bit that says whether it is valid.
    valid: Vec<u64>,
}

const PHASE_SHIFT: u32 = 16;

#[inline]
fn word_of(page: Ppn) -> usize {
    (page.0 / u64::BITS) as usize
}

#[inline]
fn bit_of(page: Ppn) -> u64 {
    1 << (page.0 % u64::BITS)
}

impl Blocks {
    /// All free.
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            states: vec![0; layout.blocks() as usize],
            valid: vec![0; layout.pages().div_ceil(u64::BITS) as usize],
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
    /// Whether a page holds the current copy of a logical page.
    #[inline]
    pub fn is_valid(&self, page: Ppn) -> bool {
        self.valid[word_of(page)] & bit_of(page) != 0
    }
    /// The first valid page from `from` on and before `end`.
    #[inline]
    pub fn next_valid(&self, from: Ppn, end: Ppn) -> Option<Ppn> {
        let mut next = from;
        while next < end {
            let rest = self.valid[word_of(next)] & bit_of(next).wrapping_neg();
            let first = next.0 & !(u64::BITS - 1);
            if rest != 0 {
                let found = Ppn(first + rest.trailing_zeros());
                return (found < end).then_some(found);
            }
            next = Ppn(first.saturating_add(u64::BITS));
        }
        None
    }
    /// `page` of `block` is valid from now on.
    #[inline]
    pub(crate) fn gain(&mut self, block: Block, page: Ppn) {
        debug_assert!(!self.is_valid(page), "page {} is valid already", page.0);
        self.states[block.index()] += 1;
        self.valid[word_of(page)] |= bit_of(page);
    }
    /// `page` of `block` was valid and is no longer.
    #[inline]
    pub(crate) fn lose(&mut self, block: Block, page: Ppn) {
        debug_assert!(self.is_valid(page), "page {} is not valid", page.0);
        debug_assert!(
            self.valid(block) > 0,
            "block {} has no valid page to lose",
            block.0
        );
        self.states[block.index()] -= 1;
        self.valid[word_of(page)] &= !bit_of(page);
    }
    /// Valid pages of the whole array, linear in the blocks.
    pub fn valid_pages(&self) -> u64 {
        (0..self.layout.blocks())
            .map(|block| u64::from(self.valid(Block(block))))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_nand::Geometry;

    #[test]
    fn the_next_valid_page_is_found_across_words_and_not_beyond_the_end() {
        let geometry = Geometry {
            planes_per_die: 1,
            blocks_per_plane: 2,
            pages_per_block: 100,
            ..Geometry::default()
        };
        let mut blocks = Blocks::new(Layout::new(&geometry, 1).unwrap());
        let pages = [0, 63, 64, 99, 130, 199].map(Ppn);
        for page in pages {
            blocks.gain(Block(page.0 / 100), page);
        }
        for (from, end) in (0..=200).flat_map(|end| (0..=end).map(move |from| (from, end))) {
            let first = pages.into_iter().find(|page| (from..end).contains(&page.0));
            assert_eq!(blocks.next_valid(Ppn(from), Ppn(end)), first);
        }
        assert_eq!(blocks.valid(Block(0)), 4);
        blocks.lose(Block(0), Ppn(64));
        assert_eq!(blocks.next_valid(Ppn(64), Ppn(200)), Some(Ppn(99)));
        assert_eq!(blocks.valid_pages(), 5);
    }
}
