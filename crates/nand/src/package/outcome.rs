//! Results of a package: completions, stages and usage of dies.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::Time;

use crate::Die;
use crate::array::Violation;
use crate::chain::{Resource, Stage};
use crate::energy::Energy;
use crate::transaction::TransactionError;

/// Transaction that has completed or failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// Number of the transaction, from 0 in order of submission.
    pub number: u64,
    /// Success, or the array rule that the transaction violated.
    pub result: Result<(), Violation>,
    /// Time of submission.
    pub submitted: Time,
    /// Time at which the die started the transaction.
    pub started: Time,
    /// Time of completion: the end of the data transfer or of the status read, or the signal of the
    /// ready/busy pin.
    pub completed: Time,
    /// Completion time of each row, if there are several.
    pub rows: Vec<Time>,
    /// Time in each stage, in the order of [`Stage::ALL`].
    pub stages: [Time; 8],
    /// Time spent waiting for the bus.
    pub bus_wait: Time,
}

/// Error of a transaction that could not be submitted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SubmitError {
    /// The transaction is invalid.
    #[error(transparent)]
    Transaction(#[from] TransactionError),
    /// The submission time is in the past.
    #[error("submitted at {at}, but the package is already at {now}; submit in order of time")]
    Late {
        /// Time of submission.
        at: Time,
        /// Current time of the package.
        now: Time,
    },
}

/// Interval that a die spent in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// Number of the transaction.
    pub transaction: u64,
    /// Die of the transaction.
    pub die: Die,
    /// Stage of the transaction.
    pub stage: Stage,
    /// Opcode of the command, if the stage is a command cycle.
    pub command: Option<u8>,
    /// Start of the interval.
    pub from: Time,
    /// End of the interval.
    pub until: Time,
}

/// Usage of a die in one operation mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Completed transactions. Count.
    pub transactions: u64,
    /// Time in each stage, in the order of [`Stage::ALL`].
    pub stages: [Time; 8],
    /// Array time of reads, programs and erases, summed over the active planes.
    pub planes: [Time; 3],
}

impl Usage {
    /// Returns the time that the die spent in bus stages.
    pub fn bus(&self) -> Time {
        let stages = Stage::ALL.iter().zip(self.stages);
        let bus = stages.filter(|(stage, _)| stage.resource() == Resource::Bus);
        bus.map(|(_, time)| time).sum()
    }
    /// Returns the array time of all commands, not summed over planes.
    pub fn array(&self) -> Time {
        self.stages.iter().copied().sum::<Time>() - self.bus()
    }
    /// Returns the energy of array reads, array programs, array erases and the bus. Nanojoules.
    pub fn energy_nj(&self, energy: &Energy) -> [f64; 4] {
        energy.stages_nj(self.planes, self.bus())
    }
}
