//! How pages were programmed, and what that has worn.

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_reliability::{ModeCosts, ProgramMode};

use crate::{Block, Layout, Ppn};

/// Pages in a byte of tags.
const PER_BYTE: u32 = 4;

/// How every page was programmed, two bits each, and the wear of every block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageModes {
    /// How pages were programmed that have no tag: what was there before the run.
    preloaded: ProgramMode,
    /// By page, two bits: its mode, exclusive or with `preloaded`.
    #[serde(with = "wordline_kernel::dense")]
    tags: Vec<u8>,
    /// By block: wear of all programs so far, in thousandths of that of a medium one.
    #[serde(with = "wordline_kernel::dense")]
    wear: Vec<u64>,
    /// By mode: wear of a program.
    weights: [u32; 4],
    /// Programs so far.
    programs: u64,
}

impl PageModes {
    /// Of an array of which nothing is known but how it was programmed before.
    pub fn new(layout: &Layout, costs: &ModeCosts, preloaded: ProgramMode) -> Self {
        Self {
            preloaded,
            tags: vec![0; layout.pages().div_ceil(PER_BYTE) as usize],
            wear: vec![0; layout.blocks() as usize],
            weights: costs.0.map(|cost| cost.wear),
            programs: 0,
        }
    }
    /// What they take of memory.
    pub fn memory(layout: &Layout, fill: Fill) -> [Table; 2] {
        let pages = layout.pages().div_ceil(PER_BYTE);
        [
            Table::zeroed::<u8>("modes of pages", pages.into(), fill.physical),
            Table::zeroed::<u64>("wear of blocks", layout.blocks().into(), fill.physical),
        ]
    }
    /// How a page was programmed last, or is being programmed.
    #[inline]
    pub fn of(&self, page: Ppn) -> ProgramMode {
        let byte = self.tags[page.index() / PER_BYTE as usize];
        let tag = byte >> (2 * (page.0 % PER_BYTE));
        ProgramMode::of_bits(tag ^ self.preloaded as u8)
    }
    /// A page is about to be programmed.
    #[inline]
    pub fn set(&mut self, page: Ppn, mode: ProgramMode) {
        let byte = &mut self.tags[page.index() / PER_BYTE as usize];
        let place = 2 * (page.0 % PER_BYTE);
        let tag = mode as u8 ^ self.preloaded as u8;
        *byte = *byte & !(3 << place) | tag << place;
    }
    /// A page of a block has been programmed.
    #[inline]
    pub fn programmed(&mut self, block: Block, mode: ProgramMode) {
        self.programs += 1;
        self.wear[block.index()] += u64::from(self.weights[mode.index()]);
    }
    /// Two blocks change their numbers: each has the wear of its cells.
    pub(crate) fn swap_wear(&mut self, one: Block, other: Block) {
        self.wear.swap(one.index(), other.index());
    }
    /// Programs so far, which have worn.
    pub fn programs(&self) -> u64 {
        self.programs
    }
    /// Wear of every block, in thousandths of a medium program: the sum over its programs.
    pub fn wear(&self) -> &[u64] {
        &self.wear
    }
}

#[cfg(test)]
mod tests {
    use wordline_kernel::Rng;
    use wordline_reliability::programming::{Price, table::Table};

    use super::*;

    const LAYOUT: Layout = Layout {
        dies: 1,
        planes_per_die: 1,
        blocks_per_plane: 3,
        pages_per_block: 7,
    };

    #[test]
    fn two_bits_a_page_are_as_good_as_a_list_of_modes() {
        let costs = Table::default().costs().unwrap().unwrap();
        for preloaded in ProgramMode::ALL {
            let mut modes = PageModes::new(&LAYOUT, &costs, preloaded);
            let mut naive = [preloaded; 21];
            let mut wear = [0; 3];
            let mut random = Rng::new(1, "modes");
            for _ in 0..1000 {
                let page = random.below(21) as u32;
                let mode = ProgramMode::of_bits(random.below(4) as u8);
                modes.set(Ppn(page), mode);
                modes.programmed(LAYOUT.block_of(Ppn(page)), mode);
                naive[page as usize] = mode;
                let weight = if mode == ProgramMode::Reduced {
                    800
                } else {
                    1000
                };
                wear[page as usize / 7] += weight;
                let found: Vec<_> = (0..21).map(|page| modes.of(Ppn(page))).collect();
                assert_eq!(found, naive);
                assert_eq!(modes.wear(), wear);
            }
        }
    }
}
