//! Values over simulated time.

use crate::grid::{Cursor, Grid};
use serde::{Deserialize, Serialize};
use wordline_histogram::Merge;
use wordline_kernel::Time;

/// One value per interval of simulated time, in bounded memory (see [`Grid`]).
///
/// An interval includes its start and excludes its end, except that the last one of a closed series
/// includes the end of the simulation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Intervals<T> {
    cursor: Cursor,
    /// Value of the cursor's interval. Its element of `cells` holds a default value until the
    /// cursor leaves the interval.
    here: T,
    cells: Vec<T>,
}

/// Interval of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval<T> {
    /// Start of the interval.
    pub from: Time,
    /// End of the interval.
    pub until: Time,
    /// Value of the interval.
    pub value: T,
}

impl<T: Merge + Default> Intervals<T> {
    /// Creates an empty series over `grid`.
    pub fn new(grid: Grid) -> Self {
        Self {
            cursor: Cursor::new(grid),
            here: T::default(),
            cells: vec![T::default()],
        }
    }

    /// Creates an empty series of intervals of the same width that starts at `start`.
    #[must_use]
    pub fn starting(&self, start: Time) -> Self {
        Self::new(self.grid().starting(start))
    }

    /// Returns the value of the interval that contains `now`. Costs one comparison while `now`
    /// stays in the interval of the previous call; times can be in any order.
    #[inline]
    pub fn at(&mut self, now: Time) -> &mut T {
        if !self.cursor.holds(now) {
            self.seek(now);
        }
        &mut self.here
    }

    /// Distributes `from..until` over the intervals that it covers: calls `add` with the value of
    /// each and the part of the span in it. The parts add up to the span. An empty span adds
    /// nothing.
    #[inline]
    pub fn span(&mut self, from: Time, until: Time, mut add: impl FnMut(&mut T, Time)) {
        if from >= until {
            return;
        }
        if self.cursor.holds_span(from, until) {
            add(&mut self.here, until - from);
            return;
        }
        self.spread(from, until, add);
    }

    /// Ends the series at `end`, which must not be earlier than any time observed. Every interval
    /// up to `end` then exists, and the last one is shortened to end there.
    pub fn close(&mut self, end: Time) {
        self.swap();
        self.reach(end);
        if self.cursor.close(end, self.cells.len())
            && let (Some(instant), Some(last)) = (self.cells.pop(), self.cells.last_mut())
        {
            last.merge(&instant);
        }
        self.swap();
    }

    /// Doubles the width until it is at least `width`, to give several series the same rows.
    pub fn widen(&mut self, width: Time) {
        self.swap();
        for _ in 0..self.cursor.widen(width) {
            self.halve();
        }
        self.swap();
    }

    /// Returns a series of one interval with the sum of all intervals.
    #[must_use]
    pub fn summed(&self) -> Self {
        let mut summed = Self::new(self.grid());
        summed.cursor.widen(self.grid().span());
        for interval in self.iter() {
            summed.here.merge(interval.value);
        }
        summed
    }

    /// Returns the current grid.
    pub const fn grid(&self) -> Grid {
        self.cursor.grid
    }

    /// Iterates over the intervals from the start to the last one touched, in order of time.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Interval<&T>> {
        self.cells.iter().enumerate().map(|(index, value)| {
            let (from, until) = self.cursor.bounds(index);
            let value = if index == self.cursor.index {
                &self.here
            } else {
                value
            };
            Interval { from, until, value }
        })
    }

    #[cold]
    #[inline(never)]
    fn seek(&mut self, now: Time) {
        self.swap();
        self.reach(now);
        self.cursor.seek(self.cursor.grid.index(now));
        self.swap();
    }

    #[cold]
    #[inline(never)]
    fn spread(&mut self, from: Time, until: Time, mut add: impl FnMut(&mut T, Time)) {
        self.swap();
        let last = Time(until.ps() - 1);
        self.reach(last);
        for (index, part) in self.cursor.grid.parts(from, until) {
            add(&mut self.cells[index], part);
        }
        self.cursor.seek(self.cursor.grid.index(last));
        self.swap();
    }

    /// Moves the value of the cursor's interval into `cells`, or back.
    fn swap(&mut self) {
        std::mem::swap(&mut self.here, &mut self.cells[self.cursor.index]);
    }

    fn reach(&mut self, at: Time) {
        for _ in 0..self.cursor.reach(at) {
            self.halve();
        }
        let len = self.cursor.grid.index(at) + 1;
        if len > self.cells.len() {
            self.cells.resize_with(len, T::default);
        }
    }

    fn halve(&mut self) {
        let pairs = self.cells.len().div_ceil(2);
        for pair in 0..pairs {
            let mut merged = std::mem::take(&mut self.cells[2 * pair]);
            if let Some(later) = self.cells.get(2 * pair + 1) {
                merged.merge(later);
            }
            self.cells[pair] = merged;
        }
        self.cells.truncate(pairs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn small() -> Grid {
        Grid::growing(Time(10), 8)
    }

    /// Computes the expected content of `series` from all instants and the final grid at once.
    fn rebinned(instants: &[u64], series: &Intervals<u64>) -> Vec<u64> {
        let within = |i: &Interval<&u64>, t: u64| i.from.ps() <= t && t < i.until.ps();
        series
            .iter()
            .map(|i| instants.iter().filter(|&&t| within(&i, t)).count() as u64)
            .collect()
    }

    proptest! {
        #[test]
        fn merging_equals_binning_with_the_final_width(
            instants in prop::collection::vec(0_u64..100_000, 1..200),
            ordered: bool,
        ) {
            let mut instants = instants;
            if ordered {
                instants.sort_unstable();
            }
            let mut series = Intervals::<u64>::new(small());
            for &t in &instants {
                *series.at(Time(t)) += 1;
            }
            let values: Vec<u64> = series.iter().map(|i| *i.value).collect();
            prop_assert_eq!(&values, &rebinned(&instants, &series));
            prop_assert_eq!(values.iter().sum::<u64>(), instants.len() as u64);
            prop_assert!(values.len() <= 8);
            let summed: Vec<u64> = series.summed().iter().map(|i| *i.value).collect();
            prop_assert_eq!(summed, [instants.len() as u64]);
        }

        #[test]
        fn parts_add_up_to_the_span_and_fit_their_interval(
            spans in prop::collection::vec((0_u64..5_000, 0_u64..400), 1..100),
        ) {
            let mut series = Intervals::<u64>::new(small());
            for &(from, length) in &spans {
                let mut parts = 0;
                series.span(Time(from), Time(from + length), |sum, part| {
                    *sum += part.ps();
                    parts += part.ps();
                });
                prop_assert_eq!(parts, length);
            }
            for i in series.iter() {
                let overlap = |&(from, length): &(u64, u64)| {
                    (from + length).min(i.until.ps()).saturating_sub(from.max(i.from.ps()))
                };
                prop_assert_eq!(*i.value, spans.iter().map(overlap).sum::<u64>());
            }
        }

        #[test]
        fn intervals_are_in_order_without_gaps_up_to_the_end(
            start in 0_u64..1_000,
            spread in 0_u64..10_000,
        ) {
            let mut series = Intervals::<u64>::new(small().starting(Time(start)));
            let end = Time(start + spread);
            *series.at(end) += 1;
            series.close(end);
            let intervals: Vec<_> = series.iter().collect();
            prop_assert_eq!(intervals[0].from, Time(start));
            prop_assert!(intervals.windows(2).all(|w| w[0].until == w[1].from));
            prop_assert!(intervals.iter().all(|i| i.from < i.until));
            prop_assert_eq!(intervals.iter().map(|i| *i.value).sum::<u64>(), 1);
            if spread > 0 {
                prop_assert_eq!(intervals.last().unwrap().until, end);
            }
        }
    }

    #[test]
    fn configured_interval_width_is_kept() {
        let mut series = Intervals::<u64>::new(Grid::fixed(Time::from_ms(1)));
        *series.at(Time::from_ms(5_000)) += 1;
        assert_eq!(series.grid().width(), Time::from_ms(1));
        assert_eq!(series.iter().len(), 5_001);
    }

    #[test]
    fn configured_interval_width_doubles_if_the_simulation_is_too_long() {
        let mut series = Intervals::<u64>::new(Grid::fixed(Time(1)));
        *series.at(Time(0)) += 1;
        *series.at(Time(Grid::FIXED_LIMIT as u64)) += 1;
        assert_eq!(series.grid().width(), Time(2));
        assert_eq!(series.iter().map(|i| *i.value).sum::<u64>(), 2);
    }

    #[test]
    fn series_extends_to_the_end_of_the_clock() {
        let mut series = Intervals::<u64>::new(Grid::default());
        *series.at(Time::ZERO) += 1;
        *series.at(Time::MAX) += 1;
        series.span(Time::ZERO, Time::MAX, |sum, _| *sum += 0);
        assert_eq!(series.iter().map(|i| *i.value).sum::<u64>(), 2);
        assert!(series.iter().len() <= 512);
    }

    #[test]
    fn times_before_the_start_count_in_the_first_interval() {
        let mut series = Intervals::<u64>::new(small().starting(Time(100)));
        *series.at(Time(3)) += 1;
        series.span(Time(95), Time(115), |sum, part| *sum += part.ps());
        let values: Vec<u64> = series.iter().map(|i| *i.value).collect();
        assert_eq!(values, [1 + 15, 5]);
    }

    #[test]
    fn widened_series_have_the_same_rows() {
        let (mut long, mut short) = (
            Intervals::<u64>::new(small()),
            Intervals::<u64>::new(small()),
        );
        *long.at(Time(500)) += 1;
        *short.at(Time(20)) += 1;
        short.widen(long.grid().width());
        long.close(Time(501));
        short.close(Time(501));
        let bounds = |s: &Intervals<u64>| s.iter().map(|i| (i.from, i.until)).collect::<Vec<_>>();
        assert_eq!(bounds(&long), bounds(&short));
    }
}
