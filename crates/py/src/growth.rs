//! Memory to read from at random: what a miss of the caches costs, beside which the cost of a request
//! is held.

use std::hint::black_box;

use pyo3::prelude::*;
use wordline_kernel::Rng;

/// Words of 32 bits in a cache line.
const WORDS: usize = 16;
/// Lines of the largest table: 4 GiB.
const MAX_LINES: u64 = 1 << 26;
/// Lines between two looks at signals.
const LOOK_EVERY: usize = 1 << 20;

/// A table of cache lines in one random cycle (Sattolo 1986): the first word of a line is the place of
/// the next, so that a read has to wait for the one before it.
#[pyclass(module = "wordline._wordline")]
pub struct MemoryTable {
    lines: Vec<[u32; WORDS]>,
    place: u32,
}

#[pymethods]
impl MemoryTable {
    /// A table of `bytes`, 64 to 4 GiB; what lies beyond counts as the nearest.
    #[new]
    fn new(py: Python<'_>, bytes: u64) -> PyResult<Self> {
        let count = (bytes / (4 * WORDS as u64)).clamp(1, MAX_LINES) as u32;
        let mut lines: Vec<[u32; WORDS]> = (0..count).map(|place| [place; WORDS]).collect();
        let mut random = Rng::new(1, "growth.memory");
        for place in (1..lines.len()).rev() {
            lines.swap(place, random.below(place as u64) as usize);
            if place.is_multiple_of(LOOK_EVERY) {
                py.check_signals()?;
            }
        }
        Ok(Self { lines, place: 0 })
    }
    /// Reads so many lines, one after the other, from where it stopped.
    fn walk(&mut self, reads: u64) {
        let mut place = self.place;
        for _ in 0..reads {
            place = self.lines[place as usize][0];
        }
        self.place = black_box(place);
    }
}
