//! The DRAM buffer caches the pages that its policy selects: with one request at a time, on a
//! device that becomes idle before the next, it has the hits and evictions of the bare policy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use std::collections::{HashMap, HashSet};

use shared::{at, play};
use wordline_block::{Op, Request};
use wordline_cache::replacement::{Owner, Replace, Replacing};
use wordline_cache::{Entry, Replacement};
use wordline_dram_buffer as buffer;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, Map, Precondition};
use wordline_kernel::{Rng, Time};
use wordline_ssd::{Plan, Ssd};

const PAGE: u64 = 4096;
/// Interval between two requests. It is longer than any request keeps a device with ample free
/// space busy.
const REST: Time = Time::from_ms(50);

fn plan(pages: u32, replacement: &Replacement, write_through: bool) -> Plan {
    let dimensions = Dimensions {
        channels: 2,
        ways: 1,
        dies: 1,
        planes: 2,
    };
    let config = Config {
        over_provisioning_ratio: 0.5,
        ..Config::default()
    };
    let mut plan = shared::plan(&config, dimensions, 64, 32, 8).unwrap();
    plan.buffer = Some(buffer::Plan {
        watches_balance: false,
        pages,
        replacement: replacement.clone(),
        write_through,
        capacitors: false,
        ignores_flush: false,
        batch_pages: 0,
        idle_flush: None,
        read_ahead: 0,
        access: Time::ZERO,
        port: (3_200_000_000, 1_000_000_000_000),
    });
    plan
}

/// Returns skewed single-page requests; every `flush_every`th is a flush, unless it is 0.
fn requests(count: u64, footprint: u64, flush_every: u64, seed: u64) -> Vec<Request> {
    let mut random = Rng::new(seed, "hits");
    let one = |n: u64| {
        let skewed = random.below(footprint).min(random.below(footprint));
        let arrival = Time(REST.0 * n);
        if flush_every > 0 && n % flush_every == flush_every - 1 {
            return at(arrival, Op::Flush, 0, 0);
        }
        let op = [Op::Read, Op::Write][random.below(2) as usize];
        at(arrival, op, skewed * PAGE, PAGE)
    };
    (0..count).map(one).collect()
}

/// The bare cache. A page is dirty after a write until it is evicted or flushed, unless the cache
/// writes through. No die is busy.
#[derive(Default)]
struct Bare {
    dirty: HashSet<Entry>,
    evictions: [u64; 2],
    flushed: u64,
    through: bool,
}

impl Owner for Bare {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.dirty.contains(&entry)
    }
    fn evicted(&mut self, entry: Entry) {
        self.evictions[usize::from(self.dirty.remove(&entry))] += 1;
    }
}

/// Returns the numbers of hits and misses, of clean and dirty evictions, and of pages written by
/// flushes.
fn bare(
    policy: &Replacement,
    pages: u32,
    through: bool,
    asked: &[Request],
) -> ([u64; 2], [u64; 2], u64) {
    let mut state = Replacing::new(policy, pages as usize);
    let mut owner = Bare {
        through,
        ..Bare::default()
    };
    let mut hits = [0; 2];
    for request in asked {
        if request.op == Op::Flush {
            for entry in std::mem::take(&mut owner.dirty) {
                owner.flushed += 1;
                state.cleaned(entry);
            }
            continue;
        }
        let entry = Entry((request.offset / PAGE) as u32);
        let write = request.op == Op::Write;
        hits[usize::from(!state.access(entry, write, &mut owner))] += 1;
        if write && !owner.through {
            owner.dirty.insert(entry);
        }
    }
    (hits, owner.evictions, owner.flushed)
}

fn policies() -> Vec<Replacement> {
    let mut all = Replacement::defaults();
    all.retain(buffer::Plan::takes);
    assert!(all.len() >= 10);
    all
}

#[test]
fn requests_one_at_a_time_have_the_hits_of_the_bare_policy() {
    for policy in policies() {
        for (pages, through, flush_every) in [
            (1, false, 0),
            (2, true, 30),
            (13, false, 0),
            (40, false, 0),
            (40, false, 200),
            (40, true, 0),
        ] {
            let asked = requests(1_500, 100, flush_every, u64::from(pages));
            let plan = plan(pages, &policy, through);
            let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
            let fill = Precondition {
                fill_pages: 100,
                scattered: false,
                overwrite_pages: 0,
                settle: None,
                seed: 1,
            };
            ssd.precondition(&fill, |_| true).unwrap();
            ssd.verify();
            let (_, tally) = play(&mut ssd, &asked);
            let (hits, evictions, flushed) = bare(&policy, pages, through, &asked);
            let told = format!("{} of {pages}, write-through {through}", policy.name());
            assert_eq!(tally.hits, hits, "{told}: hits and misses");
            assert_eq!(
                tally.evictions, evictions,
                "{told}: clean and dirty evictions"
            );
            // The dirty pages that were evicted or flushed were written to flash. If the buffer
            // writes through, all written pages were.
            let writes = asked
                .iter()
                .filter(|request| request.op == Op::Write)
                .count();
            let destaged = if through {
                writes as u64
            } else {
                evictions[1] + flushed
            };
            assert_eq!(tally.destaged, destaged, "{told}");
            assert_eq!(tally.host_pages, destaged, "{told}: pages written to flash");
        }
    }
}

/// A buffer that holds the whole footprint misses every page once, and evicts none.
#[test]
fn buffer_larger_than_the_footprint_misses_every_page_once() {
    for policy in policies() {
        let mut asked = requests(2_000, 60, 0, 3);
        for (number, request) in (0..).zip(&mut asked) {
            request.arrival = Time::from_us(700 * number);
        }
        let plan = plan(64, &policy, false);
        let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
        let (_, tally) = play(&mut ssd, &asked);
        let mut first = HashMap::new();
        for request in &asked {
            first.entry(request.offset).or_insert(request.op);
        }
        let misses = first.len() as u64;
        let hits = asked.len() as u64 - misses;
        assert_eq!(tally.hits, [hits, misses], "{}", policy.name());
        assert_eq!(
            (tally.evictions, tally.destaged),
            ([0; 2], 0),
            "{}",
            policy.name()
        );
        let read_first = first.values().filter(|op| **op == Op::Read).count() as u64;
        assert_eq!(tally.unwritten, read_first, "{}", policy.name());
    }
}
