//! A run that is stopped between any two events and resumed from its checkpoint gives the results
//! of an uninterrupted run: with every policy, and with arrays, streams, loads, traces and power
//! cuts.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use twox_hash::XxHash3_64;
use wordline_kernel::Rng;
use wordline_runner::simulation::CheckpointOptions;
use wordline_runner::{JobError, Results, RunSpec};

const DEVICE: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 2\nways = 2\ncomposition = \"greedy\"\n\
    [nand.geometry]\nplanes_per_die = 2\nblocks_per_plane = 32\npages_per_block = 16\n[host]\nqueue_depth = 8\n\
    [ftl]\nover_provisioning_ratio = 0.4\n[precondition]\nfill_ratio = 0.8\noverwrite_ratio = 0.1\n";
const BUFFER: &str = "[buffer]\ncapacity_kib = 64\n";
const DISK: &str =
    "schema = 1\nname = \"small\"\n[disk]\nbase = \"nearline-7200\"\ncapacity_bytes = 16_777_216\n";
/// RAM disk slow enough for requests to queue.
const RAM: &str = "schema = 1\nname = \"small\"\n[ram]\ncapacity_bytes = 16_777_216\n\
    overhead_ns = 400_000\nns_per_byte = 5.0\nchannels = 2\n";
const CACHED: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 2\nways = 1\n[nand.geometry]\n\
    planes_per_die = 1\nblocks_per_plane = 32\npages_per_block = 8\n[ftl]\nover_provisioning_ratio = 0.4\n\
    [cache]\nreplacement = \"arc\"\nsuspected_queue = true\nreply = \"collection\"\n\
    [disk]\nbase = \"nearline-7200\"\ncapacity_bytes = 4_194_304\n";
/// Factory-bad blocks, and programs and erases that fail.
const FAILING: [(&str, &str); 3] = [
    ("ftl.spare_blocks", "8"),
    ("nand.reliability.factory_bad_ratio", "0.02"),
    (
        "nand.reliability.failures",
        "{ table = { cycles = [0.0], erase = [0.05], program = [0.02] } }",
    ),
];
/// Too few spare blocks, so that the device becomes read-only.
const END: [(&str, &str); 2] = [
    ("ftl.spare_blocks", "1"),
    ("nand.reliability.factory_bad_ratio", "0"),
];
/// A write-back cache in which about one page read in thirteen is uncorrectable.
const ERRING: [(&str, &str); 3] = [
    ("cache.mode", "\"write-back\""),
    ("ssd.ecc", "\"bch\""),
    (
        "nand.reliability.errors",
        "{ table = { cycles = [0.0], rates = [0.0033] } }",
    ),
];
const LOAD: &str = "[workload]\nrequests = 300\nread_ratio = 0.4\n\
    request_bytes = [{ bytes = 4096, weight = 1 }, { bytes = 24576, weight = 1 }]\n\
    arrival.poisson.iops = 4000\n";
const STREAMS: &str = "[[streams]]\nname = \"a\"\n[streams.workload]\nrequests = 200\nread_ratio = 0.5\n\
    arrival.closed-loop.queue_depth = 4\n[[streams]]\nname = \"b\"\n[streams.workload]\nrequests = 100\n\
    read_ratio = 0.0\narrival.poisson.iops = 2000\n";

fn spec(config: &str, overrides: &[(&str, &str)]) -> RunSpec {
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    RunSpec {
        config: config.to_owned(),
        config_name: "test.toml".into(),
        overrides: overrides.iter().map(owned).collect(),
        seed: 5,
        requests: true,
        ..RunSpec::default()
    }
}

/// Returns all results of a run except its speed: the numbers of its summary by path, and its
/// tables as bytes.
fn left(results: &Results) -> BTreeMap<String, String> {
    let mut summary = serde_json::to_value(&results.summary).unwrap();
    summary["speed"].take();
    let mut all = BTreeMap::new();
    flatten("summary", &summary, &mut all);
    for name in results.tables() {
        let bytes = results.table(name).unwrap().unwrap().to_ipc().unwrap();
        all.insert(
            name.to_owned(),
            format!("{:x}", XxHash3_64::oneshot(&bytes)),
        );
    }
    all
}

fn flatten(path: &str, value: &Value, all: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(key, value)| flatten(&format!("{path}.{key}"), value, all));
        }
        other => {
            all.insert(path.to_owned(), other.to_string());
        }
    }
}

/// Returns the differences between two runs.
fn differences(
    found: &BTreeMap<String, String>,
    expected: &BTreeMap<String, String>,
) -> Vec<String> {
    let keys = found.keys().chain(expected.keys());
    let other = keys.filter(|key| found.get(*key) != expected.get(*key));
    other
        .map(|key| format!("{key}: {:?}, not {:?}", found.get(key), expected.get(key)))
        .collect()
}

/// Runs until the watch has been called `calls` times, and writes a checkpoint. If `resume` is set,
/// the run continues from the checkpoint `state`.
fn stopped(spec: &RunSpec, state: &Path, resume: bool, calls: u64) -> Results {
    let stopping = RunSpec {
        checkpoint: Some(CheckpointOptions {
            path: state.to_owned(),
            every: Duration::MAX,
            command: json!("as in the test"),
        }),
        resume: resume.then(|| state.to_owned()),
        watch_events: true,
        ..spec.clone()
    };
    let mut left = calls;
    let done = stopping.run(&mut |_| {
        left = left.saturating_sub(1);
        left > 0
    });
    done.unwrap_or_else(|error| panic!("{error}")).results
}

/// Stops and resumes a run at random at least `rounds` times, and compares it with an uninterrupted
/// run. Returns the number of stops.
fn survives(told: &str, spec: &RunSpec, rounds: u64) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let state: PathBuf = folder.path().join("checkpoint.wls");
    let straight = spec.run(&mut |_| true);
    let straight = straight.unwrap_or_else(|error| panic!("{told}: {error}"));
    assert_eq!(straight.results.summary.error, None, "{told}");
    let expected = left(&straight.results);
    let events = straight.results.summary.speed.events;
    let mut random = Rng::new(events, told);
    survives_its_process(told, spec, &expected, 1 + random.below(events));
    let mut stops = 0;
    while stops < rounds {
        let mut resume = false;
        loop {
            let results = stopped(spec, &state, resume, 1 + random.below(events));
            if !results.interrupted {
                let other = differences(&left(&results), &expected);
                assert!(
                    other.is_empty(),
                    "{told}, stopped {stops} times: {other:#?}"
                );
                break;
            }
            resume = state.exists();
            stops += 1;
        }
    }
    stops
}

/// Stops a run once at random, and resumes it in a new process.
fn survives_its_process(
    told: &str,
    spec: &RunSpec,
    expected: &BTreeMap<String, String>,
    calls: u64,
) {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("checkpoint.wls");
    if !stopped(spec, &state, false, calls).interrupted {
        return;
    }
    let whole = RunSpec {
        resume: Some(state),
        ..spec.clone()
    };
    fs::write(folder.path().join("spec.json"), words(&whole).to_string()).unwrap();
    let own = env::current_exe().unwrap();
    let done = Command::new(own)
        .args([
            "--exact",
            "resume::stopped_run_resumes_in_a_new_process",
            "--ignored",
        ])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{told}: {output}");
    let found = fs::read(folder.path().join("left.json")).unwrap();
    let found: BTreeMap<String, String> = serde_json::from_slice(&found).unwrap();
    let other = differences(&found, expected);
    assert!(other.is_empty(), "{told}, in a new process: {other:#?}");
}

/// Environment variable with the folder of the run to resume.
const FOLDER: &str = "WORDLINE_TEST_RESUME";

/// Returns the parts of a specification that differ between these tests, as JSON.
fn words(spec: &RunSpec) -> Value {
    json!({
        "config": spec.config, "overrides": spec.overrides, "traces": spec.traces, "resume": spec.resume,
        "verify": spec.verify, "power_cut_every": spec.power_cut_every, "max_requests": spec.max_requests,
        "requests": spec.requests,
    })
}

fn of_words(told: &Value) -> RunSpec {
    fn part<T: DeserializeOwned>(told: &Value, key: &str) -> T {
        serde_json::from_value(told[key].clone()).unwrap()
    }
    RunSpec {
        overrides: part(told, "overrides"),
        traces: part(told, "traces"),
        resume: part(told, "resume"),
        verify: part(told, "verify"),
        power_cut_every: part(told, "power_cut_every"),
        max_requests: part(told, "max_requests"),
        requests: part(told, "requests"),
        ..spec(&part::<String>(told, "config"), &[])
    }
}

#[test]
#[ignore = "run by the other tests, each time in a new process"]
fn stopped_run_resumes_in_a_new_process() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let told: Value = serde_json::from_slice(&fs::read(folder.join("spec.json")).unwrap()).unwrap();
    let done = of_words(&told).run(&mut |_| true);
    let done = done.unwrap_or_else(|error| panic!("{error}"));
    let left = serde_json::to_vec(&left(&done.results)).unwrap();
    fs::write(folder.join("left.json"), left).unwrap();
}

/// Policies that these runs cannot select by name alone. Two are for caches that know the whole
/// trace or have no limit. The positioned disk model needs parameters; the disk of the other tests
/// has them.
const UNFIT: [&str; 3] = [
    "buffer.replacement=belady",
    "buffer.replacement=unbounded",
    "disk.model=positioned",
];

/// Tests each policy of every family, on a store that uses it.
fn every_policy(rounds: u64) {
    let mut tried = 0;
    let mut unfit = Vec::new();
    for policy in wordline_config::policies() {
        let (family, name) = (policy.family, policy.name);
        let store = match family {
            _ if family.starts_with("buffer") => format!("{DEVICE}{BUFFER}"),
            _ if family.starts_with("disk") => DISK.to_owned(),
            _ if family.starts_with("cache") || family == "ftl.gc.reclaim" => CACHED.to_owned(),
            _ => DEVICE.to_owned(),
        };
        let config = format!("{store}{LOAD}");
        let value = format!("\"{name}\"");
        // Some policies need other settings: regulation needs several program modes, an SLC cache
        // needs multi-bit cells, ECC and read errors need each other, and a batch has at most half
        // the size of the buffer.
        let beside: &[(&str, &str)] = match family {
            "ftl.regulation" => &[("nand.programming", "\"table\"")],
            "buffer.flush" => &[("buffer.flush.batches.batch_kib", "16")],
            "ftl.slc_cache" => &[("nand.cell", "\"tlc\"")],
            "ssd.ecc" => &[("nand.reliability.errors", "\"analytic\"")],
            "nand.reliability.errors" => &[("ssd.ecc", "\"bch\"")],
            _ => &[],
        };
        let spec = spec(&config, &[&[(family, value.as_str())], beside].concat());
        if let Err(JobError::Config(_)) = spec.run(&mut |_| false) {
            unfit.push(format!("{family}={name}"));
            continue;
        }
        survives(&format!("{family}={name}"), &spec, rounds);
        tried += 1;
    }
    assert_eq!(unfit, UNFIT, "{tried} tried");
}

/// Tests arrays, streams, chip loads, warm-ups, an end time, buffers, bad blocks, read errors and a
/// scheduler: as they are, with power cuts, verified, with both, and with fewer requests.
fn everything_else(rounds: u64) {
    let array = "[array]\nstripe_bytes = 16384\nmembers = [{ name = \"a\" }, { name = \"b\" }]\n";
    let nested = "[array]\nmembers = [{ name = \"a\", array = { members = [{ name = \"c\" }, { name = \"d\" }] } }, { name = \"b\" }]\n";
    let chip_load = ("observe.chip_load_interval_ms", "0.5");
    let whole = format!("{DEVICE}{LOAD}");
    let buffered = format!("{DEVICE}{BUFFER}{LOAD}");
    let plain = [
        (
            "array",
            spec(&format!("{DEVICE}{array}{LOAD}"), &[chip_load]),
        ),
        (
            "nested array",
            spec(&format!("{DEVICE}{nested}{LOAD}"), &[]),
        ),
        ("streams", spec(&format!("{DEVICE}{STREAMS}"), &[])),
        (
            "streams of an array",
            spec(&format!("{DEVICE}{array}{STREAMS}"), &[]),
        ),
        ("chip load", spec(&whole, &[chip_load])),
        (
            "warm-up",
            spec(&buffered, &[chip_load, ("observe.warm_up_s", "0.02")]),
        ),
        (
            "load with an end time",
            spec(
                &whole,
                &[
                    ("workload.arrival", "{ closed-loop = { queue_depth = 8 } }"),
                    ("workload.duration_s", "0.02"),
                ],
            ),
        ),
        (
            "write through",
            spec(&buffered, &[("buffer.write_through", "true")]),
        ),
        ("blocks that go bad", spec(&whole, &FAILING)),
        (
            "blocks that go bad until none is left",
            spec(&whole, &[&FAILING[..], &END].concat()),
        ),
        (
            "blocks that go bad behind a buffer",
            spec(&buffered, &[&FAILING[..], &END].concat()),
        ),
        (
            "cache with read errors",
            spec(&format!("{CACHED}{LOAD}"), &ERRING),
        ),
        (
            "sprinkler",
            spec(&buffered, &[("ssd.scheduler", "\"sprinkler\"")]),
        ),
    ];
    for (told, plain) in plain {
        let cut = RunSpec {
            power_cut_every: Some(60),
            ..plain.clone()
        };
        let verified = RunSpec {
            verify: true,
            ..plain.clone()
        };
        let both = RunSpec {
            verify: true,
            ..cut.clone()
        };
        let warm_up = ("observe.warm_up_requests".to_owned(), "60".to_owned());
        let has_warm_up = told == "warm-up";
        let fewer = RunSpec {
            max_requests: Some(150),
            requests: false,
            overrides: [&plain.overrides[..], &[warm_up][usize::from(has_warm_up)..]].concat(),
            ..plain.clone()
        };
        for (how, spec) in [
            ("", plain),
            ("cut", cut),
            ("verified", verified),
            ("both", both),
            ("fewer", fewer),
        ] {
            survives(&format!("{told} {how}"), &spec, rounds);
        }
    }
}

/// Tests disks, caches in front of them, and devices of several kinds.
fn disks(rounds: u64) {
    let spindles = "[array]\nstripe_bytes = 16384\nmembers = [{ name = \"a\", count = 3 }]\n";
    let mixed = "[array]\nstripe_bytes = 16384\n[[array.members]]\n[[array.members]]\ndisk = { capacity_bytes = 67_108_864 }\n\
         [[array.members]]\nram = { capacity_bytes = 67_108_864 }\n\
         [[array.members]]\ncache = { mode = \"write-back\" }\nhost.interface = \"direct\"\ndisk = { capacity_bytes = 67_108_864 }\n";
    let disks = [
        ("mixed", format!("{DEVICE}{mixed}{LOAD}"), true),
        ("RAM disk", format!("{RAM}{LOAD}"), false),
        (
            "RAM disk behind a cache",
            CACHED.replace("[disk]\nbase = \"nearline-7200\"", "[ram]") + LOAD,
            true,
        ),
        ("disk", format!("{DISK}{LOAD}"), false),
        ("array of disks", format!("{DISK}{spindles}{LOAD}"), false),
        ("streams of a disk", format!("{DISK}{STREAMS}"), false),
        ("cache", format!("{CACHED}{LOAD}"), true),
        (
            "cache before an array",
            format!("{CACHED}{spindles}{LOAD}"),
            true,
        ),
    ];
    for (told, config, verifies) in disks {
        let plain = spec(&config, &[]);
        let cut = RunSpec {
            power_cut_every: Some(60),
            ..plain.clone()
        };
        survives(&format!("{told} cut"), &cut, rounds);
        let both = RunSpec {
            verify: verifies,
            ..cut
        };
        survives(&format!("{told} both"), &both, rounds);
        let verified = RunSpec {
            verify: verifies,
            ..plain
        };
        survives(told, &verified, rounds);
    }
}

/// Tests a trace with flushes, in two files, on a device with and without a DRAM buffer.
fn traces(rounds: u64) {
    let folder = tempfile::tempdir().unwrap();
    let lines = |from: u64| {
        let line = |number: u64| {
            let op = ["read", "write", "write", "flush"][(number % 4) as usize];
            let (offset, bytes) = if op == "flush" {
                (0, 0)
            } else {
                (number * 7919 % 500 * 4096, 8192)
            };
            format!("{},{op},{offset},{bytes},0\n", number * 250_000)
        };
        let head = "time_ns,op,offset_bytes,size_bytes,volume\n".to_owned();
        (from..from + 200).fold(head, |text, number| text + &line(number))
    };
    let paths = [folder.path().join("a.csv"), folder.path().join("b.csv")];
    for (path, from) in paths.iter().zip([0, 200]) {
        fs::write(path, lines(from)).unwrap();
    }
    for config in [DEVICE.to_owned(), format!("{DEVICE}{BUFFER}")] {
        let of_trace = RunSpec {
            traces: paths.to_vec(),
            ..spec(&config, &[])
        };
        survives("trace", &of_trace, rounds);
    }
}

#[test]
fn runs_resume_identically_with_every_policy() {
    every_policy(2);
}

#[test]
fn runs_of_arrays_streams_and_disks_resume_identically() {
    everything_else(2);
    disks(2);
}

/// Checks that bad blocks and read errors do occur in the runs above.
#[test]
fn resumed_runs_have_bad_blocks_and_read_errors() {
    let summary = |config: &str, overrides: &[(&str, &str)]| {
        let done = spec(&format!("{config}{LOAD}"), overrides).run(&mut |_| true);
        done.unwrap().results.summary
    };
    let bad = summary(DEVICE, &FAILING).bad_blocks.unwrap();
    assert!(
        bad.grown > 0 && bad.factory > 0 && bad.read_only_s.is_none(),
        "{bad:?}"
    );
    for config in [DEVICE.to_owned(), format!("{DEVICE}{BUFFER}")] {
        let overrides = [&FAILING[..], &END].concat();
        let bad = summary(&config, &overrides).bad_blocks.unwrap();
        assert!(
            bad.read_only_s.is_some() && bad.host_failures > 0,
            "{bad:?}"
        );
    }
    let cache = summary(CACHED, &ERRING).cache.unwrap();
    assert!(
        cache.hits_uncorrectable + cache.host_failures > 0,
        "{cache:?}"
    );
}

#[test]
fn runs_of_a_trace_resume_identically() {
    traces(5);
}

#[test]
#[ignore = "takes a minute in an optimised build; run by `make test-slow`, a shorter variant always runs"]
fn runs_resume_identically_after_ten_thousand_stops() {
    every_policy(100);
    everything_else(60);
    disks(60);
    traces(1000);
}

fn checkpoint(folder: &Path) -> (RunSpec, PathBuf) {
    let state = folder.join("checkpoint.wls");
    let spec = spec(&format!("{DEVICE}{LOAD}"), &[]);
    assert!(stopped(&spec, &state, false, 400).interrupted);
    (spec, state)
}

#[test]
fn checkpoint_of_another_configuration_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let (spec, state) = checkpoint(folder.path());
    let resumed = RunSpec {
        resume: Some(state),
        ..spec
    };
    let others = [
        RunSpec {
            seed: 6,
            ..resumed.clone()
        },
        RunSpec {
            requests: false,
            ..resumed.clone()
        },
        RunSpec {
            overrides: vec![("nand.timing.read_ns".into(), "51000".into())],
            ..resumed.clone()
        },
    ];
    for other in others {
        let said = other.run(&mut |_| true).unwrap_err().to_string();
        assert!(
            said.contains("belongs to a run with another configuration"),
            "{said}"
        );
    }
    assert!(resumed.run(&mut |_| true).is_ok());
}

#[test]
fn checkpoint_of_a_changed_trace_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let text = |offset: u64| {
        let head = "time_ns,op,offset_bytes,size_bytes,volume\n".to_owned();
        (0..400).fold(head, |text, n| {
            format!(
                "{text}{},write,{},4096,0\n",
                n * 1_000_000,
                offset + n * 4096
            )
        })
    };
    fs::write(&path, text(0)).unwrap();
    let state = folder.path().join("checkpoint.wls");
    let of_trace = RunSpec {
        traces: vec![path.clone()],
        ..spec(DEVICE, &[])
    };
    assert!(stopped(&of_trace, &state, false, 300).interrupted);
    fs::write(&path, text(4096)).unwrap();
    let resumed = RunSpec {
        resume: Some(state),
        ..of_trace
    };
    let said = resumed.run(&mut |_| true).unwrap_err().to_string();
    assert!(
        said.contains("the trace has changed since the run was stopped"),
        "{said}"
    );
}
