//! Clumps: operations that run without resource conflicts (Jung 2013, sections 6.4.2, 6.4.3).

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use super::pack::{PackScope, pack};
use super::{Changed, EntryId, View};

/// Lowest-level resource that an operation shares with other waiting operations. A conflict at one
/// level is a conflict at all levels above it. Conflicts at the lowest level, the die, cost the
/// most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Conflict {
    /// A die.
    Node,
    /// A package.
    Cluster,
    /// A channel.
    Domain,
    /// No resource.
    None,
}

/// Builder of clumps, one package at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Clump {
    scope: PackScope,
    interleaves: bool,
    in_turn: bool,
    age_bound: Time,
    /// Package at which the next search starts: the one after the last package served, or the one
    /// that stopped the sweep.
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

    pub(super) fn has_age_bound(&self) -> bool {
        self.age_bound > Time::ZERO
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
            let behind = changed.next_from(self.cursor);
            let Some(package) = behind.or_else(|| changed.next_from(0)) else {
                return;
            };
            changed.remove(package);
            let Some(head) = self.head(view, package) else {
                continue;
            };
            self.cursor = package + 1;
            group.push(head);
            pack(view, head, self.scope, group);
            return;
        }
    }

    /// Visits packages with queued operations in ascending order, which keeps those of a channel
    /// together. A package that cannot take its operation stops the sweep (Algorithm 2, line 4).
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

    /// Returns the next operation of a package: an overdue one, whether or not the package is busy;
    /// otherwise, if the package can take one, the first in the queue among those with the
    /// lowest-level conflict.
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
        view.first_by(package, |id| (conflict(view, id), view.queue.rank(id)))
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
