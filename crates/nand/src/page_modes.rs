//! Program modes of pages and the wear that they cause.

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_reliability::{ModeCosts, ProgramMode};

use crate::{Block, Layout, Ppn};

/// Pages per byte of tags.
const PER_BYTE: u32 = 4;

/// Program mode of each page, two bits each, and the wear of each block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageModes {
    /// Program mode of pages without a tag: data older than the run.
    preloaded: ProgramMode,
    /// Mode of each page, two bits, combined with `preloaded` by exclusive or.
    #[serde(with = "wordline_kernel::dense")]
    tags: Vec<u8>,
    /// Wear of each block, summed over all its programs, in thousandths of the wear of a program in
    /// medium mode.
    #[serde(with = "wordline_kernel::dense")]
    wear: Vec<u64>,
    /// Wear of a program in each mode, in thousandths of the wear of a program in medium mode.
    weights: [u32; 4],
    /// Programs that the wear includes. Count.
    programs: u64,
}

impl PageModes {
    /// Creates the modes of an array whose pages were all programmed in mode `preloaded`.
    pub fn new(layout: &Layout, costs: &ModeCosts, preloaded: ProgramMode) -> Self {
        Self {
            preloaded,
            tags: vec![0; layout.pages().div_ceil(PER_BYTE) as usize],
            wear: vec![0; layout.blocks() as usize],
            weights: costs.0.map(|cost| cost.wear),
            programs: 0,
        }
    }
    /// Returns the tables of modes and wear, with the memory of each.
    pub fn memory(layout: &Layout, fill: Fill) -> [Table; 2] {
        let pages = layout.pages().div_ceil(PER_BYTE);
        [
            Table::zeroed::<u8>("modes of pages", pages.into(), fill.physical),
            Table::zeroed::<u64>("wear of blocks", layout.blocks().into(), fill.physical),
        ]
    }
    /// Returns the mode of the last program of a page, or of the one in progress.
    #[inline]
    pub fn of(&self, page: Ppn) -> ProgramMode {
        let byte = self.tags[page.index() / PER_BYTE as usize];
        let tag = byte >> (2 * (page.0 % PER_BYTE));
        ProgramMode::of_bits(tag ^ self.preloaded as u8)
    }
    /// Sets the mode of a page before its program.
    #[inline]
    pub fn set(&mut self, page: Ppn, mode: ProgramMode) {
        let byte = &mut self.tags[page.index() / PER_BYTE as usize];
        let place = 2 * (page.0 % PER_BYTE);
        let tag = mode as u8 ^ self.preloaded as u8;
        *byte = *byte & !(3 << place) | tag << place;
    }
    /// Adds the wear of a page program to its block.
    #[inline]
    pub fn programmed(&mut self, block: Block, mode: ProgramMode) {
        self.programs += 1;
        self.wear[block.index()] += u64::from(self.weights[mode.index()]);
    }
    /// Swaps the wear of two blocks whose numbers are exchanged, so that it stays with the cells.
    pub(crate) fn swap_wear(&mut self, one: Block, other: Block) {
        self.wear.swap(one.index(), other.index());
    }
    /// Returns the number of programs that the wear includes.
    pub fn programs(&self) -> u64 {
        self.programs
    }
    /// Returns the wear of each block, summed over its programs, in thousandths of the wear of a
    /// program in medium mode.
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
    fn packed_modes_match_a_plain_list() {
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
