//! Block mapping.

mod collection;
mod recover;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane, Ppn};

use super::{Build, LogicalBlock, Mapping, SpaceRequest, WriteOutcome};
use crate::allocate::{Allocator, PlanePolicy};
use crate::job::{Collection, Cost, JobId, Step};
use crate::lists::Lists;
use crate::lpn::Lpn;
use crate::plan::{Plan, PlanError};
use crate::recovery::{Flash, Recovery};
use crate::wear::{FreeBlocks, Spend};
use collection::{BlockCollection, Need};

/// A logical block has as many pages as an erase block and is stored in one data block, page i at
/// offset i. The map therefore has one entry per block, as in memory cards. Logical blocks go to
/// the planes in turn, in the order of `ftl.allocate`, which must be static.
///
/// A look-up costs no flash operation. A new version of a page goes to the replacement block of its
/// logical block, at the same offset. If that offset is the next one to program, the write has no
/// further cost. If it is a later one, the pages in between are first copied from the data block
/// (GC runs of kind `partial`); where there is no valid page to copy, a filler page is programmed
/// to keep the order. If the offset has already been programmed, the replacement block is
/// completed: the remaining pages are copied into it, the data block is erased, and the replacement
/// block becomes the data block (kind `full`, or `switch` if no page remained to copy). Then
/// another replacement block is opened. If a logical block needs a replacement block and all
/// `open_blocks` of the plane are in use, the least recently written replacement block is completed
/// first. The free pages at the end of a data block take first versions without a replacement
/// block. Writes to a logical block are placed in order of arrival.
///
/// With P pages per block and all pages written, sequential writes cost one erase per block and no
/// copy. Random writes over N logical blocks of a plane with m replacement blocks cost (P - 1)(1 -
/// m / 2N) copies each: between half a block and a whole block.
///
/// Not used: `ftl.gc.victim`, `ftl.gc.start_free_ratio` and `ftl.gc.own_block`. GC cannot run
/// before the write that needs it, so only the schedules `on-demand` and `incremental` are
/// supported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlockMapping {
    /// Maximum number of replacement blocks per plane.
    #[schemars(range(min = 1, max = 65_536))]
    pub open_blocks: u32,
}

impl Default for BlockMapping {
    fn default() -> Self {
        Self { open_blocks: 4 }
    }
}

impl Cited for BlockMapping {
    const PAPER: &'static str = "A. Ban, Flash file system optimized for page-mode flash technologies (NFTL), US patent 5,937,425, 1999";
}

impl Build for BlockMapping {
    type Map = BlockMap;
    /// Returns 0, because the reserve includes the block that wear levelling takes.
    fn wear_blocks(&self) -> u32 {
        0
    }
    /// Checks that data blocks, replacement blocks and reserve fit into a plane, and that the
    /// schedule and the allocation are supported.
    fn check(&self, plan: &Plan) -> Result<(), PlanError> {
        let schedule = &plan.config.gc.schedule;
        if schedule.policy().attention().is_some() {
            return Err(PlanError {
                key: "ftl.gc.schedule",
                reason: format!(
                    "ftl.gc.schedule = \"{}\" runs GC in idle time, which block mapping does not support: without update \
                     blocks, a GC run can neither start before the write that needs it nor be deferred",
                    schedule.name()
                ),
                remedy: "set ftl.gc.schedule to \"on-demand\" or \"incremental\", or choose another ftl.mapping".into(),
            });
        }
        if !plan.config.allocate.is_by_address() {
            return Err(PlanError {
                key: "ftl.allocate",
                reason: "block mapping keeps every logical block on one plane, so the address must determine the plane".into(),
                remedy: "set ftl.allocate to \"static\", or choose another ftl.mapping".into(),
            });
        }
        if self.open_blocks == 0 {
            return Err(PlanError {
                key: "ftl.mapping.block.open_blocks",
                reason: "without a replacement block, no page can be overwritten".into(),
                remedy: "set ftl.mapping.block.open_blocks to at least 1".into(),
            });
        }
        let layout = &plan.layout;
        let data = logical_blocks(plan).div_ceil(layout.planes());
        let kept = u64::from(self.open_blocks) + u64::from(plan.reserve_blocks);
        let blocks = layout.blocks_per_plane;
        if plan.user_pages > 0 && u64::from(data) + kept <= u64::from(blocks) {
            return Ok(());
        }
        Err(PlanError {
            key: "ftl.over_provisioning_ratio",
            reason: format!(
                "the logical blocks of a plane take {data} of its {blocks} blocks, and {kept} more \
                 are needed (replacement blocks {}, reserve {})",
                self.open_blocks, plan.reserve_blocks
            ),
            remedy: "raise ftl.over_provisioning_ratio, lower ftl.mapping.block.open_blocks, or give a plane more blocks"
                .into(),
        })
    }
    fn memory(&self, plan: &Plan, fill: Fill) -> Vec<Table> {
        let layout = &plan.layout;
        let (logical, words) = (logical_blocks(plan), plan.user_pages.div_ceil(u64::BITS));
        let planes = u64::from(layout.planes());
        vec![
            Table::written::<Home>("map of logical blocks", logical.into()),
            Table::zeroed::<u64>("valid pages", words.into(), fill.logical),
            Table::zeroed::<u32>("block owners", layout.blocks().into(), fill.physical),
            Table::written::<PlaneState>("planes", planes),
            Lists::memory("open blocks", planes, logical.into(), 0.0),
            FreeBlocks::memory(&plan.config.wear, layout, fill),
        ]
    }
    fn build(&self, plan: &Plan) -> BlockMap {
        BlockMap::new(plan, self.open_blocks)
    }
}

fn logical_blocks(plan: &Plan) -> u32 {
    plan.user_pages.div_ceil(plan.layout.pages_per_block)
}

/// Location of a logical block. All its blocks are `None` before the first write.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Home {
    /// Data block.
    data: Option<Block>,
    /// Block that contains the pages before `head_pages` instead of the data block: a replacement
    /// block whose next page was lost in a power cut.
    head: Option<Block>,
    head_pages: u32,
    /// Replacement block. If there is a head, the data block and the head are being copied into it.
    replacement: Option<Block>,
    /// Offset of the next page to program, in the replacement block or, without one, in the data
    /// block.
    next: u32,
    /// `wanted`: 1 + the offset of the page whose write must be placed before others of the logical
    /// block, or 0. `asked`: number of GC runs of the plane that had ended when the write was
    /// requested.
    wanted: u32,
    asked: u32,
}

impl Home {
    /// Returns the block that takes programs; `None` if the logical block has no block.
    fn writer(&self) -> Option<Block> {
        self.replacement.or(self.data)
    }
    /// Returns the block that contains the page at `offset`. Meaningful only if the page is valid.
    fn holder(&self, offset: u32) -> Option<Block> {
        let replaced = self.replacement.filter(|_| offset < self.next);
        let head = self.head.filter(|_| offset < self.head_pages);
        replaced.or(head).or(self.data)
    }
    /// Iterates over the blocks that a completed replacement block supersedes.
    fn kept(&self) -> impl Iterator<Item = Block> + use<> {
        self.data.into_iter().chain(self.head)
    }
    fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        self.kept().chain(self.replacement)
    }
}

/// State of a plane.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct PlaneState {
    /// Number of free blocks.
    free: u32,
    /// Number of logical blocks with a replacement block or a head.
    open: u32,
    /// Number of GC runs that have ended, modulo 2^32.
    over: u32,
    /// Whether a logical block has been moved for wear levelling since the last replacement block
    /// was completed. At most one is moved in between.
    leveled: bool,
    /// GC run in progress.
    work: Option<BlockCollection>,
}

/// Block-mapped flash translation layer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BlockMap {
    layout: Layout,
    open_blocks: u32,
    user_pages: u32,
    homes: Vec<Home>,
    /// Bit per logical page, set if the page has been written and not trimmed since.
    #[serde(with = "wordline_kernel::dense")]
    valid: Vec<u64>,
    /// Owner of each block: 1 + its logical block, or 0 if the block is free.
    #[serde(with = "wordline_kernel::dense")]
    owners: Vec<u32>,
    planes: Vec<PlaneState>,
    /// Number of free blocks of all planes.
    free_blocks: u32,
    /// Open logical blocks of each plane, least recently written first.
    recent: Lists,
    allocator: Allocator,
    free: FreeBlocks,
    /// Plan from which the map was created, to recreate it after a power cut.
    plan: Box<Plan>,
}

impl BlockMap {
    fn new(plan: &Plan, open_blocks: u32) -> Self {
        let layout = plan.layout;
        let logical = logical_blocks(plan) as usize;
        let plane = PlaneState {
            free: layout.blocks_per_plane,
            ..PlaneState::default()
        };
        Self {
            layout,
            open_blocks,
            user_pages: plan.user_pages,
            homes: vec![Home::default(); logical],
            valid: vec![0; plan.user_pages.div_ceil(u64::BITS) as usize],
            owners: vec![0; layout.blocks() as usize],
            planes: vec![plane; layout.planes() as usize],
            free_blocks: layout.blocks(),
            recent: Lists::new(layout.planes() as usize, logical),
            allocator: Allocator::new(&plan.config.allocate, plan.dimensions),
            free: FreeBlocks::new(&plan.config.wear, &layout),
            plan: Box::new(plan.clone()),
        }
    }

    /// Returns the logical block of a page, and the page's offset in it.
    #[inline]
    fn split(&self, page: Lpn) -> (LogicalBlock, u32) {
        let pages = self.layout.pages_per_block;
        (LogicalBlock(page.0 / pages), page.0 % pages)
    }
    #[inline]
    fn page(&self, logical: LogicalBlock, offset: u32) -> Lpn {
        Lpn(logical.0 * self.layout.pages_per_block + offset)
    }
    /// Returns the plane of a logical block.
    #[inline]
    fn plane_of(&self, logical: LogicalBlock) -> Plane {
        let home = self.allocator.home(Lpn(logical.0));
        home.unwrap_or_else(|| unreachable!("block mapping requires static allocation"))
    }
    #[inline]
    fn home(&self, logical: LogicalBlock) -> &Home {
        &self.homes[logical.0 as usize]
    }
    #[inline]
    fn home_mut(&mut self, logical: LogicalBlock) -> &mut Home {
        &mut self.homes[logical.0 as usize]
    }

    #[inline]
    fn is_valid(&self, page: Lpn) -> bool {
        page.0 < self.user_pages && self.valid[page.index() / 64] >> (page.0 % 64) & 1 == 1
    }
    #[inline]
    fn set_valid(&mut self, page: Lpn, valid: bool) {
        let word = &mut self.valid[page.index() / 64];
        let bit = 1 << (page.0 % 64);
        *word = if valid { *word | bit } else { *word & !bit };
    }
    /// Returns the number of valid pages of a logical block at the offsets `from..to`.
    fn count_valid(&self, logical: LogicalBlock, from: u32, to: u32) -> u32 {
        (from..to)
            .filter(|offset| self.is_valid(self.page(logical, *offset)))
            .count() as u32
    }

    /// Returns the offset of the page whose write to a logical block must be placed first: the one
    /// requested first since the end of the plane's last GC run. After a GC run, all waiting writes
    /// are requested again, in order of arrival.
    #[inline]
    fn wanted(&self, plane: Plane, logical: LogicalBlock) -> Option<u32> {
        let home = self.home(logical);
        let is_current = home.asked == self.planes[plane.index()].over;
        home.wanted.checked_sub(1).filter(|_| is_current)
    }

    fn is_worked_on(&self, plane: Plane, logical: LogicalBlock) -> bool {
        let work = &self.planes[plane.index()].work;
        work.as_ref().is_some_and(|work| work.logical == logical)
    }

    /// Assigns a free block to a logical block. The free block becomes the data block or, if there
    /// already is one, the replacement block.
    fn open(&mut self, plane: Plane, logical: LogicalBlock, block: Block) {
        let state = &mut self.planes[plane.index()];
        state.free -= 1;
        self.free_blocks -= 1;
        self.owners[block.index()] = logical.0 + 1;
        let home = &mut self.homes[logical.0 as usize];
        home.next = 0;
        if home.data.is_none() {
            home.data = Some(block);
            return;
        }
        home.replacement = Some(block);
        if home.head.is_none() {
            state.open += 1;
            self.recent.push_back(plane.index(), logical.0);
        }
    }

    fn is_free(&mut self, block: Block, erases: u32) {
        let plane = self.layout.plane_of(block);
        self.planes[plane.index()].free += 1;
        self.free_blocks += 1;
        self.free.erased(plane, block, erases);
    }

    /// Marks a logical block as the most recently written one.
    fn touch(&mut self, plane: Plane, logical: LogicalBlock) {
        if self.home(logical).replacement.is_some() {
            self.recent.remove(logical.0);
            self.recent.push_back(plane.index(), logical.0);
        }
    }

    /// Takes the next page of a logical block for a program. Returns `None` if the logical block
    /// has no block.
    fn append(&mut self, logical: LogicalBlock) -> Option<Ppn> {
        let layout = self.layout;
        let home = self.home_mut(logical);
        let block = home.writer()?;
        home.next += 1;
        Some(layout.page(block, home.next - 1))
    }

    /// Allocates a page for a write that no other write must precede. Returns `None` if it must
    /// wait for a GC run.
    fn place(&mut self, plane: Plane, page: Lpn) -> Option<Ppn> {
        let (logical, offset) = self.split(page);
        if self.is_worked_on(plane, logical) || self.need(plane, logical, offset) != Need::Nothing {
            return None;
        }
        if self.needs_block(logical, offset) {
            let block = self.free.take(plane)?;
            self.open(plane, logical, block);
        }
        self.touch(plane, logical);
        self.append(logical)
    }

    fn audit_home(&self, logical: LogicalBlock) -> Result<(), String> {
        let home = self.home(logical);
        let fail = |what: &str| Err(format!("logical block {} {what}: {home:?}", logical.0));
        if home
            .blocks()
            .any(|block| self.owners[block.index()] != logical.0 + 1)
        {
            return fail("is in a block that another logical block owns");
        }
        let valid = |from| self.count_valid(logical, from, self.layout.pages_per_block);
        if home.writer().is_none() && (home.head.is_some() || valid(0) > 0) {
            return fail("has valid pages or a head, but no data block");
        }
        if home.head.is_none() && home.replacement.is_none() && valid(home.next) > 0 {
            return fail("has valid pages beyond the last programmed one");
        }
        Ok(())
    }

    fn audit_plane(&self, plane: Plane) -> Result<(), String> {
        let state = &self.planes[plane.index()];
        let layout = &self.layout;
        let blocks = (0..layout.blocks_per_plane).map(|block| layout.block(plane, block));
        let owned = blocks
            .filter(|block| self.owners[block.index()] != 0)
            .count() as u32;
        let free = layout.blocks_per_plane - owned;
        let logical = (0..self.homes.len() as u32).map(LogicalBlock);
        let is_open = |logical: &LogicalBlock| {
            let home = self.home(*logical);
            home.replacement.or(home.head).is_some()
        };
        let open = logical
            .filter(|logical| self.plane_of(*logical) == plane)
            .filter(is_open)
            .count() as u32;
        if [free, open] == [state.free, state.open] {
            return Ok(());
        }
        Err(format!(
            "plane {}: free blocks and open logical blocks are {:?}, but the counters are {:?}",
            plane.0,
            [free, open],
            [state.free, state.open]
        ))
    }
}

/// Owner number of an unusable block.
const NOBODY: u32 = u32::MAX;

impl Mapping for BlockMap {
    fn user_pages(&self) -> u32 {
        self.user_pages
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
        self.valid
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }
    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        if !self.is_valid(page) {
            return None;
        }
        let (logical, offset) = self.split(page);
        let block = self.home(logical).holder(offset)?;
        Some(self.layout.page(block, offset))
    }
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        Some(self.plane_of(self.split(page).0))
    }
    /// Allocates a page for a write, or makes the write wait. A waiting write of a logical block
    /// determines which pages are copied. Other writes of the logical block wait, so that only a GC
    /// run changes the state on which the waiting write depends.
    #[inline]
    fn write(&mut self, page: Lpn) -> WriteOutcome {
        let (logical, offset) = self.split(page);
        let plane = self.plane_of(logical);
        let wanted = self.wanted(plane, logical);
        if wanted.is_none_or(|wanted| wanted == offset) {
            if let Some(place) = self.place(plane, page) {
                self.home_mut(logical).wanted = 0;
                self.set_valid(page, true);
                return WriteOutcome::Placed(place);
            }
            let over = self.planes[plane.index()].over;
            let home = self.home_mut(logical);
            home.wanted = offset + 1;
            home.asked = over;
        }
        WriteOutcome::Blocked(SpaceRequest::Update(plane, logical))
    }
    fn trim(&mut self, page: Lpn) {
        self.set_valid(page, false);
    }
    /// Returns `false`, because the writes that need GC runs start them.
    #[inline]
    fn wants_collection(&self, _plane: Plane) -> bool {
        false
    }
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection> {
        self.start(want)
    }
    fn is_over(&self, job: JobId) -> bool {
        self.is_done(Plane(job.0))
    }
    fn step(&mut self, job: JobId) -> Step {
        self.next_step(Plane(job.0))
    }
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn> {
        let logical = self.planes[job.index()].work.as_ref()?.logical;
        let offset = self.layout.page_in_block(from);
        debug_assert_eq!(
            offset,
            self.home(logical).next,
            "pages are copied one at a time, in order"
        );
        if !self.is_valid(self.page(logical, offset)) {
            return None;
        }
        self.append(logical)
    }
    fn erased(&mut self, block: Block, erases: u32) {
        self.owners[block.index()] = 0;
        self.is_free(block, erases);
        self.is_erased(block);
    }
    fn retired(&mut self, block: Block) {
        self.owners[block.index()] = NOBODY;
    }
    /// Returns `None`, because there are no GC candidates before a write needs a GC run.
    fn full(&self, _plane: Plane) -> Option<SpaceRequest> {
        None
    }
    fn shortage(&self, _plane: Plane, _writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
        None
    }
    fn cost(&self, want: SpaceRequest) -> Cost {
        self.cost_of(want)
    }
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery {
        *self = Self::new(&self.plan.clone(), self.open_blocks);
        self.reread(flash)
    }
    fn audit(&self) -> Result<(), String> {
        for logical in (0..self.homes.len() as u32).map(LogicalBlock) {
            self.audit_home(logical)?;
        }
        let free: u32 = self.planes.iter().map(|plane| plane.free).sum();
        if free != self.free_blocks {
            return Err(format!(
                "the planes have {free} free blocks, but the counter is {}",
                self.free_blocks
            ));
        }
        (0..self.layout.planes()).try_for_each(|plane| self.audit_plane(Plane(plane)))
    }
}
