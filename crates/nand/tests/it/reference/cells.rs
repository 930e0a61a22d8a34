//! Array of a die; every page is stored separately.

use super::{Part, Refusal};

/// Page of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Plane in the die.
    pub plane: usize,
    /// Block in the plane.
    pub block: usize,
    /// Page in the block.
    pub page: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    programs: u32,
    content: u64,
}

#[derive(Clone, Debug)]
struct Block {
    pages: Vec<Page>,
    erases: u32,
}

/// All blocks of a die.
#[derive(Clone, Debug)]
pub struct Cells {
    planes: Vec<Vec<Block>>,
    partial_programs: u32,
    endurance: u32,
}

impl Cells {
    /// Creates an array that was never erased or programmed.
    pub fn new(part: &Part) -> Self {
        let block = Block {
            pages: vec![Page::default(); part.pages],
            erases: 0,
        };
        Self {
            planes: vec![vec![block; part.blocks]; part.planes],
            partial_programs: part.partial_programs,
            endurance: part.endurance,
        }
    }
    fn block(&self, place: Place) -> &Block {
        &self.planes[place.plane][place.block]
    }
    fn page(&mut self, place: Place) -> &mut Page {
        &mut self.planes[place.plane][place.block].pages[place.page]
    }
    /// Returns the number of programmed pages of the block.
    pub fn programmed(&self, plane: usize, block: usize) -> usize {
        let pages = &self.planes[plane][block].pages;
        pages.iter().filter(|page| page.programs > 0).count()
    }
    /// Returns the number of erases of the block.
    pub fn erases(&self, plane: usize, block: usize) -> u32 {
        self.planes[plane][block].erases
    }
    /// Returns the content of a page; 0 if it has none.
    pub fn content(&self, place: Place) -> u64 {
        self.block(place).pages[place.page].content
    }
    /// Returns an error if the page may not be read.
    pub fn may_read(&self, place: Place) -> Result<(), Refusal> {
        if self.block(place).pages[place.page].programs == 0 {
            return Err(Refusal::NotProgrammed);
        }
        Ok(())
    }
    /// Returns an error if the page may not be programmed.
    pub fn may_program(&self, place: Place) -> Result<(), Refusal> {
        let pages = &self.block(place).pages;
        let programs = pages[place.page].programs;
        let later = &pages[place.page + 1..];
        if place.page > 0 && pages[place.page - 1].programs == 0 {
            return Err(Refusal::OutOfOrder);
        }
        if programs >= self.partial_programs || later.iter().any(|page| page.programs > 0) {
            return Err(Refusal::Programmed);
        }
        Ok(())
    }
    /// Returns an error if the block may not be erased.
    pub fn may_erase(&self, place: Place) -> Result<(), Refusal> {
        if self.block(place).erases >= self.endurance {
            return Err(Refusal::WornOut);
        }
        Ok(())
    }
    /// Starts a program of the page; its content is lost until the program ends.
    pub fn program(&mut self, place: Place) {
        let page = self.page(place);
        page.programs += 1;
        page.content = 0;
    }
    /// Ends a program of the page.
    pub fn fill(&mut self, place: Place, content: u64) {
        self.page(place).content = content;
    }
    /// Erases the block of the page.
    pub fn erase(&mut self, place: Place) {
        let block = &mut self.planes[place.plane][place.block];
        block.erases += 1;
        block.pages.fill(Page::default());
    }
}
