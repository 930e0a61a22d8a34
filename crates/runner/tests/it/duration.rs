//! Loads with an end time: the requests issued before the end, and the error if the end is never
//! reached.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use crate::shared;

use wordline_runner::{Results, RunSpec};

/// Time of a D4 read that has its die to itself: array time, page transfer, and nine cycles of 25
/// ns.
const READ_US: f64 = 50.0 + 12.3003 + 9.0 * 0.025;

fn run(workload: &str) -> Results {
    shared::run(format!(
        "schema = 1\n[ssd]\nchannels = 1\nways = 1\n{workload}"
    ))
}

/// Single reads of duration S start at 0, S, 2 S, ...; those that start before the end are issued.
#[test]
fn closed_loop_issues_nothing_after_its_end() {
    for (whole, rest) in [(0.0, 0.5), (7.0, 0.2), (1000.0, 0.9)] {
        let end_s = (whole + rest) * READ_US / 1e6;
        let results = run(&format!(
            "[workload]\nrequests = 100_000\nread_ratio = 1.0\narrival.closed-loop.queue_depth = 1\nduration_s = {end_s}"
        ));
        assert_eq!(results.summary.input.reads as f64, whole + 1.0, "{end_s} s");
        let told = results.summary.notes.join("\n");
        assert!(!told.contains("raise workload.requests"), "{told}");
    }
}

/// Arrivals are at k / rate for k = 0, 1, ...; those before the end are issued.
#[test]
fn open_loop_issues_the_arrivals_before_its_end() {
    for (end_s, arrivals) in [(0.0005, 1), (0.05, 50), (0.0501, 51)] {
        let results = run(&format!(
            "[workload]\nrequests = 100_000\nread_ratio = 1.0\narrival.constant.iops = 1000.0\nduration_s = {end_s}"
        ));
        assert_eq!(results.summary.input.reads, arrivals, "{end_s} s");
    }
}

#[test]
fn load_that_runs_out_of_requests_is_noted() {
    let results = run("[workload]\nrequests = 100\nread_ratio = 1.0\nduration_s = 3600.0");
    assert_eq!(results.summary.input.reads, 100);
    let told = results.summary.notes.join("\n");
    assert!(
        told.contains("issued all 100 requests before 3600 s had passed"),
        "{told}"
    );
}

/// The window in which both streams issue requests ends when the first stream stops, not at its
/// last request before that time.
#[test]
fn contention_ends_when_the_first_stream_stops() {
    let stream = |name: &str, more: &str| {
        format!(
            "[[streams]]\nname = \"{name}\"\n[streams.workload]\nrequests = 2000\nread_ratio = 1.0\n\
             arrival.closed-loop.queue_depth = 1\n{more}\n"
        )
    };
    let results = run(&(stream("short", "duration_s = 0.01") + &stream("long", "")));
    let of = |name: &str| {
        let streams = &results.summary.streams;
        streams
            .iter()
            .find(|stream| stream.name == name)
            .unwrap()
            .input
            .reads
    };
    // Two reads are in flight on one die. They take turns, so each stream gets half.
    let half = 0.01 / (READ_US / 1e6) / 2.0;
    assert!(
        (of("short") as f64 - half).abs() < 0.03 * half,
        "{}",
        of("short")
    );
    assert_eq!(of("long"), 2000);
    let fairness = results.summary.fairness.as_ref().unwrap();
    let until_us = fairness.contest_until_s.unwrap() * 1e6;
    assert!(
        (10_000.0..10_000.0 + 2.0 * READ_US).contains(&until_us),
        "{until_us} us"
    );
}

/// Reads of pages that were never written take no time, so a loop of them never reaches its end.
#[test]
fn loop_that_takes_no_time_is_stopped() {
    let spec = RunSpec {
        config: "schema = 1\n[precondition]\nfill_ratio = 0.0\n[workload]\nrequests = 1_000_000_000_000\n\
                 read_ratio = 1.0\nduration_s = 1.0"
            .into(),
        config_name: "test.toml".into(),
        ..RunSpec::default()
    };
    let summary = spec.run(&mut |_| true).unwrap().results.summary;
    let told = summary.error.unwrap();
    assert!(told.contains("workload.duration_s"), "{told}");
    assert!(told.contains("precondition.fill_ratio"), "{told}");
    assert!(summary.partial);
}

#[test]
fn end_before_the_first_arrival_is_rejected() {
    let spec = RunSpec {
        config: "schema = 1\n[workload]\nduration_s = 1e-9\narrival.poisson.iops = 1.0".into(),
        config_name: "test.toml".into(),
        ..RunSpec::default()
    };
    let told = spec.run(&mut |_| true).map(|_| ()).unwrap_err().to_string();
    assert!(told.contains("workload.duration_s"), "{told}");
}
