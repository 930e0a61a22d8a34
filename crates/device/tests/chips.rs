//! The load of the chips that a replacement policy sees: what was decided on before it chooses is in
//! it, whether the flash has it yet or not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod shared;

use shared::{drive, plan};
use wordline_cache::Replacement;
use wordline_cache::replacement::lcr::Lcr;
use wordline_device::{Op, buffer};
use wordline_ftl::allocate::r#static::Static;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::{Config, Map};
use wordline_kernel::Time;

const DIES: u64 = 4;

/// Liu et al., LCR, algorithms 1 and 2: a victim is flushed before the next one is chosen. A buffer is
/// full of dirty pages, the least recent of which are all on one chip; a request of as many pages as
/// there are chips evicts one of each.
#[test]
fn what_one_request_evicts_is_spread_over_the_chips() {
    let config = Config {
        allocate: Allocate::Static(Static {
            order: "CWDP".parse().unwrap(),
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
        pages: pages as u32,
        replacement: Replacement::Lcr(Lcr { window_ratio: 1.0 }),
        write_through: false,
        capacitors: false,
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
                // Die by die: pages 0, 4, 8, 12, then 1, 5, 9, 13, and so on.
                let page = number % DIES * DIES + number / DIES;
                (Op::Write, page * page_bytes, page_bytes)
            } else {
                (Op::Write, pages * page_bytes, DIES * page_bytes)
            }
        },
    )
    .unwrap();
    assert_eq!(tally.evictions, [0, DIES]);
    let programs: Vec<Time> = ssd.usage().map(|usage| usage.array[1]).collect();
    assert!(
        programs.iter().all(|time| *time > Time::ZERO),
        "every chip programs one of the pages: {programs:?}"
    );
}
