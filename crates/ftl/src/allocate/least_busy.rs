//! Page allocation to the die with the least outstanding work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;
use wordline_nand::{Die, Plane};

use super::{Dimensions, Order, PlanePolicy};
use crate::lpn::Lpn;

/// The die with the least outstanding work gets the page. Ties go to the package with the least
/// work, then to the next plane in the given order ("destined for packages and dies that are the
/// least busy"). The work of a die is the time that its reads, programs and GC take without
/// queueing. If no die has work, as before the run, this policy equals `dynamic` (except for
/// `fills_dies`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LeastBusy {
    /// Order in which consecutive pages are striped over channels (C), ways (W), dies (D) and
    /// planes (P). The first letter varies fastest.
    pub order: Order,
    /// Whether a die that gets a page also gets the following pages, one per plane. These pages can
    /// then form one multi-plane command, even if they belong to different requests ("the writes
    /// can simply be packed together in any manner", section 6.3).
    pub fills_dies: bool,
}

impl Cited for LeastBusy {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 6.3";
}

/// Planes in allocation order, the position from which the next search starts, and the outstanding
/// work of the dies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    planes: Vec<Plane>,
    next: usize,
    dimensions: Dimensions,
    fills_dies: bool,
    /// Plane for the next page while a die is being filled.
    filling: Option<Plane>,
    /// Outstanding work of each die, as execution time without queueing.
    dies: Vec<Time>,
    /// Outstanding work of each package, as the sum over its dies.
    packages: Vec<Time>,
}

impl State {
    pub(super) const BY_ADDRESS: bool = false;
    pub(super) fn new(policy: &LeastBusy, dimensions: Dimensions) -> Self {
        let packages = dimensions.channels * dimensions.ways;
        let dies = packages * dimensions.dies;
        Self {
            planes: policy.order.planes(dimensions),
            next: 0,
            dimensions,
            fills_dies: policy.fills_dies,
            filling: None,
            dies: vec![Time::ZERO; dies as usize],
            packages: vec![Time::ZERO; packages as usize],
        }
    }

    /// Returns the outstanding work of a plane's die and of its package.
    fn work(&self, plane: Plane) -> (Time, Time) {
        let die = plane.0 / self.dimensions.planes;
        let package = die / self.dimensions.dies;
        (self.dies[die as usize], self.packages[package as usize])
    }

    /// Returns the index in `planes` of the plane with the least work among those with room, or
    /// `None` if no plane has room. Among planes with equal work, the first from `next` on is
    /// returned.
    fn least(&self, mut has_room: impl FnMut(Plane) -> bool) -> Option<usize> {
        let mut least = None;
        for place in (self.next..self.planes.len()).chain(0..self.next) {
            let plane = self.planes[place];
            let work = self.work(plane);
            if least.is_some_and(|(_, other)| other <= work) || !has_room(plane) {
                continue;
            }
            least = Some((place, work));
            if work == (Time::ZERO, Time::ZERO) {
                break;
            }
        }
        least.map(|(place, _)| place)
    }

    /// Returns the next plane of the same die, or `None` after its last plane.
    fn next_on_die(&self, plane: Plane) -> Option<Plane> {
        let next = plane.0 + 1;
        (!next.is_multiple_of(self.dimensions.planes)).then_some(Plane(next))
    }
}

impl PlanePolicy for State {
    fn plane(&mut self, _page: Lpn, mut has_room: impl FnMut(Plane) -> bool) -> Option<Plane> {
        if let Some(plane) = self.filling.take()
            && has_room(plane)
        {
            self.filling = self.next_on_die(plane);
            return Some(plane);
        }
        let fills = self.fills_dies;
        let planes = self.dimensions.planes;
        let place = self.least(|plane| (!fills || plane.0 % planes == 0) && has_room(plane));
        let place = place.or_else(|| self.least(&mut has_room))?;
        self.next = (place + 1) % self.planes.len();
        let plane = self.planes[place];
        self.filling = self.next_on_die(plane).filter(|_| fills);
        Some(plane)
    }
    fn home(&self, _page: Lpn) -> Option<Plane> {
        None
    }
    fn turn(&self, _first: Lpn) -> Option<Vec<Plane>> {
        None
    }
    fn set_die_loads(&mut self, work: impl Fn(Die) -> Time) {
        self.packages.fill(Time::ZERO);
        for (number, own) in self.dies.iter_mut().enumerate() {
            *own = work(Die(number as u32));
            self.packages[number / self.dimensions.dies as usize] += *own;
        }
    }
}
