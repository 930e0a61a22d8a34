//! Recounts, for tests: whether what the buffer keeps as it changes is what a look at all of it gives.

use wordline_cache::Entry;
use wordline_cache::replacement::Replace;

use super::frame::Frame;
use super::view::Decided;
use crate::backing::{Chip, Page};
use crate::buffer::Buffer;
use crate::part::Kind;

/// A law, and whether it is kept.
type Checked = (bool, &'static str);

impl Buffer {
    /// Between two events. `in_flash` tells of which pages the flash has been asked to hold what was
    /// sent.
    pub fn audit(&self, in_flash: impl Fn(Page) -> bool) -> Result<(), String> {
        let mut decided = vec![Decided::default(); self.decided.len()];
        let (mut taken, mut resident) = (0, 0);
        for (entry, frame) in self.frames.numbered() {
            let broken = self.laws(entry, frame).into_iter().find(|(kept, _)| !kept);
            if let Some((_, law)) = broken {
                return Err(format!("page {}: not {law}: {frame:?}", frame.page.0));
            }
            taken += u32::from(frame.held && !frame.passing);
            resident += usize::from(frame.resident);
            let leaving = frame.destaging && !in_flash(frame.page);
            if let Some(Chip(chip)) = frame.chip.filter(|_| leaving) {
                decided[chip as usize].programs += 1;
            }
        }
        let whole = [
            (taken + self.free == self.plan.pages, "memory is whole"),
            (resident == self.policy.len(), "residents are the policy's"),
            (
                resident <= self.plan.pages as usize,
                "residents fit the memory",
            ),
            (decided == self.decided, "loads are what is on its way"),
            (
                self.free == 0 || self.rooms.is_empty(),
                "nobody waits for memory that is free",
            ),
            (self.is_done(), "nothing is left to be taken away"),
        ];
        match whole.into_iter().find(|(kept, _)| !kept) {
            Some((_, law)) => Err(format!("the buffer: not {law}")),
            None => Ok(()),
        }
    }

    fn laws(&self, entry: Entry, frame: &Frame) -> [Checked; 12] {
        let queued = self.rooms.iter().filter(|other| **other == entry).count();
        let writes = frame.waiting.iter();
        let writes = writes.filter(|part| self.parts[**part as usize].kind == Kind::Write);
        let waits = frame.gathered && frame.can_depart();
        let stays = frame.resident || frame.is_busy() || !frame.syncs.is_empty() || waits;
        [
            (
                self.frames.find(frame.page) == Some(entry),
                "found by its page",
            ),
            (
                frame.resident == self.policy.contains(entry),
                "resident as the policy says",
            ),
            (!frame.resident || frame.known, "known if resident"),
            (queued == usize::from(frame.queued), "in line as it says"),
            (
                frame.writes as usize == writes.count(),
                "counting its writes",
            ),
            (
                frame.held || (frame.dirty | frame.sending | frame.valid) == 0,
                "empty without memory",
            ),
            (frame.held || !frame.passing, "passing with memory only"),
            (
                !frame.is_ahead() || self.frames.is_written(entry),
                "among the written if it is ahead",
            ),
            (
                frame.destaging || frame.sending == 0,
                "sending while it destages only",
            ),
            (
                frame.destaging || !frame.departing,
                "departing while it destages only",
            ),
            (
                !frame.held || stays || self.late.contains(&entry),
                "departure when nobody needs it",
            ),
            (
                frame.durable <= frame.version
                    && (frame.is_ahead() || frame.destaging || frame.durable == frame.version),
                "in the flash when it is clean",
            ),
        ]
    }
}
