//! Read errors: retries take their time, uncorrectable pages end with an error and never return
//! data, and their frequency matches theory.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use shared::{Load, at, closed_loop, constant, filled, play, reader};
use wordline_block::{BlockDevice, Op, ReadEvents};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, Map, Mapping};
use wordline_io_scheduler::Composition;
use wordline_kernel::{AnyProbe, Context, EventQueue, Time};
use wordline_reliability::binomial::{page_fails, rate_for};
use wordline_reliability::ecc::{Correct, bch::Bch, ldpc::Ldpc};
use wordline_reliability::errors::table::Table;
use wordline_reliability::{Code, Ecc, Errors};
use wordline_ssd::{Event, Plan, Ssd};

const PAGE: u64 = 4096;
const US: fn(u64) -> Time = Time::from_us;

/// Returns a device with tR 30 us and tPROG 400 us. A page takes 20 us on the bus, and nothing else
/// takes bus time.
fn plan(errors: Errors, code: Code) -> Plan {
    over_provisioned(0.4, errors, code)
}

fn over_provisioned(over_provisioning_ratio: f64, errors: Errors, code: Code) -> Plan {
    let config = Config {
        over_provisioning_ratio,
        ..Config::default()
    };
    let dimensions = Dimensions {
        channels: 2,
        ways: 1,
        dies: 1,
        planes: 2,
    };
    let mut plan = shared::plan(&config, dimensions, 32, 8, 16).unwrap();
    shared::take(&mut plan, 8, [30, 400, 1500].map(Time::from_us));
    plan.part.reader = Some(Box::new(reader(errors, code)));
    plan
}

fn without_decoding() -> Ldpc {
    Ldpc {
        decode_us: vec![0.0; 3],
        ..Ldpc::default()
    }
}

#[test]
fn read_takes_the_retries_that_its_errors_need() {
    // The levels correct 44, 180 and 201 errors of 9,216 bits. A rate of 1e-9 gives no errors, and
    // 1.2e-2 gives 111 with a standard deviation of 10. A read takes 30 + 20 us, and a retry 90 + 4
    // x 20 us. A rate of 0.1 is uncorrectable at any level.
    for (rate, took, failed) in [
        (1e-9, 50, false),
        (1.2e-2, 50 + 170, false),
        (0.1, 50 + 170 + 310, true),
    ] {
        let mut ssd = filled(&plan(constant(rate), without_decoding().code().unwrap()));
        let (played, _) = play(&mut ssd, &[at(Time::ZERO, Op::Read, 0, PAGE)]);
        assert_eq!(played[0].done, US(took), "{rate}");
        let counts = ssd.stats().read_errors.unwrap();
        assert_eq!(counts.host_failures, u64::from(failed));
        assert_eq!(counts.reads_retried, u64::from(took > 50));
    }
    // Each failed decoding precedes the next read; the last decoding takes no time.
    let slow = Ldpc {
        decode_us: vec![7.0, 0.0, 0.0],
        ..Ldpc::default()
    };
    let mut ssd = filled(&plan(constant(1.2e-2), slow.code().unwrap()));
    let (played, _) = play(&mut ssd, &[at(Time::ZERO, Op::Read, 0, PAGE)]);
    assert_eq!(played[0].done, US(50 + 7 + 170));
}

#[test]
fn pages_of_a_multi_plane_read_are_retried_one_by_one() {
    let mut plan = plan(constant(1.2e-2), without_decoding().code().unwrap());
    let mut all = Composition::defaults().into_iter();
    plan.composition = all.find(|member| member.name() == "greedy").unwrap();
    let mut ssd = filled(&plan);
    // Pages 0 and 2 are on the two planes of a die (channels first).
    let requests = [
        at(Time::ZERO, Op::Read, 0, PAGE),
        at(Time::ZERO, Op::Read, 2 * PAGE, PAGE),
    ];
    let (played, _) = play(&mut ssd, &requests);
    // Both pages are sensed together and transferred one after the other; then each is retried.
    assert_eq!(
        played.iter().map(|played| played.done).max(),
        Some(US(30 + 2 * 20 + 2 * 170))
    );
}

#[test]
fn share_of_uncorrectable_pages_matches_theory() {
    let bch = Bch::default();
    let code = bch.code().unwrap();
    // A codeword fails with a probability of 0.026, so one page in ten is uncorrectable.
    let mut rate = rate_for(code.bits, bch.correctable, 0.026);
    for _ in 0..3 {
        let expected = page_fails(code.bits, rate, bch.correctable, 4);
        let mut ssd = filled(&plan(constant(rate), code.clone()));
        let requests: Vec<_> = (0..4000)
            .map(|turn| at(US(100 * turn), Op::Read, turn % 100 * PAGE, PAGE))
            .collect();
        play(&mut ssd, &requests);
        let share = ssd.stats().read_errors.unwrap().host_failures as f64 / 4000.0;
        let error = (expected * (1.0 - expected) / 4000.0).sqrt();
        assert!(
            (share - expected).abs() < 5.0 * error,
            "share {share}, expected {expected}"
        );
        rate *= 1.1;
    }
}

/// Only the completions report which requests failed, and the run continues.
#[test]
fn uncorrectable_page_fails_reads_and_partial_writes_only() {
    let mut ssd = filled(&plan(constant(0.2), Bch::default().code().unwrap()));
    ssd.verify();
    let mut queue = EventQueue::<Event>::default();
    let mut now = Time::ZERO;
    let mut failed = |ssd: &mut Ssd<Map>, op, bytes| {
        let request = at(now, op, 0, bytes);
        ssd.submit(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut ())),
            request,
        )
        .unwrap();
        while let Some((at, event)) = queue.pop() {
            now = at;
            ssd.handle(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut ())),
                event,
            )
            .unwrap();
        }
        let completions: Vec<_> = ssd.completions().collect();
        assert_eq!(completions.len(), 1);
        completions[0].failed
    };
    assert!(failed(&mut ssd, Op::Read, PAGE));
    assert!(!failed(&mut ssd, Op::Write, PAGE));
    // The rest of a partially written page is uncorrectable.
    assert!(failed(&mut ssd, Op::Write, 512));
    assert_eq!(ssd.stats().read_errors.unwrap().pages_lost, 1);
    assert_eq!(ssd.stats().read_errors.unwrap().host_failures, 2);
    // A second partial write does not count the same data as lost again.
    assert!(failed(&mut ssd, Op::Write, 512));
    assert_eq!(ssd.stats().read_errors.unwrap().pages_lost, 1);
}

/// No page can be read, so GC loses the data of each page that it moves, but only once however
/// often it moves them.
#[test]
fn data_are_lost_at_most_once() {
    let load = Load {
        requests: 20_000,
        read_ratio: 0.0,
        grain_bytes: PAGE,
        most_bytes: PAGE,
        footprint_ratio: 1.0,
    };
    for internal_data_move in [false, true] {
        let mut plan = over_provisioned(0.15, constant(0.2), Bch::default().code().unwrap());
        plan.internal_data_move = internal_data_move;
        let fill = plan.ftl.user_pages;
        let (tally, _, ssd) = closed_loop(&plan, Map::new(&plan.ftl), load, fill, true).unwrap();
        let most = u64::from(fill) + load.requests;
        assert!(tally.moved > most, "{} moves", tally.moved);
        let lost = ssd.stats().read_errors.unwrap().pages_lost;
        assert!(
            0 < lost && lost <= most,
            "{lost} pages lost, at most {most} expected"
        );
    }
}

#[test]
fn uncorrectable_data_are_never_returned() {
    let load = Load {
        requests: 6000,
        read_ratio: 0.5,
        grain_bytes: 2048,
        most_bytes: 3 * PAGE,
        footprint_ratio: 0.4,
    };
    let bch = Bch::default();
    let code = bch.code().unwrap();
    for (failure, joins) in [(1e-4, false), (0.02, false), (0.3, true)] {
        let rate = rate_for(code.bits, bch.correctable, failure);
        let mut plan = plan(constant(rate), code.clone());
        if joins {
            plan.composition = Composition::defaults().pop().unwrap();
        }
        let (mapping, fill) = (Map::new(&plan.ftl), plan.ftl.user_pages);
        let (tally, _, ssd) = closed_loop(&plan, mapping, load, fill, true).unwrap();
        assert!(tally.moved > 0);
        let counts = ssd.stats().read_errors.unwrap();
        assert!(failure < 0.01 || counts.host_failures > 0 && counts.pages_lost > 0);
    }
}

/// The read that reaches the limit moves the block, even without read errors. Decoding then takes
/// no time.
#[test]
fn read_reclaim_works_without_read_errors() {
    let mut plan = plan(Errors::default(), Ecc::default().code().unwrap());
    plan.part.reader.as_mut().unwrap().read_limit = 40;
    let mut ssd = filled(&plan);
    ssd.verify();
    let mut now = Time::ZERO;
    for read in 1..=50_u64 {
        let (played, tally) = play(&mut ssd, &[at(now, Op::Read, 0, PAGE)]);
        assert_eq!(played[0].done - now, US(50));
        assert_eq!(tally.moved > 0, read == 40, "read {read}");
        now += US(100_000);
    }
    assert_eq!(ssd.stats().read_errors.unwrap().reads_retried, 0);
}

/// Each retry senses the page again and disturbs its block. An error rate of 1.2e-2 needs the
/// second level, and therefore two array reads per host read. The third host read reaches a limit
/// of 6.
#[test]
fn retries_count_as_reads_of_the_block() {
    let mut plan = plan(constant(1.2e-2), without_decoding().code().unwrap());
    plan.part.reader.as_mut().unwrap().read_limit = 6;
    let mut ssd = filled(&plan);
    for read in 1..=3_u64 {
        let (_, tally) = play(&mut ssd, &[at(US(100_000 * read), Op::Read, 0, PAGE)]);
        assert_eq!(tally.refreshes, u64::from(read == 3), "read {read}");
    }
}

/// Each read adds errors to the pages of its block, until they are uncorrectable.
#[test]
fn data_age_with_reads() {
    let errors = Errors::Table(Table {
        cycles: vec![0.0],
        rates: vec![0.0],
        per_day: Vec::new(),
        // Each read adds 0.9 errors to 8,752 bits.
        per_read: vec![1e-4],
    });
    let mut one = plan(errors, Bch::default().code().unwrap());
    if let Some(reader) = &mut one.part.reader {
        reader.expected = true;
    }
    let mut ssd = filled(&one);
    let requests: Vec<_> = (0..100)
        .map(|turn| at(US(1000 * turn), Op::Read, 0, PAGE))
        .collect();
    play(&mut ssd, &requests);
    let counts = ssd.stats().read_errors.unwrap();
    // The worst of four codewords, with a median of about 40 errors and a standard deviation of 6,
    // is about six above the median.
    assert!(
        counts.host_failures > 50 && counts.host_failures < 65,
        "{counts:?}"
    );
    assert_eq!(
        ssd.array().health().unwrap().reads().iter().max(),
        Some(&100)
    );
}

/// Blocks with too many reads or too old data are moved: every read stays correct, the reads of a
/// block exceed its limit only by those that precede the end of the move, and a block has no valid
/// data when it is erased (asserted by the map).
#[test]
fn blocks_with_old_or_often_read_data_are_moved() {
    let load = Load {
        requests: 4000,
        read_ratio: 1.0,
        grain_bytes: PAGE,
        most_bytes: PAGE,
        footprint_ratio: 0.1,
    };
    let code = Bch::default().code().unwrap();
    for family in wordline_ftl::mapping::Family::defaults() {
        if !["page", "dftl"].contains(&family.name()) {
            continue;
        }
        let run = |read_limit, refresh_days| {
            let mut plan = plan(constant(1e-6), code.clone());
            plan.ftl.config.mapping = family.clone();
            if let Some(reader) = &mut plan.part.reader {
                reader.read_limit = read_limit;
                reader.refresh_days = refresh_days;
                reader.retention_days = 10.0;
            }
            let (mapping, fill) = (Map::new(&plan.ftl), plan.ftl.user_pages);
            let (tally, _, ssd) = closed_loop(&plan, mapping, load, fill, true).unwrap();
            ssd.mapping().audit().unwrap();
            (tally, ssd)
        };
        let (tally, _) = run(0, 0.0);
        assert_eq!(tally.collections, 0, "{}", family.name());
        let (tally, ssd) = run(100, 0.0);
        // Each refresh follows at least a hundred reads of its block.
        assert!(
            tally.collections > 10 && tally.collections <= 40,
            "{}",
            tally.collections
        );
        // Moved data change the map. If part of it is in flash, its blocks are erased, too.
        assert!(
            tally.erased >= tally.collections,
            "{} of {}",
            tally.erased,
            tally.collections
        );
        assert!(family.name() != "page" || tally.erased == tally.collections);
        let most = ssd.array().health().unwrap().reads().iter().max();
        // The limit includes reads in progress when it was reached, the reads of the move, and
        // those of an active block.
        assert!(*most.unwrap() < 100 + 16 + 8 + 100, "{most:?}");
        // All blocks that are read are ten days old, and each is moved once.
        let (tally, _) = run(0, 5.0);
        let blocks = (load.footprint_ratio * f64::from(ssd.mapping().user_pages()) / 8.0) as u64;
        assert!(
            tally.collections >= blocks && tally.collections < blocks + 8,
            "{}",
            tally.collections
        );
    }
}

/// The last decoding of a page is a component of the response time, after all others, and the die
/// is free during it: 30 + 20 us, then the decoder. The components add up exactly.
#[test]
fn last_decoding_is_a_component_of_the_response_time() {
    let code = Ldpc {
        decode_us: vec![7.0, 9.0, 11.0],
        ..Ldpc::default()
    };
    // At 1e-9 there are no errors, and the first level suffices. 1.2e-2 needs the second level. At
    // 0.1, all three levels fail.
    for (rate, took, decode) in [
        (1e-9, 50 + 7, 7),
        (1.2e-2, 50 + 7 + 170 + 9, 9),
        (0.1, 50 + 7 + 170 + 9 + 310 + 11, 11),
    ] {
        let mut ssd = filled(&plan(constant(rate), code.code().unwrap()));
        let (played, _) = play(&mut ssd, &[at(Time::ZERO, Op::Read, 0, PAGE)]);
        assert_eq!(played[0].done, US(took), "{rate}");
        assert_eq!(played[0].parts.decode, US(decode), "{rate}");
        assert_eq!(played[0].parts.total(), played[0].done);
    }
    // Two reads access one die: the second page is sensed while the first is decoded.
    let mut ssd = filled(&plan(constant(1e-9), code.code().unwrap()));
    let requests = [0, 4].map(|page| at(Time::ZERO, Op::Read, page * PAGE, PAGE));
    let (played, _) = play(&mut ssd, &requests);
    assert_eq!([played[0].done, played[1].done], [US(57), US(107)]);
    // For a partial write, the rest of the page is read and decoded in 57 us; then the page is
    // transferred and programmed in 20 + 400 us.
    let mut ssd = filled(&plan(constant(1e-9), code.code().unwrap()));
    let (played, _) = play(&mut ssd, &[at(Time::ZERO, Op::Write, 0, 512)]);
    assert_eq!(played[0].done, US(57 + 420));
    assert_eq!(played[0].parts.decode, US(7));
    assert_eq!(played[0].parts.total(), played[0].done);
}

/// A BCH decoder takes time for each corrected error.
#[test]
fn corrected_errors_take_decoding_time() {
    let code = Bch {
        decode_us: 2.0,
        decode_per_error_us: 0.5,
        ..Bch::default()
    };
    let mut ssd = filled(&plan(constant(5e-4), code.code().unwrap()));
    let (played, _) = play(&mut ssd, &[at(Time::ZERO, Op::Read, 0, PAGE)]);
    let errors = ssd.stats().read_errors.unwrap().worst_codewords;
    assert!(errors > 0);
    assert_eq!(played[0].parts.decode, US(2) + Time::from_ns(500) * errors);
}

const MIXED: Load = Load {
    requests: 3_000,
    read_ratio: 0.5,
    grain_bytes: 512,
    most_bytes: 16_384,
    footprint_ratio: 1.0,
};

/// The probe observes every retry, of host reads and of GC reads.
#[test]
fn probe_observes_every_retry() {
    for rate in [4e-3, 1.2e-2] {
        let plan = plan(constant(rate), without_decoding().code().unwrap());
        let mapping = Map::new(&plan.ftl);
        let (tally, _, ssd) =
            closed_loop(&plan, mapping, MIXED, plan.ftl.user_pages, false).unwrap();
        let counts = ssd.stats().read_errors.unwrap();
        assert!(tally.moved > 0 && counts.retries > 0);
        assert_eq!(tally.retries, counts.retries);
    }
}

/// A read reports a retry event if one of its pages was retried, with and without a buffer. Pages
/// without errors report none.
#[test]
fn reads_report_retries() {
    // The first level corrects 44 errors of 9,216 bits. At 1e-9 there are none, and at 1.2e-2
    // always more.
    for (rate, expected) in [(1e-9, ReadEvents::default()), (1.2e-2, ReadEvents::RETRY)] {
        for buffered in [false, true] {
            let mut plan = plan(constant(rate), without_decoding().code().unwrap());
            if buffered {
                plan.buffer = Some(shared::buffer(1));
            }
            let mut ssd = filled(&plan);
            let requests =
                [0, 4, 8].map(|page| at(Time::from_ms(page), Op::Read, page * PAGE, 2 * PAGE));
            let (_, tally) = play(&mut ssd, &requests);
            assert_eq!(tally.met, [expected; 3], "{rate} {buffered}");
        }
    }
    let mut plan = plan(constant(1.2e-2), without_decoding().code().unwrap());
    plan.part.reader = None;
    let (_, tally) = play(&mut filled(&plan), &[at(Time::ZERO, Op::Read, 0, PAGE)]);
    assert_eq!(tally.met, []);
}

/// A slow decoder does not block requests, and reads are correct.
#[test]
fn every_request_is_served_with_a_slow_decoder() {
    let code = Ldpc {
        decode_us: vec![200.0, 300.0, 500.0],
        ..Ldpc::default()
    };
    let plan = plan(constant(3e-3), code.code().unwrap());
    let (tally, _, ssd) =
        closed_loop(&plan, Map::new(&plan.ftl), MIXED, plan.ftl.user_pages, true).unwrap();
    assert_eq!(tally.requests, MIXED.requests);
    ssd.mapping().audit().unwrap();
}

/// With a DRAM buffer in front of pages with errors, the response time has 30 + 20 us of flash and
/// 11 us of decoding. An uncorrectable page fails its requests each time, and is correct again
/// after it was written as a whole.
#[test]
fn buffer_passes_read_errors_on() {
    let code = Ldpc {
        decode_us: vec![11.0; 3],
        ..Ldpc::default()
    };
    let with_buffer = |rate| {
        let mut plan = plan(constant(rate), code.code().unwrap());
        plan.buffer = Some(shared::buffer(8));
        plan
    };
    let mut ssd = filled(&with_buffer(1e-9));
    ssd.verify();
    let (played, _) = play(&mut ssd, &[at(Time::ZERO, Op::Read, 0, PAGE)]);
    assert_eq!(played[0].parts.decode, US(11));
    assert_eq!(played[0].parts.total(), played[0].done);
    let mut ssd = filled(&with_buffer(0.3));
    ssd.verify();
    let later = |us| at(US(us), Op::Read, 0, PAGE);
    // Two requests wait for the same page, and one follows. Then the whole page is written, and
    // read from the buffer.
    let requests = [
        later(0),
        later(1),
        later(10_000),
        at(US(20_000), Op::Write, 0, PAGE),
        later(30_000),
    ];
    let failed = failures(&mut ssd, &requests);
    assert_eq!(failed, [true, true, true, false, false]);
    assert_eq!(ssd.stats().read_errors.unwrap().host_failures, 2);
    // If the rest of a partially written page is uncorrectable, requests that need it durable fail.
    let part = |fua| wordline_block::Request {
        fua,
        ..at(
            US(if fua { 50_000 } else { 60_000 }),
            Op::Write,
            9 * PAGE,
            512,
        )
    };
    assert_eq!(
        failures(&mut ssd, &[part(true), part(false)]),
        [true, false]
    );
    let flush = wordline_block::Request {
        op: Op::Flush,
        offset: 0,
        bytes: 0,
        ..at(US(70_000), Op::Read, 0, PAGE)
    };
    assert_eq!(failures(&mut ssd, &[flush]), [true]);
}

/// Returns, for each request in order, `true` if it ended with an error.
fn failures(ssd: &mut Ssd<Map>, requests: &[wordline_block::Request]) -> Vec<bool> {
    let mut queue = EventQueue::<Event>::default();
    let mut tally = shared::Tally::default();
    let mut failed = vec![false; requests.len()];
    let mut tickets = std::collections::HashMap::new();
    let mut coming = requests.iter().enumerate().peekable();
    loop {
        let arrival = coming.peek().map(|(_, request)| request.arrival);
        let now = match (arrival, queue.next_time()) {
            (Some(arrival), due) if due.is_none_or(|due| arrival <= due) => {
                let (number, request) = coming.next().unwrap();
                let mut probe = AnyProbe::new(&mut tally);
                let mut cx = Context::new(arrival, &mut queue, &mut probe);
                tickets.insert(ssd.submit(&mut cx, *request).unwrap(), number);
                arrival
            }
            _ => {
                let Some((at, event)) = queue.pop() else {
                    return failed;
                };
                ssd.handle(
                    &mut Context::new(at, &mut queue, &mut AnyProbe::new(&mut tally)),
                    event,
                )
                .unwrap();
                at
            }
        };
        assert!(now >= Time::ZERO);
        for done in ssd.completions() {
            failed[tickets[&done.ticket]] = done.failed;
        }
    }
}

/// An uncorrectable page that was read ahead causes no error until it is requested, and is then
/// read again.
#[test]
fn uncorrectable_read_ahead_is_read_again_on_request() {
    let read_ahead = |rate| {
        let mut plan = plan(constant(rate), without_decoding().code().unwrap());
        plan.buffer = Some(wordline_dram_buffer::Plan {
            read_ahead: 3,
            ..shared::buffer(16)
        });
        let mut ssd = filled(&plan);
        ssd.verify();
        let reads = [(0, 0), (1_000, 1), (2_000, 2), (3_000, 3)];
        let requests = reads.map(|(us, page)| at(US(us), Op::Read, page * PAGE, PAGE));
        let failed = failures(&mut ssd, &requests);
        (failed, ssd.stats().read_errors.unwrap())
    };
    // The second read continues after the first: pages 2, 3 and 4 are read ahead with it, and later
    // reads hit them.
    let (failed, counts) = read_ahead(1e-9);
    assert_eq!(failed, [false; 4]);
    let right = counts.reads;
    let (failed, counts) = read_ahead(0.3);
    assert_eq!(failed, [true; 4]);
    assert!(
        counts.reads > right,
        "{} array reads, and {right} without errors",
        counts.reads
    );
    assert_eq!(counts.host_failures, counts.reads);
}

/// Like [`buffer_passes_read_errors_on`], under load with partial pages, several pages and a small
/// buffer: every read without an error is correct.
#[test]
fn buffered_reads_are_correct_or_report_an_error() {
    let load = Load {
        requests: 4_000,
        read_ratio: 0.5,
        grain_bytes: 512,
        most_bytes: 12_288,
        footprint_ratio: 1.0,
    };
    let mut failures = 0;
    for (rate, pages) in [(1.7e-2, 4), (1.95e-2, 16), (2.1e-2, 64)] {
        let mut plan = plan(constant(rate), without_decoding().code().unwrap());
        plan.buffer = Some(wordline_dram_buffer::Plan {
            write_through: pages == 16,
            read_ahead: if pages == 4 { 0 } else { 3 },
            access: Time::from_ns(100),
            port: (1, 300),
            ..shared::buffer(pages)
        });
        let (tally, _, ssd) =
            closed_loop(&plan, Map::new(&plan.ftl), load, plan.ftl.user_pages, true).unwrap();
        assert_eq!(tally.requests, load.requests);
        failures += ssd.stats().read_errors.unwrap().host_failures;
    }
    assert!(failures > 0);
}
