//! Simulates the head of every real trace in `../shared/traces`, relative to the project's root,
//! with verification: every read returns the newest acknowledged write. If the folder is absent,
//! the tests print a notice and check nothing. `make test-slow` replays the traces in full.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

use std::path::{Path, PathBuf};

use wordline_runner::{RunSpec, Summary};
use wordline_workload::TraceOptions;

/// Number of requests simulated per trace.
const HEAD: u64 = 2_000;

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/traces"
    ));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("NOTICE: ../shared/traces is absent, so no real trace was simulated");
    None
}

/// Simulates a trace on a device of 16 GiB that is full, so that reads find data and GC has work.
/// With `closed`, the trace is replayed closed loop.
fn simulate(path: &Path, closed: bool) -> Summary {
    let replay = if closed {
        "closed-loop = { queue_depth = 32 }"
    } else {
        "open-loop = {}"
    };
    let config = format!(
        "schema = 1\n[ssd]\nchannels = 8\nways = 8\n[nand]\nendurance_cycles = 1_000_000\n\
         [nand.geometry]\nblocks_per_plane = 256\npages_per_block = 128\n\
         [precondition]\nfill_ratio = 1.0\n[replay.mode]\n{replay}\n"
    );
    let mut trace_options = TraceOptions::default();
    for (key, word) in [
        ("volumes", "stack"),
        ("time_gaps", "cut=1h"), // the clock of one trace jumps
        ("time_order", "sort"),
        ("align", "expand"),
        ("on_bad_line", "skip"),
        ("fit", "wrap"),
    ] {
        trace_options.set(key, word).unwrap();
    }
    let job = RunSpec {
        config,
        config_name: "test.toml".into(),
        traces: vec![path.to_owned()],
        trace_options,
        seed: 1,
        verify: true,
        max_requests: Some(HEAD),
        ..RunSpec::default()
    };
    let name = path.display();
    let done = job
        .run(&mut |_| true)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let summary = done.results.summary;
    assert_eq!(summary.error, None, "{name}");
    summary
}

/// File of each trace, number of its reads, writes and TRIMs according to its description, and
/// whether it is replayed closed loop because it lacks time stamps.
const TRACES: &[(&str, u64, bool)] = &[
    ("agrawal-postmark.disksim.gz", 62_257, false),
    ("arc-P3.lis.gz", 238_578, true),
    ("cloudphysics-io-first80k.vscsi.gz", 80_000, false),
    ("cloudphysics-w106.keys32le.xz", 5_292_456, true),
    ("dbbench-fillrandom.blkparse.gz", 51_698, false),
    ("desktop-mayun2.diskmon.gz", 87_160, false),
    ("desktop-sys1.diskmon.gz", 58_818, false),
    ("fio-iolog-v2-sample.iolog.gz", 9_441, true),
    ("hil-desktop.hil.gz", 32_527, false),
    ("hplajw-1992-1week.disksim.gz", 44_519, false),
    ("hplajw-1992-1week.srt.gz", 44_519, false),
    ("llm-opt7b.mqsim.gz", 36_873, false),
    ("ms-devdivrelease-first80k.ssdsim-us.gz", 80_000, false),
    ("ms-msnfs-first100k.disksim.gz", 100_000, false),
    ("ms-tpcc-small.mqsim.gz", 6_999, false),
    ("msr-hm_0-sample1000.csv.gz", 1_000, false),
    ("msr-rsrch_1.csv.gz", 13_780, false),
    ("msr-web_3.csv.gz", 31_380, false),
    ("nexus5-installing.biotracer.gz", 17_952, false),
    ("nexus5-movie.biotracer.gz", 4_781, false),
    ("pixel6a-cod_exec.csv.gz", 223_998, false),
    ("pixel6a-cod_precond.csv.gz", 72_878, false),
    ("pixel6a-genshin_impact_exec.csv.gz", 91_317, false),
    ("pixel6a-genshin_impact_precond.csv.gz", 141_152, false),
    ("pixel6a-slideshow_exec.csv.gz", 84_197, false),
    ("pixel6a-slideshow_precond.csv.gz", 332_321, false),
    ("pixel6a-telegram_exec.csv.gz", 251_879, false),
    ("pixel6a-telegram_precond.csv.gz", 5_320, false),
    ("systor17-sample-a.csv.gz", 999, false),
    ("tectonic-cachelib-sample1.csv.gz", 999, false),
    ("tencent-cbs-first35k.csv.gz", 35_000, false),
    ("umass-financial1-first30k.hil.gz", 30_000, false),
    ("umass-financial1-head10k.ssdsim.gz", 10_000, false),
    ("umass-financial1-head949.spc.gz", 949, false),
    ("umass-websearch1-head24783.mqsim.gz", 24_783, false),
    ("ycsb-rocksdb-sample10k.blkparse.gz", 1_695, false),
];

#[test]
fn head_of_every_trace_is_simulated_and_verified() {
    let Some(folder) = folder() else { return };
    for &(name, requests, closed) in TRACES {
        let summary = simulate(&folder.join(name), closed);
        let checks = summary
            .verification
            .map_or(0, |checks| checks.reads_checked);
        println!(
            "{name}: {} requests, {checks} pages checked",
            summary.input.requests
        );
        let served = summary.input.requests + summary.input.trims;
        assert_eq!(served, requests.min(HEAD), "{name}");
    }
}

#[test]
fn every_trace_in_the_folder_is_simulated() {
    let Some(folder) = folder() else { return };
    let known = |name: &str| TRACES.iter().any(|(known, ..)| *known == name);
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        // Subfolders hold traces for other tests.
        let is_trace = name != "README.md" && entry.file_type().unwrap().is_file();
        assert!(!is_trace || known(&name), "{name} is not simulated");
    }
}
