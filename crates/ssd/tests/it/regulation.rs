//! Several program modes: times of operations, regulation policies, and integrity of the data.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use std::collections::HashMap;

use shared::{Load, at, closed_loop, filled, play};
use wordline_block::{BlockDevice, Op, Request};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::mapping::Family;
use wordline_ftl::program_mode::bloom::Separator;
use wordline_ftl::program_mode::{Regulation, differentiated_ecc, fixed, li, r_l, r_w, r_w_l};
use wordline_ftl::{Config, Lpn, Map, Mapping};
use wordline_io_scheduler::Scheduler;
use wordline_kernel::{AnyProbe, Context, EventQueue, Rng, Time};
use wordline_nand::{Cell, Chains, Geometry, PerLevel, Timing};
use wordline_reliability::ProgramMode;
use wordline_reliability::ProgramMode::{High, Low, Medium, Reduced};
use wordline_reliability::programming::{Price, table::Table};
use wordline_ssd::{Event, Plan, Ssd};

const PAGE: u64 = 4096;
const US: fn(u64) -> Time = Time::from_us;

/// Returns a device with the times of table 1 of Li et al. A page of 4 KiB takes 20 us on the bus,
/// and nothing else takes bus time.
fn plan(regulation: &Regulation, family: &Family, channels: u32, blocks: u32) -> Plan {
    let config = Config {
        over_provisioning_ratio: 0.4,
        mapping: family.clone(),
        regulation: regulation.clone(),
        ..Config::default()
    };
    let dimensions = Dimensions {
        channels,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    let mut plan = shared::plan(&config, dimensions, blocks, 8, 64).unwrap();
    let geometry = Geometry {
        pages_per_block: 8,
        ..Geometry::default()
    };
    let timing = Timing {
        read_ns: PerLevel::All(1),
        program_ns: PerLevel::All(1),
        erase_ns: 1_500_000,
        command_cycle_ns: 0,
        bus_mt_per_s: 204.8,
        ..Timing::default()
    };
    let costs = Table::default().costs().unwrap().unwrap();
    plan.part.chains = Chains::new(&geometry, &timing, &Cell::default()).with_costs(costs);
    plan
}

fn page_map() -> Family {
    Family::default()
}

fn fixed(mode: ProgramMode) -> Regulation {
    Regulation::Fixed(fixed::Fixed { mode })
}

/// Returns the program mode of a page's current copy.
fn mode(ssd: &Ssd<Map>, page: u32) -> ProgramMode {
    let place = ssd.mapping().lookup(Lpn(page)).unwrap();
    ssd.array().modes().unwrap().of(place)
}

#[test]
fn single_operations_take_the_times_of_table_1() {
    for (mode, read, write) in [
        (Low, 310, 450),
        (Medium, 170, 600),
        (High, 70, 800),
        (Reduced, 310, 600),
    ] {
        let mut ssd = filled(&plan(&fixed(mode), &page_map(), 1, 16));
        let requests = [
            at(Time::ZERO, Op::Read, 0, PAGE),
            at(US(10_000), Op::Write, 0, PAGE),
            at(US(20_000), Op::Read, 0, PAGE),
        ];
        let (played, _) = play(&mut ssd, &requests);
        let took: Vec<Time> = played
            .iter()
            .zip(requests)
            .map(|(played, request)| played.done - request.arrival)
            .collect();
        assert_eq!(took, [read, write, read].map(US), "{}", mode.name());
    }
}

#[test]
fn read_occupies_the_die_to_sense_and_the_channel_to_transfer() {
    // On two dies of a channel, the 80 us transfers are sequential, but the 90 us of sensing
    // overlap.
    let mut plan = plan(&fixed(Medium), &page_map(), 2, 16);
    plan.dies_per_channel = 2;
    let mut ssd = filled(&plan);
    let requests = [
        at(Time::ZERO, Op::Read, 0, PAGE),
        at(Time::ZERO, Op::Read, PAGE, PAGE),
    ];
    let (played, _) = play(&mut ssd, &requests);
    assert_eq!([played[0].done, played[1].done], [170, 250].map(US));
    assert_eq!(played[1].parts.cell, US(90));
    assert_eq!(played[1].parts.bus_wait, US(80));
}

/// A device that serves one request at a time and becomes idle before the next.
struct Serial {
    ssd: Ssd<Map>,
    queue: EventQueue<Event>,
    now: Time,
}

impl Serial {
    fn new(plan: &Plan) -> Self {
        let mut ssd = filled(plan);
        ssd.verify();
        Self {
            ssd,
            queue: EventQueue::default(),
            now: Time::ZERO,
        }
    }
    fn request(&mut self, op: Op, page: u32, pages: u32) {
        let request = at(
            self.now,
            op,
            u64::from(page) * PAGE,
            u64::from(pages) * PAGE,
        );
        let mut none = ();
        let mut probe = AnyProbe::new(&mut none);
        let mut cx = Context::new(self.now, &mut self.queue, &mut probe);
        self.ssd.submit(&mut cx, request).unwrap();
        while let Some((now, event)) = self.queue.pop() {
            self.now = now;
            let mut probe = AnyProbe::new(&mut none);
            let mut cx = Context::new(now, &mut self.queue, &mut probe);
            self.ssd.handle(&mut cx, event).unwrap();
        }
        assert_eq!(self.ssd.completions().count(), 1);
        self.ssd.audit().unwrap();
    }
}

/// A regulation policy in naive form. Pages are rewritten at once, because there is one request at
/// a time.
trait Naive {
    fn preloaded(&self) -> ProgramMode;
    fn begin(&mut self) {}
    fn write(&mut self, page: u32) -> ProgramMode;
    /// Returns the mode in which a page is rewritten after a read.
    fn read(&mut self, page: u32, mode: ProgramMode) -> Option<ProgramMode>;
}

struct OneMode(ProgramMode);

impl Naive for OneMode {
    fn preloaded(&self) -> ProgramMode {
        self.0
    }
    fn write(&mut self, _page: u32) -> ProgramMode {
        self.0
    }
    fn read(&mut self, _page: u32, _mode: ProgramMode) -> Option<ProgramMode> {
        None
    }
}

/// Naive policy without waiting requests, with which all writes are of high cost.
struct Unqueued;

impl Naive for Unqueued {
    fn preloaded(&self) -> ProgramMode {
        Medium
    }
    fn write(&mut self, _page: u32) -> ProgramMode {
        High
    }
    fn read(&mut self, _page: u32, _mode: ProgramMode) -> Option<ProgramMode> {
        None
    }
}

struct Windows {
    window: usize,
    write_only: ProgramMode,
    seen: HashMap<u32, Vec<bool>>,
}

impl Windows {
    /// Records an access to a page. Returns whether the window of its last accesses contains a
    /// read, whether it contains a write, and whether the page was accessed before.
    fn access(&mut self, page: u32, write: bool) -> (bool, bool, bool) {
        let seen = self.seen.entry(page).or_default();
        let known = !seen.is_empty();
        seen.push(write);
        let window: Vec<bool> = seen.iter().rev().take(self.window).copied().collect();
        (window.contains(&false), window.contains(&true), known)
    }
}

impl Naive for Windows {
    fn preloaded(&self) -> ProgramMode {
        High
    }
    fn write(&mut self, page: u32) -> ProgramMode {
        match self.access(page, true) {
            (_, _, false) => High,
            (false, _, true) => self.write_only,
            (true, _, true) => Medium,
        }
    }
    fn read(&mut self, page: u32, mode: ProgramMode) -> Option<ProgramMode> {
        let (_, writes, _) = self.access(page, false);
        (!writes && mode != High).then_some(High)
    }
}

struct Filters {
    separator: Separator,
    m: f64,
    n: f64,
}

impl Naive for Filters {
    fn preloaded(&self) -> ProgramMode {
        Medium
    }
    fn begin(&mut self) {
        self.separator.step();
    }
    fn write(&mut self, page: u32) -> ProgramMode {
        self.separator.enter(Lpn(page), true);
        let hotness = self.separator.hotness(Lpn(page));
        let difference = (f64::from(hotness.write) - f64::from(hotness.read)) / 2.0;
        if hotness.read == 0 || difference > self.m {
            Low
        } else {
            Medium
        }
    }
    fn read(&mut self, page: u32, mode: ProgramMode) -> Option<ProgramMode> {
        self.separator.enter(Lpn(page), false);
        let hotness = self.separator.hotness(Lpn(page));
        let difference = (f64::from(hotness.read) - f64::from(hotness.write)) / 2.0;
        (mode == Low && difference > self.n).then_some(Medium)
    }
}

fn twins() -> Vec<(Regulation, Box<dyn Naive>)> {
    let windows = |window, write_only| -> Box<dyn Naive> {
        Box::new(Windows {
            window,
            write_only,
            seen: HashMap::new(),
        })
    };
    let mut twins: Vec<(Regulation, Box<dyn Naive>)> = ProgramMode::ALL
        .map(|mode| -> (Regulation, Box<dyn Naive>) { (fixed(mode), Box::new(OneMode(mode))) })
        .into();
    twins.push((Regulation::Li(li::Li::default()), Box::new(Unqueued)));
    for window in 1..=3 {
        let kept = window as usize;
        let r_w = r_w::RW {
            window,
            ..r_w::RW::default()
        };
        twins.push((Regulation::RW(r_w), windows(kept, Low)));
        let r_l = r_l::RL {
            window,
            ..r_l::RL::default()
        };
        twins.push((Regulation::RL(r_l), windows(kept, Reduced)));
        let r_w_l = r_w_l::RWL {
            window,
            ..r_w_l::RWL::default()
        };
        twins.push((Regulation::RWL(r_w_l), windows(kept, Reduced)));
    }
    for (m, n) in [(-1.0, 3.0), (2.0, 0.0)] {
        let policy = differentiated_ecc::DifferentiatedEcc {
            m,
            n,
            ..differentiated_ecc::DifferentiatedEcc::default()
        };
        let filters = Filters {
            separator: Separator::new(512),
            m,
            n,
        };
        twins.push((Regulation::DifferentiatedEcc(policy), Box::new(filters)));
    }
    twins
}

#[test]
fn every_policy_has_a_naive_version() {
    let twins = twins();
    for name in Regulation::NAMES {
        assert!(
            twins.iter().any(|(policy, _)| policy.name() == *name),
            "{name}"
        );
    }
}

/// Under a load that causes GC, each policy chooses the same mode for each page as its naive
/// version, and the array records the mode of a page's last program. Filters choose the mode of
/// moved pages again, so they are compared without GC.
#[test]
fn policies_match_their_naive_versions() {
    for (regulation, mut twin) in twins() {
        let collects = !matches!(regulation, Regulation::DifferentiatedEcc(_));
        let blocks = if collects { 24 } else { 2000 };
        let plan = plan(&regulation, &page_map(), 2, blocks);
        let mut serial = Serial::new(&plan);
        let pages = plan.ftl.user_pages.min(60);
        let mut modes = vec![twin.preloaded(); pages as usize];
        let (mut reads, mut writes, mut rewrites) = ([0; 4], [0; 4], 0);
        let mut random = Rng::new(7, "serial");
        for _ in 0..1500 {
            let count = 1 + random.below(3) as u32;
            let first = random.below(u64::from(pages - count)) as u32;
            // Most pages are mostly read or mostly written.
            let write = random.below(10) < if first.is_multiple_of(2) { 9 } else { 1 };
            twin.begin();
            for page in first..first + count {
                let known = modes[page as usize];
                if write {
                    let mode = twin.write(page);
                    modes[page as usize] = mode;
                    writes[mode.index()] += 1;
                } else {
                    reads[known.index()] += 1;
                    if let Some(mode) = twin.read(page, known) {
                        modes[page as usize] = mode;
                        rewrites += 1;
                    }
                }
            }
            serial.request(if write { Op::Write } else { Op::Read }, first, count);
            let found: Vec<_> = (0..pages).map(|page| mode(&serial.ssd, page)).collect();
            assert_eq!(found, modes, "{regulation:?}");
        }
        let counts = serial.ssd.stats().graded.unwrap().counts;
        assert_eq!(
            (counts.reads, counts.writes),
            (reads, writes),
            "{regulation:?}"
        );
        assert_eq!(counts.rewrites, rewrites, "{regulation:?}");
        let erases: u32 = serial.ssd.array().erases().iter().sum();
        assert!(!collects || erases > 0, "{regulation:?} collects");
    }
}

/// Returns the mode of page 9 of a single-die device after these requests.
fn mode_behind(requests: &[Request], regulation: &Regulation) -> ProgramMode {
    let mut ssd = filled(&plan(regulation, &page_map(), 1, 64));
    play(&mut ssd, requests);
    mode(&ssd, 9)
}

#[test]
fn only_waiting_operations_of_other_requests_count_as_a_queue() {
    let (r_w_l, far) = (Regulation::RWL(r_w_l::RWL::default()), US(100_000));
    let first = at(Time::ZERO, Op::Write, 9 * PAGE, PAGE);
    let second = at(far, Op::Write, 9 * PAGE, PAGE);
    let modes = |others: &[Request]| {
        let mut requests = vec![first];
        requests.extend(others);
        requests.push(second);
        mode_behind(&requests, &r_w_l)
    };
    assert_eq!(modes(&[]), Reduced);
    // An operation in progress does not wait; a second one does.
    let read = |page| at(far, Op::Read, page * PAGE, PAGE);
    assert_eq!(modes(&[read(1)]), Reduced);
    assert_eq!(modes(&[read(1), read(2)]), Low);
    // Pages of the same request, which are page 9 and those before it, do not count.
    let many = at(far, Op::Write, 0, 10 * PAGE);
    assert_eq!(mode_behind(&[first, many], &r_w_l), Reduced);
    assert_eq!(mode_behind(&[first, read(20), read(21), many], &r_w_l), Low);
}

#[test]
fn fast_writes_of_the_li_policy_are_rewritten_when_the_die_is_idle() {
    let far = US(100_000);
    let read = |page| at(far, Op::Read, page * PAGE, PAGE);
    let write = at(far, Op::Write, 9 * PAGE, PAGE);
    let li = |rewrite| {
        Regulation::Li(li::Li {
            rewrite,
            ..li::Li::default()
        })
    };
    let requests = [read(1), read(2), write];
    assert_eq!(mode_behind(&requests, &li(li::Rewritten::All)), High);
    assert_eq!(mode_behind(&requests, &li(li::Rewritten::Read)), Low);
    let then = at(far + far, Op::Read, 9 * PAGE, PAGE);
    let requests = [read(1), read(2), write, then];
    assert_eq!(mode_behind(&requests, &li(li::Rewritten::Read)), High);
}

#[test]
fn rewrite_waits_for_host_operations() {
    // Page 9 is only read, and of medium cost. Its first fifty reads keep the die busy for 8.5 ms.
    let regulation = Regulation::RW(r_w::RW {
        preloaded: Medium,
        ..r_w::RW::default()
    });
    let mut ssd = filled(&plan(&regulation, &page_map(), 1, 64));
    let mut requests: Vec<Request> = (0..50)
        .map(|_| at(Time::ZERO, Op::Read, 9 * PAGE, PAGE))
        .collect();
    requests.push(at(US(100_000), Op::Read, 9 * PAGE, PAGE));
    let (played, _) = play(&mut ssd, &requests);
    // All fifty reads take the old read cost, because the rewrite waits for them. The last read
    // takes the new cost.
    assert_eq!(played[49].done, US(50 * 170));
    assert_eq!(played[50].done, US(100_070));
    let counts = ssd.stats().graded.unwrap().counts;
    assert_eq!((counts.rewrites, counts.reads), (1, [50, 0, 1, 0]));
}

#[test]
fn differentiated_ecc_rewrites_a_page_right_after_its_read() {
    let regulation = Regulation::DifferentiatedEcc(differentiated_ecc::DifferentiatedEcc {
        n: 0.0,
        preloaded: Low,
        ..differentiated_ecc::DifferentiatedEcc::default()
    });
    let mut ssd = filled(&plan(&regulation, &page_map(), 1, 64));
    let read = |arrival| at(arrival, Op::Read, 9 * PAGE, PAGE);
    let (played, _) = play(&mut ssd, &[read(Time::ZERO), read(US(1)), read(US(5000))]);
    // The second read waits for the read and the program of the rewrite that the first one
    // triggered. Its map entry was looked up before the page moved.
    assert_eq!(played[0].done, US(310));
    assert_eq!(played[1].done, US(310 + 310 + 310));
    assert_eq!(played[2].done, US(5170));
    assert_eq!(ssd.stats().graded.unwrap().counts.rewrites, 1);
}

fn families() -> Vec<Family> {
    Family::defaults()
}

/// With every policy and mapping, and two schedulers, every read returns the last write. No rewrite
/// replaces it with older data.
#[test]
fn every_read_is_correct_under_every_policy() {
    let load = Load {
        requests: 3000,
        read_ratio: 0.5,
        grain_bytes: 2048,
        most_bytes: 3 * PAGE,
        footprint_ratio: 0.2,
    };
    let preloaded_low = |regulation| match regulation {
        Regulation::RW(policy) => Regulation::RW(r_w::RW {
            preloaded: Low,
            ..policy
        }),
        other => other,
    };
    let mut rewrites = 0;
    for regulation in Regulation::defaults().into_iter().map(preloaded_low) {
        for family in families() {
            for scheduler in [Scheduler::default(), Scheduler::defaults().pop().unwrap()] {
                let mut plan = plan(&regulation, &family, 2, 64);
                plan.scheduler = scheduler;
                let mapping = Map::new(&plan.ftl);
                let fill = plan.ftl.user_pages;
                let done = closed_loop(&plan, mapping, load, fill, true);
                let (_, _, ssd) =
                    done.unwrap_or_else(|error| panic!("{regulation:?} {family:?}: {error}"));
                ssd.mapping().audit().unwrap();
                rewrites += ssd.stats().graded.unwrap().counts.rewrites;
            }
        }
    }
    assert!(rewrites > 100, "{rewrites} pages were rewritten");
}

#[test]
fn wear_sums_all_programs_and_never_decreases() {
    let regulation = Regulation::RL(r_l::RL::default());
    let plan = plan(&regulation, &page_map(), 2, 24);
    let mut serial = Serial::new(&plan);
    let mut random = Rng::new(3, "wear");
    let mut before = vec![0; plan.part.layout.blocks() as usize];
    for _ in 0..2000 {
        let page = random.below(80) as u32;
        let op = if page < 40 { Op::Write } else { Op::Read };
        serial.request(op, page, 1);
        let wear = serial.ssd.array().modes().unwrap().wear();
        assert!(wear.iter().zip(&before).all(|(now, before)| now >= before));
        before = wear.to_vec();
    }
    let counts = serial.ssd.stats().graded.unwrap().counts;
    let programs = |mode: ProgramMode| counts.writes[mode.index()] + counts.moves[mode.index()];
    let reduced = programs(Reduced);
    let others = programs(Low) + programs(Medium) + programs(High) + counts.rewrites;
    assert!(reduced > 900);
    assert_eq!(before.iter().sum::<u64>(), 1000 * others + 800 * reduced);
    assert_eq!(
        serial.ssd.array().modes().unwrap().programs(),
        others + reduced
    );
}

#[test]
fn program_modes_survive_a_power_cut() {
    let regulation = Regulation::RW(r_w::RW::default());
    let plan = plan(&regulation, &page_map(), 2, 64);
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    ssd.expect_power_cuts();
    ssd.precondition(&shared::all_written(&plan), |_| true)
        .unwrap();
    ssd.verify();
    let mut random = Rng::new(5, "cuts");
    let mut now = Time::ZERO;
    for _ in 0..60 {
        let mut queue = EventQueue::<Event>::default();
        for _ in 0..24 {
            let page = random.below(30);
            let op = if random.below(2) == 0 {
                Op::Read
            } else {
                Op::Write
            };
            let request = at(now, op, page * PAGE, PAGE);
            ssd.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut ())),
                request,
            )
            .unwrap();
        }
        let turns = random.below(120);
        for _ in 0..turns {
            let Some((at, event)) = queue.pop() else {
                break;
            };
            now = at;
            ssd.handle(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut ())),
                event,
            )
            .unwrap();
        }
        let programmed: Vec<ProgramMode> = {
            let modes = ssd.array().modes().unwrap();
            (0..plan.part.layout.pages())
                .map(|page| modes.of(wordline_nand::Ppn(page)))
                .collect()
        };
        let cut = ssd.cut_power(now, &mut ()).unwrap();
        ssd.completions().for_each(drop);
        now += cut.time;
        for page in 0..30 {
            let place = ssd.mapping().lookup(Lpn(page)).unwrap();
            assert_eq!(mode(&ssd, page), programmed[place.index()]);
        }
    }
    assert!(ssd.stats().graded.unwrap().counts.writes[Low.index()] > 0);
}
