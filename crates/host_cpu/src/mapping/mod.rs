//! The structure of a map in the memory of the host, or in part in flash.

pub mod b_tree;
pub mod cached_table;
pub mod flat_table;

use serde::{Deserialize, Serialize};
use wordline_block::Op;
use wordline_kernel::memory::Table;

use crate::stats::{Loads, Memory};

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

/// What a map is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Length of the store.
    pub store_bytes: u64,
    /// What is mapped by itself.
    pub unit_bytes: u64,
}

/// A page of a map is looked at or changed, and another may leave the memory for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// The page.
    pub page: u64,
    /// Whether it was in memory.
    pub is_resident: bool,
    /// Whether it has to be read from the store.
    pub is_loaded: bool,
    /// The page that leaves.
    pub left: Option<u64>,
    /// Whether that has to be written to the store first.
    pub is_written: bool,
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
    /// Units were written before the run.
    fn fill(&mut self, units: Units) {
        self.write(units);
    }
    /// Of a map that is not all in memory: the pages that these units lie in are looked at or changed, as `op` asks; appends what
    /// becomes of each, in order.
    fn touch(&mut self, _units: Units, _op: Op, _touches: &mut Vec<Touch>) {}
    /// How often pages were in memory, and how often not.
    fn loads(&self) -> Loads {
        Loads::default()
    }
    /// The memory is lost, and what was newer in it than in flash is there again from spare areas.
    fn recover(&mut self) {}
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
        #[allow(missing_docs, clippy::large_enum_variant)] // a host has one
        pub enum MapState { $($Variant($file::State)),+ }

        impl MapState {
            /// An empty one.
            pub fn new(policy: &Mapping, region: Region) -> Self {
                match policy { $(Mapping::$Variant(policy) => Self::$Variant($file::State::new(policy, region))),+ }
            }
            /// What the simulator takes for a map of so many units at most, of which the share `filled` is mapped before the run.
            pub fn simulated(policy: &Mapping, units: u64, filled: f64) -> Table {
                match policy { $(Mapping::$Variant(policy) => $file::State::simulated(policy, units, filled)),+ }
            }
        }

        wordline_kernel::forward! {
            impl Map for MapState by [$($Variant),+] {
                fn look_up(&self, units: Units) -> u64;
                fn write(&mut self, units: Units) -> u64;
                fn trim(&mut self, units: Units) -> u64;
                fn memory(&self) -> Memory;
                fn fill(&mut self, units: Units);
                fn touch(&mut self, units: Units, op: Op, touches: &mut Vec<Touch>);
                fn loads(&self) -> Loads;
                fn recover(&mut self);
            }
        }
    };
}

members! {
    "flat-table" => FlatTable(flat_table),
    "b-tree" => BTree(b_tree),
    "cached-table" => CachedTable(cached_table),
}

impl Mapping {
    /// Bytes of the store, from its beginning, that the map takes.
    pub fn reserved(&self, region: Region) -> u64 {
        match self {
            Self::CachedTable(table) => table.reserved(region.store_bytes, region.unit_bytes),
            Self::FlatTable(_) | Self::BTree(_) => 0,
        }
    }
    /// Length of the pages that it is read and written by.
    pub fn page_bytes(&self) -> u64 {
        match self {
            Self::CachedTable(table) => table.page_bytes,
            Self::FlatTable(_) | Self::BTree(_) => 0,
        }
    }
}

impl Default for Mapping {
    fn default() -> Self {
        Self::FlatTable(flat_table::FlatTable::default())
    }
}
