//! The structure of a map in the memory of the host.

pub mod b_tree;
pub mod flat_table;

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;

use crate::figures::Memory;

/// The table of the estimate of memory.
const MAP: &str = "map of the host";

/// Units of the map, in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u64,
}

impl Units {
    /// Behind the last.
    pub fn end(&self) -> u64 {
        self.first + self.count
    }
}

/// A map. It says what it holds and takes, not where data are: that is for the device.
pub trait Map {
    /// Looks units up; in how many steps.
    fn look_up(&self, units: Units) -> u64;
    /// Units are written, one behind the other, behind all that was written before; in how many steps they are mapped.
    fn write(&mut self, units: Units) -> u64;
    /// Units are mapped no more; in how many steps that is done.
    fn trim(&mut self, units: Units) -> u64;
    /// What it takes.
    fn memory(&self) -> Memory;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which structure maps addresses to flash in the memory of the host?
            pub enum Mapping at "host_side.architecture.flash-software.mapping" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// A map by its structure.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum MapState { $($Variant($file::State)),+ }

        impl MapState {
            /// An empty one.
            pub fn new(policy: &Mapping) -> Self {
                match policy { $(Mapping::$Variant(policy) => Self::$Variant($file::State::new(policy))),+ }
            }
            /// What the simulator takes for a map of so many units at most, of which the share `filled` is mapped before the run.
            pub fn simulated(policy: &Mapping, units: u64, filled: f64) -> Table {
                match policy { $(Mapping::$Variant(policy) => $file::State::simulated(policy, units, filled)),+ }
            }
        }

        impl Map for MapState {
            fn look_up(&self, units: Units) -> u64 {
                match self { $(Self::$Variant(state) => state.look_up(units)),+ }
            }
            fn write(&mut self, units: Units) -> u64 {
                match self { $(Self::$Variant(state) => state.write(units)),+ }
            }
            fn trim(&mut self, units: Units) -> u64 {
                match self { $(Self::$Variant(state) => state.trim(units)),+ }
            }
            fn memory(&self) -> Memory {
                match self { $(Self::$Variant(state) => state.memory()),+ }
            }
        }
    };
}

members! {
    "flat-table" => FlatTable(flat_table),
    "b-tree" => BTree(b_tree),
}

impl Default for Mapping {
    fn default() -> Self {
        Self::FlatTable(flat_table::FlatTable::default())
    }
}
