//! Allocation of pages to the least loaded die, and in a random order before the run.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use std::collections::BTreeSet;

use shared::{Played, at, plan, play};
use wordline_block::Op;
use wordline_ftl::allocate::dynamic::Dynamic;
use wordline_ftl::allocate::least_busy::LeastBusy;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::{Config, Lpn, Mapping, PageMap, Precondition};
use wordline_kernel::Time;
use wordline_nand::Die;
use wordline_ssd::{Plan, Ssd};

const PAGE: u64 = 4096;

const CHANNELS: Dimensions = Dimensions {
    channels: 4,
    ways: 1,
    dies: 1,
    planes: 1,
};

fn allocating(allocate: Allocate) -> Plan {
    let config = Config {
        over_provisioning_ratio: 0.4,
        allocate,
        ..Config::default()
    };
    plan(&config, CHANNELS, 16, 16, 32).unwrap()
}

/// Returns the number of pages that fills all dies equally. The next page then goes to the first
/// die again.
fn pages(plan: &Plan) -> u32 {
    plan.ftl.user_pages / 4 * 4
}

fn filled(plan: &Plan, scattered: bool, seed: u64) -> Ssd<PageMap> {
    let mut ssd = Ssd::new(plan, PageMap::new(&plan.ftl));
    let fill = Precondition {
        fill_pages: pages(plan),
        scattered,
        overwrite_pages: 0,
        settle: None,
        seed,
    };
    ssd.precondition(&fill, |_| true).unwrap();
    ssd
}

fn die_of(ssd: &Ssd<PageMap>, plan: &Plan, page: u32) -> Die {
    let place = ssd.mapping().lookup(Lpn(page)).unwrap();
    plan.part.layout.die_of_page(place)
}

/// Three reads access the die whose turn it is, and a write arrives at the same instant. With
/// round-robin allocation, the write waits. With least-busy allocation, it goes to another channel,
/// where no operation precedes it.
#[test]
fn write_goes_to_the_least_busy_die() {
    let [dynamic, least_busy] = [
        Allocate::Dynamic(Dynamic::default()),
        Allocate::LeastBusy(LeastBusy::default()),
    ]
    .map(|allocate| {
        let plan = allocating(allocate);
        let written = |reads: u64| {
            let mut ssd = filled(&plan, false, 1);
            let reads = (0..reads).map(|turn| at(Time::ZERO, Op::Read, 4 * turn * PAGE, PAGE));
            let write = at(Time::ZERO, Op::Write, PAGE, PAGE);
            let requests: Vec<_> = reads.chain([write]).collect();
            let (played, _) = play(&mut ssd, &requests);
            let Played { done, .. } = played.last().unwrap();
            (die_of(&ssd, &plan, 1), *done)
        };
        assert_eq!(written(0).0, Die(0), "the die whose turn it is");
        (written(0).1, written(3))
    });
    let (unloaded, (die, done)) = dynamic;
    assert_eq!(die, Die(0));
    assert!(done > unloaded, "the write waits for three reads");
    let (unloaded, (die, done)) = least_busy;
    assert_eq!((die, done), (Die(1), unloaded));
}

/// Four writes at one instant go to four dies, although the earlier ones are only queued.
#[test]
fn queued_writes_count_as_load_of_their_die() {
    let plan = allocating(Allocate::LeastBusy(LeastBusy::default()));
    let mut ssd = filled(&plan, false, 1);
    let requests: Vec<_> = (0..4)
        .map(|page| at(Time::ZERO, Op::Write, 4 * page * PAGE, PAGE))
        .collect();
    play(&mut ssd, &requests);
    let dies: BTreeSet<u32> = (0..4).map(|page| die_of(&ssd, &plan, 4 * page).0).collect();
    assert_eq!(dies.len(), 4);
}

/// Consecutive pages are on the same die with probability one over the number of dies, within five
/// standard errors. Every page has a different place, and equal seeds give equal placements.
#[test]
fn scattered_pages_are_placed_at_random() {
    let plan = allocating(Allocate::Dynamic(Dynamic::default()));
    let lie = |scattered, seed| -> Vec<u32> {
        let ssd = filled(&plan, scattered, seed);
        ssd.mapping().audit().unwrap();
        let places = (0..pages(&plan)).map(|page| ssd.mapping().lookup(Lpn(page)).unwrap().0);
        let places: Vec<u32> = places.collect();
        let different: BTreeSet<_> = places.iter().collect();
        assert_eq!(different.len(), places.len());
        places
    };
    let random = lie(true, 1);
    assert_eq!(random, lie(true, 1));
    assert_ne!(random, lie(true, 2));
    let by_address = lie(false, 1);
    let sorted = |places: &[u32]| places.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(
        sorted(&random),
        sorted(&by_address),
        "both placements use the same pages"
    );
    let dies: Vec<u32> = random
        .iter()
        .map(|place| plan.part.layout.die_of_page(wordline_nand::Ppn(*place)).0)
        .collect();
    let pairs = dies.len() as f64 - 1.0;
    let alike = dies.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
    let error = (0.25 * 0.75 / pairs).sqrt();
    assert!(
        (alike / pairs - 0.25).abs() < 5.0 * error,
        "{alike} of {pairs} pairs are on one die"
    );
}
