//! Reads of the host and the buffer, from the map to the die.

use wordline_content_oracle::{ContentOracle, NO_VERSION, Version};
use wordline_ftl::program_mode::Characteristic;
use wordline_ftl::{Lpn, Mapping};

use super::Controller;
use super::base::Base;
use super::collector::Collector;
use super::job::Waiter;
use super::pending::PageRead;
use crate::backend::{Order, Purpose};
use crate::error::{DeviceError, Result};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation, PageComponents};

impl<M: Mapping> Base<M> {
    /// Issues a host read, with the latency components that its page has incurred so far.
    #[inline(always)]
    pub fn issue_read(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        order: &Order,
        earlier: &PageComponents,
        oldest: Version,
    ) {
        let slot = self.issue(cx, order);
        if *earlier != PageComponents::NONE {
            self.flash.backend.add_earlier(slot, earlier);
        }
        if let Some(verification) = &mut self.contents.verification {
            verification.note(slot, 0, oldest);
        }
        if self.flash.issue.is_none() {
            self.flash.backend.preempt(cx, slot, &self.flash.array);
        }
    }
}

impl<M: Mapping> Collector<M> {
    /// Reads a page whose map entry is in memory.
    #[inline(always)]
    pub fn read_mapped(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        read: &PageRead,
    ) -> Result<()> {
        if let Some(place) = self.base.mapping.lookup(read.page) {
            self.base.flash.array.prefetch(place);
            let order = Order::new(Purpose::Read, place, read.owner, read.page.0);
            self.base.issue_read(cx, &order, &read.parts, read.oldest);
            return Ok(());
        }
        self.read_unwritten(cx, read)
    }

    /// Completes the read of a page that was never written, or was trimmed. It takes no flash
    /// operation.
    #[cold]
    fn read_unwritten(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        read: &PageRead,
    ) -> Result<()> {
        cx.observe(Observation::UnwrittenRead);
        if let Some(verification) = &mut self.base.contents.verification {
            let (oracle, oldest) = (&mut verification.oracle, read.oldest.number);
            let checked = oracle.check(cx.now, read.page, oldest, ContentOracle::unwritten(), None);
            checked.map_err(DeviceError::Verification)?;
        }
        self.page_done(cx, read.owner, read.parts);
        Ok(())
    }
}

impl<M: Mapping> Controller<M> {
    /// Reads a logical page for the request `owner`.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        owner: u32,
        page: Lpn,
    ) -> Result<()> {
        if self.gc.base.follows && self.follows_reads() {
            return self.read_followed(cx, owner, page);
        }
        let read = PageRead {
            owner,
            page,
            parts: PageComponents::NONE,
            since: cx.now,
            oldest: NO_VERSION,
            found: Characteristic::New,
        };
        if let Some(job) = self.gc.base.mapping.fetch(page, false) {
            self.gc.wait_for_map(cx, job, Waiter::Read(read));
            return Ok(());
        }
        self.gc.read_mapped(cx, &read)
    }

    /// Returns `true` if a read is more than the read of its page: contents or program modes are
    /// tracked, or reads place pages.
    #[inline]
    fn follows_reads(&self) -> bool {
        let base = &self.gc.base;
        base.contents.verification.is_some()
            || base.first_reads.is_some()
            || base.conditions.regulation.is_some()
            || self.writes.rewrites.is_some()
    }

    /// Reads a page if [`Self::follows_reads`]: tracks its content and its program mode, and places
    /// the page if this is its first read.
    #[cold]
    fn read_followed(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        owner: u32,
        page: Lpn,
    ) -> Result<()> {
        self.gc.base.before_read(page);
        let mut oldest = NO_VERSION;
        if let Some(verification) = &mut self.gc.base.contents.verification {
            let filled = self.gc.base.mapping.lookup(page).is_some();
            oldest.number = verification.oracle.begin_read(page, filled);
        }
        let read = PageRead {
            owner,
            page,
            parts: PageComponents::NONE,
            since: cx.now,
            oldest,
            found: self.gc.base.conditions.accessed(page, false),
        };
        if let Some(job) = self.gc.base.mapping.fetch(page, false) {
            self.gc.wait_for_map(cx, job, Waiter::Read(read));
            return Ok(());
        }
        self.read_regulated(cx, &read)
    }

    /// Reads a page whose map entry is in memory, and decides whether to rewrite it.
    fn read_regulated(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        read: &PageRead,
    ) -> Result<()> {
        if self.writes.rewrites.is_none() {
            return self.gc.read_mapped(cx, read);
        }
        let place = self.gc.base.mapping.lookup(read.page);
        self.gc.read_mapped(cx, read)?;
        if let Some(place) = place {
            self.writes.regulate_read(&mut self.gc, cx, read, place);
        }
        Ok(())
    }

    /// Continues an operation that waited for a job. The map entry that it needs may have been
    /// evicted again.
    pub(super) fn map_read(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        waiter: Waiter,
    ) -> Result<()> {
        match waiter {
            Waiter::Write(tag)
                if self.gc.base.has_page_conditions && self.gc.base.conditions.is_read_only() =>
            {
                self.refuse_pending(cx, tag);
            }
            Waiter::Write(tag) => {
                let (mut write, later) = self.writes.pending.take(tag);
                write.parts.die_wait += cx.now - write.since;
                write.since = cx.now;
                self.advance(cx, write, later);
            }
            Waiter::Trim(trim) => self.gc.trim_done(cx, trim),
            Waiter::Rewrite(rewrite) => self.writes.rewrite(&mut self.gc, cx, rewrite),
            Waiter::Read(mut read) => {
                read.parts.die_wait += cx.now - read.since;
                read.since = cx.now;
                if let Some(job) = self.gc.base.mapping.fetch(read.page, false) {
                    self.gc.wait_for_map(cx, job, Waiter::Read(read));
                } else {
                    self.read_regulated(cx, &read)?;
                }
            }
        }
        Ok(())
    }
}
