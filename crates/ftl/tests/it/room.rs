//! Room that a plan leaves: devices of accepted plans can be written indefinitely; with enough
//! additional user pages, they cannot.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use crate::edge;
use crate::naive;

use std::collections::HashSet;

use edge::{config, fullest, layout, planes};
use naive::{CheckedMap, Naive, Page};
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

/// Content of a plane, without the numbers of its logical pages and blocks, which are irrelevant to
/// a policy that considers only valid pages and ages: the closed blocks, oldest first, the host's
/// active block and the active block of GC. Each block is a number with its pages as base-3 digits
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

/// Returns the planes in the order in which dynamic allocation visits them after a write to `last`.
fn walk(layout: Layout, last: Plane) -> impl Iterator<Item = Plane> {
    let planes = layout.planes();
    (1..=planes).map(move |step| Plane((last.0 + step) % planes))
}

/// Worst outcome of any sequence of writes to a device.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// Every write is served, and leaves no plane short of free blocks.
    Rests,
    /// Every write is served, but some write leaves its plane with too few free blocks and no GC
    /// candidate.
    Short,
    /// Some write cannot be served.
    Full,
}

/// Determines the fate of a device by visiting all states that writes can reach.
fn fate(plan: &Plan) -> Fate {
    let mut short = false;
    let mut seen = HashSet::new();
    let mut ahead = vec![(CheckedMap::new(plan), Array::new(plan.layout, u32::MAX))];
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

/// Returns the victim policies that depend only on the content of a plane.
fn certain() -> [Victim; 2] {
    [
        Victim::Greedy(greedy::Greedy::default()),
        Victim::Fifo(fifo::Fifo::default()),
    ]
}

/// The test visits every reachable state, so it proves progress for any number of writes. With
/// static allocation, a device equals independent devices of one plane, so testing one plane is
/// sufficient.
#[test]
fn planes_filled_to_the_limit_always_reach_their_threshold() {
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

            // The check is one page too strict: if the host's active block is not full, it contains
            // at least the page that was written last.
            plan.user_pages += 2;
            if let Victim::Fifo(_) = plan.config.gc.victim {
                assert_eq!(fate(&plan), Fate::Short, "{plan:?}");
            }
            // All blocks except the reserve and the active block of GC can fill with valid pages.
            let most = blocks - reserve - u32::from(own_block);
            plan.user_pages = most * pages - 1;
            assert_ne!(fate(&plan), Fate::Full, "{plan:?}");
            plan.user_pages += 1;
            assert_eq!(fate(&plan), Fate::Full, "{plan:?}");
        }
    }
}

/// Returns `true` if GC may leave its own block open with copies. A GC run that starts with that
/// block full and ends with one more free block has moved the pages of at least two victims. Greedy
/// selection first takes a victim without valid pages, if there is one, which ends the run.
/// Otherwise, in blocks of two pages, all its victims have one valid page, and two of them fill the
/// block. With FIFO, a victim with one valid page may come before a victim without valid pages.
fn may_leave_own_block_open(victim: &Victim, pages: u32) -> bool {
    pages > 2 || matches!(victim, Victim::Fifo(_))
}

/// With a threshold of 0, GC of a plane runs only when a write finds no room. All blocks except the
/// reserve and GC's own can be full of valid pages except for one page, and every write is served.
/// One more page is too many if copies share the host's block, or if they may leave a separate
/// block open: the host can overwrite all of its copies, and then every closed block is full of
/// valid pages. If copies leave no block open, that page has room, but the next page does not. A
/// threshold of one block beyond the reserve, checked when the host's block is full, is reached if
/// one more block may be open, for the copies.
#[test]
fn smallest_planes_with_low_or_late_checked_thresholds_serve_any_writes() {
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

/// Returns the flash operations and the number of free blocks after writes to one plane with four
/// pages per block, where GC shares the host's active block.
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

/// Eight blocks with a threshold of three: opening the sixth block leaves two free. If the
/// threshold is checked after each page, the first page of that block triggers GC. If it is checked
/// when the block is full, its last page triggers GC.
#[test]
fn threshold_is_checked_after_each_page_or_when_the_active_block_is_full() {
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

/// Seven of nine blocks are full, six of them with two valid pages each, and the threshold is
/// three. The first victim returns the block that its copies open, and the second victim fills that
/// block, so two victims and four moves yield three free blocks.
#[test]
fn full_active_block_triggers_gc_until_the_threshold_is_reached() {
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

/// Four blocks, one of them the reserve, and eleven pages. The twelfth write fills the third block
/// without GC. The thirteenth finds no room, and the block that lost page 0 moves its other three
/// pages to the reserve.
#[test]
fn gc_with_a_threshold_of_0_runs_when_a_write_finds_no_room() {
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

/// A threshold of one page is below what a write needs if a free block is reserved. GC still gains
/// room for the write.
#[test]
fn page_threshold_below_the_room_that_a_write_needs_does_not_block_writes() {
    let gc = Gc {
        start_free_pages: 1,
        ..Gc::default()
    };
    let writes: Vec<u32> = (0..40).map(|number| number % 8).collect();
    let (work, free) = after_writes(8, 8, gc, &writes);
    // Seven blocks are written before the first GC run. Each of the other three reuses a reclaimed
    // block.
    assert_eq!((work.erased, free), (3, 1));
}

/// Every write is served if it may go to any plane, which may then contain more than its share.
#[test]
fn devices_filled_to_the_limit_serve_any_writes_with_dynamic_allocation() {
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

/// One more page than the planes hold together would exceed the limit of a plane.
#[test]
fn user_pages_are_shared_evenly_and_the_largest_share_must_fit_a_plane() {
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

/// Returns the error of the default configuration after `change`, on 2 x 2 planes of 16 blocks of
/// 10 pages: the key and the message.
fn refusal(change: impl FnOnce(&mut Config)) -> (&'static str, String) {
    let mut config = Config::default();
    change(&mut config);
    let error = Plan::new(&config, layout(DIMENSIONS, 16, 10), DIMENSIONS, 1).unwrap_err();
    (error.key, error.to_string())
}

#[test]
fn device_without_room_is_rejected_with_its_block_counts() {
    let (key, message) = refusal(|config| config.over_provisioning_ratio = 0.05);
    assert_eq!(key, "ftl.over_provisioning_ratio");
    assert_eq!(
        message,
        "ftl.over_provisioning_ratio: the 152 user pages of a plane fill 15 of its 16 blocks, and \
         garbage collection needs 4 (free-block threshold 2, active blocks 2); raise \
         ftl.over_provisioning_ratio, lower ftl.gc.start_free_ratio, or give a plane more blocks"
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
        message.contains("lower ftl.gc.start_free_pages, raise ftl.over_provisioning_ratio"),
        "{message}"
    );
}

#[test]
fn invalid_block_threshold_is_rejected() {
    let refused = |gc: Gc| refusal(|config| config.gc = gc);
    let (key, message) = refused(Gc {
        start_free_blocks: Some(3),
        start_free_pages: 30,
        ..Gc::default()
    });
    assert_eq!(key, "ftl.gc.start_free_blocks");
    assert!(message.contains("set only one of the two"), "{message}");
    let (key, message) = refused(Gc {
        start_free_blocks: Some(9),
        ..Gc::default()
    });
    assert_eq!(key, "ftl.gc.start_free_blocks");
    assert!(
        message.contains("free-block threshold 9, active blocks 2"),
        "{message}"
    );
    let (key, message) = refused(Gc {
        hard_free_blocks: Some(0),
        ..Gc::default()
    });
    assert_eq!(key, "ftl.gc.hard_free_blocks");
    assert!(
        message.ends_with("set ftl.gc.hard_free_blocks to at least 1"),
        "{message}"
    );
    // Other mappings, and wear levelling that moves data, need free blocks before they free any.
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
fn too_many_pages_per_block_and_inconsistent_dimensions_are_rejected() {
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
fn share_that_is_a_whole_number_in_decimal_is_not_rounded_down() {
    // In binary, 0.29 * 100 is 28.999999999999996 and 1 - 0.07 is 0.9299999999999999.
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
