//! Clumps: operations that run without being in each other's way (Jung 2013, sections 6.4.2, 6.4.3).

use wordline_kernel::Time;

use super::pack::{Whose, pack};
use super::{Seat, Stirred, View};

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
#[derive(Clone, Debug)]
pub(super) struct Clump {
    whose: Whose,
    interleaves: bool,
    age_bound: Time,
    /// The package after the one that was served last.
    cursor: u32,
}

impl Clump {
    pub(super) fn new(whose: Whose, interleaves: bool, age_bound: Time) -> Self {
        Self {
            whose,
            interleaves,
            age_bound,
            cursor: 0,
        }
    }

    pub(super) fn choose(&mut self, view: &View<'_>, stirred: &mut Stirred, group: &mut Vec<Seat>) {
        loop {
            let behind = stirred.range(self.cursor..).next();
            let Some(&package) = behind.or_else(|| stirred.first()) else {
                return;
            };
            stirred.remove(&package);
            let Some(head) = self.head(view, package) else {
                continue;
            };
            self.cursor = package + 1;
            group.push(head);
            pack(view, head, self.whose, group);
            return;
        }
    }

    /// The operation that a package gets next, if it can take one: one of the lowest level that has
    /// conflicts, the first in the line of those.
    pub(super) fn head(&self, view: &View<'_>, package: u32) -> Option<Seat> {
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
        able.min_by_key(|seat| (conflict(view, *seat), view.line.rank(*seat)))
    }
}

pub(super) fn conflict(view: &View<'_>, seat: Seat) -> Conflict {
    let line = view.line;
    let die = line.get(seat).die;
    if line.of_die_count(die) > 1 {
        Conflict::Node
    } else if line.of_package_count(line.package(die)) > 1 {
        Conflict::Cluster
    } else if line.of_channel_count(line.channel(die)) > 1 {
        Conflict::Domain
    } else {
        Conflict::None
    }
}
