//! Page mapping.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane, Ppn};

use super::{Mapping, Written};
use crate::Plan;
use crate::allocate::{Allocator, Place};
use crate::block::{Blocks, Phase};
use crate::gc::Collection;
use crate::gc::victim::{Choose, Chooser};
use crate::lpn::Lpn;
use crate::wear::{FreeBlocks, Spend};

/// Any logical page may be in any physical page; the whole map is in memory, so that a look-up
/// costs no flash operation. Collection moves pages within their plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Page {}

impl Cited for Page {
    const PAPER: &'static str = "A. Ban, Flash file system, US patent 5,404,485, 1995";
}

/// Who writes into an active block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Host,
    Collection,
}

/// The block of a plane that takes programs.
#[derive(Clone, Copy, Debug, Default)]
struct Active {
    /// The next page to program.
    next: u32,
    /// One past the block's last page; equal to `next` when there is no room, and at the start.
    end: u32,
}

/// What a plane has at hand.
#[derive(Clone, Copy, Debug)]
struct PlaneState {
    /// Free blocks.
    free: u32,
    /// Invalid pages in blocks that may be collected.
    stale: u32,
    /// Whether a collection is in progress: the reserve holds the pages of one.
    collecting: bool,
    /// Active blocks: the host's (and, if shared, collection's), and collection's own.
    active: [Active; 2],
}

/// A page-mapped translation layer.
///
/// Map and owners are dense arrays of 32-bit words that stay untouched, and so cost nothing, for
/// pages that were never written: eight bytes a page used.
#[derive(Clone, Debug)]
pub struct PageMap {
    layout: Layout,
    start_blocks: u32,
    reserve_blocks: u32,
    /// Which active block collection writes to: 0 the host's, 1 its own.
    collection_active: usize,
    /// By logical page: 1 + its physical page, or 0.
    map: Vec<u32>,
    /// By physical page: 1 + the logical page last programmed there, as its spare area would say.
    /// The copy is current if the map points back.
    owners: Vec<u32>,
    blocks: Blocks,
    planes: Vec<PlaneState>,
    /// Free blocks of all planes.
    free_blocks: u32,
    allocator: Allocator,
    chooser: Chooser,
    free: FreeBlocks,
}

impl PageMap {
    /// An empty map over a pristine array.
    pub fn new(plan: &Plan) -> Self {
        let layout = plan.layout;
        let plane = PlaneState {
            free: layout.blocks_per_plane,
            stale: 0,
            collecting: false,
            active: [Active::default(); 2],
        };
        Self {
            layout,
            start_blocks: plan.start_blocks,
            reserve_blocks: plan.reserve_blocks,
            collection_active: usize::from(plan.config.gc.own_block),
            map: vec![0; plan.user_pages as usize],
            owners: vec![0; layout.pages() as usize],
            blocks: Blocks::new(layout),
            planes: vec![plane; layout.planes() as usize],
            free_blocks: layout.blocks(),
            allocator: Allocator::new(&plan.config.allocate, plan.dimensions),
            chooser: Chooser::new(&plan.config.gc.victim, &layout, plan.seed),
            free: FreeBlocks::new(&plan.config.wear, &layout),
        }
    }
    /// The books on each block.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }
    /// Free blocks of a plane.
    pub fn free_blocks_of(&self, plane: Plane) -> u32 {
        self.planes[plane.index()].free
    }

    /// Whether the host may program a page of `plane` now. Blocks of the reserve are collection's:
    /// the host neither takes one nor writes into one that collection has taken.
    #[inline]
    fn has_room(planes: &[PlaneState], plane: Plane, reserve: u32, shared: bool) -> bool {
        let state = &planes[plane.index()];
        let active = state.active[0];
        if active.next < active.end {
            !shared || state.free >= reserve
        } else {
            state.free > reserve
        }
    }

    /// Programs `page` on `plane`, which has room: assigns the next page of the active block.
    #[inline]
    fn append(&mut self, plane: Plane, writer: Writer, page: Lpn) -> Ppn {
        let which = if writer == Writer::Host {
            0
        } else {
            self.collection_active
        };
        let mut active = self.planes[plane.index()].active[which];
        if active.next == active.end {
            active = self.open(plane);
        }
        let place = Ppn(active.next);
        active.next += 1;
        self.planes[plane.index()].active[which] = active;
        self.owners[place.index()] = page.0 + 1;
        self.map[page.index()] = place.0 + 1;
        let block = self.layout.block_of(place);
        self.blocks.gain(block);
        if active.next == active.end {
            self.close(plane, block);
        }
        place
    }

    #[cold]
    fn open(&mut self, plane: Plane) -> Active {
        let state = &mut self.planes[plane.index()];
        assert!(
            state.free > 0,
            "plane {} has no free block: the reserve was broken into",
            plane.0
        );
        state.free -= 1;
        self.free_blocks -= 1;
        let block = self.free.take(plane);
        let block = block.unwrap_or_else(|| unreachable!("free blocks are counted"));
        self.blocks.enter(block, Phase::Active);
        let first = self.layout.page(block, 0).0;
        Active {
            next: first,
            end: first + self.layout.pages_per_block,
        }
    }

    fn close(&mut self, plane: Plane, block: Block) {
        self.blocks.enter(block, Phase::Closed);
        let valid = self.blocks.valid(block);
        self.planes[plane.index()].stale += self.layout.pages_per_block - valid;
        self.chooser.closed(plane, block, valid);
    }

    #[inline]
    fn invalidate(&mut self, page: Ppn) {
        let block = self.layout.block_of(page);
        self.blocks.lose(block);
        if self.blocks.phase(block) == Phase::Closed {
            let valid = self.blocks.valid(block);
            let plane = self.layout.plane_of(block);
            self.planes[plane.index()].stale += 1;
            self.chooser.invalidated(plane, block, valid);
        }
    }

    /// Checks the books against each other; for tests and `--verify`. Linear in the pages.
    pub fn audit(&self) -> Result<(), String> {
        let mut valid = vec![0_u32; self.layout.blocks() as usize];
        for (page, &place) in self
            .map
            .iter()
            .enumerate()
            .filter(|(_, place)| **place != 0)
        {
            let place = Ppn(place - 1);
            if self.owners[place.index()] != page as u32 + 1 {
                return Err(format!(
                    "page {page} maps to {}, which another page owns",
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

    fn audit_plane(&self, plane: Plane) -> Result<(), String> {
        let mut blocks = [0; 4];
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
        let [free, found_active, _, victims] = blocks;
        let found = [free, found_active, victims, stale];
        let booked = [state.free, active, state.collecting.into(), state.stale];
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

impl Mapping for PageMap {
    fn user_pages(&self) -> u32 {
        self.map.len() as u32
    }
    #[inline]
    fn free_blocks(&self) -> u32 {
        self.free_blocks
    }
    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.map[page.index()].checked_sub(1).map(Ppn)
    }
    #[inline]
    fn write(&mut self, page: Lpn) -> Written {
        let (planes, reserve, shared) = (
            &self.planes,
            self.reserve_blocks,
            self.collection_active == 0,
        );
        let room = |plane| Self::has_room(planes, plane, reserve, shared);
        let Some(plane) = self.allocator.plane(page, room) else {
            return Written::Wait(self.allocator.home(page));
        };
        if let Some(old) = self.lookup(page) {
            self.invalidate(old);
        }
        Written::Placed(self.append(plane, Writer::Host, page))
    }
    #[inline]
    fn wants_collection(&self, plane: Plane) -> bool {
        self.planes[plane.index()].free < self.start_blocks
    }
    fn collect(&mut self, plane: Plane) -> Option<Collection> {
        let state = &mut self.planes[plane.index()];
        if state.stale == 0 || state.collecting {
            return None;
        }
        let victim = self.chooser.choose(plane, &self.blocks)?;
        self.blocks.enter(victim, Phase::Victim);
        state.stale -= self.layout.pages_per_block - self.blocks.valid(victim);
        state.collecting = true;
        Some(Collection {
            plane,
            victim,
            cursor: 0,
        })
    }
    #[inline]
    fn next_to_move(&self, collection: &mut Collection) -> Option<Ppn> {
        let first = self.layout.page(collection.victim, 0).0;
        while collection.cursor < self.layout.pages_per_block {
            let place = Ppn(first + collection.cursor);
            collection.cursor += 1;
            if self.map[self.owners[place.index()] as usize - 1] == place.0 + 1 {
                return Some(place);
            }
        }
        None
    }
    #[inline]
    fn relocate(&mut self, from: Ppn) -> Option<Ppn> {
        let page = Lpn(self.owners[from.index()] - 1);
        if self.map[page.index()] != from.0 + 1 {
            return None;
        }
        let block = self.layout.block_of(from);
        self.blocks.lose(block);
        Some(self.append(self.layout.plane_of(block), Writer::Collection, page))
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
        state.collecting = false;
        self.free.erased(plane, block, erases);
    }
}
