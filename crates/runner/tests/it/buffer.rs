//! Flushes and FUA writes, from the input through the device to the results.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use crate::shared;

use wordline_runner::{Results, RunSpec};

/// Runs a closed loop of depth 8 on a half-full device of four dies.
fn run(extra: &str, workload: &str) -> Results {
    shared::run(format!(
        "schema = 1\n{extra}\n[ssd]\nchannels = 2\nways = 2\n[nand.geometry]\nblocks_per_plane = 64\n\
         [precondition]\nfill_ratio = 0.5\n[workload]\nrequests = 4000\nread_ratio = 0.3\n\
         arrival.closed-loop.queue_depth = 8\nworking_set_ratio = 0.2\n{workload}"
    ))
}

const BUFFER: &str = "[buffer]\ncapacity_kib = 512\n";

#[test]
fn flushes_and_fua_have_no_effect_without_a_buffer() {
    let plain = run("", "").summary;
    let asked = run("", "fua_ratio = 1.0").summary;
    let input = &asked.input;
    assert_eq!((input.durable_writes, input.flushes), (input.writes, 0));
    assert_eq!(asked.latency.all.mean_us, plain.latency.all.mean_us);
    let said = "writes are FUA, which has no effect without a DRAM buffer or a disk with a write cache: every write is durable when it completes.";
    assert!(
        asked.notes.iter().any(|note| note.ends_with(said)),
        "{:?}",
        asked.notes
    );
    let flushed = run("", "flush_every_requests = 100").summary;
    assert_eq!(flushed.input.flushes_ignored, 40);
    assert_eq!(flushed.input.requests, 3_960);
}

/// If every write is FUA, the buffer behaves as with write-through.
#[test]
fn fua_writes_alone_equal_write_through() {
    let through = run(&format!("{BUFFER}write_through = true"), "").summary;
    let durable = run(BUFFER, "fua_ratio = 1.0").summary;
    let back = run(BUFFER, "").summary;
    assert_eq!(durable.input.durable_writes, durable.input.writes);
    for (durable, through) in [
        (&durable.latency.read, &through.latency.read),
        (&durable.latency.write, &through.latency.write),
    ] {
        assert_eq!(durable.mean_us, through.mean_us);
        assert_eq!(durable.std_us, through.std_us);
        assert_eq!(durable.max_us, through.max_us);
    }
    let counts = |summary: &wordline_runner::Summary| {
        let buffer = summary.buffer.unwrap();
        (
            buffer.write_hits,
            buffer.pages_destaged,
            buffer.dirty_evictions,
        )
    };
    assert_eq!(counts(&durable), counts(&through));
    assert!(back.latency.write.mean_us < durable.latency.write.mean_us);
    assert!(!durable.notes.iter().any(|note| note.contains("durable")));
}

#[test]
fn flush_leaves_only_later_writes_dirty() {
    let summary = run(BUFFER, "flush_every_requests = 10").summary;
    let buffer = summary.buffer.unwrap();
    assert_eq!(
        (summary.input.flushes, summary.latency.flush.count),
        (400, 400)
    );
    assert_eq!(summary.input.flushes_ignored, 0);
    // The last request is a flush; only the seven writes in flight with it can be newer.
    assert!(buffer.dirty_pages_left <= 7, "{buffer:?}");
    assert!(summary.latency.flush.mean_us.unwrap() > 0.0);
}

/// Every other write of a trace is FUA.
#[test]
fn trace_can_mark_writes_as_fua() {
    use std::fmt::Write as _;
    let mut text = "time_ns,op,offset_bytes,size_bytes,volume\n".to_owned();
    for place in 0..200_u64 {
        let op = if place % 2 == 0 { "write" } else { "write-fua" };
        let (ns, offset) = (place * 5_000_000, place % 32 * 4096);
        writeln!(text, "{ns},{op},{offset},4096,0").unwrap();
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("durable.csv");
    std::fs::write(&path, text).unwrap();
    let job = RunSpec {
        config: format!("schema = 1\n{BUFFER}"),
        config_name: "test.toml".into(),
        traces: vec![path],
        seed: 1,
        requests: true,
        verify: true,
        ..RunSpec::default()
    };
    let summary = job.run(&mut |_| true).unwrap().results.summary;
    assert_eq!(summary.error, None);
    let input = &summary.input;
    assert_eq!((input.writes, input.durable_writes), (200, 100));
    // Writes of a single page to an idle device. Plain writes complete when they are in memory (0.1
    // us, and 4096 B at 3200 MB/s). FUA writes complete after a program of at least 500 us.
    let write = &summary.latency.write;
    assert!((write.min_us.unwrap() - 1.38).abs() < 0.001, "{write:?}");
    assert!((write.p50_us.unwrap() - 1.38).abs() < 0.01, "{write:?}");
    assert!(write.p90_us.unwrap() > 500.0, "{write:?}");
}
