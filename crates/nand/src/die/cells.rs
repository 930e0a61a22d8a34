//! Cells of a package: the state of the array and the content of its pages.

use crate::{Array, Block, Layout, Ppn, Violation};

/// Array state and page contents. A token stands for the content of a page.
#[derive(Clone, Debug)]
pub struct Cells {
    /// Programmed pages and erase counts.
    pub array: Array,
    layout: Layout,
    /// Tokens of the programmed pages of each block, which are its first pages.
    contents: Vec<Vec<u64>>,
}

impl Cells {
    pub(crate) fn new(layout: Layout, endurance: u32, partial_programs: u32) -> Self {
        Self {
            array: Array::new(layout, endurance).with_partial_programs(partial_programs),
            layout,
            contents: vec![Vec::new(); layout.blocks() as usize],
        }
    }
    /// Returns the content of a programmed page; 0 if its program was aborted, `None` if the page
    /// is not programmed.
    pub fn content(&self, page: Ppn) -> Option<u64> {
        let offset = self.layout.page_in_block(page) as usize;
        let block = self.contents.get(self.layout.block_of(page).index())?;
        block.get(offset).copied()
    }
    pub(super) fn read(&self, page: Ppn) -> Result<u64, Violation> {
        self.array.read(page)?;
        Ok(self.content(page).unwrap_or_default())
    }
    /// Programs a page that [`Array::may_program`] accepts.
    pub(super) fn program(&mut self, page: Ppn, content: u64) -> Result<(), Violation> {
        self.array.program(page)?;
        self.contents[self.layout.block_of(page).index()]
            .truncate(self.layout.page_in_block(page) as usize);
        self.contents[self.layout.block_of(page).index()].push(content);
        Ok(())
    }
    pub(super) fn erase(&mut self, block: Block) -> Result<(), Violation> {
        self.array.erase(block)?;
        self.contents[block.index()].clear();
        Ok(())
    }
    /// Discards the content of a page whose program was aborted. The page counts as programmed.
    pub(super) fn lose(&mut self, page: Ppn) {
        let offset = self.layout.page_in_block(page) as usize;
        if let Some(content) = self.contents[self.layout.block_of(page).index()].get_mut(offset) {
            *content = 0;
        }
    }
}
