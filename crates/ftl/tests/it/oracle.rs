//! Page map compared with a simple reference, on tiny devices filled to the maximum that a plan
//! allows. Map and reference agree after every few writes, the array's rules hold, and every write
//! is served.
#![allow(clippy::unwrap_used, clippy::panic)] // test code, also outside test functions

use crate::edge;
use crate::naive;

use edge::{LOADS, Load, cases, config, configs, fullest, planes, victims};
use naive::CheckedMap;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use wordline_ftl::allocate::Allocate;
use wordline_ftl::allocate::dynamic::Dynamic;
use wordline_ftl::untimed::UntimedFtl;
use wordline_ftl::wear::Wear;
use wordline_ftl::{Lpn, Mapping, Plan};
use wordline_kernel::Rng;
use wordline_nand::{Array, Plane};

/// Device and its reference, which receive the same writes.
struct Pair {
    plan: Plan,
    device: CheckedMap,
    array: Array,
}

impl Pair {
    fn new(plan: Plan) -> Self {
        Self {
            device: CheckedMap::new(&plan),
            array: Array::new(plan.layout, u32::MAX),
            plan,
        }
    }
    /// Writes a page. Under static allocation, asserts that every plane then reaches its free-block
    /// threshold.
    fn write(&mut self, page: Lpn) {
        let mut instant = UntimedFtl::new(&mut self.device, &mut self.array, self.plan.layout);
        if let Err(error) = instant.write(page) {
            panic!("{error} under {:?}", self.plan);
        }
        if let Allocate::Static(_) = self.plan.config.allocate {
            let planes = 0..self.plan.layout.planes();
            let short = planes
                .map(Plane)
                .find(|&plane| self.device.wants_collection(plane));
            assert_eq!(short, None, "under {:?}", self.plan);
        }
    }
    fn compare(&self) {
        self.device.naive.compare(&self.device.map, &self.array);
    }
    /// Writes every page once, then `writes` more pages, and compares after every `stride` writes.
    fn run(&mut self, load: Load, writes: u32, stride: u32, random: &mut Rng) {
        (0..self.plan.user_pages).for_each(|page| self.write(Lpn(page)));
        self.compare();
        for number in 0..writes {
            let page = load.next(number, &self.device, &self.plan, random);
            self.write(page);
            if number % stride == stride - 1 {
                self.compare();
            }
        }
        self.compare();
    }
}

/// All combinations of policies, each under all loads, on enough planes for 24 different orders.
#[test]
fn every_combination_of_policies_agrees_with_the_reference_map() {
    let mut random = Rng::new(1, "oracle.combinations");
    for config in configs() {
        for load in LOADS {
            let plan = fullest(&config, planes(2, 2, 2, 2), 7, 2, 0).unwrap();
            Pair::new(plan).run(load, 60, 20, &mut random);
        }
    }
}

/// Few planes with many small blocks, so that one plane can gather far more than its share.
#[test]
fn full_plane_accepts_writes_again_after_gc() {
    let mut random = Rng::new(1, "oracle.gathering");
    let allocate = Allocate::Dynamic(Dynamic::default());
    for victim in victims() {
        for own_block in [false, true] {
            let config = config(&allocate, &victim, &Wear::default(), own_block);
            let plan = fullest(&config, planes(2, 1, 1, 1), 14, 2, 0).unwrap();
            Pair::new(plan).run(Load::Drain, 1_000, 10, &mut random);
        }
    }
}

/// One million writes in total, over each victim policy, allocation policy and use of active
/// blocks.
#[test]
fn page_map_agrees_with_the_reference_map_over_a_million_writes() {
    let mut random = Rng::new(1, "oracle.million");
    let mut written = 0;
    for victim in victims() {
        for allocate in Allocate::defaults() {
            for own_block in [false, true] {
                let config = config(&allocate, &victim, &Wear::default(), own_block);
                let plan = fullest(&config, planes(2, 1, 1, 1), 8, 5, 1).unwrap();
                let mut pair = Pair::new(plan);
                for load in LOADS {
                    pair.run(load, 6_000, 50, &mut random);
                    written += 6_000 + pair.plan.user_pages;
                }
            }
        }
    }
    assert!(written >= 1_000_000, "only {written} writes");
}

/// Returns plans with any policies and thresholds, on any tiny device that a plan allows, with at
/// most three user pages fewer than the maximum.
fn plans() -> impl Strategy<Value = Plan> {
    let dimensions = (1..3_u32, 1..3_u32, 1..3_u32, 1..4_u32);
    let shape = (3..12_u32, 1..7_u32, 0..4_u32);
    let ratios = (0.0..0.5, 0.0..0.4);
    (select(configs()), dimensions, shape, ratios).prop_filter_map(
        "no valid plan",
        |(mut config, (c, w, d, p), (blocks, pages, slack), (start, hard))| {
            config.gc.start_free_ratio = start;
            config.gc.hard_free_ratio = hard;
            fullest(&config, planes(c, w, d, p), blocks, pages, slack)
        },
    )
}

proptest! {
    #![proptest_config(cases())]
    #[test]
    fn every_accepted_plan_serves_any_writes(
        plan in plans(),
        writes in vec((select(LOADS.as_slice()), any::<u64>()), 0..300),
    ) {
        let mut pair = Pair::new(plan);
        for (number, (load, salt)) in writes.into_iter().enumerate() {
            let mut random = Rng::new(salt, "oracle");
            let page = load.next(number as u32, &pair.device, &pair.plan, &mut random);
            pair.write(page);
            pair.compare();
        }
    }
}
