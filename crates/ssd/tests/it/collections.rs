//! Timed GC with all mapping families and all schedules: laws that hold for any of them, and
//! scenarios computed by hand for the guarantees of each schedule.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use crate::shared;

use shared::{Load, closed_loop, plan};
use wordline_block::{BlockDevice, Event as _, Op, Request};
use wordline_ftl::allocate::dynamic::Dynamic;
use wordline_ftl::allocate::r#static::Static;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::gc::check::Check;
use wordline_ftl::gc::schedule::agc::Agc;
use wordline_ftl::gc::schedule::agc_dgc::AgcDgc;
use wordline_ftl::gc::schedule::{Idle, Schedule, Scheduling, Trigger};
use wordline_ftl::mapping::Family;
use wordline_ftl::mapping::hybrid::Hybrid;
use wordline_ftl::{Config, GcKind, JobId, LogicalBlock, Map, Mapping, Precondition, SpaceRequest};
use wordline_kernel::{AnyProbe, Context, Digest, EventQueue, Probe, Rng, Time};
use wordline_nand::{Operation, Plane};
use wordline_ssd::{DeviceError, Event, IdleCounts, Observation, Plan, Ssd};

const PAGE: u64 = 4096;

/// A finished GC run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Collected {
    kind: GcKind,
    trigger: Trigger,
    moved: u32,
    erased: u32,
    from: Time,
    until: Time,
}

/// Events of a run.
#[derive(Clone, Debug, Default)]
struct Observations {
    requests: u64,
    /// Response times of writes, in order of completion.
    writes: Vec<Time>,
    collected: Vec<Collected>,
    replaced: u64,
    erases: u64,
    digest: u64,
}

impl Probe<Observation> for Observations {
    fn observe(&mut self, now: Time, observation: Observation) {
        match observation {
            Observation::Request { request, parts, .. } => {
                let latency = now - request.arrival;
                assert_eq!(parts.total(), latency);
                self.requests += 1;
                if request.op == Op::Write {
                    self.writes.push(latency);
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

/// Checks that every plane without GC in progress has its GC reserve.
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

/// Serves `requests`, each at its arrival or when the device accepts it, and runs the device until
/// it is idle.
fn serve(
    plan: &Plan,
    ssd: &mut Ssd<Map>,
    requests: &[Request],
) -> Result<Observations, DeviceError> {
    let mut queue = EventQueue::<Event>::default();
    let (mut observed, mut digest) = (Observations::default(), Digest::default());
    let (mut now, mut issued) = (Time::ZERO, 0);
    let tags = ssd.lookahead_depth() as usize;
    let ahead = |issued: usize| &requests[issued..requests.len().min(issued + tags)];
    ssd.look_ahead(
        &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut ())),
        ahead(0),
    );
    loop {
        let next = requests.get(issued).filter(|_| ssd.can_accept(0));
        let due = next.map(|request| request.arrival.max(now));
        let event = queue.next_time();
        if let Some(at) = due.filter(|at| event.is_none_or(|event| *at <= event)) {
            now = at;
            ssd.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut observed)),
                requests[issued],
            )?;
            issued += 1;
            ssd.look_ahead(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut ())),
                ahead(issued),
            );
        } else if let Some((time, event)) = queue.pop() {
            assert!(time >= now, "time never decreases");
            now = time;
            digest.mix(time.0);
            event.mix(&mut digest);
            ssd.handle(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut observed)),
                event,
            )?;
            check_reserve(plan, ssd);
        } else {
            break;
        }
        ssd.completions().for_each(drop);
    }
    assert_eq!(ssd.outstanding(), 0, "every request is served");
    assert_eq!(observed.requests, requests.len() as u64);
    observed.erases = ssd.array().erases().iter().map(|&n| u64::from(n)).sum();
    observed.digest = digest.value();
    Ok(observed)
}

/// Returns bursts of requests with short and long idle periods between them.
fn bursts(user_bytes: u64, count: usize, random: &mut Rng) -> Vec<Request> {
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

/// Returns a small random device; `None` if the family does not fit on it or does not use the
/// schedule.
fn drawn(family: &Family, schedule: &Scheduling, random: &mut Rng) -> Option<Plan> {
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

fn run(plan: &Plan, seed: u64, count: usize) -> Observations {
    let mut random = Rng::new(seed, "collections");
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    let filled = Precondition {
        fill_pages: random.below(u64::from(plan.ftl.user_pages) + 1) as u32,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed,
    };
    ssd.precondition(&filled, |_| true).unwrap();
    ssd.verify();
    let requests = bursts(ssd.user_bytes(), count, &mut random);
    let observed = serve(plan, &mut ssd, &requests);
    let observed = observed.unwrap_or_else(|error| panic!("{error}; {:?}", plan.ftl));
    ssd.mapping().audit().unwrap();
    observed
}

/// Test case that prints its seed and configuration if the test fails.
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
    let mut random = Rng::new(3, "devices");
    for family in Family::defaults() {
        for schedule in Scheduling::defaults() {
            let (mut runs, mut all) = (0, Vec::new());
            for seed in 0..100 {
                let Some(plan) = drawn(&family, &schedule, &mut random) else {
                    continue;
                };
                let _case = Case(&plan, seed);
                let observed = run(&plan, seed, 400);
                if seed % 10 == 0 {
                    assert_eq!(
                        run(&plan, seed, 400).digest,
                        observed.digest,
                        "runs are reproducible"
                    );
                }
                all.extend(observed.collected);
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
            // Block mapping does not use idle time.
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
                "{of}: GC runs in idle time"
            );
        }
    }
}

/// Returns a plane of twelve blocks of eight pages, with one data block and one update block per
/// logical block.
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

/// Times of a plan's flash operations on an idle device.
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

/// Writes a logical block of eight pages, and then its first page seven times. The data block is
/// then full, and the update block has one free page and one valid page. The writes are 2 ms apart.
/// Returns the time at which the last one completes.
fn all_but_one(block: u64, from: Time, times: &Times, requests: &mut Vec<Request>) -> Time {
    let offsets = (0..8).chain([0; 7]);
    let mut now = from;
    for offset in offsets {
        requests.push(write(block * 8 + offset, 1, now));
        now += Time::from_us(2_000);
    }
    requests.last().unwrap().arrival + times.program
}

/// Example of look-ahead GC (Jung 2013, section 7.5.1.1, figure 7.5): the free pages of a logical
/// block do not suffice for an announced write, and the idle period before it is one picosecond
/// longer or shorter than the merge. The merge copies eight pages and erases two blocks.
#[test]
fn look_ahead_gc_merges_before_a_write_that_would_not_fit() {
    let agc = || Scheduling::Agc(Agc::default());
    let combined = || Scheduling::AgcDgc(AgcDgc::default());
    let on_demand = Scheduling::default;
    for schedule in [on_demand(), agc(), combined()] {
        let plan = one_plane(schedule.clone());
        let times = Times::of(&plan);
        let merge = times.total(8, 2);
        for spare in [false, true] {
            // The idle period is one picosecond longer or shorter than the merge.
            let idle = Time(if spare { merge.0 + 1 } else { merge.0 - 1 });
            assert!(idle < Time::from_us(15_200), "the announcement is due");
            let mut requests = Vec::new();
            let end = all_but_one(0, Time::ZERO, &times, &mut requests);
            requests.push(write(0, 4, end + idle));
            let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
            ssd.verify();
            let observed = serve(&plan, &mut ssd, &requests).unwrap();
            let told = format!("{} {spare}: {observed:?}", schedule.name());
            let programs = Time(4 * times.program.0);
            let response = *observed.writes.last().unwrap();
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
                    // One page is written, then the merge delays the others.
                    assert_eq!(response, programs + merge, "{told}");
                    assert_eq!(
                        observed.collected[0].trigger,
                        Trigger::UpdateBlock,
                        "{told}"
                    );
                    assert_eq!(observed.replaced, 0);
                }
                _ if spare => {
                    assert_eq!(
                        observed.collected,
                        [done(Trigger::LookAhead, end)],
                        "{told}"
                    );
                    assert_eq!(response, programs, "{told}");
                }
                "agc" => {
                    assert_eq!(response, programs + merge, "{told}");
                    assert_eq!(
                        observed.collected[0].trigger,
                        Trigger::UpdateBlock,
                        "{told}"
                    );
                }
                _ => {
                    // A free block replaces the update block. When the device is idle, the other
                    // five pages join the three in the free block.
                    assert_eq!((response, observed.replaced), (programs, 1), "{told}");
                    let from = end + idle + programs;
                    let retroactive = Collected {
                        kind: GcKind::Partial,
                        moved: 5,
                        until: from + times.total(5, 2),
                        ..done(Trigger::Retroactive, from)
                    };
                    assert_eq!(observed.collected, [retroactive], "{told}");
                }
            }
        }
    }
}

/// Algorithm 3: when the device is idle, deferred merges precede those that an announced write will
/// need.
#[test]
fn deferred_merges_precede_look_ahead_merges() {
    let plan = one_plane(Scheduling::AgcDgc(AgcDgc::default()));
    let times = Times::of(&plan);
    let mut requests = Vec::new();
    let end = all_but_one(1, Time::ZERO, &times, &mut requests);
    let end = all_but_one(0, end + Time::from_us(2_000), &times, &mut requests);
    // The merge of the first logical block is deferred, because there is no time for it.
    let busy = end + Time::from_us(1_000);
    requests.push(write(0, 4, busy));
    // The second logical block needs a merge as well, and both merges fit into the idle period.
    let idle = busy + Time(4 * times.program.0);
    let both = times.total(5, 2) + times.total(8, 2);
    requests.push(write(8, 4, idle + both + Time::from_us(4_000)));
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    ssd.verify();
    let observed = serve(&plan, &mut ssd, &requests).unwrap();
    let triggers: Vec<Trigger> = observed.collected.iter().map(|done| done.trigger).collect();
    assert_eq!(triggers, [Trigger::Retroactive, Trigger::LookAhead]);
    let programs = Time(4 * times.program.0);
    assert_eq!(
        observed.writes[observed.writes.len() - 2..],
        [programs, programs]
    );
    // AGC and DGC use the same idle period, and no GC run is handed over.
    let expected = IdleCounts {
        periods: requests.len() as u64 - 1,
        with_gc: 1,
        with_agc: 1,
        with_dgc: 1,
        with_agc_and_dgc: 1,
        handed_over: 0,
    };
    assert_eq!(ssd.measured().idle_periods, Some(expected));
}

/// Checks the decisions of algorithm 3 one by one.
#[test]
fn decisions_on_an_idle_plane_follow_algorithm_3() {
    let policy = AgcDgc::default();
    assert!(
        policy.replaces() && !policy.at_threshold(),
        "busy: replacement"
    );
    let want = |block| SpaceRequest::Update(Plane(0), LogicalBlock(block));
    let (delayed, full, short) = (want(1), want(2), want(3));
    let ms = Time::from_ms;
    let idle = Idle {
        since: ms(5),
        left: Some(ms(10)),
        free_blocks: 42,
        start_blocks: 10,
        spare_blocks: 100,
        delayed: Some(delayed),
        reclaim: None,
        full: Some(full),
        least_recent: Some(want(5)),
        shortage: Some((short, ms(10))),
    };
    assert_eq!(policy.idle(&idle), Some((delayed, Trigger::Retroactive)));
    let idle = Idle {
        delayed: None,
        reclaim: Some(want(4)),
        ..idle
    };
    assert_eq!(policy.idle(&idle), Some((short, Trigger::LookAhead)));
    let late = Idle {
        shortage: Some((short, ms(11))),
        ..idle
    };
    assert_eq!(
        policy.idle(&late),
        None,
        "the merge is longer than the idle period"
    );
    let compaction = Some((full, Trigger::Compaction));
    // The length of a period does not depend on whether an announcement is due.
    for left in [None, Some(ms(1))] {
        let empty = |since| Idle {
            since,
            left,
            ..late
        };
        assert_eq!(policy.idle(&empty(ms(999))), None, "not yet a long period");
        assert_eq!(policy.idle(&empty(ms(1_000))), compaction);
        let roomy = Idle {
            free_blocks: 43,
            ..empty(ms(1_000))
        };
        assert_eq!(
            policy.idle(&roomy),
            None,
            "43 of 100 over-provisioned blocks are free"
        );
        let none_full = Idle {
            full: None,
            ..empty(ms(1_000))
        };
        assert_eq!(
            policy.idle(&none_full),
            None,
            "only full blocks are compacted"
        );
        let soon = AgcDgc {
            agc: Agc {
                compacts_least_recent: true,
                ..Agc::default()
            },
        };
        let oldest = Some((want(5), Trigger::Compaction));
        assert_eq!(soon.idle(&none_full), oldest);
        assert_eq!(
            soon.idle(&empty(ms(1_000))),
            compaction,
            "full blocks are compacted first"
        );
        let roomy = Idle {
            free_blocks: 43,
            ..none_full
        };
        assert_eq!(soon.idle(&roomy), None, "enough blocks are free");
    }
}

/// Three logical blocks, none of them full, are written one after another, followed by a pause. Two
/// merges free as many blocks as the target requires: those of the two written first. Without
/// `compacts_least_recent`, nothing is merged.
#[test]
fn least_recently_written_blocks_are_compacted_if_none_is_full() {
    let plan_of = |agc| {
        let mut config = one_plane(Scheduling::Agc(agc)).ftl.config;
        config.gc.start_free_ratio = 0.01;
        plan(&config, dimensions(1, 1), 200, 32, 8).unwrap()
    };
    let filled_of = |plan: &Plan| {
        let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
        let full = Precondition {
            fill_pages: plan.ftl.user_pages,
            scattered: false,
            overwrite_pages: 0,
            settle: None,
            seed: 1,
        };
        ssd.precondition(&full, |_| true).unwrap();
        ssd.verify();
        ssd
    };
    let some = plan_of(Agc::default());
    let (free, spare) = (
        filled_of(&some).mapping().free_blocks(),
        some.ftl.spare_blocks(),
    );
    for compacts_least_recent in [false, true] {
        let plan = plan_of(Agc {
            compacts_least_recent,
            compact_below_ratio: (f64::from(free) - 1.5) / f64::from(spare),
            look_ahead_ms: 0.0,
            ..Agc::default()
        });
        let mut ssd = filled_of(&plan);
        let blocks = [2_u32, 0, 1];
        let writes = blocks
            .iter()
            .zip(0..)
            .map(|(block, turn)| write(u64::from(*block) * 32, 1, Time::from_us(2_000) * turn));
        let last = Request {
            op: Op::Read,
            ..write(0, 1, Time::from_ms(10_000))
        };
        let requests: Vec<Request> = writes.chain([last]).collect();
        let observed = serve(&plan, &mut ssd, &requests).unwrap();
        let triggers: Vec<Trigger> = observed.collected.iter().map(|done| done.trigger).collect();
        let merges = if compacts_least_recent { 2 } else { 0 };
        assert_eq!(triggers, vec![Trigger::Compaction; merges]);
        for (place, block) in blocks.iter().enumerate() {
            assert_eq!(has_update(&ssd, *block), place >= merges, "{place}");
        }
    }
}

/// Eighty pages are written to eighty logical blocks of one plane, 300 ms apart. Each write that
/// finds too few free blocks defers the merge of its own logical block, which runs in the following
/// pause. Nothing else is merged: neither blocks written while there was space, nor those left by
/// preconditioning.
#[test]
fn write_that_finds_too_few_free_blocks_defers_its_own_merge() {
    use wordline_ftl::gc::schedule::dgc::Dgc;
    for schedule in [
        Scheduling::Dgc(Dgc::default()),
        Scheduling::AgcDgc(AgcDgc::default()),
    ] {
        for overwritten in [0, 20] {
            let mut config = one_plane(schedule.clone()).ftl.config;
            config.gc.start_free_ratio = 0.2;
            // A merge takes longer than the announcement time, so none is done in advance.
            let plan = plan(&config, dimensions(1, 1), 200, 32, 8).unwrap();
            let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
            let filled = Precondition {
                fill_pages: plan.ftl.user_pages,
                scattered: false,
                overwrite_pages: overwritten,
                settle: None,
                seed: 1,
            };
            ssd.precondition(&filled, |_| true).unwrap();
            ssd.verify();
            let blocks = plan.ftl.user_pages / 32;
            let before: Vec<bool> = (0..blocks).map(|block| has_update(&ssd, block)).collect();
            // None of the logical blocks that were written has an update block.
            let targets = (0..blocks).filter(|block| !before[*block as usize]);
            let targets: Vec<u32> = targets.take(80).collect();
            assert_eq!(targets.len(), 80);
            let spare = ssd.mapping().free_blocks() - plan.ftl.start_blocks;
            assert!(spare < 80, "{spare} writes find space");
            let requests = targets
                .iter()
                .zip(0..)
                .map(|(block, turn)| write(u64::from(*block) * 32, 1, Time::from_ms(300) * turn));
            let requests: Vec<Request> = requests.collect();
            let observed = serve(&plan, &mut ssd, &requests).unwrap();
            let told = format!(
                "{} {overwritten}: {spare} writes found space",
                schedule.name()
            );
            assert_eq!(observed.replaced, 0, "{told}");
            let retroactive = |done: &Collected| done.trigger == Trigger::Retroactive;
            assert!(observed.collected.iter().all(retroactive), "{told}");
            assert_eq!(observed.collected.len() as u32, 80 - spare, "{told}");
            for (block, turn) in targets.iter().zip(0..) {
                assert_eq!(has_update(&ssd, *block), turn < spare, "{told}: {turn}");
            }
            let untouched = (0..blocks).filter(|block| !targets.contains(block));
            for block in untouched {
                assert_eq!(has_update(&ssd, block), before[block as usize], "{told}");
            }
        }
    }
}

/// Returns `true` if a merge of a logical block would erase a block.
fn has_update(ssd: &Ssd<Map>, block: u32) -> bool {
    let want = SpaceRequest::Update(Plane(0), LogicalBlock(block));
    ssd.mapping().cost(want).blocks > 0
}

fn agc(look_ahead_ms: f64) -> Scheduling {
    Scheduling::Agc(Agc {
        look_ahead_ms,
        compact_below_ratio: 1.0,
        ..Agc::default()
    })
}

/// Fills a device, leaves one free page in a logical block, and serves `requests`. Their times
/// count from the end of the block's last write.
fn after_all_but_one(
    schedule: Scheduling,
    requests: &[(Op, u64, u64, Time)],
) -> (Observations, Times) {
    let plan = one_plane(schedule);
    let (observed, _) = counted_after_all_but_one(&plan, requests);
    (observed, Times::of(&plan))
}

/// Like [`after_all_but_one`]. Returns the idle periods instead of the times.
fn counted_after_all_but_one(
    plan: &Plan,
    requests: &[(Op, u64, u64, Time)],
) -> (Observations, IdleCounts) {
    let times = Times::of(plan);
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    let full = Precondition {
        fill_pages: plan.ftl.user_pages,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&full, |_| true).unwrap();
    ssd.verify();
    let rewritten = (0..7).map(|turn| write(0, 1, Time::from_us(2_000) * turn));
    let mut all: Vec<Request> = rewritten.collect();
    let end = Time::from_us(2_000) * 6 + times.program;
    all.extend(requests.iter().map(|&(op, page, pages, after)| Request {
        op,
        ..write(page, pages, end + after)
    }));
    let observed = serve(plan, &mut ssd, &all).unwrap();
    (observed, ssd.measured().idle_periods.unwrap())
}

/// An announcement that becomes due while the device is idle is handled at that time. After a pause
/// of two seconds, two pages are written to a logical block with one free page, in one request or
/// in two, or after a read.
#[test]
fn announcement_during_idle_time_triggers_gc() {
    let ms = Time::from_ms;
    let pause = ms(2_000);
    let cases: [&[(Op, u64, u64, Time)]; 3] = [
        &[(Op::Write, 0, 2, pause)],
        &[(Op::Write, 0, 1, pause), (Op::Write, 0, 1, pause + ms(5))],
        &[(Op::Read, 0, 1, pause), (Op::Write, 0, 2, pause + ms(100))],
    ];
    for requests in cases {
        let (observed, times) = after_all_but_one(agc(500.0), requests);
        let triggers: Vec<Trigger> = observed.collected.iter().map(|done| done.trigger).collect();
        assert_eq!(triggers, [Trigger::LookAhead], "{requests:?}");
        let pages = requests.last().unwrap().2;
        assert_eq!(*observed.writes.last().unwrap(), times.program * pages);
        // Both announcements are needed; the later one determines the time.
        let (_, _, _, arrival) = *requests.last().unwrap();
        let end = Time::from_us(2_000) * 6 + times.program;
        assert_eq!(observed.collected[0].from, end + arrival - ms(500));
    }
}

/// An announcement during a long idle period does not make it a short one. With announcements zero,
/// one and five seconds in advance, a pause of 1.5 s is long enough to compact full blocks.
#[test]
fn announcement_does_not_hide_a_long_idle_period() {
    let requests = [
        (Op::Write, 0, 1, Time::from_us(2_000)),
        (Op::Read, 0, 1, Time::from_ms(1_500)),
    ];
    for look_ahead_ms in [0.0, 1_000.0, 5_000.0] {
        let (observed, times) = after_all_but_one(agc(look_ahead_ms), &requests);
        let [done] = &observed.collected[..] else {
            panic!("{look_ahead_ms}: {:?}", observed.collected);
        };
        assert_eq!(done.trigger, Trigger::Compaction, "{look_ahead_ms}");
        let idle = Time::from_us(2_000) * 7 + times.program * 2;
        assert_eq!(done.from, idle + Time::from_ms(1_000), "{look_ahead_ms}");
    }
}

/// A read interrupts the compaction of a full block at its first page. With DGC, the remaining
/// steps pass to DGC (Jung 2013, section 7.5.1.3), so DGC uses the next idle period. Without DGC,
/// AGC uses both periods. The GC run is the same in both cases.
#[test]
fn interrupted_compaction_is_handed_to_dgc() {
    let agc = Agc {
        look_ahead_ms: 0.0,
        compact_below_ratio: 1.0,
        ..Agc::default()
    };
    let schedules = [
        (Scheduling::Agc(agc.clone()), 0),
        (Scheduling::AgcDgc(AgcDgc { agc }), 1),
    ];
    let mut merges = Vec::new();
    for (schedule, by_dgc) in schedules {
        let plan = one_plane(schedule);
        let times = Times::of(&plan);
        let full = times.program + Time::from_us(2_000);
        let compacts = full + Time::from_ms(1_000);
        let requests = [
            (Op::Write, 0, 1, Time::from_us(2_000)),
            (Op::Read, 0, 1, compacts + Time::from_us(1)),
            (Op::Read, 0, 1, compacts + Time::from_ms(500)),
        ];
        let (observed, counts) = counted_after_all_but_one(&plan, &requests);
        let [merge] = observed.collected[..] else {
            panic!("{:?}", observed.collected);
        };
        assert_eq!(merge.trigger, Trigger::Compaction);
        merges.push(merge);
        // There are eight writes and two reads, each after an idle period except the first write.
        let expected = IdleCounts {
            periods: 9,
            with_gc: 2,
            with_agc: 2 - by_dgc,
            with_dgc: by_dgc,
            with_agc_and_dgc: 0,
            handed_over: by_dgc,
        };
        assert_eq!(counts, expected);
    }
    assert_eq!(merges[0], merges[1]);
}

/// Background GC starts when the device has been idle for the threshold: at once if it is zero.
#[test]
fn background_gc_starts_at_once_with_a_zero_threshold() {
    use wordline_ftl::gc::schedule::background::Background;
    for after_ms in [0.0, 10.0] {
        let schedule = Scheduling::Background(Background {
            after_ms,
            free_ratio: 1.0,
            preemptible: false,
        });
        let request = (Op::Write, 0, 1, Time::from_us(2_000));
        let (observed, times) = after_all_but_one(schedule, &[request]);
        let idle = Time::from_us(2_000) * 7 + times.program * 2;
        let from = observed.collected.first().map(|done| done.from);
        let after = Time::from_us((after_ms * 1e3) as u64);
        assert_eq!(from, Some(idle + after));
    }
}

/// Returns the erases of a full device under bursts of requests, or under pages written to one
/// logical block after another; `None` if the family does not use the schedule.
fn erases(family: &Family, schedule: &Scheduling, returns: bool, seed: u64) -> Option<u64> {
    let mut config = Config {
        mapping: family.clone(),
        over_provisioning_ratio: 0.25,
        ..Config::default()
    };
    config.gc.schedule = schedule.clone();
    let plan = plan(&config, dimensions(2, 2), 64, 32, 16)?;
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    let overwritten = if returns { plan.ftl.user_pages } else { 0 };
    let filled = Precondition {
        fill_pages: plan.ftl.user_pages,
        scattered: false,
        overwrite_pages: overwritten.into(),
        settle: None,
        seed,
    };
    ssd.precondition(&filled, |_| true).unwrap();
    let before: u64 = ssd.array().erases().iter().map(|&n| u64::from(n)).sum();
    let requests = if returns {
        bursts(ssd.user_bytes(), 10_000, &mut Rng::new(seed, "erases"))
    } else {
        let data_blocks = match family {
            Family::Hybrid(family) => family.data_blocks,
            _ => 1,
        };
        let (pages, blocks) = (data_blocks * 32, plan.ftl.user_pages / (data_blocks * 32));
        let page = |turn| u64::from(pages) * (turn % u64::from(blocks));
        let turns = 0..u64::from(blocks) * 10;
        turns
            .map(|turn| write(page(turn), 1, Time::from_ms(100) * turn))
            .collect()
    };
    let observed = serve(&plan, &mut ssd, &requests).unwrap();
    Some(observed.erases - before)
}

/// Returns the erases of a merging family under a schedule, relative to those on demand.
fn erases_over_on_demand(family: &Family, schedule: &Scheduling, returns: bool) -> f64 {
    let sum = |schedule: &Scheduling| -> u64 {
        let seeds = 0..if returns { 6 } else { 1 };
        seeds
            .map(|seed| erases(family, schedule, returns, seed).unwrap())
            .sum()
    };
    let (some, on_demand) = (sum(schedule), sum(&Scheduling::default()));
    let ratio = some as f64 / on_demand as f64;
    let of = format!("{} under {}", family.name(), schedule.name());
    eprintln!("{of}: {some} erases, {on_demand} on demand: {ratio:.3}");
    ratio
}

/// Merges in advance cause less than 2 % more erases than merges on demand (Jung 2013, section
/// 7.6). Merges deferred by a lack of free blocks cause over 10 % more. They merge the logical
/// block just written; merges on demand merge the least recently written one. Each frees one block,
/// but the block just written has received fewer pages since its last merge. If writes return to a
/// logical block only after all others were written, all have received one page, and deferred
/// merges cause less than 2 % more erases, too.
#[test]
fn merges_in_advance_cost_no_extra_erases_but_deferred_merges_may() {
    let merging = Family::defaults()
        .into_iter()
        .filter(|family| ["log-block", "hybrid"].contains(&family.name()));
    for family in merging {
        let (agc, combined) = (
            Scheduling::Agc(Agc::default()),
            Scheduling::AgcDgc(AgcDgc::default()),
        );
        assert!(erases_over_on_demand(&family, &agc, true) < 1.02);
        assert!(erases_over_on_demand(&family, &combined, true) > 1.1);
        assert!(erases_over_on_demand(&family, &combined, false) < 1.02);
    }
}

/// Requests are served, and reads return what was written, with three pairs of GC check and
/// free-block threshold, every schedule, and static and dynamic allocation. At the end, every plane
/// without GC in progress has its GC reserve.
#[test]
fn writes_find_space_with_gc_thresholds_of_zero_and_three_blocks() {
    let dimensions = Dimensions {
        channels: 2,
        ways: 1,
        dies: 1,
        planes: 2,
    };
    let load = Load {
        requests: 600,
        read_ratio: 0.2,
        grain_bytes: PAGE,
        most_bytes: 4 * PAGE,
        footprint_ratio: 1.0,
    };
    let allocations = [
        Allocate::Static(Static::default()),
        Allocate::Dynamic(Dynamic::default()),
    ];
    for (schedule, turn) in Scheduling::defaults().into_iter().zip(0..) {
        for allocate in &allocations {
            for (check, threshold) in [
                (Check::EachPage, 0),
                (Check::FullBlock, 0),
                (Check::FullBlock, 3),
            ] {
                let mut config = Config {
                    over_provisioning_ratio: 0.35,
                    allocate: allocate.clone(),
                    ..Config::default()
                };
                config.gc.schedule = schedule.clone();
                config.gc.own_block = turn % 2 == 0;
                config.gc.check = check;
                config.gc.start_free_blocks = Some(threshold);
                let plan = plan(&config, dimensions, 12, 8, 16).unwrap();
                let (mapping, fill) = (Map::new(&plan.ftl), plan.ftl.user_pages);
                let (tally, _, ssd) = closed_loop(&plan, mapping, load, fill, true).unwrap();
                ssd.mapping().audit().unwrap();
                assert!(tally.collections > 20, "{}", tally.collections);
                check_reserve(&plan, &ssd);
            }
        }
    }
}
