//! Grid of intervals of simulated time, whose number is bounded.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Equal intervals of simulated time. When time passes the last interval allowed, the width doubles
/// and adjacent intervals are merged, so that memory is bounded for any length of simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grid {
    start: u64,
    width: u64,
    limit: usize,
}

impl Default for Grid {
    /// Returns a grid of at most 512 intervals, initially of 1 us.
    fn default() -> Self {
        Self::growing(Time::from_us(1), 512)
    }
}

impl Grid {
    /// Maximum number of intervals of a width chosen by the user; a longer simulation doubles the
    /// width.
    pub const FIXED_LIMIT: usize = 1 << 20;
    /// Maximum number of values over all intervals and lanes together (64 MiB).
    pub const MAX_CELLS: usize = 8 << 20;

    /// Creates a grid of at most `limit` intervals (an even number, at least 2), initially of
    /// `width` (at least 1 ps).
    pub fn growing(width: Time, limit: usize) -> Self {
        Self {
            start: 0,
            width: width.ps().max(1),
            limit: even(limit),
        }
    }
    /// Creates a grid of intervals of `width`, as long as [`Grid::FIXED_LIMIT`] of them suffice.
    pub fn fixed(width: Time) -> Self {
        Self::growing(width, Self::FIXED_LIMIT)
    }
    /// Returns the same grid with its origin at `start`; earlier times belong to the first
    /// interval.
    #[must_use]
    pub const fn starting(self, start: Time) -> Self {
        Self {
            start: start.ps(),
            ..self
        }
    }
    /// Returns the same grid with fewer intervals if `lanes` values per interval would otherwise
    /// exceed [`Grid::MAX_CELLS`]. Never fewer than 2.
    #[must_use]
    pub fn for_lanes(self, lanes: usize) -> Self {
        let most = even(Self::MAX_CELLS / lanes.max(1));
        Self {
            limit: self.limit.min(most),
            ..self
        }
    }

    /// Returns the start of the first interval.
    pub const fn start(&self) -> Time {
        Time(self.start)
    }
    /// Returns the width of an interval.
    pub const fn width(&self) -> Time {
        Time(self.width)
    }
    /// Returns the width of the maximum number of intervals.
    pub(crate) const fn span(&self) -> Time {
        Time(self.width.saturating_mul(self.limit as u64))
    }
    /// Returns the maximum number of intervals.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn index(&self, at: Time) -> usize {
        let index = at.ps().saturating_sub(self.start) / self.width;
        usize::try_from(index).unwrap_or(usize::MAX)
    }
    pub(crate) const fn from(&self, index: usize) -> Time {
        Time(
            self.start
                .saturating_add((index as u64).saturating_mul(self.width)),
        )
    }
    pub(crate) const fn until(&self, index: usize) -> Time {
        self.from(index.saturating_add(1))
    }

    /// Divides `from..until` at the bounds of the intervals: yields each interval and the part of
    /// the span in it, in order. The parts add up to the span.
    pub(crate) fn parts(self, from: Time, until: Time) -> impl Iterator<Item = (usize, Time)> {
        let (mut index, mut at) = (self.index(from), from);
        std::iter::from_fn(move || {
            if at >= until {
                return None;
            }
            let edge = self.until(index).min(until);
            let part = (index, edge - at);
            index += 1;
            at = edge;
            Some(part)
        })
    }
}

fn even(limit: usize) -> usize {
    (limit & !1).max(2)
}

/// Current interval of simulated time, found by one comparison while time stays in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cursor {
    pub grid: Grid,
    pub index: usize,
    from: u64,
    /// End of the interval, or of the clock.
    until: u64,
    end: Option<Time>,
}

impl Cursor {
    pub fn new(grid: Grid) -> Self {
        Self {
            grid,
            index: 0,
            from: grid.start,
            until: grid.until(0).ps(),
            end: None,
        }
    }

    #[inline]
    pub fn holds(&self, at: Time) -> bool {
        at.ps().wrapping_sub(self.from) < self.grid.width
    }

    /// Returns `true` if the span is within the interval. The span must not end before it starts.
    #[inline]
    pub fn holds_span(&self, from: Time, until: Time) -> bool {
        from.ps() >= self.from && until.ps() <= self.until
    }

    pub const fn until(&self) -> Time {
        Time(self.until)
    }

    pub fn seek(&mut self, index: usize) {
        self.index = index;
        self.from = self.grid.from(index).ps();
        self.until = self.grid.until(index).ps();
    }

    /// Doubles the width until `at` is within the limit; returns the number of doublings.
    pub fn reach(&mut self, at: Time) -> u32 {
        let mut doublings = 0;
        while self.grid.index(at) >= self.grid.limit {
            self.grid.width *= 2;
            doublings += 1;
        }
        self.seek(self.index >> doublings);
        doublings
    }

    /// Doubles the width until it is at least `width`; returns the number of doublings.
    pub fn widen(&mut self, width: Time) -> u32 {
        let mut doublings = 0;
        while self.grid.width < width.ps() && self.grid.width <= u64::MAX / 2 {
            self.grid.width *= 2;
            doublings += 1;
        }
        self.seek(self.index.checked_shr(doublings).unwrap_or(0));
        doublings
    }

    /// Records the end of the simulation. Returns `true` if the last interval of a series of `len`
    /// intervals contains only the instant of the end, and must be merged with the previous
    /// interval.
    pub fn close(&mut self, end: Time, len: usize) -> bool {
        self.end = Some(end);
        self.seek(0);
        len > 1 && self.grid.from(len - 1) == end
    }

    /// Returns the bounds of an interval; the one that contains the end of the simulation is
    /// shortened to end there.
    pub fn bounds(&self, index: usize) -> (Time, Time) {
        let (from, until) = (self.grid.from(index), self.grid.until(index));
        match self.end {
            Some(end) if from < end => (from, until.min(end)),
            _ => (from, until),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lanes_reduce_the_number_of_intervals() {
        assert_eq!(Grid::default().for_lanes(64).limit(), 512);
        assert_eq!(Grid::default().for_lanes(1 << 15).limit(), 256);
        assert_eq!(
            Grid::fixed(Time(1)).for_lanes(64).limit(),
            Grid::MAX_CELLS / 64
        );
        assert_eq!(Grid::default().for_lanes(usize::MAX).limit(), 2);
    }

    #[test]
    fn zero_width_and_zero_limit_are_raised_to_the_minimum() {
        let grid = Grid::growing(Time::ZERO, 0);
        assert_eq!((grid.width(), grid.limit()), (Time(1), 2));
    }
}
