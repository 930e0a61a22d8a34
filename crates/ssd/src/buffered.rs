//! DRAM buffer of a device, in front of its controller.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_block::{LatencyComponents, PowerCut, ReadEvents, Request, Ticket};
use wordline_cache::replacement::foreign::Maker;
use wordline_dram_buffer::{
    Backing, Buffer, Chip, Outcome, Page, PageOp, PageRequest, Served, Versions,
};
use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::memory::Table;
use wordline_kernel::{EventQueue, Time};
use wordline_nand::Die;

use crate::controller::{Controller, Done, ReadAnnotations};
use crate::error::Result;
use crate::event::{Context, Kind};
use crate::observation::{DeviceProbe, Observation};
use crate::plan::Plan;

/// View of the controller as the flash behind the buffer.
struct Flash<'a, 'c, M, P> {
    cx: &'a mut Context<'c, P>,
    controller: &'a Controller<M>,
}

impl<M: Mapping, P: DeviceProbe> Backing for Flash<'_, '_, M, P> {
    fn schedule(&mut self, at: Time, event: wordline_dram_buffer::Event) {
        self.cx.schedule(at, Kind::Buffer(event));
    }
    fn observe(&mut self, now: Time, observation: wordline_dram_buffer::Observation) {
        self.cx.probe.observe(now, Observation::Buffer(observation));
    }
    fn chip_of(&self, page: Page) -> Option<Chip> {
        let die = self.controller.die_of(Lpn(page.0));
        die.map(|Die(die)| Chip(die))
    }
    fn address_decides(&self) -> bool {
        self.controller.address_decides()
    }
    fn load(&self, chip: Chip, reads: u32, programs: u32) -> Time {
        self.controller.die_time(Die(chip.0)) + self.controller.time_of(reads, programs)
    }
    fn is_collecting(&self, chip: Chip) -> bool {
        self.controller.die_load(Die(chip.0)).collections > 0
    }
    fn holds(&self, page: Page) -> u32 {
        let oracle = self.controller.content_oracle();
        oracle.map_or(0, |oracle| oracle.holds(Lpn(page.0)))
    }
}

/// DRAM buffer, and its requests to the flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Buffered {
    buffer: Buffer,
    /// Requests to the flash, each with its time, by ticket.
    requested: Vec<Option<(PageRequest, Time)>>,
    /// Latency components of finished requests, whether they failed, and their read events, by
    /// ticket.
    served: Vec<(LatencyComponents, bool, ReadEvents)>,
}

impl Buffered {
    pub fn new(plan: &Plan, user_pages: u32) -> Option<Box<Self>> {
        let dies = plan.part.layout.dies;
        let buffer = Buffer::new(plan.buffer.as_ref()?, plan.page_bytes, user_pages, dies);
        Some(Box::new(Self {
            buffer,
            requested: Vec::new(),
            served: Vec::new(),
        }))
    }
    /// Returns the tables of the buffer, with the memory of each; none if the device has no buffer.
    pub fn memory(plan: &Plan) -> impl Iterator<Item = Table> {
        let buffer = plan.buffer.as_ref();
        let tables = buffer.map(|buffer| Buffer::memory(buffer, plan.ftl.user_pages));
        tables.into_iter().flatten()
    }
    pub fn evict_by(&mut self, maker: &Maker) -> Result<()> {
        Ok(self.buffer.evict_by(maker)?)
    }
    pub fn verify(&mut self) {
        self.buffer.verify();
    }
    pub fn dirty_pages(&self) -> u32 {
        self.buffer.dirty_pages()
    }
    pub fn versions(&self, page: Lpn) -> Option<Versions> {
        self.buffer.versions(Page(page.0))
    }
    /// Returns the latency components of a finished request, whether it failed, and its read
    /// events.
    pub fn served(&self, ticket: Ticket) -> (LatencyComponents, bool, ReadEvents) {
        self.served[ticket as usize]
    }

    /// Starts a host request in the buffer.
    pub fn begin<M: Mapping>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        request: &Request,
        controller: &Controller<M>,
    ) -> Result<()> {
        let now = cx.now;
        let mut flash = Flash { cx, controller };
        Ok(self.buffer.begin(now, ticket, request, &mut flash)?)
    }
    /// Ends a request with an error because the device is read-only.
    pub fn refuse(&mut self, now: Time, ticket: Ticket) {
        self.buffer.refuse(now, ticket);
    }
    /// Handles an event that the buffer has scheduled.
    pub fn handle<M: Mapping>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        event: wordline_dram_buffer::Event,
        controller: &Controller<M>,
    ) -> Result<()> {
        let now = cx.now;
        let mut flash = Flash { cx, controller };
        Ok(self.buffer.handle(now, event, &mut flash)?)
    }
    /// Returns the next request to the flash, if any.
    pub fn next_request(&mut self) -> Option<PageRequest> {
        self.buffer.next_request()
    }
    /// Records that the flash has accepted a request of the buffer under `ticket`.
    pub fn requested(&mut self, now: Time, ticket: Ticket, request: PageRequest) {
        let ticket = ticket as usize;
        if self.requested.len() <= ticket {
            self.requested.resize(ticket + 1, None);
        }
        self.requested[ticket] = Some((request, now));
    }
    /// Handles a finished flash request, with its annotations. Returns `false` if it was not the
    /// buffer's.
    pub fn flash_done<M: Mapping>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        (done, beside): (&Done, ReadAnnotations),
        controller: &Controller<M>,
    ) -> Result<bool> {
        let Some((request, began)) = self.requested[done.ticket as usize].take() else {
            return Ok(false);
        };
        let now = cx.now;
        let mut flash = Flash { cx, controller };
        let parts = LatencyComponents {
            decode: beside.decode,
            ..done.parts.into()
        };
        let outcome = match (beside.failed, beside.unwritten) {
            (_, true) => Outcome::Unwritten,
            (true, false) => Outcome::Unread,
            (false, false) => Outcome::Done,
        };
        self.buffer.flash_done(
            now,
            &request,
            began,
            (&parts, outcome, beside.met),
            &mut flash,
        )?;
        Ok(true)
    }
    /// Returns the next host request that the buffer has finished.
    pub fn next_done(&mut self, now: Time) -> Option<Ticket> {
        let Served {
            ticket,
            parts,
            failed,
            met,
        } = self.buffer.done.pop_front()?;
        self.buffer.request_done(now);
        let place = ticket as usize;
        if self.served.len() <= place {
            self.served.resize(
                place + 1,
                (LatencyComponents::default(), false, ReadEvents::default()),
            );
        }
        self.served[place] = (parts, failed, met);
        Some(ticket)
    }
    /// Returns the number of page reads that failed because the flash had failed to store the page.
    pub fn lost_reads(&self) -> u64 {
        self.buffer.lost_reads
    }
    /// Returns how many pages of a range a power cut would lose now.
    pub fn volatile_pages(&self, pages: &Range<u64>) -> u32 {
        self.buffer.volatile_pages(pages)
    }
    /// Notifies the buffer that the work of an event is done.
    pub fn rest<M: Mapping>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        controller: &Controller<M>,
    ) {
        self.buffer.rest(&mut Flash { cx, controller });
    }
    /// Handles a power cut, after the flash has recovered.
    pub fn cut_power<M: Mapping>(
        &mut self,
        now: Time,
        cut: &mut PowerCut,
        controller: &Controller<M>,
        probe: &mut impl DeviceProbe,
    ) -> Result<()> {
        let mut none = EventQueue::default();
        let mut cx = Context::new(now, &mut none, probe);
        let mut flash = Flash {
            cx: &mut cx,
            controller,
        };
        Ok(self.buffer.cut_power(now, cut, &mut flash)?)
    }
    /// Drops all requests to the flash, and returns their tickets.
    pub fn forget(&mut self) -> impl Iterator<Item = Ticket> + use<> {
        let requested = std::mem::take(&mut self.requested).into_iter().zip(0..);
        requested.filter_map(|(requested, ticket)| requested.map(|_| ticket))
    }
    /// Checks the buffer's state between two events, for tests.
    pub fn audit(&self) -> Result<(), String> {
        let in_flash = |page| {
            let requested = self.requested.iter().flatten();
            let mut destages =
                requested.filter(|(request, _)| matches!(request.op, PageOp::Destage(_)));
            destages.any(|(request, _)| request.page == page)
        };
        self.buffer.audit(in_flash)
    }
}
