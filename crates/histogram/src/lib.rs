//! Distributions of spans of time: histograms with logarithmic buckets, and tallies.
//!
//! Both device models and recorders use them.

mod buckets;
pub mod histogram;
pub mod merge;
pub mod tally;

pub use histogram::{Histogram, Point};
pub use merge::Merge;
pub use tally::Tally;
