//! How much room a plan leaves: what it accepts goes on for ever, what it refuses would not.
#![allow(clippy::unwrap_used)] // outside test functions too, this file is a test

use crate::edge;
use crate::naive;

use std::collections::HashSet;

use edge::{config, fullest, layout, planes};
use naive::{Beside, Naive, Page};
use wordline_ftl::allocate::dynamic::Dynamic;
use wordline_ftl::allocate::r#static::Static;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::config::Gc;
use wordline_ftl::gc::check::Check;
use wordline_ftl::gc::victim::{Victim, fifo, greedy};
use wordline_ftl::mapping::Family;
use wordline_ftl::untimed::{FlashOps, InstantError, UntimedFtl};
use wordline_ftl::wear::Wear;
use wordline_ftl::{Config, Lpn, Mapping, PageMap, Plan};
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
            let written = UntimedFtl::new(&mut device, &mut array, plan.layout).write(page);
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

/// Whether collection may leave its own block open with copies in it. A collection that begins with that block full and ends with one free
/// block more has moved the pages of two victims or more. A greedy one has a victim without a valid page first, which ends it. In blocks
/// of two pages all its victims hold one valid page otherwise, and two of them fill the block. Oldest first, a victim of one valid page
/// may come before one of none.
fn may_leave_own_block_open(victim: &Victim, pages: u32) -> bool {
    pages > 2 || matches!(victim, Victim::Fifo(_))
}

/// With a threshold of 0 a plane collects only when a write finds no room. All blocks but the reserve and collection's own can be full of
/// valid pages but one, and every write is carried out. One page more is too many where copies share the host's block, and where they may
/// leave a block of their own open: the host can write all of its copies again, and then every closed block is full of valid pages. Where
/// they leave none open, that page has room, and the next has not. A threshold of one block beyond the reserve that is looked at when the
/// host's block is full is reached where a block more may be open, that of the copies.
#[test]
fn the_smallest_planes_of_low_and_of_late_thresholds_take_any_writes_for_ever() {
    for (own_block, reserve, blocks, pages) in [
        (false, 1, 2, 4),
        (false, 1, 3, 3),
        (false, 1, 4, 2),
        (false, 2, 4, 2),
        (true, 1, 3, 3),
        (true, 1, 3, 4),
        (true, 1, 4, 2),
        (true, 1, 5, 2),
        (true, 2, 5, 2),
    ] {
        let allocate = Allocate::Static(Static::default());
        for victim in certain() {
            for (threshold, check) in [
                (0, Check::EachPage),
                (reserve, Check::EachPage),
                (0, Check::FullBlock),
                (reserve + 1, Check::FullBlock),
            ] {
                let mut config = config(&allocate, &victim, &Wear::default(), own_block);
                config.gc.hard_free_blocks = Some(reserve);
                config.gc.start_free_blocks = Some(threshold);
                config.gc.check = check;
                // Copies that share the host's block leave it open when the threshold is reached.
                let open = u32::from(own_block || threshold > reserve);
                let most = blocks - reserve - open;
                let Some(mut plan) = fullest(&config, planes(1, 1, 1, 1), blocks, pages, 0) else {
                    assert_eq!(most, 0, "{config:?}");
                    continue;
                };
                assert_eq!(
                    (plan.start_blocks, plan.reserve_blocks),
                    (threshold, reserve)
                );
                assert_eq!(plan.user_pages, most * pages - 1, "{plan:?}");
                assert_eq!(fate(&plan), Fate::Rests, "{plan:?}");
                if open > u32::from(own_block) {
                    continue;
                }
                plan.user_pages += 1;
                if own_block && !may_leave_own_block_open(&victim, pages) {
                    assert_eq!(fate(&plan), Fate::Rests, "{plan:?}");
                    plan.user_pages += 1;
                }
                assert_eq!(fate(&plan), Fate::Full, "{plan:?}");
            }
        }
    }
}

/// One plane of blocks of four pages whose collections share the block of the host, and what came of writes of it.
fn after_writes(blocks: u32, user: u32, gc: Gc, writes: &[u32]) -> (FlashOps, u32) {
    let one = planes(1, 1, 1, 1);
    let layout = layout(one, blocks, 4);
    let config = Config {
        over_provisioning_ratio: 1.0 - f64::from(user) / f64::from(4 * blocks),
        gc: Gc {
            own_block: false,
            ..gc
        },
        ..Config::default()
    };
    let plan = Plan::new(&config, layout, one, 1).unwrap();
    assert_eq!(plan.user_pages, user);
    let (mut map, mut array) = (PageMap::new(&plan), Array::new(layout, u32::MAX));
    let mut device = UntimedFtl::new(&mut map, &mut array, layout);
    for page in writes {
        device.write(Lpn(*page)).unwrap();
    }
    let work = device.work();
    (work, map.free_blocks())
}

/// Eight blocks and a threshold of three: the sixth block leaves two free. Looked at after each page, its first page has a block
/// collected; looked at when the block is full, its last page has.
#[test]
fn a_threshold_is_looked_at_after_each_page_or_when_the_open_block_is_full() {
    let writes: Vec<u32> = (0..28).map(|number| number % 8).collect();
    let erased = |check, count: usize| {
        let gc = Gc {
            check,
            start_free_blocks: Some(3),
            ..Gc::default()
        };
        after_writes(8, 8, gc, &writes[..count]).0.erased
    };
    let each_page = [20, 21, 24, 25, 28].map(|count| erased(Check::EachPage, count));
    assert_eq!(each_page, [0, 1, 1, 2, 2]);
    let full_block = [20, 23, 24, 27, 28].map(|count| erased(Check::FullBlock, count));
    assert_eq!(full_block, [0, 0, 1, 1, 2]);
}

/// Seven of nine blocks are full, six of them of two valid pages each, and three are to be free: the first victim gives back the block that
/// its pages open, the second fills that one, so that two victims and four moves make three free blocks.
#[test]
fn a_full_block_has_victims_collected_until_the_threshold_is_reached() {
    let gc = Gc {
        check: Check::FullBlock,
        start_free_blocks: Some(3),
        ..Gc::default()
    };
    let mut writes: Vec<u32> = (0..16).collect();
    writes.extend([0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 8, 10]);
    let (before, free) = after_writes(9, 16, gc.clone(), &writes[..27]);
    assert_eq!((before.erased, before.moved, free), (0, 0, 2));
    let (after, free) = after_writes(9, 16, gc, &writes);
    assert_eq!((after.erased, after.moved, free), (2, 4, 3));
}

/// Four blocks, one of them the reserve, and eleven pages: the twelfth write fills the third block and collects nothing; the thirteenth
/// finds no room, and the block that lost page 0 gives its other three pages to the reserve.
#[test]
fn with_a_threshold_of_0_a_write_that_finds_no_room_has_a_block_collected() {
    let gc = Gc {
        start_free_blocks: Some(0),
        ..Gc::default()
    };
    let writes: Vec<u32> = (0..13).map(|number| number % 11).collect();
    let (before, free) = after_writes(4, 11, gc.clone(), &writes[..12]);
    assert_eq!((before.erased, before.moved, free), (0, 0, 1));
    let (after, free) = after_writes(4, 11, gc, &writes);
    assert_eq!((after.erased, after.moved, free), (1, 3, 1));
}

/// A threshold of one page is below what a write needs where a free block is kept: the write still has its room collected.
#[test]
fn a_threshold_in_pages_below_what_a_write_needs_stops_no_write() {
    let gc = Gc {
        start_free_pages: 1,
        ..Gc::default()
    };
    let writes: Vec<u32> = (0..40).map(|number| number % 8).collect();
    let (work, free) = after_writes(8, 8, gc, &writes);
    // Seven blocks are written before the first collection; each of the other three takes the place of one.
    assert_eq!((work.erased, free), (3, 1));
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
            let mut late = config.clone();
            late.gc.start_free_blocks = Some(0);
            let plan = fullest(&late, planes(channels, 1, 1, 1), blocks - 1, pages, 0).unwrap();
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
fn a_threshold_in_blocks_that_cannot_work_is_refused() {
    let refused = |gc: Gc| refusal(|config| config.gc = gc);
    let (key, message) = refused(Gc {
        start_free_blocks: Some(3),
        start_free_pages: 30,
        ..Gc::default()
    });
    assert_eq!(key, "ftl.gc.start_free_blocks");
    assert!(message.contains("set only one of them"), "{message}");
    let (key, message) = refused(Gc {
        start_free_blocks: Some(9),
        ..Gc::default()
    });
    assert_eq!(key, "ftl.gc.start_free_blocks");
    assert!(message.contains("threshold 9, active 2"), "{message}");
    let (key, message) = refused(Gc {
        hard_free_blocks: Some(0),
        ..Gc::default()
    });
    assert_eq!(key, "ftl.gc.hard_free_blocks");
    assert!(message.ends_with("set it to at least 1"), "{message}");
    // Other mappings, and wear levelling that moves data, need what they take before they give anything back.
    for mapping in Family::defaults() {
        let is_page = matches!(mapping, Family::Page(_));
        for wear in Wear::defaults() {
            let gc = Gc {
                start_free_blocks: Some(0),
                ..Gc::default()
            };
            let config = Config {
                mapping: mapping.clone(),
                over_provisioning_ratio: 0.5,
                gc,
                ..Config::default()
            };
            let config = Config {
                wear: wear.clone(),
                ..config
            };
            let plan = Plan::new(&config, layout(DIMENSIONS, 64, 10), DIMENSIONS, 1);
            let may = is_page && wear.name() != "static";
            match plan {
                Ok(plan) => assert!(may && plan.start_blocks == 0),
                Err(error) => assert!(!may && error.key == "ftl.gc.start_free_blocks", "{error}"),
            }
        }
    }
    let (key, _) = refusal(|config| {
        config.gc.check = Check::FullBlock;
        config.mapping = Family::defaults().pop().unwrap();
    });
    assert_eq!(key, "ftl.gc.check");
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
