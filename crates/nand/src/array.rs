//! The state of the memory array, and the rules that no operation may break.

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::Time;
use wordline_kernel::memory::{Fill, Table};
use wordline_reliability::{ModeCosts, ProgramMode};

use crate::{BadBlock, BadBlocks, Block, Cause, Health, Layout, PageModes, Ppn};

/// An operation that a NAND part forbids.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Violation {
    /// In-order programming within a block.
    #[error(
        "program of {address} out of order: the next page of the block is {expected}; program pages in order"
    )]
    OutOfOrder {
        /// The page in words.
        address: String,
        /// The page in its block that may be programmed.
        expected: u32,
    },
    /// Erase before program.
    #[error("program of {address}, which is programmed already; erase its block first")]
    NotErased {
        /// The page in words.
        address: String,
    },
    /// More partial programs than the part bears (NOP).
    #[error(
        "program of {address} after {programs} partial programs, as many as the page bears; erase its block first, or raise nand.partial_programs"
    )]
    TooManyPrograms {
        /// The page in words.
        address: String,
        /// Programs of the page since the erase of its block.
        programs: u32,
    },
    /// A read of a page that holds nothing.
    #[error("read of {address}, which is not programmed; nothing can be read from an erased page")]
    NotProgrammed {
        /// The page in words.
        address: String,
    },
    /// Endurance.
    #[error(
        "erase of {address} after {erases} cycles, its endurance; raise nand.endurance_cycles or write less"
    )]
    WornOut {
        /// The block in words.
        address: String,
        /// Program/erase cycles it has seen.
        erases: u32,
    },
}

/// Which pages of each block are programmed, and how often each block was erased.
///
/// Memory is six bytes a block, seven if pages bear partial programs, touched when the block is
/// first used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Array {
    layout: Layout,
    endurance: u32,
    partial_programs: u8,
    #[serde(with = "wordline_kernel::dense")]
    programmed: Vec<u16>,
    #[serde(with = "wordline_kernel::dense")]
    erases: Vec<u32>,
    /// Programs of the last programmed page of a block after its first; empty if it bears none.
    #[serde(with = "wordline_kernel::dense")]
    again: Vec<u8>,
    /// By block, a bit that says whether it was last programmed in single-level mode; empty where none ever is.
    #[serde(with = "wordline_kernel::dense")]
    single_level: Vec<u64>,
    /// How pages were programmed, where not all are alike.
    modes: Option<Box<PageModes>>,
    /// What ages data, where it errs.
    health: Option<Box<Health>>,
    /// Which blocks are bad, where blocks can be.
    bad_blocks: Option<Box<BadBlocks>>,
}

impl Array {
    /// A pristine array whose blocks bear `endurance` erases. Blocks hold at most 65,535 pages.
    pub fn new(layout: Layout, endurance: u32) -> Self {
        let blocks = layout.blocks() as usize;
        Self {
            layout,
            endurance,
            partial_programs: 1,
            programmed: vec![0; blocks],
            erases: vec![0; blocks],
            again: Vec::new(),
            single_level: Vec::new(),
            modes: None,
            health: None,
            bad_blocks: None,
        }
    }
    /// The same pristine array with pages that bear `programs` programs between two erases of their
    /// block (NOP; 1 to 255, what lies beyond counts as the nearest). Only the page programmed last
    /// in a block can be programmed again, as pages are programmed in order.
    #[must_use]
    pub fn with_partial_programs(mut self, programs: u32) -> Self {
        self.partial_programs = programs.clamp(1, 255) as u8;
        let blocks = if programs > 1 { self.erases.len() } else { 0 };
        self.again = vec![0; blocks];
        self
    }
    /// What an array takes of memory whose pages bear `programs` programs.
    pub fn memory(layout: &Layout, programs: u32, fill: Fill) -> Vec<Table> {
        let blocks = u64::from(layout.blocks());
        let again = if programs > 1 { blocks } else { 0 };
        vec![
            Table::zeroed::<u16>("programmed pages of blocks", blocks, fill.physical),
            Table::zeroed::<u32>("erases of blocks", blocks, 0.0),
            Table::zeroed::<u8>("partial programs", again, 0.0),
        ]
    }
    /// From now on, how pages are programmed is kept.
    pub fn keep_modes(&mut self, costs: &ModeCosts, preloaded: ProgramMode) {
        self.modes = Some(Box::new(PageModes::new(&self.layout, costs, preloaded)));
    }
    /// From now on, which blocks are in single-level mode is kept; none is.
    pub fn keep_single_level(&mut self) {
        let words = self.layout.blocks().div_ceil(u64::BITS);
        self.single_level = vec![0; words as usize];
    }
    /// Whether a block was last programmed in single-level mode.
    #[inline]
    pub fn is_single_level(&self, block: Block) -> bool {
        let word = self.single_level.get(block.index() / 64);
        word.is_some_and(|word| word >> (block.index() % 64) & 1 != 0)
    }
    /// A page of a block is about to be programmed, in single-level mode or not.
    pub fn set_single_level(&mut self, block: Block, single: bool) {
        if let Some(word) = self.single_level.get_mut(block.index() / 64) {
            let bit = 1 << (block.index() % 64);
            *word = if single { *word | bit } else { *word & !bit };
        }
    }
    /// From now on, what ages data is kept.
    pub fn track_health(&mut self) {
        self.health = Some(Box::new(Health::new(&self.layout)));
    }
    /// What ages data, where it is kept.
    #[inline]
    pub fn health(&self) -> Option<&Health> {
        self.health.as_deref()
    }
    /// The same, to tell it something.
    #[inline]
    pub fn health_mut(&mut self) -> Option<&mut Health> {
        self.health.as_deref_mut()
    }
    /// From now on, a block can go bad.
    pub fn keep_bad_blocks(&mut self, bad_blocks: BadBlocks) {
        self.bad_blocks = Some(Box::new(bad_blocks));
    }
    /// Which blocks are bad, where blocks can be.
    pub fn bad_blocks(&self) -> Option<&BadBlocks> {
        self.bad_blocks.as_deref()
    }
    /// An erase of a block has failed, or a program of a page of it: a spare block takes its place, erased or, after a program,
    /// with the same pages programmed. False if there is none left: the block is as it was.
    pub fn replace(&mut self, now: Time, block: Block, cause: Cause) -> bool {
        let erases = self.erases[block.index()];
        let Some(bad_blocks) = &mut self.bad_blocks else {
            return false;
        };
        let Some(spare) = bad_blocks.replace(block, cause, erases, now) else {
            return false;
        };
        self.erases.swap(block.index(), spare.index());
        if let Some(modes) = &mut self.modes {
            modes.swap_wear(block, spare);
        }
        if cause == Cause::Erase {
            self.programmed[block.index()] = 0;
        }
        if let Some(health) = &mut self.health {
            health.erased(block);
            if cause == Cause::Program {
                health.begun(now, block);
            }
        }
        true
    }
    /// An erase of a block has failed, or a program of a page of it, and no spare block takes its place, as those that stand by are
    /// for others: the block is as it was.
    pub fn retire(&mut self, now: Time, block: Block, cause: Cause) {
        let erases = self.erases[block.index()];
        if let Some(bad_blocks) = &mut self.bad_blocks {
            bad_blocks.add(BadBlock {
                block,
                spare: None,
                cause,
                erases,
                at: now,
            });
        }
    }
    /// Keeps what `other` keeps of modes, ages and bad blocks: of an array in whose place this one comes.
    pub fn take_books(&mut self, other: &mut Self) {
        self.modes = other.modes.take();
        self.single_level = std::mem::take(&mut other.single_level);
        self.health = other.health.take();
        self.bad_blocks = other.bad_blocks.take();
    }
    /// How pages were programmed, where not all are alike.
    #[inline]
    pub fn modes(&self) -> Option<&PageModes> {
        self.modes.as_deref()
    }
    /// A page is about to be programmed in a mode.
    #[inline]
    pub fn set_mode(&mut self, page: Ppn, mode: ProgramMode) {
        if let Some(modes) = &mut self.modes {
            modes.set(page, mode);
        }
    }
    /// A page has been programmed in the mode that was set: its block has worn.
    #[inline]
    pub fn wear(&mut self, page: Ppn) {
        if let Some(modes) = &mut self.modes {
            let mode = modes.of(page);
            modes.programmed(self.layout.block_of(page), mode);
        }
    }
    /// Programs a page.
    #[inline]
    pub fn program(&mut self, page: Ppn) -> Result<(), Violation> {
        let block = self.layout.block_of(page);
        let offset = page.0 - self.layout.page(block, 0).0;
        let next = &mut self.programmed[block.index()];
        if u32::from(*next) != offset {
            return self.program_again(page);
        }
        *next += 1;
        if let Some(again) = self.again.get_mut(block.index()) {
            *again = 0;
        }
        Ok(())
    }
    /// Programs all pages of a block, as [`Self::program`] would one after the other.
    pub fn program_block(&mut self, block: Block) -> Result<(), Violation> {
        let pages = self.layout.pages_per_block;
        if self.programmed[block.index()] > 0 {
            return (0..pages).try_for_each(|page| self.program(self.layout.page(block, page)));
        }
        self.programmed[block.index()] = pages as u16;
        if let Some(again) = self.again.get_mut(block.index()) {
            *again = 0;
        }
        Ok(())
    }
    /// Whether a page can be programmed; changes nothing.
    pub fn may_program(&self, page: Ppn) -> Result<(), Violation> {
        let block = self.layout.block_of(page);
        if self.layout.page_in_block(page) == self.programmed(block) {
            return Ok(());
        }
        self.may_program_again(page)
    }
    #[cold]
    fn program_again(&mut self, page: Ppn) -> Result<(), Violation> {
        self.may_program_again(page)?;
        let block = self.layout.block_of(page);
        self.again[block.index()] += 1;
        Ok(())
    }
    /// Whether a page that is not the next of its block is the last programmed one and bears a
    /// further program.
    fn may_program_again(&self, page: Ppn) -> Result<(), Violation> {
        let block = self.layout.block_of(page);
        let address = || self.layout.describe(page);
        let expected = self.programmed(block);
        let beside = self.layout.page_in_block(page) + 1;
        if beside > expected {
            return Err(Violation::OutOfOrder {
                address: address(),
                expected,
            });
        }
        let Some(&again) = self.again.get(block.index()) else {
            return Err(Violation::NotErased { address: address() });
        };
        if beside < expected {
            return Err(Violation::NotErased { address: address() });
        }
        let programs = u32::from(again) + 1;
        if programs >= u32::from(self.partial_programs) {
            return Err(Violation::TooManyPrograms {
                address: address(),
                programs,
            });
        }
        Ok(())
    }
    /// Reads a page.
    #[inline]
    pub fn read(&self, page: Ppn) -> Result<(), Violation> {
        let block = self.layout.block_of(page);
        let offset = page.0 - self.layout.page(block, 0).0;
        if offset < u32::from(self.programmed[block.index()]) {
            return Ok(());
        }
        Err(Violation::NotProgrammed {
            address: self.layout.describe(page),
        })
    }
    /// A page will be read or programmed soon: brings what is known of its block into the caches of
    /// the processor. Changes nothing.
    #[inline]
    pub fn prefetch(&self, page: Ppn) {
        prefetch_index(&self.programmed, self.layout.block_of(page).index());
    }
    /// Erases a block.
    #[inline]
    pub fn erase(&mut self, block: Block) -> Result<(), Violation> {
        self.may_erase(block)?;
        self.erases[block.index()] += 1;
        self.programmed[block.index()] = 0;
        Ok(())
    }
    /// Whether a block bears a further erase; changes nothing.
    #[inline]
    pub fn may_erase(&self, block: Block) -> Result<(), Violation> {
        let erases = self.erases[block.index()];
        if erases < self.endurance {
            return Ok(());
        }
        let address = self.layout.describe_block(block);
        Err(Violation::WornOut { address, erases })
    }
    /// Pages of a block that are programmed; they are its first ones.
    pub fn programmed(&self, block: Block) -> u32 {
        u32::from(self.programmed[block.index()])
    }
    /// Erases of every block, by block.
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Geometry;

    fn array() -> Array {
        let geometry = Geometry {
            blocks_per_plane: 2,
            pages_per_block: 3,
            planes_per_die: 1,
            ..Geometry::default()
        };
        Array::new(Layout::new(&geometry, 1).unwrap(), 2)
    }

    #[test]
    fn pages_are_programmed_in_order_and_once() {
        let mut array = array();
        assert_eq!(array.program(Ppn(3)), Ok(()));
        let address = "die 0, plane 0, block 1, page 0".to_owned();
        assert_eq!(array.program(Ppn(3)), Err(Violation::NotErased { address }));
        let address = "die 0, plane 0, block 1, page 2".to_owned();
        assert_eq!(
            array.program(Ppn(5)),
            Err(Violation::OutOfOrder {
                address,
                expected: 1
            })
        );
        assert_eq!(array.program(Ppn(4)), Ok(()));
        assert_eq!(array.erase(Block(1)), Ok(()));
        assert_eq!(array.program(Ppn(3)), Ok(()));
    }

    #[test]
    fn a_block_is_programmed_as_a_whole_only_when_it_is_erased() {
        let mut array = array();
        assert_eq!(array.program_block(Block(1)), Ok(()));
        let address = "die 0, plane 0, block 1, page 0".to_owned();
        assert_eq!(
            array.program_block(Block(1)),
            Err(Violation::NotErased { address })
        );
        assert_eq!(
            (array.programmed(Block(0)), array.programmed(Block(1))),
            (0, 3)
        );
        assert_eq!(array.read(Ppn(5)), Ok(()));
        array.erase(Block(1)).unwrap();
        assert_eq!(array.program(Ppn(3)), Ok(()));
        assert!(array.program_block(Block(1)).is_err());
        array.erase(Block(1)).unwrap();
        assert_eq!(array.program_block(Block(1)), Ok(()));
    }

    #[test]
    fn an_erased_page_cannot_be_read() {
        let mut array = array();
        assert!(matches!(
            array.read(Ppn(0)),
            Err(Violation::NotProgrammed { .. })
        ));
        array.program(Ppn(0)).unwrap();
        assert_eq!(array.read(Ppn(0)), Ok(()));
        array.erase(Block(0)).unwrap();
        assert!(matches!(
            array.read(Ppn(0)),
            Err(Violation::NotProgrammed { .. })
        ));
    }

    #[test]
    fn the_last_page_of_a_block_bears_as_many_programs_as_the_part() {
        let mut array = array().with_partial_programs(3);
        for _ in 0..3 {
            assert_eq!(array.may_program(Ppn(3)), Ok(()));
            assert_eq!(array.program(Ppn(3)), Ok(()));
        }
        let address = "die 0, plane 0, block 1, page 0".to_owned();
        let worn = Err(Violation::TooManyPrograms {
            address: address.clone(),
            programs: 3,
        });
        assert_eq!(array.may_program(Ppn(3)), worn);
        assert_eq!(array.program(Ppn(3)), worn);
        // The next page starts to count anew; the one before can no longer be programmed.
        assert_eq!(array.program(Ppn(4)), Ok(()));
        assert_eq!(array.program(Ppn(4)), Ok(()));
        assert_eq!(array.program(Ppn(3)), Err(Violation::NotErased { address }));
        assert_eq!(array.programmed(Block(1)), 2);
        // So does an erase.
        array.erase(Block(1)).unwrap();
        for _ in 0..3 {
            assert_eq!(array.program(Ppn(3)), Ok(()));
        }
        assert!(array.program(Ppn(3)).is_err());
    }

    #[test]
    fn a_spare_block_takes_the_place_of_a_bad_one() {
        let geometry = Geometry {
            blocks_per_plane: 4,
            pages_per_block: 3,
            planes_per_die: 1,
            ..Geometry::default()
        };
        let layout = Layout::new(&geometry, 1).unwrap();
        let mut array = Array::new(layout, u32::MAX);
        // Blocks 2 and 3 stand by; they are taken from the first on.
        array.keep_bad_blocks(BadBlocks::new(&layout, 2, 0.0, 1).unwrap());
        array.track_health();
        for _ in 0..5 {
            array.program(Ppn(3)).unwrap();
            array.erase(Block(1)).unwrap();
        }
        array.program(Ppn(3)).unwrap();
        array.health_mut().unwrap().read(Block(1));
        let now = Time::from_ms(1);
        assert!(array.replace(now, Block(1), Cause::Program));
        // The same page is programmed in new cells, which nobody has read since.
        assert_eq!(
            (array.programmed(Block(1)), array.erases()),
            (1, &[0, 0, 5, 0][..])
        );
        let read = array.health().unwrap().of(now, Block(1), 0);
        assert_eq!((read.reads, read.lain), (0, Some(Time::ZERO)));
        array.erase(Block(1)).unwrap();
        array.program(Ppn(3)).unwrap();
        // The last spare block is another's: this one is as it was, and none stands by less.
        array.program(Ppn(0)).unwrap();
        array.retire(now, Block(0), Cause::Program);
        let bad = array.bad_blocks().unwrap();
        assert_eq!((array.programmed(Block(0)), bad.spares()), (1, 1));
        assert!(array.replace(now, Block(1), Cause::Erase));
        assert_eq!(
            (array.programmed(Block(1)), array.erases()),
            (0, &[0, 0, 5, 1][..])
        );
        // None is left: the block is as it was, and counts as bad once.
        assert!(!array.replace(now, Block(0), Cause::Erase));
        assert_eq!(array.programmed(Block(0)), 1);
        let bad = array.bad_blocks().unwrap();
        let spares = bad.table().iter().map(|bad| bad.spare);
        assert_eq!(
            spares.collect::<Vec<_>>(),
            [Some(Block(2)), None, Some(Block(3))]
        );
        assert_eq!((bad.spares(), bad.in_use(), bad.fewest_spares()), (0, 1, 0));
    }

    #[test]
    fn a_block_bears_its_endurance_and_no_more() {
        let mut array = array();
        array.erase(Block(0)).unwrap();
        array.erase(Block(0)).unwrap();
        let address = "die 0, plane 0, block 0".to_owned();
        assert_eq!(
            array.erase(Block(0)),
            Err(Violation::WornOut { address, erases: 2 })
        );
        assert_eq!(array.erases(), [2, 0]);
    }
}
