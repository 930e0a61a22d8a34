//! Power cuts of a cached store.

#![allow(clippy::print_stdout)] // the cost of records is printed

use super::*;
use wordline_array::{AddressMap, Array};
use wordline_ftl::GcKind;
use wordline_partition::{Costs, Partition};

type OfDisks = wordline_block::ArrayObservation<wordline_hdd::Observation>;
pub type Store = Cached<Array<Disk>>;

/// Probe that counts metadata pages and refreshes.
#[derive(Clone, Default)]
pub struct FlashWork {
    metadata: u64,
    /// Refreshed blocks. Count.
    pub refreshes: u64,
}

impl Probe<Observation<OfDisks>> for FlashWork {
    fn observe(&mut self, _now: Time, heard: Observation<OfDisks>) {
        match heard {
            Observation::Flash(wordline_ssd::Observation::MetadataPage { program: true }) => {
                self.metadata += 1;
            }
            Observation::Flash(wordline_ssd::Observation::Collected { kind, .. }) => {
                self.refreshes += u64::from(kind == GcKind::Refresh);
            }
            _ => {}
        }
    }
}

pub const SHAPE: Shape = Shape {
    blocks: 24,
    pages_per_block: 8,
    spare_ratio: 0.35,
    threshold: 17,
    own_block: false,
    summaries: false,
    spare_blocks: 0,
};
pub const PAGES: u64 = 400;

/// Disk behind the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Below {
    /// Disk with a constant access time.
    Constant,
    /// Disk with a constant access time that serves one request at a time, with a queue of four.
    Serial,
    /// Disk with mechanical positioning, a queue of four in order of positioning time, and a buffer
    /// with this number of segments, half of which, rounded up, cache writes.
    Positioned(u32),
}

impl Below {
    const ALL: [Self; 4] = [
        Self::Constant,
        Self::Serial,
        Self::Positioned(0),
        Self::Positioned(3),
    ];
    fn is_volatile(self) -> bool {
        matches!(self, Self::Positioned(1..))
    }
}

/// Returns an array of one disk.
fn disks(below: Below) -> Array<Disk> {
    let mut config = wordline_hdd::Config {
        capacity_bytes: Some(PAGES * PAGE),
        ..wordline_hdd::Config::default()
    };
    config.buffer.write_cache = below.is_volatile();
    if below != Below::Constant {
        config.queue_depth = 4;
        config.serial = true;
    }
    if let Below::Positioned(segments) = below {
        config.model = serde_json::from_value(json!({"positioned": {
            "heads": 2,
            "seek": [[1, 1.0], [49, 8.0]],
            "zones": [{"cylinders": 50, "sectors_per_track": 40}],
        }}))
        .unwrap();
        config.queue = serde_json::from_value(json!("sptf")).unwrap();
        config.buffer.segments = segments;
        config.buffer.segment_sectors = 128;
        config.buffer.write_segments = segments.div_ceil(2);
    }
    let disk = Disk::new(&wordline_hdd::Plan::new(&config).unwrap());
    let map = AddressMap::concatenated(&[PAGES * PAGE]);
    Array::new(map, [("disk".to_owned(), disk)])
}

/// Store with a host load and power cuts.
pub struct Run {
    pub store: Store,
    queue: EventQueue<Event<<Array<Disk> as BlockDevice>::Event>>,
    pub heard: FlashWork,
    now: Time,
    pub random: Rng,
    under_way: u32,
    cuts: u32,
    /// Requests that ended with an error. Count.
    pub failed: u64,
    /// Dirty pages that were restored. Count.
    pub restored: u64,
    /// Clean pages that were dropped. Count.
    dropped: u64,
    /// Power cuts during the erases of a recovery. Count.
    in_recovery: u32,
    /// Power cuts while the sizes of lists differed from their targets. Count.
    in_resize: u32,
    /// Full blocks without a summary after a cut, in flash with summaries. Count.
    unsummarised: u32,
    /// Data pages per block.
    data_pages: u32,
    /// Whether a policy repartitions the space.
    moves: bool,
}

impl Run {
    fn new(reclaim: &str, table: &Value, below: Below, seed: u64) -> Self {
        Self::with(reclaim, table, below, seed, |_, _| {})
    }
    pub fn with(
        reclaim: &str,
        table: &Value,
        below: Below,
        seed: u64,
        change: impl FnOnce(&mut Plan, &mut wordline_ssd::Plan),
    ) -> Self {
        Self::of(SHAPE, reclaim, table, below, seed, change)
    }
    pub fn of(
        shape: Shape,
        reclaim: &str,
        table: &Value,
        below: Below,
        seed: u64,
        change: impl FnOnce(&mut Plan, &mut wordline_ssd::Plan),
    ) -> Self {
        let config: Config = serde_json::from_value(table.clone()).unwrap();
        let shape = Shape {
            summaries: config.block_summaries,
            ..shape
        };
        let mut device = device(&shape, reclaim);
        let mut plan = Plan::new(&config, &device, Costs::PUBLISHED);
        plan.is_backing_volatile = below.is_volatile();
        change(&mut plan, &mut device);
        let mut store = Cached::new(&plan, &device, disks(below));
        store.expect_power_cuts();
        store.verify();
        Self {
            store,
            queue: EventQueue::default(),
            heard: FlashWork::default(),
            now: Time::ZERO,
            random: Rng::new(seed, "cuts"),
            under_way: 0,
            cuts: 0,
            failed: 0,
            restored: 0,
            dropped: 0,
            in_recovery: 0,
            in_resize: 0,
            unsummarised: 0,
            data_pages: shape.data_pages(),
            moves: !matches!(plan.partition, Partition::Unified(_) | Partition::Split(_)),
        }
    }
    fn submit(&mut self) {
        let random = &mut self.random;
        let op = match random.below(40) {
            0..20 => Op::Write,
            20..22 => Op::Trim,
            22 => Op::Flush,
            _ => Op::Read,
        };
        let fua = op == Op::Write && random.below(8) == 0;
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
            fua,
            offset: if op == Op::Flush { 0 } else { offset },
            bytes: if op == Op::Flush { 0 } else { bytes },
            arrival: self.now,
        };
        self.under_way += 1;
        let mut probe = AnyProbe::new(&mut self.heard);
        let cx = &mut Context::new(self.now, &mut self.queue, &mut probe);
        self.store.submit(cx, request).unwrap();
    }
    fn take_completions(&mut self) {
        for done in self.store.completions() {
            self.under_way -= 1;
            self.failed += u64::from(done.failed);
        }
    }
    pub fn step(&mut self) -> bool {
        let Some((now, event)) = self.queue.pop() else {
            return false;
        };
        self.now = now;
        let mut probe = AnyProbe::new(&mut self.heard);
        let cx = &mut Context::new(now, &mut self.queue, &mut probe);
        self.store.handle(cx, event).unwrap();
        self.take_completions();
        true
    }
    /// Processes `events` events while keeping `depth` requests outstanding.
    pub fn go_on(&mut self, depth: u32, events: u64) {
        for _ in 0..events {
            while self.under_way < depth {
                self.submit();
                self.take_completions();
            }
            assert!(self.step(), "{} requests never complete", self.under_way);
        }
    }
    /// In half of the calls, if the space is repartitioned: processes events until the sizes of
    /// lists differ from their targets, but at most 300 events.
    fn go_on_to_resize(&mut self, depth: u32) {
        if self.moves && self.random.below(2) == 0 {
            for _ in 0..300 {
                if self.store.is_resizing() {
                    return;
                }
                self.go_on(depth, 1);
            }
        }
    }
    /// Cuts power. In half of the cases, power fails again during the erases of the recovery, once
    /// or several times. Returns the error of the recovery, if any.
    fn try_to_cut(&mut self) -> Result<(), String> {
        self.cuts += 1;
        self.in_resize += u32::from(self.store.is_resizing());
        while self.random.below(2) == 0 {
            let erases = self.random.below(3) as usize;
            let torn = self.store.cut_recovery(self.now, erases);
            self.in_recovery += u32::from(torn.map_err(|error| error.to_string())?);
        }
        self.queue = EventQueue::default();
        let cut = self.store.cut_power(self.now, &mut self.heard);
        let cut = cut.map_err(|error| error.to_string())?;
        self.now += cut.time;
        self.count_reads(cut.pages_read);
        self.restored += u64::from(cut.dirty_restored);
        self.dropped += u64::from(cut.clean_dropped);
        self.take_completions();
        assert_eq!(self.under_way, 0, "a power cut must end all requests");
        self.store.flash().mapping().audit().unwrap();
        Ok(())
    }
    /// Checks that a recovery reads at least the necessary pages: the summary of a full block; for
    /// any other block, one page that shows that there is no summary, and all its programmed pages.
    /// Blocks that are now erased may have been full.
    fn count_reads(&mut self, read: u64) {
        if self.data_pages == SHAPE.pages_per_block {
            return;
        }
        let array = self.store.flash().array();
        let programmed = (0..SHAPE.blocks).map(|block| array.programmed(Block(block)));
        let (mut summaries, mut scans) = (0, 0);
        for pages in programmed {
            if pages > self.data_pages || pages == 0 {
                summaries += 1;
            } else {
                scans += 1 + u64::from(pages);
                self.unsummarised += u32::from(pages == self.data_pages);
            }
        }
        assert!(read >= summaries + scans, "{read} < {summaries} + {scans}");
    }
    /// Cuts power once, or sometimes twice before the store can continue.
    pub fn cut(&mut self) {
        let often = 1 + u64::from(self.random.below(8) == 0);
        for _ in 0..often {
            self.try_to_cut().unwrap();
        }
        let mut probe = AnyProbe::new(&mut self.heard);
        let cx = &mut Context::new(self.now, &mut self.queue, &mut probe);
        self.store.resume(cx).unwrap();
        self.take_completions();
    }
    /// Runs until no work is left.
    pub fn rest(&mut self) {
        while self.step() {}
        assert_eq!(self.under_way, 0, "all requests must complete");
        self.store.flash().mapping().audit().unwrap();
    }
    /// Runs with four power cuts, completes all work, and reads every page.
    pub fn through_cuts(&mut self, depth: u32, events: u64) {
        for _ in 0..4 {
            self.go_on(depth, events);
            self.cut();
        }
        self.go_on(depth, events);
        self.rest();
        self.read_all();
    }
    /// Reads every page and checks its content.
    pub fn read_all(&mut self) {
        for page in 0..PAGES {
            self.serve(Op::Read, page * PAGE, PAGE);
        }
    }
    /// Serves one request until no work is left. Returns `true` if it ended with an error.
    pub fn serve(&mut self, op: Op, offset: u64, bytes: u64) -> bool {
        let request = Request {
            stream: 0,
            op,
            fua: false,
            offset,
            bytes,
            arrival: self.now,
        };
        let before = self.failed;
        self.under_way += 1;
        let mut probe = AnyProbe::new(&mut self.heard);
        let cx = &mut Context::new(self.now, &mut self.queue, &mut probe);
        self.store.submit(cx, request).unwrap();
        self.take_completions();
        self.rest();
        self.failed > before
    }
}

#[test]
fn requests_waiting_for_a_disk_queue_are_cancelled_by_a_power_cut() {
    for mode in MODES {
        let table = json!({"mode": mode, "replacement": "arc", "suspected_queue": true});
        let mut run = Run::new("move", &table, Below::Serial, 1);
        for _ in 0..20 {
            run.go_on(24, 100);
            run.cut();
        }
        run.rest();
    }
}

/// Returns the cache configuration with this number: its table, reclaim policy and disk.
pub fn table(number: u64) -> (Value, &'static str, Below) {
    let of = |choices: usize, step: u64| (number / step) as usize % choices;
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
    let moving = json!({"period_requests": 25, "segment_bytes": 8 * PAGE, "segments": 32});
    let learning = json!({"window_bytes": 25 * PAGE, "curve": "exact"});
    let partition = match of(5, 19) {
        0 => json!("unified"),
        1 => json!({"split": {"read_ratio": 0.4}}),
        2 => json!({"rw-fcl": moving}),
        3 => json!({"locality-driven": learning}),
        _ => json!({"op-fcl": moving}),
    };
    let table = json!({
        "mode": mode,
        "partition": partition,
        "replacement": policy,
        "suspected_queue": of(2, 2) == 1,
        "reply": reply,
        "destage": {
            "group_pages": group,
            "high_ratio": if cleans { 0.5 } else { 1.0 },
            "low_ratio": 0.2,
        },
        "admission": admission[of(3, 13)],
        "block_summaries": of(2, 23) == 1,
    });
    (table, reclaim, Below::ALL[of(4, 17)])
}

/// Counters over many power cuts, summed over configurations.
#[derive(Debug, Default)]
struct Met {
    cuts: u32,
    /// Dirty pages restored. Count.
    restored: u64,
    in_recovery: u32,
    in_resize: u32,
    /// Power cuts with a disk that has a write cache. Count.
    volatile: u32,
    /// Power cuts of flash with block summaries. Count.
    summarised: u32,
    /// Full blocks whose summary was torn or not started. Count.
    unsummarised: u32,
}

/// Cuts the power of the caches with these numbers, at random events. After each cut, the cache has
/// the last acknowledged version of every page, or the one being written. For pages that the disk
/// may lose, it has no version older than the last durable one.
fn cut_often(numbers: std::ops::Range<u64>, cuts: u32) -> Met {
    let mut all = Met::default();
    for number in numbers {
        let (table, reclaim, below) = table(number);
        let mut run = Run::new(reclaim, &table, below, number);
        let depth = 1 + number as u32 % 23;
        for round in 0..cuts {
            let events = 1 + run.random.below(if round % 4 == 0 { 1_500 } else { 250 });
            run.go_on(depth, events);
            run.go_on_to_resize(depth);
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
        all.cuts += run.cuts;
        all.restored += run.restored;
        all.in_recovery += run.in_recovery;
        all.in_resize += run.in_resize;
        all.volatile += if below.is_volatile() { run.cuts } else { 0 };
        let has_summaries = table["block_summaries"] == true;
        all.summarised += if has_summaries { run.cuts } else { 0 };
        all.unsummarised += run.unsummarised;
    }
    all
}

impl Met {
    fn require(&self, cuts: u32) {
        println!("{self:?}");
        assert!(self.cuts >= cuts, "{self:?}");
        assert!(self.unsummarised * 100 > cuts, "{self:?}");
        for some in [
            self.in_recovery,
            self.in_resize,
            self.volatile,
            self.summarised,
        ] {
            assert!(some * 20 > cuts, "{self:?}");
        }
        assert!(self.restored > u64::from(cuts), "{self:?}");
    }
}

#[test]
fn no_acknowledged_write_is_lost_in_any_mode() {
    cut_often(0..120, 8).require(960);
}

#[test]
#[ignore = "10^5 cuts take minutes in an optimised build; run by `make test-slow`, a shorter variant always runs"]
fn no_acknowledged_write_is_lost_in_many_cuts() {
    cut_often(1_000..4_000, 34).require(100_000);
}

/// Runs a write-back cache to a power cut. Returns `true` if a dead page reappears: without
/// records, the newest copy of a dead page can be erased before an older one, which is then
/// restored (Oh et al. 2012 leave this open).
fn dead_page_comes_back(records: bool, seed: u64) -> bool {
    let table = json!({"mode": "write-back", "destage": {"group_pages": 1 + seed % 4}});
    let mut run = Run::with("move", &table, Below::Constant, seed, |plan, _| {
        let journal = plan.journal.as_mut().unwrap();
        journal.records = records;
        // Dead pages are recorded as late as possible.
        journal.most_unrecorded = 1_000;
    });
    run.go_on(4, 3_000);
    run.try_to_cut().is_err()
}

#[test]
fn dead_pages_reappear_after_power_cuts_only_without_their_records() {
    let wrong = |records| {
        (0..60)
            .filter(|seed| dead_page_comes_back(records, *seed))
            .count()
    };
    assert_eq!(wrong(true), 0);
    assert!(wrong(false) > 10, "only {} of 60 runs", wrong(false));
}

/// Data that is not on the platters when its copy in flash is recorded as dead would be lost with
/// the disk's write cache. Therefore no page of a group is in that cache at the end of the group:
/// single destaged pages are written with FUA, and those of a group are flushed together. Until
/// then the flash keeps them, and a power cut loses none.
#[test]
fn destaged_pages_are_on_the_platters() {
    for group in [1, 16] {
        let table = json!({"mode": "write-back", "destage": {"group_pages": group}});
        let mut run = Run::new("move", &table, Below::Positioned(3), 1);
        let (mut over, mut buffered) = (0, 0_u32);
        for _ in 0..4_000 {
            run.go_on(1, 1);
            let groups = run.store.figures().destages[0].groups;
            let below = run.store.backing().volatile_pages(0, PAGES * PAGE);
            buffered += u32::from(below > 0);
            if groups > over {
                assert_eq!(below, 0, "groups of {group}");
            }
            if groups > over || below > 0 {
                let cut = run
                    .store
                    .clone()
                    .cut_power(run.now, &mut FlashWork::default())
                    .unwrap();
                assert_eq!(cut.pages_lost, 0, "groups of {group}");
            }
            over = groups;
        }
        assert!(over > 20, "{over} groups of {group}");
        assert_eq!(
            buffered > 20,
            group > 1,
            "{buffered} times with groups of {group}"
        );
    }
}

#[test]
fn a_cache_without_a_journal_loses_its_dirty_pages_in_a_power_cut() {
    let table = json!({"mode": "write-back", "journal": "none"});
    let mut run = Run::new("move", &table, Below::Constant, 1);
    run.go_on(8, 3_000);
    let dirty = run.store.residents().dirty();
    assert_eq!(run.store.volatile_pages(0, PAGES * PAGE), dirty);
    let cut = run.store.cut_power(run.now, &mut run.heard).unwrap();
    assert_eq!(run.store.volatile_pages(0, PAGES * PAGE), 0);
    assert_eq!((cut.pages_lost, cut.dirty_restored), (dirty, 0));
    assert!(dirty > 0 && run.store.residents().is_empty());
}

/// A record page holds 256 records, and up to 204 dead pages may be unrecorded before a record page
/// is programmed. That is at most one page per 204 destaged pages, and fewer if copies are erased
/// or overwritten before, or if GC requests records in between.
#[test]
fn records_of_dead_pages_are_less_than_one_percent_of_programs() {
    let shape = Shape {
        blocks: 320,
        pages_per_block: 64,
        spare_ratio: 0.2,
        threshold: 128,
        own_block: false,
        summaries: false,
        spare_blocks: 0,
    };
    let disk_pages = 60_000;
    let table = json!({"mode": "write-back"});
    let mut run = super::Run::new(cached(&shape, "move", table, disk_pages));
    let mut random = Rng::new(1, "cost");
    for _ in 0..80_000 {
        let page = skewed(&mut random, disk_pages);
        run.serve(Op::Write, page, 1);
    }
    run.audit();
    let figures = run.store.figures();
    let programs = figures.pages_written() + run.observations.moves + figures.records;
    println!(
        "{} pages of records in {programs} programs, {} pages destaged",
        figures.records, figures.destages[0].pages
    );
    assert!(figures.destages[0].pages > 20_000, "{figures:?}");
    assert!(figures.records > 0);
    assert!(figures.records * 100 < programs, "{figures:?}");
}

/// When no operation is in progress, the summary of a full block lists all its pages. Recovery of
/// the same flash without summaries reads every page.
#[test]
fn recovery_reads_summaries_of_full_blocks_and_spare_areas_of_others() {
    let reads = |summaries: bool| {
        let table = json!({"mode": "write-back", "journal": "none", "block_summaries": summaries});
        let mut run = Run::new("move", &table, Below::Constant, 3);
        run.go_on(4, 4_000);
        run.rest();
        let array = run.store.flash().array();
        let blocks = (0..SHAPE.blocks).map(|block| array.programmed(Block(block)));
        let expected: u32 = blocks
            .map(|programmed| match (summaries, programmed) {
                (true, 8) => 1,
                (true, _) => 1 + programmed.max(1),
                (false, _) => programmed.max(1),
            })
            .sum();
        let cut = run.store.cut_power(run.now, &mut run.heard).unwrap();
        assert_eq!(cut.pages_read, u64::from(expected));
        cut.pages_read
    };
    let (with, without) = (reads(true), reads(false));
    println!("{with} pages read with summaries, {without} without");
    assert!(
        with * 2 < without,
        "{with} pages with summaries, {without} without"
    );
}

/// Returns the number of programmed pages of each block.
fn programmed(store: &Store) -> Vec<u32> {
    let array = store.flash().array();
    let blocks = (0..SHAPE.blocks).map(Block);
    blocks.map(|block| array.programmed(block)).collect()
}

/// Cuts power at every event around the program of a summary. Until the program is complete, the
/// block is read as if it had no summary. A torn summary is not retried; one that was not started
/// is programmed when the power is back.
#[test]
fn an_interrupted_summary_is_not_used() {
    let table = json!({"mode": "write-back", "journal": "none", "block_summaries": true});
    let mut run = Run::new("move", &table, Below::Constant, 5);
    let (mut torn, mut unbegun, mut done) = (0, 0, 0);
    for _ in 0..3_000 {
        let begun = run.heard.metadata;
        run.go_on(4, 1);
        if run.heard.metadata == begun {
            continue;
        }
        for _ in 0..12 {
            let before = programmed(&run.store);
            let expected: u32 = before
                .iter()
                .map(|pages| if *pages == 8 { 1 } else { 1 + pages.max(&1) })
                .sum();
            let mut store = run.store.clone();
            let cut = store.cut_power(run.now, &mut FlashWork::default()).unwrap();
            let after = programmed(&store);
            let mut of_summary = None;
            for (before, after) in before
                .iter()
                .zip(&after)
                .filter(|(before, _)| **before == 7)
            {
                assert!([0, 7, 8].contains(after), "{before} {after}");
                of_summary = Some(*after);
            }
            // The only operation in progress is on one die.
            let read = cut.pages_read - u64::from(expected) - u64::from(8 * cut.erases_torn);
            match of_summary {
                Some(8) => {
                    assert_eq!((cut.pages_torn, read), (1, 1));
                    torn += 1;
                }
                Some(7) => unbegun += 1,
                _ => done += 1,
            }
            assert!(read <= u64::from(cut.pages_torn));
            let queue = &mut EventQueue::default();
            let heard = &mut FlashWork::default();
            let now = run.now + cut.time;
            store
                .resume(&mut Context::new(now, queue, &mut AnyProbe::new(heard)))
                .unwrap();
            while let Some((now, event)) = queue.pop() {
                let mut probe = AnyProbe::new(heard);
                let cx = &mut Context::new(now, queue, &mut probe);
                store.handle(cx, event).unwrap();
            }
            let late = after.iter().filter(|pages| **pages == 7).count() as u64;
            assert_eq!(
                heard.metadata, late,
                "a summary that was not started must be programmed"
            );
            assert!(programmed(&store).iter().all(|pages| *pages != 7));
            run.go_on(4, 1);
        }
    }
    println!("{torn} torn, {unbegun} not started, {done} complete or none");
    assert!(torn > 20 && unbegun > 20 && done > 20);
}
