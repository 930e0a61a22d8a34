//! Collections in time, over all mapping families and all schedules: what must hold whatever they
//! do, and what the schedules promise, in scenarios worked out by hand.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod shared;

use shared::plan;
use wordline_device::{DeviceError, Event, Observation, Op, Plan, Precondition, Request, Ssd};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::gc::schedule::agc::Agc;
use wordline_ftl::gc::schedule::agc_dgc::AgcDgc;
use wordline_ftl::gc::schedule::{Idle, Period, Schedule, Scheduling, Trigger};
use wordline_ftl::mapping::Family;
use wordline_ftl::mapping::hybrid::Hybrid;
use wordline_ftl::{Config, GcKind, JobId, LogicalBlock, Map, Mapping, Want};
use wordline_kernel::{Digest, EventQueue, Probe, Stream, Time};
use wordline_nand::{Operation, Plane};

const PAGE: u64 = 4096;

/// A collection that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Collected {
    kind: GcKind,
    trigger: Trigger,
    moved: u32,
    erased: u32,
    from: Time,
    until: Time,
}

/// What happened in a run.
#[derive(Clone, Debug, Default)]
struct Heard {
    requests: u64,
    /// Response times of writes, in the order of completion.
    writes: Vec<Time>,
    collected: Vec<Collected>,
    replaced: u64,
    erases: u64,
    digest: u64,
}

impl Probe<Observation> for Heard {
    fn observe(&mut self, now: Time, observation: Observation) {
        match observation {
            Observation::Request {
                op, arrival, parts, ..
            } => {
                assert_eq!(parts.total(), now - arrival);
                self.requests += 1;
                if op == Op::Write {
                    self.writes.push(now - arrival);
                }
            }
            Observation::Collected {
                kind,
                trigger,
                moved,
                erased,
                from,
                ..
            } => self.collected.push(Collected {
                kind,
                trigger,
                moved,
                erased,
                from,
                until: now,
            }),
            Observation::Replaced => self.replaced += 1,
            _ => {}
        }
    }
}

/// A plane that is not being collected has its reserve.
fn check_reserve(plan: &Plan, ssd: &Ssd<Map>) {
    let map = ssd.mapping();
    for plane in (0..plan.part.layout.planes()).map(Plane) {
        let free = map.free_blocks_of(plane);
        if map.is_over(JobId::of(plane)) {
            let reserve = plan.ftl.reserve_blocks;
            assert!(free >= reserve, "{free} blocks of {plane:?} are free");
        }
    }
}

/// Serves `requests`, each at its arrival or when the device takes it, and lets the device go on
/// until nothing is left to do.
fn serve(plan: &Plan, ssd: &mut Ssd<Map>, requests: &[Request]) -> Result<Heard, DeviceError> {
    let mut queue = EventQueue::<Event>::default();
    let (mut heard, mut digest) = (Heard::default(), Digest::default());
    let (mut now, mut issued) = (Time::ZERO, 0);
    let tags = ssd.tags() as usize;
    let ahead = |issued: usize| &requests[issued..requests.len().min(issued + tags)];
    ssd.announce(now, ahead(0), &mut queue);
    loop {
        let next = requests.get(issued).filter(|_| ssd.takes(0));
        let due = next.map(|request| request.arrival.max(now));
        let event = queue.next_time();
        if let Some(at) = due.filter(|at| event.is_none_or(|event| *at <= event)) {
            now = at;
            ssd.submit(now, requests[issued], &mut queue, &mut heard)?;
            issued += 1;
            ssd.announce(now, ahead(issued), &mut queue);
        } else if let Some((time, event)) = queue.pop() {
            assert!(time >= now, "time never goes back");
            now = time;
            digest.mix(time.0);
            digest.mix(event.code());
            ssd.handle(now, event, &mut queue, &mut heard)?;
            check_reserve(plan, ssd);
        } else {
            break;
        }
        ssd.completed().for_each(drop);
    }
    assert_eq!(ssd.outstanding(), 0, "every request is served");
    assert_eq!(heard.requests, requests.len() as u64);
    heard.erases = ssd.array().erases().iter().map(|&n| u64::from(n)).sum();
    heard.digest = digest.value();
    Ok(heard)
}

/// Bursts of requests with idle periods between them, short and long.
fn bursts(user_bytes: u64, count: usize, random: &mut Stream) -> Vec<Request> {
    let pages = user_bytes / PAGE;
    let grain = [512, PAGE][random.below(2) as usize];
    let hot = 1 + random.below(pages);
    let most = 1 + random.below(6);
    let (mut now, mut requests) = (Time::ZERO, Vec::new());
    while requests.len() < count {
        for _ in 0..=random.below(40) {
            let space = if random.below(3) == 0 { pages } else { hot };
            let bytes = ((1 + random.below(most * PAGE / grain)) * grain).min(space * PAGE);
            let offset = random.below((space * PAGE - bytes) / grain + 1) * grain;
            let op = match random.below(20) {
                0..5 => Op::Read,
                5 => Op::Trim,
                _ => Op::Write,
            };
            requests.push(Request {
                stream: 0,
                op,
                fua: false,
                offset,
                bytes,
                arrival: now,
            });
            now += Time::from_us(random.below(600));
        }
        let idle_us = [3_000, 30_000, 3_000_000][random.below(3) as usize];
        now += Time::from_us(random.below(idle_us));
    }
    requests.truncate(count);
    requests
}

const DIMENSIONS: [Dimensions; 3] = [dimensions(1, 1), dimensions(2, 1), dimensions(1, 2)];

const fn dimensions(channels: u32, planes: u32) -> Dimensions {
    Dimensions {
        channels,
        ways: 1,
        dies: 1,
        planes,
    }
}

/// A small random device; none if the family has no room on it or no use for the schedule.
fn drawn(family: &Family, schedule: &Scheduling, random: &mut Stream) -> Option<Plan> {
    let mut config = Config {
        mapping: family.clone(),
        over_provisioning_ratio: 0.1 + 0.5 * random.unit(),
        ..Config::default()
    };
    config.gc.schedule = schedule.clone();
    config.gc.own_block = random.below(2) == 0;
    let dimensions = DIMENSIONS[random.below(3) as usize];
    let (blocks, pages) = (8 + random.below(40), 2 + random.below(15));
    let depth = 1 + random.below(16);
    let mut plan = plan(
        &config,
        dimensions,
        blocks as u32,
        pages as u32,
        depth as u32,
    )?;
    plan.part.endurance_cycles = 100_000;
    Some(plan)
}

fn run(plan: &Plan, seed: u64, count: usize) -> Heard {
    let mut random = Stream::new(seed, "collections");
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    let filled = Precondition {
        fill_pages: random.below(u64::from(plan.ftl.user_pages) + 1) as u32,
        overwrite_pages: 0,
        settle: None,
        seed,
    };
    ssd.precondition(&filled, |_| true).unwrap();
    ssd.verify();
    let requests = bursts(ssd.user_bytes(), count, &mut random);
    let heard = serve(plan, &mut ssd, &requests);
    let heard = heard.unwrap_or_else(|error| panic!("{error}; {:?}", plan.ftl));
    ssd.mapping().audit().unwrap();
    heard
}

/// Says which case it was if a test fails in it.
struct Case<'a>(&'a Plan, u64);

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {} of {:?}", self.1, self.0.ftl);
        }
    }
}

#[test]
fn every_family_serves_every_write_under_every_schedule() {
    let mut random = Stream::new(3, "devices");
    for family in Family::defaults() {
        for schedule in Scheduling::defaults() {
            let (mut runs, mut all) = (0, Vec::new());
            for seed in 0..100 {
                let Some(plan) = drawn(&family, &schedule, &mut random) else {
                    continue;
                };
                let _case = Case(&plan, seed);
                let heard = run(&plan, seed, 400);
                if seed % 10 == 0 {
                    assert_eq!(run(&plan, seed, 400).digest, heard.digest, "not the same");
                }
                all.extend(heard.collected);
                runs += 1;
                if runs == 12 {
                    break;
                }
            }
            let on_demand = all
                .iter()
                .filter(|done| done.trigger.is_on_demand())
                .count();
            let of = format!("{} under {}", family.name(), schedule.name());
            eprintln!(
                "{of}: {runs} runs, {} collections, {on_demand} on demand",
                all.len()
            );
            // Block mapping has no use for idle time.
            assert!(runs == 12 || family.name() == "block", "{of}: {runs} runs");
            assert!(
                runs == 0 || all.len() > 100,
                "{of}: {} collections",
                all.len()
            );
            let idle = schedule.policy().attention().is_some();
            assert_eq!(
                on_demand == all.len(),
                !idle || runs == 0,
                "{of}: in idle time"
            );
        }
    }
}

/// A plane of twelve blocks of eight pages whose logical blocks have one data and one update block.
fn one_plane(schedule: Scheduling) -> Plan {
    let mut config = Config {
        mapping: Family::Hybrid(Hybrid {
            data_blocks: 1,
            update_blocks: 1,
            record_erases: false,
            ..Hybrid::default()
        }),
        over_provisioning_ratio: 0.4,
        ..Config::default()
    };
    config.gc.schedule = schedule;
    plan(&config, dimensions(1, 1), 12, 8, 8).unwrap()
}

/// Unloaded times of the flash operations of a plan.
struct Times {
    program: Time,
    copy: Time,
    erase: Time,
}

impl Times {
    fn of(plan: &Plan) -> Self {
        let unloaded = |operation| plan.part.chains.unloaded(operation, 0);
        let program = unloaded(Operation::Program);
        Self {
            program,
            copy: unloaded(Operation::Read) + program,
            erase: unloaded(Operation::Erase),
        }
    }
    fn total(&self, copies: u64, erases: u64) -> Time {
        Time(copies * self.copy.0 + erases * self.erase.0)
    }
}

fn write(page: u64, pages: u64, arrival: Time) -> Request {
    Request {
        stream: 0,
        op: Op::Write,
        fua: false,
        offset: page * PAGE,
        bytes: pages * PAGE,
        arrival,
    }
}

/// Writes a logical block of eight pages, and then its first page seven times: data block full,
/// update block with one free page, one current. A write every 2 ms; returns when the last is done.
fn all_but_one(block: u64, from: Time, times: &Times, requests: &mut Vec<Request>) -> Time {
    let offsets = (0..8).chain([0; 7]);
    let mut now = from;
    for offset in offsets {
        requests.push(write(block * 8 + offset, 1, now));
        now += Time::from_us(2_000);
    }
    requests.last().unwrap().arrival + times.program
}

/// The example of look-ahead collection (Jung 2013, section 7.5.1.1, figure 7.5): the free pages of a
/// logical block will not do for a queued write, and the idle period before it is long enough. The
/// merge copies eight pages and erases two blocks.
#[test]
fn a_queued_write_that_will_not_fit_is_collected_for_in_the_idle_period_before_it() {
    let agc = || Scheduling::Agc(Agc::default());
    let combined = || Scheduling::AgcDgc(AgcDgc::default());
    let on_demand = Scheduling::default;
    for schedule in [on_demand(), agc(), combined()] {
        let plan = one_plane(schedule.clone());
        let times = Times::of(&plan);
        let merge = times.total(8, 2);
        for spare in [false, true] {
            // A picosecond less than the merge takes, or more.
            let idle = Time(if spare { merge.0 + 1 } else { merge.0 - 1 });
            assert!(idle < Time::from_us(15_200), "its tag has come");
            let mut requests = Vec::new();
            let end = all_but_one(0, Time::ZERO, &times, &mut requests);
            requests.push(write(0, 4, end + idle));
            let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
            ssd.verify();
            let heard = serve(&plan, &mut ssd, &requests).unwrap();
            let told = format!("{} {spare}: {heard:?}", schedule.name());
            let programs = Time(4 * times.program.0);
            let response = *heard.writes.last().unwrap();
            let done = |trigger, from: Time| Collected {
                kind: GcKind::Full,
                trigger,
                moved: 8,
                erased: 2,
                from,
                until: from + merge,
            };
            match schedule.name() {
                "on-demand" => {
                    // One page is written, then the merge holds the others.
                    assert_eq!(response, programs + merge, "{told}");
                    assert_eq!(heard.collected[0].trigger, Trigger::UpdateBlock, "{told}");
                    assert_eq!(heard.replaced, 0);
                }
                _ if spare => {
                    assert_eq!(heard.collected, [done(Trigger::LookAhead, end)], "{told}");
                    assert_eq!(response, programs, "{told}");
                }
                "agc" => {
                    assert_eq!(response, programs + merge, "{told}");
                    assert_eq!(heard.collected[0].trigger, Trigger::UpdateBlock, "{told}");
                }
                _ => {
                    // A free block takes the place of the update block. When the device is idle, the
                    // other five pages join the three that the free block has taken.
                    assert_eq!((response, heard.replaced), (programs, 1), "{told}");
                    let from = end + idle + programs;
                    let retroactive = Collected {
                        kind: GcKind::Partial,
                        moved: 5,
                        until: from + times.total(5, 2),
                        ..done(Trigger::Retroactive, from)
                    };
                    assert_eq!(heard.collected, [retroactive], "{told}");
                }
            }
        }
    }
}

/// Algorithm 3: when the device is idle, first what was put off, then what a queued write will need.
#[test]
fn what_was_put_off_is_collected_before_what_will_be_needed() {
    let plan = one_plane(Scheduling::AgcDgc(AgcDgc::default()));
    let times = Times::of(&plan);
    let mut requests = Vec::new();
    let end = all_but_one(1, Time::ZERO, &times, &mut requests);
    let end = all_but_one(0, end + Time::from_us(2_000), &times, &mut requests);
    // Too soon for its merge: the first logical block's is put off.
    let busy = end + Time::from_us(1_000);
    requests.push(write(0, 4, busy));
    // The second one needs a merge as well; both fit before.
    let idle = busy + Time(4 * times.program.0);
    let both = times.total(5, 2) + times.total(8, 2);
    requests.push(write(8, 4, idle + both + Time::from_us(4_000)));
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    ssd.verify();
    let heard = serve(&plan, &mut ssd, &requests).unwrap();
    let triggers: Vec<Trigger> = heard.collected.iter().map(|done| done.trigger).collect();
    assert_eq!(triggers, [Trigger::Retroactive, Trigger::LookAhead]);
    let programs = Time(4 * times.program.0);
    assert_eq!(heard.writes[heard.writes.len() - 2..], [programs, programs]);
}

/// The decisions of algorithm 3, one by one.
#[test]
fn an_idle_plane_is_collected_as_algorithm_3_says() {
    let policy = AgcDgc::default();
    assert!(
        policy.replaces() && !policy.at_threshold(),
        "busy: replacement"
    );
    let want = |block| Want::Update(Plane(0), LogicalBlock(block));
    let (delayed, full, short) = (want(1), want(2), want(3));
    let ms = Time::from_ms;
    let idle = Idle {
        period: Period::Short { left: ms(10) },
        free_blocks: 42,
        start_blocks: 10,
        spare_blocks: 100,
        delayed: Some(delayed),
        full: Some(full),
        shortage: Some((short, ms(10))),
    };
    assert_eq!(policy.idle(&idle), Some((delayed, Trigger::Retroactive)));
    let idle = Idle {
        delayed: None,
        ..idle
    };
    assert_eq!(policy.idle(&idle), Some((short, Trigger::LookAhead)));
    let late = Idle {
        shortage: Some((short, ms(11))),
        ..idle
    };
    assert_eq!(policy.idle(&late), None, "it does not fit");
    let empty = |since| Idle {
        period: Period::Empty { since },
        ..idle
    };
    assert_eq!(policy.idle(&empty(ms(999))), None, "not yet a long period");
    let compaction = Some((full, Trigger::Compaction));
    assert_eq!(policy.idle(&empty(ms(1_000))), compaction);
    let roomy = Idle {
        free_blocks: 43,
        ..empty(ms(1_000))
    };
    assert_eq!(policy.idle(&roomy), None, "43 of 100 spare blocks are free");
}

/// Erases of a full device under bursts of requests; none if the family has no use for the schedule.
fn erases(family: &Family, schedule: &Scheduling, seed: u64) -> Option<u64> {
    let mut config = Config {
        mapping: family.clone(),
        over_provisioning_ratio: 0.25,
        ..Config::default()
    };
    config.gc.schedule = schedule.clone();
    let plan = plan(&config, dimensions(2, 2), 64, 32, 16)?;
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    let filled = Precondition {
        fill_pages: plan.ftl.user_pages,
        overwrite_pages: u64::from(plan.ftl.user_pages),
        settle: None,
        seed,
    };
    ssd.precondition(&filled, |_| true).unwrap();
    let before: u64 = ssd.array().erases().iter().map(|&n| u64::from(n)).sum();
    let mut random = Stream::new(seed, "erases");
    let requests = bursts(ssd.user_bytes(), 10_000, &mut random);
    let heard = serve(&plan, &mut ssd, &requests).unwrap();
    Some(heard.erases - before)
}

/// Jung 2013, section 7.6: no more erases than on demand, in families that merge. A page map erases
/// more when it collects early, as any victim would have lost more of its pages by the time at which
/// it has to be collected; so does the write buffer when it is merged early.
#[test]
fn merges_that_run_ahead_or_late_erase_no_more_blocks() {
    let combined = Scheduling::AgcDgc(AgcDgc::default());
    for family in Family::defaults() {
        let sum = |schedule: &Scheduling| {
            let erases: Option<Vec<u64>> =
                (0..6).map(|seed| erases(&family, schedule, seed)).collect();
            erases.map(|erases| erases.iter().sum::<u64>())
        };
        let Some(combined) = sum(&combined) else {
            continue;
        };
        let on_demand = sum(&Scheduling::default()).unwrap();
        let ratio = combined as f64 / on_demand as f64;
        let name = family.name();
        eprintln!("{name}: {combined} erases, {on_demand} on demand: {ratio:.3}");
        let merges = ["log-block", "hybrid"].contains(&name);
        assert!(
            !merges || ratio < 1.02,
            "{name}: {combined} against {on_demand} erases"
        );
    }
}
