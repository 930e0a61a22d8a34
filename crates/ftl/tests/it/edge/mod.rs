//! Tiny devices, filled to the maximum that a plan allows, and the worst writes for them.
#![allow(dead_code)] // each test module uses only some of these items
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use proptest::test_runner::{Config as Cases, RngSeed};
use wordline_ftl::allocate::{Allocate, Dimensions, Order};
use wordline_ftl::config::Gc;
use wordline_ftl::gc::victim::Victim;
use wordline_ftl::gc::victim::d_choices::DChoices;
use wordline_ftl::gc::victim::greedy::{Greedy, Ties};
use wordline_ftl::wear::Wear;
use wordline_ftl::{Config, Lpn, Mapping, Plan};
use wordline_kernel::Rng;
use wordline_nand::{Geometry, Layout};

use crate::naive::CheckedMap;

/// Returns a configuration of property tests with 256 cases, the same in every run unless
/// `PROPTEST_CASES` or `PROPTEST_RNG_SEED` is set.
pub fn cases() -> Cases {
    let mut cases = Cases::default();
    if cases.rng_seed == RngSeed::Random {
        cases.rng_seed = RngSeed::Fixed(1);
    }
    cases.failure_persistence = None;
    cases
}

/// Returns the dimensions of a device.
pub const fn planes(channels: u32, ways: u32, dies: u32, planes: u32) -> Dimensions {
    Dimensions {
        channels,
        ways,
        dies,
        planes,
    }
}

/// Returns the layout of an array of these dimensions.
pub fn layout(dimensions: Dimensions, blocks_per_plane: u32, pages_per_block: u32) -> Layout {
    let geometry = Geometry {
        dies_per_package: dimensions.dies,
        planes_per_die: dimensions.planes,
        blocks_per_plane,
        pages_per_block,
        ..Geometry::default()
    };
    Layout::new(&geometry, dimensions.channels * dimensions.ways).unwrap()
}

/// Returns the plan that leaves the host the maximum number of pages, less `slack`, if there is
/// one.
pub fn fullest(
    config: &Config,
    dimensions: Dimensions,
    blocks_per_plane: u32,
    pages_per_block: u32,
    slack: u32,
) -> Option<Plan> {
    let layout = layout(dimensions, blocks_per_plane, pages_per_block);
    let plan = |spare: u32| {
        let over_provisioning_ratio = f64::from(spare) / f64::from(layout.pages());
        let config = Config {
            over_provisioning_ratio,
            ..config.clone()
        };
        Plan::new(&config, layout, dimensions, 1).ok()
    };
    let least = (0..layout.pages()).find(|&spare| plan(spare).is_some())?;
    plan(least + slack)
}

/// Returns every allocation policy with the order `order`.
pub fn kinds(order: Order) -> Vec<Allocate> {
    let kind = |name: &&str| {
        let kind = serde_json::json!({ *name: { "order": order } });
        serde_json::from_value(kind).unwrap()
    };
    Allocate::NAMES.iter().map(kind).collect()
}

/// Returns every allocation policy in all 24 orders.
pub fn allocations() -> Vec<Allocate> {
    Order::all().into_iter().flat_map(kinds).collect()
}

/// Returns every victim policy with its defaults, and the variants d = 1, d = 2 and the other tie
/// rule.
pub fn victims() -> Vec<Victim> {
    let mut victims = Victim::defaults();
    victims.extend([1, 2].map(|d| Victim::DChoices(DChoices { d })));
    let ties = Ties::Shortest;
    victims.push(Victim::Greedy(Greedy { ties }));
    victims
}

/// Returns the default FTL configuration with these policies.
pub fn config(allocate: &Allocate, victim: &Victim, wear: &Wear, own_block: bool) -> Config {
    let gc = Gc {
        victim: victim.clone(),
        own_block,
        internal_data_move: false,
        ..Gc::default()
    };
    Config {
        allocate: allocate.clone(),
        gc,
        wear: wear.clone(),
        ..Config::default()
    }
}

/// Returns the configurations with every combination of policies.
pub fn configs() -> Vec<Config> {
    let mut configs = Vec::new();
    for allocate in allocations() {
        for victim in victims() {
            for wear in Wear::defaults() {
                for own_block in [false, true] {
                    configs.push(config(&allocate, &victim, &wear, own_block));
                }
            }
        }
    }
    configs
}

/// Order in which pages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// A random page.
    Uniform,
    /// Pages in order.
    Sequential,
    /// Always the same page.
    Same,
    /// Pages of one plane under static allocation; a few different pages under dynamic allocation.
    OnePlane,
    /// Of eight random pages, the one whose block has the most valid pages. This spreads invalid
    /// pages over the blocks.
    Thin,
    /// Of eight random pages, the one whose plane has the fewest valid pages. This gathers valid
    /// pages on other planes.
    Gather,
    /// The pages of one plane after another under dynamic allocation. This moves valid pages
    /// between the planes.
    Drain,
}

pub const LOADS: [Load; 7] = [
    Load::Uniform,
    Load::Sequential,
    Load::Same,
    Load::OnePlane,
    Load::Thin,
    Load::Gather,
    Load::Drain,
];

impl Load {
    /// Returns the next page to write. `number` is the number of writes so far.
    pub fn next(self, number: u32, device: &CheckedMap, plan: &Plan, random: &mut Rng) -> Lpn {
        let user = plan.user_pages;
        let planes = plan.layout.planes();
        let mut any = || Lpn(random.below(user.into()) as u32);
        match self {
            Self::Uniform => any(),
            Self::Sequential => Lpn(number % user),
            Self::Same => Lpn(user / 2),
            Self::OnePlane => Lpn(any().0 / planes * planes),
            Self::Thin => worst([(); 8].map(|()| any()), |page| {
                let place = device.lookup(page)?;
                let block = plan.layout.block_of(place);
                Some(plan.layout.pages_per_block - device.map.valid(block))
            }),
            Self::Gather => worst([(); 8].map(|()| any()), |page| {
                let place = device.lookup(page)?;
                let plane = plan.layout.plane_of(plan.layout.block_of(place));
                let blocks = 0..plan.layout.blocks_per_plane;
                let valid = |block| device.map.valid(plan.layout.block(plane, block));
                Some(blocks.map(valid).sum())
            }),
            Self::Drain => worst([(); 8].map(|()| any()), |page| {
                let plane = plan
                    .layout
                    .plane_of(plan.layout.block_of(device.lookup(page)?));
                let drained = number / (2 * user) % planes;
                Some((plane.0 + planes - drained) % planes)
            }),
        }
    }
}

/// Returns the page with the lowest rank. A page that was never written comes first.
fn worst(pages: [Lpn; 8], rank: impl Fn(Lpn) -> Option<u32>) -> Lpn {
    pages.into_iter().min_by_key(|&page| rank(page)).unwrap()
}
