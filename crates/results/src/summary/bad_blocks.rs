//! Section `bad_blocks` of the summary: bad and spare blocks.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::Time;

use super::figures::ratio;
use crate::device::{BadBlockDevice, Device};

/// Bad and spare blocks, as in SMART attributes. Factory, grown, spare and in-use blocks add up to
/// all blocks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "BadBlocks")]
pub struct BadBlockSummary {
    /// Blocks that were bad from the factory.
    pub factory: u64,
    /// Blocks that went bad in use (grown bad blocks).
    pub grown: u64,
    /// Grown bad blocks whose erase failed.
    pub grown_by_erase: u64,
    /// Grown bad blocks whose program failed.
    pub grown_by_program: u64,
    /// Good spare blocks at the end of the run.
    pub spare: u64,
    /// Good spare blocks at the end of the run, in the plane that has the fewest.
    pub spare_fewest: u32,
    /// Good spare blocks at the end of the run, as a share of those at its start (available spare
    /// of NVMe). Null without spare blocks.
    pub spare_ratio: Option<f64>,
    /// Good blocks in use at the end of the run.
    pub in_use: u64,
    /// Block erases that failed.
    pub erase_failures: u64,
    /// Page programs that failed. Each was repeated in another block.
    pub program_failures: u64,
    /// Pages that were read and programmed in other blocks because of failed programs.
    /// `flash.page_programs` does not count them.
    pub pages_copied: u64,
    /// Pages whose write or TRIM ended with an error because the device was read-only or became so.
    pub host_failures: u64,
    /// Pages whose read ended with an error because the DRAM buffer could not write their content
    /// to flash and lost it.
    pub lost_reads: u64,
    /// Time at which the device became read-only, because a block failed and no spare block was
    /// left. Null if the device stayed writable. With several devices, the earliest such time.
    pub read_only_s: Option<f64>,
}

impl BadBlockSummary {
    /// Returns the section, or `None` if no device can have bad blocks.
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
