//! Flash cache with read errors: an uncorrectable clean page is read from the disk, an
//! uncorrectable dirty page is an error, and data that was not written is never served.

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

/// Sets an error rate at which each read of this flash is uncorrectable with about this
/// probability. Returns the exact probability.
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

/// With every mode, policy and disk, and with power cuts, every request completes, and every page
/// served has its last written content or its request fails. If the cache has only clean pages, no
/// request fails.
#[test]
fn uncorrectable_pages_come_from_the_disk_or_are_errors() {
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

/// No request fails if there are no read errors, even if frequently read blocks are refreshed to
/// another block or in place.
#[test]
fn refresh_of_cache_blocks_fails_no_request() {
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

/// Creates a cache in front of a disk with constant access time. Returns it with the probability
/// that a read of its flash is uncorrectable, which is about `probability`.
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

/// Serves a single request. Returns its completion.
fn serve(run: &mut super::Run, op: Op, page: u64) -> Completion {
    run.submit(op, page, 1);
    let mut all: Vec<_> = run.store.completions().collect();
    while run.step() {
        all.extend(run.store.completions());
    }
    assert_eq!(all.len(), 1);
    all[0]
}

/// A failed hit takes the time of a hit and then that of a miss. It counts as a miss, and the page
/// is back in flash afterwards.
#[test]
fn an_uncorrectable_hit_takes_the_time_of_a_hit_and_a_miss() {
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

/// The number of hits that go to the disk matches the binomial distribution.
#[test]
fn uncorrectable_hits_are_read_from_the_disk_as_often_as_predicted() {
    let (mut run, probability) = single("write-around", 0.026);
    let hits = 6_000;
    for turn in 0..hits + 50 {
        assert!(!serve(&mut run, Op::Read, turn % 50).failed);
    }
    let share = run.store.figures().hits_uncorrectable as f64 / hits as f64;
    let error = (probability * (1.0 - probability) / hits as f64).sqrt();
    assert!(
        (share - probability).abs() < 5.0 * error,
        "share {share}, expected {probability}"
    );
}

/// An unreadable dirty page is an error on every read. When it is destaged it is lost, until it is
/// written as a whole or trimmed.
#[test]
fn an_unreadable_dirty_page_is_lost_until_rewritten_or_trimmed() {
    for rewrite in [Op::Write, Op::Trim] {
        let table = json!({"mode": "write-back"});
        let mut run = Run::with("move", &table, Below::Constant, 1, |_, device| {
            erring(device, 0.999_999);
        });
        assert!(!run.serve(Op::Write, 0, PAGE));
        assert!(run.serve(Op::Read, 0, PAGE));
        assert!(
            run.serve(Op::Write, 512, 512),
            "the rest of the page is unreadable"
        );
        assert_eq!(run.store.figures().pages_lost, 0);
        // Other pages evict the unreadable page.
        let capacity = run.store.residents().limits().sum::<usize>() as u64;
        for page in 1..=capacity {
            assert!(!run.serve(Op::Write, page * PAGE, PAGE));
        }
        assert_eq!(run.store.residents().find(0), None);
        assert_eq!(run.store.figures().pages_lost, 1);
        assert_eq!(run.store.figures().destages[0].pages, 0);
        assert!(run.serve(Op::Read, 0, PAGE));
        assert!(run.serve(Op::Flush, 0, 0), "not all data is durable");
        run.cut();
        assert!(
            run.serve(Op::Read, 0, PAGE),
            "a power cut does not restore the page"
        );
        run.serve(Op::Write, 512, 512);
        assert!(run.serve(Op::Read, 0, PAGE), "part of the page is lost");
        assert!(!run.serve(rewrite, 0, PAGE));
        // A trimmed page is read from the disk; a written page is not readable, not even from
        // flash.
        assert_eq!(run.serve(Op::Read, 0, PAGE), rewrite == Op::Write);
    }
}

/// The rest of a partly written clean page comes from the disk if the flash cannot read it, and the
/// write is not an error.
#[test]
fn the_rest_of_a_partly_written_clean_page_comes_from_the_disk() {
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
    // Earlier programs must not leave copies that would be restored.
    run.cut();
    assert_eq!(run.store.residents().dirty(), 40);
    assert_eq!(run.failed, 0);
    assert_eq!(PAGES, 400);
}

/// Cache in front of an SSD, with its event queue and clock.
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
    /// Records completions; a ticket belongs to the last request that received it.
    fn note(&mut self, tickets: &[u32], failed: &mut [Option<bool>]) {
        for done in self.store.completions() {
            let place = tickets.iter().rposition(|ticket| *ticket == done.ticket);
            failed[place.unwrap()] = Some(done.failed);
        }
    }
    /// Submits requests at once and runs until no work is left. Returns which of them failed.
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
            let mut probe = AnyProbe::new(&mut self.heard);
            let cx = &mut Context::new(self.now, &mut self.queue, &mut probe);
            tickets.push(self.store.submit(cx, request).unwrap());
            self.note(&tickets, &mut failed);
        }
        while let Some((now, event)) = self.queue.pop() {
            self.now = now;
            let mut probe = AnyProbe::new(&mut self.heard);
            let cx = &mut Context::new(now, &mut self.queue, &mut probe);
            self.store.handle(cx, event).unwrap();
            self.note(&tickets, &mut failed);
        }
        let ended = requests.iter().zip(failed);
        let ended = ended.map(|(request, failed)| {
            failed.unwrap_or_else(|| panic!("{request:?} of {requests:?} does not complete"))
        });
        ended.collect()
    }
}

/// A page that the backing store cannot read is an error for the requests that need it, and is not
/// inserted. Requests that wait for adjacent pages are served.
#[test]
fn pages_unreadable_in_the_backing_store_are_errors_and_not_inserted() {
    let mut run = BeforeSsd::new("write-around", |below| {
        erring(below, 0.999_999);
    });
    assert_eq!(run.serve(&[(Op::Write, 0, PAGE)]), [false]);
    // Page 1 was never written, and is read without an error.
    let reads = [(Op::Read, 0, 2 * PAGE), (Op::Read, PAGE, PAGE)];
    assert_eq!(run.serve(&reads), [true, false]);
    assert_eq!(run.serve(&[(Op::Read, 0, PAGE)]), [true]);
    assert_eq!(run.store.figures().fills, 0);
    // The rest of a partly written page is unreadable.
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
    assert_eq!(
        run.serve(&[(Op::Read, 0, PAGE)]),
        [true],
        "the page is lost"
    );
    assert_eq!(run.store.figures().pages_lost, 1);
    assert_eq!(run.serve(&[(Op::Write, 0, PAGE)]), [false]);
    assert_eq!(run.serve(&[(Op::Read, 0, PAGE)]), [false]);
}

/// A cache in front of an SSD with read errors completes all requests in every mode, and data that
/// it serves is the last written content.
#[test]
fn a_cache_in_front_of_an_ssd_with_errors_serves_correct_data_or_reports_errors() {
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

/// Sets the probabilities of program and erase failures of this flash.
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

/// The flash fails during a partial write of a page that it holds. The rest of the page was
/// acknowledged, so neither the page, dirty or clean, nor the request may be lost.
#[test]
fn a_partial_write_that_is_not_programmed_goes_to_the_disk_with_the_rest() {
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
        assert!(
            ended > 5,
            "only {ended} flash devices failed during the partial write"
        );
    }
}

/// A cache whose flash has failed continues without caching: all requests complete, and data served
/// is the last written content. Only data that was in flash alone and is uncorrectable is an error.
/// Dirty pages reach the disk.
#[test]
fn a_cache_with_failed_flash_continues_without_caching() {
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

/// Counters over power cuts around the failure of the flash, summed over configurations.
#[derive(Debug, Default)]
struct Ends {
    /// Caches whose flash failed. Count.
    caches: u32,
    /// Power cuts while flash that accepted no programs held dirty pages. Count.
    winding_up: u32,
    /// Power cuts after which dirty pages of such flash were restored. Count.
    restored: u32,
    /// Power cuts of retired caches. Count.
    retired: u32,
}

/// Cuts the power of the caches with these numbers before, at and after the failure of their flash;
/// they serve writes and keep records. After each cut, the store has the last acknowledged version
/// of every page, or the one being written, and no request fails. A retired cache stays retired.
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
                // Power is sometimes cut at the very event at which the flash fails.
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
fn no_acknowledged_write_is_lost_around_the_failure_of_the_flash() {
    cut_around_the_end(0..120).require(80);
}

/// The power fails between the program that makes the flash fail and the end of its command.
#[test]
fn a_power_cut_does_not_undo_the_failure_of_the_flash() {
    assert_eq!(cut_around_the_end(1_565..1_566).caches, 1);
}

#[test]
#[ignore = "10^5 cuts take minutes in an optimised build; run by `make test-slow`, a shorter variant always runs"]
fn no_acknowledged_write_is_lost_in_many_cuts_around_the_failure() {
    cut_around_the_end(1_000..2_700).require(1_000);
}
