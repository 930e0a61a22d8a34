//! Timelines, compared with the summary of the run, which is counted independently, and with the
//! times of the part.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

mod shown;
mod stores;

use std::collections::BTreeMap;
use std::path::Path;

use shown::{Shown, Span, within};
use wordline_kernel::Time;
use wordline_runner::{Results, RunSpec, SimulationError, TimelineOptions};

const DEPTH: u32 = 16;
const CONFIG: &str = "schema = 1\nname = \"tiny\"\n[ssd]\nchannels = 2\nways = 2\n\
    [nand.geometry]\ndies_per_package = 2\nplanes_per_die = 2\nblocks_per_plane = 16\n\
    pages_per_block = 16\npage_bytes = 4096\n[host]\nqueue_depth = 16\n\
    [ftl]\nover_provisioning_ratio = 0.3\n[precondition]\nfill_ratio = 1.0\n\
    [workload]\nrequests = 3000\nread_ratio = 0.5\narrival.closed-loop.queue_depth = 16";
/// Array times of the default part.
const READ_NS: u64 = 50_000;
const PROGRAM_NS: u64 = 500_000;

fn job(timeline: Option<TimelineOptions>) -> RunSpec {
    RunSpec {
        config: CONFIG.into(),
        config_name: "test.toml".into(),
        seed: 1,
        timeline,
        ..RunSpec::default()
    }
}

fn run(path: &Path, from: Time, until: Option<Time>) -> (Results, Shown) {
    let path = path.join("t.pftrace");
    let timeline = TimelineOptions {
        path: path.clone(),
        from,
        until,
    };
    let done = job(Some(timeline)).run(&mut |_| true);
    let results = done.unwrap_or_else(|error| panic!("{error}")).results;
    assert_eq!(results.summary.error, None);
    (results, Shown::read(&std::fs::read(path).unwrap()))
}

/// The timeline of a whole run has the times and counts of the summary.
#[test]
fn timeline_of_a_whole_run_adds_up_to_its_summary() {
    let folder = tempfile::tempdir().unwrap();
    let (results, shown) = run(folder.path(), Time::ZERO, Some(Time::MAX));
    let summary = &results.summary;
    let flash = &summary.flash;
    assert!(flash.gc_pages_moved > 100, "the timeline shows GC");
    for kind in ["die", "plane"] {
        assert_eq!(shown.count(kind, "read", None), flash.page_reads);
        assert_eq!(shown.count(kind, "program", None), flash.page_programs);
        assert_eq!(shown.count(kind, "erase", None), flash.erases);
        let moved = shown.count(kind, "program", Some("gc"));
        assert_eq!(moved, flash.gc_pages_moved);
    }
    let length = summary.time.simulated_s * 1e9;
    for (kind, number, share) in [
        ("channel", 2.0, summary.utilisation.channel_mean),
        ("die", 8.0, summary.utilisation.die_mean),
    ] {
        let (found, expected) = (shown.nanoseconds(kind) as f64, share * number * length);
        // Each end of a slice is rounded down by less than a nanosecond.
        let slack = shown.of(kind).count() as f64;
        assert!(
            (found - expected).abs() <= slack,
            "{kind}: {found} {expected}"
        );
    }
    assert_eq!(
        summary.notes.iter().find(|note| note.contains("timeline")),
        None
    );
}

/// The array of a plane works for the array time of the part, within an operation of its die.
#[test]
fn array_slices_have_the_time_of_the_part_and_lie_within_die_slices() {
    let folder = tempfile::tempdir().unwrap();
    let (_, shown) = run(folder.path(), Time::ZERO, Some(Time::MAX));
    for (track, (from, until, name, category)) in shown.of("plane") {
        let expected = match name.as_str() {
            "read" => READ_NS,
            "program" => PROGRAM_NS,
            _ => continue,
        };
        assert!(
            (until - from).abs_diff(expected) <= 1,
            "{name}: {from} to {until}"
        );
        let (die, _) = track.rsplit_once(" > ").unwrap();
        let around = |span: &&Span| {
            span.0 <= *from && *until <= span.1 && (&span.2, &span.3) == (name, category)
        };
        let occupied = &shown.slices[die];
        assert!(
            occupied.iter().any(|span| around(&span)),
            "{track}: {from} to {until}"
        );
    }
}

#[test]
fn counters_follow_the_queue_and_the_free_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let (results, shown) = run(folder.path(), Time::ZERO, Some(Time::MAX));
    let queue = &shown.values["tiny > queue depth"];
    let free = &shown.values["tiny > free blocks"];
    assert_eq!(
        queue.iter().map(|value| value.1).max(),
        Some(i64::from(DEPTH))
    );
    assert_eq!(queue.iter().map(|value| value.1).min(), Some(0));
    assert_eq!(queue.last().unwrap().1, 0);
    let requests = results.summary.input.requests as usize;
    assert_eq!(queue.len(), 1 + 2 * requests);
    assert_eq!(
        free.last().unwrap().1 as u64,
        results.summary.flash.free_blocks
    );
    for pair in free.windows(2) {
        assert_eq!(pair[0].1.abs_diff(pair[1].1), 1, "one block at a time");
    }
}

/// A multi-plane command is one slice of its die and one of each plane. A suspended program is one
/// slice each time it works. The bus times still add up.
#[test]
fn multi_plane_and_suspended_commands_are_shown() {
    let several = [("ssd.composition", "greedy")];
    let [pages, planes, dies] = shown_with(&several);
    assert_eq!(planes, pages);
    assert!(dies < pages, "{dies} commands for {pages} pages");
    let suspended = [
        ("nand.suspend.program", "true"),
        ("nand.suspend.erase", "true"),
    ];
    let [pages, planes, dies] = shown_with(&suspended);
    assert!(planes > pages, "{planes} pieces of {pages} programs");
    // A die is also occupied while it waits for the bus to resume, and may yield to a read instead.
    assert!(dies >= planes, "{dies} pieces of {planes}");
}

/// Returns the programmed pages, and the program slices on planes and on dies.
fn shown_with(overrides: &[(&str, &str)]) -> [u64; 3] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pftrace");
    let mut job = job(Some(TimelineOptions {
        path: path.clone(),
        from: Time::ZERO,
        until: Some(Time::MAX),
    }));
    let overrides = overrides.iter();
    job.overrides = overrides
        .map(|&(key, value)| (key.into(), value.into()))
        .collect();
    let done = job.run(&mut |_| true);
    let results = done.unwrap_or_else(|error| panic!("{error}")).results;
    let summary = &results.summary;
    let shown = Shown::read(&std::fs::read(path).unwrap());
    let flash = &summary.flash;
    assert_eq!(shown.count("plane", "read", None), flash.page_reads);
    let found = shown.nanoseconds("channel") as f64;
    let expected = summary.utilisation.channel_mean * 2.0 * summary.time.simulated_s * 1e9;
    let slack = shown.of("channel").count() as f64;
    assert!((found - expected).abs() <= slack, "{found} {expected}");
    let shown = |kind| shown.count(kind, "program", None);
    [flash.page_programs, shown("plane"), shown("die")]
}

/// A window shows the slices and counter values of the whole timeline within its bounds.
#[test]
fn window_shows_the_whole_timeline_within_its_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let (_, whole) = run(folder.path(), Time::ZERO, Some(Time::MAX));
    let (from, until) = (2_000_000, 5_000_000);
    let window = (Time::from_ns(from), Some(Time::from_ns(until)));
    let (_, shown) = run(folder.path(), window.0, window.1);
    let mut slices = BTreeMap::<_, Vec<_>>::new();
    for (track, spans) in whole.slices {
        for (start, end, name, category) in spans {
            let (start, end) = (start.max(from), end.min(until));
            if start < end {
                let span = (start, end, name, category);
                slices.entry(track.clone()).or_default().push(span);
            }
        }
        if let Some(spans) = slices.get_mut(&track) {
            spans.sort();
        }
    }
    assert_eq!(shown.slices, slices);
    for (track, values) in whole.values {
        assert_eq!(shown.values[&track], within(&values, from, until));
    }
}

#[test]
fn timeline_does_not_change_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (with, _) = run(folder.path(), Time::ZERO, None);
    let without = job(None).run(&mut |_| true).unwrap().results;
    assert_eq!(with.summary.digest, without.summary.digest);
}

#[test]
fn interrupted_run_keeps_its_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pftrace");
    let timeline = TimelineOptions {
        path: path.clone(),
        from: Time::ZERO,
        until: None,
    };
    let mut job = job(Some(timeline));
    job.config = job
        .config
        .replace("requests = 3000", "requests = 1_000_000_000");
    let mut reports = 0;
    let done = job.run(&mut |_| {
        reports += 1;
        reports < 3
    });
    assert!(done.unwrap().results.interrupted);
    let shown = Shown::read(&std::fs::read(path).unwrap());
    assert!(shown.nanoseconds("channel") > 0);
}

#[test]
fn window_after_the_run_causes_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let (results, shown) = run(folder.path(), Time::from_ms(3_600_000), None);
    assert_eq!(shown, Shown::default());
    let note = |note: &String| note.starts_with("The timeline shows no operation");
    assert!(results.summary.notes.iter().any(note));
}

#[test]
fn unwritable_path_and_empty_window_are_rejected_before_the_run() {
    let refused = |path: &str, until: Time| {
        let timeline = TimelineOptions {
            path: path.into(),
            from: Time::from_ms(1),
            until: Some(until),
        };
        let watch = &mut |_: &_| panic!("the run has begun");
        let error = job(Some(timeline)).run(watch).unwrap_err();
        let wordline_runner::JobError::Simulation(SimulationError::Timeline(text)) = error else {
            panic!("{error}");
        };
        text
    };
    let text = refused("no such folder/t.pftrace", Time::MAX);
    assert!(
        text.starts_with("no such folder/t.pftrace: cannot create"),
        "{text}"
    );
    let text = refused("t.pftrace", Time::from_ms(1));
    assert!(
        text.contains("give an end (--timeline-until) after its start"),
        "{text}"
    );
    assert!(!Path::new("t.pftrace").exists());
}
