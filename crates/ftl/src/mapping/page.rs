//! Page mapping.

mod audit;
mod bulk;
mod collect;
mod exchange;
mod in_step;
mod metadata;
mod owners;
mod places;
mod recover;
mod refresh;
mod room;
mod slc_cache;
mod write;

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Die, Layout, Plane, Ppn};

use self::collect::Victim;
use self::owners::Owners;
use self::places::Places;
pub(super) use self::room::Demand;
use self::slc_cache::Cache;
use super::{Abilities, Build, Bulk, Mapping, SpaceRequest, WriteOutcome};
use crate::allocate::{Allocator, PlanePolicy};
use crate::block::{Blocks, Phase};
use crate::gc::check::Check;
use crate::gc::victim::Chooser;
use crate::job::{Collection, Cost, JobId, Step};
use crate::lpn::Lpn;
use crate::plan::{Plan, PlanError};
use crate::recovery::{Flash, Recovery};
use crate::wear::{FreeBlocks, Spend};

/// Any logical page can be in any physical page. The whole map is in DRAM, so a look-up costs no
/// flash operation. GC moves pages within their plane.
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

/// Writer to which an active block of a plane belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Writer {
    /// The host, and GC if it shares the host's block.
    Host = 0,
    /// GC, if it has a separate block.
    Collection = 1,
    /// Wear levelling.
    Wear = 2,
    /// The host, bypassing the SLC cache: its normal block, which is set aside while the host
    /// writes to a cache block.
    Direct = 3,
    /// In-place refresh: first the block that temporarily takes the data, then the original block.
    Return = 4,
}

/// Block of a plane that takes programs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Active {
    block: Block,
    /// Next page to program.
    next: u32,
    /// Page after the last page of the block; equal to `next` if there is no active block.
    end: u32,
}

impl Active {
    /// Returns `true` if the block has no room.
    #[inline]
    fn is_full(&self) -> bool {
        self.next == self.end
    }
}

/// State of a plane.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PlaneState {
    /// Number of free blocks, excluding those kept for metadata.
    free: u32,
    /// Number of free blocks kept for metadata.
    kept: u32,
    /// Number of invalid pages in GC candidates.
    stale: u32,
    /// GC run in progress. The reserve has room for the pages of one victim.
    victim: Option<Victim>,
    /// Whether wear levelling caused the last GC run. Wear levelling never causes two in a row.
    leveled: bool,
    /// Whether the plane was below its free-block threshold when the host's active block became
    /// full, and still is. Used only if free blocks are checked at that time.
    short: bool,
    /// Active blocks, indexed by [`Writer`].
    active: [Active; 5],
}

impl PlaneState {
    /// Returns `true` if the host may program a page now. The host does not take blocks of the
    /// reserve. If the active block is `shared` with GC, the host does not write to a block that GC
    /// has taken from the reserve either.
    #[inline]
    fn has_room(&self, reserve: u32, shared: bool) -> bool {
        if self.active[Writer::Host as usize].is_full() {
            self.free > reserve
        } else {
            !shared || self.free >= reserve
        }
    }
    /// Returns the number of free pages in active blocks.
    fn room(&self) -> u32 {
        let room = |active: &Active| active.end - active.next;
        self.active.iter().map(room).sum()
    }
    /// Returns the index in `active` of the active block `block`, unless it is the host's.
    fn active_of_collection(&self, block: Block) -> Option<usize> {
        let is_block = |which: &usize| {
            let active = &self.active[*which];
            active.next < active.end && active.block == block
        };
        (1..self.active.len()).find(is_block)
    }
}

/// Page-mapped translation layer.
///
/// The map and the owners are arrays of 32-bit words. The words of pages that were never written
/// stay untouched and take no memory; each page used takes eight bytes. A large device that was
/// filled in order has formulas instead, until it is overwritten.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageMap {
    pub(super) layout: Layout,
    /// Free-block threshold: GC of a plane starts below it. Blocks.
    start_blocks: u32,
    /// Smallest number of free blocks of a plane with which neither its threshold nor a write
    /// requires GC.
    rest_blocks: u32,
    /// Free-page threshold: GC of a plane starts at this number of free pages; 0 if only free
    /// blocks count. Pages.
    start_pages: u32,
    /// Whether only free blocks determine if a plane needs GC, regardless of free pages and of
    /// `checks_full_blocks`.
    by_blocks_alone: bool,
    /// Whether a plane compares free blocks with its threshold only when the host's active block is
    /// full.
    checks_full_blocks: bool,
    reserve_blocks: u32,
    /// Writer to whose active block GC writes.
    collection: Writer,
    /// Physical page of each logical page. Metadata pages follow the host's.
    pub(super) map: Places,
    pub(super) owners: Owners,
    pub(super) blocks: Blocks,
    planes: Vec<PlaneState>,
    /// Block of each plane that is kept aligned with those of the other planes of its die. Empty
    /// before the first aligned write.
    in_step: Vec<Active>,
    /// Number of free blocks of all planes.
    free_blocks: u32,
    allocator: Allocator,
    chooser: Chooser,
    free: FreeBlocks,
    /// First page that [`Mapping::fill`] may write: neither this page nor a later one was ever
    /// written, and no block of the host is open. When any other operation opens a block, this
    /// field becomes the end of the map, so that nothing more is filled.
    unwritten: u32,
    /// Whether pages may be on planes other than those the allocator selects, because their owner
    /// has renumbered them, or because pages were exchanged.
    scattered: bool,
    /// SLC cache, if there is one.
    cache: Option<Box<Cache>>,
    /// Page that was prefetched last, until its copy is prefetched too. Not part of the state and
    /// not saved.
    #[serde(skip)]
    ahead: Option<Lpn>,
    /// Plan from which the map was created, to recreate it after a power cut.
    plan: Box<Plan>,
}

impl PageMap {
    /// Creates an empty map over an erased array.
    pub fn new(plan: &Plan) -> Self {
        Self::with_metadata(plan, 0, 0)
    }
    /// Creates an empty map with room for `pages` metadata pages, for which `kept` blocks of every
    /// plane are reserved.
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
            map: Places::new((plan.user_pages + pages) as usize),
            owners: Owners::new(layout.blocks(), layout.pages_per_block),
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
    /// Returns the memory estimate of the map on a device filled to `fill` in order, with room for
    /// `pages` metadata pages.
    pub(super) fn memory(plan: &Plan, pages: u32, fill: Fill) -> Vec<Table> {
        let layout = &plan.layout;
        let logical = u64::from(plan.user_pages) + u64::from(pages);
        let by_formula = plan.keeps_formula() && pages == 0 && fill.logical > 0.0;
        let stored = if by_formula {
            [0.0; 2]
        } else {
            [fill.logical, fill.physical]
        };
        let physical = layout.pages().into();
        let mut tables = vec![
            Table::zeroed::<u32>("map of logical pages", logical, stored[0]),
            Table::zeroed::<u32>("owners of physical pages", physical, stored[1]),
            Table::written::<PlaneState>("planes", layout.planes().into()),
            Chooser::memory(&plan.config.gc.victim, layout, fill),
            FreeBlocks::memory(&plan.config.wear, layout, fill),
        ];
        if by_formula {
            let parts = logical.div_ceil(places::PART as u64);
            // The first page of each block and its owner; the allocator may clear used memory.
            tables.extend([
                Table::written::<u32>("parts of the map", parts),
                Table::written::<[u32; 2]>("filled blocks", layout.blocks().into()),
            ]);
        }
        tables.extend(Blocks::memory(layout, fill));
        tables
    }
    /// Returns the number of pages of a block that contain the current copy of a logical page.
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
    /// Returns the block tables. They count free pages of an active block as valid.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }
    /// Returns `true` if a plane below its free-block threshold needs GC, considering free pages
    /// and the time of the check, if these are configured.
    #[cold]
    fn is_short(&self, state: &PlaneState) -> bool {
        (!self.checks_full_blocks || state.short)
            && (self.start_pages == 0 || self.is_short_of_pages(state))
    }
    fn is_short_of_pages(&self, state: &PlaneState) -> bool {
        state.free * self.data_pages() + state.room() <= self.start_pages
    }
    /// Records whether a plane is below its free-block threshold, if `checks_full_blocks` is set.
    /// Called when an active block of the host has become full.
    #[cold]
    fn full_block(&mut self, plane: Plane) {
        if self.checks_full_blocks {
            let state = &mut self.planes[plane.index()];
            state.short = state.free < self.start_blocks;
        }
    }
    /// Extends the map to at least `pages` logical pages, if it is smaller.
    pub(super) fn grow(&mut self, pages: u32) {
        let pages = pages as usize;
        if self.map.len() < pages {
            self.map.grow(pages.next_power_of_two());
        }
    }
    /// Returns the number of pages of a block that are not part of its summary.
    pub(super) fn data_pages(&self) -> u32 {
        self.plan.data_pages()
    }
    /// Returns the GC victim of a plane, if any.
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
        self.map.get(page)
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
        let owner = self.owners.get(place);
        owner.filter(|page| page.0 < self.plan.user_pages)
    }
    #[inline]
    fn prefetch(&mut self, page: Lpn) {
        self.map.prefetch(page.index());
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
    fn write(&mut self, page: Lpn) -> WriteOutcome {
        let Some((plane, home)) = self.plane_for(page) else {
            return WriteOutcome::Blocked(SpaceRequest::Anywhere);
        };
        match self.put(page, plane, home) {
            Some(put) => WriteOutcome::Placed(put.placed.place),
            None => WriteOutcome::Blocked(SpaceRequest::Free(plane)),
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
            self.map.clear(page);
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
            "block {} was erased with {valid} valid pages",
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
    /// Returns a request if the plane is below its free-block threshold and its GC run has not
    /// started yet.
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
