//! Compares every real trace with the table that describes the traces. The number of requests, the
//! read share and the highest address in it come from an independent reader.

#![allow(clippy::unwrap_used)] // in helpers of the tests

use crate::shared;

use shared::real;
use wordline_workload::{Align, Format, Op, Source, TimeOrder, Trace, TraceOptions, Volumes};

struct Expected {
    file: &'static str,
    format: Format,
    requests: u64,
    read_percent: f64,
    /// Highest address, rounded as in the table. GiB.
    highest: f64,
    /// Time from the first arrival to the last. Seconds.
    duration: f64,
}

const fn of(
    file: &'static str,
    format: Format,
    requests: u64,
    read_percent: f64,
    highest: f64,
    duration: f64,
) -> Expected {
    Expected {
        file,
        format,
        requests,
        read_percent,
        highest,
        duration,
    }
}

const TABLE: &[Expected] = &[
    of(
        "msr-web_3.csv.gz",
        Format::Msr,
        31_380,
        32.03,
        169.58,
        594_376.2,
    ),
    of(
        "msr-rsrch_1.csv.gz",
        Format::Msr,
        13_780,
        0.3,
        178.37,
        576_557.6,
    ),
    of(
        "msr-hm_0-sample1000.csv.gz",
        Format::Msr,
        1_000,
        50.8,
        12.64,
        127.2,
    ),
    of(
        "umass-financial1-head949.spc.gz",
        Format::Spc,
        949,
        19.28,
        0.48,
        28.4,
    ),
    of(
        "umass-financial1-head10k.ssdsim.gz",
        Format::Mqsim,
        10_000,
        40.77,
        0.48,
        259.6,
    ),
    of(
        "umass-financial1-first30k.hil.gz",
        Format::Hil,
        30_000,
        52.48,
        0.48,
        549.5,
    ),
    of(
        "umass-websearch1-head24783.mqsim.gz",
        Format::Mqsim,
        24_783,
        99.98,
        16.67,
        60.1,
    ),
    of(
        "ms-msnfs-first100k.disksim.gz",
        Format::Disksim,
        100_000,
        89.45,
        169.58,
        70.4,
    ),
    of(
        "ms-devdivrelease-first80k.ssdsim-us.gz",
        Format::SsdsimUs,
        80_000,
        97.59,
        152.52,
        217.7,
    ),
    of(
        "ms-tpcc-small.mqsim.gz",
        Format::Mqsim,
        6_999,
        62.59,
        216.73,
        0.1,
    ),
    of(
        "nexus5-installing.biotracer.gz",
        Format::Biotracer,
        17_952,
        1.74,
        27.64,
        977.8,
    ),
    of(
        "nexus5-movie.biotracer.gz",
        Format::Biotracer,
        4_781,
        94.6,
        28.16,
        997.5,
    ),
    of(
        "pixel6a-cod_precond.csv.gz",
        Format::Pixel,
        72_878,
        0.0,
        71.89,
        72_995.2,
    ),
    of(
        "pixel6a-cod_exec.csv.gz",
        Format::Pixel,
        223_998,
        90.02,
        117.39,
        575_913.9,
    ),
    of(
        "pixel6a-telegram_precond.csv.gz",
        Format::Pixel,
        5_320,
        0.0,
        73.67,
        1_034.9,
    ),
    of(
        "pixel6a-telegram_exec.csv.gz",
        Format::Pixel,
        251_879,
        9.57,
        119.0,
        7_474.1,
    ),
    of(
        "pixel6a-genshin_impact_precond.csv.gz",
        Format::Pixel,
        141_152,
        0.0,
        118.82,
        243_028.9,
    ),
    of(
        "pixel6a-genshin_impact_exec.csv.gz",
        Format::Pixel,
        91_317,
        89.47,
        118.92,
        6_081.3,
    ),
    of(
        "pixel6a-slideshow_precond.csv.gz",
        Format::Pixel,
        332_321,
        0.0,
        119.0,
        4_962.9,
    ),
    of(
        "pixel6a-slideshow_exec.csv.gz",
        Format::Pixel,
        84_197,
        92.35,
        119.0,
        65_426.1,
    ),
    of(
        "cloudphysics-io-first80k.vscsi.gz",
        Format::Vscsi,
        80_000,
        36.51,
        31.28,
        5_634.3,
    ),
    of(
        "ycsb-rocksdb-sample10k.blkparse.gz",
        Format::Blkparse,
        1_695,
        100.0,
        476.93,
        0.7,
    ),
    of(
        "tencent-cbs-first35k.csv.gz",
        Format::Tencent,
        35_000,
        50.89,
        1554.42,
        1.0,
    ),
    of(
        "systor17-sample-a.csv.gz",
        Format::Systor,
        999,
        82.68,
        4683.92,
        2.4,
    ),
    of(
        "desktop-mayun2.diskmon.gz",
        Format::Diskmon,
        87_160,
        42.11,
        132.52,
        11_719.8,
    ),
    of(
        "desktop-sys1.diskmon.gz",
        Format::Diskmon,
        58_818,
        50.31,
        3.12,
        1_204.6,
    ),
    of(
        "hil-desktop.hil.gz",
        Format::Hil,
        32_527,
        38.33,
        156.25,
        8_877.2,
    ),
    of(
        "hplajw-1992-1week.srt.gz",
        Format::Srt,
        44_519,
        29.29,
        0.31,
        603_064.6,
    ),
    of(
        "hplajw-1992-1week.disksim.gz",
        Format::Disksim,
        44_519,
        29.29,
        0.31,
        603_064.6,
    ),
    of(
        "agrawal-postmark.disksim.gz",
        Format::Disksim,
        62_257,
        83.17,
        21.32,
        490.4,
    ),
    of(
        "llm-opt7b.mqsim.gz",
        Format::Mqsim,
        36_873,
        86.44,
        953.87,
        34.3,
    ),
    of(
        "fio-iolog-v2-sample.iolog.gz",
        Format::FioIolog,
        9_441,
        0.0,
        1.0,
        0.0,
    ),
    of("arc-P3.lis.gz", Format::ArcLis, 238_578, 100.0, 5.01, 0.0),
    of(
        "cloudphysics-w106.keys32le.xz",
        Format::Keys32le,
        5_292_456,
        100.0,
        4.57,
        0.0,
    ),
];

/// Returns options that sort requests by time, expand them to whole sectors, and map all volumes to
/// the same addresses.
fn lenient() -> TraceOptions {
    TraceOptions {
        time_order: TimeOrder::Sort,
        align: Align::Expand,
        volumes: Volumes::Shared,
        ..TraceOptions::default()
    }
}

#[derive(Default, Debug)]
struct Found {
    requests: u64,
    reads: u64,
    trims: u64,
    highest: u64,
    seconds: f64,
}

fn walk(trace: &mut Trace) -> Found {
    let mut found = Found::default();
    while let Some(request) = trace.next_request().unwrap() {
        assert!(
            request.arrival.as_secs() >= found.seconds,
            "the arrival is earlier than the previous one"
        );
        found.trims += u64::from(request.op == Op::Trim);
        found.requests += u64::from(request.op != Op::Trim);
        found.reads += u64::from(request.op == Op::Read);
        found.highest = found.highest.max(request.end());
        found.seconds = request.arrival.as_secs();
    }
    found
}

fn gib(bytes: u64) -> f64 {
    (bytes as f64 / f64::from(1 << 30) * 100.0).round() / 100.0
}

#[test]
fn every_real_trace_matches_the_table_of_traces() {
    for expected in TABLE {
        let Some(path) = real(expected.file) else {
            continue;
        };
        let mut trace = Trace::open(&[path], &lenient()).unwrap();
        assert_eq!(
            trace.files()[0].format,
            expected.format,
            "{}",
            expected.file
        );
        let found = walk(&mut trace);
        assert_eq!(found.requests, expected.requests, "{}", expected.file);
        let percent = 100.0 * found.reads as f64 / found.requests as f64;
        assert!(
            (percent - expected.read_percent).abs() < 0.0051,
            "{}: {percent}",
            expected.file
        );
        assert_eq!(gib(found.highest), expected.highest, "{}", expected.file);
        let seconds = (found.seconds * 10.0).round() / 10.0;
        assert!(
            (seconds - expected.duration).abs() < 0.101,
            "{}: {seconds}",
            expected.file
        );
        assert_eq!(trace.fraction(), Some(1.0), "{}", expected.file);
        assert_eq!(trace.counts().lines_skipped, 0);
    }
}

/// The trace has dispatch events with TRIMs among the 51,698 reads and writes. 20 time stamps are
/// wrapped.
#[test]
fn fillrandom_has_trims_and_wrapped_time_stamps() {
    let Some(path) = real("dbbench-fillrandom.blkparse.gz") else {
        return;
    };
    let error = Trace::open(&[&path], &lenient()).map(|mut trace| {
        loop {
            match trace.next_request() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("wrapped time stamps were accepted"),
                Err(error) => break error,
            }
        }
    });
    assert!(error.unwrap().to_string().ends_with(
        ": the time is 14662.9 days after the start of the file, but the clock covers only 213 days; if \
         the clock was set or the recording paused, pass --time-gaps cut=1s"
    ));
    let cutting = TraceOptions {
        time_gaps: "cut=1s".parse().unwrap(),
        ..lenient()
    };
    let mut trace = Trace::open(&[path], &cutting).unwrap();
    let found = walk(&mut trace);
    assert_eq!(trace.files()[0].format, Format::Blkparse);
    assert_eq!(trace.counts().lines_skipped, 0);
    assert_eq!((found.requests, found.trims), (51_698, 2_057));
    // Each jump of the clock and each return adds a gap of a second.
    let jumps = trace.counts().gaps_changed;
    assert_eq!(gib(found.highest), 2.01);
    assert!(
        found.seconds > 81.0 && found.seconds < 81.2 + jumps as f64,
        "{}",
        found.seconds
    );
}

/// Each of the 626 shards gets a slot of 16 MiB.
#[test]
fn tectonic_shards_become_addresses() {
    let Some(path) = real("tectonic-cachelib-sample1.csv.gz") else {
        return;
    };
    let mut trace = Trace::open(&[path], &lenient()).unwrap();
    let found = walk(&mut trace);
    assert_eq!(trace.files()[0].format, Format::Tectonic);
    assert_eq!((found.requests, found.reads), (999, 599));
    assert_eq!(trace.counts().expanded, 291);
    assert_eq!(found.highest.div_ceil(16 << 20), 626);
    assert_eq!(found.seconds, 39.0);
}
