//! Destaging of dirty pages, in batches and in idle time, and read-ahead.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use shared::{at, play};
use wordline_block::{Op, Request};
use wordline_cache::Replacement;
use wordline_dram_buffer as buffer;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, Map, Precondition};
use wordline_kernel::{Rng, Time};
use wordline_nand::Operation;
use wordline_ssd::{Plan, Ssd};

const PAGE: u64 = 4096;
/// Transfer time of 4096 bytes at 3200 MB/s.
const LENGTH: Time = Time(1_280_000);
const ACCESS: Time = Time(100_000);

fn device(dies: u32, pages: u32, batch_pages: u32, idle_flush: Option<Time>) -> (Plan, Ssd<Map>) {
    let dimensions = Dimensions {
        channels: dies,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let mut plan = shared::plan(&Config::default(), dimensions, 64, 16, 4096).unwrap();
    plan.buffer = Some(buffer::Plan {
        watches_balance: false,
        pages,
        replacement: Replacement::default(),
        write_through: false,
        capacitors: false,
        ignores_flush: false,
        batch_pages,
        idle_flush,
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

fn page(arrival: Time, op: Op, page: u64) -> Request {
    at(arrival, op, page * PAGE, PAGE)
}

/// Two batches fill the buffer; the next write waits until the last page of the first batch is in
/// flash. If pages are destaged one by one, it waits for one program.
#[test]
fn memory_of_a_batch_is_freed_with_its_last_page() {
    for batch in [1, 2, 5, 16] {
        let asked: Vec<Request> = (0..=2 * batch)
            .map(|n| page(Time::ZERO, Op::Write, n))
            .collect();
        let done = |batch_pages| {
            let (plan, mut ssd) = device(1, 2 * batch as u32, batch_pages, None);
            let (played, tally) = play(&mut ssd, &asked);
            let program = plan.part.chains.unloaded(Operation::Program, 0);
            (played[2 * batch as usize].done, program, tally)
        };
        // The port receives the pages of the first batch and then sends its first page; the die
        // programs one page after another.
        let (last, program, tally) = done(batch as u32);
        let over = Time((batch + 1) * LENGTH.0 + batch * program.0);
        assert_eq!(last, over + LENGTH + ACCESS, "batches of {batch}");
        let batches = (2 * batch + 1) / batch;
        assert_eq!((tally.batches, tally.destaged), (batches, batches * batch));
        // The port receives all pages, then sends the evicted one.
        let (last, program, tally) = done(0);
        let over = Time((2 * batch + 1) * LENGTH.0 + program.0);
        assert_eq!(last, over + LENGTH + ACCESS, "one by one");
        assert_eq!((tally.batches, tally.destaged), (0, 1));
    }
}

/// While a batch is destaged, writes that fit the rest of the buffer take only the time of its
/// port.
#[test]
fn next_batch_fills_during_a_destage() {
    let start = Time::from_us(200);
    let mut asked: Vec<Request> = (0..8).map(|n| page(Time::ZERO, Op::Write, n)).collect();
    asked.extend((0..8).map(|n| page(start + Time(n * 2 * LENGTH.0), Op::Write, 8 + n)));
    let (_, mut ssd) = device(1, 16, 8, None);
    let (played, tally) = play(&mut ssd, &asked);
    for (asked, played) in asked.iter().zip(&played).skip(8) {
        assert_eq!(played.done - asked.arrival, LENGTH + ACCESS);
    }
    assert_eq!(tally.batches, 2);
}

/// In idle time, every dirty page is destaged once. Without an idle flush, no page is destaged.
#[test]
fn idle_flush_destages_all_pages_and_stops() {
    for dies in [1, 2, 4] {
        let (count, after) = (24, Time::from_ms(5));
        let asked: Vec<Request> = (0..count).map(|n| page(Time::ZERO, Op::Write, n)).collect();
        let (_, mut ssd) = device(dies, 64, 0, Some(after));
        let (_, tally) = play(&mut ssd, &asked);
        assert_eq!((tally.destaged, tally.flushed_idly), (count, count));
        assert_eq!(ssd.dirty_pages(), 0);
        let (_, mut ssd) = device(dies, 64, 0, None);
        let (_, tally) = play(&mut ssd, &asked);
        assert_eq!((tally.destaged, tally.flushed_idly), (0, 0));
        assert_eq!(u64::from(ssd.dirty_pages()), count);
    }
}

/// A request ends the flush, even if it completes before the page in progress is in flash. The rest
/// of the pages wait for the next idle period.
#[test]
fn request_ends_an_idle_flush() {
    let after = Time::from_ms(50);
    let alone = {
        let (_, mut ssd) = device(1, 64, 0, None);
        play(&mut ssd, &[page(Time::ZERO, Op::Read, 100)]).0[0].done
    };
    let mut asked: Vec<Request> = (0..24).map(|n| page(Time::ZERO, Op::Write, n)).collect();
    // The requests are a read of a page in the buffer during the first destage, and reads of the
    // die at times when it would destage further pages.
    let first = after + Time::from_us(100);
    asked.push(page(first, Op::Read, 3));
    asked.extend((2..10).map(|ms| page(first + Time::from_ms(ms), Op::Read, 100 + ms)));
    let (plan, mut ssd) = device(1, 64, 0, Some(after));
    let program = plan.part.chains.unloaded(Operation::Program, 0);
    assert!(program > Time::from_us(150) && program < Time::from_ms(2));
    let (played, tally) = play(&mut ssd, &asked);
    assert!(played[24].done < first + Time::from_us(10));
    for (asked, played) in asked.iter().zip(&played).skip(25) {
        assert_eq!(played.done - asked.arrival, alone);
    }
    assert_eq!(tally.flushed_idly, 24);
}

/// A read during an idle flush waits for at most one operation of its die, and pauses shorter than
/// the threshold are not used.
#[test]
fn idle_flush_delays_a_request_by_at_most_one_operation() {
    let mut random = Rng::new(1, "flush");
    let after = Time::from_ms(5);
    let alone = {
        let (_, mut ssd) = device(1, 64, 0, None);
        play(&mut ssd, &[page(Time::ZERO, Op::Read, 100)]).0[0].done
    };
    let mut delayed = 0;
    for _ in 0..200 {
        let mut asked: Vec<Request> = (0..32).map(|n| page(Time::ZERO, Op::Write, n)).collect();
        let arrival = after + Time::from_us(random.below(20_000));
        asked.push(page(arrival, Op::Read, 100));
        let (plan, mut ssd) = device(1, 64, 0, Some(after));
        let (played, _) = play(&mut ssd, &asked);
        let program = plan.part.chains.unloaded(Operation::Program, 0);
        let took = played[32].done - arrival;
        assert!(
            took >= alone && took <= alone + program,
            "the read took {took}, and {alone} on an idle device"
        );
        delayed += u32::from(took > alone);
    }
    assert!(delayed > 100, "{delayed}");
    // The requests arrive at intervals slightly shorter than the threshold.
    let often = |n: u64| page(Time(after.0 * 9 / 10 * n), Op::Write, n % 32);
    let (_, mut ssd) = device(1, 64, 0, Some(after));
    let asked: Vec<Request> = (0..100).map(often).collect();
    let (_, tally) = play(&mut ssd, &asked);
    assert_eq!(tally.flushed_idly, 32);
}

/// Pages are read one by one, sequentially, with pauses: the first two miss and start the
/// read-ahead, and all others hit. Reads that are not sequential cause no read-ahead.
#[test]
fn sequential_reads_are_read_ahead() {
    for pages in [1, 3, 8] {
        let (mut plan, _) = device(2, 32, 0, None);
        plan.buffer.as_mut().unwrap().read_ahead = pages;
        let play_on = |asked: &[Request]| {
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
            play(&mut ssd, asked)
        };
        let count = 100;
        let in_order: Vec<Request> = (0..count)
            .map(|n| page(Time::from_ms(n), Op::Read, n))
            .collect();
        let (played, tally) = play_on(&in_order);
        assert_eq!(tally.hits, [count - 2, 2]);
        assert_eq!(tally.ahead, [count - 2 + u64::from(pages), count - 2]);
        for (asked, played) in in_order.iter().zip(&played).skip(2) {
            assert_eq!(played.done - asked.arrival, LENGTH + ACCESS);
        }
        let jumps: Vec<Request> = (0..count)
            .map(|n| page(Time::from_ms(n), Op::Read, n * 37 % 101))
            .collect();
        assert_eq!(play_on(&jumps).1.ahead, [0, 0]);
    }
}
