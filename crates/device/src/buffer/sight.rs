//! What the replacement policy sees, and what it says.

use wordline_cache::Entry;
use wordline_cache::replacement::Owner;
use wordline_ftl::Mapping;
use wordline_nand::Die;

use super::frame::Frames;
use crate::controller::Controller;

/// What the replacement policy sees of pages and chips.
pub(super) struct Sight<'a, M> {
    pub frames: &'a mut Frames,
    pub flash: &'a Controller<M>,
    pub bound: &'a [Bound],
    pub left: &'a mut Vec<Gone>,
}

/// Work for a chip that has been decided on and that the flash does not have yet: it waits for the
/// memory's port, or for the rest of a request. Who leaves next is to be told of it, or all pages
/// that one request evicts would go to the chip that was idle before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    pub reads: u32,
    pub programs: u32,
}

/// An entry that was evicted, or only forgotten.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    pub entry: Entry,
    pub evicted: bool,
}

impl<M: Mapping> Sight<'_, M> {
    fn load_of(&self, die: Die) -> u64 {
        let bound = self.bound[die.index()];
        let coming = self.flash.time_of(bound.reads, bound.programs);
        (self.flash.chip_time(die) + coming).0
    }
}

impl<M: Mapping> Owner for Sight<'_, M> {
    fn key(&self, entry: Entry) -> u64 {
        self.frames.get(entry).page.0.into()
    }
    fn is_dirty(&self, entry: Entry) -> bool {
        let frame = self.frames.get(entry);
        frame.is_ahead() || frame.writes > 0
    }
    fn load(&self, entry: Entry) -> u64 {
        let chip = self.flash.chip_of(self.frames.get(entry).page);
        chip.map_or(0, |die| self.load_of(die))
    }
    /// A page without a chip has no load; where the address decides, every page has one.
    fn least_load(&self) -> u64 {
        if !self.flash.address_decides() {
            return 0;
        }
        let dies = (0..self.bound.len() as u32).map(Die);
        dies.map(|die| self.load_of(die)).min().unwrap_or(0)
    }
    fn is_collecting(&self, entry: Entry) -> bool {
        let chip = self.flash.chip_of(self.frames.get(entry).page);
        chip.is_some_and(|die| self.flash.chip_load(die).collections > 0)
    }
    fn evicted(&mut self, entry: Entry) {
        self.frames.get_mut(entry).resident = false;
        let evicted = true;
        self.left.push(Gone { entry, evicted });
    }
    fn forgotten(&mut self, entry: Entry) {
        self.frames.get_mut(entry).known = false;
        let evicted = false;
        if self.left.iter().all(|gone| gone.entry != entry) {
            self.left.push(Gone { entry, evicted });
        }
    }
}
