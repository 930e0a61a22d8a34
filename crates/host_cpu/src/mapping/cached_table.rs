//! Map as a table that is cached partly in host memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_block::Op;
use wordline_cache::{Entry, Owner, Replace, Replacement, Replacing};
use wordline_kernel::memory::Table;
use wordline_kernel::slot::Cited;

use super::flat_table::{self, FlatTable};
use super::{Map, Region, Touch, Units};
use crate::stats::{Loads, Memory};

/// A table with one entry per mapping unit, stored in pages in the store. Host memory holds a
/// directory of all pages and as many pages as fit. A page that is not in memory is read from the
/// store before the request continues. A dirty page is written to the store before it is evicted.
/// The pages take the first bytes of the store, in whole MiB, and the host addresses the rest. The
/// first write to a page creates the page in memory. A flush does not write pages back, because
/// spare areas record where data is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CachedTable {
    /// Length of an entry, both of the table and of the directory. Bytes.
    #[schemars(range(min = 1, max = 64))]
    pub entry_bytes: u64,
    /// Length of a page of the table, the unit of reads and writes. Bytes.
    #[schemars(range(min = 512, max = 1_048_576))]
    pub page_bytes: u64,
    /// Host memory for the directory and the pages. Bytes.
    #[schemars(range(min = 512, max = 1_099_511_627_776_u64))]
    pub memory_bytes: u64,
    /// Replacement policy of the pages in memory.
    pub replacement: Replacement,
}

impl Default for CachedTable {
    fn default() -> Self {
        Self {
            entry_bytes: 8,
            page_bytes: 4096,
            memory_bytes: 64 << 20,
            replacement: Replacement::default(),
        }
    }
}

impl Cited for CachedTable {
    const PAPER: &'static str = "A. Gupta, Y. Kim, B. Urgaonkar, DFTL: A Flash Translation Layer Employing Demand-based Selective Caching of Page-level Address Mappings, ASPLOS, 2009; here whole pages of the map are cached";
}

/// Alignment of the number of reserved bytes, so that the data of requests stays aligned to flash
/// pages. Bytes.
const ALIGNMENT: u64 = 1 << 20;

impl CachedTable {
    fn entries_per_page(&self) -> u64 {
        self.page_bytes / self.entry_bytes
    }
    /// Returns the number of pages of a map that covers the store without the reserved bytes.
    fn pages(&self, store_bytes: u64, unit_bytes: u64) -> u64 {
        let mapped = self.entries_per_page().saturating_mul(unit_bytes);
        store_bytes.div_ceil(mapped.saturating_add(self.page_bytes))
    }
    /// Returns the number of bytes of the store that the pages take, rounded up to the alignment.
    pub fn reserved(&self, store_bytes: u64, unit_bytes: u64) -> u64 {
        let bytes = self.pages(store_bytes, unit_bytes) * self.page_bytes;
        bytes.next_multiple_of(ALIGNMENT)
    }
    /// Returns the number of pages that fit into host memory next to the directory.
    fn room(&self, pages: u64) -> u64 {
        let directory = pages * self.entry_bytes;
        self.memory_bytes.saturating_sub(directory) / self.page_bytes
    }
    /// Returns the minimum `memory_bytes` for a store: the directory and one page.
    pub fn least_memory(&self, store_bytes: u64, unit_bytes: u64) -> u64 {
        self.pages(store_bytes, unit_bytes) * self.entry_bytes + self.page_bytes
    }
    /// Returns `true` if the table has too many pages for replacement policies: [`Entry::LIMIT`] or
    /// more.
    pub fn is_too_long(&self, store_bytes: u64, unit_bytes: u64) -> bool {
        self.pages(store_bytes, unit_bytes) >= Entry::LIMIT.into()
    }
    /// Returns `true` if a replacement policy is supported: it must not need future accesses, and
    /// must evict.
    pub fn takes(policy: &Replacement) -> bool {
        !matches!(policy, Replacement::Belady(_) | Replacement::Unbounded(_))
    }
    fn table(&self) -> FlatTable {
        FlatTable {
            entry_bytes: self.entry_bytes,
            page_bytes: self.page_bytes,
        }
    }
}

/// Flags of a page of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Page {
    /// Whether the page is in flash, in this version or an older one.
    is_in_flash: bool,
    /// Whether the page in memory is newer than its flash copy.
    is_dirty: bool,
}

/// State of the map: the mapping units that are mapped, and the pages in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    table: flat_table::State,
    policy: Replacement,
    entries_per_page: u64,
    page_bytes: u64,
    directory_bytes: u64,
    residents: Replacing,
    pages: Vec<Page>,
    loads: Loads,
}

/// Owner of the cached pages: reports dirty pages to the policy, and records the evicted page.
struct Leaving<'a> {
    pages: &'a [Page],
    left: Option<Entry>,
}

impl Owner for Leaving<'_> {
    fn is_dirty(&self, entry: Entry) -> bool {
        self.pages[entry.index()].is_dirty
    }
    fn evicted(&mut self, entry: Entry) {
        debug_assert_eq!(self.left, None, "a miss evicts at most one page");
        self.left = Some(entry);
    }
}

impl State {
    pub(super) fn new(policy: &CachedTable, region: Region) -> Self {
        let pages = policy.pages(region.store_bytes, region.unit_bytes);
        let room = policy.room(pages).clamp(1, pages.max(1)) as usize;
        Self {
            table: flat_table::State::new(&policy.table(), region),
            policy: policy.replacement.clone(),
            entries_per_page: policy.entries_per_page(),
            page_bytes: policy.page_bytes,
            directory_bytes: pages * policy.entry_bytes,
            residents: Replacing::new(&policy.replacement, room),
            pages: vec![Page::default(); pages as usize],
            loads: Loads::default(),
        }
    }
    /// Returns the memory estimate of the simulated map for at most `units` mapping units, if the
    /// share `filled` of them is mapped before the run.
    pub(super) fn simulated(policy: &CachedTable, units: u64, filled: f64) -> Table {
        let table = flat_table::State::simulated(&policy.table(), units, filled);
        let pages = units.div_ceil(policy.entries_per_page());
        // Per page: its flags, and the policy's record of links, position and a bit.
        let known = Table::written::<(Page, [u32; 4])>(super::MAP, pages).most;
        Table {
            prepared: table.prepared + pages * size_of::<Page>() as u64,
            most: table.most + known,
            ..table
        }
    }
    fn pages_of(&self, units: Units) -> std::ops::Range<u64> {
        if units.count == 0 {
            return 0..0;
        }
        units.first / self.entries_per_page..(units.end() - 1) / self.entries_per_page + 1
    }
    /// Looks up or updates a page of the table, and returns the access with the store operations
    /// that it needs. Returns `None` if the page does not exist and the operation is not a write;
    /// only a write creates a page.
    fn touch_page(&mut self, number: u64, op: Op) -> Option<Touch> {
        let update = op != Op::Read;
        let entry = Entry(number as u32);
        let known = self.pages[entry.index()].is_in_flash;
        let is_resident = self.residents.contains(entry);
        if !is_resident && !known && op != Op::Write {
            return None;
        }
        let mut owner = Leaving {
            pages: &self.pages,
            left: None,
        };
        self.residents.access(entry, update, &mut owner);
        let left = owner.left.map(Entry::index);
        let written = left.is_some_and(|left| std::mem::take(&mut self.pages[left].is_dirty));
        if let Some(left) = left
            && written
        {
            self.pages[left].is_in_flash = true;
        }
        self.pages[entry.index()].is_dirty |= update;
        let is_loaded = !is_resident && known;
        self.loads.hits += u64::from(is_resident);
        self.loads.misses += u64::from(is_loaded);
        self.loads.write_backs += u64::from(written);
        Some(Touch {
            page: number,
            is_resident,
            is_loaded,
            left: left.map(|left| left as u64),
            is_written: written,
        })
    }
}

impl Map for State {
    fn look_up(&self, units: Units) -> u64 {
        let pages = self.pages_of(units);
        units.count + (pages.end - pages.start)
    }
    fn write(&mut self, units: Units) -> u64 {
        self.table.write(units)
    }
    fn trim(&mut self, units: Units) -> u64 {
        self.table.trim(units)
    }
    fn memory(&self) -> Memory {
        Memory {
            bytes: self.directory_bytes + self.residents.len() as u64 * self.page_bytes,
            ..self.table.memory()
        }
    }
    fn fill(&mut self, units: Units) {
        self.table.write(units);
        for page in self.pages_of(units) {
            self.pages[page as usize].is_in_flash = true;
        }
    }
    fn touch(&mut self, units: Units, op: Op, touches: &mut Vec<Touch>) {
        for page in self.pages_of(units) {
            touches.extend(self.touch_page(page, op));
        }
    }
    fn loads(&self) -> Loads {
        self.loads
    }
    fn recover(&mut self) {
        let capacity = self.residents.capacity();
        let before = std::mem::replace(&mut self.residents, Replacing::new(&self.policy, capacity));
        for entry in (0..self.pages.len() as u32).map(Entry) {
            if self.pages[entry.index()].is_dirty {
                debug_assert!(before.contains(entry), "a dirty page is in memory");
                self.residents.access(entry, true, &mut ());
            }
        }
    }
}
