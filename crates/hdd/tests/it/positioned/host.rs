//! Test host that issues requests to a disk, and the disks of the presets.

use std::collections::HashMap;

use wordline_block::{BlockDevice, Completion, LatencyComponents, Op, Request};
use wordline_hdd::extent::Extent;
use wordline_hdd::{Config, Disk, Event, Plan};
use wordline_kernel::{Context, EventQueue, Time};

/// Request that the host issues.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub write: bool,
    pub extent: Extent,
}

/// Rule for the arrival times of requests.
pub enum Arrivals {
    /// Closed loop with this many outstanding requests. The next request is issued when one
    /// completes.
    Closed(usize),
    /// One request at a time. Each is issued this long after the completion of the previous one.
    Think(Vec<Time>),
    /// Open loop: requests arrive at these times.
    Open(Vec<Time>),
}

/// Completed request.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    pub place: usize,
    pub arrival: Time,
    pub end: Time,
    pub parts: LatencyComponents,
}

impl Answer {
    pub fn ms(&self) -> f64 {
        (self.end - self.arrival).as_us() / 1e3
    }
}

/// Returns the `[disk]` table of a preset, overlaid with the keys of `over`.
pub fn preset(name: &str, over: serde_json::Value) -> Config {
    let path = format!("{}/../../presets/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let mut disk = serde_json::to_value(&table["disk"]).unwrap();
    lay(&mut disk, over);
    serde_json::from_value(disk).unwrap()
}

pub fn lay(under: &mut serde_json::Value, over: serde_json::Value) {
    match (under, over) {
        (serde_json::Value::Object(under), serde_json::Value::Object(over)) => {
            for (key, value) in over {
                lay(under.entry(key).or_insert(serde_json::Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

pub fn disk(config: &Config) -> Disk {
    Disk::new(&Plan::new(config).unwrap())
}

fn request(ask: &Ask, arrival: Time) -> Request {
    Request {
        stream: 0,
        op: if ask.write { Op::Write } else { Op::Read },
        fua: false,
        offset: ask.extent.lbn * 512,
        bytes: ask.extent.sectors * 512,
        arrival,
    }
}

/// Serves all requests. Returns their results in order of completion.
pub fn serve(disk: &mut Disk, asks: &[Ask], arrivals: &Arrivals) -> Vec<Answer> {
    let mut queue: EventQueue<Event> = EventQueue::default();
    let mut places: HashMap<u32, (usize, Time)> = HashMap::new();
    let mut answers = Vec::with_capacity(asks.len());
    let (mut next, mut ready, mut free) = (0, Time::ZERO, true);
    let most = match arrivals {
        Arrivals::Closed(depth) => *depth,
        _ => 1,
    };
    let mut probe = ();
    loop {
        let due = queue.next_time().unwrap_or(Time::MAX);
        let at = (next < asks.len()).then(|| match arrivals {
            Arrivals::Closed(_) => (places.len() < most).then_some(ready),
            Arrivals::Think(_) => free.then_some(ready),
            Arrivals::Open(times) => Some(times[next]),
        });
        if let Some(Some(at)) = at
            && at <= due
        {
            let cx = &mut Context::new(at, &mut queue, &mut probe);
            let ticket = disk.submit(cx, request(&asks[next], at)).unwrap();
            places.insert(ticket, (next, at));
            (next, free) = (next + 1, false);
            continue;
        }
        let Some((now, event)) = queue.pop() else {
            assert_eq!(answers.len(), asks.len(), "not all requests were served");
            return answers;
        };
        let cx = &mut Context::new(now, &mut queue, &mut probe);
        disk.handle(cx, event).unwrap();
        let done: Vec<Completion> = disk.completions().collect();
        for Completion { ticket, parts, .. } in done {
            let (place, arrival) = places.remove(&ticket).unwrap();
            assert_eq!(
                parts.total(),
                now - arrival,
                "latency components must sum to the response time"
            );
            ready = now;
            free = true;
            if let Arrivals::Think(gaps) = arrivals {
                ready += gaps[place];
            }
            answers.push(Answer {
                place,
                arrival,
                end: now,
                parts,
            });
        }
    }
}

/// SplitMix64 generator of numbers in `[0, 1)`.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 * 2f64.powi(-53)
    }
}

pub fn ms(value: f64) -> Time {
    Time((value * 1e9).round() as u64)
}
