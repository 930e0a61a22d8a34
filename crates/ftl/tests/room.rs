//! How much room a plan leaves: what it accepts goes on for ever, what it refuses would not.
#![allow(clippy::unwrap_used)] // outside test functions too, this file is a test

mod edge;
mod naive;

use std::collections::HashSet;

use edge::{config, fullest, layout, planes};
use naive::{Beside, Naive, Page};
use wordline_ftl::allocate::dynamic::Dynamic;
use wordline_ftl::allocate::r#static::Static;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::config::Gc;
use wordline_ftl::gc::victim::{Victim, fifo, greedy};
use wordline_ftl::instant::{Instant, InstantError};
use wordline_ftl::wear::Wear;
use wordline_ftl::{Config, Lpn, Mapping, Plan};
use wordline_nand::{Array, Block, Layout, Plane};

/// What a plane holds, up to the names of its logical pages and of its blocks, which make no
/// difference to a policy that looks at valid pages and ages only: the closed blocks, the oldest
/// first, the host's active block and that of collection; each a number, its pages as base-3 digits
/// after a leading 1.
type Held = [Vec<u32>; 3];

fn held(naive: &Naive, victim: &Victim, plane: Plane) -> Held {
    let [mut closed, host, moved] = naive.in_use(plane);
    if let Victim::Greedy(_) = victim {
        closed.sort_by_key(|&block| (naive.current(block), naive.changed(block)));
    }
    let digit = |page: &Page| match page {
        Page::Erased => 0,
        Page::Stale => 1,
        Page::Current(..) => 2,
    };
    let number = |block: Block| {
        let pages = naive.pages(block).iter();
        pages.fold(1, |number, page| number * 3 + digit(page))
    };
    [closed, host, moved].map(|blocks| blocks.into_iter().map(number).collect())
}

/// The planes in the order in which dynamic allocation will ask them, if `last` was written last.
fn walk(layout: Layout, last: Plane) -> impl Iterator<Item = Plane> {
    let planes = layout.planes();
    (1..=planes).map(move |step| Plane((last.0 + step) % planes))
}

/// What can come of writing a device, whatever is written.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// Every write can be carried out, and leaves no plane short of free blocks.
    Rests,
    /// Every write can be carried out; some leaves its plane with too few free blocks and nothing
    /// to collect.
    Short,
    /// Some write cannot be carried out.
    Full,
}

/// Goes through all states that a device can reach by any writes whatever.
fn fate(plan: &Plan) -> Fate {
    let mut short = false;
    let mut seen = HashSet::new();
    let mut ahead = vec![(Beside::new(plan), Array::new(plan.layout, u32::MAX))];
    while let Some((device, array)) = ahead.pop() {
        for page in (0..plan.user_pages).map(Lpn) {
            let (mut device, mut array) = (device.clone(), array.clone());
            let written = Instant::new(&mut device, &mut array, plan.layout).write(page);
            if written == Err(InstantError::Full(page.0)) {
                return Fate::Full;
            }
            written.unwrap();
            let place = device.lookup(page).unwrap();
            let last = plan.layout.plane_of(plan.layout.block_of(place));
            short |= device.wants_collection(last);
            let held = |plane| held(&device.naive, &plan.config.gc.victim, plane);
            if seen.insert(walk(plan.layout, last).map(held).collect::<Vec<Held>>()) {
                device.naive.compare(&device.map, &array);
                ahead.push((device, array));
            }
        }
    }
    if short { Fate::Short } else { Fate::Rests }
}

/// The victim policies whose choices depend on nothing but what a plane holds.
fn certain() -> [Victim; 2] {
    [
        Victim::Greedy(greedy::Greedy::default()),
        Victim::Fifo(fifo::Fifo::default()),
    ]
}

/// Progress for ever and not just for long. With static allocation a device is as many devices of
/// one plane, so that one is enough.
#[test]
fn the_fullest_planes_reach_their_threshold_after_any_writes_for_ever() {
    for (own_block, reserve, blocks, pages) in [
        (false, 1, 3, 2),
        (false, 1, 3, 5),
        (false, 1, 4, 3),
        (false, 1, 5, 3),
        (false, 2, 6, 2),
        (true, 1, 4, 2),
        (true, 1, 4, 4),
        (true, 1, 5, 3),
        (true, 1, 6, 2),
        (true, 2, 6, 2),
    ] {
        let allocate = Allocate::Static(Static::default());
        for victim in certain() {
            let mut config = config(&allocate, &victim, &Wear::default(), own_block);
            config.gc.hard_free_ratio = f64::from(reserve) / f64::from(blocks);
            let mut plan = fullest(&config, planes(1, 1, 1, 1), blocks, pages, 0).unwrap();
            assert_eq!(plan.reserve_blocks, reserve);
            assert_eq!(fate(&plan), Fate::Rests, "{plan:?}");

            // The check leaves one page on the table: the host's active block, if it is not full,
            // holds at least the page that was written last.
            plan.user_pages += 2;
            if let Victim::Fifo(_) = plan.config.gc.victim {
                assert_eq!(fate(&plan), Fate::Short, "{plan:?}");
            }
            // All blocks but the reserve and collection's active block can fill with valid pages.
            let most = blocks - reserve - u32::from(own_block);
            plan.user_pages = most * pages - 1;
            assert_ne!(fate(&plan), Fate::Full, "{plan:?}");
            plan.user_pages += 1;
            assert_eq!(fate(&plan), Fate::Full, "{plan:?}");
        }
    }
}

/// The same where a write may go to any plane, which may then hold more than its share.
#[test]
fn the_fullest_devices_under_dynamic_allocation_take_any_writes_for_ever() {
    for (own_block, channels, blocks, pages) in [
        (false, 2, 3, 2),
        (false, 2, 4, 2),
        (false, 3, 3, 2),
        (true, 2, 4, 2),
        (true, 2, 5, 2),
        (true, 3, 4, 2),
    ] {
        let allocate = Allocate::Dynamic(Dynamic::default());
        for victim in certain() {
            let config = config(&allocate, &victim, &Wear::default(), own_block);
            let plan = fullest(&config, planes(channels, 1, 1, 1), blocks, pages, 0).unwrap();
            assert_ne!(fate(&plan), Fate::Full, "{plan:?}");
        }
    }
}

/// One page more than the planes hold together would be one too many for one of them.
#[test]
fn planes_share_a_device_evenly_and_the_largest_share_has_to_fit() {
    for config in edge::configs() {
        let pages = |channels| {
            let plan = fullest(&config, planes(channels, 1, 1, 1), 7, 4, 0).unwrap();
            plan.user_pages
        };
        assert_eq!(
            [2, 3].map(pages),
            [2, 3].map(|channels| channels * pages(1))
        );
    }
}

const DIMENSIONS: Dimensions = planes(2, 1, 1, 2);

/// What is wrong with `config` on 2 x 2 planes of 16 blocks of 10 pages: the key and the message.
fn refusal(change: impl FnOnce(&mut Config)) -> (&'static str, String) {
    let mut config = Config::default();
    change(&mut config);
    let error = Plan::new(&config, layout(DIMENSIONS, 16, 10), DIMENSIONS, 1).unwrap_err();
    (error.key, error.to_string())
}

#[test]
fn a_device_without_room_is_refused_with_its_numbers() {
    let (key, message) = refusal(|config| config.over_provisioning_ratio = 0.05);
    assert_eq!(key, "ftl.over_provisioning_ratio");
    assert_eq!(
        message,
        "ftl.over_provisioning_ratio: the 152 user pages of a plane fill 15 of its 16 blocks, and \
         garbage collection needs 4 (threshold 2, active 2); raise it, lower \
         ftl.gc.start_free_ratio, or give a plane more blocks"
    );
    let (key, message) = refusal(|config| config.over_provisioning_ratio = 0.999);
    assert_eq!(key, "ftl.over_provisioning_ratio");
    assert!(
        message.contains("no page is left for the host"),
        "{message}"
    );
    let (key, _) = refusal(|config| config.gc.hard_free_ratio = 0.9);
    assert_eq!(key, "ftl.over_provisioning_ratio");
    let (key, message) = refusal(|config| config.gc.start_free_pages = 1000);
    assert_eq!(key, "ftl.gc.start_free_pages");
    assert!(
        message.contains("lower it, raise ftl.over_provisioning_ratio"),
        "{message}"
    );
}

#[test]
fn blocks_too_large_for_the_books_and_planes_that_are_not_there_are_refused() {
    let config = Config::default();
    let one = planes(1, 1, 1, 1);
    let plan = |pages, dimensions| Plan::new(&config, layout(one, 100, pages), dimensions, 1);
    assert!(plan(65_535, one).is_ok());
    let error = plan(65_536, one).unwrap_err();
    assert_eq!(error.key, "nand.geometry.pages_per_block");
    let error = plan(64, planes(2, 1, 1, 1)).unwrap_err();
    assert_eq!(error.key, "ssd.channels");
}

#[test]
fn a_share_that_is_whole_in_decimals_is_whole() {
    // In binary 0.29 * 100 is 28.999999999999996 and 1 - 0.07 is 0.9299999999999999.
    let config = |spare, start_free_ratio| Config {
        over_provisioning_ratio: spare,
        gc: Gc {
            start_free_ratio,
            ..Gc::default()
        },
        ..Config::default()
    };
    let one = planes(1, 1, 1, 1);
    let plan = |config: Config| Plan::new(&config, layout(one, 100, 1), one, 1).unwrap();
    assert_eq!(plan(config(0.5, 0.29)).start_blocks, 29);
    assert_eq!(plan(config(0.07, 0.0)).user_pages, 93);
}
