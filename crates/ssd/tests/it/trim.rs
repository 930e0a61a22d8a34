//! TRIMs: the pages that they free, the work before their completion, and the state that a power
//! cut leaves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::shared;

use shared::{Tally, at, plan, play};
use wordline_block::{BlockDevice, Op, Request};
use wordline_cache::Replacement;
use wordline_dram_buffer as buffer;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::gc::schedule::{Scheduling, Trigger};
use wordline_ftl::mapping::Family;
use wordline_ftl::mapping::dftl::Dftl;
use wordline_ftl::trim::frees::ascending_run::AscendingRun;
use wordline_ftl::trim::{Answer, Free, Frees};
use wordline_ftl::{Config, Lpn, Map, Mapping, Precondition};
use wordline_kernel::{AnyProbe, Context, EventQueue, Probe, Rng, Time};
use wordline_nand::{Operation, Plane};
use wordline_ssd::{Event, Observation, Plan, Ssd};

const PAGE: u64 = 4096;

fn answer(name: &str) -> Answer {
    let mut all = Answer::defaults().into_iter();
    all.find(|answer| answer.name() == name).unwrap()
}

fn dimensions(channels: u32, planes: u32) -> Dimensions {
    Dimensions {
        channels,
        ways: 1,
        dies: 1,
        planes,
    }
}

/// Returns a device on which a share `ratio` of the pages has been written sequentially.
fn filled(plan: &Plan, ratio: f64) -> Ssd<Map> {
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    let precondition = Precondition {
        fill_pages: (f64::from(plan.ftl.user_pages) * ratio) as u32,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&precondition, |_| true).unwrap();
    ssd
}

/// An erasing TRIM takes the time of its erases: sequential on a die, parallel across dies.
#[test]
fn erasing_trim_takes_the_time_of_its_erases() {
    let mut random = Rng::new(1, "trim");
    for round in 0..60 {
        let (channels, planes) = [(1, 1), (1, 2), (2, 1), (4, 2)][round % 4];
        let mut config = Config::default();
        config.trim.answer = answer("erase");
        let pages = 4 << random.below(4);
        let Some(plan) = plan(&config, dimensions(channels, planes), 30, pages, 8) else {
            continue;
        };
        let mut ssd = filled(&plan, 1.0);
        let user = ssd.user_bytes() / PAGE;
        let first = random.below(user);
        let count = 1 + random.below(user - first);
        let erases = plan.part.chains.unloaded(Operation::Erase, 0);
        // Counts the full blocks of each die whose pages are all in the range.
        let layout = plan.part.layout;
        let mut per_die = vec![0; layout.dies as usize];
        for plane in (0..layout.planes()).map(Plane) {
            for block in (0..layout.blocks_per_plane).map(|block| layout.block(plane, block)) {
                let full = ssd.array().programmed(block) == layout.pages_per_block;
                let mut places = (0..layout.pages_per_block).map(|page| layout.page(block, page));
                let freed = places.all(|place| {
                    let page = ssd.mapping().page_at(place).unwrap_or(Lpn(u32::MAX));
                    (first..first + count).contains(&u64::from(page.0))
                });
                per_die[layout.die_of(plane).index()] += u64::from(full && freed);
            }
        }
        let expected = Time(per_die.iter().max().unwrap() * erases.0);
        let trim = at(Time::ZERO, Op::Trim, first * PAGE, count * PAGE);
        let (played, tally) = play(&mut ssd, &[trim]);
        assert_eq!(played[0].done, expected, "{channels} {planes} {pages}");
        assert_eq!(tally.erased, per_die.iter().sum::<u64>());
        assert_eq!((tally.trimmed, tally.moved), (count, 0));
        ssd.mapping().audit().unwrap();
    }
}

fn dftl(cache_bytes: u64, batch_update: bool) -> Family {
    Family::Dftl(Dftl {
        cache_bytes: Some(cache_bytes),
        spare_ratio: 6.0,
        batch_update,
        ..Dftl::default()
    })
}

/// Metadata pages read and programmed, and the time at which the last request completed.
#[derive(Default)]
struct Metadata {
    reads: u64,
    programs: u64,
    answered: Option<Time>,
}

impl Probe<Observation> for Metadata {
    fn observe(&mut self, now: Time, observation: Observation) {
        match observation {
            Observation::MetadataPage { program: false } => self.reads += 1,
            Observation::MetadataPage { program: true } => self.programs += 1,
            Observation::Request { .. } => self.answered = Some(now),
            _ => {}
        }
    }
}

/// An invalidating TRIM reads and programs each translation page of its range once. On one die, it
/// takes the sum of the times of these operations.
#[test]
fn invalidating_trim_reads_and_programs_each_map_page_once() {
    let mut random = Rng::new(2, "trim");
    for round in 0..40 {
        let mut config = Config {
            mapping: dftl(16, round % 2 == 0),
            over_provisioning_ratio: 0.3,
            ..Config::default()
        };
        config.trim.answer = answer("invalidate");
        let plan = plan(&config, dimensions(1, 1), 400, 32, 8).unwrap();
        let mut ssd = filled(&plan, 1.0);
        let entries = PAGE / 4;
        let user = ssd.user_bytes() / PAGE;
        let maps = user / entries; // excludes the last one, which may be completely cached
        let first = random.below(maps * entries);
        let count = 1 + random.below(maps * entries - first);
        let touched = (first + count - 1) / entries - first / entries + 1;
        let mut queue = EventQueue::<Event>::default();
        let mut heard = Metadata::default();
        let mut now = Time::ZERO;
        let trim = at(now, Op::Trim, first * PAGE, count * PAGE);
        ssd.submit(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut heard)),
            trim,
        )
        .unwrap();
        while let Some((time, event)) = queue.pop() {
            now = time;
            ssd.handle(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut heard)),
                event,
            )
            .unwrap();
        }
        assert_eq!((heard.reads, heard.programs), (touched, touched));
        let chains = &plan.part.chains;
        let each = chains.unloaded(Operation::Read, 0) + chains.unloaded(Operation::Program, 0);
        assert_eq!(heard.answered, Some(Time(touched * each.0)));
        let valid = (0..user).filter(|page| ssd.mapping().lookup(Lpn(*page as u32)).is_some());
        assert_eq!(valid.count() as u64, user - count);
        ssd.mapping().audit().unwrap();
    }
}

/// Model of whether each page was written after it was last freed, computed from the requests
/// alone.
struct Model {
    written: Vec<bool>,
    frees: Frees,
    run: Option<wordline_ftl::trim::Run>,
}

impl Model {
    fn serve(&mut self, request: &Request) {
        let bytes = request.offset..request.offset + request.bytes;
        match request.op {
            Op::Write => {
                if let Some(run) = &mut self.run {
                    run.write(bytes.clone());
                }
                for page in bytes.start / PAGE..bytes.end.div_ceil(PAGE) {
                    self.written[page as usize] = true;
                }
            }
            Op::Trim => {
                let freed = match &mut self.run {
                    Some(run) => run.trim(bytes),
                    None => bytes,
                };
                for page in freed.start.div_ceil(PAGE)..freed.end / PAGE {
                    self.written[page as usize] = false;
                }
            }
            Op::Read | Op::Flush => {}
        }
    }
    fn forget(&mut self, user_bytes: u64) {
        self.run = self.frees.run(PAGE, user_bytes);
    }
}

fn draw(round: u64, random: &mut Rng) -> Option<Plan> {
    let schedules = Scheduling::defaults();
    let mut config = Config {
        over_provisioning_ratio: 0.25 + 0.3 * random.unit(),
        mapping: if round.is_multiple_of(2) {
            Family::default()
        } else {
            dftl(8 + random.below(200), random.below(2) == 0)
        },
        ..Config::default()
    };
    config.gc.schedule = schedules[random.below(schedules.len() as u64) as usize].clone();
    let answers = Answer::defaults();
    config.trim.answer = answers[random.below(answers.len() as u64) as usize].clone();
    if random.below(2) == 0 {
        config.trim.frees = Frees::AscendingRun(AscendingRun {
            unit_pages: 1 + random.below(12) as u32,
        });
    }
    let blocks = 24 + random.below(30) as u32;
    let mut plan = plan(
        &config,
        dimensions(1 + random.below(2) as u32, 1 + random.below(2) as u32),
        blocks,
        4 + random.below(12) as u32,
        1 + random.below(12) as u32,
    )?;
    if random.below(3) == 0 {
        plan.buffer = Some(buffer::Plan {
            watches_balance: false,
            pages: 1 + random.below(40) as u32,
            replacement: Replacement::default(),
            write_through: random.below(3) == 0,
            capacitors: false,
            ignores_flush: false,
            batch_pages: 0,
            idle_flush: None,
            read_ahead: 0,
            access: Time::from_ns(100),
            port: (4096, 1_000_000),
        });
    }
    Some(plan)
}

fn next(user_bytes: u64, run: &mut u64, random: &mut Rng) -> (Op, u64, u64) {
    let grain = if random.below(3) == 0 { 512 } else { PAGE };
    let most = 1 + random.below(12);
    let bytes = ((1 + random.below(most)) * grain).min(user_bytes);
    let mut offset = random.below((user_bytes - bytes) / grain + 1) * grain;
    let op = match random.below(10) {
        0..3 => Op::Read,
        3..6 => Op::Trim,
        _ => Op::Write,
    };
    if op == Op::Trim && random.below(4) > 0 && *run + bytes <= user_bytes {
        offset = *run;
    }
    if op == Op::Trim {
        *run = offset + bytes;
    }
    (op, offset, bytes)
}

/// With random TRIMs of all kinds among reads and writes, every read is correct. If there are no
/// power cuts and no buffer, the valid pages at the end are those written after they were last
/// freed. With power cuts, no durable write is lost.
#[test]
fn trimmed_data_are_never_returned_or_counted_as_valid() {
    let mut random = Rng::new(3, "trim");
    let (mut runs, mut erasing) = (0, 0);
    for round in 0..600 {
        let Some(plan) = draw(round, &mut random) else {
            continue;
        };
        let cuts = round % 3 == 2;
        runs += 1;
        erasing += churn(&plan, round, cuts, &mut random);
    }
    assert!(runs > 400 && erasing > 500, "{runs} runs, {erasing} erases");
}

/// Counts the erases for which TRIMs waited.
#[derive(Default)]
struct Erasing {
    tally: Tally,
    erases: u64,
}

impl Probe<Observation> for Erasing {
    fn observe(&mut self, now: Time, observation: Observation) {
        self.tally.observe(now, observation);
        if let Observation::Collected {
            trigger,
            erased,
            moved,
            ..
        } = observation
            && trigger == Trigger::Trim
        {
            assert_eq!((erased, moved), (1, 0));
            self.erases += 1;
        }
    }
}

fn churn(plan: &Plan, seed: u64, cuts: bool, random: &mut Rng) -> u64 {
    let told = format!("{seed}: {:?}", plan.ftl.config);
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    if cuts {
        ssd.expect_power_cuts();
    }
    let filled = random.below(u64::from(plan.ftl.user_pages) + 1) as u32;
    let precondition = Precondition {
        fill_pages: filled,
        scattered: false,
        overwrite_pages: random.below(2) * u64::from(filled.min(200)),
        settle: None,
        seed,
    };
    ssd.precondition(&precondition, |_| true).unwrap();
    ssd.verify();
    let user_bytes = ssd.user_bytes();
    let frees = plan.ftl.config.trim.frees.clone();
    let mut model = Model {
        written: (0..plan.ftl.user_pages).map(|page| page < filled).collect(),
        run: frees.run(PAGE, user_bytes),
        frees,
    };
    let mut queue = EventQueue::<Event>::default();
    let mut heard = Erasing::default();
    let (mut now, mut issued, mut run) = (Time::ZERO, 0, 0);
    let mut left = 50 + random.below(400);
    loop {
        while issued < 500 && ssd.can_accept(0) {
            let (op, offset, bytes) = next(user_bytes, &mut run, random);
            let request = at(now, op, offset, bytes);
            // With this interface, requests start in the order of submission.
            model.serve(&request);
            ssd.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut heard)),
                request,
            )
            .unwrap();
            issued += 1;
        }
        let Some((time, event)) = queue.pop() else {
            break;
        };
        now = time;
        ssd.handle(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut heard)),
            event,
        )
        .unwrap_or_else(|error| panic!("{told}: {error}"));
        ssd.completions().for_each(drop);
        left -= u64::from(cuts);
        if left == 0 {
            left = 50 + random.below(400);
            queue = EventQueue::default();
            let cut = ssd.cut_power(now, &mut heard);
            now += cut.unwrap_or_else(|error| panic!("{told}: {error}")).time;
            ssd.completions().for_each(drop);
            model.forget(user_bytes);
        }
    }
    assert_eq!(ssd.outstanding(), 0, "{told}");
    ssd.mapping().audit().unwrap();
    if !cuts && plan.buffer.is_none() {
        let valid = |page: &u32| ssd.mapping().lookup(Lpn(*page)).is_some();
        for page in 0..plan.ftl.user_pages {
            assert_eq!(
                valid(&page),
                model.written[page as usize],
                "page {page}, {told}"
            );
        }
        if matches!(plan.ftl.config.mapping, Family::Page(_)) {
            let written = model.written.iter().filter(|written| **written).count();
            assert_eq!(ssd.mapping().valid_pages(), written as u64, "{told}");
        }
    }
    heard.erases
}

/// A device was written once and trimmed completely. After a completed erasing TRIM, a power cut
/// restores only the data of active blocks; after other TRIMs it restores everything.
#[test]
fn power_cut_restores_trimmed_data_that_were_not_erased() {
    for answer in Answer::defaults() {
        let erases = answer.policy().erases();
        for family in [Family::default(), dftl(64, true)] {
            let mut config = Config {
                mapping: family,
                over_provisioning_ratio: 0.3,
                ..Config::default()
            };
            config.trim.answer = answer.clone();
            let plan = plan(&config, dimensions(2, 1), 64, 16, 8).unwrap();
            let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
            ssd.expect_power_cuts();
            ssd.precondition(&shared::all_written(&plan), |_| true)
                .unwrap();
            ssd.verify();
            let trim = at(Time::ZERO, Op::Trim, 0, ssd.user_bytes());
            let (played, mut tally) = play(&mut ssd, &[trim]);
            let valid = |ssd: &Ssd<Map>| {
                let pages = (0..plan.ftl.user_pages).map(Lpn);
                pages
                    .filter(|page| ssd.mapping().lookup(*page).is_some())
                    .count() as u32
            };
            assert_eq!(valid(&ssd), 0);
            let _ = ssd.cut_power(played[0].done, &mut tally).unwrap();
            let open = plan.part.layout.planes() * (plan.part.layout.pages_per_block - 1);
            if erases {
                assert!(valid(&ssd) <= open, "{} pages were restored", valid(&ssd));
            } else {
                assert_eq!(valid(&ssd), plan.ftl.user_pages);
            }
        }
    }
}

/// A page stays valid if no single TRIM covers it completely.
#[test]
fn partially_trimmed_pages_stay_valid() {
    for answer in Answer::defaults() {
        let mut config = Config::default();
        config.trim.answer = answer;
        let plan = plan(&config, dimensions(1, 1), 30, 8, 8).unwrap();
        let mut ssd = filled(&plan, 1.0);
        let trims = [
            at(Time::ZERO, Op::Trim, 512, PAGE - 512),
            at(
                Time::from_ms(100),
                Op::Trim,
                2 * PAGE - 512,
                3 * PAGE + 1024,
            ),
        ];
        let (_, tally) = play(&mut ssd, &trims);
        assert_eq!(tally.trimmed, 3);
        let valid = |page: u32| ssd.mapping().lookup(Lpn(page)).is_some();
        let expected = [true, true, false, false, false, true];
        assert_eq!((0..6).map(valid).collect::<Vec<_>>(), expected);
    }
}

/// TRIMs of one page each cover the whole device. In ascending order they free all pages, in random
/// order none.
#[test]
fn trims_in_random_order_free_nothing_under_the_ascending_run_policy() {
    let mut config = Config::default();
    config.trim.frees = Frees::AscendingRun(AscendingRun { unit_pages: 16 });
    let plan = plan(&config, dimensions(1, 1), 64, 16, 1).unwrap();
    let pages = u64::from(plan.ftl.user_pages);
    let mut order: Vec<u64> = (0..pages).collect();
    let mut random = Rng::new(4, "order");
    let freed = |order: &[u64]| {
        let mut ssd = filled(&plan, 1.0);
        let trims = order
            .iter()
            .zip(0..)
            .map(|(page, number)| at(Time::from_us(number), Op::Trim, page * PAGE, PAGE));
        let trims: Vec<Request> = trims.collect();
        play(&mut ssd, &trims).1.trimmed
    };
    assert_eq!(freed(&order), pages);
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place as u64 + 1) as usize);
    }
    assert_eq!(freed(&order), 0);
}
