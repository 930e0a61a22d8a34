//! The power fails: what is left is the flash, from which the map is built anew.

use wordline_ftl::Mapping;
use wordline_ftl::recovery::{Recovery, SpareWriter};
use wordline_kernel::Time;
use wordline_nand::{Block, Operation, Ppn};

use super::Controller;
use super::state::Volatile;
use crate::backend::BackEnd;
use crate::error::{DeviceError, Result};
use crate::plan::Plan;
use wordline_block::PowerCut;

impl<M: Mapping> Controller<M> {
    /// From now on the spare areas of all pages are kept, so that the power can fail. To be called
    /// on a pristine device.
    pub fn expect_power_cuts(&mut self) {
        let journal = SpareWriter::new(&self.layout, self.mapping.numbers());
        self.persistent.journal = Some(Box::new(journal));
        self.follows = true;
    }

    /// The power fails, and comes back at once. Nothing that was under way happens any more: the
    /// owner forgets all events. Then the device recovers; it is ready after [`PowerCut::time`].
    pub fn cut_power(&mut self, now: Time, plan: &Plan) -> Result<PowerCut> {
        let Some(mut journal) = self.persistent.journal.take() else {
            return Err(DeviceError::NoSpares);
        };
        let mut cut = PowerCut {
            requests_lost: self.volatile.requests.serving(),
            ..PowerCut::default()
        };
        let recovery = self.rescan(now, plan, &mut journal, &mut cut)?;
        self.persistent.journal = Some(journal);
        for block in &recovery.erase {
            cut.blocks_erased += u32::from(self.erase_unclaimed(now, *block)?);
        }
        if self.is_read_only() {
            self.mapping.freeze();
        }
        self.volatile.free_blocks = self.mapping.free_blocks();
        cut.pages_read = recovery.pages_read;
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
                let (pages, shadow) = (mapping.user_pages(), &mut verification.shadow);
                if mapping.is_owned() {
                    return shadow.adopt(now, pages, place);
                }
                shadow.cut(now, pages, place)
            });
            checked.map_err(DeviceError::Verification)?;
        }
        Ok(cut)
    }

    /// The power fails, and again while the device recovers: behind so many erases of that recovery and during the next of them, if
    /// there are so many. To be followed by [`Controller::cut_power`]; whether there were.
    pub fn cut_recovery(&mut self, now: Time, plan: &Plan, erases: usize) -> Result<bool> {
        let Some(mut journal) = self.persistent.journal.take() else {
            return Err(DeviceError::NoSpares);
        };
        let mut cut = PowerCut::default();
        let recovery = self.rescan(now, plan, &mut journal, &mut cut)?;
        let torn = recovery.erase.get(erases).copied();
        if let Some(block) = torn {
            let place = self.layout.page(block, 0);
            self.tear(now, Operation::Erase, place, &mut journal, &mut cut)?;
        }
        self.persistent.journal = Some(journal);
        for block in recovery.erase.iter().take(erases) {
            self.erase_unclaimed(now, *block)?;
        }
        Ok(torn.is_some())
    }

    /// What was under way is torn, all memory is lost, and the mapping reads the spare areas.
    fn rescan(
        &mut self,
        now: Time,
        plan: &Plan,
        journal: &mut SpareWriter,
        cut: &mut PowerCut,
    ) -> Result<Recovery> {
        for (operation, place) in self.volatile.backend.under_way() {
            self.tear(now, operation, place, journal, cut)?;
        }
        self.find_end_of_life(now);
        self.forget(now, plan);
        let flash = journal.flash(&self.persistent.array, self.layout);
        Ok(self.mapping.recover(&flash))
    }

    /// The recovery erases a block that holds nothing; false if it cannot be erased.
    fn erase_unclaimed(&mut self, now: Time, block: Block) -> Result<bool> {
        let before = self.persistent.failures.erases;
        if !self.erase_for_recovery(now, block) {
            self.mapping.retired(block);
            return Ok(false);
        }
        let is_replaced = self.persistent.failures.erases > before;
        let erased = if is_replaced {
            Ok(())
        } else {
            self.persistent.array.erase(block)
        };
        erased.map_err(|violation| DeviceError::Violation { at: now, violation })?;
        self.age_erased(block);
        if let Some(verification) = &mut self.verification {
            verification.shadow.erase(self.layout.page(block, 0));
        }
        let erases = self.persistent.array.erases()[block.index()];
        self.mapping.erased(block, erases);
        Ok(true)
    }

    /// What the array was at when the power failed cannot be read.
    fn tear(
        &mut self,
        now: Time,
        operation: Operation,
        place: Ppn,
        journal: &mut SpareWriter,
        cut: &mut PowerCut,
    ) -> Result<()> {
        let pages = if operation == Operation::Erase {
            cut.erases_torn += 1;
            let first = self.layout.page(self.layout.block_of(place), 0).0;
            first
                ..first
                    + self
                        .persistent
                        .array
                        .programmed(self.layout.block_of(place))
        } else {
            cut.pages_torn += 1;
            let programmed = self.persistent.array.program(place);
            programmed.map_err(|violation| DeviceError::Violation { at: now, violation })?;
            place.0..place.0 + 1
        };
        for page in pages.map(Ppn) {
            journal.spare.clear(page);
            if let Some(verification) = &mut self.verification {
                verification.shadow.tear(page);
            }
        }
        Ok(())
    }

    /// Everything that was in memory is lost, the map too.
    fn forget(&mut self, now: Time, plan: &Plan) {
        for (all, usage) in self
            .persistent
            .usage
            .iter_mut()
            .zip(self.volatile.backend.usage())
        {
            *all = all.plus(&usage);
        }
        let backend = BackEnd::new(plan, self.volatile.backend.draws().clone());
        let draws = self.volatile.error_draws.clone();
        let failure_draws = self.volatile.failing.draws.clone();
        self.volatile = Volatile::new(plan, backend, self.mapping.free_blocks());
        self.volatile.error_draws = draws;
        self.volatile.failing.draws = failure_draws;
        self.volatile.failing.is_ending = self.is_read_only();
        if let Some(idling) = &mut self.volatile.idling {
            idling.wake(now);
        }
    }
}
