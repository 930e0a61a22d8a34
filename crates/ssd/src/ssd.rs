//! Solid-state drive: the host interface, the DRAM buffer, and the controller with its flash.

mod device_side;
mod tickets;

use device_side::DeviceSide;
use serde::{Deserialize, Serialize};
use tickets::{Outstanding, Tickets};
use wordline_block::{
    BlockDevice, Busy, Completion, LatencyComponents, Op, PowerCut, ReadEvents, Request, Ticket,
    trim_range,
};
use wordline_cache::replacement::foreign::Maker;
use wordline_content_oracle::ContentOracle;
use wordline_dram_buffer::Versions;
use wordline_ftl::precondition::{Precondition, Preconditioned};
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
use wordline_host_link::{Command, Connect, Connection};

/// A solid-state drive over a mapping family.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ssd<M> {
    plan: Box<Plan>,
    controller: Controller<M>,
    buffer: Option<Box<Buffered>>,
    connection: Connection,
    tickets: Tickets,
    /// Submitted requests that are not complete. Count.
    outstanding: u32,
    /// Completions since they were last drained.
    completions: Vec<Completion>,
    /// Statistics at the start of the measurement.
    before: Box<SsdStats>,
}

impl<M: Mapping> Ssd<M> {
    /// Creates a new device.
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
    /// Returns the tables of the device except its map, with the memory of each at the given fill.
    pub fn memory(plan: &Plan, fill: Fill) -> Vec<Table> {
        let mut tables = Controller::<M>::memory(plan, fill);
        let depth = u64::from(plan.queue_depth);
        tables.push(Table::grown::<Outstanding>("requests in progress", depth));
        tables.extend(Buffered::memory(plan));
        tables
    }
    /// Returns the tables that [`Ssd::verify`] adds, except those of the DRAM buffer, with the
    /// memory of each at the given fill.
    pub fn memory_verified(plan: &Plan, fill: Fill) -> Vec<Table> {
        Controller::<M>::memory_verified(plan, fill)
    }
    /// Returns the tables that [`Ssd::expect_power_cuts`] adds, with the memory of each at the
    /// given fill.
    pub fn memory_with_power_cuts(plan: &Plan, fill: Fill) -> Vec<Table> {
        Controller::<M>::memory_with_power_cuts(plan, fill)
    }
    /// Preconditions the device. `go_on` receives the number of pages written so far, and returns
    /// `false` to end preconditioning early.
    pub fn precondition(
        &mut self,
        plan: &Precondition,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> Result<Preconditioned> {
        self.controller.precondition(plan, &mut go_on)
    }
    /// Returns the state that preconditioning has changed, for [`Prepared`].
    pub fn prepared(&self) -> (&M, &Array, Option<&SpareWriter>) {
        self.controller.prepared()
    }
    /// Restores a prepared state to a new device, in place of preconditioning. The device from
    /// which the state comes must have an equal map, array and preconditioning. If this device
    /// records spare areas, that device must have recorded them, too.
    pub fn prepare(&mut self, prepared: Prepared<M>) {
        self.controller.prepare(prepared);
    }
    /// Enables power cuts; must be called on a new device.
    pub fn expect_power_cuts(&mut self) {
        self.controller.expect_power_cuts();
    }
    /// Cuts power, and cuts it again during erase number `erases` of the recovery, counted from 0.
    /// [`BlockDevice::cut_power`] must follow. Returns `false` if the recovery has fewer erases.
    pub fn cut_recovery(&mut self, now: Time, erases: usize) -> Result<bool> {
        self.controller.cut_recovery(now, &self.plan, erases)
    }
    /// Enables verification of every read against a content oracle.
    pub fn verify(&mut self) {
        self.controller.verify();
        if let Some(buffered) = &mut self.buffer {
            buffered.verify();
        }
    }
    /// Replaces the replacement policy of the DRAM buffer, if there is one, with a custom policy.
    /// Must be called before the first request. Fails if `maker` cannot create the policy.
    pub fn evict_by(&mut self, maker: &Maker) -> Result<()> {
        let buffered = self.buffer.as_mut();
        buffered.map_or(Ok(()), |buffered| buffered.evict_by(maker))
    }
    /// Returns the number of dirty pages in the DRAM buffer.
    pub fn dirty_pages(&self) -> u32 {
        let buffered = self.buffer.as_ref();
        buffered.map_or(0, |buffered| buffered.dirty_pages())
    }
    /// Returns the load of a die.
    pub fn die_load(&self, die: Die) -> DieLoad {
        self.controller.die_load(die)
    }
    /// Returns the load level of a die: the time of its host operations and of its longest GC run
    /// (Liu et al., LCR, eq. 2).
    pub fn die_time(&self, die: Die) -> Time {
        self.controller.die_time(die)
    }
    /// Returns the versions of a page's writes and TRIMs, if the run is verified and there is a
    /// buffer.
    pub fn versions(&self, page: Lpn) -> Option<Versions> {
        self.buffer.as_ref()?.versions(page)
    }
    /// Checks incrementally maintained state (loads of dies, memory of the buffer) against a
    /// recount. For tests, between two events.
    pub fn audit(&self) -> Result<(), String> {
        self.controller.audit()?;
        let buffered = self.buffer.as_ref();
        buffered.map_or(Ok(()), |buffered| buffered.audit())
    }
    /// Returns the number of submitted requests that are not complete.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }
    /// Returns the mapping.
    pub fn mapping(&self) -> &M {
        self.controller.mapping()
    }
    /// Returns the mapping. The owner of the device may change it between two events.
    pub fn mapping_mut(&mut self) -> &mut M {
        self.controller.mapping_mut()
    }
    /// Returns `true` if GC of a block is in progress or paused.
    pub fn is_collecting(&self) -> bool {
        self.controller.is_collecting()
    }
    /// Returns the array.
    pub fn array(&self) -> &Array {
        self.controller.array()
    }
    /// Returns the statistics since the start of the run.
    pub fn stats(&self) -> SsdStats {
        let buffered = self.buffer.as_ref();
        SsdStats {
            lost_reads: buffered.map_or(0, |buffered| buffered.lost_reads()),
            ..self.controller.stats()
        }
    }
    /// Returns the statistics since the start of the measurement.
    pub fn measured(&self) -> SsdStats {
        self.stats().since(&self.before)
    }
    /// Returns `true` if the device is read-only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.controller.is_read_only()
    }
    /// Returns `true` if reads can end with an error.
    pub fn reads_can_fail(&self) -> bool {
        self.controller.reads_can_fail()
    }
    /// Returns `true` if blocks can be bad. Otherwise a write ends with an error only if the rest
    /// of a partially written page cannot be read.
    pub fn writes_can_fail(&self) -> bool {
        self.controller.writes_can_fail()
    }
    /// Returns the content oracle, if the run is verified.
    pub fn content_oracle(&self) -> Option<&ContentOracle> {
        self.controller.content_oracle()
    }
    /// Handles an event of the buffer.
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

    /// Drops the requests in progress; their completions only report the loss.
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
                parts: LatencyComponents::default(),
                failed: false,
            }));
        self.outstanding = 0;
    }

    /// Runs an action of the interface, passes the interface the requests that the buffer or the
    /// controller has finished, and reports the completions.
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

    /// Completes a request.
    #[inline]
    fn complete(&mut self, cx: &mut Context<impl DeviceProbe>, ticket: Ticket) {
        // The two cases are compiled separately: without a buffer, most components are known to be
        // zero.
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
    /// Reports the events of a completed read, and returns the annotations of the request.
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
    /// Reports a completed request to the host and the probe. `side` are its latency components in
    /// the device.
    #[inline(always)]
    fn tell(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        side: LatencyComponents,
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
        let parts = LatencyComponents {
            host_queue: (submitted - request.arrival) + transfer.slot_wait,
            link_wait: transfer.link_wait,
            link: transfer.link,
            decode,
            ..side
        };
        debug_assert_eq!(
            parts.total(),
            cx.now - request.arrival,
            "the latency components add up to the response time"
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
    fn can_accept(&self, stream: u32) -> bool {
        self.connection.can_accept(stream)
    }
    fn lookahead_depth(&self) -> u32 {
        self.controller.lookahead_depth()
    }
    /// Announces the next requests. A command becomes known only when its announcement is due.
    fn look_ahead(&mut self, cx: &mut Context<impl DeviceProbe>, upcoming: &[Request]) {
        self.controller.look_ahead(cx, upcoming);
    }
    /// Prefetches the map entry of the first page.
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
    /// Programs the missing summaries of blocks that were full when power failed.
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
    fn slow_die(&mut self, die: u32, slowness: u32) -> bool {
        let exists = die < self.plan.part.layout.dies;
        if exists {
            self.controller.slow_die(Die(die), slowness);
        }
        exists
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
