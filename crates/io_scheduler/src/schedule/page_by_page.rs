//! Scheduling of pages in order of arrival, for NCQ and for PAQ0 with `grain = "page"`.

use serde::{Deserialize, Serialize};
use wordline_nand::Die;

use super::in_order::Conflict;
use super::{Changed, EntryId, View};

/// Queue with head-of-line blocking by page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PageByPage {
    conflict: Conflict,
    gathers: bool,
    /// Requests of the pages last committed to each die.
    users: Vec<Vec<u64>>,
}

impl PageByPage {
    pub(super) fn new(conflict: Conflict, gathers: bool) -> Self {
        Self {
            conflict,
            gathers,
            users: Vec::new(),
        }
    }

    /// Chooses the pages at the head of the queue that need not wait.
    pub(super) fn choose(&self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        changed.clear();
        for id in view.queue.iter() {
            if self.waits(view, group, id) {
                break;
            }
            group.push(id);
        }
    }

    /// Returns `true` if a page must wait, given that the pages of `group` are committed before it.
    fn waits(&self, view: &View<'_>, group: &[EntryId], id: EntryId) -> bool {
        let (queue, own) = (view.queue, view.queue.get(id));
        let fits = |other: &EntryId| {
            let die = queue.get(*other).die;
            die != own.die || (view.joins && queue.fits(*other, id))
        };
        if view.load(own.die).committed() > 0 || !group.iter().all(fits) {
            return true;
        }
        let mut shared = self.shared(view, own.die);
        if shared.any(|die| self.is_used(view, die, own.request)) {
            return true;
        }
        let in_the_way = |other: &EntryId| {
            let other = queue.get(*other);
            other.request != own.request && self.shared(view, own.die).any(|die| die == other.die)
        };
        !self.gathers && group.iter().any(in_the_way)
    }

    /// Returns the dies of the resource of `die` that requests must not share.
    fn shared(&self, view: &View<'_>, die: Die) -> impl Iterator<Item = Die> + use<> {
        let queue = view.queue;
        let dies = |first: Die, count| first.0..first.0 + count;
        let range = match self.conflict {
            Conflict::Die => dies(die, 1),
            Conflict::Package => {
                let mut own = queue.dies_of_package(queue.package(die));
                let first = own.next().unwrap_or(die);
                dies(first, 1 + own.count() as u32)
            }
            Conflict::Channel => {
                let mut own = queue.dies_of_channel(queue.channel(die));
                let first = own.next().unwrap_or(die);
                dies(first, 1 + own.count() as u32)
            }
        };
        range.map(Die)
    }

    /// Returns `true` if a page of another request is committed to a die. Pages of unknown requests
    /// count as pages of another request.
    fn is_used(&self, view: &View<'_>, die: Die, request: u64) -> bool {
        let users = self.users.get(die.index());
        view.load(die).committed() > 0
            && users
                .is_none_or(|users| users.is_empty() || users.iter().any(|user| *user != request))
    }

    /// Records the requests of the pages that are committed now.
    pub(super) fn note(&mut self, view: &View<'_>, group: &[EntryId]) {
        if self.users.len() < view.loads.len() {
            self.users.resize(view.loads.len(), Vec::new());
        }
        for id in group {
            self.users[view.queue.get(*id).die.index()].clear();
        }
        for id in group {
            let waiting = view.queue.get(*id);
            self.users[waiting.die.index()].push(waiting.request);
        }
    }
}
