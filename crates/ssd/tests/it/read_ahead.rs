//! Dies that read ahead: times computed by hand, correctness of the data, and the effect on other
//! operations.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use shared::{Load, Tally, at, closed_loop, constant, drive, play, reader};
use wordline_block::{BlockDevice, Op, Request};
use wordline_dram_buffer::read_ahead::Physical;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::slc_cache::{SlcCache, r#static};
use wordline_ftl::{Config, Map, Precondition};
use wordline_io_scheduler::Composition;
use wordline_kernel::{AnyProbe, Context, EventQueue, Rng, Time};
use wordline_nand::{Cell, Chains, Geometry, Operation, PerLevel, Suspend, Timing};
use wordline_reliability::ecc::{Correct, ldpc::Ldpc};
use wordline_ssd::{Event, Plan, Ssd};

const PAGE: u64 = 4096;
const US: fn(u64) -> Time = Time::from_us;

/// Returns a device with tR 60 us, tRCBSY 3 us and tPROG 400 us. A page takes 20 us on the bus, and
/// nothing else takes bus time.
fn plan(dimensions: Dimensions, abort_us: Option<u32>) -> Plan {
    plan_of(SlcCache::default(), dimensions, abort_us)
}

fn plan_of(slc_cache: SlcCache, dimensions: Dimensions, abort_us: Option<u32>) -> Plan {
    let config = Config {
        over_provisioning_ratio: 0.4,
        slc_cache,
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
    filled_to(plan, plan.ftl.user_pages)
}

fn filled_to(plan: &Plan, fill_pages: u32) -> Ssd<Map> {
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    fill(&mut ssd, fill_pages);
    ssd
}

/// Writes `fill_pages` pages sequentially before the run.
fn fill(ssd: &mut Ssd<Map>, fill_pages: u32) {
    let precondition = Precondition {
        fill_pages,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&precondition, |_| true).unwrap();
}

/// Reads pages of one die at the given arrival times. Returns the completion times, the array read
/// time, and the numbers of pages read ahead and of those used.
fn reads(abort_us: Option<u32>, pages: &[(u64, u64)]) -> (Vec<u64>, u64, [u64; 2]) {
    let mut ssd = filled(&plan(ONE, abort_us));
    let requests: Vec<_> = pages
        .iter()
        .map(|(us, page)| at(US(*us), Op::Read, page * PAGE, PAGE))
        .collect();
    let (played, tally) = play(&mut ssd, &requests);
    let done = played.iter().map(|one| one.done.0 / 1_000_000).collect();
    let array = ssd.stats().usage.into_iter().next().unwrap().array[0];
    (done, array.0 / 1_000_000, tally.ahead)
}

#[test]
fn page_that_was_read_ahead_skips_its_array_time() {
    // The first read takes 60 + 20 us, and so does the second, which arrives at 200 us.
    assert_eq!(
        reads(None, &[(0, 0), (200, 1)]),
        (vec![80, 280], 120, [0, 0])
    );
    // Page 1 is in the data register at 80 + 3 + 60 us. It is requested at 200 us, is in the cache
    // register 3 us later, and is transferred 20 us after that. Page 2 is then read ahead.
    assert_eq!(
        reads(Some(0), &[(0, 0), (200, 1)]),
        (vec![80, 223], 180, [2, 1])
    );
    // Page 1 is requested at 100 us and waits until the array is ready at 143 us.
    assert_eq!(
        reads(Some(0), &[(0, 0), (100, 1)]),
        (vec![80, 143 + 23], 180, [2, 1])
    );
    // Page 2 is read from 203 us on, while page 1 is transferred, and is ready at 263 us.
    assert_eq!(
        reads(Some(0), &[(0, 0), (200, 1), (230, 2)]),
        (vec![80, 223, 263 + 23], 240, [3, 2])
    );
}

#[test]
fn die_reads_ahead_only_while_idle() {
    // Page 4 waits behind page 0. No page is read ahead until page 4 is transferred; then page 5
    // is.
    assert_eq!(
        reads(Some(0), &[(0, 0), (10, 4)]),
        (vec![80, 160], 180, [1, 0])
    );
    // Page 4 waits when page 1 is taken, so 3Fh ends the cache read and page 2 is not read.
    assert_eq!(
        reads(Some(0), &[(0, 0), (200, 1), (200, 4)]),
        (vec![80, 223, 303], 240, [2, 1])
    );
}

#[test]
fn read_ahead_delays_other_operations_unless_aborted() {
    // Page 4 arrives at 100 us, while page 1 is read until 143 us. An abort takes 5 us and saves 38
    // us of array time.
    assert_eq!(
        reads(Some(0), &[(0, 0), (100, 4)]),
        (vec![80, 143 + 80], 240, [2, 0])
    );
    assert_eq!(
        reads(Some(5), &[(0, 0), (100, 4)]),
        (vec![80, 105 + 80], 240 - 38, [2, 0])
    );
    // A read-ahead is not aborted if the abort takes at least the remaining time, or if the
    // requested page is the one being read.
    assert_eq!(
        reads(Some(5), &[(0, 0), (139, 4)]),
        (vec![80, 143 + 80], 240, [2, 0])
    );
    assert_eq!(
        reads(Some(5), &[(0, 0), (100, 1)]),
        (vec![80, 143 + 23], 180, [2, 1])
    );
    // Page 2 is read from 203 us on. Page 4 arrives at 223 us, when page 1 is transferred, or
    // earlier.
    for arrival in [210, 223] {
        assert_eq!(
            reads(Some(5), &[(0, 0), (200, 1), (arrival, 4)]),
            (vec![80, 223, 228 + 80], 300 - 35, [3, 1]),
            "{arrival}"
        );
    }
    // A page that has been read does not delay other operations.
    assert_eq!(
        reads(Some(0), &[(0, 0), (150, 4)]),
        (vec![80, 150 + 80], 240, [2, 0])
    );
}

#[test]
fn read_ahead_stops_at_the_end_of_a_block() {
    assert_eq!(reads(Some(0), &[(0, 7)]), (vec![80], 60, [0, 0]));
}

#[test]
fn other_operations_invalidate_the_page_in_the_register() {
    // A write occupies the die from 200 us for 420 us, so the page is read again.
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
fn superseded_page_is_not_taken_from_the_register() {
    // Page 0 is on die 0, followed by page 4. Page 4 is rewritten on another die, so its read must
    // go there.
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
fn no_read_returns_stale_data_after_a_write_or_gc() {
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
fn sequential_reads_are_limited_by_cache_reads() {
    // A host that reads sequentially requests the next page 1 us after it has received one. Of the
    // eight pages of a block, the first takes 80 us. The second is ready after 3 + 60 us and is
    // transferred after 23 us more. From then on, the array provides one page every 3 + 60 us while
    // the previous one is transferred.
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

#[test]
fn die_does_not_read_ahead_after_a_read_that_suspended_a_program() {
    let mut plan = plan(ONE, Some(0));
    plan.part.suspend = Suspend {
        program: true,
        ..Suspend::default()
    };
    let mut ssd = filled(&plan);
    let requests = [
        at(US(0), Op::Write, 20 * PAGE, PAGE),
        at(US(100), Op::Read, 0, PAGE),
    ];
    let (played, tally) = play(&mut ssd, &requests);
    assert!(played[1].done < played[0].done, "the program is suspended");
    assert_eq!(tally.ahead, [0, 0]);
}

#[test]
fn trimmed_or_rewritten_page_is_not_taken_from_the_register() {
    // Page 1 is in the register from 143 us on.
    for (op, again) in [(Op::Trim, 0), (Op::Write, 80)] {
        let mut ssd = filled(&plan(ONE, Some(0)));
        ssd.verify();
        let requests = [
            at(US(0), Op::Read, 0, PAGE),
            at(US(200), op, PAGE, PAGE),
            at(US(1000), Op::Read, PAGE, PAGE),
        ];
        let (played, tally) = play(&mut ssd, &requests);
        assert_eq!(played[2].done, US(1000 + again), "{op:?}");
        assert_eq!(tally.ahead[1], 0, "{op:?}");
    }
}

/// Every array read, for any purpose, takes tR of a plane. Aborted reads take less.
#[test]
fn array_time_covers_all_pages_read() {
    for (abort, planes) in [(None, 2), (Some(0), 1), (Some(0), 2), (Some(5), 2)] {
        let plan = plan(Dimensions { planes, ..FOUR }, abort);
        let (mapping, fill) = (Map::new(&plan.ftl), plan.ftl.user_pages);
        let (tally, _, ssd) = closed_loop(&plan, mapping, load(0.8, 6), fill, true).unwrap();
        let worked: u64 = ssd
            .stats()
            .usage
            .into_iter()
            .map(|usage| usage.array[0].0)
            .sum();
        let whole = tally.read * US(60).0;
        if abort == Some(5) {
            assert!(worked > whole && worked < whole + tally.ahead[0] * US(60).0);
        } else {
            assert_eq!(worked, whole, "{abort:?}, {planes} planes");
        }
        assert!(tally.ahead[0] > tally.ahead[1] || abort.is_none());
    }
}

/// Returns a device like that of [`plan`], with errors in 9,216 bits. At a rate of 1.2e-2, a read
/// needs a retry that takes 90 us and transfers four times the bits; at 0.2, it is uncorrectable.
fn with_errors(dimensions: Dimensions, rate: f64) -> Plan {
    let mut plan = plan(dimensions, Some(0));
    let ldpc = Ldpc {
        decode_us: vec![0.0; 3],
        ..Ldpc::default()
    };
    let code = ldpc.code().unwrap();
    plan.part.reader = Some(Box::new(reader(constant(rate), code)));
    plan
}

#[test]
fn page_from_the_register_is_retried_if_needed() {
    let mut ssd = filled(&with_errors(ONE, 1.2e-2));
    ssd.verify();
    let requests = [
        at(US(0), Op::Read, 0, PAGE),
        at(US(1000), Op::Read, PAGE, PAGE),
        at(US(2000), Op::Read, 2 * PAGE, PAGE),
    ];
    let (played, tally) = play(&mut ssd, &requests);
    // A read takes 60 + 20 us, and its retry 90 + 4 x 20 us. A read from the register takes 3 + 20
    // us, and the same time for its retry. After a retry, the next page is read ahead as usual.
    let done: Vec<_> = played.iter().map(|one| one.done).collect();
    assert_eq!(done, [US(250), US(1000 + 23 + 170), US(2000 + 23 + 170)]);
    assert_eq!(tally.ahead, [3, 2]);
    let counts = ssd.stats().read_errors.unwrap();
    assert_eq!((counts.reads, counts.reads_retried), (3, 3));
    // Every array read of a block disturbs it: two reads of each requested page, and one of page 3.
    let reads = ssd.array().health().unwrap().reads().iter().max();
    assert_eq!(reads, Some(&7));
}

#[test]
fn uncorrectable_page_fails_only_its_own_read() {
    let mut ssd = filled(&with_errors(ONE, 0.2));
    ssd.verify();
    let requests: Vec<_> = (0..4)
        .map(|page| at(US(5000 * page), Op::Read, page * PAGE, PAGE))
        .collect();
    let (_, tally) = play(&mut ssd, &requests);
    assert_eq!(tally.ahead, [4, 3]);
    let counts = ssd.stats().read_errors.unwrap();
    assert_eq!((counts.reads, counts.host_failures), (4, 4));
    // One page in fifty is uncorrectable, under any concurrent operations; verification checks
    // every read that succeeds.
    let plan = with_errors(Dimensions { planes: 2, ..FOUR }, 2.35e-2);
    let (mapping, fill) = (Map::new(&plan.ftl), plan.ftl.user_pages);
    let (tally, _, ssd) = closed_loop(&plan, mapping, load(0.6, 6), fill, true).unwrap();
    let counts = ssd.stats().read_errors.unwrap();
    assert!(tally.ahead[1] > 0 && counts.host_failures > 0 && counts.pages_lost > 0);
}

#[test]
fn single_level_pages_are_read_ahead_in_single_level_time() {
    // In single-level mode, tR is 5 us and tPROG is 40 us, and a block holds half of its pages.
    let cache = SlcCache::Static(r#static::Static {
        ratio: 0.2,
        fold_after_ms: 50.0,
    });
    let mut plan = plan_of(cache, ONE, Some(0));
    plan.ftl = plan.ftl.of_cells(2);
    plan.part.chains = plan.part.chains.with_single_level(US(5), US(40));
    let mut ssd = filled_to(&plan, plan.ftl.user_pages / 2);
    ssd.verify();
    let mut requests: Vec<_> = (0..3)
        .map(|page| at(US(100 * page), Op::Write, page * PAGE, PAGE))
        .collect();
    // Pages 0 to 2 are consecutive. Page 0 takes 5 + 20 us and page 1 takes 3 + 20 us. Page 2 is
    // requested 1 us after page 1 is transferred, and by then the array has read it.
    let reads = [(1000, 0), (1100, 1), (1124, 2)];
    requests.extend(reads.map(|(us, page)| at(US(us), Op::Read, page * PAGE, PAGE)));
    let (played, tally) = play(&mut ssd, &requests);
    let done: Vec<_> = played[3..].iter().map(|one| one.done).collect();
    assert_eq!(done, [US(1025), US(1123), US(1147)]);
    assert_eq!(tally.ahead, [2, 2]);
    let usage = ssd.stats().usage.into_iter().next().unwrap();
    assert_eq!(usage.array[Operation::Read as usize], US(3 * 5));
}

#[test]
fn power_cut_clears_pages_read_ahead() {
    // Power fails while the array reads page 1, or when page 1 is in the register.
    for after in [100, 300] {
        let plan = plan(ONE, Some(0));
        let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
        ssd.expect_power_cuts();
        fill(&mut ssd, plan.ftl.user_pages);
        let mut queue = EventQueue::<Event>::default();
        let mut tally = Tally::default();
        let first = at(US(0), Op::Read, 0, PAGE);
        let mut probe = AnyProbe::new(&mut tally);
        let mut cx = Context::new(US(0), &mut queue, &mut probe);
        ssd.submit(&mut cx, first).unwrap();
        while queue.next_time().is_some_and(|time| time <= US(after)) {
            let (now, event) = queue.pop().unwrap();
            let mut probe = AnyProbe::new(&mut tally);
            let mut cx = Context::new(now, &mut queue, &mut probe);
            ssd.handle(&mut cx, event).unwrap();
        }
        assert_eq!(tally.ahead, [1, 0]);
        ssd.completions().for_each(drop);
        let cut = ssd.cut_power(US(after), &mut tally).unwrap();
        assert_eq!((cut.requests_lost, cut.pages_torn), (0, 0));
        let again = US(after) + cut.time;
        let (played, _) = play(&mut ssd, &[at(again, Op::Read, PAGE, PAGE)]);
        assert_eq!(played[0].done, again + US(80));
    }
}

/// Keeps the device busy with sequential reads, writes and TRIMs, and repeatedly cuts its power
/// after at most 300 events. Returns the numbers of cuts and of pages taken from registers.
fn cut_at_random(plan: &Plan, seed: u64) -> (u32, u64) {
    const REQUESTS: u64 = 1500;
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    ssd.expect_power_cuts();
    fill(&mut ssd, plan.ftl.user_pages);
    ssd.verify();
    let mut random = Rng::new(seed, "power");
    let mut queue = EventQueue::<Event>::default();
    let (mut tally, mut now, mut issued) = (Tally::default(), Time::ZERO, 0);
    let (mut left, mut cuts, mut lost) = (300, 0, 0);
    loop {
        while issued < REQUESTS && ssd.can_accept(0) {
            let (op, offset, bytes) = mixed(ssd.user_bytes(), issued, &mut random);
            let request = Request {
                arrival: now,
                ..at(now, op, offset, bytes)
            };
            let mut probe = AnyProbe::new(&mut tally);
            let mut cx = Context::new(now, &mut queue, &mut probe);
            ssd.submit(&mut cx, request).unwrap();
            issued += 1;
        }
        let Some((time, event)) = queue.pop() else {
            break;
        };
        now = time;
        let mut probe = AnyProbe::new(&mut tally);
        let mut cx = Context::new(now, &mut queue, &mut probe);
        ssd.handle(&mut cx, event).unwrap();
        ssd.completions().for_each(drop);
        left -= 1;
        if left == 0 {
            left = 1 + random.below(300);
            queue = EventQueue::default();
            let cut = ssd.cut_power(now, &mut tally).unwrap();
            ssd.completions().for_each(drop);
            now += cut.time;
            cuts += 1;
            lost += u64::from(cut.requests_lost);
        }
    }
    assert_eq!(tally.requests + lost, REQUESTS);
    (cuts, tally.ahead[1])
}

/// Returns the next request of a mixed load. Most requests read the page whose number is that of
/// the request, modulo the device size; one in six writes a few pages anywhere, and one in twelve
/// trims some.
fn mixed(user_bytes: u64, number: u64, random: &mut Rng) -> (Op, u64, u64) {
    let (_, offset, bytes) = load(0.0, 6).next(user_bytes, random);
    match random.below(12) {
        0 => (Op::Trim, offset, bytes),
        1 | 2 => (Op::Write, offset, bytes),
        _ => (Op::Read, number * PAGE % user_bytes, PAGE),
    }
}

#[test]
fn power_cut_at_any_event_loses_no_durable_data() {
    for abort in [0, 5] {
        let mut all = (0, 0);
        for seed in 0..6 {
            let mut plan = plan(Dimensions { planes: 2, ..FOUR }, Some(abort));
            plan.queue_depth = 3;
            let (cuts, used) = cut_at_random(&plan, seed);
            all = (all.0 + cuts, all.1 + used);
        }
        assert!(all.0 > 60 && all.1 > 60, "{all:?}");
    }
}

#[test]
fn no_read_returns_stale_data_after_a_trim() {
    let mut plan = plan(FOUR, Some(0));
    plan.queue_depth = 3;
    let (mapping, fill) = (Map::new(&plan.ftl), plan.ftl.user_pages);
    let next = |ssd: &Ssd<Map>, number, random: &mut Rng| mixed(ssd.user_bytes(), number, random);
    let (tally, _, ssd) = drive(&plan, mapping, 6000, fill, true, next).unwrap();
    assert!(tally.trimmed > 0 && tally.ahead[1] > 0);
    ssd.audit().unwrap();
}
