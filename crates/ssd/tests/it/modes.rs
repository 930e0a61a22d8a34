//! Operating modes of the back end: bus arbitration, multi-plane commands, copyback, and suspension
//! for reads. In any combination every read is correct and every request is served; each mode takes
//! its documented time, exact in picoseconds where it can be computed.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use std::collections::BTreeMap;

use shared::{Load, closed_loop, drive, plan};
use wordline_block::{BlockDevice, Busy, Op, Request};
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::{Config, PageMap, Precondition};
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::{AnyProbe, BusyTime, Context, EventQueue, Probe, Rng, Time};
use wordline_nand::{
    Arbitration, Cell, Chains, Geometry, Operation, PerLevel, PlaneRule, Suspend, Timing,
};
use wordline_ssd::{DieFeatures, Observation, Plan, Ssd};

const US: fn(u64) -> Time = Time::from_us;

fn roomy() -> Config {
    Config {
        over_provisioning_ratio: 0.4,
        ..Config::default()
    }
}

fn dimensions(channels: u32, ways: u32, planes: u32) -> Dimensions {
    Dimensions {
        channels,
        ways,
        dies: 1,
        planes,
    }
}

fn composition(name: &str) -> Composition {
    let mut all = Composition::defaults().into_iter();
    all.find(|member| member.name() == name).unwrap()
}

fn arbitration(name: &str) -> Arbitration {
    let mut all = Arbitration::defaults().into_iter();
    all.find(|member| member.name() == name).unwrap()
}

fn suspending() -> Suspend {
    Suspend {
        program: true,
        erase: true,
        program_suspend_ns: 20_000,
        erase_suspend_ns: 40_000,
        resume_ns: 10_000,
        most: 3,
        longest_ns: 5_000_000,
    }
}

/// Returns every combination of operating modes.
fn ways_to_drive() -> Vec<Plan> {
    let mut plans = Vec::new();
    let config = roomy();
    for arbitration in Arbitration::defaults() {
        for composition in Composition::defaults() {
            for plane_rule in [PlaneRule::PageOffset, PlaneRule::PageAndBlockOffset] {
                for (internal_data_move, suspend) in [
                    (false, Suspend::default()),
                    (true, Suspend::default()),
                    (false, suspending()),
                    (true, suspending()),
                ] {
                    let mut plan = plan(&config, dimensions(1, 2, 4), 16, 8, 16).unwrap();
                    plan.part.arbitration = arbitration.clone();
                    plan.composition = composition.clone();
                    plan.part.plane_rule = plane_rule;
                    plan.part.suspend = suspend;
                    plan.internal_data_move = internal_data_move;
                    plans.push(plan);
                }
            }
        }
    }
    plans
}

#[test]
fn every_read_is_correct_in_every_operating_mode() {
    let load = Load {
        requests: 4_000,
        read_ratio: 0.5,
        grain_bytes: 2048,
        most_bytes: 6 * 4096,
        footprint_ratio: 1.0,
    };
    for plan in ways_to_drive() {
        let mapping = PageMap::new(&plan.ftl);
        let fill = plan.ftl.user_pages / 2;
        let (tally, _, ssd) = closed_loop(&plan, mapping, load, fill, true).unwrap();
        assert!(tally.collections > 50, "GC runs continue: {tally:?}");
        let erases: u64 = ssd.array().erases().iter().map(|&n| u64::from(n)).sum();
        assert_eq!(erases, tally.collections, "each GC run erases a block");
    }
}

/// Returns a random device and a load for it: any shape, page types, jitter, short and long
/// suspensions. `None` if its configuration does not fit on it.
fn drawn(random: &mut Rng) -> Option<(Plan, Load)> {
    let mut below = |bound: u64| random.below(bound);
    let dimensions = Dimensions {
        channels: 1 + below(2) as u32,
        ways: 1 + below(2) as u32,
        dies: 1 + below(2) as u32,
        planes: 1 << below(3),
    };
    let mut config = roomy();
    config.gc.own_block = below(2) == 0;
    let allocations = Allocate::defaults();
    config.allocate = allocations[below(allocations.len() as u64) as usize].clone();
    let depth = 1 + below(40) as u32;
    let mut plan = plan(&config, dimensions, 12, 8, depth)?;
    let timing = Timing {
        read_ns: PerLevel::Each(vec![40_000, 70_000]),
        program_ns: PerLevel::Each(vec![250_000, 2_200_000]),
        jitter_ratio: [0.0, 0.3][below(2) as usize],
        plane_busy_ns: [0, 500][below(2) as usize],
        ..Timing::default()
    };
    let cell = Cell::defaults()[below(3) as usize].clone();
    plan.part.chains = Chains::new(&shape(dimensions), &timing, &cell);
    plan.part.arbitration = Arbitration::defaults()[below(3) as usize].clone();
    plan.composition = Composition::defaults()[below(3) as usize].clone();
    plan.internal_data_move = below(2) == 0;
    plan.part.suspend = Suspend {
        program: below(2) == 0,
        erase: below(2) == 0,
        program_suspend_ns: below(100_000),
        erase_suspend_ns: below(700_000),
        resume_ns: below(50_000),
        most: below(5) as u32,
        longest_ns: below(3_000_000),
    };
    let load = Load {
        requests: 1_500,
        read_ratio: 0.2 + 0.1 * below(6) as f64,
        grain_bytes: 2048,
        most_bytes: 4096 * (1 + below(8)),
        footprint_ratio: 1.0,
    };
    Some((plan, load))
}

#[test]
fn every_read_is_correct_on_random_devices() {
    let mut random = Rng::new(7, "devices");
    let mut collections = 0;
    for _ in 0..120 {
        let Some((plan, load)) = drawn(&mut random) else {
            continue;
        };
        let fill = plan.ftl.user_pages / 2;
        let run = closed_loop(&plan, PageMap::new(&plan.ftl), load, fill, true);
        let (tally, ..) = run.unwrap_or_else(|error| panic!("{error}; {plan:?}"));
        collections += tally.collections;
    }
    assert!(collections > 10_000, "{collections} collections");
}

/// Basic dies, and those with only multi-plane commands or a scheduler, use specialised code, and
/// untracked pages of a request are allocated in rows. A part that may suspend operations but never
/// does, and a run with verification, take the general paths to the same result.
#[test]
fn fast_paths_and_general_paths_give_equal_results() {
    let mut random = Rng::new(8, "devices");
    let schedulers = Scheduler::defaults();
    let mut collections = BTreeMap::new();
    for turn in 0..240 {
        let (joins, scheduled) = (turn % 2 == 1, turn % 3 == 2);
        let Some((mut plan, load)) = drawn(&mut random) else {
            continue;
        };
        plan.dies_per_package = 1;
        if !joins {
            plan.composition = Composition::default();
        } else if !plan.joins() {
            continue;
        }
        plan.internal_data_move = false;
        plan.part.suspend = Suspend::default();
        if scheduled {
            plan.scheduler = schedulers[turn % schedulers.len()].clone();
        }
        let fewest = match (plan.is_scheduled(), joins) {
            (true, _) => DieFeatures::Scheduled,
            (false, true) => DieFeatures::Uninterrupted,
            (false, false) => DieFeatures::Basic,
        };
        assert_eq!(plan.die_features(), fewest);
        let mut looking = plan.clone();
        looking.part.suspend = Suspend {
            most: 0,
            longest_ns: 0,
            ..suspending()
        };
        assert_eq!(looking.die_features(), DieFeatures::Full);
        let done = |plan: &Plan, verify| {
            let fill = plan.ftl.user_pages / 2;
            let run = closed_loop(plan, PageMap::new(&plan.ftl), load, fill, verify);
            let (tally, digest, ssd) = run.unwrap_or_else(|error| panic!("{error}; {plan:?}"));
            let usage = ssd.stats().usage;
            (tally.collections, digest, format!("{tally:?}"), usage)
        };
        let short = done(&plan, false);
        assert_eq!(short, done(&looking, false), "{plan:?}");
        assert_eq!(short, done(&plan, true), "{plan:?}");
        *collections.entry(format!("{fewest:?}")).or_insert(0) += short.0;
    }
    let enough = collections.values().all(|count| *count > 4_000);
    assert!(
        collections.len() == 3 && enough,
        "{collections:?} collections"
    );
}

/// Returns the geometry of a small device.
fn shape(dimensions: Dimensions) -> Geometry {
    Geometry {
        dies_per_package: dimensions.dies,
        planes_per_die: dimensions.planes,
        blocks_per_plane: 12,
        pages_per_block: 8,
        ..Geometry::default()
    }
}

#[test]
fn equal_runs_give_equal_results() {
    let load = Load {
        requests: 2_000,
        read_ratio: 0.5,
        grain_bytes: 4096,
        most_bytes: 4 * 4096,
        footprint_ratio: 1.0,
    };
    for plan in ways_to_drive() {
        let run = || closed_loop(&plan, PageMap::new(&plan.ftl), load, 100, false).unwrap();
        assert_eq!(run().1, run().1);
    }
}

/// If every command uses both planes of its die, sequential 128 KiB writes to D4's flash reach over
/// 90 % of the program rate: 64 planes x 4 KiB / 500 us = 524.3 MB/s. If every command uses one
/// plane, they reach over 90 % of half that rate.
#[test]
fn two_plane_commands_reach_the_program_rate_of_the_planes() {
    let mut plan = plan(&Config::default(), dimensions(8, 4, 2), 64, 64, 32).unwrap();
    let bandwidth = |plan: &Plan| {
        let requests = 1_000;
        let next = |_: &Ssd<PageMap>, number, _: &mut Rng| (Op::Write, number << 17, 1 << 17);
        let (tally, ..) = drive(plan, PageMap::new(&plan.ftl), requests, 0, false, next).unwrap();
        // By Little's law for queue depth 32, this is the bandwidth except at the ends of the run.
        let mean_ps = tally.latency_ps as f64 / requests as f64;
        (32 << 17) as f64 / mean_ps * 1e6
    };
    let ceiling = 64.0 * 4096.0 / 500.0;
    let one = bandwidth(&plan);
    assert!(
        (0.9..1.0).contains(&(one / (ceiling / 2.0))),
        "one plane: {one} MB/s"
    );
    plan.composition = composition("in-order");
    let two = bandwidth(&plan);
    assert!(
        (0.9..1.0).contains(&(two / ceiling)),
        "two planes: {two} MB/s of {ceiling}"
    );
}

/// Random reads access 16 dies on one bus. The bus transfers one page after another if the commands
/// that start the arrays need not wait behind data.
#[test]
fn commands_first_keeps_the_bus_busy() {
    let mut plan = plan(&Config::default(), dimensions(1, 16, 2), 32, 64, 128).unwrap();
    let busy = |plan: &Plan| {
        let load = Load {
            requests: 20_000,
            read_ratio: 1.0,
            grain_bytes: 4096,
            most_bytes: 4096,
            footprint_ratio: 1.0,
        };
        let fill = plan.ftl.user_pages;
        let (tally, ..) = closed_loop(plan, PageMap::new(&plan.ftl), load, fill, false).unwrap();
        let read = plan.part.chains.unloaded(Operation::Read, 0) - US(50);
        128.0 * read.0 as f64 / (tally.latency_ps as f64 / tally.requests as f64)
    };
    let first_come = busy(&plan);
    plan.part.arbitration = arbitration("commands-first");
    let commands_first = busy(&plan);
    assert!(first_come < 0.85, "first-come: busy share {first_come}");
    // The busy share follows from Little's law, for a run of 20,000 requests that starts with an
    // empty queue. The start and the end of the run count as 128 requests.
    assert!(
        (0.97..1.0 + 128.0 / 20_000.0).contains(&commands_first),
        "commands-first: busy share {commands_first}"
    );
}

/// Counts page operations, and sums bus grants and die occupation.
#[derive(Default)]
struct Held {
    bus: Time,
    by_bus: BTreeMap<u32, Time>,
    by_die: BTreeMap<u32, Time>,
    pages: [u64; 4],
    commands: [u64; 4],
    suspended: u64,
    done: Vec<(Op, Time)>,
}

impl Probe<Observation> for Held {
    fn observe(&mut self, now: Time, observation: Observation) {
        match observation {
            Observation::Bus { channel, from, .. } => {
                self.bus += now - from;
                *self.by_bus.entry(channel).or_default() += now - from;
            }
            Observation::Die {
                die,
                from,
                operation,
                pages,
                ..
            } => {
                *self.by_die.entry(die.0).or_default() += now - from;
                self.pages[operation as usize] += u64::from(pages);
                self.commands[operation as usize] += u64::from(pages > 0);
                self.suspended += u64::from(pages == 0);
            }
            Observation::Request { request, parts, .. } if request.stream == 0 => {
                self.done.push((request.op, parts.total()));
            }
            _ => {}
        }
    }
}

/// Runs requests at given times, and returns the observations.
fn serve(plan: &Plan, fill_pages: u32, requests: &[(u64, Op, u64)]) -> (Held, Ssd<PageMap>) {
    let mut ssd = Ssd::new(plan, PageMap::new(&plan.ftl));
    let precondition = Precondition {
        fill_pages,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&precondition, |_| true).unwrap();
    ssd.verify();
    let (mut held, mut queue) = (Held::default(), EventQueue::default());
    let mut left = requests.iter().peekable();
    loop {
        let next = left.peek().map(|(ns, ..)| Time::from_ns(*ns));
        if let Some(arrival) = next.filter(|at| queue.next_time().is_none_or(|due| *at <= due)) {
            let (_, op, page) = *left.next().unwrap();
            let request = Request {
                stream: 0,
                op,
                fua: false,
                offset: page * 4096,
                bytes: 4096,
                arrival,
            };
            ssd.submit(
                &mut Context::new(arrival, &mut queue, &mut AnyProbe::new(&mut held)),
                request,
            )
            .unwrap();
            continue;
        }
        let Some((now, event)) = queue.pop() else {
            break;
        };
        ssd.handle(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut held)),
            event,
        )
        .unwrap();
    }
    (held, ssd)
}

#[test]
fn device_reports_the_busy_time_of_its_buses_and_dies() {
    let mut plan = plan(&roomy(), dimensions(2, 2, 1), 16, 8, 8).unwrap();
    plan.part.suspend = suspending();
    let pages = u64::from(plan.ftl.user_pages);
    let mut random = Rng::new(5, "requests");
    let requests: Vec<_> = (0..2_000)
        .map(|number| {
            let op = [Op::Read, Op::Write][random.below(2) as usize];
            (number * 150_000, op, random.below(pages))
        })
        .collect();
    let (held, ssd) = serve(&plan, pages as u32, &requests);
    let suspensions = held.by_die.len() == 4 && held.suspended > 0;
    assert!(
        suspensions,
        "the operations use four dies, and some are suspended"
    );
    let mut busy = Busy::default();
    ssd.busy(&mut busy);
    let times = |lanes: Vec<BusyTime>| lanes.into_iter().map(|busy| busy.until(Time::MAX));
    assert!(times(busy.buses).eq(held.by_bus.into_values()));
    assert!(times(busy.dies).eq(held.by_die.into_values()));
}

#[test]
fn internal_data_moves_use_the_bus_for_commands_only() {
    let config = roomy();
    for internal_data_move in [false, true] {
        let mut plan = plan(&config, dimensions(1, 1, 2), 16, 8, 8).unwrap();
        plan.internal_data_move = internal_data_move;
        let pages = u64::from(plan.ftl.user_pages);
        let mut random = Rng::new(3, "overwrite");
        let requests: Vec<_> = (0..3_000)
            .map(|number| (number * 3_000_000, Op::Write, random.below(pages)))
            .collect();
        let (held, ssd) = serve(&plan, pages as u32, &requests);
        let [reads, programs, erases, moves] = held.pages;
        // GC does not program a page that the host overwrites after it was read.
        assert!(
            (3_000..=3_000 + reads).contains(&programs),
            "{programs} programs"
        );
        assert_eq!(moves > 1_000, internal_data_move, "{moves} moves");
        assert_eq!(reads > 1_000, !internal_data_move, "{reads} reads");
        // Bus cycles of a command: a read or a program takes 7 and a status read of 2, an erase
        // takes 5 and 2, and a copyback takes two commands and two status reads. A read or a
        // program transfers one page of data, and a copyback none.
        let cycles = 9 * (reads + programs) + 7 * erases + 18 * moves;
        let data = plan.part.chains.data() * (reads + programs);
        assert_eq!(held.bus, Time::from_ns(25) * cycles + data);
        let used = ssd.stats().usage;
        assert_eq!(used.iter().map(|die| die.bus).sum::<Time>(), held.bus);
        let array = |kind: usize| used.iter().map(|die| die.array[kind]).sum::<Time>();
        assert_eq!(array(0), US(50) * (reads + moves));
        assert_eq!(array(1), US(500) * (programs + moves));
        assert_eq!(array(2), US(3_000) * erases);
    }
}

/// Returns the plan of a die that can suspend programs and erases.
fn suspendable() -> Plan {
    let mut plan = plan(&roomy(), dimensions(1, 1, 1), 16, 8, 8).unwrap();
    plan.part.suspend = suspending();
    plan
}

fn latencies(held: &Held, op: Op) -> Vec<Time> {
    let done = held.done.iter().filter(|(kind, _)| *kind == op);
    done.map(|(_, latency)| *latency).collect()
}

/// End of the array work of a page write that arrives at time 0. Picoseconds. A cycle takes 25 ns,
/// the data 12,300.3 ns and a program 500 us. The write uses the bus until 7 x 25 + 12,300.3 =
/// 12,475.3 ns, and its array works until 512,475.3 ns.
const PROGRAMS_UNTIL_PS: u64 = 512_475_300;

#[test]
fn read_suspends_a_program_which_resumes_after_it() {
    let plan = suspendable();
    let (held, _) = serve(&plan, 40, &[(0, Op::Write, 0), (100_000, Op::Read, 20)]);
    // The suspend command takes 25 ns, and the array stops 20 us later. The read then takes as long
    // as on an idle die.
    let read = plan.part.chains.unloaded(Operation::Read, 0);
    let suspend = Time::from_ns(25) + US(20);
    assert_eq!(latencies(&held, Op::Read), [suspend + read]);
    // At 100,025 ns, 412,450.3 ns of the program remain. The resume command takes 25 ns, the
    // resumption 10 us, and the status read 50 ns.
    let left = Time(PROGRAMS_UNTIL_PS) - Time::from_ns(100_025);
    let resumed = US(100) + suspend + read + Time::from_ns(25);
    let end = resumed + US(10) + left + Time::from_ns(50);
    assert_eq!(latencies(&held, Op::Write), [end]);
    assert_eq!(held.pages, [1, 1, 0, 0]);
}

#[test]
fn nearly_finished_program_is_not_suspended() {
    let plan = suspendable();
    let read = plan.part.chains.unloaded(Operation::Read, 0);
    let end = Time(PROGRAMS_UNTIL_PS) + Time::from_ns(50);
    // The array stops 20 us after the end of a 25 ns suspend command. A command at 492,450.3 ns
    // would stop it at the end of the program itself.
    let at = |ns: u64| {
        let (held, _) = serve(&plan, 40, &[(0, Op::Write, 0), (ns, Op::Read, 20)]);
        (
            latencies(&held, Op::Write)[0],
            latencies(&held, Op::Read)[0],
        )
    };
    let (write, _) = at(492_450);
    assert!(write > end, "suspended with 20,000.3 ns left");
    let (write, latency) = at(492_451);
    assert_eq!(write, end, "not suspended with 19,999.3 ns left");
    assert_eq!(latency, end + read - Time::from_ns(492_451));
}

#[test]
fn program_is_not_suspended_more_often_than_its_limit() {
    let plan = suspendable();
    let mut requests = vec![(0, Op::Write, 0)];
    requests.extend((1..=4).map(|number| (number * 100_000, Op::Read, 20)));
    let (held, _) = serve(&plan, 40, &requests);
    let read = plan.part.chains.unloaded(Operation::Read, 0);
    let fast = Time::from_ns(25) + US(20) + read;
    let reads = latencies(&held, Op::Read);
    assert_eq!(reads[..3], [fast, fast, fast]);
    assert!(reads[3] > US(200), "the fourth waits: {}", reads[3]);
    assert_eq!(held.pages, [4, 1, 0, 0]);
}

#[test]
fn read_of_a_page_being_programmed_waits_for_it() {
    let plan = suspendable();
    let (held, _) = serve(&plan, 40, &[(0, Op::Write, 0), (100_000, Op::Read, 0)]);
    let end = Time(PROGRAMS_UNTIL_PS) + Time::from_ns(50);
    assert_eq!(latencies(&held, Op::Write), [end]);
    let read = plan.part.chains.unloaded(Operation::Read, 0);
    assert_eq!(latencies(&held, Op::Read), [end + read - US(100)]);
}

#[test]
fn part_without_program_suspension_does_not_suspend_a_program() {
    let mut plan = suspendable();
    plan.part.suspend.program = false;
    let (held, _) = serve(&plan, 40, &[(0, Op::Write, 0), (100_000, Op::Read, 20)]);
    assert_eq!(
        latencies(&held, Op::Write),
        [Time(PROGRAMS_UNTIL_PS) + Time::from_ns(50)]
    );
}

/// Continuous reads delay a program by at most `longest_ns` before its start and in each of the
/// allowed suspensions.
#[test]
fn reads_do_not_starve_a_program() {
    let mut plan = suspendable();
    plan.part.suspend.longest_ns = 1_000_000;
    let mut requests = vec![(0, Op::Write, 0)];
    // A read takes 62.5 us, and one arrives every 60 us for 60 ms.
    requests.extend((1..=1_000).map(|number| (number * 60_000, Op::Read, 20 + number % 8)));
    let (held, _) = serve(&plan, 40, &requests);
    let write = latencies(&held, Op::Write)[0];
    // There are three suspensions of at most 1 ms plus the read in progress, each with 20 us to
    // stop and 10 us and some cycles to resume. The program itself takes 512.5 us. Reads that wait
    // at its start precede it for up to 1 ms.
    let bound = US(3 * (1_000 + 63 + 20 + 10 + 1)) + US(1_000 + 63) + US(513);
    assert!(
        write < bound,
        "the write took {write}; the bound is {bound}"
    );
    assert!(write > US(3_000), "the program is delayed: {write}");
    assert_eq!(held.pages, [1_000, 1, 0, 0]);
}

/// Two dies share a bus of 1 MT/s, on which a page takes 4.1 ms. A read that arrives while the
/// resume command waits for the bus is served first.
#[test]
fn read_precedes_a_resume_that_waits_for_the_bus() {
    let mut plan = plan(&roomy(), dimensions(1, 2, 1), 16, 8, 8).unwrap();
    let timing = Timing {
        bus_mt_per_s: 1.0,
        program_ns: PerLevel::All(50_000_000),
        ..Timing::default()
    };
    plan.part.chains = Chains::new(&shape(dimensions(1, 2, 1)), &timing, &Cell::default());
    plan.part.suspend = Suspend {
        longest_ns: 1_000_000_000,
        ..suspending()
    };
    // Even pages are on die 0. The array programs page 0 from 4.1 ms on. The read of page 20
    // suspends the program at 10 ms. When that read is done, the read of page 21, on die 1, has the
    // bus, and the read of page 22 arrives.
    let requests = [
        (0, Op::Write, 0),
        (10_000_000, Op::Read, 20),
        (12_000_000, Op::Read, 21),
        (15_000_000, Op::Read, 22),
    ];
    let (held, _) = serve(&plan, 40, &requests);
    let reads = latencies(&held, Op::Read);
    assert!(
        reads[2] < Time::from_ms(9),
        "the read does not wait for the program: {}",
        reads[2]
    );
    assert_eq!(held.pages, [3, 1, 0, 0]);
}

/// Requests of one instant arrive together: four reads on four planes form one command.
#[test]
fn simultaneous_reads_of_four_planes_form_one_command() {
    let mut plan = plan(&roomy(), dimensions(1, 1, 4), 16, 8, 8).unwrap();
    plan.composition = composition("greedy");
    let requests = [0, 1, 2, 3].map(|page| (1_000_000, Op::Read, page));
    let (held, _) = serve(&plan, 40, &requests);
    assert_eq!((held.pages[0], held.commands[0]), (4, 1));
}

/// A program that a waiting read would suspend at once does not start before that read.
#[test]
fn waiting_reads_precede_suspendable_programs() {
    let plan = suspendable();
    let requests = [
        (0, Op::Read, 20),
        (1_000, Op::Write, 0),
        (2_000, Op::Read, 21),
    ];
    let (held, _) = serve(&plan, 40, &requests);
    let read = plan.part.chains.unloaded(Operation::Read, 0);
    let program = plan.part.chains.unloaded(Operation::Program, 0);
    assert_eq!(latencies(&held, Op::Read), [read, read + read - US(2)]);
    assert_eq!(latencies(&held, Op::Write), [read + read + program - US(1)]);
}
