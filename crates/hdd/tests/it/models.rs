//! Times of the disk models without positions, compared with values worked out by hand.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use std::collections::HashMap;

use wordline_block::{BlockDevice, Op, Request};
use wordline_hdd::{Config, Disk, Event, Plan};
use wordline_kernel::{Context, EventQueue, Time};

fn request(op: Op, offset: u64, bytes: u64, arrival: Time) -> Request {
    Request {
        stream: 0,
        op,
        fua: false,
        offset,
        bytes,
        arrival,
    }
}

fn disk(table: serde_json::Value) -> Disk {
    let config: Config = serde_json::from_value(table).unwrap();
    Disk::new(&Plan::new(&config).unwrap())
}

/// Serves requests at their arrival times. Returns completion times and request indices in order of
/// completion.
fn serve(disk: &mut Disk, requests: &[Request]) -> Vec<(Time, u32)> {
    let mut queue: EventQueue<Event> = EventQueue::default();
    let mut done = Vec::new();
    let mut places = HashMap::new();
    let mut next = (0..).zip(requests).peekable();
    loop {
        let due = queue.next_time().unwrap_or(Time::MAX);
        if let Some((place, request)) = next.next_if(|(_, request)| request.arrival <= due) {
            let mut probe = ();
            let cx = &mut Context::new(request.arrival, &mut queue, &mut probe);
            places.insert(disk.submit(cx, *request).unwrap(), place);
            continue;
        }
        let Some((now, event)) = queue.pop() else {
            return done;
        };
        disk.handle(&mut Context::new(now, &mut queue, &mut ()), event)
            .unwrap();
        for completion in disk.completions() {
            let place = places[&completion.ticket];
            let begun = requests[place as usize].arrival;
            assert_eq!(completion.parts.total(), now - begun);
            done.push((now, place));
        }
    }
}

#[test]
fn a_constant_disk_serves_requests_one_at_a_time() {
    let mut disk = disk(serde_json::json!({"model": {"constant": {"access_ms": 5.0}}}));
    let requests = [0, 1, 2, 20].map(|at| request(Op::Read, at << 20, 4096, Time::from_ms(at)));
    let done = serve(&mut disk, &requests);
    assert_eq!(
        done,
        [5, 10, 15, 25]
            .map(Time::from_ms)
            .into_iter()
            .zip(0..)
            .collect::<Vec<_>>()
    );
    assert_eq!(disk.figures().reads, 4);
    assert_eq!(disk.figures().seek, Time::from_ms(20));
}

#[test]
fn a_disk_with_serial_off_serves_requests_independently() {
    let mut disk = disk(serde_json::json!({"serial": false}));
    let requests = [0, 1, 2].map(|at| request(Op::Write, 0, 4096, Time::from_ms(at)));
    let done = serve(&mut disk, &requests);
    assert_eq!(
        done,
        [5, 6, 7]
            .map(Time::from_ms)
            .into_iter()
            .zip(0..)
            .collect::<Vec<_>>()
    );
}

/// OP-FCL, table 2: a read is positioned in 4.5 ms and a write in 4.9 ms; the rate is 72 MB/s.
#[test]
fn an_average_disk_adds_the_positioning_time_of_the_operation_to_the_transfer_time() {
    let mut disk = disk(serde_json::json!({"model": "average"}));
    let requests = [
        request(Op::Read, 0, 7_200_256, Time::ZERO),
        request(Op::Write, 0, 73_728, Time::from_ms(1_000)),
        request(Op::Flush, 0, 0, Time::from_ms(2_000)),
    ];
    let done: Vec<Time> = serve(&mut disk, &requests)
        .iter()
        .map(|(at, _)| *at)
        .collect();
    // At 72e6 bytes/s, 7,200,256 bytes take 100.00355... ms, and 144 sectors take 1.024 ms.
    assert_eq!(done[0], Time(104_503_555_555));
    assert_eq!(done[1], Time::from_ms(1_000) + Time::from_us(5_924));
    assert_eq!(done[2], Time::from_ms(2_000));
}

#[test]
fn a_power_cut_loses_only_requests_in_progress() {
    let mut disk = disk(serde_json::json!({}));
    let mut queue = EventQueue::default();
    for offset in [0, 4096] {
        let mut probe = ();
        let cx = &mut Context::new(Time::ZERO, &mut queue, &mut probe);
        disk.submit(cx, request(Op::Write, offset, 4096, Time::ZERO))
            .unwrap();
    }
    let cut = disk.cut_power(Time::from_ms(1), &mut ()).unwrap();
    assert_eq!(cut.requests_lost, 2);
    assert_eq!(disk.completions().count(), 2);
    assert_eq!(disk.outstanding(), 0);
    let later = request(Op::Read, 0, 512, Time::from_ms(2));
    assert_eq!(serve(&mut disk, &[later]), [(Time::from_ms(7), 0)]);
}
