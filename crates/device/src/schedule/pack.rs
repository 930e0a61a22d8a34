//! Plane packing (Jung 2013, section 6.4.4): operations that the plane rule lets be one command.

use super::{Seat, View};

/// Whose operations are packed with the first of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Those of its request.
    SameRequest,
    /// Those of any request.
    Any,
}

/// Operations in line for a package that are looked at, from the first.
pub(super) const LOOK: usize = 64;

/// Adds to `group` the first operation of each further plane that fits `head`.
pub(super) fn pack(view: &View<'_>, head: Seat, whose: Whose, group: &mut Vec<Seat>) {
    if !view.joins {
        return;
    }
    let line = view.line;
    let first = *line.get(head);
    let mut planes = 1_u64 << first.plane;
    for seat in line.of_package(line.package(first.die)).take(LOOK) {
        let waiting = line.get(seat);
        if whose == Whose::SameRequest && waiting.request > first.request {
            return;
        }
        let wanted = whose == Whose::Any || waiting.request == first.request;
        let open = || planes >> waiting.plane & 1 == 0;
        if line.fits(head, seat) && wanted && open() && line.is_ready(seat) {
            planes |= 1 << waiting.plane;
            group.push(seat);
            if planes == line.planes() {
                return;
            }
        }
    }
}
