//! Section `smart` of the summary: the modelled part of the log page SMART / Health Information of
//! NVMe (Base Specification 1.4, section 5.14.1.2).

use schemars::JsonSchema;
use serde::Serialize;
use wordline_nand::Block;

use crate::device::Device;
use crate::outcome::{Outcome, SsdOutcome};

/// Available spare below which a device sets its critical warning. Percent. NVMe leaves the value
/// to the vendor.
const SPARE_THRESHOLD: u8 = 10;
/// Bytes of a data unit: 1,000 times 512.
const DATA_UNIT_BYTES: u64 = 512_000;

/// The SMART / Health Information log page (02h) of an SSD, as NVMe defines it. Counts cover the
/// run only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Smart")]
pub struct SmartSummary {
    /// Name of the device, as in `members`. For a single device, the name of the configuration.
    pub name: String,
    /// Critical warning, as bits. Bit 0 (1): the available spare is below its threshold. Bit 3 (8):
    /// the media is read-only. The other bits are never set.
    pub critical_warning: u8,
    /// Spare blocks left, as a share of the spare blocks that were good at the start, rounded down.
    /// Percent. Null without spare blocks.
    pub available_spare: Option<u8>,
    /// Available spare below which the device warns. Percent.
    pub available_spare_threshold: u8,
    /// Mean P/E cycles of the blocks in use, including those before the run, as a share of
    /// `nand.endurance_cycles`, rounded down. Percent. It can exceed 100; 255 stands for all values
    /// above 254.
    pub percentage_used: u8,
    /// Data that the host read, rounded up. In units of 1,000 times 512 bytes.
    pub data_units_read: u64,
    /// Data that the host wrote, without failed writes, rounded up. In units of 1,000 times 512
    /// bytes.
    pub data_units_written: u64,
    /// Bytes programmed in flash: Physical Media Units Written of the log page SMART / Health
    /// Information Extended (C0h) of OCP's Datacenter NVMe SSD Specification, in bytes. The write
    /// amplification is this value divided by 512,000 times `smart[].data_units_written`, except
    /// for rounding.
    pub physical_media_written_bytes: u64,
    /// Reads that the device completed.
    pub host_read_commands: u64,
    /// Writes that the device completed.
    pub host_write_commands: u64,
    /// Time in which the device held requests, rounded down. Minutes.
    pub controller_busy_time_min: u64,
    /// Power cuts. All of them count, because the host never announces a shutdown.
    pub unsafe_shutdowns: u64,
    /// Uncorrectable or lost pages that the host read, or wrote in part.
    pub media_errors: u64,
}

impl SmartSummary {
    /// Returns the log page of each SSD of a run that is not the flash of a cache.
    pub(super) fn all(outcome: &Outcome) -> Vec<Self> {
        if outcome.members.is_empty() {
            let is_ssd = outcome.caches.is_empty();
            let ssds = outcome.ssds().filter(|_| is_ssd);
            return ssds
                .map(|ssd| Self::new(&outcome.plan.name, &ssd))
                .collect();
        }
        let leaves = outcome.leaves().into_iter();
        let ssds = leaves.filter_map(|leaf| {
            let (plan, device) = leaf.leaf.of.ssd().zip(leaf.device)?;
            let ssd = SsdOutcome {
                plan,
                record: leaf.record,
                device,
            };
            leaf.cache
                .is_none()
                .then(|| Self::new(&leaf.leaf.name, &ssd))
        });
        ssds.collect()
    }

    fn new(name: &str, ssd: &SsdOutcome<'_>) -> Self {
        let (device, served) = (ssd.device, &ssd.record.total);
        let bad = device.bad_blocks.as_ref();
        let available_spare = bad.and_then(|bad| percent(bad.spare, bad.spare + bad.taken));
        let is_read_only = bad.is_some_and(|bad| bad.failures.read_only.is_some());
        let flash = ssd.record.flash();
        let units = |bytes: u64| bytes.div_ceil(DATA_UNIT_BYTES);
        let commands = [0, 1].map(|op| served.latency[op].count());
        Self {
            name: name.into(),
            critical_warning: warnings(available_spare, is_read_only),
            available_spare,
            available_spare_threshold: SPARE_THRESHOLD,
            percentage_used: used(cycles(ssd), ssd.plan.device.part.endurance_cycles),
            data_units_read: units(served.bytes[0]),
            data_units_written: units(flash.host_written_bytes),
            physical_media_written_bytes: flash.programmed_bytes(),
            host_read_commands: commands[0],
            host_write_commands: commands[1],
            controller_busy_time_min: ssd.record.busy().as_secs() as u64 / 60,
            unsafe_shutdowns: ssd.record.power.cuts,
            media_errors: media_errors(device),
        }
    }
}

/// Returns `part` as a whole percentage of `all`, rounded down; `None` if `all` is 0.
fn percent(part: u32, all: u32) -> Option<u8> {
    (u64::from(part) * 100)
        .checked_div(all.into())
        .map(|percent| percent as u8)
}

fn warnings(available_spare: Option<u8>, is_read_only: bool) -> u8 {
    let is_low = available_spare.is_some_and(|spare| spare < SPARE_THRESHOLD);
    u8::from(is_low) | u8::from(is_read_only) << 3
}

/// Returns the mean P/E cycles of the blocks in use.
fn cycles(ssd: &SsdOutcome<'_>) -> f64 {
    let part = &ssd.plan.device.part;
    let spare = ssd.plan.device.ftl.config.spare_blocks;
    let in_use = part.layout.blocks_per_plane - spare;
    let mut borne = (0_u32..).map(Block).zip(&ssd.device.erases);
    let (blocks, erases) = borne
        .by_ref()
        .filter(|(block, _)| part.layout.block_in_plane(*block) < in_use)
        .fold((0_u64, 0_u64), |(blocks, sum), (_, erases)| {
            (blocks + 1, sum + u64::from(*erases))
        });
    let before = part.failing.as_ref().map(|failing| failing.cycles);
    let before = before.or_else(|| part.reader.as_ref().map(|reader| reader.cycles));
    before.unwrap_or_default() + erases as f64 / blocks.max(1) as f64
}

fn used(cycles: f64, endurance_cycles: u32) -> u8 {
    let percent = 100.0 * cycles / f64::from(endurance_cycles.max(1));
    if percent >= 255.0 { 255 } else { percent as u8 }
}

fn media_errors(device: &Device) -> u64 {
    device.read_errors.map_or(0, |counts| counts.host_failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The device warns below the threshold, not at it. Percentages up to 254 are reported
    /// unchanged.
    #[test]
    fn smart_values_follow_the_definitions_of_the_log_page() {
        assert_eq!(percent(1, 10), Some(10));
        assert_eq!(percent(1, 11), Some(9));
        assert_eq!(percent(0, 0), None);
        assert_eq!(warnings(None, false), 0);
        assert_eq!(warnings(Some(10), false), 0);
        assert_eq!(warnings(Some(9), false), 1);
        assert_eq!(warnings(Some(100), true), 8);
        assert_eq!(warnings(Some(0), true), 9);
        for (cycles, percent) in [
            (0.0, 0),
            (29.9, 0),
            (30.0, 1),
            (3_000.0, 100),
            (7_649.0, 254),
            (7_650.0, 255),
            (1e9, 255),
        ] {
            assert_eq!(used(cycles, 3_000), percent, "{cycles}");
        }
    }
}
