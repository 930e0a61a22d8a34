//! Static wear levelling and refresh: bounds on the erase spread, and costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use wordline_ftl::allocate::Dimensions;
use wordline_ftl::config::Gc;
use wordline_ftl::gc::victim::Victim;
use wordline_ftl::mapping::Family;
use wordline_ftl::refresh::{Refresh, Target};
use wordline_ftl::untimed::UntimedFtl;
use wordline_ftl::wear::Wear;
use wordline_ftl::wear::dynamic::Dynamic;
use wordline_ftl::wear::r#static::Static;
use wordline_ftl::{Config, Lpn, Map, Mapping, Plan, PlanError};
use wordline_kernel::Rng;
use wordline_nand::{Array, Block, Geometry, Layout, Plane};

const PLANES: u32 = 2;
const BLOCKS: u32 = 64;
const PAGES: u32 = 8;

fn at(threshold_erases: u32) -> Wear {
    Wear::Static(Static { threshold_erases })
}

fn plan(mapping: &Family, wear: &Wear, victim: &Victim) -> Result<Plan, PlanError> {
    let geometry = Geometry {
        dies_per_package: 1,
        planes_per_die: 1,
        blocks_per_plane: BLOCKS,
        pages_per_block: PAGES,
        ..Geometry::default()
    };
    let layout = Layout::new(&geometry, PLANES).unwrap();
    let dimensions = Dimensions {
        channels: PLANES,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let config = Config {
        over_provisioning_ratio: 0.25,
        mapping: mapping.clone(),
        wear: wear.clone(),
        gc: Gc {
            victim: victim.clone(),
            ..Gc::default()
        },
        ..Config::default()
    };
    Plan::new(&config, layout, dimensions, 1)
}

/// Returns the maximum minus the minimum number of erases within a plane.
fn spread(array: &Array, layout: &Layout) -> u32 {
    let of = |plane| {
        let blocks = (0..BLOCKS).map(|block| layout.block(Plane(plane), block));
        let erases = blocks.map(|block: Block| array.erases()[block.index()]);
        erases.clone().max().unwrap() - erases.min().unwrap()
    };
    (0..PLANES).map(of).max().unwrap()
}

/// Fills the device and then writes only its first tenth, at random. Returns the result of
/// [`written`].
fn skewed(plan: &Plan, writes: u64) -> ([u32; 2], u64) {
    written(plan, writes, u64::from(plan.user_pages / 10))
}

/// Fills the device and then writes its first `hot` pages at random. Returns the spread of erase
/// counts after half of the writes and after all of them, and the number of erases.
fn written(plan: &Plan, writes: u64, hot: u64) -> ([u32; 2], u64) {
    let mut map = Map::new(plan);
    let mut array = Array::new(plan.layout, u32::MAX);
    let mut random = Rng::new(1, "wear.writes");
    let mut device = UntimedFtl::new(&mut map, &mut array, plan.layout);
    for page in 0..plan.user_pages {
        device.write(Lpn(page)).unwrap();
    }
    let mut half = || {
        let mut device = UntimedFtl::new(&mut map, &mut array, plan.layout);
        for _ in 0..writes / 2 {
            device.write(Lpn(random.below(hot) as u32)).unwrap();
        }
        let erased = device.work().erased;
        map.audit().unwrap();
        (spread(&array, &plan.layout), erased)
    };
    let ((first, one), (second, other)) = (half(), half());
    ([first, second], one + other)
}

/// Returns a number of writes that causes hundreds of erases of each block in use. With block
/// mapping, a write costs half an erase or more; with the other mappings, a block's worth of writes
/// costs one erase.
fn writes(family: &Family) -> u64 {
    if family.name() == "block" {
        40_000
    } else {
        200_000
    }
}

/// The erases of the most erased block exceed the threshold only by the differences among the
/// blocks in circulation, and by their erases while blocks with cold data are moved one by one: a
/// few erases, here at most an eighth of the number of blocks.
#[test]
fn static_wear_levelling_bounds_the_erase_spread() {
    let mut levelled = 0;
    for family in Family::defaults() {
        for victim in Victim::defaults() {
            for threshold in [8, 32] {
                let Ok(plan) = plan(&family, &at(threshold), &victim) else {
                    continue;
                };
                let (spreads, _) = skewed(&plan, writes(&family));
                for spread in spreads {
                    assert!(
                        spread <= threshold + BLOCKS / 8,
                        "{family:?} {victim:?} {threshold}: {spreads:?}"
                    );
                }
                levelled += 1;
            }
        }
    }
    assert!(levelled >= 16);
}

/// Blocks with cold data are never erased, while the erases of the others grow.
#[test]
fn erase_spread_grows_without_static_wear_levelling() {
    for family in Family::defaults() {
        if plan(&family, &at(8), &Victim::default()).is_err() {
            continue;
        }
        let plan = plan(&family, &Wear::Dynamic(Dynamic {}), &Victim::default()).unwrap();
        let ([first, second], _) = skewed(&plan, writes(&family));
        assert!(
            first > 100 && second > first * 3 / 2,
            "{family:?}: {first}, {second}"
        );
    }
}

/// While the erases of a plane's N blocks rise by the threshold T, N T blocks are erased, and each
/// block with cold data is moved once. This would be 1 / T of all erases if every block had cold
/// data. Here nine tenths of the user pages are cold, on three quarters of the blocks. The test
/// allows a fifth less, because blocks are moved slightly after passing the threshold.
#[test]
fn static_wear_levelling_adds_erases_in_inverse_proportion_to_its_threshold() {
    for family in Family::defaults() {
        for threshold in [8, 16, 32] {
            let Ok(with) = plan(&family, &at(threshold), &Victim::default()) else {
                continue;
            };
            let without = plan(&family, &Wear::Dynamic(Dynamic {}), &Victim::default()).unwrap();
            let (_, with) = skewed(&with, writes(&family));
            let (_, without) = skewed(&without, writes(&family));
            let extra = with as f64 / without as f64 - 1.0;
            let least = 0.9 * 0.75 / f64::from(threshold);
            let most = 1.0 / f64::from(threshold);
            assert!(
                (least * 0.8..most).contains(&extra),
                "{family:?}: share {extra} of additional erases with a threshold of {threshold}"
            );
        }
    }
}

/// Moves do not trigger moves: with any threshold, a move needs an ordinary erase before it.
#[test]
fn wear_levelling_at_a_threshold_of_0_or_1_at_most_doubles_the_erases() {
    for family in Family::defaults() {
        for threshold in [0, 1] {
            let Ok(with) = plan(&family, &at(threshold), &Victim::default()) else {
                continue;
            };
            let without = plan(&family, &Wear::Dynamic(Dynamic {}), &Victim::default()).unwrap();
            let writes = writes(&family) / 10;
            let (_, with) = skewed(&with, writes);
            let (_, without) = skewed(&without, writes);
            assert!(
                with <= 2 * without + 100,
                "{family:?}: {with} erases with wear levelling, {without} without"
            );
        }
    }
}

/// If all data changes at the same rate, no data is cold. A block that is ahead of the others by
/// chance must not get further ahead for that reason.
#[test]
fn uniform_writes_keep_the_erase_spread_small() {
    for family in Family::defaults() {
        let Ok(plan) = plan(&family, &at(4), &Victim::default()) else {
            continue;
        };
        let (spreads, _) = written(&plan, writes(&family), plan.user_pages.into());
        for spread in spreads {
            assert!(spread <= 8, "{family:?}: {spreads:?}");
        }
    }
}

#[test]
fn families_that_merge_reject_static_wear_levelling() {
    for family in Family::defaults() {
        let merges = ["log-block", "hybrid", "buffered"].contains(&family.name());
        match plan(&family, &at(8), &Victim::default()) {
            Ok(_) => assert!(!merges, "{family:?}"),
            Err(error) => assert!(merges && error.key == "ftl.wear", "{error}"),
        }
    }
}

/// Refreshes the data of a few blocks again and again, as reads would, without writes. Returns the
/// erases of every block after `rounds` refreshes of each.
fn read_only(wear: &Wear, target: Target, hot: u32, rounds: u32) -> Vec<u32> {
    let geometry = Geometry {
        dies_per_package: 1,
        planes_per_die: 1,
        blocks_per_plane: BLOCKS,
        pages_per_block: PAGES,
        ..Geometry::default()
    };
    let layout = Layout::new(&geometry, 1).unwrap();
    let dimensions = Dimensions {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let config = Config {
        over_provisioning_ratio: 0.25,
        wear: wear.clone(),
        refresh: Refresh {
            target,
            ..Refresh::default()
        },
        ..Config::default()
    };
    let plan = Plan::new(&config, layout, dimensions, 1).unwrap();
    let mut map = Map::new(&plan);
    let mut array = Array::new(layout, u32::MAX);
    let mut device = UntimedFtl::new(&mut map, &mut array, layout);
    for page in 0..plan.user_pages {
        device.write(Lpn(page)).unwrap();
    }
    for _ in 0..rounds {
        for block in 0..hot {
            // The data of a block was written together, so it moves together.
            let place = map.lookup(Lpn(block * PAGES)).unwrap();
            let mut device = UntimedFtl::new(&mut map, &mut array, layout);
            assert!(device.refresh(layout.block_of(place)).unwrap());
        }
    }
    map.audit().unwrap();
    array.erases().to_vec()
}

/// With in-place refresh, the blocks of the data are erased once per round, and the same number of
/// erases falls on the blocks that temporarily take it. If the block freed last is reused, this is
/// one block; with wear levelling, it is each free block in turn. With refresh into the block freed
/// last, the data of each block moves to where that of the previous block was.
#[test]
fn refresh_target_determines_the_blocks_that_reads_wear_out() {
    let last_freed = Wear::LastFreed(wordline_ftl::wear::last_freed::LastFreed {});
    let filled = (BLOCKS * 3).div_ceil(4);
    let rounds = 600;
    for hot in [1, 2, 5] {
        let returned = |wear: &Wear| {
            let target = Target::InPlace(wordline_ftl::refresh::target::in_place::InPlace {});
            let mut erases = read_only(wear, target, hot, rounds);
            assert!(
                erases[..hot as usize]
                    .iter()
                    .all(|erases| *erases == rounds)
            );
            erases.drain(..filled as usize);
            erases
        };
        let kept = returned(&last_freed);
        assert_eq!(kept.iter().max(), Some(&(hot * rounds)));
        assert_eq!(kept.iter().sum::<u32>(), hot * rounds);
        let kept = returned(&Wear::default());
        let mean = f64::from(hot * rounds) / f64::from(BLOCKS - filled);
        assert!(
            kept.iter()
                .all(|erases| (f64::from(*erases) - mean).abs() <= 1.0)
        );
        let moved = read_only(&last_freed, Target::default(), hot, rounds);
        let worn: Vec<_> = moved.iter().filter(|erases| **erases > 0).collect();
        assert_eq!(worn.len() as u32, hot + 1);
        let mean = f64::from(hot * rounds) / f64::from(hot + 1);
        assert!(
            worn.iter()
                .all(|erases| (f64::from(**erases) - mean).abs() <= 1.0)
        );
    }
}

/// Once every block has been used, the data of `hot` blocks circulates among `hot + 1` blocks, so
/// that the most erased block has `BLOCKS / (hot + 1)` times the mean erases. Wear levelling that
/// counts these erases spreads them over all free blocks.
#[test]
fn wear_levelling_that_ignores_refresh_concentrates_its_erases_on_few_blocks() {
    let blind = Wear::ReadBlind(wordline_ftl::wear::read_blind::ReadBlind {});
    for hot in [1, 2, 5] {
        let rounds = 600;
        let ratio = |wear: &Wear| {
            let erases = read_only(wear, Target::default(), hot, rounds);
            let all: u32 = erases.iter().sum();
            assert_eq!(all, hot * rounds, "every move erases a block");
            let most = f64::from(*erases.iter().max().unwrap());
            most * f64::from(BLOCKS) / f64::from(all)
        };
        // Never-used blocks take the first moves. Each of these moves is one erase of a hot block.
        let expected = f64::from(BLOCKS) / f64::from(hot + 1);
        let (found, seen) = (ratio(&blind), ratio(&Wear::default()));
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{found} of {expected}"
        );
        let filled = (BLOCKS * 3).div_ceil(4);
        let free = f64::from(BLOCKS - filled + hot);
        let spread = f64::from(BLOCKS) / free;
        assert!((seen / spread - 1.0).abs() < 0.1, "{seen} of {spread}");
    }
}
