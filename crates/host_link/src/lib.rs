//! Host interfaces: how requests cross between host and device.
//!
//! An interface fetches the command and the data of a write into the device, and returns the data
//! of a read and the completion. Between [`Connect::submit`] and [`Act::complete`] of a request,
//! its [`Transfer`] and the time from [`Act::begin`] to [`Connect::finished`] add up exactly, in
//! picoseconds.

pub mod config;
pub mod direct;
pub mod link;
pub mod nvme;
mod queues;
pub mod sata;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_kernel::Time;

/// A request, as the interface needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Ticket of the request. No other outstanding request has it.
    pub ticket: Ticket,
    /// Stream of the request; below the number of streams.
    pub stream: u32,
    /// Whether data goes to the device; otherwise it goes to the host.
    pub write: bool,
    /// Length of the data. Bytes.
    pub bytes: u64,
}

/// Event that an interface schedules for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The device has seen the doorbell of the command in its submission queue.
    Rung(Ticket),
    /// The command has arrived in the device.
    Arrived(Ticket),
    /// The host memory has answered the first read request for the data of a write, so the data can
    /// be sent.
    Answered(Ticket),
    /// The data of a write has arrived in the device.
    Sent(Ticket),
    /// The completion, and before it the data of a read, has left the device.
    Posted(Ticket),
    /// The host has seen the completion.
    Done(Ticket),
}

impl Event {
    /// Returns the code of the event for the digest of a run; below 2^40.
    #[inline]
    pub fn code(self) -> u64 {
        let (kind, ticket) = match self {
            Self::Rung(ticket) => (0, ticket),
            Self::Arrived(ticket) => (1, ticket),
            Self::Answered(ticket) => (2, ticket),
            Self::Sent(ticket) => (3, ticket),
            Self::Posted(ticket) => (4, ticket),
            Self::Done(ticket) => (5, ticket),
        };
        kind << 32 | u64::from(ticket)
    }
    /// Returns the event with this code.
    #[inline]
    pub fn of(code: u64) -> Self {
        let ticket = code as Ticket;
        match code >> 32 {
            0 => Self::Rung(ticket),
            1 => Self::Arrived(ticket),
            2 => Self::Answered(ticket),
            3 => Self::Sent(ticket),
            4 => Self::Posted(ticket),
            _ => Self::Done(ticket),
        }
    }
}

/// Services of the device that an interface uses.
pub trait Act {
    /// Schedules `event` at `at`, which must not be before the current time.
    fn schedule(&mut self, at: Time, event: Event);
    /// Starts a request in the device: the command, and the data of a write, have arrived.
    fn begin(&mut self, now: Time, ticket: Ticket);
    /// Completes a request at the host.
    fn complete(&mut self, now: Time, ticket: Ticket);
}

/// Time of a request between host and device, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Time in the submission queue, until the device has a free slot and fetches the command.
    pub slot_wait: Time,
    /// Wait for the link while it carries earlier transfers.
    pub link_wait: Time,
    /// Time on the link, including the fixed costs of transfers.
    pub link: Time,
}

impl Transfer {
    /// Returns the sum of all components.
    pub fn total(self) -> Time {
        self.slot_wait + self.link_wait + self.link
    }
}

/// Interface between a host and a device.
pub trait Connect {
    /// Returns `true` if the interface can accept another request of `stream`.
    fn can_accept(&self, stream: u32) -> bool;
    /// Accepts a request of the host. The caller must check [`Connect::can_accept`] first.
    fn submit(&mut self, now: Time, command: Command, act: &mut impl Act);
    /// Handles an event that this interface scheduled.
    fn handle(&mut self, now: Time, event: Event, act: &mut impl Act);
    /// Sends the result of a request that the device has served. The data of a read is in the
    /// device's buffer.
    fn finished(&mut self, now: Time, ticket: Ticket, act: &mut impl Act);
    /// Returns where a complete request spent its time. Called once, before its ticket is used
    /// again.
    fn transfer(&mut self, ticket: Ticket) -> Transfer;
    /// Returns the number of commands in the device: fetched, and their completion not yet sent.
    fn in_flight(&self) -> u32;
}

/// Priority class of a stream's commands, if the interface distinguishes streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Served before all other classes as long as it has commands.
    Urgent,
    /// Share by `high_weight`.
    High,
    /// Share by `medium_weight`.
    #[default]
    Medium,
    /// Share by `low_weight`.
    Low,
}

/// A stream of host requests, as the interface sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stream {
    /// Priority class of the stream's commands.
    pub class: Class,
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How do requests and their data move between host and device?
            pub enum Interface at "host.interface" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Interface {
            /// Returns the most commands that the device can hold, if the interface limits them.
            pub fn most_queue_depth(&self) -> Option<u32> {
                match self { $(Self::$Variant(_) => $file::MAX_QUEUE_DEPTH),+ }
            }
        }

        /// Interface of a device, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        // A device has one interface, so its size does not matter; a box would add an indirection
        // to every request.
        #[allow(clippy::large_enum_variant)]
        // A separate tag takes fewer instructions to read than one in a niche of a field.
        #[repr(u8)]
        pub enum Connection { $($Variant($file::State)),+ }

        impl Connection {
            /// Creates the state of `policy` before the first request. The device holds up to
            /// `queue_depth` commands of all `streams` together. An empty list stands for one
            /// default stream.
            pub fn new(policy: &Interface, queue_depth: u32, streams: &[Stream]) -> Self {
                match policy {
                    $(Interface::$Variant(policy) => {
                        Self::$Variant($file::State::new(policy, queue_depth, streams))
                    }),+
                }
            }
        }

        wordline_kernel::forward! {
            impl Connect for Connection by [$($Variant),+] {
                #[inline]
                fn can_accept(&self, stream: u32) -> bool {
                    // Called at every event. The dispatch would cost most with the direct
                    // interface, which takes the least time itself.
                    if let Self::Direct(state) = self {
                        return state.can_accept(stream);
                    }
                    match self { $(Self::$Variant(state) => state.can_accept(stream)),+ }
                }
                #[inline]
                fn submit(&mut self, now: Time, command: Command, act: &mut impl Act);
                #[inline]
                fn handle(&mut self, now: Time, event: Event, act: &mut impl Act);
                #[inline(always)]
                fn finished(&mut self, now: Time, ticket: Ticket, act: &mut impl Act);
                #[inline]
                fn transfer(&mut self, ticket: Ticket) -> Transfer;
                #[inline]
                fn in_flight(&self) -> u32;
            }
        }
    };
}

members! {
    "direct" => Direct(direct),
    "link" => Link(link),
    "sata" => Sata(sata),
    "nvme" => Nvme(nvme),
}

impl Default for Interface {
    fn default() -> Self {
        Self::Direct(direct::Direct::default())
    }
}
