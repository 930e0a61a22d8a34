//! Conversions to other formats and back.
#![allow(clippy::unwrap_used)] // in helpers of the tests

use crate::shared;

use std::path::Path;

use proptest::prelude::*;
use shared::real;
use wordline_kernel::Time;
use wordline_workload::convert::{
    Cancellation, Conversion, TraceWriter, convert, convert_trace, convert_until,
};
use wordline_workload::stat::{IdleRule, stat_trace};
use wordline_workload::{Format, Op, Request, Source, Trace, TraceOptions, WorkloadError};

/// Generates requests of the first `kinds` of these kinds: reads, writes, TRIMs, flushes, durable
/// writes.
fn requests(tick_ps: u64, unit: u64, kinds: i32) -> impl Strategy<Value = Vec<Request>> {
    let op = 0..kinds;
    let row = (
        0_u64..1_000_000,
        op,
        0_u64..1 << 40,
        1_u64..1 << 20,
        0_u32..3,
    );
    prop::collection::vec(row, 1..100).prop_map(move |rows| {
        let mut arrival = 0;
        let first = |index: usize| index == 0;
        let request =
            |(index, (gap, op, offset, bytes, volume)): (usize, (u64, i32, u64, u64, u32))| {
                arrival += if first(index) { 0 } else { gap * tick_ps };
                let fua = op == 4;
                let op = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::Write][op as usize];
                let range = if op == Op::Flush {
                    (0, 0)
                } else {
                    (offset * unit, bytes * unit)
                };
                Request {
                    arrival: Time::from_ps(arrival),
                    offset: range.0,
                    bytes: range.1,
                    volume,
                    op,
                    fua,
                }
            };
        rows.into_iter().enumerate().map(request).collect()
    })
}

fn write(path: &Path, format: Format, requests: &[Request]) -> Result<Conversion, WorkloadError> {
    let mut writer = TraceWriter::create(path, format, true)?;
    requests
        .iter()
        .try_for_each(|request| writer.write(request))?;
    writer.finish()
}

fn read(path: &Path, format: Option<Format>) -> Result<Vec<Request>, WorkloadError> {
    let options = TraceOptions {
        format,
        ..TraceOptions::as_recorded()
    };
    let mut trace = Trace::open(&[path], &options)?;
    let mut requests = Vec::new();
    while let Some(request) = trace.next_request()? {
        requests.push(request);
    }
    Ok(requests)
}

/// Renumbers volumes in order of appearance, like the files of fio.
fn by_appearance(requests: &[Request]) -> Vec<Request> {
    let mut seen = Vec::new();
    let mut renumbered = requests.to_vec();
    for request in &mut renumbered {
        let known = seen.iter().position(|volume| *volume == request.volume);
        let volume = known.unwrap_or(seen.len());
        if known.is_none() {
            seen.push(request.volume);
        }
        request.volume = volume as u32;
    }
    renumbered
}

fn round_trip(format: Format, name: &str, requests: &[Request]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    let done = write(&path, format, requests).unwrap();
    assert_eq!((done.written, done.left_out), (requests.len() as u64, 0));
    assert_eq!(read(&path, Some(format)).unwrap(), requests, "{format}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn native_format_is_lossless(requests in requests(1, 1, 5)) {
        round_trip(Format::Wordline, "x.csv.zst", &requests);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.csv.gz");
        prop_assert!(write(&path, Format::Wordline, &requests).unwrap().notes.is_empty());
        prop_assert_eq!(read(&path, None).unwrap(), requests);
    }

    #[test]
    fn other_formats_keep_what_they_can_express(
        nano in requests(1_000, 512, 2),
        filetime in requests(100_000, 1, 2),
        alibaba in requests(1_000_000, 1, 2),
        micro in requests(1_000_000, 1, 4),
    ) {
        round_trip(Format::Alibaba, "x.csv", &alibaba);
        round_trip(Format::Mqsim, "x", &nano);
        round_trip(Format::Disksim, "x.gz", &nano);
        round_trip(Format::Spc, "x.spc", &nano);
        round_trip(Format::Msr, "x.csv", &filetime);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.iolog");
        write(&path, Format::FioIolog, &micro).unwrap();
        prop_assert_eq!(read(&path, None).unwrap(), by_appearance(&micro));
    }
}

/// The compression follows from the extension of the name. The test checks the magic bytes of each
/// archive format.
#[test]
fn output_is_compressed_according_to_its_extension() {
    let directory = tempfile::tempdir().unwrap();
    let request = Request {
        arrival: Time::ZERO,
        offset: 0,
        bytes: 512,
        volume: 0,
        op: Op::Read,
        fua: false,
    };
    let starts: [(&str, &[u8]); 5] = [
        ("x.csv", b"time_ns"),
        ("x.csv.gz", b"\x1f\x8b"),
        ("x.csv.bz2", b"BZh"),
        ("x.csv.xz", b"\xfd7zXZ\0"),
        ("x.csv.zst", b"\x28\xb5\x2f\xfd"),
    ];
    for (name, start) in starts {
        let path = directory.path().join(name);
        write(&path, Format::Wordline, &[request]).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(start), "{name}");
        assert_eq!(read(&path, None).unwrap(), [request], "{name}");
    }
}

#[test]
fn losses_of_a_conversion_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.mqsim");
    let request = |ps, offset, op| Request {
        arrival: Time::from_ps(ps),
        offset,
        bytes: 512,
        volume: 0,
        op,
        fua: false,
    };
    let requests = [
        request(0, 0, Op::Read),
        Request {
            fua: true,
            ..request(1_500, 256, Op::Write)
        },
        request(2_000, 0, Op::Trim),
        request(3_000, 0, Op::Trim),
        Request {
            bytes: 0,
            ..request(3_000, 0, Op::Flush)
        },
    ];
    let done = write(&path, Format::Mqsim, &requests).unwrap();
    assert_eq!((done.written, done.left_out), (2, 3));
    assert_eq!(
        done.notes,
        [
            "2 TRIMs were left out: the format mqsim has only reads and writes",
            "1 flushes were left out: the format mqsim has only reads and writes",
            "1 FUA writes were converted to plain writes: the format mqsim has no FUA",
            "1 time stamps were rounded down to the resolution of the format mqsim",
            "1 requests were expanded to whole sectors of 512 bytes, the unit of the format mqsim",
        ]
    );
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "0 0 0 1 1\n1 0 0 2 0\n"
    );
}

#[test]
fn file_appears_only_when_finished() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.csv");
    std::fs::write(&path, "old content").unwrap();
    let mut bad = Trace::from_bytes(
        "bad.csv",
        b"1,hm,0,Read,0,512,1\n2,hm,0,Read,0,512,1\nrubbish\n".to_vec(),
        &TraceOptions::as_recorded(),
    )
    .unwrap();
    let error = convert(&mut bad, &path, Format::Wordline).unwrap_err();
    assert!(error.to_string().starts_with("bad.csv:3: "), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old content");
    let names = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(names, 1, "no temporary file remains");
}

/// Source that stops the conversion when its first request is read, like Ctrl-C during a read.
struct Stopped<'a>(Trace, &'a dyn Fn());

impl Source for Stopped<'_> {
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        let request = self.0.next_request();
        (self.1)();
        request
    }
    fn fraction(&self) -> Option<f64> {
        None
    }
    fn timed(&self) -> bool {
        true
    }
}

#[test]
fn stopped_conversion_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.csv");
    let stop = Cancellation::default();
    let left = || std::fs::read_dir(directory.path()).unwrap().count();
    let now = || {
        if left() > 0 {
            assert!(stop.stop());
            assert_eq!(
                left(),
                0,
                "the file is removed at once, not at the next request"
            );
        }
    };
    let trace = Trace::from_bytes(
        "two.csv",
        b"1,hm,0,Read,0,512,1\n2,hm,0,Read,0,512,1\n".to_vec(),
        &TraceOptions::as_recorded(),
    );
    let mut source = Stopped(trace.unwrap(), &now);
    let error = convert_until(&mut source, &path, Format::Wordline, &stop).unwrap_err();
    assert!(error.to_string().contains("stopped"), "{error}");
    assert_eq!(left(), 0);
}

#[test]
fn finished_conversion_cannot_be_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.csv");
    let stop = Cancellation::default();
    let mut trace = Trace::from_bytes(
        "one.csv",
        b"1,hm,0,Read,0,512,1\n".to_vec(),
        &TraceOptions::as_recorded(),
    )
    .unwrap();
    convert_until(&mut trace, &path, Format::Wordline, &stop).unwrap();
    assert!(!stop.stop());
    assert!(path.exists());
}

#[test]
fn failed_conversion_cannot_be_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.csv");
    let stop = Cancellation::default();
    let mut trace = Trace::from_bytes(
        "two.csv",
        b"1,hm,0,Read,0,512,1\n2,hm,0,Neither,0,512,1\n".to_vec(),
        &TraceOptions {
            format: Some(Format::Msr),
            ..TraceOptions::as_recorded()
        },
    )
    .unwrap();
    convert_until(&mut trace, &path, Format::Wordline, &stop).unwrap_err();
    assert!(!stop.stop());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn write_errors_state_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let create = |path: &Path, format| TraceWriter::create(path, format, true).err().unwrap();
    let path = directory.path().join("absent").join("x.csv");
    let error = create(&path, Format::Msr).to_string();
    let name = path.display();
    assert_eq!(
        error,
        format!("{name}: the file cannot be written: it does not exist; choose another path")
    );
    assert_eq!(
        create(Path::new("x.srt"), Format::Srt).to_string(),
        "x.srt: traces can be read, but not written, in the format srt; \
         choose one of the formats wordline, fio-iolog, msr, spc, alibaba, disksim, mqsim"
    );
}

/// A trace without time stamps becomes an iolog of version 2, which is still untimed when it is
/// read.
#[test]
fn arc_trace_converted_to_an_iolog_keeps_its_requests() {
    let Some(path) = real("arc-P3.lis.gz") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("p3.iolog.zst");
    let mut trace = Trace::open(&[&path], &TraceOptions::as_recorded()).unwrap();
    let done = convert(&mut trace, &out, Format::FioIolog).unwrap();
    assert_eq!((done.written, done.notes.len()), (238_578, 0));
    assert_eq!(read(&out, None).unwrap(), read(&path, None).unwrap());
    assert!(
        !Trace::open(&[out], &TraceOptions::default())
            .unwrap()
            .timed()
    );
}

/// The TRIMs of a file system are kept in the native format and in an iolog, and are dropped in
/// spc.
#[test]
fn trims_of_fillrandom_are_kept_if_the_format_has_them() {
    let Some(path) = real("dbbench-fillrandom.blkparse.gz") else {
        return;
    };
    let options = TraceOptions {
        time_gaps: "cut=1s".parse().unwrap(), // 20 time stamps are wrapped
        ..TraceOptions::as_recorded()
    };
    let directory = tempfile::tempdir().unwrap();
    for (format, kept) in [
        (Format::Wordline, 2_057),
        (Format::FioIolog, 2_057),
        (Format::Spc, 0),
    ] {
        let out = directory.path().join(format.name());
        let mut trace = Trace::open(&[&path], &options).unwrap();
        let done = convert(&mut trace, &out, format).unwrap();
        assert_eq!(done.left_out, 2_057 - kept, "{format}");
        let trims = read(&out, Some(format)).unwrap();
        let trims = trims.iter().filter(|request| request.op == Op::Trim);
        assert_eq!(trims.count() as u64, kept, "{format}");
    }
}

/// Conversions and statistics report the same changes to records.
#[test]
fn changes_to_records_are_reported() {
    let text =
        "1000000000 0 0 8 1\n0 0 8 8 1\nrubbish\n3000000000 0 16 8 1\n600000000000 0 24 8 1\n";
    let options = |order: &str| {
        let mut options = TraceOptions::as_recorded();
        let words = [
            ("format", "mqsim"),
            ("on_bad_line", "skip"),
            ("time_order", order),
            ("time_gaps", "cut=10s"),
        ];
        for (key, word) in words {
            options.set(key, word).unwrap();
        }
        options
    };
    let skipped = "1 bad lines were skipped; the first of them: t:3: column 1: the time stamp is `rubbish`, \
                   not a whole number; correct the file, or pass --on-bad-line skip";
    let sorted = "1 requests were out of order and were sorted by time.";
    let clamped = "1 requests were earlier than the previous request and were set to its time.";
    let cut = "1 gaps between time stamps were changed by --time-gaps: 587.000 s were removed from \
               gaps, 0.000 s were added.";
    let directory = tempfile::tempdir().unwrap();
    for (order, ordered) in [("sort", sorted), ("clamp", clamped)] {
        let open = || Trace::from_bytes("t", text.as_bytes(), &options(order)).unwrap();
        let out = directory.path().join("out");
        let done = convert_trace(&mut open(), &out, Format::Wordline).unwrap();
        assert_eq!(done.notes, [skipped, ordered, cut]);
        let stat = stat_trace(&mut open(), IdleRule::default()).unwrap();
        assert_eq!(stat.notes, done.notes);
    }
}
