//! Results of a run: the summary, its metrics and their types, and the tables.

mod device;
pub mod metrics;
pub mod outcome;
pub mod python_types;
pub mod results;
pub mod summary;
pub mod tables;
mod unit;

pub use device::{BadBlockDevice, Device};
pub use outcome::Outcome;
pub use results::{Results, TABLES};
pub use summary::Summary;
