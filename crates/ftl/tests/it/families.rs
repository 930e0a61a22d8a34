//! Every mapping family beside a map in plain words, on tiny devices as full as a plan allows: jobs
//! taken apart, the host between any two of their steps, and power cuts at any point.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use crate::beside;

use beside::{Ability, Device, Load, Seen, fullest, variants};
use wordline_ftl::mapping::Family;
use wordline_kernel::Rng;

/// Says which case it was if a test fails in it.
struct Case<'a> {
    family: &'a Family,
    number: u64,
}

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in case {} of {:?}", self.number, self.family);
        }
    }
}

/// One device, drawn at random, for `steps` steps; returns what happened in it.
fn run(family: &Family, number: u64, steps: u32, cuts: bool) -> Seen {
    let _case = Case { family, number };
    let mut random = Rng::new(number, family.name());
    let plan = fullest(family, &mut random);
    let ability = Ability::drawn(&mut random, cuts);
    let mut device = Device::new(plan, ability);
    let mut load = Load::drawn(&mut random);
    for step in 0..steps {
        if random.below(500) == 0 {
            load = Load::drawn(&mut random);
        }
        device.step(&mut load, &mut random);
        if step % 64 == 0 {
            device.compare();
        }
    }
    device.drain();
    device.compare();
    device.seen
}

/// `cases` devices of every family and variant; returns how many operations that were.
fn run_all(cases: u64, steps: u32, cuts: bool) -> u64 {
    let mut everywhere = Seen::default();
    for family in variants() {
        let mut seen = Seen::default();
        for number in 0..cases {
            seen.add(&run(&family, number, steps, cuts));
        }
        eprintln!("{family:?} {seen:?}");
        assert!(seen.saw(10, cuts), "{family:?}: {seen:?}");
        everywhere.add(&seen);
    }
    assert!(everywhere.saw_everything(), "{everywhere:?}");
    everywhere.operations()
}

#[test]
fn every_family_finds_the_newest_version_of_every_page() {
    run_all(40, 4_000, false);
}

#[test]
fn every_family_finds_what_was_done_before_the_power_failed() {
    run_all(40, 4_000, true);
}

#[test]
#[ignore = "takes half a minute optimised: `make test-slow` runs it, shorter ones run always"]
fn ten_million_operations_and_many_power_cuts() {
    let operations = run_all(150, 20_000, false) + run_all(150, 20_000, true);
    eprintln!("{operations} operations");
    assert!(operations > 10_000_000, "only {operations} operations");
}
