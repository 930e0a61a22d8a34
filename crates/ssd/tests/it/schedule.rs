//! Laws that every scheduler obeys, on random devices. Each operation is served exactly once: a
//! missing one is found at the end, and one served twice breaks the count. No read precedes the
//! program that it depends on, and no program an earlier one of its block; the array rejects both.
//! Commands satisfy the plane rule, which is asserted when they are built. With an age bound no
//! operation starves.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use shared::{Load, closed_loop, plan};
use wordline_block::{BlockDevice, Op, Request};
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::{Config, PageMap};
use wordline_io_scheduler::Composition;
use wordline_io_scheduler::schedule::{Scheduler, paq2, read_first, sprinkler};
use wordline_kernel::{AnyProbe, Context, EventQueue, Probe, Rng, Time};
use wordline_nand::{PlaneRule, Suspend};
use wordline_ssd::{Observation, Plan, Ssd};

fn composition(name: &str) -> Composition {
    let mut all = Composition::defaults().into_iter();
    all.find(|member| member.name() == name).unwrap()
}

fn config(over_provisioning_ratio: f64) -> Config {
    Config {
        over_provisioning_ratio,
        ..Config::default()
    }
}

fn suspending() -> Suspend {
    Suspend {
        program: true,
        erase: true,
        program_suspend_ns: 20_000,
        erase_suspend_ns: 40_000,
        resume_ns: 10_000,
        most: 3,
        longest_ns: 5_000_000,
    }
}

fn drawn(random: &mut Rng, scheduler: &Scheduler) -> Option<Plan> {
    let mut below = |bound: u64| random.below(bound);
    let dimensions = Dimensions {
        channels: 1 + below(3) as u32,
        ways: 1 + below(3) as u32,
        dies: 1 + below(2) as u32,
        planes: 1 << below(3),
    };
    let mut config = config(0.4);
    config.gc.own_block = below(2) == 0;
    let allocations = Allocate::defaults();
    config.allocate = allocations[below(allocations.len() as u64) as usize].clone();
    if let Allocate::Static(policy) = &mut config.allocate {
        policy.on_issue = below(2) == 0;
    }
    let depth = 1 + below(40) as u32;
    let mut plan = plan(&config, dimensions, 12, 8, depth)?;
    plan.scheduler = scheduler.clone();
    plan.composition = Composition::defaults()[below(3) as usize].clone();
    plan.part.plane_rule =
        [PlaneRule::PageOffset, PlaneRule::PageAndBlockOffset][below(2) as usize];
    plan.internal_data_move = below(2) == 0;
    if below(3) == 0 {
        plan.part.suspend = suspending();
    }
    if below(3) == 0 {
        plan.first_read_pages = plan.ftl.user_pages / 2;
    }
    Some(plan)
}

#[test]
fn every_scheduler_serves_every_operation_once_and_correctly() {
    let mut random = Rng::new(4, "devices");
    let mut collections = 0;
    for number in 0..40 {
        for scheduler in Scheduler::defaults() {
            let Some(plan) = drawn(&mut random, &scheduler) else {
                continue;
            };
            let load = Load {
                requests: 800,
                read_ratio: 0.1 + 0.1 * f64::from(number % 9),
                grain_bytes: 2048,
                most_bytes: 4096 * (1 + random.below(8)),
                footprint_ratio: [1.0, 0.1][random.below(2) as usize],
            };
            let fill = plan.ftl.user_pages / 2;
            let run = closed_loop(&plan, PageMap::new(&plan.ftl), load, fill, true);
            let (tally, ..) = run.unwrap_or_else(|error| panic!("{error}; {plan:?}"));
            collections += tally.collections;
        }
    }
    assert!(collections > 5_000, "{collections} collections");
}

/// Time of each request in the device's queue, and the number of requests.
#[derive(Default)]
struct Waits {
    queue: Vec<Time>,
    done: u64,
}

impl Probe<Observation> for Waits {
    fn observe(&mut self, _now: Time, observation: Observation) {
        if let Observation::Request { parts, .. } = observation {
            self.queue.push(parts.queue);
            self.done += 1;
        }
    }
}

/// Operation that may starve among reads of die 0.
#[derive(Clone, Copy)]
enum Victim {
    /// Writes to the same die.
    Writes,
    /// Reads of the other die of the package.
    OtherDie,
}

/// Returns the longest time in the device's queue if the queue is kept full of reads of one die and
/// every 100th request is a victim.
fn longest_wait(scheduler: Scheduler, victim: Victim) -> Time {
    let dimensions = Dimensions {
        channels: 1,
        ways: 1,
        dies: 2,
        planes: 1,
    };
    let mut plan = plan(&config(0.4), dimensions, 64, 32, 8).unwrap();
    plan.scheduler = scheduler;
    plan.composition = composition("greedy");
    let mut ssd = Ssd::new(&plan, PageMap::new(&plan.ftl));
    let fill = wordline_ftl::Precondition {
        fill_pages: plan.ftl.user_pages,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&fill, |_| true).unwrap();
    let (mut queue, mut waits) = (EventQueue::default(), Waits::default());
    let mut random = Rng::new(5, "pages");
    let (mut now, mut issued) = (Time::ZERO, 0_u64);
    loop {
        while issued < 3_000 && ssd.can_accept(0) {
            let is_victim = issued % 100 == 50;
            let (op, die) = match victim {
                Victim::Writes if is_victim => (Op::Write, 0),
                Victim::OtherDie if is_victim => (Op::Read, 1),
                _ => (Op::Read, 0),
            };
            let request = Request {
                stream: 0,
                op,
                fua: false,
                offset: (random.below(u64::from(plan.ftl.user_pages) / 2) * 2 + die) * 4096,
                bytes: 4096,
                arrival: now,
            };
            ssd.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut waits)),
                request,
            )
            .unwrap();
            issued += 1;
        }
        let Some((time, event)) = queue.pop() else {
            break;
        };
        now = time;
        ssd.handle(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut waits)),
            event,
        )
        .unwrap();
    }
    assert_eq!(waits.done, 3_000);
    waits.queue.into_iter().max().unwrap()
}

/// An overdue operation goes to its die, behind the committed ones: at most seven others, each
/// shorter than a millisecond. No operation therefore waits for the scheduler much longer than the
/// bound. Without a bound, each victim starves.
#[test]
fn no_operation_starves_with_an_age_bound() {
    let bound_us = 2_000.0;
    let most = Time::from_us(2_000) + Time::from_ms(1);
    let read_first = |age_bound_us| Scheduler::ReadFirst(read_first::ReadFirst { age_bound_us });
    let sprinkler = |age_bound_us| {
        Scheduler::Sprinkler(sprinkler::Sprinkler {
            age_bound_us,
            over_commitment: 1,
        })
    };
    let paq2 = |age_bound_us| {
        Scheduler::Paq2(paq2::Paq2 {
            age_bound_us,
            interleaves: false,
            ..paq2::Paq2::default()
        })
    };
    let check = |name, victim, policy: &dyn Fn(f64) -> Scheduler| {
        let bounded = longest_wait(policy(bound_us), victim);
        let unbounded = longest_wait(policy(0.0), victim);
        assert!(bounded <= most, "{name}: {bounded}");
        assert!(
            unbounded > most * 2,
            "{name} starves no operation: {unbounded}"
        );
    };
    check("read-first", Victim::Writes, &read_first);
    check("sprinkler", Victim::OtherDie, &sprinkler);
    check("paq2", Victim::OtherDie, &paq2);
}

/// With one request at a time, all schedulers take equal time, except for the time of the search.
#[test]
fn schedulers_differ_only_in_search_time_for_one_request_at_a_time() {
    let dimensions = Dimensions {
        channels: 2,
        ways: 2,
        dies: 2,
        planes: 1,
    };
    let mut means = Vec::new();
    for scheduler in Scheduler::defaults() {
        let mut plan = plan(&config(0.4), dimensions, 32, 16, 1).unwrap();
        plan.scheduler = scheduler;
        let load = Load {
            requests: 500,
            read_ratio: 1.0,
            grain_bytes: 4096,
            most_bytes: 4096,
            footprint_ratio: 1.0,
        };
        let fill = plan.ftl.user_pages;
        let (tally, ..) = closed_loop(&plan, PageMap::new(&plan.ftl), load, fill, true).unwrap();
        means.push((plan.scheduler.name(), tally.latency_ps / 500));
    }
    let (_, immediate) = means[0];
    for (name, mean) in means {
        let search = u128::from(name.starts_with("paq")) * 1_770_000;
        assert_eq!(mean, immediate + search, "{name}");
    }
}
