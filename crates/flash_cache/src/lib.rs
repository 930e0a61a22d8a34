//! Flash in front of another store: a read cache merged with the translation layer of its flash.
//!
//! A page that is read and found in flash is read there. Pages that are not are read from below, the host is
//! answered, and they are programmed. Writes go below; what the cache holds of them it forgets or updates. It holds clean
//! pages only, so that nothing is ever lost with it (Xia 2017, chapters 2 and 3). Where writes stay in flash, see [`destage`]; where a
//! tier errs, `errors`.

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
use wordline_block::{BlockDevice, Busy, Completion, Parts, PowerCut, Request, Ticket};
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

/// The flash of a cache.
pub type Flash = Ssd<OwnedMap<Residents>>;

/// Flash before `B`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "B: Serialize + DeserializeOwned")]
pub struct Cached<B: BlockDevice> {
    plan: Plan,
    flash: Flash,
    backing: B,
    filter: Filter,
    division: Division,
    /// What waits for records.
    demands: Demands,
    in_flash: Tier,
    below: Tier,
    requests: Table<Open>,
    fetches: Table<Fetch>,
    /// By page: the fetch that brings it, until it is in flash.
    fetching: FxHashMap<u64, u32>,
    /// Pages with writes under way in either tier, and how many.
    writing: FxHashMap<u64, u32>,
    /// Requests that wait for the end of a write, in their order.
    blocked: VecDeque<Ticket>,
    /// Groups of pages that are destaged.
    destages: Table<Destage>,
    /// The one that began last, if it is under way.
    latest_destage: Option<u32>,
    /// Those that no program waits for.
    in_background: u32,
    /// Whether pages are cleaned until few enough are dirty.
    is_cleaning: bool,
    /// Programs that wait.
    waiting: Table<Waiting>,
    /// Resident pages whose fill waits.
    unfilled: FxHashSet<u64>,
    /// Pages that are to be destaged and are still being written: their destage, and their copy.
    stalled: FxHashMap<u64, (u32, Lpn)>,
    /// Pages whose newest content nothing holds any more: reads of them end with an error until they are written as a whole. They survive
    /// power cuts.
    lost: FxHashSet<u64>,
    /// Requests that are done but for the collections that they have caused.
    held: Vec<Ticket>,
    completions: Vec<Completion>,
    figures: CacheStats,
    /// When measuring began.
    before: Counted,
    versions: Option<Box<Versions>>,
    /// What a tier schedules, before it is put into the owner's queue.
    #[serde(skip)]
    scheduled: Scheduled<B>,
    /// What a tier has completed, before it is dealt with.
    #[serde(skip)]
    done: Vec<Done>,
}

/// Counts of a cache since the start.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Counted {
    figures: CacheStats,
    pages: residents::Counts,
    trainings: u32,
}

/// What the tiers schedule.
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

/// What a tier has completed: what was asked, where its time went, and whether it ended with an error.
type Done = (Sub, Parts, bool);

/// How a cached store fails.
type Result<T, B> = std::result::Result<T, CachedError<<B as BlockDevice>::Error>>;

/// The instant of a cached store.
type Instant<'a, 'c, B, P> = &'a mut Context<'c, Event<<B as BlockDevice>::Event>, P>;

/// Tells the probe what is heard of the flash.
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

/// Tells the probe what is heard of the store below.
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
    /// An empty cache of `device`, whose translation layer is its plan's, before `backing`. The cache is in the controller: it
    /// reaches the flash through no interface, and bounds the requests itself.
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
    /// What it takes of memory beside its flash and the store behind it.
    pub fn memory(plan: &Plan) -> Vec<MemoryTable> {
        let mut tables = Residents::memory(plan);
        tables.extend(Partitioning::memory(&plan.partition, &plan.space));
        tables
    }
    /// From now on, every page that is served, from flash or from below, is compared with what was written.
    pub fn verify(&mut self) {
        self.flash.verify();
        self.versions = Some(Box::default());
    }
    /// Pages served that were compared, if the run is verified.
    pub fn checked(&self) -> Option<u64> {
        self.versions.as_ref().map(|versions| versions.checked())
    }
    /// From now on the power can fail; to be called before the first request.
    pub fn expect_power_cuts(&mut self) {
        self.flash.expect_power_cuts();
    }
    /// The power fails, and again while the flash recovers: behind so many erases of that recovery, during the next of them, if there are
    /// so many. To be followed by [`BlockDevice::cut_power`]; whether there were.
    pub fn cut_recovery(&mut self, now: Time, erases: usize) -> Result<bool, B> {
        let cut = self.flash.cut_recovery(now, erases);
        cut.map_err(CachedError::Flash)
    }
    /// The sizes into which its flash is to be divided.
    pub fn chosen(&self) -> Chosen {
        self.division.chosen()
    }
    /// Whether its lists have other sizes than are wanted.
    pub fn is_resizing(&self) -> bool {
        !self.division.is_settled()
    }
    /// Whether its flash takes no programs any more and has nothing to come back after a power cut.
    pub fn is_retired(&self) -> bool {
        self.plan.journal.is_some() && self.residents().journal.is_none()
    }
    /// The flash, to look at.
    pub fn flash(&self) -> &Flash {
        &self.flash
    }
    /// The store below, to look at.
    pub fn backing(&self) -> &B {
        &self.backing
    }
    /// The pages that it holds, to look at.
    pub fn residents(&self) -> &Residents {
        self.flash.mapping().owner()
    }
    /// How many pages it holds.
    #[inline]
    fn holding(&self) -> Holding {
        let residents = self.residents();
        Holding {
            resident: residents.len() as u32,
            dirty: residents.dirty(),
        }
    }
    /// Findings of the partition policy on how full victims are, if it learns; trainings since the start of measuring.
    pub fn learned(&self) -> Option<wordline_partition::Learned> {
        let learned = self.division.learned()?;
        Some(wordline_partition::Learned {
            trainings: learned.trainings - self.before.trainings,
            ..learned
        })
    }
    /// Pages by outcome since the start of measuring.
    pub fn page_counts(&self) -> residents::Counts {
        self.residents().counts().since(&self.before.pages)
    }
    /// Counts and times since the start of measuring.
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

    /// Does something with the flash at this instant, and passes on what it schedules.
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
    /// The same with the store below.
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
    /// Asks the flash for something; it takes whatever it is asked for. It refuses programs at once at the end of its life, and gives their
    /// tickets to the next requests.
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
    /// Takes what the flash has completed.
    #[inline]
    fn take_from_flash(&mut self) {
        for done in self.flash.completions() {
            if let Some(sub) = self.in_flash.done(done.ticket) {
                self.done.push((sub, done.parts, done.failed));
            }
        }
    }
    /// Asks the store below for something, at once if it takes it.
    fn ask_below(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        sub: Sub,
    ) -> Result<(), B> {
        if !self.below.line.is_empty() || !self.backing.takes(sub.request.stream) {
            self.below.line.push_back(sub);
            return Ok(());
        }
        self.hand_down(cx, sub)
    }
    /// Hands something over to the store below. It may be done with it at once, and give its ticket to the next request.
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
    /// Takes what the store below has completed.
    fn take_from_below(&mut self) {
        for done in self.backing.completions() {
            if let Some(sub) = self.below.done(done.ticket) {
                self.done.push((sub, done.parts, done.failed));
            }
        }
    }
    /// Hands over what the store below takes of what waits for it.
    fn feed(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        while let Some(sub) = self.below.line.front()
            && self.backing.takes(sub.request.stream)
            && let Some(sub) = self.below.line.pop_front()
        {
            self.hand_down(cx, sub)?;
        }
        Ok(())
    }
    /// The power has failed: what still waits in the store below was asked for by nobody.
    fn withdraw_below(&mut self) {
        for lost in self.backing.completions() {
            self.below.done(lost.ticket);
        }
        self.backing.withdraw(&self.below.forget());
    }
    /// Whether a block of the flash is being collected, and will be.
    fn is_collecting(&self) -> bool {
        self.flash.is_collecting() && self.takes_programs()
    }
    /// Deals with all that the tiers have completed, and with what comes of that.
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
            for (sub, parts, failed) in done.drain(..) {
                if failed {
                    self.sub_failed(cx, &sub, &parts)?;
                } else {
                    self.sub_done(cx, &sub, &parts)?;
                }
            }
            // What was done at once meanwhile comes next.
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
    fn takes(&self, _stream: u32) -> bool {
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
    /// Both tiers lose what they were at. Dirty pages come back from flash, where there is a journal, and clean ones do not.
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
        self.withdraw_below();
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
        below.saturating_sub(self.volatile_in_flash(offset..offset + bytes))
    }
    /// None waits: a power cut loses all.
    fn withdraw(&mut self, tickets: &[Ticket]) {
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
            reason = "a lifetime too many"
        )]
        self.with_flash(cx, |flash, cx| flash.resume(cx))?;
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "a lifetime too many"
        )]
        self.with_backing(cx, |backing, cx| backing.resume(cx))?;
        self.let_go(cx, 0)?;
        self.settle(cx)
    }
    fn die_backlog(&self, times: &mut Vec<Time>) {
        self.flash.die_backlog(times);
    }
    /// Of the flash; the store below tells its own.
    fn busy(&self, busy: &mut Busy) {
        self.flash.busy(busy);
    }
}
