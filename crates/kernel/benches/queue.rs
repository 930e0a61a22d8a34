//! Instruction counts of the event queue under the hold model. Each step takes the earliest event
//! and schedules a later one, so the number of waiting events is constant. The delay cycles through
//! the durations of a device (`operate`), or is random, so that most events fit no row (`hold`).
#![allow(missing_docs, unused_qualifications)] // both occur in code that the macros below generate

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use wordline_kernel::{EventQueue, Rng, Time};

const HOLDS: u64 = 10_000;

struct Held {
    queue: EventQueue<u64>,
    stream: Rng,
}

impl Held {
    fn schedule(&mut self, now: Time, event: u64) {
        self.queue
            .schedule(now + Time::from_ps(self.stream.below(1_000_000)), event);
    }
}

fn waiting(events: u64) -> Held {
    let mut held = Held {
        queue: EventQueue::default(),
        stream: Rng::new(1, "kernel.benches.queue"),
    };
    for event in 0..events {
        held.schedule(Time::ZERO, event);
    }
    held
}

/// Fails the benchmark above this number of instructions per hold.
fn ceiling(instructions: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.hard_limits([(EventKind::Ir, instructions * HOLDS)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

/// Durations of a command on the bus, an array read, and a page of data on the bus.
const DURATIONS: [Time; 3] = [
    Time::from_ps(216_000),
    Time::from_ps(50_000_000),
    Time::from_ps(12_300_000),
];

fn of_dies(dies: u64) -> Held {
    let mut held = Held {
        queue: EventQueue::default(),
        stream: Rng::new(1, "kernel.benches.queue"),
    };
    for die in 0..dies {
        held.queue.schedule(Time::from_ps(1_000 * die), die % 3);
    }
    held
}

#[library_benchmark]
#[bench::few(args = (of_dies(32)), config = ceiling(90))]
#[bench::many(args = (of_dies(4_096)), config = ceiling(98))]
fn operate(mut held: Held) -> Held {
    for _ in 0..HOLDS {
        if let Some((now, stage)) = held.queue.pop() {
            let next = (stage + 1) % 3;
            held.queue.schedule(now + DURATIONS[stage as usize], next);
        }
    }
    held
}

#[library_benchmark]
#[bench::few(args = (waiting(64)), config = ceiling(243))]
#[bench::many(args = (waiting(65_536)), config = ceiling(532))]
fn hold(mut held: Held) -> Held {
    for _ in 0..HOLDS {
        if let Some((now, event)) = held.queue.pop() {
            held.schedule(now, event);
        }
    }
    held
}

library_benchmark_group!(name = queue, benchmarks = [operate, hold]);
main!(library_benchmark_groups = queue);
