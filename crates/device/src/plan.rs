//! A device that can be built.

use wordline_nand::{Chains, Layout};

/// Everything a device is made of, checked; nothing optional.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The array of all dies.
    pub layout: Layout,
    /// Dies on one channel.
    pub dies_per_channel: u32,
    /// What each operation takes.
    pub chains: Chains,
    /// User bytes in a page.
    pub page_bytes: u32,
    /// Erases a block bears.
    pub endurance_cycles: u32,
    /// Requests the device holds at once.
    pub queue_depth: u32,
    /// The translation layer.
    pub ftl: wordline_ftl::Plan,
}

impl Plan {
    /// Channels of the device.
    pub fn channels(&self) -> u32 {
        self.layout.dies / self.dies_per_channel
    }
    /// Bytes the host can address.
    pub fn user_bytes(&self) -> u64 {
        u64::from(self.ftl.user_pages) * u64::from(self.page_bytes)
    }
}
