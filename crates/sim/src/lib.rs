//! Runs: from a plan to results.

pub mod chip_load;
pub mod devices;
pub mod error;
mod external_policy;
pub mod memory;
pub mod metrics;
mod observer;
pub mod outcome;
pub mod python_types;
pub mod record;
pub mod results;
pub mod run_spec;
pub mod simulation;
pub mod state;
pub mod summary;
pub mod tables;
pub mod timeline;

pub use error::SimulationError;
pub use results::{Results, TABLES};
pub use run_spec::{Done, JobError, RunSpec};
pub use simulation::{Options, Phase, Progress, run};
pub use summary::Summary;
pub use timeline::TimelineOptions;
