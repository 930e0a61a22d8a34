//! Merges, which gather the pages of a logical block in its data blocks.

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane, Ppn};

use super::state::{IN_DELAYED, IN_RECENT, MERGING, Role, SOURCE, STRAY};
use super::{FILLER, LogicalBlock, LogicalMap, Mapping};
use crate::job::{Collection, Cost, GcKind, JobId, Step};

/// Progress of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Pages are copied in ascending order, one at a time.
    Copying,
    /// A copy has been issued.
    Copied,
    /// Erases remain to be issued.
    Erasing,
    /// Records of the erases remain to be issued.
    Recording,
    /// All steps have been issued.
    Recorded,
    /// All steps are complete.
    Over,
}

/// Merge in progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Merge {
    pub logical: LogicalBlock,
    stage: Stage,
    /// Offset of the next page of the logical block to examine.
    cursor: u32,
    /// Block that is being filled.
    target: Option<Block>,
    /// Blocks that the merge empties and erases at the end.
    sources: Vec<Block>,
    /// Erases that have not been issued.
    erases: Vec<Block>,
    /// Number of records that have not been issued.
    records: usize,
}

/// Blocks of a logical block, by their use in a merge.
#[derive(Debug, Default)]
struct Choice {
    /// Blocks that become data blocks unchanged.
    kept: Vec<Block>,
    /// Block that is filled up with copies.
    target: Option<Block>,
    /// Blocks that are emptied and erased.
    sources: Vec<Block>,
}

impl LogicalMap {
    /// Returns `true` if every page written to a block is valid.
    fn is_whole(&self, block: Block) -> bool {
        let used = u32::from(self.members[block.index()].used);
        used > 0 && self.blocks.valid(block) == used
    }

    /// Selects the blocks that need no copy because all their pages are valid. With pages at fixed
    /// offsets, this is the block with the most pages from the start of the logical block.
    /// Otherwise, these are the fullest blocks, at most as many as a logical block has data blocks.
    /// Full blocks stay unchanged, and the fullest of the others is filled up.
    fn choose(&self, logical: LogicalBlock) -> Choice {
        let pages = self.layout.pages_per_block;
        let used = |block: Block| u32::from(self.members[block.index()].used);
        let mut choice = Choice::default();
        let mut whole: Vec<Block> = self
            .chain(logical)
            .filter(|&block| self.is_whole(block))
            .filter(|&block| !self.rules.in_place || !self.members[block.index()].is(STRAY))
            .collect();
        whole.sort_by_key(|&block| std::cmp::Reverse(used(block)));
        whole.truncate(self.rules.data_blocks as usize);
        for block in whole {
            if used(block) == pages {
                choice.kept.push(block);
            } else if choice.target.is_none() {
                choice.target = Some(block);
            }
        }
        let stays = |block: &Block| choice.kept.contains(block) || choice.target == Some(*block);
        choice.sources = self.chain(logical).filter(|block| !stays(block)).collect();
        choice
    }

    /// Returns `true` if a merge takes a free block and gains no block, because all pages of the
    /// logical block are in the write buffer.
    pub(super) fn only_takes(&self, logical: LogicalBlock) -> bool {
        let state = self.logical[logical.0 as usize];
        state.blocks == 0 && state.buffered > 0
    }

    /// Returns the number of free blocks that a merge takes.
    pub(super) fn takes(&self, logical: LogicalBlock) -> u32 {
        let choice = self.choose(logical);
        let pages = self.layout.pages_per_block;
        let copies = self.to_copy(logical, &choice);
        let room = |block: Block| pages - u32::from(self.members[block.index()].used);
        match choice.target {
            Some(_) if self.rules.in_place => 0,
            Some(block) => copies.saturating_sub(room(block)).div_ceil(pages),
            None => copies.div_ceil(pages),
        }
    }

    /// Returns the logical block whose merge gains a block and takes the fewest free blocks, if the
    /// plane has that many. Needed after a power cut, when a plane may have less than its reserve
    /// because trimmed pages are valid again.
    #[cold]
    pub(super) fn to_merge_in_need(&self, plane: Plane) -> Option<LogicalBlock> {
        let blocks = (0..self.logical.len() as u32).map(LogicalBlock);
        let gains = |block: &LogicalBlock| {
            let is_recent = self.logical[block.0 as usize].bits & IN_RECENT != 0;
            is_recent && self.shape.home(*block) == plane
        };
        let block = blocks
            .filter(gains)
            .min_by_key(|block| self.takes(*block))?;
        (self.takes(block) <= self.planes[plane.index()].free).then_some(block)
    }

    /// Returns the number of pages that a merge must copy.
    fn to_copy(&self, logical: LogicalBlock, choice: &Choice) -> u32 {
        let stay = choice.kept.iter().chain(&choice.target);
        let there: u32 = stay.map(|&block| self.blocks.valid(block)).sum();
        self.logical[logical.0 as usize].valid - there
    }

    /// Returns the logical block that a plane merges to gain free blocks; `None` if there is none.
    pub(super) fn to_merge(&self, plane: Plane) -> Option<LogicalBlock> {
        let crowded = if self.rules.buffer_ratio > 0.0 {
            self.oldest_in_full_buffer(plane)
        } else {
            None
        };
        crowded.or_else(|| {
            let delayed = self.delayed.front(plane.index());
            let oldest = delayed.or_else(|| self.recent.front(plane.index()));
            oldest.map(LogicalBlock)
        })
    }

    pub(super) fn cost_of(&self, logical: LogicalBlock) -> Cost {
        let choice = self.choose(logical);
        let blocks = choice.sources.len() as u32;
        Cost {
            pages: self.to_copy(logical, &choice),
            blocks,
            metadata_pages: if self.rules.record_erases { blocks } else { 0 },
        }
    }

    /// Returns `true` if writes can continue without a merge, because an update block can become a
    /// data block unchanged.
    pub(super) fn is_promoted_by_itself(&self, logical: LogicalBlock) -> bool {
        let role = |block: &Block| self.members[block.index()].role();
        let data = self
            .chain(logical)
            .filter(|block| role(block) == Role::Data)
            .count();
        let kept = self.choose(logical).kept;
        data < self.rules.data_blocks as usize
            && kept.iter().any(|block| role(block) == Role::Update)
    }

    /// Starts a merge. Returns `None` if there is nothing to copy or to erase.
    pub(super) fn merge(&mut self, plane: Plane, logical: LogicalBlock) -> Option<Collection> {
        let choice = self.choose(logical);
        let copies = self.to_copy(logical, &choice);
        self.no_longer_put_off(logical);
        if copies == 0 && choice.sources.is_empty() {
            return None;
        }
        // A merge looks at every page of the logical block.
        self.store_filled(logical);
        let cost = Cost {
            pages: copies,
            blocks: choice.sources.len() as u32,
            metadata_pages: 0,
        };
        let kind = match (copies, choice.kept.is_empty() && choice.target.is_none()) {
            (0, _) => GcKind::Switch,
            (_, false) => GcKind::Partial,
            (_, true) => GcKind::Full,
        };
        // If the host writes pages before the cursor during the merge, they stay in the write
        // buffer.
        let in_place = choice.kept.iter().chain(&choice.target);
        let cursor = in_place
            .filter(|_| self.rules.in_place)
            .map(|block| self.members[block.index()].used.into());
        let cursor = cursor.max().unwrap_or(0);
        let stay = choice.kept.iter().map(|block| (*block, Role::Data));
        let filled = choice.target.iter().map(|block| (*block, Role::Target));
        for (block, role) in stay.chain(filled) {
            self.members[block.index()].set_role(role);
        }
        for block in &choice.sources {
            self.members[block.index()].bits |= SOURCE;
        }
        let state = &mut self.logical[logical.0 as usize];
        state.updates = 0;
        state.active = 0;
        state.bits |= MERGING;
        self.sort(logical);
        self.planes[plane.index()].merge = Some(Merge {
            logical,
            stage: Stage::Copying,
            cursor,
            target: choice.target,
            erases: Vec::new(),
            sources: choice.sources,
            records: 0,
        });
        Some(Collection {
            job: JobId::of(plane),
            kind,
            cost,
        })
    }

    pub(super) fn merge_step(&mut self, plane: Plane) -> Step {
        loop {
            let Some(merge) = &mut self.planes[plane.index()].merge else {
                return Step::Done;
            };
            match merge.stage {
                Stage::Copying => {
                    if let Some(step) = self.next_copy(plane) {
                        return step;
                    }
                }
                Stage::Copied => {
                    merge.stage = Stage::Copying;
                    return Step::Wait;
                }
                Stage::Erasing => {
                    if let Some(block) = merge.erases.pop() {
                        return Step::Erase(block);
                    }
                    merge.stage = if merge.records > 0 {
                        Stage::Recording
                    } else {
                        Stage::Over
                    };
                    return Step::Wait;
                }
                Stage::Recording => {
                    let last = merge.records == 1;
                    let (step, written) = self.record(plane);
                    if written && let Some(merge) = &mut self.planes[plane.index()].merge {
                        merge.records -= 1;
                        if last {
                            merge.stage = Stage::Recorded;
                        }
                    }
                    return step;
                }
                Stage::Recorded => {
                    merge.stage = Stage::Over;
                    return Step::Wait;
                }
                Stage::Over => {
                    let whole = self.planes[plane.index()].merge.take();
                    if let Some(merge) = whole {
                        self.finish(&merge);
                    }
                    return Step::Done;
                }
            }
        }
    }

    /// Returns `true` if all steps of a plane's merge have been issued.
    pub(super) fn is_handed_out(&self, plane: Plane) -> bool {
        let merge = &self.planes[plane.index()].merge;
        merge
            .as_ref()
            .is_none_or(|merge| matches!(merge.stage, Stage::Recorded | Stage::Over))
    }

    /// Returns the step for the next page to copy, or for a filler page before it. Returns `None`
    /// after the last page.
    fn next_copy(&mut self, plane: Plane) -> Option<Step> {
        let merge = self.planes[plane.index()].merge.as_ref()?;
        let (logical, mut offset, target) = (merge.logical, merge.cursor, merge.target);
        let from = loop {
            if offset == self.shape.pages {
                self.end_copying(plane);
                return None;
            }
            let place = self
                .shape
                .page(logical, offset)
                .and_then(|page| self.place_of(page, logical, offset));
            match place.filter(|&place| self.is_left(place)) {
                Some(place) => break place,
                None => offset += 1,
            }
        };
        let pages = self.layout.pages_per_block;
        let used = |block: Block| u32::from(self.members[block.index()].used);
        let target = if let Some(block) = target.filter(|&block| used(block) < pages) {
            block
        } else {
            if let Some(full) = target {
                self.members[full.index()].set_role(Role::Data);
            }
            self.open(plane, logical, Role::Target)
        };
        let fills = self.rules.in_place && used_of(self, target) < offset;
        let merge = self.planes[plane.index()].merge.as_mut()?;
        merge.target = Some(target);
        merge.cursor = offset;
        if fills {
            return Some(self.fill(target));
        }
        merge.stage = Stage::Copied;
        Some(Step::Move(from))
    }

    /// Returns `true` if a page is in a block that the merge empties, or in the write buffer.
    fn is_left(&self, place: Ppn) -> bool {
        let member = self.members[self.layout.block_of(place).index()];
        member.is(SOURCE) || member.role() == Role::Buffer
    }

    /// Returns the step that programs a filler page, which keeps the programming order of its
    /// block: the offset has no valid page, but a later offset has one.
    fn fill(&mut self, block: Block) -> Step {
        let member = &mut self.members[block.index()];
        let place = self.layout.page(block, member.used.into());
        member.used += 1;
        self.owners[place.index()] = 0;
        Step::Program {
            place,
            label: FILLER,
        }
    }

    fn end_copying(&mut self, plane: Plane) {
        let mut spent = Vec::new();
        if self.rules.buffer_ratio > 0.0 {
            while let Some(block) = self.spent(plane) {
                spent.push(block);
            }
        }
        let records = self.rules.record_erases;
        if let Some(merge) = &mut self.planes[plane.index()].merge {
            merge.stage = Stage::Erasing;
            merge.erases.clone_from(&merge.sources);
            merge.erases.append(&mut spent);
            merge.records = if records { merge.erases.len() } else { 0 };
        }
    }

    /// Returns the target of the copy of a page that has been read, or `None` if the page has been
    /// superseded or trimmed.
    pub(super) fn copy(&mut self, plane: Plane, from: Ppn) -> Option<Ppn> {
        let merge = self.planes[plane.index()].merge.as_mut()?;
        let (logical, offset, target) = (merge.logical, merge.cursor, merge.target?);
        merge.cursor += 1;
        let page = self.owner_of(logical, from)?;
        if self.lookup(page) != Some(from) {
            return None;
        }
        self.lose(logical, from);
        Some(self.append(target, page, offset % self.layout.pages_per_block))
    }

    fn finish(&mut self, merge: &Merge) {
        if let Some(block) = merge.target {
            self.members[block.index()].set_role(Role::Data);
        }
        let state = &mut self.logical[merge.logical.0 as usize];
        state.bits &= !MERGING;
        let buffered = state.buffered > 0;
        let put_off = state.bits & IN_DELAYED != 0;
        if buffered && !put_off {
            self.put_off(merge.logical);
        }
        self.sort(merge.logical);
    }

    /// Handles the erase of a block that a merge has emptied.
    pub(super) fn source_erased(&mut self, plane: Plane, block: Block) {
        if let Some(merge) = &self.planes[plane.index()].merge
            && merge.sources.contains(&block)
        {
            let logical = merge.logical;
            self.unlink(logical, block);
        }
    }
}

fn used_of(map: &LogicalMap, block: Block) -> u32 {
    map.members[block.index()].used.into()
}
