//! A solid-state disk.

mod collect;

use std::collections::VecDeque;

use collect::Job;
use rustc_hash::FxHashMap;
use thiserror::Error;
use wordline_ftl::instant::InstantError;
use wordline_ftl::{Lpn, Mapping, Written};
use wordline_kernel::{EventQueue, Probe, Time};
use wordline_nand::{Array, Die, Event as Flash, Layout, Operation, Plane, Ppn, Violation};

use crate::backend::{BackEnd, Order, Purpose, Slot, Usage, Worked};
use crate::event::Event;
use crate::observation::{Observation, Op, Parts};
use crate::plan::Plan;
use crate::precondition::{Precondition, Preconditioned};
use crate::shadow::{Shadow, Version};

/// A request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read or write.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Length in bytes, at least 1.
    pub bytes: u64,
    /// When the host issued it.
    pub arrival: Time,
}

/// A run that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// The array refused an operation.
    #[error("at {at}: {violation}")]
    Violation {
        /// When.
        at: Time,
        /// Which rule.
        violation: Violation,
    },
    /// Preconditioning failed.
    #[error("preconditioning: {0}")]
    Precondition(#[from] InstantError),
    /// A read returned something else than what was written.
    #[error("{0}")]
    Verification(String),
    /// A request outside the device.
    #[error(
        "request at byte {offset} of {bytes} bytes ends beyond the device's {capacity} bytes; fit the requests to the device"
    )]
    BeyondEnd {
        /// First byte.
        offset: u64,
        /// Length.
        bytes: u64,
        /// What the host can address.
        capacity: u64,
    },
}

/// A request in the device.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    request: Request,
    admitted: Time,
    /// Pages not done yet.
    remaining: u32,
}

/// A write of a page or a part of it that has no place yet.
#[derive(Clone, Copy, Debug)]
struct Fragment {
    owner: u32,
    page: Lpn,
    whole: bool,
    parts: Parts,
    /// Since when it waits.
    since: Time,
    /// For verification.
    version: Version,
    base: u64,
}

/// A write that has no place yet, and the writes of its page that came later.
#[derive(Clone, Debug)]
struct Held {
    fragment: Fragment,
    later: VecDeque<Fragment>,
}

/// Verification beside the transactions.
#[derive(Clone, Debug)]
struct Verification {
    shadow: Shadow,
    /// By transaction: the content it carries.
    contents: Vec<u64>,
    /// By transaction: the oldest version a read may return, or the version a write carries.
    versions: Vec<Version>,
}

impl Verification {
    fn note(&mut self, slot: Slot, content: u64, version: Version) {
        let slot = slot as usize;
        if self.contents.len() <= slot {
            self.contents.resize(slot + 1, 0);
            self.versions.resize(slot + 1, NO_VERSION);
        }
        self.contents[slot] = content;
        self.versions[slot] = version;
    }
}

const NO_VERSION: Version = Version {
    number: 0,
    from: 0,
    bytes: 0,
    partial: false,
};

/// A solid-state disk over a mapping family.
#[derive(Clone, Debug)]
pub struct Ssd<M> {
    layout: Layout,
    page_bytes: u64,
    queue_depth: u32,
    mapping: M,
    array: Array,
    backend: BackEnd,
    /// Whether collections move pages inside their planes.
    internal_data_move: bool,
    requests: Vec<InFlight>,
    vacant: Vec<u32>,
    in_flight: u32,
    /// By plane: its collection.
    jobs: Vec<Option<Job>>,
    /// Writes without a place, and where to find that of a page.
    held: Vec<Held>,
    vacant_held: Vec<u32>,
    pending: FxHashMap<Lpn, u32>,
    /// By plane: held writes that wait for a block of it.
    stalled: Vec<VecDeque<u32>>,
    /// Held writes that wait for a block anywhere.
    stalled_anywhere: VecDeque<u32>,
    verification: Option<Box<Verification>>,
    /// Free blocks, as last observed.
    free_blocks: u32,
}

impl<M: Mapping> Ssd<M> {
    /// A pristine device.
    pub fn new(plan: &Plan, mapping: M) -> Self {
        let part = &plan.part;
        let layout = part.layout;
        let planes = layout.planes() as usize;
        let free_blocks = mapping.free_blocks();
        Self {
            layout,
            page_bytes: u64::from(plan.page_bytes),
            queue_depth: plan.queue_depth,
            mapping,
            array: Array::new(layout, part.endurance_cycles)
                .with_partial_programs(part.partial_programs),
            backend: BackEnd::new(plan),
            internal_data_move: plan.internal_data_move,
            requests: Vec::new(),
            vacant: Vec::new(),
            in_flight: 0,
            jobs: vec![None; planes],
            held: Vec::new(),
            vacant_held: Vec::new(),
            pending: FxHashMap::default(),
            stalled: vec![VecDeque::new(); planes],
            stalled_anywhere: VecDeque::new(),
            verification: None,
            free_blocks,
        }
    }
    /// Brings the device into the state in which it is measured.
    pub fn precondition(
        &mut self,
        plan: &Precondition,
        go_on: impl FnMut(u64) -> bool,
    ) -> Result<Preconditioned, DeviceError> {
        let preconditioned = plan.run(&mut self.mapping, &mut self.array, self.layout, go_on)?;
        self.free_blocks = self.mapping.free_blocks();
        Ok(preconditioned)
    }
    /// From now on, every read is checked against a shadow store.
    pub fn verify(&mut self) {
        let mapping = &self.mapping;
        let shadow = Shadow::new(self.layout, mapping.user_pages(), |page| {
            mapping.lookup(page)
        });
        let verification = Verification {
            shadow,
            contents: Vec::new(),
            versions: Vec::new(),
        };
        self.verification = Some(Box::new(verification));
    }
    /// Bytes the host can address.
    pub fn user_bytes(&self) -> u64 {
        u64::from(self.mapping.user_pages()) * self.page_bytes
    }
    /// Whether the device queue has a free slot.
    #[inline]
    pub fn has_slot(&self) -> bool {
        self.in_flight < self.queue_depth
    }
    /// Requests in the device.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }
    /// The mapping, to look at.
    pub fn mapping(&self) -> &M {
        &self.mapping
    }
    /// The array, to look at.
    pub fn array(&self) -> &Array {
        &self.array
    }
    /// What each die has been used for.
    pub fn usage(&self) -> impl Iterator<Item = Usage> + '_ {
        self.backend.usage()
    }
    /// The shadow store, if the run is verified.
    pub fn shadow(&self) -> Option<&Shadow> {
        self.verification
            .as_ref()
            .map(|verification| &verification.shadow)
    }

    /// Admits a request; the device has a slot for it.
    pub fn submit(
        &mut self,
        now: Time,
        request: Request,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<(), DeviceError> {
        let capacity = self.user_bytes();
        let end = request
            .offset
            .checked_add(request.bytes)
            .filter(|end| *end <= capacity);
        let Some(end) = end.filter(|_| request.bytes > 0) else {
            let Request { offset, bytes, .. } = request;
            return Err(DeviceError::BeyondEnd {
                offset,
                bytes,
                capacity,
            });
        };
        let first = request.offset / self.page_bytes;
        let last = (end - 1) / self.page_bytes;
        let owner = self.admit(InFlight {
            request,
            admitted: now,
            remaining: (last - first) as u32 + 1,
        });
        let in_flight = self.in_flight;
        probe.observe(now, Observation::Admitted { in_flight });
        for page in first..=last {
            let from = request.offset.max(page * self.page_bytes) - page * self.page_bytes;
            let bytes = end.min((page + 1) * self.page_bytes) - page * self.page_bytes - from;
            let page = Lpn(page as u32);
            match request.op {
                Op::Read => self.read(now, owner, page, queue, probe)?,
                Op::Write => self.write(now, owner, page, from as u32, bytes as u32, queue, probe),
            }
        }
        Ok(())
    }

    fn admit(&mut self, request: InFlight) -> u32 {
        self.in_flight += 1;
        if let Some(owner) = self.vacant.pop() {
            self.requests[owner as usize] = request;
            return owner;
        }
        self.requests.push(request);
        self.requests.len() as u32 - 1
    }

    #[inline]
    fn read(
        &mut self,
        now: Time,
        owner: u32,
        page: Lpn,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<(), DeviceError> {
        let place = self.mapping.lookup(page);
        let mut oldest = NO_VERSION;
        if let Some(verification) = &mut self.verification {
            oldest.number = verification.shadow.begin_read(page, place.is_some());
        }
        if let Some(place) = place {
            let order = Order::new(Purpose::Read, place, owner, page.0);
            let slot = self.backend.enqueue(now, &order, queue);
            if let Some(verification) = &mut self.verification {
                verification.note(slot, 0, oldest);
            }
            self.backend.hurry(now, slot, &self.array, queue, probe);
            return Ok(());
        }
        probe.observe(now, Observation::UnwrittenRead);
        if let Some(verification) = &mut self.verification {
            let checked =
                verification
                    .shadow
                    .check(now, page, oldest.number, Shadow::unwritten(), None);
            checked.map_err(DeviceError::Verification)?;
        }
        self.page_done(now, owner, Parts::default(), probe);
        Ok(())
    }

    #[inline]
    fn write(
        &mut self,
        now: Time,
        owner: u32,
        page: Lpn,
        from: u32,
        bytes: u32,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        let whole = u64::from(bytes) == self.page_bytes;
        let mut version = NO_VERSION;
        if let Some(verification) = &mut self.verification {
            let filled = self.mapping.lookup(page).is_some();
            version = verification
                .shadow
                .issue(now, page, filled, from, bytes, !whole);
        }
        let (parts, base) = (Parts::default(), Shadow::unwritten());
        let fragment = Fragment {
            owner,
            page,
            whole,
            parts,
            since: now,
            version,
            base,
        };
        if !self.pending.is_empty()
            && let Some(&tag) = self.pending.get(&page)
        {
            self.held[tag as usize].later.push_back(fragment);
            return;
        }
        self.advance(now, fragment, VecDeque::new(), queue, probe);
    }

    /// Takes on a write of a page that no earlier write is pending for, and then those behind it.
    #[inline]
    fn advance(
        &mut self,
        now: Time,
        mut fragment: Fragment,
        mut later: VecDeque<Fragment>,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        loop {
            let rest = if fragment.whole {
                None
            } else {
                self.mapping.lookup(fragment.page)
            };
            if let Some(place) = rest {
                self.merge(now, fragment, later, place, queue, probe);
                return;
            }
            match self.mapping.write(fragment.page) {
                Written::Placed(place) => self.program(now, fragment, place, queue, probe),
                Written::Wait(plane) => {
                    let tag = self.hold(fragment, later);
                    self.stall(now, tag, plane, queue);
                    return;
                }
            }
            let Some(mut next) = later.pop_front() else {
                return;
            };
            next.parts.die_wait += now - next.since;
            next.since = now;
            fragment = next;
        }
    }

    /// Keeps a write that cannot be placed yet, with those behind it.
    fn hold(&mut self, fragment: Fragment, later: VecDeque<Fragment>) -> u32 {
        let page = fragment.page;
        let held = Held { fragment, later };
        let tag = if let Some(tag) = self.vacant_held.pop() {
            self.held[tag as usize] = held;
            tag
        } else {
            self.held.push(held);
            self.held.len() as u32 - 1
        };
        self.pending.insert(page, tag);
        tag
    }

    /// Reads the page of which the write covers a part.
    fn merge(
        &mut self,
        now: Time,
        fragment: Fragment,
        later: VecDeque<Fragment>,
        place: Ppn,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        let (owner, parts) = (fragment.owner, fragment.parts);
        let tag = self.hold(fragment, later);
        probe.observe(now, Observation::PageMerged);
        let order = Order {
            parts,
            ..Order::new(Purpose::Merge, place, owner, tag)
        };
        let slot = self.backend.enqueue(now, &order, queue);
        if let Some(verification) = &mut self.verification {
            verification.note(slot, 0, NO_VERSION);
        }
        self.backend.hurry(now, slot, &self.array, queue, probe);
    }

    /// Queues a held write for a free block.
    #[cold]
    fn stall(&mut self, now: Time, tag: u32, plane: Option<Plane>, queue: &mut EventQueue<Event>) {
        self.held[tag as usize].fragment.since = now;
        if let Some(plane) = plane {
            self.stalled[plane.index()].push_back(tag);
            self.collect(now, plane, queue);
            return;
        }
        self.stalled_anywhere.push_back(tag);
        if self.stalled_anywhere.len() == 1 {
            self.collect_everywhere(now, queue);
        }
    }

    /// Places a held write; false if there is still no room.
    fn place_held(
        &mut self,
        now: Time,
        tag: u32,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<(), Option<Plane>> {
        let page = self.held[tag as usize].fragment.page;
        let place = match self.mapping.write(page) {
            Written::Placed(place) => place,
            Written::Wait(plane) => return Err(plane),
        };
        self.pending.remove(&page);
        self.vacant_held.push(tag);
        let Held { fragment, later } = &mut self.held[tag as usize];
        let (mut fragment, mut later) = (*fragment, std::mem::take(later));
        fragment.parts.gc += now - fragment.since;
        self.program(now, fragment, place, queue, probe);
        if let Some(mut next) = later.pop_front() {
            next.parts.die_wait += now - next.since;
            next.since = now;
            self.advance(now, next, later, queue, probe);
        }
        Ok(())
    }

    #[inline]
    fn program(
        &mut self,
        now: Time,
        fragment: Fragment,
        place: Ppn,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        probe.observe(now, Observation::PageWritten);
        self.observe_free_blocks(now, probe);
        let Fragment {
            owner,
            page,
            parts,
            version,
            base,
            ..
        } = fragment;
        let order = Order {
            parts,
            ..Order::new(Purpose::Write, place, owner, page.0)
        };
        let slot = self.backend.enqueue(now, &order, queue);
        if let Some(verification) = &mut self.verification {
            let content = verification.shadow.write(page, version, base, place);
            verification.note(slot, content, version);
        }
        let plane = self.layout.plane_of(self.layout.block_of(place));
        if self.mapping.wants_collection(plane) {
            self.collect(now, plane, queue);
        }
    }

    /// Tells the probe of the free blocks if their number has changed. Called after whatever takes
    /// or returns a block.
    #[inline]
    fn observe_free_blocks(&mut self, now: Time, probe: &mut impl Probe<Observation>) {
        let free = self.mapping.free_blocks();
        if free != self.free_blocks {
            self.free_blocks = free;
            probe.observe(now, Observation::FreeBlocks { free });
        }
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
        match event {
            Event::Begin => self.backend.begin(now, &self.array, queue),
            Event::Flash(Flash::BusDone(channel)) => {
                let ended = self
                    .backend
                    .bus_done(now, channel, &self.array, queue, probe);
                let mut next = ended;
                while let Some(slot) = next {
                    next = self.backend.joined(slot);
                    self.finish(now, slot, queue, probe)?;
                }
            }
            Event::Flash(Flash::Ready(die)) => {
                let worked = self.backend.ready(now, Die(die), &self.array, queue, probe);
                if let Some(worked) = worked {
                    self.touch_array(now, worked)?;
                }
            }
        }
        Ok(())
    }

    /// What a die's array has done takes effect.
    #[inline]
    fn touch_array(&mut self, now: Time, worked: Worked) -> Result<(), DeviceError> {
        let mut next = Some(worked.head);
        while let Some(slot) = next {
            next = self.backend.joined(slot);
            self.touch(now, slot, worked.operation)?;
        }
        Ok(())
    }

    #[inline]
    fn touch(&mut self, now: Time, slot: Slot, operation: Operation) -> Result<(), DeviceError> {
        let transaction = self.backend.get(slot);
        let (place, target) = (transaction.place, transaction.target);
        let touched = match operation {
            Operation::Read => self.array.read(place),
            Operation::Program | Operation::Move => self.array.program(target),
            Operation::Erase => self.array.erase(self.layout.block_of(place)),
        };
        touched.map_err(|violation| DeviceError::Violation { at: now, violation })?;
        if let Some(verification) = &mut self.verification {
            let content = &mut verification.contents[slot as usize];
            match operation {
                Operation::Read => *content = verification.shadow.read(place),
                Operation::Program | Operation::Move => {
                    verification.shadow.program(target, *content);
                }
                Operation::Erase => verification.shadow.erase(place),
            }
        }
        Ok(())
    }

    /// A transaction has left the back end.
    #[inline]
    fn finish(
        &mut self,
        now: Time,
        slot: Slot,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Result<(), DeviceError> {
        let transaction = self.backend.get(slot);
        let (purpose, place, owner) = (transaction.purpose, transaction.place, transaction.owner);
        let (tag, parts) = (transaction.tag, transaction.parts);
        self.backend.release(slot);
        match purpose {
            Purpose::Read => {
                self.check_read(now, slot, Lpn(tag), place)?;
                self.page_done(now, owner, parts, probe);
            }
            Purpose::Write => {
                if let Some(verification) = &mut self.verification {
                    let version = verification.versions[slot as usize];
                    verification.shadow.acknowledge(now, Lpn(tag), version);
                }
                self.page_done(now, owner, parts, probe);
            }
            Purpose::Merge => {
                let fragment = &mut self.held[tag as usize].fragment;
                fragment.parts = parts;
                fragment.since = now;
                if let Some(verification) = &self.verification {
                    fragment.base = verification.contents[slot as usize];
                }
                if let Err(plane) = self.place_held(now, tag, queue, probe) {
                    self.stall(now, tag, plane, queue);
                }
            }
            Purpose::MoveRead => self.move_page(now, slot, place, Plane(owner), queue, probe),
            Purpose::MoveProgram | Purpose::Move => self.page_moved(now, Plane(owner), 1, queue),
            Purpose::Erase => self.collected(now, Plane(owner), queue, probe),
        }
        Ok(())
    }

    #[inline]
    fn check_read(
        &mut self,
        now: Time,
        slot: Slot,
        page: Lpn,
        place: Ppn,
    ) -> Result<(), DeviceError> {
        let Some(verification) = &mut self.verification else {
            return Ok(());
        };
        let oldest = verification.versions[slot as usize].number;
        let content = verification.contents[slot as usize];
        let checked = verification
            .shadow
            .check(now, page, oldest, content, Some(place));
        checked.map_err(DeviceError::Verification)
    }

    /// A page of a request is done; with the last one, so is the request.
    #[inline]
    fn page_done(
        &mut self,
        now: Time,
        owner: u32,
        parts: Parts,
        probe: &mut impl Probe<Observation>,
    ) {
        let in_flight = &mut self.requests[owner as usize];
        in_flight.remaining -= 1;
        if in_flight.remaining > 0 {
            return;
        }
        let InFlight {
            request, admitted, ..
        } = *in_flight;
        let parts = Parts {
            host_queue: admitted - request.arrival,
            ..parts
        };
        debug_assert_eq!(
            parts.total(),
            now - request.arrival,
            "the parts of a request are its response time"
        );
        self.vacant.push(owner);
        self.in_flight -= 1;
        let Request {
            op,
            offset,
            bytes,
            arrival,
        } = request;
        probe.observe(
            now,
            Observation::Request {
                op,
                offset,
                bytes,
                arrival,
                parts,
            },
        );
    }
}
