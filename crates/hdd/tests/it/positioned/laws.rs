//! Closed forms, reference queues and invariants of the positioned disk.

use serde_json::json;
use wordline_block::{BlockDevice, Op, Request};
use wordline_hdd::extent::Extent;
use wordline_hdd::model::Mechanism;
use wordline_hdd::queue::{Operation, Order, Policy, Queue, Waiting};
use wordline_hdd::{Config, Disk, Event, Plan};
use wordline_kernel::{Context, EventQueue, Rng, Time};

use super::host::{Answer, Arrivals, Ask, disk, ms, preset, serve};
use super::workloads::ideal;

const CYLINDERS: u32 = 48_624;
const REVOLUTION_MS: f64 = 60_000.0 / 10_017.0;

fn uniform(random: &mut Rng, sectors: u64) -> u64 {
    random.below((sectors - 8) / 8) * 8
}

/// Returns reads of 4 KiB, uniformly distributed over the disk.
fn reads(config: &Config, seed: u64, count: usize) -> Vec<Ask> {
    let sectors = disk(config).user_bytes() / 512;
    let mut random = Rng::new(seed, "reads");
    let mut ask = || Ask {
        write: false,
        extent: Extent {
            lbn: uniform(&mut random, sectors),
            sectors: 8,
        },
    };
    (0..count).map(|_| ask()).collect()
}

/// The expected value is the mean seek time over all pairs of sectors, computed only from the zones
/// and the seek curve.
#[test]
fn mean_seek_time_of_uniform_reads_matches_the_seek_curve() {
    let config = ideal("fcfs");
    let wordline_hdd::Model::Positioned(model) = &config.model else {
        panic!("the preset has positions");
    };
    let mut share = Vec::with_capacity(CYLINDERS as usize);
    for zone in &model.zones {
        for _ in 0..zone.cylinders {
            share.push(f64::from(zone.sectors_per_track));
        }
    }
    let all: f64 = share.iter().sum();
    let curve = |distance: f64| {
        let next = model
            .seek
            .partition_point(|point| f64::from(point.0) < distance);
        let (nearer, farther) = (model.seek[next.max(1) - 1], model.seek[next.max(1)]);
        let ((near, below), (far, above)) = ((nearer.0, nearer.1), (farther.0, farther.1));
        let (near, far) = (f64::from(near), f64::from(far));
        below + (above - below) * (distance - near) / (far - near)
    };
    // Cylinders are grouped by 64, because nearly all pairs of sectors are in different groups.
    let groups: Vec<f64> = share
        .chunks(64)
        .map(|group| group.iter().sum::<f64>() / all)
        .collect();
    let mut expected = 0.0;
    for (one, p) in groups.iter().enumerate() {
        for (other, q) in groups.iter().enumerate() {
            let distance = (one.abs_diff(other) * 64) as f64;
            expected += p * q * curve(if distance == 0.0 { 21.0 } else { distance });
        }
    }
    let asks = reads(&config, 1, 60_000);
    let mut disk = disk(&config);
    serve(&mut disk, &asks, &Arrivals::Closed(1));
    let count = asks.len() as f64;
    let found = disk.figures().seek.as_us() / 1e3 / count;
    assert!(
        (found - expected).abs() < 0.01 * expected,
        "{found} {expected}"
    );
    let rotation = disk.figures().rotation.as_us() / 1e3 / count;
    let half = REVOLUTION_MS / 2.0;
    assert!((rotation - half).abs() < 0.01 * half, "{rotation} {half}");
}

/// The wait is equally likely to fall into each tenth of a revolution.
#[test]
fn rotational_latency_is_uniformly_distributed() {
    let config = ideal("fcfs");
    let answers = serve(
        &mut disk(&config),
        &reads(&config, 2, 20_000),
        &Arrivals::Closed(1),
    );
    let mut tenths = [0_u32; 10];
    for answer in &answers {
        let turned = answer.parts.rotation.as_us() / 1e3 / REVOLUTION_MS;
        tenths[((turned * 10.0) as usize).min(9)] += 1;
    }
    let expected = answers.len() as f64 / 10.0;
    let chi: f64 = tenths
        .iter()
        .map(|found| (f64::from(*found) - expected).powi(2) / expected)
        .sum();
    assert!(
        chi < 27.9,
        "chi square of 9 degrees, 0.1 %: {chi}, {tenths:?}"
    );
}

/// The Pollaczek-Khinchine formula is W = lambda E[S^2] / (2 (1 - rho)), here with the moments of
/// the service times of this run.
#[test]
fn waits_of_poisson_reads_match_pollaczek_khinchine() {
    let config = ideal("fcfs");
    let mut random = Rng::new(3, "arrivals");
    let lambda = 0.064_658;
    let mut now = 0.0;
    let asks = reads(&config, 3, 200_000);
    let times: Vec<Time> = asks
        .iter()
        .map(|_| {
            let unit = (random.below(1 << 53) as f64 + 0.5) / 2f64.powi(53);
            now -= unit.ln() / lambda;
            ms(now)
        })
        .collect();
    let answers = serve(&mut disk(&config), &asks, &Arrivals::Open(times));
    let count = answers.len() as f64;
    let service: Vec<f64> = answers
        .iter()
        .map(|answer| answer.ms() - answer.parts.disk_queue.as_us() / 1e3)
        .collect();
    let mean = service.iter().sum::<f64>() / count;
    let square = service.iter().map(|ms| ms * ms).sum::<f64>() / count;
    let expected = mean + lambda * square / (2.0 * (1.0 - lambda * mean));
    let found = answers.iter().map(Answer::ms).sum::<f64>() / count;
    assert!(
        (found - expected).abs() < 0.02 * expected,
        "mean {found} ms, expected {expected} ms"
    );
    assert!(
        (expected - 11.96).abs() < 0.1,
        "expected mean {expected} ms, known 11.96 ms"
    );
}

/// Reference queue that searches all waiting requests.
#[derive(Default)]
struct Naive {
    waiting: Vec<Waiting>,
    down: bool,
}

impl Naive {
    fn next(
        &mut self,
        policy: &str,
        now: Time,
        served: Extent,
        cost: impl Fn(&Waiting) -> Time,
    ) -> Option<Waiting> {
        let first = |best: Option<&Waiting>| best.copied();
        let from = served.lbn;
        let up = |w: &&Waiting| w.extent.lbn >= from;
        let all = || self.waiting.iter();
        let chosen = match policy {
            "fcfs" => first(all().min_by_key(|w| w.place)),
            "c-look" => first(all().filter(up).min_by_key(|w| (w.extent.lbn, w.place)))
                .or_else(|| first(all().min_by_key(|w| (w.extent.lbn, w.place)))),
            "look" => {
                let below = |w: &&Waiting| w.extent.lbn <= from;
                let ahead = |down: bool| {
                    if down {
                        first(
                            all()
                                .filter(below)
                                .min_by_key(|w| (from - w.extent.lbn, w.place)),
                        )
                    } else {
                        first(
                            all()
                                .filter(up)
                                .min_by_key(|w| (w.extent.lbn - from, w.place)),
                        )
                    }
                };
                if let Some(found) = ahead(self.down) {
                    Some(found)
                } else if self.waiting.is_empty() {
                    None
                } else {
                    self.down = !self.down;
                    ahead(self.down)
                }
            }
            "sstf" => first(all().min_by_key(|w| (w.extent.lbn.abs_diff(served.end()), w.place))),
            _ => {
                let oldest = all().min_by_key(|w| w.place)?;
                if now.since(oldest.since) > Time::from_ms(50) {
                    Some(*oldest)
                } else {
                    first(all().min_by_key(|w| (cost(w), w.place)))
                }
            }
        }?;
        self.waiting.retain(|w| w.place != chosen.place);
        Some(chosen)
    }
}

#[test]
fn every_queue_policy_matches_the_reference_queue() {
    for name in ["fcfs", "look", "c-look", "sstf", "sptf"] {
        let table = if name == "sptf" {
            json!({"sptf": {"age_bound_ms": 50.0}})
        } else {
            json!(name)
        };
        let policy: Policy = serde_json::from_value(table).unwrap();
        let (mut queue, mut naive) = (Queue::new(&policy), Naive::default());
        let mut random = Rng::new(7, name);
        let mut served = Extent::default();
        for place in 0..40_000_u64 {
            let now = Time::from_us(place * 900);
            let cost = |w: &Waiting| Time((w.extent.lbn * 7919 + place) % 997);
            if random.below(2) == 0 {
                let waiting = Waiting {
                    operation: Operation::Request(place as u32),
                    extent: Extent {
                        lbn: random.below(64),
                        sectors: 1 + random.below(4),
                    },
                    write: false,
                    since: now,
                    place,
                };
                queue.push(waiting);
                naive.waiting.push(waiting);
            } else {
                let (found, expected) = (
                    queue.next(now, served, cost),
                    naive.next(name, now, served, cost),
                );
                assert_eq!(found, expected, "{name}, step {place}");
                served = found.map_or(served, |found| found.extent);
            }
            assert_eq!(queue.waiting(), naive.waiting.len());
        }
    }
}

/// Requests near the arm keep arriving while one request is far away. The age bound lets the
/// distant request be served.
#[test]
fn an_age_bound_ends_starvation() {
    let wait = |bound: f64| {
        let mut config = ideal("sptf");
        config.queue = serde_json::from_value(json!({"sptf": {"age_bound_ms": bound}})).unwrap();
        let mut asks = reads(&config, 5, 4_000);
        for ask in &mut asks {
            ask.extent.lbn %= 60_000;
        }
        asks[20].extent.lbn = 280_000_000;
        let answers = serve(&mut disk(&config), &asks, &Arrivals::Closed(16));
        let far = answers.iter().find(|answer| answer.place == 20).unwrap();
        far.ms()
    };
    assert!(wait(100.0) < 250.0);
    assert!(
        wait(0.0) > 1_000.0,
        "without a bound, the distant request waits as long as others arrive"
    );
}

/// Random reads, writes, flushes and TRIMs access a small part of a disk. A disk that is written
/// and read back between two events completes them as an uninterrupted disk does: all requests are
/// served, with one access at a time.
#[test]
fn a_disk_resumed_from_its_state_continues_identically() {
    for (name, seed) in [
        ("nearline-7200", 1),
        ("atlas-10k", 2),
        ("atlas-iii", 3),
        ("atlas-10k-iv", 4),
        ("ultrastar-18es", 5),
        ("cheetah-9lp", 6),
        ("dec-rz26", 7),
    ] {
        let run = |stop: u32| {
            let mut disk = disk(&preset(name, json!({})));
            let mut queue: EventQueue<Event> = EventQueue::default();
            let mut random = Rng::new(seed, "mixed");
            let (mut ends, mut held, mut probe, mut step) = (Vec::new(), 0, (), 0);
            let (mut now, mut left) = (Time::ZERO, 3_000);
            while left > 0 || held > 0 {
                step += 1;
                if step == stop {
                    let state = serde_json::to_string(&disk).unwrap();
                    disk = serde_json::from_str(&state).unwrap();
                }
                if left > 0 && held < 12 && random.below(2) == 0 {
                    let op = match random.below(20) {
                        0 => Op::Flush,
                        1 => Op::Trim,
                        2..=10 => Op::Write,
                        _ => Op::Read,
                    };
                    let sectors = if op == Op::Flush {
                        0
                    } else {
                        1 + random.below(40)
                    };
                    let request = Request {
                        stream: 0,
                        op,
                        fua: op == Op::Write && random.below(8) == 0,
                        offset: random.below(2_000) * 512,
                        bytes: sectors * 512,
                        arrival: now,
                    };
                    let cx = &mut Context::new(now, &mut queue, &mut probe);
                    disk.submit(cx, request).unwrap();
                    (left, held) = (left - 1, held + 1);
                } else if let Some((at, event)) = queue.pop() {
                    now = at;
                    disk.handle(&mut Context::new(now, &mut queue, &mut probe), event)
                        .unwrap();
                }
                for done in disk.completions() {
                    held -= 1;
                    ends.push((now, done.ticket, done.parts));
                }
            }
            (ends, disk.figures(), now)
        };
        let (whole, figures, end) = run(0);
        assert_eq!(whole.len(), 3_000, "{name}");
        assert!(figures.busy() <= end, "{name}: two accesses overlap");
        assert_eq!(run(2_500), (whole, figures, end), "{name}");
    }
}

/// A power cut loses the content of the write cache, and the lost pages are counted. Without a
/// write cache, no acknowledged data is lost.
#[test]
fn a_power_cut_loses_the_content_of_the_write_cache() {
    for (name, lost) in [("nearline-7200", 3), ("atlas-10k-iv", 0)] {
        let mut disk = disk(&preset(name, json!({})));
        let mut queue: EventQueue<Event> = EventQueue::default();
        let mut probe = ();
        for place in [0_u64, 1 << 30, 2 << 30] {
            let request = Request {
                stream: 0,
                op: Op::Write,
                fua: false,
                offset: place,
                bytes: 4096,
                arrival: Time::ZERO,
            };
            let cx = &mut Context::new(Time::ZERO, &mut queue, &mut probe);
            disk.submit(cx, request).unwrap();
        }
        let cut = disk.cut_power(Time::from_us(900), &mut probe).unwrap();
        assert_eq!(cut.pages_lost, lost, "{name}");
        assert_eq!(cut.requests_lost, 3, "{name}");
    }
}

/// A flush waits until the write cache is destaged, and a FUA write bypasses the cache.
#[test]
fn flushes_and_fua_writes_are_durable() {
    let config = preset("nearline-7200", json!({}));
    let mut disk = Disk::new(&Plan::new(&config).unwrap());
    let mut queue: EventQueue<Event> = EventQueue::default();
    let mut probe = ();
    let mut ask = |disk: &mut Disk, queue: &mut EventQueue<Event>, op, fua, offset| {
        let request = Request {
            stream: 0,
            op,
            fua,
            offset,
            bytes: if op == Op::Flush { 0 } else { 4096 },
            arrival: Time::ZERO,
        };
        disk.submit(&mut Context::new(Time::ZERO, queue, &mut probe), request)
            .unwrap()
    };
    let write = ask(&mut disk, &mut queue, Op::Write, false, 0);
    let forced = ask(&mut disk, &mut queue, Op::Write, true, 1 << 32);
    let flush = ask(&mut disk, &mut queue, Op::Flush, false, 0);
    let mut ends = std::collections::HashMap::new();
    let mut probe = ();
    while let Some((now, event)) = queue.pop() {
        disk.handle(&mut Context::new(now, &mut queue, &mut probe), event)
            .unwrap();
        for done in disk.completions() {
            ends.insert(done.ticket, now);
        }
    }
    assert!(ends[&write] < Time::from_us(200), "{}", ends[&write]);
    assert!(ends[&forced] > Time::from_ms(1), "{}", ends[&forced]);
    assert!(ends[&flush] > Time::from_us(500), "{}", ends[&flush]);
    assert_eq!(disk.figures().destages, 1);
}

/// A flush waits for the writes that completed before it arrived, and not for later ones.
#[test]
fn a_flush_completes_while_writes_continue() {
    let config = preset("nearline-7200", json!({}));
    let mut disk = Disk::new(&Plan::new(&config).unwrap());
    let mut queue: EventQueue<Event> = EventQueue::default();
    let mut stream = Rng::new(5, "flush");
    let mut probe = ();
    let mut flush = None;
    for write in 0..400_u32 {
        let arrival = Time::from_ms(2 * u64::from(write));
        let mut ended = None;
        while queue.next_time().is_some_and(|next| next <= arrival) {
            let Some((now, event)) = queue.pop() else {
                break;
            };
            disk.handle(&mut Context::new(now, &mut queue, &mut probe), event)
                .unwrap();
            if disk.completions().any(|done| Some(done.ticket) == flush) {
                ended = Some(now);
                break;
            }
        }
        if let Some(now) = ended {
            let cut = disk.cut_power(now, &mut probe).unwrap();
            assert!(
                0 < cut.pages_lost && cut.pages_lost <= write - 20,
                "{} pages lost of {write} writes",
                cut.pages_lost
            );
            return;
        }
        let mut request = Request {
            stream: 0,
            op: Op::Write,
            fua: false,
            offset: stream.below(1 << 28) * 4096,
            bytes: 4096,
            arrival,
        };
        disk.submit(&mut Context::new(arrival, &mut queue, &mut probe), request)
            .unwrap();
        if write == 19 {
            (request.op, request.bytes, request.offset) = (Op::Flush, 0, 0);
            let cx = &mut Context::new(arrival, &mut queue, &mut probe);
            flush = Some(disk.submit(cx, request).unwrap());
        }
    }
    panic!("the flush waits for later writes");
}

/// Sequential reads are served from read-ahead at the transfer rate of the zone.
#[test]
fn sequential_reads_reach_the_rate_of_the_zone() {
    let config = preset("nearline-7200", json!({}));
    let asks: Vec<Ask> = (0..4_000)
        .map(|place| Ask {
            write: false,
            extent: Extent {
                lbn: place * 256,
                sectors: 256,
            },
        })
        .collect();
    let mut disk = disk(&config);
    let answers = serve(&mut disk, &asks, &Arrivals::Closed(1));
    let rate = 4_000.0 * 256.0 * 512.0 / answers.last().unwrap().end.as_us();
    assert!((200.0..260.0).contains(&rate), "{rate} MB/s");
}

/// Zero-latency access is never slower than ordinary access, and takes one revolution for a whole
/// track.
#[test]
fn a_zero_latency_read_of_a_whole_track_takes_one_revolution() {
    let plan = |zero_latency: bool| {
        let mut config = ideal("fcfs");
        let wordline_hdd::Model::Positioned(model) = &mut config.model else {
            panic!("the preset has positions");
        };
        model.zero_latency_reads = zero_latency;
        Plan::new(&config).unwrap()
    };
    let track = Extent {
        lbn: 0,
        sectors: 883,
    };
    for microseconds in [100, 900, 2_300, 5_000] {
        let now = Time::from_us(microseconds);
        let take = |zero_latency| {
            plan(zero_latency)
                .model
                .access(now, track, false, Time::ZERO)
                .total()
        };
        let (zero, other) = (take(true), take(false));
        let revolution = Time((REVOLUTION_MS * 1e9).round() as u64);
        assert!(zero.0.abs_diff(revolution.0) < 2, "{zero}");
        assert!(other > zero, "{other}");
    }
}
