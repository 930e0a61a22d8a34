//! TRIM that frees whole mapping units along one ascending run.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Free;

/// Only mapping units that an ascending run of TRIMs covers are freed. The firmware tracks one run.
/// A TRIM whose range starts where the previous one ended continues the run; any other TRIM starts
/// a new run and discards the old one. A mapping unit is freed as soon as it is entirely within the
/// run; the last unit of the device may be shorter than the others. All other pages stay valid and
/// readable. A write to a part of the run that has not been freed ends the run, and so does a power
/// cut.
///
/// TRIMs in ascending order free everything except incomplete units at the ends. TRIMs in random
/// order that are smaller than a unit free almost nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AscendingRun {
    /// Size of a mapping unit. Units are aligned to multiples of their size. Pages.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub unit_pages: u32,
}

impl Default for AscendingRun {
    fn default() -> Self {
        Self { unit_pages: 64 }
    }
}

impl Cited for AscendingRun {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 5.6.1 (the finding; the mechanism is ours)";
}

impl Free for AscendingRun {
    fn run(&self, page_bytes: u64, user_bytes: u64) -> Option<Run> {
        Some(Run {
            unit: page_bytes * u64::from(self.unit_pages.max(1)),
            user_bytes,
            start: 0,
            end: 0,
            freed: 0,
        })
    }
}

/// Run of consecutive TRIMs. All positions are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    unit: u64,
    user_bytes: u64,
    /// Range of the run; empty if there is no run.
    start: u64,
    end: u64,
    /// Start of the first unit that has not been freed.
    freed: u64,
}

impl Run {
    /// Adds a TRIM. Returns the byte range of the units to free now, which may be empty.
    pub fn trim(&mut self, bytes: Range<u64>) -> Range<u64> {
        if self.start == self.end || bytes.start != self.end {
            self.start = bytes.start;
            self.freed = bytes.start.next_multiple_of(self.unit);
        }
        self.end = bytes.end;
        let whole = if self.end == self.user_bytes {
            self.end
        } else {
            self.end / self.unit * self.unit
        };
        let from = self.freed.min(whole);
        self.freed = self.freed.max(whole);
        from..whole
    }
    /// Handles a write. The run ends if the write overlaps a part of it that has not been freed.
    pub fn write(&mut self, bytes: Range<u64>) {
        let head = self.start..self.start.next_multiple_of(self.unit).min(self.end);
        let tail = self.freed.min(self.end)..self.end;
        let hit = |part: Range<u64>| bytes.start < part.end && part.start < bytes.end;
        if hit(head) || hit(tail) {
            self.start = self.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference implementation: computes freed units from every sector of the history. The run is
    /// the longest chain of TRIMs that ends with the last one, where each starts at the end of the
    /// previous one and no write has hit a sector that was not freed.
    #[derive(Default)]
    struct Naive {
        /// Sectors of the run, and whether each has been freed.
        run: Vec<(u64, bool)>,
    }

    impl Naive {
        fn trim(&mut self, sectors: Range<u64>, unit: u64, all: u64) -> Vec<u64> {
            if self.run.last().map(|(sector, _)| sector + 1) != Some(sectors.start) {
                self.run.clear();
            }
            self.run.extend(sectors.map(|sector| (sector, false)));
            let mut freed = Vec::new();
            for first in (0..all).step_by(unit as usize) {
                let of_unit = first..all.min(first + unit);
                let here = self
                    .run
                    .iter()
                    .filter(|(sector, freed)| of_unit.contains(sector) && !freed)
                    .count();
                if here as u64 == of_unit.end - of_unit.start {
                    for (sector, is_freed) in &mut self.run {
                        if of_unit.contains(sector) {
                            *is_freed = true;
                            freed.push(*sector);
                        }
                    }
                }
            }
            freed
        }
        fn write(&mut self, sectors: &Range<u64>) {
            let hit = |(sector, freed): &(u64, bool)| sectors.contains(sector) && !freed;
            if self.run.iter().any(hit) {
                self.run.clear();
            }
        }
    }

    #[test]
    fn freed_units_equal_those_computed_from_the_full_history() {
        let mut random = wordline_kernel::Rng::new(1, "runs");
        let mut freed_in_all = 0;
        for _ in 0..300 {
            let unit = 1 + random.below(9);
            let all = unit * (1 + random.below(12)) + random.below(unit);
            let policy = AscendingRun {
                unit_pages: unit as u32,
            };
            let mut run = policy.run(1, all).unwrap_or_else(|| unreachable!());
            let mut naive = Naive::default();
            let mut next = 0;
            for _ in 0..60 {
                if next == all || random.below(8) == 0 {
                    next = random.below(all);
                }
                let end = (next + 1 + random.below(2 * unit)).min(all);
                if random.below(6) == 0 {
                    run.write(next..end);
                    naive.write(&(next..end));
                    continue;
                }
                let freed: Vec<u64> = run.trim(next..end).collect();
                assert_eq!(
                    freed,
                    naive.trim(next..end, unit, all),
                    "{next}..{end} of {all}"
                );
                freed_in_all += freed.len();
                next = end;
            }
        }
        assert!(freed_in_all > 1000, "{freed_in_all}");
    }

    /// TRIMs of half a unit over a whole device. In ascending order they free all of it. In an
    /// order in which no half follows its neighbour they free nothing.
    #[test]
    fn half_unit_trims_free_units_only_in_ascending_order() {
        let policy = AscendingRun { unit_pages: 2 };
        let freed = |order: &[u64]| {
            let mut run = policy.run(512, 16 * 512).unwrap_or_else(|| unreachable!());
            let ranges = order.iter().map(|half| half * 512..(half + 1) * 512);
            let freed = ranges
                .map(|range| run.trim(range))
                .map(|range| range.end - range.start);
            freed.sum::<u64>()
        };
        let ascending: Vec<u64> = (0..16).collect();
        let descending: Vec<u64> = (0..16).rev().collect();
        let even_then_odd: Vec<u64> = (0..16).step_by(2).chain((1..16).step_by(2)).collect();
        assert_eq!(freed(&ascending), 16 * 512);
        assert_eq!((freed(&descending), freed(&even_then_odd)), (0, 0));
    }
}
