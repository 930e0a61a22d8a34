//! SLC cache: times of its pages, its capacity, the time at which it is folded, and the cost of
//! folding.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use shared::{Load, Tally, at, closed_loop, constant, play, reader};
use wordline_block::{Op, Request};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::mapping::Family;
use wordline_ftl::slc_cache::{SlcCache, dynamic, hybrid, r#static};
use wordline_ftl::{Config, Lpn, Map, Mapping, Precondition};
use wordline_io_scheduler::Composition;
use wordline_kernel::{Plus, Rng, Time};
use wordline_nand::{Operation, Plane};
use wordline_reliability::ecc::{Correct, ldpc::Ldpc};
use wordline_reliability::{Reader, SingleLevel};
use wordline_ssd::{Plan, SlcCounts, Ssd};

const PAGE: u64 = 4096;
const BITS: u32 = 4;
/// The default part reads in 50 us and programs in 500 us. Single-level mode is made much faster
/// here, to distinguish the modes.
const READ: Time = Time::from_us(5);
const PROGRAM: Time = Time::from_us(40);
const AFTER: Time = Time::from_ms(50);

fn fixed(ratio: f64) -> SlcCache {
    SlcCache::Static(r#static::Static {
        ratio,
        fold_after_ms: 50.0,
    })
}

fn lent(ratio: f64) -> SlcCache {
    SlcCache::Dynamic(dynamic::Dynamic {
        ratio,
        fold_after_ms: 50.0,
    })
}

fn both(static_ratio: f64, dynamic_ratio: f64) -> SlcCache {
    SlcCache::Hybrid(hybrid::Hybrid {
        static_ratio,
        dynamic_ratio,
        fold_after_ms: 50.0,
    })
}

fn dimensions(channels: u32, planes: u32) -> Dimensions {
    Dimensions {
        channels,
        ways: 1,
        dies: 1,
        planes,
    }
}

/// Returns a device with four-bit cells; `None` if the configuration does not fit on it.
fn device(
    cache: &SlcCache,
    over_provisioning_ratio: f64,
    dimensions: Dimensions,
    blocks: u32,
    pages: u32,
) -> Option<Plan> {
    let config = Config {
        over_provisioning_ratio,
        slc_cache: cache.clone(),
        ..Config::default()
    };
    of_config(&config, dimensions, blocks, pages)
}

fn of_config(config: &Config, dimensions: Dimensions, blocks: u32, pages: u32) -> Option<Plan> {
    let mut plan = shared::plan(config, dimensions, blocks, pages, 4096)?;
    plan.ftl = plan.ftl.of_cells(BITS);
    plan.part.chains = plan.part.chains.with_single_level(READ, PROGRAM);
    Some(plan)
}

fn filled(plan: &Plan, ratio: f64) -> Ssd<Map> {
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    let precondition = Precondition {
        scattered: false,
        fill_pages: (f64::from(plan.ftl.user_pages) * ratio) as u32,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&precondition, |_| true).unwrap();
    ssd.verify();
    ssd
}

/// Returns the time of an operation on an idle device, in the part's own mode and in single-level
/// mode.
fn unloaded(plan: &Plan, operation: Operation) -> [Time; 2] {
    let slow = plan.part.chains.unloaded(operation, 0);
    let latencies = plan.part.chains.latencies();
    let fast = match operation {
        Operation::Read => slow - latencies.read(0) + READ,
        _ => slow - latencies.program(0) + PROGRAM,
    };
    [slow, fast]
}

fn counts(ssd: &Ssd<Map>) -> SlcCounts {
    ssd.stats().slc_cache.unwrap()
}

#[test]
fn cached_pages_take_single_level_times_until_folded() {
    let plan = device(&fixed(0.1), 0.4, dimensions(1, 1), 40, 16).unwrap();
    let mut ssd = filled(&plan, 0.5);
    let [read, fast_read] = unloaded(&plan, Operation::Read);
    let [_, fast_program] = unloaded(&plan, Operation::Program);
    let later = |ms| Time::from_ms(ms);
    // Page 0 was written before the run, in the part's own mode. Four writes fill a block of the
    // cache, and one more opens the next block.
    let mut requests = vec![at(Time::ZERO, Op::Read, 0, PAGE)];
    requests.extend((0..5).map(|page| at(later(1 + page), Op::Write, page * PAGE, PAGE)));
    requests.push(at(later(10), Op::Read, 0, PAGE));
    // By then, the full block of the cache has been folded, and the open block has not.
    requests.push(at(later(500), Op::Read, 0, PAGE));
    requests.push(at(later(501), Op::Read, 4 * PAGE, PAGE));
    let (played, tally) = play(&mut ssd, &requests);
    let took = |number: usize| played[number].done - requests[number].arrival;
    assert_eq!(took(0), read);
    assert!((1..6).all(|number| took(number) == fast_program));
    assert_eq!([6, 7, 8].map(took), [fast_read, read, fast_read]);
    assert_eq!((tally.collections, tally.moved, tally.erased), (1, 4, 1));
    let expected = SlcCounts {
        written: 5,
        direct: 0,
        folded: 4,
        reads: 2,
        erases: 1,
    };
    assert_eq!(counts(&ssd), expected);
}

/// A page has 1.2 % wrong bits in the part's own mode, 111 of 9,216. The first level of the code
/// corrects 44, so the page is retried. In single-level mode its states are fifteen times as far
/// apart, and there are no errors.
#[test]
fn cached_pages_have_no_errors_until_folded() {
    let mut plan = device(&fixed(0.1), 0.4, dimensions(1, 1), 40, 16).unwrap();
    let code = Ldpc::default().code().unwrap();
    plan.part.reader = Some(Box::new(Reader {
        single_level: Some(SingleLevel::new(BITS)),
        ..reader(constant(1.2e-2), code)
    }));
    let mut ssd = filled(&plan, 0.5);
    let later = |ms| Time::from_ms(ms);
    let mut requests: Vec<_> = (0..5)
        .map(|page| at(later(1 + page), Op::Write, page * PAGE, PAGE))
        .collect();
    requests.extend((0..5).map(|page| at(later(10 + page), Op::Read, page * PAGE, PAGE)));
    play(&mut ssd, &requests);
    // The counts cover five host reads, and the reads of the four pages that have been folded
    // since.
    let counts = ssd.stats().read_errors.unwrap();
    assert_eq!((counts.reads, counts.reads_retried), (9, 0));
    let again = at(later(500), Op::Read, 0, PAGE);
    play(&mut ssd, &[again]);
    let counts = ssd.stats().read_errors.unwrap();
    assert_eq!((counts.reads, counts.reads_retried), (10, 1));
}

/// Returns the host pages written in single-level mode before the first that is not, on a device
/// filled to `ratio`.
fn before_the_cliff(plan: &Plan, ratio: f64) -> u64 {
    let mut ssd = filled(plan, ratio);
    let first = (f64::from(plan.ftl.user_pages) * ratio) as u64;
    let rest = u64::from(plan.ftl.user_pages) - first;
    let requests: Vec<Request> = (0..rest.min(2000))
        .map(|page| {
            let arrival = Time::from_ms(5 * page);
            at(arrival, Op::Write, (first + page) * PAGE, PAGE)
        })
        .collect();
    let (played, _) = play(&mut ssd, &requests);
    let [slow, _] = unloaded(plan, Operation::Program);
    let is_slow =
        |(number, played): (usize, &shared::Played)| played.done - requests[number].arrival >= slow;
    let slow = played.iter().enumerate().position(is_slow);
    slow.expect("the writes exceed the cache") as u64
}

/// Without idle time, the cliff occurs when the blocks of the cache are full. A block of the cache
/// holds its number of pages divided by the bits per cell. The cache has dedicated blocks, and lent
/// ones while a plane is above its free-block threshold.
#[test]
fn writes_slow_down_when_the_cache_is_full() {
    let (blocks, pages) = (80, 16);
    let slc_pages = u64::from(pages / BITS);
    for (channels, planes) in [(1, 1), (2, 1), (1, 2)] {
        let dimensions = dimensions(channels, planes);
        let all = u64::from(channels * planes);
        for ratio in [0.05, 0.1, 0.2] {
            let held = (ratio * f64::from(blocks)).floor() as u64 * slc_pages * all;
            let plan = device(&fixed(ratio), 0.4, dimensions, blocks, pages).unwrap();
            assert_eq!(before_the_cliff(&plan, 0.3), held, "static {ratio}");
            let plan = device(&lent(ratio), 0.4, dimensions, blocks, pages).unwrap();
            assert_eq!(before_the_cliff(&plan, 0.3), held, "dynamic {ratio}");
            let plan = device(&both(ratio, 0.1), 0.4, dimensions, blocks, pages).unwrap();
            let more = 8 * slc_pages * all;
            assert_eq!(before_the_cliff(&plan, 0.3), held + more, "hybrid {ratio}");
        }
        // Blocks filled with data cannot be lent.
        let plan = device(&lent(0.9), 0.1, dimensions, blocks, pages).unwrap();
        let mut before = u64::MAX;
        for fill in [0.2, 0.5, 0.8] {
            let ssd = filled(&plan, fill);
            let free = |plane| {
                let free = ssd.mapping().free_blocks_of(Plane(plane));
                u64::from(free - plan.ftl.start_blocks) * slc_pages
            };
            let held = (0..plan.part.layout.planes()).map(free).sum::<u64>();
            assert_eq!(before_the_cliff(&plan, fill), held, "filled to {fill}");
            assert!(held < before, "the cache shrinks as data grows");
            before = held;
        }
    }
}

/// After idle time the whole cache is available again, and folding has moved each valid page once.
#[test]
fn idle_time_frees_the_whole_cache() {
    for cache in [fixed(0.1), lent(0.1), both(0.05, 0.05)] {
        let plan = device(&cache, 0.4, dimensions(2, 1), 80, 16).unwrap();
        let mut ssd = filled(&plan, 0.3);
        let held = 2 * 8 * 4;
        let burst = |start: u64| {
            (0..held + 8).map(move |page| {
                let arrival = Time::from_ms(start) + Time::from_ms(5) * page;
                at(arrival, Op::Write, page * PAGE, PAGE)
            })
        };
        let requests: Vec<Request> = burst(0).chain(burst(100_000)).collect();
        play(&mut ssd, &requests);
        let expected = SlcCounts {
            written: 2 * held,
            direct: 2 * 8,
            folded: 2 * held,
            reads: 0,
            erases: 2 * held / 4,
        };
        assert_eq!(counts(&ssd), expected, "{cache:?}");
    }
}

/// Folding in idle time delays a request by at most one flash operation, and moves no page more
/// than once, even if pages are trimmed during it.
#[test]
fn folding_delays_a_request_by_at_most_one_operation() {
    let mut random = Rng::new(3, "folds");
    for round in 0..100 {
        let cache = [fixed(0.2), lent(0.2), both(0.1, 0.1)][round % 3].clone();
        let mut plan = device(&cache, 0.4, dimensions(1, 1), 40, 16).unwrap();
        plan.internal_data_move = round % 2 == 0;
        let mut ssd = filled(&plan, 0.5);
        let write = |page| at(Time::from_ms(page), Op::Write, page * PAGE, PAGE);
        let mut requests: Vec<Request> = (0..12).map(write).collect();
        let start = Time::from_ms(12) + AFTER;
        let when = start + Time::from_us(random.below(6000));
        requests.push(at(when, Op::Read, 20 * PAGE, PAGE));
        let trimmed = when + Time::from_ms(1);
        requests.push(at(trimmed, Op::Trim, 0, 12 * PAGE));
        let (played, tally) = play(&mut ssd, &requests);
        let latencies = plan.part.chains.latencies();
        let [read, _] = unloaded(&plan, Operation::Read);
        let longest = [Operation::Erase, Operation::Program, Operation::Read]
            .map(|operation| plan.part.chains.unloaded(operation, 0));
        let mut longest = longest.into_iter().max().unwrap();
        if plan.internal_data_move {
            longest = longest.max(plan.part.chains.unloaded(Operation::Move, 0));
        }
        let took = played[12].done - when;
        assert!(
            took >= read && took <= read + longest + latencies.read(0),
            "the read took {took:?}; alone {read:?}, behind {longest:?}"
        );
        assert!(tally.moved <= 12, "a page is moved at most once");
        assert_eq!(counts(&ssd).folded, tally.moved);
        assert!((0..12).all(|page| ssd.mapping().lookup(Lpn(page)).is_none()));
    }
}

/// Reads and writes on random devices: pages are counted once, block tables and content oracle
/// agree (the run is verified), and the count of moved pages includes folded ones.
#[test]
fn load_on_random_devices_is_served_and_counted() {
    let mut random = Rng::new(7, "caches");
    let (mut runs, mut all) = (0, SlcCounts::default());
    for round in 0..150_u64 {
        let cache = match round % 3 {
            0 => fixed(0.02 + 0.2 * random.unit()),
            1 => lent(0.02 + 0.9 * random.unit()),
            _ => both(0.02 + 0.1 * random.unit(), 0.02 + 0.9 * random.unit()),
        };
        let mut config = Config {
            over_provisioning_ratio: 0.1 + 0.5 * random.unit(),
            slc_cache: cache.clone(),
            ..Config::default()
        };
        let mut schedules = Scheduling::defaults().into_iter();
        let number = random.below(Scheduling::defaults().len() as u64) as usize;
        config.gc.schedule = schedules.nth(number).unwrap();
        let dimensions = dimensions(1 + random.below(2) as u32, 1 + random.below(2) as u32);
        let (blocks, pages) = (20 + random.below(40) as u32, 4 + random.below(28) as u32);
        let Some(mut plan) = of_config(&config, dimensions, blocks, pages) else {
            continue;
        };
        plan.queue_depth = 1 + random.below(32) as u32;
        plan.internal_data_move = random.below(2) == 0;
        if random.below(2) == 0 {
            let mut all = Composition::defaults().into_iter();
            plan.composition = all.find(|member| member.name() == "greedy").unwrap();
        }
        let fill = random.below(u64::from(plan.ftl.user_pages) + 1) as u32;
        let load = Load {
            requests: 2000,
            read_ratio: 0.3,
            grain_bytes: 4096,
            most_bytes: 16384,
            footprint_ratio: 1.0,
        };
        let run = closed_loop(&plan, Map::new(&plan.ftl), load, fill, true);
        let (tally, _, ssd) = run.unwrap_or_else(|error| panic!("{cache:?}: {error}"));
        ssd.mapping().audit().unwrap();
        let counts = counts(&ssd);
        let Tally {
            host_pages, moved, ..
        } = tally;
        assert_eq!(counts.written + counts.direct, host_pages);
        assert!(counts.folded <= moved, "{counts:?} {moved}");
        runs += 1;
        all = all.plus(counts);
    }
    assert!(runs > 100, "only {runs} runs");
    assert!(
        all.written > 0 && all.direct > 0 && all.folded > 0 && all.reads > 0,
        "{all:?}"
    );
}

#[test]
fn unsupported_configurations_are_rejected() {
    let dimensions = dimensions(1, 1);
    let refused = |config: &Config| {
        let geometry = wordline_nand::Geometry {
            blocks_per_plane: 60,
            pages_per_block: 16,
            planes_per_die: 1,
            ..Default::default()
        };
        let layout = wordline_nand::Layout::new(&geometry, 1).unwrap();
        let plan = wordline_ftl::Plan::new(config, layout, dimensions, 1);
        plan.unwrap_err().key
    };
    let config = Config {
        over_provisioning_ratio: 0.5,
        slc_cache: fixed(0.1),
        ..Config::default()
    };
    for family in Family::defaults() {
        if family != Family::default() {
            let mapping = family.clone();
            let config = Config {
                mapping,
                ..config.clone()
            };
            assert_eq!(refused(&config), "ftl.slc_cache", "{}", family.name());
        }
    }
    let mut shared = config.clone();
    shared.gc.own_block = false;
    assert_eq!(refused(&shared), "ftl.gc.own_block");
    let crowded = Config {
        over_provisioning_ratio: 0.15,
        slc_cache: fixed(0.5),
        ..config
    };
    assert_eq!(refused(&crowded), "ftl.over_provisioning_ratio");
}
