//! History of the last accesses to each page (Li et al., section 4.1).

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_reliability::ProgramMode;

use super::{Characteristic, Graded, Regulate, Rewriting, Storage};
use crate::lpn::Lpn;

/// Flag of a page that was accessed at least once.
const ACCESSED: u8 = 1 << 7;
/// Bit position of the number of recorded accesses. The bits below it represent one access each,
/// the most recent one lowest; a bit is set for a write.
const COUNT: u8 = 4;

/// Windows of accesses, per page, on which a scheme bases its decisions: the current access and the
/// preceding ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct History {
    /// Maximum number of past accesses recorded per page.
    kept: u8,
    #[serde(with = "wordline_kernel::dense")]
    pages: Vec<u8>,
}

impl History {
    /// Creates windows of `window` accesses, 1 to 3, including the current one.
    pub fn new(window: u32, user_pages: u32) -> Self {
        Self {
            kept: window.clamp(1, 3) as u8 - 1,
            pages: vec![0; user_pages as usize],
        }
    }
    /// Returns the memory estimate of the histories.
    pub fn memory(user_pages: u32, fill: Fill) -> Vec<Table> {
        let pages = user_pages.into();
        vec![Table::zeroed::<u8>("access histories", pages, fill.logical)]
    }
    /// Records an access to a page. Returns the characteristic of its window.
    pub fn access(&mut self, page: Lpn, write: bool) -> Characteristic {
        let Some(entry) = self.pages.get_mut(page.index()) else {
            return Characteristic::New;
        };
        let count = *entry >> COUNT & 3;
        let past = *entry & ((1 << count) - 1);
        let is_new = *entry == 0;
        let kept = (count + 1).min(self.kept);
        let later = (past << 1 | u8::from(write)) & ((1 << kept) - 1);
        *entry = ACCESSED | kept << COUNT | later;
        let writes = past.count_ones() + u32::from(write);
        match (is_new, writes) {
            (true, _) => Characteristic::New,
            (_, 0) => Characteristic::ReadOnly,
            (_, writes) if writes == u32::from(count) + 1 => Characteristic::WriteOnly,
            _ => Characteristic::Interleaved,
        }
    }
    /// Returns the bits per page: one per past access, and a flag for pages written at high cost.
    pub fn storage(&self) -> Storage {
        Storage {
            bits_per_page: u32::from(self.kept) + 1,
            bytes: 0,
        }
    }
}

/// Returns `true` if a page that is read should be rewritten at high cost: it is read-only and was
/// not written at high cost. If the page was never accessed before, this read alone counts.
pub fn wants_high(found: Characteristic, mode: ProgramMode) -> bool {
    matches!(found, Characteristic::New | Characteristic::ReadOnly) && mode != ProgramMode::High
}

/// Mode in which a history-guided scheme programs write-only pages.
pub trait WriteOnly {
    /// Whether the mode depends on waiting requests.
    const ASKS_FOR_QUEUE: bool = false;
    /// Returns the program mode. `queued` states whether an operation of another host request
    /// waits.
    fn mode(queued: bool) -> ProgramMode;
}

/// History-guided scheme of Li et al., section 4.2. First writes have high cost; writes of pages
/// that are both read and written have medium cost. A read-only page is rewritten at high cost in
/// idle time, unless it already has high cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Guided<S> {
    history: History,
    preloaded: ProgramMode,
    scheme: PhantomData<S>,
}

impl<S> Guided<S> {
    /// Creates the scheme with windows of `window` accesses. Data older than the run was programmed
    /// in mode `preloaded`.
    pub(super) fn of(window: u32, preloaded: ProgramMode, user_pages: u32) -> Self {
        Self {
            history: History::new(window, user_pages),
            preloaded,
            scheme: PhantomData,
        }
    }
    /// Returns the memory estimate of the scheme.
    pub(super) fn memory(user_pages: u32, fill: Fill) -> Vec<Table> {
        History::memory(user_pages, fill)
    }
}

impl<S: WriteOnly> Regulate for Guided<S> {
    fn preloaded(&self) -> ProgramMode {
        self.preloaded
    }
    fn access(&mut self, page: Lpn, write: bool) -> Characteristic {
        self.history.access(page, write)
    }
    fn asks_for_queue(&self) -> bool {
        S::ASKS_FOR_QUEUE
    }
    fn write(&self, _page: Lpn, found: Characteristic, queued: bool) -> Graded {
        Graded::once(match found {
            Characteristic::New => ProgramMode::High,
            Characteristic::WriteOnly => S::mode(queued),
            Characteristic::ReadOnly | Characteristic::Interleaved => ProgramMode::Medium,
        })
    }
    fn read(&self, _page: Lpn, found: Characteristic, mode: ProgramMode) -> bool {
        wants_high(found, mode)
    }
    fn rewriting(&self) -> Rewriting {
        Rewriting::Idle
    }
    fn storage(&self) -> Storage {
        self.history.storage()
    }
}

#[cfg(test)]
mod tests {
    use wordline_kernel::Rng;

    use super::*;

    /// Reference implementation: takes all accesses of a page as a list.
    fn naive(past: &[bool], write: bool, window: usize) -> Characteristic {
        if past.is_empty() {
            return Characteristic::New;
        }
        let mut seen: Vec<bool> = past.iter().rev().take(window - 1).copied().collect();
        seen.push(write);
        match (seen.contains(&false), seen.contains(&true)) {
            (true, false) => Characteristic::ReadOnly,
            (false, true) => Characteristic::WriteOnly,
            _ => Characteristic::Interleaved,
        }
    }

    #[test]
    fn packed_history_gives_the_characteristic_of_the_full_access_list() {
        for window in 1..=3 {
            let mut history = History::new(window, 5);
            let mut all = vec![Vec::new(); 5];
            let mut random = Rng::new(u64::from(window), "accesses");
            for _ in 0..2000 {
                let page = random.below(5) as usize;
                let write = random.below(2) == 1;
                let expected = naive(&all[page], write, window as usize);
                assert_eq!(history.access(Lpn(page as u32), write), expected);
                all[page].push(write);
            }
        }
    }

    #[test]
    fn window_of_two_accesses_takes_two_bits_per_page() {
        // One bit of history and the flag: 32 Mbit for the 16 Mi pages of 64 GiB.
        let storage = History::new(2, 1).storage();
        assert_eq!(
            u64::from(storage.bits_per_page) * (64 << 30) / 4096,
            32 << 20
        );
    }
}
