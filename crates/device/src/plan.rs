//! A device that can be built.

use wordline_nand::{Arbitration, Chains, Layout, PlaneRule, Scheduler, Suspend};

/// Everything a device is made of, checked; nothing optional.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The array of all dies.
    pub layout: Layout,
    /// Dies on one channel.
    pub dies_per_channel: u32,
    /// What each operation takes.
    pub chains: Chains,
    /// Who gets the bus of a channel.
    pub arbitration: Arbitration,
    /// Whether a command takes several planes.
    pub scheduler: Scheduler,
    /// Which pages such a command may take.
    pub plane_rule: PlaneRule,
    /// Whether programs and erases can be suspended for reads.
    pub suspend: Suspend,
    /// Whether collections move pages inside their planes, without the bus.
    pub internal_data_move: bool,
    /// User bytes in a page.
    pub page_bytes: u32,
    /// Erases a block bears.
    pub endurance_cycles: u32,
    /// Programs of a page between two erases.
    pub partial_programs: u8,
    /// Seed of random deviations of array times.
    pub seed: u64,
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
