//! RAM disks from the configuration to the results: alone, in arrays, behind a cache.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

use crate::shared;

use wordline_runner::{Results, RunSpec};

/// RAM disk that takes 1 us and 0.25 ns per byte: 2.024 us for 4 KiB.
const RAM: &str = "schema = 1\nname = \"ram\"\n[ram]\ncapacity_bytes = 67_108_864\n\
    overhead_ns = 1000\nns_per_byte = 0.25\n";
const SERVICE_NS: f64 = 2024.0;

#[test]
fn run_on_a_ram_disk_reports_its_responses() {
    let load = "[workload]\nrequests = 4000\nread_ratio = 0.5\nrequest_bytes = 4096\n\
        arrival.closed-loop.queue_depth = 1\n";
    let summary = shared::run(format!("{RAM}{load}")).summary;
    let [ram] = &summary.ram_disks[..] else {
        panic!("one RAM disk");
    };
    assert_eq!((ram.name.as_str(), ram.capacity_bytes), ("ram", 67_108_864));
    assert_eq!(ram.reads + ram.writes, 4000);
    assert_eq!(ram.read_bytes + ram.written_bytes, 4000 * 4096);
    assert_eq!(ram.utilisation, Some(1.0));
    assert_eq!((ram.held_most, ram.held_mean), (1, Some(1.0)));
    let of = ram.response;
    assert_eq!(of.count, 4000);
    for given in [of.mean_ns, of.p50_ns, of.p99_ns, of.max_ns] {
        assert_eq!(given, Some(SERVICE_NS));
    }
    assert_eq!(summary.latency.all.mean_us, Some(SERVICE_NS / 1e3));
    assert_eq!(summary.flash.page_reads, 0);
    assert!(summary.disks.is_empty());
}

/// Four channels with sixteen outstanding requests complete four requests per service time.
#[test]
fn ram_disk_serves_one_request_per_channel_and_service_time() {
    let load = "[workload]\nrequests = 4000\nread_ratio = 1.0\nrequest_bytes = 4096\n\
        arrival.closed-loop.queue_depth = 16\n";
    let summary = shared::run(format!("{RAM}channels = 4\n{load}")).summary;
    let ram = &summary.ram_disks[0];
    assert_eq!((ram.held_most, ram.utilisation), (16, Some(1.0)));
    let expected = 4.0 / SERVICE_NS * 1e3 * 4096.0;
    let measured = summary.throughput.read_mb_per_s;
    assert!(
        (measured / expected - 1.0).abs() < 1e-9,
        "{measured} {expected}"
    );
}

/// Whole run with Poisson arrivals at a utilisation of 50 %.
#[test]
fn open_loop_run_waits_as_an_m_d_1_queue() {
    let iops = 0.5 / SERVICE_NS * 1e9;
    let load = format!(
        "[workload]\nrequests = 1_000_000\nread_ratio = 1.0\nrequest_bytes = 4096\n\
         arrival.poisson.iops = {iops}\n"
    );
    let summary = shared::run(format!("{RAM}{load}")).summary;
    let wait = summary.ram_disks[0].response.mean_ns.unwrap() - SERVICE_NS;
    let theory = 0.5 * SERVICE_NS;
    println!("wait {wait:.2} ns, theory {theory:.2} ns");
    assert!((wait / theory - 1.0).abs() < 0.02, "{wait} {theory}");
}

/// With eight outstanding requests at one channel, each takes eight service times.
#[test]
fn warm_up_is_left_out_of_the_histogram() {
    let load = "[observe]\nwarm_up_requests = 1000\n[workload]\nrequests = 4000\nread_ratio = 1.0\n\
        request_bytes = 4096\narrival.closed-loop.queue_depth = 8\n";
    let summary = shared::run(format!("{RAM}{load}")).summary;
    let response = summary.ram_disks[0].response;
    assert_eq!(response.count, summary.latency.all.count);
    assert!((3000..=3008).contains(&response.count));
    assert_eq!(response.p50_ns, Some(8.0 * SERVICE_NS));
}

const FLASH: &str = "schema = 1\nname = \"mixed\"\n[ssd]\nchannels = 2\nways = 2\n\
    [nand.geometry]\nblocks_per_plane = 32\npages_per_block = 32\npage_bytes = 4096\n\
    [ftl]\nover_provisioning_ratio = 0.35\n[host]\ninterface = \"direct\"\nqueue_depth = 64\n";
const LOAD: &str = "[workload]\nrequests = 3000\nread_ratio = 0.6\nrequest_bytes = 16384\n\
    working_set_ratio = 0.5\narrival.closed-loop.queue_depth = 16\n";

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
        .unwrap_or_else(|error| panic!("{store}: {error}"));
    assert_eq!(done.results.summary.error, None, "{store}");
    done.results
}

#[test]
fn ram_disk_ssd_and_hard_disk_serve_one_array() {
    let members = "[[array.members]]\n[[array.members]]\nname = \"fast\"\n\
        ram = { capacity_bytes = 67_108_864 }\n\
        [[array.members]]\ndisk = { capacity_bytes = 67_108_864 }\n";
    for cuts in [false, true] {
        let summary = run(&format!("[array]\nstripe_bytes = 8192\n{members}"), cuts).summary;
        let names: Vec<&str> = summary
            .members
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["ssd0", "fast", "disk2"]);
        let lost = summary.power.map_or(0, |power| power.requests_lost);
        assert_eq!(summary.latency.all.count + lost, 3000);
        let (ram, member) = (&summary.ram_disks[0], &summary.members[1]);
        assert_eq!((ram.name.as_str(), summary.ram_disks.len()), ("fast", 1));
        assert_eq!(summary.disks.len(), 1);
        let counted = (member.input.reads, member.input.writes);
        assert_eq!((ram.reads, ram.writes), counted);
        assert!(ram.response.count > 500);
        // The RAM disk accepts every request at once, so the recorder of the member has the same
        // times.
        let own = ram.response.mean_ns.unwrap();
        let recorded = member.latency.all.mean_us.unwrap() * 1e3;
        // After a power cut, requests wait outside until the store has recovered.
        assert!(
            cuts || (own / recorded - 1.0).abs() < 1e-9,
            "{own} {recorded}"
        );
        let sum: f64 = summary.breakdown.all.0.iter().sum();
        let mean = summary.latency.all.mean_us.unwrap();
        assert!((sum - mean).abs() < 1e-6 * mean, "{sum} {mean}");
    }
}

#[test]
fn ram_disk_backs_a_flash_cache() {
    let store = "[cache]\nmode = \"write-back\"\n[ram]\ncapacity_bytes = 67_108_864\n";
    for cuts in [false, true] {
        let summary = run(store, cuts).summary;
        assert!(summary.cache.unwrap().pages_checked > Some(0));
        let ram = &summary.ram_disks[0];
        assert!(ram.reads > 0, "misses are read from it");
        assert_eq!(ram.capacity_bytes, 67_108_864);
    }
}
