//! Idle periods, compared with hand calculations and an independent reader.
#![allow(clippy::unwrap_used, clippy::expect_used)] // in helpers of the tests

use crate::shared;

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use shared::real;
use wordline_workload::stat::{IdleRule, IdleStat, stat_trace};
use wordline_workload::{Trace, TraceOptions};

/// Returns the rule with the page times of the K9KGA0B0M, from section 7.6 of the thesis.
fn k9kga0b0m() -> IdleRule {
    IdleRule::new(1.0, 183.2, 860.36).unwrap()
}

fn of(lines: &str, rule: IdleRule) -> Option<IdleStat> {
    let text = format!("time_ns,op,offset_bytes,size_bytes,volume\n{lines}");
    let options = TraceOptions::as_recorded();
    let mut trace = Trace::from_bytes("x", text.into_bytes(), &options).unwrap();
    stat_trace(&mut trace, rule).unwrap().idle
}

/// | request | execution | until the next | idle period |
/// |---|---|---|---|
/// | read of 1 page | 183.2 us | 200 us | 16.8 us |
/// | write of 4,097 bytes: 2 pages | 1,720.72 us | 800 us | none |
/// | trim | 0 | 1 s | 1 s, not above the threshold |
/// | flush | 0 | 1 s and 1 ns | 1 s and 1 ns |
/// | read of 1 page of another volume | 183.2 us | 183.2 us | none |
#[test]
fn idle_periods_match_a_hand_calculation() {
    let lines = "0,read,0,4096,0\n200000,write,0,4097,0\n1000000,trim,0,1048576,0\n\
                 1001000000,flush,0,0,0\n2001000001,read,0,512,1\n2001183201,read,0,4096,0\n";
    let idle = of(lines, k9kga0b0m()).unwrap();
    assert_eq!(idle.intervals, 5);
    assert_eq!(idle.back_to_back.intervals, 2);
    assert_eq!(idle.back_to_back.percent_of_intervals, 40.0);
    assert_eq!((idle.short.intervals, idle.long.intervals), (2, 1));
    assert_eq!(idle.short.percent_of_intervals, 40.0);
    assert_eq!(idle.long.percent_of_intervals, 20.0);
    assert_eq!(idle.short.total_s, 1.000_016_8);
    assert_eq!(idle.long.total_s, 1.000_000_001);
    let span = 2.001_183_201;
    assert!((idle.long.percent_of_time - 100.0 * 1.000_000_001 / span).abs() < 1e-9);
    assert_eq!(idle.longest_s, 1.000_000_001);
    let near = |found: Option<f64>, ms: f64| (found.unwrap() / ms - 1.0).abs() < 1e-3;
    assert!(near(idle.short.p50_ms, 0.0168) && near(idle.short.p90_ms, 1000.0));
    assert!(near(idle.long.p10_ms, 1000.0) && near(idle.long.p99_ms, 1000.0));
    assert_eq!((idle.page_read_us, idle.page_program_us), (183.2, 860.36));
}

/// If execution takes no time, every gap is idle, and only simultaneous arrivals are back to back.
#[test]
fn without_execution_times_every_gap_is_idle() {
    let lines = "0,read,0,4096,0\n0,read,0,4096,0\n5,write,0,4096,0\n2000000000,read,0,4096,0\n";
    let idle = of(lines, IdleRule::default()).unwrap();
    assert_eq!(idle.back_to_back.intervals, 1);
    assert_eq!((idle.short.intervals, idle.long.intervals), (1, 1));
    assert_eq!(idle.longest_s, 1.999_999_995);
    let all = idle.short.percent_of_time + idle.long.percent_of_time;
    assert!((all - 100.0).abs() < 1e-9);
}

#[test]
fn threshold_separates_short_from_long_periods() {
    let lines = "0,read,0,4096,0\n1000,read,0,4096,0\n3000,read,0,4096,0\n";
    let rule = IdleRule::new(1e-6, 0.0, 0.0).unwrap();
    let idle = of(lines, rule).unwrap();
    assert_eq!((idle.short.intervals, idle.long.intervals), (1, 1));
    let none = IdleRule::new(0.0, 0.0, 0.0).unwrap();
    let idle = of(lines, none).unwrap();
    assert_eq!((idle.short.intervals, idle.long.intervals), (0, 2));
    assert_eq!(idle.short.p50_ms, None);
}

#[test]
fn idle_periods_need_two_timed_requests() {
    assert_eq!(of("7,read,0,4096,0\n", IdleRule::default()), None);
    let untimed = "fio version 2 iolog\n/dev/a write 0 512\n/dev/a write 0 512\n";
    let options = TraceOptions::as_recorded();
    let mut trace = Trace::from_bytes("x", untimed.as_bytes(), &options).unwrap();
    let stat = stat_trace(&mut trace, IdleRule::default()).unwrap();
    assert_eq!((stat.writes, stat.idle), (2, None));
}

#[test]
fn errors_of_idle_rules_name_the_option() {
    let of = |s, read, program| IdleRule::new(s, read, program).unwrap_err();
    assert_eq!(
        of(-1.0, 0.0, 0.0),
        "idle_threshold_s: -1 is not between 0 and 10000000; give a number in that range"
    );
    assert_eq!(
        of(1.0, f64::NAN, 0.0),
        "page_read_us: NaN is not between 0 and 1000000000; give a number in that range"
    );
    assert_eq!(
        of(1.0, 0.0, f64::INFINITY),
        "page_program_us: inf is not between 0 and 1000000000; give a number in that range"
    );
}

/// Arrival and execution time of a request, in nanoseconds.
type Row = (i128, i128);

fn text(path: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

fn executes(op: &str, bytes: &str) -> i128 {
    let pages = (bytes.parse::<i128>().unwrap() + 4095) / 4096;
    match op {
        "read" | "Read" => 183_200 * pages,
        "write" | "Write" => 860_360 * pages,
        _ => 0,
    }
}

/// Applies equation 7.1 to whole lists. Nanoseconds.
fn idle_periods(rows: &[Row]) -> Vec<i128> {
    let period = |pair: &[Row]| pair[1].0 - (pair[0].0 + pair[0].1);
    rows.windows(2).map(period).collect()
}

fn assert_counted(path: &Path, rows: &[Row]) {
    let options = TraceOptions::as_recorded();
    let mut trace = Trace::open(&[path], &options).unwrap();
    let idle = stat_trace(&mut trace, k9kga0b0m()).unwrap().idle.unwrap();
    let all = idle_periods(rows);
    let class = |from: i128, to: i128| {
        let mut of: Vec<i128> = all
            .iter()
            .copied()
            .filter(|t| *t > from && *t <= to)
            .collect();
        of.sort_unstable();
        of
    };
    let second = 1_000_000_000;
    let (short, long) = (class(0, second), class(second, i128::MAX));
    assert_eq!(idle.intervals, all.len() as u64);
    for (found, expected) in [(idle.short, short), (idle.long, long)] {
        assert_eq!(found.intervals, expected.len() as u64);
        let total = expected.iter().sum::<i128>() as f64 / 1e9;
        assert!((found.total_s - total).abs() < 1e-6 * total);
        for (quantile, ms) in [
            (0.1, found.p10_ms),
            (0.5, found.p50_ms),
            (0.99, found.p99_ms),
        ] {
            let rank = (quantile * expected.len() as f64).ceil() as usize - 1;
            let exact = expected[rank] as f64 / 1e6;
            assert!((ms.unwrap() / exact - 1.0).abs() < 2e-3, "{quantile}");
        }
    }
    let none = all.iter().filter(|t| **t <= 0).count();
    assert_eq!(idle.back_to_back.intervals, none as u64);
    assert_eq!(
        idle.longest_s,
        all.iter().copied().max().unwrap() as f64 / 1e9
    );
}

/// The trace includes TRIMs and flushes.
#[test]
fn bundled_trace_agrees_with_an_independent_reader() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/postgresql-mixed.csv.gz");
    let text = text(&path);
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[0].parse().unwrap(), executes(fields[1], fields[3]))
    };
    let rows: Vec<Row> = text.lines().skip(1).map(row).collect();
    assert_counted(&path, &rows);
}

#[test]
fn web_3_agrees_with_an_independent_reader() {
    let Some(path) = real("msr-web_3.csv.gz") else {
        return;
    };
    let text = text(&path);
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let ns = 100 * fields[0].parse::<i128>().unwrap();
        (ns, executes(fields[3], fields[5]))
    };
    let mut rows: Vec<Row> = text.lines().map(row).collect();
    rows.sort_by_key(|row| row.0);
    assert_counted(&path, &rows);
}
