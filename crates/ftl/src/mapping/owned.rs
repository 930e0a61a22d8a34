//! Page mapping whose pages have an owner: a cache merged with the FTL.
//!
//! The logical pages are numbers assigned by the owner, not host addresses, and the map grows with
//! them. The owner decides which pages are worth moving, and is notified of pages that it loses
//! with their block.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Block, Die, Layout, Plane, Ppn};

use super::{Mapping, PageMap, SpaceRequest, WriteOutcome};
use crate::gc::reclaim::{Reclaim, Reclaiming};
use crate::job::{Collection, Cost, GcKind, JobId, Step};
use crate::lpn::Lpn;
use crate::owner::Owner;
use crate::plan::Plan;
use crate::recovery::{Flash, Label, Recovery};
use crate::summary::{Summaries, SummaryPage};

/// Page map together with the owner of its pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnedMap<O> {
    pages: Pages,
    reclaim: Reclaiming,
    owner: O,
    /// Progress of the owner's metadata page that the GC run of each plane programs before its
    /// erase.
    recording: Vec<Recording>,
    summaries: Summaries,
    /// Summary pages that remain to be programmed.
    due: VecDeque<SummaryPage>,
    /// Number of summary pages issued.
    summarized: u64,
}

/// Progress of a metadata page that a GC run programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Recording {
    /// There is no metadata page to program.
    Nothing,
    /// The program of the page has been issued.
    Program(Lpn),
    /// The GC run waits for the program of the page.
    Wait(Lpn),
}

/// Page map, with the operations that its owner may perform.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pages {
    layout: Layout,
    map: PageMap,
    /// For each logical page: 1 + the physical page of its invalid but still readable copy, or 0 if
    /// it has none.
    #[serde(with = "wordline_kernel::dense")]
    suspected: Vec<u32>,
}

impl Pages {
    /// Returns the location of a page, if its copy is valid.
    pub fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.map.lookup(page)
    }
    /// Returns `true` if a page is suspected: invalid, but still readable.
    pub fn is_suspected(&self, page: Lpn) -> bool {
        let suspected = self.suspected.get(page.index());
        suspected.is_some_and(|place| *place > 0)
    }
    /// Extends the tables to include a page.
    pub fn reserve(&mut self, page: Lpn) {
        self.map.grow(page.0 + 1);
        if self.suspected.len() < self.map.map.len() {
            self.suspected.resize(self.map.map.len(), 0);
        }
    }
    /// Marks a page as suspected, because the owner no longer relies on it. GC treats it as
    /// invalid, and it remains readable until its block is erased. Returns `false` if the page is
    /// not readable, because it has no copy or is being reclaimed.
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
    /// Makes a suspected page valid again.
    pub fn revive(&mut self, page: Lpn) {
        let place = std::mem::take(&mut self.suspected[page.index()]);
        if let Some(place) = place.checked_sub(1) {
            self.map.restore(page, Ppn(place));
        }
    }
    /// Discards a page, valid or suspected.
    pub fn discard(&mut self, page: Lpn) {
        self.suspected[page.index()] = 0;
        self.map.trim(page);
    }
    /// Returns the page map, for reading.
    pub fn map(&self) -> &PageMap {
        &self.map
    }

    /// Takes from the owner the pages of a GC victim that are not moved. Returns the number of
    /// valid pages taken.
    fn take(&mut self, block: Block, reclaim: &Reclaiming, owner: &mut impl Owner) -> u32 {
        let mut dropped = 0;
        for offset in 0..self.layout.pages_per_block {
            let place = self.layout.page(block, offset);
            let Some(page) = self.map.owners.get(place) else {
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
    /// Creates an empty map over an erased array.
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
    /// Handles the placement of a page. The placement of the last data page of a block makes the
    /// summary of the block due.
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
    /// Returns the number of summary pages that have been programmed or are being programmed.
    pub fn summarized(&self) -> u64 {
        self.summarized
    }
    /// Finds the full blocks whose summary has not been started, after a power cut.
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
    /// Handles the start of a GC run: the owner loses the pages that are not moved. Wear levelling
    /// and refresh move all valid pages.
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
    /// Handles the start of a GC run that moves all valid pages: the owner loses only suspected
    /// pages.
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
    /// Returns a step before the erase of a plane's victim, whose pages have all been moved: the
    /// program of the owner's metadata page, or the wait for it. Returns `None` if no metadata page
    /// is due.
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
    /// Returns the owner of the pages.
    pub fn owner(&self) -> &O {
        &self.owner
    }
    /// Returns the pages, for reading.
    pub fn pages(&self) -> &Pages {
        &self.pages
    }
    /// Returns the owner and the pages, for changes.
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
    /// Returns a fixed limit: page numbers grow with the entries of the owner, and summaries are
    /// the only metadata.
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
    /// Allocates a page for a new copy. A page that was suspected before the write stays suspected,
    /// at its new location.
    #[inline]
    fn write(&mut self, page: Lpn) -> WriteOutcome {
        let written = self.pages.map.write(page);
        if self.pages.is_suspected(page) && self.lookup(page).is_some() {
            self.pages.suspect(page);
        }
        if let WriteOutcome::Placed(place) = written {
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
    /// Restores the pages that the owner claims. Suspected pages are not restored.
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery {
        self.recording.fill(Recording::Nothing);
        let claims = self.owner.recover(flash);
        let mut recovery = self.pages.map.rebuild_for(flash, &claims);
        recovery.pages_read += claims.pages_read;
        self.find_due(flash, &recovery.erase);
        self.pages.suspected = vec![0; self.pages.map.map.len()];
        recovery
    }
    /// Checks that the map is consistent, and that each suspected page is readable at its location
    /// and has no other copy.
    fn audit(&self) -> Result<(), String> {
        let Pages { map, suspected, .. } = &self.pages;
        for (page, place) in (0..).zip(suspected) {
            let Some(place) = place.checked_sub(1).map(Ppn) else {
                continue;
            };
            let held = map.owners.get(place) == Some(Lpn(page)) && !map.blocks.is_valid(place);
            if !held || map.lookup(Lpn(page)).is_some() {
                return Err(format!(
                    "page {page} is suspected at {}, but is not readable there or has another copy",
                    self.pages.layout.describe(place)
                ));
            }
        }
        map.audit()
    }
}
