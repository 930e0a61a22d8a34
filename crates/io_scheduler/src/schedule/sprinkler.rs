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

/// Visits packages by their position on the channels, starting with the first of each channel, and
/// commits the operations waiting there, up to the first 64, regardless of request order (RIOS). A
/// package gets more operations than it can execute at once (FARO). The least loaded die comes
/// first; among its operations, the command that covers the most planes, then the one whose request
/// has the most operations waiting in the package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sprinkler {
    /// A package gets another command while fewer operations than this are committed to it.
    /// Committed operations on one plane keep their order, so a lower value packs more planes.
    /// Count. Assumed.
    #[schemars(range(min = 1, max = 65536))]
    pub over_commitment: u32,
    /// Age above which a ready operation goes to the queue of its die unconditionally, before all
    /// others of its package. 0 disables it. Microseconds.
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
}

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &Sprinkler) -> Self {
        Self {
            over_commitment: policy.over_commitment,
            age_bound: us(policy.age_bound_us),
        }
    }

    fn group(&self, view: &View<'_>, package: u32, group: &mut Vec<EntryId>) {
        let takes = view.committed(package) < self.over_commitment;
        let overdue = view.overdue(package, self.age_bound);
        let head = overdue.or_else(|| takes.then(|| widest(view, package))?);
        if let Some(head) = head {
            group.push(head);
            pack(view, head, PackScope::Any, group);
        }
    }
}

/// Returns the operation whose command covers the most planes of the least loaded die in a package;
/// among equals, one of the request with the most operations waiting in the package, then of the
/// earliest request, then the last in the queue.
pub(super) fn widest(view: &View<'_>, package: u32) -> Option<EntryId> {
    let queue = view.queue;
    let waits = |die: &Die| queue.of_die_count(*die) > 0;
    let dies = queue.dies_of_package(package).filter(waits);
    let mut dies: Vec<Die> = dies.collect();
    dies.sort_by_key(|die| (view.load(*die).committed(), die.0));
    let ready = ready(view, package);
    dies.iter()
        .find_map(|die| widest_of_die(view, &ready, *die))
}

fn widest_of_die(view: &View<'_>, ready: &[Member], die: Die) -> Option<EntryId> {
    let of_die = ready.iter().filter(|member| member.die == die);
    let mut members: Vec<Member> = of_die.copied().collect();
    members.sort_unstable_by_key(|member| member.class);
    let classes = members.chunk_by(|one, other| one.class == other.class);
    let ranked = classes.flat_map(|class| {
        let planes = class.iter().fold(0_u64, |all, member| all | member.plane);
        let width = if view.joins { planes.count_ones() } else { 1 };
        class.iter().map(move |member| (width, member))
    });
    let best = ranked.max_by_key(|(width, member)| {
        let earliest = Reverse(member.request);
        (*width, member.connected, earliest, member.place)
    });
    best.map(|(_, member)| member.id)
}

/// Operation among the first that are queued for a package.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Member {
    id: EntryId,
    die: Die,
    class: Class,
    /// Plane of the operation, as a bit.
    plane: u64,
    request: u64,
    /// Number of members that belong to the same request.
    connected: usize,
    /// Index in the queue of the package.
    place: usize,
}

impl Member {
    fn new(view: &View<'_>, place: usize, id: EntryId) -> Self {
        let waiting = view.queue.get(id);
        Self {
            id,
            die: waiting.die,
            class: view.queue.class(id),
            plane: 1 << waiting.plane,
            request: waiting.request,
            connected: 0,
            place,
        }
    }
}

/// Returns the ready operations among the first 64 queued for a package.
fn ready(view: &View<'_>, package: u32) -> Vec<Member> {
    let first = view.queue.of_package(package).take(LOOK).enumerate();
    let members = first.map(|(place, id)| Member::new(view, place, id));
    let mut members: Vec<Member> = members.collect();
    for request in members.chunk_by_mut(|one, other| one.request == other.request) {
        let connected = request.len();
        for member in request {
            member.connected = connected;
        }
    }
    members.retain(|member| view.queue.is_ready(member.id));
    members
}

impl Schedule for State {
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        let packages_per_channel = view.queue.packages() / view.queue.channels();
        let rank = |package: &u32| (package % packages_per_channel, *package);
        while let Some(package) = changed.iter().copied().min_by_key(rank) {
            self.group(view, package, group);
            if !group.is_empty() {
                return;
            }
            changed.remove(&package);
        }
    }
    fn packs(&self) -> bool {
        true
    }
}
