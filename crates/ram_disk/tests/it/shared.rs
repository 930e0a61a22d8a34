//! Helpers that serve requests without the simulator.

use std::collections::HashMap;

use wordline_block::{BlockDevice, Op, Request, Ticket};
use wordline_kernel::{Context, EventQueue, Time};
use wordline_ram_disk::{Config, Event, Plan, RamDisk};

/// 1 us of overhead and 0.25 ns per byte: 2.024 us for 4 KiB.
pub const OVERHEAD: Time = Time::from_us(1);
pub const SERVICE: Time = Time(2_024_000);
pub const PAGE: u64 = 4096;

pub fn disk(channels: u32) -> RamDisk {
    let config = Config {
        capacity_bytes: 1 << 20,
        overhead_ns: 1000,
        ns_per_byte: 0.25,
        channels,
    };
    RamDisk::new(&Plan::new(&config).unwrap())
}

pub fn request(op: Op, bytes: u64, arrival: Time) -> Request {
    Request {
        stream: 0,
        op,
        fua: false,
        offset: 0,
        bytes,
        arrival,
    }
}

/// Submits a request at its arrival time.
pub fn submit(disk: &mut RamDisk, queue: &mut EventQueue<Event>, request: Request) -> Ticket {
    disk.submit(&mut Context::new(request.arrival, queue, &mut ()), request)
        .unwrap()
}

/// Handles the next event, if there is one.
pub fn next_event(disk: &mut RamDisk, queue: &mut EventQueue<Event>) -> Option<(Time, Event)> {
    let (now, event) = queue.pop()?;
    disk.handle(&mut Context::new(now, queue, &mut ()), event)
        .unwrap();
    Some((now, event))
}

/// Serves requests at their arrival times. Returns the completion time and the index of each, in
/// order of completion. Checks that the latency components of each request add up to its response
/// time.
pub fn serve(
    disk: &mut RamDisk,
    requests: impl IntoIterator<Item = Request>,
) -> Vec<(Time, usize)> {
    let mut queue: EventQueue<Event> = EventQueue::default();
    let (mut done, mut begun) = (Vec::new(), HashMap::new());
    let mut next = requests.into_iter().enumerate().peekable();
    loop {
        let due = queue.next_time().unwrap_or(Time::MAX);
        if let Some((place, request)) = next.next_if(|(_, request)| request.arrival <= due) {
            let ticket = submit(disk, &mut queue, request);
            begun.insert(ticket, (place, request.arrival));
            continue;
        }
        let Some((now, _)) = next_event(disk, &mut queue) else {
            return done;
        };
        for completion in disk.completions() {
            let (place, arrival) = begun[&completion.ticket];
            assert_eq!(completion.parts.total(), now - arrival);
            done.push((now, place));
        }
    }
}
