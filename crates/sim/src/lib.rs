//! Runs: from a plan to results.

mod audience;
pub mod chip_load;
pub mod devices;
pub mod error;
mod given;
pub mod job;
pub mod memory;
pub mod metrics;
pub mod outcome;
pub mod python_types;
pub mod record;
pub mod results;
pub mod simulation;
pub mod summary;
pub mod tables;
pub mod timeline;

pub use error::SimulationError;
pub use job::{Done, Job, JobError};
pub use results::{Results, TABLES};
pub use simulation::{Options, Phase, Progress, run};
pub use summary::Summary;
pub use timeline::TimelineOptions;
