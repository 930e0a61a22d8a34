//! Clumps: operations that run without being in each other's way (Jung 2013, sections 6.4.2, 6.4.3).

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use super::pack::{PackScope, pack};
use super::{Changed, EntryId, View};

/// What an operation has in common with others that wait. A conflict at one level is one at all
/// levels above; the lowest is the most costly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Conflict {
    /// A die.
    Node,
    /// A package.
    Cluster,
    /// A channel.
    Domain,
    /// Nothing.
    None,
}

/// Builds clumps, package by package.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Clump {
    scope: PackScope,
    interleaves: bool,
    in_turn: bool,
    age_bound: Time,
    /// The package after the one that was served last.
    cursor: u32,
}

impl Clump {
    pub(super) fn new(scope: PackScope, interleaves: bool, in_turn: bool, age_bound: Time) -> Self {
        Self {
            scope,
            interleaves,
            in_turn,
            age_bound,
            cursor: 0,
        }
    }

    pub(super) fn choose(
        &mut self,
        view: &View<'_>,
        changed: &mut Changed,
        group: &mut Vec<EntryId>,
    ) {
        if self.in_turn {
            self.choose_in_turn(view, group);
            if group.is_empty() {
                changed.clear();
            }
            return;
        }
        loop {
            let behind = changed.range(self.cursor..).next();
            let Some(&package) = behind.or_else(|| changed.first()) else {
                return;
            };
            changed.remove(&package);
            let Some(head) = self.head(view, package) else {
                continue;
            };
            self.cursor = package + 1;
            group.push(head);
            pack(view, head, self.scope, group);
            return;
        }
    }

    /// Visits packages with something in the queue in the order of their numbers, those of a channel
    /// side by side. One that can't take what waits for it holds up the sweep (Algorithm 2, line 4).
    fn choose_in_turn(&mut self, view: &View<'_>, group: &mut Vec<EntryId>) {
        let packages = view.queue.packages();
        let mut sweep = (self.cursor..packages).chain(0..self.cursor.min(packages));
        let Some(package) = sweep.find(|package| view.queue.of_package_count(*package) > 0) else {
            return;
        };
        self.cursor = package;
        if let Some(head) = self.head(view, package) {
            self.cursor += 1;
            group.push(head);
            pack(view, head, self.scope, group);
        }
    }

    /// The operation that a package gets next, if it can take one: one of the lowest level that has
    /// conflicts, the first in the queue of those.
    pub(super) fn head(&self, view: &View<'_>, package: u32) -> Option<EntryId> {
        if let Some(overdue) = view.overdue(package, self.age_bound) {
            return Some(overdue);
        }
        let serves = if self.interleaves {
            view.is_issuing(package)
        } else {
            view.committed(package) > 0
        };
        if serves {
            return None;
        }
        let able = view.firsts(package);
        able.min_by_key(|id| (conflict(view, *id), view.queue.rank(*id)))
    }
}

pub(super) fn conflict(view: &View<'_>, id: EntryId) -> Conflict {
    let queue = view.queue;
    let die = queue.get(id).die;
    if queue.of_die_count(die) > 1 {
        Conflict::Node
    } else if queue.of_package_count(queue.package(die)) > 1 {
        Conflict::Cluster
    } else if queue.of_channel_count(queue.channel(die)) > 1 {
        Conflict::Domain
    } else {
        Conflict::None
    }
}
