//! Callbacks of a channel to its owner.

use crate::Die;
use crate::chain::Step;
use crate::features::Features;
use crate::registers::{ArrayBusy, Confirm};
use crate::transaction::Operation;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Scheduled event of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The bus grant of this channel ends.
    BusDone(u32),
    /// This die ends its busy time.
    Ready(u32),
}

impl Event {
    /// Returns the code of the event, for the digest and for checkpoints.
    #[inline]
    pub const fn code(self) -> u64 {
        match self {
            Self::BusDone(channel) => (channel as u64) << 1,
            Self::Ready(die) => (die as u64) << 1 | 1,
        }
    }
    /// Returns the event with this code.
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

/// Callbacks that report the activity of the channels and schedule their events. The channels store
/// the owner's data of each die (`D`) and of each bus (`B`) next to their own state, and pass it to
/// the callbacks.
pub trait ChannelCallbacks<D, B> {
    /// Die features in use. With [`Basic`](crate::Basic), all chains are single-page or
    /// single-block operations ([`DieAccess::start_single`]). With [`Basic`](crate::Basic) or
    /// [`Uninterrupted`](crate::Uninterrupted), no operation is suspended, and every operation is
    /// allowed ([`ChannelCallbacks::allows`]).
    type Features: Features;
    /// Schedules `event` at `at`.
    fn schedule(&mut self, at: Time, event: Event);
    /// Reports that a die starts to wait for the bus.
    fn waits(&mut self, now: Time, of_bus: &mut B, of_die: &mut D);
    /// Reports that a die, waiting since `since`, gets the bus for `hold`.
    fn granted(
        &mut self,
        now: Time,
        die: Die,
        of_bus: &mut B,
        of_die: &mut D,
        since: Time,
        hold: Time,
    );
    /// Reports the end of a bus grant.
    fn released(&mut self, now: Time, held: BusHold<'_, D, B>, step: &Step);
    /// Returns `true` if the array accepts the operation that the ending grant confirms. Otherwise
    /// the chain ends with a status read.
    fn allows(&mut self, now: Time, die: Die, confirm: Confirm) -> bool;
    /// Reports that the die is busy until `ready` with the work of a step; the array works during
    /// `work`.
    fn busy(
        &mut self,
        now: Time,
        die: Die,
        of_die: &mut D,
        step: &Step,
        work: ArrayBusy,
        ready: Time,
    );
    /// Reports that the array suspends its operation with `remaining` left; it stops after
    /// `latency`.
    fn suspended(
        &mut self,
        now: Time,
        of_die: &mut D,
        confirm: Confirm,
        remaining: Time,
        latency: Time,
    );
    /// Reports that a suspend or resume command has ended.
    fn interrupted(&mut self, now: Time, held: BusHold<'_, D, B>);
}

/// Bus grant that has ended.
#[derive(Debug)]
pub struct BusHold<'a, D, B> {
    /// Channel of the bus.
    pub channel: u32,
    /// Die that held the bus.
    pub die: Die,
    /// Time of the grant.
    pub from: Time,
    /// Owner's data of the die.
    pub of_die: &'a mut D,
    /// Owner's data of the bus.
    pub of_bus: &'a mut B,
}

/// Result of the end of a bus grant. The end of a suspend command requires no action of the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// Die that held the bus.
    pub die: Die,
    /// Rows of the transaction whose completion the grant reports. Count.
    pub rows: u8,
    /// Whether the grant started work in the die.
    pub began: bool,
    /// Whether the chain has ended and the die is free.
    pub ended: bool,
}

/// Result of the end of a busy time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyOutcome {
    /// The die is ready. The array has performed this operation, if any.
    Done(Option<Operation>),
    /// The ready/busy pin has signalled the end of the operation. Equivalent to the end of a bus
    /// grant, without the bus.
    Reported(Released),
    /// The die has suspended its operation. It accepts other chains until the operation is resumed.
    Suspended,
    /// The event is stale: after it was scheduled, the die was suspended or its speculative read
    /// was aborted.
    Stale,
}
