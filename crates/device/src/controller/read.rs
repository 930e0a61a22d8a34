//! Reads of the host and of the buffer, from the map to the die.

use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::Probe;

use super::Controller;
use super::job::Waiter;
use super::pending::PageRead;
use super::verification::NO_VERSION;
use crate::backend::{Order, Purpose};
use crate::error::DeviceError;
use crate::event::Context;
use crate::observation::{Observation, PageParts};
use crate::shadow::Shadow;

impl<M: Mapping> Controller<M> {
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        owner: u32,
        page: Lpn,
    ) -> Result<(), DeviceError> {
        let mut oldest = NO_VERSION;
        if let Some(verification) = &mut self.verification {
            let filled = self.mapping.lookup(page).is_some();
            oldest.number = verification.shadow.begin_read(page, filled);
        }
        let read = PageRead {
            owner,
            page,
            parts: PageParts::NONE,
            since: cx.now,
            oldest,
        };
        if let Some(job) = self.mapping.fetch(page, false) {
            self.wait_for_map(cx, job, Waiter::Read(read));
            return Ok(());
        }
        self.read_mapped(cx, &read)
    }

    /// Reads a page scope map entry is in memory.
    #[inline(always)]
    pub(super) fn read_mapped(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        read: &PageRead,
    ) -> Result<(), DeviceError> {
        let PageRead {
            owner,
            page,
            parts,
            oldest,
            ..
        } = *read;
        if let Some(place) = self.mapping.lookup(page) {
            self.flash.array.prefetch(place);
            let order = Order::new(Purpose::Read, place, owner, page.0);
            let slot = self.issue(cx, &order);
            if parts != PageParts::NONE {
                self.ram.backend.add_earlier(slot, &parts);
            }
            if let Some(verification) = &mut self.verification {
                verification.note(slot, 0, oldest);
            }
            if self.ram.issue.is_none() {
                self.ram.backend.preempt(cx, slot, &self.flash.array);
            }
            return Ok(());
        }
        self.read_unwritten(cx, read)
    }

    /// Reads a page that was never written: it is done at once.
    #[cold]
    pub(super) fn read_unwritten(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        read: &PageRead,
    ) -> Result<(), DeviceError> {
        let PageRead {
            owner,
            page,
            parts,
            oldest,
            ..
        } = *read;
        cx.observe(Observation::UnwrittenRead);
        if let Some(verification) = &mut self.verification {
            let checked =
                verification
                    .shadow
                    .check(cx.now, page, oldest.number, Shadow::unwritten(), None);
            checked.map_err(DeviceError::Verification)?;
        }
        self.page_done(cx, owner, parts);
        Ok(())
    }

    /// What waited for a part of the map goes on: the entry may have left memory again.
    pub(super) fn map_read(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        waiter: Waiter,
    ) -> Result<(), DeviceError> {
        match waiter {
            Waiter::Write(tag) => {
                let (mut write, later) = self.ram.pending.take(tag);
                write.parts.die_wait += cx.now - write.since;
                write.since = cx.now;
                self.advance(cx, write, later);
            }
            Waiter::Read(mut read) => {
                read.parts.die_wait += cx.now - read.since;
                read.since = cx.now;
                if let Some(job) = self.mapping.fetch(read.page, false) {
                    self.wait_for_map(cx, job, Waiter::Read(read));
                } else {
                    self.read_mapped(cx, &read)?;
                }
            }
        }
        Ok(())
    }
}
