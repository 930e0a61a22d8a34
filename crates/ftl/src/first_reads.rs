//! First-read placement of data from before the run (`precondition.layout`).
//!
//! Preconditioning has placed the pages in the order of allocation. Pages that were neither read
//! nor written since are interchangeable. The page that is read first therefore takes the first
//! place of the fill, the next the second, and each swaps with the page that was there: the result
//! is the same as if the device had been filled in that order. It ends with the first GC run, which
//! moves data for other reasons.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_nand::Ppn;

use crate::lpn::Lpn;
use crate::mapping::Mapping;

/// Progress of first-read placement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FirstReads {
    /// Filled pages, from the first. Count.
    filled: u32,
    /// Next place of the fill, as the page that was filled there.
    next: u32,
    /// By page, a bit: whether it was read or written.
    touched: Vec<u64>,
    /// Place where a page was filled, if it has or may have left it; `None` if a read may be in
    /// progress after the page was written, so that the place must keep its content.
    origins: FxHashMap<u32, Option<Ppn>>,
}

impl FirstReads {
    /// Creates the state for a number of filled pages; `None` if there are none, so that pages are
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
    /// Marks a page as read or written; returns `true` the first time.
    fn touch(&mut self, page: Lpn) -> bool {
        if self.is_touched(page) {
            return false;
        }
        self.touched[page.index() / 64] |= 1 << (page.0 % 64);
        true
    }
    /// Handles a page that is about to be written.
    pub fn before_write(&mut self, mapping: &impl Mapping, page: Lpn) {
        if self.touch(page)
            && let Some(place) = mapping.lookup(page)
        {
            self.origins.entry(page.0).or_insert(Some(place));
        }
    }

    /// Handles a page that is about to be read: on its first read it takes the next place of the
    /// fill. Returns its old and new place if it has changed places with another page.
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
