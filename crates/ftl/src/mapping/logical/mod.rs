//! Mappings with logical blocks. A logical block has data blocks, and update blocks that take new
//! versions of its pages.
//!
//! The mapping families of this kind differ in the number of data and update blocks per logical
//! block, in whether a data block keeps its pages at fixed offsets, and in whether writes without
//! room go to a write buffer. This module contains the shared code; `log_block`, `hybrid` and
//! `buffered` contain the differences.

mod blocks;
mod buffer;
mod fill;
mod merge;
mod order;
mod plane;
mod record;
mod recover;
mod rules;
pub mod shape;
mod shortage;
mod state;

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table, dense, is_dense};
use wordline_nand::{Block, Layout, Plane, Ppn};

use super::{LogicalBlock, Mapping, SpaceRequest, WriteOutcome};
use crate::Plan;
use crate::block::{Blocks, Phase};
use crate::job::{Collection, Cost, JobId, Step};
use crate::lists::Lists;
use crate::lpn::Lpn;
use crate::recovery::{Flash, Recovery};
use crate::wear::{FreeBlocks, Spend};
use buffer::Buffer;
use plane::PlaneState;
use record::Record;
pub(super) use rules::Rules;
use shape::Shape;
use state::{IN_RECENT, Logical, Member, Role};

/// Labels of metadata pages, recorded in their spare areas.
const RECORD: u32 = 0;
const FILLER: u32 = 1;

/// Flash translation layer with logical blocks.
///
/// The tables take eight bytes per page written since a fill in order, because this representation
/// is the fastest to simulate. A real device would need only the memory of its mapping family.
#[derive(Clone, Serialize, Deserialize)]
pub struct LogicalMap {
    layout: Layout,
    rules: Rules,
    shape: Shape,
    start_blocks: u32,
    reserve_blocks: u32,
    /// 1 + the physical page of each logical page, or 0 if it is not mapped, or if its place
    /// follows from a fill.
    #[serde(with = "wordline_kernel::dense")]
    map: Vec<u32>,
    /// 1 + the logical page last programmed in each physical page, or 0 if there is none, or if it
    /// follows from a fill.
    #[serde(with = "wordline_kernel::dense")]
    owners: Vec<u32>,
    blocks: Blocks,
    members: Vec<Member>,
    logical: Vec<Logical>,
    planes: Vec<PlaneState>,
    free_blocks: u32,
    free: FreeBlocks,
    /// Logical blocks of each plane whose merge would gain a block, least recently written first.
    recent: Lists,
    /// Logical blocks of `recent` whose blocks have no free page, per plane.
    full: Lists,
    /// Logical blocks of each plane whose merge is delayed.
    delayed: Lists,
    /// Plan from which the map was created, to recreate it after a power cut.
    plan: Box<Plan>,
}

impl LogicalMap {
    /// Creates an empty map over an erased array.
    pub(super) fn new(plan: &Plan, rules: Rules) -> Self {
        let layout = plan.layout;
        let shape = Shape::new(plan, rules.data_blocks, rules.stripe, rules.stripe_pages);
        let planes = layout.planes() as usize;
        let buffer_blocks = rules.buffer_blocks(layout.blocks_per_plane);
        let state = PlaneState {
            free: layout.blocks_per_plane - buffer_blocks,
            merge: None,
            record: Record::default(),
            buffer: Buffer::new(buffer_blocks),
        };
        let count = shape.blocks() as usize;
        // A fill that stays stores no entries, and the writes of a run are scattered.
        let is_dense = is_dense() && !shape.keeps_fill(plan);
        let table = |pages: u32| dense(is_dense, || vec![0; pages as usize]);
        let lists = Lists::new(planes, count);
        let mut map = Self {
            layout,
            rules,
            start_blocks: plan.start_blocks,
            reserve_blocks: plan.reserve_blocks,
            map: table(plan.user_pages),
            owners: table(layout.pages()),
            blocks: Blocks::new(layout),
            members: vec![Member::default(); layout.blocks() as usize],
            logical: vec![Logical::default(); count],
            free_blocks: (layout.blocks_per_plane - buffer_blocks) * layout.planes(),
            planes: vec![state; planes],
            free: FreeBlocks::new(&plan.config.wear, &layout),
            recent: lists.clone(),
            full: lists.clone(),
            delayed: lists,
            shape,
            plan: Box::new(plan.clone()),
        };
        for plane in (0..layout.planes()).map(Plane) {
            map.set_records_aside(plane);
        }
        map
    }

    /// Returns the physical page of a page at an offset of a logical block.
    #[inline]
    fn place_of(&self, page: Lpn, logical: LogicalBlock, offset: u32) -> Option<Ppn> {
        let entry = self.map[page.index()].checked_sub(1).map(Ppn);
        entry.or_else(|| self.filled_place(logical, offset))
    }
    /// Returns the page last programmed at `place`, a page of a block of `logical`; `None` for a
    /// page without a logical page.
    fn owner_of(&self, logical: LogicalBlock, place: Ppn) -> Option<Lpn> {
        let entry = self.owners[place.index()].checked_sub(1).map(Lpn);
        entry.or_else(|| self.filled_owner(logical, place))
    }

    /// Returns the memory estimate of the map on a device filled to `fill`.
    pub(super) fn memory(plan: &Plan, rules: Rules, fill: Fill) -> Vec<Table> {
        let layout = &plan.layout;
        let shape = Shape::new(plan, rules.data_blocks, rules.stripe, rules.stripe_pages);
        let logical = u64::from(shape.blocks());
        let (pages, blocks) = (u64::from(layout.pages()), u64::from(layout.blocks()));
        let planes = u64::from(layout.planes());
        let stored = if shape.keeps_fill(plan) {
            [0.0; 2]
        } else {
            [fill.logical, fill.physical]
        };
        let mut tables = vec![
            Table::zeroed::<u32>("map of logical pages", plan.user_pages.into(), stored[0]),
            Table::zeroed::<u32>("owners of physical pages", pages, stored[1]),
            Table::written::<Member>("blocks of logical blocks", blocks),
            Table::written::<Logical>("logical blocks", logical),
            Table::written::<PlaneState>("planes", planes),
            FreeBlocks::memory(&plan.config.wear, layout, fill),
        ];
        // The lists are clones of one list. Cloning touches all memory of the source and of each
        // clone.
        tables.extend(
            [
                "recent logical blocks",
                "full logical blocks",
                "delayed merges",
            ]
            .map(|name| Lists::memory(name, planes, logical, 1.0)),
        );
        tables.extend(Blocks::memory(layout, fill));
        tables
    }
}

/// Shows the tables with the entries that follow from a fill, and without owners of superseded
/// pages.
impl fmt::Debug for LogicalMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = self.clone();
        for logical in (0..all.logical.len() as u32).map(LogicalBlock) {
            all.store_filled(logical);
        }
        for (place, owner) in (1..).zip(&mut all.owners) {
            if *owner > 0 && all.map[*owner as usize - 1] != place {
                *owner = 0;
            }
        }
        f.debug_struct("LogicalMap")
            .field("map", &all.map)
            .field("owners", &all.owners)
            .field("blocks", &all.blocks)
            .field("members", &all.members)
            .field("logical", &all.logical)
            .field("planes", &all.planes)
            .field("free_blocks", &all.free_blocks)
            .field("free", &all.free)
            .field("recent", &all.recent)
            .field("full", &all.full)
            .field("delayed", &all.delayed)
            .field("plan", &all.plan)
            .finish_non_exhaustive()
    }
}

impl Mapping for LogicalMap {
    fn user_pages(&self) -> u32 {
        self.map.len() as u32
    }
    fn free_blocks(&self) -> u32 {
        self.free_blocks
    }
    fn free_blocks_of(&self, plane: Plane) -> u32 {
        self.planes[plane.index()].free
    }
    fn valid_pages(&self) -> u64 {
        self.blocks.valid_pages()
    }
    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        let entry = self.map[page.index()].checked_sub(1).map(Ppn);
        entry.or_else(|| {
            let (logical, offset) = self.shape.of(page);
            self.filled_place(logical, offset)
        })
    }
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        Some(self.shape.home(self.shape.of(page).0))
    }
    fn write(&mut self, page: Lpn) -> WriteOutcome {
        let (logical, offset) = self.shape.of(page);
        let plane = self.shape.home(logical);
        let room = self.room(plane, logical);
        let block = match room.or_else(|want| self.buffer(plane, logical).ok_or(want)) {
            Ok(block) => block,
            Err(want) => return WriteOutcome::Blocked(want),
        };
        let before = self.place_of(page, logical, offset);
        match before {
            Some(before) => self.lose(logical, before),
            None => self.logical[logical.0 as usize].valid += 1,
        }
        let place = if self.is_of_buffer(block) {
            self.append_to_buffer(plane, logical, block, page)
        } else {
            self.append(block, page, offset)
        };
        let fills = u32::from(self.members[block.index()].used) == self.layout.pages_per_block;
        if fills || before.is_none() {
            self.sort(logical);
        }
        self.touch(plane, logical);
        WriteOutcome::Placed(place)
    }
    fn fill<E>(
        &mut self,
        pages: Range<u32>,
        filled: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<u32, E> {
        self.fill_whole(pages, filled)
    }
    fn trim(&mut self, page: Lpn) {
        let Some(place) = self.lookup(page) else {
            return;
        };
        let (logical, _) = self.shape.of(page);
        self.store_filled(logical);
        self.lose(logical, place);
        self.map[page.index()] = 0;
        self.logical[logical.0 as usize].valid -= 1;
        self.sort(logical);
    }
    #[inline]
    fn wants_collection(&self, plane: Plane) -> bool {
        let state = &self.planes[plane.index()];
        state.free < self.start_blocks
            || self.rules.buffer_ratio > 0.0 && self.delayed.front(plane.index()).is_some()
    }
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection> {
        let (plane, logical) = match want {
            SpaceRequest::Free(plane) => (plane, self.to_merge(plane)?),
            SpaceRequest::Update(plane, logical) => (plane, logical),
            SpaceRequest::Anywhere => return None,
        };
        let state = &self.planes[plane.index()];
        if state.merge.is_some() {
            return None;
        }
        let is_short = state.free < self.reserve_blocks && self.takes(logical) > state.free;
        if is_short || state.free <= self.reserve_blocks && self.only_takes(logical) {
            let gains = self.to_merge_in_need(plane)?;
            return self.merge(plane, gains);
        }
        self.merge(plane, logical)
    }
    fn is_over(&self, job: JobId) -> bool {
        self.is_handed_out(Plane(job.0))
    }
    fn step(&mut self, job: JobId) -> Step {
        self.merge_step(Plane(job.0))
    }
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn> {
        self.copy(Plane(job.0), from)
    }
    fn erased(&mut self, block: Block, erases: u32) {
        let plane = self.layout.plane_of(block);
        if self.is_record(plane, block) {
            self.blocks.enter(block, Phase::Active);
            return;
        }
        let valid = self.blocks.valid(block);
        assert!(
            valid == 0,
            "block {} was erased with {valid} valid pages",
            block.0
        );
        self.source_erased(plane, block);
        self.blocks.enter(block, Phase::Free);
        self.members[block.index()] = Member::default();
        self.free.erased(plane, block, erases);
        self.give_back(plane);
    }
    fn replace(&mut self, logical: LogicalBlock) -> bool {
        let plane = self.shape.home(logical);
        if self.active(logical).is_some() || self.planes[plane.index()].free <= self.reserve_blocks
        {
            return false;
        }
        self.open(plane, logical, Role::Update);
        self.put_off(logical);
        true
    }
    fn delay(&mut self, page: Lpn) {
        let (logical, _) = self.shape.of(page);
        let few = self.planes[self.shape.home(logical).index()].free < self.start_blocks;
        if few && self.logical[logical.0 as usize].bits & IN_RECENT != 0 {
            self.put_off(logical);
        }
    }
    fn delayed(&self, plane: Plane) -> Option<SpaceRequest> {
        let logical = self.delayed.front(plane.index())?;
        Some(SpaceRequest::Update(plane, LogicalBlock(logical)))
    }
    fn reclaim(&self, plane: Plane) -> Option<SpaceRequest> {
        let few = self.planes[plane.index()].free < self.start_blocks;
        self.least_recent(plane).filter(|_| few)
    }
    fn least_recent(&self, plane: Plane) -> Option<SpaceRequest> {
        let logical = self.recent.front(plane.index())?;
        Some(SpaceRequest::Update(plane, LogicalBlock(logical)))
    }
    fn full(&self, plane: Plane) -> Option<SpaceRequest> {
        let logical = self.full.front(plane.index())?;
        Some(SpaceRequest::Update(plane, LogicalBlock(logical)))
    }
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
        self.shortage_of(plane, writes)
    }
    fn cost(&self, want: SpaceRequest) -> Cost {
        let logical = match want {
            SpaceRequest::Free(plane) => self.to_merge(plane),
            SpaceRequest::Update(_, logical) => Some(logical),
            SpaceRequest::Anywhere => None,
        };
        logical.map_or(Cost::default(), |logical| self.cost_of(logical))
    }
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery {
        *self = Self::new(&self.plan.clone(), self.rules);
        self.rebuild(flash)
    }
    fn audit(&self) -> Result<(), String> {
        self.check()
    }
}
