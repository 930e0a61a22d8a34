//! Block mapping: GC runs in scenarios computed by hand, and the cost of random writes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use wordline_ftl::allocate::dynamic::Dynamic;
use wordline_ftl::allocate::r#static::Static;
use wordline_ftl::allocate::{Allocate, Dimensions};
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::mapping::Family;
use wordline_ftl::mapping::block::BlockMapping;
use wordline_ftl::recovery::SpareWriter;
use wordline_ftl::untimed::{FlashOps, UntimedFtl};
use wordline_ftl::{
    Collection, Config, GcKind, JobId, LogicalBlock, Lpn, Map, Mapping, Plan, PlanError,
    SpaceRequest, Step, WriteOutcome,
};
use wordline_kernel::Rng;
use wordline_nand::{Array, Geometry, Layout, Plane, Ppn};

fn config(open_blocks: u32) -> Config {
    Config {
        over_provisioning_ratio: 0.5,
        mapping: Family::BlockMapping(BlockMapping { open_blocks }),
        ..Config::default()
    }
}

fn plan(config: &Config, planes: u32, blocks: u32, pages: u32) -> Result<Plan, PlanError> {
    let geometry = Geometry {
        dies_per_package: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block: pages,
        ..Geometry::default()
    };
    let layout = Layout::new(&geometry, planes).unwrap();
    let dimensions = Dimensions {
        channels: planes,
        ways: 1,
        dies: 1,
        planes: 1,
    };
    Plan::new(config, layout, dimensions, 1)
}

struct Bench {
    map: Map,
    array: Array,
    layout: Layout,
    journal: SpareWriter,
}

impl Bench {
    fn of(plan: &Plan) -> Self {
        Self {
            map: Map::new(plan),
            array: Array::new(plan.layout, u32::MAX),
            layout: plan.layout,
            journal: SpareWriter::new(&plan.layout, plan.user_pages),
        }
    }
    /// Creates a device of one plane with 20 blocks of 4 pages, half of which the host can address.
    fn new(open_blocks: u32) -> Self {
        Self::of(&plan(&config(open_blocks), 1, 20, 4).unwrap())
    }
    fn write(&mut self, pages: impl IntoIterator<Item = u32>) -> FlashOps {
        let journal = &mut self.journal;
        let mut device = UntimedFtl::noting(&mut self.map, &mut self.array, self.layout, journal);
        for page in pages {
            device.write(Lpn(page)).unwrap();
        }
        let work = device.work();
        self.map.audit().unwrap();
        work
    }
    fn run(&mut self, job: JobId) {
        loop {
            match self.map.step(job) {
                Step::Move(from) => {
                    if let Some(to) = self.map.relocate(job, from) {
                        self.array.program(to).unwrap();
                    }
                }
                Step::Program { place, .. } => self.array.program(place).unwrap(),
                Step::Erase(block) => {
                    self.array.erase(block).unwrap();
                    self.map.erased(block, self.array.erases()[block.index()]);
                }
                Step::Done => return,
                Step::Wait | Step::Read(_) => {}
            }
        }
    }
    fn place(&self, page: u32) -> (u32, u32) {
        let place = self.map.lookup(Lpn(page)).unwrap();
        let block = self.layout.block_of(place);
        (block.0, self.layout.page_in_block(place))
    }
    /// Returns the kind of GC run that the next write of a page waits for, and its copies, fillers
    /// and erases.
    fn needs(&mut self, page: u32) -> (GcKind, u32, u32, u32) {
        let mut map = self.map.clone();
        let WriteOutcome::Blocked(want) = map.write(Lpn(page)) else {
            panic!("page {page} has room");
        };
        let cost = map.cost(want);
        let Collection { kind, .. } = map.collect(want).unwrap();
        (kind, cost.pages, cost.metadata_pages, cost.blocks)
    }
    /// Cuts power between two operations and recovers the map.
    fn cut(&mut self) {
        let flash = self.journal.flash(&self.array, self.layout);
        let recovery = self.map.recover(&flash);
        for block in recovery.erase {
            self.array.erase(block).unwrap();
            let erases = self.array.erases()[block.index()];
            self.map.erased(block, erases);
        }
        self.map.audit().unwrap();
    }
}

/// Returns the numbers of copies, fillers and erases.
fn spent(work: FlashOps) -> (u64, u64, u64) {
    (work.moved, work.metadata, work.erased)
}

#[test]
fn every_page_has_a_fixed_offset_in_its_block() {
    let mut bench = Bench::new(1);
    assert_eq!(spent(bench.write(0..40)), (0, 0, 0));
    for page in 0..40 {
        assert_eq!(bench.place(page), (page / 4, page % 4));
    }
}

/// Pages are overwritten in order. The block with their first versions is erased when the next
/// logical block needs a replacement block.
#[test]
fn sequential_writes_cost_one_erase_per_block_and_no_copy() {
    let mut bench = Bench::new(1);
    bench.write(0..40);
    assert_eq!(spent(bench.write(0..4)), (0, 0, 0));
    assert_eq!(bench.needs(4), (GcKind::Switch, 0, 0, 1));
    assert_eq!(spent(bench.write(4..40)), (0, 0, 9));
}

#[test]
fn pages_before_a_write_are_copied_first() {
    let mut bench = Bench::new(2);
    bench.write(0..40);
    assert_eq!(bench.needs(6), (GcKind::Partial, 2, 0, 0));
    assert_eq!(spent(bench.write([6])), (2, 0, 0));
    let places = [4, 5, 6, 7].map(|page| bench.place(page));
    assert_eq!(places, [(10, 0), (10, 1), (10, 2), (1, 3)]);
}

/// Page 2 is written twice: page 3 is copied, the old block is erased, and pages 0 and 1 are copied
/// again.
#[test]
fn write_to_an_offset_already_passed_completes_the_replacement_block() {
    let mut bench = Bench::new(2);
    bench.write(0..40);
    bench.write([2]);
    assert_eq!(bench.needs(2), (GcKind::Full, 1, 0, 1));
    assert_eq!(spent(bench.write([2])), (3, 0, 1));
}

/// With two replacement blocks, the third logical block completes the least recently written one,
/// which is the second, with one page left to copy. Erased blocks are taken last.
#[test]
fn least_recently_written_replacement_block_is_completed_first() {
    let mut bench = Bench::new(2);
    bench.write(0..40);
    assert_eq!(spent(bench.write([0])), (0, 0, 0));
    assert_eq!(spent(bench.write([4, 5, 6])), (0, 0, 0));
    assert_eq!(spent(bench.write([1])), (0, 0, 0));
    assert_eq!(bench.needs(8), (GcKind::Full, 1, 0, 1));
    assert_eq!(spent(bench.write([8])), (1, 0, 1));
    assert_eq!(
        [0, 4, 7, 8].map(|page| bench.place(page).0),
        [10, 11, 11, 12]
    );
}

/// No page before page 2 was written, so two filler pages keep the order. A page after page 2 has
/// room without a replacement block; a page before it does not.
#[test]
fn fillers_replace_pages_that_were_never_written() {
    let mut bench = Bench::new(1);
    assert_eq!(bench.needs(2), (GcKind::Partial, 0, 2, 0));
    assert_eq!(spent(bench.write([2])), (0, 2, 0));
    assert_eq!(bench.map.lookup(Lpn(0)), None);
    assert_eq!(spent(bench.write([3])), (0, 0, 0));
    assert_eq!(spent(bench.write([0])), (0, 0, 0));
    // Page 1 was never written; pages 2 and 3 were.
    assert_eq!(bench.needs(0), (GcKind::Full, 2, 1, 1));
    assert_eq!(spent(bench.write([0])), (2, 1, 1));
}

#[test]
fn trimmed_page_is_not_copied() {
    let mut bench = Bench::new(1);
    bench.write(0..40);
    bench.map.trim(Lpn(0));
    bench.map.trim(Lpn(3));
    assert_eq!(bench.map.lookup(Lpn(0)), None);
    assert_eq!(bench.map.valid_pages(), 38);
    // Page 0 is replaced by a filler, page 1 is copied, page 3 is left out.
    assert_eq!(spent(bench.write([2])), (1, 1, 0));
    assert_eq!(spent(bench.write([2])), (1, 1, 1));
}

/// The page is trimmed between its read and its copy, so a filler replaces it.
#[test]
fn page_trimmed_during_its_copy_is_replaced_by_a_filler() {
    let mut bench = Bench::new(1);
    bench.write(0..40);
    let want = SpaceRequest::Update(Plane(0), LogicalBlock(0));
    assert_eq!(bench.map.write(Lpn(1)), WriteOutcome::Blocked(want));
    let job = bench.map.collect(want).unwrap().job;
    assert_eq!(bench.map.step(job), Step::Move(Ppn(0)));
    assert_eq!(bench.map.step(job), Step::Wait);
    bench.map.trim(Lpn(0));
    assert_eq!(bench.map.relocate(job, Ppn(0)), None);
    let place = Ppn(40);
    assert_eq!(bench.map.step(job), Step::Program { place, label: 0 });
    assert_eq!(bench.map.step(job), Step::Wait);
    assert_eq!(bench.map.step(job), Step::Done);
    assert_eq!(bench.map.write(Lpn(1)), WriteOutcome::Placed(Ppn(41)));
}

/// Writes of a logical block keep their order: the second write waits for the first, although its
/// offset would be the next.
#[test]
fn writes_of_a_logical_block_are_placed_in_order_of_arrival() {
    let mut bench = Bench::new(1);
    bench.write(0..40);
    let want = SpaceRequest::Update(Plane(0), LogicalBlock(0));
    assert_eq!(bench.map.write(Lpn(2)), WriteOutcome::Blocked(want));
    assert_eq!(bench.map.write(Lpn(0)), WriteOutcome::Blocked(want));
    assert_eq!(bench.map.collect(want).unwrap().kind, GcKind::Partial);
    assert_eq!(bench.map.collect(want), None);
}

#[test]
fn logical_blocks_go_to_the_planes_in_turn() {
    let mut bench = Bench::of(&plan(&config(1), 3, 20, 4).unwrap());
    bench.write(0..36);
    for page in 0..36 {
        let place = bench.map.lookup(Lpn(page)).unwrap();
        let plane = bench.layout.plane_of(bench.layout.block_of(place));
        assert_eq!(plane, Plane(page / 4 % 3));
    }
    assert_eq!(JobId::of(Plane(2)).index(), 2);
}

/// Uniform random writes over N logical blocks of P pages, m of which have a replacement block at
/// the same time, cost (P - 1)(1 - m / 2N) copies each.
///
/// Writes program every block that they open from its first to its last page, so there are P
/// programs per replacement block opened. A write opens no block if its logical block already has a
/// replacement block (probability m / N, because the m logical blocks written last are any of the
/// N), and its page comes after the page written there last (probability (P - 1) / 2P). Therefore a
/// write costs P (1 - m / N (P - 1) / 2P) programs including its own: (P - 1)(1 - m / 2N) copies.
#[test]
fn random_writes_cost_the_expected_number_of_copies() {
    for (logical, open, pages) in [
        (1, 1, 16),
        (8, 8, 8),
        (20, 1, 16),
        (20, 4, 16),
        (20, 10, 64),
    ] {
        let mut bench = Bench::of(&plan(&config(open), 1, 2 * logical + 2, pages).unwrap());
        let user = u64::from(logical * pages);
        assert!(user <= bench.map.user_pages().into());
        bench.write(0..logical * pages);
        let mut random = Rng::new(1, "block.writes");
        let mut writes = |count| {
            let pages: Vec<u32> = (0..count).map(|_| random.below(user) as u32).collect();
            bench.write(pages)
        };
        writes(1_000);
        let count = 40_000;
        let work = writes(count);
        let (n, m, p) = (f64::from(logical), f64::from(open), f64::from(pages));
        let expected = (p - 1.0) * (1.0 - m / (2.0 * n));
        let found = work.moved as f64 / f64::from(count);
        // The standard deviation of the copies per write is at most P / 2, so the mean of 40,000
        // writes has a standard error of at most P / 400.
        assert!(
            (found - expected).abs() < 4.0 * p / 400.0,
            "{logical} {open} {pages}: {found} copies, {expected} expected"
        );
        assert_eq!(work.metadata, 0);
    }
}

/// A power cut does not change the location of any page, and replacement blocks still take their
/// next pages without a copy.
#[test]
fn replacement_blocks_continue_to_take_programs_after_a_power_cut() {
    let mut bench = Bench::new(2);
    bench.write(0..40);
    bench.write([2, 5]);
    let before: Vec<_> = (0..40).map(|page| bench.place(page)).collect();
    bench.cut();
    let after: Vec<_> = (0..40).map(|page| bench.place(page)).collect();
    assert_eq!(before, after);
    // Page 3 is the next page of its replacement block, so it costs no copy.
    assert_eq!(spent(bench.write([3])), (0, 0, 0));
    assert_eq!(spent(bench.write([6, 7])), (0, 0, 0));
}

/// The program of page 1 was interrupted. The page can no longer be programmed after page 0, so
/// both blocks are copied into another.
#[test]
fn torn_page_costs_a_copy_of_the_logical_block() {
    let mut bench = Bench::new(2);
    bench.write(0..40);
    bench.write([0]);
    bench.array.program(Ppn(41)).unwrap();
    bench.journal.spare.clear(Ppn(41));
    bench.cut();
    assert_eq!([0, 1, 2, 3].map(|page| bench.place(page).0), [10, 0, 0, 0]);
    assert_eq!(bench.needs(1), (GcKind::Full, 4, 0, 2));
    assert_eq!(spent(bench.write([1])), (5, 0, 2));
}

/// A replacement block that contains only copies is discarded.
#[test]
fn replacement_block_with_only_copies_is_erased_at_recovery() {
    let mut bench = Bench::new(2);
    bench.write(0..40);
    let want = SpaceRequest::Update(Plane(0), LogicalBlock(0));
    assert_eq!(bench.map.write(Lpn(2)), WriteOutcome::Blocked(want));
    let job = bench.map.collect(want).unwrap().job;
    assert_eq!(bench.map.step(job), Step::Move(Ppn(0)));
    let place = bench.map.relocate(job, Ppn(0)).unwrap();
    bench.array.program(place).unwrap();
    let tag = bench.journal.of_copy(Ppn(0)).unwrap();
    bench.journal.spare.write(place, tag);
    bench.cut();
    assert_eq!(bench.place(0), (0, 0));
    assert_eq!(bench.map.free_blocks(), 10);
    assert_eq!(bench.array.erases()[10], 1);
}

/// With 20 blocks and 10 logical blocks, 9 replacement blocks and a reserve of 1 fit, but 10 do
/// not.
#[test]
fn plan_without_room_for_data_replacement_blocks_and_reserve_is_rejected() {
    assert!(plan(&config(9), 1, 20, 4).is_ok());
    let error = plan(&config(10), 1, 20, 4).unwrap_err();
    assert_eq!(error.key, "ftl.over_provisioning_ratio");
    assert!(error.reason.contains("10 of its 20 blocks"), "{error}");
    let error = plan(&config(0), 1, 20, 4).unwrap_err();
    assert_eq!(error.key, "ftl.mapping.block.open_blocks");
}

#[test]
fn dynamic_allocation_is_rejected() {
    let of = |allocate| Config {
        allocate,
        ..config(1)
    };
    assert!(plan(&of(Allocate::Static(Static::default())), 2, 20, 4).is_ok());
    let error = plan(&of(Allocate::Dynamic(Dynamic::default())), 2, 20, 4).unwrap_err();
    assert_eq!(error.key, "ftl.allocate");
}

#[test]
fn schedules_that_use_idle_time_are_rejected() {
    for schedule in Scheduling::defaults() {
        let mut config = config(1);
        let name = schedule.name();
        config.gc.schedule = schedule;
        match plan(&config, 1, 20, 4) {
            Ok(_) => assert!(["on-demand", "incremental"].contains(&name), "{name}"),
            Err(error) => {
                assert_eq!(error.key, "ftl.gc.schedule");
                assert!(!["on-demand", "incremental"].contains(&name), "{name}");
            }
        }
    }
}

/// Pages 1 and 2 wait. A device retries all waiting writes when a GC run ends, here page 2 before
/// page 1.
#[test]
fn waiting_write_always_has_a_gc_run_to_wait_for() {
    let mut bench = Bench::new(1);
    bench.write(0..40);
    let want = SpaceRequest::Update(Plane(0), LogicalBlock(0));
    let mut waiting = vec![1, 2];
    let mut again = vec![1];
    let mut rounds = 0;
    while !waiting.is_empty() {
        let mut left = Vec::new();
        for page in waiting {
            match bench.map.write(Lpn(page)) {
                WriteOutcome::Blocked(_) => left.push(page),
                WriteOutcome::Placed(place) => {
                    bench.array.program(place).unwrap();
                    let later = (page == 1).then(|| again.pop()).flatten();
                    if later.is_some_and(|page| {
                        bench.map.write(Lpn(page)) == WriteOutcome::Blocked(want)
                    }) {
                        left.insert(0, 1);
                    }
                }
            }
        }
        left.sort_by_key(|page| std::cmp::Reverse(*page));
        waiting = left;
        if !waiting.is_empty() {
            let job = bench.map.collect(want).unwrap().job;
            bench.run(job);
        }
        rounds += 1;
        assert!(rounds < 10, "{waiting:?} wait");
    }
}
