//! Distributions of spans of time: histograms with logarithmic buckets, and tallies.
//!
//! A device model can hold them as well as a recorder.

pub mod histogram;
pub mod merge;
pub mod tally;

pub use histogram::{Histogram, Point};
pub use merge::Merge;
pub use tally::Tally;
