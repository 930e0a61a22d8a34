//! Arbitrary bytes must not cause a panic or endless reading. The worst result is an error of one
//! line.
#![allow(clippy::panic, clippy::expect_used)] // helpers of tests

use proptest::prelude::*;
use wordline_workload::stat::{IdleRule, stat_trace};
use wordline_workload::{Format, OnBadLine, Source, TimeOrder, Trace, TraceOptions};

const LIMIT: usize = 100_000;

fn read(bytes: &[u8], options: &TraceOptions) {
    let line = |error: String| assert!(!error.contains('\n'), "{error}");
    let mut trace = match Trace::from_bytes("x", bytes, options) {
        Ok(trace) => trace,
        Err(error) => return line(error.to_string()),
    };
    for _ in 0..LIMIT {
        match trace.next_request() {
            Ok(Some(request)) => assert!(request.offset.checked_add(request.bytes).is_some()),
            Ok(None) => return,
            Err(error) => return line(error.to_string()),
        }
    }
    panic!("{} bytes contain more than {LIMIT} requests", bytes.len());
}

fn read_in_all_ways(bytes: &[u8]) {
    read(bytes, &TraceOptions::default());
    for format in Format::ALL {
        let options = TraceOptions {
            format: Some(*format),
            on_bad_line: OnBadLine::Skip,
            ..TraceOptions::as_recorded()
        };
        read(bytes, &options);
        for time_order in [TimeOrder::Sort, TimeOrder::File] {
            let options = TraceOptions {
                time_order,
                ..options.clone()
            };
            if let Ok(mut trace) = Trace::from_bytes("x", bytes, &options) {
                let _ = stat_trace(&mut trace, IdleRule::default());
            }
        }
        for words in [("stack", "wrap"), ("shared", "scale")] {
            let mut options = TraceOptions {
                capacity_bytes: Some(1 << 20),
                ..options.clone()
            };
            options.set("volumes", words.0).expect("a valid word");
            options.set("fit", words.1).expect("a valid word");
            options.set("align", "expand").expect("a valid word");
            read(bytes, &options);
        }
    }
}

/// Generates fragments of traces in any order.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "0",
        "1",
        "7",
        "18446744073709551615",
        "18446744073709551616",
        "-1",
        "1.5",
        "1e300",
        ".",
        "4096",
        ",",
        ",",
        " ",
        "\t",
        "\n",
        "\n",
        "\r\n",
        "Read",
        "Write",
        "R",
        "w",
        "D",
        "FWS",
        "hm",
        "8,33",
        "+",
        "time_ns,op,offset_bytes,size_bytes,volume\n",
        "fio version 2 iolog\n",
        "fio version 3 iolog\n",
        "wait",
        "add",
        "trim",
        "flush",
        "Timestamp,Response,IOType,LUN,Offset,Size\n",
        "$$TR_IOREC",
        "\u{c}",
        "12ce23eaa5534a38-9e05ce05bc10d4d0",
        "op_time,block_id,block_id_size,io_size,io_offset,",
        "1,hm,0,Read,0,512,1\n",
        "0 0 0 8 1\n",
        "0.5 0 0 8 1\n",
        "8,0 1 1 0.5 1 Q R 8 + 8 [x]\n",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        read_in_all_ways(&bytes);
    }

    #[test]
    fn fragments_of_traces_are_read_or_refused(bytes in pieces()) {
        read_in_all_ways(&bytes);
    }

    #[test]
    fn corrupt_archives_are_read_or_refused(magic in 0_usize..3, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let magics: [&[u8]; 3] =
            [&[0x1f, 0x8b, 8, 0], &[0x28, 0xb5, 0x2f, 0xfd], &[0xfd, b'7', b'z', b'X', b'Z', 0]];
        read_in_all_ways(&[magics[magic], &bytes].concat());
    }
}
