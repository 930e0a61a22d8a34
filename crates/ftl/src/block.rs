//! Block tables: phase and valid pages of each block.

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Block, Layout, Ppn};

/// Phase in the life of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Erased or never used.
    Free = 0,
    /// Open for programs.
    Active = 1,
    /// Full; a GC candidate.
    Closed = 2,
    /// GC victim.
    Victim = 3,
    /// In use for metadata pages.
    Metadata = 4,
    /// Block that could not be erased at recovery. It is never erased again, because the device is
    /// at the end of its life.
    Bad = 5,
    /// Full block in single-level mode; a candidate for folding.
    Cached = 6,
}

/// Tables of all blocks: four bytes per block and one bit per page. The entries of a free block are
/// zero, so their memory is untouched before the first use of the block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    layout: Layout,
    /// Number of valid pages. The bits from [`PHASE_SHIFT`] up contain the phase.
    #[serde(with = "wordline_kernel::dense")]
    states: Vec<u32>,
    /// Bit per physical page, set if the page is valid.
    #[serde(with = "wordline_kernel::dense")]
    valid: Vec<u64>,
}

const PHASE_SHIFT: u32 = 16;
const VALID_MASK: u32 = (1 << PHASE_SHIFT) - 1;

#[inline]
fn word_of(page: Ppn) -> usize {
    (page.0 / u64::BITS) as usize
}

#[inline]
fn bit_of(page: Ppn) -> u64 {
    1 << (page.0 % u64::BITS)
}

/// Iterates over the words that contain the bits of the pages `next..end`, each with a mask of
/// those bits.
fn words(next: Ppn, end: Ppn) -> impl Iterator<Item = (usize, u64)> {
    let mut rest = next.0..end.0;
    std::iter::from_fn(move || {
        let first = rest.next()?;
        let last = (first | (u64::BITS - 1)).min(rest.end - 1);
        rest.start = last + 1;
        let bits = (u64::MAX << (first % u64::BITS)) & (u64::MAX >> (!last % u64::BITS));
        Some((word_of(Ppn(first)), bits))
    })
}

impl Blocks {
    /// Creates tables in which all blocks are free.
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            states: vec![0; layout.blocks() as usize],
            valid: vec![0; layout.pages().div_ceil(u64::BITS) as usize],
        }
    }
    /// Returns the memory estimate of the tables on a device filled to `fill`.
    pub fn memory(layout: &Layout, fill: Fill) -> [Table; 2] {
        let (blocks, words) = (layout.blocks(), layout.pages().div_ceil(u64::BITS));
        [
            Table::zeroed::<u32>("block states", blocks.into(), fill.physical),
            Table::zeroed::<u64>("valid pages", words.into(), fill.physical),
        ]
    }
    /// Returns the number of valid pages of a block: pages that contain the current copy of a
    /// logical page, or that `expect` has announced.
    #[inline]
    pub fn valid(&self, block: Block) -> u32 {
        self.states[block.index()] & VALID_MASK
    }
    /// Returns the phase of a block.
    #[inline]
    pub fn phase(&self, block: Block) -> Phase {
        match self.states[block.index()] >> PHASE_SHIFT {
            0 => Phase::Free,
            1 => Phase::Active,
            2 => Phase::Closed,
            3 => Phase::Victim,
            4 => Phase::Metadata,
            5 => Phase::Bad,
            _ => Phase::Cached,
        }
    }
    /// Sets the phase of a block.
    pub(crate) fn enter(&mut self, block: Block, phase: Phase) {
        self.states[block.index()] = self.valid(block) | ((phase as u32) << PHASE_SHIFT);
    }
    /// Announces that the pages `next..end` of `block` will be programmed in order. Marks them as
    /// valid immediately, which saves the update at each program.
    pub(crate) fn expect(&mut self, block: Block, next: Ppn, end: Ppn) {
        self.states[block.index()] += end.0 - next.0;
        for (word, bits) in words(next, end) {
            self.valid[word] |= bits;
        }
    }
    /// Withdraws the announcement of `expect` for the pages `next..end`, which stay free.
    pub(crate) fn give_up(&mut self, block: Block, next: Ppn, end: Ppn) {
        self.states[block.index()] -= end.0 - next.0;
        for (word, bits) in words(next, end) {
            self.valid[word] &= !bits;
        }
    }
    /// Prefetches into the CPU cache the table entries of a page that may soon be superseded.
    #[inline]
    pub(crate) fn prefetch(&self, block: Block, page: Ppn) {
        prefetch_index(&self.states, block.index());
        prefetch_index(&self.valid, word_of(page));
    }
    /// Returns `true` if the page contains the current copy of a logical page, or if `expect` has
    /// announced it.
    #[inline]
    pub fn is_valid(&self, page: Ppn) -> bool {
        self.valid[word_of(page)] & bit_of(page) != 0
    }
    /// Returns the first valid page of `from..end`; `None` if there is none.
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
    /// Calls `each` for every valid page of `from..end`, in order.
    #[inline]
    pub fn each_valid(&self, from: Ppn, end: Ppn, mut each: impl FnMut(Ppn)) {
        for (word, bits) in words(from, end) {
            let mut rest = self.valid[word] & bits;
            while rest != 0 {
                each(Ppn(word as u32 * u64::BITS + rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
    }
    /// Marks `page` of `block` as valid.
    #[inline]
    pub(crate) fn gain(&mut self, block: Block, page: Ppn) {
        debug_assert!(!self.is_valid(page), "page {} is already valid", page.0);
        self.states[block.index()] += 1;
        self.valid[word_of(page)] |= bit_of(page);
    }
    /// Marks `page` of `block` as invalid. Returns the number of valid pages left if the block is a
    /// GC candidate, otherwise `None`.
    #[inline]
    pub(crate) fn lose(&mut self, block: Block, page: Ppn) -> Option<u32> {
        debug_assert!(self.is_valid(page), "page {} is not valid", page.0);
        debug_assert!(self.valid(block) > 0, "block {} has no valid page", block.0);
        self.valid[word_of(page)] &= !bit_of(page);
        let state = &mut self.states[block.index()];
        *state -= 1;
        (*state >> PHASE_SHIFT == Phase::Closed as u32).then_some(*state & VALID_MASK)
    }
    /// Marks `page` of `block` as invalid because it is moved. The block must not be open for
    /// writes. Returns `None` if the page is not valid. Otherwise returns the next valid page or,
    /// if the bitmap word of `page` has no valid page left, the first page of the next word.
    #[inline]
    pub(crate) fn lose_moved(&mut self, block: Block, page: Ppn) -> Option<Ppn> {
        let valid = &mut self.valid[word_of(page)];
        let bit = bit_of(page);
        if *valid & bit == 0 {
            return None;
        }
        *valid &= !bit;
        let behind = *valid & bit.wrapping_neg();
        self.states[block.index()] -= 1;
        let first = page.0 & !(u64::BITS - 1);
        Some(Ppn(first.wrapping_add(behind.trailing_zeros())))
    }
    /// Returns the number of valid pages of the whole array. Takes time linear in the number of
    /// blocks.
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
    fn next_valid_page_is_found_across_words_but_not_beyond_the_end() {
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

    #[test]
    fn announced_pages_are_valid_until_the_announcement_is_withdrawn() {
        let geometry = Geometry {
            planes_per_die: 1,
            blocks_per_plane: 1,
            pages_per_block: 200,
            ..Geometry::default()
        };
        let layout = Layout::new(&geometry, 1).unwrap();
        let within = |pages: std::ops::Range<u32>, page: u32| pages.contains(&page);
        for (next, end) in (0..=200).flat_map(|end| (0..=end).map(move |next| (next, end))) {
            let mut blocks = Blocks::new(layout);
            blocks.expect(Block(0), Ppn(next), Ppn(end));
            assert!((0..200).all(|page| blocks.is_valid(Ppn(page)) == within(next..end, page)));
            assert_eq!(blocks.valid(Block(0)), end - next);
            let half = next.midpoint(end);
            blocks.give_up(Block(0), Ppn(half), Ppn(end));
            assert!((0..200).all(|page| blocks.is_valid(Ppn(page)) == within(next..half, page)));
            assert_eq!(blocks.valid(Block(0)), half - next);
        }
    }
}
