//! How busy parallel lanes are over simulated time.

use crate::grid::{Cursor, Grid};
use wordline_kernel::Time;

/// Busy time of each lane in each interval: a heat map in bounded memory, at most
/// [`Grid::MOST_CELLS`] values (or two per lane, if there are more lanes than that).
#[derive(Clone, Debug)]
pub struct Busy {
    cursor: Cursor,
    lanes: usize,
    /// Where the row of the cursor's interval begins.
    row: usize,
    /// Picoseconds, one row of `lanes` per interval.
    cells: Vec<u64>,
}

/// One interval of a heat map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Its start.
    pub from: Time,
    /// Its end.
    pub until: Time,
    /// Busy picoseconds of each lane.
    pub busy: &'a [u64],
}

impl Row<'_> {
    /// Busy time over time for each lane, 0 to 1 for lanes that do one thing at a time.
    pub fn utilisation(&self) -> impl ExactSizeIterator<Item = f64> {
        let width = self.until.since(self.from).ps().max(1) as f64;
        self.busy.iter().map(move |&ps| ps as f64 / width)
    }
}

impl Busy {
    /// An idle heat map of `lanes` lanes over `grid`, with fewer intervals if there are many lanes
    /// (see [`Grid::for_lanes`]).
    pub fn new(grid: Grid, lanes: usize) -> Self {
        Self {
            cursor: Cursor::new(grid.for_lanes(lanes)),
            lanes,
            row: 0,
            cells: vec![0; lanes],
        }
    }

    /// `lane` (below the number of lanes) was busy from `from` until `until`.
    #[inline]
    pub fn add(&mut self, lane: usize, from: Time, until: Time) {
        debug_assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        if from >= until {
            return;
        }
        if self.cursor.holds_span(from, until) {
            self.cells[self.row + lane] += until.ps() - from.ps();
            return;
        }
        self.spread(lane, from, until);
    }

    /// Ends the map at `end`, no earlier than any time observed: every interval up to it exists
    /// and the last one stops there.
    pub fn close(&mut self, end: Time) {
        self.reach(end);
        if self.cursor.close(end, self.rows()) {
            let last = self.cells.len() - self.lanes;
            let (before, instant) = self.cells.split_at_mut(last);
            add_rows(&mut before[last - self.lanes..], instant);
            self.cells.truncate(last);
        }
        self.turn();
    }

    /// Doubles the width until it is at least `width`, to give several series the same rows.
    pub fn widen(&mut self, width: Time) {
        for _ in 0..self.cursor.widen(width) {
            self.halve();
        }
        self.turn();
    }

    /// The grid as it is now.
    pub const fn grid(&self) -> Grid {
        self.cursor.grid
    }
    /// How many lanes.
    pub const fn lanes(&self) -> usize {
        self.lanes
    }

    /// The intervals from the start to the last one touched, in order of time.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.rows()).map(|index| {
            let (from, until) = self.cursor.bounds(index);
            Row {
                from,
                until,
                busy: self.row(index),
            }
        })
    }

    /// Busy time over time of one lane in one interval; 0 for an interval never reached.
    pub fn utilisation(&self, interval: usize, lane: usize) -> f64 {
        self.iter()
            .nth(interval)
            .and_then(|row| row.utilisation().nth(lane))
            .unwrap_or(0.0)
    }

    /// Busy time of each lane over all intervals.
    pub fn totals(&self) -> Vec<Time> {
        let mut totals = vec![0; self.lanes];
        (0..self.rows()).for_each(|index| add_rows(&mut totals, self.row(index)));
        totals.into_iter().map(Time).collect()
    }

    fn rows(&self) -> usize {
        self.cells.len().checked_div(self.lanes).unwrap_or(0)
    }

    fn row(&self, index: usize) -> &[u64] {
        &self.cells[index * self.lanes..(index + 1) * self.lanes]
    }

    #[cold]
    #[inline(never)]
    fn spread(&mut self, lane: usize, from: Time, until: Time) {
        let last = Time(until.ps() - 1);
        self.reach(last);
        for (index, part) in self.cursor.grid.parts(from, until) {
            self.cells[index * self.lanes + lane] += part.ps();
        }
        self.cursor.seek(self.cursor.grid.index(last));
        self.turn();
    }

    /// Turns to the row of the cursor's interval.
    fn turn(&mut self) {
        self.row = self.cursor.index * self.lanes;
    }

    fn reach(&mut self, at: Time) {
        for _ in 0..self.cursor.reach(at) {
            self.halve();
        }
        let len = (self.cursor.grid.index(at) + 1) * self.lanes;
        if len > self.cells.len() {
            self.cells.resize(len, 0);
        }
    }

    fn halve(&mut self) {
        let (rows, lanes) = (self.rows(), self.lanes);
        for row in 1..rows {
            let (merged, rest) = self.cells.split_at_mut(row * lanes);
            let (row_start, later) = (row / 2 * lanes, &rest[..lanes]);
            let target = &mut merged[row_start..row_start + lanes];
            if row % 2 == 0 {
                target.copy_from_slice(later);
            } else {
                add_rows(target, later);
            }
        }
        self.cells.truncate(rows.div_ceil(2) * lanes);
    }
}

fn add_rows(sum: &mut [u64], row: &[u64]) {
    for (sum, part) in sum.iter_mut().zip(row) {
        *sum += part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_lane_keeps_its_busy_time_where_it_was(
            spans in prop::collection::vec((0_usize..3, 0_u64..9_000, 0_u64..300), 1..100),
            limit in 2_usize..40,
        ) {
            let mut busy = Busy::new(Grid::growing(Time(7), limit), 3);
            for &(lane, from, length) in &spans {
                busy.add(lane, Time(from), Time(from + length));
            }
            busy.close(Time(9_300));
            for row in busy.iter() {
                for lane in 0..3 {
                    let overlap = |&(_, from, length): &(usize, u64, u64)| {
                        (from + length).min(row.until.ps()).saturating_sub(from.max(row.from.ps()))
                    };
                    let expected: u64 = spans.iter().filter(|s| s.0 == lane).map(overlap).sum();
                    prop_assert_eq!(row.busy[lane], expected);
                }
            }
            let total: Time = busy.totals().into_iter().sum();
            prop_assert_eq!(total.ps(), spans.iter().map(|s| s.2).sum::<u64>());
            prop_assert!(busy.rows() <= limit);
        }
    }

    #[test]
    fn utilisation_is_busy_over_time_and_the_last_interval_ends_with_the_simulation() {
        let mut busy = Busy::new(Grid::growing(Time(100), 8), 2);
        busy.add(0, Time(0), Time(150));
        busy.add(1, Time(50), Time(75));
        busy.close(Time(160));
        let rows: Vec<Vec<f64>> = busy.iter().map(|row| row.utilisation().collect()).collect();
        assert_eq!(rows, [[1.0, 0.25], [50.0 / 60.0, 0.0]]);
        assert_eq!(busy.utilisation(1, 0), 50.0 / 60.0);
        assert_eq!(busy.utilisation(9, 0), 0.0);
    }

    #[test]
    fn many_lanes_have_few_intervals() {
        let mut busy = Busy::new(Grid::default(), 1 << 20);
        busy.add(7, Time::ZERO, Time::from_ms(1));
        busy.close(Time::from_ms(1));
        assert!(busy.cells.len() <= Grid::MOST_CELLS);
        assert_eq!(busy.totals()[7], Time::from_ms(1));
    }

    #[test]
    fn no_lanes_is_an_empty_map() {
        let mut busy = Busy::new(Grid::default(), 0);
        busy.close(Time::from_ms(1));
        assert_eq!(busy.iter().count(), 0);
    }
}
