//! Collection of dirty pages into batches, and their submission.

use std::collections::VecDeque;

use wordline_cache::Entry;
use wordline_cache::replacement::Replace;
use wordline_kernel::Time;

use crate::backing::{Backing, Observation};
use crate::buffer::Buffer;
use crate::error::Error;

impl Buffer {
    /// Adds a dirty page to the list of pages for the next batches, if pages are destaged in
    /// batches.
    pub(crate) fn gather(&mut self, entry: Entry) {
        let frame = self.frames.get_mut(entry);
        if self.batch.gathers() && !frame.gathered {
            frame.gathered = true;
            self.batch.dirty.push_back(entry);
        }
    }

    /// Requests a batch, because a dirty page must be evicted.
    pub(crate) fn want_batch<B: Backing>(&mut self, now: Time, entry: Entry, backing: &mut B) {
        self.gather(entry);
        self.batch.wanted = true;
        self.begin_batch(now, backing);
    }

    /// Starts the next batch if none is in progress and the next one is full or requested.
    pub(crate) fn begin_batch<B: Backing>(&mut self, now: Time, backing: &mut B) {
        let size = self.batch.size;
        if self.batch.left > 0 || !(self.batch.wanted || self.batch.dirty.len() >= size) {
            return;
        }
        self.forget_clean();
        if !self.batch.wanted && self.batch.dirty.len() < size {
            return;
        }
        let mut later = VecDeque::new();
        while self.batch.sent.len() < size
            && let Some(entry) = self.batch.dirty.pop_front()
        {
            if !self.frames.get(entry).gathered {
                continue;
            }
            if !self.frames.get(entry).can_depart() {
                later.push_back(entry);
                continue;
            }
            let frame = self.frames.get_mut(entry);
            (frame.gathered, frame.batched, frame.awaited) = (false, true, true);
            self.batch.sent.push(entry);
        }
        later.append(&mut self.batch.dirty);
        self.batch.dirty = later;
        self.batch.left = self.batch.sent.len();
        self.batch.wanted = false;
        if self.batch.left > 0 {
            let pages = self.batch.left as u32;
            backing.observe(now, Observation::BatchSent { pages });
        }
        for place in 0..self.batch.left {
            self.destage(now, self.batch.sent[place], backing);
        }
    }

    /// Removes pages that have become clean, and duplicates that arise when an entry is reused for
    /// another page.
    fn forget_clean(&mut self) {
        let frames = &mut self.frames;
        for entry in &self.batch.dirty {
            frames.get_mut(*entry).gathered = false;
        }
        self.batch.dirty.retain(|entry| {
            let frame = frames.get_mut(*entry);
            let again = std::mem::replace(&mut frame.gathered, frame.held && frame.dirty != 0);
            frame.gathered && !again
        });
    }

    /// Handles a page of the batch that has been written to flash. After the last page, frees the
    /// memory of the batch's evicted pages and may start the next batch.
    pub(crate) fn batch_destaged<B: Backing>(
        &mut self,
        now: Time,
        backing: &mut B,
    ) -> Result<(), Error> {
        self.batch.left -= 1;
        if self.batch.left > 0 {
            return Ok(());
        }
        let sent = std::mem::take(&mut self.batch.sent);
        for entry in &sent {
            let frame = self.frames.get_mut(*entry);
            frame.batched = false;
            if frame.dirty == 0 {
                self.policy.cleaned(*entry);
            }
        }
        for entry in sent {
            self.settle(now, entry, backing)?;
        }
        let frames = &self.frames;
        let leaves = |entry: &Entry| !frames.get(*entry).resident;
        self.batch.wanted |= self.batch.dirty.iter().any(leaves);
        self.begin_batch(now, backing);
        Ok(())
    }
}
