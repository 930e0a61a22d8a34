//! Section `regulation` of the summary: operations by program mode.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_ssd::GradeCounts;

use super::figures::ratio;
use crate::device::Device;

/// Pages by program mode (`nand.programming`).
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ByMode")]
pub struct ByMode {
    /// Pages in medium mode.
    pub medium: u64,
    /// Pages in low mode.
    pub low: u64,
    /// Pages in high mode.
    pub high: u64,
    /// Pages in reduced mode: programmed as fast as in medium mode, with less wear, and read as
    /// slowly as in low mode.
    pub reduced: u64,
}

impl ByMode {
    fn new([medium, low, high, reduced]: [u64; 4]) -> Self {
        Self {
            medium,
            low,
            high,
            reduced,
        }
    }
}

/// Operations by program mode, if pages are programmed in several modes (`nand.programming`,
/// `ftl.regulation`).
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Regulation")]
pub struct RegulationSummary {
    /// Pages read for the host, by the mode in which they had been programmed.
    pub host_reads: ByMode,
    /// Pages programmed for the host, by mode.
    pub host_writes: ByMode,
    /// Pages moved by GC, by mode.
    pub moves: ByMode,
    /// Pages programmed again to make their reads faster.
    pub rewrites: u64,
    /// Rewrites skipped, for example because the page was already in that mode, was no longer
    /// valid, or found no free page.
    pub rewrites_skipped: u64,
    /// Pages rewritten per page read or programmed for the host.
    pub rewrite_ratio: Option<f64>,
    /// Wear of all programs of the run, in units of a medium-mode program.
    pub wear: f64,
    /// Mean wear of a program, in units of a medium-mode program.
    pub wear_per_program: Option<f64>,
    /// Wear of the most worn block during the run, in medium-mode programs.
    pub wear_per_block_max: f64,
    /// Memory that the regulation needs in addition to the map: tags and histories of all pages of
    /// the host. Bits.
    pub storage_bits: u64,
}

impl RegulationSummary {
    /// Returns the section, or `None` if no device programs pages in several modes.
    pub(super) fn new(devices: &[Device]) -> Option<Self> {
        let graded = || {
            devices
                .iter()
                .filter_map(|device| Some((device, device.graded.as_ref()?)))
        };
        graded().next()?;
        let sum = |of: fn(&GradeCounts) -> [u64; 4]| {
            graded().fold([0; 4], |sum: [u64; 4], (_, device)| {
                let more = of(&device.counts);
                std::array::from_fn(|mode| sum[mode] + more[mode])
            })
        };
        let count = |of: fn(&GradeCounts) -> u64| -> u64 {
            graded().map(|(_, device)| of(&device.counts)).sum()
        };
        let (reads, writes) = (sum(|counts| counts.reads), sum(|counts| counts.writes));
        let rewrites = count(|counts| counts.rewrites);
        let wear = || graded().flat_map(|(_, device)| device.wear.iter().copied());
        let programs: u64 = graded().map(|(_, device)| device.programs).sum();
        let of_host: u64 = reads.iter().chain(&writes).sum();
        Some(Self {
            host_reads: ByMode::new(reads),
            host_writes: ByMode::new(writes),
            moves: ByMode::new(sum(|counts| counts.moves)),
            rewrites,
            rewrites_skipped: count(|counts| counts.rewrites_skipped),
            rewrite_ratio: ratio(rewrites, of_host),
            wear: wear().sum::<u64>() as f64 / 1e3,
            wear_per_program: ratio(wear().sum(), programs * 1000),
            wear_per_block_max: wear().max().unwrap_or(0) as f64 / 1e3,
            storage_bits: graded()
                .map(|(device, graded)| {
                    let storage = graded.counts.storage;
                    u64::from(storage.bits_per_page) * u64::from(device.user_pages)
                        + 8 * u64::from(storage.bytes)
                })
                .sum(),
        })
    }
}
