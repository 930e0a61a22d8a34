//! Map of page mapping: the physical page of each logical page.

use std::fmt;
use std::mem::replace;

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::dense;
use wordline_nand::Ppn;

use crate::lpn::Lpn;

/// Number of logical pages that [`Formula`] stores together. Its index has one word for each such
/// group, which is 256 bytes of the map.
pub(super) const PART: usize = 64;

/// Map of logical pages to words: 1 + the physical page, or 0 without one.
///
/// The words are an array, or, on a large device that was filled in order, a [`Formula`]. With a
/// formula, the array is empty. The formula is used only where an index into the array is out of
/// range, so it does not slow down accesses to an array.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::mapping) struct Places {
    /// Words of an array that stays untouched, and takes no memory, where no page was written.
    #[serde(with = "wordline_kernel::dense")]
    words: Vec<u32>,
    formula: Option<Box<Formula>>,
    /// Number of logical pages.
    len: usize,
}

/// Words of a device filled in order, round by round: a round writes one block of every plane,
/// page by page in turn. The words of the fill follow from the first page of each block. Words
/// written since are stored, in parts.
#[derive(Clone, Serialize, Deserialize)]
struct Formula {
    /// Number of blocks that a round fills.
    planes: usize,
    pages_per_block: usize,
    /// First physical page of each block, in the order of filling.
    starts: Vec<Ppn>,
    /// By part: 1 + its number in `stored`, or 0 if none of its words was written since the fill.
    #[serde(with = "wordline_kernel::dense")]
    parts: Vec<u32>,
    /// Words of the stored parts.
    #[serde(with = "wordline_kernel::dense")]
    stored: Vec<u32>,
}

impl Formula {
    fn new(len: usize, planes: usize, pages_per_block: usize) -> Self {
        Self {
            planes,
            pages_per_block,
            starts: Vec::new(),
            parts: vec![0; len.div_ceil(PART)],
            stored: Vec::new(),
        }
    }
    /// Returns the number of pages that have been filled.
    fn filled(&self) -> usize {
        self.starts.len() * self.pages_per_block
    }
    /// Returns the word of a page after the fill; 0 if the page was not filled.
    fn filled_word(&self, page: usize) -> u32 {
        if page >= self.filled() {
            return 0;
        }
        let (row, turn) = (page / self.planes, page % self.planes);
        let (round, row) = (row / self.pages_per_block, row % self.pages_per_block);
        self.starts[round * self.planes + turn].0 + row as u32 + 1
    }
    fn get(&self, page: usize) -> u32 {
        match self.parts[page / PART] {
            0 => self.filled_word(page),
            part => self.stored[(part as usize - 1) * PART + page % PART],
        }
    }
    /// Stores a part with the words of its pages after the fill.
    fn store(&mut self, part: usize) {
        let (mut page, end) = (part * PART, (part + 1) * PART);
        let filled = end.min(self.filled());
        while page < filled {
            let (row, turn) = (page / self.planes, page % self.planes);
            let (round, row) = (row / self.pages_per_block, row % self.pages_per_block);
            let starts = &self.starts[round * self.planes..][turn..self.planes];
            let starts = &starts[..starts.len().min(filled - page)];
            let word = |start: &Ppn| start.0 + row as u32 + 1;
            self.stored.extend(starts.iter().map(word));
            page += starts.len();
        }
        self.stored.resize(self.stored.len() + end - page, 0);
        self.parts[part] = (self.stored.len() / PART) as u32;
    }
    /// Returns a word to change. Stores its part first if necessary.
    fn get_mut(&mut self, page: usize) -> &mut u32 {
        if self.parts[page / PART] == 0 {
            self.store(page / PART);
        }
        let part = self.parts[page / PART] as usize - 1;
        &mut self.stored[part * PART + page % PART]
    }
    /// Returns `true` if an array would take little more memory than the stored parts.
    fn is_spent(&self) -> bool {
        self.stored.len() > self.parts.len() * PART / 2
    }
    /// Returns the words of the first `len` pages as an array.
    fn words(&self, len: usize) -> Vec<u32> {
        let mut words = dense(true, || vec![0; len]);
        let round = self.planes * self.pages_per_block;
        for (starts, words) in self.starts.chunks(self.planes).zip(words.chunks_mut(round)) {
            fill_round(words, starts);
        }
        for (part, words) in self.parts.iter().zip(words.chunks_mut(PART)) {
            if let Some(part) = part.checked_sub(1) {
                let stored = &self.stored[part as usize * PART..];
                words.copy_from_slice(&stored[..words.len()]);
            }
        }
        words
    }
}

/// Writes the words of a round. `starts` contains the first physical page of each block, in turn.
fn fill_round(words: &mut [u32], starts: &[Ppn]) {
    for (row, words) in (1..).zip(words.chunks_exact_mut(starts.len())) {
        for (word, start) in words.iter_mut().zip(starts) {
            *word = start.0 + row;
        }
    }
}

impl Places {
    /// Creates a map of `len` logical pages, none of which is mapped.
    pub fn new(len: usize) -> Self {
        Self {
            words: vec![0; len],
            formula: None,
            len,
        }
    }
    /// Returns the number of logical pages.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Extends the map to `len` logical pages.
    pub fn grow(&mut self, len: usize) {
        self.keep_words();
        self.words.resize(len, 0);
        self.len = len;
    }
    #[inline]
    fn word(&self, page: usize) -> u32 {
        match self.words.get(page) {
            Some(word) => *word,
            None => self.word_of_formula(page),
        }
    }
    #[cold]
    fn word_of_formula(&self, page: usize) -> u32 {
        self.formula(page).get(page)
    }
    fn formula(&self, page: usize) -> &Formula {
        let formula = self.formula.as_ref().filter(|_| page < self.len);
        formula.unwrap_or_else(|| unreachable!("page {page} of {}", self.len))
    }
    /// Returns the physical page of a logical page; `None` if the logical page is not mapped.
    #[inline]
    pub fn get(&self, page: Lpn) -> Option<Ppn> {
        self.word(page.index()).checked_sub(1).map(Ppn)
    }
    /// Maps a logical page to `place`. Returns its previous physical page; `None` if it was not
    /// mapped.
    #[inline]
    pub fn replace(&mut self, page: Lpn, place: Ppn) -> Option<Ppn> {
        self.replace_word(page.index(), place.0 + 1)
            .checked_sub(1)
            .map(Ppn)
    }
    /// Maps a logical page to `place`.
    #[inline]
    pub fn set(&mut self, page: Lpn, place: Ppn) {
        self.replace_word(page.index(), place.0 + 1);
    }
    /// Unmaps a logical page.
    pub fn clear(&mut self, page: Lpn) {
        self.replace_word(page.index(), 0);
    }
    #[inline]
    fn replace_word(&mut self, page: usize, word: u32) -> u32 {
        match self.words.get_mut(page) {
            Some(kept) => replace(kept, word),
            None => self.replace_in_formula(page, word),
        }
    }
    #[cold]
    fn replace_in_formula(&mut self, page: usize, word: u32) -> u32 {
        let Some(formula) = self.formula.as_mut().filter(|_| page < self.len) else {
            unreachable!("page {page} of {}", self.len)
        };
        let before = replace(formula.get_mut(page), word);
        if formula.is_spent() {
            self.keep_words();
        }
        before
    }
    /// Replaces the formula, if there is one, with an array.
    fn keep_words(&mut self) {
        if let Some(formula) = self.formula.take() {
            self.words = formula.words(self.len);
        }
    }
    /// Iterates over the mapped logical pages with their physical pages.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, Ppn)> {
        let pages = (0..self.len as u32).map(Lpn);
        pages.filter_map(|page| Some((page, self.get(page)?)))
    }
    /// Loads the word of a page into the CPU cache, or, with a formula, the number of its part.
    #[inline(always)]
    pub fn prefetch(&self, page: usize) {
        if page < self.words.len() {
            prefetch_index(&self.words, page);
        } else {
            self.prefetch_part(page);
        }
    }
    #[cold]
    fn prefetch_part(&self, page: usize) {
        if let Some(formula) = &self.formula {
            prefetch_index(&formula.parts, page / PART);
        }
    }
    /// Returns the physical page of a logical page; `None` if the logical page is not mapped, or if
    /// a formula determines it.
    #[inline(always)]
    pub fn get_stored(&self, page: Lpn) -> Option<Ppn> {
        let word = self.words.get(page.index())?;
        word.checked_sub(1).map(Ppn)
    }

    /// Represents all rounds filled from now on by a formula. Must be called before any page is
    /// mapped.
    pub fn follow_formula(&mut self, planes: usize, pages_per_block: u32) {
        let formula = Formula::new(self.len, planes, pages_per_block as usize);
        self.formula = Some(Box::new(formula));
        self.words = Vec::new();
    }
    /// Returns `true` if a round from page `first` can be filled.
    pub fn can_fill(&self, first: u32) -> bool {
        let formula = self.formula.as_ref();
        formula
            .is_none_or(|formula| formula.filled() == first as usize && formula.stored.is_empty())
    }
    /// Maps a round of unmapped logical pages from `first` on. `starts` contains the first physical
    /// page of each block; the blocks take the pages in turn.
    pub fn fill(&mut self, first: u32, starts: &[Ppn], pages_per_block: u32) {
        if let Some(formula) = &mut self.formula {
            formula.starts.extend_from_slice(starts);
            return;
        }
        let pages = starts.len() * pages_per_block as usize;
        fill_round(&mut self.words[first as usize..][..pages], starts);
    }
}

/// Shows the words, whether they are stored or not.
impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = (0..self.len).map(|page| self.word(page));
        f.debug_list().entries(words).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Lpn, PART, Places, Ppn};

    const PLANES: usize = 3;
    const PAGES_PER_BLOCK: u32 = 7;
    const ROUND: usize = PLANES * PAGES_PER_BLOCK as usize;

    /// Returns a map of `len` pages after `rounds` rounds, whose blocks are in descending order.
    fn filled(len: usize, rounds: usize, by_formula: bool) -> Places {
        let mut places = Places::new(len);
        if by_formula {
            places.follow_formula(PLANES, PAGES_PER_BLOCK);
        }
        for round in 0..rounds {
            let block = |turn| 1000 - (round * PLANES + turn) as u32;
            let starts: Vec<Ppn> = (0..PLANES)
                .map(|turn| Ppn(block(turn) * PAGES_PER_BLOCK))
                .collect();
            places.fill((round * ROUND) as u32, &starts, PAGES_PER_BLOCK);
        }
        places
    }

    proptest! {
        #[test]
        fn formula_and_array_hold_the_same_places(
            rounds in 0_usize..8,
            changes in prop::collection::vec((0_u32..200, 0_u32..5000), 0..60),
        ) {
            let [mut formula, mut array] = [true, false].map(|by| filled(200, rounds, by));
            for (page, place) in changes {
                let page = Lpn(page);
                if place % 5 == 0 {
                    formula.clear(page);
                    array.clear(page);
                } else {
                    prop_assert_eq!(formula.replace(page, Ppn(place)), array.replace(page, Ppn(place)));
                }
                prop_assert!(formula.iter().eq(array.iter()));
            }
        }
    }

    #[test]
    fn formula_that_was_overwritten_becomes_an_array() {
        let (pages, rounds) = (40 * ROUND, 40);
        let mut places = filled(pages, rounds, true);
        assert!(places.formula.is_some());
        let before: Vec<_> = places.iter().collect();
        for page in (0..pages).step_by(PART) {
            let page = Lpn(page as u32);
            let place = places.get(page);
            places.clear(page);
            if let Some(place) = place {
                places.set(page, place);
            }
        }
        assert!(places.formula.is_none());
        assert_eq!(places.iter().collect::<Vec<_>>(), before);
    }
}
