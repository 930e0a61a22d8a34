//! Invariants of every partition policy, and loads with a known division.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code, also outside test functions

use std::collections::VecDeque;
use std::num::NonZeroU32;

use wordline_kernel::Rng;
use wordline_partition::period::Period;
use wordline_partition::{Costs, Divide, Kind, Partition, Partitioning, Sizes, Space};

/// Policies with parameters other than the defaults.
const VARIANTS: &[&str] = &[
    r#"{"split": {"read_ratio": 1.0}}"#,
    r#"{"rw-fcl": {"period_requests": 150, "segments": 7, "read_ratio": 0.1}}"#,
    r#"{"op-fcl": {"period_requests": 100}}"#,
    r#"{"op-fcl": {"period_requests": 300, "segments": 64}}"#,
    r#"{"op-fcl": {"period_requests": 500, "hits": "shards", "sample_pages": 300}}"#,
    r#"{"locality-driven": {"window_bytes": 4096000, "curve": "exact"}}"#,
    r#"{"locality-driven": {"window_bytes": 1, "curve": "exact"}}"#,
    r#"{"locality-driven": {"window_bytes": 2048000, "curve": "aet", "sample_ratio": 0.5, "tracker": "keep", "candidates": "percent"}}"#,
    r#"{"locality-driven": {"window_bytes": 4096000, "curve": "shards-size", "sample_pages": 200, "tracker": "half", "utilisation": "given"}}"#,
    r#"{"locality-driven": {"window_bytes": 8192000, "curve": "exact", "tracker": "keep", "utilisation": "miniature", "retrain_difference": 0.02, "retrain_gap_windows": 0}}"#,
];

fn policies() -> Vec<Partition> {
    let read = |text: &&str| serde_json::from_str(text).unwrap();
    let variants = VARIANTS.iter().map(read);
    Partition::defaults().into_iter().chain(variants).collect()
}

/// Returns a space of 128 blocks of 16 pages.
fn space(seed: u64) -> Space {
    let most_pages = if seed.is_multiple_of(2) { 1_950 } else { 1_200 };
    Space {
        total_pages: 2048,
        pages_per_block: 16,
        threshold_pages: 64,
        page_bytes: 4096,
        start_pages: 1_300,
        most_pages,
        costs: Costs::PUBLISHED,
    }
}

/// Host with two LRU lists whose sizes follow the policy immediately.
#[derive(Clone)]
struct Bench {
    policy: Partitioning,
    random: Rng,
    sizes: Sizes,
    read: VecDeque<u64>,
    write: VecDeque<u64>,
}

impl Bench {
    fn new(policy: &Partition, seed: u64) -> Self {
        let policy = Partitioning::new(policy, &space(seed), seed);
        Self {
            sizes: policy.start(),
            policy,
            random: Rng::new(seed, "laws"),
            read: VecDeque::new(),
            write: VecDeque::new(),
        }
    }
    /// Draws a page from a set that changes over time; pages with small numbers are more frequent.
    fn draw(&mut self, place: u64) -> u64 {
        let bound = 1 + self.random.below(3_000);
        self.random.below(bound) + place / 8_000 * 1_000
    }
    fn request(&mut self, place: u64) -> Option<Sizes> {
        self.policy.request();
        let first = self.draw(place);
        let write = self.random.below(5) < 3;
        for page in first..=first + self.random.below(4) {
            self.page(page, write);
        }
        let decided = self.policy.decide();
        self.sizes = decided.unwrap_or(self.sizes);
        decided
    }
    fn passes(&mut self, place: u64) {
        self.request(place);
    }
    fn page(&mut self, page: u64, write: bool) {
        let written = self.write.contains(&page);
        let kind = match (write, written) {
            (true, _) => Kind::Write,
            (false, true) => Kind::ReadOfWritten,
            (false, false) => Kind::Read,
        };
        let hit = written || !write && self.read.contains(&page);
        self.policy.page(page, kind, hit);
        if write || written {
            self.read.retain(|&other| other != page);
            front(&mut self.write, page, self.sizes.write);
        } else {
            front(&mut self.read, page, self.sizes.read);
        }
    }
}

fn front(list: &mut VecDeque<u64>, page: u64, most: u32) {
    list.retain(|&other| other != page);
    list.push_front(page);
    list.truncate(most as usize);
}

#[test]
fn gc_can_sustain_every_chosen_size() {
    for policy in policies() {
        for seed in 0..4 {
            let mut bench = Bench::new(&policy, seed);
            let most = space(seed).most_pages;
            assert!(bench.sizes.pages() <= most, "{policy:?}");
            let mut held = bench.sizes;
            for place in 0..6_000 {
                let Some(sizes) = bench.request(place) else {
                    continue;
                };
                assert!(sizes.pages() <= most, "{policy:?}: {sizes:?}");
                assert_ne!(sizes, held, "{policy:?} chooses the current sizes");
                assert!(bench.policy.is_split(), "{policy:?}: one list has one size");
                held = sizes;
            }
        }
    }
}

#[test]
fn unified_cache_starts_with_all_pages_in_the_write_list() {
    for policy in policies() {
        let policy = Partitioning::new(&policy, &space(0), 1);
        assert!(policy.is_split() || policy.start().read == 0);
    }
}

/// Policies with the same seed and requests choose the same sizes, even if one of them is
/// serialised and restored.
#[test]
fn restored_policy_continues_identically() {
    for policy in policies() {
        let mut bench = Bench::new(&policy, 3);
        let mut twin = Bench::new(&policy, 3);
        for place in 0..16_000 {
            if place % 1_700 == 1_699 {
                let bytes = postcard::to_stdvec(&twin.policy).unwrap();
                twin.policy = postcard::from_bytes(&bytes).unwrap();
            }
            assert_eq!(bench.request(place), twin.request(place), "{policy:?}");
        }
        assert_eq!(bench.policy.start(), twin.policy.start());
    }
}

#[test]
fn policy_restored_from_text_continues_identically() {
    for policy in policies() {
        let mut bench = Bench::new(&policy, 5);
        (0..2_500).for_each(|place| bench.passes(place));
        let mut twin = bench.clone();
        let text = serde_json::to_string(&bench.policy).unwrap();
        twin.policy = serde_json::from_str(&text).unwrap();
        for place in 2_500..9_000 {
            assert_eq!(bench.request(place), twin.request(place), "{policy:?}");
        }
    }
}

#[test]
fn start_sizes_do_not_depend_on_requests() {
    for policy in policies() {
        let mut bench = Bench::new(&policy, 2);
        let start = bench.policy.start();
        (0..4_000).for_each(|place| bench.passes(place));
        assert_eq!(bench.policy.start(), start, "{policy:?}");
    }
}

fn policy(text: &str, space: &Space) -> Partitioning {
    Partitioning::new(&serde_json::from_str(text).unwrap(), space, 1)
}

/// Replays single-page requests. Returns the sizes after the last request.
fn play(policy: &mut Partitioning, pages: impl IntoIterator<Item = (u64, Kind)>) -> Option<Sizes> {
    let mut last = None;
    for (page, kind) in pages {
        policy.request();
        policy.page(page, kind, kind == Kind::ReadOfWritten);
        last = policy.decide();
    }
    last
}

/// The smaller flash of the paper, with sixteen segments.
#[test]
fn without_hits_the_cache_is_minimal_and_holds_only_writes() {
    let space = space(0);
    let mut op = policy(r#"{"op-fcl": {"period_requests": 1000}}"#, &space);
    let mixed = (0..1_000).map(|page| {
        (
            page,
            if page % 2 == 0 {
                Kind::Read
            } else {
                Kind::Write
            },
        )
    });
    assert_eq!(
        play(&mut op, mixed),
        Some(Sizes {
            read: 0,
            write: 2048 / 16
        })
    );
}

#[test]
fn read_list_is_sized_to_hold_repeatedly_read_pages() {
    let space = space(0);
    let mut op = policy(r#"{"op-fcl": {"period_requests": 30000}}"#, &space);
    let loops = (0..30_000_u64).map(|place| (place % 1_000, Kind::Read));
    // 1,000 pages take 7.8 sixteenths, so that eight hold them; only fills need over-provisioning.
    assert_eq!(
        play(&mut op, loops),
        Some(Sizes {
            read: 1_024,
            write: 0
        })
    );
    let mut rw = policy(r#"{"rw-fcl": {"period_requests": 30000}}"#, &space);
    let loops = (0..30_000_u64).map(|place| (place % 1_000, Kind::Read));
    let sizes = play(&mut rw, loops).unwrap();
    assert_eq!(sizes.pages(), 1_300, "the cache keeps its size");
    assert!(
        sizes.read >= 1_000 && sizes.read - 1_000 < 1_300 / 16 + 1,
        "{sizes:?}"
    );
}

/// A sample that holds all pages gives the same divisions as ghosts. A write removes its page from
/// the stack of reads.
#[test]
fn sample_of_all_pages_gives_the_same_divisions_as_ghosts() {
    let space = space(0);
    let mut ghosts = policy(r#"{"op-fcl": {"period_requests": 1500}}"#, &space);
    let mut shards = policy(
        r#"{"op-fcl": {"period_requests": 1500, "hits": "shards", "sample_pages": 4096}}"#,
        &space,
    );
    let mut stream = Rng::new(7, "op-fcl");
    let mut changes = 0;
    for _ in 0..20_000 {
        let (page, write) = (
            (stream.unit().powi(3) * 2_000.0) as u64,
            stream.unit() < 0.6,
        );
        let kind = if write { Kind::Write } else { Kind::Read };
        for policy in [&mut ghosts, &mut shards] {
            policy.request();
            policy.page(page, kind, false);
        }
        let found = ghosts.decide();
        changes += u32::from(found.is_some());
        assert_eq!(shards.decide(), found);
    }
    assert!(changes > 3, "{changes} divisions");
}

/// A sample of 500 pages of a skewed load estimates hits to about 1 / sqrt(500) (SHARDS, section
/// 4.2).
#[test]
fn sampled_stacks_estimate_hits_within_their_sampling_error() {
    let space = Space {
        total_pages: 1 << 14,
        ..space(0)
    };
    let pages = NonZeroU32::new(500).unwrap();
    let mut periods = [
        Period::new(&space, 16),
        Period::sampled(&space, 16, pages, 3),
    ];
    let mut stream = Rng::new(9, "op-fcl");
    for _ in 0..200_000 {
        let page = (stream.unit().powi(2) * 20_000.0) as u64;
        for period in &mut periods {
            period.request();
            period.page(page, Kind::Write, false);
        }
    }
    let [exact, sampled] = periods.map(|period| period.writes());
    let apart = (1..=16).map(|segment| {
        let pages = f64::from(segment * (1 << 10));
        (exact.hit_ratio(pages) - sampled.hit_ratio(pages)).abs()
    });
    let most = apart.fold(0.0, f64::max);
    assert!(most < 0.06 && most > 0.0, "{most}");
}

#[test]
fn period_without_pages_changes_no_sizes() {
    for name in ["rw-fcl", "op-fcl"] {
        let mut policy = policy(
            &format!(r#"{{"{name}": {{"period_requests": 10}}}}"#),
            &space(0),
        );
        for _ in 0..50 {
            policy.request(); // all pages bypass the flash
            assert_eq!(policy.decide(), None);
        }
    }
}

/// Naive implementation of algorithm 1, with the hit curves of each period from plain lists.
struct Twin {
    lists: [Vec<u64>; 2],
    /// Positions of hits in the list of reads, and in the list of writes and of the reads that the
    /// write list serves.
    places: [Vec<usize>; 2],
    requests: [u64; 2],
    writes_hit: u64,
    reads_of_written: u64,
}

impl Twin {
    fn new() -> Self {
        Self {
            lists: [Vec::new(), Vec::new()],
            places: [Vec::new(), Vec::new()],
            requests: [0, 0],
            writes_hit: 0,
            reads_of_written: 0,
        }
    }
    fn page(&mut self, page: u64, kind: Kind, hit: bool) {
        let list = usize::from(kind != Kind::Read);
        if kind == Kind::Write {
            self.lists[0].retain(|&other| other != page);
            self.writes_hit += u64::from(hit);
        }
        self.reads_of_written += u64::from(kind == Kind::ReadOfWritten);
        self.requests[list] += 1;
        let place = self.lists[list].iter().position(|&other| other == page);
        self.places[list].extend(place);
        if let Some(place) = place {
            self.lists[list].remove(place);
        }
        self.lists[list].insert(0, page);
        self.lists[list].truncate(2048);
    }
    /// Returns the share of hits, linear between sixteenths of the flash.
    fn hit_ratio(&self, list: usize, pages: f64) -> f64 {
        if self.requests[list] == 0 {
            return 0.0;
        }
        let within = |pages: usize| {
            self.places[list]
                .iter()
                .filter(|&&place| place < pages)
                .count() as f64
        };
        let low = (pages / 128.0).floor();
        let (below, above) = (within(low as usize * 128), within(low as usize * 128 + 128));
        (below + (above - below) * (pages / 128.0 - low)) / self.requests[list] as f64
    }
    fn cost(&self, sizes: (f64, f64)) -> f64 {
        let costs = Costs::PUBLISHED;
        let u = (sizes.0 + sizes.1) / 2048.0;
        let (mut low, mut high) = (0.0_f64, 1.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            let over = middle > 0.0 && (middle - 1.0) / middle.ln() > u;
            if over { high = middle } else { low = middle }
        }
        let pw =
            (low * 16.0 * costs.copy_us + costs.erase_us) / ((1.0 - low) * 16.0) + costs.program_us;
        let (hr, hw) = (self.hit_ratio(0, sizes.0), self.hit_ratio(1, sizes.1));
        let h =
            self.reads_of_written as f64 / (self.reads_of_written + self.writes_hit).max(1) as f64;
        let read = hr * costs.read_us + (1.0 - hr) * (costs.disk_read_us + pw);
        let hit = (1.0 - h) * pw + h * costs.read_us;
        let write = (1.0 - hw) * (costs.read_us + costs.disk_write_us + pw) + hw * hit;
        let all = (self.requests[0] + self.requests[1]) as f64;
        (read * self.requests[0] as f64 + write * self.requests[1] as f64) / all
    }
    fn least(&self) -> f64 {
        let mut least = f64::INFINITY;
        for u in 1..16 {
            for r in 0..=16 {
                let (u, r) = (f64::from(u) / 16.0, f64::from(r) / 16.0);
                let all = 2048.0 * u;
                least = least.min(self.cost((all * r, all * (1.0 - r))));
            }
        }
        least
    }
    fn start(&mut self) {
        *self = Self {
            lists: std::mem::take(&mut self.lists),
            ..Self::new()
        };
    }
}

#[test]
fn op_fcl_matches_a_naive_implementation() {
    for seed in 0..5 {
        let mut random = Rng::new(seed, "twin");
        let mut op = policy(r#"{"op-fcl": {"period_requests": 700}}"#, &space(0));
        let mut twin = Twin::new();
        let mut sizes = op.start();
        for place in 0..7_000_u64 {
            op.request();
            for _ in 0..=random.below(3) {
                let bound = 1 + random.below(2_500);
                let page = random.below(bound);
                let kind = match random.below(4) {
                    0 if twin.lists[1].contains(&page) => Kind::ReadOfWritten,
                    0 | 1 => Kind::Read,
                    _ => Kind::Write,
                };
                let hit = kind == Kind::ReadOfWritten || random.below(3) == 0;
                op.page(page, kind, hit);
                twin.page(page, kind, hit);
            }
            sizes = op.decide().unwrap_or(sizes);
            if place % 700 == 699 {
                let found = twin.cost((sizes.read.into(), sizes.write.into()));
                let least = twin.least();
                // Sizes are whole pages, so the cost differs slightly from that of the grid.
                assert!(
                    (found - least).abs() < 1e-3 * least,
                    "{found}, {least}, {sizes:?}"
                );
                twin.start();
            }
        }
    }
}
