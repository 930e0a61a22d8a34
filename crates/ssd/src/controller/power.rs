//! Power cuts: only the flash survives, and the map is rebuilt from it.

use wordline_ftl::Mapping;
use wordline_ftl::recovery::{Recovery, SpareWriter};
use wordline_kernel::Time;
use wordline_nand::{Block, Operation, Ppn};

use super::Controller;
use super::base::Base;
use super::loses_power::LosesPower;
use super::trim::Trims;
use crate::error::{DeviceError, Result};
use crate::plan::Plan;
use wordline_block::PowerCut;

impl<M: Mapping> LosesPower for Controller<M> {
    /// Clears the volatile state, including the map. [`Mapping::recover`] must follow.
    fn lose_power(&mut self, now: Time, plan: &Plan) {
        let Self { gc, writes, trims } = self;
        gc.lose_power(now, plan);
        writes.lose_power(now, plan);
        *trims = Trims::new(plan);
    }
}

impl<M: Mapping> Controller<M> {
    /// Enables power cuts, by recording the spare areas of all pages. Must be called on a new
    /// device.
    pub fn expect_power_cuts(&mut self) {
        let journal = SpareWriter::new(&self.gc.base.flash.layout, self.gc.base.mapping.numbers());
        self.gc.base.contents.journal = Some(Box::new(journal));
        self.gc.base.follows = true;
    }

    /// Cuts and restores power, and recovers. Operations in progress are interrupted; the owner
    /// must drop all events. The device is ready after [`PowerCut::time`].
    pub fn cut_power(&mut self, now: Time, plan: &Plan) -> Result<PowerCut> {
        let Some(mut journal) = self.gc.base.contents.journal.take() else {
            return Err(DeviceError::NoSpares);
        };
        let mut cut = PowerCut {
            requests_lost: self.gc.base.requests.serving(),
            ..PowerCut::default()
        };
        let recovery = self.rescan(now, plan, &mut journal, &mut cut)?;
        self.gc.base.contents.journal = Some(journal);
        for block in &recovery.erase {
            cut.blocks_erased += u32::from(self.gc.base.erase_unclaimed(now, *block)?);
        }
        if self.gc.base.conditions.is_read_only() {
            self.gc.base.mapping.freeze();
        }
        self.gc.base.free_blocks = self.gc.base.mapping.free_blocks();
        cut.pages_read = recovery.pages_read;
        let each = |count: u64| count.div_ceil(u64::from(self.gc.base.flash.layout.dies));
        let chains = &plan.part.chains;
        let read = chains.unloaded(Operation::Read, 0).0 * each(cut.pages_read);
        let erase = chains.unloaded(Operation::Erase, 0).0 * each(cut.blocks_erased.into());
        cut.time = Time(read + erase);
        if let Some(verification) = &mut self.gc.base.contents.verification {
            let mapping = &self.gc.base.mapping;
            let audited = mapping.audit();
            let checked = audited.and_then(|()| {
                let place = |page| mapping.lookup(page);
                let (pages, oracle) = (mapping.user_pages(), &mut verification.oracle);
                if mapping.is_owned() {
                    return oracle.adopt(now, pages, place);
                }
                oracle.cut(now, pages, place)
            });
            checked.map_err(DeviceError::Verification)?;
        }
        Ok(cut)
    }

    /// Cuts power, and cuts it again during erase number `erases` of the recovery, counted from 0.
    /// [`Controller::cut_power`] must follow. Returns `false` if the recovery has fewer erases.
    pub fn cut_recovery(&mut self, now: Time, plan: &Plan, erases: usize) -> Result<bool> {
        let Some(mut journal) = self.gc.base.contents.journal.take() else {
            return Err(DeviceError::NoSpares);
        };
        let mut cut = PowerCut::default();
        let recovery = self.rescan(now, plan, &mut journal, &mut cut)?;
        let torn = recovery.erase.get(erases).copied();
        if let Some(block) = torn {
            let place = self.gc.base.flash.layout.page(block, 0);
            self.gc
                .base
                .tear(now, Operation::Erase, place, &mut journal, &mut cut)?;
        }
        self.gc.base.contents.journal = Some(journal);
        for block in recovery.erase.iter().take(erases) {
            self.gc.base.erase_unclaimed(now, *block)?;
        }
        Ok(torn.is_some())
    }

    /// Tears the operations in progress, clears volatile state, and lets the mapping read the spare
    /// areas.
    fn rescan(
        &mut self,
        now: Time,
        plan: &Plan,
        journal: &mut SpareWriter,
        cut: &mut PowerCut,
    ) -> Result<Recovery> {
        for (operation, place) in self.gc.base.flash.backend.under_way() {
            self.gc.base.tear(now, operation, place, journal, cut)?;
        }
        self.gc
            .base
            .conditions
            .find_end_of_life(&self.gc.base.flash.array, now);
        self.lose_power(now, plan);
        let flash = journal.flash(&self.gc.base.flash.array, self.gc.base.flash.layout);
        Ok(self.gc.base.mapping.recover(&flash))
    }
}

impl<M: Mapping> Base<M> {
    /// Erases a block without data during recovery; returns `false` if it cannot be erased.
    pub fn erase_unclaimed(&mut self, now: Time, block: Block) -> Result<bool> {
        let before = self.conditions.failures.erases;
        if !self.erase_for_recovery(now, block) {
            self.mapping.retired(block);
            return Ok(false);
        }
        let is_replaced = self.conditions.failures.erases > before;
        let erased = if is_replaced {
            Ok(())
        } else {
            self.flash.array.erase(block)
        };
        erased.map_err(|violation| DeviceError::Violation { at: now, violation })?;
        self.conditions.age_erased(&mut self.flash, block);
        if let Some(verification) = &mut self.contents.verification {
            verification.oracle.erase(self.flash.layout.page(block, 0));
        }
        let erases = self.flash.array.erases()[block.index()];
        self.mapping.erased(block, erases);
        Ok(true)
    }

    /// Marks the pages of an array operation in progress at a power failure as unreadable.
    pub fn tear(
        &mut self,
        now: Time,
        operation: Operation,
        place: Ppn,
        journal: &mut SpareWriter,
        cut: &mut PowerCut,
    ) -> Result<()> {
        let pages = if operation == Operation::Erase {
            cut.erases_torn += 1;
            let block = self.flash.layout.block_of(place);
            let first = self.flash.layout.page(block, 0).0;
            first..first + self.flash.array.programmed(block)
        } else {
            cut.pages_torn += 1;
            let programmed = self.flash.array.program(place);
            programmed.map_err(|violation| DeviceError::Violation { at: now, violation })?;
            place.0..place.0 + 1
        };
        for page in pages.map(Ppn) {
            journal.spare.clear(page);
            if let Some(verification) = &mut self.contents.verification {
                verification.oracle.tear(page);
            }
        }
        Ok(())
    }
}
