//! Background GC: when it stops, and how much it delays a request.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use shared::{at, plan, play};
use wordline_block::{Op, Request};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::gc::schedule::background::Background;
use wordline_ftl::{Config, Map, Mapping, Precondition};
use wordline_kernel::{Rng, Time};
use wordline_nand::{Operation, Plane};
use wordline_ssd::{Plan, Ssd};

const PAGE: u64 = 4096;

fn device(free_ratio: f64, preemptible: bool) -> (Plan, Ssd<Map>) {
    let mut config = Config {
        over_provisioning_ratio: 0.25,
        ..Config::default()
    };
    config.gc.schedule = Scheduling::Background(Background {
        after_ms: 1.0,
        free_ratio,
        preemptible,
    });
    let dimensions = Dimensions {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let plan = plan(&config, dimensions, 64, 32, 64).unwrap();
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    let precondition = Precondition {
        fill_pages: plan.ftl.user_pages,
        scattered: false,
        overwrite_pages: 2_000,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&precondition, |_| true).unwrap();
    ssd.verify();
    (plan, ssd)
}

/// Without host requests, GC continues until the number of free blocks is exactly that of the stop
/// rule.
#[test]
fn background_gc_stops_as_soon_as_its_stop_rule_is_met() {
    for ratio in [0.2, 0.5, 0.8] {
        for preemptible in [false, true] {
            let (plan, mut ssd) = device(ratio, preemptible);
            let write = at(Time::ZERO, Op::Write, 0, PAGE);
            let (_, tally) = play(&mut ssd, &[write]);
            let free = ssd.mapping().free_blocks_of(Plane(0));
            let wanted = (ratio * f64::from(plan.ftl.spare_blocks())).ceil() as u32;
            assert_eq!(free, wanted.max(plan.ftl.start_blocks), "{ratio}");
            assert!(tally.collections > 0);
        }
    }
}

/// A read during preemptible GC waits for at most one flash operation. If GC is not preemptible,
/// the longest response time is more than twice as long.
#[test]
fn preemptible_gc_delays_a_request_by_at_most_one_operation() {
    let mut random = Rng::new(1, "background");
    let mut longest = [Time::ZERO; 2];
    for _ in 0..150 {
        let arrival = Time::from_us(1_500 + random.below(60_000));
        let page = random.below(1_000);
        for preemptible in [false, true] {
            let (plan, mut ssd) = device(0.6, preemptible);
            let asked: [Request; 2] = [
                at(Time::ZERO, Op::Read, 0, PAGE),
                at(arrival, Op::Read, page * PAGE, PAGE),
            ];
            let (played, _) = play(&mut ssd, &asked);
            let alone = played[0].done;
            let chains = &plan.part.chains;
            let erase = chains.unloaded(Operation::Erase, 0);
            let took = played[1].done - arrival;
            let longest = &mut longest[usize::from(preemptible)];
            *longest = took.max(*longest);
            assert!(
                !preemptible || took <= alone + erase,
                "the request at {arrival} took {took}"
            );
        }
    }
    assert!(longest[0] > Time(2 * longest[1].0), "{longest:?}");
}
