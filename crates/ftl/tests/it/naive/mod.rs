//! Simple reference FTL, against which the real FTL is checked.
//!
//! The reference makes no decisions. It is given the decisions of the real FTL, and panics if one
//! of them breaks a rule. It computes all results by examining every page.
#![allow(dead_code)] // each test module uses only some of these items
#![allow(clippy::panic)] // test code, also outside test functions

use std::collections::{HashMap, HashSet};

use wordline_ftl::block::Phase;
use wordline_ftl::gc::victim::Victim;
use wordline_ftl::gc::victim::greedy::Ties;
use wordline_ftl::recovery::{Flash, Recovery};
use wordline_ftl::{
    Collection, Cost, GcKind, JobId, Lpn, Mapping, PageMap, Plan, SpaceRequest, Step, WriteOutcome,
};
use wordline_kernel::Rng;
use wordline_nand::{Array, Block, Layout, Plane, Ppn};

/// Content of a physical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// Erased page.
    Erased,
    /// Current copy of a logical page, and its version.
    Current(Lpn, u32),
    /// Page with a superseded copy.
    Stale,
}

/// All pages, the number of writes of each logical page, and the trimmed pages.
#[derive(Clone, Debug)]
pub struct Naive {
    layout: Layout,
    pages: Vec<Page>,
    versions: HashMap<Lpn, u32>,
    trimmed: HashSet<Lpn>,
    /// Full blocks without a GC run, in the order in which they became full.
    closed: Vec<Block>,
    /// Time at which each block's number of current pages last changed, or at which the block
    /// became full.
    changed: Vec<u64>,
    clock: u64,
    /// Whether the last page programmed in each block was a moved page.
    moved: Vec<bool>,
}

impl Naive {
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            pages: vec![Page::Erased; layout.pages() as usize],
            versions: HashMap::new(),
            trimmed: HashSet::new(),
            closed: Vec::new(),
            changed: vec![0; layout.blocks() as usize],
            clock: 0,
            moved: vec![false; layout.blocks() as usize],
        }
    }
    /// Returns the pages of a block.
    pub fn pages(&self, block: Block) -> &[Page] {
        let first = self.layout.page(block, 0).index();
        &self.pages[first..first + self.layout.pages_per_block as usize]
    }
    /// Returns the number of current pages of a block.
    pub fn current(&self, block: Block) -> usize {
        let current = |page: &&Page| matches!(page, Page::Current(..));
        self.pages(block).iter().filter(current).count()
    }
    /// Returns the number of programmed pages of a block.
    pub fn programmed(&self, block: Block) -> usize {
        let programmed = |page: &&Page| **page != Page::Erased;
        self.pages(block).iter().filter(programmed).count()
    }
    /// Iterates over the full blocks of a plane without a GC run, in the order in which they became
    /// full.
    pub fn closed(&self, plane: Plane) -> impl Iterator<Item = Block> {
        let here = move |block: &Block| self.layout.plane_of(*block) == plane;
        self.closed.iter().copied().filter(here)
    }
    /// Returns the blocks in use on a plane: the closed ones, oldest first; the host's active
    /// block; the active block of GC.
    pub fn in_use(&self, plane: Plane) -> [Vec<Block>; 3] {
        let active = |moved| {
            let blocks = 0..self.layout.blocks_per_plane;
            let blocks = blocks.map(|block| self.layout.block(plane, block));
            let open = 1..self.layout.pages_per_block as usize;
            let active = |block: &Block| {
                open.contains(&self.programmed(*block)) && self.moved[block.index()] == moved
            };
            blocks.filter(active).collect()
        };
        [self.closed(plane).collect(), active(false), active(true)]
    }
    /// Returns the time at which a block's number of current pages last changed, or at which the
    /// block became full.
    pub fn changed(&self, block: Block) -> u64 {
        self.changed[block.index()]
    }
    /// Returns the location and version of the current copy of a page, if it was written and not
    /// trimmed since.
    pub fn find(&self, page: Lpn) -> Option<(Ppn, u32)> {
        if self.trimmed.contains(&page) {
            return None;
        }
        let version = *self.versions.get(&page)?;
        let place = self
            .pages
            .iter()
            .position(|&held| held == Page::Current(page, version))
            .unwrap_or_else(|| panic!("version {version} of {page:?} is lost"));
        Some((Ppn(place as u32), version))
    }

    fn spoil(&mut self, place: Ppn) {
        self.pages[place.index()] = Page::Stale;
        self.changed[self.layout.block_of(place).index()] = self.clock;
    }
    fn program(&mut self, place: Ppn, page: Page) {
        let (block, offset) = (
            self.layout.block_of(place),
            self.layout.page_in_block(place),
        );
        assert_eq!(
            self.programmed(block),
            offset as usize,
            "{place:?} was programmed out of order"
        );
        assert_eq!(
            self.pages[place.index()],
            Page::Erased,
            "{place:?} was programmed twice"
        );
        self.pages[place.index()] = page;
        if offset + 1 == self.layout.pages_per_block {
            self.closed.push(block);
            self.changed[block.index()] = self.clock;
        }
    }
    /// Records a host write: the next version of `page` is at `place`.
    pub fn write(&mut self, page: Lpn, place: Ppn) {
        self.clock += 1;
        if let Some((old, _)) = self.find(page) {
            self.spoil(old);
        }
        self.trimmed.remove(&page);
        let version = self.versions.entry(page).or_default();
        *version += 1;
        let content = Page::Current(page, *version);
        self.program(place, content);
        self.moved[self.layout.block_of(place).index()] = false;
    }
    /// Records a TRIM of `page`.
    pub fn trim(&mut self, page: Lpn) {
        self.clock += 1;
        if let Some((old, _)) = self.find(page) {
            self.spoil(old);
            self.trimmed.insert(page);
        }
    }
    /// Records the start of a GC run.
    pub fn collect(&mut self, victim: Block) {
        let position = self.closed.iter().position(|&block| block == victim);
        let position = position.unwrap_or_else(|| panic!("{victim:?} is not a closed block"));
        self.closed.remove(position);
    }
    /// Records that GC copied a page from `from` to `to`.
    pub fn relocate(&mut self, from: Ppn, to: Ppn) {
        self.clock += 1;
        let content = self.pages[from.index()];
        assert!(
            matches!(content, Page::Current(..)),
            "{from:?} was moved, but contains {content:?}"
        );
        self.spoil(from);
        self.program(to, content);
        self.moved[self.layout.block_of(to).index()] = true;
    }
    /// Records the erase of a block.
    pub fn erase(&mut self, block: Block) {
        assert_eq!(
            self.current(block),
            0,
            "{block:?} was erased with current pages"
        );
        assert_eq!(
            self.programmed(block),
            self.layout.pages_per_block as usize,
            "{block:?} was erased before it was full"
        );
        let first = self.layout.page(block, 0).index();
        self.pages[first..first + self.layout.pages_per_block as usize].fill(Page::Erased);
    }

    /// Compares `map` and `array` with the reference, once all operations are complete.
    pub fn compare(&self, map: &PageMap, array: &Array) {
        self.compare_books(map);
        for block in (0..self.layout.blocks()).map(Block) {
            assert_eq!(array.programmed(block) as usize, self.programmed(block));
        }
    }
    /// Compares `map` with the reference.
    pub fn compare_books(&self, map: &PageMap) {
        if let Err(fault) = map.audit() {
            panic!("{fault}");
        }
        for page in (0..map.user_pages()).map(Lpn) {
            let place = self.find(page).map(|(place, _)| place);
            assert_eq!(map.lookup(page), place, "{page:?}");
        }
        let mut counts = [0; 3];
        for page in &self.pages {
            counts[match page {
                Page::Current(..) => 0,
                Page::Stale => 1,
                Page::Erased => 2,
            }] += 1;
        }
        assert_eq!(counts.iter().sum::<u32>(), self.layout.pages());
        assert_eq!(counts[0] as usize, self.versions.len() - self.trimmed.len());
        assert_eq!(u64::from(counts[0]), map.valid_pages());
        let planes = (0..self.layout.planes()).map(Plane);
        let free: u32 = planes.map(|plane| self.compare_plane(map, plane)).sum();
        assert_eq!(map.free_blocks(), free);
    }
    /// Compares a plane. Returns the number of its free blocks.
    fn compare_plane(&self, map: &PageMap, plane: Plane) -> u32 {
        let mut free = 0;
        for block in (0..self.layout.blocks_per_plane).map(|block| self.layout.block(plane, block))
        {
            assert_eq!(map.valid(block) as usize, self.current(block));
            let phase = match self.programmed(block) {
                0 => Phase::Free,
                n if n < self.layout.pages_per_block as usize => Phase::Active,
                _ if self.closed.contains(&block) => Phase::Closed,
                _ => Phase::Victim,
            };
            assert_eq!(map.blocks().phase(block), phase, "{block:?}");
            free += u32::from(phase == Phase::Free);
        }
        assert_eq!(map.free_blocks_of(plane), free);
        free
    }
}

/// Reference implementation of a victim policy, which examines every page.
#[derive(Clone, Debug)]
enum Twin {
    Greedy(Ties),
    Fifo,
    Drawn(Drawn),
}

/// Selection by random draws: of `draws` candidates drawn, the first with the fewest current pages.
#[derive(Clone, Debug)]
struct Drawn {
    draws: u32,
    random: Rng,
    /// Full blocks per plane, in the order in which they became full. If a block is removed, the
    /// last one takes its place.
    candidates: HashMap<Plane, Vec<Block>>,
}

impl Drawn {
    fn twin(draws: u32, seed: u64, stream: &str) -> Twin {
        Twin::Drawn(Self {
            draws,
            random: Rng::new(seed, stream),
            candidates: HashMap::new(),
        })
    }
    fn choose(&mut self, naive: &Naive, plane: Plane) -> Option<Block> {
        let here = self.candidates.entry(plane).or_default();
        let new: Vec<Block> = naive
            .closed(plane)
            .filter(|block| !here.contains(block))
            .collect();
        here.extend(new);
        let draws = (0..self.draws).map(|_| self.random.below(here.len() as u64) as usize);
        let best = draws.min_by_key(|&place| naive.current(here[place]))?;
        Some(here.swap_remove(best))
    }
}

impl Twin {
    /// Creates the reference implementation of a victim policy; every policy must have one.
    fn of(victim: &Victim, seed: u64) -> Self {
        #[allow(unreachable_patterns)] // a new policy has no reference yet
        match victim {
            Victim::Greedy(policy) => Self::Greedy(policy.ties),
            Victim::Fifo(_) => Self::Fifo,
            Victim::Random(_) => Drawn::twin(1, seed, "gc.victim.random"),
            Victim::DChoices(policy) => Drawn::twin(policy.d, seed, "gc.victim.d-choices"),
            other => panic!(
                "victim policy {} has no reference; add one here",
                other.name()
            ),
        }
    }
    /// Returns the next victim of a plane, which must have a full block. Called before the victim
    /// is removed from the closed blocks.
    fn choose(&mut self, naive: &Naive, plane: Plane) -> Option<Block> {
        match self {
            Self::Greedy(ties) => {
                let longest = |block: &Block| (naive.current(*block), naive.changed[block.index()]);
                let least = naive.closed(plane).map(|block| naive.current(block)).min();
                let fewest = naive
                    .closed(plane)
                    .filter(|block| Some(naive.current(*block)) == least);
                match ties {
                    Ties::Longest => fewest.min_by_key(longest),
                    // Among blocks that changed at the same time, the one that became full last.
                    Ties::Shortest => fewest.max_by_key(longest),
                }
            }
            Self::Fifo => naive.closed(plane).next(),
            Self::Drawn(drawn) => drawn.choose(naive, plane),
        }
    }
}

/// Page map together with its reference, which checks each call.
#[derive(Clone, Debug)]
pub struct CheckedMap {
    pub map: PageMap,
    pub naive: Naive,
    twin: Twin,
}

impl CheckedMap {
    pub fn new(plan: &Plan) -> Self {
        Self {
            map: PageMap::new(plan),
            naive: Naive::new(plan.layout),
            twin: Twin::of(&plan.config.gc.victim, plan.seed),
        }
    }
}

impl Mapping for CheckedMap {
    fn user_pages(&self) -> u32 {
        self.map.user_pages()
    }
    fn free_blocks(&self) -> u32 {
        self.map.free_blocks()
    }
    fn free_blocks_of(&self, plane: Plane) -> u32 {
        self.map.free_blocks_of(plane)
    }
    fn valid_pages(&self) -> u64 {
        self.map.valid_pages()
    }
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        self.map.home_plane(page)
    }
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.map.lookup(page)
    }
    fn write(&mut self, page: Lpn) -> WriteOutcome {
        let written = self.map.write(page);
        if let WriteOutcome::Placed(place) = written {
            self.naive.write(page, place);
        }
        written
    }
    fn trim(&mut self, page: Lpn) {
        self.map.trim(page);
        self.naive.trim(page);
    }
    fn wants_collection(&self, plane: Plane) -> bool {
        self.map.wants_collection(plane)
    }
    fn lacks_room(&self, plane: Plane) -> bool {
        self.map.lacks_room(plane)
    }
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection> {
        let collection = self.map.collect(want)?;
        let SpaceRequest::Free(plane) = want else {
            panic!("{want:?} starts {collection:?}");
        };
        assert_eq!(collection.job, JobId::of(plane));
        assert_eq!(collection.kind, GcKind::Move);
        let victim = self.map.victim(plane);
        let victim = victim.unwrap_or_else(|| panic!("{collection:?} has no victim"));
        assert_eq!(self.naive.layout.plane_of(victim), plane);
        assert_eq!(
            self.twin.choose(&self.naive, plane),
            Some(victim),
            "{:?}",
            self.twin
        );
        self.naive.collect(victim);
        Some(collection)
    }
    fn is_over(&self, job: JobId) -> bool {
        self.map.is_over(job)
    }
    fn step(&mut self, job: JobId) -> Step {
        let victim = self.map.victim(Plane(job.0));
        let step = self.map.step(job);
        match step {
            Step::Move(from) => {
                assert_eq!(Some(self.naive.layout.block_of(from)), victim);
                let held = self.naive.pages[from.index()];
                assert!(
                    matches!(held, Page::Current(..)),
                    "{from:?} contains {held:?}"
                );
            }
            Step::Erase(block) => assert_eq!(Some(block), victim),
            Step::Wait => {}
            Step::Done => assert_eq!(victim, None),
            Step::Read(_) | Step::Program { .. } => panic!("page mapping issued {step:?}"),
        }
        step
    }
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn> {
        let to = self.map.relocate(job, from);
        let current = matches!(self.naive.pages[from.index()], Page::Current(..));
        assert_eq!(to.is_some(), current, "{from:?}");
        if let Some(to) = to {
            assert_eq!(
                self.naive.layout.plane_of(self.naive.layout.block_of(to)),
                self.naive.layout.plane_of(self.naive.layout.block_of(from)),
                "a page was moved to another plane"
            );
            self.naive.relocate(from, to);
        }
        to
    }
    fn erased(&mut self, block: Block, erases: u32) {
        self.map.erased(block, erases);
        self.naive.erase(block);
    }
    fn full(&self, plane: Plane) -> Option<SpaceRequest> {
        self.map.full(plane)
    }
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
        self.map.shortage(plane, writes)
    }
    fn cost(&self, want: SpaceRequest) -> Cost {
        self.map.cost(want)
    }
    fn recover(&mut self, _flash: &Flash<'_>) -> Recovery {
        panic!("the reference does not support power cuts")
    }
    fn audit(&self) -> Result<(), String> {
        self.map.audit()
    }
}
