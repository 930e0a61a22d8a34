//! Page mapping with a demand-cached map in flash (DFTL).

mod area;
mod cache;
mod frozen;
mod job;
mod recover;
mod segmented_lru;
mod shape;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Die, Plane, Ppn};

use self::area::{Area, Room};
use self::cache::Cache;
use self::frozen::Frozen;
use self::job::TranslationJob;
pub use self::shape::Shape;
use super::page::{Demand, PageMap};
use super::{Abilities, Build, MapCache, Mapping, SpaceRequest, WriteOutcome};
use crate::allocate::Order;
use crate::job::{Collection, Cost, JobId, Step};
use crate::lpn::Lpn;
use crate::plan::{Plan, PlanError};
use crate::recovery::{Flash, Recovery};

/// Any logical page may be in any physical page, as with page mapping, but the map is in flash.
/// Translation pages each hold the entries of consecutive logical pages. DRAM contains a cache of
/// map entries and the locations of the translation pages.
///
/// A look-up costs nothing if the entry is in the cache; otherwise it costs the read of its
/// translation page. The eviction of an entry costs nothing if its translation page is up to date.
/// Otherwise that page is read (unless it was never written) and programmed before the request
/// continues; other changed entries of the translation page are written with it. A write changes
/// the entry in the cache. A GC run moves pages within their plane. It changes the entries of moved
/// pages in the cache if they are there; otherwise it reads and programs their translation pages,
/// each once, before it erases its block.
///
/// Translation pages go to the planes in turn, by their number. They have a fixed number of
/// separate blocks per plane, and wear levelling treats these blocks like all others. When less
/// than one block of free pages is left in them, the next job that writes a translation page there
/// first cleans the block with the fewest current translation pages: these are read and programmed
/// elsewhere, and the block is erased. If that is impossible because other jobs are using the
/// blocks, the entry to be evicted stays, and the cache temporarily exceeds its size.
///
/// When bad blocks have made the device read-only, the cache keeps its entries. A look-up of any
/// other entry reads its translation page, which stays in memory until the next translation page is
/// read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dftl {
    /// Memory for the cache. A cached entry takes twice `entry_bytes`: for the logical page and its
    /// physical address. By default, the cache has room for one in 32 map entries. Bytes.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_000_u64))]
    pub cache_bytes: Option<u64>,
    /// Size of a map entry in a translation page. Bytes.
    #[schemars(range(min = 1, max = 65_536))]
    pub entry_bytes: u32,
    /// Share of the cache for entries that have been used again since their fetch (segmented LRU).
    /// The least recently used of the other entries is evicted; with 0, the least recently used of
    /// all. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub protected_ratio: f64,
    /// Whether the eviction of an entry writes all changed entries of its translation page that are
    /// in the cache. Otherwise only evicted entries are written.
    pub batch_update: bool,
    /// Spare room for translation pages, as a share of the valid translation pages. Each plane
    /// reserves as many blocks as its valid translation pages and the spare room fill, rounded down,
    /// plus two. Ratio.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub spare_ratio: f64,
}

impl Default for Dftl {
    fn default() -> Self {
        Self {
            cache_bytes: None,
            entry_bytes: 4,
            protected_ratio: 0.0,
            batch_update: true,
            spare_ratio: 0.25,
        }
    }
}

impl Cited for Dftl {
    const PAPER: &'static str = "A. Gupta, Y. Kim and B. Urgaonkar, DFTL: a flash translation layer employing demand-based selective caching of page-level address mappings, ASPLOS 2009";
}

impl Build for Dftl {
    type Map = DftlMap;
    fn abilities(&self) -> Abilities {
        Abilities {
            whole_blocks: true,
            ..Abilities::default()
        }
    }
    fn metadata_blocks(&self, plan: &Plan) -> u32 {
        self.shape(plan).blocks
    }
    fn check(&self, plan: &Plan) -> Result<(), PlanError> {
        self.check_parameters(plan.page_bytes)?;
        let blocks = self.metadata_blocks(plan);
        let demand = Demand::of(plan, blocks)?;
        if demand.fits(plan) {
            return Ok(());
        }
        Err(PlanError {
            key: "ftl.over_provisioning_ratio",
            reason: format!(
                "of the {} blocks of a plane, user pages fill {}, translation pages need \
                 {blocks}, and garbage collection needs {}",
                plan.layout.blocks_per_plane, demand.filled, demand.collection
            ),
            remedy: "raise ftl.over_provisioning_ratio, lower ftl.gc.start_free_ratio or ftl.mapping.dftl.spare_ratio, or \
                     give a plane more blocks"
                .into(),
        })
    }
    fn memory(&self, plan: &Plan, fill: Fill) -> Vec<Table> {
        let shape = self.shape(plan);
        let pages = u64::from(shape.pages);
        let mut tables = PageMap::memory(plan, shape.pages, fill);
        tables.push(Table::written::<TranslationJob>(
            "translation jobs",
            u64::from(plan.layout.planes()) + pages,
        ));
        tables.push(Table::zeroed::<bool>(
            "rewritten translation pages",
            pages,
            0.0,
        ));
        tables.extend(Cache::memory(
            plan.user_pages,
            shape.protected_entries,
            fill,
        ));
        tables
    }
    fn build(&self, plan: &Plan) -> DftlMap {
        DftlMap::new(plan, self.shape(plan))
    }
}

/// Maximum number of entries that a miss evicts: one to make room, and one more if the cache
/// exceeds its size.
const EVICTIONS_OF_A_MISS: u32 = 2;

/// Page-mapped flash translation layer with a demand-cached map.
///
/// The map is stored like that of page mapping; translation pages are logical pages numbered after
/// those of the host. The state of the cache is stored separately. All tables together take 17
/// bytes per page used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DftlMap {
    pages: PageMap,
    user_pages: u32,
    shape: Shape,
    cache: Cache,
    /// Translation blocks of each plane.
    areas: Vec<Area>,
    /// Planes in the order in which translation pages use them.
    order: Vec<Plane>,
    /// Translation jobs: first of the GC run of each plane, then of the fetch of each translation
    /// page.
    jobs: Vec<TranslationJob>,
    /// For each translation page: whether a job will rewrite it.
    rewriting: Vec<bool>,
    /// State of map reads on a read-only device.
    frozen: Option<Box<Frozen>>,
    plan: Box<Plan>,
}

impl DftlMap {
    fn new(plan: &Plan, shape: Shape) -> Self {
        let planes = plan.layout.planes() as usize;
        let pages = shape.pages as usize;
        let (entries, protected) = (shape.cache_entries, shape.protected_entries);
        Self {
            pages: PageMap::with_metadata(plan, shape.pages, shape.blocks),
            user_pages: plan.user_pages,
            shape,
            cache: Cache::new(plan.user_pages, entries, protected),
            areas: vec![Area::default(); planes],
            order: Order::default().planes(plan.dimensions),
            jobs: vec![TranslationJob::default(); planes + pages],
            rewriting: vec![false; pages],
            frozen: None,
            plan: Box::new(plan.clone()),
        }
    }
    /// Returns the plane of a translation page.
    fn home(&self, label: u32) -> Plane {
        self.order[label as usize % self.order.len()]
    }
    /// Returns the translation page that holds the entry of a page.
    #[inline]
    fn label(&self, page: u32) -> u32 {
        page / self.shape.entries
    }
    /// Returns the pages whose entries are in a translation page.
    fn entries(&self, label: u32) -> std::ops::Range<u32> {
        let first = label * self.shape.entries;
        first
            ..self
                .user_pages
                .min(first.saturating_add(self.shape.entries))
    }
    /// Returns the location of the current copy of a translation page, or `None` if it was never
    /// written.
    fn directory(&self, label: u32) -> Option<Ppn> {
        self.pages.lookup(Lpn(self.user_pages + label))
    }
    fn fetch_of(&self, label: u32) -> JobId {
        JobId(self.layout().planes() + label)
    }
    fn layout(&self) -> wordline_nand::Layout {
        self.plan.layout
    }

    /// Handles a map look-up for `page`, whose entry is not in memory. Returns the job that fetches
    /// the entry, or `None` if no job has to run. `update` is `true` for a write that will be
    /// placed.
    #[cold]
    fn miss(&mut self, page: u32, update: bool) -> Option<JobId> {
        let label = self.label(page);
        let id = self.fetch_of(label);
        let awaited = self.cache.is_awaited(page);
        if awaited && self.jobs[id.index()].fetches(page) {
            self.cache.wait(page);
            return Some(id);
        }
        self.cache.counts.misses += 1;
        for _ in 0..EVICTIONS_OF_A_MISS {
            if !self.cache.is_full() || !self.evict_one(id) {
                break;
            }
        }
        let on_flash = self.directory(label).is_some();
        let job = &mut self.jobs[id.index()];
        if !job.is_begun() && !on_flash && !job.has_rewrites() {
            self.cache.insert(page);
            self.cache.begin(page, update);
            return None;
        }
        job.fetch_entry(page, on_flash);
        self.cache.expect();
        self.cache.wait(page);
        Some(id)
    }
    /// Evicts an entry; if its translation page must be rewritten, job `id` rewrites it. Returns
    /// `false` if no entry can be evicted.
    fn evict_one(&mut self, id: JobId) -> bool {
        let Some(page) = self.cache.next_victim(|page| self.may_leave(page)) else {
            return false;
        };
        if self.cache.evict(page) {
            self.rewrite_later(self.label(page), id);
        }
        true
    }
    /// Returns `true` if the entry may be evicted, because it is unchanged or its change can be
    /// written.
    fn may_leave(&self, page: u32) -> bool {
        let label = self.label(page);
        if !self.cache.is_dirty(page) || self.rewriting[label as usize] {
            return true;
        }
        let home = self.home(label);
        self.areas[home.index()].room(home, &self.pages) != Room::None
    }
    /// Requests the rewrite of a translation page by job `id`, unless another job will rewrite it.
    fn rewrite_later(&mut self, label: u32, id: JobId) {
        let rewriting = &mut self.rewriting[label as usize];
        if !*rewriting {
            *rewriting = true;
            self.jobs[id.index()].rewrite_later(label);
        }
    }
    /// Returns the number of blocks of a plane that contain translation pages or are kept for them.
    fn owned_blocks(&self, plane: Plane) -> u32 {
        self.areas[plane.index()].blocks() + self.pages.kept(plane)
    }
    /// Returns the expected number of translation pages rewritten per page that GC moves.
    fn rewritten_per_move(&self) -> f64 {
        let cached = f64::from(self.shape.cache_entries) / f64::from(self.user_pages.max(1));
        (1.0 - cached).max(0.0)
    }
}

impl Mapping for DftlMap {
    fn user_pages(&self) -> u32 {
        self.user_pages
    }
    /// Returns the number of free blocks, excluding those kept for translation pages.
    #[inline]
    fn free_blocks(&self) -> u32 {
        self.pages.free_blocks()
    }
    #[inline]
    fn free_blocks_of(&self, plane: Plane) -> u32 {
        self.pages.free_blocks_of(plane)
    }
    fn valid_pages(&self) -> u64 {
        self.pages.valid_pages()
    }
    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.pages.lookup(page)
    }
    #[inline]
    fn home_plane(&self, page: Lpn) -> Option<Plane> {
        self.pages.home_plane(page)
    }
    fn set_die_loads(&mut self, work: impl Fn(Die) -> Time) {
        self.pages.set_die_loads(work);
    }
    #[inline]
    fn fetch(&mut self, page: Lpn, update: bool) -> Option<JobId> {
        if self.frozen.is_some() {
            return self.fetch_frozen(page.0);
        }
        if self.cache.is_in_memory(page.0) {
            self.cache.hit(page.0, update);
            return None;
        }
        self.miss(page.0, update)
    }
    fn map_cache(&self) -> Option<MapCache> {
        Some(self.cache.counts)
    }
    fn write(&mut self, page: Lpn) -> WriteOutcome {
        let written = self.pages.write(page);
        if let WriteOutcome::Placed(_) = written {
            self.cache.change(page.0);
        }
        written
    }
    fn trim(&mut self, page: Lpn) {
        if self.pages.lookup(page).is_none() {
            return self.cache.leave(page.0);
        }
        self.pages.trim(page);
        self.cache.change(page.0);
    }
    #[inline]
    fn wants_collection(&self, plane: Plane) -> bool {
        self.pages.wants_collection(plane)
    }
    fn collect(&mut self, want: SpaceRequest) -> Option<Collection> {
        self.pages.collect(want)
    }
    fn refresh(&mut self, block: Block) -> Option<Collection> {
        self.pages.refresh(block)
    }
    fn is_spent(&self, block: Block) -> bool {
        self.pages.is_spent(block)
    }
    fn clear(&mut self, block: Block) -> Option<Collection> {
        self.pages.clear(block)
    }
    /// Returns `None` for a page that is not mapped.
    fn trim_through(&mut self, page: Lpn) -> Option<JobId> {
        self.pages.lookup(page)?;
        self.pages.trim(page);
        self.cache.unmapped(page.0, self.shape.batch_update);
        let label = self.label(page.0);
        let id = self.fetch_of(label);
        self.rewriting[label as usize] = true;
        self.jobs[id.index()].rewrite_once(label);
        Some(id)
    }
    fn is_over(&self, job: JobId) -> bool {
        if job.0 < self.layout().planes() {
            return self.pages.is_over(job);
        }
        self.jobs[job.index()].is_over()
    }
    fn step(&mut self, job: JobId) -> Step {
        if job.0 < self.layout().planes() {
            return self.step_collection(job);
        }
        if self.frozen.is_some() {
            return self.step_frozen(job);
        }
        self.step_fetch(job)
    }
    fn freeze(&mut self) {
        self.frozen.get_or_insert_default();
    }
    fn retired(&mut self, block: Block) {
        self.pages.retired(block);
    }
    fn relocate(&mut self, job: JobId, from: Ppn) -> Option<Ppn> {
        let to = self.pages.relocate(job, from)?;
        let page = self.pages.owners.get_stored(to)?.0;
        if self.cache.moved(page) {
            self.rewrite_later(self.label(page), job);
        }
        Some(to)
    }
    fn erased(&mut self, block: Block, erases: u32) {
        let plane = self.layout().plane_of(block);
        if self.is_of_map(block) {
            self.areas[plane.index()].erased();
            let kept = self.owned_blocks(plane) < self.shape.blocks;
            self.pages.metadata_erased(block, erases, kept);
            return;
        }
        self.pages.erased(block, erases);
        if self.owned_blocks(plane) < self.shape.blocks {
            self.pages.keep(plane);
        }
    }
    fn delayed(&self, plane: Plane) -> Option<SpaceRequest> {
        self.pages.delayed(plane)
    }
    fn full(&self, plane: Plane) -> Option<SpaceRequest> {
        self.pages.full(plane)
    }
    fn shortage(&self, plane: Plane, writes: &[(Lpn, u32)]) -> Option<SpaceRequest> {
        let of_host = |&(first, pages): &(Lpn, u32)| {
            let left = self.user_pages.saturating_sub(first.0);
            (first, pages.min(left))
        };
        let writes: Vec<(Lpn, u32)> = writes.iter().map(of_host).collect();
        self.pages.shortage(plane, &writes)
    }
    /// Returns the cost of page mapping, plus one translation page for each moved page whose entry
    /// is not in the cache.
    fn cost(&self, want: SpaceRequest) -> Cost {
        let cost = self.pages.cost(want);
        let rewritten = (f64::from(cost.pages) * self.rewritten_per_move()) as u32;
        Cost {
            metadata_pages: rewritten.min(self.shape.pages),
            ..cost
        }
    }
    fn recover(&mut self, flash: &Flash<'_>) -> Recovery {
        self.read_again(flash)
    }
    fn audit(&self) -> Result<(), String> {
        self.pages.audit()?;
        self.cache.audit()?;
        self.audit_rewrites()?;
        (0..self.layout().planes()).try_for_each(|plane| self.audit_area(Plane(plane)))
    }
}

impl DftlMap {
    fn audit_rewrites(&self) -> Result<(), String> {
        let lost =
            |page: &u32| self.cache.is_owed(*page) && !self.rewriting[self.label(*page) as usize];
        match (0..self.user_pages).find(lost) {
            Some(page) => Err(format!(
                "the map entry of page {page} has changed, but no job writes it"
            )),
            None => Ok(()),
        }
    }
    fn audit_area(&self, plane: Plane) -> Result<(), String> {
        let area = &self.areas[plane.index()];
        let of_plane = |block| self.layout().block(plane, block);
        let blocks = (0..self.layout().blocks_per_plane).map(of_plane);
        let found = blocks.filter(|block| self.is_of_map(*block)).count() as u32;
        if found != area.blocks() {
            return Err(format!(
                "plane {}: {found} blocks hold translation pages, but the counter is {}",
                plane.0,
                area.blocks()
            ));
        }
        let (left, reserved) = (area.left(plane, &self.pages), area.reserved());
        if reserved > left {
            return Err(format!(
                "plane {}: {reserved} translation pages are reserved, but only {left} fit",
                plane.0
            ));
        }
        Ok(())
    }
}
