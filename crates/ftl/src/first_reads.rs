//! First-read placement of preconditioned data (`precondition.layout`).
//!
//! Preconditioning has placed the pages in the order of allocation. Pages that were neither read
//! nor written since are interchangeable. Therefore the page that is read first takes the first
//! place of the fill, the next page takes the second, and each swaps with the page that was there.
//! The result is the same as if the device had been filled in that order. Placement ends with the
//! first GC run, which moves data for other reasons.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_nand::Ppn;

use crate::lpn::Lpn;
use crate::mapping::Mapping;

/// Progress of first-read placement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FirstReads {
    /// Number of pages that preconditioning filled, from page 0.
    filled: u32,
    /// Page that was filled at the next place of the fill to assign.
    next: u32,
    /// Bit per page, set if the page was read or written.
    touched: Vec<u64>,
    /// Place where a page was filled, for pages that have left it or may leave it. `None` if the
    /// page was read there again after a write was requested: a read of the place may be in
    /// progress, so that its content must stay.
    origins: FxHashMap<u32, Option<Ppn>>,
}

impl FirstReads {
    /// Creates the state for `filled` pages. Returns `None` if there are none, so that pages are
    /// placed by address.
    pub fn new(filled: u32) -> Option<Box<Self>> {
        (filled > 0).then(|| {
            Box::new(Self {
                filled,
                next: 0,
                touched: vec![0; filled.div_ceil(u64::BITS) as usize],
                origins: FxHashMap::default(),
            })
        })
    }
    fn is_touched(&self, page: Lpn) -> bool {
        page.0 >= self.filled || self.touched[page.index() / 64] >> (page.0 % 64) & 1 == 1
    }
    /// Marks a page as read or written. Returns `true` the first time.
    fn touch(&mut self, page: Lpn) -> bool {
        if self.is_touched(page) {
            return false;
        }
        self.touched[page.index() / 64] |= 1 << (page.0 % 64);
        true
    }
    /// Records the place of a page that is about to be written, if this is its first access.
    pub fn before_write(&mut self, mapping: &impl Mapping, page: Lpn) {
        if self.touch(page)
            && let Some(place) = mapping.lookup(page)
        {
            self.origins.entry(page.0).or_insert(Some(place));
        }
    }

    /// Handles a page that is about to be read. On its first read, the page takes the next place of
    /// the fill. Returns its old and new place if it has swapped places with another page.
    pub fn before_read(&mut self, mapping: &mut impl Mapping, page: Lpn) -> Option<(Ppn, Ppn)> {
        if !self.touch(page) {
            let place = mapping.lookup(page);
            if let Some(origin) = self.origins.get_mut(&page.0)
                && *origin == place
            {
                *origin = None;
            }
            return None;
        }
        while self.next < self.filled {
            let number = self.next;
            self.next += 1;
            let place = match self.origins.get(&number) {
                Some(origin) => *origin,
                None => mapping.lookup(Lpn(number)),
            };
            let Some(place) = place else {
                continue;
            };
            let Some(there) = mapping.page_at(place) else {
                continue;
            };
            let is_current = mapping.lookup(there) == Some(place);
            if is_current && there != page && self.is_touched(there) {
                continue;
            }
            let from = mapping.lookup(page)?;
            if !mapping.exchange(page, place) {
                continue;
            }
            for (page, place) in [(page, from), (there, place)] {
                self.origins.entry(page.0).or_insert(Some(place));
            }
            return Some((from, place));
        }
        None
    }
}
