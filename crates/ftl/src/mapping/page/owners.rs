//! Owners of physical pages in page mapping.

use std::fmt;

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::dense;
use wordline_nand::{Block, Ppn};

use crate::lpn::Lpn;

/// Logical page last programmed in each physical page, as in its spare area. The copy is current if
/// the map points back to it.
///
/// Words are 1 + the logical page, or 0. On a large device that was filled in order, the words of a
/// filled block follow from its first one, until the block is *stored*: its words are written to
/// the array before a GC run or an exchange reads or changes them.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::mapping) struct Owners {
    #[serde(with = "wordline_kernel::dense")]
    words: Vec<u32>,
    pages_per_block: usize,
    /// By block: word of its first page, or 0 if the block is stored. Empty without a formula.
    #[serde(with = "wordline_kernel::dense")]
    firsts: Vec<u32>,
    /// Difference between the words of successive pages of a block that is not stored.
    step: u32,
}

impl Owners {
    /// Creates the table of `blocks` blocks that were never programmed.
    pub fn new(blocks: u32, pages_per_block: u32) -> Self {
        Self {
            words: vec![0; blocks as usize * pages_per_block as usize],
            pages_per_block: pages_per_block as usize,
            firsts: Vec::new(),
            step: 0,
        }
    }
    /// Returns the owner of a page in any block; `None` if it has none.
    pub fn get(&self, place: Ppn) -> Option<Lpn> {
        let (block, row) = (
            place.index() / self.pages_per_block,
            place.index() % self.pages_per_block,
        );
        match self.firsts.get(block) {
            None | Some(0) => self.get_stored(place),
            Some(first) => Some(Lpn(first - 1 + row as u32 * self.step)),
        }
    }
    /// Returns the owner of a page in a stored block; `None` if it has none.
    #[inline]
    pub fn get_stored(&self, place: Ppn) -> Option<Lpn> {
        self.words[place.index()].checked_sub(1).map(Lpn)
    }
    /// Sets the owner of a page, in a stored block.
    #[inline]
    pub fn set(&mut self, place: Ppn, page: Lpn) {
        self.words[place.index()] = page.0 + 1;
    }
    /// Sets the owner of `to` to that of `from`, both in stored blocks, and returns it. `from` must
    /// have one.
    #[inline]
    pub fn copy(&mut self, from: Ppn, to: Ppn) -> Lpn {
        let word = self.words[from.index()];
        self.words[to.index()] = word;
        Lpn(word - 1)
    }
    /// Exchanges the owners of two pages of stored blocks.
    pub fn swap(&mut self, one: Ppn, other: Ppn) {
        self.words.swap(one.index(), other.index());
    }
    /// Stores a block.
    pub fn store(&mut self, block: Block) {
        if let Some(first) = self
            .firsts
            .get_mut(block.index())
            .filter(|first| **first > 0)
        {
            let first = std::mem::take(first);
            self.write(block, first, self.step);
        }
    }
    /// Writes the words of a block, from `first` in steps.
    fn write(&mut self, block: Block, first: u32, step: u32) {
        let words = &mut self.words[block.index() * self.pages_per_block..][..self.pages_per_block];
        let mut next = first;
        for word in words {
            *word = next;
            next += step;
        }
    }

    /// Represents the owners of all blocks filled from now on by a formula. Must be called before
    /// any block is programmed.
    pub fn follow_formula(&mut self, step: u32) {
        let blocks = self.words.len() / self.pages_per_block;
        self.firsts = vec![0; blocks];
        self.step = step;
        // Few words will be written at first. With large memory pages, each of them would take a
        // whole large page.
        self.words = dense(false, || vec![0; blocks * self.pages_per_block]);
    }
    /// Records that a block was filled with every `step`th page from `first` on.
    pub fn fill(&mut self, block: Block, first: Lpn, step: u32) {
        if self.firsts.is_empty() {
            self.write(block, first.0 + 1, step);
        } else {
            debug_assert_eq!(self.step, step);
            self.firsts[block.index()] = first.0 + 1;
        }
    }

    /// Loads the owners of up to 256 pages of a stored block into the CPU cache.
    pub fn prefetch_block(&self, block: Block) {
        let first = block.index() * self.pages_per_block;
        for line in (0..self.pages_per_block).step_by(16).take(16) {
            prefetch_index(&self.words, first + line);
        }
    }
    /// Returns the index of the owner of a page, to prefetch its map entry; out of range without
    /// one. `None` if there is no such page.
    #[inline(always)]
    pub fn hint(&self, place: Ppn) -> Option<usize> {
        let word = self.words.get(place.index())?;
        Some((*word as usize).wrapping_sub(1))
    }
}

/// Shows the owners, whether they are stored or not.
impl fmt::Debug for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = (0..self.words.len() as u32).map(Ppn);
        f.debug_list()
            .entries(places.map(|place| self.get(place)))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Lpn, Owners, Ppn};

    /// Returns the owners of ten blocks of eight pages, of which four were filled with every fifth
    /// page.
    fn filled(by_formula: bool) -> Owners {
        let mut owners = Owners::new(10, 8);
        if by_formula {
            owners.follow_formula(5);
        }
        for (page, block) in [3, 7, 1, 8].into_iter().enumerate() {
            owners.fill(Block(block), Lpn(page as u32), 5);
        }
        owners
    }

    fn all(owners: &Owners) -> Vec<Option<Lpn>> {
        (0..80).map(|place| owners.get(Ppn(place))).collect()
    }

    #[test]
    fn formula_and_array_hold_the_same_owners() {
        let [mut formula, array] = [true, false].map(filled);
        assert_eq!(all(&formula), all(&array));
        assert_eq!(formula.get_stored(Ppn(24)), None);
        formula.store(Block(3));
        assert_eq!(formula.get_stored(Ppn(24)), Some(Lpn(0)));
        assert_eq!(all(&formula), all(&array));
    }

    #[test]
    fn stored_block_keeps_its_owners_when_it_is_programmed_again() {
        let mut owners = filled(true);
        owners.store(Block(7));
        owners.set(Ppn(56), Lpn(90));
        owners.store(Block(7));
        assert_eq!(owners.get(Ppn(56)), Some(Lpn(90)));
        assert_eq!(owners.get(Ppn(57)), Some(Lpn(6)));
    }
}
