//! Presets of current drives, compared with the flash and link rates that their sources publish. No
//! constant of the presets is fitted, so the numbers in `docs/explanation/drives.md` follow from
//! these rates.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use wordline_runner::{RunSpec, Summary};

/// Published values of a drive.
struct Drive {
    preset: &'static str,
    dies: f64,
    /// Time of a page read. Microseconds.
    read_us: f64,
    /// Program rate of a die, on all planes at once. MB/s.
    program_mb_per_s: f64,
    /// Rate of a channel. MB/s.
    bus_mb_per_s: f64,
}

/// AnandTech, 2021 NAND Flash Updates from ISSCC: SK hynix 2021, Samsung 2019.
const DRIVES: [Drive; 2] = [
    Drive {
        preset: "consumer-tlc",
        dies: 16.0,
        read_us: 50.0,
        program_mb_per_s: 168.0,
        bus_mb_per_s: 1600.0,
    },
    Drive {
        preset: "enterprise-tlc",
        dies: 16.0,
        read_us: 45.0,
        program_mb_per_s: 82.0,
        bus_mb_per_s: 1200.0,
    },
];

/// Four lanes of 16 GT/s, coded 128b/130b, with 24 bytes of overhead per packet of 256 bytes.
const LINK_MB_PER_S: f64 = 4.0 * 16_000.0 / 8.0 * 128.0 / 130.0 * 256.0 / 280.0;

fn run(preset: &str, workload: &str) -> Summary {
    let config = format!(
        "schema = 1\nbase = \"{preset}\"\n[precondition]\nfill_ratio = 0.05\n[workload]\nworking_set_ratio = 0.05\n{workload}"
    );
    let job = RunSpec {
        config,
        config_name: "test.toml".into(),
        ..RunSpec::default()
    };
    let done = job.run(&mut |_| true).unwrap();
    assert_eq!(done.results.summary.error, None);
    done.results.summary
}

fn sequential(preset: &str, read_ratio: f64) -> Summary {
    let requests =
        "requests = 40_000\nrequest_bytes = 131072\nalign_bytes = 131072\npattern = \"sequential\"";
    run(
        preset,
        &format!("{requests}\nread_ratio = {read_ratio:.1}\n"),
    )
}

#[test]
fn unloaded_read_takes_little_more_than_array_and_bus_time() {
    for drive in &DRIVES {
        let one = "requests = 2_000\nread_ratio = 1.0\nrequest_bytes = 4096\narrival.closed-loop.queue_depth = 1\n";
        let summary = run(drive.preset, one);
        let page_us = (16_384.0 + 2_048.0) / drive.bus_mb_per_s;
        let mean = summary.latency.all.mean_us.unwrap();
        let rest = mean - drive.read_us - page_us;
        assert!((0.0..5.0).contains(&rest), "{}: {mean} us", drive.preset);
    }
}

#[test]
fn sequential_writes_approach_the_program_rate_of_the_dies() {
    for drive in &DRIVES {
        let rate = sequential(drive.preset, 0.0).throughput.write_mb_per_s;
        let ratio = rate / (drive.dies * drive.program_mb_per_s);
        assert!((0.85..1.02).contains(&ratio), "{}: {rate}", drive.preset);
    }
}

#[test]
fn sequential_reads_are_bound_by_the_link_or_the_dies() {
    for drive in &DRIVES {
        let rate = sequential(drive.preset, 1.0).throughput.read_mb_per_s;
        assert!(rate <= LINK_MB_PER_S, "{}: {rate}", drive.preset);
        if drive.preset == "consumer-tlc" {
            assert!(rate > 0.97 * LINK_MB_PER_S, "{rate}");
        } else {
            // Each die reads two pages at once and sends one after the other.
            let page_us = (16_384.0 + 2_048.0) / drive.bus_mb_per_s;
            let die = 2.0 * 16_384.0 / (drive.read_us + 2.0 * page_us);
            assert!(rate < drive.dies * die, "{rate}");
            assert!(rate > 0.5 * drive.dies * die, "{rate}");
        }
    }
}

/// Writes sequentially to the erased QLC drive, with 64 blocks per plane. On each of its 32 planes,
/// two dedicated and 28 lent blocks hold 256 pages each. Nothing is folded while requests arrive;
/// after the last one the drive is idle.
fn sequential_to_the_slc_cache(requests: u32) -> Summary {
    let config = format!(
        "schema = 1\nbase = \"consumer-qlc\"\n[nand.geometry]\nblocks_per_plane = 64\n[precondition]\nfill_ratio = 0.0\n\
         [workload]\nrequests = {requests}\nread_ratio = 0.0\nrequest_bytes = 131072\nalign_bytes = 131072\n\
         pattern = \"sequential\"\narrival.closed-loop.queue_depth = 32\n"
    );
    let job = RunSpec {
        config,
        config_name: "test.toml".into(),
        ..RunSpec::default()
    };
    job.run(&mut |_| true).unwrap().results.summary
}

#[test]
fn slc_cache_has_the_capacity_and_speed_of_single_level_mode() {
    let held = 30 * 256 * 32;
    let pages = 131_072 / 16_384;
    let within = sequential_to_the_slc_cache(held / pages * 9 / 10);
    let cache = within.slc_cache.unwrap();
    assert_eq!(cache.pages_direct, 0);
    // A die programs one page on each plane at once, after all four have crossed the bus.
    let data_us = 4.0 * (16_384.0 + 2_048.0) / 800.0;
    let of_dies = |program_us: f64| 8.0 * 4.0 * 16_384.0 / (program_us + data_us);
    // Each byte enters and leaves the DRAM.
    let of_dram = 3200.0 / 2.0;
    let rate = within.throughput.write_mb_per_s;
    let ratio = rate / of_dies(200.0).min(of_dram);
    assert!((0.85..1.02).contains(&ratio), "{rate} MB/s in the cache");
    let beyond = sequential_to_the_slc_cache(held / pages * 13 / 10);
    let cache = beyond.slc_cache.unwrap();
    assert_eq!(cache.pages_written, u64::from(held));
    assert!(cache.pages_direct > u64::from(held) / 5, "{cache:?}");
    // Writes beyond the cache run at the program rate of the part.
    let seconds = |summary: &Summary| {
        summary.input.written_bytes as f64 / 1e6 / summary.throughput.write_mb_per_s
    };
    let more_bytes = f64::from(held / pages * 13 / 10 - held / pages) * 131_072.0;
    let in_cache_s = seconds(&within) / 0.9;
    let direct = more_bytes / 1e6 / (seconds(&beyond) - in_cache_s);
    let ratio = direct / of_dies(1860.0);
    assert!((0.8..1.2).contains(&ratio), "{direct} MB/s past the cache");
}
