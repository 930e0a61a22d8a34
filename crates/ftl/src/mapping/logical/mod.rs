//! Logical blocks: data blocks, and update blocks that take their new versions.
//!
//! The families that work so differ in how many of each a logical block has, in whether a data block
//! keeps its pages in place, and in whether writes without room go to a buffer. Here is what they
//! share; `log_block`, `hybrid` and `buffered` say what is theirs.

mod buffer;
mod merge;
mod record;
mod recover;
mod rules;
pub mod shape;

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Block, Layout, Plane, Ppn};

use super::{LogicalBlock, Mapping, Want, Written};
use crate::Plan;
use crate::block::{Blocks, Phase};
use crate::job::{Collection, Cost, JobId, Step};
use crate::lists::Lists;
use crate::lpn::Lpn;
use crate::recovery::{Flash, Recovery};
use crate::wear::{FreeBlocks, Spend};
use buffer::Buffer;
use merge::Merge;
use record::Record;
pub(super) use rules::Rules;
use shape::Shape;

/// What pages of metadata are, in their spare areas.
const RECORD: u32 = 0;
const FILLER: u32 = 1;

/// What a block is to its logical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// None: free, or something else altogether.
    None = 0,
    /// Holds merged pages.
    Data = 1,
    /// Takes writes, or has taken them.
    Update = 2,
    /// Is being filled by a merge.
    Target = 3,
    /// Belongs to the write buffer.
    Buffer = 4,
}

/// What is known of a block that belongs to a logical block.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Member {
    /// 1 + the next block of its logical block, or 0.
    next: u32,
    /// Pages handed out.
    used: u16,
    /// Its [`Role`] in the low bits, and [`STRAY`] and [`SOURCE`].
    bits: u8,
}

/// A page of the block is not at its own place.
const STRAY: u8 = 8;
/// The block is emptied by a merge.
const SOURCE: u8 = 16;

impl Member {
    fn role(self) -> Role {
        match self.bits & 7 {
            0 => Role::None,
            1 => Role::Data,
            2 => Role::Update,
            3 => Role::Target,
            _ => Role::Buffer,
        }
    }
    fn set_role(&mut self, role: Role) {
        self.bits = self.bits & !7 | role as u8;
    }
    fn is(self, bit: u8) -> bool {
        self.bits & bit != 0
    }
}

/// A logical block.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Logical {
    /// 1 + its block that was opened last, or 0.
    first: u32,
    /// 1 + the update block that takes writes, or 0.
    active: u32,
    /// Pages that hold something.
    valid: u32,
    /// Of these, pages in the write buffer.
    buffered: u32,
    /// All its blocks.
    blocks: u16,
    /// Of these, update blocks that no merge empties.
    updates: u16,
    /// [`MERGING`], and the lists that it is in.
    bits: u8,
}

const MERGING: u8 = 1;
const IN_RECENT: u8 = 2;
const IN_FULL: u8 = 4;
const IN_DELAYED: u8 = 8;

/// What a plane has at hand.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlaneState {
    /// Free blocks, those that the write buffer may still take apart.
    free: u32,
    merge: Option<Merge>,
    record: Record,
    buffer: Buffer,
}

/// A translation layer of logical blocks.
///
/// The books are kept page by page, eight bytes a page used, because that is the fastest way to
/// simulate; the memory of a real one would be that of its family.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogicalMap {
    layout: Layout,
    rules: Rules,
    shape: Shape,
    start_blocks: u32,
    reserve_blocks: u32,
    /// By logical page: 1 + its physical page, or 0.
    map: Vec<u32>,
    /// By physical page: 1 + the logical page last programmed there, or 0.
    owners: Vec<u32>,
    blocks: Blocks,
    members: Vec<Member>,
    logical: Vec<Logical>,
    planes: Vec<PlaneState>,
    free_blocks: u32,
    free: FreeBlocks,
    /// By plane: logical blocks of which a merge would gain a block, least recently written first.
    recent: Lists,
    /// By plane: of these, those without a free page in their blocks.
    full: Lists,
    /// By plane: logical blocks whose merge has been put off.
    delayed: Lists,
    /// What it was built from, to build it again when the memory has been lost.
    plan: Box<Plan>,
}

impl LogicalMap {
    /// An empty map over a pristine array.
    pub(super) fn new(plan: &Plan, rules: Rules) -> Self {
        let layout = plan.layout;
        let shape = Shape::new(plan, rules.data_blocks, rules.stripe);
        let planes = layout.planes() as usize;
        let buffer_blocks = rules.buffer_blocks(layout.blocks_per_plane);
        let state = PlaneState {
            free: layout.blocks_per_plane - buffer_blocks,
            merge: None,
            record: Record::default(),
            buffer: Buffer::new(buffer_blocks),
        };
        let count = shape.blocks() as usize;
        let lists = Lists::new(planes, count);
        let mut map = Self {
            layout,
            rules,
            start_blocks: plan.start_blocks,
            reserve_blocks: plan.reserve_blocks,
            map: vec![0; plan.user_pages as usize],
            owners: vec![0; layout.pages() as usize],
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

    /// What the map takes of memory, of a device so full.
    pub(super) fn memory(plan: &Plan, rules: Rules, fill: Fill) -> Vec<Table> {
        let layout = &plan.layout;
        let logical = u64::from(Shape::new(plan, rules.data_blocks, rules.stripe).blocks());
        let (pages, blocks) = (u64::from(layout.pages()), u64::from(layout.blocks()));
        let planes = u64::from(layout.planes());
        let mut tables = vec![
            Table::zeroed::<u32>("map of logical pages", plan.user_pages.into(), fill.logical),
            Table::zeroed::<u32>("owners of physical pages", pages, fill.physical),
            Table::written::<Member>("blocks of logical blocks", blocks),
            Table::written::<Logical>("logical blocks", logical),
            Table::written::<PlaneState>("planes", planes),
            FreeBlocks::memory(&plan.config.wear, layout, fill),
        ];
        // Copied for each of the three, which touches what a copy reads and all that it writes.
        tables.extend(
            ["recent", "full", "delayed"].map(|name| Lists::memory(name, planes, logical, 1.0)),
        );
        tables.extend(Blocks::memory(layout, fill));
        tables
    }
    /// Takes a free block of a plane for `block` to fill. The caller has made sure that there is one.
    fn open(&mut self, plane: Plane, logical: LogicalBlock, role: Role) -> Block {
        let block = self.take_free(plane);
        self.blocks.enter(block, Phase::Active);
        let state = &mut self.logical[logical.0 as usize];
        let mut member = Member {
            next: state.first,
            ..Member::default()
        };
        member.set_role(role);
        self.members[block.index()] = member;
        state.first = block.0 + 1;
        state.blocks += 1;
        if role == Role::Update {
            state.updates += 1;
            state.active = block.0 + 1;
        }
        self.sort(logical);
        block
    }

    fn take_free(&mut self, plane: Plane) -> Block {
        let state = &mut self.planes[plane.index()];
        assert!(
            state.free > 0,
            "plane {} has no free block: the reserve was broken into",
            plane.0
        );
        state.free -= 1;
        self.free_blocks -= 1;
        let block = self.free.take(plane);
        block.unwrap_or_else(|| unreachable!("free blocks are counted"))
    }

    /// The blocks of a logical block, the one opened last first.
    fn chain(&self, logical: LogicalBlock) -> impl Iterator<Item = Block> + '_ {
        let mut next = self.logical[logical.0 as usize].first;
        std::iter::from_fn(move || {
            let block = Block(next.checked_sub(1)?);
            next = self.members[block.index()].next;
            Some(block)
        })
    }

    fn unlink(&mut self, logical: LogicalBlock, removed: Block) {
        let after = self.members[removed.index()].next;
        let state = &mut self.logical[logical.0 as usize];
        state.blocks -= 1;
        if state.first == removed.0 + 1 {
            state.first = after;
            return;
        }
        let mut block = Block(state.first - 1);
        while self.members[block.index()].next != removed.0 + 1 {
            block = Block(self.members[block.index()].next - 1);
        }
        self.members[block.index()].next = after;
    }

    /// The update block that takes writes, if it has room.
    #[inline]
    fn active(&self, logical: LogicalBlock) -> Option<Block> {
        let block = Block(self.logical[logical.0 as usize].active.checked_sub(1)?);
        let used = u32::from(self.members[block.index()].used);
        (used < self.layout.pages_per_block).then_some(block)
    }

    /// Programs `page` next in `block`.
    #[inline]
    fn append(&mut self, block: Block, page: Lpn, offset: u32) -> Ppn {
        let member = &mut self.members[block.index()];
        let slot = u32::from(member.used);
        member.used += 1;
        if slot != offset {
            member.bits |= STRAY;
        }
        let place = self.layout.page(block, slot);
        self.owners[place.index()] = page.0 + 1;
        self.map[page.index()] = place.0 + 1;
        self.blocks.gain(block, place);
        if slot + 1 == self.layout.pages_per_block {
            self.blocks.enter(block, Phase::Closed);
        }
        place
    }

    /// The copy of a page is out of date, or about to be.
    #[inline]
    fn lose(&mut self, logical: LogicalBlock, place: Ppn) {
        let block = self.layout.block_of(place);
        self.blocks.lose(block, place);
        if self.is_of_buffer(block) {
            self.logical[logical.0 as usize].buffered -= 1;
        }
    }

    /// Blocks that the pages of a logical block fill after a merge.
    fn needed(&self, logical: LogicalBlock) -> u32 {
        let valid = self.logical[logical.0 as usize].valid;
        if self.rules.in_place {
            u32::from(valid > 0)
        } else {
            valid.div_ceil(self.layout.pages_per_block)
        }
    }

    /// Puts a logical block into the lists that it belongs in, behind the others.
    fn sort(&mut self, logical: LogicalBlock) {
        let plane = self.shape.home(logical).index();
        let state = self.logical[logical.0 as usize];
        let full = self.active(logical).is_none();
        let gains = u32::from(state.blocks) > self.needed(logical) && state.bits & MERGING == 0;
        let full = gains && full;
        let state = &mut self.logical[logical.0 as usize];
        for (list, bit, belongs) in [
            (&mut self.recent, IN_RECENT, gains),
            (&mut self.full, IN_FULL, full),
        ] {
            let is_in = state.bits & bit != 0;
            if is_in == belongs {
                continue;
            }
            state.bits ^= bit;
            if belongs {
                list.push_back(plane, logical.0);
            } else {
                list.remove(logical.0);
            }
        }
        // Nothing to merge is left of what was put off, as after a trim.
        if !gains && state.bits & MERGING == 0 && state.buffered == 0 {
            self.no_longer_put_off(logical);
        }
    }

    /// A logical block has been written: it is the most recent one.
    #[inline]
    fn touch(&mut self, plane: Plane, logical: LogicalBlock) {
        if self.logical[logical.0 as usize].bits & IN_RECENT != 0 {
            self.recent.remove(logical.0);
            self.recent.push_back(plane.index(), logical.0);
        }
    }

    fn put_off(&mut self, logical: LogicalBlock) {
        let state = &mut self.logical[logical.0 as usize];
        if state.bits & IN_DELAYED == 0 {
            state.bits |= IN_DELAYED;
            self.delayed
                .push_back(self.shape.home(logical).index(), logical.0);
        }
    }

    fn no_longer_put_off(&mut self, logical: LogicalBlock) {
        let state = &mut self.logical[logical.0 as usize];
        if state.bits & IN_DELAYED != 0 {
            state.bits &= !IN_DELAYED;
            self.delayed.remove(logical.0);
        }
    }

    /// An update block whose pages are all valid, and in place if they have to be, is as good as a
    /// data block, if there is room for one: no operation makes it one.
    fn promote(&mut self, logical: LogicalBlock) {
        let chain: Vec<Block> = self.chain(logical).collect();
        let data = |block: &&Block| self.members[block.index()].role() == Role::Data;
        let data = chain.iter().filter(data).count() as u32;
        let mut room = self.rules.data_blocks.saturating_sub(data);
        for block in chain {
            let member = self.members[block.index()];
            let whole = self.blocks.valid(block) == self.layout.pages_per_block;
            let fits = !self.rules.in_place || !member.is(STRAY);
            if room > 0 && whole && fits && member.role() == Role::Update && !member.is(SOURCE) {
                self.members[block.index()].set_role(Role::Data);
                self.logical[logical.0 as usize].updates -= 1;
                room -= 1;
            }
        }
    }

    /// The block that takes the next write of a logical block, or what has to be gained first.
    #[inline]
    fn room(&mut self, plane: Plane, logical: LogicalBlock) -> Result<Block, Want> {
        let state = &self.planes[plane.index()];
        if state.free < self.reserve_blocks && state.merge.is_none() {
            // A merge that the power has cut off comes first, before writes make it larger.
            return Err(Want::Free(plane));
        }
        match self.active(logical) {
            Some(block) => Ok(block),
            None => self.make_room(plane, logical),
        }
    }

    #[cold]
    fn make_room(&mut self, plane: Plane, logical: LogicalBlock) -> Result<Block, Want> {
        self.promote(logical);
        let state = self.logical[logical.0 as usize];
        let merging = state.bits & MERGING != 0;
        if merging || u32::from(state.updates) >= self.rules.update_blocks {
            return Err(Want::Update(plane, logical));
        }
        if self.planes[plane.index()].free <= self.reserve_blocks {
            return Err(Want::Free(plane));
        }
        Ok(self.open(plane, logical, Role::Update))
    }

    /// The pages of writes that lie in `plane`, as their logical blocks, in order.
    fn of_plane(&self, plane: Plane, writes: &[(Lpn, u32)]) -> impl Iterator<Item = LogicalBlock> {
        let pages = writes.iter().flat_map(|&(first, pages)| {
            let end = first.0.saturating_add(pages).min(self.shape.user_pages);
            first.0..end
        });
        let blocks = pages.map(|page| self.shape.of(Lpn(page)).0);
        blocks.filter(move |block| self.shape.home(*block) == plane)
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
        self.map[page.index()].checked_sub(1).map(Ppn)
    }
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        Some(self.shape.home(self.shape.of(page).0))
    }
    fn write(&mut self, page: Lpn) -> Written {
        let (logical, offset) = self.shape.of(page);
        let plane = self.shape.home(logical);
        let room = self.room(plane, logical);
        let block = match room.or_else(|want| self.buffer(plane, logical).ok_or(want)) {
            Ok(block) => block,
            Err(want) => return Written::Wait(want),
        };
        let before = self.lookup(page);
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
        Written::Placed(place)
    }
    fn trim(&mut self, page: Lpn) {
        let Some(place) = self.lookup(page) else {
            return;
        };
        let (logical, _) = self.shape.of(page);
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
    fn collect(&mut self, want: Want) -> Option<Collection> {
        let (plane, logical) = match want {
            Want::Free(plane) => (plane, self.to_merge(plane)?),
            Want::Update(plane, logical) => (plane, logical),
            Want::Anywhere => return None,
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
            "block {} erased with {valid} valid pages",
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
    fn delayed(&self, plane: Plane) -> Option<Want> {
        let logical = self.delayed.front(plane.index())?;
        Some(Want::Update(plane, LogicalBlock(logical)))
    }
    /// The logical block least recently written of which a merge gains a block.
    fn reclaim(&self, plane: Plane) -> Option<Want> {
        let few = self.planes[plane.index()].free < self.start_blocks;
        let logical = self.recent.front(plane.index()).filter(|_| few)?;
        Some(Want::Update(plane, LogicalBlock(logical)))
    }
    fn full(&self, plane: Plane) -> Option<Want> {
        let logical = self.full.front(plane.index())?;
        Some(Want::Update(plane, LogicalBlock(logical)))
    }
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<Want> {
        let per_block = self.layout.pages_per_block;
        let (mut shares, mut opens) = (Vec::<(LogicalBlock, u32)>::new(), 0);
        for logical in self.of_plane(plane, writes) {
            let state = self.logical[logical.0 as usize];
            let room = self.active(logical).map_or(0, |block| {
                per_block - u32::from(self.members[block.index()].used)
            });
            let known = shares.iter().position(|(known, _)| *known == logical);
            let place = known.unwrap_or(shares.len());
            if known.is_none() {
                shares.push((logical, 0));
            }
            let pages = &mut shares[place].1;
            *pages += 1;
            let beyond = pages.saturating_sub(room);
            if beyond == 0 || (beyond - 1) % per_block != 0 {
                continue;
            }
            let blocks = beyond.div_ceil(per_block);
            let left = self
                .rules
                .update_blocks
                .saturating_sub(state.updates.into());
            if blocks > left && !self.is_promoted_by_itself(logical) {
                return Some(Want::Update(plane, logical));
            }
            opens += 1;
        }
        let free = self.planes[plane.index()].free.saturating_sub(opens);
        if free >= self.start_blocks {
            return None;
        }
        self.to_merge(plane)
            .map(|logical| Want::Update(plane, logical))
    }
    fn cost(&self, want: Want) -> Cost {
        let logical = match want {
            Want::Free(plane) => self.to_merge(plane),
            Want::Update(_, logical) => Some(logical),
            Want::Anywhere => None,
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
