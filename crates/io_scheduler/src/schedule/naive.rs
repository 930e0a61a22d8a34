//! Comparison of each scheduler with a naive implementation that examines the whole queue.

use std::cmp::Reverse;

use wordline_kernel::{Rng, Time};
use wordline_nand::{Block, Die, Geometry, Layout, Operation, PlaneRule, Ppn};

use super::clump::{Clump, conflict};
use super::in_order::{Conflict, Grain};
use super::ncq::Ncq;
use super::pack::{LOOK, PackScope, pack};
use super::sprinkler::Choice;
use super::{
    Changed, EntryId, IssueQueue, Load, Schedule, Scheduler, Scheduling, View, Waiting, read_first,
};

const PACKAGES: u32 = 2;
const BLOCKS: u32 = 3;
const PAGES: u32 = 8;

/// Queue that operations enter and leave at random.
struct Bench {
    layout: Layout,
    rule: PlaneRule,
    queue: IssueQueue,
    loads: Vec<Load>,
    now: u64,
    request: u64,
    /// Whether only reads of one page each arrive.
    only_reads: bool,
}

impl Bench {
    fn new(rule: PlaneRule, dies_per_package: u32, only_reads: bool) -> Self {
        let geometry = Geometry {
            dies_per_package,
            planes_per_die: 4,
            blocks_per_plane: BLOCKS,
            pages_per_block: PAGES,
            ..Geometry::default()
        };
        let layout = Layout::new(&geometry, PACKAGES).unwrap();
        let channel = PACKAGES * dies_per_package;
        let mut queue = IssueQueue::new(layout, rule, dies_per_package, channel);
        queue.keep_places();
        queue.keep_ages();
        queue.keep_commands();
        Self {
            layout,
            rule,
            queue,
            loads: vec![Load::default(); layout.dies as usize],
            now: 0,
            request: 0,
            only_reads,
        }
    }

    /// Adds or removes an operation at random, and changes the committed operations. An operation
    /// may arrive after those of later requests, and several may arrive at one instant. The queue
    /// grows with time, beyond the number of operations per package that schedulers examine.
    fn turn(&mut self, random: &mut Rng) {
        self.now += random.below(3);
        self.request += if self.only_reads { 1 } else { random.below(2) };
        let die = random.below(u64::from(self.layout.dies)) as usize;
        self.loads[die].counts = [random.below(2) as u32, 0];
        let waiting: Vec<EntryId> = self.queue.iter().collect();
        let most = 8 << (self.now / 200);
        if waiting.len() as u64 > random.below(most) {
            let place = random.below(waiting.len() as u64);
            self.queue.remove(waiting[place as usize]);
        } else {
            let waiting = self.waiting(random);
            self.queue.push(waiting);
        }
    }

    fn waiting(&self, random: &mut Rng) -> Waiting {
        let block = Block(random.below(u64::from(self.layout.blocks())) as u32);
        let page = random.below(u64::from(PAGES)) as u32;
        let place = self.layout.page(block, page);
        let kinds = [Operation::Read, Operation::Read, Operation::Program];
        let earlier = if self.only_reads { 1 } else { random.below(3) };
        let request = self.request.saturating_sub(earlier);
        Waiting {
            slot: 0,
            request,
            ticket: request as u32,
            operation: kinds[random.below(if self.only_reads { 2 } else { 3 }) as usize],
            place,
            block,
            die: self.layout.die_of_page(place),
            plane: self.layout.plane_of(block).0 % self.layout.planes_per_die,
            since: Time(self.now),
        }
    }

    fn view(&self, joins: bool) -> View<'_> {
        View {
            now: Time(self.now + 5),
            queue: &self.queue,
            loads: &self.loads,
            joins,
        }
    }
}

fn in_the_way(bench: &Bench, kind: Operation, place: Ppn, request: Option<u64>) -> Option<EntryId> {
    let (queue, block) = (&bench.queue, bench.layout.block_of(place));
    let mut found = queue.iter().filter(|&id| {
        let other = queue.get(id);
        let later = request.is_none_or(|request| other.request > request);
        let up_to = other.operation == Operation::Program && other.place <= place;
        other.block == block && later && (kind == Operation::Erase || up_to)
    });
    let found = found.next();
    found.map(|found| queue.first_program(block).unwrap_or(found))
}

fn oldest(view: &View<'_>, package: u32) -> Option<EntryId> {
    let ids = view.queue.of_package(package);
    ids.min_by_key(|&id| view.queue.get(id).since)
}

fn able<'a>(view: &'a View<'_>, package: u32) -> impl Iterator<Item = EntryId> + 'a {
    let ids = view.queue.of_package(package);
    ids.filter(|&id| view.load(view.queue.get(id).die).committed() == 0 && view.queue.is_ready(id))
}

fn fits(bench: &Bench, one: EntryId, other: EntryId) -> bool {
    let (one, other) = (bench.queue.get(one), bench.queue.get(other));
    let layout = &bench.layout;
    let offsets = |waiting: &Waiting| {
        let block = layout.block_in_plane(waiting.block);
        (block, layout.page_in_block(waiting.place))
    };
    one.die == other.die
        && one.plane != other.plane
        && one.operation == other.operation
        && bench.rule.allows(offsets(one), offsets(other))
}

fn packed(bench: &Bench, view: &View<'_>, head: EntryId, scope: PackScope) -> Vec<EntryId> {
    let (queue, first) = (view.queue, *view.queue.get(head));
    let (mut planes, mut group) = (1_u64 << first.plane, Vec::new());
    for id in queue.of_package(queue.package(first.die)).take(LOOK) {
        let waiting = queue.get(id);
        let wanted = scope == PackScope::Any || waiting.request == first.request;
        let open = view.joins && planes >> waiting.plane & 1 == 0;
        if wanted && open && fits(bench, head, id) && queue.is_ready(id) {
            planes |= 1 << waiting.plane;
            group.push(id);
        }
    }
    group
}

fn covers_most(bench: &Bench, view: &View<'_>, package: u32) -> Option<EntryId> {
    let queue = view.queue;
    let mut dies: Vec<Die> = queue.dies_of_package(package).collect();
    dies.sort_by_key(|die| (view.load(*die).committed(), die.0));
    let first = || queue.of_package(package).take(LOOK);
    let of_request = |request| first().filter(move |id| queue.get(*id).request == request);
    dies.iter().find_map(|die| {
        let ready = first().filter(|&id| queue.get(id).die == *die && queue.is_ready(id));
        ready.max_by_key(|&id| {
            let request = queue.get(id).request;
            let packed = packed(bench, view, id, PackScope::Any).len();
            (packed, of_request(request).count(), Reverse(request))
        })
    })
}

/// Returns the lowest level at which an operation shares a resource with another: 0 for the die, 1
/// for the package, 2 for the channel, 3 if it is alone on its channel.
fn apart(view: &View<'_>, id: EntryId) -> usize {
    let queue = view.queue;
    let die = queue.get(id).die;
    let others: Vec<Die> = queue
        .iter()
        .filter(|other| *other != id)
        .map(|id| queue.get(id).die)
        .collect();
    let levels: [&dyn Fn(Die) -> bool; 3] = [
        &|other| other == die,
        &|other| queue.package(other) == queue.package(die),
        &|other| queue.channel(other) == queue.channel(die),
    ];
    let shared = levels
        .iter()
        .position(|shares| others.iter().any(|other| shares(*other)));
    shared.unwrap_or(levels.len())
}

/// Returns the next operation of a package that holds at most one command at a time, or one per die
/// if `interleaves` is set.
fn clumped(view: &View<'_>, package: u32, interleaves: bool) -> Option<EntryId> {
    let serves = view.queue.dies_of_package(package).any(|die| {
        let load = view.load(die);
        load.committed() > 0 && !(interleaves && load.array_begun)
    });
    let head = able(view, package).min_by_key(|id| apart(view, *id));
    head.filter(|_| !serves)
}

/// Returns the operations of the first request that can be issued at once, and the operations of
/// other requests that are packed with those of the kinds `packs`. Returns none if the request is
/// blocked.
fn in_order(
    bench: &Bench,
    view: &View<'_>,
    conflict: Conflict,
    packs: &[Operation],
) -> Vec<EntryId> {
    let queue = view.queue;
    let die = |id: EntryId| queue.get(id).die;
    let shares = |one: Die, other: Die| match conflict {
        Conflict::Die => one == other,
        Conflict::Package => queue.package(one) == queue.package(other),
        Conflict::Channel => queue.channel(one) == queue.channel(other),
    };
    let request = queue.iter().next().map(|head| queue.get(head).request);
    let of_request = |id: &EntryId| Some(queue.get(*id).request) == request;
    let own: Vec<EntryId> = queue.iter().take_while(of_request).collect();
    let used = |id: &EntryId| {
        let mut dies = (0..bench.layout.dies).map(Die);
        dies.any(|other| view.load(other).committed() > 0 && shares(die(*id), other))
    };
    if own.iter().any(used) {
        return Vec::new();
    }
    let mut group: Vec<EntryId> = Vec::new();
    for id in own {
        let joins =
            |other: &EntryId| die(*other) != die(id) || (view.joins && fits(bench, *other, id));
        if !group.iter().all(joins) {
            break;
        }
        group.push(id);
    }
    packed_beside(bench, view, group, packs)
}

/// Adds operations that fit one command with an operation of the group whose kind is in `packs`, on
/// planes that the group does not use.
fn packed_beside(
    bench: &Bench,
    view: &View<'_>,
    mut group: Vec<EntryId>,
    packs: &[Operation],
) -> Vec<EntryId> {
    let queue = view.queue;
    let takes = |id: &EntryId| packs.contains(&queue.get(*id).operation);
    for id in group.clone().into_iter().filter(takes) {
        for other in packed(bench, view, id, PackScope::Any) {
            let plane = |id: EntryId| (queue.get(id).die, queue.get(id).plane);
            if !group.iter().any(|member| plane(*member) == plane(other)) {
                group.push(other);
            }
        }
    }
    group
}

/// Returns the package that the sweep visits: `package` or, with `in_turn`, the first with waiting
/// operations.
fn visited(view: &View<'_>, package: u32, in_turn: bool) -> u32 {
    let waiting = view.queue.iter().map(|id| view.queue.get(id).die);
    let first = waiting.map(|die| view.queue.package(die)).min();
    first.filter(|_| in_turn).unwrap_or(package)
}

/// Returns the longest prefix of pages that can all be issued. Each page needs an idle die, or a
/// die that only pages of the prefix use and whose command it can join. No other request may use
/// its conflict area: neither one committed earlier nor, unless `gathers` is set, one of the
/// prefix. Requests committed earlier are unknown here, so they count as other requests.
fn page_by_page(bench: &Bench, view: &View<'_>, conflict: Conflict, gathers: bool) -> Vec<EntryId> {
    let queue = view.queue;
    let area = |die: Die| match conflict {
        Conflict::Die => die.0,
        Conflict::Package => queue.package(die),
        Conflict::Channel => queue.channel(die),
    };
    let dies = || (0..bench.layout.dies).map(Die);
    let ids: Vec<EntryId> = queue.iter().collect();
    let goes = |place: usize| {
        let own = queue.get(ids[place]);
        let alone = dies().all(|die| area(die) != area(own.die) || view.load(die).committed() == 0);
        let with_row = ids[..place].iter().all(|&id| {
            let other = queue.get(id);
            let joins = other.die != own.die || (view.joins && fits(bench, id, ids[place]));
            let apart = area(other.die) != area(own.die) || other.request == own.request;
            joins && (gathers || apart)
        });
        alone && with_row
    };
    let length = (0..ids.len()).take_while(|place| goes(*place)).count();
    ids[..length].to_vec()
}

/// Returns the operations that the naive implementation of a scheduler issues first, from all
/// packages or from `package`. Every scheduler must have a naive implementation.
fn twin(scheduler: &Scheduler, bench: &Bench, view: &View<'_>, package: u32) -> Vec<EntryId> {
    let beside = |head: Option<EntryId>, scope| {
        let packed = head.map(|head| packed(bench, view, head, scope));
        head.into_iter()
            .chain(packed.into_iter().flatten())
            .collect()
    };
    #[allow(unreachable_patterns)] // a new scheduler has no naive implementation yet
    match scheduler {
        Scheduler::Immediate(_) => Vec::new(),
        Scheduler::Vaq(policy) => in_order(bench, view, policy.conflict, &[]),
        Scheduler::Paq0(policy) => {
            let kinds = [Operation::Read, Operation::Program];
            let packs = &kinds[..if policy.holds_writes { 2 } else { 1 }];
            match policy.grain {
                Grain::Request => in_order(bench, view, policy.conflict, packs),
                Grain::Page => {
                    let row = page_by_page(bench, view, policy.conflict, false);
                    packed_beside(bench, view, row, packs)
                }
            }
        }
        Scheduler::Ncq(policy) => {
            let Ncq { conflict, gathers } = *policy;
            page_by_page(bench, view, conflict, gathers)
        }
        Scheduler::Paq1(policy) => {
            let visited = visited(view, package, policy.in_turn);
            let head = clumped(view, visited, policy.interleaves);
            beside(head, PackScope::SameRequest)
        }
        Scheduler::Paq2(policy) => {
            let visited = visited(view, package, policy.in_turn);
            beside(clumped(view, visited, policy.interleaves), PackScope::Any)
        }
        Scheduler::Sprinkler(policy) => {
            let takes = view.committed(package) < policy.over_commitment;
            let head = covers_most(bench, view, package).filter(|_| takes);
            beside(head, PackScope::Any)
        }
        Scheduler::ReadFirst(_) => {
            let writes = |id: &EntryId| view.queue.get(*id).operation != Operation::Read;
            beside(able(view, package).min_by_key(writes), PackScope::Any)
        }
        other => panic!("{} has no naive implementation; add one here", other.name()),
    }
}

/// Runs a check on random queues with one and with three dies per package, under both plane rules,
/// and with reads only or with programs.
fn on_random_lines(mut check: impl FnMut(&Bench, &mut Rng)) {
    let mut random = Rng::new(1, "lines");
    for rule in [PlaneRule::PageOffset, PlaneRule::PageAndBlockOffset] {
        for (dies_per_package, only_reads) in [(1, false), (3, false), (1, true), (3, true)] {
            let mut bench = Bench::new(rule, dies_per_package, only_reads);
            for _ in 0..1_500 {
                bench.turn(&mut random);
                check(&bench, &mut random);
            }
        }
    }
}

#[test]
fn dependencies_match_the_naive_search() {
    on_random_lines(|bench, random| {
        let Waiting { place, .. } = bench.waiting(random);
        let before = bench.request.saturating_sub(random.below(12));
        for kind in [Operation::Read, Operation::Program, Operation::Erase] {
            for request in [None, Some(before)] {
                let found = bench.queue.in_the_way(kind, place, request);
                let naive = in_the_way(bench, kind, place, request);
                assert_eq!(found, naive, "{kind:?} {place:?} {request:?}");
            }
        }
    });
}

#[test]
fn oldest_operation_matches_the_naive_search() {
    on_random_lines(|bench, _| {
        let view = bench.view(true);
        for package in 0..PACKAGES {
            assert_eq!(bench.queue.oldest(package), oldest(&view, package));
        }
    });
}

#[test]
fn selected_queue_heads_match_the_naive_search() {
    let clump = Clump::new(PackScope::Any, true, false, Time::ZERO);
    let first = read_first::State::new(&read_first::ReadFirst { age_bound_us: 0.0 });
    on_random_lines(|bench, _| {
        let view = bench.view(true);
        for package in 0..PACKAGES {
            let naive = able(&view, package).min_by_key(|id| conflict(&view, *id));
            let serves = view.is_issuing(package);
            assert_eq!(clump.head(&view, package), naive.filter(|_| !serves));
            let writes = |id: &EntryId| bench.queue.get(*id).operation != Operation::Read;
            let naive = able(&view, package).min_by_key(writes);
            assert_eq!(first.head(&view, package), naive);
        }
    });
}

#[test]
fn packed_operations_match_the_naive_search() {
    on_random_lines(|bench, random| {
        let ids: Vec<EntryId> = bench.queue.iter().collect();
        if ids.is_empty() {
            return;
        }
        let head = ids[random.below(ids.len() as u64) as usize];
        for scope in [PackScope::SameRequest, PackScope::Any] {
            let (view, mut group) = (bench.view(true), Vec::new());
            pack(&view, head, scope, &mut group);
            assert_eq!(group, packed(bench, &view, head, scope));
        }
    });
}

#[test]
fn widest_command_matches_the_naive_search() {
    on_random_lines(|bench, _| {
        for joins in [true, false] {
            let view = bench.view(joins);
            for package in 0..PACKAGES {
                let naive = covers_most(bench, &view, package);
                let mut choice = Choice::default();
                assert_eq!(choice.widest(&view, package).map(|one| one.head), naive);
            }
        }
    });
}

#[test]
fn every_scheduler_matches_its_naive_implementation() {
    let others = [
        Scheduler::Paq0(super::paq0::Paq0 {
            holds_writes: true,
            ..Default::default()
        }),
        Scheduler::Paq0(super::paq0::Paq0 {
            grain: Grain::Page,
            conflict: Conflict::Die,
            holds_writes: true,
            ..Default::default()
        }),
        Scheduler::Paq1(super::paq1::Paq1 {
            in_turn: true,
            ..Default::default()
        }),
        Scheduler::Paq2(super::paq2::Paq2 {
            in_turn: true,
            ..Default::default()
        }),
    ];
    for scheduler in Scheduler::defaults().into_iter().chain(others) {
        let mut issued = 0;
        on_random_lines(|bench, _| {
            for joins in [true, false] {
                let view = bench.view(joins);
                for package in 0..PACKAGES {
                    let (mut changed, mut group) = (Changed::from_iter([package]), Vec::new());
                    Scheduling::new(&scheduler).choose(&view, &mut changed, &mut group);
                    let twin = twin(&scheduler, bench, &view, package);
                    assert_eq!(group, twin, "{}", scheduler.name());
                    issued += group.len();
                }
            }
        });
        let holds = Scheduling::new(&scheduler).holds(Operation::Read);
        assert_eq!(issued > 1_000, holds, "{}: {issued}", scheduler.name());
    }
}
