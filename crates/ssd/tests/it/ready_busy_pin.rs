//! Dies that signal the end of an operation by their R/B# pins: the bus carries no status reads.
#![allow(clippy::unwrap_used)] // outside test functions too, this file is a test

use crate::shared;

use shared::{Load, at, closed_loop, plan, play};
use wordline_block::Op;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, PageMap};
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::Time;
use wordline_nand::{Cell, Chains, Geometry, PerLevel, Suspend, Timing};
use wordline_ssd::{Plan, Ssd};

const PAGE: u64 = 4096;
const US: u64 = 1_000_000;

fn device(dimensions: Dimensions, queue_depth: u32, timing: &Timing) -> Plan {
    let config = Config {
        over_provisioning_ratio: 0.5,
        ..Config::default()
    };
    let mut plan = plan(&config, dimensions, 32, 8, queue_depth).unwrap();
    let geometry = Geometry {
        pages_per_block: 8,
        planes_per_die: dimensions.planes,
        ..Geometry::default()
    };
    plan.part.chains = Chains::new(&geometry, timing, &Cell::default());
    plan
}

fn timing(command_cycle_ns: u64, ready_busy_pin: bool) -> Timing {
    Timing {
        read_ns: PerLevel::All(60_000),
        program_ns: PerLevel::All(400_000),
        erase_ns: 1_500_000,
        command_cycle_ns,
        // A page of 4,096 bytes takes 20 us.
        bus_mt_per_s: 204.8,
        ready_busy_pin,
        ..Timing::default()
    }
}

/// Returns the completion times of three writes to three dies of one channel. The last write
/// arrives late.
fn ends(ready_busy_pin: bool) -> Vec<u64> {
    let ways = Dimensions {
        channels: 1,
        ways: 3,
        dies: 1,
        planes: 1,
    };
    let plan = device(ways, 16, &timing(0, ready_busy_pin));
    let mut ssd = Ssd::new(&plan, PageMap::new(&plan.ftl));
    let writes: Vec<_> = [(0, 0), (0, 1), (410, 2)]
        .into_iter()
        .map(|(us, page)| at(Time(us * US), Op::Write, page * PAGE, PAGE))
        .collect();
    let (played, _) = play(&mut ssd, &writes);
    played.iter().map(|one| one.done.0 / US).collect()
}

#[test]
fn status_read_waits_for_the_bus_but_a_pin_does_not() {
    // The data transfers end at 20 us and 40 us and, for the write that arrives at 410 us, at 430
    // us. The arrays finish 400 us later. The status of the first write could be read at 420 us,
    // while the bus transfers the data of the third.
    assert_eq!(ends(false), [430, 440, 830]);
    assert_eq!(ends(true), [420, 440, 830]);
}

#[test]
fn pin_saves_the_status_read_of_every_operation() {
    let one = Dimensions {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let load = Load {
        requests: 60,
        read_ratio: 0.5,
        grain_bytes: PAGE,
        most_bytes: PAGE,
        footprint_ratio: 1.0,
    };
    let latency = |ready_busy_pin| {
        let plan = device(one, 1, &timing(25, ready_busy_pin));
        let pages = plan.ftl.user_pages;
        let (tally, _, _) = closed_loop(&plan, PageMap::new(&plan.ftl), load, pages, true).unwrap();
        assert_eq!((tally.requests, tally.collections), (60, 0));
        tally.latency_ps
    };
    // A status read takes a command and a byte of 25 ns each.
    assert_eq!(latency(false) - latency(true), 60 * 2 * 25_000);
}

#[test]
fn data_are_correct_with_every_composition_scheduler_and_suspension() {
    let four = Dimensions {
        channels: 2,
        ways: 1,
        dies: 2,
        planes: 2,
    };
    let load = Load {
        requests: 3_000,
        read_ratio: 0.4,
        grain_bytes: PAGE,
        most_bytes: 4 * PAGE,
        footprint_ratio: 1.0,
    };
    for composition in Composition::defaults() {
        for scheduler in Scheduler::defaults() {
            for suspends in [false, true] {
                let mut plan = device(four, 16, &timing(25, true));
                plan.composition = composition.clone();
                plan.scheduler = scheduler.clone();
                plan.part.suspend = Suspend {
                    program: suspends,
                    erase: suspends,
                    ..Suspend::default()
                };
                let pages = plan.ftl.user_pages;
                let (tally, _, _) =
                    closed_loop(&plan, PageMap::new(&plan.ftl), load, pages, true).unwrap();
                assert_eq!(tally.requests, load.requests);
                assert!(tally.collections > 0, "{composition:?} {scheduler:?}");
            }
        }
    }
}
