//! The DRAM buffer between the host interface and the translation layer.
//!
//! Pages are the unit of replacement. A read whose bytes are all here is served from here; any
//! other takes memory, and its page is read from the flash. A write takes memory and is done when its data
//! is in it; a page of which only a part was written is completed by the translation layer when it
//! leaves. A page that leaves and is newer than the flash is written to it first (destaged) and
//! keeps its memory until it is there; whoever needs that memory waits, and nobody else does.
//! Until then, a page that leaves is still found here.
//!
//! All data goes through the memory's port, first come, first served. The parts of a request on one
//! page take effect in the order in which they came.

mod audit;
pub mod backing;
pub mod error;
mod frame;
mod power;
mod sectors;
mod verification;
mod view;

use std::collections::VecDeque;

pub use backing::{Backing, Chip, Observation, Page, PageOp, PageRequest};
pub use error::Error;
pub use frame::Span;
use frame::{Frames, Sync};
use sectors::Grid;
use serde::{Deserialize, Serialize};
use verification::Verification;
pub use verification::Versions;
use view::{Decided, Departure, View};
use wordline_block::{Op, Parts, Request, Ticket};
use wordline_cache::replacement::foreign::Maker;
use wordline_cache::replacement::{Replace, Replacing};
use wordline_cache::{Entry, Replacement};
use wordline_kernel::Time;
use wordline_kernel::link::{Link, Rate};
use wordline_kernel::memory::Table;

/// A buffer that can be built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Pages it holds; at least 1.
    pub pages: u32,
    /// Which page leaves.
    pub replacement: Replacement,
    /// Whether a write is done only when the flash holds it.
    pub write_through: bool,
    /// Whether what is in it survives a power cut.
    pub capacitors: bool,
    /// DRAM access latency until the first byte.
    pub access: Time,
    /// How fast its port is: this many bytes take this many picoseconds.
    pub port: (u64, u64),
}

impl Plan {
    /// Whether a policy can fill the buffer: it need not know the future, and keeps to a size.
    pub fn takes(policy: &Replacement) -> bool {
        let of_one = Replacing::new(policy, 1);
        !of_one.needs_next_use() && of_one.capacity() == 1
    }
}

/// What the buffer schedules for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The data of a part of a request is in the memory, or has left it.
    Moved(u32),
    /// A page that is destaged has left the memory.
    Sent(Entry),
}

impl Event {
    /// For the digest of a run; below 2^40.
    #[inline]
    pub fn code(self) -> u64 {
        match self {
            Self::Moved(part) => u64::from(part),
            Self::Sent(entry) => 1 << 32 | u64::from(entry.0),
        }
    }
    /// The event that has this code.
    #[inline]
    pub fn of(code: u64) -> Self {
        let number = code as u32;
        match code >> 32 {
            0 => Self::Moved(number),
            _ => Self::Sent(Entry(number)),
        }
    }
}

/// A request of which all pages are done.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Served {
    /// As it was begun.
    pub ticket: Ticket,
    /// Where its time went since then.
    pub parts: Parts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Read,
    Write,
    Trim,
    Flush,
}

/// What a request requests of one page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Part {
    ticket: Ticket,
    entry: Entry,
    kind: Kind,
    from: u32,
    bytes: u32,
    /// Whether it is done only when the flash holds it.
    durable: bool,
    /// The version of the page that it wrote.
    version: u32,
    /// Since when it waits.
    since: Time,
    parts: Parts,
}

/// The buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffer {
    plan: Plan,
    grid: Grid,
    port: Link,
    policy: Replacing,
    /// Who makes the policy, if the plan does not name it.
    maker: Option<Maker>,
    frames: Frames,
    /// Pages of memory that nobody has.
    free: u32,
    /// Pages that wait for memory.
    rooms: VecDeque<Entry>,
    parts: Vec<Part>,
    vacant: Vec<u32>,
    /// By ticket: parts of the request that are not done.
    remaining: Vec<u32>,
    /// PageOp for the flash; the owner takes it away.
    pub requests: VecDeque<PageRequest>,
    /// By chip: how much of it there is, and of that which comes to it when it has left the memory.
    decided: Vec<Decided>,
    /// Requests that are done; the owner takes them away.
    pub done: VecDeque<Served>,
    /// Who has left or was forgotten during an access; kept for its memory.
    left: Vec<Departure>,
    /// Pages that have to leave after a power cut.
    late: Vec<Entry>,
    verification: Option<Box<Verification>>,
}

impl Buffer {
    /// An empty buffer before a device of so many pages and chips.
    pub fn new(plan: &Plan, page_bytes: u32, user_pages: u32, chips: u32) -> Self {
        let (bytes, ps) = plan.port;
        Self {
            grid: Grid::new(page_bytes),
            port: Link::new(Rate { ps, bytes }),
            policy: Replacing::new(&plan.replacement, plan.pages as usize),
            maker: None,
            frames: Frames::new(user_pages),
            free: plan.pages,
            rooms: VecDeque::new(),
            parts: Vec::new(),
            vacant: Vec::new(),
            remaining: Vec::new(),
            requests: VecDeque::new(),
            decided: vec![Decided::default(); chips as usize],
            done: VecDeque::new(),
            left: Vec::new(),
            late: Vec::new(),
            verification: None,
            plan: plan.clone(),
        }
    }
    /// What a buffer takes of memory before a device of so many pages; of its policy, what a list
    /// and an index take.
    pub fn memory(plan: &Plan, user_pages: u32) -> [Table; 2] {
        let pages = plan.pages.min(user_pages);
        Frames::memory(user_pages, pages)
    }
    /// Before the first request: policies of a maker choose who leaves, in place of the plan's.
    pub fn evict_by(&mut self, maker: &Maker) -> Result<(), Error> {
        self.maker = Some(maker.clone());
        self.policy = self.fresh_policy();
        self.faultless()
    }
    /// A policy for an empty buffer.
    fn fresh_policy(&self) -> Replacing {
        let pages = self.plan.pages as usize;
        match &self.maker {
            Some(maker) => Replacing::foreign(maker, pages),
            None => Replacing::new(&self.plan.replacement, pages),
        }
    }
    /// Whether the policy has done nothing wrong, which only one that the plan does not name can.
    #[inline]
    fn faultless(&self) -> Result<(), Error> {
        match self.policy.fault() {
            Some(fault) => Err(Error::Policy(fault.clone())),
            None => Ok(()),
        }
    }
    /// From now on, what is read is held against what was written.
    pub fn verify(&mut self) {
        let sectors = self.grid.sectors();
        self.verification = Some(Box::new(Verification::new(sectors)));
    }
    /// What became of the writes and trims of a page, if the run is verified.
    pub fn versions(&self, page: Page) -> Option<Versions> {
        let verification = self.verification.as_ref();
        verification.map(|verification| verification.versions(page))
    }
    /// Whether the owner has taken away all that it requests for and all that is done.
    pub fn is_done(&self) -> bool {
        self.requests.is_empty() && self.done.is_empty()
    }
    /// Pages that it holds and that are newer than the flash.
    pub fn dirty_pages(&self) -> u32 {
        self.frames.count_ahead() as u32
    }

    fn part(&mut self, part: Part) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.parts[place as usize] = part;
            return place;
        }
        self.parts.push(part);
        self.parts.len() as u32 - 1
    }
    fn expect(&mut self, ticket: Ticket, parts: u32) {
        let ticket = ticket as usize;
        if self.remaining.len() <= ticket {
            self.remaining.resize(ticket + 1, 0);
        }
        self.remaining[ticket] = parts;
    }

    /// Begins with a request, which lies within the device.
    pub fn begin<B: Backing>(
        &mut self,
        now: Time,
        ticket: Ticket,
        request: &Request,
        backing: &mut B,
    ) -> Result<(), Error> {
        while let Some(entry) = self.late.pop() {
            self.settle(now, entry, backing)?;
        }
        if request.op == Op::Flush {
            self.flush(now, ticket, backing);
            return Ok(());
        }
        let page_bytes = u64::from(self.grid.page_bytes);
        let end = request.offset + request.bytes;
        let (first, last) = (request.offset / page_bytes, (end - 1) / page_bytes);
        self.expect(ticket, (last - first) as u32 + 1);
        for page in first..=last {
            let from = request.offset.max(page * page_bytes) - page * page_bytes;
            let bytes = end.min((page + 1) * page_bytes) - page * page_bytes - from;
            let kind = match request.op {
                Op::Read => Kind::Read,
                Op::Write => Kind::Write,
                Op::Trim | Op::Flush => Kind::Trim,
            };
            let part = Part {
                ticket,
                entry: Entry(0),
                kind,
                from: from as u32,
                bytes: bytes as u32,
                durable: kind == Kind::Write && (self.plan.write_through || request.fua),
                version: 0,
                since: now,
                parts: Parts::default(),
            };
            self.arrive(now, Page(page as u32), part, backing)?;
        }
        Ok(())
    }

    /// A part of a request comes.
    fn arrive<B: Backing>(
        &mut self,
        now: Time,
        page: Page,
        mut part: Part,
        backing: &mut B,
    ) -> Result<(), Error> {
        if part.kind == Kind::Trim && part.bytes < self.grid.page_bytes {
            self.part_done(&part);
            return Ok(());
        }
        let entry = self.frames.enter(page);
        part.entry = entry;
        let kind = part.kind;
        if kind != Kind::Trim {
            let needed = self.grid.touched(part.from, part.bytes);
            let frame = self.frames.get(entry);
            let hit = frame.held && (kind == Kind::Write || needed & !frame.valid == 0);
            let op = if kind == Kind::Read {
                Op::Read
            } else {
                Op::Write
            };
            backing.observe(now, Observation::Accessed { op, hit });
        }
        let part = self.part(part);
        let frame = self.frames.get_mut(entry);
        frame.waiting.push_back(part);
        frame.writes += u32::from(kind == Kind::Write);
        if kind != Kind::Trim {
            self.touch(now, entry, kind == Kind::Write, backing)?;
        }
        self.advance(now, entry, backing)
    }

    /// Tells the policy of a request for a page, and lets those leave that it names.
    fn touch<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        write: bool,
        backing: &mut B,
    ) -> Result<(), Error> {
        let mut left = std::mem::take(&mut self.left);
        let mut view = View {
            frames: &mut self.frames,
            backing: &*backing,
            decided: &self.decided,
            left: &mut left,
        };
        self.policy.access(entry, write, &mut view);
        self.faultless()?;
        let frame = self.frames.get_mut(entry);
        (frame.known, frame.resident) = (true, true);
        if (!frame.held || frame.passing) && !frame.queued {
            frame.queued = true;
            self.rooms.push_back(entry);
        }
        for departure in left.drain(..) {
            self.leave(now, departure, backing)?;
        }
        self.left = left;
        self.grant(now, backing)
    }

    /// A page is not resident any more, or not even remembered.
    fn leave<B: Backing>(
        &mut self,
        now: Time,
        departure: Departure,
        backing: &mut B,
    ) -> Result<(), Error> {
        let Departure { entry, evicted } = departure;
        let frame = self.frames.get_mut(entry);
        if evicted {
            let dirty = frame.dirty != 0 || frame.writes > 0;
            let seen = Observation::Evicted { dirty };
            backing.observe(now, seen);
        }
        if frame.queued {
            frame.queued = false;
            self.rooms.retain(|other| *other != entry);
            let frame = self.frames.get_mut(entry);
            if !frame.held {
                (frame.held, frame.passing) = (true, true);
                return self.advance(now, entry, backing);
            }
        }
        self.settle(now, entry, backing)
    }

    /// Pages that wait for memory get what there is.
    fn grant<B: Backing>(&mut self, now: Time, backing: &mut B) -> Result<(), Error> {
        while self.free > 0
            && let Some(entry) = self.rooms.pop_front()
        {
            self.free -= 1;
            let frame = self.frames.get_mut(entry);
            frame.queued = false;
            frame.passing = false;
            frame.held = true;
            self.advance(now, entry, backing)?;
        }
        Ok(())
    }

    /// The parts that wait for a page go on, as far as they can.
    fn advance<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        backing: &mut B,
    ) -> Result<(), Error> {
        loop {
            let frame = self.frames.get(entry);
            let Some(&place) = frame.waiting.front() else {
                break;
            };
            let part = self.parts[place as usize];
            let (held, fetching, departing) = (frame.held, frame.fetching, frame.departing);
            match part.kind {
                Kind::Read => {
                    let missing = self.grid.touched(part.from, part.bytes) & !frame.valid;
                    if !held || missing != 0 {
                        if held && !fetching {
                            self.fetch(entry, backing);
                        }
                        return Ok(());
                    }
                    self.take_first(entry);
                    self.check_read(now, entry, &part)?;
                    self.move_data(now, place, backing);
                }
                Kind::Write if !held => return Ok(()),
                Kind::Write => {
                    self.take_first(entry);
                    let frame = self.frames.get_mut(entry);
                    frame.writes -= 1;
                    // What passes through memory that is not the buffer's is kept by the flash only.
                    self.parts[place as usize].durable |= frame.passing;
                    self.write(place);
                    self.move_data(now, place, backing);
                }
                // The flash is to hear of the page that departs first.
                Kind::Trim if fetching || departing => return Ok(()),
                Kind::Trim => {
                    self.take_first(entry);
                    self.trim(now, place, backing)?;
                }
                Kind::Flush => unreachable!("a flush waits for no page's memory"),
            }
        }
        self.settle(now, entry, backing)
    }

    fn take_first(&mut self, entry: Entry) {
        self.frames.get_mut(entry).waiting.pop_front();
    }

    /// Moves the data of a part between the host and the memory.
    fn move_data<B: Backing>(&mut self, now: Time, place: u32, backing: &mut B) {
        let part = &mut self.parts[place as usize];
        let length = self.port.time(part.bytes.into());
        let wait = self.port.hold(now, length);
        let dram = length + self.plan.access;
        part.parts.buffer_wait += now - part.since + wait;
        part.parts.buffer += dram;
        part.since = now + wait + dram;
        self.frames.get_mut(part.entry).moving += 1;
        let event = Event::Moved(place);
        backing.schedule(part.since, event);
    }

    /// A write changes its page.
    fn write(&mut self, place: u32) {
        let Part {
            entry, from, bytes, ..
        } = self.parts[place as usize];
        let (touched, covered) = (
            self.grid.touched(from, bytes),
            self.grid.covered(from, bytes),
        );
        self.frames.write(entry);
        let frame = self.frames.get_mut(entry);
        frame.valid |= covered;
        frame.dirty |= touched;
        frame.version += 1;
        self.parts[place as usize].version = frame.version;
        if let Some(verification) = &mut self.verification {
            verification.write(frame.page, touched);
        }
    }

    /// A page is discarded.
    fn trim<B: Backing>(&mut self, now: Time, place: u32, backing: &mut B) -> Result<(), Error> {
        let part = &mut self.parts[place as usize];
        part.parts.buffer_wait += now - part.since;
        part.since = now;
        let entry = part.entry;
        let frame = self.frames.get_mut(entry);
        (frame.valid, frame.dirty, frame.sending) = (0, 0, 0);
        let page = frame.page;
        if let Some(verification) = &mut self.verification {
            verification.trim(page);
        }
        self.policy.cleaned(entry);
        if frame.known && frame.waiting.is_empty() {
            frame.resident = false;
            if std::mem::take(&mut frame.queued) {
                self.rooms.retain(|other| *other != entry);
            }
            let mut left = std::mem::take(&mut self.left);
            let mut view = View {
                frames: &mut self.frames,
                backing: &*backing,
                decided: &self.decided,
                left: &mut left,
            };
            self.policy.remove(entry, &mut view);
            self.faultless()?;
            for departure in left.drain(..).filter(|departure| departure.entry != entry) {
                self.leave(now, departure, backing)?;
            }
            self.left = left;
        }
        // Versions up to here need not reach the flash any more.
        let frame = self.frames.get_mut(entry);
        if !frame.destaging {
            frame.durable = frame.version;
            self.synced(now, entry, now, &Parts::default());
        }
        self.requests
            .push_back(PageRequest::trim(entry, page, place));
        Ok(())
    }

    /// All that was written so far goes to the flash.
    fn flush<B: Backing>(&mut self, now: Time, ticket: Ticket, backing: &mut B) {
        let ahead = self.frames.ahead();
        self.expect(ticket, ahead.len().max(1) as u32);
        let part = Part {
            ticket,
            entry: Entry(0),
            kind: Kind::Flush,
            from: 0,
            bytes: 0,
            durable: true,
            version: 0,
            since: now,
            parts: Parts::default(),
        };
        if ahead.is_empty() {
            self.part_done(&part);
        }
        for entry in ahead {
            let version = self.frames.get(entry).version;
            let part = self.part(Part {
                entry,
                version,
                ..part
            });
            let frame = self.frames.get_mut(entry);
            frame.syncs.push(Sync { part, version });
            self.destage(now, entry, backing);
        }
    }

    /// Deals with an event that the buffer has scheduled.
    pub fn handle<B: Backing>(
        &mut self,
        now: Time,
        event: Event,
        backing: &mut B,
    ) -> Result<(), Error> {
        match event {
            Event::Moved(place) => self.moved(now, place, backing),
            Event::Sent(entry) => self.sent(now, entry, backing),
        }
    }

    /// The data of a part is in the memory, or has left it.
    fn moved<B: Backing>(&mut self, now: Time, place: u32, backing: &mut B) -> Result<(), Error> {
        let part = self.parts[place as usize];
        let frame = self.frames.get_mut(part.entry);
        frame.moving -= 1;
        if part.durable && frame.durable < part.version {
            frame.syncs.push(Sync {
                part: place,
                version: part.version,
            });
        } else {
            self.part_done(&part);
            self.vacant.push(place);
        }
        self.settle(now, part.entry, backing)
    }

    /// Sends to the flash what has to go there, and lets go of a page that nobody needs any more.
    fn settle<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        backing: &mut B,
    ) -> Result<(), Error> {
        let frame = self.frames.get(entry);
        let wanted = !frame.syncs.is_empty() || (!frame.resident && frame.waiting.is_empty());
        if frame.held && frame.dirty != 0 && wanted {
            self.destage(now, entry, backing);
        }
        let frame = self.frames.get_mut(entry);
        if frame.resident || frame.is_busy() || !frame.syncs.is_empty() {
            return Ok(());
        }
        let (held, passing) = (frame.held, frame.passing);
        (frame.held, frame.passing, frame.valid) = (false, false, 0);
        if !frame.known {
            self.frames.release(entry);
        }
        if held && !passing {
            self.free += 1;
            self.grant(now, backing)?;
        }
        Ok(())
    }

    fn check_read(&mut self, now: Time, entry: Entry, part: &Part) -> Result<(), Error> {
        let Some(verification) = &mut self.verification else {
            return Ok(());
        };
        let page = self.frames.get(entry).page;
        let sectors = self.grid.touched(part.from, part.bytes);
        let checked = verification.read(now, page, sectors);
        checked.map_err(Error::Verification)
    }

    /// A part of a request is done; with the last one, so is the request.
    fn part_done(&mut self, part: &Part) {
        let remaining = &mut self.remaining[part.ticket as usize];
        *remaining -= 1;
        if *remaining == 0 {
            self.done.push_back(Served {
                ticket: part.ticket,
                parts: part.parts,
            });
        }
    }
}
