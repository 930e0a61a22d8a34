//! Workloads: trace readers, generators, statistics.
//!
//! Everything that asks a device for something is a [`Source`]: a [`Trace`] of recorded requests, read
//! from files in one of the formats of [`Format`], or a [`generate::Generator`].

mod adapt;
pub mod convert;
mod decompress;
mod error;
mod fields;
mod format;
pub mod generate;
mod input;
mod request;
pub mod stat;
mod trace;

pub use adapt::{Align, Fit, OnBadLine, TimeOrder, Volumes};
pub use error::{Place, WorkloadError};
pub use format::Format;
pub use request::{Op, Request, Source};
pub use trace::{Counts, Trace, TraceFile, TraceOptions};
