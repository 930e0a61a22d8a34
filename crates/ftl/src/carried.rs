//! Spare-area records of pages that are being programmed.

use serde::{Deserialize, Serialize};
use wordline_nand::Ppn;

use crate::lpn::Lpn;
use crate::recovery::{Label, SpareRecord, SpareWriter};
use crate::summary::SummaryPage;

/// Spare-area record of a page that is being programmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Says {
    Nothing,
    SpareRecord(SpareRecord),
    /// Summary that lists the records of the earlier pages of the block. Its record is computed
    /// when the summary has been programmed; by then those pages have been programmed too.
    Summary(SummaryPage),
    /// Record of the page from which this page is copied. The program of that page may still be in
    /// progress, because a copyback is queued behind it.
    Copy {
        from: Ppn,
        order: u64,
    },
}

/// Spare-area records, indexed by transaction slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Carried(Vec<Says>);

impl Carried {
    fn carry(&mut self, slot: u32, says: Says) {
        let slot = slot as usize;
        if self.0.len() <= slot {
            self.0.resize(slot + 1, Says::Nothing);
        }
        self.0[slot] = says;
    }
    /// Sets the record of a host page.
    pub fn carry_host(&mut self, journal: &mut SpareWriter, slot: u32, page: Lpn, label: Label) {
        let tag = journal.of_host(page, label);
        self.carry(slot, Says::SpareRecord(tag));
    }
    /// Sets the record of a metadata page.
    pub fn carry_metadata(
        &mut self,
        journal: &mut SpareWriter,
        slot: u32,
        number: u32,
        label: Label,
    ) {
        let tag = journal.of_own(number, label);
        self.carry(slot, Says::SpareRecord(tag));
    }
    /// Sets the record of a summary page.
    pub fn carry_summary(&mut self, slot: u32, page: SummaryPage) {
        self.carry(slot, Says::Summary(page));
    }
    /// Sets the record of a copy.
    pub fn carry_copy(&mut self, journal: &mut SpareWriter, slot: u32, from: Ppn) {
        let order = journal.place_copy();
        self.carry(slot, Says::Copy { from, order });
    }
    /// Writes the record of a transaction's page to the spare area, once the array has programmed
    /// the page.
    pub fn programmed(&self, journal: &mut SpareWriter, slot: u32, place: Ppn) {
        let tag = match self.0.get(slot as usize) {
            Some(Says::SpareRecord(tag)) => Some(*tag),
            Some(Says::Summary(page)) => Some(journal.of_summary(page)),
            Some(Says::Copy { from, order }) => journal.of_placed_copy(*from, *order),
            Some(Says::Nothing) | None => None,
        };
        match tag {
            Some(tag) => journal.spare.write(place, tag),
            None => journal.spare.clear(place),
        }
    }
}
