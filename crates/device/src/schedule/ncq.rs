//! A first-in, first-out queue that stops page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_nand::Die;

use super::in_order::Conflict;
use super::{Changed, EntryId, Schedule, View};

/// First in, first out, page by page: the first page in the queue waits while its die is busy, or while another request uses its
/// channel, and all behind it wait too. A request uses a channel from the commit of a page there until that page is done ("cannot
/// commit flash-transactions until the previous requests are completed, when there is a conflict in a flash or channel").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ncq {
    /// What two requests must not share to be in flight together: a `die`, a `package` or a `channel`.
    pub conflict: Conflict,
    /// Whether pages that are committed at one instant are in nobody's way, and those of different requests may be one command
    /// ("constructed by aggregating multiple incoming requests at runtime", section 3.5.1).
    pub gathers: bool,
}

impl Default for Ncq {
    fn default() -> Self {
        Self {
            conflict: Conflict::Channel,
            gathers: true,
        }
    }
}

impl Cited for Ncq {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, sections 3.4 and 3.5";
}

/// The queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    policy: Ncq,
    /// By die: the requests of what was last committed there.
    users: Vec<Vec<u64>>,
}

impl State {
    /// Before the first request.
    pub fn new(policy: &Ncq) -> Self {
        Self {
            policy: policy.clone(),
            users: Vec::new(),
        }
    }

    /// Whether a page has to wait, behind those of the group.
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
        !self.policy.gathers && group.iter().any(in_the_way)
    }

    /// The dies that a request must not find in use by others to use this one.
    fn shared(&self, view: &View<'_>, die: Die) -> impl Iterator<Item = Die> + use<> {
        let queue = view.queue;
        let dies = |first: Die, count| first.0..first.0 + count;
        let range = match self.policy.conflict {
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

    /// Whether something of another request is committed to a die.
    fn is_used(&self, view: &View<'_>, die: Die, request: u64) -> bool {
        let users = self.users.get(die.index());
        view.load(die).committed() > 0
            && users
                .is_none_or(|users| users.is_empty() || users.iter().any(|user| *user != request))
    }

    fn note(&mut self, view: &View<'_>, group: &[EntryId]) {
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

impl Schedule for State {
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        changed.clear();
        for id in view.queue.iter() {
            if self.waits(view, group, id) {
                break;
            }
            group.push(id);
        }
        self.note(view, group);
    }
}
