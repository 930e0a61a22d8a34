//! Writes, trims and flushes, which all go below, and what the cache makes of them.

use wordline_block::{BlockDevice, Op, Request, Ticket};
use wordline_cache::Found;
use wordline_kernel::Probe;

use super::config::Writes;
use super::event::Observation;
use super::tier::{Sub, Task};
use super::{Cached, Instant, Result};

impl<B: BlockDevice> Cached<B> {
    pub(super) fn write(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), B> {
        self.figures.writes += u64::from(request.op == Op::Write);
        self.expect(ticket, 1, true);
        let bytes = u64::from(self.plan.page_bytes);
        for page in self.pages_of(request) {
            *self.writing.entry(page).or_default() += 1;
            if let Some(fetch) = self.fetching.remove(&page)
                && let Some(fetch) = self.fetches.get_mut(fetch)
            {
                fetch.pages.retain(|other| *other != page);
            }
            let whole = request.offset <= page * bytes
                && (page + 1) * bytes <= request.offset + request.bytes;
            let through = self.plan.writes == Writes::Through && request.op == Op::Write && whole;
            self.write_page(cx, ticket, request, page, through)?;
        }
        self.ask_below_for(cx, ticket, request)?;
        self.part_done(cx, ticket, None);
        Ok(())
    }
    /// The cache forgets a page that is written, or takes it.
    fn write_page(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
        page: u64,
        through: bool,
    ) -> Result<(), B> {
        let (residents, pages) = self.flash.mapping_mut().parts();
        let resident = residents.find(page);
        if let Some((copy, Found::Resident)) = resident
            && through
            && pages.lookup(copy).is_some()
        {
            self.figures.updates += 1;
            if let Some(versions) = &mut self.versions {
                let next = versions.below(page) + 1;
                versions.filled(copy, next);
            }
            self.expect(ticket, 1, true);
            *self.writing.entry(page).or_default() += 1;
            let sub = Sub {
                request: self.at_copy(Op::Write, copy, request, cx.now),
                task: Task::Update { ticket, page, copy },
            };
            return self.ask_flash(cx, sub);
        }
        self.figures.invalidated += u64::from(residents.remove(page, pages));
        Ok(())
    }
    pub(super) fn pass_below(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), B> {
        self.expect(ticket, 1, true);
        self.ask_below_for(cx, ticket, request)?;
        self.part_done(cx, ticket, None);
        Ok(())
    }
    fn ask_below_for(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), B> {
        self.expect(ticket, 1, true);
        let sub = Sub {
            request: Request {
                arrival: cx.now,
                ..*request
            },
            task: Task::Below { ticket },
        };
        self.ask_below(cx, sub)
    }
    /// A write has ended below.
    pub(super) fn written(&mut self, request: &Request) {
        if request.op == Op::Flush {
            return;
        }
        for page in self.pages_of(request) {
            self.write_over(page);
            if let Some(versions) = &mut self.versions {
                versions.written(page);
            }
        }
    }
    /// A write of a page has ended in one of the tiers.
    pub(super) fn write_over(&mut self, page: u64) {
        if let Some(count) = self.writing.get_mut(&page) {
            *count -= 1;
            if *count == 0 {
                self.writing.remove(&page);
            }
        }
    }
}
