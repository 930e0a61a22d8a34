//! A run on a prepared device has the results of a run that preconditions its device itself.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use std::path::PathBuf;

use serde_json::json;
use wordline_runner::{Results, RunSpec, state};

const DEVICE: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 2\nways = 2\ncomposition = \"greedy\"\n\
    [nand.geometry]\nplanes_per_die = 2\nblocks_per_plane = 32\npages_per_block = 16\n[host]\nqueue_depth = 8\n\
    [ftl]\nover_provisioning_ratio = 0.4\n[precondition]\nfill_ratio = 0.8\noverwrite_ratio = 0.5\n";
const LOAD: &str = "[workload]\nrequests = 300\nread_ratio = 0.4\narrival.poisson.iops = 4000\n";

fn spec(config: String, overrides: &[(&str, &str)]) -> RunSpec {
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    RunSpec {
        config,
        config_name: "test.toml".into(),
        overrides: overrides.iter().map(owned).collect(),
        seed: 5,
        ..RunSpec::default()
    }
}

fn prepared(spec: &RunSpec, folder: &tempfile::TempDir, spare_areas: bool) -> PathBuf {
    let path = folder.path().join("aged.wls");
    let bytes = spec
        .prepare(&path, spare_areas, &json!(null), &mut |_| true)
        .unwrap();
    assert_eq!(bytes, Some(path.metadata().unwrap().len()));
    path
}

/// Returns all results of a run except its speed.
fn left(results: &Results) -> (serde_json::Value, Vec<Vec<u8>>) {
    let mut summary = serde_json::to_value(&results.summary).unwrap();
    summary["speed"].take();
    let table = |name| results.table(name).unwrap().unwrap().to_ipc().unwrap();
    (summary, results.tables().into_iter().map(table).collect())
}

fn run(spec: &RunSpec) -> Results {
    let done = spec
        .run(&mut |_| true)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(done.results.summary.error, None);
    done.results
}

#[test]
fn prepared_device_is_restored_with_every_ftl_policy() {
    let mut tried = 0;
    for policy in wordline_config::policies() {
        // Only a cache, which starts empty, may drop pages.
        let drops = policy.family == "ftl.gc.reclaim" && policy.name != "move";
        if !policy.family.starts_with("ftl.") || drops {
            continue;
        }
        let value = format!("\"{}\"", policy.name);
        // Regulation needs several program modes, and an SLC cache needs multi-bit cells.
        let modes: &[(&str, &str)] = match policy.family {
            "ftl.regulation" => &[("nand.programming", "\"table\"")],
            "ftl.slc_cache" => &[("nand.cell", "\"tlc\"")],
            _ => &[],
        };
        let keys = [modes, &[(policy.family, &value)]].concat();
        let own = spec(format!("{DEVICE}{LOAD}"), &keys);
        let folder = tempfile::tempdir().unwrap();
        let spare_areas = policy.name.len().is_multiple_of(2);
        let from_file = RunSpec {
            prepared: Some(prepared(&own, &folder, spare_areas)),
            ..own.clone()
        };
        let checked = |spec: &RunSpec| RunSpec {
            verify: true,
            power_cut_every: spare_areas.then_some(50),
            ..spec.clone()
        };
        assert!(
            left(&run(&own)) == left(&run(&from_file)),
            "{}={}",
            policy.family,
            policy.name
        );
        let (one, other) = (left(&run(&checked(&own))), left(&run(&checked(&from_file))));
        assert!(one == other, "{}={}, checked", policy.family, policy.name);
        tried += 1;
    }
    assert!(tried > 15, "{tried}");
}

#[test]
fn prepared_device_serves_other_loads_schedulers_interfaces_and_buffers() {
    let folder = tempfile::tempdir().unwrap();
    let path = prepared(&spec(DEVICE.to_owned(), &[]), &folder, false);
    let others = [
        ("ssd.scheduler", "\"paq2\""),
        ("host.interface", "\"nvme\""),
        ("buffer.capacity_kib", "64"),
        ("workload.read_ratio", "0.9"),
        ("nand.timing.program_ns", "300000"),
        ("series.intervals", "50"),
    ];
    for other in others {
        let own = spec(format!("{DEVICE}{LOAD}"), &[other]);
        let from_file = RunSpec {
            prepared: Some(path.clone()),
            ..own.clone()
        };
        assert!(left(&run(&own)) == left(&run(&from_file)), "{other:?}");
        assert_eq!(own.preparation().unwrap(), from_file.preparation().unwrap());
    }
}

#[test]
fn every_member_of_an_array_is_prepared() {
    let array = "[array]\nmembers = [{ name = \"a\" }, { name = \"b\" }]\n";
    let own = spec(format!("{DEVICE}{array}{LOAD}"), &[]);
    let folder = tempfile::tempdir().unwrap();
    let from_file = RunSpec {
        prepared: Some(prepared(&own, &folder, false)),
        ..own.clone()
    };
    assert!(left(&run(&own)) == left(&run(&from_file)));
}

#[test]
fn different_device_is_rejected_with_the_keys_that_differ() {
    let folder = tempfile::tempdir().unwrap();
    let path = prepared(&spec(DEVICE.to_owned(), &[]), &folder, false);
    let others = [
        (
            "ftl.over_provisioning_ratio",
            "0.5",
            "ftl.over_provisioning_ratio is 0.4, not 0.5",
        ),
        ("ftl.gc.victim", "\"fifo\"", "ftl.gc.victim"),
        ("ssd.channels", "4", "ssd.channels is 2, not 4"),
        (
            "precondition.overwrite_ratio",
            "0.1",
            "precondition.overwrite_pages",
        ),
        ("nand.geometry.blocks_per_plane", "64", "nand.geometry"),
    ];
    for (key, value, expected) in others {
        let other = RunSpec {
            prepared: Some(path.clone()),
            ..spec(format!("{DEVICE}{LOAD}"), &[(key, value)])
        };
        let said = other.run(&mut |_| true).unwrap_err().to_string();
        assert!(
            said.contains("holds the state of another device") && said.contains(expected),
            "{said}"
        );
    }
    let cut = RunSpec {
        prepared: Some(path.clone()),
        power_cut_every: Some(50),
        ..spec(format!("{DEVICE}{LOAD}"), &[])
    };
    let said = cut.run(&mut |_| true).unwrap_err().to_string();
    assert!(
        said.contains("prepare the device with --spare-areas"),
        "{said}"
    );
}

#[test]
fn preparation_keys_are_equal_only_for_equal_preparations() {
    let key = |overrides: &[(&str, &str)], seed| {
        let spec = RunSpec {
            seed,
            ..spec(format!("{DEVICE}{LOAD}"), overrides)
        };
        spec.preparation().unwrap()
    };
    let first = key(&[], 1);
    assert!(first.is_some());
    assert_eq!(first, key(&[("host.queue_depth", "4")], 1));
    assert_ne!(first, key(&[], 2));
    assert_ne!(first, key(&[("ftl.gc.victim", "\"fifo\"")], 1));
    assert_eq!(
        key(
            &[
                ("precondition.fill_ratio", "0"),
                ("precondition.overwrite_ratio", "0")
            ],
            1
        ),
        None
    );
}

#[test]
fn header_of_a_state_can_be_read_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = prepared(&spec(DEVICE.to_owned(), &[]), &folder, true);
    let header = state::header(&path).unwrap();
    assert_eq!(header.kind, state::kind::DEVICE);
    assert_eq!(header.content["seed"], 5);
    assert_eq!(header.content["spare_areas"], true);
}
