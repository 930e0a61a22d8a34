//! Properties of the adapters, tested over arbitrary traces.
#![allow(clippy::expect_used)] // helpers of tests

use std::fmt::Write;

use proptest::prelude::*;
use wordline_workload::{
    Align, Counts, Disk, Fit, Format, Op, Request, Source, TimeOrder, Trace, TraceOptions, Volumes,
};

/// Line of a trace: time (ns), operation, offset, bytes, volume.
type Row = (u64, Op, u64, u64, u32);

const WORDS: [(Op, &str); 4] = [
    (Op::Read, "read"),
    (Op::Write, "write"),
    (Op::Trim, "trim"),
    (Op::Flush, "flush"),
];

fn rows(sectors: bool) -> impl Strategy<Value = Vec<Row>> {
    let unit = if sectors { 512 } else { 1 };
    let row = (0_u64..1000, 0_usize..4, 0_u64..4000, 1_u64..2000, 0_u32..4);
    let scaled = row.prop_map(move |(time, op, offset, bytes, volume)| {
        let op = WORDS[op].0;
        let unit = if op == Op::Flush { 0 } else { unit };
        let bytes = if sectors { bytes % 64 + 1 } else { bytes };
        (time, op, offset * unit, bytes * unit, volume)
    });
    prop::collection::vec(scaled, 1..200)
}

fn text(rows: &[Row]) -> String {
    let mut text = String::from("time_ns,op,offset_bytes,size_bytes,volume\n");
    for (time, op, offset, bytes, volume) in rows {
        let word = WORDS.iter().find(|(known, _)| known == op);
        let op = word.expect("every operation has a word").1;
        let _ = writeln!(text, "{time},{op},{offset},{bytes},{volume}");
    }
    text
}

fn play(rows: &[Row], options: &TraceOptions) -> (Vec<Request>, Counts) {
    let mut trace =
        Trace::from_bytes("x", text(rows).into_bytes(), options).expect("the trace opens");
    let mut requests = Vec::new();
    while let Some(request) = trace.next_request().expect("the trace has no bad line") {
        requests.push(request);
    }
    (requests, trace.counts())
}

fn key(request: &Request) -> Row {
    let Request {
        arrival,
        offset,
        bytes,
        volume,
        op,
        ..
    } = *request;
    (arrival.ns(), op, offset, bytes, volume)
}

proptest! {
    /// Sorting keeps every request and its time, and is stable.
    #[test]
    fn sorting_by_time_is_stable(rows in rows(false)) {
        let (requests, counts) = play(&rows, &TraceOptions::as_recorded());
        let mut expected = rows.clone();
        expected.sort_by_key(|row| row.0);
        prop_assert_eq!(requests.iter().map(key).collect::<Vec<_>>(), expected);
        let mut newest = 0;
        let late = rows.iter().filter(|row| { let late = row.0 < newest; newest = newest.max(row.0); late });
        prop_assert_eq!(counts.times_sorted, late.count() as u64);
        let inversions = rows.windows(2).filter(|pair| pair[1].0 < pair[0].0).count() as u64;
        prop_assert_eq!(counts.time_inversions, inversions);
    }

    /// Clamping keeps the order of the file; times are the running maximum.
    #[test]
    fn clamped_times_are_the_running_maximum(rows in rows(false)) {
        let options = TraceOptions { time_order: TimeOrder::Clamp, ..TraceOptions::as_recorded() };
        let (requests, counts) = play(&rows, &options);
        let (mut latest, mut clamped) = (0, 0);
        for (row, request) in rows.iter().zip(&requests) {
            clamped += u64::from(row.0 < latest);
            latest = latest.max(row.0);
            prop_assert_eq!(key(request), (latest, row.1, row.2, row.3, row.4));
        }
        prop_assert_eq!(counts.times_clamped, clamped);
    }

    /// Expanding covers the requested range plus less than a sector on each side. A TRIM loses less
    /// than a sector on each side, and is dropped if it covers no sector.
    #[test]
    fn expanding_covers_all_touched_sectors(rows in rows(false)) {
        let options = TraceOptions {
            time_order: TimeOrder::Clamp, align: Align::Expand, ..TraceOptions::as_recorded()
        };
        let (requests, counts) = play(&rows, &options);
        let mut requests = requests.iter();
        let (mut expanded, mut shrunk) = (0, 0);
        for row in &rows {
            let (start, end) = (row.2, row.2 + row.3);
            let covered: Vec<u64> = (start..end)
                .filter(|byte| byte % 512 == 0 && byte + 512 <= end).collect();
            let whole = start % 512 == 0 && end % 512 == 0;
            if row.1 == Op::Trim {
                shrunk += u64::from(!whole);
                if covered.is_empty() {
                    continue;
                }
            } else {
                expanded += u64::from(!whole);
            }
            let request = requests.next().expect("no other request is dropped");
            prop_assert_eq!(request.op, row.1);
            prop_assert!(request.offset % 512 == 0 && request.bytes % 512 == 0);
            if row.1 == Op::Trim {
                let sectors: Vec<u64> = (request.offset..request.end()).step_by(512).collect();
                prop_assert_eq!(sectors, covered);
            } else {
                prop_assert!(request.offset <= start && start - request.offset < 512);
                prop_assert!(request.end() >= end && request.end() - end < 512);
            }
        }
        prop_assert_eq!(requests.next(), None);
        prop_assert_eq!((counts.expanded, counts.trims_shrunk), (expanded, shrunk));
    }

    /// Stacked volumes do not overlap, and their addresses keep their distances. Selecting a volume
    /// excludes the others.
    #[test]
    fn volumes_are_stacked_or_selected(rows in rows(true)) {
        let options = TraceOptions {
            time_order: TimeOrder::Clamp, volumes: Volumes::Stack, ..TraceOptions::as_recorded()
        };
        let (requests, _) = play(&rows, &options);
        let ends: Vec<u64> = (0..4).map(|volume| {
            let of = rows.iter().filter(|row| row.4 == volume);
            of.map(|row| row.2 + row.3).max().unwrap_or(0)
        }).collect();
        for (row, request) in rows.iter().zip(&requests) {
            let before = &ends[..row.4 as usize];
            let start: u64 = before.iter().map(|end| end.next_multiple_of(4096)).sum();
            let start = if row.1 == Op::Flush { 0 } else { start };
            prop_assert_eq!((request.op, request.offset, request.bytes), (row.1, start + row.2, row.3));
        }
        let options = TraceOptions { volumes: Volumes::Only(2), ..options };
        let (requests, counts) = play(&rows, &options);
        let chosen = rows.iter().filter(|row| row.4 == 2).count();
        prop_assert_eq!(requests.len(), chosen);
        prop_assert_eq!(counts.other_volumes as usize, rows.len() - chosen);
    }

    /// Wrapping keeps every byte, modulo the capacity, and counts wrapped and split requests.
    #[test]
    fn wrapping_maps_addresses_modulo_the_capacity(rows in rows(true), sectors in 64_u64..5000) {
        let capacity = sectors * 512;
        let options = TraceOptions {
            time_order: TimeOrder::Clamp, fit: Fit::Wrap, capacity_bytes: Some(capacity),
            ..TraceOptions::as_recorded()
        };
        let (requests, counts) = play(&rows, &options);
        let touched: Vec<u64> = requests.iter()
            .flat_map(|r| (r.offset..r.end()).step_by(512)).collect();
        let expected: Vec<u64> = rows.iter()
            .flat_map(|row| (row.2..row.2 + row.3).step_by(512)).map(|byte| byte % capacity).collect();
        prop_assert_eq!(touched, expected);
        prop_assert_eq!(requests.len() as u64, rows.len() as u64 + counts.split);
        let beyond = rows.iter().filter(|row| row.2 + row.3 > capacity).count() as u64;
        prop_assert_eq!(counts.wrapped, beyond);
    }

    /// Scaling keeps sizes and moves offsets in proportion, and the result fits. A trace that fits
    /// is not changed.
    #[test]
    fn scaling_shrinks_offsets_in_proportion(rows in rows(true), sectors in 64_u64..5000) {
        let capacity = sectors * 512;
        let options = TraceOptions {
            time_order: TimeOrder::Clamp, fit: Fit::Scale, capacity_bytes: Some(capacity),
            ..TraceOptions::as_recorded()
        };
        let (requests, counts) = play(&rows, &options);
        let highest = rows.iter().map(|row| row.2 + row.3).max().unwrap_or(0);
        prop_assert_eq!(counts.scaled > 0, highest > capacity);
        for (row, request) in rows.iter().zip(&requests) {
            prop_assert_eq!(request.bytes, row.3);
            prop_assert!(request.end() <= capacity);
            if highest <= capacity {
                prop_assert_eq!(request.offset, row.2);
            }
            let share = row.2 as f64 * (capacity as f64 / highest as f64).min(1.0);
            let moved = request.offset as f64 - share;
            // The offset is rounded by up to a page in each direction, and moved down to end at the
            // capacity.
            prop_assert!(moved <= 8192.0 && moved >= -8192.0 - row.3 as f64, "{moved}");
        }
    }

    /// Each disk with a separate range gets the requests that it would get if it were the only
    /// disk, within that range.
    #[test]
    fn each_disk_is_fitted_independently(rows in rows(true), sectors in 64_u64..5000) {
        let places = (0_u64..4).map(|number| Disk {
            number: number as u32,
            start: number * 512 * 10_000,
            bytes: 512 * (sectors + number),
        });
        let disks: Vec<Disk> = places.collect();
        for fit in [Fit::Wrap, Fit::Scale] {
            let options = TraceOptions {
                time_order: TimeOrder::Clamp, fit, disks: disks.clone(), ..TraceOptions::default()
            };
            let (all, _) = play(&rows, &options);
            for disk in &disks {
                let own: Vec<Row> = rows.iter().copied().filter(|row| row.4 == disk.number).collect();
                let options = TraceOptions {
                    time_order: TimeOrder::Clamp, fit, capacity_bytes: Some(disk.bytes),
                    ..TraceOptions::as_recorded()
                };
                if own.is_empty() {
                    continue;
                }
                let (alone, _) = play(&own, &options);
                let place = |request: &Request| (request.op, request.offset, request.bytes);
                let alone = alone.iter().map(|request| {
                    let start = if request.bytes > 0 { disk.start } else { 0 };
                    (request.op, request.offset + start, request.bytes)
                });
                let among = all.iter().filter(|request| request.volume == disk.number);
                prop_assert!(among.map(place).eq(alone), "disk {}", disk.number);
            }
        }
    }
}

#[test]
fn files_are_replayed_one_after_the_other() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let paths: Vec<_> = ["a.csv", "b.csv"]
        .iter()
        .map(|name| directory.path().join(name))
        .collect();
    std::fs::write(
        &paths[0],
        "100,hm,0,Read,0,512,1\n130,hm,0,Read,512,512,1\n",
    )
    .expect("written");
    std::fs::write(&paths[1], "11.5 0 8 8 0\n11.75 0 16 8 0\n").expect("written");
    let mut trace = Trace::open(&paths, &TraceOptions::default()).expect("the trace opens");
    let formats: Vec<Format> = trace.files().iter().map(|file| file.format).collect();
    assert_eq!(formats, [Format::Msr, Format::Disksim]);
    let mut arrivals = Vec::new();
    while let Some(request) = trace.next_request().expect("the trace has no bad line") {
        arrivals.push(request.arrival.ns());
    }
    // After 30 ticks of 100 ns, the clock of the second file starts.
    assert_eq!(arrivals, [0, 3_000, 3_000, 253_000]);
    assert_eq!(trace.fraction(), Some(1.0));
    let digest = trace.digest();
    let mut again = Trace::open(&paths, &TraceOptions::default()).expect("the trace opens");
    assert_ne!(again.digest(), digest);
    while again
        .next_request()
        .expect("the trace has no bad line")
        .is_some()
    {}
    assert_eq!(again.digest(), digest);
}

/// Returns the arrivals of a trace that is read with think times. Nanoseconds.
fn thought(lines: &str) -> Result<Vec<u64>, String> {
    let options = TraceOptions {
        think_times: true,
        ..TraceOptions::default()
    };
    let trace = Trace::from_bytes("x.csv", lines.as_bytes(), &options);
    let mut trace = trace.map_err(|error| error.to_string())?;
    let mut arrivals = Vec::new();
    while let Some(request) = trace.next_request().map_err(|error| error.to_string())? {
        arrivals.push(request.arrival.ns());
    }
    Ok(arrivals)
}

/// The second request arrives 4 us after the completion of the first, the third while the second is
/// in progress, and the fourth 1 us after the completion of the third.
#[test]
fn think_time_is_counted_from_completion_to_the_next_request() {
    let own = "time_ns,op,offset_bytes,size_bytes,volume,response_ns\n\
               0,read,0,512,0,1000\n5000,read,512,512,0,2000\n6000,write,0,512,0,4000\n11000,read,0,512,0,1\n";
    assert_eq!(thought(own), Ok(vec![0, 4000, 4000, 5000]));
    let msr = "1000,hm,0,Read,0,512,10\n1050,hm,0,Read,512,512,20\n1060,hm,0,Write,0,512,40\n1110,hm,0,Read,0,512,1\n";
    assert_eq!(thought(msr), Ok(vec![0, 4000, 4000, 5000]));
}

#[test]
fn think_times_of_a_trace_without_response_times_are_refused() {
    for lines in [
        "time_ns,op,offset_bytes,size_bytes,volume\n0,read,0,512,0\n",
        "1000,hm,0,Read,0,512,0\n",
    ] {
        let error = thought(lines).expect_err("the trace has no response times");
        assert!(error.starts_with("x.csv:"), "{error}");
        assert!(
            error.contains("the response time, which a replay with think times needs, is missing"),
            "{error}"
        );
        assert!(error.contains("column response_ns"), "{error}");
    }
}

/// Files without requests are counted as well, and requests read ahead keep the index of their
/// file.
#[test]
fn each_request_reports_the_index_of_its_file() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, requests: u64| {
        let rows: Vec<Row> = (0..requests)
            .map(|n| (n, Op::Read, n * 512, 512, 0))
            .collect();
        let path = folder.path().join(name);
        std::fs::write(&path, text(&rows)).expect("the file can be written");
        path
    };
    let (three, none, two) = (write("a", 3), write("b", 0), write("c", 2));
    let paths = [&three, &none, &two, &three];
    for ahead in [0, 1, 3, 4, 100] {
        let options = TraceOptions {
            format: Some(Format::Wordline),
            ..TraceOptions::default()
        };
        let trace = Trace::open(&paths, &options).expect("the trace opens");
        let mut trace = trace.read_ahead(ahead).expect("the trace has no bad line");
        let mut files = Vec::new();
        while trace
            .next_request()
            .expect("the trace has no bad line")
            .is_some()
        {
            files.push(trace.file());
        }
        assert_eq!(files, [0, 0, 0, 2, 2, 3, 3, 3], "{ahead}");
    }
}
