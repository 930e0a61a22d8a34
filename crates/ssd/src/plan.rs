//! Plan of a device.

use serde::{Deserialize, Serialize};
use wordline_dram_buffer::read_ahead::Physical;
use wordline_kernel::Time;
use wordline_nand::{Operation, Part};

use wordline_host_link::{Interface, Stream};
use wordline_io_scheduler::Scheduler;
use wordline_io_scheduler::compose::{Compose, Composition};

/// Complete and checked description of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Array of all dies, and its control.
    pub part: Part,
    /// Dies per channel. Count.
    pub dies_per_channel: u32,
    /// Dies per package. Count.
    pub dies_per_package: u32,
    /// Policy that combines operations into multi-plane commands.
    pub composition: Composition,
    /// Policy that orders the flash operations of the host on their way to the dies.
    pub scheduler: Scheduler,
    /// User bytes per page.
    pub page_bytes: u32,
    /// Whether GC moves pages by copyback, without the bus.
    pub internal_data_move: bool,
    /// Queue depth: requests that the device holds at once.
    pub queue_depth: u32,
    /// Host interface.
    pub interface: Interface,
    /// Streams of the host; an empty list stands for one default stream.
    pub streams: Vec<Stream>,
    /// DRAM buffer, if there is one.
    pub buffer: Option<wordline_dram_buffer::Plan>,
    /// Physical read-ahead of the dies, if enabled.
    pub read_ahead: Option<Physical>,
    /// Flash translation layer.
    pub ftl: wordline_ftl::Plan,
    /// Pages, from the first, that were written before the run and are placed in the order of their
    /// first read; 0 without first-read placement.
    pub first_read_pages: u32,
}

/// Features of the dies of a device. The code of the dies is compiled separately for each variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DieFeatures {
    /// Dies execute one operation after another, each on one page or block and without
    /// interruption ([`wordline_nand::Basic`]).
    Basic,
    /// Like `Basic`, but commands may also address several planes, or pages of several program
    /// modes, with errors or with failures ([`wordline_nand::Uninterrupted`]).
    Uninterrupted,
    /// Like `Uninterrupted`, with a scheduler ([`wordline_nand::Scheduled`]).
    Scheduled,
    /// All features ([`wordline_nand::Full`]).
    Full,
}

impl Plan {
    /// Returns `true` if operations on several planes can share a command.
    pub fn joins(&self) -> bool {
        self.composition.joins() && self.part.layout.planes_per_die > 1
    }
    /// Returns `true` if operations wait for a scheduler.
    pub fn is_scheduled(&self) -> bool {
        !matches!(self.scheduler, Scheduler::Immediate(_))
    }
    /// Returns the features that the dies need. Suspension, copyback, several dies per package,
    /// read-ahead and R/B# pins need [`DieFeatures::Full`].
    pub fn die_features(&self) -> DieFeatures {
        let suspend = &self.part.suspend;
        let needs_all = suspend.program
            || suspend.erase
            || self.internal_data_move
            || self.dies_per_package > 1
            || self.read_ahead.is_some()
            || self.part.chains.has_pins();
        if needs_all {
            DieFeatures::Full
        } else if self.is_scheduled() {
            DieFeatures::Scheduled
        } else if self.joins() || self.has_page_conditions() {
            DieFeatures::Uninterrupted
        } else {
            DieFeatures::Basic
        }
    }
    /// Returns `true` if operations depend on the modes or errors of their pages, or may fail.
    pub fn has_page_conditions(&self) -> bool {
        let part = &self.part;
        let alike = part.chains.costs().is_none() && part.chains.single_level().is_none();
        !alike || part.reader.is_some() || part.failing.is_some()
    }
    /// Returns the number of channels.
    pub fn channels(&self) -> u32 {
        self.part.layout.dies / self.dies_per_channel
    }
    /// Returns the time to read `pages` pages, spread evenly over the dies, without waits for
    /// buses.
    pub fn read_time(&self, pages: u32) -> Time {
        let read = self.part.chains.unloaded(Operation::Read, 0);
        Time(read.0 * u64::from(pages.div_ceil(self.part.layout.dies)))
    }
    /// Returns the capacity that the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        u64::from(self.ftl.user_pages) * u64::from(self.page_bytes)
    }
}
