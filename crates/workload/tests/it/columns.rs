//! Text tables whose columns the user describes.
#![allow(clippy::unwrap_used)] // in helpers of the tests

use proptest::prelude::*;
use wordline_kernel::Time;
use wordline_workload::{
    Format, InputFile, Op, Request, Source, Trace, TraceOptions, WorkloadError,
};

fn read(columns: &str, text: &str) -> Result<Vec<Request>, WorkloadError> {
    let mut options = TraceOptions::as_recorded();
    options.set("columns", columns).unwrap();
    let mut trace = Trace::from_bytes("x.csv", text.as_bytes(), &options)?;
    assert_eq!(trace.files()[0].format, Format::Columns);
    let mut requests = Vec::new();
    while let Some(request) = trace.next_request()? {
        requests.push(request);
    }
    Ok(requests)
}

fn fault(columns: &str, text: &str) -> String {
    read(columns, text).unwrap_err().to_string()
}

fn request(ns: u64, op: Op, offset: u64, bytes: u64, volume: u32) -> Request {
    Request {
        arrival: Time::from_ps(ns * 1000),
        offset,
        bytes,
        volume,
        op,
        fua: false,
    }
}

/// The same two requests are read with every delimiter, by column number and by name, with and
/// without a header.
#[test]
fn columns_are_found_with_every_delimiter() {
    let expected = [
        request(0, Op::Read, 4096, 512, 0),
        request(1_500, Op::Write, 8192, 1024, 0),
    ];
    let lines = [
        ["t us", "rw", "x", "lba", "len"],
        ["10", "R", "?", "8", "512"],
        ["11.5", "W", "?", "16", "1024"],
    ];
    let by_number = "time=1:us,op=2,offset=4:sectors,bytes=5";
    for delimiter in [",", "\t", ";"] {
        let line = |line: &[&str; 5]| line.join(delimiter);
        let header = line(&lines[0]);
        let body = format!("{}\n{}\n", line(&lines[1]), line(&lines[2]));
        let with = format!("{header}\n{body}");
        assert_eq!(read(by_number, &body).unwrap(), expected, "{delimiter:?}");
        assert_eq!(read(by_number, &with).unwrap(), expected, "{delimiter:?}");
        let by_name = "time=t us:us,op=RW,offset=lba:sectors,bytes=len";
        assert_eq!(read(by_name, &with).unwrap(), expected, "{delimiter:?}");
        let crlf = with.replace('\n', "\r\n");
        assert_eq!(read(by_name, &crlf).unwrap(), expected, "{delimiter:?}");
        let again = format!("{with}{with}");
        assert_eq!(
            read(by_name, &again).unwrap().len(),
            4,
            "headers of joined files are ignored"
        );
    }
    let blanks = "# t rw x lba len\n  10   R ?\t8 512\n 11.5 W  ? 16   1024 more\n";
    assert_eq!(
        read("time=t:us,op=rw,offset=lba:sectors,bytes=len", blanks).unwrap(),
        expected
    );
    assert_eq!(read(by_number, blanks).unwrap(), expected);
    let odd = "10 R a,b 8 512\n11.5 W , 16 1024\n";
    assert_eq!(
        read(&format!("{by_number},delimiter=space"), odd).unwrap(),
        expected
    );
}

#[test]
fn units_of_columns_are_applied() {
    for (unit, ns) in [
        ("s", 2_500_000_000),
        ("ms", 2_500_000),
        ("us", 2_500),
        ("ns", 3),
        ("filetime", 300),
    ] {
        let text = "0,8,R\n2.5,8,R\n";
        let requests = read(
            &format!("time=1:{unit},offset=2,bytes=2,op=3").replace("bytes=2", "bytes=fixed:8"),
            text,
        );
        assert_eq!(requests.unwrap()[1].arrival.ns(), ns, "{unit}");
    }
    let ps = read(
        "time=1:ps,offset=2,bytes=fixed:8,op=fixed:read",
        "7,0\n9,0\n",
    )
    .unwrap();
    assert_eq!(ps[1].arrival, Time::from_ps(2));
    for (unit, bytes) in [
        ("bytes", 3),
        ("sectors", 1536),
        ("KiB", 3072),
        ("MiB", 3 << 20),
        ("4096", 12_288),
        ("16KiB", 49_152),
        ("4k", 12_288),
        ("4K", 12_288),
        ("2M", 6 << 20),
    ] {
        let requests = read(
            &format!("offset=1:{unit},bytes=2:{unit},op=fixed:write"),
            "3,3\n",
        )
        .unwrap();
        assert_eq!(requests, [request(0, Op::Write, bytes, bytes, 0)], "{unit}");
    }
    let fixed = read(
        "offset=1,bytes=fixed:16KiB,op=fixed:trim,volume=fixed:9",
        "5\n",
    )
    .unwrap();
    assert_eq!(fixed, [request(0, Op::Trim, 5, 16_384, 9)]);
}

/// Results list the time unit of the file.
#[test]
fn time_unit_of_the_file_is_reported() {
    for (columns, unit) in [
        ("time=1:ms,offset=2,bytes=fixed:8,op=fixed:read", Some("ms")),
        (
            "time=1:filetime,offset=2,bytes=fixed:8,op=fixed:read",
            Some("100 ns"),
        ),
        ("offset=2,bytes=fixed:8,op=fixed:read", None),
    ] {
        let mut options = TraceOptions::default();
        options.set("columns", columns).unwrap();
        let trace = Trace::from_bytes("x.csv", &b"1,2\n"[..], &options).unwrap();
        assert_eq!(InputFile::of(&trace.files()[0]).time_unit, unit);
    }
}

#[test]
fn common_spellings_of_operations_are_accepted() {
    let ops = |op: &str, words: &str| -> Vec<Op> {
        let lines: Vec<String> = words
            .split(' ')
            .map(|word| format!("0,512,{word}"))
            .collect();
        let text = lines.join("\n");
        let requests = read(&format!("offset=1,bytes=2,op=3{op}"), &text).unwrap();
        requests.iter().map(|request| request.op).collect()
    };
    let (r, w, t, f) = (Op::Read, Op::Write, Op::Trim, Op::Flush);
    assert_eq!(
        ops("", "R w READ Write \"read\" trim D discard flush"),
        [r, w, r, w, r, t, t, t, f]
    );
    assert_eq!(ops(":1=read", "1 0"), [r, w]);
    assert_eq!(ops(":0=read", "1 0 R"), [w, r, r]);
    assert_eq!(ops(":28=read:2a=write:42=trim", "28 2A 42"), [r, w, t]);
    let flush = read("offset=1,bytes=2,op=3", "77,512,flush\n").unwrap();
    assert_eq!(flush, [request(0, f, 0, 0, 0)]);
    let durable = read("offset=1,bytes=2,op=3", "0,512,write-fua\n").unwrap();
    assert!(durable[0].fua && durable[0].op == w);
}

#[test]
fn volumes_are_numbers_or_names() {
    let volumes = |volume: &str, text: &str| -> Vec<u32> {
        let requests = read(
            &format!("offset=1,bytes=fixed:512,op=fixed:read,volume={volume}"),
            text,
        );
        requests
            .unwrap()
            .iter()
            .map(|request| request.volume)
            .collect()
    };
    assert_eq!(volumes("2", "0,7\n0,3\n"), [7, 3]);
    assert_eq!(
        volumes("dev:names", "lba,dev\n0,sdb\n0,sda\n0,sdb\n"),
        [0, 1, 0]
    );
}

#[test]
fn invalid_columns_are_refused_with_a_remedy() {
    let of = |columns: &str| TraceOptions::default().set("columns", columns).unwrap_err();
    let shape =
        "write FIELD=COLUMN:UNIT between commas, as in time=1:us,offset=4:sectors,bytes=5,op=3";
    let cases = [
        ("time", format!("columns: `time` is not FIELD=COLUMN; {shape}")),
        ("size=4", format!("columns: `size` is not one of time, offset, bytes, op, volume, delimiter; {shape}")),
        ("offset=1,offset=2", "columns: `offset` is given twice; leave one out".to_owned()),
        ("bytes=1,op=2", "columns: `offset` is missing; add its column, as in offset=3".to_owned()),
        ("offset=1,op=2", "columns: `bytes` is missing; add its column, as in bytes=3, or a size that all requests have, as in bytes=fixed:4096".to_owned()),
        ("offset=0,bytes=1,op=2", "columns: offset: the column number 0 is not between 1 and 10000; columns are counted from 1".to_owned()),
        ("time=1,offset=2,bytes=3,op=4", "columns: time: the unit is missing; give s, ms, us, ns, ps or filetime, as in time=1:us".to_owned()),
        ("time=1:sec,offset=2,bytes=3,op=4", "columns: time: `sec` is not a unit of time; give s, ms, us, ns, ps or filetime, as in time=1:us".to_owned()),
        ("offset=1:blocks,bytes=3,op=4", "columns: offset: `blocks` is not a unit; give bytes, sectors, KiB, MiB, or the size of a page such as 4096, 4k or 16KiB".to_owned()),
        ("offset=1,bytes=fixed:0,op=4", "columns: bytes: `0` is not a unit; give bytes, sectors, KiB, MiB, or the size of a page such as 4096, 4k or 16KiB".to_owned()),
        ("offset=1,bytes=2,op=3:1=erase", "columns: op: `erase` is not an operation; give read, write, trim or flush".to_owned()),
        ("offset=1,bytes=2,op=3:1", "columns: op: `1` is not SPELLING=OPERATION; write it as in op=3:1=read:0=write".to_owned()),
        ("offset=1,bytes=2,op=3,delimiter=|", "columns: delimiter: `|` is not a delimiter; give comma, tab, semicolon or space".to_owned()),
        ("offset=1,bytes=2,op=3,volume=4:text", "columns: volume: `text` is unknown; write `names` if volumes have names, or leave it out if they have numbers".to_owned()),
    ];
    for (columns, expected) in cases {
        assert_eq!(of(columns), expected);
    }
}

#[test]
fn errors_in_a_file_state_their_position() {
    let by_number = "time=1:us,offset=2:sectors,bytes=3,op=4";
    let skip = "correct the file, or pass --on-bad-line skip";
    let text = |line: &str| format!("1,8,512,R\n{line}\n");
    let cases = [
        (
            "2,8,512",
            "column 4: the operation is missing: the line ends before it",
        ),
        ("2,8,x,R", "column 3: the size is `x`, not a whole number"),
        (
            "z,8,512,R",
            "column 1: the time stamp is `z`, not a decimal number",
        ),
        ("2,-8,512,R", "column 2: the offset `-8` is negative"),
        (
            "2,8,512,1",
            "column 4: the operation `1` is unknown; define it, as in op=4:1=read",
        ),
        (
            "2,36028797018963968,512,R",
            "column 2: the offset 36028797018963968 (units of 512 bytes) is beyond 2^64 bytes",
        ),
    ];
    for (line, reason) in cases {
        assert_eq!(
            fault(by_number, &text(line)),
            format!("x.csv:2: {reason}; {skip}")
        );
    }
    let beyond = "offset=2:sectors,bytes=4096,op=4";
    assert_eq!(
        fault(beyond, "1,8,512,R\n"),
        format!(
            "x.csv:1: column 5: the line ends before column 4096, which --columns requires; if all lines have the same value, give it as fixed, as in bytes=fixed:4096; {skip}"
        )
    );
    assert_eq!(
        fault(
            "time=timestamp:s,offset=sector,bytes=len,op=rw",
            "timestamp,lba,len,rw\n1,2,3,R\n"
        ),
        "x.csv:1: the first line has no column named `sector`; give one of `timestamp`, `lba`, `len`, `rw`, or the column's number from 1"
    );
    assert_eq!(
        fault("offset=1,bytes=lba,op=rw", "lba,rw\n1,R\n"),
        "x.csv:1: column 1 is used for two fields; name a separate column for each field in --columns offset=1,bytes=lba,op=rw"
    );
}

#[test]
fn columns_and_format_exclude_each_other() {
    let mut options = TraceOptions::default();
    options.set("format", "columns").unwrap();
    let mut trace = Trace::from_bytes("x.csv", &b"1,2\n"[..], &options).unwrap();
    let fault = trace.next_request().unwrap_err().to_string();
    assert!(
        fault.starts_with("x.csv:1: the columns of the table are not described; pass --columns"),
        "{fault}"
    );
    options
        .set("columns", "offset=1,bytes=2,op=fixed:read")
        .unwrap();
    assert!(Trace::from_bytes("x.csv", &b"1,2\n"[..], &options).is_ok());
    options.set("format", "msr").unwrap();
    let fault = Trace::from_bytes("x.csv", &b"1,2\n"[..], &options)
        .err()
        .unwrap()
        .to_string();
    assert_eq!(
        fault,
        "x.csv: both the format msr and the columns are given; leave --format or --columns out"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A file of a known format gives the same requests if its columns are described one by one.
    #[test]
    fn description_of_a_known_format_gives_the_same_requests(
        rows in prop::collection::vec((0_u64..1 << 40, 0_u32..4, 0_u64..1 << 40, 1_u64..1 << 20, any::<bool>()), 1..50)
    ) {
        let line = |(time, volume, offset, bytes, read): &(u64, u32, u64, u64, bool)| {
            format!("{volume},{},{offset},{bytes},{time}\n", if *read { 'R' } else { 'W' })
        };
        let text: String = rows.iter().map(line).collect();
        let mut trace = Trace::from_bytes("x", text.as_bytes(), &TraceOptions::as_recorded()).unwrap();
        let mut expected = Vec::new();
        while let Some(request) = trace.next_request().unwrap() {
            expected.push(request);
        }
        let columns = "volume=1,op=2,offset=3,bytes=4,time=5:us";
        prop_assert_eq!(read(columns, &text).unwrap(), expected);
    }

    /// No input makes the reader of tables panic.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for columns in ["time=1:s,offset=2:sectors,bytes=3:4KiB,op=4", "offset=a,bytes=fixed:512,op=b:1=read,volume=c:names"] {
            let mut options = TraceOptions::as_recorded();
            options.set("columns", columns).unwrap();
            options.set("on_bad_line", "skip").unwrap();
            if let Ok(mut trace) = Trace::from_bytes("x", bytes.clone(), &options) {
                while let Ok(Some(_)) = trace.next_request() {}
            }
        }
    }
}
