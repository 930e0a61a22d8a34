//! Dies that read ahead: what it takes, by hand; that it is never taken for what it is not; and that nothing else changes.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

mod shared;

use shared::{Load, at, closed_loop, play};
use wordline_block::Op;
use wordline_buffer::read_ahead::Physical;
use wordline_device::{Composition, Plan, Precondition, Ssd};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, Map};
use wordline_kernel::Time;
use wordline_nand::{Cell, Chains, Geometry, PerLevel, Suspend, Timing};

const PAGE: u64 = 4096;
const US: fn(u64) -> Time = Time::from_us;

/// tR 60 us, tRCBSY 3 us, tPROG 400 us; a page takes 20 us on the bus, and nothing else does.
fn plan(dimensions: Dimensions, abort_us: Option<u32>) -> Plan {
    let config = Config {
        over_provisioning_ratio: 0.4,
        ..Config::default()
    };
    let mut plan = shared::plan(&config, dimensions, 32, 8, 16).unwrap();
    let geometry = Geometry {
        pages_per_block: 8,
        ..Geometry::default()
    };
    let timing = Timing {
        read_ns: PerLevel::All(60_000),
        program_ns: PerLevel::All(400_000),
        erase_ns: 1_500_000,
        command_cycle_ns: 0,
        cache_busy_ns: 3_000,
        plane_busy_ns: 0,
        bus_mt_per_s: 204.8,
        ..Timing::default()
    };
    plan.part.chains = Chains::new(&geometry, &timing, &Cell::default());
    plan.read_ahead = abort_us.map(|us| Physical {
        abort_ns: us * 1000,
    });
    plan
}

const ONE: Dimensions = Dimensions {
    channels: 1,
    ways: 1,
    dies: 1,
    planes: 1,
};
const FOUR: Dimensions = Dimensions {
    channels: 2,
    ways: 1,
    dies: 2,
    planes: 1,
};

fn filled(plan: &Plan) -> Ssd<Map> {
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    let precondition = Precondition {
        fill_pages: plan.ftl.user_pages,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&precondition, |_| true).unwrap();
    ssd
}

/// When reads of these pages of one die are over, which arrive so; the array's reading time; pages read ahead and taken.
fn reads(abort_us: Option<u32>, pages: &[(u64, u64)]) -> (Vec<u64>, u64, [u64; 2]) {
    let mut ssd = filled(&plan(ONE, abort_us));
    let requests: Vec<_> = pages
        .iter()
        .map(|(us, page)| at(US(*us), Op::Read, page * PAGE, PAGE))
        .collect();
    let (played, tally) = play(&mut ssd, &requests);
    let done = played.iter().map(|one| one.done.0 / 1_000_000).collect();
    let array = ssd.usage().next().unwrap().array[0];
    (done, array.0 / 1_000_000, tally.ahead)
}

#[test]
fn the_next_page_goes_out_without_its_reading_time() {
    // 60 + 20 us, and again 200 us later.
    assert_eq!(
        reads(None, &[(0, 0), (200, 1)]),
        (vec![80, 280], 120, [0, 0])
    );
    // Page 1 is in the data register at 80 + 3 + 60 us; at 200 it is in the cache register 3 us later and out after 20. Page 2 follows it.
    assert_eq!(
        reads(Some(0), &[(0, 0), (200, 1)]),
        (vec![80, 223], 180, [2, 1])
    );
    // It comes at 100 us, and waits until the array is ready at 143.
    assert_eq!(
        reads(Some(0), &[(0, 0), (100, 1)]),
        (vec![80, 143 + 23], 180, [2, 1])
    );
    // Page 2 is read from 203 us on, while page 1 goes out: it is there at 263.
    assert_eq!(
        reads(Some(0), &[(0, 0), (200, 1), (230, 2)]),
        (vec![80, 223, 263 + 23], 240, [3, 2])
    );
}

#[test]
fn a_die_reads_ahead_only_while_nobody_wants_it() {
    // Page 4 waits behind page 0: nothing is read ahead until it is out, and then page 5.
    assert_eq!(
        reads(Some(0), &[(0, 0), (10, 4)]),
        (vec![80, 160], 180, [1, 0])
    );
    // Page 4 waits when page 1 is taken: page 1 is the last of its sequence (3Fh), and page 2 is not read.
    assert_eq!(
        reads(Some(0), &[(0, 0), (200, 1), (200, 4)]),
        (vec![80, 223, 303], 240, [2, 1])
    );
}

#[test]
fn what_is_read_ahead_is_in_the_way_unless_it_is_aborted() {
    // Page 4 comes at 100 us, while page 1 is read until 143; an abort takes 5 us, and the array is spared the other 38.
    assert_eq!(
        reads(Some(0), &[(0, 0), (100, 4)]),
        (vec![80, 143 + 80], 240, [2, 0])
    );
    assert_eq!(
        reads(Some(5), &[(0, 0), (100, 4)]),
        (vec![80, 105 + 80], 240 - 38, [2, 0])
    );
    // An abort that takes no less than the rest is none; nor is what is read aborted for itself.
    assert_eq!(
        reads(Some(5), &[(0, 0), (139, 4)]),
        (vec![80, 143 + 80], 240, [2, 0])
    );
    assert_eq!(
        reads(Some(5), &[(0, 0), (100, 1)]),
        (vec![80, 143 + 23], 180, [2, 1])
    );
    // Page 2 is read from 203 us on; page 4 comes when page 1 is out, at 223, or before.
    for arrival in [210, 223] {
        assert_eq!(
            reads(Some(5), &[(0, 0), (200, 1), (arrival, 4)]),
            (vec![80, 223, 228 + 80], 300 - 35, [3, 1]),
            "{arrival}"
        );
    }
    // Once it is there, it is in nobody's way.
    assert_eq!(
        reads(Some(0), &[(0, 0), (150, 4)]),
        (vec![80, 150 + 80], 240, [2, 0])
    );
}

#[test]
fn nothing_is_read_ahead_beyond_a_block() {
    assert_eq!(reads(Some(0), &[(0, 7)]), (vec![80], 60, [0, 0]));
}

#[test]
fn what_a_die_does_in_between_takes_the_page_from_it() {
    // A write goes to the die at 200 us and takes 420: the page is read anew.
    let mut ssd = filled(&plan(ONE, Some(0)));
    let requests = [
        at(US(0), Op::Read, 0, PAGE),
        at(US(200), Op::Write, 20 * PAGE, PAGE),
        at(US(1000), Op::Read, PAGE, PAGE),
    ];
    let (played, tally) = play(&mut ssd, &requests);
    assert_eq!(played[2].done, US(1080));
    assert_eq!(tally.ahead, [2, 0]);
}

#[test]
fn a_page_that_is_written_elsewhere_is_not_taken_from_the_register() {
    // Page 0 lies on die 0, page 4 behind it. Page 4 is written again, to another die; its read has to go there.
    let plan = plan(FOUR, Some(0));
    let mut ssd = filled(&plan);
    ssd.verify();
    let requests = [
        at(US(0), Op::Read, 0, PAGE),
        at(US(200), Op::Write, 4 * PAGE, PAGE),
        at(US(1000), Op::Read, 4 * PAGE, PAGE),
    ];
    let (_, tally) = play(&mut ssd, &requests);
    assert_eq!(tally.ahead[1], 0);
}

fn load(read_ratio: f64, most_pages: u64) -> Load {
    Load {
        requests: 6000,
        read_ratio,
        grain_bytes: PAGE,
        most_bytes: most_pages * PAGE,
        footprint_ratio: 1.0,
    }
}

#[test]
fn no_read_returns_what_was_read_ahead_of_a_write_or_of_a_collection() {
    for abort in [0, 5] {
        for suspends in [false, true] {
            for composition in Composition::defaults() {
                let dimensions = Dimensions { planes: 2, ..FOUR };
                let mut plan = plan(dimensions, Some(abort));
                plan.composition = composition;
                plan.part.suspend = Suspend {
                    program: suspends,
                    erase: suspends,
                    ..Suspend::default()
                };
                plan.queue_depth = 3;
                let fill = plan.ftl.user_pages;
                let mapping = Map::new(&plan.ftl);
                let (tally, _, ssd) =
                    closed_loop(&plan, mapping, load(0.6, 6), fill, true).unwrap();
                assert!(tally.collections > 0 && tally.ahead[1] > 0);
                assert!(tally.ahead[1] <= tally.ahead[0]);
                ssd.audit().unwrap();
            }
        }
    }
}

#[test]
fn one_page_after_the_other_is_bound_by_cache_reads() {
    // A host that reads in order asks for the next page 1 us after it has one. Of the eight pages of a block the first takes 80 us, the second is there after 3 + 60 and out
    // after 23 more; then the array gives one each 3 + 60 us, while the page before goes out.
    let done = |page: u64| {
        let (block, offset) = (page / 8, page % 8);
        let first = block * (80 + 86 + 6 * 63 + 1) + 80;
        first
            + if offset > 0 {
                86 + (offset - 1) * 63
            } else {
                0
            }
    };
    let asked = |page: u64| if page == 0 { 0 } else { done(page - 1) + 1 };
    let pages: Vec<_> = (0..64).map(|page| (asked(page), page)).collect();
    let expected: Vec<_> = (0..64).map(done).collect();
    assert_eq!(reads(Some(0), &pages), (expected, 64 * 60, [56, 56]));
}
