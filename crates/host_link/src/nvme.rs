//! NVM Express over PCI Express.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::queues::{Queues, Weights};
use super::{Act, Class, Command, Connect, Event, Stream, Transfer};
use wordline_block::Ticket;
use wordline_kernel::link::{Link, Rate};

/// NVM Express over PCI Express: one submission and one completion queue per stream, and one link
/// per direction. The host writes a command into its submission queue and rings the doorbell. When
/// the device has a free slot, arbitration picks the queue whose next command is fetched from host
/// memory. The data of a write is then read from host memory. When the device has served the
/// command, the data of a read, the completion and the interrupt are sent. The data of a request is
/// sent in one transfer, first come, first served. All other packets (doorbells, commands, read
/// requests, completions of writes) are interleaved with data packets: they do not wait, but delay
/// later transfers. Simplifications: every command has its own doorbell and its own fetch, and
/// fetches overlap; a queue entry is freed when its command arrives in the device, and a slot is
/// freed when the completion has left the device; completion queues are never full; their
/// doorbells, acknowledgements and flow control take no time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nvme {
    /// Generation of PCI Express, 1 to 5: 2.5, 5, 8, 16 or 32 GT/s per lane, coded 8b/10b in
    /// generations 1 and 2 and 128b/130b from generation 3 on (PCI Express Base Specification 5.0).
    /// The default is assumed.
    #[schemars(range(min = 1, max = 5))]
    pub generation: u32,
    /// Number of lanes of the link; the standard allows 1, 2, 4, 8, 12 and 16. The default is
    /// assumed.
    #[schemars(range(min = 1, max = 16))]
    pub lanes: u32,
    /// Maximum data per packet (Max_Payload_Size). Bytes. The default is assumed.
    #[schemars(range(min = 128, max = 4096))]
    pub payload_bytes: u32,
    /// Maximum data per read request of the device (Max_Read_Request_Size). Bytes. The default is
    /// the initial value of the register in the standard.
    #[schemars(range(min = 128, max = 4096))]
    pub read_request_bytes: u32,
    /// Overhead of a packet: 4 for framing and sequence number, 16 for a header of four double
    /// words, 4 for the checksum (PCI Express Base Specification 5.0). Bytes.
    #[schemars(range(min = 0, max = 64))]
    pub header_bytes: u32,
    /// Number of entries of a submission queue, one of which stays empty (NVM Express 1.3, section
    /// 4.1). The default is assumed.
    #[schemars(range(min = 2, max = 65_536))]
    pub queue_entries: u32,
    /// Arbitration between the submission queues. `round-robin`: all queues take turns, regardless
    /// of class. `weighted-round-robin`: urgent queues first, then rounds in which up to as many
    /// commands of each class are fetched as its weight.
    pub arbitration: Arbitration,
    /// Maximum number of commands fetched in a row from one queue before the next queue has its
    /// turn (Arbitration Burst); the standard allows powers of 2 up to 64, and no limit. The
    /// default is assumed.
    #[schemars(range(min = 1, max = 65_536))]
    pub burst: u32,
    /// Maximum number of commands of class `high` per round of weighted arbitration. The default is
    /// assumed.
    #[schemars(range(min = 1, max = 256))]
    pub high_weight: u32,
    /// Maximum number of commands of class `medium` per round of weighted arbitration. The default
    /// is assumed.
    #[schemars(range(min = 1, max = 256))]
    pub medium_weight: u32,
    /// Maximum number of commands of class `low` per round of weighted arbitration. The default is
    /// assumed.
    #[schemars(range(min = 1, max = 256))]
    pub low_weight: u32,
    /// Time from the host's write of the doorbell until the device sees it, in addition to its
    /// packet on the link. Nanoseconds. The default is assumed.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub doorbell_ns: u64,
    /// Time from a read request of the device until host memory answers, in addition to the packets
    /// on the link. Applies once per command, and once more to the data of a write. Nanoseconds.
    /// The default is assumed; it is of the order that Neugebauer et al. measured for 64 bytes
    /// (Understanding PCIe performance for end host networking, SIGCOMM 2018).
    #[schemars(range(min = 0, max = 1_000_000))]
    pub fetch_ns: u64,
    /// Time from the arrival of the completion until the host has handled it: interrupt and
    /// handler. 0 models a host that polls without delay. Nanoseconds. The default is assumed.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub interrupt_ns: u64,
}

/// Arbitration between the submission queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Round robin over all queues, regardless of class.
    #[default]
    RoundRobin,
    /// Urgent queues first: no other queue is served while they have commands. The other classes
    /// are served in rounds. In each round, up to as many commands of a class are fetched as its
    /// weight. Queues of the same class take turns.
    WeightedRoundRobin,
}

impl Default for Nvme {
    fn default() -> Self {
        Self {
            generation: 3,
            lanes: 4,
            payload_bytes: 256,
            read_request_bytes: 512,
            header_bytes: 24,
            queue_entries: 1024,
            arbitration: Arbitration::default(),
            burst: 1,
            high_weight: 4,
            medium_weight: 2,
            low_weight: 1,
            doorbell_ns: 200,
            fetch_ns: 500,
            interrupt_ns: 1_000,
        }
    }
}

impl Nvme {
    /// Returns the rate of one direction. On a lane of generation 1, a byte takes 4000 ps; in
    /// generation 2, half of that. In generation 3, it takes 8 / 8 GT/s * 130 / 128 = 1015.625 ps,
    /// which is 32500 / 32. Each later generation halves the time again.
    fn rate(&self) -> Rate {
        let ps = match self.generation {
            ..=1 => 128_000,
            2 => 64_000,
            3 => 32_500,
            4 => 16_250,
            5.. => 8_125,
        };
        let bytes = 32 * u64::from(self.lanes.max(1));
        Rate { ps, bytes }
    }
    fn weights(&self) -> Option<Weights> {
        (self.arbitration == Arbitration::WeightedRoundRobin).then_some(Weights {
            high: self.high_weight,
            medium: self.medium_weight,
            low: self.low_weight,
        })
    }
}

impl Cited for Nvme {
    const PAPER: &'static str =
        "NVM Express, Revision 1.3, 2017: sections 4.1 (queues) and 4.11 (command arbitration)";
}

pub(super) const MAX_QUEUE_DEPTH: Option<u32> = None;

/// Payload lengths of the packets that carry no request data. Bytes.
mod bytes {
    pub const DOORBELL: u64 = 4;
    pub const SUBMISSION_ENTRY: u64 = 64;
    pub const COMPLETION_ENTRY: u64 = 16;
    /// A message-signalled interrupt writes one double word.
    pub const INTERRUPT: u64 = 4;
}

/// Payload and header lengths of packets. Bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Packets {
    payload: u64,
    read_request: u64,
    header: u64,
}

impl Packets {
    /// Returns the number of bytes on the link that carry `payload` bytes.
    fn around(self, payload: u64) -> u64 {
        payload + payload.div_ceil(self.payload) * self.header
    }
    /// Returns the number of bytes on the link that request `bytes` from host memory.
    fn requests(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.read_request) * self.header
    }
    /// Returns the number of bytes on the link for a completion entry and its interrupt.
    fn completion(self) -> u64 {
        self.around(bytes::COMPLETION_ENTRY) + self.around(bytes::INTERRUPT)
    }
}

/// A request between host and device, and its transfer time so far.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Passage {
    command: Command,
    /// Time at which the device saw the doorbell. From then on, the command waits for a slot.
    since: Time,
    transfer: Transfer,
}

/// Both links, the queues, and the requests by ticket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    to_device: Link,
    to_host: Link,
    packets: Packets,
    doorbell: Time,
    fetch: Time,
    interrupt: Time,
    queue_depth: u32,
    in_flight: u32,
    /// Capacity of a submission queue, and the number of occupied entries by stream.
    room: u32,
    taken: Vec<u32>,
    queues: Queues,
    passages: Vec<Passage>,
}

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &Nvme, queue_depth: u32, streams: &[Stream]) -> Self {
        let mut classes: Vec<Class> = streams.iter().map(|stream| stream.class).collect();
        if classes.is_empty() {
            classes.push(Class::default());
        }
        let rate = policy.rate();
        Self {
            to_device: Link::new(rate),
            to_host: Link::new(rate),
            packets: Packets {
                payload: u64::from(policy.payload_bytes.max(1)),
                read_request: u64::from(policy.read_request_bytes.max(1)),
                header: u64::from(policy.header_bytes),
            },
            doorbell: Time::from_ns(policy.doorbell_ns),
            fetch: Time::from_ns(policy.fetch_ns),
            interrupt: Time::from_ns(policy.interrupt_ns),
            queue_depth,
            in_flight: 0,
            room: policy.queue_entries.saturating_sub(1).max(1),
            taken: vec![0; classes.len()],
            queues: Queues::new(&classes, policy.weights(), policy.burst),
            passages: Vec::new(),
        }
    }
    #[inline]
    fn passage(&mut self, ticket: Ticket) -> &mut Passage {
        &mut self.passages[ticket as usize]
    }
    /// Interleaves a short packet on the link to the device; returns its time on the link.
    fn slip_down(&mut self, now: Time, bytes: u64) -> Time {
        let length = self.to_device.time(bytes);
        self.to_device.interleave(now, length);
        length
    }
    /// Interleaves a short packet on the link to the host; returns its time on the link.
    fn slip_up(&mut self, now: Time, bytes: u64) -> Time {
        let length = self.to_host.time(bytes);
        self.to_host.interleave(now, length);
        length
    }
    /// Charges `length` on the link to a request, and schedules `event` after it, without a wait.
    fn cross(&mut self, now: Time, length: Time, ticket: Ticket, event: Event, act: &mut impl Act) {
        self.passage(ticket).transfer.link += length;
        act.schedule(now + length, event);
    }
    /// Adds a transfer of `length`, and the wait for the link before it, to the time of a request.
    fn carried(&mut self, ticket: Ticket, wait: Time, length: Time) {
        let transfer = &mut self.passage(ticket).transfer;
        transfer.link_wait += wait;
        transfer.link += length;
    }
    /// Fetches commands while the device has free slots.
    fn fetch(&mut self, now: Time, act: &mut impl Act) {
        while self.in_flight < self.queue_depth
            && let Some(ticket) = self.queues.pop()
        {
            self.in_flight += 1;
            let passage = self.passage(ticket);
            passage.transfer.slot_wait = now - passage.since;
            let request = self.slip_up(now, self.packets.requests(bytes::SUBMISSION_ENTRY));
            let answer = self.slip_down(now, self.packets.around(bytes::SUBMISSION_ENTRY));
            let length = request + self.fetch + answer;
            self.cross(now, length, ticket, Event::Arrived(ticket), act);
        }
    }
    /// Handles the arrival of a command in the device: starts a read, or requests the data of a
    /// write.
    fn arrived(&mut self, now: Time, ticket: Ticket, act: &mut impl Act) {
        let Command { stream, write, .. } = self.passage(ticket).command;
        self.taken[stream as usize] -= 1;
        if !write {
            act.begin(now, ticket);
            return;
        }
        // The data is sent once the first read request has been answered.
        let length = self.slip_up(now, self.packets.header) + self.fetch;
        self.cross(now, length, ticket, Event::Answered(ticket), act);
    }
    /// Sends the data of a write.
    fn answered(&mut self, now: Time, ticket: Ticket, act: &mut impl Act) {
        let bytes = self.passage(ticket).command.bytes;
        let length = self.to_device.time(self.packets.around(bytes));
        let wait = self.to_device.reserve(now, length);
        self.carried(ticket, wait, length);
        act.schedule(now + wait + length, Event::Sent(ticket));
    }
    /// Starts a write whose data has arrived in the device.
    fn sent(&mut self, now: Time, ticket: Ticket, act: &mut impl Act) {
        // The read requests after the first overlap with the data. They are charged here rather
        // than before the data, so that the requests of many writes do not delay a read.
        let requests = self.packets.requests(self.passage(ticket).command.bytes);
        self.slip_up(now, requests.saturating_sub(self.packets.header));
        act.begin(now, ticket);
    }
    /// Frees the slot of a command whose completion has left the device, and fetches waiting
    /// commands.
    fn posted(&mut self, now: Time, ticket: Ticket, act: &mut impl Act) {
        self.in_flight -= 1;
        self.cross(now, self.interrupt, ticket, Event::Done(ticket), act);
        self.fetch(now, act);
    }
}

impl Connect for State {
    #[inline]
    fn can_accept(&self, stream: u32) -> bool {
        self.taken[stream as usize] < self.room
    }
    fn submit(&mut self, now: Time, command: Command, act: &mut impl Act) {
        let passage = Passage {
            command,
            since: now,
            transfer: Transfer::default(),
        };
        let ticket = command.ticket;
        if self.passages.len() <= ticket as usize {
            self.passages.resize(ticket as usize + 1, passage);
        }
        *self.passage(ticket) = passage;
        self.taken[command.stream as usize] += 1;
        let packet = self.slip_down(now, self.packets.around(bytes::DOORBELL));
        self.cross(
            now,
            packet + self.doorbell,
            ticket,
            Event::Rung(ticket),
            act,
        );
    }
    fn handle(&mut self, now: Time, event: Event, act: &mut impl Act) {
        match event {
            Event::Rung(ticket) => {
                let passage = self.passage(ticket);
                passage.since = now;
                let stream = passage.command.stream;
                self.queues.push(stream, ticket);
                self.fetch(now, act);
            }
            Event::Arrived(ticket) => self.arrived(now, ticket, act),
            Event::Answered(ticket) => self.answered(now, ticket, act),
            Event::Sent(ticket) => self.sent(now, ticket, act),
            Event::Posted(ticket) => self.posted(now, ticket, act),
            Event::Done(ticket) => act.complete(now, ticket),
        }
    }
    fn finished(&mut self, now: Time, ticket: Ticket, act: &mut impl Act) {
        let Command { write, bytes, .. } = self.passage(ticket).command;
        let completion = self.packets.completion();
        if write {
            let length = self.slip_up(now, completion);
            self.cross(now, length, ticket, Event::Posted(ticket), act);
            return;
        }
        let length = self.to_host.time(self.packets.around(bytes) + completion);
        let wait = self.to_host.reserve(now, length);
        self.carried(ticket, wait, length);
        act.schedule(now + wait + length, Event::Posted(ticket));
    }
    #[inline]
    fn transfer(&mut self, ticket: Ticket) -> Transfer {
        self.passage(ticket).transfer
    }
    #[inline]
    fn in_flight(&self) -> u32 {
        self.in_flight
    }
}
