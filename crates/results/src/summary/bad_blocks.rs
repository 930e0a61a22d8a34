//! Blocks that are bad, and those that stand by.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::Time;

use super::figures::ratio;
use crate::device::{BadBlockDevice, Device};

/// Bad and spare blocks, as SMART tells them. Factory + grown + spare + in use is all blocks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "BadBlocks")]
pub struct BadBlockSummary {
    /// Blocks that were bad from the factory.
    pub factory: u64,
    /// Blocks that have gone bad in use (grown).
    pub grown: u64,
    /// Of those, by an erase that failed.
    pub grown_by_erase: u64,
    /// Of those, by a program that failed.
    pub grown_by_program: u64,
    /// Good blocks that stand by at the end.
    pub spare: u64,
    /// The same in the plane that has fewest.
    pub spare_fewest: u32,
    /// Good blocks that stand by at the end, of those at first (available spare of NVMe). Null without any.
    pub spare_ratio: Option<f64>,
    /// Good blocks in use.
    pub in_use: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Programs of pages that failed; each was done again in another block.
    pub program_failures: u64,
    /// Pages that were read and programmed for them in other blocks. `flash.page_programs` does not count them.
    pub pages_copied: u64,
    /// Pages that the host wrote or discarded with an error, as the device was read-only or became so.
    pub host_failures: u64,
    /// Pages of reads that ended with an error because what the DRAM buffer held of them could not be written any more, and is lost.
    pub lost_reads: u64,
    /// When the device became read-only: something had failed, and no spare block was left. Null if it did not; of several devices, the
    /// first.
    pub read_only_s: Option<f64>,
}

impl BadBlockSummary {
    /// None if no device can have any.
    pub(super) fn new(devices: &[Device]) -> Option<Self> {
        let all = || {
            devices
                .iter()
                .filter_map(|device| device.bad_blocks.as_ref())
        };
        all().next()?;
        let sum = |of: fn(&BadBlockDevice) -> u64| all().map(of).sum::<u64>();
        let [factory, erase, program] =
            [0, 1, 2].map(|cause| all().map(|one| u64::from(one.bad[cause])).sum());
        let spare = sum(|one| one.spare.into());
        let read_only = all().filter_map(|one| one.failures.read_only).min();
        Some(Self {
            factory,
            grown: erase + program,
            grown_by_erase: erase,
            grown_by_program: program,
            spare,
            spare_fewest: all().map(|one| one.spare_fewest).min().unwrap_or_default(),
            spare_ratio: ratio(spare, spare + sum(|one| one.taken.into())),
            in_use: sum(|one| one.in_use.into()),
            erase_failures: sum(|one| one.failures.erases),
            program_failures: sum(|one| one.failures.programs),
            pages_copied: sum(|one| one.failures.pages_copied),
            host_failures: sum(|one| one.failures.host_failures),
            lost_reads: sum(|one| one.lost_reads),
            read_only_s: read_only.map(Time::as_secs),
        })
    }
}
