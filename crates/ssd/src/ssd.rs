//! A solid-state disk: the interface to the host, and behind it the controller with its flash.

mod device_side;
mod tickets;

use device_side::DeviceSide;
use serde::{Deserialize, Serialize};
use tickets::{Outstanding, Tickets};
use wordline_block::{
    BlockDevice, Busy, Completion, Op, Parts, PowerCut, ReadEvents, Request, Ticket, trim_range,
};
use wordline_cache::replacement::foreign::Maker;
use wordline_dram_buffer::Versions;
use wordline_ftl::recovery::SpareWriter;
use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::{Since, Time};
use wordline_nand::{Array, Die};

use crate::buffered::Buffered;
use crate::controller::SsdStats;
use crate::controller::{Controller, DieLoad, Done, Prepared, ReadAnnotations};
use crate::error::{DeviceError, Result};
use crate::event::{Context, Event, Kind};
use crate::observation::{DeviceProbe, Observation};
use crate::plan::Plan;
use crate::precondition::{Precondition, Preconditioned};
use crate::shadow::Shadow;
use wordline_host_link::{Command, Connect, Connection};

/// A solid-state disk over a mapping family.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ssd<M> {
    plan: Box<Plan>,
    controller: Controller<M>,
    buffer: Option<Box<Buffered>>,
    connection: Connection,
    tickets: Tickets,
    /// Requests handed over and not complete.
    outstanding: u32,
    /// Requests that are complete since they were last asked for.
    completions: Vec<Completion>,
    /// Counts and times up to the start of measuring.
    before: Box<SsdStats>,
}

impl<M: Mapping> Ssd<M> {
    /// A pristine device.
    pub fn new(plan: &Plan, mapping: M) -> Self {
        Self {
            plan: Box::new(plan.clone()),
            buffer: Buffered::new(plan, mapping.user_pages()),
            controller: Controller::new(plan, mapping),
            connection: Connection::new(&plan.interface, plan.queue_depth, &plan.streams),
            tickets: Tickets::default(),
            outstanding: 0,
            completions: Vec::new(),
            before: Box::default(),
        }
    }
    /// What the device takes of memory beside its map, of a device so full.
    pub fn memory(plan: &Plan, fill: Fill) -> Vec<Table> {
        let mut tables = Controller::<M>::memory(plan, fill);
        let depth = u64::from(plan.queue_depth);
        tables.push(Table::grown::<Outstanding>("requests under way", depth));
        tables.extend(Buffered::memory(plan));
        tables
    }
    /// What [`Ssd::verify`] takes of memory beside.
    pub fn memory_verified(plan: &Plan, fill: Fill) -> Vec<Table> {
        Controller::<M>::memory_verified(plan, fill)
    }
    /// What [`Ssd::expect_power_cuts`] takes of memory beside, of a device so full.
    pub fn memory_with_power_cuts(plan: &Plan, fill: Fill) -> Vec<Table> {
        Controller::<M>::memory_with_power_cuts(plan, fill)
    }
    /// Brings the device into the state in which it is measured.
    pub fn precondition(
        &mut self,
        plan: &Precondition,
        go_on: impl FnMut(u64) -> bool,
    ) -> Result<Preconditioned> {
        self.controller.precondition(plan, go_on)
    }
    /// What preconditioning has changed, as [`Prepared`] is read.
    pub fn prepared(&self) -> (&M, &Array, Option<&SpareWriter>) {
        self.controller.prepared()
    }
    /// In place of preconditioning: brings a pristine device into the state that one was in whose map,
    /// array and precondition are equal, and that expected power cuts if this one does.
    pub fn prepare(&mut self, prepared: Prepared<M>) {
        self.controller.prepare(prepared);
    }
    /// From now on the power can fail; to be called on a pristine device.
    pub fn expect_power_cuts(&mut self) {
        self.controller.expect_power_cuts();
    }
    /// The power fails, and again while the device recovers: behind so many erases of that recovery, during the next of them, if there
    /// are so many. To be followed by [`BlockDevice::cut_power`]; whether there were.
    pub fn cut_recovery(&mut self, now: Time, erases: usize) -> Result<bool> {
        self.controller.cut_recovery(now, &self.plan, erases)
    }
    /// From now on, every read is checked against a shadow store.
    pub fn verify(&mut self) {
        self.controller.verify();
        if let Some(buffered) = &mut self.buffer {
            buffered.verify();
        }
    }
    /// Before the first request: policies of a maker choose who leaves the DRAM buffer, if there is
    /// one, in place of the plan's. An error if it cannot make one.
    pub fn evict_by(&mut self, maker: &Maker) -> Result<()> {
        let buffered = self.buffer.as_mut();
        buffered.map_or(Ok(()), |buffered| buffered.evict_by(maker))
    }
    /// Pages in the DRAM buffer that are newer than the flash.
    pub fn dirty_pages(&self) -> u32 {
        let buffered = self.buffer.as_ref();
        buffered.map_or(0, |buffered| buffered.dirty_pages())
    }
    /// What a die has to do.
    pub fn die_load(&self, die: Die) -> DieLoad {
        self.controller.die_load(die)
    }
    /// How long what a die has to do takes.
    pub fn die_time(&self, die: Die) -> Time {
        self.controller.die_time(die)
    }
    /// What became of the writes and trims of a page, if the run is verified and there is a buffer.
    pub fn versions(&self, page: Lpn) -> Option<Versions> {
        self.buffer.as_ref()?.versions(page)
    }
    /// For tests, between two events: whether what is kept as it changes (loads of dies, memory of the
    /// buffer) is what a look at everything gives; if not, what is wrong.
    pub fn audit(&self) -> Result<(), String> {
        self.controller.audit()?;
        let buffered = self.buffer.as_ref();
        buffered.map_or(Ok(()), |buffered| buffered.audit())
    }
    /// Requests handed over and not complete.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }
    /// The mapping, to look at.
    pub fn mapping(&self) -> &M {
        self.controller.mapping()
    }
    /// The mapping, for the owner of its pages to change between two events.
    pub fn mapping_mut(&mut self) -> &mut M {
        self.controller.mapping_mut()
    }
    /// Whether a block is being collected, be it that the collection has stopped.
    pub fn is_collecting(&self) -> bool {
        self.controller.is_collecting()
    }
    /// The array, to look at.
    pub fn array(&self) -> &Array {
        self.controller.array()
    }
    /// Counts and times from the start.
    pub fn stats(&self) -> SsdStats {
        let buffered = self.buffer.as_ref();
        SsdStats {
            lost_reads: buffered.map_or(0, |buffered| buffered.lost_reads()),
            ..self.controller.stats()
        }
    }
    /// Counts and times since the start of measuring.
    pub fn measured(&self) -> SsdStats {
        self.stats().since(&self.before)
    }
    /// Whether the device takes no writes any more.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.controller.is_read_only()
    }
    /// Whether reads can end with an error.
    pub fn reads_can_fail(&self) -> bool {
        self.controller.reads_can_fail()
    }
    /// Whether writes can end with an error.
    pub fn writes_can_fail(&self) -> bool {
        self.controller.writes_can_fail()
    }
    /// The shadow store, if the run is verified.
    pub fn shadow(&self) -> Option<&Shadow> {
        self.controller.shadow()
    }
    /// Deals with an event that the buffer has scheduled.
    #[cold]
    fn handle_in_buffer(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        event: wordline_dram_buffer::Event,
    ) -> Result<()> {
        let Some(buffered) = &mut self.buffer else {
            return Ok(());
        };
        buffered.handle(cx, event, &self.controller)?;
        self.advance(cx, |_, _| ())
    }

    /// Forgets the requests under way, whose completions tell nothing but that they are lost.
    fn lose_requests(&mut self) {
        let Tickets {
            outstanding,
            vacant,
            ..
        } = std::mem::take(&mut self.tickets);
        let mut lost = vec![true; outstanding.len()];
        let of_buffer = self
            .buffer
            .iter_mut()
            .flat_map(|buffered| buffered.forget());
        for ticket in vacant.into_iter().chain(of_buffer) {
            lost[ticket as usize] = false;
        }
        let outstanding = outstanding
            .iter()
            .zip(0..)
            .zip(lost)
            .filter(|(_, lost)| *lost);
        self.completions
            .extend(outstanding.map(|((outstanding, ticket), _)| Completion {
                ticket,
                stream: outstanding.request.stream,
                parts: Parts::default(),
                failed: false,
            }));
        self.outstanding = 0;
    }

    /// Lets the interface act, tells it of all requests that the controller is done with, and then
    /// the host of those that are complete.
    #[inline]
    fn advance<P: DeviceProbe>(
        &mut self,
        cx: &mut Context<'_, P>,
        act: impl FnOnce(&mut Connection, &mut DeviceSide<'_, '_, M, P>),
    ) -> Result<()> {
        let now = cx.now;
        let mut side = DeviceSide {
            cx,
            controller: &mut self.controller,
            buffer: self.buffer.as_deref_mut(),
            tickets: &mut self.tickets,
            error: None,
        };
        act(&mut self.connection, &mut side);
        if side.buffer.is_some() {
            side.finish_in_buffer(&mut self.connection);
        } else {
            let mut place = 0;
            while let Some(&Done { ticket, parts }) = side.controller.done().get(place) {
                place += 1;
                side.tickets.outstanding[ticket as usize].parts = parts;
                self.connection.finished(now, ticket, &mut side);
            }
            side.controller.done().clear();
        }
        if let Some(error) = side.error.take() {
            return Err(error);
        }
        let mut place = 0;
        while let Some(&ticket) = self.tickets.complete.get(place) {
            place += 1;
            self.complete(cx, ticket);
        }
        self.tickets.complete.clear();
        Ok(())
    }

    /// A request is complete.
    #[inline]
    fn complete(&mut self, cx: &mut Context<impl DeviceProbe>, ticket: Ticket) {
        // Compiled for each: without a buffer, most parts are known to be zero.
        match &self.buffer {
            None => {
                let page = self.tickets.outstanding[ticket as usize].parts;
                self.tell(cx, ticket, page.into(), (false, ReadEvents::default()));
            }
            Some(_) => self.tell_buffered(cx, ticket),
        }
    }
    #[inline(never)]
    fn tell_buffered(&mut self, cx: &mut Context<impl DeviceProbe>, ticket: Ticket) {
        if let Some(buffered) = &self.buffer {
            let (parts, missed, met) = buffered.served(ticket);
            self.tell(cx, ticket, parts, (missed, met));
        }
    }
    /// Tells what a read has met that is complete; what else there is to say of it.
    #[cold]
    #[inline(never)]
    fn tell_beside(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        met_before: ReadEvents,
    ) -> ReadAnnotations {
        let beside = self.controller.take_beside(ticket);
        let request = &self.tickets.outstanding[ticket as usize].request;
        if request.op == Op::Read {
            cx.observe(Observation::Read {
                met: beside.met.union(met_before),
                response: cx.now - request.arrival,
            });
        }
        beside
    }
    /// Tells of a complete request, which went through the parts of `side` in the device.
    #[inline(always)]
    fn tell(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        side: Parts,
        (missed, met_before): (bool, ReadEvents),
    ) {
        let Outstanding {
            request, submitted, ..
        } = self.tickets.outstanding[ticket as usize];
        self.tickets.vacant.push(ticket);
        self.outstanding -= 1;
        let transfer = self.connection.transfer(ticket);
        let (mut failed, mut decode) = (missed, side.decode);
        if self.controller.tells_beside() {
            let beside = self.tell_beside(cx, ticket, met_before);
            failed |= beside.failed;
            decode += beside.decode;
        }
        let parts = Parts {
            host_queue: (submitted - request.arrival) + transfer.slot_wait,
            link_wait: transfer.link_wait,
            link: transfer.link,
            decode,
            ..side
        };
        debug_assert_eq!(
            parts.total(),
            cx.now - request.arrival,
            "the parts are the response time"
        );
        self.completions.push(Completion {
            ticket,
            stream: request.stream,
            parts,
            failed,
        });
        cx.observe(Observation::Request {
            request,
            parts,
            failed,
        });
    }
}

impl<M: Mapping> BlockDevice for Ssd<M> {
    type Event = Event;
    type Observation = Observation;
    type Error = DeviceError;

    fn user_bytes(&self) -> u64 {
        self.controller.user_bytes()
    }
    fn begin_measuring(&mut self, _now: Time) {
        *self.before = self.stats();
    }
    #[inline]
    fn takes(&self, stream: u32) -> bool {
        self.connection.takes(stream)
    }
    fn tags(&self) -> u32 {
        self.controller.tags()
    }
    /// The device knows of a command only once its tag may have come.
    fn look_ahead(&mut self, cx: &mut Context<impl DeviceProbe>, upcoming: &[Request]) {
        self.controller.look_ahead(cx, upcoming);
    }
    /// Prefetches what the map says of the first page.
    #[inline]
    fn prefetch(&mut self, request: &Request) {
        self.controller.prefetch(request.offset);
    }
    #[inline]
    fn submit(&mut self, cx: &mut Context<impl DeviceProbe>, request: Request) -> Result<Ticket> {
        request.fit(self.user_bytes())?;
        self.outstanding += 1;
        let ticket = self.tickets.issue(cx.now, request);
        let command = Command {
            ticket,
            stream: request.stream,
            write: request.op != Op::Read,
            bytes: if request.op == Op::Trim {
                trim_range::payload_bytes(request.bytes)
            } else {
                request.bytes
            },
        };
        let now = cx.now;
        self.advance(cx, |connection, side| {
            connection.submit(now, command, side);
        })?;
        Ok(ticket)
    }
    #[inline(always)]
    fn handle(&mut self, cx: &mut Context<impl DeviceProbe>, event: Event) -> Result<()> {
        match event.kind() {
            Kind::Flash(event) => self.controller.flash(cx, event)?,
            Kind::Host(event) => {
                let now = cx.now;
                return self.advance(cx, |connection, side| {
                    connection.handle(now, event, side);
                });
            }
            Kind::Buffer(event) => return self.handle_in_buffer(cx, event),
            Kind::Begin => self.controller.begin_dies(cx),
            Kind::Schedule => self.controller.schedule(cx),
            Kind::Look => self.controller.look(cx)?,
        }
        if self.controller.done().is_empty() {
            return Ok(());
        }
        self.advance(cx, |_, _| ())
    }
    #[inline]
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.drain(..)
    }
    #[inline]
    fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }
    fn cut_power(&mut self, now: Time, probe: &mut impl DeviceProbe) -> Result<PowerCut> {
        let plan = &self.plan;
        let mut cut = self.controller.cut_power(now, plan)?;
        for replaced in self.controller.newly_retired() {
            probe.observe(now, Observation::BlockRetired { replaced });
        }
        if let Some(retries) = self.controller.newly_retried() {
            probe.observe(now, Observation::Retried { retries });
        }
        if let Some(buffered) = &mut self.buffer {
            buffered.cut_power(now, &mut cut, &self.controller, probe)?;
            cut.time += plan.read_time(cut.pages_saved);
        }
        cut.requests_lost = self.outstanding;
        self.connection = Connection::new(&plan.interface, plan.queue_depth, &plan.streams);
        self.lose_requests();
        probe.observe(now, Observation::PowerCut(cut));
        Ok(cut)
    }
    /// Blocks that the power has left full without their summaries get them.
    fn resume(&mut self, cx: &mut Context<impl DeviceProbe>) -> Result<()> {
        self.controller.summarize(cx);
        Ok(())
    }
    fn volatile_pages(&self, offset: u64, bytes: u64) -> u32 {
        let page_bytes = u64::from(self.plan.page_bytes);
        let pages = offset / page_bytes..(offset + bytes).div_ceil(page_bytes);
        let buffered = self.buffer.as_ref();
        buffered.map_or(0, |buffered| buffered.volatile_pages(&pages))
    }
    fn die_backlog(&self, times: &mut Vec<Time>) {
        let dies = 0..self.plan.part.layout.dies;
        times.extend(dies.map(|die| self.die_time(Die(die))));
    }
    fn busy(&self, busy: &mut Busy) {
        busy.buses.extend(self.controller.buses_busy());
        busy.dies.extend(self.controller.dies_busy());
    }
}
