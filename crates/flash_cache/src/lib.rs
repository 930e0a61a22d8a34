//! Flash cache in front of a backing store: a cache merged with the translation layer of its flash.
//!
//! Read hits are served from flash. Read misses are fetched from the backing store; when their data
//! arrives, the request completes (by default), and the admitted pages are programmed. Unless
//! writes stay in flash (see [`destage`]), they go to the backing store, and the cache invalidates
//! or updates its copies. Such a cache holds only clean pages, so that losing it loses no data (Xia
//! 2017, chapters 2 and 3). For errors of the tiers, see `errors`.

pub mod admission;
pub mod config;
pub mod destage;
mod errors;
pub mod event;
pub mod journal;
pub mod plan;
mod reads;
mod records;
mod recovery;
mod requests;
pub mod residents;
mod resize;
pub mod stats;
mod table;
mod tier;
mod versions;
mod waiting;
mod writes;

use std::collections::VecDeque;
use std::marker::PhantomData;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wordline_block::{BlockDevice, Busy, Completion, LatencyComponents, PowerCut, Request, Ticket};
use wordline_ftl::{Lpn, OwnedMap};
use wordline_host_link::Interface;
use wordline_kernel::memory::Table as MemoryTable;
use wordline_kernel::{Context, EventQueue, Probe, Since, Time};
use wordline_partition::Partitioning;
use wordline_ssd::Ssd;

use admission::Filter;
pub use config::Config;
use destage::Destage;
pub use event::{CachedError, Chosen, Event, Holding, Lists, Observation, Pages};
pub use plan::Plan;
use reads::Fetch;
use records::Demands;
use requests::Open;
pub use residents::Residents;
use resize::Division;
pub use stats::CacheStats;
use table::Table;
use tier::{Sub, Tier};
use versions::Versions;
use waiting::Waiting;

/// Flash of a cache.
pub type Flash = Ssd<OwnedMap<Residents>>;

/// Flash cache in front of the backing store `B`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "B: Serialize + DeserializeOwned")]
pub struct Cached<B: BlockDevice> {
    plan: Plan,
    flash: Flash,
    backing: B,
    filter: Filter,
    division: Division,
    /// Operations that wait until records are programmed.
    demands: Demands,
    in_flash: Tier,
    below: Tier,
    requests: Table<Open>,
    fetches: Table<Fetch>,
    /// Number of the fetch of each page, from the start of the fetch until the page is in flash.
    fetching: FxHashMap<u64, u32>,
    /// Number of writes in progress in either tier, by page.
    writing: FxHashMap<u64, u32>,
    /// Requests that wait for a write of one of their pages, in order of arrival.
    blocked: VecDeque<Ticket>,
    /// Groups of pages being destaged.
    destages: Table<Destage>,
    /// Latest destage, if it is still in progress.
    latest_destage: Option<u32>,
    /// Number of destages in progress that were not started on demand.
    in_background: u32,
    /// Whether pages are being cleaned until the share of dirty pages is low enough.
    is_cleaning: bool,
    /// Programs that wait, or have waited and are in progress.
    waiting: Table<Waiting>,
    /// Resident pages whose fill has not started yet.
    unfilled: FxHashSet<u64>,
    /// Evicted pages whose destage waits until the page's write in progress ends: destage number
    /// and flash copy, by page.
    stalled: FxHashMap<u64, (u32, Lpn)>,
    /// Pages whose latest content is lost. Reads of them end with an error until they are written
    /// as a whole. The set survives power cuts.
    lost: FxHashSet<u64>,
    /// Requests that have been served and wait only for GC.
    held: Vec<Ticket>,
    completions: Vec<Completion>,
    figures: CacheStats,
    /// Counters at the start of the measurement.
    before: Counted,
    versions: Option<Box<Versions>>,
    /// Events that a tier has scheduled, until they are moved to the owner's queue.
    #[serde(skip)]
    scheduled: Scheduled<B>,
    /// Operations that a tier has completed, until they are processed.
    #[serde(skip)]
    done: Vec<Done>,
}

/// Counters of a cache since its creation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Counted {
    figures: CacheStats,
    pages: residents::Counts,
    trainings: u32,
}

/// Events that the tiers have scheduled.
#[derive(Clone, Debug)]
struct Scheduled<B: BlockDevice> {
    flash: EventQueue<wordline_ssd::Event>,
    backing: EventQueue<B::Event>,
}

impl<B: BlockDevice> Default for Scheduled<B> {
    fn default() -> Self {
        Self {
            flash: EventQueue::default(),
            backing: EventQueue::default(),
        }
    }
}

/// Completed operation of a tier: the operation, its latency components, and whether it failed.
type Done = (Sub, LatencyComponents, bool);

/// Result type of the flash cache.
type Result<T, B> = std::result::Result<T, CachedError<<B as BlockDevice>::Error>>;

/// Simulation context of a flash cache.
type Instant<'a, 'c, B, P> = &'a mut Context<'c, Event<<B as BlockDevice>::Event>, P>;

/// Probe that forwards observations of the flash to the probe of the cache.
struct OfFlash<'a, P, O>(&'a mut P, PhantomData<O>);

impl<O: Copy, P: Probe<Observation<O>>> Probe<wordline_ssd::Observation> for OfFlash<'_, P, O> {
    const WANTS_FRAGMENTS: bool = P::WANTS_FRAGMENTS;
    #[inline(always)]
    fn wants_fragments(&self) -> bool {
        self.0.wants_fragments()
    }
    #[inline]
    fn observe(&mut self, now: Time, heard: wordline_ssd::Observation) {
        self.0.observe(now, Observation::Flash(heard));
    }
}

/// Probe that forwards observations of the backing store to the probe of the cache.
struct OfBacking<'a, P>(&'a mut P);

impl<O: Copy, P: Probe<Observation<O>>> Probe<O> for OfBacking<'_, P> {
    const WANTS_FRAGMENTS: bool = P::WANTS_FRAGMENTS;
    #[inline(always)]
    fn wants_fragments(&self) -> bool {
        self.0.wants_fragments()
    }
    #[inline]
    fn observe(&mut self, now: Time, heard: O) {
        self.0.observe(now, Observation::Backing(heard));
    }
}

impl<B: BlockDevice> Cached<B> {
    /// Creates an empty cache on a flash with the plan `device`, in front of `backing`. The cache
    /// is part of the controller: it accesses the flash without an interface, and limits the
    /// outstanding requests itself.
    pub fn new(plan: &Plan, device: &wordline_ssd::Plan, backing: B) -> Self {
        let device = &wordline_ssd::Plan {
            interface: Interface::default(),
            queue_depth: u32::MAX,
            buffer: None,
            ..device.clone()
        };
        let map = OwnedMap::new(&device.ftl, Residents::new(plan));
        Self {
            plan: plan.clone(),
            flash: Ssd::new(device, map),
            backing,
            filter: Filter::new(&plan.admission, plan.capacity as usize),
            division: Division::new(plan),
            demands: Demands::default(),
            in_flash: Tier::default(),
            below: Tier::default(),
            requests: Table::default(),
            fetches: Table::default(),
            fetching: FxHashMap::default(),
            writing: FxHashMap::default(),
            destages: Table::default(),
            latest_destage: None,
            in_background: 0,
            is_cleaning: false,
            waiting: Table::default(),
            unfilled: FxHashSet::default(),
            stalled: FxHashMap::default(),
            lost: FxHashSet::default(),
            blocked: VecDeque::new(),
            held: Vec::new(),
            completions: Vec::new(),
            figures: CacheStats::default(),
            before: Counted::default(),
            versions: None,
            scheduled: Scheduled::default(),
            done: Vec::new(),
        }
    }
    /// Returns the memory estimate of the cache, without its flash and its backing store.
    pub fn memory(plan: &Plan) -> Vec<MemoryTable> {
        let mut tables = Residents::memory(plan);
        tables.extend(Partitioning::memory(&plan.partition, &plan.space));
        tables
    }
    /// Enables verification: the version of every page served, from flash or from the backing
    /// store, is compared with the version written.
    pub fn verify(&mut self) {
        self.flash.verify();
        self.versions = Some(Box::default());
    }
    /// Returns the number of pages compared, or `None` if the run is not verified.
    pub fn checked(&self) -> Option<u64> {
        self.versions.as_ref().map(|versions| versions.checked())
    }
    /// Enables power cuts. Must be called before the first request.
    pub fn expect_power_cuts(&mut self) {
        self.flash.expect_power_cuts();
    }
    /// Cuts power again during the recovery of the flash, in the erase that follows the first
    /// `erases` erases of that recovery. Must be followed by [`BlockDevice::cut_power`]. Returns
    /// `false` if the recovery has too few erases.
    pub fn cut_recovery(&mut self, now: Time, erases: usize) -> Result<bool, B> {
        let cut = self.flash.cut_recovery(now, erases);
        cut.map_err(CachedError::Flash)
    }
    /// Returns the target sizes of the parts of the flash.
    pub fn chosen(&self) -> Chosen {
        self.division.chosen()
    }
    /// Returns `true` if the lists have not reached their target sizes yet.
    pub fn is_resizing(&self) -> bool {
        !self.division.is_settled()
    }
    /// Returns `true` if the cache is retired: its flash accepts no more programs, and nothing is
    /// restored from it after a power cut.
    pub fn is_retired(&self) -> bool {
        self.plan.journal.is_some() && self.residents().journal.is_none()
    }
    /// Returns the flash.
    pub fn flash(&self) -> &Flash {
        &self.flash
    }
    /// Returns the backing store.
    pub fn backing(&self) -> &B {
        &self.backing
    }
    /// Returns the index of pages in the cache.
    pub fn residents(&self) -> &Residents {
        self.flash.mapping().owner()
    }
    /// Returns the number of resident and dirty pages.
    #[inline]
    fn holding(&self) -> Holding {
        let residents = self.residents();
        Holding {
            resident: residents.len() as u32,
            dirty: residents.dirty(),
        }
    }
    /// Returns the victim model of the partition policy, if it has one. Counts trainings since the
    /// start of the measurement.
    pub fn learned(&self) -> Option<wordline_partition::Learned> {
        let learned = self.division.learned()?;
        Some(wordline_partition::Learned {
            trainings: learned.trainings - self.before.trainings,
            ..learned
        })
    }
    /// Returns the number of pages that left the cache, by reason, since the start of the
    /// measurement.
    pub fn page_counts(&self) -> residents::Counts {
        self.residents().counts().since(&self.before.pages)
    }
    /// Returns the counters since the start of the measurement.
    pub fn figures(&self) -> CacheStats {
        self.counted().figures.since(&self.before.figures)
    }
    fn counted(&self) -> Counted {
        let figures = CacheStats {
            divisions: self.division.changes,
            summaries: self.flash.mapping().summarized(),
            records: self
                .residents()
                .journal
                .as_ref()
                .map_or(self.figures.records, |journal| journal.programs()),
            ..self.figures
        };
        Counted {
            figures,
            pages: self.residents().counts(),
            trainings: self
                .division
                .learned()
                .map_or(0, |learned| learned.trainings),
        }
    }

    /// Calls `act` on the flash, and moves the events that it schedules to the owner's queue.
    #[inline]
    fn with_flash<T, P: Probe<Observation<B::Observation>>>(
        &mut self,
        cx: Instant<'_, '_, B, P>,
        act: impl FnOnce(
            &mut Flash,
            &mut Context<'_, wordline_ssd::Event, OfFlash<'_, P, B::Observation>>,
        ) -> std::result::Result<T, wordline_ssd::DeviceError>,
    ) -> Result<T, B> {
        let mut probe = OfFlash(&mut *cx.probe, PhantomData);
        let queue = &mut self.scheduled.flash;
        let mut within = Context::new(cx.now, queue, &mut probe);
        let done = act(&mut self.flash, &mut within).map_err(CachedError::Flash)?;
        while let Some((at, event)) = queue.pop() {
            cx.queue.schedule(at, Event::Flash(event));
        }
        Ok(done)
    }
    /// Calls `act` on the backing store, and moves the events that it schedules to the owner's
    /// queue.
    #[inline]
    fn with_backing<T, P: Probe<Observation<B::Observation>>>(
        &mut self,
        cx: Instant<'_, '_, B, P>,
        act: impl FnOnce(
            &mut B,
            &mut Context<'_, B::Event, OfBacking<'_, P>>,
        ) -> std::result::Result<T, B::Error>,
    ) -> Result<T, B> {
        let mut probe = OfBacking(&mut *cx.probe);
        let queue = &mut self.scheduled.backing;
        let mut within = Context::new(cx.now, queue, &mut probe);
        let done = act(&mut self.backing, &mut within).map_err(CachedError::Backing)?;
        while let Some((at, event)) = queue.pop() {
            cx.queue.schedule(at, Event::Backing(event));
        }
        Ok(done)
    }
    /// Submits a request to the flash, which accepts every request. At the end of its life the
    /// flash refuses programs immediately, and reuses their tickets for the next requests.
    #[inline]
    fn ask_flash(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        sub: Sub,
    ) -> Result<(), B> {
        let ticket = self.with_flash(cx, |flash, cx| flash.submit(cx, sub.request))?;
        self.in_flash.take(ticket, sub);
        if self.flash.has_completions() {
            self.take_from_flash();
        }
        Ok(())
    }
    /// Collects the completions of the flash.
    #[inline]
    fn take_from_flash(&mut self) {
        for done in self.flash.completions() {
            if let Some(sub) = self.in_flash.done(done.ticket) {
                self.done.push((sub, done.parts, done.failed));
            }
        }
    }
    /// Submits a request to the backing store, or queues it until the backing store accepts it.
    fn ask_below(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        sub: Sub,
    ) -> Result<(), B> {
        if !self.below.line.is_empty() || !self.backing.can_accept(sub.request.stream) {
            self.below.line.push_back(sub);
            return Ok(());
        }
        self.hand_down(cx, sub)
    }
    /// Submits a request to the backing store, which may complete it immediately and reuse its
    /// ticket for the next request.
    fn hand_down(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        sub: Sub,
    ) -> Result<(), B> {
        let ticket = self.with_backing(cx, |backing, cx| backing.submit(cx, sub.request))?;
        self.below.take(ticket, sub);
        if self.backing.has_completions() {
            self.take_from_below();
        }
        Ok(())
    }
    /// Collects the completions of the backing store.
    fn take_from_below(&mut self) {
        for done in self.backing.completions() {
            if let Some(sub) = self.below.done(done.ticket) {
                self.done.push((sub, done.parts, done.failed));
            }
        }
    }
    /// Submits queued requests while the backing store accepts them.
    fn feed(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        while let Some(sub) = self.below.line.front()
            && self.backing.can_accept(sub.request.stream)
            && let Some(sub) = self.below.line.pop_front()
        {
            self.hand_down(cx, sub)?;
        }
        Ok(())
    }
    /// Drops all requests to the backing store after a power failure, including those that the
    /// backing store has queued.
    fn cancel_below(&mut self) {
        for lost in self.backing.completions() {
            self.below.done(lost.ticket);
        }
        self.backing.cancel(&self.below.forget());
    }
    /// Returns `true` if GC of the flash is in progress and can finish.
    fn is_collecting(&self) -> bool {
        self.flash.is_collecting() && self.takes_programs()
    }
    /// Processes completions of the tiers, and those that result from them, until none is left.
    #[inline]
    fn settle(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        loop {
            if self.flash.has_completions() {
                self.take_from_flash();
            }
            if self.backing.has_completions() {
                self.take_from_below();
            }
            if self.done.is_empty() && (self.takes_programs() || !self.wind_up(cx)?) {
                break;
            }
            let mut done = std::mem::take(&mut self.done);
            for (sub, parts, failed) in &done {
                if *failed {
                    self.sub_failed(cx, sub, parts)?;
                } else {
                    self.sub_done(cx, sub, parts)?;
                }
            }
            done.clear();
            // Operations that have completed immediately are processed next.
            done.append(&mut self.done);
            self.done = done;
            self.feed(cx)?;
            if self.plan.marks.0 < 1.0 {
                self.clean(cx)?;
            }
            if !self.division.is_settled() {
                self.resize_in_idle_time(cx)?;
            }
        }
        if !self.held.is_empty() && !self.is_collecting() {
            self.release(cx);
        }
        Ok(())
    }
}

impl<B: BlockDevice> BlockDevice for Cached<B> {
    type Event = Event<B::Event>;
    type Observation = Observation<B::Observation>;
    type Error = CachedError<B::Error>;

    fn user_bytes(&self) -> u64 {
        self.backing.user_bytes()
    }
    fn begin_measuring(&mut self, now: Time) {
        self.flash.begin_measuring(now);
        self.backing.begin_measuring(now);
        self.before = self.counted();
    }
    fn can_accept(&self, _stream: u32) -> bool {
        (self.requests.len() as u32) < self.plan.queue_depth
    }
    #[inline]
    fn submit(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        request: Request,
    ) -> Result<Ticket, B> {
        request.fit(self.user_bytes())?;
        let ticket = self.requests.add(Open::new(request));
        cx.observe(Observation::Admitted {
            in_flight: self.requests.len() as u32,
        });
        let told = self.division.is_told();
        if told {
            self.tell_request();
        }
        self.begin(cx, ticket, &request)?;
        if told {
            self.divide(cx)?;
        }
        self.settle(cx)?;
        cx.observe_fragment(|| Observation::Held(self.holding()));
        Ok(ticket)
    }
    #[inline]
    fn handle(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        event: Self::Event,
    ) -> Result<(), B> {
        match event {
            Event::Flash(event) => self.with_flash(cx, |flash, cx| flash.handle(cx, event))?,
            Event::Backing(event) => {
                self.with_backing(cx, |backing, cx| backing.handle(cx, event))?;
            }
        }
        self.settle(cx)
    }
    #[inline]
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.drain(..)
    }
    #[inline]
    fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }
    /// Cuts the power of both tiers, which lose their operations in progress. With a journal, dirty
    /// pages are restored from flash. Clean pages are dropped.
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<PowerCut, B> {
        let residents = self.residents();
        let dirty = residents.dirty();
        let held = residents.len() as u32 + residents.leaving();
        let mut of_flash = OfFlash(&mut *probe, PhantomData);
        let cut = self.flash.cut_power(now, &mut of_flash);
        let mut all = cut.map_err(CachedError::Flash)?;
        let in_flash = self.volatile_in_flash(0..self.backing.user_bytes());
        let cut = self.backing.cut_power(now, &mut OfBacking(&mut *probe));
        let mut cut = cut.map_err(CachedError::Backing)?;
        cut.pages_lost = cut.pages_lost.saturating_sub(in_flash);
        all.join(&cut);
        self.flash.completions().for_each(drop);
        self.cancel_below();
        all.requests_lost = self.requests.len() as u32;
        all.clean_dropped = held - dirty;
        all.dirty_restored = self.residents().dirty();
        let keeps = self.plan.journal.is_some();
        all.pages_lost += if keeps { 0 } else { dirty };
        self.forget();
        if let Some(versions) = &mut self.versions {
            let restored = self.flash.mapping().owner();
            let pages = restored.dirty_pages();
            let pages = pages.map(|(page, copy)| (page, copy, restored.write_of(copy)));
            versions.cut(pages, keeps, &self.lost)?;
        }
        probe.observe(now, Observation::PowerCut(all));
        if probe.wants_fragments() {
            probe.observe(now, Observation::Held(self.holding()));
        }
        Ok(all)
    }
    fn volatile_pages(&self, offset: u64, bytes: u64) -> u32 {
        let below = self.backing.volatile_pages(offset, bytes);
        let below = below.saturating_sub(self.volatile_in_flash(offset..offset + bytes));
        below + self.unjournaled(offset, bytes)
    }
    /// Removes the requests with these tickets. After a power cut none is left, because the cut
    /// drops all requests.
    fn cancel(&mut self, tickets: &[Ticket]) {
        self.blocked
            .retain(|blocked| tickets.binary_search(blocked).is_err());
        for &ticket in tickets {
            self.requests.remove(ticket);
        }
    }
    fn resume(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
    ) -> Result<(), B> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method path would fix one lifetime"
        )]
        self.with_flash(cx, |flash, cx| flash.resume(cx))?;
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method path would fix one lifetime"
        )]
        self.with_backing(cx, |backing, cx| backing.resume(cx))?;
        self.let_go(cx, 0)?;
        self.settle(cx)
    }
    /// Slows down a die of the flash. The cache does not slow down dies of the backing store.
    fn slow_die(&mut self, die: u32, slowness: u32) -> bool {
        self.flash.slow_die(die, slowness)
    }
    fn die_backlog(&self, times: &mut Vec<Time>) {
        self.flash.die_backlog(times);
    }
    /// Appends the busy times of the flash. The backing store reports its own busy times.
    fn busy(&self, busy: &mut Busy) {
        self.flash.busy(busy);
    }
}
