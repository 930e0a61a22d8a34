//! Read-ahead.

use wordline_block::Request;
use wordline_kernel::Time;

use crate::backing::{Backing, Observation, Page};
use crate::buffer::Buffer;
use crate::error::Error;

impl Buffer {
    /// Reads the pages that follow a read, if it continues where the previous read ended.
    pub(crate) fn run_ahead<B: Backing>(
        &mut self,
        now: Time,
        request: &Request,
        backing: &mut B,
    ) -> Result<(), Error> {
        let page_bytes = u64::from(self.grid.page_bytes);
        let first = request.offset / page_bytes;
        let last = (request.offset + request.bytes - 1) / page_bytes;
        let before = self.last_read.replace(last);
        if before.is_none_or(|before| first != before && first != before + 1) {
            return Ok(());
        }
        let end = (last + 1 + u64::from(self.plan.read_ahead)).min(self.frames.pages());
        for page in last + 1..end {
            self.read_ahead(now, Page(page as u32), backing)?;
        }
        Ok(())
    }

    /// Reads a page ahead, unless it is in the buffer or in use by an operation in progress.
    fn read_ahead<B: Backing>(
        &mut self,
        now: Time,
        page: Page,
        backing: &mut B,
    ) -> Result<(), Error> {
        let entry = self.frames.enter(page);
        let frame = self.frames.get_mut(entry);
        if frame.resident || frame.held || frame.queued || frame.is_busy() {
            return Ok(());
        }
        (frame.ahead, frame.unasked) = (true, true);
        backing.observe(now, Observation::ReadAhead);
        self.touch(now, entry, false, backing)?;
        self.advance(now, entry, backing)
    }
}
