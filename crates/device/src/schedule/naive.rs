//! What is chosen is what a look at all that waits would choose.

use std::cmp::Reverse;

use wordline_kernel::{Stream, Time};
use wordline_nand::{Block, Die, Geometry, Layout, Operation, PlaneRule, Ppn};

use super::clump::{Clump, conflict};
use super::pack::{LOOK, Whose, pack};
use super::sprinkler::widest;
use super::{Line, Load, Seat, View, Waiting, read_first};

const PACKAGES: u32 = 2;
const BLOCKS: u32 = 3;
const PAGES: u32 = 8;

/// A line that operations enter and leave at random.
struct Bench {
    layout: Layout,
    rule: PlaneRule,
    line: Line,
    loads: Vec<Load>,
    now: u64,
    request: u64,
}

impl Bench {
    fn new(rule: PlaneRule, dies_per_package: u32) -> Self {
        let geometry = Geometry {
            dies_per_package,
            planes_per_die: 4,
            blocks_per_plane: BLOCKS,
            pages_per_block: PAGES,
            ..Geometry::default()
        };
        let layout = Layout::new(&geometry, PACKAGES).unwrap();
        Self {
            layout,
            rule,
            line: Line::new(layout, rule, dies_per_package, PACKAGES * dies_per_package),
            loads: vec![Load::default(); layout.dies as usize],
            now: 0,
            request: 0,
        }
    }

    /// Something comes, or something leaves; what is committed changes. Requests that began earlier
    /// may give operations later, and several may come at one instant. The
    /// line grows with time, beyond what is looked at of a package.
    fn turn(&mut self, random: &mut Stream) {
        self.now += random.below(3);
        self.request += random.below(2);
        let die = random.below(u64::from(self.layout.dies)) as usize;
        self.loads[die].counts = [random.below(2) as u32, 0];
        let waiting: Vec<Seat> = self.line.iter().collect();
        let most = 8 << (self.now / 200);
        if waiting.len() as u64 > random.below(most) {
            let place = random.below(waiting.len() as u64);
            self.line.remove(waiting[place as usize]);
        } else {
            let waiting = self.waiting(random);
            self.line.push(waiting);
        }
    }

    fn waiting(&self, random: &mut Stream) -> Waiting {
        let block = Block(random.below(u64::from(self.layout.blocks())) as u32);
        let page = random.below(u64::from(PAGES)) as u32;
        let place = self.layout.page(block, page);
        let kinds = [Operation::Read, Operation::Read, Operation::Program];
        let request = self.request.saturating_sub(random.below(3));
        Waiting {
            slot: 0,
            request,
            ticket: request as u32,
            operation: kinds[random.below(3) as usize],
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
            line: &self.line,
            loads: &self.loads,
            joins,
        }
    }
}

fn in_the_way(bench: &Bench, kind: Operation, place: Ppn, request: Option<u64>) -> Option<Seat> {
    let (line, block) = (&bench.line, bench.layout.block_of(place));
    let mut found = line.iter().filter(|&seat| {
        let other = line.get(seat);
        let later = request.is_none_or(|request| other.request > request);
        let up_to = other.operation == Operation::Program && other.place <= place;
        other.block == block && later && (kind == Operation::Erase || up_to)
    });
    let found = found.next();
    found.map(|found| line.first_program(block).unwrap_or(found))
}

fn oldest(view: &View<'_>, package: u32) -> Option<Seat> {
    let seats = view.line.of_package(package);
    seats.min_by_key(|&seat| view.line.get(seat).since)
}

fn able<'a>(view: &'a View<'_>, package: u32) -> impl Iterator<Item = Seat> + 'a {
    let seats = view.line.of_package(package);
    seats.filter(|&seat| {
        view.load(view.line.get(seat).die).committed() == 0 && view.line.is_ready(seat)
    })
}

fn fits(bench: &Bench, one: Seat, other: Seat) -> bool {
    let (one, other) = (bench.line.get(one), bench.line.get(other));
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

fn packed(bench: &Bench, view: &View<'_>, head: Seat, whose: Whose) -> Vec<Seat> {
    let (line, first) = (view.line, *view.line.get(head));
    let (mut planes, mut group) = (1_u64 << first.plane, Vec::new());
    for seat in line.of_package(line.package(first.die)).take(LOOK) {
        let waiting = line.get(seat);
        let wanted = whose == Whose::Any || waiting.request == first.request;
        let open = view.joins && planes >> waiting.plane & 1 == 0;
        if wanted && open && fits(bench, head, seat) && line.is_ready(seat) {
            planes |= 1 << waiting.plane;
            group.push(seat);
        }
    }
    group
}

fn covers_most(bench: &Bench, view: &View<'_>, package: u32) -> Option<Seat> {
    let line = view.line;
    let mut dies: Vec<Die> = line.dies_of_package(package).collect();
    dies.sort_by_key(|die| (view.load(*die).committed(), die.0));
    let first = || line.of_package(package).take(LOOK);
    let of_request = |request| first().filter(move |seat| line.get(*seat).request == request);
    dies.iter().find_map(|die| {
        let ready = first().filter(|&seat| line.get(seat).die == *die && line.is_ready(seat));
        ready.max_by_key(|&seat| {
            let request = line.get(seat).request;
            let packed = packed(bench, view, seat, Whose::Any).len();
            (packed, of_request(request).count(), Reverse(request))
        })
    })
}

/// Lines on one die and on three dies a package, under both plane rules.
fn on_random_lines(mut check: impl FnMut(&Bench, &mut Stream)) {
    let mut random = Stream::new(1, "lines");
    for rule in [PlaneRule::PageOffset, PlaneRule::PageAndBlockOffset] {
        for dies_per_package in [1, 3] {
            let mut bench = Bench::new(rule, dies_per_package);
            for _ in 0..1_500 {
                bench.turn(&mut random);
                check(&bench, &mut random);
            }
        }
    }
}

#[test]
fn the_same_is_in_the_way() {
    on_random_lines(|bench, random| {
        let Waiting { place, .. } = bench.waiting(random);
        let before = bench.request.saturating_sub(random.below(12));
        for kind in [Operation::Read, Operation::Program, Operation::Erase] {
            for request in [None, Some(before)] {
                let found = bench.line.in_the_way(kind, place, request);
                let naive = in_the_way(bench, kind, place, request);
                assert_eq!(found, naive, "{kind:?} {place:?} {request:?}");
            }
        }
    });
}

#[test]
fn the_same_has_waited_longest() {
    on_random_lines(|bench, _| {
        let view = bench.view(true);
        for package in 0..PACKAGES {
            assert_eq!(bench.line.oldest(package), oldest(&view, package));
        }
    });
}

#[test]
fn the_same_heads_are_chosen() {
    let clump = Clump::new(Whose::Any, true, Time::ZERO);
    let first = read_first::State::new(&read_first::ReadFirst { age_bound_us: 0.0 });
    on_random_lines(|bench, _| {
        let view = bench.view(true);
        for package in 0..PACKAGES {
            let naive = able(&view, package).min_by_key(|seat| conflict(&view, *seat));
            let serves = view.is_issuing(package);
            assert_eq!(clump.head(&view, package), naive.filter(|_| !serves));
            let writes = |seat: &Seat| bench.line.get(*seat).operation != Operation::Read;
            let naive = able(&view, package).min_by_key(writes);
            assert_eq!(first.head(&view, package), naive);
        }
    });
}

#[test]
fn the_same_is_packed() {
    on_random_lines(|bench, random| {
        let seats: Vec<Seat> = bench.line.iter().collect();
        if seats.is_empty() {
            return;
        }
        let head = seats[random.below(seats.len() as u64) as usize];
        for whose in [Whose::SameRequest, Whose::Any] {
            let (view, mut group) = (bench.view(true), Vec::new());
            pack(&view, head, whose, &mut group);
            assert_eq!(group, packed(bench, &view, head, whose));
        }
    });
}

#[test]
fn the_same_covers_most_planes() {
    on_random_lines(|bench, _| {
        for joins in [true, false] {
            let view = bench.view(joins);
            for package in 0..PACKAGES {
                let naive = covers_most(bench, &view, package);
                assert_eq!(widest(&view, package), naive);
            }
        }
    });
}
