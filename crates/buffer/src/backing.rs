//! What the buffer asks of whatever keeps its pages, and what comes of it.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Parts};
use wordline_cache::Entry;
use wordline_cache::replacement::Replace;
use wordline_kernel::Time;

use crate::error::Error;
use crate::frame::Span;
use crate::{Buffer, Event, Kind, Part};

/// A page of what lies behind the buffer, by its number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Page(pub u32);

impl Page {
    /// As an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One of the units behind the buffer that work side by side, such as a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chip(pub u32);

impl Chip {
    /// As an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something that happened in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A request has come to a page.
    Accessed {
        /// Read or write.
        op: Op,
        /// Whether the page was there; for a read, all bytes asked for.
        hit: bool,
    },
    /// A page leaves.
    Evicted {
        /// Whether it has to be written behind the buffer first.
        dirty: bool,
    },
    /// A page goes from the buffer to what lies behind it.
    Destaged {
        /// Whether it has to be completed there.
        partial: bool,
    },
}

/// What lies behind the buffer, with the clock and the audience of both.
pub trait Backing {
    /// Hands `event` back at `at`, which is not before the current time.
    fn schedule(&mut self, at: Time, event: Event);
    /// Hears what happens in the buffer.
    fn observe(&mut self, now: Time, observation: Observation);
    /// The chip that has a page; of a page that none has, the one that its address names, if addresses do.
    fn chip_of(&self, page: Page) -> Option<Chip>;
    /// Whether every page has a chip, by its address.
    fn address_decides(&self) -> bool;
    /// How long what a chip has to do takes, with so many reads and programs more.
    fn load(&self, chip: Chip, reads: u32, programs: u32) -> Time;
    /// Whether a chip is collecting garbage.
    fn is_collecting(&self, chip: Chip) -> bool;
    /// How many of the writes and trims of a page it holds, if the run is verified.
    fn holds(&self, page: Page) -> u32;
}

/// What is asked for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageOp {
    /// The whole page.
    Fetch,
    /// To hold what was written of it.
    Destage(Span),
    /// To forget it.
    Trim,
}

/// A request to what lies behind the buffer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PageRequest {
    pub(crate) entry: Entry,
    /// The page.
    pub page: Page,
    /// What is asked.
    pub op: PageOp,
    /// For a trim: the part of a request that waits for it.
    part: u32,
    /// Where it is counted until it is handed over.
    chip: Option<Chip>,
}

impl PageRequest {
    /// To forget a page, for a part of a request.
    pub(crate) fn trim(entry: Entry, page: Page, part: u32) -> Self {
        Self {
            entry,
            page,
            op: PageOp::Trim,
            part,
            chip: None,
        }
    }
}

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

    /// The next work for the flash, which has it now.
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

    /// A page goes to the flash, unless it is on its way, or not newer.
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
        self.frames.get_mut(entry).span = Span { from, bytes, whole };
        if let Some(verification) = &mut self.verification {
            verification.send(page, here);
        }
        let partial = !whole;
        let seen = Observation::Destaged { partial };
        backing.observe(now, seen);
        let length = self.port.time(bytes.into());
        let wait = self.port.hold(now, length);
        let event = Event::Sent(entry);
        backing.schedule(now + wait + length, event);
    }

    /// A page that is destaged has left the memory.
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

    /// The flash has done what it was asked for at `began`.
    pub fn flash_done<B: Backing>(
        &mut self,
        now: Time,
        request: &PageRequest,
        began: Time,
        parts: &Parts,
        backing: &mut B,
    ) -> Result<(), Error> {
        let entry = request.entry;
        match request.op {
            PageOp::Fetch => self.fetched(now, entry, began, parts, backing),
            PageOp::Destage { .. } => self.destaged(now, entry, began, parts, backing),
            PageOp::Trim => {
                let mut part = self.parts[request.part as usize];
                part.parts.buffer_wait += began - part.since;
                part.parts.add(parts);
                self.part_done(&part);
                self.vacant.push(request.part);
                Ok(())
            }
        }
    }

    /// A page is here; those who wait for it go on.
    fn fetched<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        began: Time,
        parts: &Parts,
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
        self.port.hold(now, length);
        for place in 0..frame.waiting.len() {
            let part = &mut self.parts[frame.waiting[place] as usize];
            if part.kind == Kind::Read {
                Self::waited_for_flash(now, part, began, parts);
            }
        }
        self.advance(now, entry, backing)
    }

    /// A part has waited for work of the flash: its parts are those of the part, if they began
    /// behind it.
    fn waited_for_flash(now: Time, part: &mut Part, began: Time, parts: &Parts) {
        if began >= part.since {
            part.parts.buffer_wait += began - part.since;
            part.parts.add(parts);
        } else {
            part.parts.buffer_wait += now - part.since;
        }
        part.since = now;
    }

    /// The flash holds a page as it was when it left the memory.
    fn destaged<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        began: Time,
        parts: &Parts,
        backing: &mut B,
    ) -> Result<(), Error> {
        let frame = self.frames.get_mut(entry);
        frame.destaging = false;
        frame.sending = 0;
        frame.durable = frame.sent;
        if let Some(verification) = &mut self.verification {
            verification.sent(frame.page);
        }
        if frame.dirty == 0 {
            // What came later was discarded.
            frame.durable = frame.version;
            self.policy.cleaned(entry);
        }
        self.synced(now, entry, began, parts);
        self.settle(now, entry, backing)
    }

    /// Those who waited until the flash holds a version that it holds are done. It was at it since
    /// `began`.
    pub(crate) fn synced(&mut self, now: Time, entry: Entry, began: Time, parts: &Parts) {
        let frame = self.frames.get_mut(entry);
        let durable = frame.durable;
        let mut syncs = std::mem::take(&mut frame.syncs);
        syncs.retain(|sync| {
            let over = sync.version <= durable;
            if over {
                let mut part = self.parts[sync.part as usize];
                Self::waited_for_flash(now, &mut part, began, parts);
                self.part_done(&part);
                self.vacant.push(sync.part);
            }
            !over
        });
        self.frames.get_mut(entry).syncs = syncs;
    }
}
