//! The load of the dies, kept as it changes.

use serde::{Deserialize, Serialize};
use wordline_ftl::{Collection, Lpn, Mapping};
use wordline_kernel::Time;
use wordline_nand::{Die, Operation, Plane};

use super::Controller;
use crate::plan::Plan;

/// What a die has to do: what waits for it, and what it is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DieLoad {
    /// Reads of the host.
    pub reads: u32,
    /// Programs of the host, those included that wait for a free page in the die.
    pub programs: u32,
    /// Collections that have begun and are not over.
    pub collections: u32,
    /// How long these take without anything else: pages to move and blocks to erase, as known when
    /// they began (Liu et al., LCR, eq. 2: `T_gc`).
    pub collecting: Time,
}

/// What the back end does not know of the dies, and how long operations take.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieLoads {
    /// By die: programs that wait for a free page, collections and their time.
    dies: Vec<DieLoad>,
    read: Time,
    program: Time,
    erase: Time,
}

impl DieLoads {
    pub fn new(plan: &Plan) -> Self {
        let time = |operation| plan.part.chains.unloaded(operation, 0);
        Self {
            dies: vec![DieLoad::default(); plan.part.layout.dies as usize],
            read: time(Operation::Read),
            program: time(Operation::Program),
            erase: time(Operation::Erase),
        }
    }
    /// What waits for a free page in a die, and what is collected there.
    pub fn of(&self, die: Die) -> DieLoad {
        self.dies[die.index()]
    }
    /// What a collection takes by itself.
    pub fn time(&self, collection: &Collection) -> Time {
        let cost = collection.cost;
        let moves = u64::from(cost.pages) * (self.read.0 + self.program.0);
        let own = u64::from(cost.metadata_pages) * self.program.0;
        Time(moves + own + u64::from(cost.blocks) * self.erase.0)
    }
    pub fn begins(&mut self, die: Die, time: Time) {
        let load = &mut self.dies[die.index()];
        load.collections += 1;
        load.collecting += time;
    }
    pub fn ends(&mut self, die: Die, time: Time) {
        let load = &mut self.dies[die.index()];
        load.collections -= 1;
        load.collecting -= time;
    }
    /// How long so many reads and programs take.
    pub fn time_of(&self, reads: u32, programs: u32) -> Time {
        let reads = u64::from(reads) * self.read.0;
        Time(reads + u64::from(programs) * self.program.0)
    }
    /// A program waits for a free page in the die.
    pub fn stalls(&mut self, die: Die) {
        self.dies[die.index()].programs += 1;
    }
    /// One that did goes on.
    pub fn goes_on(&mut self, die: Die) {
        self.dies[die.index()].programs -= 1;
    }
}

impl<M: Mapping> Controller<M> {
    /// What a die has to do; constant time.
    pub fn die_load(&self, die: Die) -> DieLoad {
        self.ram.die_load(die)
    }
    /// Tells the mapping what the dies have to do.
    #[cold]
    pub(super) fn tell_work(&mut self) {
        let ram = &self.ram;
        self.mapping.hear_work(|die| ram.die_time(die));
    }
    /// How long what a die has to do takes: `N_R T_read + N_W T_write + P T_gc` (Liu et al., LCR, eq.
    /// 2).
    pub fn die_time(&self, die: Die) -> Time {
        self.ram.die_time(die)
    }
    /// How long so many reads and programs take.
    pub fn time_of(&self, reads: u32, programs: u32) -> Time {
        self.ram.die_loads.time_of(reads, programs)
    }
    /// Whether every page has a die, by its address.
    pub fn address_decides(&self) -> bool {
        self.mapping.home_plane(Lpn(0)).is_some()
    }
    /// The die of a page's copy in the flash; of a page without one, that where its address puts it,
    /// if the address decides.
    pub fn die_of(&self, page: Lpn) -> Option<Die> {
        let layout = &self.layout;
        let copy = self.mapping.lookup(page);
        let die_of = |plane: Plane| layout.die_of(plane);
        copy.map(|place| layout.die_of_page(place))
            .or_else(|| self.mapping.home_plane(page).map(die_of))
    }
}
