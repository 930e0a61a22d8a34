//! Instructions a request costs on D4, the device of the benchmarks, filled in order: uniform random
//! 4 KiB reads, and uniform random 4 KiB writes with all their collections; and a page operation of
//! preconditioning.
#![allow(missing_docs, unused_qualifications)] // what the macros below make

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use wordline_block::{BlockDevice, Op, Request};
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, Mapping, PageMap, Precondition};
use wordline_host_link::Interface;
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::{Context, EventQueue, Rng, Time};
use wordline_nand::{Cell, Geometry, Layout, Part, Timing};
use wordline_ssd::{Event, Plan, Ssd};

const REQUESTS: u64 = 20_000;

fn plan() -> Plan {
    let geometry = Geometry::default();
    let dimensions = Dimensions {
        channels: 8,
        ways: 4,
        dies: 1,
        planes: 2,
    };
    let layout = Layout {
        dies: 32,
        planes_per_die: 2,
        blocks_per_plane: 512,
        pages_per_block: 64,
    };
    let mut config = Config::default();
    config.gc.start_free_ratio = 0.052;
    let ftl = wordline_ftl::Plan::new(&config, layout, dimensions, 1);
    Plan {
        read_ahead: None,
        first_read_pages: 0,
        part: Part::new(layout, &geometry, &Timing::default(), &Cell::default()),
        dies_per_channel: 4,
        page_bytes: geometry.page_bytes,
        internal_data_move: false,
        dies_per_package: dimensions.dies,
        composition: Composition::default(),
        scheduler: Scheduler::default(),
        queue_depth: 32,
        interface: Interface::default(),
        streams: Vec::new(),
        buffer: None,
        ftl: ftl.unwrap_or_else(|error| unreachable!("{error}")),
    }
}

fn empty() -> Ssd<PageMap> {
    let plan = plan();
    Ssd::new(&plan, PageMap::new(&plan.ftl))
}

fn filled(overwrite_pages: u64) -> Ssd<PageMap> {
    let plan = plan();
    let mut ssd = empty();
    let fill_pages = plan.ftl.user_pages;
    let done = Precondition {
        fill_pages,
        scattered: false,
        overwrite_pages,
        settle: None,
        seed: 1,
    };
    let done = ssd.precondition(&done, |_| true);
    assert!(done.is_ok(), "D4 can be filled");
    ssd
}

fn serve(ssd: &mut Ssd<PageMap>, op: Op) -> Time {
    serve_of(ssd, op, 4096)
}

/// Random requests of a page, or sequential ones of many.
fn serve_of(ssd: &mut Ssd<PageMap>, op: Op, bytes: u64) -> Time {
    let requests = REQUESTS * 4096 / bytes;
    let mut random = Rng::new(1, "offsets");
    let pages = u64::from(ssd.mapping().user_pages());
    let (mut queue, mut none) = (EventQueue::<Event>::default(), ());
    let mut cx = Context::new(Time::ZERO, &mut queue, &mut none);
    let mut issued = 0;
    loop {
        while issued < requests && ssd.takes(0) {
            let request = Request {
                stream: 0,
                op,
                fua: false,
                offset: if bytes > 4096 {
                    issued * bytes
                } else {
                    random.below(pages) * 4096
                },
                bytes,
                arrival: cx.now,
            };
            let submitted = ssd.submit(&mut cx, request);
            assert!(submitted.is_ok(), "within the device");
            issued += 1;
        }
        let Some((time, event)) = cx.queue.pop() else {
            return cx.now;
        };
        cx.now = time;
        let handled = ssd.handle(&mut cx, event);
        assert!(handled.is_ok(), "no rule is broken");
        ssd.completions().for_each(drop);
    }
}

/// Fails the benchmark above this many instructions a request, about 5 % above what was measured.
fn ceiling(instructions: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.hard_limits([(EventKind::Ir, instructions * REQUESTS)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

#[library_benchmark]
#[bench::rr4k(args = (filled(0), Op::Read), config = ceiling(1_372))]
#[bench::rw4k(args = (filled(500_000), Op::Write), config = ceiling(7_948))]
fn requests(mut ssd: Ssd<PageMap>, op: Op) -> (Time, Ssd<PageMap>) {
    (serve(&mut ssd, op), ssd)
}

// Pages of sequential writes of 128 KiB.
#[library_benchmark]
#[bench::sw128k(args = (filled(0)), config = ceiling(990))]
fn sequential(mut ssd: Ssd<PageMap>) -> (Time, Ssd<PageMap>) {
    (serve_of(&mut ssd, Op::Write, 128 << 10), ssd)
}

// Pages of a fill in order, about `REQUESTS`: over what is there, and of a new device, which takes
// blocks of all planes whole.
#[library_benchmark]
#[bench::overwrite(args = (filled(0)), config = ceiling(150))]
#[bench::fill(args = (empty()), config = ceiling(8))]
fn precondition(mut ssd: Ssd<PageMap>) -> Ssd<PageMap> {
    let fill = Precondition {
        fill_pages: 20_480,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    let done = ssd.precondition(&fill, |_| true);
    assert!(done.is_ok(), "D4 can be filled");
    ssd
}

library_benchmark_group!(name = d4, benchmarks = [requests, sequential, precondition]);
main!(library_benchmark_groups = d4);
