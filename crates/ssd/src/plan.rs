//! A device that can be built.

use serde::{Deserialize, Serialize};
use wordline_dram_buffer::read_ahead::Physical;
use wordline_kernel::Time;
use wordline_nand::{Operation, Part};

use wordline_host_link::{Interface, Stream};
use wordline_io_scheduler::Scheduler;
use wordline_io_scheduler::compose::{Compose, Composition};

/// Everything a device is made of, checked; nothing optional.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The array of all dies, and how it is driven.
    pub part: Part,
    /// Dies on one channel.
    pub dies_per_channel: u32,
    /// Dies in a package.
    pub dies_per_package: u32,
    /// Which operations become one command.
    pub composition: Composition,
    /// Which operations of the host go to their dies next.
    pub scheduler: Scheduler,
    /// User bytes in a page.
    pub page_bytes: u32,
    /// Whether collections move pages inside their planes, without the bus.
    pub internal_data_move: bool,
    /// Requests the device holds at once.
    pub queue_depth: u32,
    /// How requests cross between the host and the device.
    pub interface: Interface,
    /// Streams of the host; one by default if there are none.
    pub streams: Vec<Stream>,
    /// The DRAM buffer, if there is one.
    pub buffer: Option<wordline_dram_buffer::Plan>,
    /// How dies read ahead, if they do.
    pub read_ahead: Option<Physical>,
    /// The translation layer.
    pub ftl: wordline_ftl::Plan,
    /// Pages, from the first, that were there before the run and lie as it first reads them; 0 if they lie by address.
    pub first_read_pages: u32,
}

impl Plan {
    /// Whether operations on several planes can become one command.
    pub fn joins(&self) -> bool {
        self.composition.joins() && self.part.layout.planes_per_die > 1
    }
    /// Whether operations wait for a scheduler.
    pub fn is_scheduled(&self) -> bool {
        !matches!(self.scheduler, Scheduler::Immediate(_))
    }
    /// Whether dies take one operation after the other, each of one page or block, and carry it out
    /// without a break: nothing joins, suspends or schedules them, no page moves inside its plane, no
    /// two dies share a package, all pages are programmed alike, none errs, nothing fails, nothing
    /// is read ahead, and the end of each is read over the bus.
    pub fn has_basic_dies(&self) -> bool {
        let suspend = &self.part.suspend;
        !(self.joins()
            || suspend.program
            || suspend.erase
            || self.is_scheduled()
            || self.internal_data_move
            || self.dies_per_package > 1
            || self.read_ahead.is_some()
            || self.part.chains.has_pins()
            || self.has_page_conditions())
    }
    /// Whether operations take what the modes or the errors of their pages say, or may fail.
    pub fn has_page_conditions(&self) -> bool {
        let part = &self.part;
        let alike = part.chains.costs().is_none() && part.chains.single_level().is_none();
        !alike || part.reader.is_some() || part.failing.is_some()
    }
    /// Channels of the device.
    pub fn channels(&self) -> u32 {
        self.part.layout.dies / self.dies_per_channel
    }
    /// How long so many pages take to be read, spread over the dies.
    pub fn read_time(&self, pages: u32) -> Time {
        let read = self.part.chains.unloaded(Operation::Read, 0);
        Time(read.0 * u64::from(pages.div_ceil(self.part.layout.dies)))
    }
    /// Bytes the host can address.
    pub fn user_bytes(&self) -> u64 {
        u64::from(self.ftl.user_pages) * u64::from(self.page_bytes)
    }
}
