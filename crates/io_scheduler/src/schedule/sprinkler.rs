//! Sprinkler: resource-driven scheduling (RIOS) with over-commitment (FARO).

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;
use wordline_nand::Die;

use super::issue_queue::Class;
use super::pack::{LOOK, PackScope, pack};
use super::{Changed, EntryId, Schedule, View, us};

/// The scheduler visits packages by their position on the channels, starting with the first of each
/// channel. It commits the operations waiting there, up to the first 64, regardless of request
/// order (RIOS). A package gets more operations than it can execute at once (FARO). The least
/// loaded die comes first; among its operations, the command that covers the most planes, then the
/// one whose request has the most operations waiting in the package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sprinkler {
    /// Number of committed operations of a package below which the package gets another command.
    /// Committed operations on one plane keep their order, so a lower value packs more planes. The
    /// default is an assumption. Count.
    #[schemars(range(min = 1, max = 65536))]
    pub over_commitment: u32,
    /// Age above which a ready operation goes to the queue of its die unconditionally, before all
    /// others of its package. 0 disables the bound. Microseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub age_bound_us: f64,
}

impl Default for Sprinkler {
    fn default() -> Self {
        Self {
            over_commitment: 8,
            age_bound_us: 0.0,
        }
    }
}

impl Cited for Sprinkler {
    const PAPER: &'static str = "M. Jung, M. Kandemir, Sprinkler: Maximizing Resource Utilization in Many-Chip Solid State Disks, HPCA 2014";
}

/// State of the policy: its two limits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    over_commitment: u32,
    age_bound: Time,
    #[serde(skip)]
    choice: Choice,
}

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &Sprinkler) -> Self {
        Self {
            over_commitment: policy.over_commitment,
            age_bound: us(policy.age_bound_us),
            choice: Choice::default(),
        }
    }

    fn group(&mut self, view: &View<'_>, package: u32, group: &mut Vec<EntryId>) {
        if view.queue.of_package_count(package) == 0 {
            return;
        }
        let takes = view.committed(package) < self.over_commitment;
        let overdue = view.overdue(package, self.age_bound);
        let head = overdue.or_else(|| takes.then(|| self.choice.widest(view, package))?);
        if let Some(head) = head {
            group.push(head);
            pack(view, head, PackScope::Any, group);
        }
    }
}

/// Choice of an operation of a package. Keeps its lists to reuse their allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// Ready operations among the first 64 queued for the package.
    members: Vec<Member>,
    dies: Vec<Die>,
    /// Members of one die, by class; see [`Member::key`].
    keys: Vec<u64>,
}

/// Ready operation of a package.
#[derive(Clone, Copy, Debug)]
struct Member {
    id: EntryId,
    die: Die,
    class: Class,
    plane: u32,
    request: u64,
    /// Number of operations of the same request among the first 64 of the package, ready or not.
    connected: u32,
    /// Index in the queue of the package.
    place: u32,
}

/// Number of bits of a member's index, and of a plane, in a key.
const BITS: u32 = LOOK.ilog2();

impl Member {
    /// Returns a key that sorts the members by class. Its low bits are the plane and the index of
    /// the member.
    #[inline]
    fn key(&self, index: usize) -> u64 {
        self.class.bits() << (2 * BITS) | u64::from(self.plane) << BITS | index as u64
    }
}

impl Choice {
    /// Returns the operation whose command covers the most planes of the least loaded die in a
    /// package; among equals, one of the request with the most operations waiting in the package,
    /// then of the earliest request, then the last in the queue.
    pub(super) fn widest(&mut self, view: &View<'_>, package: u32) -> Option<EntryId> {
        let queue = view.queue;
        let waits = |die: &Die| queue.of_die_count(*die) > 0;
        self.dies.clear();
        self.dies
            .extend(queue.dies_of_package(package).filter(waits));
        self.dies
            .sort_unstable_by_key(|die| (view.load(*die).committed(), die.0));
        self.look(view, package);
        (0..self.dies.len()).find_map(|turn| self.widest_of_die(view, self.dies[turn]))
    }

    /// Lists the ready operations among the first 64 queued for a package.
    fn look(&mut self, view: &View<'_>, package: u32) {
        let queue = view.queue;
        self.members.clear();
        // Operations of a request are adjacent in the queue.
        let (mut first_ready, mut connected, mut request) = (0, 0, u64::MAX);
        for (place, id) in (0..).zip(queue.of_package(package).take(LOOK)) {
            let waiting = queue.get(id);
            if waiting.request != request {
                self.connect(first_ready, connected);
                (first_ready, connected, request) = (self.members.len(), 0, waiting.request);
            }
            connected += 1;
            if queue.is_ready(id) {
                self.members.push(Member {
                    id,
                    die: waiting.die,
                    class: queue.class(id),
                    plane: waiting.plane,
                    request,
                    connected: 0,
                    place,
                });
            }
        }
        self.connect(first_ready, connected);
    }

    /// Sets `connected` in the members of the request that was listed last.
    #[inline]
    fn connect(&mut self, first: usize, connected: u32) {
        for member in &mut self.members[first..] {
            member.connected = connected;
        }
    }

    fn widest_of_die(&mut self, view: &View<'_>, die: Die) -> Option<EntryId> {
        let members = self.members.iter().enumerate();
        let of_die = members.filter(|(_, member)| member.die == die);
        self.keys.clear();
        self.keys
            .extend(of_die.map(|(index, member)| member.key(index)));
        self.keys.sort_unstable();
        let mask = (1 << BITS) - 1;
        let mut best = None;
        for class in self
            .keys
            .chunk_by(|one, other| one >> (2 * BITS) == other >> (2 * BITS))
        {
            let planes = class.iter().map(|key| 1_u64 << (key >> BITS & mask));
            let planes = planes.fold(0, |all, plane| all | plane);
            let width = if view.joins { planes.count_ones() } else { 1 };
            for key in class {
                let member = &self.members[(key & mask) as usize];
                let earliest = Reverse(member.request);
                let rank = (width, member.connected, earliest, member.place, member.id);
                best = best.max(Some(rank));
            }
        }
        best.map(|(.., id)| id)
    }
}

impl Schedule for State {
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        let packages_per_channel = view.queue.packages() / view.queue.channels();
        let rank = |package: &u32| (package % packages_per_channel, *package);
        while let Some(package) = changed.iter().min_by_key(rank) {
            self.group(view, package, group);
            if !group.is_empty() {
                return;
            }
            changed.remove(package);
        }
    }
    fn packs(&self) -> bool {
        true
    }
}
