//! Formats of block traces: detection, readers and writers of recordings, plain or compressed.
//!
//! A [`Recording`] is opened as an [`Input`]. Its first bytes, a [`Probe`], identify the
//! [`Format`]. The [`Reader`] of the format returns [`Record`]s with their positions. This crate
//! does not change, sort or drop requests; `wordline-workload` turns records into requests
//! according to its options.
//!
//! ```
//! use wordline_trace_format::{Input, PROBE, Probe, Recording};
//!
//! let lines = "128166372003061629,hm,0,Read,4096,512,1\n128166372003061639,hm,0,Write,0,4096,1\n";
//! let mut input = Input::open(&Recording::memory("two.csv", lines.as_bytes().into()))?;
//! let start = input.peek(PROBE).to_vec();
//! let probe = Probe { bytes: &start, whole: true };
//! let format = input.recognise(&probe)?;
//! let mut records = Vec::new();
//! format.reader(&probe).read(&mut input, &mut records).expect("both lines are requests");
//! assert_eq!(format.name(), "msr");
//! let offsets: Vec<u64> = records.iter().map(|placed| placed.record.offset).collect();
//! assert_eq!(offsets, [4096, 0]);
//! # Ok::<(), wordline_trace_format::WorkloadError>(())
//! ```

mod conversion_losses;
mod decompress;
mod error;
mod fields;
mod format;
mod input;
mod interruption;
mod recording;
mod request;

pub use conversion_losses::Losses;
pub use decompress::{Compression, Decompressed, plain};
pub use error::{Fault, Place, Stamp, WorkloadError};
pub use fields::SECTOR;
pub use format::{
    Columns, Format, KeyField, Origin, Placed, Probe, Reader, Record, Render, UNSTATED, warning,
};
pub use input::{Input, PROBE, Stop as ReadStop};
pub use interruption::Stop;
pub use recording::{Recording, Recordings, STANDARD_INPUT};
pub use request::{Request, Source};
