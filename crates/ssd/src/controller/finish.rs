//! What the flash has done: bus holds and array operations that are over, and the transactions that end with them.

use wordline_ftl::{JobId, Lpn, Mapping};
use wordline_kernel::Time;
use wordline_nand::{Basic, Block, Die, Event as Flash, Features, Full, Operation, Ppn};

use super::Controller;
use super::pending::{PageWrite, Rewrite};
use super::steps::NO_JOB;
use crate::backend::{ArrayDone, DieReady, Outcome, Purpose};
use crate::error::{DeviceError, Result};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation};
use crate::programmed::Programmed;
use wordline_io_scheduler::Slot;

impl<M: Mapping> Controller<M> {
    /// A hold of a bus is over, or a die is ready.
    #[inline]
    pub fn flash(&mut self, cx: &mut Context<impl DeviceProbe>, event: Flash) -> Result<()> {
        if self.base.flash.backend.is_basic() {
            self.flash_of::<Basic>(cx, event)
        } else {
            self.flash_of_any(cx, event)
        }
    }

    #[cold]
    #[inline(never)]
    fn flash_of_any(&mut self, cx: &mut Context<impl DeviceProbe>, event: Flash) -> Result<()> {
        self.flash_of::<Full>(cx, event)
    }

    /// The same with these features.
    #[inline(always)]
    fn flash_of<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        event: Flash,
    ) -> Result<()> {
        match event {
            Flash::BusDone(channel) => {
                let array = &self.base.flash.array;
                let head = self.base.flash.backend.bus_done::<F>(cx, channel, array);
                self.finish_command::<F>(cx, head)
            }
            Flash::Ready(die) => {
                match self
                    .base
                    .flash
                    .backend
                    .ready::<F>(cx, Die(die), &self.base.flash.array)
                {
                    DieReady::Worked(worked) => self.apply_to_array::<F>(cx.now, worked),
                    DieReady::Finished(head) => self.finish_command::<F>(cx, Some(head)),
                    DieReady::Nothing => Ok(()),
                }
            }
        }
    }

    /// The end of a hold, or the pin of a die, has told of something; a command is finished, if any, whose first transaction is `head`.
    #[inline(always)]
    fn finish_command<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        head: Option<Slot>,
    ) -> Result<()> {
        if F::SCHEDULE && self.base.flash.issue.is_some() {
            self.take_load_change(cx);
        }
        let mut next = head;
        while let Some(slot) = next {
            let joined = || self.base.flash.backend.joined(slot);
            next = F::MULTI_PLANE.then(joined).flatten();
            if F::MULTI_PLANE && self.base.has_page_conditions {
                self.finish_graded(cx, slot)?;
            } else {
                self.finish::<F>(cx, slot)?;
            }
        }
        Ok(())
    }

    /// What a die's array has done takes effect.
    #[inline(always)]
    fn apply_to_array<F: Features>(&mut self, now: Time, worked: ArrayDone) -> Result<()> {
        let ArrayDone {
            head,
            operation,
            was_ahead,
        } = worked;
        if F::MULTI_PLANE && was_ahead {
            self.take_ahead(head);
            return Ok(());
        }
        let mut next = Some(head);
        while let Some(slot) = next {
            let transaction = self.base.flash.backend.get(slot);
            let (place, target) = (transaction.place, transaction.target);
            next = F::MULTI_PLANE.then(|| transaction.joined()).flatten();
            if F::MULTI_PLANE
                && self.base.conditions.failure_model.is_some()
                && self.is_failure(now, slot, operation)
            {
                continue;
            }
            let applied = match operation {
                Operation::Read => self.base.flash.array.read(place),
                Operation::Program | Operation::Move => self.base.flash.array.program(target),
                Operation::Erase => self
                    .base
                    .flash
                    .array
                    .erase(self.base.flash.layout.block_of(place)),
            };
            applied.map_err(|violation| DeviceError::Violation { at: now, violation })?;
            if F::MULTI_PLANE && self.base.has_page_conditions {
                if operation == Operation::Program {
                    self.base.flash.array.wear(target);
                }
                if self.base.conditions.reader.is_some() {
                    self.age(now, operation, place, target);
                }
            }
            if self.base.follows {
                self.follow(slot, operation, place, target);
            }
        }
        Ok(())
    }

    /// What a host write carries.
    #[cold]
    pub(super) fn follow_write(&mut self, slot: Slot, write: &PageWrite, place: Ppn) {
        let PageWrite {
            page,
            version,
            base,
            label,
            ..
        } = *write;
        if let Some(journal) = &mut self.base.contents.journal {
            self.base
                .contents
                .carried
                .carry_host(journal, slot, page, label);
        }
        if let Some(verification) = &mut self.base.contents.verification {
            let content = verification.shadow.write(page, version, base, place);
            verification.note(slot, content, version);
        }
    }

    /// A read of the host is over where pages are followed: what it returns is right, or it has failed.
    #[cold]
    fn end_followed_read(&mut self, now: Time, slot: Slot) -> Result<()> {
        let transaction = self.base.flash.backend.get(slot);
        let (page, place, owner) = (Lpn(transaction.tag), transaction.place, transaction.owner);
        if self.base.flash.backend.graded(slot).failed {
            self.fail(owner);
            if let Some(verification) = &mut self.base.contents.verification {
                verification.shadow.end_read(page);
            }
            return Ok(());
        }
        match &mut self.base.contents.verification {
            Some(verification) => verification.check_read(now, slot, page, place),
            None => Ok(()),
        }
    }

    /// A write of the host is over where pages are followed.
    #[cold]
    #[inline(never)]
    fn end_followed_write(&mut self, now: Time, slot: Slot) {
        let transaction = self.base.flash.backend.get(slot);
        let (page, owner) = (Lpn(transaction.tag), transaction.owner);
        if self.base.flash.backend.graded(slot).outcome == Outcome::Failed {
            self.fail_write(owner);
            return;
        }
        if let Some(verification) = &mut self.base.contents.verification {
            verification.acknowledge(now, slot, page);
        }
    }

    /// [`Self::finish`], out of the way of basic dies.
    #[inline(never)]
    pub(super) fn finish_apart(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        slot: Slot,
    ) -> Result<()> {
        self.finish::<Full>(cx, slot)
    }

    /// The rest of a page that the host writes in part has been read, where reads err.
    #[cold]
    fn merge_read(&mut self, slot: Slot) {
        let transaction = self.base.flash.backend.get(slot);
        let (tag, owner) = (transaction.tag, transaction.owner);
        let grade = self.base.flash.backend.graded(slot);
        self.writes.pending.get_mut(tag).decode = grade.decode;
        if grade.failed {
            self.writes.pending.get_mut(tag).lost = true;
            self.fail(owner);
        }
    }

    /// A page that is written again has been read, or programmed.
    #[cold]
    #[inline(never)]
    fn finish_rewrite(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot) {
        let transaction = self.base.flash.backend.get(slot);
        let (purpose, place, owner) = (transaction.purpose, transaction.place, transaction.owner);
        let (tag, superseded) = (transaction.tag, transaction.superseded);
        if purpose == Purpose::RewriteRead {
            self.base.flash.backend.release(slot);
            self.rewrite_page_read(cx, slot, Rewrite::of(tag, owner), place);
            return;
        }
        if superseded != 0 {
            self.is_superseded(cx, Block(superseded - 1));
        }
        self.page_programmed(cx, Programmed::Rewrite);
        self.base.flash.backend.release(slot);
        self.rewritten(cx, owner);
    }

    /// A page has been programmed of which the host wrote a part.
    #[inline(never)]
    fn part_programmed(&self, cx: &mut Context<impl DeviceProbe>, slot: Slot) {
        let fill = u64::from(self.base.flash.backend.fill_of(slot));
        cx.observe(Observation::Programmed {
            of: Programmed::Host,
            bytes: self.base.page_bytes - fill,
        });
        cx.observe(Observation::Programmed {
            of: Programmed::Fill,
            bytes: fill,
        });
    }
    /// A page has been programmed, all of it for one purpose.
    #[inline(always)]
    pub(super) fn page_programmed(&self, cx: &mut Context<impl DeviceProbe>, of: Programmed) {
        let bytes = self.base.page_bytes;
        cx.observe(Observation::Programmed { of, bytes });
    }

    /// What the array has done to its pages.
    #[cold]
    pub(super) fn follow(&mut self, slot: Slot, operation: Operation, place: Ppn, target: Ppn) {
        if let Some(journal) = &mut self.base.contents.journal
            && matches!(operation, Operation::Program | Operation::Move)
        {
            self.base.contents.carried.programmed(journal, slot, target);
        }
        let Some(verification) = &mut self.base.contents.verification else {
            return;
        };
        if self.base.flash.backend.get(slot).purpose == Purpose::ReadAhead {
            verification.read_ahead(self.base.flash.layout.die_of_page(place), place);
        } else {
            verification.array_done(slot, operation, place, target);
        }
    }

    /// A page that was read ahead is asked for: what the register holds is what is read.
    #[cold]
    fn take_ahead(&mut self, slot: Slot) {
        let die = self
            .base
            .flash
            .layout
            .die_of_page(self.base.flash.backend.get(slot).place);
        if let Some(verification) = &mut self.base.contents.verification {
            verification.take_ahead(slot, die);
        }
    }

    /// A transaction has left the back end.
    #[inline(always)]
    fn finish<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        slot: Slot,
    ) -> Result<()> {
        let transaction = self.base.flash.backend.get(slot);
        let (purpose, place, owner) = (transaction.purpose, transaction.place, transaction.owner);
        let tag = transaction.tag;
        let superseded = transaction.superseded;
        match purpose {
            Purpose::Read => {
                if self.base.follows {
                    self.end_followed_read(cx.now, slot)?;
                }
                self.transaction_done(cx, owner, slot);
                self.base.flash.backend.release(slot);
            }
            Purpose::Write | Purpose::PartWrite => {
                if self.base.follows {
                    self.end_followed_write(cx.now, slot);
                }
                if superseded != 0 {
                    self.is_superseded(cx, Block(superseded - 1));
                }
                if purpose == Purpose::Write {
                    self.page_programmed(cx, Programmed::Host);
                } else {
                    self.part_programmed(cx, slot);
                }
                self.transaction_done(cx, owner, slot);
                self.base.flash.backend.release(slot);
            }
            Purpose::Merge => {
                let write = self.writes.pending.get_mut(tag);
                write.parts = self.base.flash.backend.parts(slot);
                write.since = cx.now;
                if F::MULTI_PLANE && self.base.has_page_conditions {
                    self.merge_read(slot);
                }
                let write = self.writes.pending.get_mut(tag);
                if let Some(verification) = &self.base.contents.verification {
                    write.base = verification.contents[slot as usize];
                }
                self.base.flash.backend.release(slot);
                if let Err(want) = self.place_pending(cx, tag) {
                    self.stall(cx, tag, want);
                }
            }
            Purpose::ReadAhead => self.base.flash.backend.release(slot),
            Purpose::MoveRead => {
                self.base.flash.backend.release(slot);
                self.move_page(cx, slot, place, JobId(owner))?;
            }
            Purpose::MoveProgram | Purpose::Move => {
                self.base.flash.backend.release(slot);
                self.page_moved(cx, JobId(owner))?;
            }
            Purpose::Erase => {
                self.base.flash.backend.release(slot);
                self.block_erased(cx, place, JobId(owner));
                self.step_done(cx, JobId(owner))?;
            }
            Purpose::RewriteRead | Purpose::Rewrite if F::MULTI_PLANE => {
                self.finish_rewrite(cx, slot);
            }
            Purpose::MetadataProgram | Purpose::MapProgram => {
                let of = if owner == NO_JOB {
                    Programmed::Summary
                } else {
                    Programmed::Map
                };
                self.page_programmed(cx, of);
                self.base.flash.backend.release(slot);
                self.step_done(cx, JobId(owner))?;
            }
            Purpose::MetadataRead | Purpose::MapRead | Purpose::RewriteRead | Purpose::Rewrite => {
                self.base.flash.backend.release(slot);
                self.step_done(cx, JobId(owner))?;
            }
        }
        if self.collector.jobs.any_paused() {
            self.resume(cx)?;
        }
        Ok(())
    }
}
