//! Page mapping.

mod audit;
mod bulk;
mod collect;
mod exchange;
mod in_step;
mod metadata;
mod recover;
mod refresh;
mod room;
mod slc_cache;
mod write;

use std::ops::Range;

use prefetch_index::prefetch_index;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Die, Layout, Plane, Ppn};

use self::collect::Victim;
pub(super) use self::room::Demand;
use self::slc_cache::Cache;
use super::{Abilities, Build, Bulk, Mapping, SpaceRequest, Written};
use crate::allocate::{Allocator, PlanePolicy};
use crate::block::{Blocks, Phase};
use crate::gc::check::Check;
use crate::gc::victim::Chooser;
use crate::job::{Collection, Cost, JobId, Step};
use crate::lpn::Lpn;
use crate::plan::{Plan, PlanError};
use crate::recovery::{Flash, Recovery};
use crate::wear::{FreeBlocks, Spend};

/// Any logical page can be in any physical page; the whole map is in DRAM, so a lookup costs no
/// flash operation. Garbage collection moves pages within their plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Page {}

impl Cited for Page {
    const PAPER: &'static str = "A. Ban, Flash file system, US patent 5,404,485, 1995";
}

impl Build for Page {
    type Map = PageMap;
    fn abilities(&self) -> Abilities {
        Abilities {
            any_place: true,
            free_pages: true,
            whole_blocks: true,
        }
    }
    fn check(&self, plan: &Plan) -> Result<(), PlanError> {
        let demand = Demand::of(plan, 0)?;
        if demand.fits(plan) {
            return Ok(());
        }
        Err(demand.fault(plan))
    }
    fn memory(&self, plan: &Plan, fill: Fill) -> Vec<Table> {
        PageMap::memory(plan, 0, fill)
    }
    fn build(&self, plan: &Plan) -> PageMap {
        PageMap::new(plan).with_cache()
    }
}

/// Whom an active block of a plane is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Writer {
    /// The host, and collection where they share.
    Host = 0,
    /// Collection, where it has a block of its own.
    Collection = 1,
    /// Data that moves for the sake of even wear.
    Wear = 2,
    /// The host, past the SLC cache: its block while it writes to one of the cache.
    Direct = 3,
    /// Data that moves for its own sake and returns to its block: the block that keeps it meanwhile, and then its own.
    Return = 4,
}

/// The block of a plane that takes programs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Active {
    block: Block,
    /// The next page to program.
    next: u32,
    /// One past the block's last page; equal to `next` when there is no room, and at the start.
    end: u32,
}

impl Active {
    /// Whether it has no room.
    #[inline]
    fn is_full(&self) -> bool {
        self.next == self.end
    }
}

/// What a plane has at hand.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PlaneState {
    /// Free blocks, those that are kept not counted.
    free: u32,
    /// Free blocks kept for pages of metadata.
    kept: u32,
    /// Invalid pages in blocks that may be collected.
    stale: u32,
    /// What is being collected: the reserve holds the pages of one block.
    victim: Option<Victim>,
    /// Whether the last collection was for the sake of even wear: the next is not.
    leveled: bool,
    /// Whether the host's open block became full with too few free blocks, and there are still too few: only where that is when they are looked at.
    short: bool,
    /// By [`Writer`].
    active: [Active; 5],
}

impl PlaneState {
    /// Whether the host may program a page now. Blocks of the reserve are collection's: the host
    /// neither takes one nor, where the active block is `shared`, writes into one that collection has
    /// taken.
    #[inline]
    fn has_room(&self, reserve: u32, shared: bool) -> bool {
        if self.active[Writer::Host as usize].is_full() {
            self.free > reserve
        } else {
            !shared || self.free >= reserve
        }
    }
    /// Pages that active blocks have left.
    fn room(&self) -> u32 {
        let room = |active: &Active| active.end - active.next;
        self.active.iter().map(room).sum()
    }
    /// The active block of collection's own that `block` is.
    fn active_of_collection(&self, block: Block) -> Option<usize> {
        let is_block = |which: &usize| {
            let active = &self.active[*which];
            active.next < active.end && active.block == block
        };
        (1..self.active.len()).find(is_block)
    }
}

/// A page-mapped translation layer.
///
/// Map and owners are dense arrays of 32-bit words that stay untouched, and so cost nothing, for
/// pages that were never written: eight bytes a page used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageMap {
    pub(super) layout: Layout,
    /// Free blocks below which a plane collects.
    start_blocks: u32,
    /// Free blocks of a plane with which neither its threshold nor a write asks for a collection.
    rest_blocks: u32,
    /// Free pages with which a plane collects; 0 if its free blocks alone decide.
    start_pages: u32,
    /// Whether free blocks alone decide, whenever they are looked at.
    by_blocks_alone: bool,
    /// Whether a plane compares them with its threshold only when the host's open block is full.
    checks_full_blocks: bool,
    reserve_blocks: u32,
    /// Which active block collection writes to.
    collection: Writer,
    /// By logical page: 1 + its physical page, or 0. Pages of metadata are behind the host's.
    #[serde(with = "wordline_kernel::dense")]
    pub(super) map: Vec<u32>,
    /// By physical page: 1 + the logical page last programmed there, as its spare area would say.
    /// The copy is current if the map points back.
    #[serde(with = "wordline_kernel::dense")]
    pub(super) owners: Vec<u32>,
    pub(super) blocks: Blocks,
    planes: Vec<PlaneState>,
    /// By plane: the block that is kept in step with those of the other planes of its die; empty until there is one.
    in_step: Vec<Active>,
    /// Free blocks of all planes.
    free_blocks: u32,
    allocator: Allocator,
    chooser: Chooser,
    free: FreeBlocks,
    /// From this page on none was ever written, and no block of the host is open: what
    /// [`Bulk::fill`] has reached. Whoever else writes opens a block first, and then it is the end
    /// of the map.
    unwritten: u32,
    /// Whether pages may lie on other planes than those that the allocator has for them: their owner has numbered them anew.
    scattered: bool,
    /// Blocks in single-level mode, if there are any.
    cache: Option<Box<Cache>>,
    /// The page that was prefetched last, until its copy is, too; no state, and not written.
    #[serde(skip)]
    ahead: Option<Lpn>,
    /// What it was built from, to build it again when the memory has been lost.
    plan: Box<Plan>,
}

impl PageMap {
    /// An empty map over a pristine array.
    pub fn new(plan: &Plan) -> Self {
        Self::with_metadata(plan, 0, 0)
    }
    /// The same with room for `pages` pages of metadata, for which `kept` blocks of every
    /// plane are kept.
    pub(super) fn with_metadata(plan: &Plan, pages: u32, kept: u32) -> Self {
        let layout = plan.layout;
        let plane = PlaneState {
            free: layout.blocks_per_plane - kept,
            kept,
            stale: 0,
            victim: None,
            leveled: false,
            short: false,
            active: [Active::default(); 5],
        };
        Self {
            layout,
            start_blocks: plan.start_blocks,
            rest_blocks: plan.rest_blocks(),
            start_pages: plan.start_pages,
            by_blocks_alone: plan.start_pages == 0 && plan.config.gc.check == Check::EachPage,
            checks_full_blocks: plan.config.gc.check == Check::FullBlock,
            reserve_blocks: plan.reserve_blocks,
            collection: if plan.config.gc.own_block {
                Writer::Collection
            } else {
                Writer::Host
            },
            map: vec![0; (plan.user_pages + pages) as usize],
            owners: vec![0; layout.pages() as usize],
            blocks: Blocks::new(layout),
            planes: vec![plane; layout.planes() as usize],
            in_step: Vec::new(),
            free_blocks: layout.blocks() - layout.planes() * kept,
            allocator: Allocator::new(&plan.config.allocate, plan.dimensions),
            chooser: Chooser::new(&plan.config.gc.victim, &layout, plan.seed),
            free: FreeBlocks::new(&plan.config.wear, &layout),
            unwritten: 0,
            scattered: false,
            cache: None,
            ahead: None,
            plan: Box::new(plan.clone()),
        }
    }
    /// What the map takes of memory with room for `pages` pages of metadata, of a device so full.
    pub(super) fn memory(plan: &Plan, pages: u32, fill: Fill) -> Vec<Table> {
        let layout = &plan.layout;
        let logical = u64::from(plan.user_pages) + u64::from(pages);
        let mut tables = vec![
            Table::zeroed::<u32>("map of logical pages", logical, fill.logical),
            Table::zeroed::<u32>(
                "owners of physical pages",
                layout.pages().into(),
                fill.physical,
            ),
            Table::written::<PlaneState>("planes", layout.planes().into()),
            Chooser::memory(&plan.config.gc.victim, layout, fill),
            FreeBlocks::memory(&plan.config.wear, layout, fill),
        ];
        tables.extend(Blocks::memory(layout, fill));
        tables
    }
    /// Pages of a block that hold the current copy of a logical page.
    pub fn valid(&self, block: Block) -> u32 {
        let state = &self.planes[self.layout.plane_of(block).index()];
        let is_block = |active: &&Active| active.block == block;
        let room = |active: &Active| active.end - active.next;
        let in_step = self.in_step.get(self.layout.plane_of(block).index());
        let rooms = state
            .active
            .iter()
            .chain(in_step)
            .filter(is_block)
            .map(room);
        self.blocks.valid(block) - rooms.sum::<u32>()
    }
    /// The books on each block; what an active block has room for is booked as valid.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }
    /// Whether a plane, which has fewer free blocks than its threshold, collects: where free pages count, or only the moment at which the host's
    /// open block was full.
    #[cold]
    fn is_short(&self, state: &PlaneState) -> bool {
        (!self.checks_full_blocks || state.short)
            && (self.start_pages == 0 || self.is_short_of_pages(state))
    }
    fn is_short_of_pages(&self, state: &PlaneState) -> bool {
        state.free * self.data_pages() + state.room() <= self.start_pages
    }
    /// The open block of the host is full.
    #[cold]
    fn full_block(&mut self, plane: Plane) {
        if self.checks_full_blocks {
            let state = &mut self.planes[plane.index()];
            state.short = state.free < self.start_blocks;
        }
    }
    /// Makes room in the map for logical pages up to and without `pages`, as if it had been built so.
    pub(super) fn grow(&mut self, pages: u32) {
        let pages = pages as usize;
        if self.map.len() < pages {
            self.map.resize(pages.next_power_of_two(), 0);
        }
    }
    /// Pages of a block before those of its summary.
    pub(super) fn data_pages(&self) -> u32 {
        self.plan.data_pages()
    }
    /// The block of a plane that is being collected.
    pub fn victim(&self, plane: Plane) -> Option<Block> {
        self.planes[plane.index()].victim.map(|victim| victim.block)
    }
}

impl Mapping for PageMap {
    #[inline]
    fn bulk(&mut self) -> Option<&mut impl Bulk> {
        Some(self)
    }
    fn user_pages(&self) -> u32 {
        self.map.len() as u32
    }
    #[inline]
    fn free_blocks(&self) -> u32 {
        self.free_blocks
    }
    #[inline]
    fn free_blocks_of(&self, plane: Plane) -> u32 {
        self.planes[plane.index()].free
    }
    fn valid_pages(&self) -> u64 {
        let room: u32 = self.planes.iter().map(PlaneState::room).sum();
        let in_step = self.in_step.iter().map(|active| active.end - active.next);
        self.blocks.valid_pages() - u64::from(room + in_step.sum::<u32>())
    }
    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.map[page.index()].checked_sub(1).map(Ppn)
    }
    fn is_single_level(&self, place: Ppn) -> bool {
        Self::is_single_level(self, self.layout.block_of(place))
    }
    fn bypass_cache(&mut self, bypassed: bool) {
        self.set_bypass(bypassed);
    }
    fn can_fold(&self, plane: Plane) -> bool {
        self.may_fold(plane)
    }
    fn fold(&mut self, plane: Plane) -> Option<Collection> {
        self.start_fold(plane)
    }
    fn page_at(&self, place: Ppn) -> Option<Lpn> {
        let owner = self.owners[place.index()].checked_sub(1).map(Lpn);
        owner.filter(|page| page.0 < self.plan.user_pages)
    }
    #[inline]
    fn prefetch(&mut self, page: Lpn) {
        prefetch_index(&self.map, page.index());
        self.ahead = Some(page);
    }
    #[inline]
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        self.allocator.home(page)
    }
    fn set_die_loads(&mut self, work: impl Fn(Die) -> Time) {
        self.allocator.set_die_loads(work);
    }
    #[inline]
    fn write(&mut self, page: Lpn) -> Written {
        let Some((plane, home)) = self.plane_for(page) else {
            return Written::Wait(SpaceRequest::Anywhere);
        };
        match self.put(page, plane, home) {
            Some(put) => Written::Placed(put.placed.place),
            None => Written::Wait(SpaceRequest::Free(plane)),
        }
    }
    fn fill<E>(
        &mut self,
        pages: Range<u32>,
        filled: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<u32, E> {
        self.fill_blocks(pages, filled)
    }
    fn write_in_step(&mut self, pages: &[Lpn], places: &mut Vec<Ppn>) -> bool {
        self.put_in_step(pages, places)
    }
    fn exchange(&mut self, page: Lpn, place: Ppn) -> bool {
        self.exchange_places(page, place)
    }
    fn trim(&mut self, page: Lpn) {
        if let Some(old) = self.lookup(page) {
            self.invalidate(old);
            self.map[page.index()] = 0;
        }
    }
    #[inline]
    fn wants_collection(&self, plane: Plane) -> bool {
        let state = &self.planes[plane.index()];
        state.free < self.start_blocks && (self.by_blocks_alone || self.is_short(state))
    }
    fn lacks_room(&self, plane: Plane) -> bool {
        let shared = self.collection == Writer::Host;
        let state = &self.planes[plane.index()];
        self.wants_collection(plane) || !state.has_room(self.reserve_blocks, shared)
    }
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection> {
        self.start(want)
    }
    fn refresh(&mut self, block: Block) -> Option<Collection> {
        self.start_refresh(block)
    }
    fn is_spent(&self, block: Block) -> bool {
        matches!(self.blocks.phase(block), Phase::Closed | Phase::Cached)
            && self.blocks.valid(block) == 0
    }
    fn clear(&mut self, block: Block) -> Option<Collection> {
        self.start_clear(block)
    }
    fn is_over(&self, job: JobId) -> bool {
        self.planes[job.index()].victim.is_none()
    }
    #[inline]
    fn step(&mut self, job: JobId) -> Step {
        self.next_step(Plane(job.0))
    }
    #[inline(always)]
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn> {
        self.move_page(Plane(job.0), from)
    }
    fn erased(&mut self, block: Block, erases: u32) {
        let valid = self.blocks.valid(block);
        assert!(
            valid == 0,
            "block {} erased with {valid} valid pages",
            block.0
        );
        self.blocks.enter(block, Phase::Free);
        let plane = self.layout.plane_of(block);
        if self.cache.is_some() && self.erased_cached(plane, block) {
            self.planes[plane.index()].victim = None;
            self.turn_to_cache(plane);
            return;
        }
        if self.returns(plane, block, erases) {
            return;
        }
        let state = &mut self.planes[plane.index()];
        state.free += 1;
        state.short &= state.free < self.start_blocks;
        self.free_blocks += 1;
        if state.victim.take().is_some_and(|victim| victim.refresh) {
            self.free.refreshed(plane, block, erases);
        } else {
            self.free.erased(plane, block, erases);
        }
        if self.cache.is_some() {
            self.turn_to_cache(plane);
        }
    }
    fn retired(&mut self, block: Block) {
        self.blocks.enter(block, Phase::Bad);
    }
    /// A plane with fewer free blocks than it should have, whose collection is still to come.
    fn delayed(&self, plane: Plane) -> Option<SpaceRequest> {
        self.full(plane).filter(|_| self.wants_collection(plane))
    }
    fn full(&self, plane: Plane) -> Option<SpaceRequest> {
        let state = &self.planes[plane.index()];
        let gains = state.stale > 0 || self.folding_frees(plane);
        (gains && state.victim.is_none()).then_some(SpaceRequest::Free(plane))
    }
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
        self.shortage_of(plane, writes)
    }
    fn cost(&self, want: SpaceRequest) -> Cost {
        self.cost_of(want)
    }
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery {
        self.rebuild(flash)
    }
    fn audit(&self) -> Result<(), String> {
        self.audit_books()
    }
}
