//! Finished flash work: ends of bus grants and array operations, and the transactions that end with
//! them.

use wordline_ftl::{JobId, Lpn, Mapping, Programmed};
use wordline_kernel::Time;
use wordline_nand::{
    Basic, Die, Event as Flash, Features, Full, Operation, Ppn, Scheduled, Uninterrupted,
};

use super::Controller;
use super::base::Base;
use super::regulate::Decoding;
use crate::backend::{ArrayDone, DieReady, Outcome, PageConditions, Purpose};
use crate::error::{DeviceError, Result};
use crate::event::{Context, Kind};
use crate::observation::{DeviceProbe, Observation};
use crate::plan::DieFeatures;
use wordline_io_scheduler::Slot;

impl<M: Mapping> Controller<M> {
    /// Handles the end of a bus grant, or a die that becomes ready.
    #[inline]
    pub fn flash(&mut self, cx: &mut Context<impl DeviceProbe>, event: Flash) -> Result<()> {
        if self.gc.base.flash.backend.features() == DieFeatures::Basic {
            self.flash_of::<Basic>(cx, event)
        } else {
            self.flash_of_several(cx, event)
        }
    }

    #[cold]
    #[inline(never)]
    fn flash_of_several(&mut self, cx: &mut Context<impl DeviceProbe>, event: Flash) -> Result<()> {
        match self.gc.base.flash.backend.features() {
            DieFeatures::Basic | DieFeatures::Uninterrupted => self.flash_uninterrupted(cx, event),
            DieFeatures::Scheduled => self.flash_scheduled(cx, event),
            DieFeatures::Full => self.flash_of_any(cx, event),
        }
    }

    #[inline(never)]
    fn flash_uninterrupted(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        event: Flash,
    ) -> Result<()> {
        self.flash_of::<Uninterrupted>(cx, event)
    }

    #[inline(never)]
    fn flash_scheduled(&mut self, cx: &mut Context<impl DeviceProbe>, event: Flash) -> Result<()> {
        self.flash_of::<Scheduled>(cx, event)
    }

    #[cold]
    #[inline(never)]
    fn flash_of_any(&mut self, cx: &mut Context<impl DeviceProbe>, event: Flash) -> Result<()> {
        self.flash_of::<Full>(cx, event)
    }

    /// Like [`Self::flash`], compiled for a set of features.
    #[inline(always)]
    fn flash_of<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        event: Flash,
    ) -> Result<()> {
        match event {
            Flash::BusDone(channel) => {
                let array = &self.gc.base.flash.array;
                let head = self.gc.base.flash.backend.bus_done::<F>(cx, channel, array);
                self.finish_command::<F>(cx, head)
            }
            Flash::Ready(die) => {
                match self
                    .gc
                    .base
                    .flash
                    .backend
                    .ready::<F>(cx, Die(die), &self.gc.base.flash.array)
                {
                    DieReady::Worked(worked) => self.gc.base.apply_to_array::<F>(cx.now, worked),
                    DieReady::Finished(head) => self.finish_command::<F>(cx, Some(head)),
                    DieReady::Nothing => Ok(()),
                }
            }
        }
    }

    /// Finishes the command with first transaction `head`, if a bus grant or an R/B# pin has
    /// signalled the end of a command.
    #[inline(always)]
    fn finish_command<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        head: Option<Slot>,
    ) -> Result<()> {
        if F::SCHEDULED
            && let Some(die) = self.gc.base.flash.backend.load_changed()
        {
            self.gc.base.flash.load_changed(cx, die);
        }
        let mut next = head;
        while let Some(slot) = next {
            let joined = || self.gc.base.flash.backend.joined(slot);
            next = F::CHAINS.then(joined).flatten();
            if F::CHAINS && self.gc.base.has_page_conditions {
                self.finish_graded(cx, slot)?;
            } else {
                self.finish::<F>(cx, slot)?;
            }
        }
        Ok(())
    }

    /// Handles a transaction that has left the back end.
    #[inline(always)]
    fn finish<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        slot: Slot,
    ) -> Result<()> {
        let gc = &mut self.gc;
        let transaction = gc.base.flash.backend.get(slot);
        let (purpose, owner, tag) = (transaction.purpose, transaction.owner, transaction.tag);
        let superseded = transaction.superseded.get();
        match purpose {
            Purpose::Read => {
                if gc.base.follows && gc.base.follows_end_of(slot) {
                    gc.base.end_followed_read(cx.now, slot)?;
                }
                gc.transaction_done(cx, owner, slot);
                gc.base.flash.backend.release(slot);
            }
            Purpose::Write | Purpose::PartWrite => {
                if gc.base.follows {
                    gc.base.end_followed_write(cx.now, slot);
                }
                if let Some(block) = superseded {
                    gc.is_superseded(cx, block);
                }
                if purpose == Purpose::Write {
                    gc.base.page_programmed(cx, Programmed::Host);
                } else {
                    gc.base.part_programmed(cx, slot);
                }
                gc.transaction_done(cx, owner, slot);
                gc.base.flash.backend.release(slot);
            }
            Purpose::Merge => {
                self.writes.merged(&mut gc.base, cx.now, slot);
                if let Err(want) = self.place_pending(cx, tag) {
                    self.stall(cx, tag, want);
                }
            }
            Purpose::ReadAhead => gc.base.flash.backend.release(slot),
            Purpose::RewriteRead | Purpose::Rewrite if F::GENERAL => {
                self.writes.finish_rewrite(gc, cx, slot);
            }
            _ => {
                if gc.finish(cx, slot) {
                    self.job_over(cx, JobId(owner))?;
                }
            }
        }
        if self.gc.may_resume() {
            self.resume(cx)?;
        }
        Ok(())
    }

    /// Handles a transaction that has left the back end of a device with page conditions: a page
    /// that was read has to be decoded first.
    #[cold]
    pub(super) fn finish_graded(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        slot: Slot,
    ) -> Result<()> {
        let decode = self.gc.base.flash.backend.graded(slot).decode;
        if decode == Time::ZERO
            || self.gc.base.flash.backend.get(slot).purpose.operation() != Operation::Read
        {
            return self.finish_page(cx, slot);
        }
        let until = cx.now + decode;
        self.gc.base.conditions.decoding.push_back(Decoding {
            slot,
            until,
            command: *self.gc.base.flash.backend.finished(),
        });
        cx.schedule(until, Kind::Look);
        Ok(())
    }

    /// Handles pages that have been decoded.
    pub(super) fn finish_decoded(&mut self, cx: &mut Context<impl DeviceProbe>) -> Result<()> {
        let mut place = 0;
        while let Some(decoding) = self.gc.base.conditions.decoding.get(place) {
            if decoding.until > cx.now {
                place += 1;
                continue;
            }
            let slot = decoding.slot;
            self.gc.base.flash.backend.finish_again(&decoding.command);
            let all = &mut self.gc.base.conditions.decoding;
            if place == 0 {
                all.pop_front();
            } else {
                all.remove(place);
            }
            self.finish_page(cx, slot)?;
        }
        Ok(())
    }

    /// Handles a finished transaction. If its die has no other host work, a page is rewritten;
    /// blocks that are due for read reclaim or refresh are checked.
    fn finish_page(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot) -> Result<()> {
        let transaction = self.gc.base.flash.backend.get(slot);
        let (place, target, owner) = (transaction.place, transaction.target, transaction.owner);
        let purpose = transaction.purpose;
        if purpose == Purpose::MoveRead {
            self.gc
                .base
                .conditions
                .copy_read(&self.gc.base.flash, slot, place);
        }
        let PageConditions {
            outcome, decode, ..
        } = self.gc.base.flash.backend.graded(slot);
        if outcome != Outcome::Done {
            for replaced in self.newly_retired() {
                cx.observe(Observation::BlockRetired { replaced });
            }
            self.gc.base.spare_pages_programmed(cx, purpose, outcome);
        }
        if let Some(retries) = self.newly_retried() {
            cx.observe(Observation::Retried { retries });
        }
        if outcome == Outcome::Failed {
            self.end_life(cx)?;
            if purpose == Purpose::Erase {
                // GC stops here; requests that wait for a part of the map continue.
                self.gc.base.flash.backend.release(slot);
                let id = JobId(owner);
                let job = self.gc.jobs.get(id);
                if job.is_some_and(|job| job.collecting.is_none()) && self.gc.step_done(cx, id) {
                    self.job_over(cx, id)?;
                }
                return Ok(());
            }
        }
        self.finish::<Full>(cx, slot)?;
        if purpose == Purpose::Read || purpose.is_write() {
            self.gc.base.page_was_decoded(owner, decode);
        }
        if self.writes.rewrites.is_some() {
            for place in [place, target] {
                let die = self.gc.base.flash.layout.die_of_page(place);
                self.writes.use_idle_die(&mut self.gc, cx, die);
            }
        }
        if !self.gc.base.conditions.due.is_empty() {
            self.gc.refresh_due(cx);
        }
        Ok(())
    }
}

impl<M: Mapping> Base<M> {
    /// Applies the finished array operation of a die.
    #[inline(always)]
    fn apply_to_array<F: Features>(&mut self, now: Time, worked: ArrayDone) -> Result<()> {
        let ArrayDone {
            head,
            operation,
            was_ahead,
        } = worked;
        if F::GENERAL && was_ahead {
            self.take_ahead(head);
            return Ok(());
        }
        let mut next = Some(head);
        while let Some(slot) = next {
            let transaction = self.flash.backend.get(slot);
            let (place, target) = (transaction.place, transaction.target);
            next = F::CHAINS.then(|| transaction.joined()).flatten();
            if F::CHAINS
                && self.conditions.failure_model.is_some()
                && self.is_failure(now, slot, operation)
            {
                continue;
            }
            let applied = match operation {
                Operation::Read => self.flash.array.read(place),
                Operation::Program | Operation::Move => self.flash.array.program(target),
                Operation::Erase => self.flash.array.erase(self.flash.layout.block_of(place)),
            };
            applied.map_err(|violation| DeviceError::Violation { at: now, violation })?;
            if F::CHAINS && self.has_page_conditions {
                if operation == Operation::Program {
                    self.flash.array.wear(target);
                }
                if self.conditions.reader.is_some() {
                    self.conditions
                        .age(&mut self.flash, now, operation, place, target);
                }
            }
            if self.follows && self.contents.are_followed() {
                self.follow(slot, operation, place, target);
            }
        }
        Ok(())
    }

    /// Returns `true` if the end of a host read needs more work: the content has to be checked, or
    /// the read has failed.
    #[inline]
    fn follows_end_of(&self, slot: Slot) -> bool {
        self.contents.verification.is_some() || self.flash.backend.graded(slot).failed
    }

    /// Ends a host read of a tracked page: checks the content, or records that the read has failed.
    #[cold]
    fn end_followed_read(&mut self, now: Time, slot: Slot) -> Result<()> {
        let transaction = self.flash.backend.get(slot);
        let (page, place, owner) = (Lpn(transaction.tag), transaction.place, transaction.owner);
        if self.flash.backend.graded(slot).failed {
            self.conditions.fail(owner);
            if let Some(verification) = &mut self.contents.verification {
                verification.oracle.end_read(page);
            }
            return Ok(());
        }
        match &mut self.contents.verification {
            Some(verification) => verification
                .check_read(now, slot, page, place)
                .map_err(DeviceError::Verification),
            None => Ok(()),
        }
    }

    /// Ends a host write of a tracked page: acknowledges the content, or records that the write has
    /// failed.
    #[cold]
    #[inline(never)]
    fn end_followed_write(&mut self, now: Time, slot: Slot) {
        let transaction = self.flash.backend.get(slot);
        let (page, owner) = (Lpn(transaction.tag), transaction.owner);
        if self.flash.backend.graded(slot).outcome == Outcome::Failed {
            self.conditions.fail_write(owner);
            return;
        }
        if let Some(verification) = &mut self.contents.verification {
            verification.acknowledge(now, slot, page);
        }
    }

    /// Reports the program of a partially written page.
    #[inline(never)]
    fn part_programmed(&self, cx: &mut Context<impl DeviceProbe>, slot: Slot) {
        let fill = u64::from(self.flash.backend.fill_of(slot));
        cx.observe(Observation::Programmed {
            of: Programmed::Host,
            bytes: self.page_bytes - fill,
        });
        cx.observe(Observation::Programmed {
            of: Programmed::Fill,
            bytes: fill,
        });
    }

    /// Reports the program of a page whose bytes all serve the purpose `of`.
    #[inline(always)]
    pub fn page_programmed(&self, cx: &mut Context<impl DeviceProbe>, of: Programmed) {
        let bytes = self.page_bytes;
        cx.observe(Observation::Programmed { of, bytes });
    }

    /// Records the effect of an array operation on the contents of pages.
    #[cold]
    pub fn follow(&mut self, slot: Slot, operation: Operation, place: Ppn, target: Ppn) {
        if let Some(journal) = &mut self.contents.journal
            && matches!(operation, Operation::Program | Operation::Move)
        {
            self.contents.carried.programmed(journal, slot, target);
        }
        let Some(verification) = &mut self.contents.verification else {
            return;
        };
        if self.flash.backend.get(slot).purpose == Purpose::ReadAhead {
            verification.read_ahead(self.flash.layout.die_of_page(place), place);
        } else {
            verification.array_done(slot, operation, place, target);
        }
    }

    /// Takes the content of a page that was read ahead: the read returns the content of the
    /// register.
    #[cold]
    fn take_ahead(&mut self, slot: Slot) {
        let die = self
            .flash
            .layout
            .die_of_page(self.flash.backend.get(slot).place);
        if let Some(verification) = &mut self.contents.verification {
            verification.take_ahead(slot, die);
        }
    }
}
