//! The memory estimate of a cache covers the memory that it takes. The binary has a single test,
//! because the test measures the whole process.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

#[path = "it/shared/mod.rs"]
mod shared;

use wordline_runner::memory;

/// Flash of 2 GiB in front of a disk, written until every page of the flash has been programmed.
const STORE: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 4\nways = 4\n\
    [nand.geometry]\nblocks_per_plane = 256\npages_per_block = 64\npage_bytes = 4096\n\
    [ftl]\nover_provisioning_ratio = 0.15\n[host]\ninterface = \"direct\"\nqueue_depth = 64\n\
    [cache]\nmode = \"write-back\"\nreplacement = \"arc\"\n[cache.destage]\ngroup_pages = 16\n\
    [disk]\ncapacity_bytes = 8_589_934_592\n";

fn run(requests: u32) -> (u64, u64) {
    let load = format!(
        "[workload]\nrequests = {requests}\nread_ratio = 0.3\nrequest_bytes = 65536\nalign_bytes = 65536\n\
         arrival.closed-loop.queue_depth = 32\n"
    );
    let config = format!("{STORE}{load}");
    let loaded = wordline_config::load(&config, "test.toml", &[]).unwrap();
    let estimate = memory::estimate(&loaded.plan(1).unwrap(), memory::Checks::default());
    let done = shared::run(config);
    (done.summary.speed.resident_bytes, estimate.most())
}

#[test]
fn cache_takes_at_most_the_estimated_memory() {
    // The first run also pays for allocations that all runs share.
    run(100);
    let (taken, told) = run(60_000);
    println!("{taken} bytes taken, {told} estimated");
    assert!(taken < told, "{taken} {told}");
    assert!(told < 4 * taken, "{taken} {told}");
}
