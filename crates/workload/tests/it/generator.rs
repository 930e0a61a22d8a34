//! Generated workloads, compared with their specification.
#![allow(clippy::unwrap_used)] // in helpers of the tests

use proptest::prelude::*;
use wordline_workload::generate::arrival::{ClosedLoop, Constant, IdleMix, Poisson};
use wordline_workload::generate::pattern::{HotCold, Mixed, Sequential, Uniform, Zipf};
use wordline_workload::generate::{Arrival, Config, Generator, Pattern, Share, Sizes};
use wordline_workload::stat::{IdleRule, Stat, stat};
use wordline_workload::{Op, Request, Source};

const MIB: u64 = 1 << 20;

fn generate(config: &Config, user_bytes: u64, seed: u64) -> Vec<Request> {
    let mut generator = Generator::new(config, user_bytes, seed).unwrap();
    let mut requests = Vec::new();
    while let Some(request) = generator.next_request().unwrap() {
        requests.push(request);
    }
    assert_eq!(generator.fraction(), Some(1.0));
    requests
}

/// Returns the chi-squared statistic of counts whose expectations are equal.
fn chi_squared(counts: &[u32]) -> f64 {
    let total: u32 = counts.iter().sum();
    let expected = f64::from(total) / counts.len() as f64;
    counts
        .iter()
        .map(|&n| (f64::from(n) - expected).powi(2) / expected)
        .sum()
}

/// Asserts that a share measured over `n` draws is within five standard errors of the expected
/// share.
fn assert_share(measured: usize, n: usize, expected: f64) {
    let error = (expected * (1.0 - expected) / n as f64).sqrt();
    let share = measured as f64 / n as f64;
    assert!(
        (share - expected).abs() <= 5.0 * error,
        "{share} instead of {expected}"
    );
}

#[test]
fn uniform_offsets_are_uniform_and_reads_have_the_configured_share() {
    let config = Config {
        requests: 100_000,
        read_ratio: 0.3,
        ..Config::default()
    };
    let requests = generate(&config, 100 * 4096, 1);
    let mut counts = [0; 100];
    for request in &requests {
        counts[(request.offset / 4096) as usize] += 1;
    }
    let chi = chi_squared(&counts);
    assert!(
        chi < 148.2,
        "{chi} exceeds the 0.1 % point of 99 degrees of freedom"
    );
    let reads = requests
        .iter()
        .filter(|request| request.op == Op::Read)
        .count();
    assert_share(reads, requests.len(), 0.3);
}

#[test]
fn sequential_offsets_are_aligned_and_wrap() {
    let config = Config {
        requests: 7,
        pattern: Pattern::Sequential(Sequential {}),
        request_bytes: Sizes::One(3 * 512),
        align_bytes: 2048,
        offset_bytes: MIB,
        working_set_ratio: 4.0 / 1024.0,
        ..Config::default()
    };
    let offsets: Vec<u64> = generate(&config, 2 * MIB, 1)
        .iter()
        .map(|r| r.offset - MIB)
        .collect();
    // The working set has 8 KiB; requests of 1.5 KiB start at multiples of 2 KiB.
    assert_eq!(offsets, [0, 2048, 4096, 6144, 0, 2048, 4096]);
}

#[test]
fn mixed_pattern_is_random_at_the_configured_ratio() {
    let config = Config {
        requests: 50_000,
        pattern: Pattern::Mixed(Mixed { random_ratio: 0.25 }),
        ..Config::default()
    };
    let requests = generate(&config, 1 << 40, 3);
    let follows = requests
        .windows(2)
        .filter(|pair| pair[1].offset == pair[0].end())
        .count();
    assert_share(follows, requests.len() - 1, 0.75);
}

#[test]
fn hot_region_gets_its_configured_share_of_requests() {
    let hot_cold = HotCold {
        hot_space_ratio: 0.1,
        hot_access_ratio: 0.7,
    };
    let config = Config {
        requests: 50_000,
        pattern: Pattern::HotCold(hot_cold),
        ..Config::default()
    };
    let requests = generate(&config, 1000 * 4096, 3);
    let hot = requests
        .iter()
        .filter(|request| request.offset < 100 * 4096)
        .count();
    assert_share(hot, requests.len(), 0.7);
}

/// The most popular page gets 1/H of the requests, at any address; scattering does not change
/// frequencies.
#[test]
fn scattering_does_not_change_zipf_frequencies() {
    let pages = 1000_u64;
    let harmonic: f64 = (1..=pages).map(|k| (k as f64).powf(-1.0)).sum();
    let counts = |scatter| {
        let zipf = Zipf {
            theta: 1.0,
            scatter,
        };
        let config = Config {
            requests: 100_000,
            pattern: Pattern::Zipf(zipf),
            ..Config::default()
        };
        let mut counts = vec![0_usize; pages as usize];
        for request in generate(&config, pages * 4096, 9) {
            counts[(request.offset / 4096) as usize] += 1;
        }
        counts
    };
    let (plain, mut scattered) = (counts(false), counts(true));
    for rank in [1, 2, 5, 20] {
        assert_share(plain[rank - 1], 100_000, 1.0 / harmonic / rank as f64);
    }
    assert_ne!(plain, scattered);
    let mut sorted = plain;
    sorted.sort_unstable();
    scattered.sort_unstable();
    assert_eq!(sorted, scattered);
}

#[test]
fn sizes_are_drawn_by_weight() {
    let shares = vec![
        Share {
            bytes: 4096,
            weight: 7.0,
        },
        Share {
            bytes: 16_384,
            weight: 2.0,
        },
        Share {
            bytes: 131_072,
            weight: 1.0,
        },
    ];
    let config = Config {
        requests: 50_000,
        request_bytes: Sizes::Mix(shares),
        ..Config::default()
    };
    let requests = generate(&config, 64 * MIB, 5);
    for (bytes, share) in [(4096, 0.7), (16_384, 0.2), (131_072, 0.1)] {
        let count = requests
            .iter()
            .filter(|request| request.bytes == bytes)
            .count();
        assert_share(count, requests.len(), share);
    }
}

#[test]
fn write_bytes_sets_the_sizes_of_writes_only() {
    let config = Config {
        requests: 10_000,
        read_ratio: 0.5,
        request_bytes: Sizes::One(24_064),
        write_bytes: Some(Sizes::One(10_240)),
        ..Config::default()
    };
    let requests = generate(&config, 64 * MIB, 5);
    assert!(requests.iter().all(|request| match request.op {
        Op::Read => request.bytes == 24_064,
        _ => request.bytes == 10_240,
    }));
    assert!(requests.iter().any(|request| request.op == Op::Write));
    // The larger of the two sizes determines the offsets at which a request can start.
    assert!(requests.iter().all(|r| r.offset + 24_064 <= 64 * MIB));
}

#[test]
fn trims_have_the_configured_share_and_do_not_change_other_requests() {
    let without = Config {
        requests: 50_000,
        read_ratio: 0.4,
        request_bytes: Sizes::One(8192),
        write_bytes: Some(Sizes::One(4096)),
        trim_bytes: Some(Sizes::One(65_536)),
        arrival: Arrival::Poisson(Poisson::default()),
        ..Config::default()
    };
    let with = Config {
        trim_ratio: 0.2,
        ..without.clone()
    };
    let (before, after) = (generate(&without, MIB, 3), generate(&with, MIB, 3));
    assert!(before.iter().all(|request| request.op != Op::Trim));
    let trims = after.iter().filter(|request| request.op == Op::Trim);
    assert_share(trims.clone().count(), after.len(), 0.2);
    assert!(trims.clone().all(|request| request.bytes == 65_536));
    let others = after.len() - trims.count();
    let reads = after.iter().filter(|request| request.op == Op::Read);
    assert_share(reads.count(), others, 0.4);
    for (old, new) in before.iter().zip(&after) {
        if new.op == Op::Trim {
            assert_eq!((new.arrival, new.offset), (old.arrival, old.offset));
        } else {
            assert_eq!(new, old);
        }
    }
}

#[test]
fn trims_follow_the_access_pattern_and_the_sizes_of_requests() {
    let config = Config {
        requests: 50_000,
        read_ratio: 0.0,
        trim_ratio: 0.5,
        request_bytes: Sizes::One(8192),
        write_bytes: Some(Sizes::One(4096)),
        pattern: Pattern::HotCold(HotCold {
            hot_space_ratio: 0.1,
            hot_access_ratio: 0.7,
        }),
        ..Config::default()
    };
    let requests = generate(&config, 1001 * 4096, 3);
    for op in [Op::Write, Op::Trim] {
        let of = || requests.iter().filter(|request| request.op == op);
        let hot = of().filter(|request| request.offset < 100 * 4096);
        assert_share(hot.count(), of().count(), 0.7);
        let bytes = if op == Op::Trim { 8192 } else { 4096 };
        assert!(of().all(|request| request.bytes == bytes));
    }
    let all = Config {
        trim_ratio: 1.0,
        ..config
    };
    let requests = generate(&all, MIB, 3);
    assert!(requests.iter().all(|request| request.op == Op::Trim));
}

#[test]
fn flushes_and_fua_keep_operations_addresses_and_sizes_of_other_requests() {
    let without = Config {
        requests: 50_000,
        read_ratio: 0.4,
        pattern: Pattern::Sequential(Sequential {}),
        arrival: Arrival::Poisson(Poisson::default()),
        ..Config::default()
    };
    let with = Config {
        fua_ratio: 0.3,
        flush_every_requests: 10,
        ..without.clone()
    };
    let (before, after) = (generate(&without, MIB, 3), generate(&with, MIB, 3));
    assert!(before.iter().all(|request| !request.fua));
    let flushes = (1..)
        .zip(&after)
        .filter(|(_, request)| request.op == Op::Flush);
    let places: Vec<u64> = flushes.map(|(place, _)| place).collect();
    assert_eq!(
        places,
        (1..=5_000).map(|place| place * 10).collect::<Vec<_>>()
    );
    let flush = |request: &&Request| request.op == Op::Flush;
    assert!(after.iter().filter(flush).all(|flush| flush.bytes == 0));
    let others = after.iter().filter(|request| request.op != Op::Flush);
    for (old, new) in before.iter().zip(others) {
        assert_eq!(
            (new.op, new.offset, new.bytes),
            (old.op, old.offset, old.bytes)
        );
        assert!(!new.fua || new.op == Op::Write);
    }
    for (old, new) in before.iter().zip(&after) {
        assert_eq!(new.arrival, old.arrival);
    }
    let writes = after.iter().filter(|request| request.op == Op::Write);
    let durable = writes.clone().filter(|request| request.fua).count();
    assert_share(durable, writes.count(), 0.3);
    let mut again = Generator::new(&with, MIB, 3).unwrap();
    let counted = stat(&mut again, IdleRule::default()).unwrap();
    assert_eq!(
        (counted.durable_writes, counted.flushes),
        (durable as u64, 5_000)
    );
}

#[test]
fn error_of_flushes_at_every_request_names_the_key() {
    let of = |fua_ratio, flush_every_requests| {
        let config = Config {
            fua_ratio,
            flush_every_requests,
            ..Config::default()
        };
        Generator::new(&config, MIB, 1).err().unwrap().to_string()
    };
    assert_eq!(
        of(0.0, 1),
        "workload.flush_every_requests: if every request is a flush, none reads or writes; \
         give at least 2, or 0 for no flushes"
    );
}

#[test]
fn errors_of_write_sizes_name_the_key() {
    let of = |bytes| {
        let config = Config {
            write_bytes: Some(Sizes::One(bytes)),
            ..Config::default()
        };
        Generator::new(&config, MIB, 1).err().unwrap().to_string()
    };
    assert_eq!(
        of(1000),
        "workload.write_bytes: 1000 is not a multiple of 512 bytes; choose a multiple of 512"
    );
    assert_eq!(
        of(2 * MIB),
        "workload.write_bytes: a request of 2097152 bytes does not fit into the working set of 1048576 bytes; \
         lower the size, or raise workload.working_set_ratio"
    );
}

#[test]
fn arrivals_follow_their_arrival_process() {
    let with = |arrival| Config {
        requests: 40_000,
        arrival,
        ..Config::default()
    };
    let constant = generate(&with(Arrival::Constant(Constant { iops: 3000.0 })), MIB, 1);
    // The 39,999th gap ends exactly at 13.333 s, so arrivals do not drift.
    assert_eq!(constant[0].arrival.ps(), 0);
    assert_eq!(constant[39_999].arrival.ps(), 13_333_000_000_000);
    let poisson = generate(&with(Arrival::Poisson(Poisson { iops: 3000.0 })), MIB, 1);
    let gaps: Vec<f64> = poisson
        .windows(2)
        .map(|pair| (pair[1].arrival - pair[0].arrival).as_secs())
        .collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n).sqrt();
    // The standard deviation of an exponential distribution equals its mean. The tolerance is five
    // standard errors.
    assert!((mean * 3000.0 - 1.0).abs() < 5.0 / n.sqrt(), "{mean}");
    assert!(
        (deviation * 3000.0 - 1.0).abs() < 5.0 * (2.0 / n).sqrt(),
        "{deviation}"
    );
    let longer = gaps.iter().filter(|gap| **gap > 1.0 / 3000.0).count();
    assert_share(longer, gaps.len(), (-1.0_f64).exp());
    let closed = Arrival::ClosedLoop(ClosedLoop { queue_depth: 8 });
    let generator = Generator::new(&with(closed), MIB, 1).unwrap();
    assert_eq!(
        (generator.queue_depth(), generator.timed()),
        (Some(8), false)
    );
}

fn idle_mix(requests: u64, mix: IdleMix) -> Config {
    Config {
        requests,
        arrival: Arrival::IdleMix(mix),
        ..Config::default()
    }
}

fn statistics(config: &Config) -> Stat {
    let mut generator = Generator::new(config, 1 << 30, 1).unwrap();
    stat(&mut generator, IdleRule::default()).unwrap()
}

/// Asserts a share of the intervals between requests, in per cent.
fn assert_percent(measured: f64, n: u64, expected: f64) {
    assert_share(
        (measured / 100.0 * n as f64).round() as usize,
        n as usize,
        expected,
    );
}

/// According to section 7.6 of the thesis, 34.6 % of the idle intervals were long (above 1 s), 29.5
/// % were short, and 35.9 % of the requests were back to back. The statistics of traces measure the
/// generated load.
#[test]
fn idle_mix_matches_the_file_server_traces() {
    let stat = statistics(&idle_mix(100_000, IdleMix::default()));
    let idle = stat.idle.unwrap();
    let n = idle.intervals;
    assert_eq!(n, 99_999);
    assert_percent(idle.long.percent_of_intervals, n, 0.346);
    assert_percent(idle.short.percent_of_intervals, n, 0.295);
    assert_percent(idle.back_to_back.percent_of_intervals, n, 0.359);
}

#[test]
fn idle_mix_gaps_have_the_configured_distributions() {
    let mix = IdleMix {
        back_to_back_ratio: 0.0,
        long_ratio: 0.5,
        short_from_us: 10.0,
        short_until_us: 1e5,
        long_from_s: 0.5,
        long_mean_s: 2.5,
    };
    let requests = generate(&idle_mix(40_000, mix), MIB, 1);
    assert_eq!(requests[0].arrival.ps(), 0);
    let gaps = || {
        let gap = |pair: &[Request]| (pair[1].arrival - pair[0].arrival).as_secs();
        requests.windows(2).map(gap)
    };
    let short: Vec<f64> = gaps().filter(|gap| *gap <= 0.5).collect();
    let long: Vec<f64> = gaps().filter(|gap| *gap > 0.5).collect();
    assert_share(long.len(), 39_999, 0.5);
    assert!(short.iter().all(|gap| (1e-5..=0.1).contains(gap)));
    // Each part contains a quarter of the logarithmic range.
    for (end, share) in [(1e-4, 0.25), (1e-3, 0.5), (1e-2, 0.75)] {
        assert_share(
            short.iter().filter(|gap| **gap < end).count(),
            short.len(),
            share,
        );
    }
    // The excess over the threshold is exponential with a mean of 2 s, which is also its standard
    // deviation.
    let mean = long.iter().sum::<f64>() / long.len() as f64;
    assert!(
        (mean - 2.5).abs() < 5.0 * 2.0 / (long.len() as f64).sqrt(),
        "{mean}"
    );
    let beyond = long.iter().filter(|gap| **gap > 2.5).count();
    assert_share(beyond, long.len(), (-1.0_f64).exp());
}

/// Disk 0 of Table 7.1 has 1,509,397 requests of 32,490,240 KB, of which 3,051,918 KB are written.
/// 38.6 % of the requests have a long idle period. The test assumes that reads and writes are
/// equally large, with 5 or 6 pages, so that the mean is that of the table.
#[test]
fn fitted_load_matches_disk_0_of_table_7_1() {
    let (requests, total, written, long) = (1_509_397.0, 32_490_240.0, 3_051_918.0, 0.386);
    let mean = 1024.0 * total / requests;
    let six = mean / 4096.0 - 5.0;
    let sizes = [(20_480, 1.0 - six), (24_576, six)];
    let sizes = sizes.map(|(bytes, weight)| Share { bytes, weight });
    let mix = IdleMix {
        long_ratio: long,
        ..IdleMix::default()
    };
    let config = Config {
        read_ratio: 1.0 - written / total,
        request_bytes: Sizes::Mix(sizes.to_vec()),
        ..idle_mix(100_000, mix)
    };
    let stat = statistics(&config);
    let share = 100_000.0 / requests;
    let near = |bytes: u64, kb: f64| bytes as f64 / (1024.0 * kb * share) - 1.0;
    assert!(near(stat.read_bytes + stat.written_bytes, total).abs() < 0.002);
    // The tolerance is five standard errors of the number of writes.
    assert!(near(stat.written_bytes, written).abs() < 0.05);
    let idle = stat.idle.unwrap();
    assert_percent(idle.long.percent_of_intervals, idle.intervals, long);
}

#[test]
fn pauses_are_inserted_between_requests() {
    let config = Config {
        requests: 10,
        arrival: Arrival::Constant(Constant { iops: 1000.0 }),
        idle_every_requests: 4,
        idle_ms: 50.0,
        ..Config::default()
    };
    let ms: Vec<u64> = generate(&config, MIB, 1)
        .iter()
        .map(|r| r.arrival.ps() / 1_000_000_000)
        .collect();
    assert_eq!(ms, [0, 1, 2, 3, 54, 55, 56, 57, 108, 109]);
}

#[test]
fn random_number_streams_of_a_load_are_independent() {
    let base = Config {
        requests: 1000,
        ..Config::default()
    };
    let reading = Config {
        read_ratio: 1.0,
        ..base.clone()
    };
    let timed = Config {
        arrival: Arrival::Poisson(Poisson::default()),
        ..base.clone()
    };
    let offsets = |config: &Config| -> Vec<u64> {
        generate(config, MIB, 7)
            .iter()
            .map(|request| request.offset)
            .collect()
    };
    assert_eq!(offsets(&base), offsets(&reading));
    assert_eq!(offsets(&base), offsets(&timed));
    assert_eq!(generate(&base, MIB, 7), generate(&base, MIB, 7));
    assert_ne!(generate(&base, MIB, 7), generate(&base, MIB, 8));
}

proptest! {
    /// For every pattern, requests are aligned, within the working set and in time order.
    #[test]
    fn requests_stay_within_the_working_set(
        which in 0_usize..5, align in 1_u64..40, sizes in prop::collection::vec(1_u64..64, 1..4),
        offset in 0_u64..1000, ratio in 0.4_f64..0.7, trim_ratio in 0.0_f64..1.0, seed in any::<u64>(),
    ) {
        let patterns = [
            Pattern::Sequential(Sequential {}), Pattern::Uniform(Uniform {}),
            Pattern::Zipf(Zipf::default()), Pattern::HotCold(HotCold::default()),
            Pattern::Mixed(Mixed::default()),
        ];
        let shares = sizes.iter().map(|&n| Share { bytes: n * 512, weight: n as f64 }).collect();
        let config = Config {
            requests: 200, pattern: patterns[which].clone(), align_bytes: align * 512,
            request_bytes: Sizes::Mix(shares), offset_bytes: offset * 512,
            working_set_ratio: ratio, trim_ratio, arrival: Arrival::IdleMix(IdleMix::default()),
            ..Config::default()
        };
        let user = 4 * MIB;
        let end = offset * 512 + (user as f64 * ratio) as u64;
        let mut before = 0;
        for request in generate(&config, user, seed) {
            prop_assert_eq!((request.offset - offset * 512) % (align * 512), 0);
            prop_assert!(request.end() <= end && request.end() <= user);
            prop_assert!(request.arrival.ps() >= before);
            before = request.arrival.ps();
        }
    }
}

/// Change to the default configuration, and the expected message.
type Case = (fn(&mut Config), &'static str);

#[test]
fn errors_of_configurations_name_the_key() {
    let of = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        Generator::new(&config, MIB, 1).err().unwrap().to_string()
    };
    let cases: [Case; 6] = [
        (
            |c| c.request_bytes = Sizes::One(1000),
            "workload.request_bytes: 1000 is not a multiple of 512 bytes; choose a multiple of 512",
        ),
        (
            |c| c.request_bytes = Sizes::One(2 * MIB),
            "workload.request_bytes: a request of 2097152 bytes does not fit into the working set of 1048576 bytes; \
             lower the size, or raise workload.working_set_ratio",
        ),
        (
            |c| c.request_bytes = Sizes::Mix(vec![]),
            "workload.request_bytes: the list of sizes is empty; give at least one size",
        ),
        (
            |c| c.offset_bytes = 4096,
            "workload.offset_bytes: offset 4096 plus the working set of 1048576 bytes exceeds the \
             device's 1048576 bytes; lower workload.offset_bytes or workload.working_set_ratio",
        ),
        (
            |c| {
                let hot = HotCold {
                    hot_space_ratio: 0.0,
                    hot_access_ratio: 0.8,
                };
                c.pattern = Pattern::HotCold(hot);
            },
            "workload.pattern.hot-cold.hot_space_ratio: with a share of 0, none of the 256 offsets at which requests start is hot; \
             choose a share further from 0 and 1, or a larger working set",
        ),
        (
            |c| (c.idle_every_requests, c.idle_ms) = (10, 5.0),
            "workload.idle_ms: a closed loop has no arrivals to pause between; \
             set workload.arrival to \"poisson\", \"constant\" or \"idle-mix\", or workload.idle_ms to 0",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(of(change), expected);
    }
}

#[test]
fn errors_of_trims_name_the_key() {
    let of = |trim_ratio, bytes| {
        let config = Config {
            trim_ratio,
            trim_bytes: Some(Sizes::One(bytes)),
            ..Config::default()
        };
        Generator::new(&config, MIB, 1).err().unwrap().to_string()
    };
    assert_eq!(
        of(0.1, 2 * MIB),
        "workload.trim_bytes: a request of 2097152 bytes does not fit into the working set of 1048576 bytes; \
         lower the size, or raise workload.working_set_ratio"
    );
}

#[test]
fn errors_of_idle_mixes_name_the_key() {
    type Case = (fn(&mut IdleMix), &'static str);
    let of = |change: fn(&mut IdleMix)| {
        let mut mix = IdleMix::default();
        change(&mut mix);
        let fault = Generator::new(&idle_mix(1, mix), MIB, 1).err().unwrap();
        let text = fault.to_string();
        text.replace("workload.arrival.idle-mix.", "")
    };
    assert_eq!(
        of(|mix| (mix.back_to_back_ratio, mix.long_ratio) = (0.5, 0.75)),
        "long_ratio: long_ratio and back_to_back_ratio add up to 1.25, which is above 1; lower one of the ratios"
    );
    let cases: [Case; 3] = [
        (
            |mix| mix.short_from_us = 20_000.0,
            "short_from_us: 20000 exceeds short_until_us, which is 15200 in the unit of short_from_us; lower short_from_us, or raise short_until_us",
        ),
        (
            |mix| mix.short_until_us = 2e6,
            "short_until_us: 2000000 exceeds long_from_s, which is 1000000 in the unit of short_until_us; lower short_until_us, or raise long_from_s",
        ),
        (
            |mix| mix.long_mean_s = 0.5,
            "long_from_s: 1 exceeds long_mean_s, which is 0.5 in the unit of long_from_s; lower long_from_s, or raise long_mean_s",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(of(change), expected);
    }
}

#[test]
fn workload_table_is_read_from_toml() {
    let config: Config = toml::from_str(
        r"
        requests = 10
        read_ratio = 0.7
        request_bytes = [{ bytes = 4096, weight = 3 }, { bytes = 65536, weight = 1 }]
        pattern.zipf.theta = 1.1
        arrival.poisson.iops = 500.0
        ",
    )
    .unwrap();
    assert_eq!(
        config.pattern,
        Pattern::Zipf(Zipf {
            theta: 1.1,
            scatter: true
        })
    );
    assert_eq!(config.arrival, Arrival::Poisson(Poisson { iops: 500.0 }));
    let config: Config = toml::from_str("pattern = \"sequential\"\nrequest_bytes = 512").unwrap();
    assert_eq!(config.pattern, Pattern::Sequential(Sequential {}));
    assert_eq!(config.request_bytes, Sizes::One(512));
    assert!(toml::from_str::<Config>("request = 10").is_err());
    assert!(toml::from_str::<Config>("pattern.zipf.tetha = 1.0").is_err());
    let error = toml::from_str::<Config>("request_bytes = \"4k\"")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("expected a number of bytes, or a list of { bytes, weight }"),
        "{error}"
    );
}

#[test]
fn every_key_of_the_workload_table_has_a_description() {
    for member in Pattern::members().iter().chain(&Arrival::members()) {
        assert!(!member.description.is_empty(), "{}", member.name);
    }
    let schema = schemars::schema_for!(Config);
    let properties = schema
        .get("properties")
        .and_then(|p| p.as_object())
        .unwrap();
    for (key, property) in properties {
        let text = property.get("description").and_then(|d| d.as_str());
        assert!(
            text.is_some_and(|text| !text.is_empty()),
            "{key} has no description"
        );
    }
}
