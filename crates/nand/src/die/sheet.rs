//! Properties of a part in the units of the die model.

use wordline_kernel::Time;

use super::address::{Addressing, Row};
use crate::registers::Busy;
use crate::target::{DataSheet, DataSheetError};
use crate::{Block, Die, Latencies, Layout, Plane, PlaneRule, Ppn, Timing};

/// Upper limit of every duration of a part: 17.6 s.
const LONGEST: Time = Time::from_ps(1 << 44);
/// Upper limit of suspensions per operation, whatever the part specifies.
const MAX_SUSPENDS: u32 = 1 << 16;

/// Maximum duration of a reset, by the operation that it aborts (ONFI tRST: 5, 10, 500 us).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResetTimes {
    pub idle: Time,
    pub program: Time,
    pub erase: Time,
}

pub(super) const RESET: ResetTimes = ResetTimes {
    idle: Time::from_us(5),
    program: Time::from_us(10),
    erase: Time::from_us(500),
};

/// Suspension of one operation type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Suspension {
    pub able: bool,
    pub latency: Time,
}

/// Properties of a part, converted from its data sheet for the die model.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub layout: Layout,
    pub addressing: Addressing,
    /// Bytes of a page and its spare area.
    pub register: u64,
    pub cycle: Time,
    pub latencies: Latencies,
    pub busy: Busy,
    pub plane_rule: PlaneRule,
    pub(super) program_suspend: Suspension,
    pub(super) erase_suspend: Suspension,
    pub resume: Time,
    pub most: u32,
}

impl Sheet {
    pub fn new(part: &DataSheet) -> Result<Self, DataSheetError> {
        check(part)?;
        let (timing, suspend) = (&part.timing, &part.suspend);
        let layout = Layout::new(&part.geometry, 1).ok_or(DataSheetError::TooManyPages)?;
        let suspension = |able, ns| Suspension {
            able,
            latency: Time::from_ns(ns),
        };
        Ok(Self {
            layout,
            addressing: addressing(part)?,
            register: register(part),
            cycle: Time::from_ns(timing.command_cycle_ns),
            latencies: Latencies::new(&part.geometry, timing, &part.cell),
            busy: Busy {
                cache: Time::from_ns(timing.cache_busy_ns),
                plane: Time::from_ns(timing.plane_busy_ns),
            },
            plane_rule: part.plane_rule,
            program_suspend: suspension(suspend.program, suspend.program_suspend_ns),
            erase_suspend: suspension(suspend.erase, suspend.erase_suspend_ns),
            resume: Time::from_ns(suspend.resume_ns),
            most: suspend.most.min(MAX_SUSPENDS),
        })
    }
    /// Returns the block of a row.
    pub fn block(&self, die: Die, row: Row) -> Block {
        let plane = Plane(die.0 * self.layout.planes_per_die + row.plane);
        self.layout.block(plane, row.block)
    }
    /// Returns the page of a row.
    pub fn page(&self, die: Die, row: Row) -> Ppn {
        self.layout.page(self.block(die, row), row.page)
    }
}

fn register(part: &DataSheet) -> u64 {
    u64::from(part.geometry.page_bytes) + u64::from(part.geometry.spare_bytes)
}

fn addressing(part: &DataSheet) -> Result<Addressing, DataSheetError> {
    let addressing = Addressing::new(&part.geometry, &part.timing);
    let (cycles, bits) = (addressing.row_cycles, addressing.row_bits());
    if cycles > 0 && cycles * 8 >= bits {
        return Ok(addressing);
    }
    Err(DataSheetError::ShortRow { cycles, bits })
}

fn check(part: &DataSheet) -> Result<(), DataSheetError> {
    let (geometry, timing, suspend) = (&part.geometry, &part.timing, &part.suspend);
    let counts = [
        ("dies_per_package", geometry.dies_per_package),
        ("planes_per_die", geometry.planes_per_die),
        ("blocks_per_plane", geometry.blocks_per_plane),
        ("pages_per_block", geometry.pages_per_block),
        ("bus_width_bits", timing.bus_width_bits),
    ];
    if let Some((key, _)) = counts.into_iter().find(|&(_, count)| count == 0) {
        return Err(DataSheetError::Zero { key });
    }
    if geometry.pages_per_block > u32::from(u16::MAX) {
        return Err(DataSheetError::LongBlock);
    }
    let cycles = timing.address_cycles.max(timing.row_address_cycles);
    if cycles > 16 {
        return Err(DataSheetError::LongAddress { cycles });
    }
    numbers(timing)?;
    let singles = [
        ("erase_ns", timing.erase_ns),
        ("typical_read_ns", timing.typical_read_ns),
        ("typical_program_ns", timing.typical_program_ns),
        ("cache_busy_ns", timing.cache_busy_ns),
        ("plane_busy_ns", timing.plane_busy_ns),
        ("command_cycle_ns", timing.command_cycle_ns),
        ("program_suspend_ns", suspend.program_suspend_ns),
        ("erase_suspend_ns", suspend.erase_suspend_ns),
        ("resume_ns", suspend.resume_ns),
    ];
    let each = |key, times: &crate::PerLevel| times.values().iter().map(|&ns| (key, ns)).collect();
    let reads: Vec<_> = each("read_ns", &timing.read_ns);
    let programs: Vec<_> = each("program_ns", &timing.program_ns);
    for (key, ns) in singles.into_iter().chain(reads).chain(programs) {
        if Time::try_from_ns(ns).is_none_or(|time| time > LONGEST) {
            return Err(DataSheetError::Long { key });
        }
    }
    if timing.transfer(register(part)) > LONGEST {
        return Err(DataSheetError::Long {
            key: "bus_mt_per_s",
        });
    }
    Ok(())
}

fn numbers(timing: &Timing) -> Result<(), DataSheetError> {
    let refused = |key, range| Err(DataSheetError::Number { key, range });
    if !(timing.bus_mt_per_s.is_finite() && timing.bus_mt_per_s > 0.0) {
        return refused("bus_mt_per_s", "a finite number above 0");
    }
    if !(0.0..=0.9).contains(&timing.jitter_ratio) {
        return refused("jitter_ratio", "a number from 0 to 0.9");
    }
    Ok(())
}
