//! Recount for tests: compares incremental state with a scan of the whole buffer.

use wordline_cache::Entry;
use wordline_cache::replacement::Replace;

use super::frame::Frame;
use super::view::Decided;
use crate::backing::{Chip, Page};
use crate::buffer::Buffer;
use crate::part::Kind;

/// Whether an invariant holds, and its description.
type Checked = (bool, &'static str);

impl Buffer {
    /// Checks the invariants between two events. `in_flash` returns `true` for a page whose data
    /// has been submitted to the flash.
    pub fn audit(&self, in_flash: impl Fn(Page) -> bool) -> Result<(), String> {
        let mut decided = vec![Decided::default(); self.decided.len()];
        let (mut taken, mut resident) = (0, 0);
        for (entry, frame) in self.frames.numbered() {
            let broken = self.laws(entry, frame).into_iter().find(|(kept, _)| !kept);
            if let Some((_, law)) = broken {
                return Err(format!(
                    "page {}: broken invariant: {law}: {frame:?}",
                    frame.page.0
                ));
            }
            taken += u32::from(frame.held && !frame.passing);
            resident += usize::from(frame.resident);
            let leaving = frame.destaging && !in_flash(frame.page);
            if let Some(Chip(chip)) = frame.chip.filter(|_| leaving) {
                decided[chip as usize].programs += 1;
            }
        }
        let whole = [
            (taken + self.free == self.plan.pages, "memory pages add up"),
            (
                resident == self.policy.len(),
                "residents are those of the policy",
            ),
            (
                resident <= self.plan.pages as usize,
                "residents fit the memory",
            ),
            (
                decided == self.decided,
                "loads match the pages about to be submitted",
            ),
            (
                self.free == 0 || self.rooms.is_empty(),
                "no page waits while memory is free",
            ),
            (self.is_done(), "the owner has collected all requests"),
        ];
        match whole.into_iter().find(|(kept, _)| !kept) {
            Some((_, law)) => Err(format!("the buffer: broken invariant: {law}")),
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
            (queued == usize::from(frame.queued), "queued as flagged"),
            (
                frame.writes as usize == writes.count(),
                "write counter is correct",
            ),
            (
                frame.held || (frame.dirty | frame.sending | frame.valid) == 0,
                "empty without memory",
            ),
            (frame.held || !frame.passing, "passing only with memory"),
            (
                !frame.is_ahead() || self.frames.is_written(entry),
                "in the list of written pages if newer than the flash",
            ),
            (
                frame.destaging || frame.sending == 0,
                "sending only while destaging",
            ),
            (
                frame.destaging || !frame.departing,
                "departing only while destaging",
            ),
            (
                !frame.held || stays || self.late.contains(&entry),
                "released when no longer needed",
            ),
            (
                frame.durable <= frame.version
                    && (frame.is_ahead() || frame.destaging || frame.durable == frame.version),
                "durable when clean",
            ),
        ]
    }
}
