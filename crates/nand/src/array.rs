//! The state of the memory array, and the rules that no operation may break.

use thiserror::Error;

use crate::{Block, Layout, Ppn};

/// An operation that a NAND part forbids.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
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
/// Memory is six bytes a block, touched when the block is first used.
#[derive(Clone, Debug)]
pub struct Array {
    layout: Layout,
    endurance: u32,
    programmed: Vec<u16>,
    erases: Vec<u32>,
}

impl Array {
    /// A pristine array whose blocks bear `endurance` erases. Blocks hold at most 65,535 pages.
    pub fn new(layout: Layout, endurance: u32) -> Self {
        let blocks = layout.blocks() as usize;
        Self {
            layout,
            endurance,
            programmed: vec![0; blocks],
            erases: vec![0; blocks],
        }
    }
    /// tmp
    pub fn with_partial_programs(self, _n: u8) -> Self {
        self
    }
    /// tmp
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// tmp
    pub fn may_program(&self, page: Ppn) -> Result<(), Violation> {
        let block = self.layout.block_of(page);
        let offset = page.0 - self.layout.page(block, 0).0;
        if u32::from(self.programmed[block.index()]) != offset {
            return Err(self.misplaced(page));
        }
        Ok(())
    }
    /// tmp
    pub fn may_erase(&self, _block: Block) -> Result<(), Violation> {
        Ok(())
    }
    /// Programs a page.
    #[inline]
    pub fn program(&mut self, page: Ppn) -> Result<(), Violation> {
        let block = self.layout.block_of(page);
        let offset = page.0 - self.layout.page(block, 0).0;
        let next = &mut self.programmed[block.index()];
        if u32::from(*next) != offset {
            return Err(self.misplaced(page));
        }
        *next += 1;
        Ok(())
    }
    #[cold]
    fn misplaced(&self, page: Ppn) -> Violation {
        let address = self.layout.describe(page);
        let expected = u32::from(self.programmed[self.layout.block_of(page).index()]);
        if self.layout.page_in_block(page) < expected {
            Violation::NotErased { address }
        } else {
            Violation::OutOfOrder { address, expected }
        }
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
    /// Erases a block.
    #[inline]
    pub fn erase(&mut self, block: Block) -> Result<(), Violation> {
        let erases = &mut self.erases[block.index()];
        if *erases >= self.endurance {
            let address = self.layout.describe_block(block);
            return Err(Violation::WornOut {
                address,
                erases: *erases,
            });
        }
        *erases += 1;
        self.programmed[block.index()] = 0;
        Ok(())
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
