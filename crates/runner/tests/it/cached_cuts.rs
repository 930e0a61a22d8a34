//! Power cuts of flash in front of disks, from the configuration to the summary.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use wordline_runner::{RunSpec, Summary};

/// Flash of 32 MB in front of a disk. Only part of the load's working set fits into it.
const STORE: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 2\nways = 2\n\
    [nand.geometry]\nblocks_per_plane = 32\npages_per_block = 32\npage_bytes = 4096\n\
    [ftl]\nover_provisioning_ratio = 0.35\n[host]\ninterface = \"direct\"\nqueue_depth = 64\n";
const LOAD: &str = "[workload]\nrequests = 6000\nread_ratio = 0.6\nrequest_bytes = 8192\n\
    working_set_ratio = 0.5\narrival.closed-loop.queue_depth = 48\n";

fn run(cache: &str, disk: &str, verify: bool) -> Summary {
    run_seeded(1, cache, disk, verify)
}

fn run_seeded(seed: u64, cache: &str, disk: &str, verify: bool) -> Summary {
    let job = RunSpec {
        config: format!("{STORE}[cache]\n{cache}\n[disk]\n{disk}\n{LOAD}"),
        config_name: "test.toml".into(),
        seed,
        power_cut_every: Some(100),
        verify,
        ..RunSpec::default()
    };
    let done = job.run(&mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    let summary = done.results.summary;
    assert_eq!(summary.error, None, "{cache} {disk}");
    assert!(summary.power.unwrap().cuts > 20, "{cache} {disk}");
    summary
}

/// A disk whose queue is shorter than the host's queue depth, so that requests wait for
/// a slot of the disk when power fails.
const BOUNDED: &str = "base = \"nearline-7200\"\ncapacity_bytes = 67_108_864\nqueue_depth = 4\n";

#[test]
fn power_cut_cancels_requests_that_wait_for_a_disk() {
    for mode in ["write-around", "write-back"] {
        run(
            &format!("mode = \"{mode}\"\nreplacement = \"arc\"\nsuspected_queue = true"),
            BOUNDED,
            false,
        );
    }
}

#[test]
fn verified_run_survives_power_cuts_in_every_mode() {
    for disk in ["capacity_bytes = 67_108_864\n", BOUNDED] {
        for mode in [
            "write-around",
            "write-through",
            "write-back",
            "write-only",
            "pass-through",
        ] {
            for queue in [false, true] {
                let cache = format!("mode = \"{mode}\"\nsuspected_queue = {queue}");
                let summary = run(&cache, disk, true);
                let checked = summary.cache.unwrap().pages_checked;
                assert!(checked > Some(100), "{mode}");
            }
        }
    }
}

/// In some runs the flash becomes read-only, when one die is worn out and others still work. No
/// data are lost, no request fails, and later power cuts restore what was written.
#[test]
fn verified_run_survives_the_wear_out_of_its_flash() {
    const FAILS: &str =
        "[nand.reliability.failures.table]\ncycles = [0.0]\nprogram = [0.0003]\nerase = [0.005]\n";
    let mut ended = 0;
    for seed in 0..12 {
        let disk = ["capacity_bytes = 67_108_864\n", BOUNDED][seed as usize % 2];
        let mode = ["write-back", "write-only"][seed as usize / 2 % 2];
        let cache = format!("mode = \"{mode}\"\nreplacement = \"arc\"");
        let summary = run_seeded(seed, &cache, &format!("{disk}{FAILS}"), true);
        let (cache, bad) = (summary.cache.unwrap(), summary.bad_blocks.unwrap());
        assert_eq!((cache.pages_lost, cache.host_failures), (0, 0), "{seed}");
        assert!(cache.pages_checked > Some(100));
        ended += u32::from(bad.read_only_s.is_some());
    }
    assert!(ended > 4, "{ended} ended");
}
