//! What the spare areas of pages on their way will say.

use serde::{Deserialize, Serialize};
use wordline_ftl::recovery::{Label, SpareRecord, SpareWriter};
use wordline_ftl::{Lpn, SummaryPage};
use wordline_nand::Ppn;

use wordline_io_scheduler::Slot;

/// What a page on its way will say.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Says {
    Nothing,
    SpareRecord(SpareRecord),
    /// What it lists is what the pages before it say once they are programmed, which they are when its own program begins: the
    /// controller knows it before.
    Summary(SummaryPage),
    /// What the page says that it is a copy of. That one may be on its way itself: a move inside a
    /// plane is queued behind its program.
    Copy {
        from: Ppn,
        order: u64,
    },
}

/// By transaction: what its page will say.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Carried(Vec<Says>);

impl Carried {
    fn carry(&mut self, slot: Slot, says: Says) {
        let slot = slot as usize;
        if self.0.len() <= slot {
            self.0.resize(slot + 1, Says::Nothing);
        }
        self.0[slot] = says;
    }
    /// A transaction programs a page of the host.
    pub fn carry_host(&mut self, journal: &mut SpareWriter, slot: Slot, page: Lpn, label: Label) {
        let tag = journal.of_host(page, label);
        self.carry(slot, Says::SpareRecord(tag));
    }
    /// A transaction programs a page of metadata.
    pub fn carry_metadata(
        &mut self,
        journal: &mut SpareWriter,
        slot: Slot,
        number: u32,
        label: Label,
    ) {
        let tag = journal.of_own(number, label);
        self.carry(slot, Says::SpareRecord(tag));
    }
    /// A transaction programs a page of a block's summary.
    pub fn carry_summary(&mut self, slot: Slot, page: SummaryPage) {
        self.carry(slot, Says::Summary(page));
    }
    /// A transaction programs a copy of a page.
    pub fn carry_copy(&mut self, journal: &mut SpareWriter, slot: Slot, from: Ppn) {
        let order = journal.place_copy();
        self.carry(slot, Says::Copy { from, order });
    }
    /// The array has programmed the page of a transaction.
    pub fn programmed(&self, journal: &mut SpareWriter, slot: Slot, place: Ppn) {
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
