//! Errors that prevent a run from starting.

use thiserror::Error;
use wordline_array::ArrayError;
use wordline_block::Failure;
use wordline_memory::MemoryError;
use wordline_ssd::DeviceError;
use wordline_workload::WorkloadError;

use wordline_state::StateError;

/// Error of a run that could not start. Later errors end the run and are reported in its results.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// The input cannot be read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The input has no time stamps, and its replay needs them.
    #[error(
        "the trace has no time stamps, so it can only be replayed in a closed loop; set {0}.mode.closed-loop.queue_depth"
    )]
    Untimed(String),
    /// The device cannot be preconditioned, or a custom replacement policy cannot be created.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A member of the array cannot be preconditioned.
    #[error(transparent)]
    Array(#[from] ArrayError<DeviceError>),
    /// The input is empty.
    #[error("{0}")]
    Empty(String),
    /// A saved state cannot be written or read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The input of a resumed run has changed.
    #[error(
        "the trace has changed since the run was stopped; resume with the same file, or start a new run"
    )]
    ChangedInput,
    /// The timeline cannot be created.
    #[error("{0}")]
    Timeline(String),
    /// The store does not support an option, or has nothing to prepare.
    #[error("{0}")]
    Unsupported(String),
    /// The run does not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl SimulationError {
    /// Returns `true` if the user interrupted the run.
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::Workload(error) => error.is_interruption(),
            Self::Device(error) => error.is_interruption(),
            Self::Array(error) => error.is_interruption(),
            _ => false,
        }
    }
}
