//! Page mapping.

use std::ops::Range;

use prefetch_index::prefetch_index;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane, Ppn};

use super::{Mapping, Placed, Want, Written};
use crate::Plan;
use crate::allocate::{Allocator, Place};
use crate::block::{Blocks, Phase};
use crate::gc::victim::{Choose, Chooser};
use crate::job::{Collection, Cost, GcKind, JobId, Step};
use crate::lpn::Lpn;
use crate::recovery::{Flash, Latest, Owner, Recovery};
use crate::wear::{FreeBlocks, Spend};

/// Any logical page can be in any physical page; the whole map is in DRAM, so a lookup costs no
/// flash operation. Garbage collection moves pages within their plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Page {}

impl Cited for Page {
    const PAPER: &'static str = "A. Ban, Flash file system, US patent 5,404,485, 1995";
}

/// Whom an active block of a plane is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    /// The host, and collection where they share.
    Host = 0,
    /// Collection, where it has a block of its own.
    Collection = 1,
    /// Data that moves for the sake of even wear.
    Wear = 2,
}

/// The block of a plane that takes programs.
#[derive(Clone, Copy, Debug, Default)]
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

/// A page of the host, put in its place.
#[derive(Clone, Copy)]
struct Put {
    placed: Placed,
    /// Whether it took a free block, or its plane wants a collection.
    ends_row: bool,
}

/// A collection in progress: its victim, and how far its pages have been looked at.
#[derive(Clone, Copy, Debug)]
struct Victim {
    block: Block,
    /// The next page to look at.
    next: Ppn,
    stage: Stage,
    /// Where its copies go.
    writer: Writer,
}

/// How far a collection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Pages are handed out.
    Moving,
    /// All pages are handed out.
    Moved,
    /// The erase is handed out.
    Erasing,
}

/// What a plane has at hand.
#[derive(Clone, Copy, Debug)]
struct PlaneState {
    /// Free blocks, those that are kept not counted.
    free: u32,
    /// Free blocks kept for pages of the mapping's own.
    kept: u32,
    /// Invalid pages in blocks that may be collected.
    stale: u32,
    /// What is being collected: the reserve holds the pages of one block.
    victim: Option<Victim>,
    /// Whether the last collection was for the sake of even wear: the next is not.
    leveled: bool,
    /// By [`Writer`].
    active: [Active; 3],
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
#[derive(Clone, Debug)]
pub struct PageMap {
    pub(super) layout: Layout,
    start_blocks: u32,
    reserve_blocks: u32,
    /// Which active block collection writes to.
    collection: Writer,
    /// By logical page: 1 + its physical page, or 0. Pages of the mapping's own are behind the host's.
    pub(super) map: Vec<u32>,
    /// By physical page: 1 + the logical page last programmed there, as its spare area would say.
    /// The copy is current if the map points back.
    pub(super) owners: Vec<u32>,
    pub(super) blocks: Blocks,
    planes: Vec<PlaneState>,
    /// Free blocks of all planes.
    free_blocks: u32,
    allocator: Allocator,
    chooser: Chooser,
    free: FreeBlocks,
    /// From this page on none was ever written, and no block of the host is open: what
    /// [`Mapping::fill`] has reached. Whoever else writes opens a block first, and then it is the end
    /// of the map.
    unwritten: u32,
    /// The page that was foreseen last, until its copy has been foreseen.
    ahead: Option<Lpn>,
    /// What it was built from, to build it again when the memory has been lost.
    plan: Box<Plan>,
}

impl PageMap {
    /// An empty map over a pristine array.
    pub fn new(plan: &Plan) -> Self {
        Self::with_own(plan, 0, 0)
    }
    /// The same with room for `pages` pages of the mapping's own, for which `kept` blocks of every
    /// plane are kept.
    pub(super) fn with_own(plan: &Plan, pages: u32, kept: u32) -> Self {
        let layout = plan.layout;
        let plane = PlaneState {
            free: layout.blocks_per_plane - kept,
            kept,
            stale: 0,
            victim: None,
            leveled: false,
            active: [Active::default(); 3],
        };
        Self {
            layout,
            start_blocks: plan.start_blocks,
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
            free_blocks: layout.blocks() - layout.planes() * kept,
            allocator: Allocator::new(&plan.config.allocate, plan.dimensions),
            chooser: Chooser::new(&plan.config.gc.victim, &layout, plan.seed),
            free: FreeBlocks::new(&plan.config.wear, &layout),
            unwritten: 0,
            ahead: None,
            plan: Box::new(plan.clone()),
        }
    }
    /// What the map takes of memory, of a device so full.
    pub(super) fn memory(plan: &Plan, fill: Fill) -> Vec<Table> {
        Self::memory_with_own(plan, 0, fill)
    }
    /// The same with `pages` pages of the mapping's own.
    pub(super) fn memory_with_own(plan: &Plan, pages: u32, fill: Fill) -> Vec<Table> {
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
        let rooms = state.active.iter().filter(is_block).map(room);
        self.blocks.valid(block) - rooms.sum::<u32>()
    }
    /// The books on each block; what an active block has room for is booked as valid.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }
    /// The block of a plane that is being collected.
    pub fn victim(&self, plane: Plane) -> Option<Block> {
        self.planes[plane.index()].victim.map(|victim| victim.block)
    }

    /// Puts a page of the host on a plane, if there is room. `home`: whether the page has never been on
    /// another.
    #[inline(always)]
    fn put(&mut self, page: Lpn, plane: Plane, home: bool) -> Option<Put> {
        let shared = self.collection == Writer::Host;
        let mut state = &mut self.planes[plane.index()];
        // Else there is room: collections start while there are more free blocks than the reserve.
        let mut ends_row = state.free < self.start_blocks;
        if ends_row && !state.has_room(self.reserve_blocks, shared) {
            return None;
        }
        if state.active[Writer::Host as usize].is_full() {
            self.open(plane, Writer::Host);
            ends_row = true;
            state = &mut self.planes[plane.index()];
        }
        let active = &mut state.active[Writer::Host as usize];
        let (place, block) = (Ppn(active.next), active.block);
        active.next += 1;
        let is_full = active.is_full();
        self.owners[place.index()] = page.0 + 1;
        let before = std::mem::replace(&mut self.map[page.index()], place.0 + 1);
        let mut superseded = None;
        if let Some(old) = before.checked_sub(1).map(Ppn) {
            let block = self.layout.block_of(old);
            superseded = Some(block);
            if let Some(valid) = self.blocks.lose(block, old) {
                let mut plane = plane;
                if home {
                    debug_assert_eq!(plane, self.layout.plane_of(block), "page {}", page.0);
                } else {
                    plane = self.layout.plane_of(block);
                    state = &mut self.planes[plane.index()];
                }
                state.stale += 1;
                self.chooser.invalidated(plane, block, valid);
            }
        }
        if is_full {
            self.close(plane, block);
        }
        Some(Put {
            placed: Placed {
                page,
                place,
                plane,
                superseded,
            },
            ends_row,
        })
    }

    /// The plane for a page of the host, and whether the page has never been on another; `None` if no
    /// plane has room.
    #[inline(always)]
    fn plane_for(&mut self, page: Lpn) -> Option<(Plane, bool)> {
        if let Some(home) = self.allocator.home(page) {
            return Some((home, true));
        }
        let (planes, reserve) = (&self.planes, self.reserve_blocks);
        let shared = self.collection == Writer::Host;
        let plane = self.allocator.plane(page, |plane| {
            planes[plane.index()].has_room(reserve, shared)
        })?;
        Some((plane, false))
    }

    /// Programs the copy of `from`, a page that is moved: assigns the next page of an active block, and
    /// opens one if there is none.
    #[inline(always)]
    fn append(&mut self, plane: Plane, writer: Writer, from: Ppn) -> Ppn {
        let mut state = &mut self.planes[plane.index()];
        if state.active[writer as usize].is_full() {
            self.open(plane, writer);
            state = &mut self.planes[plane.index()];
        }
        let active = &mut state.active[writer as usize];
        let (place, block) = (Ppn(active.next), active.block);
        active.next += 1;
        let is_full = active.is_full();
        let owner = self.owners[from.index()];
        self.owners[place.index()] = owner;
        self.map[owner as usize - 1] = place.0 + 1;
        if is_full {
            self.close(plane, block);
        }
        place
    }

    #[cold]
    fn open(&mut self, plane: Plane, writer: Writer) {
        let state = &mut self.planes[plane.index()];
        assert!(
            state.free > 0,
            "plane {} has no free block: the reserve was broken into",
            plane.0
        );
        state.free -= 1;
        self.free_blocks -= 1;
        let block = match writer {
            Writer::Wear => self.free.take_worn(plane),
            Writer::Host | Writer::Collection => self.free.take(plane),
        };
        let block = block.unwrap_or_else(|| unreachable!("free blocks are counted"));
        self.activate(plane, writer, block, 0);
    }

    /// A block of which `programmed` pages are programmed takes the programs of a plane.
    fn activate(&mut self, plane: Plane, writer: Writer, block: Block, programmed: u32) {
        let next = self.layout.page(block, programmed);
        let end = self.layout.page(block, self.layout.pages_per_block);
        self.unwritten = self.user_pages();
        self.blocks.enter(block, Phase::Active);
        self.blocks.expect(block, next, end);
        self.planes[plane.index()].active[writer as usize] = Active {
            block,
            next: next.0,
            end: end.0,
        };
    }

    #[cold]
    fn close(&mut self, plane: Plane, block: Block) {
        self.blocks.enter(block, Phase::Closed);
        let valid = self.blocks.valid(block);
        self.planes[plane.index()].stale += self.layout.pages_per_block - valid;
        self.chooser.closed(plane, block, valid);
    }

    /// A free block of a plane is filled by the host, all at once; its first page.
    fn fill_block(&mut self, plane: Plane) -> Ppn {
        self.open(plane, Writer::Host);
        let active = &mut self.planes[plane.index()].active[Writer::Host as usize];
        active.next = active.end;
        let block = active.block;
        self.close(plane, block);
        self.layout.page(block, 0)
    }

    /// Writes `pages`, which were never written, to a free block of every plane, which they fill. No
    /// block of the host is open, and `homes` are the planes of the pages in turn. Returns the first
    /// pages of these blocks.
    fn fill_round(&mut self, pages: Range<u32>, homes: &[Plane]) -> Vec<Ppn> {
        let places: Vec<Ppn> = homes.iter().map(|&home| self.fill_block(home)).collect();
        let (planes, pages_per_block) = (homes.len(), self.layout.pages_per_block as usize);
        for (page, place) in (pages.start + 1..).zip(&places) {
            let owners = &mut self.owners[place.index()..][..pages_per_block];
            let mut page = page;
            for owner in owners {
                *owner = page;
                page += planes as u32;
            }
        }
        let map = &mut self.map[pages.start as usize..pages.end as usize];
        for (row, entries) in (1..).zip(map.chunks_exact_mut(planes)) {
            for (entry, place) in entries.iter_mut().zip(&places) {
                *entry = place.0 + row;
            }
        }
        self.unwritten = pages.end;
        places
    }

    #[inline]
    pub(super) fn invalidate(&mut self, page: Ppn) {
        let block = self.layout.block_of(page);
        if let Some(valid) = self.blocks.lose(block, page) {
            let plane = self.layout.plane_of(block);
            self.planes[plane.index()].stale += 1;
            self.chooser.invalidated(plane, block, valid);
        }
    }

    /// Free blocks of a plane that are kept for pages of the mapping's own.
    pub(super) fn kept(&self, plane: Plane) -> u32 {
        self.planes[plane.index()].kept
    }
    /// Keeps another free block of a plane, unless the host's reserve would have to be broken into.
    pub(super) fn keep(&mut self, plane: Plane) -> bool {
        if !self.may_keep(plane) {
            return false;
        }
        let state = &mut self.planes[plane.index()];
        state.free -= 1;
        state.kept += 1;
        self.free_blocks -= 1;
        true
    }
    /// Takes one of the kept blocks of a plane; there is one.
    pub(super) fn open_kept(&mut self, plane: Plane) -> Block {
        let block = self.free.take(plane);
        let block = block.unwrap_or_else(|| unreachable!("free blocks are counted"));
        self.planes[plane.index()].kept -= 1;
        self.blocks.enter(block, Phase::Own);
        block
    }
    /// Whether [`Self::keep`] would keep a block.
    pub(super) fn may_keep(&self, plane: Plane) -> bool {
        self.planes[plane.index()].free > self.reserve_blocks
    }
    /// A page of the mapping's own, by its number in the map, is programmed in `place`.
    pub(super) fn put_own(&mut self, page: u32, place: Ppn) {
        if let Some(old) = self.lookup(Lpn(page)) {
            self.invalidate(old);
        }
        self.owners[place.index()] = page + 1;
        self.map[page as usize] = place.0 + 1;
        self.blocks.gain(self.layout.block_of(place), place);
    }
    /// A block that held pages of the mapping's own is erased, for the `erases`th time: it is kept
    /// again, or anyone's.
    pub(super) fn own_erased(&mut self, block: Block, erases: u32, kept: bool) {
        self.blocks.enter(block, Phase::Free);
        let plane = self.layout.plane_of(block);
        let state = &mut self.planes[plane.index()];
        if kept {
            state.kept += 1;
        } else {
            state.free += 1;
            self.free_blocks += 1;
        }
        self.free.erased(plane, block, erases);
    }
    /// Whether a collection has moved all pages and has its block left to erase.
    pub(super) fn is_moved(&self, plane: Plane) -> bool {
        let victim = self.planes[plane.index()].victim;
        victim.is_some_and(|victim| victim.stage == Stage::Moved)
    }

    fn audit_plane(&self, plane: Plane) -> Result<(), String> {
        let mut blocks = [0; 5];
        let mut stale = 0;
        for block in (0..self.layout.blocks_per_plane).map(|block| self.layout.block(plane, block))
        {
            let phase = self.blocks.phase(block);
            blocks[phase as usize] += 1;
            if phase == Phase::Closed {
                stale += self.layout.pages_per_block - self.blocks.valid(block);
            }
        }
        let state = &self.planes[plane.index()];
        let open = |active: &&Active| active.next < active.end;
        let active = state.active.iter().filter(open).count() as u32;
        let [free, found_active, _, victims, _] = blocks;
        let found = [free, found_active, victims, stale];
        let booked = [
            state.free + state.kept,
            active,
            state.victim.is_some().into(),
            state.stale,
        ];
        if found == booked {
            return Ok(());
        }
        Err(format!(
            "plane {}: free blocks, active blocks, victims and invalid pages in closed blocks are \
             {found:?}, the books say {booked:?}",
            plane.0
        ))
    }
}

impl PageMap {
    /// A block whose data is to move for the sake of even wear, taken out of the blocks that may be
    /// chosen. Not twice in a row, and not into the reserve. Collection's own active blocks may be
    /// open for ever where little is moved, so that they can be such blocks, too.
    fn rested(&mut self, plane: Plane) -> Option<Block> {
        let state = &self.planes[plane.index()];
        if state.leveled || state.free <= self.reserve_blocks {
            return None;
        }
        let blocks = &self.blocks;
        let of_collection = |block| state.active_of_collection(block).is_some();
        let may_move = |block| match blocks.phase(block) {
            Phase::Closed => true,
            Phase::Active => of_collection(block),
            _ => false,
        };
        let block = self.free.rested(plane, may_move)?;
        if let Some(which) = state.active_of_collection(block) {
            let active = std::mem::take(&mut self.planes[plane.index()].active[which]);
            self.blocks
                .give_up(block, Ppn(active.next), Ppn(active.end));
            self.close(plane, block);
        }
        self.chooser
            .withdraw(plane, block, self.blocks.valid(block));
        Some(block)
    }

    /// The next page of the victim that holds a current copy.
    #[inline]
    fn next_to_move(&mut self, plane: Plane) -> Option<Ppn> {
        let victim = self.planes[plane.index()].victim.as_mut()?;
        let end = self.layout.page(victim.block, self.layout.pages_per_block);
        let found = self.blocks.next_valid(victim.next, end);
        victim.next = found.map_or(end, |place| Ppn(place.0 + 1));
        found
    }

    /// The owners of the pages of `block` will be asked for soon.
    fn foresee_owners(&self, block: Block) {
        let first = self.layout.page(block, 0).index();
        for line in (0..self.layout.pages_per_block).step_by(16).take(16) {
            prefetch_index(&self.owners, first + line as usize);
        }
    }

    /// The copy of the page that was foreseen may be superseded soon. By now its map entry is at hand.
    #[inline(always)]
    fn foresee_copy(&mut self) {
        let Some(page) = self.ahead.take() else {
            return;
        };
        if let Some(place) = self.map.get(page.index()) {
            let copy = Ppn(place.wrapping_sub(1));
            let block = self.layout.block_of(copy);
            self.blocks.foresee(block, copy);
            self.chooser.foresee(block);
        }
    }

    /// The map entry of whoever owns `place` will change soon.
    #[inline(always)]
    fn foresee_move(&self, place: Ppn) {
        if let Some(owner) = self.owners.get(place.index()) {
            prefetch_index(&self.map, (*owner as usize).wrapping_sub(1));
        }
    }

    /// Takes in what the spare areas say: each page is where its latest copy is. Returns, by page,
    /// the order of that copy.
    pub(super) fn reread(&mut self, flash: &Flash<'_>, recovery: &mut Recovery) -> Vec<u64> {
        self.free_blocks = 0;
        self.unwritten = self.user_pages();
        let user_pages = self.plan.user_pages;
        let mut latest = Latest::new(self.map.len());
        let mut spent = Vec::new();
        for block in (0..self.layout.blocks()).map(Block) {
            recovery.pages_read += u64::from(flash.array.programmed(block).max(1));
            let mut of_host = true;
            for (place, tag) in flash.pages(block) {
                let Some(tag) = tag else {
                    continue;
                };
                let page = match tag.owner {
                    Owner::Host(page) => page.0,
                    Owner::Own(label) => user_pages.saturating_add(label),
                };
                of_host &= page < user_pages;
                if (page as usize) < self.map.len() {
                    self.owners[place.index()] = page + 1;
                    latest.note(page, place, tag);
                }
            }
            if of_host && flash.array.programmed(block) > 0 {
                spent.push(block);
            }
        }
        let mut orders = vec![0; self.map.len()];
        for (page, place, order) in latest.decide(flash) {
            orders[page as usize] = order;
            self.map[page as usize] = place.0 + 1;
            self.blocks.gain(self.layout.block_of(place), place);
        }
        // Neither free nor anybody's until they are erased.
        spent.retain(|block| self.blocks.valid(*block) == 0);
        for block in &spent {
            self.blocks.enter(*block, Phase::Victim);
        }
        recovery.erase = spent;
        orders
    }

    /// Which blocks of a plane are free, which go on taking programs, and which are full. Up to
    /// `kept` of the free ones are kept, but none of the host's reserve. Blocks of the mapping's own
    /// pages are left alone.
    pub(super) fn sort_blocks(&mut self, flash: &Flash<'_>, plane: Plane, kept: u32) {
        while self.free.take(plane).is_some() {}
        let mut open = Vec::new();
        let mut free = 0_u32;
        let layout = self.layout;
        for block in (0..layout.blocks_per_plane).map(|block| layout.block(plane, block)) {
            let programmed = flash.array.programmed(block);
            let erases = flash.array.erases()[block.index()];
            if programmed > 0 {
                self.free.in_use(plane, block, erases);
            }
            if matches!(self.blocks.phase(block), Phase::Own | Phase::Victim) {
                continue;
            }
            if programmed == 0 {
                self.free.erased(plane, block, erases);
                free += 1;
            } else if programmed < self.layout.pages_per_block {
                open.push((block, programmed));
            } else {
                self.close(plane, block);
            }
        }
        let kept = kept.min(free.saturating_sub(self.reserve_blocks));
        self.planes[plane.index()].free = free - kept;
        self.planes[plane.index()].kept = kept;
        self.free_blocks += free - kept;
        self.reopen(plane, &open);
    }

    /// Blocks that have room take programs again: one of the host, unless a collection has broken
    /// into the reserve for it.
    fn reopen(&mut self, plane: Plane, open: &[(Block, u32)]) {
        let short = self.planes[plane.index()].free < self.reserve_blocks;
        let own = self.collection;
        let order = if short {
            [own, Writer::Host]
        } else {
            [Writer::Host, own]
        };
        for (turn, &(block, programmed)) in open.iter().enumerate() {
            if turn > own as usize {
                self.close(plane, block);
            } else {
                self.activate(plane, order[turn], block, programmed);
            }
        }
    }
}

impl Mapping for PageMap {
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
        self.blocks.valid_pages() - u64::from(room)
    }
    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.map[page.index()].checked_sub(1).map(Ppn)
    }
    #[inline]
    fn foresee(&mut self, page: Lpn) {
        prefetch_index(&self.map, page.index());
        self.ahead = Some(page);
    }
    #[inline]
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        self.allocator.home(page)
    }
    #[inline]
    fn write(&mut self, page: Lpn) -> Written {
        let Some((plane, home)) = self.plane_for(page) else {
            return Written::Wait(Want::Anywhere);
        };
        match self.put(page, plane, home) {
            Some(put) => Written::Placed(put.placed.place),
            None => Written::Wait(Want::Free(plane)),
        }
    }
    #[inline]
    fn write_row<E>(
        &mut self,
        pages: Range<u32>,
        mut placed: impl FnMut(Placed) -> Result<(), E>,
    ) -> Result<(), E> {
        for page in pages.map(Lpn) {
            let Some((plane, home)) = self.plane_for(page) else {
                break;
            };
            let Some(put) = self.put(page, plane, home) else {
                break;
            };
            placed(put.placed)?;
            if put.ends_row {
                break;
            }
        }
        Ok(())
    }
    fn fill<E>(
        &mut self,
        pages: Range<u32>,
        mut filled: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<u32, E> {
        let mut next = pages.start;
        let (planes, start_blocks) = (self.layout.planes(), self.start_blocks);
        let round = planes * self.layout.pages_per_block;
        if next < self.unwritten || (pages.len() as u32) < round {
            return Ok(0);
        }
        let in_turn = (next..next + planes).map(|page| self.allocator.home(Lpn(page)));
        let Some(homes) = in_turn.collect::<Option<Vec<Plane>>>() else {
            return Ok(0);
        };
        let spared = |state: &PlaneState| state.free > start_blocks;
        while pages.end - next >= round && self.planes.iter().all(spared) {
            for place in self.fill_round(next..next + round, &homes) {
                filled(self.layout.block_of(place))?;
            }
            next += round;
        }
        Ok(next - pages.start)
    }
    fn trim(&mut self, page: Lpn) {
        if let Some(old) = self.lookup(page) {
            self.invalidate(old);
            self.map[page.index()] = 0;
        }
    }
    #[inline]
    fn wants_collection(&self, plane: Plane) -> bool {
        self.planes[plane.index()].free < self.start_blocks
    }
    fn collect(&mut self, want: Want) -> Option<Collection> {
        let Want::Free(plane) = want else {
            return None;
        };
        let state = &self.planes[plane.index()];
        if state.stale == 0 || state.victim.is_some() {
            return None;
        }
        let rested = self.rested(plane);
        let (block, kind) = match rested {
            Some(block) => (block, GcKind::Wear),
            None => (self.chooser.choose(plane, &self.blocks)?, GcKind::Move),
        };
        self.blocks.enter(block, Phase::Victim);
        let state = &mut self.planes[plane.index()];
        state.leveled = rested.is_some();
        let writer = if state.leveled {
            Writer::Wear
        } else {
            self.collection
        };
        let pages = self.blocks.valid(block);
        self.foresee_owners(block);
        let state = &mut self.planes[plane.index()];
        state.stale -= self.layout.pages_per_block - pages;
        state.victim = Some(Victim {
            block,
            next: self.layout.page(block, 0),
            stage: Stage::Moving,
            writer,
        });
        Some(Collection {
            job: JobId::of(plane),
            kind,
            cost: Cost {
                pages,
                blocks: 1,
                own_pages: 0,
            },
        })
    }
    fn is_over(&self, job: JobId) -> bool {
        self.planes[job.index()].victim.is_none()
    }
    #[inline]
    fn step(&mut self, job: JobId) -> Step {
        let plane = Plane(job.0);
        if let Some(from) = self.next_to_move(plane) {
            return Step::Move(from);
        }
        let Some(victim) = &mut self.planes[plane.index()].victim else {
            return Step::Done;
        };
        match victim.stage {
            Stage::Moving => {
                victim.stage = Stage::Moved;
                Step::Wait
            }
            Stage::Moved => {
                victim.stage = Stage::Erasing;
                Step::Erase(victim.block)
            }
            Stage::Erasing => Step::Wait,
        }
    }
    #[inline]
    fn read_all(&mut self, job: JobId, mut read: impl FnMut(Plane, Ppn)) {
        let plane = Plane(job.0);
        let Some(victim) = self
            .planes
            .get_mut(plane.index())
            .and_then(|state| state.victim.as_mut())
        else {
            return;
        };
        let end = self.layout.page(victim.block, self.layout.pages_per_block);
        let next = std::mem::replace(&mut victim.next, end);
        self.blocks.each_valid(next, end, |from| read(plane, from));
    }
    #[inline(always)]
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn> {
        let Victim { block, writer, .. } = self.planes[job.index()].victim?;
        let next = self.blocks.lose_moved(block, from)?;
        self.foresee_move(next);
        self.foresee_copy();
        Some(self.append(Plane(job.0), writer, from))
    }
    #[inline]
    fn move_all<E>(
        &mut self,
        job: JobId,
        mut copied: impl FnMut(Ppn, Ppn) -> Result<(), E>,
    ) -> Result<(), E> {
        let plane = Plane(job.0);
        let Some(victim) = self.planes[plane.index()].victim else {
            return Ok(());
        };
        let writer = victim.writer;
        while let Some(from) = self.next_to_move(plane) {
            self.foresee_move(Ppn(from.0 + 8));
            self.blocks.lose(victim.block, from);
            let to = self.append(plane, writer, from);
            copied(from, to)?;
        }
        Ok(())
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
        let state = &mut self.planes[plane.index()];
        state.free += 1;
        self.free_blocks += 1;
        state.victim = None;
        self.free.erased(plane, block, erases);
    }
    /// A plane with fewer free blocks than it should have, whose collection is still to come.
    fn delayed(&self, plane: Plane) -> Option<Want> {
        self.full(plane).filter(|_| self.wants_collection(plane))
    }
    fn full(&self, plane: Plane) -> Option<Want> {
        let state = &self.planes[plane.index()];
        (state.stale > 0 && state.victim.is_none()).then_some(Want::Free(plane))
    }
    /// With an order of planes, the pages of a request go to as many planes in turn; without, to all.
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<Want> {
        let planes = self.layout.planes();
        let comes = |&&(first, pages): &&(Lpn, u32)| {
            let end = first.0.saturating_add(pages.min(planes));
            let mut pages = first.0..end.min(self.user_pages());
            pages.any(|page| {
                let home = self.allocator.home(Lpn(page));
                home.is_none_or(|home| home == plane)
            })
        };
        let pages = writes
            .iter()
            .filter(comes)
            .map(|(_, pages)| pages.div_ceil(planes));
        let pages = pages.reduce(u32::saturating_add)?;
        let state = &self.planes[plane.index()];
        let room = state.active[0].end - state.active[0].next;
        let more = pages.saturating_sub(room);
        let free = state
            .free
            .saturating_sub(more.div_ceil(self.layout.pages_per_block));
        self.full(plane).filter(|_| free < self.start_blocks)
    }
    /// Of a block with as many invalid pages as the plane's have on average.
    fn cost(&self, want: Want) -> Cost {
        let Want::Free(plane) = want else {
            return Cost::default();
        };
        let state = &self.planes[plane.index()];
        let closed = (self.layout.blocks_per_plane - state.free)
            .saturating_sub(2)
            .max(1);
        let stale = (state.stale / closed).min(self.layout.pages_per_block);
        Cost {
            pages: self.layout.pages_per_block - stale,
            blocks: 1,
            own_pages: 0,
        }
    }
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery {
        *self = Self::new(&self.plan.clone());
        let mut recovery = Recovery::default();
        self.reread(flash, &mut recovery);
        for plane in (0..self.layout.planes()).map(Plane) {
            self.sort_blocks(flash, plane, 0);
        }
        recovery
    }
    fn audit(&self) -> Result<(), String> {
        let mut valid = vec![0_u32; self.layout.blocks() as usize];
        for active in self.planes.iter().flat_map(|plane| &plane.active) {
            valid[active.block.index()] += active.end - active.next;
        }
        for (page, &place) in self
            .map
            .iter()
            .enumerate()
            .filter(|(_, place)| **place != 0)
        {
            let place = Ppn(place - 1);
            if self.owners[place.index()] != page as u32 + 1 || !self.blocks.is_valid(place) {
                return Err(format!(
                    "page {page} maps to {}, which another page owns or which is not valid",
                    self.layout.describe(place)
                ));
            }
            valid[self.layout.block_of(place).index()] += 1;
        }
        for (block, &count) in valid.iter().enumerate() {
            let block = Block(block as u32);
            let (valid, phase) = (self.blocks.valid(block), self.blocks.phase(block));
            if valid != count || (phase == Phase::Free && count > 0) {
                let block = self.layout.describe_block(block);
                return Err(format!(
                    "{block} holds {count} valid pages, the books say {valid} and {phase:?}"
                ));
            }
        }
        let free: u32 = self.planes.iter().map(|plane| plane.free).sum();
        if free != self.free_blocks {
            return Err(format!(
                "the planes have {free} free blocks, the books say {}",
                self.free_blocks
            ));
        }
        (0..self.layout.planes()).try_for_each(|plane| self.audit_plane(Plane(plane)))
    }
}
