//! Plane packing (Jung 2013, section 6.4.4): operations that the plane rule allows in one command.

use serde::{Deserialize, Serialize};

use super::{EntryId, View};

/// Requests whose operations may join the first operation of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PackScope {
    /// The same request.
    SameRequest,
    /// Any request.
    Any,
}

/// Maximum number of operations that are examined in the queue of a package.
pub(super) const LOOK: usize = 64;

/// Adds to `group` the first ready operation within `scope` on each other plane that fits `head`.
/// Adds none if commands have one operation only (`ssd.composition`).
pub(super) fn pack(view: &View<'_>, head: EntryId, scope: PackScope, group: &mut Vec<EntryId>) {
    if !view.joins {
        return;
    }
    let queue = view.queue;
    let first = *queue.get(head);
    let mut planes = 1_u64 << first.plane;
    for id in queue.of_package(queue.package(first.die)).take(LOOK) {
        let waiting = queue.get(id);
        if scope == PackScope::SameRequest && waiting.request > first.request {
            return;
        }
        let wanted = scope == PackScope::Any || waiting.request == first.request;
        let open = || planes >> waiting.plane & 1 == 0;
        if queue.fits(head, id) && wanted && open() && queue.is_ready(id) {
            planes |= 1 << waiting.plane;
            group.push(id);
            if planes == queue.planes() {
                return;
            }
        }
    }
}
