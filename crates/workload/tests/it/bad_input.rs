//! Error messages for bad input, compared as whole lines.
#![allow(clippy::unwrap_used)] // in helpers of the tests

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use wordline_workload::{
    Align, Fit, OnBadLine, Source, TimeGaps, TimeOrder, Trace, TraceOptions, Volumes, WorkloadError,
};

const STRICT: TraceOptions = TraceOptions {
    format: None,
    columns: None,
    on_bad_line: OnBadLine::Error,
    time_gaps: TimeGaps::Keep,
    time_order: TimeOrder::Error,
    times_may_be_unknown: false,
    align: Align::Error,
    volumes: Volumes::One,
    fit: Fit::Error,
    capacity_bytes: None,
    disks: Vec::new(),
    think_times: false,
};

/// Reads a trace to its end. Returns the number of requests, or the error.
fn read(bytes: &[u8], options: &TraceOptions) -> Result<u64, WorkloadError> {
    let mut trace = Trace::from_bytes("x.csv", bytes, options)?;
    let mut requests = 0;
    while trace.next_request()?.is_some() {
        requests += 1;
    }
    Ok(requests)
}

fn error(bytes: &[u8], options: &TraceOptions) -> String {
    let message = read(bytes, options).unwrap_err().to_string();
    assert!(
        !message.contains('\n'),
        "the message has several lines: {message}"
    );
    message
}

const GOOD: &str = "1000,hm,0,Read,4096,8192,1\n";
const SKIP: &str = "correct the file, or pass --on-bad-line skip";

#[test]
fn a_line_with_more_columns_than_the_header_is_an_error() {
    const HEADER: &str = "time_ns,op,offset_bytes,size_bytes,volume";
    let lines = "0,read,0,512,0,7\n1,read,0,512,0\n";
    assert_eq!(
        error(format!("{HEADER}\n{lines}").as_bytes(), &STRICT),
        format!("x.csv:2: column 6: the format has no such column, but the line has `7`; {SKIP}")
    );
    let recorded = format!("{HEADER},response_ns\n{lines}");
    assert_eq!(read(recorded.as_bytes(), &STRICT).unwrap(), 2);
    // A file that was appended to another, as by `cat`, has its own header.
    let both = format!("{recorded}{HEADER}\n2,read,0,512,0,8\n");
    assert!(error(both.as_bytes(), &STRICT).starts_with("x.csv:5: column 6: "));
}

#[test]
fn bad_line_is_reported_with_line_and_column() {
    let cases = [
        (
            "1001,hm,0,Read,4096,-1,1",
            "column 6: the size `-1` is negative",
        ),
        (
            "1001,hm,0,Read,4096",
            "column 6: the size is missing: the line ends before it",
        ),
        (
            "1001,hm,0,Read,4096,512,1,2",
            "column 8: the format has no such column, but the line has `2`",
        ),
        ("1001,hm,0,Read,,512,1", "column 5: the offset is empty"),
        (
            "1001,hm,0,Read,4k,512,1",
            "column 5: the offset is `4k`, not a whole number",
        ),
        (
            "1001,hm,0,Erase,0,512,1",
            "column 4: the operation is `Erase`, neither read nor write",
        ),
        ("1001,hm,0,Read,4096,0,1", "the size is 0"),
        (
            "1001,hm,0,Read,99999999999999999999,512,1",
            "column 5: the offset `99999999999999999999` exceeds the maximum of 18446744073709551615",
        ),
        (
            "1001,hm,0,Read,18446744073709551104,1024,1",
            "offset 18446744073709551104 and size 1024 add up to more than 2^64",
        ),
    ];
    for (line, reason) in cases {
        let file = format!("{GOOD}{GOOD}{line}\n{GOOD}");
        assert_eq!(
            error(file.as_bytes(), &STRICT),
            format!("x.csv:3: {reason}; {SKIP}")
        );
        let skipping = TraceOptions {
            on_bad_line: OnBadLine::Skip,
            ..STRICT
        };
        let mut trace = Trace::from_bytes("x.csv", file.into_bytes(), &skipping).unwrap();
        while trace.next_request().unwrap().is_some() {}
        assert_eq!(
            (trace.counts().records, trace.counts().lines_skipped),
            (3, 1),
            "{line}"
        );
        let first = trace.first_skipped().unwrap().to_string();
        assert_eq!(first, format!("x.csv:3: {reason}; {SKIP}"));
    }
}

#[test]
fn overlong_line_is_bad_and_the_next_one_is_read() {
    let long = format!(
        "{GOOD}1001,{},0,Read,0,512,1\n{GOOD}",
        "h".repeat(1_000_000)
    );
    let reason = "x.csv:2: the line is longer than 65536 bytes";
    assert_eq!(error(long.as_bytes(), &STRICT), format!("{reason}; {SKIP}"));
    let skipping = TraceOptions {
        on_bad_line: OnBadLine::Skip,
        ..STRICT
    };
    assert_eq!(read(long.as_bytes(), &skipping), Ok(2));
}

#[test]
fn irregular_requests_are_refused_with_the_option_that_accepts_them() {
    let of = |line: &str| error(format!("{GOOD}{line}\n").as_bytes(), &STRICT);
    assert_eq!(
        of("999,hm,0,Read,4096,512,1"),
        "x.csv:2: the time goes back by 100.000 ns; \
         pass --time-order sort or --time-order clamp"
    );
    assert_eq!(
        of("1001,hm,0,Read,4097,512,1"),
        "x.csv:2: the offset 4097 is not a multiple of 512 bytes; \
         pass --align expand to use every sector that it touches"
    );
    assert_eq!(
        of("1001,hm,0,Read,4096,513,1"),
        "x.csv:2: the size 513 is not a multiple of 512 bytes; \
         pass --align expand to use every sector that it touches"
    );
    assert_eq!(
        of("1001,hm,1,Read,4096,512,1"),
        "x.csv:2: the trace has several volumes: volume 1 follows volume 0; pass --volumes stack (one after the \
         other), --volumes shared (all use the same addresses), or the number of one, such as \
         --volumes 0"
    );
}

#[test]
fn error_beyond_the_capacity_states_the_highest_address() {
    let file = format!("{GOOD}1001,hm,0,Read,61440,8192,1\n1002,hm,0,Write,1048576,512,1\n");
    let options = TraceOptions {
        capacity_bytes: Some(65_536),
        ..STRICT
    };
    assert_eq!(
        error(file.as_bytes(), &options),
        "x.csv:2: the request for 8192 bytes at offset 61440 ends beyond the device's 65536 bytes \
         (the whole trace ends at byte 1049088); pass --fit wrap or --fit scale, or use a larger device"
    );
    let options = TraceOptions {
        capacity_bytes: Some(4096),
        fit: Fit::Wrap,
        ..STRICT
    };
    assert_eq!(
        error(file.as_bytes(), &options),
        "x.csv:1: the request for 8192 bytes exceeds the device's 4096 bytes; \
         use a larger device"
    );
}

#[test]
fn unrecognised_and_empty_files_are_refused() {
    let names = "wordline, fio-iolog, srt, vscsi, blktrace, systor, tectonic, pixel, msr, spc, tencent, alibaba, \
                 diskmon, biotracer, blkparse, hil, disksim, ssdsim-us, mqsim, ssdsim, arc-lis, \
                 oracle-general, keys64le, keys32le, columns, or describe the columns with --columns";
    let unknown = format!(
        "x.csv: the format is not recognised; name the format with --format, one of {names}"
    );
    let mut random = wordline_kernel::Rng::new(1, "rubbish");
    let rubbish: Vec<u8> = (0..100_000).map(|_| random.bits() as u8).collect();
    assert_eq!(error(&rubbish, &STRICT), unknown);
    assert_eq!(error(&[0; 10_000], &STRICT), unknown);
    assert_eq!(error(b"to be or not to be\n", &STRICT), unknown);
    assert_eq!(error(b"\n\n\n", &STRICT), unknown);
    assert_eq!(error(b"1,2,3\n4,5,6\n", &STRICT), unknown);
    assert_eq!(
        error(b"", &STRICT),
        "x.csv: the file is empty; name a file that contains a trace"
    );
    assert_eq!(
        error(&gzip(b""), &STRICT),
        "x.csv: the gzip archive contains an empty file; name a file that contains a trace"
    );
}

#[test]
fn error_for_a_table_similar_to_the_native_format_states_the_header() {
    let header = "time_ns,op,offset_bytes,size_bytes,volume";
    let told = format!(
        "x.csv: the format is not recognised; Wordline's own format starts with the line {header}: add \
         that line, or name the format with --format, one of wordline, "
    );
    let near = [
        "time,op,offset,size,volume\n1,read,0,512,0\n",
        "Time_ns, Op, Offset_bytes, Size_bytes, Volume\n1,read,0,512,0\n",
        "op,size,offset\nread,512,0\n",
        "1,read,0,512,0\n2,write,0,512,0\n",
    ];
    for text in near {
        let fault = error(text.as_bytes(), &STRICT);
        assert!(fault.starts_with(&told), "{fault}");
    }
    // The file becomes readable if its user follows the remedy.
    let text = format!("{header}\n1,read,0,512,0\n");
    assert_eq!(read(text.as_bytes(), &STRICT).unwrap(), 1);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns lines that do not compress well.
fn many() -> String {
    let mut random = wordline_kernel::Rng::new(2, "many");
    let mut text = String::new();
    for time in 0..50_000 {
        let offset = random.below(1 << 30) * 512;
        writeln!(
            text,
            "{time},hm,0,Write,{offset},4096,{}",
            random.below(100_000)
        )
        .unwrap();
    }
    text
}

#[test]
fn truncated_archives_are_errors() {
    let text = many();
    let mut twice = gzip(text.as_bytes());
    twice.extend(gzip(text.replace(",hm,0,Write", ",hm,0,Read").as_bytes()));
    let mut streams = bzip2(text.as_bytes());
    streams.extend(bzip2(text.replace(",hm,0,Write", ",hm,0,Read").as_bytes()));
    let clamping = TraceOptions {
        time_order: TimeOrder::Clamp,
        ..STRICT
    };
    assert_eq!(read(&twice, &clamping), Ok(100_000), "two gzip members");
    assert_eq!(read(&streams, &clamping), Ok(100_000), "two bzip2 streams");
    let archives = [
        ("gzip archive", gzip(text.as_bytes())),
        (
            "Zstandard archive",
            zstd::encode_all(text.as_bytes(), 3).unwrap(),
        ),
        ("xz archive", xz(text.as_bytes())),
        ("bzip2 archive", bzip2(text.as_bytes())),
    ];
    for (name, archive) in archives {
        assert_eq!(read(&archive, &STRICT), Ok(50_000), "{name}");
        let cut = &archive[..archive.len() / 2];
        let mut trace = Trace::from_bytes("x.csv.gz", cut, &STRICT).unwrap();
        let mut requests = 0;
        let error = loop {
            match trace.next_request() {
                Ok(Some(_)) => requests += 1,
                Ok(None) => panic!("{name}: a truncated archive was read without an error"),
                Err(error) => break error.to_string(),
            }
        };
        let start = format!("x.csv.gz: the {name} ends early, after ");
        assert!(error.starts_with(&start), "{error}");
        let end = format!(" bytes ({requests} whole lines); download or compress the file again");
        assert!(error.ends_with(&end), "{requests}: {error}");
        assert!(
            trace.next_request().unwrap().is_none(),
            "nothing follows an error"
        );

        let mut damaged = archive.clone();
        for byte in &mut damaged[archive.len() / 2..archive.len() / 2 + 64] {
            *byte ^= 0x5a;
        }
        let error = read(&damaged, &STRICT).unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn truncated_binary_record_is_reported_with_its_position() {
    let keys: Vec<u8> = (0..20_u32).flat_map(|n| (n * 7).to_le_bytes()).collect();
    let options = TraceOptions {
        format: Some(wordline_workload::Format::Keys32le),
        ..STRICT
    };
    assert_eq!(read(&keys, &STRICT), Ok(20));
    assert_eq!(
        error(&keys[..78], &options),
        format!(
            "x.csv: record 20 at byte 76: the file ends 2 bytes into a record of 4 bytes; {SKIP}"
        )
    );
}

#[test]
fn directories_and_missing_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let open = |path: PathBuf| Trace::open(&[path], &STRICT).err().unwrap().to_string();
    let path = directory.path().to_owned();
    let name = path.display().to_string();
    assert_eq!(
        open(path.clone()),
        format!("{name}: the path is a directory, not a trace; name the files in the directory")
    );
    assert_eq!(
        open(path.join("absent.csv")),
        format!("{name}/absent.csv: the file cannot be opened: it does not exist; check the name")
    );
    let none: [PathBuf; 0] = [];
    let error = Trace::open(&none, &STRICT).err().unwrap().to_string();
    assert_eq!(error, "trace: no file is given; name at least one file");
}

#[test]
fn option_words_are_checked() {
    let mut options = TraceOptions::default();
    for (key, word) in [
        ("format", "msr"),
        ("on_bad_line", "skip"),
        ("time_order", "sort"),
        ("align", "expand"),
        ("volumes", "7"),
        ("fit", "wrap"),
    ] {
        options.set(key, word).unwrap();
    }
    assert_eq!(options.volumes, Volumes::Only(7));
    assert_eq!(
        options.set("fit", "shrink"),
        Err("fit: `shrink` is not one of error, wrap, scale".to_owned())
    );
    assert_eq!(
        options.set("volumes", "-1"),
        Err("volumes: `-1` is not one, stack, shared or a volume's number".to_owned())
    );
    assert!(
        options
            .set("format", "excel")
            .unwrap_err()
            .starts_with("format: `excel` is not one of")
    );
    assert!(
        options
            .set("colour", "blue")
            .unwrap_err()
            .starts_with("`colour` is not a trace option")
    );
}

/// An error is returned only after the records before it, even if they wait to be sorted.
#[test]
fn sorting_returns_all_records_before_an_error() {
    let file = format!("{GOOD}990,hm,0,Read,0,512,1\nrubbish\n{GOOD}");
    let options = TraceOptions {
        time_order: TimeOrder::Sort,
        ..STRICT
    };
    let mut trace = Trace::from_bytes("x.csv", file.into_bytes(), &options).unwrap();
    let ns: Vec<u64> = (0..2)
        .map(|_| trace.next_request().unwrap().unwrap().arrival.ns())
        .collect();
    assert_eq!(ns, [0, 1000]);
    let error = trace.next_request().unwrap_err().to_string();
    assert!(error.starts_with("x.csv:3: "), "{error}");
    assert_eq!(trace.next_request(), Ok(None));
}

#[test]
fn byte_order_mark_and_crlf_are_accepted() {
    let file = format!("\u{feff}{GOOD}{GOOD}").replace('\n', "\r\n");
    assert_eq!(read(file.as_bytes(), &STRICT), Ok(2));
}
