//! Structures of the host's map, which is in host memory or partly in flash.

pub mod b_tree;
pub mod cached_table;
pub mod flat_table;

use serde::{Deserialize, Serialize};
use wordline_block::Op;
use wordline_kernel::memory::Table;

use crate::stats::{Loads, Memory};

/// Name of the map in the memory estimate.
const MAP: &str = "map of the host";

/// A range of mapping units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// First mapping unit.
    pub first: u64,
    /// Number of mapping units.
    pub count: u64,
}

impl Units {
    /// Returns the end of the range, exclusive.
    pub fn end(&self) -> u64 {
        self.first + self.count
    }
}

/// Region of the store that a map covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Length of the store. Bytes.
    pub store_bytes: u64,
    /// Mapping unit. Bytes.
    pub unit_bytes: u64,
}

/// Access to a page of a cached map, and the eviction that it causes, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// Index of the page in the map.
    pub page: u64,
    /// Whether the page was in memory.
    pub is_resident: bool,
    /// Whether the page has to be read from the store.
    pub is_loaded: bool,
    /// Index of the evicted page, if any.
    pub left: Option<u64>,
    /// Whether the evicted page has to be written to the store first.
    pub is_written: bool,
}

/// Model of the size and the cost of the host's map. The device tracks where data is.
pub trait Map {
    /// Looks up a range of mapping units; returns the number of steps.
    fn look_up(&self, units: Units) -> u64;
    /// Maps a range of units as written consecutively, after all earlier writes; returns the number
    /// of steps.
    fn write(&mut self, units: Units) -> u64;
    /// Unmaps a range of mapping units; returns the number of steps.
    fn trim(&mut self, units: Units) -> u64;
    /// Returns the current size of the map.
    fn memory(&self) -> Memory;
    /// Maps a range of mapping units that was written before the run.
    fn fill(&mut self, units: Units) {
        self.write(units);
    }
    /// Accesses the pages that hold a range of units, for operation `op`, if the map is partly in
    /// flash. Appends each access to `touches`, in order of address.
    fn touch(&mut self, _units: Units, _op: Op, _touches: &mut Vec<Touch>) {}
    /// Returns the hits, misses and write-backs of the map's pages; 0 for a map that is not cached.
    fn loads(&self) -> Loads {
        Loads::default()
    }
    /// Recovers the map after its memory was lost. Map pages that were dirty are restored from
    /// spare areas.
    fn recover(&mut self) {}
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which data structure of the host maps addresses to flash?
            pub enum Mapping at "host_side.architecture.flash-software.mapping" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// State of a map, by structure.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs, clippy::large_enum_variant)] // a host has one
        pub enum MapState { $($Variant($file::State)),+ }

        impl MapState {
            /// Creates an empty map.
            pub fn new(policy: &Mapping, region: Region) -> Self {
                match policy { $(Mapping::$Variant(policy) => Self::$Variant($file::State::new(policy, region))),+ }
            }
            /// Returns the memory estimate of the simulated map for at most `units` mapping units,
            /// if the share `filled` of them is mapped before the run.
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
    /// Returns the number of bytes at the start of the store that the map takes.
    pub fn reserved(&self, region: Region) -> u64 {
        match self {
            Self::CachedTable(table) => table.reserved(region.store_bytes, region.unit_bytes),
            Self::FlatTable(_) | Self::BTree(_) => 0,
        }
    }
    /// Returns the length of a page of the map; 0 if it is not stored in pages. Bytes.
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
