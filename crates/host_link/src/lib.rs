//! How requests cross between the host and the device.
//!
//! An interface takes a request from the host, brings the command and the data of a write into the
//! device, and the data of a read and the completion back. Between [`Connect::submit`] and
//! [`Act::complete`] of a request, its [`Transfer`] and the time between [`Act::begin`] and
//! [`Connect::finished`] add up to the picosecond.

pub mod direct;
pub mod link;
pub mod nvme;
mod queues;
pub mod sata;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_kernel::Time;

/// What the interface has to know of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The request. Not in use by another that is not complete.
    pub ticket: Ticket,
    /// The stream of the host it belongs to; below the number of streams.
    pub stream: u32,
    /// Whether data goes to the device; otherwise it goes to the host.
    pub write: bool,
    /// Length of the data.
    pub bytes: u64,
}

/// What an interface schedules for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The device knows that the command waits in its submission queue.
    Rung(Ticket),
    /// The command is in the device.
    Arrived(Ticket),
    /// The host's memory answers: the data of a write can set out.
    Answered(Ticket),
    /// The data of a write is in the device.
    Sent(Ticket),
    /// The completion, and before it the data of a read, has left the device.
    Posted(Ticket),
    /// The host knows that the request is done.
    Done(Ticket),
}

impl Event {
    /// For the digest of a run; below 2^40.
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
    /// The event that has this code.
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

/// What the interface asks of the disk.
pub trait Act {
    /// Hands `event` back at `at`, which is not before the current time.
    fn schedule(&mut self, at: Time, event: Event);
    /// The command, and the data of a write, is in the device: the work of the flash begins.
    fn begin(&mut self, now: Time, ticket: Ticket);
    /// The host knows that the request is done.
    fn complete(&mut self, now: Time, ticket: Ticket);
}

/// Where the time of a request went between the host and the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// In a submission queue, until the device has room for the command and turns to it.
    pub slot_wait: Time,
    /// Until the link carried what others had asked for before.
    pub link_wait: Time,
    /// On the link, and the fixed costs of transfer it.
    pub link: Time,
}

impl Transfer {
    /// All of it.
    pub fn total(self) -> Time {
        self.slot_wait + self.link_wait + self.link
    }
}

/// Connects a host and a device.
pub trait Connect {
    /// Whether the host can hand over another request of `stream`.
    fn takes(&self, stream: u32) -> bool;
    /// The host hands a request over. Only called if the interface takes one of its stream.
    fn submit(&mut self, now: Time, command: Command, act: &mut impl Act);
    /// An event that this interface scheduled is due.
    fn handle(&mut self, now: Time, event: Event, act: &mut impl Act);
    /// The work of the flash on a request is done; the data of a read is in the device's buffer.
    fn finished(&mut self, now: Time, ticket: Ticket, act: &mut impl Act);
    /// Where the time of a complete request went. Asked once, before its ticket is used again.
    fn transfer(&mut self, ticket: Ticket) -> Transfer;
    /// Commands in the device: taken, and their completion not sent.
    fn in_flight(&self) -> u32;
}

/// How urgent the commands of a stream are, where the interface tells streams apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Before all others, for as long as there are any.
    Urgent,
    /// The share of `high_weight`.
    High,
    /// The share of `medium_weight`.
    #[default]
    Medium,
    /// The share of `low_weight`.
    Low,
}

/// A stream of requests of the host, as the interface sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stream {
    /// How urgent its commands are.
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
            /// The most commands that the device can hold, if the interface limits them.
            pub fn most_queue_depth(&self) -> Option<u32> {
                match self { $(Self::$Variant(_) => $file::MAX_QUEUE_DEPTH),+ }
            }
        }

        /// The interface of a device, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        // There is one a disk; a box would cost the path of every request more than its size does.
        #[allow(clippy::large_enum_variant)]
        // A tag of its own takes fewer instructions to read than one that is hidden in a field.
        #[repr(u8)]
        pub enum Connection { $($Variant($file::State)),+ }

        impl Connection {
            /// The state of `policy` before the first request. The device holds up to `queue_depth`
            /// commands of all `streams` together; no streams stand for one by default.
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
                fn takes(&self, stream: u32) -> bool {
                    // Asked at every event, where the interface that takes no time has the largest share.
                    if let Self::Direct(state) = self {
                        return state.takes(stream);
                    }
                    match self { $(Self::$Variant(state) => state.takes(stream)),+ }
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
