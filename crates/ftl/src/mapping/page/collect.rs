//! GC runs of page mapping, which select a victim and move its valid pages.

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane, Ppn};

use super::{PageMap, Writer};
use crate::allocate::PlanePolicy;
use crate::block::Phase;
use crate::gc::victim::VictimPolicy;
use crate::job::{Collection, Cost, GcKind, JobId, Step};
use crate::lpn::Lpn;
use crate::mapping::{Mapping, SpaceRequest};
use crate::wear::Spend;

/// GC run in progress.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Victim {
    pub block: Block,
    /// Next page to examine.
    pub next: Ppn,
    stage: Stage,
    /// Writer to whose active block the copies go.
    pub writer: Writer,
    /// Whether the GC run is a refresh.
    pub refresh: bool,
    /// Whether the victim is the block that temporarily took the data of an in-place refresh.
    pub is_back: bool,
}

/// Progress of a GC run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Moves are being issued.
    Moving,
    /// All moves have been issued.
    Moved,
    /// The erase has been issued.
    Erasing,
}

impl PageMap {
    /// Implements [`Mapping::collect`].
    pub(super) fn start(&mut self, want: SpaceRequest) -> Option<Collection> {
        let SpaceRequest::Free(plane) = want else {
            return None;
        };
        if self.cache.is_some()
            && let Some(collection) = self.start_return(plane)
        {
            return Some(collection);
        }
        let state = &self.planes[plane.index()];
        if state.stale == 0 || state.victim.is_some() {
            return None;
        }
        let rested = self.rested(plane);
        let (block, kind) = match rested {
            Some(block) => (block, GcKind::Wear),
            None => (self.chooser.choose(plane, &self.blocks)?, GcKind::Move),
        };
        let state = &mut self.planes[plane.index()];
        state.leveled = rested.is_some();
        let writer = if state.leveled {
            Writer::Wear
        } else {
            self.collection
        };
        Some(self.start_on(plane, block, kind, writer))
    }

    /// Implements [`Mapping::clear`].
    pub(super) fn start_clear(&mut self, block: Block) -> Option<Collection> {
        let plane = self.layout.plane_of(block);
        if self.planes[plane.index()].victim.is_some() || !self.is_spent(block) {
            return None;
        }
        if self.blocks.phase(block) == Phase::Cached {
            self.withdraw_cached(plane, block);
        } else {
            self.chooser.withdraw(plane, block, 0);
        }
        Some(self.start_on(plane, block, GcKind::Move, self.collection))
    }

    /// Starts a GC run on a block that has been removed from the candidates.
    pub(super) fn start_on(
        &mut self,
        plane: Plane,
        block: Block,
        kind: GcKind,
        writer: Writer,
    ) -> Collection {
        let stale = match self.blocks.phase(block) {
            Phase::Cached => 0,
            _ => self.data_pages() - self.blocks.valid(block),
        };
        self.blocks.enter(block, Phase::Victim);
        let pages = self.blocks.valid(block);
        self.owners.store(block);
        self.owners.prefetch_block(block);
        let state = &mut self.planes[plane.index()];
        state.stale -= stale;
        state.victim = Some(Victim {
            block,
            next: self.layout.page(block, 0),
            stage: Stage::Moving,
            writer,
            refresh: kind == GcKind::Refresh,
            is_back: false,
        });
        Collection {
            job: JobId::of(plane),
            kind,
            cost: Cost {
                pages,
                blocks: 1,
                metadata_pages: 0,
            },
        }
    }

    /// Returns the next step of a plane's GC run.
    #[inline]
    pub(super) fn next_step(&mut self, plane: Plane) -> Step {
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

    /// Implements [`Mapping::relocate`] for a page of the victim.
    #[inline(always)]
    pub(super) fn move_page(&mut self, plane: Plane, from: Ppn) -> Option<Ppn> {
        let Victim { block, writer, .. } = self.planes[plane.index()].victim?;
        let next = self.blocks.lose_moved(block, from)?;
        self.prefetch_entry(next);
        self.prefetch_copy();
        Some(self.append(plane, writer, from))
    }

    /// Returns the expected cost, for a block with the mean number of invalid pages of the plane's
    /// blocks.
    pub(super) fn cost_of(&self, want: SpaceRequest) -> Cost {
        let SpaceRequest::Free(plane) = want else {
            return Cost::default();
        };
        let state = &self.planes[plane.index()];
        let closed = (self.layout.blocks_per_plane - state.free)
            .saturating_sub(2)
            .max(1);
        let stale = (state.stale / closed).min(self.data_pages());
        Cost {
            pages: self.data_pages() - stale,
            blocks: 1,
            metadata_pages: 0,
        }
    }

    /// Implements [`Mapping::shortage`]. If the address determines the plane, consecutive pages of
    /// a request go to the planes in turn; otherwise they may go to any plane.
    pub(super) fn shortage_of(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
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
        let free = state.free.saturating_sub(more.div_ceil(self.data_pages()));
        self.full(plane).filter(|_| free < self.rest_blocks)
    }

    /// Removes and returns the block whose data wear levelling moves next, if any. Returns `None`
    /// after another such move, or if the plane has only its reserve left. Active blocks other than
    /// the host's are eligible too, because they may stay open indefinitely if few pages are moved.
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

    /// Returns the next valid page of the victim, and advances past it; `None` if none is left.
    #[inline]
    pub(super) fn next_to_move(&mut self, plane: Plane) -> Option<Ppn> {
        let victim = self.planes[plane.index()].victim.as_mut()?;
        let end = self.layout.page(victim.block, self.layout.pages_per_block);
        let found = self.blocks.next_valid(victim.next, end);
        victim.next = found.map_or(end, |place| Ppn(place.0 + 1));
        found
    }

    /// Loads into the CPU cache the table entries of the current copy of the page that was
    /// prefetched last. The map entry of that page is there by then.
    #[inline(always)]
    pub(super) fn prefetch_copy(&mut self) {
        let Some(page) = self.ahead.take() else {
            return;
        };
        if let Some(copy) = self.map.get_stored(page) {
            let block = self.layout.block_of(copy);
            self.blocks.prefetch(block, copy);
            self.chooser.prefetch(block);
        }
    }

    /// Loads the map entry of the owner of `place` into the CPU cache, because it will change soon.
    #[inline(always)]
    pub(super) fn prefetch_entry(&self, place: Ppn) {
        if let Some(page) = self.owners.hint(place) {
            self.map.prefetch(page);
        }
    }

    /// Returns `true` if a GC run has moved all pages and only has to erase its block.
    pub(in crate::mapping) fn is_moved(&self, plane: Plane) -> bool {
        let victim = self.planes[plane.index()].victim;
        victim.is_some_and(|victim| victim.stage == Stage::Moved)
    }
}
