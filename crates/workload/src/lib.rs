//! Workloads: adapted traces, generators, statistics.
//!
//! All requests come from a [`Source`]: a [`Trace`] of recorded requests, read from files in one of
//! the formats of [`Format`], or a [`generate::Generator`]. [`stat`] computes the statistics of a
//! source; [`convert`] writes it as a trace in another format.
//!
//! ```
//! use wordline_workload::{Source, Trace, TraceOptions};
//!
//! let lines = "128166372003061629,hm,0,Read,4096,512,1\n128166372003061639,hm,0,Write,0,4096,1\n";
//! let mut trace = Trace::from_bytes("two.csv", lines.as_bytes(), &TraceOptions::default())?;
//! let first = trace.next_request()?.expect("there are two");
//! assert_eq!((first.arrival.ns(), first.offset, first.bytes), (0, 4096, 512));
//! let second = trace.next_request()?.expect("there are two");
//! assert_eq!(second.arrival.ns(), 1000);
//! # Ok::<(), wordline_workload::WorkloadError>(())
//! ```

mod adapt;

pub mod convert;
mod decoded;
pub mod generate;
mod keys;
mod look_ahead;
mod notes;
mod record_counts;
pub mod stat;
mod trace;

pub use adapt::{Align, Disk, Fit, OnBadLine, TimeGaps, TimeOrder, Volumes};
pub use decoded::Decoded;
pub use keys::KeyTrace;
pub use notes::grouped;
pub use record_counts::Counts;
pub use trace::{InputFile, Trace, TraceFile, TraceOptions};
pub use wordline_block::Op;
pub use wordline_trace_format::{
    Columns, Format, Place, Recordings, Request, STANDARD_INPUT, Source, Stop, WorkloadError,
};
