//! Sprinkler: resource-driven scheduling (RIOS) with over-commitment (FARO).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;
use wordline_nand::Die;

use super::commands::Class;
use super::pack::{LOOK, PackScope, pack};
use super::{Changed, EntryId, IssueQueue, Schedule, View, us};

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
        if let Some(overdue) = view.overdue(package, self.age_bound) {
            group.push(overdue);
            pack(view, overdue, PackScope::Any, group);
        } else if view.committed(package) < self.over_commitment
            && let Some(widest) = self.choice.widest(view, package)
        {
            group.push(widest.head);
            if widest.is_wide {
                pack(view, widest.head, PackScope::Any, group);
            }
        }
    }
}

/// Choice of an operation of a package. Keeps its lists to reuse their allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    dies: Vec<Die>,
    /// Ready operations of a die among the first 64 queued for its package.
    members: Vec<Member>,
    commands: Commands,
}

/// Operation that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Widest {
    pub head: EntryId,
    /// Whether other operations fit its command.
    pub is_wide: bool,
}

/// Ready operation of a die.
#[derive(Clone, Copy, Debug)]
struct Member {
    id: EntryId,
    request: u64,
    /// Number of operations of the same request among the first 64 of the package, ready or not.
    connected: u32,
    /// Index of the command that the operation fits.
    command: u8,
}

impl Choice {
    /// Returns the operation whose command covers the most planes of the least loaded die in a
    /// package; among equals, one of the request with the most operations waiting in the package,
    /// then of the earliest request, then the last in the queue.
    pub(super) fn widest(&mut self, view: &View<'_>, package: u32) -> Option<Widest> {
        let queue = view.queue;
        if queue.of_package_count(package) == 1 {
            let only = queue.of_package(package).next();
            let is_wide = false;
            let only = only.filter(|id| queue.is_ready(*id));
            return only.map(|head| Widest { head, is_wide });
        }
        let waits = |die: &Die| queue.of_die_count(*die) > 0;
        self.dies.clear();
        self.dies
            .extend(queue.dies_of_package(package).filter(waits));
        self.dies
            .sort_unstable_by_key(|die| (view.load(*die).committed(), die.0));
        let is_all_seen = queue.of_package_count(package) as usize <= LOOK;
        for turn in 0..self.dies.len() {
            if is_all_seen
                && view.joins
                && let Some((head, width)) = queue.first_of_widest(self.dies[turn])
            {
                let is_wide = width > 1;
                return Some(Widest { head, is_wide });
            }
            self.look(view, package, self.dies[turn]);
            if let Some(widest) = self.widest_member(view.joins) {
                return Some(widest);
            }
        }
        None
    }

    /// Lists the ready operations of a die among the first 64 queued for its package.
    fn look(&mut self, view: &View<'_>, package: u32, die: Die) {
        let queue = view.queue;
        let waits_for_none = queue.programs_of_die(die) == 0;
        self.members.clear();
        self.commands.clear();
        // Operations of a request are adjacent in the queue.
        let (mut first, mut connected, mut request) = (0, 0, u64::MAX);
        for id in queue.of_package(package).take(LOOK) {
            let waiting = queue.get(id);
            if waiting.request != request {
                if connected > 1 {
                    self.connect(first, connected);
                }
                (first, connected, request) = (self.members.len(), 0, waiting.request);
            }
            connected += 1;
            if waiting.die == die && (waits_for_none || queue.is_ready(id)) {
                self.members.push(Member {
                    id,
                    request,
                    connected: 1,
                    command: self.commands.join(queue.class(id), waiting.plane),
                });
            }
        }
        self.connect(first, connected);
    }

    /// Sets `connected` in the members of the request that was listed last.
    fn connect(&mut self, first: usize, connected: u32) {
        for member in &mut self.members[first..] {
            member.connected = connected;
        }
    }

    /// Returns the listed operation to choose. The width of its command matters only if `joins` is
    /// set, so that commands have several operations. Members are listed in the order of their
    /// requests.
    fn widest_member(&self, joins: bool) -> Option<Widest> {
        let most = self.commands.widest;
        let mut best: Option<&Member> = None;
        for member in &self.members {
            let fits = !joins || self.commands.width(member.command) == most;
            let wins =
                |best: &Member| member.connected > best.connected || member.request == best.request;
            if fits && best.is_none_or(wins) {
                best = Some(member);
            }
        }
        Some(Widest {
            head: best?.id,
            is_wide: joins && most > 1,
        })
    }
}

/// Slots of the hash table of commands: twice as many as there are members.
const SLOTS: usize = 2 * LOOK;

/// Commands that the listed operations of a die can form: one for each class, found by hashing.
#[derive(Clone, Debug)]
struct Commands {
    /// By hash: 1 + the index of a command, or 0.
    slots: [u8; SLOTS],
    all: Vec<Command>,
    /// Largest number of planes of a command.
    widest: u32,
}

/// Command that the operations of one class can form.
#[derive(Clone, Copy, Debug)]
struct Command {
    class: Class,
    /// Planes with an operation, one bit each.
    planes: u64,
    /// Number of these planes.
    width: u32,
}

impl Default for Commands {
    fn default() -> Self {
        Self {
            slots: [0; SLOTS],
            all: Vec::new(),
            widest: 0,
        }
    }
}

impl Commands {
    fn clear(&mut self) {
        self.slots = [0; SLOTS];
        self.all.clear();
        self.widest = 0;
    }
    /// Adds an operation to the command of its class. Returns the index of the command.
    #[inline]
    fn join(&mut self, class: Class, plane: u32) -> u8 {
        let mut slot = class.hash() as usize % SLOTS;
        loop {
            match self.slots[slot] {
                0 => {
                    self.all.push(Command {
                        class,
                        planes: 1 << plane,
                        width: 1,
                    });
                    self.widest = self.widest.max(1);
                    self.slots[slot] = self.all.len() as u8;
                    return self.slots[slot] - 1;
                }
                found => {
                    let command = &mut self.all[usize::from(found) - 1];
                    if command.class == class {
                        command.width += u32::from(command.planes >> plane & 1 == 0);
                        command.planes |= 1 << plane;
                        self.widest = self.widest.max(command.width);
                        return found - 1;
                    }
                }
            }
            slot = (slot + 1) % SLOTS;
        }
    }
    /// Returns the number of planes of a command.
    #[inline]
    fn width(&self, command: u8) -> u32 {
        self.all[usize::from(command)].width
    }
}

/// Returns the changed package with the first position on its channel, and on the first channel.
/// Removes packages without waiting operations.
#[inline]
fn first(queue: &IssueQueue, changed: &mut Changed) -> Option<u32> {
    let rank = |package: u32| (package % (queue.packages() / queue.channels()), package);
    let (mut first, mut from) = (None, 0);
    while let Some(package) = changed.next_from(from) {
        from = package + 1;
        if queue.of_package_count(package) == 0 {
            changed.remove(package);
        } else if first.is_none_or(|best| rank(package) < rank(best)) {
            first = Some(package);
        }
    }
    first
}

impl Schedule for State {
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        while let Some(package) = first(view.queue, changed) {
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
    fn keeps_commands(&self) -> bool {
        true
    }
    fn has_age_bound(&self) -> bool {
        self.age_bound > Time::ZERO
    }
}
