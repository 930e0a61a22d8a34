//! Interfaces take the time of the frames and packets that their standards define, and serve
//! requests in the right order.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::VecDeque;

use wordline_block::Ticket;
use wordline_host_link::link::Link;
use wordline_host_link::nvme::{Arbitration, Nvme};
use wordline_host_link::sata::Sata;
use wordline_host_link::{
    Act, Class, Command, Connect, Connection, Event, Interface, Stream, Transfer, direct,
};
use wordline_kernel::{EventQueue, Rng as Random, Time};

const KIB: u64 = 1024;

/// A host request and the time at which the host issues it.
#[derive(Clone, Copy)]
struct Wish {
    at: Time,
    stream: u32,
    write: bool,
    bytes: u64,
}

fn read(bytes: u64) -> Wish {
    Wish {
        at: Time::ZERO,
        stream: 0,
        write: false,
        bytes,
    }
}

fn write(bytes: u64) -> Wish {
    Wish {
        write: true,
        ..read(bytes)
    }
}

/// Times of a request's life cycle.
#[derive(Clone, Copy, Default)]
struct Life {
    submitted: Time,
    began: Time,
    finished: Time,
    completed: Time,
    transfer: Transfer,
}

#[derive(Clone, Copy)]
enum Happening {
    Wished(usize),
    Host(Event),
    Finished(Ticket),
}

impl Default for Happening {
    fn default() -> Self {
        Self::Wished(0)
    }
}

/// Device model behind the interface, with a service time per request.
struct Disk<S> {
    queue: EventQueue<Happening>,
    service: S,
    began: Vec<(Time, Ticket)>,
    completed: Vec<Ticket>,
}

impl<S: FnMut() -> Time> Act for Disk<S> {
    fn schedule(&mut self, at: Time, event: Event) {
        self.queue.schedule(at, Happening::Host(event));
    }
    fn begin(&mut self, now: Time, ticket: Ticket) {
        self.began.push((now, ticket));
        let done = now + (self.service)();
        self.queue.schedule(done, Happening::Finished(ticket));
    }
    fn complete(&mut self, _now: Time, ticket: Ticket) {
        self.completed.push(ticket);
    }
}

/// Times of all requests in the order of their arrival at the host, and the order in which the
/// device started them.
struct Run {
    lives: Vec<Life>,
    order: Vec<usize>,
    most_in_flight: u32,
}

impl Run {
    fn last(&self) -> Time {
        self.lives.iter().map(|life| life.completed).max().unwrap()
    }
}

/// Runs a host that submits the requests of each stream in order, as soon as the interface accepts
/// them. The flash takes `service` for each.
fn run(
    interface: &Interface,
    queue_depth: u32,
    streams: &[Stream],
    wishes: &[Wish],
    service: impl FnMut() -> Time,
) -> Run {
    let mut connection = Connection::new(interface, queue_depth, streams);
    let mut disk = Disk {
        queue: EventQueue::default(),
        service,
        began: Vec::new(),
        completed: Vec::new(),
    };
    for (index, wish) in wishes.iter().enumerate() {
        disk.queue.schedule(wish.at, Happening::Wished(index));
    }
    let mut waiting = vec![VecDeque::new(); streams.len()];
    let (mut owners, mut vacant): (Vec<usize>, Vec<Ticket>) = Default::default();
    let mut run = Run {
        lives: vec![Life::default(); wishes.len()],
        order: Vec::new(),
        most_in_flight: 0,
    };
    while let Some((now, happening)) = disk.queue.pop() {
        match happening {
            Happening::Wished(index) => waiting[wishes[index].stream as usize].push_back(index),
            Happening::Host(event) => connection.handle(now, event, &mut disk),
            Happening::Finished(ticket) => {
                run.lives[owners[ticket as usize]].finished = now;
                connection.finished(now, ticket, &mut disk);
            }
        }
        for ticket in disk.completed.drain(..) {
            let life = &mut run.lives[owners[ticket as usize]];
            life.completed = now;
            life.transfer = connection.transfer(ticket);
            vacant.push(ticket);
        }
        for (stream, line) in waiting.iter_mut().enumerate() {
            while connection.can_accept(stream as u32)
                && let Some(index) = line.pop_front()
            {
                let ticket = vacant.pop().unwrap_or(owners.len() as Ticket);
                if ticket as usize == owners.len() {
                    owners.push(index);
                }
                owners[ticket as usize] = index;
                run.lives[index].submitted = now;
                let Wish { write, bytes, .. } = wishes[index];
                let stream = stream as u32;
                let command = Command {
                    ticket,
                    stream,
                    write,
                    bytes,
                };
                connection.submit(now, command, &mut disk);
            }
        }
        for (at, ticket) in disk.began.drain(..) {
            let index = owners[ticket as usize];
            run.lives[index].began = at;
            run.order.push(index);
        }
        run.most_in_flight = run.most_in_flight.max(connection.in_flight());
    }
    assert_eq!(connection.in_flight(), 0);
    assert_eq!(
        vacant.len(),
        owners.len(),
        "some requests have not completed"
    );
    run
}

fn sata() -> Interface {
    Interface::Sata(Sata::default())
}

fn plain(ns_per_byte: f64) -> Interface {
    Interface::Link(Link { ns_per_byte })
}

fn nvme() -> Interface {
    Interface::Nvme(Nvme::default())
}

fn streams(classes: &[Class]) -> Vec<Stream> {
    classes.iter().map(|&class| Stream { class }).collect()
}

const ONE: [Stream; 1] = [Stream {
    class: Class::Medium,
}];

/// Returns the transfer time of a single request in an otherwise idle device.
fn alone(interface: &Interface, wish: Wish) -> Transfer {
    let service = Time::from_us(50);
    let life = run(interface, 32, &ONE, &[wish], || service).lives[0];
    assert_eq!(life.finished - life.began, service);
    assert_eq!(life.completed, life.transfer.total() + service);
    life.transfer
}

fn link(ps: u64) -> Transfer {
    Transfer {
        link: Time::from_ps(ps),
        ..Transfer::default()
    }
}

#[test]
fn direct_interface_takes_no_time() {
    let direct = Interface::Direct(direct::Direct::default());
    assert_eq!(alone(&direct, read(4 * KIB)), Transfer::default());
    assert_eq!(alone(&direct, write(4 * KIB)), Transfer::default());
}

#[test]
fn plain_link_takes_a_fixed_time_per_byte() {
    for wish in [read(4 * KIB), write(4 * KIB)] {
        assert_eq!(alone(&plain(25.0), wish), link(4096 * 25_000));
        // At 1.875 ns per byte, 4096 bytes take 7,680,000 ps.
        assert_eq!(alone(&plain(1.875), wish), link(7_680_000));
        assert_eq!(alone(&plain(0.0), wish), link(0));
    }
    // A third of a nanosecond is rounded to a thousandth of a picosecond: 333.333 ps. The time of a
    // transfer is rounded up to a whole picosecond.
    assert_eq!(alone(&plain(1.0 / 3.0), read(3)), link(1_000));
}

/// With instant flash, the data of all requests is transferred one after the other, in both
/// directions.
#[test]
fn plain_link_is_half_duplex() {
    let mut mixed = vec![read(128 * KIB); 500];
    mixed.extend(vec![write(128 * KIB); 500]);
    let run = run(&plain(5.0), 32, &ONE, &mixed, || Time::ZERO);
    assert_eq!(run.last().ps(), 1000 * 131_072 * 5_000);
}

#[test]
fn requests_wait_for_a_plain_link() {
    // Both reads finish in the flash at the same time. The data of the second follows that of the
    // first.
    let service = Time::from_us(50);
    let lives = run(&plain(10.0), 32, &ONE, &[read(4 * KIB); 2], || service).lives;
    let waits = lives.iter().map(|life| life.transfer.link_wait.ps());
    assert_eq!(waits.collect::<Vec<_>>(), [0, 4096 * 10_000]);
    assert_eq!(
        lives[1].completed,
        service + Time::from_ps(2 * 4096 * 10_000)
    );
}

/// 600 MB/s are 5000 ps per 3 bytes. Every frame adds 12 bytes and 500 ns to its content.
#[test]
fn sata_takes_the_time_of_its_frames() {
    // The command takes two register frames of 20 + 12 bytes: 64 bytes in 106,666.7 ps.
    let command = 106_667 + 2 * 500_000;
    // The data takes a DMA Setup of 40, Data of 4 + 4096 + 12 and Set Device Bits of 20 bytes: 4172
    // bytes in 6,953,333.3 ps.
    let data = 6_953_334 + 3 * 500_000;
    assert_eq!(alone(&sata(), read(4 * KIB)), link(command + data));
    // The data takes a DMA Setup of 40, a DMA Activate of 16 and Data of 4112 bytes: 4168 bytes in
    // 6,946,666.7 ps.
    let data = 6_946_667 + 3 * 500_000;
    // Set Device Bits takes 20 bytes in 33,333.3 ps.
    let done = 33_334 + 500_000;
    assert_eq!(alone(&sata(), write(4 * KIB)), link(command + data + done));
    // Two data frames take 40 + 2 * 16 + 12288 + 2 * 16 = 12,392 bytes in 20,653,333.3 ps.
    let data = 20_653_334 + 5 * 500_000;
    assert_eq!(alone(&sata(), write(12 * KIB)), link(command + data + done));
}

#[test]
fn sata_requests_wait_for_the_link() {
    let service = Time::from_us(1);
    let run = run(&sata(), 32, &ONE, &[read(4 * KIB); 2], || service);
    let (command, data) = (1_106_667, 8_453_334);
    let waits = run.lives.iter().map(|life| life.transfer.link_wait.ps());
    let waits: Vec<_> = waits.collect();
    // The data of the first request is ready 1 us after its command has arrived, while the link
    // carries the second command.
    assert_eq!(waits[0], command - 1_000_000);
    // The command of the second request waits for that of the first. Its data, ready 1 us after its
    // own command, waits for the data of the first.
    assert_eq!(waits[1], command + data - 1_000_000);
}

/// Four lanes at 8 GT/s with 128b/130b coding take 32500 / 128 ps per byte. A packet adds 24 bytes
/// to its data.
#[test]
fn nvme_takes_the_time_of_its_packets() {
    // The doorbell takes 4 + 24 bytes in 7,109.4 ps.
    let doorbell = 7_110 + 200_000;
    // The request takes 24 bytes in 6,093.8 ps, and the queue entry 64 + 24 bytes in 22,343.8 ps.
    let fetch = 6_094 + 500_000 + 22_344;
    // 4096 bytes take 16 packets, 4480 bytes. With the completion entry, 16 + 24, and the
    // interrupt, 4 + 24, there are 4548 bytes in 1,154,765.6 ps.
    let data = 1_154_766;
    let interrupt = 1_000_000;
    let all = doorbell + fetch + data + interrupt;
    assert_eq!(alone(&nvme(), read(4 * KIB)), link(all));
    // The first read request for the data is answered, then 4480 bytes take 1,137,500 ps.
    let data = 6_094 + 500_000 + 1_137_500;
    // Completion entry and interrupt take 68 bytes in 17,265.6 ps.
    let done = 17_266 + interrupt;
    let all = doorbell + fetch + data + done;
    assert_eq!(alone(&nvme(), write(4 * KIB)), link(all));
}

#[test]
fn nvme_commands_wait_in_their_queue_for_a_slot() {
    let service = Time::from_us(50);
    let run = run(&nvme(), 1, &ONE, &[read(4 * KIB); 2], || service);
    let waits: Vec<_> = run
        .lives
        .iter()
        .map(|life| life.transfer.slot_wait)
        .collect();
    // Both doorbells ring at the same time. The slot is free when the data and the completion of
    // the first command have left the device.
    let occupied = Time::from_ps(528_438 + 1_154_766) + service;
    assert_eq!(waits, [Time::ZERO, occupied]);
}

/// With instant flash, the link is busy from the first command to the last completion.
#[test]
fn sata_link_limits_the_sum_of_both_directions() {
    let count = 500;
    let instant = || Time::ZERO;
    // 16 frames of 8192 bytes take 40 + 16 * (16 + 8192) + 20 = 131,388 bytes in 218,980,000 ps, in
    // 18 frames.
    let reading = 1_106_667 + 218_980_000 + 18 * 500_000;
    // Writes also take 16 DMA Activate frames, 256 bytes, and a separate transfer for Set Device
    // Bits: 131,624 bytes in 219,373,333.3 ps, in 33 frames.
    let writing = 1_106_667 + 219_373_334 + 33 * 500_000 + 533_334;
    let reads = run(&sata(), 32, &ONE, &vec![read(128 * KIB); count], instant);
    assert_eq!(reads.last().ps(), reading * count as u64);
    let mut mixed = vec![read(128 * KIB); count];
    mixed.extend(vec![write(128 * KIB); count]);
    let mixed = run(&sata(), 32, &ONE, &mixed, instant);
    assert_eq!(mixed.last().ps(), (reading + writing) * count as u64);
}

/// Returns the data rate after the first tenth of completions. Bytes per second.
fn rate(run: &Run, bytes: u64) -> f64 {
    let mut ends: Vec<_> = run.lives.iter().map(|life| life.completed).collect();
    ends.sort_unstable();
    let first = ends.len() / 10;
    let span = ends[ends.len() - 1] - ends[first];
    (ends.len() - 1 - first) as f64 * bytes as f64 / span.as_secs()
}

#[test]
fn nvme_reads_approach_the_payload_rate_of_every_link() {
    let gigatransfers = [(1, 2.5, 0.8), (2, 5.0, 0.8)].into_iter();
    let coded = [8.0, 16.0, 32.0].map(|rate| rate * 128.0 / 130.0);
    let later = (3..).zip(coded).map(|(at, rate)| (at, rate, 1.0));
    for (generation, rate_of_lane, coding) in gigatransfers.chain(later) {
        for lanes in [1, 4, 16] {
            let policy = Nvme {
                generation,
                lanes,
                ..Nvme::default()
            };
            let raw = rate_of_lane * coding * 1e9 / 8.0 * f64::from(lanes);
            let bytes = 128 * KIB;
            // A command takes 512 packets, completion and interrupt, and a read request.
            let on_link = bytes + 512 * 24 + 68 + 24;
            let expected = raw * bytes as f64 / on_link as f64;
            let wishes = vec![read(bytes); 1000];
            let interface = Interface::Nvme(policy);
            let measured = rate(&run(&interface, 64, &ONE, &wishes, || Time::ZERO), bytes);
            let ratio = measured / expected;
            assert!(
                (ratio - 1.0).abs() < 0.002,
                "generation {generation}, {lanes} lanes: {ratio}"
            );
        }
    }
}

#[test]
fn nvme_carries_both_directions_at_once() {
    let bytes = 128 * KIB;
    let two = streams(&[Class::Medium; 2]);
    let writes: Vec<_> = (0..1000)
        .map(|_| Wish {
            stream: 1,
            ..write(bytes)
        })
        .collect();
    let reads = vec![read(bytes); 1000];
    let both: Vec<_> = reads.iter().chain(&writes).copied().collect();
    let [reads, writes, both] =
        [reads, writes, both].map(|wishes| run(&nvme(), 64, &two, &wishes, || Time::ZERO));
    let slower = reads.last().max(writes.last()).as_secs();
    // The link to the host also carries the read requests of the writes: 24 bytes per 512 bytes of
    // data.
    let ratio = both.last().as_secs() / slower;
    assert!((1.0..1.06).contains(&ratio), "{ratio}");
}

#[test]
fn nvme_read_is_not_delayed_by_the_data_of_writes() {
    let two = streams(&[Class::Medium; 2]);
    let mut wishes: Vec<_> = (0..32)
        .map(|_| Wish {
            stream: 1,
            ..write(KIB * KIB)
        })
        .collect();
    wishes.push(Wish {
        at: Time::from_us(100),
        ..read(4 * KIB)
    });
    let lives = run(&nvme(), 64, &two, &wishes, || Time::ZERO).lives;
    assert_eq!(lives[32].transfer, alone(&nvme(), read(4 * KIB)));
}

#[test]
fn commands_in_flight_never_exceed_the_queue_depth() {
    let wishes = vec![read(4 * KIB); 300];
    let service = || Time::from_us(100);
    let most = |interface: &Interface, depth| {
        let run = run(interface, depth, &ONE, &wishes, service);
        run.most_in_flight
    };
    for interface in Interface::defaults() {
        let name = interface.name();
        let cap = interface.most_queue_depth().unwrap_or(u32::MAX);
        for depth in [1, 7, 32, 64] {
            let most = most(&interface, depth);
            assert_eq!(most, depth.min(cap), "{name}, {depth}");
        }
    }
    assert_eq!(sata().most_queue_depth(), Some(32), "a tag has 5 bits");
}

#[test]
fn submission_queue_keeps_one_entry_empty() {
    let policy = Nvme {
        queue_entries: 4,
        ..Nvme::default()
    };
    let two = streams(&[Class::Medium; 2]);
    let wishes = [read(4 * KIB); 9];
    let lives = run(&Interface::Nvme(policy), 1, &two, &wishes, || {
        Time::from_us(100)
    })
    .lives;
    let at_once = lives.iter().filter(|life| life.submitted == Time::ZERO);
    assert_eq!(at_once.count(), 3);
    // From then on, the host submits one command for each command that has arrived in the device.
    for (before, life) in lives.iter().zip(&lives[3..]) {
        assert_eq!(life.submitted, before.began);
    }
}

#[test]
fn device_with_one_slot_serves_classes_by_weight() {
    let policy = Nvme {
        arbitration: Arbitration::WeightedRoundRobin,
        high_weight: 3,
        medium_weight: 2,
        low_weight: 1,
        ..Nvme::default()
    };
    let classes = [Class::Low, Class::Medium, Class::High, Class::Urgent];
    let from = |stream, count| {
        (0..count).map(move |_| Wish {
            stream,
            ..read(4 * KIB)
        })
    };
    let wishes: Vec<_> = from(0, 10)
        .chain(from(1, 20))
        .chain(from(2, 30))
        .chain(from(3, 5))
        .collect();
    let service = || Time::from_us(10);
    let order = run(
        &Interface::Nvme(policy),
        1,
        &streams(&classes),
        &wishes,
        service,
    )
    .order;
    let served: Vec<_> = order.iter().map(|&index| wishes[index].stream).collect();
    // The first command of class low finds the slot free. It is the only low command of the first
    // round.
    assert_eq!(served[..6], [0, 3, 3, 3, 3, 3]);
    assert_eq!(served[6..11], [2, 2, 2, 1, 1]);
    for round in served[11..65].chunks(6) {
        assert_eq!(round, [2, 2, 2, 1, 1, 0]);
    }
}

/// Returns every interface with defaults, and some with other parameters.
fn interfaces() -> Vec<Interface> {
    let mut all = Interface::defaults();
    all.push(Interface::Sata(Sata {
        gigabits_per_s: 1.5,
        frame_overhead_ns: 0,
    }));
    let weighted = Nvme {
        generation: 1,
        lanes: 1,
        queue_entries: 5,
        arbitration: Arbitration::WeightedRoundRobin,
        burst: 3,
        ..Nvme::default()
    };
    let free = Nvme {
        header_bytes: 0,
        doorbell_ns: 0,
        fetch_ns: 0,
        interrupt_ns: 0,
        ..weighted.clone()
    };
    all.extend([weighted, free].map(Interface::Nvme));
    all
}

/// Returns requests at random times. The load ranges from mostly idle to always backlogged.
fn random_wishes(random: &mut Random, count: usize) -> Vec<Wish> {
    let gap = 1 << random.below(27);
    let mut at = Time::ZERO;
    let mut wish = || {
        at += Time::from_ps(random.below(gap));
        let longest = 1 << random.below(18);
        Wish {
            at,
            stream: random.below(4) as u32,
            write: random.below(2) == 0,
            bytes: 1 + random.below(longest),
        }
    };
    (0..count).map(|_| wish()).collect()
}

const ALL: [Class; 4] = [Class::Urgent, Class::High, Class::Medium, Class::Low];

#[test]
fn transfer_and_service_times_add_up_to_the_response_time() {
    let mut random = Random::new(1, "crossings");
    for round in 0..40 {
        let wishes = random_wishes(&mut random, 300);
        for interface in interfaces() {
            let longest = 1 << random.below(28);
            let mut services = Random::new(round, "services");
            let service = || Time::from_ps(services.below(longest));
            let depth = 1 + random.below(40) as u32;
            let run = run(&interface, depth, &streams(&ALL), &wishes, service);
            let mut on_link = Time::ZERO;
            for life in &run.lives {
                let flash = life.finished - life.began;
                let name = interface.name();
                let total = life.transfer.total() + flash;
                assert_eq!(life.completed - life.submitted, total, "{name}");
                on_link += life.transfer.link;
            }
            if matches!(interface, Interface::Sata(_) | Interface::Link(_)) {
                assert!(
                    on_link <= run.last(),
                    "the link carries one transfer at a time"
                );
            }
        }
    }
}

#[test]
fn commands_of_a_stream_start_in_submission_order_if_all_read_or_all_write() {
    let mut random = Random::new(2, "orders");
    for _ in 0..40 {
        let write = random.below(2) == 0;
        let mut wishes = random_wishes(&mut random, 300);
        for wish in &mut wishes {
            wish.write = write;
        }
        for interface in interfaces() {
            let depth = 1 + random.below(40) as u32;
            let service = || Time::from_us(20);
            let order = run(&interface, depth, &streams(&ALL), &wishes, service).order;
            for stream in 0..4 {
                let of = |index: &&usize| wishes[**index].stream == stream;
                assert!(order.iter().filter(of).is_sorted(), "{}", interface.name());
            }
        }
    }
}

#[test]
fn event_codes_are_unique_and_below_2_to_the_40() {
    type Kind = fn(Ticket) -> Event;
    let kinds: [Kind; 6] = [
        Event::Rung,
        Event::Arrived,
        Event::Answered,
        Event::Sent,
        Event::Posted,
        Event::Done,
    ];
    let tickets = [0, 1, Ticket::MAX];
    let events = kinds.iter().flat_map(|kind| tickets.map(kind));
    let mut codes: Vec<_> = events.map(Event::code).collect();
    codes.sort_unstable();
    assert!(codes.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(codes.iter().all(|code| code >> 40 == 0));
}
