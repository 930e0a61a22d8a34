//! Bad blocks: the duration of a failed program, and the number of failures that the model
//! predicts. In every mapping family and GC schedule, with and without power cuts, every block is
//! accounted for, and data is never lost without an error. At the end of its life the device
//! becomes read-only.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use shared::{Load, Tally, at, play};
use wordline_block::{BlockDevice, Completion, Op, ReadEvents, Request};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::mapping::Family;
use wordline_ftl::{Config, Map, Mapping, Precondition};
use wordline_io_scheduler::Composition;
use wordline_io_scheduler::compose::Compose;
use wordline_io_scheduler::schedule::Scheduler;
use wordline_kernel::{AnyProbe, Context, EventQueue, Rng, Time};
use wordline_nand::{BadBlocks, Cause, Layout, Plane};
use wordline_reliability::ecc::{Correct, ldpc::Ldpc};
use wordline_reliability::failures::{Fail, table::Table, weibull::Weibull};
use wordline_reliability::{Failing, Failures};
use wordline_ssd::{DeviceError, Event, Plan, Ssd};

const PAGE: u64 = 4096;
const US: fn(u64) -> Time = Time::from_us;

#[allow(clippy::unnecessary_wraps)] // the type of `Part::failing`
fn failing(failures: Failures) -> Option<Box<Failing>> {
    Some(Box::new(Failing {
        failures,
        cycles: 0.0,
    }))
}

/// Returns a failure model in which erases and programs fail with these probabilities, regardless
/// of wear.
fn constant(erase: f64, program: f64) -> Failures {
    Failures::Table(Table {
        cycles: vec![0.0],
        erase: vec![erase],
        program: vec![program],
    })
}

/// Returns the plan of a device of a single die and plane with `spare_blocks` spare blocks among 16
/// blocks of 8 pages: tR 30 us, tPROG 400 us, tBERS 1500 us. A page takes 20 us on the bus; nothing
/// else takes bus time.
fn plan(spare_blocks: u32, failures: Failures) -> Plan {
    plan_of(1, spare_blocks, failures)
}

/// Returns a plan as [`plan`] does, with several dies that are written in turn.
fn plan_of(dies: u32, spare_blocks: u32, failures: Failures) -> Plan {
    let config = Config {
        over_provisioning_ratio: 0.6,
        spare_blocks,
        ..Config::default()
    };
    let dimensions = Dimensions {
        channels: 1,
        ways: 1,
        dies,
        planes: 1,
    };
    let mut plan = shared::plan(&config, dimensions, 16, 8, 16).unwrap();
    shared::take(&mut plan, 8, [30, 400, 1500].map(Time::from_us));
    plan.part.failing = failing(failures);
    plan
}

/// Checks that every block is accounted for: factory-bad + grown bad + spare + in use = all. Also
/// checks that each used spare block replaces one block, of its own plane.
fn conserve(ssd: &Ssd<Map>, plan: &Plan) {
    let layout = plan.part.layout;
    let bad = ssd.array().bad_blocks().unwrap();
    let by_cause = [Cause::Factory, Cause::Erase, Cause::Program].map(|cause| bad.count(cause));
    let of_planes: u32 = (0..layout.planes())
        .map(|plane| bad.spares_of(Plane(plane)))
        .sum();
    assert_eq!(of_planes, bad.spares());
    assert_eq!(
        by_cause.iter().sum::<u32>() + bad.spares() + bad.in_use(),
        layout.blocks()
    );
    // No spare block replaces two blocks.
    let mut taken: Vec<_> = bad.table().iter().filter_map(|bad| bad.spare).collect();
    taken.sort();
    let count = taken.len();
    taken.dedup();
    assert_eq!(taken.len(), count);
    for (place, line) in bad.table().iter().enumerate() {
        // An entry without a replacement is the last one of its block.
        let mut later = bad.table()[place + 1..].iter();
        assert!(line.spare.is_some() || later.all(|other| other.block != line.block));
        assert!(
            line.spare
                .is_none_or(|spare| layout.plane_of(spare) == layout.plane_of(line.block))
        );
    }
}

#[test]
fn failed_program_takes_the_time_of_its_copies_and_of_a_second_program() {
    // Every program fails until the three spare blocks are used. The first page of a block is
    // programmed twice. The second page needs one copy between its programs, and the third page
    // needs two. The fourth page fails permanently.
    let mut ssd = Ssd::new(
        &plan(3, constant(0.0, 1.0)),
        Map::new(&plan(3, constant(0.0, 1.0)).ftl),
    );
    ssd.verify();
    let (once, copy) = (420, 50 + 420);
    let mut now = Time::ZERO;
    for (page, took) in [
        (0, 2 * once),
        (1, 2 * once + copy),
        (2, 2 * once + 2 * copy),
        (3, once),
    ] {
        let (played, _) = play(&mut ssd, &[at(now, Op::Write, page * PAGE, PAGE)]);
        assert_eq!(played[0].done - now, US(took), "page {page}");
        now = played[0].done;
    }
    let counts = ssd.stats().failures.unwrap();
    assert_eq!(
        (counts.programs, counts.pages_copied, counts.host_failures),
        (4, 3, 1)
    );
    assert_eq!(counts.read_only, Some(now));
    conserve(&ssd, &plan(3, constant(0.0, 1.0)));
    assert_eq!(ssd.array().bad_blocks().unwrap().spares(), 0);
    // Reads continue; the page that was not written returns an error. Writes and TRIMs end with an
    // error.
    let requests: Vec<_> = (0..4)
        .map(|page| at(now, Op::Read, page * PAGE, PAGE))
        .collect();
    play(&mut ssd, &requests);
    assert_eq!(ssd.stats().read_errors.unwrap().host_failures, 1);
    let (played, _) = play(
        &mut ssd,
        &[
            at(now + US(1000), Op::Write, 0, PAGE),
            at(now + US(1000), Op::Trim, PAGE, PAGE),
        ],
    );
    assert!(played.iter().all(|one| one.done == now + US(1000)));
    assert_eq!(ssd.stats().failures.unwrap().host_failures, 3);
}

/// A read during a block replacement on its die reports that event. A later read does not, nor does
/// a read of another die. A read whose page also has errors reports both events.
#[test]
fn reads_report_a_block_replacement_in_progress_on_their_die() {
    for (rate, retried) in [(1e-9, ReadEvents::default()), (1.2e-2, ReadEvents::RETRY)] {
        let mut plan = plan_of(2, 3, constant(0.0, 1.0));
        plan.part.reader = Some(Box::new(shared::reader(
            shared::constant(rate),
            Ldpc::default().code().unwrap(),
        )));
        let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
        let requests = [
            at(US(0), Op::Write, 0, PAGE),
            at(US(0), Op::Write, PAGE, PAGE),
            // The replacement occupies the die of page 0 until 5,000 + 2 x 420 us, plus the copy of
            // a page.
            at(US(5000), Op::Write, 2 * PAGE, PAGE),
            at(US(5100), Op::Read, 0, PAGE),
            at(US(5100), Op::Read, PAGE, PAGE),
            at(US(9000), Op::Read, 0, PAGE),
        ];
        let (played, tally) = play(&mut ssd, &requests);
        assert!(played[1].done <= US(5000) && played[5].done > US(9000));
        // In order of completion, the read of the other die is first.
        assert_eq!(
            tally.met,
            [retried, ReadEvents::BAD_BLOCK.union(retried), retried]
        );
    }
}

/// The erase of a TRIM fails and a spare block replaces the block, which counts as erased. Without
/// a spare block, this and later TRIMs end with an error, and the device is read-only.
#[test]
fn trim_whose_erase_fails_completes() {
    let mut plan = plan(1, constant(1.0, 0.0));
    let answers = wordline_ftl::trim::Answer::defaults();
    let erases = answers.into_iter().find(|answer| answer.name() == "erase");
    plan.ftl.config.trim.answer = erases.unwrap();
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    ssd.verify();
    let block = 8 * PAGE;
    let mut now = Time::ZERO;
    for (turn, fails) in [(0, false), (1, true)] {
        let (played, _) = play(&mut ssd, &[at(now, Op::Write, turn * block, block)]);
        now = played[0].done;
        let (played, _) = play(&mut ssd, &[at(now, Op::Trim, turn * block, block)]);
        assert_eq!(played[0].done - now, US(1500));
        now = played[0].done;
        let counts = ssd.stats().failures.unwrap();
        assert_eq!((counts.erases, counts.programs), (turn + 1, 0));
        assert_eq!(counts.host_failures, u64::from(fails));
        assert_eq!(counts.read_only.is_some(), fails);
        conserve(&ssd, &plan);
    }
    let (played, _) = play(&mut ssd, &[at(now, Op::Trim, 0, block)]);
    assert_eq!(played[0].done, now);
    assert!(ssd.stats().failures.unwrap().host_failures > 1);
}

/// Data that a buffer destages to a read-only device is lost. Every request that needs this data
/// durable, and every read of it, ends with an error. The flash never returns older data instead.
/// Later host writes and TRIMs end with an error.
#[test]
fn failed_destage_is_reported_as_an_error() {
    let mut plan = plan(0, constant(0.0, 0.02));
    plan.buffer = Some(buffer(2));
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    ssd.verify();
    let mut now = Time::ZERO;
    let mut serve = |ssd: &mut Ssd<Map>, op, page: u64, fua| {
        let mut queue = EventQueue::<Event>::default();
        let request = Request {
            fua,
            ..at(now, op, page * PAGE, if op == Op::Flush { 0 } else { PAGE })
        };
        ssd.submit(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut ())),
            request,
        )
        .unwrap();
        let mut failed: Vec<bool> = ssd.completions().map(|done| done.failed).collect();
        while let Some((at, event)) = queue.pop() {
            now = at;
            ssd.handle(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut ())),
                event,
            )
            .unwrap();
            failed.extend(ssd.completions().map(|done| done.failed));
        }
        assert_eq!(failed.len(), 1);
        failed[0]
    };
    // Every page is durable until one cannot be written.
    let mut written = 0;
    while !serve(&mut ssd, Op::Write, written % 40, true) {
        written += 1;
        assert!(written < 10_000);
    }
    assert!(ssd.stats().failures.unwrap().read_only.is_some());
    let lost = written % 40;
    assert!(serve(&mut ssd, Op::Write, 41, false), "writes are rejected");
    assert!(serve(&mut ssd, Op::Trim, 1, false));
    assert!(
        serve(&mut ssd, Op::Flush, 0, false),
        "not all written pages are durable"
    );
    // The buffer may hold the page until others evict it.
    for other in 1..4 {
        assert!(!serve(&mut ssd, Op::Read, (lost + 40 - other) % 40, false));
    }
    for _ in 0..3 {
        assert!(serve(&mut ssd, Op::Read, lost, false));
    }
    assert_eq!(ssd.stats().lost_reads, 3);
}

/// An acknowledged write cannot be destaged. While its page is lost, every flush ends with an
/// error, not only the one that destages it. After a power cut, which restores the older content of
/// the page, flushes succeed.
#[test]
fn flushes_fail_while_an_acknowledged_page_is_lost() {
    let mut plan = plan(0, constant(0.0, 1.0));
    plan.buffer = Some(buffer(2));
    let mut ssd = Ssd::new(&plan, Map::new(&plan.ftl));
    ssd.expect_power_cuts();
    ssd.verify();
    let (played, _) = play(
        &mut ssd,
        &[
            at(US(0), Op::Flush, 0, 0),
            at(US(10_000), Op::Write, 0, PAGE),
            at(US(20_000), Op::Flush, 0, 0),
            at(US(30_000), Op::Flush, 0, 0),
            at(US(40_000), Op::Flush, 0, 0),
        ],
    );
    let failed: Vec<bool> = played.iter().map(|one| one.failed).collect();
    assert_eq!(failed, [false, false, true, true, true]);
    ssd.cut_power(US(50_000), &mut ()).unwrap();
    let (played, _) = play(&mut ssd, &[at(US(60_000), Op::Flush, 0, 0)]);
    assert!(!played[0].failed);
}

/// Returns a DRAM buffer of `pages` pages.
fn buffer(pages: u32) -> wordline_dram_buffer::Plan {
    wordline_dram_buffer::Plan {
        access: Time::from_ns(100),
        port: (1, 300),
        ..shared::buffer(pages)
    }
}

/// Outcome of a run.
struct Run {
    failed: u64,
    cuts: u32,
    read_only: bool,
    grown: u32,
}

/// Runs verified random reads, writes and TRIMs until `requests` are served or lost, with power
/// cuts after at most `gap` events unless `gap` is 0.
#[allow(clippy::too_many_lines)] // a single loop
fn run(plan: &Plan, seed: u64, requests: u64, gap: u64) -> Result<Run, DeviceError> {
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    if gap > 0 {
        ssd.expect_power_cuts();
    }
    let mut random = Rng::new(seed, "bad blocks");
    let precondition = Precondition {
        fill_pages: random.below(u64::from(plan.ftl.user_pages) + 1) as u32,
        scattered: false,
        overwrite_pages: random.below(2) * 200,
        settle: None,
        seed,
    };
    ssd.precondition(&precondition, |_| true)?;
    ssd.verify();
    let load = Load {
        requests,
        read_ratio: 0.3,
        grain_bytes: if random.below(2) == 0 { 4096 } else { 512 },
        most_bytes: 4096 << random.below(4),
        footprint_ratio: if random.below(2) == 0 { 1.0 } else { 0.3 },
    };
    let mut queue = EventQueue::<Event>::default();
    let mut tally = Tally::default();
    let (mut now, mut issued, mut lost) = (Time::ZERO, 0, 0);
    let mut seen = Run {
        failed: 0,
        cuts: 0,
        read_only: false,
        grown: 0,
    };
    let mut left = gap;
    loop {
        while issued < requests && ssd.can_accept(0) {
            let (mut op, offset, bytes) = load.next(ssd.user_bytes(), &mut random);
            if random.below(12) == 0 {
                op = Op::Trim;
            }
            let request = Request {
                stream: 0,
                op,
                fua: op == Op::Write && random.below(6) == 0,
                offset,
                bytes,
                arrival: now,
            };
            ssd.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
                request,
            )?;
            issued += 1;
        }
        match queue.pop() {
            Some((time, event)) => {
                now = time;
                ssd.handle(
                    &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
                    event,
                )?;
            }
            None if issued < requests && ssd.can_accept(0) => {}
            None => break,
        }
        let failed = ssd.completions().filter(|done: &Completion| done.failed);
        seen.failed += failed.count() as u64;
        if gap > 0 {
            left -= 1;
            if left == 0 {
                left = 1 + random.below(gap);
                queue = EventQueue::default();
                let before = ssd.array().bad_blocks().unwrap().table().to_vec();
                let cut = ssd.cut_power(now, &mut tally)?;
                // The table of bad blocks survives a power cut; recovery may add to it.
                assert_eq!(
                    ssd.array().bad_blocks().unwrap().table()[..before.len()],
                    before
                );
                // A failure without a spare block ends the device's life, even if power fails
                // before its command is over.
                let mut bad = ssd.array().bad_blocks().unwrap().table().iter();
                let is_short = bad.any(|one| one.cause != Cause::Factory && one.spare.is_none());
                let is_over = ssd.stats().failures.unwrap().read_only.is_some();
                assert!(is_over || !is_short, "seed {seed}");
                assert_eq!(ssd.completions().count() as u32, cut.requests_lost);
                lost += u64::from(cut.requests_lost);
                now += cut.time;
                seen.cuts += 1;
                conserve(&ssd, plan);
            }
        }
    }
    assert_eq!(
        ssd.outstanding(),
        0,
        "every request is served or lost: {:?}, seed {seed}, {:?}",
        plan.ftl.config,
        ssd.stats().failures
    );
    assert_eq!(tally.requests + lost, requests);
    conserve(&ssd, plan);
    ssd.mapping().audit().unwrap();
    let counts = ssd.stats().failures.unwrap();
    seen.read_only = counts.read_only.is_some();
    let bad = ssd.array().bad_blocks().unwrap();
    seen.grown = bad.count(Cause::Erase) + bad.count(Cause::Program);
    assert_eq!(
        tally.retired,
        u64::from(seen.grown),
        "the probe observes every bad block"
    );
    let grown = bad.table().iter().filter(|bad| bad.cause != Cause::Factory);
    let replaced = grown.filter(|bad| bad.spare.is_some()).count() as u64;
    assert_eq!(
        tally.spares_taken, replaced,
        "the probe observes every replacement"
    );
    // Requests fail only because of counted page failures. A buffer reports one failed page to
    // every request that needs it.
    assert!(
        plan.buffer.is_some()
            || seen.failed <= counts.host_failures + ssd.stats().read_errors.unwrap().host_failures
    );
    assert!(
        seen.read_only || seen.failed == 0,
        "{} requests failed",
        seen.failed
    );
    Ok(seen)
}

/// Returns the plan of a small random device on which erases and programs may fail; `None` if the
/// family does not fit on it or does not use the schedule.
fn draw(family: &Family, schedule: &Scheduling, random: &mut Rng) -> Option<Plan> {
    let dimensions = Dimensions {
        channels: 1 + random.below(2) as u32,
        ways: 1 + random.below(2) as u32,
        dies: 1,
        planes: 1 + random.below(2) as u32,
    };
    let mut config = Config {
        over_provisioning_ratio: 0.25 + 0.45 * random.unit(),
        spare_blocks: random.below(8) as u32,
        mapping: family.clone(),
        ..Config::default()
    };
    // Not every family supports every completion policy.
    if random.below(4) == 0 {
        let answers = wordline_ftl::trim::Answer::defaults();
        config.trim.answer = answers[random.below(answers.len() as u64) as usize].clone();
    }
    config.gc.schedule = schedule.clone();
    config.gc.own_block = random.below(3) > 0;
    let wears = wordline_ftl::wear::Wear::defaults();
    config.wear = wears[random.below(wears.len() as u64) as usize].clone();
    let blocks = 14 + random.below(30) as u32;
    let pages = 2 + random.below(14) as u32;
    let depth = 1 + random.below(24) as u32;
    let mut plan = shared::plan(&config, dimensions, blocks, pages, depth)?;
    let share = [0.0, 0.002, 0.02, 0.1];
    let mut share = || share[random.below(4) as usize];
    plan.part.failing = failing(constant(share(), share() / 4.0));
    if random.below(2) == 0 {
        let mut all = Composition::defaults().into_iter();
        plan.composition = all.find(|member| member.name() == "greedy").unwrap();
    }
    plan.part.suspend.program = random.below(3) == 0;
    plan.part.suspend.erase = plan.part.suspend.program;
    if random.below(3) == 0 {
        plan.buffer = Some(wordline_dram_buffer::Plan {
            write_through: random.below(4) == 0,
            capacitors: random.below(2) == 0,
            ignores_flush: false,
            batch_pages: [0, 2][random.below(2) as usize],
            idle_flush: (random.below(3) == 0).then_some(US(300)),
            read_ahead: [0, 4][random.below(2) as usize],
            ..buffer(4 << random.below(4))
        });
    }
    plan.internal_data_move = random.below(2) == 0;
    let schedulers = Scheduler::defaults();
    if plan.composition.joins() {
        plan.scheduler = schedulers[random.below(schedulers.len() as u64) as usize].clone();
    }
    Some(plan)
}

fn laws(gap: u64, rounds: u64) {
    let mut random = Rng::new(5 + gap, "draw");
    let (mut runs, mut read_only, mut grown, mut failed, mut cuts) = (0, 0, 0, 0, 0);
    for round in 0..rounds {
        for family in Family::defaults() {
            for schedule in Scheduling::defaults() {
                let Some(plan) = draw(&family, &schedule, &mut random) else {
                    continue;
                };
                let told = format!("{} {} {round}", family.name(), schedule.name());
                let seen = run(&plan, round, 400, gap)
                    .unwrap_or_else(|error| panic!("{told}: {error}\n{:?}", plan.ftl));
                runs += 1;
                read_only += u32::from(seen.read_only);
                grown += seen.grown;
                failed += seen.failed;
                cuts += seen.cuts;
            }
        }
    }
    assert!(runs > 15 * rounds, "only {runs} runs");
    assert!(read_only > 0 && u64::from(read_only) < runs && grown > 100 && failed > 0);
    assert_eq!(cuts > 0, gap > 0);
}

#[test]
fn data_are_never_lost_without_an_error() {
    laws(0, 40);
}

#[test]
fn power_cut_loses_no_durable_data() {
    laws(600, 40);
}

/// The number of failures equals the sum of the probabilities of all attempts, within 4.5 standard
/// deviations.
#[test]
fn number_of_grown_bad_blocks_follows_the_model() {
    let model = Weibull {
        erase_cycles: 60.0,
        program_cycles: 90.0,
        shape: 3.0,
    };
    let config = Config {
        over_provisioning_ratio: 0.6,
        spare_blocks: 200,
        ..Config::default()
    };
    let dimensions = Dimensions {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 2,
    };
    let pages = 4;
    let mut plan = shared::plan(&config, dimensions, 400, pages, 8).unwrap();
    plan.part.failing = failing(Failures::Weibull(model.clone()));
    let load = Load {
        requests: 60_000,
        read_ratio: 0.0,
        grain_bytes: PAGE,
        most_bytes: PAGE,
        footprint_ratio: 1.0,
    };
    let (_, _, ssd) =
        shared::closed_loop(&plan, Map::new(&plan.ftl), load, plan.ftl.user_pages, true).unwrap();
    let (array, bad) = (ssd.array(), ssd.array().bad_blocks().unwrap());
    assert!(ssd.stats().failures.unwrap().read_only.is_none());
    let (mut erases, mut programs) = (0.0, 0.0);
    let mut of_cells: Vec<(u32, u32, bool)> = Vec::new();
    let spares: Vec<_> = bad.table().iter().filter_map(|line| line.spare).collect();
    for block in (0..plan.part.layout.blocks()).map(wordline_nand::Block) {
        // The number of a used spare block now belongs to the bad block that it replaced. The wear
        // of the bad cells is in their line of the table.
        if !spares.contains(&block) {
            of_cells.push((
                array.erases()[block.index()],
                array.programmed(block),
                false,
            ));
        }
    }
    for line in bad.table() {
        of_cells.push((line.erases, 0, line.cause == Cause::Erase));
    }
    for (borne, programmed, failed_to_erase) in of_cells {
        let attempts = borne + u32::from(failed_to_erase);
        erases += (0..attempts)
            .map(|cycle| model.erase(f64::from(cycle)))
            .sum::<f64>();
        // Every erased block was full.
        let full =
            (0..attempts).map(|cycle| f64::from(pages) * model.program(f64::from(cycle), pages));
        programs += full.sum::<f64>();
        programs += f64::from(programmed) * model.program(f64::from(borne), pages);
    }
    for (cause, expected) in [(Cause::Erase, erases), (Cause::Program, programs)] {
        let found = f64::from(bad.count(cause));
        assert!(expected > 20.0, "{cause:?}: {expected}");
        assert!(
            (found - expected).abs() < 4.5 * expected.sqrt(),
            "{cause:?}: {found}, expected {expected}"
        );
    }
}

/// The number of factory-bad blocks equals their share of all blocks, within 4.5 standard
/// deviations. The blocks are the same for equal seeds and differ between seeds.
#[test]
fn number_of_factory_bad_blocks_follows_their_share() {
    let layout = Layout {
        dies: 8,
        planes_per_die: 4,
        blocks_per_plane: 2_000,
        pages_per_block: 2,
    };
    for ratio in [0.002, 0.02, 0.2] {
        let bad = BadBlocks::new(&layout, 600, ratio, 7).unwrap();
        let (blocks, found) = (
            f64::from(layout.blocks()),
            f64::from(bad.count(Cause::Factory)),
        );
        let deviation = (blocks * ratio * (1.0 - ratio)).sqrt();
        assert!(
            (found - blocks * ratio).abs() < 4.5 * deviation,
            "{ratio}: {found}"
        );
        assert_eq!(bad, BadBlocks::new(&layout, 600, ratio, 7).unwrap());
        assert_ne!(bad, BadBlocks::new(&layout, 600, ratio, 8).unwrap());
        assert_eq!(
            bad.count(Cause::Factory) + bad.spares() + bad.in_use(),
            layout.blocks()
        );
        assert_eq!(bad.in_use(), 32 * 1_400);
    }
    // If a plane has more bad blocks than spare blocks, the error states their number.
    let few = BadBlocks::new(&layout, 1, 0.2, 7).unwrap_err();
    assert!(few.bad > 1);
}
