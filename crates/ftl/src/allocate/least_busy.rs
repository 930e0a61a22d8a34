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

/// Outstanding work of a die, and of its package: the sum over the dies of the package. Execution
/// time without queueing.
type Work = (Time, Time);

/// Planes in allocation order, the position from which the next search starts, and the outstanding
/// work of the dies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    planes: Vec<Plane>,
    /// Die of each of `planes`.
    dies_of_planes: Vec<u32>,
    next: usize,
    dimensions: Dimensions,
    fills_dies: bool,
    /// Plane for the next page while a die is being filled.
    filling: Option<Plane>,
    /// Outstanding work of each die.
    work: Vec<Work>,
    /// Least of `work`.
    least: Work,
}

impl State {
    pub(super) const BY_ADDRESS: bool = false;
    pub(super) fn new(policy: &LeastBusy, dimensions: Dimensions) -> Self {
        let dies = dimensions.channels * dimensions.ways * dimensions.dies;
        let planes = policy.order.planes(dimensions);
        let die_of = |plane: &Plane| plane.0 / dimensions.planes;
        Self {
            dies_of_planes: planes.iter().map(die_of).collect(),
            planes,
            next: 0,
            dimensions,
            fills_dies: policy.fills_dies,
            filling: None,
            work: vec![Work::default(); dies as usize],
            least: Work::default(),
        }
    }

    /// Returns the index in `planes` of the plane with the least work among those with room, or
    /// `None` if no plane has room. Among planes with equal work, the first from `next` on is
    /// returned.
    fn least(&self, mut has_room: impl FnMut(Plane) -> bool) -> Option<usize> {
        let all = (self.next..self.planes.len()).chain(0..self.next);
        let places = all.map(|place| (place, self.work[self.dies_of_planes[place] as usize]));
        // Nearly always, a plane of the dies with the least work has room.
        let first = places
            .clone()
            .find(|(place, work)| *work == self.least && has_room(self.planes[*place]));
        let found = first.or_else(|| {
            let with_room = places.filter(|(place, _)| has_room(self.planes[*place]));
            with_room.min_by_key(|(_, work)| *work)
        });
        found.map(|(place, _)| place)
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
        let per_package = self.dimensions.dies as usize;
        for (package, dies) in (0..).zip(self.work.chunks_mut(per_package)) {
            let mut all = Time::ZERO;
            for (die, own) in (package * self.dimensions.dies..).zip(dies.iter_mut()) {
                own.0 = work(Die(die));
                all += own.0;
            }
            for own in dies {
                own.1 = all;
            }
        }
        self.least = self.work.iter().copied().min().unwrap_or_default();
    }
}
