//! Requests of the buffer to the flash, and their completions.

use wordline_block::{LatencyComponents, ReadEvents};
use wordline_cache::Entry;
use wordline_cache::replacement::Replace;
use wordline_kernel::Time;

use crate::backing::{Backing, Observation, Outcome, Page, PageOp, PageRequest, Span};
use crate::buffer::Buffer;
use crate::error::Error;
use crate::event::Event;
use crate::part::{Kind, Part};

impl Buffer {
    pub(crate) fn fetch(&mut self, entry: Entry, backing: &impl Backing) {
        let frame = self.frames.get_mut(entry);
        frame.fetching = true;
        let chip = backing.chip_of(frame.page);
        if let Some(chip) = chip {
            self.decided[chip.index()].reads += 1;
        }
        self.requests.push_back(PageRequest {
            entry,
            page: frame.page,
            op: PageOp::Fetch,
            part: 0,
            chip,
        });
    }

    /// Removes and returns the next request to the flash, which counts as submitted.
    pub fn next_request(&mut self) -> Option<PageRequest> {
        let request = self.requests.pop_front()?;
        if let Some(chip) = request.chip {
            let decided = &mut self.decided[chip.index()];
            match request.op {
                PageOp::Fetch => decided.reads -= 1,
                PageOp::Destage(_) | PageOp::Trim => decided.programs -= 1,
            }
        }
        Some(request)
    }

    /// Destages a page, unless it is clean or being destaged or fetched.
    pub(crate) fn destage<B: Backing>(&mut self, now: Time, entry: Entry, backing: &mut B) {
        let all = self.grid.all();
        let frame = self.frames.get_mut(entry);
        if frame.destaging || frame.fetching || frame.dirty == 0 {
            return;
        }
        (frame.destaging, frame.departing) = (true, true);
        frame.sending = std::mem::take(&mut frame.dirty);
        frame.sent = frame.version;
        frame.chip = backing.chip_of(frame.page);
        if let Some(chip) = frame.chip {
            self.decided[chip.index()].programs += 1;
        }
        let whole = frame.valid == all;
        let sectors = if whole { all } else { frame.sending };
        let here = frame.valid | frame.sending;
        let page = frame.page;
        let (from, bytes) = self.grid.bytes_of(sectors);
        let written = self.grid.length_of(self.frames.get_mut(entry).sending);
        self.frames.get_mut(entry).span = Span {
            from,
            bytes,
            written,
            whole,
        };
        if let Some(verification) = &mut self.verification {
            verification.send(page, here);
        }
        let partial = !whole;
        let seen = Observation::Destaged { partial };
        backing.observe(now, seen);
        let length = self.port.time(bytes.into());
        let wait = self.port.reserve(now, length);
        let event = Event::Sent(entry);
        backing.schedule(now + wait + length, event);
    }

    /// Submits a page to flash once its data has left the memory.
    pub(crate) fn sent<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        backing: &mut B,
    ) -> Result<(), Error> {
        let frame = self.frames.get_mut(entry);
        frame.departing = false;
        self.requests.push_back(PageRequest {
            entry,
            page: frame.page,
            op: PageOp::Destage(frame.span),
            part: 0,
            chip: frame.chip,
        });
        self.advance(now, entry, backing)
    }

    /// Handles a flash request that was submitted at `began` and has completed or failed. After a
    /// failed write, the parts that wait until the page is durable fail, too, and so do later reads
    /// that need the page from flash.
    pub fn flash_done<B: Backing>(
        &mut self,
        now: Time,
        request: &PageRequest,
        began: Time,
        (parts, outcome, met): (&LatencyComponents, Outcome, ReadEvents),
        backing: &mut B,
    ) -> Result<(), Error> {
        let entry = request.entry;
        match request.op {
            PageOp::Fetch if outcome != Outcome::Done || self.is_lost(request.page) => {
                self.not_fetched(now, entry, began, (parts, met), backing)
            }
            PageOp::Fetch => self.fetched(now, entry, began, (parts, met), backing),
            PageOp::Destage { .. } => {
                if outcome != Outcome::Done {
                    self.not_kept(entry, outcome);
                }
                self.destaged(now, entry, began, parts, backing)
            }
            PageOp::Trim => {
                let mut part = self.parts[request.part as usize];
                part.parts.buffer_wait += began - part.since;
                part.parts.add(parts);
                part.failed = outcome != Outcome::Done;
                self.part_done(&part);
                self.vacant.push(request.part);
                Ok(())
            }
        }
    }

    /// Handles a page that has been read from flash; the parts that wait for it continue.
    pub(crate) fn fetched<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        began: Time,
        (parts, met): (&LatencyComponents, ReadEvents),
        backing: &mut B,
    ) -> Result<(), Error> {
        let all = self.grid.all();
        let frame = self.frames.get_mut(entry);
        frame.fetching = false;
        if let Some(verification) = &mut self.verification {
            let here = frame.valid | frame.dirty | frame.sending;
            verification.fetched(frame.page, all & !here);
        }
        frame.valid = all;
        let length = self.port.time(self.grid.page_bytes.into());
        self.port.reserve(now, length);
        for place in 0..frame.waiting.len() {
            let part = &mut self.parts[frame.waiting[place] as usize];
            if part.kind == Kind::Read {
                part.met = part.met.union(met);
                Self::waited_for_flash(now, part, began, parts);
            }
        }
        self.advance(now, entry, backing)
    }

    /// Returns `true` if the flash has only an older version of a page because a write of it
    /// failed.
    fn is_lost(&self, page: Page) -> bool {
        !self.lost.is_empty() && self.lost.contains(&page)
    }

    /// Records that the flash has failed to store the destaged version of a page unchanged.
    #[cold]
    fn not_kept(&mut self, entry: Entry, outcome: Outcome) {
        let frame = self.frames.get_mut(entry);
        frame.unkept = frame.sent;
        if outcome == Outcome::Unwritten {
            self.lost.insert(frame.page);
            if let Some(verification) = &mut self.verification {
                verification.not_sent(frame.page);
            }
        }
    }

    /// Handles a page that could not be read, or is lost. Waiting reads fail if the data that they
    /// need is missing. Reads that wait behind a write or TRIM are tried again.
    fn not_fetched<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        began: Time,
        (parts, met): (&LatencyComponents, ReadEvents),
        backing: &mut B,
    ) -> Result<(), Error> {
        let is_lost = self.is_lost(self.frames.get(entry).page);
        let frame = self.frames.get_mut(entry);
        frame.fetching = false;
        for place in &frame.waiting {
            let part = &mut self.parts[*place as usize];
            if part.kind != Kind::Read {
                break;
            }
            let missing = self.grid.touched(part.from, part.bytes) & !frame.valid;
            part.failed = missing != 0;
            part.met = part.met.union(met);
            self.lost_reads += u64::from(is_lost && part.failed);
            Self::waited_for_flash(now, part, began, parts);
        }
        self.advance(now, entry, backing)
    }

    /// Adds the time that a part waited for flash work to the part's latency components. Work that
    /// began before the wait counts as buffer wait; otherwise the components of the work are added.
    pub(crate) fn waited_for_flash(
        now: Time,
        part: &mut Part,
        began: Time,
        parts: &LatencyComponents,
    ) {
        if began >= part.since {
            part.parts.buffer_wait += began - part.since;
            part.parts.add(parts);
        } else {
            part.parts.buffer_wait += now - part.since;
        }
        part.since = now;
    }

    /// Handles the end of a page's destaging, whether the flash stored it or failed to.
    pub(crate) fn destaged<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        began: Time,
        parts: &LatencyComponents,
        backing: &mut B,
    ) -> Result<(), Error> {
        let frame = self.frames.get_mut(entry);
        frame.destaging = false;
        let awaited = std::mem::take(&mut frame.awaited);
        let idly = std::mem::take(&mut frame.idly).then_some(frame.chip);
        frame.sending = 0;
        frame.durable = frame.sent;
        if let Some(verification) = &mut self.verification {
            verification.sent(frame.page);
        }
        if frame.dirty == 0 {
            // Later data, if any, was discarded.
            frame.durable = frame.version;
            if !frame.batched {
                self.policy.cleaned(entry);
            }
        }
        self.synced(now, entry, began, parts);
        self.settle(now, entry, backing)?;
        if let Some(chip) = idly {
            self.idly_destaged(now, chip, backing);
        }
        if awaited {
            self.batch_destaged(now, backing)?;
        }
        Ok(())
    }

    /// Completes the parts that waited until the flash holds the version that they wrote. `began`
    /// is the start of the flash work.
    pub(crate) fn synced(
        &mut self,
        now: Time,
        entry: Entry,
        began: Time,
        parts: &LatencyComponents,
    ) {
        let frame = self.frames.get_mut(entry);
        let (durable, unkept) = (frame.durable, frame.unkept);
        let mut syncs = std::mem::take(&mut frame.syncs);
        syncs.retain(|sync| {
            let over = sync.version <= durable;
            if over {
                let mut part = self.parts[sync.part as usize];
                part.failed |= sync.version <= unkept;
                Self::waited_for_flash(now, &mut part, began, parts);
                self.part_done(&part);
                self.vacant.push(sync.part);
            }
            !over
        });
        self.frames.get_mut(entry).syncs = syncs;
    }
}
