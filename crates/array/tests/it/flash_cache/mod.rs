//! Flash cache in front of a disk: compared with a simple reference, with its invariants checked.
#![allow(clippy::unwrap_used, clippy::panic)] // test code, also outside test functions

mod borders;
mod cuts;
mod errors;
mod examples;
mod plain;

use plain::{Collect, Counts, Plain, Policy};
use serde_json::{Value, json};
use wordline_block::{BlockDevice, Op, Request};
use wordline_flash_cache::{CacheStats, Cached, Config, Event, Observation, Plan};
use wordline_ftl::Mapping;
use wordline_ftl::allocate::Dimensions;
use wordline_hdd::Disk;
use wordline_host_link::Interface;
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::{AnyProbe, Context, EventQueue, Probe, Rng, Time};
use wordline_nand::{Block, Cell, Geometry, Layout, Part, Timing};
use wordline_partition::Costs;

const PAGE: u64 = 4096;

/// Flash of one plane, with its over-provisioning and a GC threshold in pages.
#[derive(Clone, Copy, Debug)]
struct Shape {
    blocks: u32,
    pages_per_block: u32,
    spare_ratio: f64,
    threshold: u32,
    /// Whether moved pages have a separate active block.
    own_block: bool,
    /// Whether the last page of a block is its summary.
    summaries: bool,
    /// Spare blocks in addition to `blocks`. Count.
    spare_blocks: u32,
}

impl Shape {
    /// Returns the number of data pages per block.
    fn data_pages(&self) -> u32 {
        self.pages_per_block - u32::from(self.summaries)
    }
}

fn device(shape: &Shape, reclaim: &str) -> wordline_ssd::Plan {
    let ftl = json!({
        "over_provisioning_ratio": shape.spare_ratio,
        "spare_blocks": shape.spare_blocks,
        "gc": {
            "start_free_pages": shape.threshold,
            "hard_free_ratio": 0.0,
            "own_block": shape.own_block,
            "reclaim": reclaim,
        },
    });
    let table = Config {
        block_summaries: shape.summaries,
        ..Config::default()
    };
    let blocks = shape.blocks + shape.spare_blocks;
    Plan::flash(&table, flash(blocks, shape.pages_per_block, ftl)).unwrap()
}

/// Returns the plan of a flash of one plane with the table `ftl`.
fn flash(blocks: u32, pages_per_block: u32, ftl: Value) -> wordline_ssd::Plan {
    let geometry = Geometry {
        dies_per_package: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block,
        page_bytes: PAGE as u32,
        ..Geometry::default()
    };
    let dimensions = Dimensions {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let ftl: wordline_ftl::Config = serde_json::from_value(ftl).unwrap();
    let layout = Layout::new(&geometry, 1).unwrap();
    wordline_ssd::Plan {
        part: Part::new(layout, &geometry, &Timing::default(), &Cell::default()),
        read_ahead: None,
        first_read_pages: 0,
        dies_per_channel: 1,
        dies_per_package: 1,
        composition: Composition::default(),
        scheduler: Scheduler::default(),
        page_bytes: geometry.page_bytes,
        internal_data_move: false,
        queue_depth: 1 << 20,
        interface: Interface::default(),
        streams: Vec::new(),
        buffer: None,
        ftl: wordline_ftl::Plan::new(&ftl, layout, dimensions, 1).unwrap(),
    }
}

/// Creates a cache on a flash of this shape, configured by `table`, in front of a disk of
/// `disk_pages` pages.
fn cached(shape: &Shape, reclaim: &str, table: Value, disk_pages: u64) -> Cached<Disk> {
    before_disk(&device(shape, reclaim), table, disk_pages)
}

/// Creates a cache on a given flash, configured by `table`, in front of a disk of `disk_pages`
/// pages.
fn before_disk(device: &wordline_ssd::Plan, table: Value, disk_pages: u64) -> Cached<Disk> {
    let config: Config = serde_json::from_value(table).unwrap();
    let disk = wordline_hdd::Config {
        capacity_bytes: Some(disk_pages * PAGE),
        ..wordline_hdd::Config::default()
    };
    let disk = Disk::new(&wordline_hdd::Plan::new(&disk).unwrap());
    Cached::new(&Plan::new(&config, device, Costs::PUBLISHED), device, disk)
}

/// Probe that counts moved pages and erased blocks.
#[derive(Default)]
struct Observations {
    moves: u64,
    erases: u64,
    in_flight: u32,
}

impl Probe<Observation<wordline_hdd::Observation>> for Observations {
    fn observe(&mut self, _now: Time, observation: Observation<wordline_hdd::Observation>) {
        match observation {
            Observation::Flash(wordline_ssd::Observation::Collected { moved, erased, .. }) => {
                self.moves += u64::from(moved);
                self.erases += u64::from(erased);
            }
            Observation::Admitted { in_flight } => self.in_flight = in_flight,
            _ => {}
        }
    }
}

/// Store with its clock.
struct Run {
    store: Cached<Disk>,
    queue: EventQueue<Event<wordline_hdd::Event>>,
    observations: Observations,
    now: Time,
}

impl Run {
    fn new(store: Cached<Disk>) -> Self {
        Self {
            store,
            queue: EventQueue::default(),
            observations: Observations::default(),
            now: Time::ZERO,
        }
    }
    fn submit(&mut self, op: Op, page: u64, pages: u64) -> u32 {
        let request = Request {
            stream: 0,
            op,
            fua: false,
            offset: page * PAGE,
            bytes: pages * PAGE,
            arrival: self.now,
        };
        let mut probe = AnyProbe::new(&mut self.observations);
        let cx = &mut Context::new(self.now, &mut self.queue, &mut probe);
        self.store.submit(cx, request).unwrap()
    }
    /// Submits a request for a random range of sectors of 512 bytes within some pages.
    fn submit_part(&mut self, op: Op, page: u64, pages: u64, random: &mut Rng) {
        let sectors = pages * PAGE / 512;
        let first = random.below(sectors);
        let request = Request {
            stream: 0,
            op,
            fua: false,
            offset: page * PAGE + first * 512,
            bytes: 512 * (1 + random.below(sectors - first)),
            arrival: self.now,
        };
        let mut probe = AnyProbe::new(&mut self.observations);
        let cx = &mut Context::new(self.now, &mut self.queue, &mut probe);
        self.store.submit(cx, request).unwrap();
    }
    /// Processes the next event. Returns `false` if there is none.
    fn step(&mut self) -> bool {
        let Some((now, event)) = self.queue.pop() else {
            return false;
        };
        self.now = now;
        let mut probe = AnyProbe::new(&mut self.observations);
        let cx = &mut Context::new(now, &mut self.queue, &mut probe);
        self.store.handle(cx, event).unwrap();
        true
    }
    /// Serves one request until no work is left. Returns its response time.
    fn serve(&mut self, op: Op, page: u64, pages: u64) -> Time {
        let begun = self.now;
        self.submit(op, page, pages);
        let mut took = Time::ZERO;
        loop {
            for done in self.store.completions() {
                took = done.parts.total();
                assert_eq!(took, self.now - begun);
            }
            if !self.step() {
                return took;
            }
        }
    }
    /// Checks that each filled block has cost one program for its summary, that no other block has,
    /// and that no summary is pending.
    fn audit_summaries(&self, shape: &Shape) {
        let array = self.store.flash().array();
        let full =
            (0..shape.blocks).filter(|block| array.programmed(Block(*block)) >= shape.data_pages());
        let filled = full.count() as u64 + self.observations.erases;
        let summaries = self.store.figures().summaries;
        assert_eq!(summaries, if shape.summaries { filled } else { 0 });
    }
    /// Audits the map, and checks that it has as many valid pages as there are resident pages and
    /// record pages.
    fn audit(&self) {
        let map = self.store.flash().mapping();
        map.audit().unwrap();
        let residents = self.store.residents();
        assert_eq!(
            map.valid_pages(),
            (residents.len() + residents.records()) as u64
        );
    }
}

const MODES: [&str; 5] = [
    "write-around",
    "write-through",
    "write-back",
    "write-only",
    "pass-through",
];
const POLICIES: [(Policy, &str); 2] = [(Policy::Lru, "lru"), (Policy::Arc, "arc")];
const COLLECTIONS: [(Collect, &str); 3] = [
    (Collect::Move, "move"),
    (Collect::Drop, "zero-migration"),
    (Collect::DropCold, "conditional"),
];

fn skewed(random: &mut Rng, below: u64) -> u64 {
    let most = random.below(below);
    random.below(1 + most)
}

/// Serves the same load with the store and the reference, request by request.
fn compare(
    shape: &Shape,
    policy: usize,
    collection: usize,
    suspect: bool,
    seed: u64,
    rounds: u32,
) -> CacheStats {
    let (policy, name) = POLICIES[policy];
    let (collect, reclaim) = COLLECTIONS[collection];
    let ghosts = seed.is_multiple_of(2);
    // The store allocates the pages of all fills of a request before a GC run starts; the reference
    // runs GC between the fills. The content of the queues does not depend on this, unless GC drops
    // pages or a revival needs a block that is not erased.
    let wide = seed.is_multiple_of(3) && collect == Collect::Move && !suspect;
    let table = json!({
        "replacement": name,
        "suspected_queue": suspect,
        "ghosts_of_dropped": ghosts,
        "reply": "collection",
    });
    let disk_pages = u64::from(shape.blocks * shape.pages_per_block) * 2;
    let mut run = Run::new(cached(shape, reclaim, table, disk_pages));
    run.store.verify();
    let capacity = device(shape, reclaim).ftl.user_pages;
    let total = shape.blocks * shape.data_pages();
    let most = if suspect {
        total - capacity - shape.threshold
    } else {
        0
    };
    let mut plain = Plain::new(
        (policy, collect, ghosts),
        shape.own_block,
        (shape.blocks as usize, shape.data_pages() as usize),
        capacity as usize,
        most as usize,
        shape.threshold as usize,
    );
    let mut random = Rng::new(seed, "cached");
    let (mut expected, mut evicted) = (CacheStats::default(), 0);
    for round in 0..rounds {
        let page = skewed(&mut random, disk_pages - 4);
        let pages = if wide { 1 + random.below(4) } else { 1 };
        if random.below(12) == 0 {
            run.serve(Op::Write, page, pages);
            (page..page + pages).for_each(|page| plain.write(page));
        } else {
            run.serve(Op::Read, page, pages);
            for found in plain.read_all(page..page + pages) {
                match found {
                    plain::Found::Queue => expected.resident_hits += 1,
                    plain::Found::Suspected => expected.suspected_hits += 1,
                    plain::Found::Nothing => expected.misses += 1,
                }
            }
        }
        let figures = run.store.figures();
        let place = format!("{shape:?} {name} {reclaim} {suspect} seed {seed} round {round}");
        let found = (
            figures.resident_hits,
            figures.suspected_hits,
            figures.misses,
        );
        let observations = (
            expected.resident_hits,
            expected.suspected_hits,
            expected.misses,
        );
        assert_eq!(found, observations, "{place}");
        let residents = run.store.residents();
        let (moves, erases) = if wide {
            (plain.counts.moves, plain.counts.erases)
        } else {
            (run.observations.moves, run.observations.erases)
        };
        let counts = Counts {
            fills: figures.fills,
            moves,
            erases,
            dropped: residents.counts().dropped,
            evicted: residents.counts().evicted,
            destaged: 0,
        };
        assert_eq!(counts, plain.counts, "{place}");
        evicted = counts.evicted;
        let held = (residents.len(), residents.suspected());
        assert_eq!(held, (plain.residents(), plain.suspected()), "{place}");
        assert!(residents.suspected() <= most as usize);
        run.audit();
    }
    assert!(
        evicted > 0 && run.observations.erases > 0,
        "{shape:?} {name} {reclaim}"
    );
    assert!(run.store.checked() > Some(0));
    run.audit_summaries(shape);
    if collect == Collect::Drop {
        assert_eq!(run.observations.moves, 0);
    }
    run.store.figures()
}

fn shapes() -> Vec<Shape> {
    let shape = |(blocks, pages_per_block), spare_ratio, threshold, own_block| Shape {
        blocks,
        pages_per_block,
        spare_ratio,
        threshold,
        own_block,
        summaries: false,
        spare_blocks: 0,
    };
    let summarised = |shape: Shape| Shape {
        summaries: true,
        ..shape
    };
    vec![
        shape((24, 8), 0.35, 17, false),
        shape((24, 8), 0.30, 24, false),
        shape((40, 4), 0.15, 11, false),
        shape((16, 16), 0.25, 20, false),
        shape((24, 8), 0.35, 17, true),
        shape((40, 4), 0.20, 11, true),
        summarised(shape((24, 9), 0.42, 17, false)),
        summarised(shape((40, 5), 0.32, 11, true)),
    ]
}

fn compare_all(seeds: std::ops::Range<u64>, rounds: u32) {
    for seed in seeds {
        for shape in shapes() {
            for (policy, collection, suspect) in (0..12).map(|n| (n % 2, n / 2 % 3, n / 6 == 1)) {
                let figures = compare(&shape, policy, collection, suspect, seed, rounds);
                assert_eq!(figures.suspected_hits > 0, suspect);
            }
        }
    }
}

/// Does the same as [`compare`] for writes of single pages, which stay in flash until they are
/// evicted.
fn compare_back(shape: &Shape, which: (usize, usize), suspect: bool, seed: u64, rounds: u32) {
    let ((policy, name), (collect, reclaim)) = (POLICIES[which.0], COLLECTIONS[which.1]);
    let group = if policy == Policy::Lru {
        1 + seed % 4
    } else {
        1
    };
    let table = json!({
        "mode": "write-back",
        "replacement": name,
        "suspected_queue": suspect,
        "reply": "collection",
        "journal": "none",
        "destage": {"group_pages": group},
    });
    let disk_pages = u64::from(shape.blocks * shape.pages_per_block) * 2;
    let mut run = Run::new(cached(shape, reclaim, table, disk_pages));
    run.store.verify();
    let capacity = device(shape, reclaim).ftl.user_pages;
    let total = shape.blocks * shape.data_pages();
    let most = if suspect {
        total - capacity - shape.threshold
    } else {
        0
    };
    let mut plain = Plain::new(
        (policy, collect, true),
        shape.own_block,
        (shape.blocks as usize, shape.data_pages() as usize),
        capacity as usize,
        most as usize,
        shape.threshold as usize,
    );
    plain.group = group as usize;
    let mut random = Rng::new(seed, "write-back");
    let (mut hits, mut misses) = ([0_u64; 2], [0_u64; 2]);
    for round in 0..rounds {
        let page = skewed(&mut random, disk_pages);
        let write = random.below(3) > 0;
        let held = if write {
            run.serve(Op::Write, page, 1);
            plain.write_back(page)
        } else {
            run.serve(Op::Read, page, 1);
            plain.read(page) != plain::Found::Nothing
        };
        hits[usize::from(write)] += u64::from(held);
        misses[usize::from(write)] += u64::from(!held);
        let figures = run.store.figures();
        let place = format!("{shape:?} {name} {reclaim} {suspect} seed {seed} round {round}");
        let reads = figures.resident_hits + figures.suspected_hits;
        assert_eq!([reads, figures.write_hits], hits, "{place}");
        assert_eq!([figures.misses, figures.write_misses], misses, "{place}");
        let residents = run.store.residents();
        let counts = Counts {
            fills: figures.fills,
            moves: run.observations.moves,
            erases: run.observations.erases,
            dropped: residents.counts().dropped,
            evicted: residents.counts().evicted,
            destaged: figures.destages[0].pages,
        };
        assert_eq!(counts, plain.counts, "{place}");
        let held = (residents.len(), residents.suspected(), residents.dirty());
        let observations = (
            plain.residents(),
            plain.suspected(),
            plain.dirty.len() as u32,
        );
        assert_eq!(held, observations, "{place}");
        run.audit();
    }
    assert!(plain.counts.destaged > 0 && run.observations.erases > 0);
    run.audit_summaries(shape);
}

fn compare_all_back(seeds: std::ops::Range<u64>, rounds: u32) {
    for seed in seeds {
        for shape in shapes() {
            for which in (0..12).map(|n| (n % 2, n / 2 % 3, n / 6 == 1)) {
                compare_back(&shape, (which.0, which.1), which.2, seed, rounds);
            }
        }
    }
}

#[test]
fn written_pages_are_kept_and_evicted_as_in_the_reference() {
    compare_all_back(0..4, 1_500);
}

#[test]
#[ignore = "10^7 operations take minutes in an optimised build; run by `make test-slow`, a shorter variant always runs"]
fn written_pages_are_kept_and_evicted_as_in_the_reference_in_long_runs() {
    compare_all_back(4..40, 4_000);
}

#[test]
fn the_cache_matches_the_reference() {
    compare_all(0..3, 2_000);
}

#[test]
#[ignore = "10^7 operations take minutes in an optimised build; run by `make test-slow`, a shorter variant always runs"]
fn the_cache_matches_the_reference_in_long_runs() {
    compare_all(2..22, 10_500);
}

/// Keeps `depth` requests of up to six pages outstanding; checks that all are served and none
/// returns stale data.
fn crowd(policy: &str, reclaim: &str, table: &Value, depth: u32, seed: u64) -> CacheStats {
    let shape = Shape {
        blocks: 24,
        pages_per_block: 8,
        spare_ratio: 0.35,
        threshold: 17,
        own_block: seed.is_multiple_of(2),
        summaries: false,
        spare_blocks: 0,
    };
    let mut run = Run::new(cached(&shape, reclaim, table.clone(), 400));
    run.store.verify();
    let mut random = Rng::new(seed, "crowd");
    let (mut left, mut under_way, mut served) = (3_000_u32, 0, 0);
    while left > 0 || under_way > 0 {
        while left > 0 && under_way < depth {
            let page = skewed(&mut random, 394);
            let op = match random.below(10) {
                0 | 1 => Op::Write,
                2 if random.below(10) == 0 => Op::Trim,
                _ => Op::Read,
            };
            let pages = 1 + random.below(6);
            if random.below(4) == 0 {
                run.submit_part(op, page, pages, &mut random);
            } else {
                run.submit(op, page, pages);
            }
            (left, under_way) = (left - 1, under_way + 1);
        }
        let done = run.store.completions().count() as u32;
        (under_way, served) = (under_way - done, served + done);
        if done == 0 {
            assert!(
                run.step(),
                "{policy} {table}: {under_way} requests never complete"
            );
        }
    }
    while run.step() {}
    assert_eq!(served, 3_000);
    run.audit();
    assert!(run.store.checked() > Some(500), "{table}");
    let (figures, residents) = (run.store.figures(), run.store.residents());
    if table["mode"] == "write-back" || table["mode"] == "write-only" {
        assert!(
            figures.pages_written() > 0 && figures.destages[0].pages > 0,
            "{table}"
        );
    } else {
        assert_eq!((figures.pages_written(), residents.dirty()), (0, 0));
    }
    assert_eq!(residents.leaving(), 0);
    let total = 24 * 8;
    let chosen = run.store.chosen();
    let room = (chosen.reads.max(1) + chosen.writes.max(1)) as usize;
    assert!(residents.len() <= room && room < total, "{table}");
    if table["mode"] == "pass-through" {
        assert!(residents.is_empty());
    }
    figures
}

#[test]
fn concurrent_requests_are_all_served_without_stale_data() {
    let mut seed = 0;
    for policy in ["lru", "arc", "sieve", "two-q", "lirs", "s3-fifo"] {
        for (_, reclaim) in COLLECTIONS {
            for mode in MODES {
                for reply in ["data", "fill", "collection"] {
                    for admission in [
                        json!("always"),
                        json!("second-access"),
                        json!({"sequential-bypass": {"cutoff_bytes": 16385}}),
                    ] {
                        let table = json!({
                            "replacement": policy,
                            "suspected_queue": seed % 2 == 0,
                            "reply": reply,
                            "mode": mode,
                            "destage": {
                                "group_pages": 1 + seed % 5,
                                "high_ratio": if seed % 2 == 0 { 1.0 } else { 0.6 },
                                "low_ratio": 0.3,
                            },
                            "admission": admission,
                        });
                        crowd(policy, reclaim, &table, 1 + seed as u32 % 33, seed);
                        seed += 1;
                    }
                }
            }
        }
    }
}

#[test]
fn repartitioning_under_load_loses_no_data() {
    let mut seed = 0;
    let divisions = [
        json!({"split": {"read_ratio": 0.3}}),
        json!({"rw-fcl": {"period_requests": 300}}),
        json!({"rw-fcl": {"period_requests": 100, "read_ratio": 0.5}}),
        json!({"op-fcl": {"period_requests": 300}}),
        json!({"op-fcl": {"period_requests": 64, "read_ratio": 0.0}}),
        json!({"locality-driven": {"window_bytes": 2_000_000, "curve": "exact"}}),
        json!({"locality-driven": {"window_bytes": 800_000, "utilisation": "miniature", "curve": "aet", "sample_ratio": 1.0}}),
    ];
    for division in divisions {
        let mut moved = 0;
        for policy in ["lru", "arc", "sieve"] {
            for (_, reclaim) in COLLECTIONS {
                for mode in ["write-back", "write-only"] {
                    let table = json!({
                        "replacement": policy,
                        "partition": division,
                        "suspected_queue": seed % 3 == 0,
                        "mode": mode,
                        "destage": {"group_pages": 1 + seed % 4},
                    });
                    let figures = crowd(policy, reclaim, &table, 1 + seed as u32 % 17, seed);
                    moved += figures.divisions;
                    seed += 1;
                }
            }
        }
        let stays = division.get("split").is_some();
        assert_eq!(moved == 0, stays, "{division}");
    }
}

/// A list shrinks under writes of pages that it contains. Each write replaces a copy, which takes
/// no space: the host waits for the flash, which a destage reads, and never for the disk.
#[test]
fn write_hits_do_not_wait_for_destages_of_a_shrinking_list() {
    let shape = Shape {
        blocks: 20,
        pages_per_block: 16,
        spare_ratio: 0.35,
        threshold: 16,
        own_block: false,
        summaries: false,
        spare_blocks: 0,
    };
    let table = json!({
        "mode": "write-only",
        "journal": "none",
        "partition": {"locality-driven": {"window_bytes": 1000 * PAGE, "curve": "exact"}},
    });
    let mut run = Run::new(cached(&shape, "move", table, 1 << 20));
    for page in 100..300 {
        run.serve(Op::Write, page, 1);
    }
    for round in 0..1500 {
        run.submit(Op::Write, round % 20, 1);
        let parts = loop {
            if let Some(done) = run.store.completions().next() {
                break done.parts;
            }
            assert!(run.step(), "the write must be served");
        };
        if round >= 20 {
            let disk = parts.disk_queue + parts.seek + parts.transfer;
            assert_eq!(disk, Time::ZERO, "write {round}: {parts:?}");
        }
    }
    while run.step() {}
    let [demand, _, resize] = run.store.figures().destages;
    assert_eq!((demand.pages, resize.pages), (12, 208 - 48));
    run.audit();
}

/// Xia 2017, figure 2: four blocks of four pages, and a queue of twelve. LPN 0 is at PPN 3 and LPN
/// 1 at PPN 6; both are the least recently used. The host reads 15, 23, 12, 0 and 1. The flash has
/// three more blocks, which page mapping reserves for GC. The suspected queue is that of four
/// blocks: 4 pages without a threshold, and 3 pages with a threshold of 5 %.
#[test]
fn example_of_figure_2_has_three_misses_and_two_revivals() {
    for most_suspected in [4, 3] {
        let shape = Shape {
            blocks: 7,
            pages_per_block: 4,
            spare_ratio: 1.0 - 12.0 / 28.0,
            threshold: 1,
            own_block: false,
            summaries: false,
            spare_blocks: 0,
        };
        let device = device(&shape, "move");
        let table = json!({"suspected_queue": true, "reply": "fill"});
        let config: Config = serde_json::from_value(table).unwrap();
        let plan = Plan {
            most_suspected,
            ..Plan::new(&config, &device, Costs::PUBLISHED)
        };
        let disk = wordline_hdd::Plan::new(&wordline_hdd::Config::default()).unwrap();
        let mut run = Run::new(Cached::new(&plan, &device, Disk::new(&disk)));
        let by_place = [30, 31, 32, 0, 33, 34, 1, 35, 36, 37, 38, 39];
        for page in by_place {
            run.serve(Op::Read, page, 1);
        }
        // Pages 0 and 1 are then the least recently used ones, followed by page 30.
        for page in by_place.iter().skip(1).filter(|page| **page > 1) {
            run.serve(Op::Read, *page, 1);
        }
        run.serve(Op::Read, 30, 1);
        let before = run.store.figures();
        for page in [15, 23, 12] {
            run.serve(Op::Read, page, 1);
        }
        let copies = |page| run.store.residents().find(page).unwrap().0;
        let (zero, one) = (copies(0), copies(1));
        assert!(run.store.flash().mapping().pages().is_suspected(zero));
        assert!(run.store.flash().mapping().pages().is_suspected(one));
        run.serve(Op::Read, 0, 1);
        run.serve(Op::Read, 1, 1);
        let after = run.store.figures();
        assert_eq!(after.misses - before.misses, 3);
        assert_eq!(after.suspected_hits, 2);
        assert_eq!(after.fills - before.fills, 3);
        assert_eq!(run.store.residents().counts().evicted, 5);
        assert_eq!(run.observations.erases, 0);
        let map = run.store.flash().mapping();
        assert_eq!(map.lookup(zero).unwrap().0, 3);
        assert_eq!(map.lookup(one).unwrap().0, 6);
        let suspected = run.store.residents().suspected();
        assert_eq!(suspected, 3, "of {most_suspected}");
    }
}

/// Xia 2017, figure 7: among the full blocks one has the most invalid pages, two. It is erased with
/// the pages 15 and 0, which are removed from map and queue. No page is programmed for that, and
/// the next two misses find room in the queue.
#[test]
fn zero_migration_erases_a_block_with_its_valid_pages_as_in_figure_7() {
    let shape = Shape {
        blocks: 8,
        pages_per_block: 4,
        spare_ratio: 1.0 - 15.0 / 32.0,
        threshold: 15,
        own_block: false,
        summaries: false,
        spare_blocks: 0,
    };
    let mut run = Run::new(cached(
        &shape,
        "zero-migration",
        json!({"reply": "collection"}),
        64,
    ));
    for page in [20, 21, 22, 23, 24, 25, 26, 27, 15, 30, 0, 31, 32, 33, 34] {
        run.serve(Op::Read, page, 1);
    }
    for page in [20, 21, 22, 23, 24, 25, 26, 27, 15, 0, 32, 33, 34] {
        run.serve(Op::Read, page, 1);
    }
    let copies = [15, 0].map(|page| run.store.residents().find(page).unwrap().0);
    // Pages 30 and 31 are the least recently used ones, both in the third block.
    run.serve(Op::Read, 40, 1);
    assert_eq!(run.observations.erases, 0);
    let took = run.serve(Op::Read, 41, 1);
    assert_eq!((run.observations.erases, run.observations.moves), (1, 0));
    assert_eq!(run.store.residents().counts().dropped, 2);
    for (page, copy) in [15, 0].into_iter().zip(copies) {
        assert_eq!(run.store.residents().find(page), None);
        assert_eq!(run.store.flash().mapping().lookup(copy), None);
    }
    assert_eq!(run.store.residents().len(), 13);
    assert!(
        took > Time::from_ms(5),
        "the read must wait for the erase: {took}"
    );
    let evicted = run.store.residents().counts().evicted;
    assert_eq!(evicted, 2);
    run.serve(Op::Read, 15, 1);
    run.serve(Op::Read, 0, 1);
    assert_eq!(run.store.residents().counts().evicted, evicted);
    assert_eq!(run.store.residents().len(), 15);
    run.serve(Op::Read, 50, 1);
    assert_eq!(run.store.residents().counts().evicted, evicted + 1);
    run.audit();
}
