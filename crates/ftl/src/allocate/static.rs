//! Static page allocation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_nand::Plane;

use super::{Dimensions, Order, PlanePolicy};
use crate::lpn::Lpn;

/// The address determines the plane: consecutive logical pages go to the planes in turn, in the
/// given order, and a page always returns to its plane. A write waits if its plane is busy or full.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Static {
    /// Order in which consecutive pages are striped over channels (C), ways (W), dies (D) and
    /// planes (P). The first letter varies fastest.
    pub order: Order,
    /// Whether a physical page is allocated to a write when the scheduler issues the write, instead
    /// of on its arrival. Programs that are issued together to all planes of a die then take pages
    /// at the same offset, in blocks kept aligned for this purpose. They form one multi-plane
    /// command ("packed together in any manner", section 6.3). Other programs take the next page of
    /// their plane's block. Requires page mapping and a scheduler that holds writes.
    pub on_issue: bool,
}

impl Cited for Static {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, chapter 3";
}

/// Planes in allocation order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    planes: Vec<Plane>,
}

impl State {
    pub(super) const BY_ADDRESS: bool = true;
    pub(super) fn new(policy: &Static, dimensions: Dimensions) -> Self {
        Self {
            planes: policy.order.planes(dimensions),
        }
    }
    #[inline]
    fn of(&self, page: Lpn) -> Plane {
        self.planes[(page.0 % self.planes.len() as u32) as usize]
    }
}

impl PlanePolicy for State {
    #[inline]
    fn plane(&mut self, page: Lpn, mut has_room: impl FnMut(Plane) -> bool) -> Option<Plane> {
        let plane = self.of(page);
        has_room(plane).then_some(plane)
    }
    fn home(&self, page: Lpn) -> Option<Plane> {
        Some(self.of(page))
    }
    fn turn(&self, first: Lpn) -> Option<Vec<Plane>> {
        let mut planes = self.planes.clone();
        planes.rotate_left(first.index() % self.planes.len());
        Some(planes)
    }
}
