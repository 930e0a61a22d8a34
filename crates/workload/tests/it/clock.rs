//! Time stamps out of the clock's range: uses that refuse them, and uses that do not need them.
#![allow(clippy::unwrap_used)] // in helpers of the tests

use crate::shared;

use shared::real;
use wordline_workload::stat::{IdleRule, Stat, stat_trace};
use wordline_workload::{Source, Trace, TraceOptions, WorkloadError};

const HEADER: &str = "time_ns,op,offset_bytes,size_bytes,volume\n";

/// Returns a line with this time stamp.
type WithTime = fn(&str) -> String;

fn options(words: &[(&str, &str)]) -> TraceOptions {
    let mut options = TraceOptions::default();
    for (key, word) in words {
        options.set(key, word).unwrap();
    }
    options
}

/// Returns the offsets of the requests in a text, read with these options.
fn offsets(text: &str, words: &[(&str, &str)]) -> Result<Vec<u64>, WorkloadError> {
    let mut trace = Trace::from_bytes("t", text.as_bytes(), &options(words))?;
    let mut offsets = Vec::new();
    while let Some(request) = trace.next_request()? {
        offsets.push(request.offset);
    }
    Ok(offsets)
}

fn stat(text: &str, words: &[(&str, &str)]) -> Stat {
    let mut trace = Trace::from_bytes("t", text.as_bytes(), &options(words)).unwrap();
    stat_trace(&mut trace, IdleRule::default()).unwrap()
}

/// A change of the recorder's clock does not make a line bad, so the line must not be skipped.
#[test]
fn time_beyond_the_clock_is_not_a_bad_line() {
    let text = format!(
        "{HEADER}0,read,0,512,0\n1700000000000000000,write-fua,512,512,0\n1700000000000000009,read,1024,512,0\n"
    );
    let fault = offsets(&text, &[("on_bad_line", "skip")]).unwrap_err();
    let fault = fault.to_string();
    assert!(
        fault.starts_with("t:3: column 1: the time `1700000000000000000` is too large: the clock covers only 213 days; "),
        "{fault}"
    );
    let gaps = fault.split("--time-gaps ").nth(1).unwrap();
    assert_eq!(
        offsets(&text, &[("time_gaps", gaps)]).unwrap(),
        [0, 512, 1024]
    );
}

#[test]
fn fraction_in_a_column_of_whole_time_stamps_is_a_bad_line() {
    let text = "1,hm,0,Read,0,512,1\n2.5,hm,0,Read,512,512,1\n3,hm,0,Read,1024,512,1\n";
    let fault = offsets(text, &[("format", "msr")]).unwrap_err().to_string();
    assert!(
        fault.starts_with("t:2: column 1: the time stamp is `2.5`, not a whole number"),
        "{fault}"
    );
    assert!(!fault.contains("clock"), "{fault}");
    assert_eq!(
        offsets(text, &[("format", "msr"), ("on_bad_line", "skip")]).unwrap(),
        [0, 1024]
    );
}

/// The native format counts picoseconds, of which 64 bits cover 213 days. Gaps must be changed
/// before a time exceeds that range.
#[test]
fn gaps_are_changed_equally_in_native_and_mqsim_traces() {
    let times = [
        5,
        1_700_000_000_000_000_000,
        1_700_000_000_000_000_009,
        1_800_000_000_000_000_000_u64,
        11,
    ];
    let lines = |of: fn(&u64) -> String| times.iter().map(of).collect::<Vec<_>>().concat();
    let csv = lines(|time| format!("{time}.5,read,0,512,0\n"));
    let mqsim = lines(|time| format!("{time} 0 0 1 1\n"));
    let arrivals = |text: &str, words: &[(&str, &str)]| -> Vec<u64> {
        let mut trace = Trace::from_bytes("t", text.as_bytes(), &options(words)).unwrap();
        std::iter::from_fn(|| trace.next_request().unwrap())
            .map(|request| request.arrival.ps())
            .collect()
    };
    for rule in ["cut=1s", "scale=1e-9@1s"] {
        let words = [("time_gaps", rule), ("time_order", "clamp")];
        let found = arrivals(&format!("{HEADER}{csv}"), &words);
        let expected = arrivals(&mqsim, &[words[0], words[1], ("format", "mqsim")]);
        let steps = |times: &[u64]| -> Vec<u64> {
            times.windows(2).map(|pair| pair[1] - pair[0]).collect()
        };
        assert_eq!(found[0], 5_500);
        if rule == "cut=1s" {
            assert_eq!(
                steps(&found),
                [
                    1_000_000_000_000,
                    9_000,
                    1_000_000_000_000,
                    1_000_000_000_000
                ]
            );
        }
        let off = |(a, b): (&u64, &u64)| a.abs_diff(*b);
        let apart = steps(&found).iter().zip(&steps(&expected)).map(off).max();
        assert!(apart <= Some(1_000), "{found:?} {expected:?}");
    }
}

/// Statistics need no clock. Values that depend on an unknown time must be absent.
#[test]
fn statistics_keep_requests_beyond_the_clock() {
    let csv = format!(
        "{HEADER}0,read,0,512,0\n1700000000000000000,read,512,512,0\n1700000000000000009,read,1024,512,0\n7,read,1536,512,0\n"
    );
    let msr = "1,hm,0,Read,0,512,1\n900000000000000000,hm,0,Read,512,512,1\n5,hm,0,Read,1024,512,1\n6,hm,0,Read,1536,512,1\n";
    for text in [csv.as_str(), msr] {
        let options = TraceOptions {
            times_may_be_unknown: true,
            ..TraceOptions::as_recorded()
        };
        let mut trace = Trace::from_bytes("t", text.as_bytes(), &options).unwrap();
        let stat = stat_trace(&mut trace, IdleRule::default()).unwrap();
        assert_eq!((stat.requests, stat.duration_s, stat.gaps), (4, None, None));
        assert!(stat.trace.unwrap().times_unknown > 0);
        assert!(
            stat.notes[0].contains("--time-gaps cut=1s"),
            "{:?}",
            stat.notes
        );
        let mut again = Trace::from_bytes("t", text.as_bytes(), &options).unwrap();
        let offsets = std::iter::from_fn(|| again.next_request().unwrap());
        assert_eq!(
            offsets.map(|request| request.offset).collect::<Vec<_>>(),
            [0, 512, 1024, 1536]
        );
    }
}

/// Every line whose time is a number or empty is accepted if the order of the file is kept.
#[test]
fn file_order_accepts_time_stamps_out_of_the_clocks_range() {
    let lines: [(&str, WithTime); 4] = [
        (HEADER, |time| format!("{time},read,7168,512,0\n")),
        ("1,hm,0,Read,0,512,1\n", |time| {
            format!("{time},hm,0,Read,7168,512,1\n")
        }),
        ("0,0,512,r,0.5\n", |time| format!("0,14,512,r,{time}\r\n")),
        ("0.5 0 0 1 1\n", |time| format!("{time} 0 14 1 1\n")),
    ];
    let huge = "9".repeat(40);
    for (head, line) in lines {
        for time in ["", "-5", &huge, "abc"] {
            if time.is_empty() && head.starts_with("0.5 ") {
                continue; // blanks cannot delimit an empty column
            }
            let text = format!("{head}{}{}", line(time), line("7").repeat(3));
            let found = offsets(&text, &[("time_order", "file")]);
            if time == "abc" {
                let fault = found.unwrap_err().to_string();
                assert!(fault.contains("`abc`"), "{fault}");
                continue;
            }
            let found = found.unwrap();
            assert_eq!(found[found.len() - 4..], [7168; 4], "{text}");
            assert!(offsets(&text, &[("time_order", "clamp")]).is_err());
        }
    }
}

#[test]
fn duration_in_file_order_is_correct_or_unknown() {
    let file = ("time_order", "file");
    let lines = |times: &[u64]| -> String {
        let line = |time: &u64| format!("{} 0 0 8 1\n", time * 1_000_000_000);
        times.iter().map(line).collect()
    };
    let told = |times: &[u64]| stat(&lines(times), &[("format", "mqsim"), file]);
    let (latest, days) = (Some(9.0), 86_400);
    assert_eq!(
        told(&[4, 13, 7]).duration_s,
        latest,
        "the duration is the latest minus the earliest time"
    );
    assert_eq!(told(&[4, 7, 13]).notes, [""; 0]);
    for times in [
        &[4, 300 * days, 5, 6][..],
        &[300 * days, 4, 5, 300 * days + 1],
        &[4, 3, 8],
    ] {
        let stat = told(times);
        let times = (stat.duration_s, stat.mean_iops, stat.gaps, stat.idle);
        assert_eq!(times, (None, None, None, None));
        let note = "time stamps are missing, or are before or more than 213 days after the first";
        assert!(stat.notes[0].contains(note), "{:?}", stat.notes);
        assert_eq!(stat.requests, stat.trace.unwrap().records);
    }
    let cut = stat(
        &lines(&[4, 5, 300 * days, 6]),
        &[("format", "mqsim"), file, ("time_gaps", "cut=1s")],
    );
    assert_eq!(cut.duration_s, Some(3.0));
}

/// The clock of one processor was 40 years ahead of the others.
#[test]
fn db_bench_is_read_despite_clock_jumps() {
    let Some(path) = real("dbbench-fillrandom.blkparse.gz") else {
        return;
    };
    let mut trace = Trace::open(&[path], &options(&[("time_order", "file")])).unwrap();
    let stat = stat_trace(&mut trace, IdleRule::default()).unwrap();
    assert_eq!(stat.duration_s, None);
    assert!(stat.trace.unwrap().times_unknown > 0);
}
