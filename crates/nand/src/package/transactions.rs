//! The transactions of a package, and what they cost.

use wordline_kernel::Time;

use super::outcome::{Strip, Usage};
use crate::array::Violation;
use crate::chain::Stage;
use crate::registers::Confirm;
use crate::transaction::{Mode, Operation, Transaction};
use crate::{Die, Ppn};

/// A transaction that is not over.
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
    /// Rows whose array work has begun.
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
    /// The pages that the array works on next.
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

/// A place among the transactions.
pub(super) type Slot = u32;
pub(super) const NONE: Slot = Slot::MAX;

/// The transactions, and what they have cost.
#[derive(Clone, Debug)]
pub(super) struct Transactions {
    pub(super) all: Vec<Pending>,
    pub(super) vacant: Vec<Slot>,
    /// By die: what it is at.
    pub(super) current: Vec<Slot>,
    /// By die and mode.
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
    /// Books a transaction that is over.
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
