//! Device model without a clock around any mapping family, together with a record of the expected
//! content of every page.
//!
//! Operations of a plane execute in the order in which they were issued; planes are independent of
//! each other. Any other event may occur between two operations.

use std::collections::{BTreeMap, HashMap, VecDeque};

use wordline_ftl::allocate::r#static::Static;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::config::Gc;
use wordline_ftl::gc::victim::Victim;
use wordline_ftl::mapping::Family;
use wordline_ftl::mapping::block::BlockMapping;
use wordline_ftl::mapping::buffered::Buffered;
use wordline_ftl::mapping::dftl::Dftl;
use wordline_ftl::mapping::hybrid::Hybrid;
use wordline_ftl::mapping::log_block::LogBlock;
use wordline_ftl::mapping::logical::shape::Stripe;
use wordline_ftl::recovery::{Flash, Label, PageOwner, Spare, SpareRecord};
use wordline_ftl::wear::Wear;
use wordline_ftl::{
    Collection, Config, JobId, Lpn, Map, Mapping, Plan, SpaceRequest, Step, WriteOutcome,
};
use wordline_kernel::Rng;
use wordline_nand::{Array, Block, Geometry, Layout, Plane, Ppn};

/// Value of [`Device::under_way`] at which the host stops adding writes and TRIMs, like the depth
/// of a submission queue.
const DEPTH: usize = 16;

/// Returns every mapping family with default parameters, and variants of those whose parameters
/// change their behaviour.
pub fn variants() -> Vec<Family> {
    let mut variants = Family::defaults();
    variants.extend([
        Family::BlockMapping(BlockMapping { open_blocks: 1 }),
        Family::Dftl(Dftl {
            entry_bytes: 256,
            cache_bytes: Some(8192),
            protected_ratio: 0.5,
            batch_update: false,
            ..Dftl::default()
        }),
        Family::LogBlock(LogBlock {
            record_erases: false,
            stripe: Stripe::Page,
            stripe_pages: 1,
        }),
        Family::LogBlock(LogBlock {
            stripe: Stripe::Page,
            stripe_pages: 3,
            ..LogBlock::default()
        }),
        Family::Hybrid(Hybrid {
            data_blocks: 1,
            update_blocks: 1,
            ..Hybrid::default()
        }),
        Family::Hybrid(Hybrid {
            data_blocks: 3,
            update_blocks: 2,
            record_erases: false,
            stripe: Stripe::Page,
            stripe_pages: 4,
        }),
        Family::Buffered(Buffered {
            buffer_ratio: 0.3,
            record_erases: false,
            ..Buffered::default()
        }),
    ]);
    variants
}

/// Returns the plan of a random device: 1 to 4 planes with 6 to 40 blocks of 2 to 16 pages, any
/// policies that the family supports, and the minimum over-provisioning that a plan accepts, or a
/// few pages more.
pub fn fullest(family: &Family, random: &mut Rng) -> Plan {
    loop {
        let mut below = |bound: u64| random.below(bound) as u32;
        let (channels, planes) =
            [(1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (4, 1)][below(6) as usize];
        let dimensions = Dimensions {
            channels,
            ways: 1,
            dies: 1,
            planes,
        };
        let geometry = Geometry {
            dies_per_package: 1,
            planes_per_die: planes,
            blocks_per_plane: 6 + below(35),
            pages_per_block: 2 + below(15),
            ..Geometry::default()
        };
        let layout = Layout::new(&geometry, channels).unwrap();
        let victims = Victim::defaults();
        let wears = Wear::defaults();
        let allocations = Allocate::defaults();
        let gc = Gc {
            victim: victims[below(victims.len() as u64) as usize].clone(),
            start_free_ratio: f64::from(below(30)) / 100.0,
            hard_free_ratio: f64::from(below(15)) / 100.0,
            own_block: below(2) == 0,
            ..Gc::default()
        };
        let mut config = Config {
            mapping: family.clone(),
            allocate: allocations[below(allocations.len() as u64) as usize].clone(),
            wear: wears[below(wears.len() as u64) as usize].clone(),
            gc,
            ..Config::default()
        };
        let slack = if below(2) == 0 { 0 } else { below(12) };
        for _ in 0..2 {
            let plan = |spare: u32| {
                let over_provisioning_ratio = f64::from(spare) / f64::from(layout.pages());
                let config = Config {
                    over_provisioning_ratio,
                    ..config.clone()
                };
                Plan::new(&config, layout, dimensions, 1).ok()
            };
            let least = (0..layout.pages()).find(|&spare| plan(spare).is_some());
            if let Some(mut plan) = least.and_then(|least| plan(least + slack)) {
                if plan.user_pages % 2 == 0 {
                    plan.formula_pages = 0;
                }
                return plan;
            }
            config.allocate = Allocate::Static(Static::default());
        }
    }
}

/// Behaviour of the device around a mapping.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // abilities are independent of each other
pub struct Ability {
    /// Whether pages are moved by copyback, so that their target is known when the read starts.
    internal: bool,
    /// Whether GC starts as soon as few blocks are free. Otherwise it starts only when a write
    /// waits.
    at_threshold: bool,
    /// Whether a free block replaces a full update block.
    replaces: bool,
    /// Whether GC also runs on planes that do not need it.
    idle: bool,
    /// Whether power cuts occur.
    cuts: bool,
}

impl Ability {
    pub fn drawn(random: &mut Rng, cuts: bool) -> Self {
        let mut any = || random.below(2) == 0;
        Self {
            internal: any() && any(),
            at_threshold: any(),
            replaces: any(),
            idle: any(),
            cuts,
        }
    }
}

/// Order in which the host addresses pages.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    Uniform,
    /// Nine of ten accesses are to one tenth of the pages.
    Skewed(u64),
    /// Runs of consecutive pages.
    Runs {
        next: u32,
        left: u32,
    },
    /// All pages in order.
    Sequential(u32),
}

impl Load {
    pub fn drawn(random: &mut Rng) -> Self {
        match random.below(4) {
            0 => Self::Uniform,
            1 => Self::Skewed(random.bits()),
            2 => Self::Runs { next: 0, left: 0 },
            _ => Self::Sequential(random.below(1 << 20) as u32),
        }
    }
    fn next(&mut self, user: u32, random: &mut Rng) -> Lpn {
        let any = random.below(user.into()) as u32;
        Lpn(match self {
            Self::Skewed(hot) if random.below(10) > 0 => {
                ((*hot + random.below(u64::from(user).div_ceil(10))) % u64::from(user)) as u32
            }
            Self::Uniform | Self::Skewed(_) => any,
            Self::Runs { next, left } => {
                if *left == 0 {
                    (*next, *left) = (any, 1 + random.below(40) as u32);
                }
                (*next, *left) = ((*next + 1) % user, *left - 1);
                *next
            }
            Self::Sequential(next) => {
                *next = (*next + 1) % user;
                *next
            }
        })
    }
}

/// Content of a flash page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    owner: PageOwner,
    /// Version of a host page, which is the number of its writes so far.
    version: u64,
    sequence: u64,
    order: u64,
}

/// Operation queued for the array.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Host write, with the block of the copy that it supersedes.
    HostProgram(Ppn, Content, Option<Block>),
    HostRead(Ppn, Content),
    MoveRead(JobId, Ppn),
    MoveProgram(JobId, Ppn, Content),
    /// Copyback inside the plane.
    Move(JobId, Ppn, Ppn, Content),
    MetadataRead(JobId, Ppn),
    MetadataProgram(JobId, Ppn, Content),
    Erase(JobId, Block),
}

/// Request that waits for a job to fetch a part of the map.
#[derive(Clone, Copy, Debug)]
enum Waiter {
    Read(Lpn),
    Change(Lpn),
}

/// Job in progress.
#[derive(Debug, Default)]
struct Job {
    /// Whether the job is a GC run. Otherwise it is a fetch.
    collects: bool,
    /// Number of steps that are issued but not complete.
    outstanding: u32,
    /// Whether the job issues one step at a time.
    stepwise: bool,
    /// Whether the job is paused between two steps.
    paused: bool,
    /// Page that had been read when the job was paused.
    in_hand: Option<(Ppn, Content)>,
    waiters: Vec<Waiter>,
}

/// Expected state of a logical page.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Number of writes placed.
    issued: u64,
    /// Version that a look-up must find; 0 if none.
    current: u64,
    /// Newest complete version. After a power cut, the version that recovery found, if any.
    done: u64,
    /// Latest trimmed version. After a power cut, it and earlier versions may or may not be found.
    trimmed: u64,
}

/// Host request that changes a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Write,
    Trim,
}

/// Numbers of events that a run must include to be meaningful.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    writes: u64,
    reads: u64,
    trims: u64,
    flash: u64,
    waits: u64,
    collections: u64,
    on_demand: u64,
    fetches: u64,
    stops: u64,
    overtaken: u64,
    replaced: u64,
    kept: u64,
    cuts: u64,
    torn: u64,
    cut_erases: u64,
    recovery_erases: u64,
}

impl Seen {
    pub fn add(&mut self, other: &Self) {
        self.writes += other.writes;
        self.reads += other.reads;
        self.trims += other.trims;
        self.flash += other.flash;
        self.waits += other.waits;
        self.collections += other.collections;
        self.on_demand += other.on_demand;
        self.fetches += other.fetches;
        self.stops += other.stops;
        self.overtaken += other.overtaken;
        self.replaced += other.replaced;
        self.kept += other.kept;
        self.cuts += other.cuts;
        self.torn += other.torn;
        self.cut_erases += other.cut_erases;
        self.recovery_erases += other.recovery_erases;
    }
    /// Returns the number of host requests and flash operations.
    pub fn operations(&self) -> u64 {
        self.writes + self.reads + self.trims + self.flash
    }
    /// Returns `true` if every kind of event that all families share occurred at least `least`
    /// times.
    pub fn saw(&self, least: u64, cuts: bool) -> bool {
        let always = [self.trims, self.waits, self.collections, self.on_demand];
        let always = always.into_iter().chain([self.kept]);
        let after = [self.torn, self.cut_erases].into_iter();
        let mut all = always.chain(after.filter(|_| cuts));
        all.all(|seen| seen >= least)
    }
    /// Returns `true` if each kind of event that only some families share occurred more than 100
    /// times.
    pub fn saw_everything(&self) -> bool {
        let some = [self.stops, self.overtaken, self.replaced];
        some.into_iter().all(|seen| seen > 100)
    }
}

/// Mapping with the flash and the host around it.
pub struct Device {
    plan: Plan,
    ability: Ability,
    layout: Layout,
    map: Map,
    array: Array,
    spare: Spare,
    /// Content of each page now (`contents`), and once all issued operations are complete
    /// (`planned`).
    contents: Vec<Option<Content>>,
    planned: Vec<Option<Content>>,
    queues: Vec<VecDeque<Operation>>,
    jobs: BTreeMap<JobId, Job>,
    /// Waiting changes of each page, in order. The first one waits for room or for a job.
    held: HashMap<Lpn, VecDeque<Change>>,
    /// Pages whose first change waits for room, in order.
    stalled: VecDeque<Lpn>,
    /// Number of issued programs that supersede a page of the block, for each block.
    superseding: Vec<u32>,
    /// Erases that wait for superseding programs.
    kept: Vec<(JobId, Block)>,
    known: Vec<Known>,
    sequence: u64,
    order: u64,
    pub seen: Seen,
}

impl Device {
    pub fn new(plan: Plan, ability: Ability) -> Self {
        let layout = plan.layout;
        let pages = layout.pages() as usize;
        Self {
            map: Map::new(&plan),
            array: Array::new(layout, u32::MAX),
            spare: Spare::new(&layout),
            contents: vec![None; pages],
            planned: vec![None; pages],
            queues: vec![VecDeque::new(); layout.planes() as usize],
            jobs: BTreeMap::new(),
            held: HashMap::new(),
            stalled: VecDeque::new(),
            superseding: vec![0; layout.blocks() as usize],
            kept: Vec::new(),
            known: vec![Known::default(); plan.user_pages as usize],
            sequence: 0,
            order: 0,
            seen: Seen::default(),
            layout,
            ability,
            plan,
        }
    }
    fn planes(&self) -> impl Iterator<Item = Plane> + use<> {
        (0..self.layout.planes()).map(Plane)
    }
    fn pages_of(&self, block: Block) -> std::ops::Range<usize> {
        let first = self.layout.page(block, 0).index();
        first..first + self.layout.pages_per_block as usize
    }
    fn enqueue(&mut self, place: Ppn, operation: Operation) {
        let plane = self.layout.plane_of(self.layout.block_of(place));
        self.queues[plane.index()].push_back(operation);
    }
    /// Plans the content of a page that will be programmed.
    fn plan_program(&mut self, place: Ppn, content: Content) -> Content {
        self.order += 1;
        let content = Content {
            order: self.order,
            ..content
        };
        let before = self.planned[place.index()].replace(content);
        assert_eq!(
            before, None,
            "{place:?} is already allocated; new content {content:?}"
        );
        content
    }

    // Host requests.

    fn read(&mut self, page: Lpn) {
        self.seen.reads += 1;
        self.read_on(page);
    }
    fn read_on(&mut self, page: Lpn) {
        if let Some(job) = self.map.fetch(page, false) {
            return self.wait_for(job, Waiter::Read(page));
        }
        if let Some((place, content)) = self.look_up(page) {
            self.enqueue(place, Operation::HostRead(place, content));
        }
    }
    /// Returns the current location of a page, after a check of its expected content.
    fn look_up(&self, page: Lpn) -> Option<(Ppn, Content)> {
        let current = self.known[page.index()].current;
        let Some(place) = self.map.lookup(page) else {
            assert_eq!(current, 0, "{page:?} is lost");
            return None;
        };
        let content = self.planned[place.index()];
        let content =
            content.unwrap_or_else(|| panic!("{page:?} maps to {place:?}, which is empty"));
        let found = (content.owner, content.version);
        assert_eq!(found, (PageOwner::Host(page), current), "at {place:?}");
        Some((place, content))
    }

    fn change(&mut self, page: Lpn, change: Change) {
        match change {
            Change::Write => self.seen.writes += 1,
            Change::Trim => self.seen.trims += 1,
        }
        if let Some(later) = self.held.get_mut(&page) {
            later.push_back(change);
            return;
        }
        self.held.insert(page, VecDeque::from([change]));
        self.advance(page);
    }
    /// Executes the waiting changes of a page in order, as far as possible.
    fn advance(&mut self, page: Lpn) {
        while let Some(&change) = self.held.get(&page).and_then(VecDeque::front) {
            if let Some(job) = self.map.fetch(page, true) {
                return self.wait_for(job, Waiter::Change(page));
            }
            match change {
                Change::Trim => self.trim(page),
                Change::Write => {
                    if let Err(want) = self.place(page) {
                        self.seen.waits += 1;
                        self.stalled.push_back(page);
                        return self.demand(want);
                    }
                }
            }
            self.next_change(page);
        }
    }
    fn next_change(&mut self, page: Lpn) {
        let Some(changes) = self.held.get_mut(&page) else {
            return;
        };
        changes.pop_front();
        if changes.is_empty() {
            self.held.remove(&page);
        }
    }
    fn trim(&mut self, page: Lpn) {
        self.map.trim(page);
        let known = &mut self.known[page.index()];
        known.trimmed = known.issued;
        known.current = 0;
        assert_eq!(
            self.map.lookup(page),
            None,
            "{page:?} is mapped after its TRIM"
        );
    }
    /// Allocates a page for a write, or returns the space that the write waits for.
    fn place(&mut self, page: Lpn) -> Result<(), SpaceRequest> {
        let before = self.look_up(page).map(|(place, _)| place);
        let place = match self.map.write(page) {
            WriteOutcome::Placed(place) => place,
            WriteOutcome::Blocked(want) => {
                self.check_wait(want);
                self.replace(page, want)?
            }
        };
        let superseded = before.map(|before| self.layout.block_of(before));
        if let Some(block) = superseded {
            self.superseding[block.index()] += 1;
        }
        self.sequence += 1;
        let known = &mut self.known[page.index()];
        known.issued += 1;
        known.current = known.issued;
        let content = Content {
            owner: PageOwner::Host(page),
            version: known.issued,
            sequence: self.sequence,
            order: 0,
        };
        let content = self.plan_program(place, content);
        self.enqueue(place, Operation::HostProgram(place, content, superseded));
        let plane = self.layout.plane_of(self.layout.block_of(place));
        if self.ability.at_threshold && self.map.wants_collection(plane) {
            self.collect(SpaceRequest::Free(plane));
        }
        Ok(())
    }
    fn replace(&mut self, page: Lpn, want: SpaceRequest) -> Result<Ppn, SpaceRequest> {
        let SpaceRequest::Update(plane, block) = want else {
            return Err(want);
        };
        if !self.ability.replaces {
            return Err(want);
        }
        if !self.map.replace(block) {
            let spare = self.map.free_blocks_of(plane) > self.plan.reserve_blocks;
            let replaces = self.plan.config.mapping.name() != "block";
            assert!(
                !spare || !replaces,
                "a write waits for {want:?} although a block above the reserve is free"
            );
            return Err(want);
        }
        self.seen.replaced += 1;
        match self.map.write(page) {
            WriteOutcome::Placed(place) => Ok(place),
            WriteOutcome::Blocked(want) => panic!("a write waits for {want:?} after a replacement"),
        }
    }
    /// Checks that a write does not wait while there are free blocks above the reserve.
    fn check_wait(&self, want: SpaceRequest) {
        for plane in self.planes() {
            let waits = match want {
                SpaceRequest::Anywhere => true,
                SpaceRequest::Free(waits) => waits == plane,
                SpaceRequest::Update(..) => false,
            };
            let free = self.map.free_blocks_of(plane);
            assert!(
                !waits || free <= self.plan.reserve_blocks,
                "a write waits for {want:?} although {free} blocks are free"
            );
        }
    }
    /// Handles a write that waits for room: a GC run of its planes continues without pauses, or a
    /// new one starts.
    fn demand(&mut self, want: SpaceRequest) {
        let planes: Vec<Plane> = match want {
            SpaceRequest::Free(plane) | SpaceRequest::Update(plane, _) => vec![plane],
            SpaceRequest::Anywhere => self.planes().collect(),
        };
        for plane in planes {
            let id = JobId::of(plane);
            if self.jobs.contains_key(&id) {
                self.press(id);
            } else if want != SpaceRequest::Anywhere {
                self.seen.on_demand += u64::from(self.collect(want));
            } else if self.map.wants_collection(plane) {
                self.seen.on_demand += u64::from(self.collect(SpaceRequest::Free(plane)));
            }
        }
    }
    fn place_stalled(&mut self) {
        let mut waiting = std::mem::take(&mut self.stalled);
        while let Some(page) = waiting.pop_front() {
            match self.place(page) {
                Ok(()) => {
                    self.next_change(page);
                    self.advance(page);
                }
                Err(want) => {
                    self.stalled.push_back(page);
                    self.demand(want);
                }
            }
        }
    }

    // Jobs.

    /// Starts a GC run. Returns `false` if one is in progress or no space can be gained.
    fn collect(&mut self, want: SpaceRequest) -> bool {
        let (SpaceRequest::Free(plane) | SpaceRequest::Update(plane, _)) = want else {
            return false;
        };
        let collection = self.map.collect(want);
        if self.jobs.contains_key(&JobId::of(plane)) {
            assert_eq!(collection, None, "a plane started a second GC run");
            return false;
        }
        let Some(Collection { job, .. }) = collection else {
            return false;
        };
        assert_eq!(job, JobId::of(plane), "job of {want:?}");
        self.seen.collections += 1;
        let stepwise = self.seen.collections.is_multiple_of(2) && self.stalled.is_empty();
        let started = Job {
            collects: true,
            stepwise,
            ..Job::default()
        };
        self.jobs.insert(job, started);
        self.go_on(job);
        true
    }
    fn wait_for(&mut self, id: JobId, waiter: Waiter) {
        assert!(
            id.0 >= self.layout.planes(),
            "fetch job {id:?} has the number of a GC run"
        );
        let begins = !self.jobs.contains_key(&id);
        self.jobs.entry(id).or_default().waiters.push(waiter);
        if begins {
            self.seen.fetches += 1;
            self.go_on(id);
            assert!(self.jobs.contains_key(&id), "a fetch has no step");
        }
    }
    fn press(&mut self, id: JobId) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.stepwise = false;
            self.resume(id);
        }
    }
    fn resume(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id).filter(|job| job.paused) else {
            return;
        };
        job.paused = false;
        if let Some((from, content)) = job.in_hand.take() {
            self.put_down(id, from, content);
        }
        self.go_on(id);
    }
    /// Issues steps until the job has to wait.
    fn go_on(&mut self, id: JobId) {
        while let Some(job) = self.jobs.get_mut(&id) {
            let outstanding = job.outstanding;
            if job.stepwise && outstanding > 0 {
                return;
            }
            let was_over = self.map.is_over(id);
            let step = self.map.step(id);
            if was_over && outstanding == 0 {
                assert!(
                    matches!(step, Step::Wait | Step::Done),
                    "{id:?} had been reported as over, but issued {step:?}"
                );
            }
            match step {
                Step::Wait if outstanding > 0 => return,
                Step::Wait => {}
                Step::Done => {
                    assert_eq!(outstanding, 0, "{id:?} ended with steps in progress");
                    assert!(
                        self.map.is_over(id),
                        "{id:?} ended but is not reported as over"
                    );
                    return self.over(id);
                }
                step => self.take(id, step),
            }
        }
    }
    fn take(&mut self, id: JobId, step: Step) {
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        job.outstanding += 1;
        match step {
            Step::Move(from) => {
                let content = self.planned[from.index()];
                let content = content.unwrap_or_else(|| panic!("{from:?} is moved, but empty"));
                if !self.ability.internal {
                    self.enqueue(from, Operation::MoveRead(id, from));
                } else if let Some(to) = self.map.relocate(id, from) {
                    let plane = |place| self.layout.plane_of(self.layout.block_of(place));
                    assert_eq!(
                        plane(to),
                        plane(from),
                        "{from:?} was moved to another plane"
                    );
                    let copy = self.plan_program(to, content);
                    self.enqueue(from, Operation::Move(id, from, to, copy));
                } else {
                    job.outstanding -= 1;
                }
            }
            Step::Read(place) => self.enqueue(place, Operation::MetadataRead(id, place)),
            Step::Program { place, label } => {
                self.sequence += 1;
                let content = Content {
                    owner: PageOwner::Metadata(label),
                    version: 0,
                    sequence: self.sequence,
                    order: 0,
                };
                let content = self.plan_program(place, content);
                self.enqueue(place, Operation::MetadataProgram(id, place, content));
            }
            Step::Erase(block) => {
                self.check_unused(block);
                if self.superseding[block.index()] > 0 {
                    self.seen.kept += 1;
                    self.kept.push((id, block));
                } else {
                    self.plan_erase(id, block);
                }
            }
            Step::Wait | Step::Done => {}
        }
    }
    fn plan_erase(&mut self, id: JobId, block: Block) {
        let pages = self.pages_of(block);
        self.planned[pages].fill(None);
        let first = self.layout.page(block, 0);
        self.enqueue(first, Operation::Erase(id, block));
    }
    /// Checks that no look-up finds a page in a block that is about to be erased.
    fn check_unused(&self, block: Block) {
        for place in self.pages_of(block) {
            if let Some(Content {
                owner: PageOwner::Host(page),
                ..
            }) = self.contents[place]
            {
                let found = self.map.lookup(page);
                assert_ne!(
                    found,
                    Some(Ppn(place as u32)),
                    "{block:?} is erased, but contains the current copy of {page:?}"
                );
            }
        }
    }
    /// Handles the completion of a program that supersedes a page of `block`.
    fn is_superseded(&mut self, block: Block) {
        self.superseding[block.index()] -= 1;
        if self.superseding[block.index()] > 0 {
            return;
        }
        if let Some(place) = self.kept.iter().position(|(_, kept)| *kept == block) {
            let (id, block) = self.kept.swap_remove(place);
            self.plan_erase(id, block);
        }
    }
    /// Programs the copy of a page that has been read, if the page is still current. Returns `true`
    /// if it is.
    fn put_down(&mut self, id: JobId, from: Ppn, content: Content) -> bool {
        let Some(to) = self.map.relocate(id, from) else {
            self.seen.overtaken += 1;
            return false;
        };
        if let PageOwner::Host(page) = content.owner {
            assert_eq!(
                content.version,
                self.known[page.index()].current,
                "version of {page:?} moved from {from:?}"
            );
        }
        let copy = self.plan_program(to, content);
        if let Some(job) = self.jobs.get_mut(&id) {
            job.outstanding += 1;
        }
        self.enqueue(to, Operation::MoveProgram(id, to, copy));
        true
    }
    /// Handles the completion of the read of a page that a job moves.
    fn has_read(&mut self, id: JobId, from: Ppn, content: Content) {
        let Some(job) = self.jobs.get_mut(&id) else {
            panic!("{from:?} was read for {id:?}, which had ended");
        };
        job.outstanding -= 1;
        if job.stepwise && (self.order + u64::from(from.0)).is_multiple_of(3) {
            job.in_hand = Some((from, content));
            job.paused = true;
            self.seen.stops += 1;
            return;
        }
        if !self.put_down(id, from, content) {
            self.one_less(id);
        }
    }
    fn step_done(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else {
            panic!("a step of {id:?} completed after the end of the job");
        };
        job.outstanding -= 1;
        self.one_less(id);
    }
    fn one_less(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id).filter(|job| job.outstanding == 0) else {
            return;
        };
        if job.stepwise && self.order.is_multiple_of(2) && !self.map.is_over(id) {
            job.paused = true;
            self.seen.stops += 1;
            return;
        }
        self.go_on(id);
    }
    fn over(&mut self, id: JobId) {
        let Some(job) = self.jobs.remove(&id) else {
            return;
        };
        for waiter in job.waiters {
            match waiter {
                Waiter::Read(page) => self.read_on(page),
                Waiter::Change(page) => self.advance(page),
            }
        }
        if job.collects {
            self.place_stalled();
            let plane = Plane(id.0);
            if self.ability.at_threshold && self.map.wants_collection(plane) {
                self.collect(SpaceRequest::Free(plane));
            }
        }
    }

    // Flash operations.

    /// Executes the next operation of a plane. Returns `false` if there is none.
    fn carry_out(&mut self, plane: Plane) -> bool {
        let Some(operation) = self.queues[plane.index()].pop_front() else {
            return false;
        };
        self.seen.flash += 1;
        match operation {
            Operation::HostProgram(place, content, superseded) => {
                self.program(place, content);
                if let PageOwner::Host(page) = content.owner {
                    let known = &mut self.known[page.index()];
                    known.done = known.done.max(content.version);
                }
                if let Some(block) = superseded {
                    self.is_superseded(block);
                }
            }
            Operation::HostRead(place, content) => {
                let found = self.array_read(place);
                let named = |content: Content| (content.owner, content.version);
                assert_eq!(named(found), named(content), "content read from {place:?}");
            }
            Operation::MoveRead(id, place) => {
                let content = self.array_read(place);
                self.has_read(id, place, content);
            }
            Operation::MoveProgram(id, place, content)
            | Operation::MetadataProgram(id, place, content) => {
                self.program(place, content);
                self.step_done(id);
            }
            Operation::Move(id, from, to, content) => {
                let found = self.array_read(from);
                assert_eq!(
                    found.owner, content.owner,
                    "owner of the page moved from {from:?}"
                );
                assert_eq!(
                    found.version, content.version,
                    "version of the page moved from {from:?}"
                );
                self.program(to, content);
                self.step_done(id);
            }
            Operation::MetadataRead(id, place) => {
                let content = self.array_read(place);
                assert!(
                    matches!(content.owner, PageOwner::Metadata(_)),
                    "{content:?}"
                );
                self.step_done(id);
            }
            Operation::Erase(id, block) => {
                self.erase(block);
                self.step_done(id);
            }
        }
        true
    }
    fn array_read(&self, place: Ppn) -> Content {
        assert_eq!(self.array.read(place), Ok(()));
        let content = self.contents[place.index()];
        content.unwrap_or_else(|| panic!("{place:?} cannot be read"))
    }
    fn program(&mut self, place: Ppn, content: Content) {
        assert_eq!(self.array.program(place), Ok(()), "{content:?}");
        self.contents[place.index()] = Some(content);
        let Content {
            owner,
            sequence,
            order,
            ..
        } = content;
        let tag = SpareRecord {
            owner,
            sequence,
            order,
            label: Label::NONE,
        };
        self.spare.write(place, tag);
    }
    fn erase(&mut self, block: Block) {
        assert_eq!(self.array.erase(block), Ok(()));
        for place in self.pages_of(block) {
            self.contents[place] = None;
            self.spare.clear(Ppn(place as u32));
        }
        let erases = self.array.erases()[block.index()];
        self.map.erased(block, erases);
    }

    // Events.

    /// Executes a random event.
    pub fn step(&mut self, load: &mut Load, random: &mut Rng) {
        let user = self.plan.user_pages;
        let plane = Plane(random.below(self.layout.planes().into()) as u32);
        match random.below(100) {
            0..28 if self.under_way() < DEPTH => {
                self.change(load.next(user, random), Change::Write);
            }
            28..32 if self.under_way() < DEPTH => {
                self.change(load.next(user, random), Change::Trim);
            }
            32..40 => self.read(load.next(user, random)),
            40..44 if self.ability.idle => self.idle(plane, random),
            44..52 => {
                let stopped = self.jobs.iter().filter(|(_, job)| job.paused);
                let stopped: Vec<JobId> = stopped.map(|(id, _)| *id).collect();
                if !stopped.is_empty() {
                    self.resume(stopped[random.below(stopped.len() as u64) as usize]);
                }
            }
            52 if self.ability.cuts && random.below(6) == 0 => self.cut(random),
            _ => {
                self.carry_out(plane);
            }
        }
    }
    /// Returns the load of the device: the number of waiting changes, plus a quarter of the length
    /// of the longest queue of a plane.
    fn under_way(&self) -> usize {
        let queue = self.queues.iter().map(VecDeque::len).max().unwrap_or(0);
        let held: usize = self.held.values().map(VecDeque::len).sum();
        held + queue / 4
    }
    /// Starts a GC run on a plane for one of four random reasons, none of them a waiting write.
    /// Starts no GC run if the reason does not apply, or if the plane has a GC run in progress.
    fn idle(&mut self, plane: Plane, random: &mut Rng) {
        let collecting = self.jobs.contains_key(&JobId::of(plane));
        match random.below(4) {
            0 => {
                // Acts as if the last write had left too few free blocks.
                let page = random.below(self.plan.user_pages.into()) as u32;
                self.map.delay(Lpn(page));
                let delayed = self.map.delayed(plane);
                if let Some(want) = delayed.or_else(|| self.map.reclaim(plane)) {
                    assert_eq!(wanted_plane(want), plane);
                    self.map.cost(want);
                    self.collect(want);
                }
            }
            1 => {
                if let Some(want) = self.map.full(plane) {
                    assert_eq!(wanted_plane(want), plane);
                    let cost = self.map.cost(want);
                    let gains = self.collect(want);
                    assert!(
                        gains || collecting,
                        "{want:?} at cost {cost:?} started no GC run"
                    );
                }
            }
            2 => {
                let first = Lpn(random.below(self.plan.user_pages.into()) as u32);
                let pages = 1 + random.below(20) as u32;
                if let Some(want) = self.map.shortage(plane, &[(first, pages)]) {
                    assert_eq!(wanted_plane(want), plane);
                    self.map.cost(want);
                    self.collect(want);
                }
            }
            _ => {
                if self.map.wants_collection(plane) {
                    self.collect(SpaceRequest::Free(plane));
                }
            }
        }
    }
    /// Runs without new requests until all writes are served and no work is left.
    pub fn drain(&mut self) {
        for _ in 0..1_000_000 {
            let mut busy = false;
            for plane in self.planes() {
                busy |= self.carry_out(plane);
            }
            let paused = self.jobs.iter().filter(|(_, job)| job.paused);
            let paused: Vec<JobId> = paused.map(|(id, _)| *id).collect();
            for id in paused {
                self.resume(id);
                busy = true;
            }
            if busy {
                continue;
            }
            assert!(
                self.jobs.is_empty(),
                "these jobs do not end: {:?}",
                self.jobs
            );
            if self.held.is_empty() {
                return;
            }
            let waiting = self.stalled.len();
            self.place_stalled();
            let gained = !self.jobs.is_empty() || self.stalled.len() < waiting;
            assert!(gained, "writes wait forever under {:?}", self.plan);
        }
        panic!("GC does not end under {:?}", self.plan);
    }
    /// Compares the tables with the expected state.
    pub fn compare(&self) {
        if let Err(fault) = self.map.audit() {
            panic!("{fault} under {:?}", self.plan);
        }
        let mut current = 0;
        for page in (0..self.plan.user_pages).map(Lpn) {
            current += u64::from(self.look_up(page).is_some());
        }
        assert!(self.map.valid_pages() >= current);
        let mut all = 0;
        for plane in self.planes() {
            let blocks = 0..self.layout.blocks_per_plane;
            let blank = |block: &u32| {
                let block = self.layout.block(plane, *block);
                let mut pages = self.pages_of(block);
                self.array.programmed(block) == 0 && pages.all(|page| self.planned[page].is_none())
            };
            let blank = blocks.filter(blank).count() as u32;
            let free = self.map.free_blocks_of(plane);
            assert!(
                free <= blank,
                "{plane:?} counts {free} free blocks, but {blank} are erased"
            );
            all += free;
        }
        assert_eq!(all, self.map.free_blocks());
    }

    // Power cuts.

    /// Cuts power and recovers the map. Issued operations that have not started are lost. A program
    /// in progress leaves an unreadable page. An erase in progress leaves its block unchanged, or
    /// with unreadable pages.
    fn cut(&mut self, random: &mut Rng) {
        self.seen.cuts += 1;
        for plane in self.planes() {
            let queue = std::mem::take(&mut self.queues[plane.index()]);
            let Some(&first) = queue.front() else {
                continue;
            };
            let torn = random.below(2) == 0;
            match first {
                Operation::HostProgram(place, ..)
                | Operation::MoveProgram(_, place, _)
                | Operation::Move(_, _, place, _)
                | Operation::MetadataProgram(_, place, _)
                    if torn =>
                {
                    assert_eq!(self.array.program(place), Ok(()));
                    self.spare.clear(place);
                    self.seen.torn += 1;
                }
                Operation::Erase(_, block) => {
                    self.seen.cut_erases += 1;
                    if torn {
                        self.make_unreadable(block);
                    }
                }
                _ => {}
            }
        }
        self.jobs.clear();
        self.held.clear();
        self.stalled.clear();
        self.superseding.fill(0);
        self.kept.clear();
        self.planned.clone_from(&self.contents);
        self.recover(random);
    }
    fn make_unreadable(&mut self, block: Block) {
        for place in self.pages_of(block) {
            self.contents[place] = None;
            self.spare.clear(Ppn(place as u32));
        }
    }
    fn recover(&mut self, random: &mut Rng) {
        let flash = Flash::new(&self.array, self.layout, &self.spare, self.plan.user_pages);
        let recovery = self.map.recover(&flash);
        assert!(recovery.pages_read > 0);
        for page in (0..self.plan.user_pages).map(Lpn) {
            self.check_recovered(page);
        }
        for block in recovery.erase {
            if random.below(8) == 0 {
                self.seen.cuts += 1;
                if random.below(2) == 0 {
                    self.make_unreadable(block);
                }
                self.planned.clone_from(&self.contents);
                return self.recover(random);
            }
            self.seen.recovery_erases += 1;
            self.check_unused(block);
            let pages = self.pages_of(block);
            self.planned[pages].fill(None);
            self.erase(block);
        }
        self.compare();
    }
    /// Checks that a page is found in its last complete version. A trimmed page may be found in any
    /// version up to the trimmed one, or not at all.
    fn check_recovered(&mut self, page: Lpn) {
        let found = self.map.lookup(page);
        let content = found.map(|place| {
            let content = self.contents[place.index()];
            content.unwrap_or_else(|| {
                panic!("{page:?} was recovered at {place:?}, which is unreadable")
            })
        });
        let known = &mut self.known[page.index()];
        let version = content.map_or(0, |content| {
            assert_eq!(content.owner, PageOwner::Host(page), "at {found:?}");
            content.version
        });
        if known.done > known.trimmed {
            assert_eq!(version, known.done, "version of {page:?} after a power cut");
        } else {
            assert!(
                version <= known.trimmed,
                "{page:?} was found in version {version} after a power cut"
            );
        }
        known.current = version;
        if version > 0 {
            // The trimmed version is valid again and remains so.
            (known.done, known.trimmed) = (version, 0);
        }
    }
}

fn wanted_plane(want: SpaceRequest) -> Plane {
    match want {
        SpaceRequest::Free(plane) | SpaceRequest::Update(plane, _) => plane,
        SpaceRequest::Anywhere => panic!("GC of any plane may be requested only for a write"),
    }
}
