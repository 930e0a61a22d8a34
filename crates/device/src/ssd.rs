//! A solid-state disk: the interface to the host, and behind it the controller with its flash.

use wordline_ftl::Mapping;
use wordline_kernel::{EventQueue, Probe, Time};
use wordline_nand::Array;

use crate::backend::Usage;
use crate::controller::{Controller, Done};
use crate::error::DeviceError;
use crate::event::Event;
use crate::host::{self, Act, Command, Connect, Connection, Ticket};
use crate::observation::{Observation, Op, PageParts, Parts};
use crate::plan::Plan;
use crate::power_cut::PowerCut;
use crate::precondition::{Precondition, Preconditioned};
use crate::request::Request;
use crate::shadow::Shadow;

/// What crosses to the device for a trim: a block of ranges (ATA DATA SET MANAGEMENT).
const RANGES_BYTES: u64 = 512;

/// A request that the host has handed over.
#[derive(Clone, Copy, Debug)]
struct Held {
    request: Request,
    submitted: Time,
    began: Time,
    finished: Time,
    parts: PageParts,
}

/// Requests under way between the host and the device.
#[derive(Clone, Debug, Default)]
struct Tickets {
    held: Vec<Held>,
    vacant: Vec<Ticket>,
    /// Requests that have begun and are not complete.
    begun: u32,
    /// Complete requests that the host has not been told of yet.
    complete: Vec<Ticket>,
}

impl Tickets {
    #[inline]
    fn issue(&mut self, now: Time, request: Request) -> Ticket {
        let held = Held {
            request,
            submitted: now,
            began: now,
            finished: now,
            parts: PageParts::NONE,
        };
        if let Some(ticket) = self.vacant.pop() {
            self.held[ticket as usize] = held;
            return ticket;
        }
        self.held.push(held);
        self.held.len() as Ticket - 1
    }
}

/// The device side of the interface.
struct Inside<'a, M, P> {
    controller: &'a mut Controller<M>,
    tickets: &'a mut Tickets,
    queue: &'a mut EventQueue<Event>,
    probe: &'a mut P,
    error: Option<DeviceError>,
}

impl<M: Mapping, P: Probe<Observation>> Act for Inside<'_, M, P> {
    #[inline]
    fn schedule(&mut self, at: Time, event: host::Event) {
        self.queue.schedule(at, Event::Host(event));
    }
    #[inline]
    fn begin(&mut self, now: Time, ticket: Ticket) {
        self.tickets.begun += 1;
        let in_flight = self.tickets.begun;
        self.probe.observe(now, Observation::Admitted { in_flight });
        let held = &mut self.tickets.held[ticket as usize];
        held.began = now;
        let request = held.request;
        let begun = self
            .controller
            .begin(now, ticket, &request, self.queue, self.probe);
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

/// A request that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// As [`Ssd::submit`] named it; from now on another may have the name.
    pub ticket: Ticket,
    /// Its stream.
    pub stream: u32,
}

/// A solid-state disk over a mapping family.
#[derive(Clone, Debug)]
pub struct Ssd<M> {
    controller: Controller<M>,
    connection: Connection,
    tickets: Tickets,
    /// Requests handed over and not complete.
    outstanding: u32,
    /// Requests that are complete since they were last asked for.
    completed: Vec<Completed>,
}

impl<M: Mapping> Ssd<M> {
    /// A pristine device.
    pub fn new(plan: &Plan, mapping: M) -> Self {
        Self {
            controller: Controller::new(plan, mapping),
            connection: Connection::new(&plan.interface, plan.queue_depth, &plan.streams),
            tickets: Tickets::default(),
            outstanding: 0,
            completed: Vec::new(),
        }
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
    /// The power fails and comes back at once, and the device recovers. `plan` is what it was built
    /// from. The owner forgets all events, and submits nothing before [`PowerCut::time`] is over.
    /// Requests that were not complete are lost; [`Ssd::completed`] tells of them too, but the probe
    /// does not hear of them.
    pub fn cut_power(
        &mut self,
        now: Time,
        plan: &Plan,
        probe: &mut impl Probe<Observation>,
    ) -> Result<PowerCut, DeviceError> {
        let mut cut = self.controller.cut_power(now, plan)?;
        cut.requests_lost = self.outstanding;
        self.connection = Connection::new(&plan.interface, plan.queue_depth, &plan.streams);
        let Tickets { held, vacant, .. } = std::mem::take(&mut self.tickets);
        let mut lost = vec![true; held.len()];
        for ticket in vacant {
            lost[ticket as usize] = false;
        }
        let held = held.iter().zip(0..).zip(lost).filter(|(_, lost)| *lost);
        self.completed
            .extend(held.map(|((held, ticket), _)| Completed {
                ticket,
                stream: held.request.stream,
            }));
        self.outstanding = 0;
        probe.observe(now, Observation::PowerCut(cut));
        Ok(cut)
    }
    /// From now on, every read is checked against a shadow store.
    pub fn verify(&mut self) {
        self.controller.verify();
    }
    /// Bytes the host can address.
    pub fn user_bytes(&self) -> u64 {
        self.controller.user_bytes()
    }
    /// Whether the host can hand over another request of a stream.
    #[inline]
    pub fn takes(&self, stream: u32) -> bool {
        self.connection.takes(stream)
    }
    /// How many requests ahead the host is to tell of with [`Ssd::announce`]; 0 if the device does
    /// not look at tags.
    pub fn tags(&self) -> u32 {
        self.controller.tags()
    }
    /// The host tells what it will ask for next, in order of arrival, each time that changes. The
    /// device knows of a command only once its tag may have come.
    pub fn announce(&mut self, now: Time, upcoming: &[Request], queue: &mut EventQueue<Event>) {
        self.controller.announce(now, upcoming, queue);
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
    /// The requests that are complete since this was last asked, one by one in the order in which the
    /// probe heard of them.
    #[inline]
    pub fn completed(&mut self) -> impl Iterator<Item = Completed> + '_ {
        self.completed.drain(..)
    }

    /// The host hands a request over; the device takes one of its stream. The ticket names it until it
    /// is complete, which it can be at once.
    #[inline]
    pub fn submit(
        &mut self,
        now: Time,
        request: Request,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<Ticket, DeviceError> {
        let capacity = self.user_bytes();
        let end = request.offset.checked_add(request.bytes);
        if end.is_none_or(|end| end > capacity) || request.bytes == 0 {
            let Request { offset, bytes, .. } = request;
            return Err(DeviceError::BeyondEnd {
                offset,
                bytes,
                capacity,
            });
        }
        self.outstanding += 1;
        let ticket = self.tickets.issue(now, request);
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
        self.cross(now, queue, probe, |connection, inside| {
            connection.submit(now, command, inside);
        })?;
        Ok(ticket)
    }

    /// Deals with an event that the device has scheduled.
    #[inline]
    pub fn handle(
        &mut self,
        now: Time,
        event: Event,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<(), DeviceError> {
        if let Event::Host(event) = event {
            return self.cross(now, queue, probe, |connection, inside| {
                connection.handle(now, event, inside);
            });
        }
        self.controller.handle(now, event, queue, probe)?;
        if self.controller.done.is_empty() {
            return Ok(());
        }
        self.cross(now, queue, probe, |_, _| ())
    }

    /// Lets the interface act, tells it of all requests that the controller is done with, and then
    /// the host of those that are complete.
    #[inline]
    fn cross<P: Probe<Observation>>(
        &mut self,
        now: Time,
        queue: &mut EventQueue<Event>,
        probe: &mut P,
        act: impl FnOnce(&mut Connection, &mut Inside<'_, M, P>),
    ) -> Result<(), DeviceError> {
        let mut inside = Inside {
            controller: &mut self.controller,
            tickets: &mut self.tickets,
            queue,
            probe,
            error: None,
        };
        act(&mut self.connection, &mut inside);
        let mut place = 0;
        while let Some(&Done { ticket, parts }) = inside.controller.done.get(place) {
            place += 1;
            let held = &mut inside.tickets.held[ticket as usize];
            held.finished = now;
            held.parts = parts;
            self.connection.finished(now, ticket, &mut inside);
        }
        inside.controller.done.clear();
        if let Some(error) = inside.error.take() {
            return Err(error);
        }
        let mut place = 0;
        while let Some(&ticket) = self.tickets.complete.get(place) {
            place += 1;
            self.complete(now, ticket, probe);
        }
        self.tickets.complete.clear();
        Ok(())
    }

    /// A request is complete.
    #[inline]
    fn complete(&mut self, now: Time, ticket: Ticket, probe: &mut impl Probe<Observation>) {
        let Held {
            request,
            submitted,
            began,
            finished,
            parts: page,
        } = self.tickets.held[ticket as usize];
        self.tickets.vacant.push(ticket);
        self.outstanding -= 1;
        self.completed.push(Completed {
            ticket,
            stream: request.stream,
        });
        let crossing = self.connection.crossing(ticket);
        debug_assert_eq!(
            page.total(),
            finished - began,
            "the parts of a page are its time"
        );
        debug_assert_eq!(
            crossing.total() + (finished - began),
            now - submitted,
            "the parts of a crossing are its time"
        );
        let parts = Parts {
            host_queue: (submitted - request.arrival) + crossing.slot_wait,
            link_wait: crossing.link_wait,
            link: crossing.link,
            page,
        };
        let Request {
            stream,
            op,
            offset,
            bytes,
            arrival,
        } = request;
        probe.observe(
            now,
            Observation::Request {
                stream,
                op,
                offset,
                bytes,
                arrival,
                parts,
            },
        );
    }
}
