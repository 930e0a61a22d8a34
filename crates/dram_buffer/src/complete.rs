//! Completion of data transfers and flash requests.

use wordline_block::{ReadEvents, Ticket};
use wordline_cache::Entry;
use wordline_kernel::Time;

use crate::backing::Backing;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::event::Event;
use crate::frame::Sync;
use crate::part::{Part, Served};

impl Buffer {
    /// Handles an event of the buffer.
    pub fn handle<B: Backing>(
        &mut self,
        now: Time,
        event: Event,
        backing: &mut B,
    ) -> Result<(), Error> {
        match event {
            Event::Moved(place) => self.moved(now, place, backing),
            Event::Sent(entry) => self.sent(now, entry, backing),
            Event::Idle => {
                self.look_idle(now, backing);
                Ok(())
            }
        }
    }

    /// Handles a transferred part: completes it, or makes it wait until the page is durable.
    pub(crate) fn moved<B: Backing>(
        &mut self,
        now: Time,
        place: u32,
        backing: &mut B,
    ) -> Result<(), Error> {
        let mut part = self.parts[place as usize];
        let frame = self.frames.get_mut(part.entry);
        frame.moving -= 1;
        part.failed |= part.durable && part.version <= frame.unkept;
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

    /// Destages a page that must leave or become durable, and frees its memory when the page no
    /// longer needs it.
    pub(crate) fn settle<B: Backing>(
        &mut self,
        now: Time,
        entry: Entry,
        backing: &mut B,
    ) -> Result<(), Error> {
        let frame = self.frames.get(entry);
        let leaves = !frame.resident && frame.waiting.is_empty();
        let synced = !frame.syncs.is_empty();
        if frame.held && frame.dirty != 0 && (synced || leaves) {
            if synced || !self.batch.gathers() {
                self.destage(now, entry, backing);
            } else if frame.can_depart() {
                self.want_batch(now, entry, backing);
            }
        }
        let frame = self.frames.get_mut(entry);
        if frame.resident || frame.is_busy() || frame.is_held_ahead() || !frame.syncs.is_empty() {
            return Ok(());
        }
        let (held, passing) = (frame.held, frame.passing);
        (frame.held, frame.passing, frame.valid) = (false, false, 0);
        frame.unasked = false;
        if !frame.known {
            self.frames.release(entry);
        }
        if held && !passing {
            self.free += 1;
            self.grant(now, backing)?;
        }
        Ok(())
    }

    pub(crate) fn check_read(&mut self, now: Time, entry: Entry, part: &Part) -> Result<(), Error> {
        let Some(verification) = &mut self.verification else {
            return Ok(());
        };
        let page = self.frames.get(entry).page;
        let sectors = self.grid.touched(part.from, part.bytes);
        let checked = verification.read(now, page, sectors);
        checked.map_err(Error::Verification)
    }

    /// Completes a part of a request. The last part completes the request.
    pub(crate) fn part_done(&mut self, part: &Part) {
        if part.failed && !self.failed.contains(&part.ticket) {
            self.failed.push(part.ticket);
        }
        if !part.met.is_nothing() {
            self.meet(part);
        }
        let remaining = &mut self.remaining[part.ticket as usize];
        *remaining -= 1;
        if *remaining == 0 {
            let failed = self.failed.iter().position(|one| *one == part.ticket);
            let met = self.take_met(part.ticket);
            self.done.push_back(Served {
                ticket: part.ticket,
                parts: part.parts,
                failed: failed.is_some(),
                met,
            });
            if let Some(place) = failed {
                self.failed.swap_remove(place);
            }
        }
    }

    /// Records the flash events that delayed a part of a request.
    #[cold]
    fn meet(&mut self, part: &Part) {
        let known = self.met.iter_mut().find(|(one, _)| *one == part.ticket);
        match known {
            Some((_, met)) => *met = met.union(part.met),
            None => self.met.push((part.ticket, part.met)),
        }
    }

    /// Removes and returns the flash events that delayed the request with this ticket.
    fn take_met(&mut self, ticket: Ticket) -> ReadEvents {
        let place = self.met.iter().position(|(one, _)| *one == ticket);
        place.map_or(ReadEvents::default(), |place| self.met.swap_remove(place).1)
    }
}
