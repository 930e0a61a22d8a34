//! How a run can fail to begin.

use thiserror::Error;
use wordline_array::ArrayError;
use wordline_block::Failure;
use wordline_memory::MemoryError;
use wordline_ssd::DeviceError;
use wordline_workload::WorkloadError;

use wordline_state::StateError;

/// A run that could not start. What goes wrong later ends the run and stands in its results.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// The source cannot be read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The source has no time stamps.
    #[error(
        "the trace has no time stamps, so it cannot be replayed open loop; set {0}.mode.closed-loop.queue_depth"
    )]
    Untimed(String),
    /// The device could not be brought into its state.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A member of the array could not be brought into its state.
    #[error(transparent)]
    Array(#[from] ArrayError<DeviceError>),
    /// Nothing to simulate.
    #[error("{0}")]
    Empty(String),
    /// A state cannot be written or read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The input of a run that goes on is another than it was.
    #[error(
        "the trace is not what it was when the run was stopped; go on with the same file, or start the run anew"
    )]
    ChangedInput,
    /// The timeline cannot be written.
    #[error("{0}")]
    Timeline(String),
    /// What cannot be done with this store.
    #[error("{0}")]
    Unsupported(String),
    /// It does not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl SimulationError {
    /// Whether the user ended it.
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::Workload(error) => error.is_interruption(),
            Self::Device(error) => error.is_interruption(),
            Self::Array(error) => error.is_interruption(),
            _ => false,
        }
    }
}
