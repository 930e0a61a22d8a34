//! Flushing while the host is idle (background flush).

use wordline_kernel::Time;

use crate::backing::{Backing, Chip, Observation};
use crate::buffer::Buffer;
use crate::event::Event;

impl Buffer {
    /// Counts a completed request that the owner has collected.
    #[inline]
    pub fn request_done(&mut self, now: Time) {
        self.idle.ends(now);
    }

    /// Schedules a check after the idle time if no request is outstanding and pages are dirty. The
    /// owner calls this method when all other work of an instant is done.
    #[inline]
    pub fn rest<B: Backing>(&mut self, backing: &mut B) {
        if self.idle.after.is_some() && self.idle.serving == 0 && !self.idle.flushed {
            self.plan_idle(backing);
        }
    }

    fn plan_idle<B: Backing>(&mut self, backing: &mut B) {
        let Some(after) = self.idle.after else {
            return;
        };
        let at = self.idle.since + after;
        if self.idle.planned.is_some() || !self.frames.is_any_ahead() {
            return;
        }
        self.idle.planned = Some(at);
        backing.schedule(at, Event::Idle);
    }

    /// Destages all dirty pages, one per die at a time, if the host has been idle for long enough.
    /// Otherwise schedules the next check, unless a request is outstanding.
    pub(crate) fn look_idle<B: Backing>(&mut self, now: Time, backing: &mut B) {
        self.idle.planned = None;
        let Some(after) = self.idle.after.filter(|_| self.idle.serving == 0) else {
            return;
        };
        if now < self.idle.since + after {
            return self.plan_idle(backing);
        }
        self.idle.flushed = true;
        self.idle.left = self.frames.ahead().into();
        self.flush_idly(now, backing);
    }

    /// Destages pages of the idle flush on dies without a page of the flush in progress.
    fn flush_idly<B: Backing>(&mut self, now: Time, backing: &mut B) {
        for _ in 0..self.idle.left.len() {
            let Some(entry) = self.idle.left.pop_front() else {
                break;
            };
            let frame = self.frames.get(entry);
            if !frame.can_depart() {
                continue;
            }
            let place = self.idle.place(backing.chip_of(frame.page));
            if self.idle.busy[place] {
                self.idle.left.push_back(entry);
                continue;
            }
            self.idle.busy[place] = true;
            self.frames.get_mut(entry).idly = true;
            backing.observe(now, Observation::FlushedIdly);
            self.destage(now, entry, backing);
        }
    }

    /// Handles a page of an idle flush that has been written to flash, and continues the flush.
    pub(crate) fn idly_destaged<B: Backing>(
        &mut self,
        now: Time,
        chip: Option<Chip>,
        backing: &mut B,
    ) {
        let place = self.idle.place(chip);
        self.idle.busy[place] = false;
        self.flush_idly(now, backing);
    }
}
