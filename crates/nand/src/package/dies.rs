//! Dies of a package behind their channel: array state and current transactions.

use wordline_kernel::{EventHeap, Time};

use super::transactions::Transactions;
use crate::array::{Array, Violation};
use crate::chain::{Chains, Stage, Step};
use crate::channel::{BusHold, ChannelCallbacks, Event};
use crate::command::Command;
use crate::features::Full;
use crate::registers::{ArrayBusy, Confirm};
use crate::{Die, Layout};

/// State behind the channel, and the callbacks of the channel.
#[derive(Clone, Debug)]
pub(super) struct Dies {
    pub(super) layout: Layout,
    pub(super) queue: EventHeap<Event>,
    pub(super) array: Array,
    pub(super) chains: Chains,
    pub(super) transactions: Transactions,
}

impl Dies {
    /// Performs the operation of `confirm` on the array: on all planes or on none.
    fn touch(&mut self, die: Die, confirm: Confirm) -> Result<(), Violation> {
        let slot = self.transactions.current[die.index()];
        let pending = &self.transactions.all[slot as usize];
        let row = pending.row(confirm);
        match Stage::of_array(confirm) {
            Some(Stage::Ton) => row.iter().try_for_each(|page| self.array.read(*page)),
            Some(Stage::Tin) => {
                row.iter()
                    .try_for_each(|page| self.array.may_program(*page))?;
                row.iter().try_for_each(|page| self.array.program(*page))
            }
            Some(Stage::Ber) => {
                let layout = self.layout;
                let mut blocks = row.iter().map(|page| layout.block_of(*page));
                blocks
                    .clone()
                    .try_for_each(|block| self.array.may_erase(block))?;
                blocks.try_for_each(|block| self.array.erase(block))
            }
            _ => Ok(()),
        }
    }
}

impl ChannelCallbacks<(), ()> for Dies {
    type Features = Full;
    #[inline]
    fn schedule(&mut self, at: Time, event: Event) {
        self.queue.schedule(at, event);
    }
    #[inline]
    fn waits(&mut self, _: Time, (): &mut (), (): &mut ()) {}
    #[inline]
    fn granted(&mut self, now: Time, die: Die, (): &mut (), (): &mut (), since: Time, _: Time) {
        self.transactions.of(die).bus_wait += now - since;
    }
    #[inline]
    fn released(&mut self, _now: Time, held: BusHold<'_, (), ()>, step: &Step) {
        let BusHold { die, from, .. } = held;
        let Self {
            chains,
            transactions,
            ..
        } = self;
        let times = chains.stage_times(&step.hold);
        for (sum, time) in transactions.of(die).stages.iter_mut().zip(times) {
            *sum += time;
        }
        if transactions.strips.is_some() {
            let mut at = from;
            chains.stages(&step.hold, |stage, command, time| {
                let code = command.map(Command::code);
                transactions.keep(die, stage, code, at, at + time);
                at += time;
            });
        }
    }
    fn allows(&mut self, _now: Time, die: Die, confirm: Confirm) -> bool {
        if Stage::of_array(confirm).is_none() {
            return true;
        }
        match self.touch(die, confirm) {
            Ok(()) => true,
            Err(violation) => {
                self.transactions.of(die).violation = Some(violation);
                false
            }
        }
    }
    #[inline]
    fn busy(&mut self, _: Time, die: Die, (): &mut (), step: &Step, work: ArrayBusy, _: Time) {
        let Some(stage) = step.confirm.and_then(Stage::of_array) else {
            return;
        };
        let pending = self.transactions.of(die);
        pending.begun += 1;
        pending.stages[stage as usize] += work.time();
        if self.transactions.strips.is_some() {
            self.transactions
                .keep(die, stage, None, work.from, work.until);
        }
    }
    fn suspended(&mut self, _: Time, (): &mut (), _: Confirm, _: Time, _: Time) {}
    fn interrupted(&mut self, _: Time, _: BusHold<'_, (), ()>) {}
}
