//! Map as a table with one entry per mapping unit.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;
use wordline_kernel::slot::Cited;

use super::{MAP, Map, Region, Units};
use crate::stats::Memory;

/// A table with one entry per mapping unit, indexed by address. A page of its memory is allocated
/// when one of its entries is mapped for the first time, and is never freed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlatTable {
    /// Length of an entry. Bytes.
    #[schemars(range(min = 1, max = 64))]
    pub entry_bytes: u64,
    /// Allocation unit of memory. Bytes.
    #[schemars(range(min = 64, max = 1_073_741_824))]
    pub page_bytes: u64,
}

impl Default for FlatTable {
    fn default() -> Self {
        Self {
            entry_bytes: 8,
            page_bytes: 4096,
        }
    }
}

impl Cited for FlatTable {
    const PAPER: &'static str = "";
}

/// Allocated pages of the table, with a bit per entry that is set if the entry is mapped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    page_bytes: u64,
    entries_per_page: u64,
    pages: BTreeMap<u64, Vec<u64>>,
    mapped: u64,
}

impl State {
    pub(super) fn new(policy: &FlatTable, _region: Region) -> Self {
        Self {
            page_bytes: policy.page_bytes,
            entries_per_page: policy.page_bytes / policy.entry_bytes,
            pages: BTreeMap::new(),
            mapped: 0,
        }
    }
    /// Returns the memory estimate of the simulated map for at most `units` mapping units, if the
    /// share `filled` of them is mapped before the run.
    pub(super) fn simulated(policy: &FlatTable, units: u64, filled: f64) -> Table {
        let entries = policy.page_bytes / policy.entry_bytes;
        let page = size_of::<(u64, Vec<u64>)>() as u64 + entries.div_ceil(64) * 8;
        let most = Table::written::<u8>(MAP, units.div_ceil(entries).saturating_mul(page)).most;
        Table {
            prepared: (most as f64 * filled) as u64,
            ..Table::grown::<u8>(MAP, most)
        }
    }
    /// Maps or unmaps a range of entries within one page.
    fn set(&mut self, page: u64, within: std::ops::Range<u64>, mapped: bool) {
        let words = self.entries_per_page.div_ceil(64) as usize;
        let bits = if mapped {
            self.pages.entry(page).or_insert_with(|| vec![0; words])
        } else {
            let Some(bits) = self.pages.get_mut(&page) else {
                return;
            };
            bits
        };
        for entry in within {
            let (word, bit) = (&mut bits[(entry / 64) as usize], 1 << (entry % 64));
            let before = *word & bit != 0;
            match (before, mapped) {
                (false, true) => self.mapped += 1,
                (true, false) => self.mapped -= 1,
                _ => {}
            }
            *word = if mapped { *word | bit } else { *word & !bit };
        }
    }
    fn set_all(&mut self, units: Units, mapped: bool) -> u64 {
        let mut unit = units.first;
        while unit < units.end() {
            let (page, from) = (unit / self.entries_per_page, unit % self.entries_per_page);
            let until = self.entries_per_page.min(from + units.end() - unit);
            self.set(page, from..until, mapped);
            unit += until - from;
        }
        units.count
    }
}

impl Map for State {
    fn look_up(&self, units: Units) -> u64 {
        units.count
    }
    fn write(&mut self, units: Units) -> u64 {
        self.set_all(units, true)
    }
    fn trim(&mut self, units: Units) -> u64 {
        self.set_all(units, false)
    }
    fn memory(&self) -> Memory {
        let pages = self.pages.len() as u64;
        Memory {
            units: self.mapped,
            entries: self.mapped,
            bytes: pages * self.page_bytes,
        }
    }
}
