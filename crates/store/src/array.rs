//! Several disks as one: requests are split, and done when their last part is.

use std::collections::VecDeque;

use wordline_device::{DeviceError, Observation as Heard, Op, Parts, Plan, PowerCut, Request, Ssd};
use wordline_ftl::Mapping;
use wordline_kernel::{BusyTime, Digest, EventQueue, Probe, Time};

use crate::error::ArrayError;
use crate::event::Event;
use crate::layout::{Extent, Layout};
use crate::observation::Observation;
use crate::store::Store;

/// Parts that wait outside the members at most; with as many the array takes no request. A bound on
/// memory, far beyond any queue that says something.
const MOST_WAITING: usize = 1 << 20;

/// The place of a request in the array's table.
type Join = u32;

/// A part of a request that its member has not taken yet.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// At the addresses of the member.
    request: Request,
    join: Join,
}

/// A disk of the array.
#[derive(Clone, Debug)]
struct Member<M> {
    name: String,
    ssd: Ssd<M>,
    /// By stream: parts that wait outside, first come, first served.
    lines: Vec<VecDeque<Part>>,
    waiting: usize,
    /// By ticket: the request that a part belongs to.
    joins: Vec<Join>,
}

impl<M: Mapping> Member<M> {
    fn queue(&mut self, part: Part) {
        let stream = part.request.stream as usize;
        if self.lines.len() <= stream {
            self.lines.resize_with(stream + 1, VecDeque::new);
        }
        self.lines[stream].push_back(part);
        self.waiting += 1;
    }
    /// Takes the part that was issued first of those that the disk takes; of equals, that of the first
    /// stream.
    fn next(&mut self) -> Option<Part> {
        if self.waiting == 0 {
            return None;
        }
        let heads = self.lines.iter_mut().filter(|line| {
            let stream = line.front().map(|part| part.request.stream);
            stream.is_some_and(|stream| self.ssd.takes(stream))
        });
        let first = heads.min_by_key(|line| line.front().map(|part| part.request.arrival))?;
        self.waiting -= 1;
        first.pop_front()
    }
    fn own(&mut self, ticket: u32, join: Join) {
        let ticket = ticket as usize;
        if self.joins.len() <= ticket {
            self.joins.resize(ticket + 1, 0);
        }
        self.joins[ticket] = join;
    }
    fn fault(&self, error: DeviceError) -> ArrayError {
        ArrayError::Member {
            name: self.name.clone(),
            error,
        }
    }
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    request: Request,
    parts: u32,
    /// Parts that are not done.
    left: u32,
}

/// The requests under way.
#[derive(Clone, Debug, Default)]
struct Joins {
    open: Vec<Open>,
    vacant: Vec<Join>,
}

impl Joins {
    fn begin(&mut self, request: Request, parts: usize) -> Join {
        let open = Open {
            request,
            parts: parts as u32,
            left: parts as u32,
        };
        if let Some(join) = self.vacant.pop() {
            self.open[join as usize] = open;
            return join;
        }
        self.open.push(open);
        self.open.len() as Join - 1
    }
    /// Forgets the requests of which not all parts are among those that wait, and returns them.
    fn forget_begun(&mut self, waiting: impl Iterator<Item = Join>) -> Vec<Request> {
        let mut parts = vec![0; self.open.len()];
        waiting.for_each(|join| parts[join as usize] += 1);
        let mut lost = Vec::new();
        for (join, (open, waiting)) in self.open.iter_mut().zip(parts).enumerate() {
            if open.left > 0 && waiting < open.parts {
                open.left = 0;
                self.vacant.push(join as Join);
                lost.push(open.request);
            }
        }
        lost
    }
    fn is_open(&self, join: Join) -> bool {
        self.open[join as usize].left > 0
    }
    /// A part is done; the request, if it was the last one.
    fn part_done(&mut self, join: Join) -> Option<Request> {
        let open = &mut self.open[join as usize];
        open.left -= 1;
        if open.left > 0 {
            return None;
        }
        self.vacant.push(join);
        Some(open.request)
    }
}

/// Hears a member, and notes where the time of its parts went.
struct Ear<'a, P> {
    member: u32,
    probe: &'a mut P,
    heard: &'a mut Vec<Parts>,
}

impl<P: Probe<Observation>> Probe<Heard> for Ear<'_, P> {
    const HEARS_PIECES: bool = P::HEARS_PIECES;
    #[inline]
    fn observe(&mut self, now: Time, device: Heard) {
        if let Heard::Request { parts, .. } = device {
            self.heard.push(parts);
        }
        let member = self.member;
        self.probe
            .observe(now, Observation::Member { member, device });
    }
}

/// Disks as one, each with its own queue, interface and configuration.
///
/// A request is split by the layout. Its parts wait for slots of their members independently, so that
/// a member that is behind does not hold up requests to others. A request is done when its last part
/// is, and is described by that part.
#[derive(Clone, Debug)]
pub struct Array<M> {
    layout: Layout,
    members: Vec<Member<M>>,
    joins: Joins,
    /// Parts that wait outside the members.
    waiting: usize,
    /// Streams of the requests that are complete since they were last asked for.
    completed: Vec<u32>,
    /// What a member schedules, before it is put into the owner's queue.
    scheduled: EventQueue<wordline_device::Event>,
    heard: Vec<Parts>,
    extents: Vec<Extent>,
}

impl<M: Mapping> Array<M> {
    /// Pristine disks by name, as many as `layout` is made for.
    pub fn new(layout: Layout, members: impl IntoIterator<Item = (String, Ssd<M>)>) -> Self {
        let members = members.into_iter().map(|(name, ssd)| Member {
            name,
            ssd,
            lines: Vec::new(),
            waiting: 0,
            joins: Vec::new(),
        });
        Self {
            layout,
            members: members.collect(),
            joins: Joins::default(),
            waiting: 0,
            completed: Vec::new(),
            scheduled: EventQueue::default(),
            heard: Vec::new(),
            extents: Vec::new(),
        }
    }
    /// Bytes the host can address.
    pub fn user_bytes(&self) -> u64 {
        self.layout.user_bytes()
    }
    /// The disks, to look at.
    pub fn members(&self) -> impl Iterator<Item = &Ssd<M>> {
        self.members.iter().map(|member| &member.ssd)
    }
    /// The disks, to be prepared before the first request.
    pub fn members_mut(&mut self) -> impl Iterator<Item = &mut Ssd<M>> {
        self.members.iter_mut().map(|member| &mut member.ssd)
    }

    /// Hands over what a member takes of the parts that wait for it.
    fn feed(
        &mut self,
        now: Time,
        member: u32,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<(), ArrayError> {
        while let Some(part) = self.members[member as usize].next() {
            self.waiting -= 1;
            let disk = &mut self.members[member as usize];
            let heard = &mut self.heard;
            let mut ear = Ear {
                member,
                probe,
                heard,
            };
            let taken = disk
                .ssd
                .submit(now, part.request, &mut self.scheduled, &mut ear);
            let ticket = taken.map_err(|error| disk.fault(error))?;
            disk.own(ticket, part.join);
            self.settle(now, member, queue, probe);
        }
        Ok(())
    }

    /// Passes on what a member has scheduled, in its order, and joins the parts that it has completed.
    fn settle(
        &mut self,
        now: Time,
        member: u32,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        while let Some((at, device)) = self.scheduled.pop() {
            queue.schedule(at, Event { member, device });
        }
        let Member { ssd, joins, .. } = &mut self.members[member as usize];
        for (done, parts) in ssd.completed().zip(self.heard.drain(..)) {
            let join = joins[done.ticket as usize];
            let Some(request) = self.joins.part_done(join) else {
                continue;
            };
            debug_assert_eq!(
                parts.total(),
                now - request.arrival,
                "the last part takes as long as the request"
            );
            let Request {
                stream,
                op,
                offset,
                bytes,
                arrival,
                ..
            } = request;
            self.completed.push(stream);
            let whole = Observation::Request {
                stream,
                op,
                offset,
                bytes,
                arrival,
                parts,
                member,
            };
            probe.observe(now, whole);
        }
    }

    /// Forgets what the members had begun with, and the requests that it was of. Those that no member
    /// had taken anything of wait on.
    fn lose_begun(&mut self) -> Vec<Request> {
        let lines = self.members.iter().flat_map(|member| &member.lines);
        let waiting = lines.flatten().map(|part| part.join);
        let lost = self.joins.forget_begun(waiting);
        self.heard.clear();
        self.waiting = 0;
        for member in &mut self.members {
            for line in &mut member.lines {
                line.retain(|part| self.joins.is_open(part.join));
            }
            member.waiting = member.lines.iter().map(VecDeque::len).sum();
            self.waiting += member.waiting;
        }
        lost
    }

    /// Splits a request into `self.extents`.
    fn split(&mut self, request: &Request) -> Result<(), ArrayError> {
        let Request { offset, bytes, .. } = *request;
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
        let capacity = self.layout.user_bytes();
        let end = offset.checked_add(bytes);
        if end.is_none_or(|end| end > capacity) || bytes == 0 {
            return Err(ArrayError::Whole(DeviceError::BeyondEnd {
                offset,
                bytes,
                capacity,
            }));
        }
        self.layout.split(offset, bytes, &mut self.extents);
        Ok(())
    }
}

fn part_of(request: &Request, extent: &Extent) -> Request {
    Request {
        offset: extent.offset,
        bytes: extent.bytes,
        ..*request
    }
}

impl<M: Mapping> Store for Array<M> {
    type Event = Event;
    type Observation = Observation;
    type Error = ArrayError;

    fn mix(event: Event, digest: &mut Digest) {
        event.mix(digest);
    }
    fn takes(&self, _stream: u32) -> bool {
        self.waiting < MOST_WAITING
    }
    fn tags(&self) -> u32 {
        let tags = self.members().map(Ssd::tags).max().unwrap_or_default();
        tags.saturating_mul(self.members.len() as u32)
    }
    /// Every member hears of its own parts.
    fn announce(&mut self, now: Time, upcoming: &[Request], queue: &mut EventQueue<Event>) {
        let mut parts = vec![Vec::new(); self.members.len()];
        for request in upcoming {
            if self.split(request).is_err() {
                continue;
            }
            for extent in &self.extents {
                parts[extent.member as usize].push(part_of(request, extent));
            }
        }
        let members = (0..).zip(&mut self.members).zip(&mut parts);
        for ((member, disk), parts) in members {
            parts.truncate(disk.ssd.tags() as usize);
            disk.ssd.announce(now, parts, &mut self.scheduled);
            while let Some((at, device)) = self.scheduled.pop() {
                queue.schedule(at, Event { member, device });
            }
        }
    }
    fn submit(
        &mut self,
        now: Time,
        request: Request,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<(), ArrayError> {
        self.split(&request)?;
        let join = self.joins.begin(request, self.extents.len());
        self.waiting += self.extents.len();
        for place in 0..self.extents.len() {
            let extent = self.extents[place];
            let request = part_of(&request, &extent);
            self.members[extent.member as usize].queue(Part { request, join });
            self.feed(now, extent.member, queue, probe)?;
        }
        Ok(())
    }
    #[inline]
    fn handle(
        &mut self,
        now: Time,
        event: Event,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<(), ArrayError> {
        let Event { member, device } = event;
        let disk = &mut self.members[member as usize];
        let heard = &mut self.heard;
        let mut ear = Ear {
            member,
            probe,
            heard,
        };
        let handled = disk.ssd.handle(now, device, &mut self.scheduled, &mut ear);
        handled.map_err(|error| disk.fault(error))?;
        self.settle(now, member, queue, probe);
        self.feed(now, member, queue, probe)
    }
    fn cut_power(
        &mut self,
        now: Time,
        plans: &[Plan],
        probe: &mut impl Probe<Observation>,
    ) -> Result<PowerCut, ArrayError> {
        let mut all = PowerCut::default();
        for ((member, disk), plan) in (0..).zip(&mut self.members).zip(plans) {
            let heard = &mut self.heard;
            let mut ear = Ear {
                member,
                probe,
                heard,
            };
            let cut = disk.ssd.cut_power(now, plan, &mut ear);
            all.join(&cut.map_err(|error| disk.fault(error))?);
            disk.ssd.completed().for_each(drop);
        }
        let lost = self.lose_begun();
        all.requests_lost = lost.len() as u32;
        self.completed
            .extend(lost.iter().map(|request| request.stream));
        Ok(all)
    }
    fn resume(
        &mut self,
        now: Time,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<(), ArrayError> {
        for member in 0..self.members.len() as u32 {
            self.feed(now, member, queue, probe)?;
        }
        Ok(())
    }
    fn chip_times(&self, times: &mut Vec<Time>) {
        times.extend(self.members().flat_map(Ssd::chip_times));
    }
    fn buses_busy(&self, buses: &mut Vec<BusyTime>) {
        buses.extend(self.members().flat_map(Ssd::buses_busy));
    }
    fn dies_busy(&self, dies: &mut Vec<BusyTime>) {
        dies.extend(self.members().flat_map(Ssd::dies_busy));
    }
    fn completed(&mut self) -> impl Iterator<Item = u32> + '_ {
        self.completed.drain(..)
    }
    fn has_completed(&self) -> bool {
        !self.completed.is_empty()
    }
}
