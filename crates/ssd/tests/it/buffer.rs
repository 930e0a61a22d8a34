//! DRAM buffer with every policy and random sizes: reads return what was written, latency
//! components add up, every request is served, and a power cut loses no more than allowed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use shared::{Load, Tally, plan};
use wordline_block::{BlockDevice, Op, Request};
use wordline_cache::Replacement;
use wordline_dram_buffer as buffer;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::mapping::Family;
use wordline_ftl::{Config, Map, Precondition};
use wordline_kernel::{AnyProbe, Context, EventQueue, Rng, Time};
use wordline_ssd::{DeviceError, Event, Plan, Ssd};

/// Outcome of a run.
#[derive(Debug, Default)]
struct Seen {
    tally: Tally,
    cuts: u32,
    lost: u32,
    saved: u32,
    lost_requests: u64,
}

/// Runs verified reads, writes, TRIMs, flushes and FUA writes, with power cuts after at most `gap`
/// events if `gap` is set.
fn run(plan: &Plan, seed: u64, requests: u64, gap: Option<u64>) -> Result<Seen, DeviceError> {
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    if gap.is_some() {
        ssd.expect_power_cuts();
    }
    let mut random = Rng::new(seed, "buffer");
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
        read_ratio: random.unit(),
        grain_bytes: [4096, 512, 100][random.below(3) as usize],
        most_bytes: 4096 << random.below(4),
        footprint_ratio: [1.0, 0.3, 0.02][random.below(3) as usize],
    };
    let through = plan.buffer.as_ref().unwrap().write_through;
    let mut queue = EventQueue::<Event>::default();
    let mut seen = Seen::default();
    let (mut now, mut issued) = (Time::ZERO, 0);
    let mut left = gap.map_or(u64::MAX, |gap| 1 + random.below(gap));
    loop {
        while issued < requests && ssd.can_accept(0) {
            let (op, offset, bytes) = load.next(ssd.user_bytes(), &mut random);
            let (op, offset, bytes) = match random.below(40) {
                0 => (Op::Flush, 0, 0),
                1 | 2 => (Op::Trim, offset, bytes),
                _ => (op, offset, bytes),
            };
            let request = Request {
                stream: 0,
                op,
                fua: random.below(10) == 0,
                offset,
                bytes,
                arrival: now,
            };
            ssd.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut seen.tally)),
                request,
            )?;
            issued += 1;
        }
        let Some((time, event)) = queue.pop() else {
            break;
        };
        now = time;
        ssd.handle(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut seen.tally)),
            event,
        )?;
        ssd.completions().for_each(drop);
        ssd.audit().unwrap_or_else(|fault| panic!("{now}: {fault}"));
        if through && seen.cuts == 0 && ssd.outstanding() == 0 {
            let dirty = ssd.dirty_pages();
            assert_eq!(dirty, 0, "a write-through buffer has no dirty pages");
        }
        left -= 1;
        if left == 0 {
            left = 1 + random.below(gap.unwrap_or(1));
            queue = EventQueue::default();
            let cut = ssd.cut_power(now, &mut seen.tally)?;
            assert_eq!(ssd.completions().count() as u32, cut.requests_lost);
            now += cut.time;
            seen.cuts += 1;
            seen.lost += cut.pages_lost;
            seen.saved += cut.pages_saved;
            seen.lost_requests += u64::from(cut.requests_lost);
        }
    }
    assert_eq!(ssd.outstanding(), 0, "every request is served or lost");
    assert_eq!(seen.tally.requests + seen.lost_requests, requests);
    Ok(seen)
}

/// Returns the plan of a small random device with a buffer; `None` if the mapping family does not
/// fit on it.
fn draw(replacement: &Replacement, random: &mut Rng) -> Option<Plan> {
    let dimensions = Dimensions {
        channels: 1 + random.below(2) as u32,
        ways: 1 + random.below(2) as u32,
        dies: 1,
        planes: 1 + random.below(2) as u32,
    };
    let families = Family::defaults();
    let config = Config {
        over_provisioning_ratio: 0.15 + 0.45 * random.unit(),
        mapping: families[random.below(families.len() as u64) as usize].clone(),
        ..Config::default()
    };
    let blocks = 10 + random.below(30) as u32;
    let pages = 2 + random.below(14) as u32;
    let depth = 1 + random.below(24) as u32;
    let mut plan = plan(&config, dimensions, blocks, pages, depth)?;
    let pages = 2 + random.below(40) as u32;
    plan.buffer = Some(buffer::Plan {
        pages,
        replacement: replacement.clone(),
        write_through: random.below(4) == 0,
        capacitors: random.below(2) == 0,
        ignores_flush: false,
        watches_balance: false,
        batch_pages: if random.below(2) == 0 {
            0
        } else {
            1 + random.below(u64::from(pages)) as u32 / 2
        },
        idle_flush: (random.below(3) == 0).then(|| Time::from_us(random.below(3_000))),
        read_ahead: [0, 1, 5][random.below(3) as usize],
        access: Time::from_ns(100 * random.below(2)),
        port: (
            [3_200_000, 100_000][random.below(2) as usize],
            1_000_000_000,
        ),
    });
    Some(plan)
}

/// Returns all replacement policies that a buffer can use.
fn policies() -> Vec<Replacement> {
    let mut all = Replacement::defaults();
    all.retain(buffer::Plan::takes);
    all
}

#[test]
fn reads_return_what_was_written() {
    let mut random = Rng::new(1, "draw");
    let mut hits = [0; 2];
    for round in 0..40 {
        for policy in policies() {
            let Some(plan) = draw(&policy, &mut random) else {
                continue;
            };
            let told = format!("{} {round}: {:?}", policy.name(), plan.buffer);
            let seen =
                run(&plan, round, 500, None).unwrap_or_else(|error| panic!("{told}: {error}"));
            for (sum, count) in hits.iter_mut().zip(seen.tally.hits) {
                *sum += count;
            }
        }
    }
    assert!(hits[0] > 10_000 && hits[1] > 10_000, "{hits:?}");
}

/// Cuts the power of devices with all policies in `rounds` rounds. Returns the numbers of cuts, of
/// pages lost and of pages saved.
fn cut(seed: u64, rounds: u64, requests: u64, gap: u64) -> [u64; 3] {
    let mut random = Rng::new(seed, "draw");
    let mut sums = [0; 3];
    for round in 0..rounds {
        for policy in policies() {
            let Some(plan) = draw(&policy, &mut random) else {
                continue;
            };
            let told = format!("{} {round}: {:?}", policy.name(), plan.buffer);
            let seen = run(&plan, round, requests, Some(gap))
                .unwrap_or_else(|error| panic!("{told}: {error}\n{:?}", plan.ftl.config));
            let kept = plan.buffer.unwrap().capacitors;
            let wrong = if kept { seen.lost } else { seen.saved };
            assert_eq!(wrong, 0, "{told}");
            for (sum, count) in sums.iter_mut().zip([seen.cuts, seen.lost, seen.saved]) {
                *sum += u64::from(count);
            }
        }
    }
    sums
}

#[test]
fn power_cut_loses_pages_only_without_capacitors() {
    let sums = cut(2, 30, 400, 600);
    assert!(sums.iter().all(|sum| *sum > 1_000), "{sums:?}");
}

/// Like `power_cut_loses_pages_only_without_capacitors`, with more than a million requests.
#[test]
#[ignore = "takes a minute in an optimised build; run by `make test-slow`, a shorter variant always runs"]
fn power_cut_loses_pages_only_without_capacitors_in_a_long_run() {
    let sums = cut(3, 450, 400, 600);
    assert!(sums.iter().all(|sum| *sum > 10_000), "{sums:?}");
}
