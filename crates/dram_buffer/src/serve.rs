//! Execution of parts whose page is available: data transfers, TRIMs and flushes.

use wordline_block::{LatencyComponents, Ticket};
use wordline_cache::Entry;
use wordline_cache::replacement::Replace;
use wordline_kernel::Time;

use crate::backing::{Backing, PageRequest};
use crate::buffer::Buffer;
use crate::error::Error;
use crate::event::Event;
use crate::frame::Sync;
use crate::part::{Kind, Part};

impl Buffer {
    /// Assigns free memory to waiting pages.
    pub(crate) fn grant<B: Backing>(&mut self, now: Time, backing: &mut B) -> Result<(), Error> {
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

    /// Starts the parts that wait for a page, in order, as far as possible.
    pub(crate) fn advance<B: Backing>(
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
                Kind::Read if part.failed => {
                    self.take_first(entry);
                    self.part_done(&part);
                    self.vacant.push(place);
                }
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
                    // Data that passes through memory outside the buffer is durable only on flash.
                    self.parts[place as usize].durable |= frame.passing;
                    self.write(place);
                    self.move_data(now, place, backing);
                    if self.batch.gathers() {
                        self.gather(entry);
                        self.begin_batch(now, backing);
                    }
                }
                // The data that leaves the memory must be submitted to flash before the TRIM.
                Kind::Trim if fetching || departing => return Ok(()),
                Kind::Trim => {
                    self.take_first(entry);
                    self.trim(now, place, backing)?;
                }
                Kind::Flush => unreachable!("a flush does not wait for a page's memory"),
            }
        }
        let frame = self.frames.get_mut(entry);
        if frame.held
            && std::mem::take(&mut frame.ahead)
            && !frame.fetching
            && frame.valid | frame.dirty | frame.sending == 0
        {
            self.fetch(entry, backing);
        }
        self.settle(now, entry, backing)
    }

    pub(crate) fn take_first(&mut self, entry: Entry) {
        self.frames.get_mut(entry).waiting.pop_front();
    }

    /// Transfers the data of a part between host and memory.
    pub(crate) fn move_data<B: Backing>(&mut self, now: Time, place: u32, backing: &mut B) {
        let part = &mut self.parts[place as usize];
        let length = self.port.time(part.bytes.into());
        let wait = self.port.reserve(now, length);
        let dram = length + self.plan.access;
        part.parts.buffer_wait += now - part.since + wait;
        part.parts.buffer += dram;
        part.since = now + wait + dram;
        self.frames.get_mut(part.entry).moving += 1;
        let event = Event::Moved(place);
        backing.schedule(part.since, event);
    }

    /// Applies a write to its page.
    pub(crate) fn write(&mut self, place: u32) {
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

    /// Discards the data of a page and submits its TRIM to flash.
    pub(crate) fn trim<B: Backing>(
        &mut self,
        now: Time,
        place: u32,
        backing: &mut B,
    ) -> Result<(), Error> {
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
            let mut left = self.ask(backing, |policy, view| policy.remove(entry, view))?;
            for departure in left.drain(..).filter(|departure| departure.entry != entry) {
                self.leave(now, departure, backing)?;
            }
            self.left = left;
        }
        // Versions up to this TRIM need not reach the flash.
        let frame = self.frames.get_mut(entry);
        if !frame.destaging {
            frame.durable = frame.version;
            self.synced(now, entry, now, &LatencyComponents::default());
        }
        self.requests
            .push_back(PageRequest::trim(entry, page, place));
        Ok(())
    }

    /// Destages all pages that are newer than their flash copies. The flush ends with an error if a
    /// page is lost or its destaging fails.
    pub(crate) fn flush<B: Backing>(&mut self, now: Time, ticket: Ticket, backing: &mut B) {
        let ahead = self.frames.ahead();
        self.expect(ticket, ahead.len().max(1) as u32);
        let part = Part {
            failed: !self.lost.is_empty(),
            ..Part::nothing(ticket, now)
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
}
