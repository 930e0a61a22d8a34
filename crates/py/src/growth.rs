//! Measures the cost of a CPU cache miss, with which the cost of a request is compared.

use std::hint::black_box;

use pyo3::prelude::*;
use wordline_kernel::Rng;

/// Number of 32-bit words per cache line.
const WORDS: usize = 16;
/// Number of cache lines of the largest table, which has 4 GiB.
const MAX_LINES: u64 = 1 << 26;
/// Number of lines between two checks for signals.
const LOOK_EVERY: usize = 1 << 20;

/// Table of cache lines that form one random cycle (Sattolo 1986). The first word of a line is the
/// index of the next line, so that each read depends on the previous one.
#[pyclass(module = "wordline._wordline")]
pub struct MemoryTable {
    lines: Vec<[u32; WORDS]>,
    place: u32,
}

#[pymethods]
impl MemoryTable {
    /// Creates a table of `bytes` bytes, limited to the range from 64 bytes to 4 GiB.
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
    /// Reads `reads` lines of the cycle, starting at the line where the previous call stopped.
    fn walk(&mut self, reads: u64) {
        let mut place = self.place;
        for _ in 0..reads {
            place = self.lines[place as usize][0];
        }
        self.place = black_box(place);
    }
}
