//! Power cuts at any event, in any mapping family, under any schedule: no data acknowledged as
//! durable may be lost, and the device continues.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use shared::{Load, Tally, plan, reader};
use wordline_block::{BlockDevice, Op, Request};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::mapping::Family;
use wordline_ftl::refresh::target::in_place::InPlace;
use wordline_ftl::refresh::{Refresh, Steps, Target};
use wordline_ftl::slc_cache::SlcCache;
use wordline_ftl::{Config, Map, Precondition};
use wordline_io_scheduler::Composition;
use wordline_kernel::{AnyProbe, Context, EventQueue, Rng, Time};
use wordline_reliability::ecc::Correct;
use wordline_reliability::{Ecc, Errors};
use wordline_ssd::{DeviceError, Event, Plan, Ssd};

/// Outcome of a run with power cuts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    cuts: u32,
    lost: u64,
    torn: u32,
    recoveries: Time,
    refreshes: u64,
}

impl Seen {
    /// Adds the outcome of another run.
    fn add(&mut self, other: &Self) {
        self.cuts += other.cuts;
        self.lost += other.lost;
        self.torn += other.torn;
        self.recoveries += other.recoveries;
        self.refreshes += other.refreshes;
    }
}

/// Keeps the device busy, with pauses, and repeatedly cuts its power after at most `gap` events.
fn run(plan: &Plan, seed: u64, requests: u64, gap: u64) -> Result<Seen, DeviceError> {
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    ssd.expect_power_cuts();
    let mut random = Rng::new(seed, "power");
    let precondition = Precondition {
        fill_pages: random.below(u64::from(plan.ftl.user_pages) + 1) as u32,
        scattered: false,
        overwrite_pages: random.below(2) * 400,
        settle: None,
        seed,
    };
    ssd.precondition(&precondition, |_| true)?;
    ssd.verify();
    let load = Load {
        requests,
        read_ratio: 0.3,
        grain_bytes: if random.below(2) == 0 { 4096 } else { 512 },
        most_bytes: 4096 << random.below(4),
        footprint_ratio: if random.below(2) == 0 { 1.0 } else { 0.3 },
    };
    let mut queue = EventQueue::<Event>::default();
    let (mut tally, mut seen) = (Tally::default(), Seen::default());
    let (mut now, mut issued, mut pause) = (Time::ZERO, 0, Time::ZERO);
    let mut left = 1 + random.below(gap);
    loop {
        while issued < requests && ssd.can_accept(0) && now >= pause {
            let (mut op, offset, bytes) = load.next(ssd.user_bytes(), &mut random);
            if random.below(12) == 0 {
                op = Op::Trim;
            }
            let request = Request {
                stream: 0,
                op,
                fua: false,
                offset,
                bytes,
                arrival: now,
            };
            ssd.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
                request,
            )?;
            issued += 1;
            if random.below(200) == 0 {
                pause = now + Time::from_ms(1 + random.below(2_000));
            }
        }
        match queue.pop() {
            Some((time, event)) => {
                now = time;
                ssd.handle(
                    &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
                    event,
                )?;
            }
            None if issued < requests => now = now.max(pause),
            None => break,
        }
        ssd.completions().for_each(drop);
        left -= 1;
        if left == 0 {
            left = 1 + random.below(gap);
            queue = EventQueue::default();
            let cut = ssd.cut_power(now, &mut tally)?;
            assert_eq!(ssd.completions().count() as u32, cut.requests_lost);
            now += cut.time;
            seen.cuts += 1;
            seen.lost += u64::from(cut.requests_lost);
            seen.torn += cut.pages_torn;
            seen.recoveries += cut.time;
        }
    }
    let (family, schedule) = (&plan.ftl.config.mapping, &plan.ftl.config.gc.schedule);
    assert_eq!(
        ssd.outstanding(),
        0,
        "every request is served or lost: {family:?}, {schedule:?}, seed {seed}, {seen:?}"
    );
    assert_eq!(tally.requests + seen.lost, requests);
    seen.refreshes = tally.refreshes;
    Ok(seen)
}

/// Returns a small random device; `None` if the family does not fit on it or does not use the
/// schedule.
fn draw(family: &Family, schedule: &Scheduling, random: &mut Rng) -> Option<Plan> {
    let dimensions = Dimensions {
        channels: 1 + random.below(2) as u32,
        ways: 1 + random.below(2) as u32,
        dies: 1,
        planes: 1 + random.below(2) as u32,
    };
    let mut config = Config {
        over_provisioning_ratio: 0.15 + 0.45 * random.unit(),
        mapping: family.clone(),
        ..Config::default()
    };
    config.gc.schedule = schedule.clone();
    config.gc.own_block = random.below(3) > 0;
    let blocks = 10 + random.below(30) as u32;
    let pages = 2 + random.below(14) as u32;
    let depth = 1 + random.below(24) as u32;
    let mut plan = plan(&config, dimensions, blocks, pages, depth)?;
    if random.below(2) == 0 {
        let mut all = Composition::defaults().into_iter();
        plan.composition = all.find(|member| member.name() == "greedy").unwrap();
    }
    plan.internal_data_move = random.below(2) == 0;
    Some(plan)
}

#[test]
fn no_acknowledged_data_are_lost() {
    let mut random = Rng::new(5, "draw");
    let (mut runs, mut all) = (0, Seen::default());
    for round in 0..ROUNDS {
        for family in Family::defaults() {
            for schedule in Scheduling::defaults() {
                let Some(plan) = draw(&family, &schedule, &mut random) else {
                    continue;
                };
                let told = format!("{} {} {round}", family.name(), schedule.name());
                let seen = run(&plan, round, 400, 600)
                    .unwrap_or_else(|error| panic!("{told}: {error}\n{:?}", plan.ftl));
                runs += 1;
                all.add(&seen);
            }
        }
    }
    assert!(runs > 20 * ROUNDS, "only {runs} runs");
    assert!(
        all.cuts > runs as u32 && all.torn > 0 && all.lost > 0,
        "{all:?}"
    );
}

/// The devices have an SLC cache, whose full blocks are folded in pauses.
#[test]
fn no_acknowledged_data_are_lost_with_an_slc_cache() {
    let mut random = Rng::new(6, "draw");
    let (mut runs, mut all) = (0, Seen::default());
    for round in 0..40 {
        for cache in SlcCache::defaults() {
            let schedules = Scheduling::defaults();
            let schedule = &schedules[round as usize % schedules.len()];
            let Some(mut plan) = draw(&Family::default(), schedule, &mut random) else {
                continue;
            };
            let mut config = plan.ftl.config.clone();
            config.slc_cache = cache;
            config.gc.own_block = true;
            let ftl = wordline_ftl::Plan::new(&config, plan.ftl.layout, plan.ftl.dimensions, 1);
            let Ok(ftl) = ftl else {
                continue;
            };
            plan.ftl = ftl.of_cells(3);
            let [read, program] = [10, 50].map(Time::from_us);
            plan.part.chains = plan.part.chains.with_single_level(read, program);
            let seen = run(&plan, round, 400, 600)
                .unwrap_or_else(|error| panic!("{round}: {error}\n{:?}", plan.ftl));
            runs += 1;
            all.add(&seen);
        }
    }
    assert!(runs > 80, "only {runs} runs");
    assert!(all.cuts > runs && all.torn > 0 && all.lost > 0, "{all:?}");
}

/// On the devices, read reclaim returns data to their block, with all kinds of steps.
#[test]
fn no_acknowledged_data_are_lost_with_in_place_refresh() {
    let mut random = Rng::new(7, "draw");
    let (mut runs, mut all) = (0, Seen::default());
    for round in 0..60 {
        for family in Family::defaults() {
            if !["page", "dftl"].contains(&family.name()) {
                continue;
            }
            let schedules = Scheduling::defaults();
            let schedule = &schedules[round as usize % schedules.len()];
            let Some(mut plan) = draw(&family, schedule, &mut random) else {
                continue;
            };
            let steps = [Steps::Schedule, Steps::Page, Steps::Block];
            plan.ftl.config.refresh = Refresh {
                target: Target::InPlace(InPlace {}),
                steps: steps[random.below(3) as usize],
            };
            let mut reader = reader(Errors::default(), Ecc::default().code().unwrap());
            reader.read_limit = 3 + random.below(20) as u32;
            plan.part.reader = Some(Box::new(reader));
            let seen = run(&plan, round, 400, 600)
                .unwrap_or_else(|error| panic!("{round}: {error}\n{:?}", plan.ftl));
            runs += 1;
            all.add(&seen);
        }
    }
    assert!(runs > 80, "only {runs} runs");
    assert!(all.cuts > runs && all.torn > 0 && all.lost > 0, "{all:?}");
    assert!(all.refreshes > u64::from(runs), "{all:?}");
}

const ROUNDS: u64 = 8;

/// Equal cuts cause equal losses.
#[test]
fn power_cuts_are_reproducible() {
    let mut random = Rng::new(9, "draw");
    let mut plans =
        std::iter::repeat_with(|| draw(&Family::default(), &Scheduling::default(), &mut random));
    let plan = plans.find_map(|plan| plan).unwrap();
    let seen = run(&plan, 3, 600, 500).unwrap();
    assert!(seen.cuts > 0);
    assert_eq!(run(&plan, 3, 600, 500).unwrap(), seen);
}
