//! The memory estimate of a host map covers the memory that it takes. The binary has a single test,
//! because the test measures the whole process.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

#[path = "it/shared/mod.rs"]
mod shared;

use wordline_runner::memory;

/// Flash of 256 MiB. The host maps each randomly written sector of 512 bytes in a separate extent.
const STORE: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 4\nways = 4\n\
    [nand.geometry]\nblocks_per_plane = 32\npages_per_block = 64\npage_bytes = 4096\n\
    [host_side]\n[host_side.architecture.flash-software]\nunit_bytes = 512\nmapping = \"b-tree\"\n";

fn run(requests: u32) -> (u64, u64) {
    let load = format!(
        "[workload]\nrequests = {requests}\nread_ratio = 0.0\nrequest_bytes = 512\nalign_bytes = 512\n\
         arrival.closed-loop.queue_depth = 4\n"
    );
    let config = format!("{STORE}{load}");
    let loaded = wordline_config::load(&config, "test.toml", &[]).unwrap();
    let estimate = memory::estimate(&loaded.plan(1).unwrap(), memory::Checks::default());
    let done = shared::run(config);
    (done.summary.speed.resident_bytes, estimate.most())
}

#[test]
fn host_map_takes_at_most_the_estimated_memory() {
    // The first run also pays for allocations that all runs share.
    run(100);
    let (taken, told) = run(600_000);
    println!("{taken} bytes taken, {told} estimated");
    assert!(taken < told, "{taken} {told}");
    assert!(told < 4 * taken, "{taken} {told}");
}
