//! Every mapping family compared with a simple reference map, on tiny devices filled to the maximum
//! that a plan allows. Jobs are split into steps, host requests occur between any two steps, and
//! power cuts occur at any time.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use crate::model;

use model::{Ability, Device, Load, Seen, fullest, variants};
use wordline_ftl::mapping::Family;
use wordline_kernel::Rng;

/// Test case that is printed if it is dropped during a panic.
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

/// Runs one random device for `steps` steps. Returns the number of events by kind.
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

/// Runs `cases` devices of every family and variant. Returns the number of operations.
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
fn look_up_finds_the_newest_version_in_every_family() {
    run_all(40, 4_000, false);
}

#[test]
fn recovery_finds_the_last_complete_version_in_every_family() {
    run_all(40, 4_000, true);
}

#[test]
#[ignore = "takes 30 s in an optimised build; run by `make test-slow`, shorter variants always run"]
fn every_family_survives_ten_million_operations_and_many_power_cuts() {
    let operations = run_all(150, 20_000, false) + run_all(150, 20_000, true);
    eprintln!("{operations} operations");
    assert!(operations > 10_000_000, "only {operations} operations");
}
