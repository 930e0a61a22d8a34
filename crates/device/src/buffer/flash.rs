//! What the buffer asks of the flash, and what comes of it.

use wordline_cache::Entry;
use wordline_cache::replacement::Replace;
use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::{Probe, Time};
use wordline_nand::Die;

use super::frame::Cargo;
use super::{Around, Buffer, Event, Kind, Part};
use crate::controller::Controller;
use crate::error::DeviceError;
use crate::event;
use crate::observation::{Observation, PageParts};

/// What is asked of the flash for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// The whole page.
    Fetch,
    /// To hold what was written of it.
    Destage(Cargo),
    /// To forget it.
    Trim,
}

/// Work for the flash that has come up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub entry: Entry,
    pub page: Lpn,
    pub work: Work,
    /// For a trim: the part of a request that waits for it.
    pub part: u32,
    /// Where it is counted until the flash has it.
    pub(super) chip: Option<Die>,
}

impl Buffer {
    pub(super) fn fetch<M: Mapping>(&mut self, entry: Entry, flash: &Controller<M>) {
        let frame = self.frames.get_mut(entry);
        frame.fetching = true;
        let chip = flash.chip_of(frame.page);
        if let Some(die) = chip {
            self.bound[die.index()].reads += 1;
        }
        self.asks.push_back(Ask {
            entry,
            page: frame.page,
            work: Work::Fetch,
            part: 0,
            chip,
        });
    }

    /// The next work for the flash, which has it now.
    pub fn next_ask(&mut self) -> Option<Ask> {
        let ask = self.asks.pop_front()?;
        if let Some(die) = ask.chip {
            let bound = &mut self.bound[die.index()];
            match ask.work {
                Work::Fetch => bound.reads -= 1,
                Work::Destage(_) | Work::Trim => bound.programs -= 1,
            }
        }
        Some(ask)
    }

    /// A page goes to the flash, unless it is on its way, or not newer.
    pub(super) fn destage<M: Mapping, P: Probe<Observation>>(
        &mut self,
        now: Time,
        entry: Entry,
        around: &mut Around<'_, M, P>,
    ) {
        let all = self.grid.all();
        let frame = self.frames.get_mut(entry);
        if frame.destaging || frame.fetching || frame.dirty == 0 {
            return;
        }
        (frame.destaging, frame.departing) = (true, true);
        frame.sending = std::mem::take(&mut frame.dirty);
        frame.sent = frame.version;
        frame.chip = around.flash.chip_of(frame.page);
        if let Some(die) = frame.chip {
            self.bound[die.index()].programs += 1;
        }
        let whole = frame.valid == all;
        let sectors = if whole { all } else { frame.sending };
        let here = frame.valid | frame.sending;
        let page = frame.page;
        let (from, bytes) = self.grid.bytes_of(sectors);
        self.frames.get_mut(entry).cargo = Cargo { from, bytes, whole };
        if let Some(verification) = &mut self.verification {
            verification.send(page, here);
        }
        let partial = !whole;
        let seen = Observation::Destaged { partial };
        around.probe.observe(now, seen);
        let length = self.port.time(bytes.into());
        let wait = self.port.hold(now, length);
        let event = event::Kind::Buffer(Event::Sent(entry)).into();
        around.queue.schedule(now + wait + length, event);
    }

    /// A page that is destaged has left the memory.
    pub(super) fn sent<M: Mapping, P: Probe<Observation>>(
        &mut self,
        now: Time,
        entry: Entry,
        around: &mut Around<'_, M, P>,
    ) -> Result<(), DeviceError> {
        let frame = self.frames.get_mut(entry);
        frame.departing = false;
        self.asks.push_back(Ask {
            entry,
            page: frame.page,
            work: Work::Destage(frame.cargo),
            part: 0,
            chip: frame.chip,
        });
        self.advance(now, entry, around)
    }

    /// The flash has done what it was asked for at `began`.
    pub fn flash_done<M: Mapping, P: Probe<Observation>>(
        &mut self,
        now: Time,
        ask: &Ask,
        began: Time,
        parts: &PageParts,
        around: &mut Around<'_, M, P>,
    ) -> Result<(), DeviceError> {
        let entry = ask.entry;
        match ask.work {
            Work::Fetch => self.fetched(now, entry, began, parts, around),
            Work::Destage { .. } => self.destaged(now, entry, began, parts, around),
            Work::Trim => {
                let mut part = self.parts[ask.part as usize];
                part.wait += began - part.since;
                part.flash = *parts;
                self.part_done(&part);
                self.vacant.push(ask.part);
                Ok(())
            }
        }
    }

    /// A page is here; those who wait for it go on.
    fn fetched<M: Mapping, P: Probe<Observation>>(
        &mut self,
        now: Time,
        entry: Entry,
        began: Time,
        parts: &PageParts,
        around: &mut Around<'_, M, P>,
    ) -> Result<(), DeviceError> {
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
        self.advance(now, entry, around)
    }

    /// A part has waited for work of the flash: its parts are those of the part, if they began
    /// behind it.
    fn waited_for_flash(now: Time, part: &mut Part, began: Time, parts: &PageParts) {
        if began >= part.since {
            part.wait += began - part.since;
            part.flash.add(parts);
        } else {
            part.wait += now - part.since;
        }
        part.since = now;
    }

    /// The flash holds a page as it was when it left the memory.
    fn destaged<M: Mapping, P: Probe<Observation>>(
        &mut self,
        now: Time,
        entry: Entry,
        began: Time,
        parts: &PageParts,
        around: &mut Around<'_, M, P>,
    ) -> Result<(), DeviceError> {
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
        self.settle(now, entry, around)
    }

    /// Those who waited until the flash holds a version that it holds are done. It was at it since
    /// `began`.
    pub(super) fn synced(&mut self, now: Time, entry: Entry, began: Time, parts: &PageParts) {
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
