//! Where a logical page is.
//!
//! A mapping owns its allocation and its collections, because families differ in both (a hybrid
//! mapping merges where a page mapping moves). The device asks for one decision at a time and
//! carries it out.

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

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The page is to be programmed there, and from now on found there.
    Placed(Ppn),
    /// No room now. [`Mapping::collect`] what is wanted, and ask again when a collection is over.
    Wait(SpaceRequest),
}

/// What has become of look-ups in a map of which a cache is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapCache {
    /// Requests for pages whose entries were in memory.
    pub hits: u64,
    /// Requests for pages whose entries were not.
    pub misses: u64,
    /// Entries that left the cache.
    pub evictions: u64,
    /// Those of them that had changed since their translation page was written.
    pub dirty_evictions: u64,
}

impl MapCache {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            evictions: self.evictions + other.evictions,
            dirty_evictions: self.dirty_evictions + other.dirty_evictions,
        }
    }
}

wordline_kernel::since!(MapCache: hits, misses, evictions, dirty_evictions);

/// A mapping family, as the device uses it. No method takes time; the operations that follow do.
pub trait Mapping {
    /// Whether there can be block summaries.
    const SUMMARIZES: bool = false;

    /// The same map for work in bulk, if it is one of those that can.
    #[inline]
    fn bulk(&mut self) -> Option<&mut impl Bulk> {
        None::<&mut PageMap>
    }
    /// Pages the host can address.
    fn user_pages(&self) -> u32;
    /// Whether the pages are those of an owner, who gives them up as he likes: their numbers are no addresses, and after a power
    /// cut it is for him to say what they hold.
    fn is_owned(&self) -> bool {
        false
    }
    /// Numbers below it are logical pages in spare areas, those above are metadata.
    fn numbers(&self) -> u32 {
        self.user_pages()
    }
    /// What the spare area of a page is to say beside whose program is submitted now.
    #[inline]
    fn label(&self, _page: Lpn) -> Label {
        Label::NONE
    }
    /// A page that was submitted with a label has got its place.
    #[inline]
    fn placed(&mut self, _place: Ppn, _label: Label) {}
    /// The next page of a block summary that is to be programmed, behind the programs of all pages that have their places in its block. To be
    /// asked whenever a page has been placed and its program handed out, until there is none.
    #[inline]
    fn summary(&mut self) -> Option<SummaryPage> {
        None
    }
    /// Free blocks of the whole device; constant time.
    fn free_blocks(&self) -> u32;
    /// Free blocks of a plane; constant time.
    fn free_blocks_of(&self, plane: Plane) -> u32;
    /// Pages that hold current data, the metadata included. Linear in the blocks.
    fn valid_pages(&self) -> u64;
    /// Whether a place, which is programmed now, is in a block in single-level mode.
    fn is_single_level(&self, _place: Ppn) -> bool {
        false
    }
    /// Whether pages of the host pass the SLC cache by from now on.
    fn bypass_cache(&mut self, _bypassed: bool) {}
    /// Whether [`Mapping::fold`] would start.
    fn can_fold(&self, _plane: Plane) -> bool {
        false
    }
    /// Starts a collection of the block of the SLC cache that has been full for longest, whose data goes to blocks in the mode of the part. None while the
    /// plane is being collected or has no block to spare, and if no block of the cache is full.
    fn fold(&mut self, _plane: Plane) -> Option<Collection> {
        None
    }
    /// Where the current copy of a page is, if it was ever written.
    fn lookup(&self, page: Lpn) -> Option<Ppn>;
    /// Whose copy is in a place, be it that it is no longer current; `None` where the mapping does not know, or of metadata.
    fn page_at(&self, _place: Ppn) -> Option<Lpn> {
        None
    }
    /// `page` will be asked for soon: brings what is looked at then into the caches of the processor.
    /// Changes no answer; without it everything is the same, but slower where the map is large.
    #[inline]
    fn prefetch(&mut self, _page: Lpn) {}
    /// The plane that every copy of a page goes to, if the address alone decides.
    fn home_plane(&self, page: Lpn) -> Option<Plane>;
    /// What has to be done before the map entry of `page` is in memory, to be read or (`update`)
    /// changed: a job, or nothing. Ask again when the job is over. Families whose map is in memory
    /// need nothing.
    #[inline]
    fn fetch(&mut self, _page: Lpn, _update: bool) -> Option<JobId> {
        None
    }
    /// What has become of the look-ups since the map was built, if part of the map is in flash.
    fn map_cache(&self) -> Option<MapCache> {
        None
    }
    /// What the dies have to do now, for allocations that ask for it ([`crate::allocate::Allocate::is_by_work`]).
    fn set_die_loads(&mut self, _work: impl Fn(Die) -> Time) {}
    /// Finds a place for a new copy of a page; the one before is invalid from now on.
    fn write(&mut self, page: Lpn) -> Written;
    /// Finds places for pages of the host on all planes of a die, one each, that can be programmed by one command: the same page of
    /// blocks that are kept in step for this. False, and nothing has changed, if there are none; they are written one by one then.
    fn write_in_step(&mut self, _pages: &[Lpn], _places: &mut Vec<Ppn>) -> bool {
        false
    }
    /// Writes the first pages of a row that was never written, as [`Mapping::write`] would one after
    /// the other: whole blocks, while no plane comes to want a collection. `filled` hears of each block, not in the order in
    /// which they are filled; what it fails with ends this. Returns how many pages were written: none where the mapping
    /// knows no faster way than `write`.
    fn fill<E>(
        &mut self,
        _pages: Range<u32>,
        _filled: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<u32, E> {
        Ok(0)
    }
    /// The current copy of a page and what was programmed in `place` change places, as if they had been programmed there. False, and
    /// nothing has changed, if either is being collected or erased, or where the mapping cannot.
    fn exchange(&mut self, _page: Lpn, _place: Ppn) -> bool {
        false
    }
    /// The host does not need a page any more: from now on it maps nowhere.
    fn trim(&mut self, page: Lpn);
    /// Whether `plane` has fewer free blocks than garbage collection is to keep.
    fn wants_collection(&self, plane: Plane) -> bool;
    /// Whether it has, or a write to `plane` would wait for a collection: the threshold may be below what a write needs.
    fn lacks_room(&self, plane: Plane) -> bool {
        self.wants_collection(plane)
    }
    /// Starts a collection, unless one is in progress on the plane or nothing can be gained. Not for
    /// [`SpaceRequest::Anywhere`]: ask plane by plane.
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection>;
    /// Starts a collection that moves what a block holds for the sake of its data. None while its plane is being collected or
    /// has no block to spare, if the block takes programs or holds none, and where the mapping cannot.
    fn refresh(&mut self, _block: Block) -> Option<Collection> {
        None
    }
    /// Whether a full block, which is not being collected, holds nothing any more, so that [`Mapping::clear`] can have it erased. Never
    /// where the mapping cannot tell.
    fn is_spent(&self, _block: Block) -> bool {
        false
    }
    /// Starts a collection of a block that [`Mapping::is_spent`], which only erases it. None while its plane is being collected.
    fn clear(&mut self, _block: Block) -> Option<Collection> {
        None
    }
    /// The host does not need a page any more, of which the part of the map in flash is to say so at once: as [`Mapping::trim`], but its
    /// entry need not be fetched. The job that brings that part of the map up to date, if it is in flash; when it
    /// is over, flash says so.
    fn trim_through(&mut self, page: Lpn) -> Option<JobId> {
        self.trim(page);
        None
    }
    /// Whether a job whose steps are all done has none left.
    fn is_over(&self, job: JobId) -> bool;
    /// The next step of a job; it has one at least. After [`Step::Wait`], ask again when all steps before it are done.
    fn step(&mut self, job: JobId) -> Step;
    /// A page that a job moves has been read: where its copy goes, or `None` if it is no longer
    /// valid.
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn>;
    /// A block is erased, for the `erases`th time.
    fn erased(&mut self, block: Block, erases: u32);
    /// Nothing is programmed or erased any more, from now on: what requests wait for must not need that. Jobs that were begun end with their
    /// next step.
    fn freeze(&mut self) {}
    /// A block that a recovery was to erase cannot be: the device is at the end of its life, and nothing is written any more.
    fn retired(&mut self, _block: Block) {}

    /// Puts a free block into the place of the update block that a logical block has filled, so that
    /// writes go on and its collection can come later (update block replacement, Jung 2013, section
    /// 7.5.2.1). False if there is no free block to spare, or nothing that could be replaced.
    fn replace(&mut self, _block: LogicalBlock) -> bool {
        false
    }
    /// A write of `page` has left its plane with fewer free blocks than there should be, and no
    /// collection follows now: puts the merge of its logical block off, if that gains a block (Jung
    /// 2013, algorithm 3, line 5). Families without logical blocks have nothing to note.
    fn delay(&mut self, _page: Lpn) {}
    /// What has been put off on a plane and has waited longest: the merge of a logical block whose
    /// update block was replaced, or whose write found free blocks fewer than they should be. Without
    /// logical blocks: what would gain free blocks where they are fewer than they should be.
    fn delayed(&self, _plane: Plane) -> Option<SpaceRequest> {
        None
    }
    /// What would gain a free block of a plane first, if it has fewer than it should.
    fn reclaim(&self, plane: Plane) -> Option<SpaceRequest> {
        self.delayed(plane)
    }
    /// What could be collected on a plane without hurry: blocks without a free page (the job list of
    /// proactive block compaction, Jung 2013, section 7.5.1.2). The one that has waited longest.
    fn full(&self, plane: Plane) -> Option<SpaceRequest>;
    /// Of what would gain a free block of a plane, what was written least recently. Without logical blocks nothing.
    fn least_recent(&self, _plane: Plane) -> Option<SpaceRequest> {
        None
    }
    /// The collection on `plane` that `writes` would need if they came now, one after the other, if
    /// any; the first if several. Of each the first page and the number of pages.
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest>;
    /// What a collection would cost now.
    fn cost(&self, want: SpaceRequest) -> Cost;

    /// Builds the counts anew from what the flash holds, after the memory has been lost.
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery;
    /// Checks the counts against each other; for tests and verification. Linear in the pages.
    fn audit(&self) -> Result<(), String>;
}

/// What some families can do and others cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Any logical page may lie in any physical page of any block, whatever lies beside it.
    pub any_place: bool,
    /// Free pages are counted, and it is known when the open block of the host is full.
    pub free_pages: bool,
    /// It is known when a block holds no valid page any more, and a block is moved for the sake of its data.
    pub whole_blocks: bool,
}

/// The parameters of a family: what it needs of an array, and the map that they make.
pub trait Build {
    /// The map.
    type Map: Mapping;
    /// What the family can do beyond mapping.
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }
    /// Free blocks of a plane that a collection may take before it frees any.
    fn reserve_blocks(&self) -> u32 {
        1
    }
    /// Free blocks beyond the reserve that a move for the sake of even wear takes.
    fn wear_blocks(&self) -> u32 {
        1
    }
    /// Blocks of a plane that are kept for metadata.
    fn metadata_blocks(&self, _plan: &Plan) -> u32 {
        0
    }
    /// Refuses a plan on which the family cannot work: its own parameters, the policies beside it, and the
    /// room that it has.
    fn check(&self, plan: &Plan) -> Result<(), PlanError>;
    /// What the map takes of memory, of a device so full.
    fn memory(&self, plan: &Plan, fill: Fill) -> Vec<Table>;
    /// An empty map over a pristine array.
    fn build(&self, plan: &Plan) -> Self::Map;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Where is a logical page?
            pub enum Family at "ftl.mapping" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        /// The mapping of a device, whatever its family.
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

        /// Does `$body` with the mapping of the member, whichever it is.
        macro_rules! each {
            ($map:expr, $inner:ident => $body:expr) => {
                match $map { $(Map::$Variant($inner) => $body),+ }
            };
        }
    };
}

/// The same for what is called for every page: page mapping in line behind one comparison, the
/// others out of its way.
macro_rules! page_first {
    ($map:expr, $inner:ident => $body:expr) => {
        if let Map::Page($inner) = $map {
            $body
        } else {
            apart(move || each!($map, $inner => $body))
        }
    };
}

#[inline(never)]
fn apart<T>(body: impl FnOnce() -> T) -> T {
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
    /// The empty map of a plan's family.
    pub fn new(plan: &Plan) -> Self {
        plan.config.mapping.build(plan)
    }
    /// What it takes of memory, of a device so full.
    pub fn memory(plan: &Plan, fill: Fill) -> Vec<Table> {
        plan.config.mapping.memory(plan, fill)
    }
}

impl Family {
    /// The families that can do something, as a choice of values: `"page" or "dftl"`.
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
    fn write(&mut self, page: Lpn) -> Written {
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
