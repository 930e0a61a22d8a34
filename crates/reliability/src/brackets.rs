//! Random numbers of errors, without evaluating a binomial tail for each draw.
//!
//! The probability of more than `e` errors grows with the bit error rate. If a draw gives the same
//! number of errors at a lower and at a higher rate, it gives this number at each rate between
//! them. The rates of a fixed grid and their tails are kept; other draws are evaluated exactly.
//! Results therefore equal those of [`most_errors`].

use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;

use crate::binomial::{HALF, most_errors, probability, quantile, tail};

/// Draws random counts of read errors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorDraws {
    draws: Rng,
    #[serde(skip)]
    brackets: Brackets,
}

impl ErrorDraws {
    /// Creates the draws from a generator.
    pub fn new(draws: Rng) -> Self {
        Self {
            draws,
            brackets: Brackets::default(),
        }
    }
    /// Returns the maximum number of errors among `words` codewords of `n` bits each with bit error
    /// rate `p`: [`most_errors`] of the next random number.
    #[inline]
    pub fn most(&mut self, n: u32, p: f64, words: u32) -> u32 {
        let draw = self.draws.unit();
        self.brackets.most(n, p, words, draw)
    }
    /// Returns the median of [`Self::most`]. Uses no random number.
    pub fn median(&mut self, n: u32, p: f64, words: u32) -> u32 {
        let known = self.brackets.errors(n, p, words, 0.5);
        known.unwrap_or_else(|| {
            let above = -libm::expm1(-libm::log(2.0) / f64::from(words.max(1)));
            quantile(n, p, above)
        })
    }
}

/// Tails at rates of the grid, for codewords of one length.
#[derive(Clone, Debug, Default)]
pub struct Brackets {
    n: u32,
    words: u32,
    /// Tails by rate. The low bits of the rate's position in the grid select the row.
    rows: Vec<Row>,
    /// Cell of the last draw.
    last: Cell,
}

/// Rates from `low` up to, but excluding, `high`.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    low: f64,
    high: f64,
    /// Index of the row for `low`.
    place: usize,
}

/// Number of rows that are stored.
const ROWS: usize = 4096;
/// Maximum mean number of errors with a row. At higher means, most draws are near a threshold.
const MAX_MEAN: f64 = 512.0;
/// Relative distance from a threshold within which a draw is evaluated exactly. The errors of the
/// tails are below a hundredth of it.
const MARGIN: f64 = 1e-6;
/// Draws from this value on are evaluated exactly.
const MAX_DRAW: f64 = 1.0 - 1e-5;
/// Number of ranges of draws for which a row stores the start of its search.
const GUIDES: usize = 64;
/// Number of ranges of draws for which error counts are stored.
const RANGES: usize = 256;
/// Number of draws in a cell of the rate grid after which its error counts are stored by range of
/// draws.
const FEW: u32 = 16;
/// Mark of a range in which the number of errors varies.
const VARIES: u16 = u16::MAX;

/// Probabilities, at one rate, that at least one codeword has more than `e` errors.
#[derive(Clone, Debug, Default)]
struct Row {
    /// Bit error rate; 0 if the row is unused.
    rate: f64,
    /// First `e` of the row. At smaller `e`, the probability is above [`MAX_DRAW`].
    first: u32,
    /// Probabilities by `e`, in falling order.
    above: Vec<f64>,
    /// Index in `above` at which the search begins, for each range of draws.
    guides: Vec<u32>,
    /// Number of draws at the rates of the cell that begins with this rate, up to [`FEW`].
    draws: u32,
    /// Number of errors by range of draws, at each rate of the cell, or [`VARIES`]; empty until there
    /// were [`FEW`] draws.
    certain: Vec<u16>,
}

impl Row {
    fn new(n: u32, rate: f64, words: u32) -> Self {
        let (first, tails) = tails(n, rate, words);
        let words = f64::from(words.max(1));
        let failing = |tail: &f64| -libm::expm1(words * libm::log1p(-tail.min(1.0)));
        let above: Vec<f64> = tails.iter().map(failing).collect();
        let upper = |guide: usize| (guide + 1) as f64 / GUIDES as f64;
        let start = |guide| above.partition_point(|&value| value > upper(guide)) as u32;
        Self {
            rate,
            first,
            guides: (0..GUIDES).map(start).collect(),
            above,
            draws: 0,
            certain: Vec::new(),
        }
    }
    /// Returns the number of errors for `draw` at each rate of the cell that begins with this rate,
    /// if it is kept.
    #[inline]
    fn certain(&self, draw: f64) -> Option<u32> {
        let range = (draw * RANGES as f64) as u32 as usize;
        let errors = *self.certain.get(range)?;
        (errors != VARIES).then_some(u32::from(errors))
    }
    /// Returns the smallest number of errors that is certainly not exceeded for `draw`.
    fn at_most(&self, draw: f64) -> Option<u32> {
        let start = *self.guides.get((draw * GUIDES as f64) as usize)?;
        let rest = self.above.get(start as usize..)?;
        let place = rest
            .iter()
            .position(|value| value * (1.0 + MARGIN) <= draw)?;
        Some(self.first + start + place as u32)
    }
    /// Returns `true` if at least `errors` errors are certain for `draw`.
    fn reaches(&self, errors: u32, draw: f64) -> bool {
        let Some(place) = errors.checked_sub(self.first + 1) else {
            return true;
        };
        let value = self.above.get(place as usize);
        value.is_some_and(|value| value * (1.0 - MARGIN) > draw)
    }
}

/// Returns the probabilities that a codeword has more than `e` errors, and the first such `e`. The
/// range starts where the probability is less than certain, and ends where no draw reaches it.
fn tails(n: u32, p: f64, words: u32) -> (u32, Vec<f64>) {
    /// Probability below half the smallest draw.
    const NEVER: f64 = 1e-18;
    let ratio = |k: u32| f64::from(n - k) / f64::from(k + 1) * p / (1.0 - p);
    let mode = (f64::from(n) * p) as u32;
    let at_mode = probability(n, p, mode);
    let (mut last, mut at_last) = (mode, at_mode);
    while last < n && at_last * f64::from(words) > NEVER {
        at_last *= ratio(last);
        last += 1;
    }
    let mut tails = vec![tail(n, p, last)];
    let (mut errors, mut exactly) = (last, at_last);
    // The sums begin at their smallest terms.
    while errors > 0 && tails.last().is_some_and(|&tail| tail < 1.0 - 1e-6) {
        tails.push(tails[tails.len() - 1] + exactly);
        errors -= 1;
        exactly /= ratio(errors);
    }
    tails.reverse();
    (errors, tails)
}

impl Brackets {
    /// Returns the maximum number of errors among `words` codewords, equal to that of
    /// [`most_errors`].
    #[inline]
    pub fn most(&mut self, n: u32, p: f64, words: u32, draw: f64) -> u32 {
        let known = self.errors(n, p, words, draw + HALF);
        known.unwrap_or_else(|| most_errors(n, p, words, draw))
    }
    /// Returns the maximum number of errors among `words` codewords of `n` bits; `None` if `draw`
    /// is near a threshold.
    #[inline]
    fn errors(&mut self, n: u32, p: f64, words: u32, draw: f64) -> Option<u32> {
        let Cell { low, high, place } = self.last;
        if p >= low && p < high && (self.n, self.words) == (n, words) {
            let certain = self.rows[place].certain(draw);
            if certain.is_some() {
                return certain;
            }
        }
        self.look_up(n, p, words, draw)
    }
    /// Like [`Self::errors`], for a rate outside the cell of the last draw, or a draw whose number
    /// of errors is not kept.
    #[inline(never)]
    fn look_up(&mut self, n: u32, p: f64, words: u32, draw: f64) -> Option<u32> {
        /// Mantissa bits of a floating-point number.
        const MANTISSA: u32 = 52;
        if p <= 0.0 {
            return Some(0);
        }
        let octave = f64::from_bits(p.to_bits() >> MANTISSA << MANTISSA);
        let mean = f64::from(n) * octave;
        if draw >= MAX_DRAW || p > 0.5 || mean > MAX_MEAN {
            return None;
        }
        if (self.n, self.words) != (n, words) {
            (self.n, self.words) = (n, words);
            self.rows = vec![Row::default(); ROWS];
        }
        // The mean differs by at most 1/128 between two rates of the grid.
        let shift = MANTISSA - 8 - (mean as u32).max(1).ilog2();
        let cell = p.to_bits() >> shift;
        let (low, high) = (self.row(cell, shift), self.row(cell + 1, shift));
        self.last = Cell {
            low: self.rows[low].rate,
            high: self.rows[high].rate,
            place: low,
        };
        self.count(low, high);
        let certain = self.rows[low].certain(draw);
        certain.or_else(|| self.errors_in(low, high, draw))
    }
    /// Returns the number of errors for `draw` at the rates of a cell, between those of two rows;
    /// `None` if it varies or is near a threshold.
    #[inline]
    fn errors_in(&self, low: usize, high: usize, draw: f64) -> Option<u32> {
        let errors = self.rows[high].at_most(draw)?;
        let certain = self.rows[low].reaches(errors, draw);
        certain.then_some(errors)
    }
    /// Counts a draw at the rates of a cell. After [`FEW`] draws, keeps the numbers of errors.
    fn count(&mut self, low: usize, high: usize) {
        let row = &mut self.rows[low];
        if row.draws == FEW {
            return;
        }
        row.draws += 1;
        if row.draws == FEW {
            // The number of errors falls when the draw rises.
            let errors = |range: usize| {
                let draws = [range, range + 1].map(|end| end as f64 / RANGES as f64);
                let [most, least] = draws.map(|draw| self.errors_in(low, high, draw));
                let one = most.filter(|_| most == least && draws[1] < MAX_DRAW);
                one.map_or(VARIES, |errors| errors.min(u32::from(VARIES)) as u16)
            };
            self.rows[low].certain = (0..RANGES).map(errors).collect();
        }
    }
    /// Returns the index of the row for the lowest rate of a grid cell.
    #[inline]
    fn row(&mut self, cell: u64, shift: u32) -> usize {
        let rate = f64::from_bits(cell << shift);
        let place = cell as usize % ROWS;
        if self.rows[place].rate != rate {
            self.rows[place] = Row::new(self.n, rate, self.words);
            if self.last.place == place {
                self.last = Cell::default();
            }
        }
        place
    }
}
