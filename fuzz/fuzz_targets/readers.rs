//! Reads arbitrary bytes in every format. There must be no panic and no endless reading, and errors
//! must have one line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_workload::{Format, OnBadLine, Source, Trace, TraceOptions};

fn read(bytes: &[u8], options: &TraceOptions) {
    let Ok(mut trace) = Trace::from_bytes("x", bytes, options) else {
        return;
    };
    loop {
        match trace.next_request() {
            Ok(Some(request)) => assert!(request.offset.checked_add(request.bytes).is_some()),
            Ok(None) => return,
            Err(error) => {
                assert!(!error.to_string().contains('\n'));
                return;
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    read(bytes, &TraceOptions::default());
    for format in Format::ALL {
        let options = TraceOptions {
            format: Some(*format),
            on_bad_line: OnBadLine::Skip,
            ..TraceOptions::as_recorded()
        };
        read(bytes, &options);
    }
});
