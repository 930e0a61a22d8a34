//! Loads of the dies, maintained incrementally.

use serde::{Deserialize, Serialize};
use wordline_ftl::{Collection, Lpn, Mapping};
use wordline_kernel::Time;
use wordline_nand::{Die, Operation, Plane};

use super::Controller;
use super::collector::Collector;
use super::flash::Flash;
use crate::plan::Plan;

/// Load of a die: operations waiting and in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DieLoad {
    /// Reads except those of GC and rewrites. Count.
    pub reads: u32,
    /// Programs except those of GC and rewrites, including those that wait for a free page of the
    /// die. Count.
    pub programs: u32,
    /// GC runs in progress or paused. Count.
    pub collections: u32,
    /// Time that these GC runs take in sequence on an otherwise idle die, from the pages to move
    /// and the blocks to erase that are known at their start.
    pub collecting: Time,
    /// Time of the longest of these GC runs: the die's `P T_gc` (Liu et al., LCR, eq. 2), where `P`
    /// is 1 however many of its planes run GC.
    pub longest: Time,
}

/// Stalled programs and GC runs, which the back end does not count, and the times of operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieLoads {
    /// Programs that wait for a free page, and GC runs with their time, by die.
    dies: Vec<DieLoad>,
    /// Time of the GC run of a plane, by plane; zero without a run.
    planes: Vec<Time>,
    read: Time,
    program: Time,
    erase: Time,
}

impl DieLoads {
    pub fn new(plan: &Plan) -> Self {
        let time = |operation| plan.part.chains.unloaded(operation, 0);
        Self {
            dies: vec![DieLoad::default(); plan.part.layout.dies as usize],
            planes: vec![Time::ZERO; plan.part.layout.planes() as usize],
            read: time(Operation::Read),
            program: time(Operation::Program),
            erase: time(Operation::Erase),
        }
    }
    /// Returns the part of a die's load that the back end does not count: programs that wait for a
    /// free page, and GC runs.
    #[inline]
    pub fn of(&self, die: Die) -> DieLoad {
        self.dies[die.index()]
    }
    /// Returns the time of a GC run on an otherwise idle die.
    pub fn time(&self, collection: &Collection) -> Time {
        let cost = collection.cost;
        let moves = u64::from(cost.pages) * (self.read.0 + self.program.0);
        let own = u64::from(cost.metadata_pages) * self.program.0;
        Time(moves + own + u64::from(cost.blocks) * self.erase.0)
    }
    /// Records the start of a GC run on a plane; the run takes `time`.
    pub fn begins(&mut self, plane: Plane, time: Time) {
        self.planes[plane.index()] = time;
        let die = plane.index() / self.planes_per_die();
        let load = &mut self.dies[die];
        load.collections += 1;
        load.collecting += time;
        load.longest = load.longest.max(time);
    }
    /// Records the end of the GC run on a plane.
    pub fn ends(&mut self, plane: Plane) {
        let time = std::mem::take(&mut self.planes[plane.index()]);
        let per_die = self.planes_per_die();
        let die = plane.index() / per_die;
        let planes = self.planes[die * per_die..].iter().take(per_die);
        let load = &mut self.dies[die];
        load.collections -= 1;
        load.collecting -= time;
        load.longest = planes.copied().max().unwrap_or_default();
    }
    fn planes_per_die(&self) -> usize {
        self.planes.len() / self.dies.len()
    }
    /// Returns the level of a load: `N_R T_read + N_W T_write + P T_gc` (Liu et al., LCR, eq. 2).
    #[inline]
    pub fn level(&self, load: &DieLoad) -> Time {
        self.time_of(load.reads, load.programs) + load.longest
    }
    /// Returns the time of a whole load on an otherwise idle die.
    #[inline]
    pub fn work(&self, load: &DieLoad) -> Time {
        self.time_of(load.reads, load.programs) + load.collecting
    }
    /// Returns the time of `reads` reads and `programs` programs.
    #[inline]
    pub fn time_of(&self, reads: u32, programs: u32) -> Time {
        let reads = u64::from(reads) * self.read.0;
        Time(reads + u64::from(programs) * self.program.0)
    }
    /// Counts a program that waits for a free page of the die.
    pub fn stalls(&mut self, die: Die) {
        self.dies[die.index()].programs += 1;
    }
    /// Removes a program that no longer waits for a free page of the die.
    pub fn goes_on(&mut self, die: Die) {
        self.dies[die.index()].programs -= 1;
    }
    /// Returns the load of a die, including its operations in the back end and in the scheduler.
    #[inline]
    pub fn load_of(&self, flash: &Flash, die: Die) -> DieLoad {
        let mut load = self.of(die);
        let (all, programs) = flash.load_of(die);
        load.reads += all - programs;
        load.programs += programs;
        load
    }
}

impl<M: Mapping> Collector<M> {
    /// Updates the mapping's view of the die loads.
    #[inline(never)]
    pub fn tell_work(&mut self) {
        let (loads, flash) = (&self.die_loads, &self.base.flash);
        let work = |die| loads.work(&loads.load_of(flash, die));
        self.base.mapping.set_die_loads(work);
    }
}

impl<M: Mapping> Controller<M> {
    /// Returns the load of a die, in constant time.
    #[inline]
    pub fn die_load(&self, die: Die) -> DieLoad {
        self.gc.die_loads.load_of(&self.gc.base.flash, die)
    }
    /// Returns the load level of a die: `N_R T_read + N_W T_write + P T_gc` (Liu et al., LCR, eq.
    /// 2). `P` is 1 during GC of the die, else 0. If several of its planes run GC, `T_gc` is the
    /// time of the longest run.
    #[inline]
    pub fn die_time(&self, die: Die) -> Time {
        self.gc.die_loads.level(&self.die_load(die))
    }
    /// Returns the time of `reads` reads and `programs` programs.
    pub fn time_of(&self, reads: u32, programs: u32) -> Time {
        self.gc.die_loads.time_of(reads, programs)
    }
    /// Returns `true` if the address of a page determines its die.
    pub fn address_decides(&self) -> bool {
        self.gc.base.mapping.home_plane(Lpn(0)).is_some()
    }
    /// Returns the die of a page's copy in flash. Without a copy, returns the die that its address
    /// determines, or `None` if the address determines none.
    pub fn die_of(&self, page: Lpn) -> Option<Die> {
        let layout = &self.gc.base.flash.layout;
        let copy = self.gc.base.mapping.lookup(page);
        let die_of = |plane: Plane| layout.die_of(plane);
        copy.map(|place| layout.die_of_page(place))
            .or_else(|| self.gc.base.mapping.home_plane(page).map(die_of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Liu et al., LCR, eq. 2 with the times of table II (25 us, 200 us, 1.5 ms), computed by hand.
    /// On a die of four planes, 3 waiting reads and 2 waiting programs take 475 us. A GC run takes
    /// 10 x 225 + 1,500 = 3,750 us if it moves ten pages, 6,000 us if it moves twenty, and 1,500 us
    /// if it moves none. While any run is in progress, `P` is 1.
    #[test]
    fn gc_on_several_planes_counts_once_per_die() {
        let us = Time::from_us;
        let mut loads = DieLoads {
            dies: vec![DieLoad::default(); 2],
            planes: vec![Time::ZERO; 8],
            read: us(25),
            program: us(200),
            erase: us(1_500),
        };
        let mut level = |change: &dyn Fn(&mut DieLoads)| {
            change(&mut loads);
            let load = DieLoad {
                reads: 3,
                programs: 2,
                ..loads.of(Die(1))
            };
            (loads.level(&load), load.collections)
        };
        assert_eq!(level(&|_| {}), (us(475), 0));
        let begins = |plane, pages: u64| {
            move |loads: &mut DieLoads| {
                let time = us(pages * 225 + 1_500);
                loads.begins(Plane(plane), time);
            }
        };
        let ends = |plane| move |loads: &mut DieLoads| loads.ends(Plane(plane));
        assert_eq!(level(&begins(4, 10)), (us(475 + 3_750), 1));
        assert_eq!(level(&begins(6, 20)), (us(475 + 6_000), 2));
        assert_eq!(level(&begins(7, 0)), (us(475 + 6_000), 3));
        assert_eq!(
            level(&begins(3, 60)),
            (us(475 + 6_000), 3),
            "GC of the other die does not count"
        );
        assert_eq!(level(&ends(6)), (us(475 + 3_750), 2));
        assert_eq!(level(&ends(4)), (us(475 + 1_500), 1));
        assert_eq!(level(&ends(7)), (us(475), 0));
    }
}
