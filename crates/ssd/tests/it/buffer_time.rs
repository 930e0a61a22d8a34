//! Times of the DRAM buffer, exact in picoseconds: those of its port for hits, and those of the
//! flash for other requests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use shared::{Played, Tally, at, play};
use wordline_block::{LatencyComponents, Op, Request};
use wordline_cache::Replacement;
use wordline_dram_buffer as buffer;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, Map, Precondition};
use wordline_kernel::{Rng, Time};
use wordline_ssd::{Plan, Ssd};

const PAGE: u64 = 4096;
/// Transfer time of 4096 bytes at 3200 MB/s.
const LENGTH: Time = Time(1_280_000);
const ACCESS: Time = Time(100_000);

/// Creates a device of one die, or of several dies on separate channels, and fills half of it.
fn device(dies: u32, pages: Option<u32>, depth: u32) -> (Plan, Ssd<Map>) {
    let dimensions = Dimensions {
        channels: dies,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let mut plan = shared::plan(&Config::default(), dimensions, 64, 16, depth).unwrap();
    plan.buffer = pages.map(|pages| buffer::Plan {
        watches_balance: false,
        pages,
        replacement: Replacement::default(),
        write_through: false,
        capacitors: false,
        ignores_flush: false,
        batch_pages: 0,
        idle_flush: None,
        read_ahead: 0,
        access: ACCESS,
        port: (3_200_000_000, 1_000_000_000_000),
    });
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    let half = Precondition {
        fill_pages: plan.ftl.user_pages / 2,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&half, |_| true).unwrap();
    ssd.verify();
    (plan, ssd)
}

fn run(dies: u32, pages: Option<u32>, requests: &[Request]) -> (Vec<Played>, Tally) {
    let (_, mut ssd) = device(dies, pages, 4096);
    play(&mut ssd, requests)
}

fn page(arrival: Time, op: Op, page: u64) -> Request {
    at(arrival, op, page * PAGE, PAGE)
}

fn responses(requests: &[Request], played: &[Played]) -> Vec<Time> {
    let pairs = requests.iter().zip(played);
    pairs
        .map(|(request, played)| played.done - request.arrival)
        .collect()
}

/// Returns the response time of an operation on one page of an idle device without a buffer.
fn alone(op: Op) -> Time {
    let asked = [page(Time::ZERO, op, 0)];
    let (played, _) = run(1, None, &asked);
    played[0].done
}

#[test]
fn hit_takes_access_and_transfer_time() {
    let asked = [
        page(Time::ZERO, Op::Write, 3),
        page(Time::from_ms(1), Op::Read, 3),
        at(Time::from_ms(2), Op::Read, 3 * PAGE + 512, 1024),
        at(Time::from_ms(3), Op::Write, 3 * PAGE + 1000, 1),
    ];
    let (played, tally) = run(1, Some(8), &asked);
    let byte = Time(1_280_000 / 4096 + 1); // 312.5 ps, rounded up
    let expected = [LENGTH, LENGTH, Time(LENGTH.0 / 4), byte].map(|length| length + ACCESS);
    assert_eq!(responses(&asked, &played), expected);
    assert_eq!((tally.hits, tally.destaged), ([3, 1], 0));
    for played in &played {
        let parts = played.parts;
        assert_eq!(parts.buffer, played.parts.total(), "{parts:?}");
    }
}

/// A buffer is full of dirty pages. Half as many new pages arrive at one instant and evict half of
/// them: the destages pass the port and then occupy the flash for more than 15 ms. Hits still take
/// the time of the port alone.
#[test]
fn destages_never_block_a_hit() {
    const PAGES: u64 = 64;
    let start = Time::from_ms(10);
    let mut asked: Vec<Request> = (0..PAGES).map(|n| page(Time::ZERO, Op::Write, n)).collect();
    asked.extend((0..PAGES / 2).map(|n| page(start, Op::Write, PAGES + n)));
    // Resident pages are accessed at the same instant, and during the next 8 ms.
    let hits = asked.len();
    asked.extend((0..8).map(|n| page(start, Op::Read, PAGES / 2 + n)));
    let soon = |n: u64| start + Time::from_us(200 * (n + 1));
    asked.extend((0..40).map(|n| {
        let op = if n % 3 == 0 { Op::Write } else { Op::Read };
        page(soon(n), op, PAGES / 2 + n % 32)
    }));
    let (_, mut ssd) = device(1, Some(PAGES as u32), 4096);
    let (played, tally) = play(&mut ssd, &asked);
    let response = responses(&asked, &played);
    // The port transfers 32 pages one after another, then the hits that arrived at the same
    // instant.
    for (place, response) in response[hits..hits + 8].iter().enumerate() {
        let before = 32 + place as u64;
        assert_eq!(
            *response,
            Time(LENGTH.0 * (before + 1)) + ACCESS,
            "hit {place}"
        );
    }
    // At most one page whose memory has just become free is transferred at the same time.
    let moved: Vec<Time> = played[PAGES as usize..hits]
        .iter()
        .map(|played| played.done)
        .collect();
    for (place, number) in (hits + 8..asked.len()).enumerate() {
        let arrival = asked[number].arrival;
        let clash = moved.iter().find(|done| {
            let from = **done - ACCESS - LENGTH;
            from < arrival + LENGTH && arrival < **done - ACCESS
        });
        let wait = clash.map_or(Time::ZERO, |done| (*done - ACCESS).since(arrival));
        let expected = wait + LENGTH + ACCESS;
        assert_eq!(response[number], expected, "later hit {place}");
    }
    assert_eq!(tally.evictions, [0, 32]);
    // The destages occupied the flash for 32 programs in sequence.
    let last = moved.iter().max().unwrap();
    assert!(*last > start + Time::from_ms(15), "{last}");
}

/// If all pages are dirty, each write miss waits for one destage and no longer.
#[test]
fn write_miss_waits_for_the_destage_of_its_victim() {
    let program = alone(Op::Write);
    let later = Time::from_ms(5);
    let asked = [
        page(Time::ZERO, Op::Write, 0),
        page(later, Op::Write, 1),
        page(later, Op::Write, 1), // hits the page, whose memory is not available yet
    ];
    let (played, tally) = run(1, Some(1), &asked);
    let memory = LENGTH + program;
    assert_eq!(
        responses(&asked, &played),
        [
            LENGTH + ACCESS,
            memory + LENGTH + ACCESS,
            memory + LENGTH + LENGTH + ACCESS
        ]
    );
    assert_eq!((tally.evictions, tally.destaged), ([0, 1], 1));
    assert_eq!(played[1].parts.buffer_wait, memory);
    // A clean page is evicted at once.
    let clean = [page(Time::ZERO, Op::Read, 0), page(later, Op::Write, 1)];
    let (played, _) = run(1, Some(1), &clean);
    assert_eq!(played[1].done - later, LENGTH + ACCESS);
}

/// Acknowledged pages that are not in flash fit the buffer, for any burst. When `n` pages are
/// acknowledged, the flash has programmed `n` minus the size of the buffer, and not faster than
/// without a buffer.
#[test]
fn acknowledged_dirty_pages_never_exceed_the_buffer() {
    const PAGES: u64 = 64;
    let writes = |each: u64| -> Vec<Request> {
        let first = (0..PAGES).step_by(each as usize);
        let write = |n| at(Time::ZERO, Op::Write, n * PAGE, each * PAGE);
        first.map(write).collect()
    };
    let sorted = |buffer, each| {
        let (played, _) = run(1, buffer, &writes(each));
        let mut done: Vec<Time> = played.iter().map(|played| played.done).collect();
        done.sort_unstable();
        done
    };
    let flash = sorted(None, 1);
    for (pages, each) in [(1, 1), (4, 1), (16, 1), (1, 8), (4, 8), (16, 32)] {
        let done = sorted(Some(pages), each);
        for (place, &done) in done.iter().enumerate() {
            let acknowledged = (place + 1) * each as usize;
            if let Some(programmed) = acknowledged.checked_sub(pages as usize + 1) {
                assert!(
                    done >= flash[programmed],
                    "{pages} pages, {each} at once: {acknowledged} were acknowledged at {done}"
                );
            }
        }
    }
}

/// A read miss moves from flash through the port into memory, and through the port again to the
/// host.
#[test]
fn read_miss_takes_flash_time_and_two_transfers() {
    let read = alone(Op::Read);
    let later = Time::from_ms(1);
    let asked = [
        page(Time::ZERO, Op::Read, 0),
        at(later, Op::Read, PAGE, 512),
        at(later, Op::Read, PAGE + 512, 512), // while the page is being read
    ];
    let (played, tally) = run(1, Some(4), &asked);
    let sector = Time(LENGTH.0 / 8);
    let whole = read + LENGTH + LENGTH + ACCESS;
    let part = read + LENGTH + sector + ACCESS;
    assert_eq!(responses(&asked, &played), [whole, part, part + sector]);
    assert_eq!((tally.hits, tally.unwritten), ([0, 3], 0));
    // The flash time is a component of the response time, both of the request that caused the read
    // and of the one that joined it.
    assert_eq!(of_flash(&played[0].parts), read);
    assert_eq!(played[0].parts.buffer_wait, LENGTH);
    assert_eq!(played[0].parts.buffer, LENGTH + ACCESS);
}

/// A FUA write takes the time to reach memory, the time to pass the port again, and the flash time.
#[test]
fn fua_write_also_takes_flash_time() {
    let program = alone(Op::Write);
    let mut asked = [page(Time::ZERO, Op::Write, 0)];
    asked[0].fua = true;
    let durable = ACCESS + LENGTH + LENGTH + program;
    let (played, _) = run(1, Some(4), &asked);
    assert_eq!(played[0].done, durable);
    assert_eq!(of_flash(&played[0].parts), program);
    // A flush after a plain write takes as long as a FUA write, less the time of the plain write.
    let asked = [
        page(Time::ZERO, Op::Write, 0),
        at(Time::from_ms(1), Op::Flush, 0, 0),
        at(Time::from_ms(9), Op::Flush, 0, 0),
    ];
    let (played, tally) = run(1, Some(4), &asked);
    let expected = [LENGTH + ACCESS, LENGTH + program, Time::ZERO];
    assert_eq!(responses(&asked, &played), expected);
    assert_eq!((tally.destaged, tally.evictions), (1, [0, 0]));
}

/// The written part of a page is destaged and the flash reads the rest, if any, as it does without
/// a buffer. A page that is completely in the buffer is destaged as a whole.
#[test]
fn partial_pages_are_completed_by_the_flash() {
    let part = |arrival, op, page: u64| at(arrival, op, page * PAGE + 1024, 512);
    let unwritten = 10_000 / 16;
    let without = |asked: Request| run(1, None, &[asked]).0[0].done;
    let flush = Time::from_ms(5);
    for (first, page, length, merged) in [
        (None, 0, LENGTH.0 / 8, 1),
        (None, unwritten, LENGTH.0 / 8, 0),
        (Some(Op::Read), 0, LENGTH.0, 0),
        (Some(Op::Write), 0, LENGTH.0, 0),
    ] {
        let whole = first.map(|op| at(Time::ZERO, op, page * PAGE, PAGE));
        let mut asked: Vec<Request> = whole.into_iter().collect();
        asked.push(part(Time::from_ms(2), Op::Write, page));
        asked.push(at(flush, Op::Flush, 0, 0));
        let (played, tally) = run(1, Some(4), &asked);
        let in_flash = match merged {
            1 => without(part(Time::ZERO, Op::Write, page)),
            _ => alone(Op::Write),
        };
        let took = played.last().unwrap().done - flush;
        assert_eq!(took, Time(length) + in_flash, "{first:?} {page}");
        assert_eq!(
            (tally.destaged, tally.merged),
            (1, merged),
            "{first:?} {page}"
        );
    }
    // Two parts with a gap are written. The range from the first to the last is completed and
    // destaged.
    let asked = [
        at(Time::ZERO, Op::Write, 0, 512),
        at(Time::from_us(50), Op::Write, 3 * 512, 512),
        at(flush, Op::Flush, 0, 0),
    ];
    let (played, tally) = run(1, Some(4), &asked);
    let merged = without(part(Time::ZERO, Op::Write, 0));
    assert_eq!(played[2].done - flush, Time(LENGTH.0 / 2) + merged);
    assert_eq!(tally.merged, 1);
}

/// A partially written sector is not in the buffer until its rest has been read from flash.
/// Completely written sectors are.
#[test]
fn partially_written_sector_is_a_miss() {
    let read = alone(Op::Read);
    let later = Time::from_ms(1);
    let again = Time::from_ms(2);
    let asked = [
        at(Time::ZERO, Op::Write, 412, 612), // the end of sector 0, and sector 1
        at(later, Op::Read, 512, 512),
        at(again, Op::Read, 412, 100),
        at(Time::from_ms(3), Op::Read, 0, PAGE),
    ];
    let (played, tally) = run(1, Some(4), &asked);
    let took = responses(&asked, &played);
    let byte = |bytes: u64| Time((bytes * LENGTH.0).div_ceil(PAGE));
    assert_eq!(took[1], byte(512) + ACCESS);
    assert_eq!(took[2], read + LENGTH + byte(100) + ACCESS);
    assert_eq!(took[3], LENGTH + ACCESS);
    assert_eq!(tally.hits, [2, 2]);
}

/// A flush of pages on separate dies takes as long as the slowest: they are programmed in parallel.
#[test]
fn flush_writes_to_all_dies_in_parallel() {
    let program = alone(Op::Write);
    let mut asked: Vec<Request> = (0..8).map(|n| page(Time::ZERO, Op::Write, n)).collect();
    asked.push(at(Time::from_ms(1), Op::Flush, 0, 0));
    let (_, mut ssd) = device(8, Some(16), 64);
    let (played, _) = play(&mut ssd, &asked);
    let flush = played[8].done - asked[8].arrival;
    assert_eq!(flush, Time(8 * LENGTH.0) + program);
}

/// The rate of the port limits the throughput; with hits only, the device reaches this limit.
#[test]
fn hits_reach_the_rate_of_the_port() {
    const HITS: u64 = 1_000;
    let mut asked: Vec<Request> = (0..16).map(|n| page(Time::ZERO, Op::Write, n)).collect();
    let start = Time::from_ms(1);
    asked.extend((0..HITS).map(|n| page(start, Op::Read, n * 7 % 16)));
    let (played, _) = run(1, Some(16), &asked);
    let last = played.last().unwrap().done - start;
    assert_eq!(last, Time(HITS * LENGTH.0) + ACCESS);

    let mut random = Rng::new(7, "roofline");
    let (_, mut ssd) = device(8, Some(16), 4096);
    let mut asked = Vec::new();
    for _ in 0..2_000 {
        let op = if random.below(2) == 0 {
            Op::Read
        } else {
            Op::Write
        };
        asked.push(page(Time::ZERO, op, random.below(64)));
    }
    let (played, tally) = play(&mut ssd, &asked);
    let end = played.iter().map(|played| played.done).max().unwrap();
    let through = asked.len() as u64 + tally.destaged;
    assert!(
        end >= Time(through * LENGTH.0),
        "{end}: {through} pages through the port"
    );
}

/// Returns the flash components of a response time.
fn of_flash(parts: &LatencyComponents) -> Time {
    let LatencyComponents {
        queue,
        die_wait,
        bus_wait,
        bus,
        cell,
        gc,
        ..
    } = *parts;
    queue + die_wait + bus_wait + bus + cell + gc
}

/// A buffer of one page is in front of dies on separate channels. The first page is evicted while
/// all dies are idle, and the others while one die programs the previous page. The maximum load is
/// then the number of dies times the mean: more than ten times the mean from eleven dies on.
#[test]
fn dies_are_unbalanced_if_one_of_many_is_busy() {
    for (dies, unbalanced) in [(10, 0), (11, 2), (16, 2)] {
        let (mut plan, _) = device(dies, Some(1), 4096);
        plan.buffer.as_mut().unwrap().watches_balance = true;
        let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
        // A program takes 500 us, so page 0 is being programmed when page 1 is evicted, and page 1
        // when page 2 is evicted.
        let requests: Vec<_> = (0..4)
            .map(|number| page(Time::from_us(number * 400), Op::Write, number))
            .collect();
        let (_, tally) = play(&mut ssd, &requests);
        assert_eq!(tally.evictions, [0, 3]);
        assert_eq!(tally.unbalanced, unbalanced, "{dies} dies");
    }
}
