//! Power cuts of a cached store.

#![allow(clippy::print_stdout)] // what records cost is told

use super::*;
use wordline_partition::Costs;
use wordline_store::{AddressMap, Array};

type OfDisks = wordline_store::Observation<wordline_disk::Observation>;
type Store = Cached<Array<Disk>>;

/// Hears of nothing.
struct Deaf;

impl Probe<Observation<OfDisks>> for Deaf {
    fn observe(&mut self, _now: Time, _heard: Observation<OfDisks>) {}
}

const SHAPE: Shape = Shape {
    blocks: 24,
    pages_per_block: 8,
    spare_ratio: 0.35,
    threshold: 17,
    own_block: false,
};
const PAGES: u64 = 400;

/// An array of one disk: of constant time, or with a mechanism and a queue of four.
fn disks(positioned: bool) -> Array<Disk> {
    let mut config = wordline_disk::Config {
        capacity_bytes: Some(PAGES * PAGE),
        ..wordline_disk::Config::default()
    };
    if positioned {
        config.queue_depth = 4;
        config.serial = true;
        config.buffer.write_cache = false;
    }
    let disk = Disk::new(&wordline_disk::Plan::new(&config).unwrap());
    let map = AddressMap::concatenated(&[PAGES * PAGE]);
    Array::new(map, [("disk".to_owned(), disk)])
}

/// A store under a load of the host, whose power fails.
struct Run {
    store: Store,
    queue: EventQueue<Event<<Array<Disk> as BlockDevice>::Event>>,
    heard: Deaf,
    now: Time,
    random: Stream,
    under_way: u32,
    cuts: u32,
    /// Dirty pages that came back, and clean ones that did not.
    restored: u64,
    dropped: u64,
}

impl Run {
    fn new(reclaim: &str, table: &Value, positioned: bool, seed: u64) -> Self {
        Self::with(reclaim, table, positioned, seed, |_| {})
    }
    fn with(
        reclaim: &str,
        table: &Value,
        positioned: bool,
        seed: u64,
        change: impl FnOnce(&mut Plan),
    ) -> Self {
        let config: Config = serde_json::from_value(table.clone()).unwrap();
        let device = device(&SHAPE, reclaim);
        let mut plan = Plan::new(&config, &device, Costs::PUBLISHED);
        change(&mut plan);
        let mut store = Cached::new(&plan, &device, disks(positioned));
        store.expect_power_cuts();
        store.verify();
        Self {
            store,
            queue: EventQueue::default(),
            heard: Deaf,
            now: Time::ZERO,
            random: Stream::new(seed, "cuts"),
            under_way: 0,
            cuts: 0,
            restored: 0,
            dropped: 0,
        }
    }
    fn submit(&mut self) {
        let random = &mut self.random;
        let op = match random.below(20) {
            0..10 => Op::Write,
            10 => Op::Trim,
            _ => Op::Read,
        };
        let page = skewed(random, PAGES - 6);
        let (mut offset, mut bytes) = (page * PAGE, (1 + random.below(6)) * PAGE);
        if random.below(4) == 0 {
            let sectors = bytes / 512;
            let first = random.below(sectors);
            offset += first * 512;
            bytes = 512 * (1 + random.below(sectors - first));
        }
        let request = Request {
            stream: 0,
            op,
            fua: false,
            offset,
            bytes,
            arrival: self.now,
        };
        self.under_way += 1;
        let cx = &mut Context::new(self.now, &mut self.queue, &mut self.heard);
        self.store.submit(cx, request).unwrap();
    }
    fn take_completions(&mut self) {
        self.under_way -= self.store.completions().count() as u32;
    }
    fn step(&mut self) -> bool {
        let Some((now, event)) = self.queue.pop() else {
            return false;
        };
        self.now = now;
        let cx = &mut Context::new(now, &mut self.queue, &mut self.heard);
        self.store.handle(cx, event).unwrap();
        self.take_completions();
        true
    }
    /// Serves a load of so many requests at once for so many events.
    fn go_on(&mut self, depth: u32, events: u64) {
        for _ in 0..events {
            while self.under_way < depth {
                self.submit();
                self.take_completions();
            }
            assert!(self.step(), "{} requests never end", self.under_way);
        }
    }
    /// The power fails and comes back, for how long whatsoever.
    fn try_to_cut(&mut self) -> Result<(), String> {
        self.cuts += 1;
        self.queue = EventQueue::default();
        let cut = self.store.cut_power(self.now, &mut self.heard);
        let cut = cut.map_err(|error| error.to_string())?;
        self.now += cut.time;
        self.restored += u64::from(cut.dirty_restored);
        self.dropped += u64::from(cut.clean_dropped);
        self.take_completions();
        assert_eq!(self.under_way, 0, "a cut ends all requests");
        self.store.flash().mapping().audit().unwrap();
        Ok(())
    }
    /// The power fails, once or more often before the store can go on.
    fn cut(&mut self) {
        let often = 1 + u64::from(self.random.below(8) == 0);
        for _ in 0..often {
            self.try_to_cut().unwrap();
        }
        let cx = &mut Context::new(self.now, &mut self.queue, &mut self.heard);
        self.store.resume(cx).unwrap();
        self.take_completions();
    }
    /// Nothing is left to do.
    fn rest(&mut self) {
        while self.step() {}
        assert_eq!(self.under_way, 0, "all requests end");
        self.store.flash().mapping().audit().unwrap();
    }
    /// Reads every page; each is what it has to be.
    fn read_all(&mut self) {
        for page in 0..PAGES {
            let request = Request {
                stream: 0,
                op: Op::Read,
                fua: false,
                offset: page * PAGE,
                bytes: PAGE,
                arrival: self.now,
            };
            self.under_way += 1;
            let cx = &mut Context::new(self.now, &mut self.queue, &mut self.heard);
            self.store.submit(cx, request).unwrap();
            self.rest();
        }
    }
}

#[test]
fn what_waits_for_a_disk_of_a_bounded_queue_is_withdrawn_by_a_cut() {
    for mode in MODES {
        let table = json!({"mode": mode, "replacement": "arc", "suspected_queue": true});
        let mut run = Run::new("move", &table, true, 1);
        for _ in 0..20 {
            run.go_on(24, 100);
            run.cut();
        }
        run.rest();
    }
}

/// One of many caches, by a number.
fn table(number: u64) -> (Value, &'static str, bool) {
    let of = |below: usize, step: u64| (number / step) as usize % below;
    let admission = [
        json!("always"),
        json!("second-access"),
        json!({"sequential-bypass": {"cutoff_bytes": 12288}}),
    ];
    let mode = MODES[of(5, 1)];
    let policy = ["lru", "arc", "sieve", "two-q", "lirs", "s3-fifo"][of(6, 5)];
    let (_, reclaim) = COLLECTIONS[of(3, 3)];
    let cleans = of(2, 7) == 1;
    let reply = ["data", "fill", "collection"][of(3, 11)];
    let group = [1, 3, 16][of(3, 4)];
    let table = json!({
        "mode": mode,
        "replacement": policy,
        "suspected_queue": of(2, 2) == 1,
        "reply": reply,
        "destage": {
            "group_pages": group,
            "high_ratio": if cleans { 0.5 } else { 1.0 },
            "low_ratio": 0.2,
        },
        "admission": admission[of(3, 13)],
    });
    (table, reclaim, of(2, 17) == 1)
}

/// Cuts of caches from a number on, at random events; after each, the cache holds of every page what was acknowledged last or what was
/// being written. Pages that have come back, and cuts.
fn cut_often(numbers: std::ops::Range<u64>, cuts: u32) -> (u64, u32) {
    let mut all = (0, 0);
    for number in numbers {
        let (table, reclaim, positioned) = table(number);
        let mut run = Run::new(reclaim, &table, positioned, number);
        let depth = 1 + number as u32 % 23;
        for round in 0..cuts {
            let events = 1 + run.random.below(if round % 4 == 0 { 1_500 } else { 250 });
            run.go_on(depth, events);
            run.cut();
            if run.random.below(16) == 0 {
                run.rest();
                run.read_all();
            }
        }
        run.rest();
        run.read_all();
        let keeps = table["mode"] == "write-back" || table["mode"] == "write-only";
        assert_eq!(run.restored > 0, keeps, "{table}");
        all = (all.0 + run.restored, all.1 + run.cuts);
    }
    all
}

#[test]
fn no_acknowledged_write_is_lost_and_none_is_older_in_any_mode() {
    let (restored, cuts) = cut_often(0..120, 8);
    assert!(restored > 1_000 && cuts >= 960, "{restored} {cuts}");
}

#[test]
#[ignore = "slow: 10^5 cuts"]
fn no_acknowledged_write_is_lost_in_many_cuts() {
    let (restored, cuts) = cut_often(1_000..4_000, 34);
    assert!(restored > 100_000 && cuts >= 100_000, "{restored} {cuts}");
}

/// Without records, the newest copy of a dead page can be erased before an older one, which comes back then (Oh et al. 2012 leave that
/// open). The first cut that shows it, of a write-back cache.
fn dead_page_comes_back(records: bool, seed: u64) -> bool {
    let table = json!({"mode": "write-back", "destage": {"group_pages": 1 + seed % 4}});
    let mut run = Run::with("move", &table, false, seed, |plan| {
        let journal = plan.journal.as_mut().unwrap();
        journal.records = records;
        // Dead pages are recorded when that cannot be put off any more.
        journal.most_unrecorded = 1_000;
    });
    run.go_on(4, 3_000);
    run.try_to_cut().is_err()
}

#[test]
fn without_records_dead_pages_come_back() {
    let wrong = |records| {
        (0..60)
            .filter(|seed| dead_page_comes_back(records, *seed))
            .count()
    };
    assert_eq!(wrong(true), 0);
    assert!(wrong(false) > 10, "{} of 60", wrong(false));
}

#[test]
fn a_cache_without_a_journal_loses_what_is_dirty_and_goes_on() {
    let table = json!({"mode": "write-back", "journal": "none"});
    let mut run = Run::new("move", &table, false, 1);
    run.go_on(8, 3_000);
    let dirty = run.store.residents().dirty();
    let cut = run.store.cut_power(run.now, &mut run.heard).unwrap();
    assert_eq!((cut.pages_lost, cut.dirty_restored), (dirty, 0));
    assert!(dirty > 0 && run.store.residents().is_empty());
}

/// A page of records holds 256, and 204 dead pages may go unrecorded until one is programmed: at most one in 204 of the pages that are destaged,
/// fewer where copies are erased or written again before, and what collections ask for in between.
#[test]
fn records_cost_less_than_a_hundredth_of_the_programs() {
    let shape = Shape {
        blocks: 320,
        pages_per_block: 64,
        spare_ratio: 0.2,
        threshold: 128,
        own_block: false,
    };
    let disk_pages = 60_000;
    let table = json!({"mode": "write-back"});
    let mut run = super::Run::new(cached(&shape, "move", table, disk_pages));
    let mut random = Stream::new(1, "cost");
    for _ in 0..80_000 {
        let page = skewed(&mut random, disk_pages);
        run.serve(Op::Write, page, 1);
    }
    run.audit();
    let figures = run.store.figures();
    let programs = figures.pages_written() + run.heard.moves + figures.records;
    println!(
        "{} of {programs} programs, {} destaged",
        figures.records, figures.destages[0].pages
    );
    assert!(figures.destages[0].pages > 20_000, "{figures:?}");
    assert!(figures.records > 0);
    assert!(figures.records * 100 < programs, "{figures:?}");
}
