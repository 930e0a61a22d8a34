//! Scheduling of requests in order of arrival, for VAQ and PAQ0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_nand::{Die, Operation};

use super::pack::{PackScope, pack};
use super::{Changed, EntryId, View, Waiting};
use wordline_block::Ticket;

/// Resource that two requests in flight must not share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Conflict {
    /// A die (node).
    Die,
    /// A package (cluster).
    #[default]
    Package,
    /// A channel (domain).
    Channel,
}

/// Unit that waits and starts as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grain {
    /// A request, with all its pages.
    #[default]
    Request,
    /// A page.
    Page,
}

/// Operations of the head request that operations of later requests may join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Packs {
    /// No operations.
    Nothing,
    /// Reads.
    Reads,
    /// Reads and programs.
    All,
}

impl Packs {
    /// Adds waiting operations of any request that fit one command with an operation of the group,
    /// for the kinds of operations that may be joined.
    #[inline]
    pub(super) fn beside(self, view: &View<'_>, group: &mut Vec<EntryId>) {
        if self == Self::Nothing {
            return;
        }
        for place in 0..group.len() {
            let id = group[place];
            if self.takes(view.queue.get(id).operation) {
                pack_beside(view, id, group);
            }
        }
    }
    fn takes(self, operation: Operation) -> bool {
        self == Self::All || self == Self::Reads && operation == Operation::Read
    }
}

/// Queue with head-of-line blocking.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InOrder {
    conflict: Conflict,
    /// Operations of the head request that operations of later requests may join.
    packs: Packs,
    /// Number of the last request that has started.
    begun: Option<u64>,
    /// Request whose own operations conflict; no other request starts before it is done.
    alone: Option<Ticket>,
}

impl InOrder {
    pub(super) fn new(conflict: Conflict, packs: Packs) -> Self {
        Self {
            conflict,
            packs,
            begun: None,
            alone: None,
        }
    }

    pub(super) fn done(&mut self, ticket: Ticket) {
        if self.alone == Some(ticket) {
            self.alone = None;
        }
    }

    pub(super) fn choose(
        &mut self,
        view: &View<'_>,
        changed: &mut Changed,
        group: &mut Vec<EntryId>,
    ) {
        changed.clear();
        let Some(head) = view.queue.iter().next() else {
            return;
        };
        let head = view.queue.get(head);
        if self.begun.is_none_or(|begun| begun < head.request) && !self.begin(view, head) {
            return;
        }
        for id in of_request(view, head.request) {
            if !goes_with(view, group, id) {
                break;
            }
            group.push(id);
        }
        self.packs.beside(view, group);
    }

    /// Starts the request of `head`, the first waiting operation, if the requests in flight allow
    /// it. Returns `true` if it starts.
    fn begin(&mut self, view: &View<'_>, head: &Waiting) -> bool {
        let stalls = |id| self.is_used(view, view.queue.get(id).die);
        if self.alone.is_some()
            || self.is_used(view, head.die)
            || of_request(view, head.request).skip(1).any(stalls)
        {
            return false;
        }
        self.begun = Some(head.request);
        if conflicts_inside(view, head.request) {
            self.alone = Some(head.ticket);
        }
        true
    }

    /// Returns `true` if operations are committed to the resource of `die` that requests must not
    /// share.
    #[inline]
    fn is_used(&self, view: &View<'_>, die: Die) -> bool {
        let queue = view.queue;
        match self.conflict {
            Conflict::Die => view.load(die).committed() > 0,
            Conflict::Package => view.committed(queue.package(die)) > 0,
            Conflict::Channel => {
                let mut dies = queue.dies_of_channel(queue.channel(die));
                dies.any(|die| view.load(die).committed() > 0)
            }
        }
    }
}

/// Adds operations of any request that fit one command with the operation `id` of the group, on
/// planes of its die that the group does not use.
fn pack_beside(view: &View<'_>, id: EntryId, group: &mut Vec<EntryId>) {
    let queue = view.queue;
    let (die, mut planes) = (queue.get(id).die, 0_u64);
    for &member in group.iter() {
        if queue.get(member).die == die {
            planes |= 1 << queue.get(member).plane;
        }
    }
    let mut packed = Vec::new();
    pack(view, id, PackScope::Any, &mut packed);
    for id in packed {
        if planes >> queue.get(id).plane & 1 == 0 {
            planes |= 1 << queue.get(id).plane;
            group.push(id);
        }
    }
}

/// Returns the waiting operations of `request`, which is the request at the head of the queue.
fn of_request<'a>(view: &'a View<'_>, request: u64) -> impl Iterator<Item = EntryId> + 'a {
    let queue = view.queue;
    queue
        .iter()
        .take_while(move |id| queue.get(*id).request == request)
}

/// Returns `true` if an operation can be committed together with the group: its die is idle, and it
/// fits one command with the group's operations on that die.
fn goes_with(view: &View<'_>, group: &[EntryId], id: EntryId) -> bool {
    let die = view.queue.get(id).die;
    let mut others = group
        .iter()
        .filter(|&&other| view.queue.get(other).die == die);
    view.load(die).committed() == 0 && others.all(|&other| view.joins && view.queue.fits(other, id))
}

/// Returns `true` if two operations of a request need one die and cannot share a command.
fn conflicts_inside(view: &View<'_>, request: u64) -> bool {
    of_request(view, request).skip(1).any(|id| {
        let die = view.queue.get(id).die;
        let before = of_request(view, request).take_while(|other| *other != id);
        let mut others = before.filter(|other| view.queue.get(*other).die == die);
        others.any(|other| !view.joins || !view.queue.fits(other, id))
    })
}
