//! What the machine allows: two costs that no simulator of the same events and tables avoids.

use std::hint::black_box;
use std::time::Instant;

use pyo3::prelude::*;
use wordline_kernel::{EventQueue, Rng, Time};

use crate::fail;

/// The least of so many rounds counts: what disturbs a round only makes it longer.
const ROUNDS: usize = 7;
/// Events, or accesses, of a round.
const STEPS: u32 = 400_000;

/// Nanoseconds in which the kernel's event queue takes its earliest event and is given another, while
/// `waiting` events wait. The events come again after each of `durations_ps` in turn.
#[pyfunction]
pub fn bench_queue(py: Python<'_>, waiting: u32, durations_ps: Vec<u64>) -> PyResult<f64> {
    if waiting == 0 || durations_ps.is_empty() {
        return Err(fail("no event waits, or none comes again"));
    }
    Ok(py.detach(|| least_ns(|| events(waiting, &durations_ps))))
}

/// Nanoseconds in which a processor reads an entry of a table of this many entries of four bytes, at a
/// place that may be anywhere and is known ahead: as many reads are under way at once as the processor
/// can have.
#[pyfunction]
pub fn bench_access(py: Python<'_>, entries: u32) -> PyResult<f64> {
    if entries == 0 {
        return Err(fail("a table has an entry at least"));
    }
    Ok(py.detach(|| {
        // Zeroes that were never written would all be the same page of memory.
        let table: Vec<u32> = (1..=entries).collect();
        let mut draws = Rng::new(1, "bench.access");
        let places: Vec<u32> = (0..STEPS)
            .map(|_| draws.below(u64::from(entries)) as u32)
            .collect();
        least_ns(|| accesses(&table, &places))
    }))
}

/// Nanoseconds of a step of the shortest round.
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
    // Every round reads anew: what it reads is not known to be what the round before has read.
    let (table, places) = black_box((table, places));
    let read = places.iter().map(|&place| table[place as usize]);
    black_box(read.fold(0_u32, u32::wrapping_add));
}
