//! Requests in the order in which they came: VAQ, and PAQ0 on top of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_nand::{Die, Operation};

use super::pack::{Whose, pack};
use super::{Seat, Stirred, View};
use wordline_block::Ticket;

/// What two requests must not have in common to be under way together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Conflict {
    /// A die (a node).
    Die,
    /// A package (a cluster).
    #[default]
    Package,
    /// A channel (a domain).
    Channel,
}

/// A queue whose head blocks.
#[derive(Clone, Debug)]
pub(super) struct InOrder {
    conflict: Conflict,
    /// Whether operations of later requests are packed with those of the head.
    packs: bool,
    /// Requests up to this number have begun.
    begun: Option<u64>,
    /// A request whose own operations are in each other's way; none begins before it is done.
    alone: Option<Ticket>,
}

impl InOrder {
    pub(super) fn new(conflict: Conflict, packs: bool) -> Self {
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

    pub(super) fn choose(&mut self, view: &View<'_>, stirred: &mut Stirred, group: &mut Vec<Seat>) {
        stirred.clear();
        let Some(head) = view.line.iter().next() else {
            return;
        };
        let head = *view.line.get(head);
        if self.begun.is_none_or(|begun| begun < head.request) && !self.begin(view) {
            return;
        }
        for seat in of_request(view, head.request) {
            if !goes_with(view, group, seat) {
                break;
            }
            group.push(seat);
        }
        if self.packs {
            for place in 0..group.len() {
                let seat = group[place];
                if view.line.get(seat).operation == Operation::Read {
                    Self::pack_beside(view, seat, group);
                }
            }
        }
    }

    /// Begins with the request at the head if those under way let it.
    fn begin(&mut self, view: &View<'_>) -> bool {
        let Some(head) = view.line.iter().next() else {
            return false;
        };
        let head = *view.line.get(head);
        let stalls = |seat| self.is_used(view, view.line.get(seat).die);
        if self.alone.is_some() || of_request(view, head.request).any(stalls) {
            return false;
        }
        self.begun = Some(head.request);
        if conflicts_inside(view, head.request) {
            self.alone = Some(head.ticket);
        }
        true
    }

    /// Whether something is committed to the die, or to its package or channel, whichever counts.
    fn is_used(&self, view: &View<'_>, die: Die) -> bool {
        let line = view.line;
        match self.conflict {
            Conflict::Die => view.load(die).committed() > 0,
            Conflict::Package => view.committed(line.package(die)) > 0,
            Conflict::Channel => {
                let mut dies = line.dies_of_channel(line.channel(die));
                dies.any(|die| view.load(die).committed() > 0)
            }
        }
    }

    /// Packs operations of other requests with one of the group, unless its own request has filled
    /// the planes.
    fn pack_beside(view: &View<'_>, seat: Seat, group: &mut Vec<Seat>) {
        let line = view.line;
        let (die, mut planes) = (line.get(seat).die, 0_u64);
        for &member in group.iter() {
            if line.get(member).die == die {
                planes |= 1 << line.get(member).plane;
            }
        }
        let mut packed = Vec::new();
        pack(view, seat, Whose::Any, &mut packed);
        for seat in packed {
            if planes >> line.get(seat).plane & 1 == 0 {
                planes |= 1 << line.get(seat).plane;
                group.push(seat);
            }
        }
    }
}

/// What waits of a request at the head of the line.
fn of_request<'a>(view: &'a View<'_>, request: u64) -> impl Iterator<Item = Seat> + 'a {
    let line = view.line;
    line.iter()
        .take_while(move |seat| line.get(*seat).request == request)
}

/// Whether an operation can be committed together with the group: its die has nothing to do, and
/// those of the group on its die make one command with it.
fn goes_with(view: &View<'_>, group: &[Seat], seat: Seat) -> bool {
    let die = view.line.get(seat).die;
    let mut others = group
        .iter()
        .filter(|&&other| view.line.get(other).die == die);
    view.load(die).committed() == 0
        && others.all(|&other| view.joins && view.line.fits(other, seat))
}

/// Whether two operations of a request want one die and cannot be one command.
fn conflicts_inside(view: &View<'_>, request: u64) -> bool {
    let mut before: Vec<Seat> = Vec::new();
    for seat in of_request(view, request) {
        let die = view.line.get(seat).die;
        let mut others = before
            .iter()
            .filter(|&&other| view.line.get(other).die == die);
        if others.any(|&other| !view.joins || !view.line.fits(other, seat)) {
            return true;
        }
        before.push(seat);
    }
    false
}
