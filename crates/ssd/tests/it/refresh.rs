//! Read reclaim and refresh: destination of the data, preemption between steps, and reads and
//! writes during the move.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use shared::{Load, at, closed_loop, filled, play, reader};
use wordline_block::{Op, ReadEvents};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::mapping::Family;
use wordline_ftl::refresh::target::in_place::InPlace;
use wordline_ftl::refresh::{Refresh, Steps, Target};
use wordline_ftl::{Config, Lpn, Map, Mapping};
use wordline_kernel::Time;
use wordline_reliability::ecc::Correct;
use wordline_reliability::{Ecc, Errors};
use wordline_ssd::{Plan, Ssd};

const PAGE: u64 = 4096;
const PAGES: u32 = 8;
const BLOCKS: u32 = 32;
const LIMIT: u32 = 100;
const READ: Time = Time::from_us(30);
const PROGRAM: Time = Time::from_us(400);
const ERASE: Time = Time::from_us(1500);
const TRANSFER: Time = Time::from_us(20);
/// Interval between consecutive reads.
const GAP: Time = Time::from_us(400);

fn in_place() -> Target {
    Target::InPlace(InPlace {})
}

/// Returns a device of two planes, each on its own die and channel. Reads have no errors, and the
/// data of a block move after [`LIMIT`] reads.
fn plan(mapping: &Family, refresh: Refresh) -> Plan {
    let config = Config {
        over_provisioning_ratio: 0.4,
        mapping: mapping.clone(),
        refresh,
        ..Config::default()
    };
    let dimensions = Dimensions {
        channels: 2,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let mut plan = shared::plan(&config, dimensions, BLOCKS, PAGES, 64).unwrap();
    shared::take(&mut plan, PAGES, [READ, PROGRAM, ERASE]);
    let mut reader = reader(Errors::default(), Ecc::default().code().unwrap());
    reader.read_limit = LIMIT;
    plan.part.reader = Some(Box::new(reader));
    plan
}

/// The read that reaches the limit moves the data of its block, however few pages the block has:
/// with one page per block and a limit of 5, fifty reads cause ten reclaims. The fifth read is
/// served before its block moves.
#[test]
fn read_that_reaches_the_limit_moves_the_block() {
    let config = Config {
        over_provisioning_ratio: 0.4,
        ..Config::default()
    };
    let one = Dimensions {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let mut plan = shared::plan(&config, one, BLOCKS, 1, 64).unwrap();
    shared::take(&mut plan, 1, [READ, PROGRAM, ERASE]);
    let mut reader = reader(Errors::default(), Ecc::default().code().unwrap());
    reader.read_limit = 5;
    plan.part.reader = Some(Box::new(reader));
    let mut ssd = filled(&plan);
    // A block can move between two reads: a read, a program and an erase take 1,970 us.
    let gap = Time::from_us(4_000);
    let requests: Vec<_> = (0..50)
        .map(|number| at(gap * number, Op::Read, 0, PAGE))
        .collect();
    let (played, tally) = play(&mut ssd, &requests);
    assert_eq!(tally.refreshes, 10);
    for (read, number) in played.iter().zip(0..) {
        assert_eq!(read.done - gap * number, READ + TRANSFER, "read {number}");
    }
}

/// Reads only page 0, one read after another. Returns the response time of each read.
fn reads(ssd: &mut Ssd<Map>, count: u64) -> Vec<Time> {
    let requests: Vec<_> = (0..count)
        .map(|number| at(GAP * number, Op::Read, 0, PAGE))
        .collect();
    let (played, _) = play(ssd, &requests);
    let since = |(played, number): (&shared::Played, u64)| played.done - GAP * number;
    played.iter().zip(0..).map(since).collect()
}

/// Each reclaim erases the block once and returns the data to it. As many erases go to the blocks
/// that hold the data in between.
#[test]
fn in_place_reclaim_returns_data_to_their_block() {
    let refresh = |target| Refresh {
        target,
        steps: Steps::Block,
    };
    let run = |target| {
        let plan = plan(&Family::default(), refresh(target));
        let mut ssd = filled(&plan);
        let before = ssd.mapping().lookup(Lpn(0)).unwrap();
        reads(&mut ssd, 2_000);
        ssd.mapping().audit().unwrap();
        let after = ssd.mapping().lookup(Lpn(0)).unwrap();
        (before, after, ssd.array().erases().to_vec())
    };
    let (before, after, erases) = run(in_place());
    assert_eq!(before, after);
    let own = erases[before.index() / PAGES as usize];
    assert!(own >= 10, "{own}");
    assert_eq!(erases.iter().sum::<u32>(), 2 * own);
    // Wear levelling takes another free block each time.
    let others = erases.iter().filter(|erases| **erases != own);
    assert!(own > 3 && others.max() <= Some(&2), "{erases:?}");
    let (before, after, erases) = run(Target::default());
    assert_ne!(before, after);
    assert!(erases.iter().all(|erases| *erases <= 2), "{erases:?}");
}

/// If host requests preempt the steps of a refresh of [`PAGES`] pages, a read waits for at most one
/// flash operation. Otherwise it may wait for all copies.
#[test]
fn requests_preempt_refresh_between_steps() {
    let slowest = |target: &Target, steps| {
        let plan = plan(
            &Family::default(),
            Refresh {
                target: target.clone(),
                steps,
            },
        );
        reads(&mut filled(&plan), 2_000).into_iter().max().unwrap()
    };
    let own = READ + TRANSFER;
    let all = (PROGRAM + TRANSFER) * u64::from(PAGES);
    for target in [Target::default(), in_place()] {
        let page = slowest(&target, Steps::Page);
        // The read waits for one operation, and for the reads that arrived during it.
        let behind = ERASE.0.div_ceil(GAP.0);
        assert!(page <= ERASE + own * (behind + 1), "{page:?}");
        let block = slowest(&target, Steps::Block);
        // The slowest read is the first one during the refresh, at most one gap after its start.
        assert!(block >= all - GAP && block > page, "{block:?}");
        // GC is on demand here, so a refresh is not preempted.
        assert_eq!(slowest(&target, Steps::Schedule), block);
    }
}

/// With GC on demand, a request waits only for the operations that GC has queued at its die. Eight
/// pages move from T on, and their reads end at T + 400 us. A read at T + 60 us waits for these
/// reads and for one copy, that of the page read by then. A read that arrives during the copies is
/// served before the erase, and one that arrives during the erase is served after it.
#[test]
fn requests_wait_only_for_queued_gc_operations() {
    let plan = plan(&Family::default(), Refresh::default());
    let mut ssd = filled(&plan);
    let mut requests: Vec<_> = (0..u64::from(LIMIT))
        .map(|number| at(GAP * number, Op::Read, 0, PAGE))
        .collect();
    let own = READ + TRANSFER;
    let begun = GAP * u64::from(LIMIT - 1) + own;
    for after in [60, 1_000, 4_500] {
        requests.push(at(begun + Time::from_us(after), Op::Read, 0, PAGE));
    }
    let (played, tally) = play(&mut ssd, &requests);
    assert_eq!(tally.refreshes, 1);
    let copy = TRANSFER + PROGRAM;
    let pages = u64::from(PAGES);
    let among_reads = own * pages + copy + own;
    let among_copies = among_reads + copy * (pages - 1) + own;
    let in_erase = among_copies + ERASE + own;
    let done: Vec<Time> = played.iter().map(|played| played.done).collect();
    assert_eq!(
        done[LIMIT as usize..],
        [among_reads, among_copies, in_erase].map(|time| begun + time)
    );
}

/// Reads of the die on which a block moves report that event. Reads of the other die do not, and no
/// other event occurs.
#[test]
fn reads_report_a_reclaim_on_their_die() {
    let plan = plan(&Family::default(), Refresh::default());
    let mut ssd = filled(&plan);
    // The last of the first reads of page 0 triggers the move of its block, 50 us after its
    // arrival; page 1 is on the other die.
    let gap = Time::from_us(200);
    let mut requests: Vec<_> = (0..u64::from(LIMIT))
        .map(|number| at(gap * number, Op::Read, 0, PAGE))
        .collect();
    let begun = gap * u64::from(LIMIT - 1) + Time::from_us(60);
    // The read of page 0 in between occupies its die as well.
    let moves = (READ + TRANSFER + TRANSFER + PROGRAM) * u64::from(PAGES) + ERASE;
    let over = begun + moves + READ + TRANSFER;
    for (arrival, page) in [(begun, 0), (begun, 1), (over, 0), (over, 1)] {
        requests.push(at(arrival, Op::Read, page * PAGE, PAGE));
    }
    let (_, tally) = play(&mut ssd, &requests);
    assert_eq!(tally.refreshes, 1);
    assert_eq!(tally.met.len(), requests.len());
    let mut met = tally.met.iter().filter(|met| !met.is_nothing());
    assert_eq!(met.next(), Some(&ReadEvents::RECLAIM));
    assert_eq!(met.next(), None);
}

/// Reads and writes of whole and partial pages are correct while blocks are reclaimed in place.
#[test]
fn writes_during_a_reclaim_are_kept() {
    let load = Load {
        requests: 20_000,
        read_ratio: 0.95,
        grain_bytes: 512,
        most_bytes: 4 * PAGE,
        footprint_ratio: 0.2,
    };
    for family in Family::defaults() {
        if !["page", "dftl"].contains(&family.name()) {
            continue;
        }
        for steps in [Steps::Page, Steps::Block] {
            let target = in_place();
            let plan = plan(&family, Refresh { target, steps });
            let (mapping, fill) = (Map::new(&plan.ftl), plan.ftl.user_pages);
            let (tally, _, ssd) = closed_loop(&plan, mapping, load, fill, true).unwrap();
            ssd.mapping().audit().unwrap();
            assert_eq!(tally.requests, load.requests);
            assert!(tally.refreshes > 50, "{}", tally.refreshes);
        }
    }
}
