//! Tests of locality-driven partitioning. Compares its model and trackers with theory and plain
//! simulation, and its small flash devices with full-size ones.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code, also outside test functions

use crate::zipf;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use wordline_kernel::Rng;
use wordline_miss_ratio::Rate;
use wordline_partition::latency::{Model, cached_pages, over_provisioning};
use wordline_partition::policy::locality_driven::{
    LocalityDriven, TRAINED, Trained, Utilisation, miss_ratios, shift,
};
use wordline_partition::shadow::Miniature;
use wordline_partition::window::{Method, Sampling, Tracker, Window};
use wordline_partition::{Costs, Divide, Kind, Partition, Partitioning, Space};
use zipf::Zipf;

/// Costs in table 5 of the source.
const COSTS: Costs = Costs {
    read_us: 25.0,
    program_us: 200.0,
    copy_us: 225.0,
    erase_us: 1500.0,
    disk_read_us: 5000.0,
    disk_write_us: 5000.0,
};

fn space(blocks: u32) -> Space {
    let total_pages = blocks * 64;
    Space {
        total_pages,
        pages_per_block: 64,
        threshold_pages: total_pages.div_ceil(20 * 64) * 64,
        page_bytes: 4096,
        start_pages: total_pages / 20 * 13,
        most_pages: total_pages / 100 * 90,
        costs: COSTS,
    }
}

fn sampling(method: Method, rate: f64, seed: u64) -> Sampling {
    Sampling {
        method,
        rate: Rate::new(rate).unwrap(),
        pages: NonZeroU32::new(2048).unwrap(),
        seed,
    }
}

/// LRU write cache on a greedy page-mapped flash with one active block, full at the start,
/// implemented with plain data structures.
struct Whole {
    per_block: usize,
    low_water: usize,
    capacity: usize,
    recency: BTreeMap<u64, u64>,
    clock: u64,
    /// Time of the last write and page of flash, by page of the disk.
    pages: BTreeMap<u64, (u64, usize)>,
    /// Disk page of each page of flash.
    flash: Vec<Option<u64>>,
    valid: Vec<usize>,
    empty: Vec<usize>,
    open: usize,
    fill: usize,
    victims: u64,
    moved: u64,
    misses: u64,
    erases: u64,
}

impl Whole {
    fn new(space: &Space, capacity: u32) -> Self {
        let per_block = space.pages_per_block as usize;
        let blocks = space.total_pages as usize / per_block;
        let mut whole = Self {
            per_block,
            low_water: (space.threshold_pages / space.pages_per_block) as usize,
            capacity: capacity as usize,
            recency: BTreeMap::new(),
            clock: 0,
            pages: BTreeMap::new(),
            flash: vec![None; blocks * per_block],
            valid: vec![0; blocks],
            empty: (1..blocks).collect(),
            open: 0,
            fill: 0,
            victims: 0,
            moved: 0,
            misses: 0,
            erases: 0,
        };
        (0..u64::from(capacity)).for_each(|page| whole.write(page + (1 << 40)));
        whole.forget();
        whole
    }
    fn forget(&mut self) {
        (self.victims, self.moved, self.misses, self.erases) = (0, 0, 0, 0);
    }
    fn invalidate(&mut self, page: u64) {
        if let Some((time, place)) = self.pages.remove(&page) {
            self.recency.remove(&time);
            self.flash[place] = None;
            self.valid[place / self.per_block] -= 1;
        }
    }
    fn program(&mut self, page: u64) -> usize {
        if self.fill == self.per_block {
            self.open = self.empty.pop().unwrap();
            self.fill = 0;
        }
        let place = self.open * self.per_block + self.fill;
        self.fill += 1;
        self.flash[place] = Some(page);
        self.valid[self.open] += 1;
        place
    }
    fn write(&mut self, page: u64) {
        self.misses += u64::from(!self.pages.contains_key(&page));
        self.invalidate(page);
        if self.pages.len() == self.capacity {
            let oldest = *self.recency.first_key_value().unwrap().1;
            self.invalidate(oldest);
        }
        let place = self.program(page);
        self.clock += 1;
        self.recency.insert(self.clock, page);
        self.pages.insert(page, (self.clock, place));
        while self.empty.len() < self.low_water {
            self.collect();
        }
    }
    fn collect(&mut self) {
        let is_full = |&block: &usize| block != self.open && !self.empty.contains(&block);
        let victim = (0..self.valid.len())
            .filter(is_full)
            .min_by_key(|&block| self.valid[block]);
        let Some(victim) = victim else { return };
        self.victims += 1;
        self.erases += 1;
        self.moved += self.valid[victim] as u64;
        for place in victim * self.per_block..(victim + 1) * self.per_block {
            if let Some(page) = self.flash[place].take() {
                let moved = self.program(page);
                self.pages.get_mut(&page).unwrap().1 = moved;
            }
        }
        self.valid[victim] = 0;
        self.empty.insert(0, victim);
    }
    /// Returns the mean share of valid pages in victims.
    fn victim_utilisation(&self) -> f64 {
        self.moved as f64 / (self.victims * self.per_block as u64).max(1) as f64
    }
}

#[test]
fn over_provisioning_is_the_share_of_pages_that_is_not_cached() {
    assert_eq!(over_provisioning(650, 1000), 0.35);
    assert_eq!(cached_pages(0.35, 1000), 650);
    let percents = (15..=85).map(|percent| f64::from(percent) / 100.0);
    for op in percents {
        assert!((over_provisioning(cached_pages(op, 1 << 20), 1 << 20) - op).abs() < 1e-6);
    }
}

/// Half of the pages of victims are valid, so GC of a block takes 32 moves of 225 us and an erase,
/// and frees 32 pages.
#[test]
fn latencies_match_the_formulas() {
    let model = Model {
        costs: COSTS,
        pages_per_block: 64,
    };
    assert_eq!(model.collection_us(0.5), 32.0 * 225.0 + 1500.0);
    assert_eq!(model.page_write_us(0.5), 200.0 + 8700.0 / 32.0);
    // Equation 4.4: a hit is a page write; a miss first reads and destages another page.
    let (hit, miss) = (
        model.page_write_us(0.5),
        25.0 + model.page_write_us(0.5) + 5000.0,
    );
    assert!((model.latency_us(0.5, 0.2) - (0.8 * hit + 0.2 * miss)).abs() < 1e-9);
    assert_eq!(model.page_write_us(1.0), f64::INFINITY);
}

/// With 5 % kept free, the equation gives 0.80 at 15 % and 0.44 at 35 %, as in the source.
#[test]
fn analytic_utilisation_excludes_the_free_reserve() {
    let mut space = space(1000);
    space.threshold_pages = space.total_pages / 20;
    let table = Trained::analytic(&space);
    assert!((table.at(0.15) - 0.80).abs() < 0.005);
    assert!((table.at(0.35) - 0.44).abs() < 0.005);
    for op in TRAINED.windows(2) {
        let middle = f64::midpoint(op[0], op[1]);
        let mean = f64::midpoint(table.at(op[0]), table.at(op[1]));
        assert!(
            (table.at(middle) - mean).abs() < 1e-12,
            "the share is linear between two points"
        );
    }
    let ends = [(0.0, 0.15), (1.0, 0.85)];
    for (beyond, end) in ends {
        assert!(
            (table.at(beyond) - table.at(end)).abs() < 1e-12,
            "the share is constant beyond {end}"
        );
    }
}

/// Uniform writes of 20,480 pages on 256 blocks. From an over-provisioning of 35 % on, victims are
/// empty, because pages leave the cache before the log wraps around (AET(C) = N ln(N / (N - C)) =
/// 15,030 writes at 35 %, less than 0.95 C_total = 15,565). At 25 %, half of the victims' pages are
/// valid.
#[test]
fn victims_are_empty_if_pages_leave_before_the_log_wraps() {
    let space = space(256);
    let sizes = TRAINED.map(|op| cached_pages(op, space.total_pages));
    let mut random = Rng::new(1, "uniform");
    let mut miniature = Miniature::new(&space, 1, &sizes, 1);
    while !miniature.is_trained() {
        miniature.write(random.below(20_480));
    }
    let found: Vec<f64> = miniature.victims().map(Option::unwrap).collect();
    println!("uniform: {found:.3?}");
    assert!((found[1] - 0.51).abs() < 0.05, "{found:?}");
    assert!(found[2..].iter().all(|&victim| victim == 0.0), "{found:?}");
}

#[test]
fn miniature_victims_match_those_of_the_full_flash() {
    let space = space(1024);
    let sizes = TRAINED.map(|op| cached_pages(op, space.total_pages));
    let mut worst = 0.0_f64;
    for (exponent, divisor) in [(0.6, 8), (0.9, 8), (1.1, 8), (0.9, 16)] {
        let law = Zipf::new(exponent, 120_000);
        let mut random = Rng::new(1, "whole");
        let mut miniature = Miniature::new(&space, divisor, &sizes, 1);
        let mut wholes: Vec<Whole> = [0, 2, 4, 6].map(|at| Whole::new(&space, sizes[at])).into();
        let fills = u64::from(space.total_pages);
        let mut trained = None;
        for place in 0..4 * fills {
            let page = law.draw(&mut random);
            miniature.write(page);
            if miniature.is_trained() && trained.is_none() {
                trained = Some((
                    place,
                    miniature.victims().map(Option::unwrap).collect::<Vec<_>>(),
                ));
            }
            for whole in &mut wholes {
                whole.write(page);
                if place == fills {
                    whole.forget();
                }
            }
        }
        let (place, trained) = trained.unwrap();
        println!(
            "zipf {exponent}, 1/{divisor}, trained after {:.2} fills: {trained:.3?}; full {:.3?}",
            place as f64 / fills as f64,
            wholes
                .iter()
                .map(Whole::victim_utilisation)
                .collect::<Vec<_>>()
        );
        for (whole, at) in wholes.iter().zip([0, 2, 4, 6]) {
            worst = worst.max((whole.victim_utilisation() - trained[at]).abs());
        }
    }
    assert!(worst <= 0.08, "{worst}");
}

/// Formula 4.5, with the victims and misses of a run, matches the time of the run within 1 % once
/// the cache is full.
#[test]
fn latency_formula_matches_a_simulated_full_cache() {
    let space = space(256);
    let law = Zipf::new(0.9, 30_000);
    let model = Model::of(&space);
    for op in [0.15, 0.35, 0.65] {
        let mut whole = Whole::new(&space, cached_pages(op, space.total_pages));
        let mut random = Rng::new(1, "formula");
        let writes = 12 * u64::from(space.total_pages);
        (0..writes).for_each(|_| whole.write(law.draw(&mut random)));
        let copies = whole.moved as f64 * 225.0 + whole.erases as f64 * 1500.0;
        let busy = writes as f64 * 200.0 + whole.misses as f64 * 5025.0 + copies;
        let miss_ratio = whole.misses as f64 / writes as f64;
        let formula = model.latency_us(whole.victim_utilisation(), miss_ratio);
        let run = busy / writes as f64;
        assert!(
            (formula / run - 1.0).abs() < 0.01,
            "OP {op}: {formula}, {run}"
        );
    }
}

/// Compares miss ratios at the eight sizes in windows of a steady load with those of LRU caches
/// that have received the whole load.
#[test]
fn miss_ratios_are_exact_if_windows_are_kept_and_too_high_if_they_are_cleared() {
    let space = space(256);
    let law = Zipf::new(0.9, 20_000);
    let length = 2 * u64::from(space.total_pages);
    let trackers = [Tracker::Clear, Tracker::Half, Tracker::Keep];
    let new = |tracker| Window::new(sampling(Method::Exact, 1.0, 1), tracker, length);
    let mut windows = trackers.map(new);
    let mut random = Rng::new(1, "trackers");
    let mut whole = Whole::new(&space, cached_pages(0.15, space.total_pages));
    for round in 0..4 {
        whole.forget();
        for _ in 0..length {
            let page = law.draw(&mut random);
            whole.write(page);
            for window in &mut windows {
                window.request(page);
            }
        }
        assert!(windows.iter().all(Window::is_over));
        let [clear, half, keep] = [0, 1, 2].map(|at| miss_ratios(&windows[at].curve(), &space));
        windows.iter_mut().for_each(Window::start);
        if round == 0 {
            assert_eq!(clear, keep, "the first window has no earlier writes");
            continue;
        }
        println!("clear {clear:.3?}\n half {half:.3?}\n keep {keep:.3?}");
        for at in 0..8 {
            assert!(keep[at] <= half[at] + 0.01 && half[at] <= clear[at] + 0.01);
        }
        let true_ratio = whole.misses as f64 / length as f64;
        assert_eq!(keep[0], true_ratio, "a kept tracker equals the cache");
        assert!(clear[0] > keep[0] + 0.1);
    }
}

#[test]
fn window_estimates_are_close_to_the_exact_curve() {
    let space = space(1024);
    let length = 2 * u64::from(space.total_pages);
    for (exponent, seed) in [(0.9, 1), (1.1, 2)] {
        let law = Zipf::new(exponent, 80_000);
        let mut random = Rng::new(seed, "estimates");
        let window =
            |method, rate| Window::new(sampling(method, rate, seed), Tracker::Clear, length);
        let mut exact = window(Method::Exact, 1.0);
        let mut aet = window(Method::Aet, 1.0);
        let mut shards = window(Method::ShardsRate, 0.05);
        let mut sized = window(Method::ShardsSize, 1.0);
        for _ in 0..length {
            let page = law.draw(&mut random);
            for window in [&mut exact, &mut aet, &mut shards, &mut sized] {
                window.request(page);
            }
        }
        let truth = miss_ratios(&exact.curve(), &space);
        let [aet, shards, sized] =
            [aet, shards, sized].map(|window| shift(&truth, &miss_ratios(&window.curve(), &space)));
        println!("zipf {exponent}: AET {aet:.4}, SHARDS 1/20 {shards:.4}, 2048 pages {sized:.4}");
        // The first requests of a cleared window are not in steady state.
        assert!(aet <= 0.01, "{aet}");
        assert!(shards <= 0.05 && sized <= 0.05, "{shards}, {sized}");
    }
}

/// 8 GB and 40 GB of distinct writes give 2,048 and 10,240 samples of 12 bytes at a rate of 1/1024,
/// apart from sampling variation.
#[test]
fn curve_of_8_gb_of_writes_takes_24_kb_at_12_bytes_per_entry() {
    for (writes, kib) in [(2_097_152_u64, 24.0), (10_485_760, 120.0)] {
        let mut window = Window::new(
            sampling(Method::ShardsRate, 1.0 / 1024.0, 3),
            Tracker::Clear,
            writes,
        );
        (0..writes).for_each(|page| window.request(page));
        let found = window.pages() as f64 * 12.0 / 1024.0;
        println!(
            "{writes} writes: {found:.1} KiB in entries of 12 bytes; {:.1} KiB in all",
            window.bytes() as f64 / 1024.0
        );
        assert!((found / kib - 1.0).abs() <= 0.07, "{found} KiB");
        assert!(window.bytes() <= Window::memory(window.pages() as u64).most + (16 << 10));
    }
    let mut window = Window::new(
        sampling(Method::ShardsSize, 1.0, 1),
        Tracker::Clear,
        1 << 21,
    );
    (0..1 << 20).for_each(|page| window.request(page));
    assert_eq!(window.pages(), 2048);
}

fn ratios(draw: impl FnMut() -> u64, rate: f64, space: &Space) -> [f64; 8] {
    let length = 2 * u64::from(space.total_pages);
    let mut window = Window::new(
        sampling(Method::ShardsRate, rate, 1),
        Tracker::Clear,
        length,
    );
    std::iter::repeat_with(draw)
        .take(length as usize)
        .for_each(|page| window.request(page));
    miss_ratios(&window.curve(), space)
}

#[test]
fn detector_reacts_to_a_shift_and_not_to_a_moving_hot_set() {
    let space = space(1024);
    let laws = [0.9, 1.1, 0.4].map(|exponent| Zipf::new(exponent, 90_000));
    let mut random = Rng::new(1, "shift");
    for (rate, quiet) in [(1.0, 0.01), (1.0 / 16.0, 0.10)] {
        let mut of = |law: usize, moved: u64| {
            ratios(
                || (laws[law].draw(&mut random) + moved) % 90_000,
                rate,
                &space,
            )
        };
        let (before, steady, moved) = (of(0, 0), of(0, 0), of(0, 40_000));
        let (more, less) = (of(1, 0), of(2, 0));
        let found = [steady, moved, more].map(|after| shift(&before, &after));
        println!(
            "rate {rate}: steady, moved, 0.9 to 1.1 {found:.4?}; 1.1 to 0.4 {:.4}",
            shift(&more, &less)
        );
        assert!(found[0] <= quiet && found[1] <= quiet, "{found:?}");
        assert!(found[2] > 0.10 && shift(&more, &less) > 0.3);
    }
}

/// The policy trains at the start, for two fills. After that it does not train, even if the hot set
/// moves, until the shape of the curve changes.
#[test]
fn miniature_devices_are_retrained_when_the_curve_shifts() {
    let space = space(512);
    let parameters = LocalityDriven {
        curve: Method::Exact,
        tracker: Tracker::Keep,
        utilisation: Utilisation::Miniature,
        ..LocalityDriven::default()
    };
    let policy = Partition::LocalityDriven(parameters);
    let mut policy = Partitioning::new(&policy, &space, 1);
    let laws = [Zipf::new(0.9, 45_000), Zipf::new(1.2, 45_000)];
    let mut random = Rng::new(1, "training");
    let mut window = |policy: &mut Partitioning, law: usize, moved: u64| {
        for _ in 0..2 * space.total_pages {
            policy.request();
            let page = (laws[law].draw(&mut random) + moved) % 45_000;
            policy.page(page, Kind::Write, false);
            policy.decide();
        }
        let Partitioning::LocalityDriven(state) = policy else {
            unreachable!("the policy is locality-driven");
        };
        (state.is_training(), state.trained())
    };
    // The first window may contain slightly less than two fills of the sampled pages.
    let first = window(&mut policy, 0, 0);
    let second = window(&mut policy, 0, 0);
    assert!(
        !second.0 && second.1 != Trained::analytic(&space),
        "{first:?}"
    );
    for moved in [0, 20_000, 0] {
        assert_eq!(
            window(&mut policy, 0, moved),
            second,
            "no training without a shift"
        );
    }
    let shifted = window(&mut policy, 1, 0);
    assert_eq!(
        shifted,
        (true, second.1),
        "the old table is used until the new one is complete"
    );
    let learned = [window(&mut policy, 1, 0), window(&mut policy, 1, 0)][1];
    assert!(!learned.0 && learned.1 != second.1);
}

/// After a window, the policy takes the size with the lowest latency among the eight, computed from
/// stack distances in a list and the formulas.
#[test]
fn locality_driven_matches_a_naive_implementation() {
    let mut space = space(32);
    space.threshold_pages = 128;
    space.most_pages = 2048 - 200;
    for (seed, tracker) in [(1, Tracker::Clear), (2, Tracker::Keep), (3, Tracker::Half)] {
        let parameters = LocalityDriven {
            curve: Method::Exact,
            tracker,
            utilisation: Utilisation::Given,
            ..LocalityDriven::default()
        };
        let victims = parameters.victim_utilisations;
        let mut policy = Partitioning::new(&Partition::LocalityDriven(parameters), &space, seed);
        let mut random = Rng::new(seed, "twin");
        let mut list: Vec<u64> = Vec::new();
        let mut size = policy.start().write;
        assert_eq!(policy.start().read, 0);
        for round in 0..5 {
            let mut distances = Vec::new();
            if tracker != Tracker::Keep {
                list.clear();
            }
            let mut counted = 0_u32;
            for place in 0..4096 {
                let page = (random.unit().powi(1 + round) * 6_000.0) as u64;
                let other = random.below(1000);
                policy.request();
                policy.page(other, Kind::Read, false); // a write cache ignores reads
                policy.page(page, Kind::Write, false);
                let above = list.iter().rev().position(|&other| other == page);
                list.retain(|&other| other != page);
                list.push(page);
                if tracker != Tracker::Half || place >= 2048 {
                    counted += 1;
                    distances.extend(above);
                }
                size = policy.decide().map_or(size, |sizes| sizes.write);
            }
            let mut best = (f64::INFINITY, 0);
            for (at, percent) in (15..=85).step_by(10).enumerate() {
                let pages = (f64::from(100 - percent) / 100.0 * 2048.0).round();
                let hits = distances
                    .iter()
                    .filter(|&&above| (above as f64) < pages)
                    .count();
                let misses = 1.0 - hits as f64 / f64::from(counted);
                let u = victims[at];
                let latency =
                    200.0 + (u * 64.0 * 225.0 + 1500.0) / ((1.0 - u) * 64.0) + misses * 5025.0;
                if latency < best.0 && pages <= f64::from(space.most_pages) {
                    best = (latency, pages as u32);
                }
            }
            assert_eq!(size, best.1, "{tracker:?}, window {round}");
        }
    }
}
