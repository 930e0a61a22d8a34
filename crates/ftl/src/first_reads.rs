//! First-read placement of preconditioned data (`precondition.layout`).
//!
//! Preconditioning places the pages in allocation order. Pages that have been neither read nor
//! written since are interchangeable. Therefore the first page to be read takes the first physical
//! page of the fill, the next takes the second, and each swaps with the page stored there. The
//! result is the same as if the device had been filled in that order. First-read placement ends
//! with the first GC run, which moves data for other reasons.

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
    /// Logical page whose original physical page is the next to be assigned.
    next: u32,
    /// Bit per page, set if the page was read or written.
    touched: Vec<u64>,
    /// Original physical page of each logical page that has left it or may leave it. `None` if the
    /// page was read there again after a write was requested: that read may still be in progress,
    /// so the content must stay.
    origins: FxHashMap<u32, Option<Ppn>>,
}

impl FirstReads {
    /// Creates the state for `filled` pages, or returns `None` if there are none; pages then keep
    /// their placement by address.
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
    /// Marks a page as read or written. Returns `true` on the first call for the page.
    fn touch(&mut self, page: Lpn) -> bool {
        if self.is_touched(page) {
            return false;
        }
        self.touched[page.index() / 64] |= 1 << (page.0 % 64);
        true
    }
    /// Records the physical page of a logical page that is about to be written, if this is its
    /// first access.
    pub fn before_write(&mut self, mapping: &impl Mapping, page: Lpn) {
        if self.touch(page)
            && let Some(place) = mapping.lookup(page)
        {
            self.origins.entry(page.0).or_insert(Some(place));
        }
    }

    /// Handles a page that is about to be read. If this is its first access, the page takes the
    /// next physical page of the fill. Returns its old and new physical page if it was swapped with
    /// another page.
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
