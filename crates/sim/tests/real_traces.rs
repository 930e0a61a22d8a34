//! Every real trace that lies in `../shared/traces` from the project's root, simulated with
//! verification: every read returns the newest acknowledged write, and generated is served. Where
//! the folder is absent the tests say so and check nothing.

use std::path::PathBuf;

use wordline_sim::{Job, Summary};
use wordline_workload::TraceOptions;

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

/// A device of 16 GiB, an eighth of it filled, so that reads find data and collection has work. Traces
/// without time stamps are driven closed loop.
fn simulate(path: PathBuf, closed: bool, max_requests: Option<u64>) -> Summary {
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
        ("time_order", "sort"),
        ("align", "expand"),
        ("on_bad_line", "skip"),
        ("fit", "wrap"),
    ] {
        trace_options.set(key, word).unwrap();
    }
    let job = Job {
        config,
        config_name: "test.toml".into(),
        traces: vec![path.clone()],
        trace_options,
        seed: 1,
        verify: true,
        max_requests,
        ..Job::default()
    };
    let name = path.display();
    let done = job
        .run(&mut |_| true)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let summary = done.results.summary;
    assert_eq!(summary.error, None, "{name}");
    summary
}

/// Requests of each trace as its description states them; wrapping may split some.
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

fn check(folder: &std::path::Path, name: &str, requests: u64, closed: bool, max: Option<u64>) {
    let summary = simulate(folder.join(name), closed, max);
    let input = &summary.input;
    let seen = input.requests + input.trims_ignored + input.flushes_ignored + input.lines_skipped;
    println!(
        "{name}: {} requests, {} read checks, write amplification {:?}, digest {}",
        input.requests,
        summary
            .verification
            .map_or(0, |checks| checks.reads_checked),
        summary.flash.write_amplification,
        summary.digest
    );
    match max {
        Some(max) => assert_eq!(input.requests, max.min(input.requests), "{name}"),
        None => {
            // A request that wraps around the end of the device becomes two.
            assert!(seen >= requests, "{name}: {seen} of {requests} requests");
            assert!(
                seen <= requests + requests / 20,
                "{name}: {seen} for {requests} requests"
            );
        }
    }
}

#[test]
fn the_head_of_every_trace_verifies() {
    let Some(folder) = folder() else { return };
    for &(name, requests, closed) in TRACES {
        check(&folder, name, requests, closed, Some(2_000));
    }
}

#[test]
#[ignore = "takes minutes: run by make test-slow"]
fn every_trace_verifies_to_its_end() {
    let Some(folder) = folder() else { return };
    for &(name, requests, closed) in TRACES {
        check(&folder, name, requests, closed, None);
    }
}

#[test]
fn no_trace_of_the_folder_is_left_out() {
    let Some(folder) = folder() else { return };
    let known = |name: &str| TRACES.iter().any(|(known, ..)| *known == name);
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            name == "README.md" || known(&name),
            "{name} is not simulated"
        );
    }
}
