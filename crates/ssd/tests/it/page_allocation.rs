//! Mechanisms of the study of page allocation (Jung 2013, chapter 3): a queue that blocks page by
//! page, allocation when writes are issued, and placement in the order of first reads.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use std::collections::BTreeSet;

use shared::{Played, at, plan, play};
use wordline_block::Op;
use wordline_ftl::allocate::r#static::Static;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::{Config, Lpn, Mapping, PageMap, Precondition};
use wordline_io_scheduler::Composition;
use wordline_io_scheduler::schedule::Scheduler;
use wordline_io_scheduler::schedule::ncq::Ncq;
use wordline_kernel::{Rng, Time};
use wordline_nand::Ppn;
use wordline_ssd::{Plan, Ssd};

const PAGE: u64 = 4096;
const NOW: Time = Time::ZERO;

fn queued(order: &str, on_issue: bool, dimensions: Dimensions, gathers: bool) -> Plan {
    let config = Config {
        over_provisioning_ratio: 0.4,
        allocate: Allocate::Static(Static {
            order: order.parse().unwrap(),
            on_issue,
        }),
        ..Config::default()
    };
    let mut plan = plan(&config, dimensions, 16, 16, 32).unwrap();
    plan.scheduler = Scheduler::Ncq(Ncq {
        gathers,
        ..Ncq::default()
    });
    let mut all = Composition::defaults().into_iter();
    plan.composition = all.find(|member| member.name() == "greedy").unwrap();
    plan
}

fn filled(plan: &Plan, pages: u32) -> Ssd<PageMap> {
    let mut ssd = Ssd::new(plan, PageMap::new(&plan.ftl));
    let fill = Precondition {
        fill_pages: pages,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&fill, |_| true).unwrap();
    ssd
}

/// Serves requests at one instant, each given as its first page and its number of pages. Returns
/// their completion times.
fn done(plan: &Plan, op: Op, requests: &[(u64, u64)]) -> Vec<Time> {
    let mut ssd = filled(plan, plan.ftl.user_pages);
    let requests: Vec<_> = requests
        .iter()
        .map(|(first, pages)| at(NOW, op, first * PAGE, pages * PAGE))
        .collect();
    let (played, _) = play(&mut ssd, &requests);
    played.iter().map(|Played { done, .. }| *done).collect()
}

const TWO_CHANNELS: Dimensions = Dimensions {
    channels: 2,
    ways: 2,
    dies: 1,
    planes: 1,
};

/// Pages 0 to 3 of "WCDP" are on channel 0, both ways, and channel 1, both ways. A read takes a
/// command, the array time and a transfer. Two reads that start together on a channel overlap;
/// executed one by one, they take twice the time.
#[test]
fn pages_committed_at_one_instant_do_not_conflict() {
    let alone = queued("WCDP", false, TWO_CHANNELS, true);
    let unloaded = done(&alone, Op::Read, &[(0, 1)])[0];
    let requests = [(0, 1), (1, 1), (2, 1)];
    let gathered = done(&alone, Op::Read, &requests);
    assert_eq!(
        [gathered[0], gathered[2]],
        [unloaded; 2],
        "the first read of each channel does not wait"
    );
    assert!(
        gathered[1] > unloaded && gathered[1] < unloaded * 2,
        "the second read of channel 0 waits only for the bus"
    );
    let apart = done(
        &queued("WCDP", false, TWO_CHANNELS, false),
        Op::Read,
        &requests,
    );
    assert_eq!(
        apart,
        [unloaded, unloaded * 2, unloaded * 2],
        "one read at a time per channel, in order"
    );
}

/// Of two pages on one die, the second waits, and a later page on the other channel waits with it.
#[test]
fn later_pages_wait_behind_a_waiting_page() {
    let plan = queued("WCDP", false, TWO_CHANNELS, true);
    let unloaded = done(&plan, Op::Read, &[(0, 1)])[0];
    // Pages 0 and 4 are on one die; page 2 is on the other channel.
    let found = done(&plan, Op::Read, &[(0, 1), (4, 1), (2, 1)]);
    assert_eq!(found, [unloaded, unloaded * 2, unloaded * 2]);
}

const TWO_PLANES: Dimensions = Dimensions {
    channels: 1,
    ways: 1,
    dies: 1,
    planes: 2,
};

/// Pages 0 and 1 are on the planes of one die. An earlier write to plane 0 leaves the planes one
/// page apart, so that the two pages do not fit one command if they are allocated on arrival. A
/// command with two programs takes only one transfer longer than a command with one.
#[test]
fn pages_allocated_on_issue_form_one_command_although_planes_are_a_page_apart() {
    let transfer = |plan: &Plan| plan.part.chains.data();
    let program = |plan: &Plan, page| plan.part.chains.latencies().program(page);
    for (on_issue, commands) in [(true, 1), (false, 2)] {
        let plan = queued("PCWD", on_issue, TWO_PLANES, true);
        let mut ssd = filled(&plan, plan.ftl.user_pages);
        let late = Time::from_ms(50);
        let requests = [
            at(NOW, Op::Write, 0, PAGE),
            at(late, Op::Write, 0, 2 * PAGE),
        ];
        let (played, tally) = play(&mut ssd, &requests);
        let took = played[1].done - late;
        let least = (program(&plan, 0) + transfer(&plan)) * commands;
        assert!(
            took > least && took < least + transfer(&plan) * 2,
            "{on_issue}: {took}"
        );
        assert_eq!(tally.host_pages, 3);
        let map = ssd.mapping();
        let row = |page| {
            plan.part
                .layout
                .page_in_block(map.lookup(Lpn(page)).unwrap())
        };
        assert_eq!(
            row(0) == row(1),
            on_issue,
            "a command programs the same page of both blocks"
        );
        map.audit().unwrap();
    }
}

/// After pairs and single pages with GC between them, the block tables are consistent, and the pair
/// that is written last is at the same page offset of both blocks.
#[test]
fn superblocks_stay_aligned_under_a_mixture_of_pairs_and_single_pages() {
    let plan = queued("PCWD", true, TWO_PLANES, true);
    let mut ssd = filled(&plan, plan.ftl.user_pages);
    let mut random = Rng::new(7, "mixture");
    let mut requests = Vec::new();
    let mut last = 0;
    for turn in 0..1_500 {
        let pair = random.below(2) == 0;
        let first = random.below(u64::from(plan.ftl.user_pages) / 2) * 2;
        let pages = 1 + u64::from(pair);
        let first = if pair {
            last = first as u32;
            first
        } else {
            first + random.below(2)
        };
        requests.push(at(
            Time::from_ms(turn * 60),
            Op::Write,
            first * PAGE,
            pages * PAGE,
        ));
    }
    requests.push(at(
        Time::from_ms(1_500 * 60),
        Op::Write,
        u64::from(last) * PAGE,
        2 * PAGE,
    ));
    let (_, tally) = play(&mut ssd, &requests);
    assert!(tally.collections > 20, "{} collections", tally.collections);
    let row = |page| {
        plan.part
            .layout
            .page_in_block(ssd.mapping().lookup(Lpn(page)).unwrap())
    };
    assert_eq!(row(last), row(last + 1));
    ssd.mapping().audit().unwrap();
}

const PLANES: Dimensions = Dimensions {
    channels: 2,
    ways: 2,
    dies: 2,
    planes: 2,
};

/// The `k`th page that is read for the first time takes the physical page that a sequential fill
/// gives to logical page `k`, regardless of writes in between. No two pages share a physical page.
#[test]
fn data_are_placed_in_the_order_of_first_reads() {
    let mut plan = queued("PWDC", false, PLANES, true);
    plan.queue_depth = 1;
    let pages = plan.ftl.user_pages / 2;
    let by_address = filled(&plan, pages);
    let origin: Vec<Ppn> = (0..pages)
        .map(|page| by_address.mapping().lookup(Lpn(page)).unwrap())
        .collect();
    plan.first_read_pages = pages;
    let mut ssd = filled(&plan, pages);
    ssd.verify();
    let mut random = Rng::new(3, "reads");
    let (mut touched, mut next) = (BTreeSet::new(), 0);
    let mut expected = Vec::new();
    let mut requests = Vec::new();
    for turn in 0..300 {
        let page = random.below(u64::from(pages)) as u32;
        let op = [Op::Read, Op::Read, Op::Write][random.below(3) as usize];
        requests.push(at(
            Time::from_ms(turn * 60),
            op,
            u64::from(page) * PAGE,
            PAGE,
        ));
        if touched.insert(page) && op == Op::Read {
            expected.push((page, origin[next]));
            next += 1;
        } else if op == Op::Write {
            expected.retain(|(other, _)| *other != page);
        }
    }
    let (played, tally) = play(&mut ssd, &requests);
    assert_eq!((played.len(), tally.collections), (300, 0));
    assert!(expected.len() > 50, "{} pages", expected.len());
    for (page, place) in expected {
        assert_eq!(ssd.mapping().lookup(Lpn(page)), Some(place), "page {page}");
    }
    ssd.mapping().audit().unwrap();
    let mut places: Vec<_> = (0..pages)
        .map(|page| ssd.mapping().lookup(Lpn(page)))
        .collect();
    places.sort();
    places.dedup();
    assert_eq!(
        places.len(),
        pages as usize,
        "each page has a different place"
    );
}
