//! Loads of the dies that a replacement policy sees: they include all earlier decisions, whether or
//! not the flash has received them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use shared::{Load, Tally, at, drive, plan};
use wordline_block::{BlockDevice, Op};
use wordline_cache::Replacement;
use wordline_cache::replacement::lcr::Lcr;
use wordline_dram_buffer as buffer;
use wordline_ftl::allocate::r#static::Static;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::mapping::Family;
use wordline_ftl::{Config, Map, Precondition};
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::{AnyProbe, Context, EventQueue, Rng, Time};
use wordline_nand::Die;
use wordline_ssd::{DeviceError, DieLoad, Event, Plan, Ssd};

const DIES: u64 = 4;

/// Liu et al., LCR, algorithms 1 and 2: a victim is flushed before the next one is chosen. A buffer
/// is full of dirty pages, and the least recently used ones are all on one die. A request with as
/// many pages as there are dies evicts one page of each die.
#[test]
fn evictions_of_one_request_are_spread_over_the_dies() {
    let config = Config {
        allocate: Allocate::Static(Static {
            order: "CWDP".parse().unwrap(),
            on_issue: false,
        }),
        ..Config::default()
    };
    let dimensions = Dimensions {
        channels: DIES as u32,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let mut plan = plan(&config, dimensions, 40, 16, 1).unwrap();
    let page_bytes = u64::from(plan.page_bytes);
    let pages = DIES * DIES;
    plan.buffer = Some(buffer::Plan {
        watches_balance: false,
        pages: pages as u32,
        replacement: Replacement::Lcr(Lcr { window_ratio: 1.0 }),
        write_through: false,
        capacitors: false,
        ignores_flush: false,
        batch_pages: 0,
        idle_flush: None,
        read_ahead: 0,
        access: Time::ZERO,
        port: (3_200_000, 1_000_000_000),
    });
    let (tally, _, ssd) = drive(
        &plan,
        Map::new(&plan.ftl),
        pages + 1,
        0,
        true,
        |_, number, _| {
            if number < pages {
                // Pages are written die by die: 0, 4, 8 and 12, then 1, 5, 9 and 13, and so on.
                let page = number % DIES * DIES + number / DIES;
                (Op::Write, page * page_bytes, page_bytes)
            } else {
                (Op::Write, pages * page_bytes, DIES * page_bytes)
            }
        },
    )
    .unwrap();
    assert_eq!(tally.evictions, [0, DIES]);
    let usage = ssd.stats().usage;
    let programs: Vec<Time> = usage.iter().map(|usage| usage.array[1]).collect();
    assert!(
        programs.iter().all(|time| *time > Time::ZERO),
        "every die programs one of the pages: {programs:?}"
    );
}

/// Maxima of a die's load.
#[derive(Debug, Default)]
struct Seen {
    reads: u32,
    programs: u32,
    collections: u32,
    /// Loads of more than one read or program. Count.
    queued: u64,
}

/// Keeps a small device busy, and recounts the loads of all dies after every event.
fn recount(plan: &Plan, seed: u64, requests: u64, seen: &mut Seen) -> Result<(), DeviceError> {
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    let mut random = Rng::new(seed, "chips");
    let full = Precondition {
        fill_pages: plan.ftl.user_pages,
        scattered: false,
        overwrite_pages: random.below(400),
        settle: None,
        seed,
    };
    ssd.precondition(&full, |_| true)?;
    let load = Load {
        requests,
        read_ratio: 0.4 * random.unit(),
        grain_bytes: [4096, 512][random.below(2) as usize],
        most_bytes: 4096 << random.below(3),
        footprint_ratio: [1.0, 0.2][random.below(2) as usize],
    };
    let mut queue = EventQueue::<Event>::default();
    let (mut tally, mut now, mut issued) = (Tally::default(), Time::ZERO, 0);
    loop {
        while issued < requests && ssd.can_accept(0) {
            let (op, offset, bytes) = load.next(ssd.user_bytes(), &mut random);
            let op = if random.below(30) == 0 { Op::Trim } else { op };
            ssd.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
                at(now, op, offset, bytes),
            )?;
            issued += 1;
            ssd.audit().unwrap_or_else(|fault| panic!("{now}: {fault}"));
        }
        let Some((time, event)) = queue.pop() else {
            break;
        };
        now = time;
        ssd.handle(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
            event,
        )?;
        ssd.completions().for_each(drop);
        ssd.audit().unwrap_or_else(|fault| panic!("{now}: {fault}"));
        for die in (0..plan.part.layout.dies).map(Die) {
            let load = ssd.die_load(die);
            seen.reads = seen.reads.max(load.reads);
            seen.programs = seen.programs.max(load.programs);
            seen.collections = seen.collections.max(load.collections);
            let idle = load.reads + load.programs + load.collections == 0;
            assert_eq!(ssd.die_time(die) == Time::ZERO, idle, "{load:?}");
            seen.queued += u64::from(load.reads + load.programs > 1);
        }
    }
    for die in (0..plan.part.layout.dies).map(Die) {
        assert_eq!(
            ssd.die_load(die),
            DieLoad::default(),
            "the idle die has no load"
        );
    }
    Ok(())
}

/// The incrementally maintained load of a die equals a recount of all operations that wait or are
/// in progress, in any queue, after every event.
#[test]
fn die_loads_equal_a_recount_of_all_operations() {
    let mut random = Rng::new(1, "draw");
    let (mut runs, mut seen) = (0, Seen::default());
    for scheduler in Scheduler::defaults() {
        for family in Family::defaults() {
            for composition in Composition::defaults() {
                let dimensions = Dimensions {
                    channels: 1 + random.below(2) as u32,
                    ways: 1,
                    dies: 1 + random.below(2) as u32,
                    planes: 2,
                };
                let mut config = Config {
                    over_provisioning_ratio: 0.2 + 0.3 * random.unit(),
                    mapping: family.clone(),
                    ..Config::default()
                };
                let schedules = Scheduling::defaults();
                let schedule = random.below(schedules.len() as u64) as usize;
                config.gc.schedule = schedules[schedule].clone();
                let depth = 4 + random.below(28) as u32;
                let Some(mut plan) = plan(&config, dimensions, 20, 8, depth) else {
                    continue;
                };
                plan.scheduler = scheduler.clone();
                plan.composition = composition.clone();
                plan.internal_data_move = random.below(2) == 0;
                plan.buffer = (random.below(3) == 0).then(|| buffer::Plan {
                    watches_balance: false,
                    pages: 1 + random.below(12) as u32,
                    replacement: Replacement::Lcr(Lcr { window_ratio: 0.5 }),
                    write_through: false,
                    capacitors: false,
                    ignores_flush: false,
                    batch_pages: 0,
                    idle_flush: None,
                    read_ahead: 0,
                    access: Time::ZERO,
                    port: (3_200_000, 1_000_000_000),
                });
                let told = format!(
                    "{} {} {} {}",
                    scheduler.name(),
                    family.name(),
                    composition.name(),
                    schedules[schedule].name()
                );
                recount(&plan, runs, 250, &mut seen)
                    .unwrap_or_else(|error| panic!("{told}: {error}"));
                runs += 1;
            }
        }
    }
    assert!(runs > 50, "{runs}");
    assert!(
        seen.reads > 4 && seen.programs > 4 && seen.collections > 0 && seen.queued > 1_000,
        "{seen:?}"
    );
}
