//! Laws of each policy slot, checked for every policy, and of bulk writes.
#![allow(clippy::unwrap_used, clippy::panic)] // test code, also outside test functions

use crate::edge;
use crate::naive;

use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::Range;
use std::slice;

use edge::{allocations, config, fullest, kinds, layout, planes, victims};
use naive::CheckedMap;
use wordline_ftl::allocate::dynamic::Dynamic;
use wordline_ftl::allocate::least_busy::LeastBusy;
use wordline_ftl::allocate::r#static::Static;
use wordline_ftl::allocate::{Allocate, Allocator, Dimensions, Order, PlanePolicy};
use wordline_ftl::gc::victim::Victim;
use wordline_ftl::mapping::Family;
use wordline_ftl::mapping::buffered::Buffered;
use wordline_ftl::mapping::hybrid::Hybrid;
use wordline_ftl::mapping::log_block::LogBlock;
use wordline_ftl::mapping::logical::shape::Stripe;
use wordline_ftl::untimed::UntimedFtl;
use wordline_ftl::wear::{FreeBlocks, Spend, Wear};
use wordline_ftl::{
    Bulk, Config, Lpn, Map, Mapping, PageMap, Placed, Plan, SpaceRequest, Step, WriteOutcome,
};
use wordline_kernel::{Rng, Time};
use wordline_nand::{Array, Block, Die, Plane, Ppn};

/// Victim selection: the numbers of valid pages of the closed blocks, oldest first, and the index
/// of the victim among them.
struct Choice {
    valid: Vec<u32>,
    chosen: usize,
}

/// Returns the first `count` victim selections under random writes to a full device of one plane.
fn choices(config: &Config, blocks: u32, pages: u32, count: usize) -> Vec<Choice> {
    let slack = blocks * pages / 10;
    let plan = fullest(config, planes(1, 1, 1, 1), blocks, pages, slack).unwrap();
    let mut device = CheckedMap::new(&plan);
    let mut random = Rng::new(1, "laws.writes");
    let mut choices = Vec::new();
    while choices.len() < count {
        let page = random.below(plan.user_pages.into()) as u32;
        assert!(matches!(device.write(Lpn(page)), WriteOutcome::Placed(_)));
        while device.wants_collection(Plane(0)) {
            let closed: Vec<Block> = device.naive.closed(Plane(0)).collect();
            let valid = |&block: &Block| device.map.valid(block);
            let valid = closed.iter().map(valid).collect();
            let job = device.collect(SpaceRequest::Free(Plane(0))).unwrap().job;
            let victim = device.map.victim(Plane(0)).unwrap();
            let chosen = closed.iter().position(|&block| block == victim);
            let chosen = chosen.unwrap();
            choices.push(Choice { valid, chosen });
            loop {
                match device.step(job) {
                    Step::Move(from) => assert!(device.relocate(job, from).is_some()),
                    Step::Erase(block) => device.erased(block, 1),
                    Step::Done => break,
                    _ => {}
                }
            }
        }
    }
    choices
}

/// Asserts that numbers in `[0, 1)` are uniform: their chi-squared statistic over 20 bins is below
/// its upper 0.1 % point.
fn assert_uniform(numbers: &[f64], of: &str) {
    let mut counts = [0_u32; 20];
    for number in numbers {
        counts[(number * 20.0) as usize] += 1;
    }
    let expected = numbers.len() as f64 / 20.0;
    let square = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
    let chi: f64 = counts.iter().map(square).sum();
    assert!(expected > 100.0, "{of}: only {} numbers", numbers.len());
    assert!(
        chi < 43.8,
        "{of}: chi-squared {chi} with 19 degrees of freedom"
    );
}

/// The reference map checks at every selection that the victim is closed, belongs to its plane, and
/// is selected only once until it is closed again. The test itself checks greedy and FIFO
/// selection.
#[test]
fn victims_are_closed_blocks_selected_once_and_as_their_policy_defines() {
    for victim in victims() {
        for own_block in [false, true] {
            let config = config(&Allocate::default(), &victim, &Wear::default(), own_block);
            for Choice { valid, chosen } in choices(&config, 16, 8, 2_000) {
                let least = valid.iter().min().copied();
                match &victim {
                    Victim::Greedy(_) => assert_eq!(valid.get(chosen).copied(), least),
                    Victim::Fifo(_) => assert_eq!(chosen, 0),
                    _ => {}
                }
            }
        }
    }
}

/// With d draws, all of them, and therefore the victim, have at least v valid pages with
/// probability s(v)^d, where s(v) is the share of blocks with at least v valid pages. If so,
/// numbers drawn at random between s(v+1)^d and s(v)^d of each victim are uniform. Random selection
/// is d = 1.
#[test]
fn victims_of_d_choices_have_the_distribution_of_the_best_of_d_draws() {
    for victim in victims() {
        let d = match &victim {
            Victim::Random(_) => 1,
            Victim::DChoices(policy) => policy.d,
            _ => continue,
        };
        let config = config(&Allocate::default(), &victim, &Wear::default(), false);
        let mut random = Rng::new(1, "laws.spread");
        let mut spread = |Choice { valid, chosen }: &Choice| {
            let share = |least: u32| {
                let blocks = valid.iter().filter(|&&valid| valid >= least).count();
                (blocks as f64 / valid.len() as f64).powf(d.into())
            };
            let (low, high) = (share(valid[*chosen] + 1), share(valid[*chosen]));
            low + random.unit() * (high - low)
        };
        let choices = choices(&config, 40, 16, 5_000);
        let numbers: Vec<f64> = choices.iter().map(&mut spread).collect();
        assert_uniform(&numbers, &format!("{victim:?}"));
    }
}

/// Random selection, and d-choices with a single draw, do not depend on the age of a block.
#[test]
fn random_victims_are_uniform_over_the_blocks() {
    for victim in victims() {
        match &victim {
            Victim::Random(_) => {}
            Victim::DChoices(policy) if policy.d == 1 => {}
            _ => continue,
        }
        let config = config(&Allocate::default(), &victim, &Wear::default(), false);
        let mut random = Rng::new(1, "laws.spread");
        let choices = choices(&config, 40, 16, 5_000);
        let age =
            |choice: &Choice| (choice.chosen as f64 + random.unit()) / choice.valid.len() as f64;
        let numbers: Vec<f64> = choices.iter().map(age).collect();
        assert_uniform(&numbers, &format!("{victim:?}"));
    }
}

const DIMENSIONS: Dimensions = planes(2, 3, 2, 4);

#[test]
fn allocation_returns_a_plane_with_room_or_none() {
    let mut random = Rng::new(1, "laws.room");
    for allocate in allocations() {
        let mut allocator = Allocator::new(&allocate, DIMENSIONS);
        for _ in 0..1_000 {
            let page = Lpn(random.below(1_000) as u32);
            let room = random.bits();
            let has_room = |plane: Plane| room >> plane.0 & 1 == 1;
            let plane = allocator.plane(page, has_room);
            assert!(plane.is_none_or(has_room), "{allocate:?}");
            if plane.is_none() {
                match allocator.home(page) {
                    Some(home) => assert!(!has_room(home), "{allocate:?}"),
                    None => assert!(!(0..DIMENSIONS.total()).map(Plane).any(has_room)),
                }
            }
        }
    }
}

#[test]
fn consecutive_pages_visit_all_planes_in_the_same_order_each_round() {
    let total = DIMENSIONS.total();
    for order in Order::all() {
        for allocate in kinds(order) {
            let mut allocator = Allocator::new(&allocate, DIMENSIONS);
            for round in 0..3 {
                let pages = (round * total..(round + 1) * total).map(Lpn);
                let visited: Vec<Plane> = pages
                    .map(|page| allocator.plane(page, |_| true).unwrap())
                    .collect();
                assert_eq!(visited, order.planes(DIMENSIONS), "{allocate:?}");
                let different: HashSet<Plane> = visited.into_iter().collect();
                assert_eq!(different.len(), total as usize);
            }
        }
    }
}

#[test]
fn static_allocation_keeps_a_page_on_its_plane() {
    let mut random = Rng::new(1, "laws.static");
    for order in Order::all() {
        let allocate = Allocate::Static(Static {
            order,
            on_issue: false,
        });
        let mut allocator = Allocator::new(&allocate, DIMENSIONS);
        for _ in 0..1_000 {
            let page = Lpn(random.below(10_000) as u32);
            let home = allocator.home(page);
            assert_eq!(allocator.plane(page, |_| true), home);
            assert_eq!(allocator.plane(page, |plane| Some(plane) != home), None);
            let place = order.planes(DIMENSIONS)[page.index() % DIMENSIONS.total() as usize];
            assert_eq!(home, Some(place));
        }
    }
}

#[test]
fn dynamic_allocation_rotates_and_skips_planes_without_room() {
    let mut random = Rng::new(1, "laws.dynamic");
    for order in Order::all() {
        let allocate = Allocate::Dynamic(Dynamic { order });
        let mut allocator = Allocator::new(&allocate, DIMENSIONS);
        let round = order.planes(DIMENSIONS);
        let mut next = 0;
        for number in 0..1_000 {
            let room = random.bits() & random.bits();
            let has_room = |plane: Plane| room >> plane.0 & 1 == 1;
            let step = (0..round.len()).find(|step| has_room(round[(next + step) % round.len()]));
            let expected = step.map(|step| (next + step) % round.len());
            let plane = allocator.plane(Lpn(number), has_room);
            assert_eq!(plane, expected.map(|place| round[place]), "{order}");
            next = expected.map_or(next, |place| (place + 1) % round.len());
        }
    }
}

/// Among the planes with room, the policy selects those of the dies with the least work, then those
/// of the packages with the least work, then the first from the current position in the order.
#[test]
fn page_goes_to_the_least_busy_die_and_among_equals_to_the_least_busy_package() {
    let mut random = Rng::new(1, "laws.least-busy");
    for order in Order::all() {
        let policy = LeastBusy {
            order,
            fills_dies: false,
        };
        let mut allocator = Allocator::new(&Allocate::LeastBusy(policy), DIMENSIONS);
        let round = order.planes(DIMENSIONS);
        let (mut next, dies) = (0, DIMENSIONS.total() / DIMENSIONS.planes);
        for number in 0..1_000 {
            let work: Vec<u64> = (0..dies).map(|_| random.below(3)).collect();
            let package = |plane: Plane| plane.0 / DIMENSIONS.planes / DIMENSIONS.dies;
            let of_die = |plane: Plane| work[(plane.0 / DIMENSIONS.planes) as usize];
            let of_package = |plane: Plane| -> u64 {
                let first = package(plane) * DIMENSIONS.dies;
                work[first as usize..][..DIMENSIONS.dies as usize]
                    .iter()
                    .sum()
            };
            let room = random.bits() | random.bits();
            let has_room = |plane: Plane| room >> plane.0 & 1 == 1;
            let steps = (0..round.len()).map(|step| (next + step) % round.len());
            let expected = steps
                .filter(|place| has_room(round[*place]))
                .min_by_key(|place| (of_die(round[*place]), of_package(round[*place])));
            allocator.set_die_loads(|die| Time(work[die.index()]));
            let plane = allocator.plane(Lpn(number), has_room);
            assert_eq!(plane, expected.map(|place| round[place]), "{order}");
            next = expected.map_or(next, |place| (place + 1) % round.len());
        }
    }
}

/// A die being filled gets one page on each of its planes in a row, although each page adds to its
/// load. The least busy die follows.
#[test]
fn least_busy_allocation_fills_all_planes_of_a_die_before_the_next_die() {
    let policy = LeastBusy {
        order: Order::default(),
        fills_dies: true,
    };
    let mut allocator = Allocator::new(&Allocate::LeastBusy(policy), DIMENSIONS);
    let mut given = Vec::new();
    for number in 0..3 * DIMENSIONS.planes {
        let dies: Vec<u32> = given
            .iter()
            .map(|plane: &Plane| plane.0 / DIMENSIONS.planes)
            .collect();
        let count = |die: Die| dies.iter().filter(|other| **other == die.0).count() as u64;
        allocator.set_die_loads(|die| Time(count(die)));
        given.push(allocator.plane(Lpn(number), |_| true).unwrap());
    }
    // Channels first: dies 0, 6 and 2, on two channels with three packages of two dies each.
    let expected = [0, 6, 2]
        .into_iter()
        .flat_map(|die| (0..4).map(move |plane| Plane(4 * die + plane)));
    assert!(given.into_iter().eq(expected));
}

/// Asserts that a wear policy took the right block, given all free blocks of the plane in the order
/// in which they became free, with their erases. For policies not listed here, checks only that the
/// block was free.
fn spend_law(wear: &Wear, free: &[(Block, u32)], taken: Option<Block>) {
    let next = match wear {
        Wear::None(_) => free.first(),
        Wear::Dynamic(_) | Wear::Static(_) => free.iter().min_by_key(|(_, erases)| *erases),
        // Never-used blocks in order; among others with equally few erases, the block freed last.
        Wear::ReadBlind(_) => {
            let pristine = free.iter().find(|(_, erases)| *erases == 0);
            pristine.or_else(|| free.iter().rev().min_by_key(|(_, erases)| *erases))
        }
        // The block freed last, before never-used blocks in order.
        Wear::LastFreed(_) => {
            let last = free.iter().rev().find(|(_, erases)| *erases > 0);
            last.or_else(|| free.first())
        }
        #[allow(unreachable_patterns)] // as long as all policies are listed
        _ => free.iter().find(|(block, _)| Some(*block) == taken),
    };
    assert_eq!(taken, next.map(|(block, _)| *block), "{wear:?}");
    assert_eq!(taken.is_none(), free.is_empty(), "{wear:?}");
}

#[test]
fn wear_policies_take_each_free_block_once_in_their_order() {
    let mut random = Rng::new(1, "laws.wear");
    let layout = layout(planes(2, 1, 1, 1), 10, 4);
    for wear in Wear::defaults() {
        let mut blocks = FreeBlocks::new(&wear, &layout);
        let of = |plane: u32| (0..10).map(move |block| (layout.block(Plane(plane), block), 0));
        let mut free: Vec<Vec<(Block, u32)>> = (0..2).map(|plane| of(plane).collect()).collect();
        let mut used: Vec<(Block, u32)> = Vec::new();
        for _ in 0..10_000 {
            let plane = Plane(random.below(2) as u32);
            if random.below(2) == 0 {
                let taken = blocks.take(plane);
                spend_law(&wear, &free[plane.index()], taken);
                if let Some(taken) = taken {
                    let free = &mut free[plane.index()];
                    let place = free.iter().position(|(block, _)| *block == taken).unwrap();
                    used.push(free.remove(place));
                }
            } else if !used.is_empty() {
                let (block, before) = used.swap_remove(random.below(used.len() as u64) as usize);
                // Some blocks wear faster, as with hot data.
                let erases = before + 1 + block.0 % 3;
                let plane = layout.plane_of(block);
                blocks.erased(plane, block, erases);
                free[plane.index()].push((block, erases));
            }
        }
    }
}

/// Returns the variance of the erases over the blocks after uniform random writes.
fn wear_spread(victim: &Victim, wear: &Wear, seed: u64) -> f64 {
    let mut config = config(&Allocate::default(), victim, wear, true);
    // Wear levelling can only select among free blocks, so the configuration keeps a quarter of all
    // blocks free.
    config.gc.start_free_ratio = 0.25;
    config.over_provisioning_ratio = 0.6;
    let one = planes(1, 1, 1, 1);
    let plan = Plan::new(&config, layout(one, 64, 16), one, seed).unwrap();
    let mut map = PageMap::new(&plan);
    let mut array = Array::new(plan.layout, u32::MAX);
    let mut random = Rng::new(seed, "laws.writes");
    let mut device = UntimedFtl::new(&mut map, &mut array, plan.layout);
    for _ in 0..100_000 {
        let page = random.below(plan.user_pages.into()) as u32;
        device.write(Lpn(page)).unwrap();
    }
    let erases = array.erases().iter().map(|&erases| f64::from(erases));
    let mean = erases.clone().sum::<f64>() / erases.len() as f64;
    erases
        .clone()
        .map(|erases| (erases - mean).powi(2))
        .sum::<f64>()
        / erases.len() as f64
}

#[test]
fn dynamic_wear_levelling_does_not_increase_the_erase_spread() {
    for victim in Victim::defaults() {
        let spread = |wear: &Wear| {
            (1..=5)
                .map(|seed| wear_spread(&victim, wear, seed))
                .sum::<f64>()
        };
        let [none, dynamic] = ["none", "dynamic"].map(|name| {
            let wear = Wear::defaults()
                .into_iter()
                .find(|wear| wear.name() == name);
            spread(&wear.unwrap())
        });
        assert!(
            dynamic <= none,
            "{victim:?}: {dynamic} with, {none} without"
        );
    }
}

/// Returns the state after 5,000 writes: the whole map, and the erases of every block.
fn state(config: &Config, seed: u64) -> String {
    let dimensions = planes(2, 2, 1, 2);
    let plan = Plan::new(config, layout(dimensions, 10, 8), dimensions, seed).unwrap();
    let mut map = PageMap::new(&plan);
    let mut array = Array::new(plan.layout, u32::MAX);
    let mut random = Rng::new(1, "laws.writes");
    let mut device = UntimedFtl::new(&mut map, &mut array, plan.layout);
    for _ in 0..5_000 {
        let page = random.below(plan.user_pages.into()) as u32;
        device.write(Lpn(page)).unwrap();
    }
    let places: Vec<_> = (0..plan.user_pages)
        .map(|page| map.lookup(Lpn(page)))
        .collect();
    format!("{places:?} {:?} {:?}", map.blocks(), array.erases())
}

#[test]
fn only_policies_that_draw_random_numbers_depend_on_the_seed() {
    for victim in Victim::defaults() {
        for allocate in Allocate::defaults() {
            for wear in Wear::defaults() {
                let mut config = config(&allocate, &victim, &wear, true);
                config.over_provisioning_ratio = 0.6;
                assert_eq!(state(&config, 1), state(&config, 1), "{config:?}");
                let random = matches!(victim, Victim::Random(_) | Victim::DChoices(_));
                assert_eq!(
                    state(&config, 1) != state(&config, 2),
                    random,
                    "only the policies listed here depend on the seed: {config:?}"
                );
            }
        }
    }
}

/// Writes a page, and runs GC if needed, one step after another.
fn write_by_steps(map: &mut PageMap, array: &mut Array, plan: &Plan, page: Lpn) {
    let WriteOutcome::Placed(place) = map.write(page) else {
        panic!("page {} has no room", page.0);
    };
    array.program(place).unwrap();
    let plane = plan.layout.plane_of(plan.layout.block_of(place));
    while map.wants_collection(plane) {
        let job = map.collect(SpaceRequest::Free(plane)).unwrap().job;
        loop {
            match map.step(job) {
                Step::Move(from) => {
                    array.read(from).unwrap();
                    array.program(map.relocate(job, from).unwrap()).unwrap();
                }
                Step::Erase(block) => {
                    array.erase(block).unwrap();
                    map.erased(block, array.erases()[block.index()]);
                }
                Step::Done => break,
                _ => {}
            }
        }
    }
}

/// Consecutive pages are written to an empty device and then overwritten, with and without GC.
#[test]
fn bulk_writes_and_gc_leave_the_same_state_as_single_steps() {
    for mut config in edge::configs() {
        config.over_provisioning_ratio = 0.6;
        let dimensions = planes(2, 2, 1, 2);
        let plan = Plan::new(&config, layout(dimensions, 10, 9), dimensions, 1).unwrap();
        let arrays = || Array::new(plan.layout, u32::MAX);
        let (mut row, mut row_array) = (PageMap::new(&plan), arrays());
        let (mut steps, mut steps_array) = (PageMap::new(&plan), arrays());
        let mut random = Rng::new(1, "laws.writes");
        for round in 0..4 {
            let mut device = UntimedFtl::new(&mut row, &mut row_array, plan.layout);
            device.write_row(0..plan.user_pages - round).unwrap();
            for page in 0..plan.user_pages - round {
                write_by_steps(&mut steps, &mut steps_array, &plan, Lpn(page));
            }
            for _ in 0..200 {
                let page = Lpn(random.below(plan.user_pages.into()) as u32);
                device.write(page).unwrap();
                write_by_steps(&mut steps, &mut steps_array, &plan, page);
            }
            assert_eq!(format!("{row:?}"), format!("{steps:?}"), "{config:?}");
            assert_eq!(format!("{row_array:?}"), format!("{steps_array:?}"));
        }
        assert!(row_array.erases().iter().any(|&erases| erases > 0));
        row.audit().unwrap();
    }
}

/// Fills two devices, one by whole blocks where possible and the other page by page, continues with
/// random writes and trims until GC has run, and compares their complete state.
fn fill_both<M: Mapping + Debug>(plan: &Plan, new: fn(&Plan) -> M, pieces: &[Range<u32>]) {
    let arrays = || Array::new(plan.layout, u32::MAX).with_partial_programs(4);
    let (mut map, mut map_array) = (new(plan), arrays());
    let (mut single, mut single_array) = (new(plan), arrays());
    {
        let mut device = UntimedFtl::new(&mut map, &mut map_array, plan.layout);
        let mut by_page = UntimedFtl::new(&mut single, &mut single_array, plan.layout);
        for piece in pieces {
            device.write_row(piece.clone()).unwrap();
            piece
                .clone()
                .for_each(|page| by_page.write(Lpn(page)).unwrap());
            assert_eq!(device.work(), by_page.work());
        }
    }
    assert_eq!(format!("{map_array:?}"), format!("{single_array:?}"));
    map.audit().unwrap();
    for page in (0..plan.user_pages).map(Lpn) {
        assert_eq!(map.lookup(page), single.lookup(page));
    }
    let mut random = Rng::new(1, "laws.writes");
    let mut device = UntimedFtl::new(&mut map, &mut map_array, plan.layout);
    let mut by_page = UntimedFtl::new(&mut single, &mut single_array, plan.layout);
    for _ in 0..plan.layout.pages() {
        let page = Lpn(random.below(plan.user_pages.into()) as u32);
        if random.below(16) == 0 {
            let trimmed = Lpn(random.below(plan.user_pages.into()) as u32);
            device.trim(trimmed).unwrap();
            by_page.trim(trimmed).unwrap();
        }
        device.write(page).unwrap();
        by_page.write(page).unwrap();
        // The comparison is expensive, and a difference would persist.
        if device.work().written.is_power_of_two() {
            assert_eq!(format!("{device:?}"), format!("{by_page:?}"), "{plan:?}");
        }
    }
    assert!(device.work().erased > 0, "{plan:?}");
    assert_eq!(format!("{device:?}"), format!("{by_page:?}"), "{plan:?}");
}

/// Compares the ways to fill a device whose rounds of one block per plane have `round` pages.
fn fill_in_pieces(plan: &Plan, round: u32) {
    let all = plan.user_pages;
    for end in [0, round - 1, round, round + 1, 3 * round, all - 1, all] {
        fill_both(plan, PageMap::new, slice::from_ref(&(0..end)));
    }
    let pieces = [0..round, round..2 * round, 2 * round..all];
    fill_both(plan, PageMap::new, &pieces);
    fill_both(plan, PageMap::new, &[0..2 * round + 1, 2 * round + 1..all]);
    fill_both(plan, PageMap::new, &[0..2 * round, round..all, 0..all]);
}

#[test]
fn filling_whole_blocks_leaves_the_same_state_as_single_writes() {
    let layouts = [
        (planes(2, 2, 1, 2), 10, 9),
        (planes(1, 1, 1, 1), 12, 64),
        (planes(3, 1, 2, 1), 14, 1),
        (planes(1, 3, 1, 1), 9, 70),
    ];
    for (dimensions, blocks, pages) in layouts {
        let layout = layout(dimensions, blocks, pages);
        let round = layout.planes() * pages;
        // Every policy, each combined with several of the others.
        for mut config in edge::configs().into_iter().step_by(13) {
            config.over_provisioning_ratio = 0.6;
            for formula_pages in [0, u32::MAX] {
                let plan = Plan {
                    formula_pages,
                    ..Plan::new(&config, layout, dimensions, 1).unwrap()
                };
                fill_in_pieces(&plan, round);
            }
        }
    }
}

/// Log-block, hybrid and buffered mapping, with several stripings of pages.
#[test]
fn filling_logical_blocks_leaves_the_same_state_as_single_writes() {
    let mut families = Vec::new();
    for (stripe, stripe_pages) in [
        (Stripe::Block, 1),
        (Stripe::Page, 1),
        (Stripe::Page, 4),
        (Stripe::Page, 3),
    ] {
        families.push(Family::LogBlock(LogBlock {
            stripe,
            stripe_pages,
            ..LogBlock::default()
        }));
        families.push(Family::Buffered(Buffered {
            stripe,
            stripe_pages,
            ..Buffered::default()
        }));
        for data_blocks in [1, 2, 3] {
            let hybrid = Hybrid {
                data_blocks,
                update_blocks: 2,
                stripe,
                stripe_pages,
                ..Hybrid::default()
            };
            families.push(Family::Hybrid(hybrid));
        }
    }
    for mapping in families {
        for (dimensions, blocks, pages) in
            [(planes(2, 1, 1, 2), 32, 8), (planes(1, 1, 1, 1), 40, 12)]
        {
            let layout = layout(dimensions, blocks, pages);
            let config = Config {
                over_provisioning_ratio: 0.5,
                mapping: mapping.clone(),
                ..Config::default()
            };
            let plan = Plan::new(&config, layout, dimensions, 1).unwrap();
            let (round, all) = (layout.planes() * pages, plan.user_pages);
            for end in [round - 1, round, 3 * round + 1, all] {
                fill_both(&plan, Map::new, slice::from_ref(&(0..end)));
            }
            fill_both(&plan, Map::new, &[0..2 * round + 1, 2 * round + 1..all]);
            fill_both(&plan, Map::new, &[0..2 * round, round..all, 0..all]);
            // The fill works by blocks, not page by page, unless runs end in the middle of a block.
            let mut filled = 0;
            let mut map = Map::new(&plan);
            let written = map.fill(0..all, |_| {
                filled += 1;
                Ok::<_, ()>(())
            });
            let written = written.unwrap();
            assert_eq!(filled * pages, written);
            assert!(
                written >= all / 2 || pages % 3 != 0 && written == 0,
                "{mapping:?}: {written} of {all}"
            );
        }
    }
}

/// Whole blocks are filled only with pages that were never written, and only if allocation visits
/// the planes in turn.
#[test]
fn only_pages_that_were_never_written_are_filled_by_whole_blocks() {
    let dimensions = planes(2, 2, 1, 2);
    let layout = layout(dimensions, 64, 9);
    let fill = |map: &mut PageMap, pages| map.fill(pages, |_| Ok::<_, ()>(())).unwrap();
    for allocate in allocations() {
        let config = Config {
            allocate: allocate.clone(),
            ..Config::default()
        };
        let mut plan = Plan::new(&config, layout, dimensions, 1).unwrap();
        plan.formula_pages = 0;
        let mut map = PageMap::new(&plan);
        let filled = fill(&mut map, 0..200);
        if matches!(allocate, Allocate::LeastBusy(_)) {
            assert_eq!(filled, 0);
            continue;
        }
        assert_eq!(filled, 144);
        assert_eq!(fill(&mut map, 0..200), 0);
        assert_eq!(fill(&mut map, 144..215), 0);
        assert_eq!(fill(&mut map, 144..216), 72);
        assert!(matches!(map.write(Lpn(1)), WriteOutcome::Placed(_)));
        assert_eq!(fill(&mut map, 216..plan.user_pages), 0);
        map.audit().unwrap();
    }
}

/// Writes consecutive pages with one call to one map and, page by page, to another map in the same
/// state. Returns the number of pages placed.
fn write_row_both(map: &mut PageMap, single: &mut PageMap, plan: &Plan, pages: Range<u32>) -> u32 {
    let free_blocks = map.free_blocks();
    let must_end = |map: &PageMap, last: Ppn| {
        let plane = plan.layout.plane_of(plan.layout.block_of(last));
        map.free_blocks() < free_blocks || map.wants_collection(plane)
    };
    let (mut next, mut last) = (pages.start, None);
    let block_of = |place| plan.layout.block_of(place);
    let ended = map.write_row(pages.clone(), |placed| {
        let Placed {
            page,
            place,
            plane,
            superseded,
        } = placed;
        assert!(last.is_none_or(|last| !must_end(single, last)));
        let before = single.lookup(page).map(block_of);
        assert_eq!((page, superseded), (Lpn(next), before));
        assert_eq!(plane, plan.layout.plane_of(block_of(place)));
        assert_eq!(single.write(page), WriteOutcome::Placed(place));
        (next, last) = (next + 1, Some(place));
        Ok::<_, ()>(())
    });
    assert_eq!(ended, Ok(()));
    if next < pages.end && last.is_none_or(|last| !must_end(map, last)) {
        assert!(matches!(single.write(Lpn(next)), WriteOutcome::Blocked(_)));
    }
    next - pages.start
}

/// Makes bulk writes until the device is as full as possible without GC.
#[test]
fn bulk_write_ends_where_gc_may_be_needed_and_reports_superseded_blocks() {
    for mut config in edge::configs() {
        config.over_provisioning_ratio = 0.6;
        let dimensions = planes(2, 2, 1, 2);
        let plan = Plan::new(&config, layout(dimensions, 10, 9), dimensions, 1).unwrap();
        let (mut map, mut single) = (PageMap::new(&plan), PageMap::new(&plan));
        let mut random = Rng::new(1, "laws.rows");
        let mut full = 0;
        while full < 20 {
            let first = random.below(plan.user_pages.into()) as u32;
            let end = (first + 1 + random.below(40) as u32).min(plan.user_pages);
            full += u32::from(write_row_both(&mut map, &mut single, &plan, first..end) == 0);
        }
        assert_eq!(format!("{map:?}"), format!("{single:?}"), "{config:?}");
        map.audit().unwrap();
    }
}

#[test]
fn callback_error_ends_a_bulk_write() {
    let dimensions = planes(2, 2, 1, 2);
    let plan = Plan::new(&Config::default(), layout(dimensions, 64, 9), dimensions, 1).unwrap();
    let mut map = PageMap::new(&plan);
    assert_eq!(map.write_row(0..8, |_| Err("no")), Err("no"));
    assert!(map.lookup(Lpn(0)).is_some() && map.lookup(Lpn(1)).is_none());
}
