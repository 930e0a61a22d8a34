//! Stores of several kinds of devices, from the configuration to the results.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use wordline_runner::{Results, RunSpec};

/// Flash of 32 MB, and a load that fits partly into it.
const FLASH: &str = "schema = 1\nname = \"mixed\"\n[ssd]\nchannels = 2\nways = 2\n\
    [nand.geometry]\nblocks_per_plane = 32\npages_per_block = 32\npage_bytes = 4096\n\
    [ftl]\nover_provisioning_ratio = 0.35\n[host]\ninterface = \"direct\"\nqueue_depth = 64\n";
const LOAD: &str = "[workload]\nrequests = 3000\nread_ratio = 0.6\nrequest_bytes = 16384\n\
    working_set_ratio = 0.5\narrival.closed-loop.queue_depth = 16\n";
const DISK: &str = "disk = { capacity_bytes = 67_108_864 }";
const CACHE: &str = "cache = { mode = \"write-back\" }";

fn run(store: &str, cuts: bool) -> Results {
    let job = RunSpec {
        config: format!("{FLASH}{store}{LOAD}"),
        config_name: "test.toml".into(),
        seed: 1,
        power_cut_every: cuts.then_some(100),
        verify: true,
        ..RunSpec::default()
    };
    let done = job
        .run(&mut |_| true)
        .unwrap_or_else(|e| panic!("{store}: {e}"));
    assert_eq!(done.results.summary.error, None, "{store}");
    done.results
}

/// Returns stores, with the names of their devices.
fn stores() -> Vec<(String, Vec<&'static str>)> {
    let top = "[cache]\nmode = \"write-back\"\n[array]\nstripe_bytes = 16384\n";
    vec![
        (
            format!(
                "[array]\nstripe_bytes = 8192\n[[array.members]]\ncount = 2\n{CACHE}\n{DISK}\n"
            ),
            vec!["cache0", "cache0.disk", "cache1", "cache1.disk"],
        ),
        (
            format!(
                "{top}[[array.members]]\ncount = 2\n{CACHE}\n{DISK}\nhost.interface = \"direct\"\nnand.geometry = {{ blocks_per_plane = 8, pages_per_block = 16, dies_per_package = 1 }}\nssd = {{ channels = 1, ways = 2 }}\nftl.over_provisioning_ratio = 0.4\n"
            ),
            vec!["mixed", "cache0", "cache0.disk", "cache1", "cache1.disk"],
        ),
        (
            format!(
                "[array]\nstripe_bytes = 8192\n[[array.members]]\nname = \"flash\"\n[[array.members]]\nname = \"spindle\"\n{DISK}\n"
            ),
            vec!["flash", "spindle"],
        ),
        (
            format!(
                "[array]\nlayout = \"by-disk\"\n[[array.members]]\n[[array.members]]\nname = \"tier\"\n{CACHE}\narray = {{ members = [{{ {DISK} }}, {{ name = \"deep\", {CACHE}, {DISK}, host = {{ interface = \"direct\" }}, ssd = {{ channels = 1, ways = 1 }}, nand = {{ geometry = {{ blocks_per_plane = 32, pages_per_block = 32 }} }}, ftl = {{ over_provisioning_ratio = 0.4 }} }}] }}\n"
            ),
            vec!["ssd0", "tier", "tier.disk0", "tier.deep", "tier.deep.disk"],
        ),
    ]
}

#[test]
fn every_kind_of_store_is_served_and_verified_with_power_cuts() {
    for (store, names) in stores() {
        for cuts in [false, true] {
            let results = run(&store, cuts);
            let summary = &results.summary;
            let told: Vec<&str> = summary
                .members
                .iter()
                .map(|one| one.name.as_str())
                .collect();
            assert_eq!(told, names, "{store}");
            assert_eq!(summary.power.is_some_and(|power| power.cuts > 10), cuts);
            let lost = summary.power.map_or(0, |power| power.requests_lost);
            assert_eq!(summary.latency.all.count + lost, 3_000, "{store}");
            let caches = summary.members.iter().filter_map(|one| one.cache.as_ref());
            for cache in caches.clone() {
                assert!(cache.pages_checked > Some(0), "{store}");
            }
            assert_eq!(
                caches.count(),
                names.iter().filter(|name| is_cache(name)).count()
            );
            let disks: Vec<&str> = summary.disks.iter().map(|one| one.name.as_str()).collect();
            let named: Vec<&str> = names.iter().copied().filter(|name| is_disk(name)).collect();
            assert_eq!(disks, named);
            let sum: f64 = summary.breakdown.all.0.iter().sum();
            let mean = summary.latency.all.mean_us.unwrap();
            assert!((sum - mean).abs() < 1e-6 * mean, "{sum} {mean}");
            for table in results.tables() {
                results.table(table).unwrap().unwrap();
            }
        }
    }
}

fn is_disk(name: &str) -> bool {
    name.contains("disk") || name == "spindle"
}
fn is_cache(name: &str) -> bool {
    !is_disk(name) && !["flash", "ssd0"].contains(&name)
}

/// Together, the devices that serve the host read and write exactly the bytes of the host's
/// requests.
#[test]
fn device_results_add_up_to_the_whole() {
    for (store, names) in stores() {
        let summary = run(&store, false).summary;
        let is_front = |name: &str| match summary.cache {
            Some(_) => name == "mixed",
            None => !name.contains('.'),
        };
        let front = || summary.members.iter().filter(|one| is_front(&one.name));
        let sum =
            |of: fn(&wordline_runner::summary::MemberSummary) -> u64| front().map(of).sum::<u64>();
        let input = &summary.input.of;
        assert_eq!(
            sum(|one| one.input.read_bytes),
            input.read_bytes,
            "{names:?}"
        );
        assert_eq!(sum(|one| one.input.written_bytes), input.written_bytes);
        let programs: u64 = summary
            .members
            .iter()
            .map(|one| one.flash.page_programs)
            .sum();
        assert_eq!(programs, summary.flash.page_programs);
        // A disk behind a cache serves exactly the requests of the cache.
        for (place, member) in summary.members.iter().enumerate() {
            let behind = summary.members.get(place + 1);
            let behind = behind.filter(|one| one.name == format!("{}.disk", member.name));
            if let (Some(cache), Some(disk)) = (&member.cache, behind) {
                assert_eq!(cache.disk_requests, disk.input.requests);
            }
        }
    }
}

/// An array of one cache has the latencies, times, flash counts and power cuts of that cache, and
/// its member has the cache counts.
#[test]
fn array_of_one_cache_equals_the_cache() {
    let alone = run(
        "[cache]\nmode = \"write-back\"\n[disk]\ncapacity_bytes = 67_108_864\n",
        true,
    )
    .summary;
    let array = run(
        &format!("[array]\nstripe_bytes = 67_108_864\n[[array.members]]\n{CACHE}\n{DISK}\n"),
        true,
    )
    .summary;
    assert_eq!(json(&alone.cache), json(&array.members[0].cache));
    assert_eq!(json(&alone.latency), json(&array.latency));
    assert_eq!(json(&alone.breakdown), json(&array.breakdown));
    assert_eq!(json(&alone.flash), json(&array.flash));
    assert_eq!(json(&alone.power), json(&array.power));
    assert_eq!(json(&alone.time), json(&array.time));
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn prepared_devices_are_rejected_for_an_array_of_caches() {
    let (store, _) = &stores()[0];
    let job = RunSpec {
        config: format!("{FLASH}{store}{LOAD}"),
        config_name: "test.toml".into(),
        seed: 1,
        prepared: Some("devices.state".into()),
        ..RunSpec::default()
    };
    let error = job.run(&mut |_| true).map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains("prepared states are not supported"),
        "{error}"
    );
}
