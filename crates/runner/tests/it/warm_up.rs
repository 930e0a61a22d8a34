//! Counts after a warm-up equal the counts of the whole run minus the counts of the warm-up.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use wordline_kernel::Rng;
use wordline_runner::{Results, RunSpec, Summary};
use wordline_workload::Recordings;

const FLASH: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 2\nways = 2\n\
    [nand.geometry]\nplanes_per_die = 2\nblocks_per_plane = 32\npages_per_block = 16\npage_bytes = 4096\n\
    [ftl]\nover_provisioning_ratio = 0.4\n[precondition]\nfill_ratio = 0.8\noverwrite_ratio = 0.1\n";
const DISK: &str =
    "schema = 1\nname = \"small\"\n[disk]\nbase = \"nearline-7200\"\ncapacity_bytes = 16_777_216\n";
const CACHED: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 2\nways = 1\n[nand.geometry]\n\
    planes_per_die = 1\nblocks_per_plane = 32\npages_per_block = 8\n[ftl]\nover_provisioning_ratio = 0.4\n\
    [cache]\nmode = \"write-back\"\n[disk]\nbase = \"nearline-7200\"\ncapacity_bytes = 4_194_304\n";
const ARRAY: &str = "[array]\nstripe_bytes = 8192\n[[array.members]]\nname = \"flash\"\n\
    [[array.members]]\nname = \"spindle\"\ndisk = { capacity_bytes = 67_108_864 }\n";
const ERRORS: &str =
    "[nand.reliability]\nerrors = { table = { cycles = [0.0], rates = [0.0025] } }\n";

/// Returns named configurations: stores of every shape, and stores with features that have their
/// own counters.
pub(crate) fn stores() -> Vec<(&'static str, String)> {
    vec![
        ("ssd", FLASH.into()),
        ("buffer", format!("{FLASH}[buffer]\ncapacity_kib = 64\n")),
        (
            "map in flash",
            FLASH.replace("[ftl]\n", "[ftl]\nmapping.dftl.cache_bytes = 2048\n"),
        ),
        (
            "errors",
            format!("{FLASH}{ERRORS}").replace("[ssd]\n", "[ssd]\necc = \"bch\"\n"),
        ),
        (
            "array of ssds",
            format!("{FLASH}[array]\nstripe_bytes = 8192\n[[array.members]]\ncount = 2\n"),
        ),
        ("disk", DISK.into()),
        ("cached", CACHED.into()),
        ("mixed", format!("{FLASH}{ARRAY}")),
        (
            "host side",
            format!("{FLASH}[host_side]\narchitecture.flash-software.unit_bytes = 512\n"),
        ),
    ]
}

/// Appends requests of a part of a trace: times from `start_ms` on, about a millisecond apart.
fn requests(lines: &mut String, draws: &mut Rng, start_ms: u64, count: u64) {
    for request in 0..count {
        let time = (start_ms + request) * 1_000_000 + draws.below(500_000);
        let op = ["read", "write", "write"][draws.below(3) as usize];
        let page = draws.below(700);
        let bytes = [2048, 4096, 12288][draws.below(3) as usize];
        writeln!(lines, "{time},{op},{},{bytes},0", page * 4096).unwrap();
    }
}

const HEAD: &str = "time_ns,op,offset_bytes,size_bytes,volume\n";
/// End of the warm-up, while the store is idle between the two parts of the trace. Seconds.
const PAUSE_S: &str = "90";

/// Writes a trace whose parts are a hundred seconds apart, and its first part alone.
fn traces(folder: &Path) -> [PathBuf; 2] {
    let draws = &mut Rng::new(11, "trace");
    let mut lines = HEAD.to_owned();
    requests(&mut lines, draws, 0, 600);
    let first = folder.join("first.csv");
    std::fs::write(&first, &lines).unwrap();
    requests(&mut lines, draws, 100_000, 900);
    let whole = folder.join("whole.csv");
    std::fs::write(&whole, &lines).unwrap();
    [whole, first]
}

/// The runs that are compared.
#[derive(Clone, Copy)]
enum Run {
    Whole,
    First,
    Measured,
}

/// Applies `look` to the summary of each run.
fn three_runs<T>(config: &str, traces: &[PathBuf; 2], look: impl Fn(&Summary, Run) -> T) -> [T; 3] {
    let [whole, first] = traces;
    [Run::Whole, Run::First, Run::Measured].map(|which| {
        let results = match which {
            Run::Whole => run(config, &[whole], &[]),
            Run::First => run(config, &[first], &[]),
            Run::Measured => run(config, &[whole], &[("observe.warm_up_s", PAUSE_S)]),
        };
        look(&results.summary, which)
    })
}

fn run(config: &str, traces: &[&Path], overrides: &[(&str, &str)]) -> Results {
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let job = RunSpec {
        config: config.into(),
        config_name: "test.toml".into(),
        traces: traces.iter().map(|&trace| trace.into()).collect(),
        overrides: overrides.iter().map(owned).collect(),
        seed: 1,
        requests: true,
        ..RunSpec::default()
    };
    let done = job
        .run(&mut |_| true)
        .unwrap_or_else(|error| panic!("{overrides:?}: {error}\n{config}"));
    done.results
}

/// Keys of the summary that the comparison skips: `speed` and `notes`, results of preconditioning,
/// and lists whose indices do not match between runs.
const LEFT_OUT: [&str; 6] = [
    "speed",
    "notes",
    "precondition",
    "collections",
    "seek_distances",
    "above",
];

/// Returns the numbers of a summary by path.
fn numbers(summary: &Summary) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    let summary = serde_json::to_value(summary).unwrap();
    flatten("", &summary, &mut all);
    all
}

fn flatten(path: &str, value: &Value, all: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, _)| !LEFT_OUT.contains(&key.as_str()))
            .for_each(|(key, value)| flatten(&format!("{path}.{key}"), value, all)),
        Value::Array(values) => (0..)
            .zip(values)
            .for_each(|(place, value): (usize, _)| flatten(&format!("{path}.{place}"), value, all)),
        Value::Number(_) => {
            all.insert(path.to_owned(), value.clone());
        }
        _ => {}
    }
}

/// Metrics that are sums but not integers.
const SUMS: [&str; 9] = [
    "busy_s",
    "gc_time_s",
    "gc_die_time_s",
    "read_mj",
    "program_mj",
    "erase_mj",
    "bus_mj",
    "seek_s",
    "cpu_worker_s",
];

/// Returns `true` if a metric is a final state or a maximum, and therefore not a count of the
/// measured time.
fn is_state(path: &str) -> bool {
    [
        ".schema",
        ".seed",
        ".warm_up_requests",
        ".device.",
        "per_block",
        "valid_pages",
        "free_blocks",
        "dirty_pages",
        "_most",
        "_pages_left",
        ".percentage_used",
        ".available_spare",
        ".capacity_",
        ".queue_depth",
        ".cores",
        ".host_side.map_units",
        ".host_side.map_entries",
        ".host_side.map_bytes",
        ".host_side.map_most_bytes",
        ".flash_pages",
        "list_pages",
        "size_pages",
        ".over_provisioning_pages",
        ".resident_pages",
        ".suspected_pages",
    ]
    .iter()
    .any(|state| path.contains(state))
}

/// Returns `true` if a count is rounded, so that differences do not add up.
fn is_rounded(path: &str) -> bool {
    path.contains(".data_units") || path.ends_with("_time_min")
}

#[test]
fn counts_after_the_warm_up_are_the_whole_minus_the_warm_up() {
    let folder = tempfile::tempdir().unwrap();
    let traces = traces(folder.path());
    for (name, config) in stores() {
        let [whole, first, measured] = three_runs(&config, &traces, |summary, run| {
            assert_eq!(summary.error, None, "{name}");
            if let Run::Measured = run {
                assert_eq!(summary.time.measured_from_s, 90.0);
                assert_eq!(summary.input.warm_up_requests, 600);
                assert_eq!(summary.latency.all.count, 900);
            }
            (summary.digest.clone(), numbers(summary))
        });
        assert_eq!(measured.0, whole.0, "{name}");
        let (whole, first, measured) = (whole.1, first.1, measured.1);
        let mut counts = 0;
        for (path, all) in &whole {
            let (Some(before), Some(after)) = (first.get(path), measured.get(path)) else {
                assert_eq!(all.as_u64(), None, "{name}: {path}");
                continue;
            };
            if let (Some(all), Some(before), Some(after)) =
                (all.as_u64(), before.as_u64(), after.as_u64())
            {
                if is_rounded(path) {
                    assert!(after <= all, "{name}: {path}");
                } else if is_state(path) {
                    let is_of_measured = path.contains("_most") || path.contains("warm_up");
                    assert!(after == all || is_of_measured, "{name}: {path}");
                } else {
                    assert_eq!(after, all - before, "{name}: {path}");
                    counts += u32::from(after > 0 && before > 0);
                }
            } else if SUMS.iter().any(|sum| path.ends_with(sum)) {
                let [all, before, after] = [all, before, after].map(|sum| sum.as_f64().unwrap());
                let expected = all - before;
                assert!(
                    (after - expected).abs() <= 1e-9 * all,
                    "{name}: {path}: {after} {expected}"
                );
            }
        }
        assert!(counts > 12, "{name}: {counts}");
    }
}

/// A share of time is the time divided by the measured time.
#[test]
fn shares_are_relative_to_the_measured_time() {
    let folder = tempfile::tempdir().unwrap();
    let traces = traces(folder.path());
    for (name, config) in stores() {
        let spans = three_runs(&config, &traces, |summary, _| {
            let Summary {
                time,
                utilisation,
                throughput,
                execution,
                ..
            } = summary;
            let span = time.simulated_s - time.measured_from_s;
            let served = time.last_completion_s - time.measured_from_s;
            [
                utilisation.die_mean * span,
                utilisation.channel_mean * span,
                execution.bus_active * span,
                throughput.iops * served,
            ]
        });
        for place in 0..4 {
            let [whole, first, measured] = spans.map(|span| span[place]);
            assert!(
                (measured - (whole - first)).abs() <= 1e-6 * whole,
                "{name}: {place}: {measured}, {whole} - {first}"
            );
        }
    }
}

/// The warm-up of a closed loop ends with a request, while the store may still be busy. Rows,
/// series and sums agree on the measured requests, and requests in flight complete as measured
/// ones.
#[test]
fn requests_in_flight_at_the_end_of_the_warm_up_are_measured() {
    let load = "[workload]\nrequests = 3000\nread_ratio = 0.4\nworking_set_ratio = 0.1\narrival.closed-loop.queue_depth = 8\n";
    for (name, store) in stores() {
        let config = format!("{store}{load}");
        let whole = run(&config, &[], &[]);
        let results = run(&config, &[], &[("observe.warm_up_requests", "1000")]);
        let summary = &results.summary;
        assert_eq!(summary.error, None, "{name}");
        assert_eq!(summary.digest, whole.summary.digest, "{name}");
        assert_eq!(
            (summary.input.warm_up_requests, summary.input.requests),
            (1_000, 2_000),
            "{name}"
        );
        let completed = summary.latency.all.count;
        assert!((2_000..2_008).contains(&completed), "{name}: {completed}");
        let rows = results.table("requests").unwrap().unwrap();
        assert_eq!(rows.rows() as u64, completed, "{name}");
        let flash = &summary.flash;
        assert!(flash.erases <= whole.summary.flash.erases, "{name}");
        assert!(
            summary.utilisation.die_max <= 1.0 && summary.utilisation.channel_max <= 1.0,
            "{name}"
        );
        assert!(summary.execution.idle >= 0.0, "{name}");
    }
}

/// The second pass over a trace that fits the cache hits every page.
#[test]
fn only_the_second_pass_over_a_trace_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = HEAD.to_owned();
    for page in 0..100_u64 {
        writeln!(
            lines,
            "{},read,{},4096,0",
            page * 1_000_000,
            (page * 37 % 100) * 4096
        )
        .unwrap();
    }
    let trace = folder.path().join("pass.csv");
    std::fs::write(&trace, &lines).unwrap();
    for mode in [
        "{ open-loop = {} }",
        "{ closed-loop = { queue_depth = 1 } }",
    ] {
        let replay = ("replay.mode", mode);
        let twice = [trace.as_path(), trace.as_path()];
        let whole = run(CACHED, &twice, &[replay]).summary;
        assert_eq!(whole.cache.unwrap().hit_ratio, Some(0.5));
        let files = run(CACHED, &twice, &[replay, ("observe.warm_up_files", "1")]).summary;
        let cache = files.cache.as_ref().unwrap();
        assert_eq!((cache.pages_read, cache.hit_ratio), (100, Some(1.0)));
        assert_eq!(cache.lru_miss_ratio, Some(0.0));
        assert_eq!(files.disks[0].reads, 0);
        let requests = run(
            CACHED,
            &twice,
            &[replay, ("observe.warm_up_requests", "100")],
        )
        .summary;
        assert_eq!(numbers(&files), numbers(&requests));
    }
}

/// Measuring starts once every stream with a trace has finished its first file.
#[test]
fn streams_warm_up_together() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, count: u64, every_ms: u64| {
        let mut lines = HEAD.to_owned();
        for request in 0..count {
            writeln!(
                lines,
                "{},read,{},4096,0",
                request * every_ms * 1_000_000,
                request * 4096
            )
            .unwrap();
        }
        let path = folder.path().join(name);
        std::fs::write(&path, lines).unwrap();
        path
    };
    let (short, long) = (write("short.csv", 50, 1), write("long.csv", 50, 4));
    let config = format!("{FLASH}[[streams]]\nname = \"a\"\n[[streams]]\nname = \"b\"\n");
    let job = RunSpec {
        config,
        config_name: "test.toml".into(),
        streams: vec![
            ("a".into(), vec![short.clone(), long.clone()]),
            ("b".into(), vec![long.clone(), short.clone()]),
        ],
        overrides: vec![("observe.warm_up_files".into(), "1".into())],
        ..RunSpec::default()
    };
    let summary = job.run(&mut |_| true).unwrap().results.summary;
    assert_eq!(summary.error, None);
    let [a, b] = &summary.streams[..] else {
        panic!("expected two streams")
    };
    // The second file of b starts when its first ends, 196 ms after the start. By then, a has
    // replayed 147 ms of its second file.
    assert_eq!(b.input.requests, 50);
    assert_eq!(a.input.requests + a.input.warm_up_requests, 100);
    assert_eq!(a.input.warm_up_requests, 50 + 37);
    let fairness = summary.fairness.unwrap();
    assert!(fairness.contest_from_s.unwrap() >= summary.time.measured_from_s);
    assert!((summary.time.measured_from_s - 0.196).abs() < 1e-9);
}

#[test]
fn unfinished_warm_up_is_an_error_and_measures_nothing() {
    let load = "[workload]\nrequests = 300\nread_ratio = 0.4\narrival.poisson.iops = 1000\n";
    for (name, store) in stores() {
        for warm_up in [
            ("observe.warm_up_s", "1000"),
            ("observe.warm_up_requests", "300"),
        ] {
            let summary = run(&format!("{store}{load}"), &[], &[warm_up]).summary;
            let error = summary.error.as_deref().unwrap();
            assert!(
                error.starts_with("the run ended during its warm-up"),
                "{name}: {error}"
            );
            assert_eq!((summary.latency.all.count, summary.input.requests), (0, 0));
            assert_eq!(
                (
                    summary.flash.page_programs,
                    summary.flash.host_written_bytes
                ),
                (0, 0)
            );
            assert_eq!(summary.input.warm_up_requests, 300);
        }
    }
}

/// Inputs with equal keys are checked once, so a run that is rejected needs a different key.
#[test]
fn inputs_of_a_rejected_and_an_accepted_run_have_different_keys() {
    let streams =
        ["a", "b"].map(|name| format!("[[streams]]\nname = \"{name}\"\nworkload.requests = 10\n"));
    let accepted = RunSpec {
        config: format!("{FLASH}{}", streams.concat()),
        config_name: "test.toml".into(),
        slowdown: true,
        ..RunSpec::default()
    };
    let rejected = RunSpec {
        overrides: vec![("observe.warm_up_requests".into(), "5".into())],
        ..accepted.clone()
    };
    accepted.check_input(&Recordings::default()).unwrap();
    rejected.check_input(&Recordings::default()).unwrap_err();
    assert_ne!(accepted.input_key().unwrap(), rejected.input_key().unwrap());
}
