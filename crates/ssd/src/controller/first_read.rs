//! Data that were there before the run, lying as the run first reads them (`precondition.layout`).
//!
//! The fill has left the pages in the order of the allocation. Nothing tells pages apart that were neither read nor written since,
//! so the one that is read first takes the first place of the fill, the next the second, and who was there takes theirs: the same
//! as if the device had been filled in that order. The first collection ends it: from then on data move for other reasons.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_ftl::{Lpn, Mapping};
use wordline_nand::Ppn;

use super::base::Base;

/// How far they have come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FirstReads {
    /// Filled pages, from the first.
    filled: u32,
    /// The place of the fill that the next takes, as the page that was filled there.
    next: u32,
    /// By page, a bit: whether it was read or written.
    touched: Vec<u64>,
    /// Where a page was filled, if it is not, or may not be, there any more; none where a read may be under way after the page was
    /// written, for then what is there stays.
    origins: FxHashMap<u32, Option<Ppn>>,
}

impl FirstReads {
    /// Of so many filled pages; none if they are to lie by address.
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
    /// A page is read or written; whether it is for the first time.
    fn touch(&mut self, page: Lpn) -> bool {
        if self.is_touched(page) {
            return false;
        }
        self.touched[page.index() / 64] |= 1 << (page.0 % 64);
        true
    }
}

impl<M: Mapping> Base<M> {
    /// A page is about to be written.
    pub fn first_written(&mut self, page: Lpn) {
        let Some(first) = &mut self.first_reads else {
            return;
        };
        if first.touch(page)
            && let Some(place) = self.mapping.lookup(page)
        {
            first.origins.entry(page.0).or_insert(Some(place));
        }
    }

    /// A page is about to be read: for the first time it takes the next place of the fill.
    pub fn first_read(&mut self, page: Lpn) {
        let Some(first) = &mut self.first_reads else {
            return;
        };
        if !first.touch(page) {
            let place = self.mapping.lookup(page);
            if let Some(origin) = first.origins.get_mut(&page.0)
                && *origin == place
            {
                *origin = None;
            }
            return;
        }
        while first.next < first.filled {
            let number = first.next;
            first.next += 1;
            let place = match first.origins.get(&number) {
                Some(origin) => *origin,
                None => self.mapping.lookup(Lpn(number)),
            };
            let Some(place) = place else {
                continue;
            };
            let Some(there) = self.mapping.page_at(place) else {
                continue;
            };
            let is_current = self.mapping.lookup(there) == Some(place);
            if is_current && there != page && first.is_touched(there) {
                continue;
            }
            let Some(from) = self.mapping.lookup(page) else {
                return;
            };
            if !self.mapping.exchange(page, place) {
                continue;
            }
            for (page, place) in [(page, from), (there, place)] {
                first.origins.entry(page.0).or_insert(Some(place));
            }
            if let Some(verification) = &mut self.contents.verification {
                verification.shadow.exchange(from, place);
            }
            return;
        }
    }
}
