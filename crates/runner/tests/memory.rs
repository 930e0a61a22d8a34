//! Memory depends on the touched pages, not on the size of the device. The binary has a single
//! test, because the test measures the whole process.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

#[path = "it/shared/mod.rs"]
mod shared;

use wordline_runner::Summary;

fn terabyte(workload: &str) -> Summary {
    let config = format!("schema = 1\nbase = \"tb1\"\n[workload]\nread_ratio = 0.0\n{workload}");
    shared::run(config).summary
}

#[test]
fn terabyte_device_takes_memory_only_for_touched_pages() {
    // The first run also pays for what all runs share: code and allocator buffers.
    terabyte("requests = 1000");
    let gib = terabyte(
        "requests = 16_384\nrequest_bytes = 65536\nalign_bytes = 65536\npattern = \"sequential\"",
    );
    assert!(
        gib.device.capacity_bytes > 1_000_000_000_000,
        "{}",
        gib.device.capacity_bytes
    );
    assert_eq!(gib.speed.pages_touched, 262_144, "1 GiB of pages of 4 KiB");
    let measured = gib.speed.resident_bytes_per_touched_page;
    println!("1 GiB written in order: {measured:.2} bytes per touched page");
    assert!(measured < 16.0, "{measured} bytes per touched page");
    // A map is a dense array: scattered single pages each touch a different part of it.
    let scattered = terabyte("requests = 100_000");
    let measured = scattered.speed.resident_bytes_per_touched_page;
    println!(
        "400 MiB written at random over the whole device: {measured:.2} bytes per touched page"
    );
    assert!(
        scattered.speed.resident_bytes < 1_000_000_000,
        "{}",
        scattered.speed.resident_bytes
    );
}
