//! The device of the benchmarks, in a closed loop of queue depth 32.
#![allow(clippy::unwrap_used)] // outside test functions too, this file is a test

use crate::shared;

use shared::{Load, Tally, closed_loop, plan};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, Mapping, PageMap};
use wordline_ssd::Plan;

fn d4() -> Plan {
    let mut config = Config::default();
    config.gc.start_free_ratio = 0.052;
    let dimensions = Dimensions {
        channels: 8,
        ways: 4,
        dies: 1,
        planes: 2,
    };
    plan(&config, dimensions, 512, 64, 32).unwrap()
}

/// Fills D4 sequentially, then serves `requests` of the given kind, with random sizes and
/// addresses.
fn run(requests: u64, read_ratio: f64, grain_bytes: u64, most_bytes: u64, verify: bool) -> Tally {
    let plan = d4();
    let load = Load {
        requests,
        read_ratio,
        grain_bytes,
        most_bytes,
        footprint_ratio: 1.0,
    };
    let map = PageMap::new(&plan.ftl);
    let (tally, _, ssd) = closed_loop(&plan, map, load, plan.ftl.user_pages, verify).unwrap();
    ssd.mapping().audit().unwrap();
    tally
}

/// Other simulators report 110 us (without a shared bus) and 130 us (with one) for this load.
#[test]
fn random_reads_take_array_bus_and_queueing_time() {
    let tally = run(200_000, 1.0, 4096, 4096, true);
    let mean = tally.latency_ps as f64 / tally.requests as f64 / 1e6;
    println!("mean response time {mean:.1} us");
    assert!(
        (110.0..131.0).contains(&mean),
        "mean response time {mean} us"
    );
    assert_eq!(tally.unwritten, 0);
}

/// An independent model gives 4.016 for the first million writes after the fill.
#[test]
fn write_amplification_matches_an_independent_model() {
    let tally = run(1_000_000, 0.0, 4096, 4096, false);
    let amplification = (tally.host_pages + tally.moved) as f64 / tally.host_pages as f64;
    println!("write amplification {amplification:.4}");
    assert!(
        (amplification / 4.016 - 1.0).abs() < 0.01,
        "write amplification {amplification}"
    );
}

#[test]
fn partial_writes_are_merged_and_every_read_is_verified() {
    let tally = run(200_000, 0.2, 512, 8192, true);
    assert!(
        tally.merged > 100_000,
        "only {} partial writes",
        tally.merged
    );
}
