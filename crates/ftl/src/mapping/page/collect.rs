//! Collections: the victim, and where its pages go.

use prefetch_index::prefetch_index;
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

/// A collection in progress: its victim, and how far its pages have been looked at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Victim {
    pub block: Block,
    /// The next page to look at.
    pub next: Ppn,
    stage: Stage,
    /// Where its copies go.
    pub writer: Writer,
    /// Whether it is moved for the sake of its data.
    pub refresh: bool,
    /// Whether it is the block that has kept the data of another, which returns there.
    pub is_back: bool,
}

/// How far a collection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Pages are handed out.
    Moving,
    /// All pages are handed out.
    Moved,
    /// The erase is handed out.
    Erasing,
}

impl PageMap {
    /// See [`Mapping::collect`].
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

    /// See [`Mapping::clear`].
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

    /// Starts the collection of a block that is out of those that may be chosen.
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
        self.prefetch_owners(block);
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

    /// The next step of a plane's collection.
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

    /// A page of the victim has been read: see [`Mapping::relocate`].
    #[inline(always)]
    pub(super) fn move_page(&mut self, plane: Plane, from: Ppn) -> Option<Ppn> {
        let Victim { block, writer, .. } = self.planes[plane.index()].victim?;
        let next = self.blocks.lose_moved(block, from)?;
        self.prefetch_entry(next);
        self.prefetch_copy();
        Some(self.append(plane, writer, from))
    }

    /// Of a block with as many invalid pages as the plane's have on average.
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

    /// With an order of planes, the pages of a request go to as many planes in turn; without, to all.
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
    pub(super) fn next_to_move(&mut self, plane: Plane) -> Option<Ppn> {
        let victim = self.planes[plane.index()].victim.as_mut()?;
        let end = self.layout.page(victim.block, self.layout.pages_per_block);
        let found = self.blocks.next_valid(victim.next, end);
        victim.next = found.map_or(end, |place| Ppn(place.0 + 1));
        found
    }

    /// The owners of the pages of `block` will be asked for soon.
    pub(super) fn prefetch_owners(&self, block: Block) {
        let first = self.layout.page(block, 0).index();
        for line in (0..self.layout.pages_per_block).step_by(16).take(16) {
            prefetch_index(&self.owners, first + line as usize);
        }
    }

    /// The copy of the page that was prefetched last may be superseded soon. By now its map entry is at hand.
    #[inline(always)]
    pub(super) fn prefetch_copy(&mut self) {
        let Some(page) = self.ahead.take() else {
            return;
        };
        if let Some(place) = self.map.get(page.index()) {
            let copy = Ppn(place.wrapping_sub(1));
            let block = self.layout.block_of(copy);
            self.blocks.prefetch(block, copy);
            self.chooser.prefetch(block);
        }
    }

    /// The map entry of whoever owns `place` will change soon.
    #[inline(always)]
    pub(super) fn prefetch_entry(&self, place: Ppn) {
        if let Some(owner) = self.owners.get(place.index()) {
            prefetch_index(&self.map, (*owner as usize).wrapping_sub(1));
        }
    }

    /// Whether a collection has moved all pages and has its block left to erase.
    pub(in crate::mapping) fn is_moved(&self, plane: Plane) -> bool {
        let victim = self.planes[plane.index()].victim;
        victim.is_some_and(|victim| victim.stage == Stage::Moved)
    }
}
