//! Host interfaces, which transfer requests between host and device.
//!
//! An interface fetches the command and the data of a write into the device, and returns the data
//! of a read and the completion. The time of a request from [`Connect::submit`] to
//! [`Act::complete`] is exactly, to the picosecond, the sum of its [`Transfer`] and the time from
//! [`Act::begin`] to [`Connect::finished`].

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

/// Properties of a request that the interface needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Ticket of the request, unique among the outstanding requests.
    pub ticket: Ticket,
    /// Index of the request's stream.
    pub stream: u32,
    /// Whether the data is transferred to the device; otherwise to the host.
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
    /// The host memory has answered the first read request for the data of a write, so that the
    /// data can be sent.
    Answered(Ticket),
    /// The data of a write has arrived in the device.
    Sent(Ticket),
    /// The completion has left the device, after the data of a read.
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
    /// Returns the event with a code that [`Event::code`] returned.
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
    /// Schedules `event` at `at`, which must not be earlier than the current time.
    fn schedule(&mut self, at: Time, event: Event);
    /// Starts a request in the device. Its command, and the data of a write, have arrived.
    fn begin(&mut self, now: Time, ticket: Ticket);
    /// Completes a request at the host.
    fn complete(&mut self, now: Time, ticket: Ticket);
}

/// Time that a request spends between host and device, by component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Time in the submission queue, until the device has a free slot and fetches the command.
    pub slot_wait: Time,
    /// Wait for the link while it carries earlier transfers.
    pub link_wait: Time,
    /// Time on the link, including fixed times such as those of doorbells, fetches and interrupts.
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
    /// Handles an event that the interface has scheduled.
    fn handle(&mut self, now: Time, event: Event, act: &mut impl Act);
    /// Sends the result of a request that the device has served, including the data of a read.
    fn finished(&mut self, now: Time, ticket: Ticket, act: &mut impl Act);
    /// Returns the transfer time of a completed request. The caller must call it once, before it
    /// reuses the ticket.
    fn transfer(&mut self, ticket: Ticket) -> Transfer;
    /// Returns the number of occupied queue slots of the device.
    fn in_flight(&self) -> u32;
}

/// Priority class of a stream's commands. Only `nvme` with weighted arbitration distinguishes
/// classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Served before all other classes as long as it has commands.
    Urgent,
    /// Served by weight (`high_weight`).
    High,
    /// Served by weight (`medium_weight`).
    #[default]
    Medium,
    /// Served by weight (`low_weight`).
    Low,
}

/// A stream of host requests, as configured for the interface.
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
            /// Returns the maximum queue depth, or `None` if the interface does not limit it.
            pub fn most_queue_depth(&self) -> Option<u32> {
                match self { $(Self::$Variant(_) => $file::MAX_QUEUE_DEPTH),+ }
            }
        }

        /// State of an interface, by kind.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        // A device has one interface, so the size of the enum does not matter. A box would add an
        // indirection to every request.
        #[allow(clippy::large_enum_variant)]
        // Reading a separate tag takes fewer instructions than decoding a niche in a field.
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
                    // This function is called at every event. The direct interface is the fastest,
                    // so a dispatch would slow it down most.
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
