//! Runs: simulates a plan and produces its results.

mod devices;
pub mod error;
mod external_policy;
pub mod memory;
mod observer;
pub mod run_spec;
pub mod simulation;
pub mod timeline;

pub use error::SimulationError;
pub use run_spec::{Done, JobError, RunSpec};
pub use simulation::{Options, Phase, Progress, run};
pub use timeline::TimelineOptions;
pub use wordline_results::{Results, Summary, TABLES, metrics, python_types, summary};
pub use wordline_state as state;
