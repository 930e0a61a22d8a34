//! Power failure of the buffer.

use std::ops::Range;

use rustc_hash::FxHashMap;
use wordline_block::PowerCut;
use wordline_cache::replacement::Replace;
use wordline_kernel::Time;
use wordline_kernel::link::{Link, Rate};

use crate::Buffer;
use crate::backing::{Backing, Page};
use crate::error::Error;
use crate::view::{Decided, View};

impl Buffer {
    /// Returns the number of pages of a range that a power cut would lose: those newer than their
    /// flash copies, unless capacitors save them.
    pub fn volatile_pages(&self, pages: &Range<u64>) -> u32 {
        if self.plan.capacitors {
            return 0;
        }
        self.frames.count_ahead_of(pages) as u32
    }
    /// Handles a power failure after the recovery of the flash. Without capacitors, all content is
    /// lost. With capacitors, the dirty pages and the list of lost pages are saved. The pages are
    /// back in the buffer afterwards, as if requested in the order of their entries.
    pub fn cut_power<B: Backing>(
        &mut self,
        now: Time,
        cut: &mut PowerCut,
        backing: &mut B,
    ) -> Result<(), Error> {
        let ahead = self.frames.clear();
        self.policy = self.fresh_policy();
        let (bytes, ps) = self.plan.port;
        self.port = Link::new(Rate { ps, bytes });
        self.free = self.plan.pages;
        self.rooms.clear();
        self.parts.clear();
        self.vacant.clear();
        self.remaining.clear();
        self.failed.clear();
        self.met.clear();
        self.requests.clear();
        self.decided.fill(Decided::default());
        self.done.clear();
        self.left.clear();
        self.late.clear();
        self.last_read = None;
        self.batch.clear();
        self.idle.clear(now);
        let lossless = self.plan.capacitors;
        let mut saved = FxHashMap::default();
        if lossless {
            cut.pages_saved = ahead.len() as u32;
            for lost in ahead {
                let dirty = lost.dirty | lost.sending;
                saved.insert(lost.page, lost.valid | dirty);
                self.put_back(lost.page, lost.valid, dirty, backing);
            }
        } else {
            cut.pages_lost = ahead.len() as u32;
        }
        self.faultless()?;
        if let Some(verification) = &mut self.verification {
            let holds = |page| backing.holds(page);
            let checked = verification.cut(now, holds, &saved, lossless, &self.lost);
            checked.map_err(Error::Verification)?;
        }
        if !lossless {
            self.lost.clear();
        }
        Ok(())
    }

    /// Restores a page in memory. Without free memory the page passes through: the next request
    /// evicts it.
    fn put_back<B: Backing>(&mut self, page: Page, valid: u64, dirty: u64, backing: &mut B) {
        let entry = self.frames.enter(page);
        let mut view = View {
            frames: &mut self.frames,
            backing,
            decided: &self.decided,
            left: &mut self.left,
        };
        let has_room = self.free > 0;
        if has_room {
            self.policy.access(entry, true, &mut view);
            self.free -= 1;
        } else {
            self.late.push(entry);
        }
        self.late
            .extend(self.left.drain(..).map(|departure| departure.entry));
        let frame = self.frames.get_mut(entry);
        (frame.known, frame.resident) = (has_room, has_room);
        (frame.held, frame.passing) = (true, !has_room);
        (frame.valid, frame.dirty, frame.version) = (valid, dirty, 1);
        self.frames.write(entry);
        self.gather(entry);
    }
}
