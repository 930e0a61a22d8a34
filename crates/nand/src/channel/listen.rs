//! What an owner hears of its channels.

use crate::Die;
use crate::chain::Step;
use crate::features::Features;
use crate::registers::{ArrayBusy, Confirm};
use crate::transaction::Operation;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Something that will happen on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A hold of this channel's bus ends.
    BusDone(u32),
    /// This die is ready for its next hold.
    Ready(u32),
}

impl Event {
    /// For the digest of a run.
    #[inline]
    pub const fn code(self) -> u64 {
        match self {
            Self::BusDone(channel) => (channel as u64) << 1,
            Self::Ready(die) => (die as u64) << 1 | 1,
        }
    }
    /// The event that has this code.
    #[inline]
    pub const fn of(code: u64) -> Self {
        let number = (code >> 1) as u32;
        if code & 1 == 0 {
            Self::BusDone(number)
        } else {
            Self::Ready(number)
        }
    }
}

/// Hears what the channels do, and keeps their events. What it has to know of a die or a bus lies with
/// the channels, beside what they know themselves, and is handed to it: a `D` of each die, a `B` of each bus.
pub trait ChannelCallbacks<D, B> {
    /// What is asked of the dies. With [`Basic`](crate::Basic), all chains are those of one page or block
    /// ([`DieAccess::start_single`]), none is suspended, and everything is allowed ([`ChannelCallbacks::allows`]).
    type Features: Features;
    /// Hands `event` back at `at`.
    fn schedule(&mut self, at: Time, event: Event);
    /// A die starts to wait for the bus.
    fn waits(&mut self, now: Time, of_bus: &mut B, of_die: &mut D);
    /// A die that has asked since `since` gets the bus for `hold`.
    fn granted(
        &mut self,
        now: Time,
        die: Die,
        of_bus: &mut B,
        of_die: &mut D,
        since: Time,
        hold: Time,
    );
    /// The hold is over.
    fn released(&mut self, now: Time, held: BusHold<'_, D, B>, step: &Step);
    /// Whether the array may do what the hold that ends now asks of it. If not, the chain ends with
    /// a status read.
    fn allows(&mut self, now: Time, die: Die, confirm: Confirm) -> bool;
    /// The die is busy until `ready` with what a step has set going, its array in `work`.
    fn busy(
        &mut self,
        now: Time,
        die: Die,
        of_die: &mut D,
        step: &Step,
        work: ArrayBusy,
        ready: Time,
    );
    /// The array suspends its work with `remaining` to do; it stops after `latency`.
    fn suspended(
        &mut self,
        now: Time,
        of_die: &mut D,
        confirm: Confirm,
        remaining: Time,
        latency: Time,
    );
    /// A command that suspends or resumes an operation is through.
    fn interrupted(&mut self, now: Time, held: BusHold<'_, D, B>);
}

/// A hold of a bus that is over.
#[derive(Debug)]
pub struct BusHold<'a, D, B> {
    /// The channel.
    pub channel: u32,
    /// Who held the bus.
    pub die: Die,
    /// When it was granted.
    pub from: Time,
    /// What the owner keeps of the die.
    pub of_die: &'a mut D,
    /// What the owner keeps of the bus.
    pub of_bus: &'a mut B,
}

/// What the end of a hold means to the owner. If it was a suspend command: nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// The die.
    pub die: Die,
    /// Rows that are done and reported.
    pub rows: u8,
    /// Whether the hold has set something going.
    pub began: bool,
    /// Whether the chain is over: the die is free.
    pub ended: bool,
}

/// What the end of a busy time means to the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyOutcome {
    /// The die is ready; the array had this to do, if anything.
    Done(Option<Operation>),
    /// The pin of the die has told that its operation is over: the same as the end of a hold, without the bus.
    Reported(Released),
    /// The die has suspended its operation: it takes other chains until it is resumed.
    Suspended,
    /// The die was suspended meanwhile; the event means nothing.
    Stale,
}
