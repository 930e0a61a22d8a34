//! Invariants of a flash cache in front of a disk. Each flash page has one state. A suspected queue
//! of length zero changes no event, and a longer queue changes no resident hit of LRU.
#![allow(clippy::unwrap_used, clippy::panic)] // test code, also outside test functions

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use wordline_block::{BlockDevice, Event as _, Op, Request};
use wordline_flash_cache::{Cached, Config, Event, Observation, Plan};
use wordline_ftl::allocate::Dimensions;
use wordline_hdd::Disk;
use wordline_host_link::Interface;
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::{Context, Digest, EventQueue, Probe, Rng, Time};
use wordline_nand::{Block, Cell, Geometry, Layout, Part, Timing};
use wordline_partition::Costs;

const PAGE: u64 = 4096;
const PAGES_PER_BLOCK: u32 = 8;

/// Flash of one plane: its blocks, the pages that the cache can hold, and the free-page threshold
/// of GC.
#[derive(Clone, Copy)]
struct Shape {
    blocks: u32,
    queue: u32,
    threshold: u32,
}

impl Shape {
    fn pages(self) -> u32 {
        self.blocks * PAGES_PER_BLOCK
    }
    fn device(self, reclaim: &str) -> wordline_ssd::Plan {
        let geometry = Geometry {
            dies_per_package: 1,
            planes_per_die: 1,
            blocks_per_plane: self.blocks,
            pages_per_block: PAGES_PER_BLOCK,
            page_bytes: PAGE as u32,
            ..Geometry::default()
        };
        let dimensions = Dimensions {
            channels: 1,
            ways: 1,
            dies: 1,
            planes: 1,
        };
        let ftl = json!({
            "over_provisioning_ratio": 1.0 - f64::from(self.queue) / f64::from(self.pages()),
            "gc": {
                "start_free_pages": self.threshold,
                "hard_free_ratio": 0.0,
                "own_block": false,
                "reclaim": reclaim,
            },
        });
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
}

/// Observed numbers of pages programmed and blocks erased.
#[derive(Default)]
struct Observations {
    programs: u64,
    erases: u64,
}

impl Probe<Observation<wordline_hdd::Observation>> for Observations {
    fn observe(&mut self, _now: Time, observation: Observation<wordline_hdd::Observation>) {
        use wordline_ssd::Observation as OfFlash;
        match observation {
            Observation::Flash(OfFlash::PagesWritten { pages }) => {
                self.programs += u64::from(pages);
            }
            Observation::Flash(OfFlash::Collected { moved, erased, .. }) => {
                self.programs += u64::from(moved);
                self.erases += u64::from(erased);
            }
            _ => {}
        }
    }
}

/// Store with its event queue, its clock and the digest of its events.
struct Run {
    store: Cached<Disk>,
    queue: EventQueue<Event<wordline_hdd::Event>>,
    observations: Observations,
    now: Time,
    digest: Digest,
}

impl Run {
    fn new(shape: Shape, reclaim: &str, table: Value) -> Self {
        Self::with(shape, reclaim, table, None)
    }
    /// Creates a run with an explicit length of the suspected queue.
    fn with(shape: Shape, reclaim: &str, table: Value, most_suspected: Option<u32>) -> Self {
        let config: Config = serde_json::from_value(table).unwrap();
        let device = shape.device(reclaim);
        let disk = wordline_hdd::Plan::new(&wordline_hdd::Config::default()).unwrap();
        let plan = Plan::new(&config, &device, Costs::PUBLISHED);
        let plan = Plan {
            most_suspected: most_suspected.unwrap_or(plan.most_suspected),
            ..plan
        };
        Self {
            store: Cached::new(&plan, &device, Disk::new(&disk)),
            queue: EventQueue::default(),
            observations: Observations::default(),
            now: Time::ZERO,
            digest: Digest::default(),
        }
    }
    /// Serves one request until the store is idle. Returns the number of its pages that were
    /// resident, and the number that were revived.
    fn serve(&mut self, op: Op, page: u64, pages: u64) -> (u64, u64) {
        let before = self.store.figures();
        let request = Request {
            stream: 0,
            op,
            fua: false,
            offset: page * PAGE,
            bytes: pages * PAGE,
            arrival: self.now,
        };
        let cx = &mut Context::new(self.now, &mut self.queue, &mut self.observations);
        self.store.submit(cx, request).unwrap();
        loop {
            assert!(self.store.completions().count() <= 1);
            let Some((now, event)) = self.queue.pop() else {
                break;
            };
            self.now = now;
            self.digest.mix(now.0);
            event.mix(&mut self.digest);
            let cx = &mut Context::new(now, &mut self.queue, &mut self.observations);
            self.store.handle(cx, event).unwrap();
        }
        let after = self.store.figures();
        (
            after.resident_hits - before.resident_hits,
            after.suspected_hits - before.suspected_hits,
        )
    }
    /// Asserts that the flash is consistent, and returns its number of resident, suspected, free
    /// and invalid pages. Pages in the cache have distinct, programmed physical pages. Programs
    /// minus erased pages equal the programmed pages. `places` has the physical page of each page
    /// when it was last resident, because a suspected page does not move.
    fn account(&self, shape: Shape, disk_pages: u64, places: &mut HashMap<u64, u32>) -> [u64; 4] {
        let flash = self.store.flash();
        let (map, residents) = (flash.mapping().pages(), self.store.residents());
        let mut taken = HashSet::new();
        let (mut resident, mut suspected) = (0, 0);
        for page in 0..disk_pages {
            let Some((entry, _)) = residents.find(page) else {
                continue;
            };
            if let Some(place) = map.lookup(entry) {
                places.insert(page, place.0);
                resident += 1;
            } else {
                assert!(map.is_suspected(entry));
                suspected += 1;
            }
            let place = places[&page];
            let block = Block(place / PAGES_PER_BLOCK);
            assert!(place % PAGES_PER_BLOCK < flash.array().programmed(block));
            assert!(
                taken.insert(place),
                "two cached pages share physical page {place}"
            );
        }
        assert_eq!(resident, residents.len() as u64);
        assert_eq!(suspected, residents.suspected() as u64);
        let blocks = 0..shape.blocks;
        let programmed: u64 = blocks
            .map(|block| u64::from(flash.array().programmed(Block(block))))
            .sum();
        let erased = self.observations.erases * u64::from(PAGES_PER_BLOCK);
        // Only blocks whose pages have all been programmed are erased.
        assert_eq!(programmed, self.observations.programs - erased);
        let free = u64::from(shape.pages()) - programmed;
        let invalid = programmed - taken.len() as u64;
        [resident, suspected, free, invalid]
    }
}

fn skewed(random: &mut Rng, below: u64) -> u64 {
    let most = random.below(below);
    random.below(most + 1)
}

const SHAPE: Shape = Shape {
    blocks: 24,
    queue: 120,
    threshold: 17,
};

#[test]
fn every_page_is_resident_suspected_free_or_invalid() {
    for policy in ["lru", "arc", "sieve"] {
        for reclaim in ["move", "zero-migration", "conditional"] {
            for aware in [false, true] {
                let table = json!({"replacement": policy, "suspected_queue": aware});
                let mut run = Run::new(SHAPE, reclaim, table);
                let mut random = Rng::new(3, "laws");
                let (mut most, mut places) = ([0; 4], HashMap::new());
                for _ in 0..3_000 {
                    let op = if random.below(12) == 0 {
                        Op::Write
                    } else {
                        Op::Read
                    };
                    run.serve(op, skewed(&mut random, 400), 1);
                    let parts = run.account(SHAPE, 400, &mut places);
                    assert_eq!(parts.iter().sum::<u64>(), u64::from(SHAPE.pages()));
                    most = std::array::from_fn(|part| most[part].max(parts[part]));
                }
                assert!(run.observations.erases > 50, "{policy}, {reclaim}");
                assert_eq!(most[1] > 0, aware, "{policy}, {reclaim}: {most:?}");
                assert!(most[0] > 0 && most[2] > 0 && most[3] > 0);
            }
        }
    }
}

/// With N_SQ = 0, FLRU has the same events as LRU, and FARC the same as ARC. With a longer queue,
/// the events differ.
#[test]
fn suspected_queue_of_length_zero_leaves_all_events_unchanged() {
    for policy in ["lru", "arc"] {
        let digests = [(false, None), (true, Some(0)), (true, None)].map(|(aware, most)| {
            let table = json!({"replacement": policy, "suspected_queue": aware});
            let mut run = Run::with(SHAPE, "move", table, most);
            let mut random = Rng::new(4, "laws");
            for _ in 0..5_000 {
                let op = if random.below(12) == 0 {
                    Op::Write
                } else {
                    Op::Read
                };
                run.serve(op, skewed(&mut random, 500), 1 + random.below(3));
            }
            assert!(run.observations.erases > 50);
            run.digest
        });
        assert_eq!(digests[0], digests[1], "{policy}");
        assert_ne!(digests[0], digests[2], "{policy}");
    }
}

/// With single-page requests, one at a time, the list of FLRU has the same content as that of LRU
/// at every request. FLRU's additional hits are pages that had been evicted.
#[test]
fn flru_list_has_the_content_of_the_lru_list_at_every_request() {
    let mut runs =
        [false, true].map(|aware| Run::new(SHAPE, "move", json!({"suspected_queue": aware})));
    let mut random = Rng::new(5, "laws");
    let (mut held, mut revived) = (0, 0);
    for step in 0..20_000 {
        let page = skewed(&mut random, 500);
        let [lru, flru] = runs.each_mut().map(|run| run.serve(Op::Read, page, 1));
        assert_eq!(
            lru.0, flru.0,
            "resident hits of request {step} for page {page}"
        );
        assert_eq!(lru.1, 0);
        (held, revived) = (held + lru.0, revived + flru.1);
    }
    assert!(
        held > 1_000 && revived > 500,
        "{held} held, {revived} revived"
    );
    assert!(runs[1].observations.erases < runs[0].observations.erases);
}
