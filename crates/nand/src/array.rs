//! State of the memory array, and the programming rules that every operation obeys.

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::Time;
use wordline_kernel::memory::{Fill, Table};
use wordline_reliability::{ModeCosts, ProgramMode};

use crate::{BadBlock, BadBlocks, Block, Cause, Health, Layout, PageModes, Ppn};

/// Operation that violates a rule of the NAND part.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Violation {
    /// A program skips a page of its block. Pages of a block must be programmed in order.
    #[error(
        "program of {address} out of order: the next page of the block is {expected}; program pages in order"
    )]
    OutOfOrder {
        /// Address of the page, as text.
        address: String,
        /// Page in block that can be programmed next.
        expected: u32,
    },
    /// A program of a page that must not be programmed again before its block is erased.
    #[error("program of {address}, which is already programmed; erase its block first")]
    NotErased {
        /// Address of the page, as text.
        address: String,
    },
    /// A program of a page that has reached its number of partial programs (NOP).
    #[error(
        "program of {address}, which has reached its limit of {programs} partial programs; erase its block first, or raise nand.partial_programs"
    )]
    TooManyPrograms {
        /// Address of the page, as text.
        address: String,
        /// Programs of the page since the last erase of its block. Count.
        programs: u32,
    },
    /// A read of a page that is not programmed.
    #[error("read of {address}, which is not programmed; program it before reading")]
    NotProgrammed {
        /// Address of the page, as text.
        address: String,
    },
    /// An erase of a block that has reached its endurance.
    #[error(
        "erase of {address}, which has reached its endurance of {erases} cycles; raise nand.endurance_cycles or write less"
    )]
    WornOut {
        /// Address of the block, as text.
        address: String,
        /// Program/erase cycles of the block. Count.
        erases: u32,
    },
}

/// Programmed pages and erase count of each block.
///
/// Takes six bytes per block, or seven if a page can be programmed more than once. The memory of a
/// block is touched at its first use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Array {
    layout: Layout,
    endurance: u32,
    partial_programs: u8,
    #[serde(with = "wordline_kernel::dense")]
    programmed: Vec<u16>,
    #[serde(with = "wordline_kernel::dense")]
    erases: Vec<u32>,
    /// Repeated programs of each block's last programmed page, without its first program. Count.
    /// Empty if the part does not support partial programs.
    #[serde(with = "wordline_kernel::dense")]
    again: Vec<u8>,
    /// One bit per block: set if the block was last programmed in single-level mode. Empty if the
    /// array does not track the mode.
    #[serde(with = "wordline_kernel::dense")]
    single_level: Vec<u64>,
    /// Program modes of pages, if tracked.
    modes: Option<Box<PageModes>>,
    /// Reads and data age of blocks, if reads can fail.
    health: Option<Box<Health>>,
    /// Bad-block table, if blocks can fail.
    bad_blocks: Option<Box<BadBlocks>>,
}

impl Array {
    /// Creates an erased array whose blocks endure `endurance` erases. A block has at most 65,535
    /// pages.
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
    /// Sets the number of programs that a page supports between two erases of its block (NOP).
    /// Values are clamped to the range 1 to 255. Only the last programmed page of a block can be
    /// programmed again, because pages are programmed in order.
    #[must_use]
    pub fn with_partial_programs(mut self, programs: u32) -> Self {
        self.partial_programs = programs.clamp(1, 255) as u8;
        let blocks = if programs > 1 { self.erases.len() } else { 0 };
        self.again = vec![0; blocks];
        self
    }
    /// Returns the tables of an array whose pages can be programmed `programs` times between
    /// erases, with the memory of each. Tables that an array has only on request are not included.
    pub fn memory(layout: &Layout, programs: u32, fill: Fill) -> Vec<Table> {
        let blocks = u64::from(layout.blocks());
        let again = if programs > 1 { blocks } else { 0 };
        vec![
            Table::zeroed::<u16>("programmed pages of blocks", blocks, fill.physical),
            Table::zeroed::<u32>("erases of blocks", blocks, 0.0),
            Table::zeroed::<u8>("partial programs", again, 0.0),
        ]
    }
    /// Starts tracking the program mode of each page.
    pub fn keep_modes(&mut self, costs: &ModeCosts, preloaded: ProgramMode) {
        self.modes = Some(Box::new(PageModes::new(&self.layout, costs, preloaded)));
    }
    /// Starts tracking which blocks are in single-level mode. Initially, no block is.
    pub fn keep_single_level(&mut self) {
        let words = self.layout.blocks().div_ceil(u64::BITS);
        self.single_level = vec![0; words as usize];
    }
    /// Returns `true` if the block was last programmed in single-level mode.
    #[inline]
    pub fn is_single_level(&self, block: Block) -> bool {
        let word = self.single_level.get(block.index() / 64);
        word.is_some_and(|word| word >> (block.index() % 64) & 1 != 0)
    }
    /// Records whether the block is in single-level mode. The caller does so before it programs a
    /// page of the block.
    pub fn set_single_level(&mut self, block: Block, single: bool) {
        if let Some(word) = self.single_level.get_mut(block.index() / 64) {
            let bit = 1 << (block.index() % 64);
            *word = if single { *word | bit } else { *word & !bit };
        }
    }
    /// Starts tracking the reads and the data age of each block.
    pub fn track_health(&mut self) {
        self.health = Some(Box::new(Health::new(&self.layout)));
    }
    /// Returns the reads and data age of blocks, if tracked.
    #[inline]
    pub fn health(&self) -> Option<&Health> {
        self.health.as_deref()
    }
    /// Returns mutable access to the reads and data age of blocks, if tracked.
    #[inline]
    pub fn health_mut(&mut self) -> Option<&mut Health> {
        self.health.as_deref_mut()
    }
    /// Starts tracking bad blocks.
    pub fn keep_bad_blocks(&mut self, bad_blocks: BadBlocks) {
        self.bad_blocks = Some(Box::new(bad_blocks));
    }
    /// Returns the bad-block table, if blocks can fail.
    pub fn bad_blocks(&self) -> Option<&BadBlocks> {
        self.bad_blocks.as_deref()
    }
    /// Replaces a block whose erase or page program has failed with a spare block. After an erase
    /// failure, the block is erased; after a program failure, it has the same programmed pages as
    /// before. Returns `false` and leaves the block unchanged if its plane has no spare block left,
    /// if the block is itself a spare block, or if the array has no bad-block table.
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
    /// Records a bad block without replacing it, because the remaining spare blocks are reserved
    /// for others. The block is unchanged.
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
    /// Takes over the program modes, single-level states, data ages and bad blocks that `other`,
    /// the array that this one replaces, tracks.
    pub fn take_books(&mut self, other: &mut Self) {
        self.modes = other.modes.take();
        self.single_level = std::mem::take(&mut other.single_level);
        self.health = other.health.take();
        self.bad_blocks = other.bad_blocks.take();
    }
    /// Returns the program modes of pages, if tracked.
    #[inline]
    pub fn modes(&self) -> Option<&PageModes> {
        self.modes.as_deref()
    }
    /// Sets the mode of a page before its program.
    #[inline]
    pub fn set_mode(&mut self, page: Ppn, mode: ProgramMode) {
        if let Some(modes) = &mut self.modes {
            modes.set(page, mode);
        }
    }
    /// Adds the wear of a program in the current mode of the page to its block.
    #[inline]
    pub fn wear(&mut self, page: Ppn) {
        if let Some(modes) = &mut self.modes {
            let mode = modes.of(page);
            modes.programmed(self.layout.block_of(page), mode);
        }
    }
    /// Programs a page, or returns the rule that the program violates.
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
    /// Programs all pages of a block. The result is that of calling [`Self::program`] for each page
    /// in order.
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
    /// Returns the rule that a program of the page violates, if any. Changes nothing.
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
    /// Returns an error unless the page is the last programmed one of its block and supports
    /// another program. The caller has checked that it is not the next page of the block.
    fn may_program_again(&self, page: Ppn) -> Result<(), Violation> {
        let block = self.layout.block_of(page);
        let address = || self.layout.describe(page);
        let expected = self.programmed(block);
        let end = self.layout.page_in_block(page) + 1;
        if end > expected {
            return Err(Violation::OutOfOrder {
                address: address(),
                expected,
            });
        }
        let Some(&again) = self.again.get(block.index()) else {
            return Err(Violation::NotErased { address: address() });
        };
        if end < expected {
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
    /// Returns an error if the page is not programmed, so that it cannot be read.
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
    /// Loads the state of the page's block into the CPU cache before a read or program. Does not
    /// change results.
    #[inline]
    pub fn prefetch(&self, page: Ppn) {
        prefetch_index(&self.programmed, self.layout.block_of(page).index());
    }
    /// Erases a block, or returns an error if the block has reached its endurance.
    #[inline]
    pub fn erase(&mut self, block: Block) -> Result<(), Violation> {
        self.may_erase(block)?;
        self.erases[block.index()] += 1;
        self.programmed[block.index()] = 0;
        Ok(())
    }
    /// Returns an error if the block has reached its endurance. Changes nothing.
    #[inline]
    pub fn may_erase(&self, block: Block) -> Result<(), Violation> {
        let erases = self.erases[block.index()];
        if erases < self.endurance {
            return Ok(());
        }
        let address = self.layout.describe_block(block);
        Err(Violation::WornOut { address, erases })
    }
    /// Returns the number of programmed pages of a block, which are its first pages.
    pub fn programmed(&self, block: Block) -> u32 {
        u32::from(self.programmed[block.index()])
    }
    /// Returns the erase count of each block, in block order.
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
    fn program_block_requires_an_erased_block() {
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
    fn erased_page_cannot_be_read() {
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
    fn only_the_last_programmed_page_supports_partial_programs() {
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
        // The count starts at zero for the next page; the previous page cannot be programmed again.
        assert_eq!(array.program(Ppn(4)), Ok(()));
        assert_eq!(array.program(Ppn(4)), Ok(()));
        assert_eq!(array.program(Ppn(3)), Err(Violation::NotErased { address }));
        assert_eq!(array.programmed(Block(1)), 2);
        // An erase also resets the count.
        array.erase(Block(1)).unwrap();
        for _ in 0..3 {
            assert_eq!(array.program(Ppn(3)), Ok(()));
        }
        assert!(array.program(Ppn(3)).is_err());
    }

    #[test]
    fn spare_block_replaces_bad_block() {
        let geometry = Geometry {
            blocks_per_plane: 4,
            pages_per_block: 3,
            planes_per_die: 1,
            ..Geometry::default()
        };
        let layout = Layout::new(&geometry, 1).unwrap();
        let mut array = Array::new(layout, u32::MAX);
        // Blocks 2 and 3 are spare; block 2 is used first.
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
        // The new cells have the same programmed pages, and none has been read since its erase.
        assert_eq!(
            (array.programmed(Block(1)), array.erases()),
            (1, &[0, 0, 5, 0][..])
        );
        let read = array.health().unwrap().of(now, Block(1), 0);
        assert_eq!((read.reads, read.lain), (0, Some(Time::ZERO)));
        array.erase(Block(1)).unwrap();
        array.program(Ppn(3)).unwrap();
        // The last spare block is reserved for another block: block 0 is unchanged and the spare
        // count stays at 1.
        array.program(Ppn(0)).unwrap();
        array.retire(now, Block(0), Cause::Program);
        let bad = array.bad_blocks().unwrap();
        assert_eq!((array.programmed(Block(0)), bad.spares()), (1, 1));
        assert!(array.replace(now, Block(1), Cause::Erase));
        assert_eq!(
            (array.programmed(Block(1)), array.erases()),
            (0, &[0, 0, 5, 1][..])
        );
        // No spare block is left: block 0 is unchanged and is listed as bad once.
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
    fn block_cannot_be_erased_beyond_its_endurance() {
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
