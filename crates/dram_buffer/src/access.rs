//! Starts requests: look-ups, allocations of memory and evictions.

use wordline_block::{LatencyComponents, Op, ReadEvents, Request, Ticket};
use wordline_cache::Entry;
use wordline_cache::replacement::{Replace, Replacing};
use wordline_kernel::Time;

use crate::backing::{Backing, Chip, Observation, Page, UNBALANCED};
use crate::buffer::Buffer;
use crate::error::Error;
use crate::part::{Kind, Part};
use crate::view::{Departure, View};

impl Buffer {
    pub(crate) fn part(&mut self, part: Part) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.parts[place as usize] = part;
            return place;
        }
        self.parts.push(part);
        self.parts.len() as u32 - 1
    }

    pub(crate) fn expect(&mut self, ticket: Ticket, parts: u32) {
        let ticket = ticket as usize;
        if self.remaining.len() <= ticket {
            self.remaining.resize(ticket + 1, 0);
        }
        self.remaining[ticket] = parts;
    }

    /// Starts a request, whose bytes must be within the device. An empty TRIM completes without
    /// effect.
    pub fn begin<B: Backing>(
        &mut self,
        now: Time,
        ticket: Ticket,
        request: &Request,
        backing: &mut B,
    ) -> Result<(), Error> {
        self.idle.begins(now);
        while let Some(entry) = self.late.pop() {
            self.settle(now, entry, backing)?;
        }
        let is_flush = request.op == Op::Flush;
        if is_flush && !self.plan.ignores_flush {
            self.flush(now, ticket, backing);
            return Ok(());
        }
        if is_flush || request.bytes == 0 {
            self.expect(ticket, 1);
            self.part_done(&Part::nothing(ticket, now));
            return Ok(());
        }
        let page_bytes = u64::from(self.grid.page_bytes);
        let end = request.offset + request.bytes;
        let (first, last) = (request.offset / page_bytes, (end - 1) / page_bytes);
        let durable = self.plan.write_through || request.fua && !self.plan.ignores_flush;
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
                durable: kind == Kind::Write && durable,
                version: 0,
                since: now,
                parts: LatencyComponents::default(),
                failed: false,
                met: ReadEvents::default(),
            };
            self.arrive(now, Page(page as u32), part, backing)?;
        }
        if self.plan.read_ahead > 0 && request.op == Op::Read {
            self.run_ahead(now, request, backing)?;
        }
        Ok(())
    }

    /// Completes a refused request immediately, with an error.
    pub fn refuse(&mut self, now: Time, ticket: Ticket) {
        self.idle.begins(now);
        self.expect(ticket, 1);
        self.part_done(&Part {
            failed: true,
            ..Part::nothing(ticket, now)
        });
    }

    /// Registers a part of a request at its page, and starts it if possible.
    pub(crate) fn arrive<B: Backing>(
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
            if std::mem::take(&mut self.frames.get_mut(entry).unasked) && kind == Kind::Read {
                backing.observe(now, Observation::ReadAheadUsed);
            }
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

    /// Calls the policy and returns the entries that it evicts or forgets. The caller drains the
    /// list and returns it to `left`, so that its allocation is reused.
    #[inline]
    pub(crate) fn ask<B: Backing>(
        &mut self,
        backing: &B,
        tell: impl FnOnce(&mut Replacing, &mut View<'_, B>),
    ) -> Result<Vec<Departure>, Error> {
        let mut left = std::mem::take(&mut self.left);
        let mut view = View {
            frames: &mut self.frames,
            backing,
            decided: &self.decided,
            left: &mut left,
        };
        tell(&mut self.policy, &mut view);
        self.faultless()?;
        Ok(left)
    }

    /// Reports an access to a page to the policy, queues the page for memory if it has none, and
    /// evicts the pages that the policy chooses.
    pub(crate) fn touch<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        write: bool,
        backing: &mut B,
    ) -> Result<(), Error> {
        let mut left = self.ask(backing, |policy, view| {
            policy.access(entry, write, view);
        })?;
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

    /// Returns `true` if the load of any die exceeds [`UNBALANCED`] times the mean load. Loads
    /// include the operations that have been decided but not submitted yet.
    #[cold]
    fn is_unbalanced<B: Backing>(&self, backing: &B) -> bool {
        let (mut all, mut most) = (0, 0);
        for (chip, decided) in (0..).map(Chip).zip(&self.decided) {
            let load = backing.load(chip, decided.reads, decided.programs).0;
            all += load;
            most = most.max(load);
        }
        most * self.decided.len() as u64 > UNBALANCED * all
    }

    /// Observes the departure of an entry from the policy, and destages or releases its page.
    pub(crate) fn leave<B: Backing>(
        &mut self,
        now: Time,
        departure: Departure,
        backing: &mut B,
    ) -> Result<(), Error> {
        let Departure { entry, evicted } = departure;
        let watches = evicted && self.plan.watches_balance;
        let unbalanced = watches && self.is_unbalanced(backing);
        let frame = self.frames.get_mut(entry);
        if evicted {
            let dirty = frame.dirty != 0 || frame.writes > 0;
            let seen = Observation::Evicted { dirty, unbalanced };
            backing.observe(now, seen);
        }
        if frame.queued {
            frame.queued = false;
            self.rooms.retain(|other| *other != entry);
            let frame = self.frames.get_mut(entry);
            frame.ahead = false;
            if !frame.held && !frame.waiting.is_empty() {
                (frame.held, frame.passing) = (true, true);
                return self.advance(now, entry, backing);
            }
        }
        self.settle(now, entry, backing)
    }
}
