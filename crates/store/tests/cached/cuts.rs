//! Power cuts of a cached store.

use super::*;
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
}

impl Run {
    fn new(reclaim: &str, table: &Value, positioned: bool, seed: u64) -> Self {
        let config: Config = serde_json::from_value(table.clone()).unwrap();
        let device = device(&SHAPE, reclaim);
        let mut store = Cached::new(&Plan::new(&config, &device), &device, disks(positioned));
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
    fn cut(&mut self) {
        self.cuts += 1;
        self.queue = EventQueue::default();
        let cut = self.store.cut_power(self.now, &mut self.heard).unwrap();
        self.now += cut.time;
        self.take_completions();
        assert_eq!(self.under_way, 0, "a cut ends all requests");
        let cx = &mut Context::new(self.now, &mut self.queue, &mut self.heard);
        self.store.resume(cx).unwrap();
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

#[test]
fn pages_that_the_cache_gave_up_may_come_back_or_not() {
    for (_, reclaim) in COLLECTIONS {
        for mode in MODES {
            let table = json!({"mode": mode, "suspected_queue": true});
            let mut run = Run::new(reclaim, &table, false, 2);
            for _ in 0..10 {
                run.go_on(8, 400);
                run.cut();
            }
            run.read_all();
        }
    }
}
