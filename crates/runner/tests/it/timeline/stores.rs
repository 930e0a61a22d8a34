//! Timelines of stores with hard disks, caches and members of several kinds.

use std::path::Path;

use wordline_kernel::Time;
use wordline_runner::{Results, RunSpec, Summary, TimelineOptions};

use super::shown::{Shown, Span, within};

/// Flash of 32 MB, and a load.
const FLASH: &str = "[ssd]\nchannels = 2\nways = 2\n\
    [nand.geometry]\nblocks_per_plane = 32\npages_per_block = 32\npage_bytes = 4096\n\
    [ftl]\nover_provisioning_ratio = 0.35\n[host]\ninterface = \"direct\"\nqueue_depth = 64\n";
const LOAD: &str = "[workload]\nrequests = 3000\nread_ratio = 0.6\nrequest_bytes = 16384\n\
    working_set_ratio = 0.5\narrival.closed-loop.queue_depth = 16\n";
const DISK: &str = "disk = { capacity_bytes = 67_108_864 }";
const CACHE: &str = "cache = { mode = \"write-back\" }";
/// A part of an Atlas 10K IV, small enough that a load of 3000 requests returns to the same
/// sectors.
const POSITIONED: &str = "[disk]\nbase = \"atlas-10k-iv\"\ncapacity_bytes = 67_108_864\n";

fn spec(store: &str) -> RunSpec {
    RunSpec {
        config: format!("schema = 1\nname = \"store\"\n{store}"),
        config_name: "test.toml".into(),
        seed: 1,
        ..RunSpec::default()
    }
}

fn done(job: &RunSpec) -> Results {
    let done = job.run(&mut |_| true);
    let results = done
        .unwrap_or_else(|error| panic!("{}: {error}", job.config))
        .results;
    assert_eq!(results.summary.error, None, "{}", job.config);
    results
}

/// Runs a store and reads its timeline.
fn drawn(mut job: RunSpec, (from, until): (Time, Time)) -> (Results, Shown) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pftrace");
    job.timeline = Some(TimelineOptions {
        path: path.clone(),
        from,
        until: Some(until),
    });
    let results = done(&job);
    (results, Shown::read(&std::fs::read(path).unwrap()))
}

const WHOLE: (Time, Time) = (Time::ZERO, Time::MAX);

/// Returns a run on a store with the requests of a trace: milliseconds, operation, offset, bytes.
fn traced(folder: &Path, store: &str, requests: &[(u64, &str, u64, u64)]) -> RunSpec {
    let path = folder.join("trace.csv");
    let rows = requests.iter().map(|(ms, op, offset, bytes)| {
        let at = ms * 1_000_000;
        format!("{at},{op},{offset},{bytes},0\n")
    });
    let head = "time_ns,op,offset_bytes,size_bytes,volume\n";
    let text: String = std::iter::once(head.to_owned()).chain(rows).collect();
    std::fs::write(&path, text).unwrap();
    RunSpec {
        traces: vec![path],
        ..spec(store)
    }
}

const MS: u64 = 1_000_000;

fn span(from_ms: u64, until_ms: u64, name: &str) -> Span {
    (from_ms * MS, until_ms * MS, name.into(), "host".into())
}

/// Returns the busy time of the mechanisms from the summary. Nanoseconds.
fn at_work(summary: &Summary) -> f64 {
    summary.utilisation.die_mean * summary.disks.len() as f64 * summary.time.simulated_s * 1e9
}

/// Checks that the slices of a track do not overlap.
fn require_one_by_one(track: &str, spans: &[Span]) {
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{track}: {pair:?}");
    }
}

/// With 5 ms per access, the second request waits 4 ms and the third 3 ms.
#[test]
fn constant_disk_shows_one_slice_per_request() {
    let folder = tempfile::tempdir().unwrap();
    let requests = [
        (0, "read", 8192, 4096),
        (1, "write", 1 << 20, 16384),
        (7, "read", 0, 512),
    ];
    let store = "[disk]\nmodel.constant.access_ms = 5.0";
    let (_, shown) = drawn(traced(folder.path(), store, &requests), WHOLE);
    let mechanism = "store > mechanism";
    let expected = vec![
        span(0, 5, "read"),
        span(5, 10, "write"),
        span(10, 15, "read"),
    ];
    assert_eq!(shown.slices, [(mechanism.to_owned(), expected)].into());
    let known: Vec<_> = shown.known[mechanism]
        .iter()
        .map(|values| (values["offset"], values["bytes"]))
        .collect();
    assert_eq!(known, requests.map(|(_, _, offset, bytes)| (offset, bytes)));
    let held = [(0, 0), (0, 1), (1, 2), (5, 1), (7, 2), (10, 1), (15, 0)];
    let held = held.map(|(ms, held)| (ms * MS, held)).to_vec();
    assert_eq!(
        shown.values,
        [("store > queue depth".to_owned(), held)].into()
    );
}

/// Concurrent accesses are shown as overlapping slices.
#[test]
fn concurrent_accesses_are_all_shown() {
    let folder = tempfile::tempdir().unwrap();
    let requests = [0, 1, 2].map(|ms| (ms, "read", 0, 4096));
    let store = "[disk]\nserial = false\nmodel.constant.access_ms = 5.0";
    let (_, shown) = drawn(traced(folder.path(), store, &requests), WHOLE);
    let expected = [span(0, 5, "read"), span(1, 6, "read"), span(2, 7, "read")];
    assert_eq!(shown.slices["store > mechanism"], expected);
}

/// The mechanism does one thing at a time, for as long as the summary states, also with power cuts.
/// Work that a cut ends is neither shown nor counted.
#[test]
fn mechanism_slices_add_up_to_its_busy_time() {
    for (write_cache, power_cut_every) in [(false, None), (true, None), (true, Some(100))] {
        let job = RunSpec {
            power_cut_every,
            ..spec(&format!(
                "{POSITIONED}buffer.write_cache = {write_cache}\n{LOAD}"
            ))
        };
        let (results, shown) = drawn(job, WHOLE);
        let summary = &results.summary;
        assert_eq!(
            summary.power.is_some_and(|power| power.cuts > 10),
            power_cut_every.is_some()
        );
        let mechanism = &shown.slices["store > mechanism"];
        require_one_by_one("mechanism", mechanism);
        require_one_by_one("parts", &shown.slices["store > mechanism > parts"]);
        let (found, expected) = (shown.nanoseconds("mechanism") as f64, at_work(summary));
        // Each end of a slice is rounded down by less than a nanosecond.
        let slack = mechanism.len() as f64;
        assert!((found - expected).abs() <= slack, "{found} {expected}");
        let disk = &summary.disks[0];
        if power_cut_every.is_none() {
            assert_eq!(mechanism.len() as u64, disk.accesses);
            let destages = shown.count("mechanism", "destage", Some("destage"));
            assert_eq!(destages, disk.destages);
            assert_eq!(destages > 100, write_cache);
            for (name, requests) in [
                ("read", disk.reads_buffered),
                ("write", disk.writes_buffered),
            ] {
                assert_eq!(
                    shown.count("buffer", name, Some("host")),
                    requests,
                    "{name}"
                );
            }
            assert!(disk.reads_buffered > 0);
        }
        let held = &shown.values["store > queue depth"];
        assert_eq!(held.last().unwrap().1, 0);
        let most = held.iter().map(|value| value.1).max().unwrap();
        assert_eq!(most, i64::from(disk.held_most));
    }
}

/// The second read of a sector range hits the buffer. It takes 0.1 ms in the controller and 8 times
/// 0.05 ms for its 8 sectors on the bus, and does not use the mechanism.
#[test]
fn buffer_hits_are_shown_on_the_buffer_track() {
    let folder = tempfile::tempdir().unwrap();
    let requests = [(0, "read", 8192, 4096), (20, "read", 8192, 4096)];
    let store = "[disk]\nmodel.constant.access_ms = 5.0\nbuffer.segments = 2\n\
        overhead.bus_us_per_sector = 50.0\noverhead.after_read.read_hit_us = 100.0";
    let (_, shown) = drawn(traced(folder.path(), store, &requests), WHOLE);
    assert_eq!(shown.slices["store > mechanism"], [span(0, 5, "read")]);
    let until = 20 * MS + 100_000 + 8 * 50_000;
    let expected = (20 * MS, until, "read".to_owned(), "host".to_owned());
    assert_eq!(shown.slices["store > buffer"], [expected]);
    let known = &shown.known["store > buffer"][0];
    assert_eq!((known["offset"], known["bytes"]), (8192, 4096));
}

/// Without a buffer nothing happens between accesses, so each component has the total of the
/// summary.
#[test]
fn access_components_add_up_to_those_of_the_summary() {
    let store = format!("{POSITIONED}buffer.segments = 0\n{LOAD}");
    let (results, shown) = drawn(spec(&store), WHOLE);
    let disk = &results.summary.disks[0];
    let parts = &shown.slices["store > mechanism > parts"];
    for (name, seconds) in [
        ("overhead", disk.overhead_s),
        ("seek", disk.seek_s),
        ("rotation", disk.rotation_s),
        ("transfer", disk.transfer_s),
    ] {
        let of_name = parts.iter().filter(|span| span.2 == name);
        let found: u64 = of_name.map(|span| span.1 - span.0).sum();
        assert!(found > 0, "{name}");
        let expected = seconds * 1e9;
        assert!(
            (found as f64 - expected).abs() <= parts.len() as f64,
            "{name}: {found} {expected}"
        );
    }
}

/// A miss is read from the disk in 5 ms and then programmed; the next read of the page is served by
/// the flash.
#[test]
fn miss_is_shown_on_the_disk_and_then_on_the_flash() {
    let folder = tempfile::tempdir().unwrap();
    let requests = [(0, "read", 40960, 4096), (50, "read", 40960, 4096)];
    let store = format!("[cache]\n[disk]\ncapacity_bytes = 67_108_864\n{FLASH}");
    let (_, shown) = drawn(traced(folder.path(), &store, &requests), WHOLE);
    let disk = &shown.slices["store.disk > mechanism"];
    assert_eq!(disk, &[span(0, 5, "read")]);
    let mut dies: Vec<_> = shown.of("die").map(|(_, span)| span.clone()).collect();
    dies.sort();
    let [fill, hit] = dies.as_slice() else {
        panic!("{dies:?}");
    };
    assert_eq!((fill.0, fill.2.as_str()), (5 * MS, "program"));
    assert_eq!((hit.0, hit.2.as_str()), (50 * MS, "read"));
    let pages = &shown.values["store > cached pages"];
    assert_eq!((pages[0], pages.last().unwrap().1), ((0, 0), 1));
    assert!(
        pages
            .iter()
            .all(|(now, pages)| (*now >= 5 * MS) == (*pages == 1))
    );
    assert!(!shown.values.contains_key("store > dirty pages"));
    for queue in [
        "store > queue depth",
        "store > flash queue depth",
        "store.disk > queue depth",
    ] {
        let values: Vec<_> = shown.values[queue].iter().map(|value| value.1).collect();
        let expected: &[i64] = if queue.starts_with("store.disk") {
            &[0, 1, 0]
        } else {
            &[0, 1, 0, 1, 0]
        };
        assert_eq!(values, expected, "{queue}");
    }
}

/// Writes stay in flash until they are destaged: the final dirty and resident pages match the
/// summary.
#[test]
fn cache_counters_end_at_the_values_of_the_summary() {
    let store = format!(
        "[cache]\nmode = \"write-back\"\n[disk]\ncapacity_bytes = 67_108_864\n{FLASH}{LOAD}"
    );
    let (results, shown) = drawn(spec(&store), WHOLE);
    let cache = results.summary.cache.as_ref().unwrap();
    assert!(cache.destaged_on_demand > 0, "the cache is full");
    let last = |counter: &str| shown.values[counter].last().unwrap().1 as u64;
    assert_eq!(last("store > dirty pages"), cache.dirty_pages);
    assert_eq!(last("store > cached pages"), cache.resident_pages);
    assert_eq!(
        last("store > free blocks"),
        results.summary.flash.free_blocks
    );
    for queue in ["store > queue depth", "store.disk > queue depth"] {
        assert_eq!(last(queue), 0);
    }
    let requests = shown.values["store > queue depth"].iter();
    assert_eq!(requests.map(|value| value.1).max(), Some(16));
    let programs = shown.count("die", "program", None);
    assert_eq!(programs, results.summary.flash.page_programs);
}

/// A window shows the slices and counter values of a disk within its bounds.
#[test]
fn window_shows_the_same_disk_work_as_the_whole_timeline() {
    let job = || spec(&format!("{POSITIONED}{LOAD}"));
    let (_, whole) = drawn(job(), WHOLE);
    let (from, until) = (301_234_567, 655_432_100);
    let (_, shown) = drawn(job(), (Time::from_ns(from), Time::from_ns(until)));
    for (track, spans) in &whole.slices {
        let cut = spans.iter().map(|(start, end, name, category)| {
            let (start, end) = (*start.max(&from), *end.min(&until));
            (start, end, name.clone(), category.clone())
        });
        let expected: Vec<Span> = cut.filter(|span| span.0 < span.1).collect();
        let found = shown.slices.get(track).map_or(&[][..], Vec::as_slice);
        assert_eq!(found, expected, "{track}");
    }
    assert!(shown.of("mechanism").count() > 20);
    for (counter, values) in &whole.values {
        assert_eq!(shown.values[counter], within(values, from, until));
    }
}

/// Returns stores, with the groups of their timelines.
fn stores() -> Vec<(String, Vec<&'static str>)> {
    let two = |what: &str| {
        format!("[array]\nstripe_bytes = 8192\n[[array.members]]\ncount = 2\n{what}\n")
    };
    let host = "[host_side]\ncores = 2\n";
    vec![
        (two(DISK), vec!["disk0", "disk1"]),
        (
            format!("[disk]\ncapacity_bytes = 67_108_864\n{host}"),
            vec!["host side", "store"],
        ),
        (
            format!(
                "[cache]\nmode = \"write-back\"\n[array]\nstripe_bytes = 8192\n[[array.members]]\ncount = 2\n{DISK}\n{FLASH}"
            ),
            vec!["disk0", "disk1", "store"],
        ),
        (
            format!("{}{FLASH}", two(&format!("{CACHE}\n{DISK}"))),
            vec!["cache0", "cache0.disk", "cache1", "cache1.disk"],
        ),
        (
            format!(
                "[array]\nstripe_bytes = 8192\n[[array.members]]\nname = \"flash\"\n[[array.members]]\nname = \"spindle\"\n{DISK}\n{FLASH}"
            ),
            vec!["flash", "spindle"],
        ),
        (
            format!(
                "[array]\nlayout = \"by-disk\"\n[[array.members]]\nname = \"a\"\narray = {{ members = [{{}}, {{ {DISK} }}] }}\n[[array.members]]\n{FLASH}"
            ),
            vec!["a.disk1", "a.ssd0", "ssd1"],
        ),
    ]
}

/// A timeline of any store has a group per device, and drawing it changes nothing, also with power
/// cuts.
#[test]
fn timeline_of_any_store_does_not_change_the_run() {
    for (store, groups) in stores() {
        for power_cut_every in [None, Some(200)] {
            let job = RunSpec {
                power_cut_every,
                ..spec(&format!("{store}{LOAD}"))
            };
            let (results, shown) = drawn(job.clone(), WHOLE);
            let without = done(&job);
            assert_eq!(results.summary.digest, without.summary.digest, "{store}");
            let mut found: Vec<_> = shown
                .values
                .keys()
                .map(|counter| counter.split(" > ").next().unwrap())
                .collect();
            found.dedup();
            assert_eq!(found, groups, "{store}");
            for (counter, values) in &shown.values {
                assert!(values.iter().all(|value| value.1 >= 0), "{counter}");
                if counter.ends_with("queue depth") {
                    assert_eq!(values.last().unwrap().1, 0, "{store}: {counter}");
                }
            }
            for (track, spans) in &shown.slices {
                if track.ends_with("mechanism") {
                    require_one_by_one(track, spans);
                }
            }
            if power_cut_every.is_none() {
                let accesses: u64 = results.summary.disks.iter().map(|disk| disk.accesses).sum();
                assert_eq!(shown.of("mechanism").count() as u64, accesses, "{store}");
                let programs = shown.count("die", "program", None);
                assert_eq!(programs, results.summary.flash.page_programs, "{store}");
            }
        }
    }
}
