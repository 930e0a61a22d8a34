//! Worked examples of Jung 2013, figures 6.5 to 6.7, in lockstep: operations that are chosen
//! together complete together. The addresses follow from the text of sections 6.4.2 to 6.4.4, not
//! from the drawings. Blocks and pages are chosen so that pairs satisfy the plane rule.

use wordline_kernel::Time;
use wordline_nand::{Geometry, Layout, Operation, PlaneRule, Ppn};

use super::{Changed, EntryId, IssueQueue, Load, Schedule, Scheduler, Scheduling, View, Waiting};

/// Page of a figure: its name; its channel, package and die, counted from 1; and its plane.
type Page = (u32, [u32; 3], u32);

const CHANNELS: u32 = 4;
const PACKAGES: u32 = 2;
const DIES: u32 = 4;
const PLANES: u32 = 2;

struct Bench {
    queue: IssueQueue,
    scheduling: Scheduling,
    loads: Vec<Load>,
    changed: Changed,
    requests: usize,
}

impl Bench {
    fn new(scheduler: &str, requests: &[&[Page]]) -> Self {
        let geometry = Geometry {
            dies_per_package: DIES,
            planes_per_die: PLANES,
            blocks_per_plane: 4,
            pages_per_block: 100,
            ..Geometry::default()
        };
        let layout = Layout::new(&geometry, CHANNELS * PACKAGES).unwrap();
        let mut queue = IssueQueue::new(layout, PlaneRule::PageOffset, DIES, PACKAGES * DIES);
        queue.keep_places();
        queue.keep_ages();
        for (number, pages) in requests.iter().enumerate() {
            for &(name, [channel, package, die], plane) in *pages {
                let die = ((channel - 1) * PACKAGES + package - 1) * DIES + die - 1;
                let waiting = read(&layout, number, name, die, plane);
                queue.push(waiting);
            }
        }
        let mut policies = Scheduler::defaults().into_iter();
        let policy = policies.find(|policy| policy.name() == scheduler);
        Self {
            queue,
            scheduling: Scheduling::new(&policy.unwrap()),
            loads: vec![Load::default(); layout.dies as usize],
            changed: Changed::new(),
            requests: requests.len(),
        }
    }

    /// Chooses groups until nothing more can be chosen, then completes them all. Returns the names
    /// of the pages of each group.
    fn round(&mut self) -> Vec<Vec<u32>> {
        self.changed = (0..CHANNELS * PACKAGES).collect();
        let mut chosen = Vec::new();
        loop {
            let mut group: Vec<EntryId> = Vec::new();
            let view = View {
                now: Time::ZERO,
                queue: &self.queue,
                loads: &self.loads,
                joins: true,
            };
            self.scheduling.choose(&view, &mut self.changed, &mut group);
            if group.is_empty() {
                break;
            }
            let waiting: Vec<_> = group.iter().map(|id| self.queue.remove(*id)).collect();
            for waiting in &waiting {
                *self.loads[waiting.die.index()].of(waiting.operation) += 1;
            }
            chosen.push(waiting.iter().map(|waiting| waiting.slot).collect());
        }
        self.loads.fill(Load::default());
        for request in 0..self.requests {
            let ids: Vec<EntryId> = self.queue.iter().collect();
            if ids
                .iter()
                .all(|id| self.queue.get(*id).ticket != request as u32)
            {
                self.scheduling.done(request as u32);
            }
        }
        chosen
    }

    fn rounds(&mut self) -> Vec<Vec<Vec<u32>>> {
        let mut rounds = Vec::new();
        while self.queue.iter().next().is_some() {
            let round = self.round();
            assert!(!round.is_empty(), "a round must choose an operation");
            rounds.push(round);
        }
        rounds
    }
}

/// Returns a read; its name determines its page. Pages whose names differ only in the last bit have
/// the same offset in their blocks.
fn read(layout: &Layout, number: usize, name: u32, die: u32, plane: u32) -> Waiting {
    let block = (0..layout.blocks())
        .map(wordline_nand::Block)
        .find(|block| {
            layout.plane_of(*block).0 == die * PLANES + plane && layout.block_in_plane(*block) == 0
        });
    let block = block.unwrap();
    let place = Ppn(layout.page(block, 0).0 + name / 2);
    Waiting {
        slot: name,
        request: number as u64,
        ticket: number as u32,
        operation: Operation::Read,
        place,
        block,
        die: layout.die_of_page(place),
        plane,
        since: Time::ZERO,
    }
}

/// Figure 6.5, as described in section 6.4.2: requests 1 and 2 share a package. Two pages of
/// request 2 share a die; its third page is elsewhere. Request 3 is alone on channel 2. Requests 4
/// and 5 need die 4 of package 1 on channel 4, and request 6 needs another die of that package.
const FIGURE_6_5: [&[Page]; 6] = [
    &[(21, [1, 1, 2], 0), (31, [1, 2, 1], 0), (41, [1, 2, 2], 0)],
    &[(1, [1, 1, 1], 0), (2, [1, 1, 1], 0), (61, [3, 1, 3], 0)],
    &[(51, [2, 2, 1], 0)],
    &[(81, [4, 1, 4], 0)],
    &[(82, [4, 1, 4], 0)],
    &[(71, [4, 1, 3], 0)],
];

fn flat(round: &[Vec<u32>]) -> Vec<u32> {
    let mut names = round.concat();
    names.sort_unstable();
    names
}

#[test]
fn paq_serves_figure_6_6_a_in_three_clumps() {
    for scheduler in ["paq1", "paq2"] {
        let rounds = Bench::new(scheduler, &FIGURE_6_5).rounds();
        assert_eq!(
            flat(&rounds[0]),
            [1, 31, 51, 61, 81],
            "{scheduler}: the first clump"
        );
        assert_eq!(rounds.len(), 3, "{scheduler}: {rounds:?}");
    }
}

#[test]
fn vaq_serves_figure_6_6_b_in_six_sets() {
    let rounds = Bench::new("vaq", &FIGURE_6_5).rounds();
    let sets: Vec<_> = rounds.iter().map(|round| flat(round)).collect();
    assert_eq!(
        sets[0],
        [21, 31, 41],
        "request 1 starts first, because none of its packages is in use"
    );
    assert_eq!(
        sets[1],
        [1],
        "two pages of request 2 need one die, which stalls all other requests"
    );
    assert_eq!(sets[2], [2, 61]);
    assert_eq!(
        sets[3],
        [51, 81],
        "only these two requests are served at the same time"
    );
    assert_eq!(sets[4..], [[82], [71]], "request 5 stalls request 6");
    assert_eq!(sets.len(), 6);
}

/// The six sets are those of whole requests that stall at packages. If requests stall at dies, the
/// second set starts with the first, and the sixth with the fifth. If pages stall, requests 3 and 4
/// also start with the rest of the second request.
#[test]
fn figure_6_6_b_has_fewer_sets_if_requests_stall_at_dies() {
    use super::in_order::{Conflict, Grain};
    let sets = |grain, conflict| {
        let mut bench = Bench::new("paq0", &FIGURE_6_5);
        let policy = super::paq0::Paq0 {
            conflict,
            grain,
            ..Default::default()
        };
        bench.scheduling = Scheduling::new(&Scheduler::Paq0(policy));
        let rounds = bench.rounds();
        rounds.iter().map(|round| flat(round)).collect::<Vec<_>>()
    };
    assert_eq!(sets(Grain::Request, Conflict::Package).len(), 6);
    assert_eq!(
        sets(Grain::Request, Conflict::Die),
        [vec![1, 21, 31, 41], vec![2, 61], vec![51, 81], vec![71, 82]]
    );
    assert_eq!(
        sets(Grain::Page, Conflict::Die),
        [vec![1, 21, 31, 41], vec![2, 51, 61, 81], vec![71, 82]]
    );
}

/// Figure 6.7: pages 2 and 3, 4 and 5, 6 and 7, 72 and 73 are pairs on two planes. Only the last
/// pair belongs to one request.
const FIGURE_6_7: [&[Page]; 7] = [
    &[(2, [1, 1, 1], 0)],
    &[(6, [2, 1, 1], 0)],
    &[(4, [3, 1, 1], 0)],
    &[(72, [4, 1, 1], 0), (73, [4, 1, 1], 1)],
    &[(3, [1, 1, 1], 1)],
    &[(7, [2, 1, 1], 1)],
    &[(5, [3, 1, 1], 1)],
];

#[test]
fn paq_packs_four_pairs_in_figure_6_7() {
    for scheduler in ["paq0", "paq2"] {
        let mut commits = Bench::new(scheduler, &FIGURE_6_7).rounds().concat();
        commits = commits
            .iter()
            .map(|commit| flat(std::slice::from_ref(commit)))
            .collect();
        commits.sort();
        let pairs = [vec![2, 3], vec![4, 5], vec![6, 7], vec![72, 73]];
        assert_eq!(commits, pairs, "{scheduler}");
    }
}

#[test]
fn vaq_packs_one_pair_in_figure_6_7_and_issues_six_pages_alone() {
    let commits = Bench::new("vaq", &FIGURE_6_7).rounds().concat();
    let (pairs, single): (Vec<_>, Vec<_>) = commits.iter().partition(|commit| commit.len() > 1);
    assert_eq!(pairs, [&[72, 73]]);
    assert_eq!(single.len(), 6, "{single:?}");
}

/// Sprinkler visits packages by their position on the channels, not in request order.
#[test]
fn sprinkler_visits_the_first_package_of_every_channel_first() {
    let requests: [&[Page]; 4] = [
        &[(10, [1, 2, 1], 0)],
        &[(20, [2, 1, 1], 0)],
        &[(30, [1, 1, 1], 0)],
        &[(40, [2, 2, 1], 0)],
    ];
    let order = Bench::new("sprinkler", &requests)
        .rounds()
        .concat()
        .concat();
    assert_eq!(order, [30, 20, 10, 40]);
}

/// A read overtakes a write to its die. No operation overtakes an operation that it depends on.
#[test]
fn read_first_lets_reads_overtake_writes_except_the_program_of_their_page() {
    let mut bench = Bench::new("read-first", &[]);
    let geometry = Geometry {
        dies_per_package: DIES,
        planes_per_die: PLANES,
        blocks_per_plane: 4,
        pages_per_block: 100,
        ..Geometry::default()
    };
    let layout = Layout::new(&geometry, CHANNELS * PACKAGES).unwrap();
    let program = |number, name| Waiting {
        operation: Operation::Program,
        ..read(&layout, number, name, 0, 0)
    };
    bench.queue.push(program(0, 10));
    bench.queue.push(program(1, 12));
    bench.queue.push(read(&layout, 2, 12, 0, 0));
    bench.queue.push(read(&layout, 3, 4, 0, 0));
    let rounds = bench.rounds().concat().concat();
    assert_eq!(
        rounds,
        [4, 10, 12, 12],
        "the read of page 12 waits for its program"
    );
}

/// Three packages have reads, and two reads of the first package need the same die. While that die
/// is busy, the sweep stops with `in_turn`, although the third package is idle and has another
/// read. Without `in_turn`, that read is served.
#[test]
fn busy_package_stops_the_sweep_only_if_packages_are_served_in_turn() {
    let requests: [&[Page]; 4] = [
        &[(10, [1, 1, 1], 0), (14, [1, 1, 1], 0)],
        &[(20, [1, 2, 1], 0)],
        &[(30, [2, 1, 1], 0)],
        &[(34, [2, 1, 2], 0)],
    ];
    for in_turn in [false, true] {
        let mut bench = Bench::new("paq2", &requests);
        let policy = super::paq2::Paq2 {
            in_turn,
            ..Default::default()
        };
        bench.scheduling = Scheduling::new(&Scheduler::Paq2(policy));
        assert_eq!(bench.round(), [[10], [20], [30]], "one read per package");
        // The die of the first package is still receiving its command.
        let die = bench.queue.get(bench.queue.iter().next().unwrap()).die;
        bench.loads[die.index()].counts[0] = 1;
        let late = bench.round().concat();
        let expected: &[u32] = if in_turn { &[] } else { &[34] };
        assert_eq!(late, expected, "in_turn = {in_turn}");
        assert_eq!(
            flat(&bench.round()),
            if in_turn { vec![14, 34] } else { vec![14] }
        );
    }
}

/// Two writes of two requests fit one command. With `holds_writes` they are issued together;
/// otherwise writes do not wait at all.
#[test]
fn paq0_packs_waiting_writes_of_different_requests() {
    for holds_writes in [false, true] {
        let mut bench = Bench::new("paq0", &[]);
        let policy = super::paq0::Paq0 {
            holds_writes,
            ..Default::default()
        };
        bench.scheduling = Scheduling::new(&Scheduler::Paq0(policy));
        assert_eq!(bench.scheduling.holds(Operation::Program), holds_writes);
        for (number, plane) in [(0, 0), (1, 1)] {
            let geometry = Geometry {
                dies_per_package: DIES,
                planes_per_die: PLANES,
                blocks_per_plane: 4,
                pages_per_block: 100,
                ..Geometry::default()
            };
            let layout = Layout::new(&geometry, CHANNELS * PACKAGES).unwrap();
            bench.queue.push(Waiting {
                operation: Operation::Program,
                ..read(&layout, number, 2 + plane, 0, plane)
            });
        }
        let together = bench.round()[0].len() == 2;
        assert_eq!(together, holds_writes);
    }
}
