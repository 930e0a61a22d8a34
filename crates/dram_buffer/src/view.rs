//! View of the buffer for the replacement policy, and the policy's decisions.

use serde::{Deserialize, Serialize};
use wordline_cache::Entry;
use wordline_cache::replacement::Owner;

use crate::backing::{Backing, Chip};
use crate::frame::Frames;

/// Pages and dies as seen by the replacement policy.
pub(super) struct View<'a, B> {
    pub frames: &'a mut Frames,
    pub backing: &'a B,
    pub decided: &'a [Decided],
    pub left: &'a mut Vec<Departure>,
}

/// Work for a die that has been decided but not submitted to flash yet, because it waits for the
/// memory's port or for the rest of a request. It counts as load of the die, so that the policy
/// does not evict all pages of one request to the die that was idle before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Decided {
    pub reads: u32,
    pub programs: u32,
}

/// Entry that the policy has evicted, or has only dropped from its ghost entries.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Departure {
    pub entry: Entry,
    pub evicted: bool,
}

impl<B: Backing> View<'_, B> {
    fn load_of(&self, chip: Chip) -> u64 {
        let Decided { reads, programs } = self.decided[chip.index()];
        self.backing.load(chip, reads, programs).0
    }
}

impl<B: Backing> Owner for View<'_, B> {
    fn key(&self, entry: Entry) -> u64 {
        self.frames.get(entry).page.0.into()
    }
    fn is_dirty(&self, entry: Entry) -> bool {
        let frame = self.frames.get(entry);
        frame.is_ahead() || frame.writes > 0
    }
    fn load(&self, entry: Entry) -> u64 {
        let chip = self.backing.chip_of(self.frames.get(entry).page);
        chip.map_or(0, |chip| self.load_of(chip))
    }
    /// Returns the lowest load of all dies. If addresses do not determine the die, returns 0, the
    /// load of a page without a die.
    fn least_load(&self) -> u64 {
        if !self.backing.address_decides() {
            return 0;
        }
        let chips = (0..self.decided.len() as u32).map(Chip);
        chips.map(|chip| self.load_of(chip)).min().unwrap_or(0)
    }
    fn is_collecting(&self, entry: Entry) -> bool {
        let chip = self.backing.chip_of(self.frames.get(entry).page);
        chip.is_some_and(|chip| self.backing.is_collecting(chip))
    }
    fn evicted(&mut self, entry: Entry) {
        self.frames.get_mut(entry).resident = false;
        let evicted = true;
        self.left.push(Departure { entry, evicted });
    }
    fn forgotten(&mut self, entry: Entry) {
        self.frames.get_mut(entry).known = false;
        let evicted = false;
        if self.left.iter().all(|departure| departure.entry != entry) {
            self.left.push(Departure { entry, evicted });
        }
    }
}
