//! The power fails: what is left is the flash, and the books are built anew from it.

use wordline_ftl::recovery::{Journal, Tag};
use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::Time;
use wordline_nand::{Operation, Ppn};

use super::Controller;
use super::chips::Chips;
use super::idle::Idling;
use super::issue::IssueStage;
use super::job::Jobs;
use super::pending::PendingWrites;
use super::requests::Requests;
use crate::backend::BackEnd;
use crate::error::DeviceError;
use crate::plan::Plan;
use crate::slot::Slot;
use wordline_block::PowerCut;

/// What a page on its way will say.
#[derive(Clone, Copy, Debug)]
enum Carried {
    Nothing,
    Tag(Tag),
    /// What the page says that it is a copy of. That one may be on its way itself: a move inside a
    /// plane is queued behind its program.
    Copy {
        from: Ppn,
        order: u64,
    },
}

/// The spare areas, and what the pages on their way will say.
#[derive(Clone, Debug)]
pub(super) struct Spares {
    pub journal: Journal,
    /// By transaction.
    carried: Vec<Carried>,
}

impl Spares {
    pub fn new(journal: Journal) -> Self {
        Self {
            journal,
            carried: Vec::new(),
        }
    }
    fn carry(&mut self, slot: Slot, carried: Carried) {
        let slot = slot as usize;
        if self.carried.len() <= slot {
            self.carried.resize(slot + 1, Carried::Nothing);
        }
        self.carried[slot] = carried;
    }
    /// A transaction programs a page of the host.
    pub fn carry_host(&mut self, slot: Slot, page: Lpn) {
        let tag = self.journal.of_host(page);
        self.carry(slot, Carried::Tag(tag));
    }
    /// A transaction programs a page of metadata.
    pub fn carry_metadata(&mut self, slot: Slot, label: u32) {
        let tag = self.journal.of_own(label);
        self.carry(slot, Carried::Tag(tag));
    }
    /// A transaction programs a copy of a page.
    pub fn carry_copy(&mut self, slot: Slot, from: Ppn) {
        let order = self.journal.place_copy();
        self.carry(slot, Carried::Copy { from, order });
    }
    /// The array has programmed the page of a transaction.
    pub fn programmed(&mut self, slot: Slot, place: Ppn) {
        let tag = match self.carried.get(slot as usize) {
            Some(Carried::Tag(tag)) => Some(*tag),
            Some(Carried::Copy { from, order }) => self.journal.of_placed_copy(*from, *order),
            Some(Carried::Nothing) | None => None,
        };
        match tag {
            Some(tag) => self.journal.spare.write(place, tag),
            None => self.journal.spare.clear(place),
        }
    }
}

impl<M: Mapping> Controller<M> {
    /// From now on the spare areas of all pages are kept, so that the power can fail. To be called
    /// on a pristine device.
    pub fn expect_power_cuts(&mut self) {
        let journal = Journal::new(&self.layout, self.mapping.user_pages());
        self.spares = Some(Box::new(Spares::new(journal)));
    }

    /// The power fails, and comes back at once. Nothing that was under way happens any more: the
    /// owner forgets all events. Then the device recovers; it is ready after [`PowerCut::time`].
    pub fn cut_power(&mut self, now: Time, plan: &Plan) -> Result<PowerCut, DeviceError> {
        let Some(mut spares) = self.spares.take() else {
            return Err(DeviceError::NoSpares);
        };
        let mut cut = PowerCut {
            requests_lost: self.requests.serving(),
            ..PowerCut::default()
        };
        for (operation, place) in self.backend.under_way() {
            self.tear(now, operation, place, &mut spares, &mut cut)?;
        }
        self.forget(now, plan);
        let flash = spares.journal.flash(&self.array, self.layout);
        let recovery = self.mapping.recover(&flash);
        self.spares = Some(spares);
        for block in &recovery.erase {
            let erased = self.array.erase(*block);
            erased.map_err(|violation| DeviceError::Violation { at: now, violation })?;
            if let Some(verification) = &mut self.verification {
                verification.shadow.erase(self.layout.page(*block, 0));
            }
            let erases = self.array.erases()[block.index()];
            self.mapping.erased(*block, erases);
        }
        self.free_blocks = self.mapping.free_blocks();
        cut.pages_read = recovery.pages_read;
        cut.blocks_erased = recovery.erase.len() as u32;
        let each = |count: u64| count.div_ceil(u64::from(self.layout.dies));
        let chains = &plan.part.chains;
        let read = chains.unloaded(Operation::Read, 0).0 * each(cut.pages_read);
        let erase = chains.unloaded(Operation::Erase, 0).0 * each(cut.blocks_erased.into());
        cut.time = Time(read + erase);
        if let Some(verification) = &mut self.verification {
            let mapping = &self.mapping;
            let audited = mapping.audit();
            let checked = audited.and_then(|()| {
                let place = |page| mapping.lookup(page);
                verification.shadow.cut(now, mapping.user_pages(), place)
            });
            checked.map_err(DeviceError::Verification)?;
        }
        Ok(cut)
    }

    /// What the array was at when the power failed cannot be read.
    fn tear(
        &mut self,
        now: Time,
        operation: Operation,
        place: Ppn,
        spares: &mut Spares,
        cut: &mut PowerCut,
    ) -> Result<(), DeviceError> {
        let pages = if operation == Operation::Erase {
            cut.erases_torn += 1;
            let first = self.layout.page(self.layout.block_of(place), 0).0;
            first..first + self.array.programmed(self.layout.block_of(place))
        } else {
            cut.pages_torn += 1;
            let programmed = self.array.program(place);
            programmed.map_err(|violation| DeviceError::Violation { at: now, violation })?;
            place.0..place.0 + 1
        };
        for page in pages.map(Ppn) {
            spares.journal.spare.clear(page);
            if let Some(verification) = &mut self.verification {
                verification.shadow.tear(page);
            }
        }
        Ok(())
    }

    /// Everything that was in memory is lost, the map too.
    fn forget(&mut self, now: Time, plan: &Plan) {
        self.backend = BackEnd::after(&self.backend, plan);
        self.issue = IssueStage::new(plan);
        self.jobs = Jobs::new(self.layout.planes() as usize);
        self.chips = Chips::new(plan);
        self.idling = Idling::new(plan);
        self.requests = Requests::default();
        self.done.clear();
        self.pending = PendingWrites::new(self.layout.planes() as usize);
        self.superseding.fill(0);
        if let Some(idling) = &mut self.idling {
            idling.wake(now);
        }
    }
}
