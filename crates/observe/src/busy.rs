//! Utilisation of parallel lanes over simulated time.

use crate::grid::{Cursor, Grid};
use serde::{Deserialize, Serialize};
use wordline_kernel::{BusyTime, Time};

/// Busy time of each lane in each interval: a heat map in bounded memory, with at most
/// [`Grid::MAX_CELLS`] values, or two per lane if that is more.
///
/// Lanes keep their busy time themselves; it is read at the end of each interval ([`Busy::pass`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Busy {
    /// Current interval, the last one of the cells.
    cursor: Cursor,
    lanes: usize,
    /// Busy picoseconds, with `lanes` values per interval.
    cells: Vec<u64>,
    /// Busy picoseconds of each lane at the last read.
    read: Vec<u64>,
}

/// Interval of a heat map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Start of the interval.
    pub from: Time,
    /// End of the interval.
    pub until: Time,
    /// Busy picoseconds of each lane.
    pub busy: &'a [u64],
}

impl Row<'_> {
    /// Returns the utilisation of each lane, 0 to 1 for lanes that do one thing at a time.
    pub fn utilisation(&self) -> impl ExactSizeIterator<Item = f64> {
        let width = self.until.since(self.from).ps().max(1) as f64;
        self.busy.iter().map(move |&ps| ps as f64 / width)
    }
}

impl Busy {
    /// Creates an idle heat map of `lanes` lanes over `grid`, with fewer intervals if there are
    /// many lanes (see [`Grid::for_lanes`]).
    pub fn new(grid: Grid, lanes: usize) -> Self {
        Self {
            cursor: Cursor::new(grid.for_lanes(lanes)),
            lanes,
            cells: vec![0; lanes],
            read: vec![0; lanes],
        }
    }

    /// Creates a map of the same lanes that starts at `start`. The busy times before that, read
    /// from `lanes`, are not counted.
    #[must_use]
    pub fn starting(&self, start: Time, lanes: &[BusyTime]) -> Self {
        debug_assert_eq!(lanes.len(), self.lanes, "every lane is read");
        let mut started = Self::new(self.grid().starting(start), self.lanes);
        started.read = lanes.iter().map(|lane| lane.until(start).ps()).collect();
        started
    }

    /// Returns the end of the current interval.
    #[inline]
    pub const fn until(&self) -> Time {
        self.cursor.until()
    }

    /// Advances simulated time to `until`, and records the busy times of `lanes` in each interval
    /// that ends before `until`. `lanes` has an entry for each lane of the map. No lane may start
    /// or stop between the end of the first of these intervals and `until`.
    pub fn pass(&mut self, until: Time, lanes: &[BusyTime]) {
        for _ in 0..self.cursor.reach(until) {
            self.halve();
        }
        while self.until() < until {
            self.read(self.until(), lanes);
            self.cursor.seek(self.cursor.index + 1);
            self.cells.resize(self.cells.len() + self.lanes, 0);
        }
    }

    /// Reads the busy times of the lanes until `now`, at which all operations in progress are
    /// aborted and do not count. From then on, the busy times of the lanes start at zero.
    pub fn break_off(&mut self, now: Time, lanes: &[BusyTime]) {
        self.pass(now, lanes);
        self.read(now, lanes);
        for (lane, busy) in lanes.iter().enumerate() {
            let since = busy.since().max(self.grid().start());
            for (index, part) in self.cursor.grid.parts(since, now) {
                self.cells[index * self.lanes + lane] -= part.ps();
            }
        }
        self.read.fill(0);
    }

    /// Ends the map at `end`, which must not be earlier than any time observed. Every interval up
    /// to `end` then exists, and the last one is shortened to end there.
    pub fn close(&mut self, end: Time) {
        self.reach(end);
        if self.cursor.close(end, self.rows()) {
            let last = self.cells.len() - self.lanes;
            let (before, instant) = self.cells.split_at_mut(last);
            add_rows(&mut before[last - self.lanes..], instant);
            self.cells.truncate(last);
        }
    }

    /// Doubles the width until it is at least `width`, to give several series the same rows.
    pub fn widen(&mut self, width: Time) {
        for _ in 0..self.cursor.widen(width) {
            self.halve();
        }
    }

    /// Returns a map of one interval with the sums of all intervals.
    #[must_use]
    pub fn summed(&self) -> Self {
        let mut cursor = Cursor::new(self.grid());
        cursor.widen(self.grid().span());
        Self {
            cursor,
            lanes: self.lanes,
            cells: self.totals().into_iter().map(Time::ps).collect(),
            read: self.read.clone(),
        }
    }

    /// Returns the current grid.
    pub const fn grid(&self) -> Grid {
        self.cursor.grid
    }
    /// Returns the number of lanes.
    pub const fn lanes(&self) -> usize {
        self.lanes
    }

    /// Iterates over the intervals from the start to the last one touched, in order of time.
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

    /// Returns the utilisation of a lane in an interval; 0 for an interval that was not reached.
    pub fn utilisation(&self, interval: usize, lane: usize) -> f64 {
        self.iter()
            .nth(interval)
            .and_then(|row| row.utilisation().nth(lane))
            .unwrap_or(0.0)
    }

    /// Returns the busy time of each lane over all intervals.
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

    /// Adds the busy times of the lanes since the last read to the current interval.
    fn read(&mut self, at: Time, lanes: &[BusyTime]) {
        debug_assert_eq!(lanes.len(), self.lanes, "every lane is read");
        let row = &mut self.cells[self.cursor.index * self.lanes..];
        for ((cell, read), lane) in row.iter_mut().zip(&mut self.read).zip(lanes) {
            let busy = lane.until(at).ps();
            *cell += busy - *read;
            *read = busy;
        }
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

    /// Busy spans of each lane: start, end, and whether an abort ended the span.
    type Spans = Vec<Vec<(u64, u64, bool)>>;

    /// Generates lanes with busy spans, and the instants at which all operations are aborted.
    fn spans() -> impl Strategy<Value = (Spans, Vec<u64>)> {
        let lane = prop::collection::vec((0_u64..400, 1_u64..300), 0..30);
        let breaks = prop::collection::btree_set(0_u64..9_000, 0..4);
        (prop::collection::vec(lane, 3), breaks).prop_map(|(lanes, breaks)| {
            let breaks: Vec<u64> = breaks.into_iter().collect();
            let lanes = lanes.into_iter().map(|steps| laid_out(&steps, &breaks));
            (lanes.collect(), breaks)
        })
    }

    /// Returns the busy spans of a lane, given as pauses and lengths in turn. An abort ends the
    /// span that contains it.
    fn laid_out(steps: &[(u64, u64)], breaks: &[u64]) -> Vec<(u64, u64, bool)> {
        let mut at = 0;
        let span = |&(pause, length): &(u64, u64)| {
            let from = at + pause;
            let broken = breaks.iter().find(|&&b| from < b && b <= from + length);
            at = broken.copied().unwrap_or(from + length);
            (from, at, broken.is_some())
        };
        steps.iter().map(span).collect()
    }

    /// Returns the busy time of a lane at `at`, counted since the last abort before it.
    fn known(spans: &[(u64, u64, bool)], breaks: &[u64], at: u64) -> BusyTime {
        let begin = breaks.iter().rev().find(|&&b| b < at).copied().unwrap_or(0);
        let mut known = (Time::ZERO, None);
        for &(from, until, broken) in spans {
            if until <= begin || from >= at {
                continue;
            }
            if until >= at {
                known.1 = Some(Time(from));
            } else if !broken {
                known.0 += Time(until - from);
            }
        }
        BusyTime::new(known.0, known.1)
    }

    proptest! {
        #[test]
        fn busy_time_is_attributed_to_its_lane_and_interval(
            (lanes, breaks) in spans(),
            limit in 2_usize..40,
        ) {
            const END: u64 = 30_000;
            let mut busy = Busy::new(Grid::growing(Time(7), limit), 3);
            let mut events: Vec<u64> = lanes.iter().flatten().flat_map(|s| [s.0, s.1]).collect();
            events.extend(&breaks);
            events.sort_unstable();
            events.dedup();
            for at in events {
                let lanes: Vec<_> = lanes.iter().map(|spans| known(spans, &breaks, at)).collect();
                if busy.until() < Time(at) {
                    busy.pass(Time(at), &lanes);
                }
                if breaks.contains(&at) {
                    busy.break_off(Time(at), &lanes);
                }
            }
            let after: Vec<_> = lanes.iter().map(|spans| known(spans, &breaks, END)).collect();
            busy.break_off(Time(END), &after);
            busy.close(Time(END));
            for row in busy.iter() {
                for (lane, spans) in lanes.iter().enumerate() {
                    let whole = spans.iter().filter(|span| !span.2);
                    let overlap = |&(from, until, _): &(u64, u64, bool)| {
                        until.min(row.until.ps()).saturating_sub(from.max(row.from.ps()))
                    };
                    prop_assert_eq!(row.busy[lane], whole.map(overlap).sum::<u64>());
                }
            }
            let whole = lanes.iter().flatten().filter(|span| !span.2);
            let expected: u64 = whole.map(|span| span.1 - span.0).sum();
            prop_assert_eq!(busy.totals().into_iter().sum::<Time>(), Time(expected));
            prop_assert_eq!(busy.summed().totals(), busy.totals());
            prop_assert!(busy.rows() <= limit);
        }
    }

    fn over(times: &[u64]) -> Vec<BusyTime> {
        let over = |&time: &u64| BusyTime::new(Time(time), None);
        times.iter().map(over).collect()
    }

    #[test]
    fn utilisation_is_busy_time_over_interval_and_the_last_interval_ends_with_the_simulation() {
        let mut busy = Busy::new(Grid::growing(Time(100), 8), 2);
        let at_150 = [
            BusyTime::new(Time(0), Some(Time(0))),
            BusyTime::new(Time(25), None),
        ];
        busy.pass(Time(150), &at_150);
        busy.break_off(Time(160), &over(&[150, 25]));
        busy.close(Time(160));
        let rows: Vec<Vec<f64>> = busy.iter().map(|row| row.utilisation().collect()).collect();
        assert_eq!(rows, [[1.0, 0.25], [50.0 / 60.0, 0.0]]);
        assert_eq!(busy.utilisation(1, 0), 50.0 / 60.0);
        assert_eq!(busy.utilisation(9, 0), 0.0);
    }

    #[test]
    fn span_ending_with_an_interval_counts_the_same_whether_in_progress_or_ended() {
        let before = BusyTime::new(Time(10), Some(Time(60)));
        let after = BusyTime::new(Time(50), None);
        for lane in [before, after] {
            let mut busy = Busy::new(Grid::growing(Time(100), 8), 1);
            busy.pass(Time(101), &[lane]);
            busy.break_off(Time(120), &[after]);
            busy.close(Time(120));
            let rows: Vec<u64> = busy.iter().map(|row| row.busy[0]).collect();
            assert_eq!(rows, [50, 0]);
        }
    }

    #[test]
    fn many_lanes_get_few_intervals() {
        let mut busy = Busy::new(Grid::default(), 1 << 20);
        let mut lanes = vec![BusyTime::new(Time::ZERO, None); 1 << 20];
        lanes[7] = BusyTime::new(Time::from_ms(1), None);
        busy.break_off(Time::from_ms(1), &lanes);
        busy.close(Time::from_ms(1));
        assert!(busy.cells.len() <= Grid::MAX_CELLS);
        assert_eq!(busy.totals()[7], Time::from_ms(1));
    }

    #[test]
    fn zero_lanes_give_an_empty_map() {
        let mut busy = Busy::new(Grid::default(), 0);
        busy.pass(Time::from_us(7), &[]);
        busy.close(Time::from_ms(1));
        assert_eq!(busy.iter().count(), 0);
    }
}
