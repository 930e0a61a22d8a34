//! Mappings, which locate every logical page.
//!
//! A mapping includes its allocation and GC, because mapping families differ in both: a hybrid
//! mapping merges logical blocks where page mapping moves pages. The device requests one decision
//! at a time and executes it.

pub mod block;
pub mod buffered;
pub mod bulk;
pub mod dftl;
pub mod hybrid;
pub mod log_block;
pub mod logical;
pub mod owned;
pub mod page;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Block, Die, Plane, Ppn};

pub use bulk::{Bulk, Placed};
pub use owned::OwnedMap;
pub use page::PageMap;

use crate::job::{Collection, Cost, JobId, LogicalBlock, SpaceRequest, Step};
use crate::lpn::Lpn;
use crate::plan::{Plan, PlanError};
use crate::recovery::{Flash, Label, Recovery};
use crate::summary::SummaryPage;

/// Result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The page must be programmed at this location, where look-ups now find it.
    Placed(Ppn),
    /// There is no room. Call [`Mapping::collect`] with this request, and write again when a GC run
    /// has ended.
    Blocked(SpaceRequest),
}

/// Counters of look-ups in a cached map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapCache {
    /// Number of requests for pages whose entries were in memory.
    pub hits: u64,
    /// Number of requests for pages whose entries were not in memory.
    pub misses: u64,
    /// Number of entries evicted from the cache.
    pub evictions: u64,
    /// Number of evicted entries that had changed since their translation page was written.
    pub dirty_evictions: u64,
}

wordline_kernel::since!(MapCache: hits, misses, evictions, dirty_evictions);
wordline_kernel::plus!(MapCache: hits, misses, evictions, dirty_evictions);

/// Interface between a mapping and the device. Its methods take no simulated time; the flash
/// operations that they cause do.
pub trait Mapping {
    /// Whether the mapping supports block summaries.
    const SUMMARIZES: bool = false;

    /// Returns the interface for bulk operations, if the mapping has one.
    #[inline]
    fn bulk(&mut self) -> Option<&mut impl Bulk> {
        None::<&mut PageMap>
    }
    /// Returns the number of pages that the host can address.
    fn user_pages(&self) -> u32;
    /// Returns `true` if the pages belong to an owner instead of the host. The owner may discard
    /// pages. Their numbers are not addresses, and after a power cut the owner determines their
    /// content.
    fn is_owned(&self) -> bool {
        false
    }
    /// Returns the limit of page numbers in spare areas: lower numbers are logical pages, others
    /// are metadata.
    fn numbers(&self) -> u32 {
        self.user_pages()
    }
    /// Returns the extra spare-area label of the page being programmed.
    #[inline]
    fn label(&self, _page: Lpn) -> Label {
        Label::NONE
    }
    /// Reports the location of a page that was submitted with a label.
    #[inline]
    fn placed(&mut self, _place: Ppn, _label: Label) {}
    /// Returns the next summary page, to be programmed after all pages placed in its block. Call it
    /// after each placed page whose program has been issued, until it returns `None`.
    #[inline]
    fn summary(&mut self) -> Option<SummaryPage> {
        None
    }
    /// Returns the number of free blocks of the device. Takes constant time.
    fn free_blocks(&self) -> u32;
    /// Returns the number of free blocks of a plane. Takes constant time.
    fn free_blocks_of(&self, plane: Plane) -> u32;
    /// Returns the number of pages with current data, including metadata. Takes time linear in the
    /// number of blocks.
    fn valid_pages(&self) -> u64;
    /// Returns `true` if a page that is being programmed is in a block in single-level mode.
    fn is_single_level(&self, _place: Ppn) -> bool {
        false
    }
    /// Sets whether later host writes bypass the SLC cache.
    fn bypass_cache(&mut self, _bypassed: bool) {}
    /// Returns `true` if [`Mapping::fold`] would start a GC run.
    fn can_fold(&self, _plane: Plane) -> bool {
        false
    }
    /// Starts a GC run that folds the oldest full block of the SLC cache: its data moves to blocks
    /// in normal mode. Returns `None` if no block of the cache is full, or if the plane has a GC
    /// run in progress or no free block to spare.
    fn fold(&mut self, _plane: Plane) -> Option<Collection> {
        None
    }
    /// Returns the location of the current copy of a page, or `None` if the page has no copy.
    fn lookup(&self, page: Lpn) -> Option<Ppn>;
    /// Returns the logical page last programmed at a location, whether current or not. Returns
    /// `None` for metadata, or if the mapping does not track it.
    fn page_at(&self, _place: Ppn) -> Option<Lpn> {
        None
    }
    /// Loads the map entry of `page` into the CPU cache before its use. Speeds up large maps and
    /// does not change results.
    #[inline]
    fn prefetch(&mut self, _page: Lpn) {}
    /// Returns the plane of all copies of a page, if the address alone determines it.
    fn home_plane(&self, page: Lpn) -> Option<Plane>;
    /// Returns the job that must run before the map entry of `page` is in memory, where it can be
    /// read or (`update`) changed. Returns `None` if the entry is in memory. Call it again when the
    /// job has ended. Families with the whole map in memory always return `None`.
    #[inline]
    fn fetch(&mut self, _page: Lpn, _update: bool) -> Option<JobId> {
        None
    }
    /// Returns the counters of look-ups since the map was created, if a part of the map is in
    /// flash.
    fn map_cache(&self) -> Option<MapCache> {
        None
    }
    /// Updates the outstanding work of the dies, for allocation policies that use it
    /// ([`crate::allocate::Allocate::is_by_work`]).
    fn set_die_loads(&mut self, _work: impl Fn(Die) -> Time) {}
    /// Allocates a page for a new copy of a logical page; the previous copy becomes invalid.
    fn write(&mut self, page: Lpn) -> WriteOutcome;
    /// Allocates one page on each plane of a die, so that one multi-plane command can program
    /// `pages`. The allocated pages have the same offset in blocks that are kept aligned for this
    /// purpose. Returns `false` and changes nothing if there are no such pages; the caller then
    /// writes the pages one by one.
    fn write_in_step(&mut self, _pages: &[Lpn], _places: &mut Vec<Ppn>) -> bool {
        false
    }
    /// Writes whole blocks from the start of `pages`, which were never written before, as long as
    /// no plane needs GC. The result is the same as calling [`Mapping::write`] for each page. Calls
    /// `filled` for each block, in any order; an error of `filled` stops the writes. Returns the
    /// number of pages written, which is 0 if the mapping has no faster way than `write`.
    fn fill<E>(
        &mut self,
        _pages: Range<u32>,
        _filled: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<u32, E> {
        Ok(0)
    }
    /// Exchanges the current copy of a page with the page programmed at `place`, as if each had
    /// been programmed at the other's location. Returns `false` and changes nothing if either page
    /// does not exist or is being reclaimed, erased or in the SLC cache, or if the mapping does not
    /// support exchanges.
    fn exchange(&mut self, _page: Lpn, _place: Ppn) -> bool {
        false
    }
    /// Unmaps a page that the host no longer needs.
    fn trim(&mut self, page: Lpn);
    /// Returns `true` if GC of `plane` is due, in most families because the plane is below its
    /// free-block threshold.
    fn wants_collection(&self, plane: Plane) -> bool;
    /// Returns `true` if `plane` needs GC, or if a write to it would wait for a GC run. The latter
    /// can be the case above the threshold.
    fn lacks_room(&self, plane: Plane) -> bool {
        self.wants_collection(plane)
    }
    /// Starts a GC run that gains the requested space. Returns `None` if the plane has a GC run in
    /// progress, or if no space can be gained. Resolve [`SpaceRequest::Anywhere`] first, plane by
    /// plane.
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection>;
    /// Starts a GC run that refreshes the data of a block. Returns `None` if the plane has a GC run
    /// in progress or no free block to spare, if the block is not full or is in the SLC cache, or
    /// if the mapping does not support refresh.
    fn refresh(&mut self, _block: Block) -> Option<Collection> {
        None
    }
    /// Returns `true` if a block is full, has no valid page and is not being reclaimed, so that
    /// [`Mapping::clear`] can erase it. Always `false` if the mapping does not track this.
    fn is_spent(&self, _block: Block) -> bool {
        false
    }
    /// Starts a GC run that only erases a block for which [`Mapping::is_spent`] is `true`. Returns
    /// `None` if the plane has a GC run in progress.
    fn clear(&mut self, _block: Block) -> Option<Collection> {
        None
    }
    /// Unmaps a page and records it in the map in flash immediately. Unlike with [`Mapping::trim`],
    /// the map entry need not be fetched first. Returns the job that updates the map in flash, if
    /// the map is there; the update is complete when the job has ended.
    fn trim_through(&mut self, page: Lpn) -> Option<JobId> {
        self.trim(page);
        None
    }
    /// Returns `true` if a job has no step left. All its issued steps must be complete.
    fn is_over(&self, job: JobId) -> bool;
    /// Returns the next step of a job that is not over. After [`Step::Wait`], call it again when
    /// all earlier steps are complete.
    fn step(&mut self, job: JobId) -> Step;
    /// Returns the target for the copy of a page that a job has read, or `None` if the page is no
    /// longer valid.
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn>;
    /// Reports the erase of a block, which now has `erases` erases.
    fn erased(&mut self, block: Block, erases: u32);
    /// Freezes the mapping because the device is read-only: no page is programmed and no block is
    /// erased any more, and requests must wait for neither. Jobs in progress end with their next
    /// step.
    fn freeze(&mut self) {}
    /// Reports that a block that recovery should have erased cannot be erased. The device is at the
    /// end of its life and read-only.
    fn retired(&mut self, _block: Block) {}

    /// Opens a free block to replace the full update block of a logical block, so that writes
    /// continue and the merge can follow later (update block replacement, Jung 2013, section
    /// 7.5.2.1). Returns `false` if no free block can be spared, or if there is no full update
    /// block to replace.
    fn replace(&mut self, _block: LogicalBlock) -> bool {
        false
    }
    /// Delays the merge of the logical block of `page`, if it gains a block. Called when a write
    /// has left its plane below the free-block threshold and GC is delayed (Jung 2013, algorithm 3,
    /// line 5). Page and block mapping do nothing.
    fn delay(&mut self, _page: Lpn) {}
    /// Returns the delayed GC run of a plane that has waited for the longest time: the merge of a
    /// logical block whose update block was replaced, or whose write left the plane below its
    /// free-block threshold. Page mapping returns the next GC candidate of a plane below its
    /// threshold, block mapping `None`.
    fn delayed(&self, _plane: Plane) -> Option<SpaceRequest> {
        None
    }
    /// Returns the next GC candidate of a plane that is below its free-block threshold, if any.
    fn reclaim(&self, plane: Plane) -> Option<SpaceRequest> {
        self.delayed(plane)
    }
    /// Returns the GC candidate of a plane that has waited for the longest time, regardless of the
    /// number of free blocks. Candidates are logical blocks without a free page (the job list of
    /// proactive block compaction, Jung 2013, section 7.5.1.2). Page mapping returns its next GC
    /// candidate, block mapping `None`.
    fn full(&self, plane: Plane) -> Option<SpaceRequest>;
    /// Returns the least recently written GC candidate of a plane. Returns `None` for page and
    /// block mapping.
    fn least_recent(&self, _plane: Plane) -> Option<SpaceRequest> {
        None
    }
    /// Returns the first GC run on `plane` that `writes` would need if they arrived now, in order.
    /// Returns `None` if they need none. Each write is given as its first page and its number of
    /// pages.
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest>;
    /// Returns the expected cost of the GC run that [`Mapping::collect`] would start.
    fn cost(&self, want: SpaceRequest) -> Cost;

    /// Rebuilds the tables from the content of the flash after a power cut.
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery;
    /// Checks the tables for consistency, for tests and verification. Takes time linear in the
    /// number of pages.
    fn audit(&self) -> Result<(), String>;
}

/// Features in which mapping families differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Whether any logical page may be in any page of any block, regardless of its neighbours.
    pub any_place: bool,
    /// Whether the family counts free pages, and tracks when the host's active block is full.
    pub free_pages: bool,
    /// Whether the family tracks when a block has no valid page left, and can refresh blocks.
    pub whole_blocks: bool,
}

/// Parameters of a mapping family, which check a plan and create the map.
pub trait Build {
    /// Type of the map.
    type Map: Mapping;
    /// Returns the features of the family.
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }
    /// Returns the number of free blocks that a GC run of a plane may take before it frees one.
    fn reserve_blocks(&self) -> u32 {
        1
    }
    /// Returns the number of free blocks beyond the reserve that a wear-levelling move takes.
    fn wear_blocks(&self) -> u32 {
        1
    }
    /// Returns the number of blocks per plane reserved for metadata.
    fn metadata_blocks(&self, _plan: &Plan) -> u32 {
        0
    }
    /// Checks that the family supports a plan: its own parameters, the other policies, and the room
    /// available.
    fn check(&self, plan: &Plan) -> Result<(), PlanError>;
    /// Returns the memory estimate of the map on a device filled to `fill`.
    fn memory(&self, plan: &Plan, fill: Fill) -> Vec<Table>;
    /// Creates an empty map over an erased array.
    fn build(&self, plan: &Plan) -> Self::Map;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How are logical pages mapped to physical pages?
            pub enum Family at "ftl.mapping" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// Mapping of a device, of any mapping family.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, clippy::large_enum_variant)] // a device has one
        #[derive(Serialize, Deserialize)]
        pub enum Map { $($Variant(<$file::$Variant as Build>::Map)),+ }

        wordline_kernel::forward! {
            impl Build for Family by [$($Variant),+] {
                type Map = Map;
                fn abilities(&self) -> Abilities;
                fn reserve_blocks(&self) -> u32;
                fn wear_blocks(&self) -> u32;
                fn metadata_blocks(&self, plan: &Plan) -> u32;
                fn check(&self, plan: &Plan) -> Result<(), PlanError>;
                fn memory(&self, plan: &Plan, fill: Fill) -> Vec<Table>;
                fn build(&self, plan: &Plan) -> Map {
                    match self { $(Self::$Variant(family) => Map::$Variant(family.build(plan))),+ }
                }
            }
        }

        /// Evaluates `$body` with the mapping of the current variant.
        macro_rules! each {
            ($map:expr, $inner:ident => $body:expr) => {
                match $map { $(Map::$Variant($inner) => $body),+ }
            };
        }
    };
}

/// Like `each`, for methods called for every page: inlines page mapping behind one comparison, and
/// calls other mapping families out of line.
macro_rules! page_first {
    ($map:expr, $inner:ident => $body:expr) => {
        if let Map::Page($inner) = $map {
            $body
        } else {
            out_of_line(move || each!($map, $inner => $body))
        }
    };
}

#[inline(never)]
fn out_of_line<T>(body: impl FnOnce() -> T) -> T {
    body()
}

members! {
    "page" => Page(page),
    "block" => BlockMapping(block),
    "log-block" => LogBlock(log_block),
    "hybrid" => Hybrid(hybrid),
    "buffered" => Buffered(buffered),
    "dftl" => Dftl(dftl),
}

impl Map {
    /// Creates the empty map of a plan's mapping family.
    pub fn new(plan: &Plan) -> Self {
        plan.config.mapping.build(plan)
    }
    /// Returns the memory estimate of the map on a device filled to `fill`, in order if the plan
    /// [keeps a formula](Plan::keeps_formula).
    pub fn memory(plan: &Plan, fill: Fill) -> Vec<Table> {
        plan.config.mapping.memory(plan, fill)
    }
}

impl Family {
    /// Returns the names of the mapping families with a feature, as a list of alternatives: `"page"
    /// or "dftl"`.
    pub fn able(can: impl Fn(Abilities) -> bool) -> String {
        let able = Self::defaults();
        let able = able.iter().filter(|family| can(family.abilities()));
        let names: Vec<String> = able
            .map(|family| format!("\"{}\"", family.name()))
            .collect();
        names.join(" or ")
    }
}

impl Default for Family {
    fn default() -> Self {
        Self::Page(page::Page::default())
    }
}

impl Mapping for Map {
    #[inline]
    fn bulk(&mut self) -> Option<&mut impl Bulk> {
        match self {
            Self::Page(map) => Some(map),
            _ => None,
        }
    }
    #[inline]
    fn user_pages(&self) -> u32 {
        each!(self, map => map.user_pages())
    }
    #[inline]
    fn free_blocks(&self) -> u32 {
        page_first!(self, map => map.free_blocks())
    }
    #[inline]
    fn free_blocks_of(&self, plane: Plane) -> u32 {
        page_first!(self, map => map.free_blocks_of(plane))
    }
    fn fill<E>(
        &mut self,
        pages: Range<u32>,
        filled: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<u32, E> {
        each!(self, map => map.fill(pages, filled))
    }
    fn valid_pages(&self) -> u64 {
        each!(self, map => map.valid_pages())
    }
    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        page_first!(self, map => map.lookup(page))
    }
    fn is_single_level(&self, place: Ppn) -> bool {
        each!(self, map => map.is_single_level(place))
    }
    fn bypass_cache(&mut self, bypassed: bool) {
        each!(self, map => map.bypass_cache(bypassed));
    }
    fn can_fold(&self, plane: Plane) -> bool {
        each!(self, map => map.can_fold(plane))
    }
    fn fold(&mut self, plane: Plane) -> Option<Collection> {
        each!(self, map => map.fold(plane))
    }
    fn page_at(&self, place: Ppn) -> Option<Lpn> {
        each!(self, map => map.page_at(place))
    }
    #[inline]
    fn prefetch(&mut self, page: Lpn) {
        page_first!(self, map => map.prefetch(page));
    }
    #[inline]
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        each!(self, map => map.home_plane(page))
    }
    fn set_die_loads(&mut self, work: impl Fn(Die) -> Time) {
        each!(self, map => map.set_die_loads(work));
    }
    #[inline]
    fn fetch(&mut self, page: Lpn, update: bool) -> Option<JobId> {
        page_first!(self, map => map.fetch(page, update))
    }
    fn map_cache(&self) -> Option<MapCache> {
        each!(self, map => map.map_cache())
    }
    #[inline]
    fn write(&mut self, page: Lpn) -> WriteOutcome {
        page_first!(self, map => map.write(page))
    }
    fn write_in_step(&mut self, pages: &[Lpn], places: &mut Vec<Ppn>) -> bool {
        each!(self, map => map.write_in_step(pages, places))
    }
    fn exchange(&mut self, page: Lpn, place: Ppn) -> bool {
        each!(self, map => map.exchange(page, place))
    }
    #[inline]
    fn trim(&mut self, page: Lpn) {
        each!(self, map => map.trim(page));
    }
    #[inline]
    fn wants_collection(&self, plane: Plane) -> bool {
        page_first!(self, map => map.wants_collection(plane))
    }
    fn lacks_room(&self, plane: Plane) -> bool {
        each!(self, map => map.lacks_room(plane))
    }
    #[inline]
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection> {
        each!(self, map => map.collect(want))
    }
    fn refresh(&mut self, block: Block) -> Option<Collection> {
        each!(self, map => map.refresh(block))
    }
    fn is_spent(&self, block: Block) -> bool {
        each!(self, map => map.is_spent(block))
    }
    fn clear(&mut self, block: Block) -> Option<Collection> {
        each!(self, map => map.clear(block))
    }
    fn trim_through(&mut self, page: Lpn) -> Option<JobId> {
        each!(self, map => map.trim_through(page))
    }
    #[inline]
    fn is_over(&self, job: JobId) -> bool {
        each!(self, map => map.is_over(job))
    }
    #[inline]
    fn step(&mut self, job: JobId) -> Step {
        page_first!(self, map => map.step(job))
    }
    #[inline(always)]
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn> {
        page_first!(self, map => map.relocate(job, from))
    }
    #[inline]
    fn erased(&mut self, block: Block, erases: u32) {
        each!(self, map => map.erased(block, erases));
    }
    fn retired(&mut self, block: Block) {
        each!(self, map => map.retired(block));
    }
    fn freeze(&mut self) {
        each!(self, map => map.freeze());
    }
    #[inline]
    fn replace(&mut self, block: LogicalBlock) -> bool {
        each!(self, map => map.replace(block))
    }
    fn delay(&mut self, page: Lpn) {
        each!(self, map => map.delay(page));
    }
    #[inline]
    fn delayed(&self, plane: Plane) -> Option<SpaceRequest> {
        each!(self, map => map.delayed(plane))
    }
    #[inline]
    fn reclaim(&self, plane: Plane) -> Option<SpaceRequest> {
        each!(self, map => map.reclaim(plane))
    }
    #[inline]
    fn least_recent(&self, plane: Plane) -> Option<SpaceRequest> {
        each!(self, map => map.least_recent(plane))
    }
    #[inline]
    fn full(&self, plane: Plane) -> Option<SpaceRequest> {
        each!(self, map => map.full(plane))
    }
    #[inline]
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
        each!(self, map => map.shortage(plane, writes))
    }
    #[inline]
    fn cost(&self, want: SpaceRequest) -> Cost {
        each!(self, map => map.cost(want))
    }
    #[inline]
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery {
        each!(self, map => map.recover(flash))
    }
    #[inline]
    fn audit(&self) -> Result<(), String> {
        each!(self, map => map.audit())
    }
}
