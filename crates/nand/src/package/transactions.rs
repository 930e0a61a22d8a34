//! Transactions of a package and their costs.

use wordline_kernel::Time;

use super::outcome::{Strip, Usage};
use crate::array::Violation;
use crate::chain::Stage;
use crate::registers::Confirm;
use crate::transaction::{Mode, Operation, Transaction};
use crate::{Die, Ppn};

/// Transaction that has not completed.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    pub(super) number: u64,
    pub(super) operation: Operation,
    pub(super) mode: Mode,
    pub(super) die: Die,
    pub(super) pages: Vec<Ppn>,
    pub(super) targets: Vec<Ppn>,
    pub(super) planes: u32,
    pub(super) submitted: Time,
    pub(super) started: Time,
    /// Rows whose array operation has started. Count.
    pub(super) begun: usize,
    pub(super) rows: Vec<Time>,
    pub(super) stages: [Time; 8],
    pub(super) bus_wait: Time,
    pub(super) violation: Option<Violation>,
}

impl Pending {
    pub(super) fn transaction(&self) -> Transaction<'_> {
        Transaction {
            operation: self.operation,
            pages: &self.pages,
            targets: &self.targets,
            planes: self.planes,
        }
    }
    /// Returns the pages of the next array operation.
    pub(super) fn row(&self, confirm: Confirm) -> &[Ppn] {
        let planes = self.planes as usize;
        if self.operation == Operation::Move {
            return match confirm {
                Confirm::Read(_) => &self.pages,
                _ => &self.targets,
            };
        }
        &self.pages[self.begun * planes..(self.begun + 1) * planes]
    }
}

/// Index of a transaction in [`Transactions::all`].
pub(super) type Slot = u32;
pub(super) const NONE: Slot = Slot::MAX;

/// Transactions and their costs.
#[derive(Clone, Debug)]
pub(super) struct Transactions {
    pub(super) all: Vec<Pending>,
    pub(super) vacant: Vec<Slot>,
    /// Current transaction of each die.
    pub(super) current: Vec<Slot>,
    /// Usage per die and operation mode.
    pub(super) usage: Vec<[Usage; Mode::ALL.len()]>,
    pub(super) strips: Option<Vec<Strip>>,
}

impl Transactions {
    pub(super) fn of(&mut self, die: Die) -> &mut Pending {
        &mut self.all[self.current[die.index()] as usize]
    }
    pub(super) fn keep(
        &mut self,
        die: Die,
        stage: Stage,
        command: Option<u8>,
        from: Time,
        until: Time,
    ) {
        let transaction = self.of(die).number;
        if let Some(strips) = &mut self.strips {
            strips.push(Strip {
                transaction,
                die,
                stage,
                command,
                from,
                until,
            });
        }
    }
    /// Adds a completed transaction to the usage of its die.
    #[inline]
    pub(super) fn close(&mut self, slot: Slot) {
        let pending = &self.all[slot as usize];
        let usage = &mut self.usage[pending.die.index()][pending.mode as usize];
        usage.transactions += 1;
        for (sum, time) in usage.stages.iter_mut().zip(pending.stages) {
            *sum += time;
        }
        let array = [Stage::Ton, Stage::Tin, Stage::Ber];
        for (sum, stage) in usage.planes.iter_mut().zip(array) {
            *sum += pending.stages[stage as usize] * u64::from(pending.planes);
        }
    }
}
