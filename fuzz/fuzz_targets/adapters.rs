//! Passes arbitrary bytes through every adapter of a trace and into the statistics. There must be
//! no panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_workload::stat::{IdleRule, stat_trace};
use wordline_workload::{Align, Fit, OnBadLine, TimeOrder, Trace, TraceOptions, Volumes};

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else {
        return;
    };
    let options = TraceOptions {
        format: None,
        on_bad_line: if choice & 1 == 0 {
            OnBadLine::Skip
        } else {
            OnBadLine::Error
        },
        time_order: if choice & 2 == 0 {
            TimeOrder::Sort
        } else {
            TimeOrder::Clamp
        },
        align: if choice & 4 == 0 {
            Align::Expand
        } else {
            Align::Keep
        },
        volumes: match choice >> 3 & 3 {
            0 => Volumes::Stack,
            1 => Volumes::Shared,
            2 => Volumes::Only(0),
            _ => Volumes::One,
        },
        fit: match choice >> 5 & 3 {
            0 => Fit::Wrap,
            1 => Fit::Scale,
            _ => Fit::Error,
        },
        capacity_bytes: (choice & 128 == 0).then_some(1 << 20),
    };
    if let Ok(mut trace) = Trace::from_bytes("x", bytes, &options) {
        let _ = stat_trace(&mut trace, IdleRule::default());
    }
});
