//! Dynamic page allocation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_nand::Plane;

use super::{Dimensions, Order, PlanePolicy};
use crate::lpn::Lpn;

/// The allocator selects the plane, regardless of the address: it visits the planes in the given
/// order, from its current position, and takes the next plane with a free page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dynamic {
    /// Order in which consecutive pages are striped over channels (C), ways (W), dies (D) and
    /// planes (P). The first letter varies fastest.
    pub order: Order,
}

impl Cited for Dynamic {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, chapter 3";
}

/// Planes in allocation order, and the position from which the next search starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    planes: Vec<Plane>,
    next: usize,
}

impl State {
    pub(super) const BY_ADDRESS: bool = false;
    pub(super) fn new(policy: &Dynamic, dimensions: Dimensions) -> Self {
        Self {
            planes: policy.order.planes(dimensions),
            next: 0,
        }
    }
}

impl PlanePolicy for State {
    #[inline]
    fn plane(&mut self, _page: Lpn, mut has_room: impl FnMut(Plane) -> bool) -> Option<Plane> {
        for _ in 0..self.planes.len() {
            let plane = self.planes[self.next];
            self.next += 1;
            if self.next == self.planes.len() {
                self.next = 0;
            }
            if has_room(plane) {
                return Some(plane);
            }
        }
        None
    }
    fn home(&self, _page: Lpn) -> Option<Plane> {
        None
    }
    fn turn(&self, _first: Lpn) -> Option<Vec<Plane>> {
        let mut planes = self.planes.clone();
        planes.rotate_left(self.next);
        Some(planes)
    }
}
