//! Map in flash: the cost of look-ups, updates and GC, counted by hand; hit ratios compared with
//! theory; and a cache as large as the map compared with page mapping.
#![allow(clippy::unwrap_used, clippy::panic)] // test code, also outside test functions

use std::collections::BTreeSet;

use wordline_ftl::allocate::Dimensions;
use wordline_ftl::mapping::Family;
use wordline_ftl::mapping::dftl::Dftl;
use wordline_ftl::untimed::{FlashOps, UntimedFtl};
use wordline_ftl::{
    Config, JobId, Lpn, Map, Mapping, PageMap, Plan, SpaceRequest, Step, WriteOutcome,
};
use wordline_kernel::{Rng, Since};
use wordline_nand::{Array, Geometry, Layout, Plane};

/// Size of a cached entry with the default configuration. Bytes.
const CACHED: u64 = 8;

/// Returns the plan of one plane of `blocks` blocks of 16 pages, with `entries` map entries per
/// page.
fn plan(mapping: Family, blocks: u32, entries: u32, spare: f64) -> Plan {
    let dimensions = Dimensions {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let geometry = Geometry {
        dies_per_package: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block: 16,
        ..Geometry::default()
    };
    let layout = Layout::new(&geometry, 1).unwrap();
    let config = Config {
        over_provisioning_ratio: spare,
        mapping,
        ..Config::default()
    };
    Plan::of_pages(&config, layout, 4 * entries, dimensions, 1).unwrap()
}

fn dftl(cached: u64) -> Dftl {
    Dftl {
        cache_bytes: Some(cached * CACHED),
        ..Dftl::default()
    }
}

/// Operations of a job: reads and programs of translation pages, and erases.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cost {
    reads: u32,
    /// Labels of the translation pages that were programmed.
    programs: Vec<u32>,
    erases: u32,
}

fn reads(reads: u32) -> Cost {
    Cost {
        reads,
        ..Cost::default()
    }
}

/// Device that counts the operations of jobs.
struct Device {
    plan: Plan,
    map: Map,
    array: Array,
}

impl Device {
    /// Creates a device of 64 blocks, half of which the host can fill, with 8 entries per
    /// translation page.
    fn new(dftl: Dftl) -> Self {
        let plan = plan(Family::Dftl(dftl), 64, 8, 0.5);
        Self {
            map: Map::new(&plan),
            array: Array::new(plan.layout, u32::MAX),
            plan,
        }
    }
    /// Executes a job. Returns the pages that it moves, and its cost in translation pages.
    fn run(&mut self, id: JobId) -> (Vec<Lpn>, Cost) {
        let mut cost = Cost::default();
        let mut moved = Vec::new();
        loop {
            match self.map.step(id) {
                Step::Done => return (moved, cost),
                Step::Wait => {}
                Step::Read(place) => {
                    self.array.read(place).unwrap();
                    cost.reads += 1;
                }
                Step::Program { place, label } => {
                    self.array.program(place).unwrap();
                    cost.programs.push(label);
                }
                Step::Move(from) => {
                    let user = (0..self.plan.user_pages).map(Lpn);
                    let page = user
                        .clone()
                        .find(|page| self.map.lookup(*page) == Some(from));
                    moved.push(page.unwrap());
                    let to = self.map.relocate(id, from).unwrap();
                    self.array.program(to).unwrap();
                }
                Step::Erase(block) => {
                    self.array.erase(block).unwrap();
                    let erases = self.array.erases()[block.index()];
                    self.map.erased(block, erases);
                    cost.erases += 1;
                }
            }
        }
    }
    fn fetch(&mut self, page: u32, update: bool) -> Cost {
        let Some(id) = self.map.fetch(Lpn(page), update) else {
            return Cost::default();
        };
        let (_, cost) = self.run(id);
        assert_eq!(self.map.fetch(Lpn(page), update), None);
        self.map.audit().unwrap();
        cost
    }
    fn read(&mut self, page: u32) -> Cost {
        self.fetch(page, false)
    }
    fn write(&mut self, page: u32) -> Cost {
        let cost = self.fetch(page, true);
        let WriteOutcome::Placed(place) = self.map.write(Lpn(page)) else {
            panic!("page {page} has no room");
        };
        self.array.program(place).unwrap();
        cost
    }
}

/// The cache has room for two entries. Pages 0 to 7 are in translation page 0, pages 8 to 15 in
/// translation page 1, and so on. The comments list the entries in the cache, least recently used
/// first; a star marks an entry that differs from its translation page.
#[test]
fn miss_costs_one_read_and_dirty_eviction_one_read_and_one_program() {
    let mut device = Device::new(dftl(2));
    let programs = |reads, label| Cost {
        reads,
        programs: vec![label],
        ..Cost::default()
    };
    assert_eq!(device.write(0), reads(0)); // 0*: nothing is in flash yet
    assert_eq!(device.write(8), reads(0)); // 0* 8*
    assert_eq!(device.write(16), programs(0, 0)); // 8* 16*: translation page 0 was never written
    assert_eq!(device.read(0), programs(1, 1)); // 16* 0
    assert_eq!(device.read(16), reads(0)); // 0 16*
    assert_eq!(device.read(9), reads(1)); // 16* 9: the eviction of a clean entry costs nothing
    assert_eq!(device.write(8), programs(1, 2)); // 9 8*
    assert_eq!(device.read(17), reads(1)); // 8* 17
    assert_eq!(device.read(0), programs(2, 1)); // 17 0: translation page 1 is read and rewritten
    let counts = device.map.map_cache().unwrap();
    assert_eq!((counts.hits, counts.misses), (1, 8));
    assert_eq!((counts.evictions, counts.dirty_evictions), (6, 4));
}

/// Batch updates (Gupta et al. 2009, section 4.3).
#[test]
fn dirty_entries_of_a_translation_page_are_written_together() {
    for batch_update in [true, false] {
        let mut device = Device::new(Dftl {
            batch_update,
            ..dftl(3)
        });
        for page in [0, 1, 8] {
            assert_eq!(device.write(page), reads(0));
        }
        assert_eq!(device.write(16).programs, [0]); // 1* 8* 16*
        let cost = device.write(24); // 1 is evicted
        if batch_update {
            assert_eq!(cost, reads(0));
        } else {
            assert_eq!((cost.reads, cost.programs), (1, vec![0]));
        }
    }
}

#[test]
fn requests_for_a_translation_page_share_one_read() {
    let mut device = Device::new(dftl(8));
    for page in 0..40 {
        device.write(page);
    }
    let jobs = [0, 1, 2, 3].map(|page| device.map.fetch(Lpn(page), false).unwrap());
    assert!(jobs.iter().all(|job| *job == jobs[0]));
    let (_, cost) = device.run(jobs[0]);
    // Of the dirty entries 32 to 39, four are evicted. Their translation page is rewritten once,
    // for these and for the others.
    assert_eq!((cost.reads, cost.programs), (1, vec![4]));
    for page in 0..4 {
        assert_eq!(device.map.fetch(Lpn(page), false), None);
    }
    let counts = device.map.map_cache().unwrap();
    assert_eq!((counts.hits, counts.misses), (0, 44));
}

/// The cache has room for one entry: that of the page written last.
#[test]
fn gc_rewrites_each_translation_page_of_uncached_moved_pages_once() {
    let mut device = Device::new(dftl(1));
    let mut random = Rng::new(1, "map.collection");
    let user = device.plan.user_pages;
    let mut collections = 0;
    for number in 0..20 * user {
        let page = if number < user {
            number
        } else {
            random.below(user.into()) as u32
        };
        device.write(page);
        let last = page;
        while device.map.wants_collection(Plane(0)) {
            let Some(collection) = device.map.collect(SpaceRequest::Free(Plane(0))) else {
                break;
            };
            let (moved, mut cost) = device.run(collection.job);
            device.map.audit().unwrap();
            if cost.erases > 1 {
                continue; // Translation blocks had to be cleaned in this run.
            }
            let uncached = moved.iter().filter(|page| page.0 != last);
            let labels: BTreeSet<u32> = uncached.map(|page| page.0 / 8).collect();
            cost.programs.sort_unstable();
            assert!(labels.iter().eq(&cost.programs), "{labels:?}, {cost:?}");
            assert_eq!(cost.reads as usize, labels.len());
            collections += 1;
        }
    }
    assert!(collections > 100, "{collections}");
}

fn precondition<M: Mapping>(mut map: M, plan: &Plan) -> (M, FlashOps) {
    let mut array = Array::new(plan.layout, u32::MAX);
    let mut device = UntimedFtl::new(&mut map, &mut array, plan.layout);
    let mut random = Rng::new(1, "map.writes");
    let user = u64::from(plan.user_pages);
    for page in 0..user {
        device.write(Lpn(page as u32)).unwrap();
    }
    for _ in 0..8 * user {
        device.write(Lpn(random.below(user) as u32)).unwrap();
    }
    let work = device.work();
    (map, work)
}

/// No entry is ever evicted. The page map has as many blocks as are not reserved for translation
/// pages.
#[test]
fn map_cache_as_large_as_the_map_gives_the_results_of_page_mapping() {
    let cached = plan(Family::Dftl(dftl(1 << 20)), 50, 128, 0.3);
    let kept = 50 - Map::new(&cached).free_blocks();
    assert_eq!(kept, 2);
    let pages = 48.0 * 16.0;
    let spare = 1.0 - f64::from(cached.user_pages) / pages;
    let whole = plan(Family::default(), 50 - kept, 128, spare);
    assert_eq!(whole.user_pages, cached.user_pages);
    let (map, work) = precondition(Map::new(&cached), &cached);
    let (_, expected) = precondition(PageMap::new(&whole), &whole);
    assert_eq!(work, expected);
    assert!(work.moved > work.written / 2);
    assert_eq!(map.map_cache().unwrap().evictions, 0);
}

/// Without batch updates and GC, each dirty eviction costs a program.
#[test]
fn every_dirty_eviction_costs_one_program_without_batch_updates() {
    let dftl = Dftl {
        batch_update: false,
        spare_ratio: 100.0,
        ..dftl(10)
    };
    let plan = plan(Family::Dftl(dftl), 400, 64, 0.9);
    let mut map = Map::new(&plan);
    let mut array = Array::new(plan.layout, u32::MAX);
    let mut device = UntimedFtl::new(&mut map, &mut array, plan.layout);
    let mut random = Rng::new(1, "map.programs");
    for _ in 0..150 {
        device
            .write(Lpn(random.below(plan.user_pages.into()) as u32))
            .unwrap();
    }
    let work = device.work();
    let counts = map.map_cache().unwrap();
    assert_eq!(work.erased, 0);
    assert!(counts.dirty_evictions > 100);
    assert_eq!(work.metadata, counts.dirty_evictions);
}

/// Returns the hit ratio of LRU under independent requests with these probabilities (H. Che, Y.
/// Tung and Z. Wang, Hierarchical Web caching systems, IEEE JSAC 20(7), 2002). An entry is cached
/// if it was requested within the characteristic time, for which the expected number of cached
/// entries equals the capacity.
fn che(probabilities: &[f64], capacity: f64) -> f64 {
    let there = |p: f64, time: f64| 1.0 - (-p * time).exp();
    let filled = |time| probabilities.iter().map(|p| there(*p, time)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if filled(middle) < capacity {
            low = middle;
        } else {
            high = middle;
        }
    }
    probabilities.iter().map(|p| p * there(*p, low)).sum()
}

/// Returns the measured hit ratio of reads with these probabilities.
fn hit_ratio(probabilities: &[f64], dftl: Dftl) -> f64 {
    let plan = plan(Family::Dftl(dftl), 300, 64, 0.3);
    let mut map = Map::new(&plan);
    let mut array = Array::new(plan.layout, u32::MAX);
    let mut device = UntimedFtl::new(&mut map, &mut array, plan.layout);
    for page in 0..probabilities.len() {
        device.write(Lpn(page as u32)).unwrap();
    }
    let cumulative: Vec<f64> = probabilities
        .iter()
        .scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        })
        .collect();
    let mut random = Rng::new(1, "map.reads");
    let mut ask = |map: &mut Map, count: u32| {
        for _ in 0..count {
            let at = random.unit();
            let page = cumulative
                .partition_point(|sum| *sum < at)
                .min(cumulative.len() - 1);
            if let Some(id) = map.fetch(Lpn(page as u32), false) {
                while map.step(id) != Step::Done {}
                assert_eq!(map.fetch(Lpn(page as u32), false), None);
            }
        }
    };
    ask(&mut map, 30_000);
    let before = map.map_cache().unwrap();
    ask(&mut map, 300_000);
    let counts = map.map_cache().unwrap().since(&before);
    assert_eq!(counts.hits + counts.misses, 300_000);
    counts.hits as f64 / 300_000.0
}

fn zipf(pages: u32, exponent: f64) -> Vec<f64> {
    let weights = (1..=pages).map(|rank| f64::from(rank).powf(-exponent));
    let sum: f64 = weights.clone().sum();
    weights.map(|weight| weight / sum).collect()
}

/// The standard deviation of a ratio over 300,000 requests is at most 0.001.
#[test]
fn lru_hit_ratios_match_ches_approximation() {
    for exponent in [0.0, 0.8, 1.2] {
        let probabilities = zipf(3_000, exponent);
        for cached in [30, 300, 1_500] {
            let found = hit_ratio(&probabilities, dftl(cached));
            let expected = che(&probabilities, cached as f64);
            assert!(
                (found - expected).abs() < 0.006,
                "exponent {exponent}, {cached} cached: {found}, Che's approximation is {expected}"
            );
        }
    }
}

/// Under independent requests, entries that were requested twice are more valuable than the most
/// recent ones.
#[test]
fn protected_entries_raise_the_hit_ratio_under_skew() {
    let probabilities = zipf(3_000, 0.8);
    let lru = hit_ratio(&probabilities, dftl(100));
    let segmented = Dftl {
        protected_ratio: 0.5,
        ..dftl(100)
    };
    let segmented = hit_ratio(&probabilities, segmented);
    assert!(segmented > lru + 0.01, "{segmented} against {lru}");
}

#[test]
fn invalid_map_configuration_is_rejected_with_the_key_to_change() {
    let wrong = |dftl: Dftl, spare: f64| {
        let config = Config {
            over_provisioning_ratio: spare,
            mapping: Family::Dftl(dftl),
            ..Config::default()
        };
        let sound = plan(Family::default(), 64, 8, 0.5);
        Plan::of_pages(&config, sound.layout, 32, sound.dimensions, 1)
    };
    let key = |dftl, spare| wrong(dftl, spare).unwrap_err().key;
    let default = Dftl::default;
    let of = |entry_bytes| Dftl {
        entry_bytes,
        ..default()
    };
    assert_eq!(key(of(64), 0.5), "ftl.mapping.dftl.entry_bytes");
    let cached = Dftl {
        cache_bytes: Some(7),
        ..default()
    };
    assert_eq!(key(cached, 0.5), "ftl.mapping.dftl.cache_bytes");
    // 870 user pages fill 54 of 64 blocks. Their 109 translation pages and a quarter more fill 8
    // blocks, and two more are reserved. GC needs 3 blocks (0.05 of 64) and two active blocks.
    let error = wrong(default(), 0.15).unwrap_err();
    assert_eq!(error.key, "ftl.over_provisioning_ratio");
    for number in ["64 blocks", "fill 54", "need 10", "needs 5"] {
        assert!(error.reason.contains(number), "{error}");
    }
}
