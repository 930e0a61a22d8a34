//! A cache whose flash errs: what it cannot correct of a clean page is read from the disk, and of a dirty page is an error; nothing that was
//! not written is ever served.

use super::cuts::{Below, PAGES, Run, SHAPE, table};
use super::*;
use wordline_block::Completion;
use wordline_ftl::Map;
use wordline_ftl::refresh::{Refresh, Steps, Target};
use wordline_reliability::binomial::{page_fails, rate_for};
use wordline_reliability::ecc::{Correct, bch::Bch};
use wordline_reliability::errors::table::Table;
use wordline_reliability::{Errors, Failing, Failures, Reader};
use wordline_ssd::Ssd;

/// Reads of this flash cannot be corrected with about this probability, each by itself; with which exactly.
fn erring(device: &mut wordline_ssd::Plan, probability: f64) -> f64 {
    let bch = Bch::default();
    let code = bch.code().unwrap();
    let rate = rate_for(code.bits, bch.correctable, probability);
    let words = code.words(PAGE as u32);
    let exactly = page_fails(code.bits, rate, bch.correctable, words);
    device.part.reader = Some(Box::new(Reader {
        errors: Errors::Table(Table {
            cycles: vec![0.0],
            rates: vec![rate],
            per_day: Vec::new(),
            per_read: Vec::new(),
        }),
        page_factors: Vec::new(),
        variation: None,
        shift: None,
        single_level: None,
        words,
        code,
        cycles: 0.0,
        retention_days: 0.0,
        acceleration: 1.0,
        expected: false,
        read_limit: 0,
        refresh_days: 0.0,
    }));
    exactly
}

fn holds_clean_pages_only(table: &Value) -> bool {
    !["write-back", "write-only"]
        .iter()
        .any(|mode| table["mode"] == **mode)
}

/// Under every mode, policy and disk, with power cuts in between: every request ends, and every page that is served is what was written
/// last, or its request has failed. Where the cache holds clean pages only, no request fails.
#[test]
fn what_cannot_be_corrected_comes_from_the_disk_or_is_an_error() {
    let (mut uncorrectable, mut lost, mut failed) = (0, 0, 0);
    for number in 0..120 {
        let (table, reclaim, below) = table(number);
        let probability = [0.003, 0.05, 0.4][number as usize % 3];
        let mut run = Run::with(reclaim, &table, below, number, |_, device| {
            erring(device, probability);
        });
        run.through_cuts(1 + number as u32 % 23, 600);
        let figures = run.store.figures();
        if holds_clean_pages_only(&table) {
            assert_eq!((run.failed, figures.pages_lost), (0, 0), "{table}");
            assert_eq!(figures.host_failures, 0);
        }
        assert!(figures.host_failures >= run.failed);
        uncorrectable += figures.hits_uncorrectable;
        lost += figures.pages_lost;
        failed += run.failed;
    }
    assert!(
        uncorrectable > 1000 && lost > 100 && failed > 100,
        "{uncorrectable} uncorrectable, {lost} lost, {failed} failed"
    );
}

/// The same where no read errs and blocks that are read often move, to others or back to where they were: no request fails.
#[test]
fn blocks_of_a_cache_move_for_their_data() {
    for target in Target::defaults() {
        let mut refreshes = 0;
        for number in 0..60 {
            let (table, reclaim, below) = table(number);
            let mut run = Run::with(reclaim, &table, below, number, |_, device| {
                erring(device, 1e-12);
                if let Some(reader) = &mut device.part.reader {
                    reader.read_limit = 2 + number as u32 % 8;
                }
                device.ftl.config.refresh = Refresh {
                    target: target.clone(),
                    steps: [Steps::Schedule, Steps::Page, Steps::Block][number as usize % 3],
                };
            });
            run.through_cuts(1 + number as u32 % 23, 600);
            assert_eq!(run.failed, 0, "{table}");
            refreshes += run.heard.refreshes;
        }
        assert!(refreshes > 200, "{}: {refreshes}", target.name());
    }
}

/// A cache before a disk of constant time, both at rest.
fn single(mode: &str, probability: f64) -> (super::Run, f64) {
    let shape = Shape {
        blocks: 24,
        pages_per_block: 8,
        spare_ratio: 0.35,
        threshold: 17,
        own_block: false,
        summaries: false,
        spare_blocks: 0,
    };
    let mut device = device(&shape, "move");
    let exactly = erring(&mut device, probability);
    let config: Config = serde_json::from_value(json!({"mode": mode})).unwrap();
    let disk = wordline_hdd::Config {
        capacity_bytes: Some(400 * PAGE),
        ..wordline_hdd::Config::default()
    };
    let disk = Disk::new(&wordline_hdd::Plan::new(&disk).unwrap());
    let plan = Plan::new(&config, &device, Costs::PUBLISHED);
    (super::Run::new(Cached::new(&plan, &device, disk)), exactly)
}

/// What became of a request that is served by itself.
fn serve(run: &mut super::Run, op: Op, page: u64) -> Completion {
    run.submit(op, page, 1);
    let mut all: Vec<_> = run.store.completions().collect();
    while run.step() {
        all.extend(run.store.completions());
    }
    assert_eq!(all.len(), 1);
    all[0]
}

/// A hit that fails takes what a hit takes and then what a miss takes; it is a miss, and the page is in flash again behind it.
#[test]
fn a_hit_that_cannot_be_corrected_is_a_miss_behind_a_hit() {
    let (mut run, _) = single("write-around", 1e-12);
    run.store.verify();
    let miss = serve(&mut run, Op::Read, 7).parts;
    let hit = serve(&mut run, Op::Read, 7).parts;
    assert!(hit.total() < miss.total());
    let (mut run, _) = single("write-around", 0.999_999);
    run.store.verify();
    serve(&mut run, Op::Read, 7);
    for turn in 1..4 {
        let failed = serve(&mut run, Op::Read, 7);
        assert!(!failed.failed);
        assert_eq!(
            failed.parts.total() - failed.parts.decode,
            hit.total() - hit.decode + miss.total()
        );
        let figures = run.store.figures();
        assert_eq!(
            (figures.hits_uncorrectable, figures.fills),
            (turn, turn + 1)
        );
        assert_eq!((figures.reads_hit, figures.hit_ratio()), (0, Some(0.0)));
        assert_eq!(run.store.residents().len(), 1);
    }
}

/// As many hits go to the disk as the binomial distribution says.
#[test]
fn hits_go_to_the_disk_as_often_as_theory_says() {
    let (mut run, probability) = single("write-around", 0.026);
    let hits = 6_000;
    for turn in 0..hits + 50 {
        assert!(!serve(&mut run, Op::Read, turn % 50).failed);
    }
    let share = run.store.figures().hits_uncorrectable as f64 / hits as f64;
    let error = (probability * (1.0 - probability) / hits as f64).sqrt();
    assert!(
        (share - probability).abs() < 5.0 * error,
        "{share}, expected {probability}"
    );
}

/// A dirty page that cannot be read is an error each time; when it is destaged it is lost, until it is written as a whole or trimmed.
#[test]
fn a_dirty_page_that_cannot_be_destaged_is_lost_until_it_is_written() {
    for rewrite in [Op::Write, Op::Trim] {
        let table = json!({"mode": "write-back"});
        let mut run = Run::with("move", &table, Below::Constant, 1, |_, device| {
            erring(device, 0.999_999);
        });
        assert!(!run.serve(Op::Write, 0, PAGE));
        assert!(run.serve(Op::Read, 0, PAGE));
        assert!(run.serve(Op::Write, 512, 512), "its rest cannot be read");
        assert_eq!(run.store.figures().pages_lost, 0);
        // Others push it out.
        let capacity = run.store.residents().limits().sum::<usize>() as u64;
        for page in 1..=capacity {
            assert!(!run.serve(Op::Write, page * PAGE, PAGE));
        }
        assert_eq!(run.store.residents().find(0), None);
        assert_eq!(run.store.figures().pages_lost, 1);
        assert_eq!(run.store.figures().destages[0].pages, 0);
        assert!(run.serve(Op::Read, 0, PAGE));
        assert!(run.serve(Op::Flush, 0, 0), "not all is durable");
        run.cut();
        assert!(run.serve(Op::Read, 0, PAGE), "a cut does not bring it back");
        run.serve(Op::Write, 512, 512);
        assert!(run.serve(Op::Read, 0, PAGE), "a part of it is lost");
        assert!(!run.serve(rewrite, 0, PAGE));
        // What was trimmed is read from the disk; what was written, not even from flash.
        assert_eq!(run.serve(Op::Read, 0, PAGE), rewrite == Op::Write);
    }
}

/// What a write leaves of a clean page comes from the disk where the flash cannot read it, and the write is no error.
#[test]
fn the_rest_of_a_clean_page_comes_from_the_disk() {
    let table = json!({"mode": "write-back"});
    let mut run = Run::with("move", &table, Below::Constant, 1, |_, device| {
        erring(device, 0.999_999);
    });
    for page in 0..40 {
        assert!(!run.serve(Op::Read, page * PAGE, PAGE));
        assert!(!run.serve(Op::Write, page * PAGE + 512, 1024));
    }
    assert_eq!(run.store.figures().rests, 40);
    assert_eq!(run.store.residents().dirty(), 40);
    // The programs before are no copies that come back.
    run.cut();
    assert_eq!(run.store.residents().dirty(), 40);
    assert_eq!(run.failed, 0);
    assert_eq!(PAGES, 400);
}

/// A cache before an SSD, with what each completion says.
struct BeforeSsd {
    store: Cached<Ssd<Map>>,
    queue: EventQueue<Event<wordline_ssd::Event>>,
    heard: (),
    now: Time,
}

impl BeforeSsd {
    fn new(mode: &str, change: impl FnOnce(&mut wordline_ssd::Plan)) -> Self {
        let shape = Shape {
            blocks: 24,
            pages_per_block: 8,
            spare_ratio: 0.35,
            threshold: 17,
            own_block: false,
            summaries: false,
            spare_blocks: 0,
        };
        let flash = device(&shape, "move");
        let mut below = device(
            &Shape {
                blocks: 40,
                ..shape
            },
            "move",
        );
        change(&mut below);
        let config: Config = serde_json::from_value(json!({"mode": mode})).unwrap();
        let plan = Plan::new(&config, &flash, Costs::PUBLISHED);
        let mut ssd = Ssd::new(&below, Map::new(&below.ftl));
        ssd.verify();
        let mut store = Cached::new(&plan, &flash, ssd);
        store.verify();
        Self {
            store,
            queue: EventQueue::default(),
            heard: (),
            now: Time::ZERO,
        }
    }
    /// Notes what completions say; a ticket is that of the last request that got it.
    fn note(&mut self, tickets: &[u32], failed: &mut [Option<bool>]) {
        for done in self.store.completions() {
            let place = tickets.iter().rposition(|ticket| *ticket == done.ticket);
            failed[place.unwrap()] = Some(done.failed);
        }
    }
    /// Requests that come at once, until nothing is left to do: which of them failed.
    fn serve(&mut self, requests: &[(Op, u64, u64)]) -> Vec<bool> {
        let mut failed = vec![None; requests.len()];
        let mut tickets = Vec::new();
        for (op, offset, bytes) in requests {
            let request = Request {
                stream: 0,
                op: *op,
                fua: false,
                offset: *offset,
                bytes: *bytes,
                arrival: self.now,
            };
            let cx = &mut Context::new(self.now, &mut self.queue, &mut self.heard);
            tickets.push(self.store.submit(cx, request).unwrap());
            self.note(&tickets, &mut failed);
        }
        while let Some((now, event)) = self.queue.pop() {
            self.now = now;
            let cx = &mut Context::new(now, &mut self.queue, &mut self.heard);
            self.store.handle(cx, event).unwrap();
            self.note(&tickets, &mut failed);
        }
        let ended = requests.iter().zip(failed);
        let ended = ended.map(|(request, failed)| {
            failed.unwrap_or_else(|| panic!("{request:?} of {requests:?} does not end"))
        });
        ended.collect()
    }
}

/// What the store below cannot read is an error of those who asked for it, and is not taken in; others that waited for pages beside it
/// get theirs.
#[test]
fn what_cannot_be_read_below_is_an_error_and_not_taken_in() {
    let mut run = BeforeSsd::new("write-around", |below| {
        erring(below, 0.999_999);
    });
    assert_eq!(run.serve(&[(Op::Write, 0, PAGE)]), [false]);
    // Page 1 was never written, and is read without an error.
    let reads = [(Op::Read, 0, 2 * PAGE), (Op::Read, PAGE, PAGE)];
    assert_eq!(run.serve(&reads), [true, false]);
    assert_eq!(run.serve(&[(Op::Read, 0, PAGE)]), [true]);
    assert_eq!(run.store.figures().fills, 0);
    // The rest of a page that is written in part.
    let mut run = BeforeSsd::new("write-back", |below| {
        erring(below, 0.999_999);
    });
    assert_eq!(run.serve(&[(Op::Write, 0, PAGE)]), [false]);
    let others: Vec<_> = (1..=run.store.residents().limits().sum::<usize>() as u64)
        .map(|page| (Op::Write, page * PAGE, PAGE))
        .collect();
    run.serve(&others);
    assert_eq!(run.store.residents().find(0), None);
    assert_eq!(run.serve(&[(Op::Write, 512, 512)]), [true]);
    assert_eq!(run.serve(&[(Op::Read, 0, PAGE)]), [true], "it is lost");
    assert_eq!(run.store.figures().pages_lost, 1);
    assert_eq!(run.serve(&[(Op::Write, 0, PAGE)]), [false]);
    assert_eq!(run.serve(&[(Op::Read, 0, PAGE)]), [false]);
}

/// Before an SSD that errs, in every mode: all requests end, and what is served is what was written last.
#[test]
fn a_cache_before_an_ssd_that_errs_is_right_or_says_so() {
    for mode in MODES {
        let mut run = BeforeSsd::new(mode, |below| {
            erring(below, 0.05);
        });
        let mut random = Rng::new(1, "below");
        let pages = run.store.user_bytes() / PAGE;
        let mut failed = 0;
        for _ in 0..400 {
            let requests: Vec<_> = (0..=random.below(6))
                .map(|_| {
                    let op = [Op::Read, Op::Write][random.below(2) as usize];
                    let sectors = (1 + random.below(3)) * 8;
                    let first = skewed(&mut random, pages * 8 - sectors);
                    let whole = random.below(2) == 0;
                    let first = if whole { first / 8 * 8 } else { first };
                    (op, first * 512, sectors * 512)
                })
                .collect();
            failed += run
                .serve(&requests)
                .iter()
                .filter(|failed| **failed)
                .count();
        }
        assert!(failed > 20, "{mode}: {failed}");
    }
}

/// Programs and erases of this flash fail with these probabilities, and no spare block stands by.
fn failing(device: &mut wordline_ssd::Plan, erase: f64, program: f64) {
    let table = wordline_reliability::failures::table::Table {
        cycles: vec![0.0],
        erase: vec![erase],
        program: vec![program],
    };
    device.part.failing = Some(Box::new(Failing {
        failures: Failures::Table(table),
        cycles: 0.0,
    }));
}

/// The flash ends with the write of a part of a page that it holds. What the write leaves of the page was acknowledged: it is not lost, nor
/// is the request, be the page dirty or clean.
#[test]
fn a_part_of_a_page_that_is_not_programmed_goes_to_the_disk_with_the_rest() {
    for first in [Op::Write, Op::Read] {
        let mut ended = 0;
        for seed in 0..60 {
            let table = json!({"mode": "write-back", "journal": "none"});
            let mut run = Run::with("move", &table, Below::Constant, seed, |_, device| {
                device.part.seed = seed;
                failing(device, 0.0, 0.5);
            });
            assert!(!run.serve(first, 0, PAGE));
            let is_held = !run.store.flash().is_read_only();
            assert!(!run.serve(Op::Write, 512, 512), "{first:?} {seed}");
            assert!(!run.serve(Op::Read, 0, PAGE), "{first:?} {seed}");
            assert_eq!(run.store.figures().pages_lost, 0);
            let has_ended = run.store.flash().is_read_only();
            ended += u32::from(is_held && has_ended);
        }
        assert!(ended > 5, "{ended} of them end with the part");
    }
}

/// With the end of its flash a cache goes on as none: all requests end, what is served is what was written last, and none fails but what
/// only the flash held and cannot correct. Dirty pages reach the disk.
#[test]
fn a_cache_whose_flash_ends_is_none_from_then_on() {
    let (mut ended, mut failed) = (0, 0);
    for number in 0..240 {
        let (mut table, reclaim, below) = table(number);
        let records = number >= 120;
        if !records {
            table["journal"] = json!("none");
        }
        let cuts = records || holds_clean_pages_only(&table);
        let errs = number % 2 == 0;
        let mut run = Run::with(reclaim, &table, below, number, |_, device| {
            let chances = [(0.05, 0.0), (0.0, 0.004), (0.05, 0.002)];
            let (erase, program) = chances[number as usize % 3];
            failing(device, erase, program);
            if errs {
                erring(device, 0.02);
            }
        });
        for _ in 0..4 {
            run.go_on(1 + number as u32 % 23, 800);
            if cuts {
                run.cut();
            }
        }
        run.rest();
        let has_ended = has_ended(&run);
        ended += u32::from(has_ended);
        if !errs || holds_clean_pages_only(&table) {
            let lost = run.store.figures().pages_lost;
            assert_eq!((run.failed, lost), (0, 0), "{table}");
        }
        if has_ended {
            assert_eq!(run.store.residents().dirty(), 0, "{table}");
            let keeps = records && !holds_clean_pages_only(&table);
            assert_eq!(run.store.is_retired(), keeps, "{table}");
        }
        failed += run.failed;
        run.read_all();
    }
    assert!(ended > 120 && failed > 0, "{ended} ended, {failed} failed");
}

fn has_ended(run: &Run) -> bool {
    run.store.flash().is_read_only()
}

/// What cuts around the end of the flash have met.
#[derive(Debug, Default)]
struct Ends {
    caches: u32,
    /// Cuts while pages were dirty in a flash that took no programs, and of those that came back with such pages.
    winding_up: u32,
    restored: u32,
    /// Cuts of retired caches.
    retired: u32,
}

/// Cuts of caches that keep writes and records, from a number on, before, at and behind the end of their flash. After each the store holds of
/// every page what was acknowledged last or was being written; no request fails. What is retired stays so.
fn cut_around_the_end(numbers: std::ops::Range<u64>) -> Ends {
    let mut all = Ends::default();
    for number in numbers {
        let (mut table, reclaim, below) = table(number);
        table["mode"] = json!(["write-back", "write-only"][number as usize % 2]);
        let shape = Shape {
            spare_blocks: number as u32 / 2 % 3,
            ..SHAPE
        };
        let mut run = Run::of(shape, reclaim, &table, below, number, |_, device| {
            device.part.seed = number;
            let chances = [(0.05, 0.0), (0.0, 0.004), (0.02, 0.002)];
            let (erase, program) = chances[number as usize % 3];
            failing(device, erase, program);
        });
        let depth = 1 + number as u32 % 23;
        for _ in 0..60 {
            let most = if has_ended(&run) { 40 } else { 400 };
            for _ in 0..=run.random.below(most) {
                let ended = has_ended(&run);
                run.go_on(depth, 1);
                // Now and then at the very event.
                if !ended && has_ended(&run) && run.random.below(2) == 0 {
                    break;
                }
            }
            let winds_up = has_ended(&run) && !run.store.is_retired();
            let retired = run.store.is_retired();
            let before = run.restored;
            run.cut();
            all.winding_up += u32::from(winds_up);
            all.restored += u32::from(winds_up && run.restored > before);
            if retired {
                assert_eq!(run.restored, before, "{number}: {table}");
                assert!(run.store.is_retired(), "{number}: {table}");
                all.retired += 1;
            }
        }
        run.rest();
        run.read_all();
        let lost = run.store.figures().pages_lost;
        assert_eq!((run.failed, lost), (0, 0), "{number}: {table}");
        assert_eq!(run.store.is_retired(), has_ended(&run), "{number}: {table}");
        all.caches += u32::from(has_ended(&run));
    }
    all
}

impl Ends {
    fn require(&self, caches: u32) {
        assert!(self.caches >= caches, "{self:?}");
        assert!(self.winding_up > caches, "{self:?}");
        assert!(2 * self.restored > caches, "{self:?}");
        assert!(self.retired > caches, "{self:?}");
    }
}

#[test]
fn no_acknowledged_write_is_lost_around_the_end_of_the_flash() {
    cut_around_the_end(0..120).require(80);
}

/// The power fails between a program that is the end and the end of its command.
#[test]
fn a_flash_whose_end_is_cut_off_has_ended() {
    assert_eq!(cut_around_the_end(1_565..1_566).caches, 1);
}

#[test]
#[ignore = "10^5 cuts take minutes optimised: `make test-slow` runs it, a shorter one runs always"]
fn no_acknowledged_write_is_lost_in_many_cuts_around_the_end() {
    cut_around_the_end(1_000..2_700).require(1_000);
}
