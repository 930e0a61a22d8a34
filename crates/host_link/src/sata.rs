//! Serial ATA with native command queueing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{Act, Command, Connect, Event, Stream, Transfer};
use wordline_block::Ticket;
use wordline_kernel::link::{Link, Rate};

/// Serial ATA with native command queueing (NCQ): up to 32 commands in the device, and one link for
/// both directions. Every request first uses the link for its command (Register to the device,
/// Register to the host to release the link). A write then uses the link for its data (DMA Setup,
/// then DMA Activate and Data per 8192 bytes). When the device has served the request, a read uses
/// the link for its data (DMA Setup, then Data per 8192 bytes) and Set Device Bits together, a
/// write for Set Device Bits alone. Each step is one uninterrupted transfer, first come, first
/// served. Simplifications: the first data frame is activated like the others; the host does not
/// yield to the device; the device handles a command on arrival and fetches the data of writes in
/// command order; completions are not combined into one frame; interrupts take no time. All streams
/// share the tags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sata {
    /// Line rate; the standard defines 1.5, 3 and 6. A byte is coded in ten bits (8b/10b), so 6
    /// Gbit/s are 600 MB/s. Gbit/s.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub gigabits_per_s: f64,
    /// Overhead of a frame, in addition to its bytes, during which the link is blocked: handshakes
    /// before and after it, and turnaround. Nanoseconds. The default is assumed.
    #[schemars(range(min = 0, max = 100_000))]
    pub frame_overhead_ns: u64,
}

impl Default for Sata {
    fn default() -> Self {
        Self {
            gigabits_per_s: 6.0,
            frame_overhead_ns: 500,
        }
    }
}

impl Cited for Sata {
    const PAPER: &'static str = "Serial ATA International Organization, Serial ATA Revision 3.0, 2009: frame layouts of the transport layer, FPDMA queued commands";
}

/// Maximum number of commands in the device: a tag has 5 bits.
pub(super) const MAX_QUEUE_DEPTH: Option<u32> = Some(TAGS);
const TAGS: u32 = 32;

/// Sizes of frame information structures. Bytes.
mod bytes {
    pub const REGISTER_TO_DEVICE: u64 = 20;
    pub const REGISTER_TO_HOST: u64 = 20;
    pub const DMA_SETUP: u64 = 28;
    pub const DMA_ACTIVATE: u64 = 4;
    pub const DATA_HEADER: u64 = 4;
    pub const DATA_PAYLOAD: u64 = 8192;
    pub const SET_DEVICE_BITS: u64 = 8;
    /// Start-of-frame marker, checksum and end-of-frame marker of a frame.
    pub const AROUND: u64 = 12;
}

/// Number of frames, and the number of bytes in them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frames {
    count: u64,
    bytes: u64,
}

impl Frames {
    const COMMAND: Self = Self {
        count: 2,
        bytes: bytes::REGISTER_TO_DEVICE + bytes::REGISTER_TO_HOST,
    };
    const DONE: Self = Self {
        count: 1,
        bytes: bytes::SET_DEVICE_BITS,
    };

    /// Returns the frames that carry the data of a write.
    fn written(payload: u64) -> Self {
        let frames = payload.div_ceil(bytes::DATA_PAYLOAD);
        Self {
            count: 1 + 2 * frames,
            bytes: bytes::DMA_SETUP + frames * (bytes::DMA_ACTIVATE + bytes::DATA_HEADER) + payload,
        }
    }
    /// Returns the frames that carry the data and the completion of a read.
    fn read(payload: u64) -> Self {
        let frames = payload.div_ceil(bytes::DATA_PAYLOAD);
        Self {
            count: 1 + frames + Self::DONE.count,
            bytes: bytes::DMA_SETUP + frames * bytes::DATA_HEADER + payload + Self::DONE.bytes,
        }
    }
}

/// A request between host and device, and its transfer time so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Passage {
    write: bool,
    bytes: u64,
    transfer: Transfer,
}

/// The link, the number of tags, and the requests by ticket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    link: Link,
    frame_overhead: Time,
    tags: u32,
    in_flight: u32,
    passages: Vec<Passage>,
}

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &Sata, queue_depth: u32, _streams: &[Stream]) -> Self {
        // A byte is coded in ten bits: gigabits per second times 1e5 are kilobytes per second.
        let rate = Rate {
            ps: 1_000_000_000,
            bytes: ((policy.gigabits_per_s * 1e5).round() as u64).max(1),
        };
        Self {
            link: Link::new(rate),
            frame_overhead: Time::from_ns(policy.frame_overhead_ns),
            tags: queue_depth.min(TAGS),
            in_flight: 0,
            passages: Vec::new(),
        }
    }
    /// Sends `frames` for a request, and schedules `event` for their arrival.
    #[inline]
    fn send(
        &mut self,
        now: Time,
        frames: Frames,
        ticket: Ticket,
        event: Event,
        act: &mut impl Act,
    ) {
        let bytes = frames.bytes + frames.count * bytes::AROUND;
        let length = self.link.time(bytes) + self.frame_overhead * frames.count;
        let wait = self.link.reserve(now, length);
        let transfer = &mut self.passages[ticket as usize].transfer;
        transfer.link_wait += wait;
        transfer.link += length;
        act.schedule(now + wait + length, event);
    }
}

impl Connect for State {
    #[inline]
    fn can_accept(&self, _stream: u32) -> bool {
        self.in_flight < self.tags
    }
    fn submit(&mut self, now: Time, command: Command, act: &mut impl Act) {
        let Command {
            ticket,
            write,
            bytes,
            ..
        } = command;
        self.in_flight += 1;
        let place = ticket as usize;
        if self.passages.len() <= place {
            self.passages.resize(place + 1, Passage::default());
        }
        self.passages[place] = Passage {
            write,
            bytes,
            transfer: Transfer::default(),
        };
        self.send(now, Frames::COMMAND, ticket, Event::Arrived(ticket), act);
    }
    fn handle(&mut self, now: Time, event: Event, act: &mut impl Act) {
        match event {
            Event::Arrived(ticket) => {
                let Passage { write, bytes, .. } = self.passages[ticket as usize];
                if write {
                    self.send(
                        now,
                        Frames::written(bytes),
                        ticket,
                        Event::Sent(ticket),
                        act,
                    );
                } else {
                    act.begin(now, ticket);
                }
            }
            Event::Sent(ticket) => act.begin(now, ticket),
            Event::Done(ticket) => {
                self.in_flight -= 1;
                act.complete(now, ticket);
            }
            Event::Rung(_) | Event::Answered(_) | Event::Posted(_) => {}
        }
    }
    fn finished(&mut self, now: Time, ticket: Ticket, act: &mut impl Act) {
        let Passage { write, bytes, .. } = self.passages[ticket as usize];
        let frames = if write {
            Frames::DONE
        } else {
            Frames::read(bytes)
        };
        self.send(now, frames, ticket, Event::Done(ticket), act);
    }
    #[inline]
    fn transfer(&mut self, ticket: Ticket) -> Transfer {
        self.passages[ticket as usize].transfer
    }
    #[inline]
    fn in_flight(&self) -> u32 {
        self.in_flight
    }
}
