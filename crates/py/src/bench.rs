//! Measures machine limits: two costs that any simulator with the same events and tables has.

use std::hint::black_box;
use std::time::Instant;

use pyo3::prelude::*;
use wordline_kernel::{EventQueue, Rng, Time};

use crate::fail;

/// Number of rounds of a measurement. The shortest round counts, because disturbances only prolong
/// a round.
const ROUNDS: usize = 7;
/// Number of events or accesses per round.
const STEPS: u32 = 400_000;

/// Measures the kernel's event queue with `waiting` pending events. Each event is rescheduled after
/// each of `durations_ps` in turn. Returns the time per event removed and inserted, in nanoseconds.
#[pyfunction]
pub fn bench_queue(py: Python<'_>, waiting: u32, durations_ps: Vec<u64>) -> PyResult<f64> {
    if waiting == 0 || durations_ps.is_empty() {
        return Err(fail(
            "waiting is 0, or durations_ps is empty; give at least one waiting event and one duration",
        ));
    }
    Ok(py.detach(|| least_ns(|| events(waiting, &durations_ps))))
}

/// Measures reads of random entries in a table of `entries` four-byte entries. Addresses are known
/// in advance, so that the processor overlaps the reads. Returns the time per read, in nanoseconds.
#[pyfunction]
pub fn bench_access(py: Python<'_>, entries: u32) -> PyResult<f64> {
    if entries == 0 {
        return Err(fail("entries = 0: the table is empty; give at least 1"));
    }
    Ok(py.detach(|| {
        // A table of zeros that were never written would be mapped to a single page of memory.
        let table: Vec<u32> = (1..=entries).collect();
        let mut draws = Rng::new(1, "bench.access");
        let places: Vec<u32> = (0..STEPS)
            .map(|_| draws.below(u64::from(entries)) as u32)
            .collect();
        least_ns(|| accesses(&table, &places))
    }))
}

/// Returns the time per step of the shortest round, in nanoseconds.
fn least_ns(mut round: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round();
        least = least.min(start.elapsed().as_secs_f64());
    }
    least * 1e9 / f64::from(STEPS)
}

fn events(waiting: u32, durations_ps: &[u64]) {
    let mut queue = EventQueue::default();
    for event in 0..waiting {
        queue.schedule(Time(u64::from(event)), event as usize % durations_ps.len());
    }
    for _ in 0..STEPS {
        let Some((now, duration)) = queue.pop() else {
            return;
        };
        let next = (duration + 1) % durations_ps.len();
        queue.schedule(Time(now.0 + durations_ps[duration]), next);
    }
    black_box(queue.len());
}

fn accesses(table: &[u32], places: &[u32]) {
    // The optimiser does not see the table, so every round reads it again.
    let (table, places) = black_box((table, places));
    let read = places.iter().map(|&place| table[place as usize]);
    black_box(read.fold(0_u32, u32::wrapping_add));
}
