//! Compares the statistics of every real trace with the table that describes the traces, which an
//! independent reader made. Columns: mean size of reads and writes (KiB), distinct pages read and
//! written, footprint (MiB), sequential reads and writes (%), rewritten (% of page writes), gaps
//! above 1 s (% of gaps, % of time). `NAN` means a dash in the table.

#![allow(clippy::expect_used)] // in helpers of the tests

use crate::shared;

use shared::real;
use wordline_workload::stat::{IdleRule, Stat, stat_trace};
use wordline_workload::{Trace, TraceOptions};

const NONE: f64 = f64::NAN;

struct Row {
    file: &'static str,
    mean_kib: [f64; 2],
    pages: [u64; 2],
    footprint_mib: f64,
    sequential: [f64; 2],
    rewritten: f64,
    gaps: [f64; 2],
    /// Share of requests that are not aligned to 4 KiB. Per cent.
    unaligned: f64,
    volumes: u64,
    inversions: u64,
}

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { file: "msr-web_3.csv.gz", mean_kib: [74.89, 20.83], pages: [58_776, 110_013], footprint_mib: 604.4, sequential: [11.8, 52.7], rewritten: 17.2, gaps: [8.582, 99.7], unaligned: 100.0, volumes: 1, inversions: 0 },
    Row { file: "msr-rsrch_1.csv.gz", mean_kib: [13.21, 12.17], pages: [144, 28_769], footprint_mib: 112.4, sequential: [2.4, 1.3], rewritten: 31.9, gaps: [11.227, 99.8], unaligned: 7.3, volumes: 1, inversions: 0 },
    Row { file: "msr-hm_0-sample1000.csv.gz", mean_kib: [11.74, 7.11], pages: [1_449, 475], footprint_mib: 7.5, sequential: [6.5, 1.2], rewritten: 49.3, gaps: [3.604, 70.2], unaligned: 15.3, volumes: 1, inversions: 0 },
    Row { file: "umass-financial1-head949.spc.gz", mean_kib: [1.61, 2.89], pages: [119, 437], footprint_mib: 1.9, sequential: [9.8, 29.4], rewritten: 63.2, gaps: [0.0, 0.0], unaligned: 99.9, volumes: 16, inversions: 0 },
    Row { file: "umass-financial1-head10k.ssdsim.gz", mean_kib: [6.09, 4.92], pages: [3_888, 3_734], footprint_mib: 28.6, sequential: [71.0, 27.5], rewritten: 69.9, gaps: [0.16, 9.0], unaligned: 99.9, volumes: 22, inversions: 0 },
    Row { file: "umass-financial1-first30k.hil.gz", mean_kib: [7.31, 6.05], pages: [15_240, 6_610], footprint_mib: 80.6, sequential: [1.0, 0.7], rewritten: 80.8, gaps: [0.053, 4.3], unaligned: 89.5, volumes: 1, inversions: 0 },
    Row { file: "umass-websearch1-head24783.mqsim.gz", mean_kib: [15.06, 8.0], pages: [93_025, 4], footprint_mib: 363.4, sequential: [9.6, 0.0], rewritten: 50.0, gaps: [0.0, 0.0], unaligned: 0.1, volumes: 6, inversions: 0 },
    Row { file: "ms-msnfs-first100k.disksim.gz", mean_kib: [22.51, 9.26], pages: [432_346, 23_863], footprint_mib: 1_743.3, sequential: [1.5, 0.0], rewritten: 2.3, gaps: [0.0, 0.0], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "ms-devdivrelease-first80k.ssdsim-us.gz", mean_kib: [57.24, 7.15], pages: [943_662, 2_570], footprint_mib: 3_694.1, sequential: [23.4, 0.2], rewritten: 25.5, gaps: [0.0, 0.0], unaligned: 2.8, volumes: 1, inversions: 0 },
    Row { file: "ms-tpcc-small.mqsim.gz", mean_kib: [8.09, 8.73], pages: [12_663, 7_879], footprint_mib: 80.0, sequential: [0.0, 3.3], rewritten: 1.5, gaps: [0.0, 0.0], unaligned: 87.3, volumes: 16, inversions: 0 },
    Row { file: "nexus5-installing.biotracer.gz", mean_kib: [22.23, 93.45], pages: [1_716, 265_188], footprint_mib: 1_042.0, sequential: [4.2, 22.9], rewritten: 36.1, gaps: [1.421, 56.8], unaligned: 17.2, volumes: 1, inversions: 352 },
    Row { file: "nexus5-movie.biotracer.gz", mean_kib: [27.86, 17.06], pages: [31_506, 1_009], footprint_mib: 127.0, sequential: [17.0, 22.9], rewritten: 8.9, gaps: [5.649, 55.7], unaligned: 0.2, volumes: 1, inversions: 33 },
    Row { file: "pixel6a-cod_precond.csv.gz", mean_kib: [NONE, 135.02], pages: [0, 2_443_204], footprint_mib: 9_543.8, sequential: [NONE, 87.7], rewritten: 0.7, gaps: [1.14, 99.6], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "pixel6a-cod_exec.csv.gz", mean_kib: [45.15, 39.4], pages: [1_176_116, 165_090], footprint_mib: 5_231.2, sequential: [45.0, 26.9], rewritten: 25.1, gaps: [2.374, 99.7], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "pixel6a-telegram_precond.csv.gz", mean_kib: [NONE, 26.98], pages: [0, 31_820], footprint_mib: 124.3, sequential: [NONE, 34.9], rewritten: 11.3, gaps: [2.444, 96.6], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "pixel6a-telegram_exec.csv.gz", mean_kib: [61.37, 20.53], pages: [307_506, 976_231], footprint_mib: 3_988.9, sequential: [8.5, 12.3], rewritten: 16.5, gaps: [0.513, 73.2], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "pixel6a-genshin_impact_precond.csv.gz", mean_kib: [NONE, 189.0], pages: [0, 6_461_226], footprint_mib: 25_239.2, sequential: [NONE, 79.7], rewritten: 3.1, gaps: [2.357, 99.6], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "pixel6a-genshin_impact_exec.csv.gz", mean_kib: [47.11, 25.2], pages: [708_966, 49_293], footprint_mib: 2_823.9, sequential: [27.2, 26.8], rewritten: 18.7, gaps: [1.823, 73.2], unaligned: 0.0, volumes: 1, inversions: 1 },
    Row { file: "pixel6a-slideshow_precond.csv.gz", mean_kib: [NONE, 197.24], pages: [0, 16_151_139], footprint_mib: 63_090.4, sequential: [NONE, 98.1], rewritten: 1.4, gaps: [0.249, 89.8], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "pixel6a-slideshow_exec.csv.gz", mean_kib: [35.62, 25.21], pages: [473_683, 28_818], footprint_mib: 1_943.1, sequential: [37.1, 14.6], rewritten: 29.0, gaps: [0.335, 87.9], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "cloudphysics-io-first80k.vscsi.gz", mean_kib: [40.39, 35.61], pages: [208_377, 201_815], footprint_mib: 1_023.9, sequential: [21.9, 32.7], rewritten: 60.0, gaps: [2.129, 37.1], unaligned: 99.9, volumes: 1, inversions: 0 },
    Row { file: "ycsb-rocksdb-sample10k.blkparse.gz", mean_kib: [114.17, NONE], pages: [48_379, 0], footprint_mib: 189.0, sequential: [1.6, NONE], rewritten: NONE, gaps: [0.0, 0.0], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "tencent-cbs-first35k.csv.gz", mean_kib: [25.81, 35.15], pages: [102_860, 148_875], footprint_mib: 981.7, sequential: [6.6, 9.6], rewritten: 3.3, gaps: [0.0, 0.0], unaligned: 17.0, volumes: 1695, inversions: 144 },
    Row { file: "systor17-sample-a.csv.gz", mean_kib: [42.98, 15.62], pages: [9_085, 746], footprint_mib: 38.4, sequential: [13.4, 18.5], rewritten: 10.7, gaps: [0.0, 0.0], unaligned: 92.9, volumes: 1, inversions: 243 },
    Row { file: "desktop-mayun2.diskmon.gz", mean_kib: [21.69, 18.26], pages: [87_128, 133_688], footprint_mib: 821.5, sequential: [17.7, 15.7], rewritten: 52.6, gaps: [1.475, 62.2], unaligned: 90.6, volumes: 1, inversions: 0 },
    Row { file: "desktop-sys1.diskmon.gz", mean_kib: [16.42, 30.27], pages: [90_580, 146_638], footprint_mib: 682.6, sequential: [26.7, 24.2], rewritten: 34.6, gaps: [0.315, 25.5], unaligned: 16.8, volumes: 1, inversions: 0 },
    Row { file: "hil-desktop.hil.gz", mean_kib: [25.27, 38.26], pages: [73_374, 143_898], footprint_mib: 763.3, sequential: [47.4, 39.1], rewritten: 25.3, gaps: [0.489, 94.5], unaligned: 21.0, volumes: 1, inversions: 0 },
    Row { file: "hplajw-1992-1week.srt.gz", mean_kib: [4.61, 6.26], pages: [5_702, 3_856], footprint_mib: 28.7, sequential: [0.6, 1.7], rewritten: 93.0, gaps: [7.04, 99.8], unaligned: 35.9, volumes: 2, inversions: 0 },
    Row { file: "hplajw-1992-1week.disksim.gz", mean_kib: [4.61, 6.26], pages: [5_702, 3_856], footprint_mib: 28.7, sequential: [0.6, 1.7], rewritten: 93.0, gaps: [7.04, 99.8], unaligned: 35.9, volumes: 2, inversions: 0 },
    Row { file: "agrawal-postmark.disksim.gz", mean_kib: [98.76, 833.01], pages: [963_019, 1_532_457], footprint_mib: 5_989.8, sequential: [53.4, 10.3], rewritten: 29.8, gaps: [0.014, 18.5], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "llm-opt7b.mqsim.gz", mean_kib: [96.58, 473.96], pages: [769_557, 592_453], footprint_mib: 5_320.1, sequential: [72.6, 92.1], rewritten: 0.0, gaps: [0.027, 64.9], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "fio-iolog-v2-sample.iolog.gz", mean_kib: [NONE, 4.0], pages: [0, 9_162], footprint_mib: 35.8, sequential: [NONE, 0.0], rewritten: 3.0, gaps: [NONE, NONE], unaligned: 0.0, volumes: 1, inversions: 0 },
    Row { file: "arc-P3.lis.gz", mean_kib: [8.2, NONE], pages: [102_348, 0], footprint_mib: 399.8, sequential: [11.9, NONE], rewritten: NONE, gaps: [NONE, NONE], unaligned: 53.8, volumes: 1, inversions: 0 },
    Row { file: "cloudphysics-w106.keys32le.xz", mean_kib: [4.0, NONE], pages: [275_171, 0], footprint_mib: 1_074.9, sequential: [39.0, NONE], rewritten: NONE, gaps: [NONE, NONE], unaligned: 0.0, volumes: 1, inversions: 0 },
];

fn stat(file: &str) -> Option<Stat> {
    stat_by(file, IdleRule::default())
}

fn stat_by(file: &str, rule: IdleRule) -> Option<Stat> {
    let path = real(file)?;
    let trace = Trace::open(&[path], &TraceOptions::as_recorded());
    let stat = trace.and_then(|mut trace| stat_trace(&mut trace, rule));
    Some(stat.expect("the trace can be read"))
}

/// Returns `true` if the values differ by at most `step`, the rounding of the table, or if both are
/// absent.
fn close(found: Option<f64>, expected: f64, step: f64) -> bool {
    match found {
        None => expected.is_nan(),
        Some(found) => (found - expected).abs() <= 0.51 * step,
    }
}

#[test]
fn statistics_of_real_traces_match_the_table() {
    for row in TABLE {
        let Some(stat) = stat(row.file) else { continue };
        let file = row.file;
        let kib =
            |size: Option<wordline_workload::stat::Sizes>| size.map(|s| s.mean_bytes / 1024.0);
        assert!(
            close(kib(stat.read_size), row.mean_kib[0], 0.01),
            "{file}: {:?}",
            stat.read_size
        );
        assert!(
            close(kib(stat.write_size), row.mean_kib[1], 0.01),
            "{file}: {:?}",
            stat.write_size
        );
        let print = stat.footprint;
        assert!(print.complete);
        assert_eq!([print.pages_read, print.pages_written], row.pages, "{file}");
        assert!(
            close(Some(print.mib), row.footprint_mib, 0.1),
            "{file}: {}",
            print.mib
        );
        let sequence = stat.sequence;
        let (reads, writes) = (
            sequence.sequential_read_percent,
            sequence.sequential_write_percent,
        );
        assert!(close(reads, row.sequential[0], 0.1), "{file}: {reads:?}");
        assert!(close(writes, row.sequential[1], 0.1), "{file}: {writes:?}");
        assert!(
            close(print.rewritten_percent, row.rewritten, 0.1),
            "{file}: {print:?}"
        );
        // The table was made with times as binary fractions, whose rounding affects gaps of one
        // second (up to 4 per file). Wordline's times are exact.
        let over = stat.gaps.map(|gaps| gaps.over_1_s);
        let five_gaps = 2.0 * 500.0 / stat.requests as f64;
        let five_seconds = stat.duration_s.map_or(0.0, |s| 2.0 * 500.0 / s);
        let (gaps, time) = (
            over.map(|o| o.percent_of_gaps),
            over.map(|o| o.percent_of_time),
        );
        assert!(
            close(gaps, row.gaps[0], 0.001 + five_gaps),
            "{file}: {over:?}"
        );
        assert!(
            close(time, row.gaps[1], 0.1 + five_seconds),
            "{file}: {over:?}"
        );
        // Without execution times, an idle period equals the time between arrivals.
        let long = stat.idle.map(|idle| idle.long.percent_of_intervals);
        assert_eq!(long, gaps, "{file}");
        assert!(
            close(stat.unaligned_percent, row.unaligned, 0.1),
            "{file}: {:?}",
            stat.unaligned_percent
        );
        assert_eq!(stat.volumes, row.volumes, "{file}");
        assert_eq!(
            stat.trace.unwrap().time_inversions,
            row.inversions,
            "{file}"
        );
    }
}

#[test]
fn gaps_of_web_3_match_its_description() {
    let Some(stat) = stat("msr-web_3.csv.gz") else {
        return;
    };
    let gaps = stat.gaps.unwrap();
    assert!((gaps.p50_ms - 15.6155).abs() / 15.6155 < 0.001);
    assert!((gaps.p99_ms - 24_328.054).abs() / 24_328.054 < 0.001);
    assert!(close(Some(gaps.max_s), 62_331.06, 0.01));
    assert!(close(Some(gaps.over_100_ms.percent_of_gaps), 20.313, 0.001));
    assert!(close(Some(gaps.over_10_s.percent_of_gaps), 3.843, 0.001));
    assert!(close(Some(gaps.over_10_s.percent_of_time), 98.7, 0.1));
    // The duration is 594,376.2 s.
    assert!(close(stat.duration_s, 594_376.2, 0.1));
}

/// TRIMs are counted separately. The gaps at 20 wrapped time stamps are cut, and no request is
/// lost.
#[test]
fn trims_of_fillrandom_are_counted_separately() {
    let Some(path) = real("dbbench-fillrandom.blkparse.gz") else {
        return;
    };
    let options = TraceOptions {
        time_gaps: "cut=1s".parse().unwrap(),
        ..TraceOptions::as_recorded()
    };
    let mut trace = Trace::open(&[path], &options).unwrap();
    let stat = stat_trace(&mut trace, IdleRule::default()).unwrap();
    assert_eq!((stat.requests, stat.trims), (51_698, 2_057));
    assert!((stat.written_bytes as f64 / f64::from(1 << 30) - 8.155).abs() < 0.001);
    assert!((stat.footprint.rewritten_percent.unwrap() - 75.8).abs() < 0.06);
}

/// Shards are addresses of one volume here, but separate devices in the table. Their contents must
/// agree; their sequentiality cannot.
#[test]
fn tectonic_shards_match_the_table() {
    let Some(stat) = stat("tectonic-cachelib-sample1.csv.gz") else {
        return;
    };
    let print = stat.footprint;
    assert_eq!([print.pages_read, print.pages_written], [344_433, 499_017]);
    assert!(close(Some(print.mib), 3_173.2, 0.1));
    assert!(close(
        stat.read_size.map(|size| size.mean_bytes / 1024.0),
        2_323.94,
        0.01
    ));
    assert!(close(
        stat.write_size.map(|size| size.mean_bytes / 1024.0),
        4_989.5,
        0.01
    ));
    assert!(close(stat.unaligned_percent, 29.1, 0.1));
}
