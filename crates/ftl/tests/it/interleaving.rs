//! GC runs split into steps: host writes and reads occur between any two steps, on several planes
//! concurrently, while operations wait in the queues of the device.
#![allow(clippy::panic)] // test code, also outside test functions

use crate::edge;
use crate::naive;

use std::collections::VecDeque;

use edge::{LOADS, Load, cases, configs, fullest, planes};
use naive::CheckedMap;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use wordline_ftl::{JobId, Lpn, Mapping, Plan, SpaceRequest, Step as JobStep, WriteOutcome};
use wordline_kernel::Rng;
use wordline_nand::{Array, Block, Plane, Ppn};

/// Content written by the host: a page and its version.
type Content = (Lpn, u32);

/// Operation queued for the array.
#[derive(Clone, Copy, Debug)]
enum Operation {
    HostProgram(Ppn, Content),
    HostRead(Ppn, Content),
    MoveRead(Ppn),
    MoveProgram(Ppn, Content),
    Erase(Block),
}

/// GC run in progress. Its steps are issued together up to a barrier, or one at a time. Each page
/// is relocated some time after it has been read.
#[derive(Debug)]
struct Job {
    id: JobId,
    /// Number of steps that are issued but not complete, including pages read but not relocated.
    outstanding: usize,
    read: Vec<(Ppn, Content)>,
    stepwise: bool,
    /// Whether the run waits at a barrier.
    waiting: bool,
}

/// Device whose operations wait in one queue per plane, and whose steps are requested one at a
/// time.
struct Device {
    plan: Plan,
    checked: CheckedMap,
    array: Array,
    contents: Vec<Option<Content>>,
    queues: Vec<VecDeque<Operation>>,
    jobs: Vec<Option<Job>>,
    /// Writes that wait for room.
    waiting: VecDeque<Lpn>,
    seen: Seen,
}

/// Numbers of events that a run must include to be meaningful.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Writes that had to wait. Count.
    waits: u32,
    /// GC runs completed. Count.
    collections: u32,
    /// Pages trimmed. Count.
    trims: u32,
    /// Pages overwritten or trimmed between their read and their relocation. Count.
    overtaken: u32,
    /// GC runs that overlapped with others. Count.
    at_once: u32,
}

impl Device {
    fn new(plan: Plan) -> Self {
        let planes = plan.layout.planes() as usize;
        Self {
            checked: CheckedMap::new(&plan),
            array: Array::new(plan.layout, u32::MAX),
            contents: vec![None; plan.layout.pages() as usize],
            queues: vec![VecDeque::new(); planes],
            jobs: (0..planes).map(|_| None).collect(),
            waiting: VecDeque::new(),
            seen: Seen::default(),
            plan,
        }
    }
    fn planes(&self) -> impl Iterator<Item = Plane> + use<> {
        (0..self.plan.layout.planes()).map(Plane)
    }
    fn plane_of(&self, place: Ppn) -> Plane {
        self.plan.layout.plane_of(self.plan.layout.block_of(place))
    }
    fn enqueue(&mut self, plane: Plane, operation: Operation) {
        self.queues[plane.index()].push_back(operation);
    }

    /// Allocates a page for a write. Returns `false` if the write must wait.
    fn place(&mut self, page: Lpn) -> bool {
        match self.checked.write(page) {
            WriteOutcome::Placed(place) => {
                let plane = self.plane_of(place);
                let free = self.checked.map.free_blocks_of(plane);
                let collecting = self.jobs[plane.index()].is_some();
                assert!(
                    free >= self.plan.reserve_blocks || collecting && self.plan.config.gc.own_block,
                    "a host write was placed on a plane with only {free} free blocks"
                );
                let (_, version) = self.checked.naive.find(page).unwrap_or_default();
                self.enqueue(plane, Operation::HostProgram(place, (page, version)));
                true
            }
            WriteOutcome::Blocked(want) => {
                for plane in self.planes() {
                    if want == SpaceRequest::Anywhere || want == SpaceRequest::Free(plane) {
                        assert!(self.checked.map.free_blocks_of(plane) <= self.plan.reserve_blocks);
                    }
                }
                assert!(
                    !matches!(want, SpaceRequest::Update(..)),
                    "page mapping requested {want:?}"
                );
                false
            }
        }
    }
    fn write(&mut self, page: Lpn) {
        // Writes of a page keep their order, so this write waits if another write of the page does.
        if self.waiting.contains(&page) || !self.place(page) {
            self.waiting.push_back(page);
            self.seen.waits += 1;
        }
    }
    fn place_waiting(&mut self) {
        let mut skipped = VecDeque::new();
        while let Some(page) = self.waiting.pop_front() {
            if skipped.contains(&page) || !self.place(page) {
                skipped.push_back(page);
            }
        }
        self.waiting = skipped;
    }
    fn read(&mut self, page: Lpn) {
        if let Some((place, version)) = self.checked.naive.find(page) {
            assert_eq!(self.checked.lookup(page), Some(place));
            self.enqueue(
                self.plane_of(place),
                Operation::HostRead(place, (page, version)),
            );
        }
    }

    /// Trims a page, unless a write of the page waits.
    fn trim(&mut self, page: Lpn) {
        if !self.waiting.contains(&page) {
            self.checked.trim(page);
            self.seen.trims += 1;
        }
    }

    fn collect(&mut self, plane: Plane, stepwise: bool) {
        if !self.checked.wants_collection(plane) {
            return;
        }
        let collection = self.checked.collect(SpaceRequest::Free(plane));
        if self.jobs[plane.index()].is_some() {
            assert_eq!(collection, None, "a plane started a second GC run");
            return;
        }
        let Some(collection) = collection else {
            return;
        };
        self.jobs[plane.index()] = Some(Job {
            id: collection.job,
            outstanding: 0,
            read: Vec::new(),
            stepwise,
            waiting: false,
        });
        self.go_on(plane);
    }
    /// Relocates one of the pages that have been read, selected by `salt`, if it is still current.
    fn relocate(&mut self, plane: Plane, salt: u64) {
        let Some(job) = &mut self.jobs[plane.index()] else {
            return;
        };
        if job.read.is_empty() {
            return;
        }
        let (from, content) = job.read.swap_remove(salt as usize % job.read.len());
        if let Some(to) = self.checked.relocate(job.id, from) {
            self.enqueue(plane, Operation::MoveProgram(to, content));
        } else {
            job.outstanding -= 1;
            self.seen.overtaken += 1;
            self.go_on(plane);
        }
    }
    /// Issues the next steps of the GC run of a plane, unless the run waits.
    fn go_on(&mut self, plane: Plane) {
        while let Some(job) = &mut self.jobs[plane.index()] {
            if (job.stepwise || job.waiting) && job.outstanding > 0 {
                return;
            }
            job.waiting = false;
            let operation = match self.checked.step(job.id) {
                JobStep::Move(from) => Operation::MoveRead(from),
                JobStep::Erase(block) => {
                    assert_eq!(
                        job.outstanding, 0,
                        "{block:?} was erased before its moves were complete"
                    );
                    Operation::Erase(block)
                }
                JobStep::Wait => {
                    job.waiting = true;
                    continue;
                }
                JobStep::Done => {
                    assert_eq!(job.outstanding, 0);
                    self.jobs[plane.index()] = None;
                    self.seen.collections += 1;
                    self.seen.at_once += u32::from(self.jobs.iter().any(Option::is_some));
                    return self.place_waiting();
                }
                step => panic!("page mapping issued {step:?}"),
            };
            job.outstanding += 1;
            self.enqueue(plane, operation);
        }
    }

    /// Executes the next operation of a plane.
    fn carry_out(&mut self, plane: Plane) {
        let Some(operation) = self.queues[plane.index()].pop_front() else {
            return;
        };
        let refused = match operation {
            Operation::HostProgram(place, content) | Operation::MoveProgram(place, content) => {
                self.contents[place.index()] = Some(content);
                self.array.program(place)
            }
            Operation::HostRead(place, _) | Operation::MoveRead(place) => self.array.read(place),
            Operation::Erase(block) => {
                let first = self.plan.layout.page(block, 0).index();
                let pages = self.plan.layout.pages_per_block as usize;
                self.contents[first..first + pages].fill(None);
                self.array.erase(block)
            }
        };
        assert_eq!(refused, Ok(()), "{operation:?}");
        self.carried_out(plane, operation);
    }
    fn carried_out(&mut self, plane: Plane, operation: Operation) {
        match (operation, &mut self.jobs[plane.index()]) {
            (Operation::HostProgram(..), _) => {}
            (Operation::HostRead(place, content), _) => {
                assert_eq!(
                    self.contents[place.index()],
                    Some(content),
                    "content read from {place:?}"
                );
            }
            (Operation::MoveRead(from), Some(job)) => {
                let content = self.contents[from.index()];
                assert!(content.is_some(), "{from:?} was read but is empty");
                job.read.extend(content.map(|content| (from, content)));
            }
            (Operation::MoveProgram(..), Some(job)) => {
                job.outstanding -= 1;
                self.go_on(plane);
            }
            (Operation::Erase(block), Some(job)) => {
                job.outstanding -= 1;
                let erases = self.array.erases()[block.index()];
                self.checked.erased(block, erases);
                self.go_on(plane);
            }
            (operation, None) => panic!("{operation:?} without a GC run"),
        }
    }

    /// Executes a step; `salt` selects its variant.
    fn step(&mut self, step: Step, salt: u64, number: u32) {
        let plane = Plane((salt % u64::from(self.plan.layout.planes())) as u32);
        let salt = salt / u64::from(self.plan.layout.planes());
        match step {
            Step::Write(load) => {
                let mut random = Rng::new(salt, "interleaving");
                self.write(load.next(number, &self.checked, &self.plan, &mut random));
            }
            Step::Read => self.read(Lpn((salt % u64::from(self.plan.user_pages)) as u32)),
            Step::Trim => self.trim(Lpn((salt % u64::from(self.plan.user_pages)) as u32)),
            Step::Collect => self.collect(plane, salt % 2 == 1),
            Step::Relocate => self.relocate(plane, salt),
            Step::CarryOut => self.carry_out(plane),
        }
    }
    /// Runs without new requests until no work is left.
    fn drain(&mut self) {
        for _ in 0..100_000 {
            let idle = self.jobs.iter().all(Option::is_none);
            if idle && self.queues.iter().all(VecDeque::is_empty) {
                let before = self.waiting.len();
                self.planes().for_each(|plane| self.collect(plane, false));
                if self.jobs.iter().all(Option::is_none) {
                    assert_eq!(before, 0, "writes wait forever under {:?}", self.plan);
                    return;
                }
            }
            for plane in self.planes() {
                self.carry_out(plane);
                self.relocate(plane, 0);
                self.collect(plane, false);
            }
        }
        panic!("GC does not end under {:?}", self.plan);
    }
    /// Compares the map and the array with the reference. No operation may be in progress.
    fn compare(&self) {
        self.checked.naive.compare(&self.checked.map, &self.array);
        for page in (0..self.plan.user_pages).map(Lpn) {
            if let Some((place, version)) = self.checked.naive.find(page) {
                assert_eq!(self.contents[place.index()], Some((page, version)));
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(Load),
    Read,
    Trim,
    Collect,
    Relocate,
    CarryOut,
}

/// Returns random steps, most of which are of the kinds that occur once per page.
fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => select(LOADS.as_slice()).prop_map(Step::Write),
        1 => Just(Step::Read),
        1 => Just(Step::Trim),
        1 => Just(Step::Collect),
        3 => Just(Step::Relocate),
        5 => Just(Step::CarryOut),
    ]
}

fn plans() -> impl Strategy<Value = Plan> {
    let dimensions = (1..3_u32, 1..3_u32, 1..4_u32);
    let shape = (3..9_u32, 1..6_u32, 0..4_u32);
    let hard = 0.0..0.4;
    (select(configs()), dimensions, shape, hard).prop_filter_map(
        "no valid plan",
        |(mut config, (c, d, p), (blocks, pages, slack), hard)| {
            config.gc.hard_free_ratio = hard;
            fullest(&config, planes(c, 1, d, p), blocks, pages, slack)
        },
    )
}

proptest! {
    #![proptest_config(cases())]
    #[test]
    fn any_interleaving_keeps_every_page_and_serves_every_write(
        plan in plans(),
        steps in vec((steps(), any::<u64>()), 0..600),
    ) {
        let mut device = Device::new(plan);
        for (number, (step, salt)) in steps.into_iter().enumerate() {
            device.step(step, salt, number as u32);
            device.checked.naive.compare_books(&device.checked.map);
        }
        device.drain();
        device.compare();
    }
}

/// Longer runs with every combination of policies.
#[test]
fn every_combination_of_policies_serves_every_write() {
    let mut random = Rng::new(1, "interleaving.steps");
    let mut all = Seen::default();
    for config in configs() {
        let Some(plan) = fullest(&config, planes(2, 1, 1, 2), 6, 3, 0) else {
            panic!("no plan for {config:?}");
        };
        let load = LOADS[random.below(LOADS.len() as u64) as usize];
        let mut device = Device::new(plan);
        for number in 0..3_000 {
            // At most 16 writes wait at the same time, as in a host queue.
            let step = match random.below(14) {
                0..3 if device.waiting.len() < 16 => Step::Write(load),
                3 => Step::Read,
                13 => Step::Trim,
                4 => Step::Collect,
                5..8 => Step::Relocate,
                _ => Step::CarryOut,
            };
            device.step(step, random.bits(), number);
            if number % 100 == 0 {
                device.checked.naive.compare_books(&device.checked.map);
            }
        }
        device.drain();
        device.compare();
        assert!(device.seen.collections > 10, "{:?}", device.seen);
        all.waits += device.seen.waits;
        all.trims += device.seen.trims;
        all.overtaken += device.seen.overtaken;
        all.at_once += device.seen.at_once;
    }
    assert!(
        all.waits.min(all.trims).min(all.overtaken).min(all.at_once) > 1_000,
        "{all:?}"
    );
}
