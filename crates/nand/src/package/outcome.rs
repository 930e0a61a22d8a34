//! What comes out of a package: completions, stages, and what its dies have been through.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::Time;

use crate::Die;
use crate::array::Violation;
use crate::chain::{Resource, Stage};
use crate::energy::Energy;
use crate::transaction::TransactionError;

/// A transaction that has been carried out, or has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// Its number, counted from 0 in the order of submission.
    pub number: u64,
    /// Whether the array accepted it.
    pub result: Result<(), Violation>,
    /// When it was submitted.
    pub submitted: Time,
    /// When its die began with it.
    pub started: Time,
    /// When it was over: data out, or status read.
    pub completed: Time,
    /// When each row was done, if there are several.
    pub rows: Vec<Time>,
    /// Time spent in each stage, in the order of [`Stage::ALL`].
    pub stages: [Time; 8],
    /// Time spent in line for the bus.
    pub bus_wait: Time,
}

/// A transaction that could not be submitted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SubmitError {
    /// The transaction itself is wrong.
    #[error(transparent)]
    Transaction(#[from] TransactionError),
    /// It comes from the past.
    #[error("submitted at {at}, but the package is at {now} already; submit in the order of time")]
    Late {
        /// When it was submitted.
        at: Time,
        /// The package's time.
        now: Time,
    },
}

/// A stretch of time that a die spent in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// Number of the transaction.
    pub transaction: u64,
    /// The die.
    pub die: Die,
    /// The stage.
    pub stage: Stage,
    /// The command's code, if the stage is a command.
    pub command: Option<u8>,
    /// Start.
    pub from: Time,
    /// End.
    pub until: Time,
}

/// What a die has been through in one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Transactions.
    pub transactions: u64,
    /// Time in each stage, in the order of [`Stage::ALL`].
    pub stages: [Time; 8],
    /// Array time summed over the planes that worked: reads, programs, erases.
    pub planes: [Time; 3],
}

impl Usage {
    /// Bus time.
    pub fn bus(&self) -> Time {
        let stages = Stage::ALL.iter().zip(self.stages);
        let bus = stages.filter(|(stage, _)| stage.resource() == Resource::Bus);
        bus.map(|(_, time)| time).sum()
    }
    /// Array time: commands, not planes.
    pub fn array(&self) -> Time {
        self.stages.iter().copied().sum::<Time>() - self.bus()
    }
    /// Energy of array reads, programs and erases, and of the bus. Nanojoule.
    pub fn energy_nj(&self, energy: &Energy) -> [f64; 4] {
        energy.stages_nj(self.planes, self.bus())
    }
}
