//! Array of block devices: requests are split, and complete with their last part.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_block::{
    ArrayObservation, BlockDevice, Busy, Completion, LatencyComponents, MemberObservation, Nested,
    Op, PowerCut, Request, Ticket,
};
use wordline_kernel::{Context, EventQueue, Probe, Time};

use crate::address_map::{AddressMap, Extent};
use crate::error::ArrayError;

/// Maximum number of parts that wait outside the members. At this number, the array accepts no
/// further request, which bounds its memory. Real queues are far shorter.
const MAX_WAITING: usize = 1 << 20;

/// Ticket that stands for no request.
const NO_REQUEST: Ticket = Ticket::MAX;

/// Part of a request that its member has not yet accepted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Part {
    /// Request for the part, with addresses of the member.
    request: Request,
    whole: Ticket,
}

/// Member device of the array.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Member<D> {
    name: String,
    device: D,
    /// Parts of each stream that wait outside the device, first come, first served.
    lines: Vec<VecDeque<Part>>,
    waiting: usize,
    /// Request to which each part in the device belongs, by ticket of the part.
    wholes: Vec<Ticket>,
}

impl<D: BlockDevice> Member<D> {
    fn queue(&mut self, part: Part) {
        let stream = part.request.stream as usize;
        if self.lines.len() <= stream {
            self.lines.resize_with(stream + 1, VecDeque::new);
        }
        self.lines[stream].push_back(part);
        self.waiting += 1;
    }
    /// Removes and returns the earliest issued part among those that the device can accept; `None`
    /// if it can accept none. Ties go to the first stream.
    fn next(&mut self) -> Option<Part> {
        if self.waiting == 0 {
            return None;
        }
        let heads = self.lines.iter_mut().filter(|line| {
            let stream = line.front().map(|part| part.request.stream);
            stream.is_some_and(|stream| self.device.can_accept(stream))
        });
        let first = heads.min_by_key(|line| line.front().map(|part| part.request.arrival))?;
        self.waiting -= 1;
        first.pop_front()
    }
    fn own(&mut self, ticket: Ticket, whole: Ticket) {
        let ticket = ticket as usize;
        if self.wholes.len() <= ticket {
            self.wholes.resize(ticket + 1, NO_REQUEST);
        }
        self.wholes[ticket] = whole;
    }
    /// Drops the parts of requests that are not open, both those that wait here and those in the
    /// device. Returns the number of dropped parts that waited here.
    fn cancel(&mut self, tickets: &Tickets) -> usize {
        let waited = self.waiting;
        for line in &mut self.lines {
            line.retain(|part| tickets.is_open(part.whole));
        }
        self.waiting = self.lines.iter().map(VecDeque::len).sum();
        let mut cancelled = Vec::new();
        for (ticket, own) in (0..).zip(&mut self.wholes) {
            if *own != NO_REQUEST && !tickets.is_open(*own) {
                *own = NO_REQUEST;
                cancelled.push(ticket);
            }
        }
        self.device.cancel(&cancelled);
        waited - self.waiting
    }
    fn fault(&self, error: D::Error) -> ArrayError<D::Error> {
        ArrayError::Member {
            name: self.name.clone(),
            error,
        }
    }
}

/// Request in progress.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Open {
    request: Request,
    parts: u32,
    /// Parts that are not complete. Count.
    left: u32,
    /// Whether a part has failed.
    failed: bool,
}

/// Requests in progress, by ticket.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Tickets {
    open: Vec<Open>,
    vacant: Vec<Ticket>,
}

impl Tickets {
    fn issue(&mut self, request: Request, parts: usize) -> Ticket {
        let open = Open {
            request,
            parts: parts as u32,
            left: parts as u32,
            failed: false,
        };
        if let Some(ticket) = self.vacant.pop() {
            self.open[ticket as usize] = open;
            return ticket;
        }
        self.open.push(open);
        self.open.len() as Ticket - 1
    }
    /// Returns `true` if parts of a request are incomplete.
    fn is_open(&self, ticket: Ticket) -> bool {
        self.open[ticket as usize].left > 0
    }
    /// Drops a request that has lost a part. Returns the request unless it was already dropped.
    fn lose(&mut self, ticket: Ticket) -> Option<Request> {
        let open = &mut self.open[ticket as usize];
        (open.left > 0).then(|| {
            open.left = 0;
            self.vacant.push(ticket);
            open.request
        })
    }
    /// Returns the requests of which some parts, but not all, are complete.
    fn begun(&self) -> Vec<Ticket> {
        let open = (0..).zip(&self.open);
        let begun = open.filter(|(_, open)| (1..open.parts).contains(&open.left));
        begun.map(|(ticket, _)| ticket).collect()
    }
    /// Records a complete or failed part. If it was the last one, returns the request and whether
    /// any part has failed.
    fn part_done(&mut self, ticket: Ticket, failed: bool) -> Option<(Request, bool)> {
        let open = &mut self.open[ticket as usize];
        open.failed |= failed;
        open.left -= 1;
        if open.left > 0 {
            return None;
        }
        self.vacant.push(ticket);
        Some((open.request, open.failed))
    }
}

/// Probe that reports the observations of a member to the probe of the array.
struct MemberProbe<'a, P> {
    member: u32,
    members: u32,
    probe: &'a mut P,
}

impl<T: MemberObservation, P: Probe<ArrayObservation<T::Device>>> Probe<T> for MemberProbe<'_, P> {
    const WANTS_FRAGMENTS: bool = P::WANTS_FRAGMENTS;
    #[inline(always)]
    fn wants_fragments(&self) -> bool {
        self.probe.wants_fragments()
    }
    #[inline]
    fn observe(&mut self, now: Time, observation: T) {
        self.probe
            .observe(now, observation.wrap(self.member, self.members));
    }
}

/// Block devices that act as one, each with its own queue, interface and configuration.
///
/// The address map splits a request. Its parts wait for slots of their members independently, so a
/// slow member does not delay requests to others. A request completes with its last part, and has
/// the latency components of that part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Array<D: BlockDevice> {
    map: AddressMap,
    members: Vec<Member<D>>,
    tickets: Tickets,
    /// Parts that wait outside all members. Count.
    waiting: usize,
    /// Completions that have not been drained.
    completions: Vec<Completion>,
    /// Events of a member before they enter the owner's queue.
    #[serde(skip)]
    scheduled: EventQueue<D::Event>,
    /// Extents of the request that is being split.
    #[serde(skip)]
    extents: Vec<Extent>,
}

impl<D: BlockDevice> Array<D> {
    /// Creates an array of new devices with their names; their number must match `map`.
    pub fn new(map: AddressMap, members: impl IntoIterator<Item = (String, D)>) -> Self {
        let members = members.into_iter().map(|(name, device)| Member {
            name,
            device,
            lines: Vec::new(),
            waiting: 0,
            wholes: Vec::new(),
        });
        Self {
            map,
            members: members.collect(),
            tickets: Tickets::default(),
            waiting: 0,
            completions: Vec::new(),
            scheduled: EventQueue::default(),
            extents: Vec::new(),
        }
    }
    /// Returns the member devices.
    pub fn members(&self) -> impl Iterator<Item = &D> {
        self.members.iter().map(|member| &member.device)
    }
    /// Drops requests that a power cut has lost.
    fn lose(&mut self, tickets: &[Ticket]) {
        for &ticket in tickets {
            self.completions
                .extend(self.tickets.lose(ticket).map(|request| Completion {
                    ticket,
                    stream: request.stream,
                    parts: LatencyComponents::default(),
                    failed: false,
                }));
        }
        self.cancel_parts();
    }
    /// Drops the waiting parts of requests that are no longer open.
    fn cancel_parts(&mut self) {
        for member in &mut self.members {
            self.waiting -= member.cancel(&self.tickets);
        }
    }

    /// Splits a request into `self.extents`.
    fn split(&mut self, request: &Request) -> Result<(), ArrayError<D::Error>> {
        request.fit(self.map.user_bytes())?;
        if request.op == Op::Flush {
            let members = 0..self.members.len() as u32;
            let extents = members.map(|member| Extent {
                member,
                offset: 0,
                bytes: 0,
            });
            self.extents.clear();
            self.extents.extend(extents);
            return Ok(());
        }
        self.map
            .split(request.offset, request.bytes, &mut self.extents);
        Ok(())
    }
}

impl<D> Array<D>
where
    D: BlockDevice<Event: Nested, Observation: MemberObservation>,
{
    /// Performs an action on a member at the current time.
    #[inline]
    fn inside<T, P: Probe<Observed<D>>>(
        &mut self,
        cx: &mut Context<'_, ArrayEvent<D>, P>,
        member: u32,
        act: impl FnOnce(&mut D, &mut Context<'_, D::Event, MemberProbe<'_, P>>) -> Result<T, D::Error>,
    ) -> Result<T, ArrayError<D::Error>> {
        let members = self.members.len() as u32;
        let mut member_probe = MemberProbe {
            member,
            members,
            probe: cx.probe,
        };
        let inside = &mut self.members[member as usize];
        let mut within = Context::new(cx.now, &mut self.scheduled, &mut member_probe);
        act(&mut inside.device, &mut within).map_err(|error| inside.fault(error))
    }

    /// Submits waiting parts while the member accepts them.
    fn feed(
        &mut self,
        cx: &mut Context<'_, ArrayEvent<D>, impl Probe<Observed<D>>>,
        member: u32,
    ) -> Result<(), ArrayError<D::Error>> {
        while let Some(part) = self.members[member as usize].next() {
            self.waiting -= 1;
            self.hand_over(cx, member, part)?;
        }
        Ok(())
    }
    /// Submits a part that the member accepts.
    #[inline]
    fn hand_over(
        &mut self,
        cx: &mut Context<'_, ArrayEvent<D>, impl Probe<Observed<D>>>,
        member: u32,
        part: Part,
    ) -> Result<(), ArrayError<D::Error>> {
        let ticket = self.inside(cx, member, |device, cx| device.submit(cx, part.request))?;
        self.members[member as usize].own(ticket, part.whole);
        self.settle(cx, member);
        Ok(())
    }

    /// Passes the events that a member has scheduled to the owner's queue, in order.
    #[inline]
    fn pass_on(&mut self, member: u32, queue: &mut EventQueue<ArrayEvent<D>>) {
        let members = self.members.len() as u32;
        while let Some((at, event)) = self.scheduled.pop() {
            queue.schedule(at, event.wrap(member, members));
        }
    }

    /// Passes the events that a member has scheduled to the owner's queue, and completes the
    /// requests whose last part it has completed.
    fn settle(
        &mut self,
        cx: &mut Context<'_, ArrayEvent<D>, impl Probe<Observed<D>>>,
        member: u32,
    ) {
        self.pass_on(member, cx.queue);
        let Member { device, wholes, .. } = &mut self.members[member as usize];
        if !device.has_completions() {
            return;
        }
        for done in device.completions() {
            let ticket = std::mem::replace(&mut wholes[done.ticket as usize], NO_REQUEST);
            let Some((request, failed)) = self.tickets.part_done(ticket, done.failed) else {
                continue;
            };
            let parts = done.parts;
            debug_assert_eq!(
                parts.total(),
                cx.now - request.arrival,
                "the last part takes as long as the request"
            );
            self.completions.push(Completion {
                ticket,
                stream: request.stream,
                parts,
                failed,
            });
            let whole = ArrayObservation::Request {
                request,
                parts,
                member,
                depth: 0,
            };
            cx.observe(whole);
        }
    }
}

/// Event of an array of `D`.
type ArrayEvent<D> = <<D as BlockDevice>::Event as Nested>::Wrapped;
/// Observation of an array of `D`.
type Observed<D> = ArrayObservation<<<D as BlockDevice>::Observation as MemberObservation>::Device>;

fn part_of(request: &Request, extent: &Extent) -> Request {
    Request {
        offset: extent.offset,
        bytes: extent.bytes,
        ..*request
    }
}

impl<D> BlockDevice for Array<D>
where
    D: BlockDevice<Event: Nested, Observation: MemberObservation>,
{
    type Event = ArrayEvent<D>;
    type Observation = Observed<D>;
    type Error = ArrayError<D::Error>;

    fn user_bytes(&self) -> u64 {
        self.map.user_bytes()
    }
    fn begin_measuring(&mut self, now: Time) {
        for member in &mut self.members {
            member.device.begin_measuring(now);
        }
    }
    fn can_accept(&self, _stream: u32) -> bool {
        self.waiting < MAX_WAITING
    }
    fn lookahead_depth(&self) -> u32 {
        let depth = self
            .members()
            .map(D::lookahead_depth)
            .max()
            .unwrap_or_default();
        depth.saturating_mul(self.members.len() as u32)
    }
    /// Announces to each member its parts of the next requests.
    fn look_ahead(
        &mut self,
        cx: &mut Context<'_, ArrayEvent<D>, impl Probe<Observed<D>>>,
        upcoming: &[Request],
    ) {
        let mut parts = vec![Vec::new(); self.members.len()];
        for request in upcoming {
            if self.split(request).is_err() {
                continue;
            }
            for extent in &self.extents {
                parts[extent.member as usize].push(part_of(request, extent));
            }
        }
        for (member, mut parts) in (0..).zip(parts) {
            let result = self.inside(cx, member, |device, cx| {
                parts.truncate(device.lookahead_depth() as usize);
                device.look_ahead(cx, &parts);
                Ok(())
            });
            debug_assert!(result.is_ok(), "look-ahead cannot fail");
            self.pass_on(member, cx.queue);
        }
    }
    /// Passes the hint to the member that contains the first byte of the request.
    #[inline]
    fn prefetch(&mut self, request: &Request) {
        if let Some((member, offset)) = self.map.at(request.offset) {
            let device = &mut self.members[member as usize].device;
            device.prefetch(&Request { offset, ..*request });
        }
    }
    fn submit(
        &mut self,
        cx: &mut Context<'_, ArrayEvent<D>, impl Probe<Observed<D>>>,
        request: Request,
    ) -> Result<Ticket, Self::Error> {
        self.split(&request)?;
        let whole = self.tickets.issue(request, self.extents.len());
        self.waiting += self.extents.len();
        for place in 0..self.extents.len() {
            let extent = self.extents[place];
            let part = Part {
                request: part_of(&request, &extent),
                whole,
            };
            let member = &mut self.members[extent.member as usize];
            if member.waiting == 0 && member.device.can_accept(request.stream) {
                self.waiting -= 1;
                self.hand_over(cx, extent.member, part)?;
                continue;
            }
            member.queue(part);
            self.feed(cx, extent.member)?;
        }
        Ok(whole)
    }
    #[inline]
    fn handle(
        &mut self,
        cx: &mut Context<'_, ArrayEvent<D>, impl Probe<Observed<D>>>,
        event: ArrayEvent<D>,
    ) -> Result<(), Self::Error> {
        let members = self.members.len() as u32;
        let (member, event) = D::Event::unwrap(event, members);
        self.inside(cx, member, |device, cx| device.handle(cx, event))?;
        self.settle(cx, member);
        if self.members[member as usize].waiting > 0 {
            self.feed(cx, member)?;
        }
        Ok(())
    }
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.drain(..)
    }
    fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }
    fn volatile_pages(&self, offset: u64, bytes: u64) -> u32 {
        let mut extents = Vec::new();
        self.map.split(offset, bytes, &mut extents);
        let of_member = extents.iter().map(|extent| {
            let device = &self.members[extent.member as usize].device;
            device.volatile_pages(extent.offset, extent.bytes)
        });
        of_member.sum()
    }
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Observed<D>>,
    ) -> Result<PowerCut, Self::Error> {
        let mut all = PowerCut::default();
        let mut lost = self.tickets.begun();
        let members = self.members.len() as u32;
        for (member, inside) in (0..).zip(&mut self.members) {
            let mut member_probe = MemberProbe {
                member,
                members,
                probe,
            };
            let cut = inside.device.cut_power(now, &mut member_probe);
            all.join(&cut.map_err(|error| inside.fault(error))?);
            let Member { device, wholes, .. } = inside;
            let parts = device.completions();
            lost.extend(
                parts.map(|lost| std::mem::replace(&mut wholes[lost.ticket as usize], NO_REQUEST)),
            );
        }
        lost.sort_unstable();
        lost.dedup();
        all.requests_lost = lost.len() as u32;
        self.lose(&lost);
        Ok(all)
    }
    fn cancel(&mut self, tickets: &[Ticket]) {
        for &ticket in tickets {
            self.tickets.lose(ticket);
        }
        self.cancel_parts();
    }
    #[allow(clippy::redundant_closure_for_method_calls)] // a path names one lifetime, not any
    fn resume(
        &mut self,
        cx: &mut Context<'_, ArrayEvent<D>, impl Probe<Observed<D>>>,
    ) -> Result<(), Self::Error> {
        for member in 0..self.members.len() as u32 {
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "a method path would name one lifetime, not any"
            )]
            self.inside(cx, member, |device, cx| device.resume(cx))?;
            self.settle(cx, member);
            self.feed(cx, member)?;
        }
        Ok(())
    }
    fn slow_die(&mut self, die: u32, slowness: u32) -> bool {
        let mut of_member = die;
        for Member { device, .. } in &mut self.members {
            let mut own = Busy::default();
            device.busy(&mut own);
            let dies = own.dies.len() as u32;
            if of_member < dies {
                return device.slow_die(of_member, slowness);
            }
            of_member -= dies;
        }
        false
    }
    fn die_backlog(&self, times: &mut Vec<Time>) {
        self.members().for_each(|device| device.die_backlog(times));
    }
    fn busy(&self, busy: &mut Busy) {
        self.members().for_each(|device| device.busy(busy));
    }
}
