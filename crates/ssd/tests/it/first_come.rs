//! Dies request the bus of their channel in the order in which their operations arrived, for any
//! composition and scheduler. The bus grants are compared with those of a bus that serves requests
//! in order.
#![allow(clippy::unwrap_used, clippy::panic)] // outside test functions too, this file is a test

use crate::shared;

use shared::{at, plan, play};
use wordline_block::{BlockDevice, Op, Request};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, PageMap, Precondition};
use wordline_io_scheduler::schedule::Scheduler;
use wordline_io_scheduler::{Composition, compose};
use wordline_kernel::{AnyProbe, Context, EventQueue, Probe, Rng, Time};
use wordline_nand::arbitrate::Arbitration;
use wordline_nand::{Cell, Die, Geometry, Operation, Part, Suspend, Timing};
use wordline_ssd::{Event, Observation, Plan, Ssd};

const PAGE: u64 = 4096;
const PLANE_BUSY_NS: u64 = 509;

/// A bus grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hold {
    channel: u32,
    from: Time,
    until: Time,
}

/// A command of a die.
#[derive(Clone, Debug)]
struct Command {
    die: Die,
    begin: Time,
    operation: Operation,
    pages: u32,
    holds: Vec<Hold>,
    /// Times of its array operation.
    worked: Vec<(Time, Time)>,
    /// Number of the request whose page the command starts with, if it is a host request that was
    /// allocated on arrival.
    head: Option<usize>,
}

/// Reconstructs the commands of the dies. Requests are identified by arrival and page.
#[derive(Default)]
struct Commands {
    /// Bus grants of the current command, by die.
    holds: Vec<Vec<Hold>>,
    worked: Vec<Vec<(Time, Time)>>,
    requests: Vec<Request>,
    all: Vec<Command>,
    wants_head: bool,
    done: usize,
    joined: u64,
    layout: Option<wordline_nand::Layout>,
}

impl Probe<Observation> for Commands {
    fn observe(&mut self, now: Time, observation: Observation) {
        match observation {
            Observation::Bus {
                channel, from, die, ..
            } => self.holds[die.index()].push(Hold {
                channel,
                from,
                until: now,
            }),
            Observation::Array { place, from, .. } => {
                let layout = self.layout.unwrap();
                let worked = &mut self.worked[layout.die_of_page(place).index()];
                if worked.last() != Some(&(from, now)) {
                    worked.push((from, now));
                }
            }
            Observation::Die {
                die,
                from,
                operation,
                pages,
                gc,
                ..
            } => {
                self.joined += u64::from(pages > 1);
                self.all.push(Command {
                    die,
                    begin: from,
                    operation,
                    pages,
                    holds: std::mem::take(&mut self.holds[die.index()]),
                    worked: std::mem::take(&mut self.worked[die.index()]),
                    head: None,
                });
                self.wants_head = !gc;
            }
            Observation::Request { request, parts, .. } => {
                self.done += 1;
                let number = self.requests.iter().position(|one| *one == request);
                let placed = parts.gc == Time::ZERO;
                if std::mem::take(&mut self.wants_head) && placed {
                    self.all.last_mut().unwrap().head = number;
                }
            }
            _ => {}
        }
    }
}

/// A bus request of a command.
#[derive(Clone, Copy, Debug)]
struct Ask {
    at: Time,
    hold: Hold,
    die: Die,
    /// Operation and pages of the command, for its first grant.
    first: Option<(Operation, u32)>,
    head: Option<usize>,
}

/// Returns the times at which a command requests its bus grants: at its start, when its array
/// operation is done, or after the short busy time between two planes; otherwise at the end of the
/// previous grant.
fn asks(command: &Command) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for (place, &hold) in command.holds.iter().enumerate() {
        let worked = place.checked_sub(1).map(|before| {
            let end = command.holds[before].until;
            let mut arrays = command.worked.iter();
            let array = arrays.find(|(from, _)| *from == end);
            let before_array = command.worked.iter().any(|(from, _)| *from > end);
            match array {
                Some((_, until)) => *until,
                None if before_array => end + Time::from_ns(PLANE_BUSY_NS),
                None => end,
            }
        });
        asks.push(Ask {
            at: worked.unwrap_or(command.begin),
            hold,
            die: command.die,
            first: worked
                .is_none()
                .then_some((command.operation, command.pages)),
            head: command.head.filter(|_| worked.is_none()),
        });
    }
    asks
}

/// Simulates a bus that serves requests in order. Among requests of one instant, the one whose
/// operation arrived first is served first. Requests for which the order of arrival is unknown keep
/// the given order.
fn first_come(asks: &[Ask]) -> Vec<Ask> {
    let mut line = asks.to_vec();
    line.sort_by_key(|ask| ask.hold.from);
    line.sort_by_key(|ask| ask.at);
    for together in line.chunk_by_mut(|one, other| one.at == other.at) {
        let places: Vec<usize> = (0..together.len())
            .filter(|place| together[*place].head.is_some())
            .collect();
        let mut heads: Vec<Ask> = places.iter().map(|place| together[*place]).collect();
        heads.sort_by_key(|ask| ask.head);
        for (place, ask) in places.into_iter().zip(heads) {
            together[place] = ask;
        }
    }
    let mut free = Time::ZERO;
    for ask in &mut line {
        let length = ask.hold.until - ask.hold.from;
        ask.hold.from = ask.at.max(free);
        free = ask.hold.from + length;
        ask.hold.until = free;
    }
    line
}

/// Returns bursts of single-page requests, each burst at one instant.
fn bursts(user_pages: u64, random: &mut Rng) -> Vec<Request> {
    let (mut now, mut requests) = (Time(1), Vec::new());
    for _ in 0..60 {
        let reads = random.below(11);
        let mut pages: Vec<u64> = Vec::new();
        for _ in 0..=random.below(14) {
            let page = random.below(user_pages);
            if !pages.contains(&page) {
                pages.push(page);
            }
        }
        for page in pages {
            let op = if random.below(10) < reads {
                Op::Read
            } else {
                Op::Write
            };
            requests.push(at(now, op, page * PAGE, PAGE));
        }
        now += Time(1 + random.below(4_000_000_000));
    }
    requests
}

fn part(plan: &Plan, blocks: u32, pages: u32) -> Part {
    let layout = plan.part.layout;
    let geometry = Geometry {
        planes_per_die: layout.planes_per_die,
        blocks_per_plane: blocks,
        pages_per_block: pages,
        ..Geometry::default()
    };
    // The times have no common divisor, so that no two dies request the bus at the same instant by
    // chance.
    let timing = Timing {
        command_cycle_ns: 23,
        plane_busy_ns: PLANE_BUSY_NS,
        bus_mt_per_s: 331.7,
        ..Timing::default()
    };
    Part::new(layout, &geometry, &timing, &Cell::default())
}

fn served(plan: &Plan, seed: u64) -> Commands {
    let mut ssd = Ssd::new(plan, PageMap::new(&plan.ftl));
    let fill = Precondition {
        fill_pages: plan.ftl.user_pages,
        scattered: false,
        overwrite_pages: u64::from(plan.ftl.user_pages),
        settle: None,
        seed,
    };
    ssd.precondition(&fill, |_| true).unwrap();
    let requests = bursts(
        u64::from(plan.ftl.user_pages),
        &mut Rng::new(seed, "bursts"),
    );
    let dies = plan.part.layout.dies as usize;
    let mut commands = Commands {
        holds: vec![Vec::new(); dies],
        worked: vec![Vec::new(); dies],
        requests: requests.clone(),
        layout: Some(plan.part.layout),
        ..Commands::default()
    };
    let mut queue = EventQueue::<Event>::default();
    let mut coming = requests.iter().peekable();
    loop {
        let due = queue.next_time();
        let first = coming.peek().map(|request| request.arrival);
        if let Some(arrival) = first
            && due.is_none_or(|due| arrival <= due)
        {
            let request = *coming.next().unwrap();
            assert!(ssd.can_accept(0));
            ssd.submit(
                &mut Context::new(arrival, &mut queue, &mut AnyProbe::new(&mut commands)),
                request,
            )
            .unwrap();
        } else if let Some((now, event)) = queue.pop() {
            ssd.handle(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut commands)),
                event,
            )
            .unwrap();
        } else {
            break;
        }
        ssd.completions().for_each(drop);
    }
    assert_eq!(commands.done, requests.len());
    commands
}

fn drawn(random: &mut Rng, planes: u32) -> Plan {
    loop {
        let dimensions = Dimensions {
            channels: 1 + random.below(2) as u32,
            ways: 1 + random.below(4) as u32,
            dies: 1 + random.below(3) as u32,
            planes,
        };
        let config = Config {
            over_provisioning_ratio: 0.5,
            ..Config::default()
        };
        let (blocks, pages) = (16 + random.below(16) as u32, 4 + random.below(12) as u32);
        if let Some(mut plan) = plan(&config, dimensions, blocks, pages, 4_096) {
            plan.part = part(&plan, blocks, pages);
            return plan;
        }
    }
}

#[test]
fn bus_grants_follow_the_order_of_requests_and_arrivals() {
    let mut random = Rng::new(1, "devices");
    let (mut together, mut joined, mut collected) = (0, 0, 0);
    for composition in Composition::defaults() {
        for scheduler in Scheduler::defaults() {
            for planes in [1, 2, 4] {
                for seed in 0..4 {
                    let mut plan = drawn(&mut random, planes);
                    plan.composition = composition.clone();
                    plan.scheduler = scheduler.clone();
                    let told = format!("seed {seed}: {plan:?}");
                    let commands = served(&plan, seed);
                    joined += commands.joined;
                    let erases = |command: &&Command| command.operation == Operation::Erase;
                    collected += commands.all.iter().filter(erases).count();
                    for channel in 0..plan.channels() {
                        let all = commands.all.iter().flat_map(asks);
                        let mut asks: Vec<Ask> =
                            all.filter(|ask| ask.hold.channel == channel).collect();
                        asks.sort_by_key(|ask| ask.hold.from);
                        let expected = first_come(&asks);
                        let heads = asks.chunk_by(|one, other| one.at == other.at);
                        together += heads
                            .filter(|asks| asks.iter().filter(|ask| ask.head.is_some()).count() > 1)
                            .count();
                        for (ask, expected) in asks.iter().zip(&expected) {
                            assert_eq!(
                                (ask.die, ask.hold),
                                (expected.die, expected.hold),
                                "{ask:?}, expected {expected:?}; {told}"
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(
        together > 5_000,
        "several commands started together only {together} times"
    );
    assert!(joined > 1_000, "{joined} multi-plane commands");
    assert!(collected > 1_000, "{collected} erases");
}

/// With commands before data, the order of arrival still holds among grants of equal kind and
/// length.
#[test]
fn commands_first_arbitration_keeps_the_order_of_arrival() {
    let mut random = Rng::new(2, "devices");
    let mut together = 0;
    for composition in Composition::defaults() {
        for scheduler in Scheduler::defaults() {
            for planes in [1, 2, 4] {
                let mut plan = drawn(&mut random, planes);
                plan.composition = composition.clone();
                plan.scheduler = scheduler.clone();
                let mut arbitrations = Arbitration::defaults().into_iter();
                plan.part.arbitration = arbitrations
                    .find(|policy| policy.name() == "commands-first")
                    .unwrap();
                let commands = served(&plan, 7);
                let mut asks: Vec<Ask> = commands.all.iter().flat_map(asks).collect();
                asks.retain(|ask| ask.head.is_some());
                asks.sort_by_key(|ask| (ask.hold.channel, ask.at, ask.first.map(kind), ask.head));
                let key = |ask: &Ask| (ask.hold.channel, ask.at, ask.first.map(kind));
                for alike in asks.chunk_by(|one, other| key(one) == key(other)) {
                    together += usize::from(alike.len() > 1);
                    assert!(
                        alike.is_sorted_by_key(|ask| ask.hold.from),
                        "{alike:?}; {plan:?}"
                    );
                }
            }
        }
    }
    assert!(
        together > 1_000,
        "several commands started together only {together} times"
    );
}

/// Returns the key of commands-first arbitration. First grants of one operation have equal lengths,
/// and start the array unless other planes follow.
fn kind((operation, pages): (Operation, u32)) -> (usize, bool) {
    (operation as usize, pages > 1)
}

fn four_packages(planes: u32, composition: Composition, scheduler: Scheduler) -> Plan {
    let dimensions = Dimensions {
        channels: 1,
        ways: 4,
        dies: 1,
        planes,
    };
    let mut plan = plan(&Config::default(), dimensions, 64, 16, 32).unwrap();
    plan.composition = composition;
    plan.scheduler = scheduler;
    plan
}

/// Four pages arrive at one instant for four packages of a channel. Each waits for those before it,
/// with one plane per die and with several.
#[test]
fn simultaneous_writes_on_a_channel_wait_only_for_earlier_writes() {
    for planes in [1, 2, 4] {
        for composition in Composition::defaults() {
            for scheduler in Scheduler::defaults() {
                let plan = four_packages(planes, composition.clone(), scheduler.clone());
                let hold = plan.part.chains.unloaded(Operation::Program, 0)
                    - plan
                        .part
                        .chains
                        .array_time(Operation::Program, 0, &mut Rng::new(0, ""))
                    - Time::from_ns(50);
                // The address determines the package: page 3 goes to the last one.
                for order in [[0, 1, 2, 3], [3, 2, 1, 0]] {
                    let mut ssd = Ssd::new(&plan, PageMap::new(&plan.ftl));
                    let requests = order.map(|page| at(Time::ZERO, Op::Write, page * PAGE, PAGE));
                    let (played, _) = play(&mut ssd, &requests);
                    let waits: Vec<Time> = played.iter().map(|one| one.parts.bus_wait).collect();
                    let expected: Vec<Time> = (0..4).map(|before| hold * before).collect();
                    let told = format!("{planes} {} {}", composition.name(), scheduler.name());
                    assert_eq!(waits, expected, "{told} {order:?}");
                }
            }
        }
    }
}

/// A read that overtakes a program of its own die does not overtake an earlier read of another die.
#[test]
fn read_that_overtakes_a_program_keeps_its_order_among_reads() {
    let greedy = Composition::Greedy(compose::greedy::Greedy::default());
    let mut plan = four_packages(2, greedy, Scheduler::default());
    plan.part.suspend = Suspend {
        program: true,
        erase: true,
        program_suspend_ns: 20_000,
        erase_suspend_ns: 40_000,
        resume_ns: 10_000,
        most: 3,
        longest_ns: 5_000_000,
    };
    let mut ssd = Ssd::new(&plan, PageMap::new(&plan.ftl));
    let fill = Precondition {
        fill_pages: 16,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&fill, |_| true).unwrap();
    let requests = [
        at(Time::ZERO, Op::Write, 0, PAGE),
        at(Time::ZERO, Op::Read, PAGE, PAGE),
        at(Time::ZERO, Op::Read, 4 * PAGE, PAGE),
    ];
    let (played, _) = play(&mut ssd, &requests);
    assert!(played[1].done < played[2].done && played[2].done < played[0].done);
    assert_eq!(played[1].parts.bus_wait, Time::ZERO);
}
