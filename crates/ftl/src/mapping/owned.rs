//! Page mapping whose pages have an owner: a cache merged with the translation layer.
//!
//! The logical pages are the owner's numbers, not addresses of a host, and grow with them. The owner is asked which
//! pages are worth a move, and hears which are lost with a block.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Block, Die, Layout, Plane, Ppn};

use super::{Mapping, PageMap, SpaceRequest, Written};
use crate::gc::reclaim::{Reclaim, Reclaiming};
use crate::job::{Collection, Cost, GcKind, JobId, Step};
use crate::lpn::Lpn;
use crate::owner::Owner;
use crate::plan::Plan;
use crate::recovery::{Flash, Label, Recovery};
use crate::summary::{Summaries, SummaryPage};

/// A page map and who owns its pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnedMap<O> {
    pages: Pages,
    reclaim: Reclaiming,
    owner: O,
    /// By plane: the page of the owner's metadata that its collection programs before it erases.
    recording: Vec<Recording>,
    summaries: Summaries,
    /// Pages of summaries that are to be programmed.
    due: VecDeque<SummaryPage>,
    /// How many have been handed out.
    summarized: u64,
}

/// How far a page of metadata is that a collection programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Recording {
    /// There is none.
    Nothing,
    /// It has been handed out.
    Program(Lpn),
    /// It is waited for.
    Wait(Lpn),
}

/// The pages, as their owner changes them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pages {
    layout: Layout,
    map: PageMap,
    /// By logical page: 1 + the physical page of a copy that is invalid but can still be read, or 0.
    #[serde(with = "wordline_kernel::dense")]
    suspected: Vec<u32>,
}

impl Pages {
    /// Where a page is, if its copy is valid.
    pub fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.map.lookup(page)
    }
    /// Whether a page is suspected.
    pub fn is_suspected(&self, page: Lpn) -> bool {
        let suspected = self.suspected.get(page.index());
        suspected.is_some_and(|place| *place > 0)
    }
    /// Makes room for a page.
    pub fn reserve(&mut self, page: Lpn) {
        self.map.grow(page.0 + 1);
        if self.suspected.len() < self.map.map.len() {
            self.suspected.resize(self.map.map.len(), 0);
        }
    }
    /// The owner does not count on a page any more: to collections it is invalid, and it can be read until its block is
    /// erased. Whether it can: false for a page that has no copy, or that is being collected.
    pub fn suspect(&mut self, page: Lpn) -> bool {
        let Some(place) = self.map.lookup(page) else {
            return false;
        };
        self.map.trim(page);
        let block = self.layout.block_of(place);
        let collected = self.map.victim(self.layout.plane_of(block)) == Some(block);
        if !collected {
            self.suspected[page.index()] = place.0 + 1;
        }
        !collected
    }
    /// A suspected page is valid again.
    pub fn revive(&mut self, page: Lpn) {
        let place = std::mem::take(&mut self.suspected[page.index()]);
        if let Some(place) = place.checked_sub(1) {
            self.map.restore(page, Ppn(place));
        }
    }
    /// A page is not needed any more, whether it is valid or suspected.
    pub fn discard(&mut self, page: Lpn) {
        self.suspected[page.index()] = 0;
        self.map.trim(page);
    }
    /// The page map, to look at.
    pub fn map(&self) -> &PageMap {
        &self.map
    }

    /// Takes the pages of a block that a collection has chosen from their owner, but for those that are moved.
    fn take(&mut self, block: Block, reclaim: &Reclaiming, owner: &mut impl Owner) -> u32 {
        let mut dropped = 0;
        for offset in 0..self.layout.pages_per_block {
            let place = self.layout.page(block, offset);
            let Some(page) = self.map.owners[place.index()].checked_sub(1).map(Lpn) else {
                continue;
            };
            if self.suspected[page.index()] == place.0 + 1 {
                self.suspected[page.index()] = 0;
                owner.lost(page);
            } else if self.map.lookup(page) == Some(place)
                && !owner.is_only_copy(page)
                && !reclaim.moves(page, owner)
            {
                self.map.trim(page);
                owner.lost(page);
                dropped += 1;
            }
        }
        dropped
    }
}

impl<O: Owner> OwnedMap<O> {
    /// An empty map over a pristine array.
    pub fn new(plan: &Plan, owner: O) -> Self {
        let map = PageMap::new(plan);
        Self {
            pages: Pages {
                layout: plan.layout,
                suspected: vec![0; map.map.len()],
                map,
            },
            reclaim: plan.config.gc.reclaim.clone(),
            owner,
            recording: vec![Recording::Nothing; plan.layout.planes() as usize],
            summaries: plan.summaries,
            due: VecDeque::new(),
            summarized: 0,
        }
    }
    fn pages_of(&self, block: Block) -> Range<u32> {
        let first = self.pages.layout.page(block, 0).0;
        first..first + self.pages.layout.pages_per_block
    }
    /// A page has its place: the last one of a block makes its summary due.
    #[inline]
    fn has_place(&mut self, place: Ppn) {
        if self.summaries.exist() {
            self.look_at_end(place);
        }
    }
    fn look_at_end(&mut self, place: Ppn) {
        let layout = &self.pages.layout;
        let block = layout.block_of(place);
        if place.0 + 1 == layout.page(block, self.pages.map.data_pages()).0 {
            self.due.extend(self.summaries.of_block(layout, block));
        }
    }
    /// Pages of block summaries that have been programmed, or are being.
    pub fn summarized(&self) -> u64 {
        self.summarized
    }
    /// After a power cut: blocks that have no room and whose summary is not begun.
    fn find_due(&mut self, flash: &Flash<'_>, erase: &[Block]) {
        self.due.clear();
        if !self.summaries.exist() {
            return;
        }
        let layout = self.pages.layout;
        for block in (0..layout.blocks()).map(Block) {
            let is_full = flash.array.programmed(block) == self.pages.map.data_pages();
            if is_full && !erase.contains(&block) {
                self.due.extend(self.summaries.of_block(&layout, block));
            }
        }
    }
    /// A collection has begun: what it does not move is lost to the owner. For the sake of wear and of data it moves all.
    fn take_pages(&mut self, mut collection: Collection) -> Option<Collection> {
        let victim = self.pages.map.victim(Plane(collection.job.0))?;
        if matches!(collection.kind, GcKind::Wear | GcKind::Refresh) {
            self.take_all(victim);
            return Some(collection);
        }
        self.owes_no_summary(victim);
        collection.cost.pages -= self.pages.take(victim, &self.reclaim, &mut self.owner);
        Some(collection)
    }
    /// Data moves that stays its owner's.
    fn take_all(&mut self, victim: Block) {
        self.owes_no_summary(victim);
        self.pages
            .take(victim, &Reclaiming::default(), &mut self.owner);
    }
    fn owes_no_summary(&mut self, victim: Block) {
        let layout = &self.pages.layout;
        self.due
            .retain(|page| layout.block_of(page.place) != victim);
    }
    /// What comes before the erase of a plane's victim, all pages of which have been moved: the program of what the owner owes,
    /// and the wait for it.
    fn record(&mut self, plane: Plane) -> Option<Step> {
        loop {
            match self.recording[plane.index()] {
                Recording::Nothing => {
                    let block = self.pages.map.victim(plane)?;
                    let page = self.owner.owes(self.pages_of(block))?;
                    self.pages.reserve(page);
                    let place = self.pages.map.append_metadata(plane, page);
                    self.has_place(place);
                    self.recording[plane.index()] = Recording::Program(page);
                    return Some(Step::Program {
                        place,
                        label: page.0,
                    });
                }
                Recording::Program(page) => {
                    self.recording[plane.index()] = Recording::Wait(page);
                    return Some(Step::Wait);
                }
                Recording::Wait(page) => {
                    self.recording[plane.index()] = Recording::Nothing;
                    for unneeded in self.owner.recorded(page) {
                        self.pages.discard(unneeded);
                    }
                }
            }
        }
    }
    /// The owner.
    pub fn owner(&self) -> &O {
        &self.owner
    }
    /// The pages, to look at.
    pub fn pages(&self) -> &Pages {
        &self.pages
    }
    /// The owner, and the pages that it changes.
    pub fn parts(&mut self) -> (&mut O, &mut Pages) {
        (&mut self.owner, &mut self.pages)
    }
}

impl<O: Owner> Mapping for OwnedMap<O> {
    const SUMMARIZES: bool = true;
    fn user_pages(&self) -> u32 {
        self.pages.map.user_pages()
    }
    fn is_owned(&self) -> bool {
        true
    }
    /// Numbers of pages grow with what their owner remembers, and there are no other metadata.
    fn numbers(&self) -> u32 {
        u32::MAX / 2
    }
    #[inline]
    fn label(&self, page: Lpn) -> Label {
        self.owner.label(page)
    }
    #[inline]
    fn placed(&mut self, place: Ppn, label: Label) {
        self.owner.placed(place, label);
    }
    #[inline]
    fn summary(&mut self) -> Option<SummaryPage> {
        let page = self.due.pop_front()?;
        self.summarized += 1;
        Some(page)
    }
    #[inline]
    fn free_blocks(&self) -> u32 {
        self.pages.map.free_blocks()
    }
    #[inline]
    fn free_blocks_of(&self, plane: Plane) -> u32 {
        self.pages.map.free_blocks_of(plane)
    }
    fn valid_pages(&self) -> u64 {
        self.pages.map.valid_pages()
    }
    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.pages.map.lookup(page)
    }
    #[inline]
    fn prefetch(&mut self, page: Lpn) {
        self.pages.map.prefetch(page);
    }
    #[inline]
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        self.pages.map.home_plane(page)
    }
    fn set_die_loads(&mut self, work: impl Fn(Die) -> Time) {
        self.pages.map.set_die_loads(work);
    }
    /// A page that is suspected has left while its program was on its way: it stays suspected, at its new place.
    #[inline]
    fn write(&mut self, page: Lpn) -> Written {
        let written = self.pages.map.write(page);
        if self.pages.is_suspected(page) && self.lookup(page).is_some() {
            self.pages.suspect(page);
        }
        if let Written::Placed(place) = written {
            self.has_place(place);
        }
        written
    }
    fn trim(&mut self, page: Lpn) {
        self.pages.discard(page);
    }
    #[inline]
    fn wants_collection(&self, plane: Plane) -> bool {
        self.pages.map.wants_collection(plane)
    }
    fn lacks_room(&self, plane: Plane) -> bool {
        self.pages.map.lacks_room(plane)
    }
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection> {
        let collection = self.pages.map.collect(want)?;
        self.take_pages(collection)
    }
    fn refresh(&mut self, block: Block) -> Option<Collection> {
        let collection = self.pages.map.refresh(block)?;
        self.take_pages(collection)
    }
    fn is_over(&self, job: JobId) -> bool {
        self.pages.map.is_over(job)
    }
    #[inline]
    fn step(&mut self, job: JobId) -> Step {
        let plane = Plane(job.0);
        if self.pages.map.is_moved(plane)
            && let Some(step) = self.record(plane)
        {
            return step;
        }
        self.pages.map.step(job)
    }
    #[inline]
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn> {
        let to = self.pages.map.relocate(job, from)?;
        self.owner.copied(from, to);
        self.has_place(to);
        Some(to)
    }
    fn erased(&mut self, block: Block, erases: u32) {
        self.owner.erased(self.pages_of(block));
        self.pages.map.erased(block, erases);
        if let Some(victim) = self.pages.map.victim(self.pages.layout.plane_of(block)) {
            self.take_all(victim);
        }
    }
    fn retired(&mut self, block: Block) {
        self.pages.map.retired(block);
    }
    fn delayed(&self, plane: Plane) -> Option<SpaceRequest> {
        self.pages.map.delayed(plane)
    }
    fn full(&self, plane: Plane) -> Option<SpaceRequest> {
        self.pages.map.full(plane)
    }
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
        self.pages.map.shortage(plane, writes)
    }
    fn cost(&self, want: SpaceRequest) -> Cost {
        self.pages.map.cost(want)
    }
    /// What comes back is for the owner to say. Suspected pages do not.
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery {
        self.recording.fill(Recording::Nothing);
        let claims = self.owner.recover(flash);
        let mut recovery = self.pages.map.rebuild_for(flash, &claims);
        recovery.pages_read += claims.pages_read;
        self.find_due(flash, &recovery.erase);
        self.pages.suspected = vec![0; self.pages.map.map.len()];
        recovery
    }
    /// The books of the map; and suspected pages are in blocks that hold them, with no other copy.
    fn audit(&self) -> Result<(), String> {
        let Pages { map, suspected, .. } = &self.pages;
        for (page, place) in (0..).zip(suspected) {
            let Some(place) = place.checked_sub(1).map(Ppn) else {
                continue;
            };
            let held = map.owners[place.index()] == page + 1 && !map.blocks.is_valid(place);
            if !held || map.lookup(Lpn(page)).is_some() {
                return Err(format!(
                    "page {page} is suspected at {}, which does not hold it",
                    self.pages.layout.describe(place)
                ));
            }
        }
        map.audit()
    }
}
