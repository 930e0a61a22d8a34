//! Consistency check for tests: compares incrementally maintained state with a scan of the whole
//! buffer.

use wordline_cache::Entry;
use wordline_cache::replacement::Replace;

use super::frame::Frame;
use super::view::Decided;
use crate::backing::{Chip, Page};
use crate::buffer::Buffer;
use crate::part::Kind;

/// Whether an invariant holds, and the invariant as a sentence.
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
            (
                taken + self.free == self.plan.pages,
                "used and free pages add up to the capacity",
            ),
            (
                resident == self.policy.len(),
                "the policy holds as many pages as are resident",
            ),
            (
                resident <= self.plan.pages as usize,
                "resident pages do not exceed the capacity",
            ),
            (
                decided == self.decided,
                "die loads match the pages about to be submitted",
            ),
            (
                self.free == 0 || self.rooms.is_empty(),
                "no page waits while memory is free",
            ),
            (self.is_done(), "the owner has collected all requests"),
        ];
        match whole.into_iter().find(|(kept, _)| !kept) {
            Some((_, law)) => Err(format!("buffer: broken invariant: {law}")),
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
                "the page index points to its frame",
            ),
            (
                frame.resident == self.policy.contains(entry),
                "buffer and policy agree on whether the page is resident",
            ),
            (
                !frame.resident || frame.known,
                "a resident page is known to the policy",
            ),
            (
                queued == usize::from(frame.queued),
                "the memory queue contains the page once if it is queued, else never",
            ),
            (
                frame.writes as usize == writes.count(),
                "the write counter equals the number of waiting writes",
            ),
            (
                frame.held || (frame.dirty | frame.sending | frame.valid) == 0,
                "a page without memory has no data",
            ),
            (
                frame.held || !frame.passing,
                "a page that passes through has memory",
            ),
            (
                !frame.is_ahead() || self.frames.is_written(entry),
                "a page that is newer than its flash copy is in the list of written pages",
            ),
            (
                frame.destaging || frame.sending == 0,
                "sectors are being sent only while the page is being destaged",
            ),
            (
                frame.destaging || !frame.departing,
                "data leaves the memory only while the page is being destaged",
            ),
            (
                !frame.held || stays || self.late.contains(&entry),
                "memory that is no longer needed is released",
            ),
            (
                frame.durable <= frame.version
                    && (frame.is_ahead() || frame.destaging || frame.durable == frame.version),
                "a clean page is durable",
            ),
        ]
    }
}
