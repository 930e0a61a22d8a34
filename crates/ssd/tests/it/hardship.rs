//! Small devices with the least over-provisioning, with every combination of allocation, victim
//! policy and wear levelling, and concurrent reads and writes of partial, whole and several pages:
//! every read is verified, every request is served, and the counts agree.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use std::collections::HashSet;

use crate::shared;

use shared::{Load, closed_loop, drive, plan};
use wordline_block::Op;
use wordline_ftl::allocate::dynamic::Dynamic;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::gc::victim::Victim;
use wordline_ftl::wear::Wear;
use wordline_ftl::{Config, Lpn, Mapping, PageMap};
use wordline_ssd::Ssd;

const DIMENSIONS: Dimensions = Dimensions {
    channels: 2,
    ways: 2,
    dies: 1,
    planes: 2,
};

fn configs() -> Vec<Config> {
    let mut configs = Vec::new();
    for allocate in Allocate::defaults() {
        for victim in Victim::defaults() {
            for wear in Wear::defaults() {
                for own_block in [false, true] {
                    let mut config = Config {
                        allocate: allocate.clone(),
                        wear: wear.clone(),
                        ..Config::default()
                    };
                    config.gc.victim = victim.clone();
                    config.gc.own_block = own_block;
                    configs.push(config);
                }
            }
        }
    }
    configs
}

/// Returns the configuration with the least over-provisioning with which its device works.
fn fullest(config: &Config, blocks: u32, pages: u32) -> Config {
    let tight = (1..100).map(|per_cent| {
        let over_provisioning_ratio = f64::from(per_cent) / 100.0;
        Config {
            over_provisioning_ratio,
            ..config.clone()
        }
    });
    let works = |config: &Config| plan(config, DIMENSIONS, blocks, pages, 1).is_some();
    tight.into_iter().find(works).unwrap()
}

#[test]
fn every_combination_serves_and_verifies_all_requests() {
    let loads = [
        Load {
            requests: 3_000,
            read_ratio: 0.4,
            grain_bytes: 512,
            most_bytes: 20_480,
            footprint_ratio: 1.0,
        },
        Load {
            requests: 3_000,
            read_ratio: 0.2,
            grain_bytes: 4096,
            most_bytes: 4096,
            footprint_ratio: 1.0,
        },
        // With few pages, reads and writes of the same page overlap in every state.
        Load {
            requests: 3_000,
            read_ratio: 0.5,
            grain_bytes: 512,
            most_bytes: 8_192,
            footprint_ratio: 0.02,
        },
    ];
    for config in configs() {
        let config = fullest(&config, 10, 8);
        for queue_depth in [1, 7, 64] {
            let plan = plan(&config, DIMENSIONS, 10, 8, queue_depth).unwrap();
            for load in loads {
                let fill = plan.ftl.user_pages / 2;
                let run = closed_loop(&plan, PageMap::new(&plan.ftl), load, fill, true);
                let (_, _, ssd) =
                    run.unwrap_or_else(|error| panic!("{config:?} {load:?}: {error}"));
                ssd.mapping()
                    .audit()
                    .unwrap_or_else(|error| panic!("{config:?}: {error}"));
            }
        }
    }
}

#[test]
fn single_plane_serves_all_writes() {
    // Pages are allocated statically over eight planes; of every eight pages, the first is written,
    // so that one plane takes all writes.
    let config = fullest(&Config::default(), 10, 8);
    let plan = plan(&config, DIMENSIONS, 10, 8, 32).unwrap();
    let (layout, fill) = (plan.part.layout, plan.ftl.user_pages);
    let (tally, _, ssd) = drive(
        &plan,
        PageMap::new(&plan.ftl),
        20_000,
        fill,
        true,
        |_, _, random| {
            let page = 8 * random.below(u64::from(fill) / 8);
            (Op::Write, page * 4096, 4096)
        },
    )
    .unwrap();
    assert!(tally.collections > 0);
    ssd.mapping().audit().unwrap();
    let planes: HashSet<_> = (0..fill)
        .step_by(8)
        .filter_map(|page| ssd.mapping().lookup(Lpn(page)))
        .map(|place| layout.plane_of(layout.block_of(place)))
        .collect();
    assert_eq!(planes.len(), 1);
}

#[test]
fn equal_inputs_give_equal_digests_under_every_policy() {
    let load = Load {
        requests: 2_000,
        read_ratio: 0.3,
        grain_bytes: 512,
        most_bytes: 12_288,
        footprint_ratio: 1.0,
    };
    for config in configs() {
        let plan = plan(&fullest(&config, 10, 8), DIMENSIONS, 10, 8, 16).unwrap();
        let digest = || {
            closed_loop(&plan, PageMap::new(&plan.ftl), load, 100, false)
                .unwrap()
                .1
        };
        assert_eq!(digest(), digest(), "{config:?}");
    }
}

/// With dynamic allocation, the valid pages of one plane are overwritten until it is nearly empty,
/// then those of the other. A plane that had no victims must run GC again.
#[test]
fn plane_that_had_no_victims_runs_gc_again() {
    let dimensions = Dimensions {
        channels: 2,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    for (blocks, pages) in [(14, 2), (14, 4), (20, 4), (10, 3)] {
        for own_block in [false, true] {
            for queue_depth in [1, 4, 16, 64] {
                let mut config = Config {
                    allocate: Allocate::Dynamic(Dynamic::default()),
                    ..Config::default()
                };
                config.gc.own_block = own_block;
                let total = 2 * blocks * pages;
                let tightest = (1..total).find_map(|spare| {
                    config.over_provisioning_ratio = f64::from(spare) / f64::from(total);
                    plan(&config, dimensions, blocks, pages, queue_depth)
                });
                let plan = tightest.unwrap();
                let (user, layout) = (plan.ftl.user_pages, plan.part.layout);
                let on_plane = |ssd: &Ssd<PageMap>, page: u32, plane: u64| {
                    let place = ssd.mapping().lookup(Lpn(page));
                    place.is_some_and(|place| {
                        u64::from(layout.plane_of(layout.block_of(place)).0) == plane
                    })
                };
                drive(
                    &plan,
                    PageMap::new(&plan.ftl),
                    5_000,
                    user,
                    true,
                    |ssd, number, random| {
                        let drained = number / (3 * u64::from(user)) % 2;
                        let mut draws = (0..8).map(|_| random.below(user.into()) as u32);
                        let page = draws
                            .find(|&page| on_plane(ssd, page, drained))
                            .unwrap_or(0);
                        (Op::Write, u64::from(page) * 4096, 4096)
                    },
                )
                .unwrap();
            }
        }
    }
}
