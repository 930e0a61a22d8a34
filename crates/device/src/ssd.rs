//! A solid-state disk: the interface to the host, and behind it the controller with its flash.

use wordline_block::{BlockDevice, Busy, Completion, Op, Parts, PowerCut, Request, Ticket};
use wordline_buffer::{PageRequest, Versions};
use wordline_cache::replacement::foreign::Maker;
use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::{Probe, Time};
use wordline_nand::{Array, Die};

use crate::backend::Usage;
use crate::buffered::Buffered;
use crate::controller::{ChipLoad, Controller, Done};
use crate::error::DeviceError;
use crate::event::{Context, Event, Kind};
use crate::host::{self, Act, Command, Connect, Connection};
use crate::observation::{Observation, PageParts};
use crate::plan::Plan;
use crate::precondition::{Precondition, Preconditioned};
use crate::shadow::Shadow;

/// What crosses to the device for a trim: a block of ranges (ATA DATA SET MANAGEMENT).
const RANGES_BYTES: u64 = 512;

/// A request that the host has handed over.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    request: Request,
    submitted: Time,
    parts: PageParts,
}

/// Requests under way between the host and the device.
#[derive(Clone, Debug, Default)]
struct Tickets {
    outstanding: Vec<Outstanding>,
    vacant: Vec<Ticket>,
    /// Requests that have begun and are not complete.
    begun: u32,
    /// Complete requests that the host has not been told of yet.
    complete: Vec<Ticket>,
}

impl Tickets {
    #[inline]
    fn issue(&mut self, now: Time, request: Request) -> Ticket {
        if let Some(ticket) = self.vacant.pop() {
            // The rest is set when the request is done.
            let outstanding = &mut self.outstanding[ticket as usize];
            outstanding.request = request;
            outstanding.submitted = now;
            return ticket;
        }
        self.outstanding.push(Outstanding {
            request,
            submitted: now,
            parts: PageParts::NONE,
        });
        self.outstanding.len() as Ticket - 1
    }
}

/// The device side of the interface.
struct DeviceSide<'a, 'c, M, P> {
    cx: &'a mut Context<'c, P>,
    controller: &'a mut Controller<M>,
    buffer: Option<&'a mut Buffered>,
    tickets: &'a mut Tickets,
    error: Option<DeviceError>,
}

impl<M: Mapping, P: Probe<Observation>> Act for DeviceSide<'_, '_, M, P> {
    #[inline]
    fn schedule(&mut self, at: Time, event: host::Event) {
        self.cx.schedule(at, Kind::Host(event));
    }
    #[inline]
    fn begin(&mut self, _now: Time, ticket: Ticket) {
        self.tickets.begun += 1;
        let in_flight = self.tickets.begun;
        self.cx.observe(Observation::Admitted { in_flight });
        let request = self.tickets.outstanding[ticket as usize].request;
        let begun = match &mut self.buffer {
            None => self.controller.begin(self.cx, ticket, &request),
            Some(buffered) => buffered.begin(self.cx, ticket, &request, self.controller),
        };
        if let Err(error) = begun {
            self.error.get_or_insert(error);
        }
    }
    #[inline]
    fn complete(&mut self, _now: Time, ticket: Ticket) {
        self.tickets.begun -= 1;
        self.tickets.complete.push(ticket);
    }
}

impl<M: Mapping, P: Probe<Observation>> DeviceSide<'_, '_, M, P> {
    /// Hands what the buffer asks for to the flash, and what the flash has done to the buffer, until
    /// nothing is left but requests of the host that are done.
    #[cold]
    fn pump(&mut self) -> Result<(), DeviceError> {
        while let Some(buffered) = &mut self.buffer {
            if let Some(request) = buffered.next_request() {
                self.request_page(request)?;
            } else if self.controller.done.is_empty() {
                break;
            } else {
                let done = std::mem::take(&mut self.controller.done);
                self.flash_done(&done)?;
            }
        }
        Ok(())
    }

    /// Finishes the requests that the buffer is done with, and goes on with those that the interface
    /// begins then.
    #[cold]
    fn finish_in_buffer(&mut self, connection: &mut Connection) {
        loop {
            if let Err(error) = self.pump() {
                self.error.get_or_insert(error);
                break;
            }
            let Some(ticket) = self.buffer.as_mut().and_then(|one| one.next_done()) else {
                break;
            };
            connection.finished(self.cx.now, ticket, self);
        }
    }

    /// The flash has done what the buffer asked for.
    fn flash_done(&mut self, done: &[Done]) -> Result<(), DeviceError> {
        let Some(buffered) = &mut self.buffer else {
            return Ok(());
        };
        for done in done {
            if buffered.flash_done(self.cx, done, self.controller)? {
                self.tickets.vacant.push(done.ticket);
            }
        }
        Ok(())
    }

    /// The flash is asked for something by the buffer.
    fn request_page(&mut self, request: PageRequest) -> Result<(), DeviceError> {
        let now = self.cx.now;
        let ticket = self.tickets.issue(
            now,
            Request {
                stream: 0,
                op: Op::Read,
                fua: false,
                offset: 0,
                bytes: 0,
                arrival: now,
            },
        );
        if let Some(buffered) = &mut self.buffer {
            buffered.requested(now, ticket, request);
        }
        self.controller.begin_page(self.cx, ticket, &request)
    }
}

/// A solid-state disk over a mapping family.
#[derive(Clone, Debug)]
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
    ) -> Result<Preconditioned, DeviceError> {
        self.controller.precondition(plan, go_on)
    }
    /// From now on the power can fail; to be called on a pristine device.
    pub fn expect_power_cuts(&mut self) {
        self.controller.expect_power_cuts();
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
    pub fn evict_by(&mut self, maker: &Maker) -> Result<(), DeviceError> {
        let buffered = self.buffer.as_mut();
        buffered.map_or(Ok(()), |buffered| buffered.evict_by(maker))
    }
    /// Pages in the DRAM buffer that are newer than the flash.
    pub fn dirty_pages(&self) -> u32 {
        let buffered = self.buffer.as_ref();
        buffered.map_or(0, |buffered| buffered.dirty_pages())
    }
    /// What a die has to do.
    pub fn chip_load(&self, die: Die) -> ChipLoad {
        self.controller.chip_load(die)
    }
    /// How long what a die has to do takes.
    pub fn chip_time(&self, die: Die) -> Time {
        self.controller.chip_time(die)
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
    /// The array, to look at.
    pub fn array(&self) -> &Array {
        self.controller.array()
    }
    /// What each die has been used for.
    pub fn usage(&self) -> impl Iterator<Item = Usage> + '_ {
        self.controller.usage()
    }
    /// The shadow store, if the run is verified.
    pub fn shadow(&self) -> Option<&Shadow> {
        self.controller.shadow()
    }
    /// Deals with an event that the buffer has scheduled.
    #[cold]
    fn handle_in_buffer(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        event: wordline_buffer::Event,
    ) -> Result<(), DeviceError> {
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
            }));
        self.outstanding = 0;
    }

    /// Lets the interface act, tells it of all requests that the controller is done with, and then
    /// the host of those that are complete.
    #[inline]
    fn advance<P: Probe<Observation>>(
        &mut self,
        cx: &mut Context<'_, P>,
        act: impl FnOnce(&mut Connection, &mut DeviceSide<'_, '_, M, P>),
    ) -> Result<(), DeviceError> {
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
            while let Some(&Done { ticket, parts }) = side.controller.done.get(place) {
                place += 1;
                side.tickets.outstanding[ticket as usize].parts = parts;
                self.connection.finished(now, ticket, &mut side);
            }
            side.controller.done.clear();
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
    fn complete(&mut self, cx: &mut Context<'_, impl Probe<Observation>>, ticket: Ticket) {
        let Outstanding {
            request,
            submitted,
            parts: page,
        } = self.tickets.outstanding[ticket as usize];
        let side = match &self.buffer {
            None => page.into(),
            Some(buffered) => buffered.parts(ticket),
        };
        self.tickets.vacant.push(ticket);
        self.outstanding -= 1;
        let transfer = self.connection.transfer(ticket);
        let parts = Parts {
            host_queue: (submitted - request.arrival) + transfer.slot_wait,
            link_wait: transfer.link_wait,
            link: transfer.link,
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
        });
        cx.observe(Observation::Request { request, parts });
    }
}

impl<M: Mapping> BlockDevice for Ssd<M> {
    type Event = Event;
    type Observation = Observation;
    type Error = DeviceError;

    fn user_bytes(&self) -> u64 {
        self.controller.user_bytes()
    }
    #[inline]
    fn takes(&self, stream: u32) -> bool {
        self.connection.takes(stream)
    }
    fn tags(&self) -> u32 {
        self.controller.tags()
    }
    /// The device knows of a command only once its tag may have come.
    fn look_ahead(&mut self, cx: &mut Context<'_, impl Probe<Observation>>, upcoming: &[Request]) {
        self.controller.look_ahead(cx, upcoming);
    }
    /// Prefetches what the map says of the first page.
    #[inline]
    fn prefetch(&mut self, request: &Request) {
        self.controller.prefetch(request.offset);
    }
    #[inline]
    fn submit(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        request: Request,
    ) -> Result<Ticket, DeviceError> {
        request.fit(self.user_bytes())?;
        self.outstanding += 1;
        let ticket = self.tickets.issue(cx.now, request);
        let command = Command {
            ticket,
            stream: request.stream,
            write: request.op != Op::Read,
            bytes: if request.op == Op::Trim {
                RANGES_BYTES
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
    fn handle(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        event: Event,
    ) -> Result<(), DeviceError> {
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
            Kind::Idle => self.controller.check_idle(cx)?,
        }
        if self.controller.done.is_empty() {
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
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Observation>,
    ) -> Result<PowerCut, DeviceError> {
        let plan = &self.plan;
        let mut cut = self.controller.cut_power(now, plan)?;
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
    fn chip_times(&self, times: &mut Vec<Time>) {
        let dies = 0..self.controller.usage().count() as u32;
        times.extend(dies.map(|die| self.chip_time(Die(die))));
    }
    fn busy(&self, busy: &mut Busy) {
        busy.buses.extend(self.controller.buses_busy());
        busy.dies.extend(self.controller.dies_busy());
    }
}
