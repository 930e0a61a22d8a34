//! A small device and a closed loop around it.
#![allow(dead_code)] // each test file uses some of these

use wordline_block::{
    BlockDevice, Completion, Event as _, LatencyComponents, Op, ReadEvents, Request,
};
use wordline_dram_buffer as buffer;
use wordline_ftl::allocate::Dimensions;
use wordline_ftl::{Config, GcKind, Map, Mapping, Precondition};
use wordline_host_link::Interface;
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_kernel::{AnyProbe, Context, Digest, EventQueue, Probe, Rng, Time};
use wordline_nand::{Cell, Chains, Geometry, Layout, Operation, Part, PerLevel, Timing};
use wordline_reliability::errors::table::Table;
use wordline_reliability::{Code, Errors, Reader};
use wordline_ssd::{DeviceError, Event, Observation, Plan, Ssd};

/// Returns the plan of a device of `dimensions` with these blocks per plane and pages per block;
/// `None` if the configuration does not fit on it.
pub fn plan(
    config: &Config,
    dimensions: Dimensions,
    blocks: u32,
    pages: u32,
    queue_depth: u32,
) -> Option<Plan> {
    let geometry = Geometry {
        dies_per_package: dimensions.dies,
        planes_per_die: dimensions.planes,
        blocks_per_plane: blocks,
        pages_per_block: pages,
        ..Geometry::default()
    };
    let layout = Layout::new(&geometry, dimensions.channels * dimensions.ways)?;
    Some(Plan {
        part: Part::new(layout, &geometry, &Timing::default(), &Cell::default()),
        dies_per_channel: dimensions.ways * dimensions.dies,
        page_bytes: geometry.page_bytes,
        internal_data_move: false,
        dies_per_package: dimensions.dies,
        composition: Composition::default(),
        scheduler: Scheduler::default(),
        queue_depth,
        interface: Interface::default(),
        streams: Vec::new(),
        buffer: None,
        ftl: wordline_ftl::Plan::new(config, layout, dimensions, 1).ok()?,
        read_ahead: None,
        first_read_pages: 0,
    })
}

/// Sets the times of reads, programs and erases. A page of 4 KiB takes 20 us on the bus, and
/// nothing else takes bus time.
pub fn take(plan: &mut Plan, pages_per_block: u32, [read, program, erase]: [Time; 3]) {
    let geometry = Geometry {
        pages_per_block,
        ..Geometry::default()
    };
    let timing = Timing {
        read_ns: PerLevel::All(read.0 / 1000),
        program_ns: PerLevel::All(program.0 / 1000),
        erase_ns: erase.0 / 1000,
        command_cycle_ns: 0,
        plane_busy_ns: 0,
        bus_mt_per_s: 204.8,
        ..Timing::default()
    };
    plan.part.chains = Chains::new(&geometry, &timing, &Cell::default());
}

/// Returns the preconditioning that writes all pages sequentially.
pub fn all_written(plan: &Plan) -> Precondition {
    Precondition {
        fill_pages: plan.ftl.user_pages,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    }
}

/// Returns a device whose pages have all been written sequentially.
pub fn filled(plan: &Plan) -> Ssd<Map> {
    let mut ssd = Ssd::new(plan, Map::new(&plan.ftl));
    ssd.precondition(&all_written(plan), |_| true).unwrap();
    ssd
}

/// Returns a write-back buffer of `pages` pages that takes no time.
pub fn buffer(pages: u32) -> buffer::Plan {
    buffer::Plan {
        pages,
        replacement: wordline_cache::Replacement::default(),
        write_through: false,
        capacitors: false,
        ignores_flush: false,
        watches_balance: false,
        batch_pages: 0,
        idle_flush: None,
        read_ahead: 0,
        access: Time::ZERO,
        port: (1, 1),
    }
}

/// Returns an error model in which every page has this raw bit error rate.
pub fn constant(rate: f64) -> Errors {
    Errors::Table(Table {
        cycles: vec![0.0],
        rates: vec![rate],
        per_day: Vec::new(),
        per_read: Vec::new(),
    })
}

/// Returns a model of 4 KiB pages with these errors and this code, without read reclaim and
/// refresh.
pub fn reader(errors: Errors, code: Code) -> Reader {
    Reader {
        errors,
        page_factors: Vec::new(),
        variation: None,
        shift: None,
        single_level: None,
        words: code.words(4096),
        code,
        cycles: 0.0,
        retention_days: 0.0,
        acceleration: 1.0,
        expected: false,
        read_limit: 0,
        refresh_days: 0.0,
    }
}

/// Results of a run.
#[derive(Debug, Default)]
pub struct Tally {
    pub requests: u64,
    pub latency_ps: u128,
    pub host_pages: u64,
    pub moved: u64,
    pub merged: u64,
    pub unwritten: u64,
    pub collections: u64,
    /// GC runs of read reclaim and refresh. Count.
    pub refreshes: u64,
    pub erased: u64,
    pub trimmed: u64,
    pub own: u64,
    pub replaced: u64,
    pub retired: u64,
    /// Bad blocks that a spare block replaced. Count.
    pub spares_taken: u64,
    /// Read retries. Count.
    pub retries: u64,
    /// Events of each read, in order of completion.
    pub met: Vec<ReadEvents>,
    /// Pages that requests found in the DRAM buffer, and did not find. Count.
    pub hits: [u64; 2],
    /// Clean and dirty evictions from the DRAM buffer. Pages.
    pub evictions: [u64; 2],
    /// Evictions at which the dies were unbalanced. Count.
    pub unbalanced: u64,
    pub destaged: u64,
    /// Pages that were read ahead, and those that were used. Count.
    pub ahead: [u64; 2],
    /// Array reads of pages, for any purpose. Count.
    pub read: u64,
    pub batches: u64,
    pub flushed_idly: u64,
}

impl Probe<Observation> for Tally {
    fn observe(&mut self, now: Time, observation: Observation) {
        match observation {
            Observation::Request { request, parts, .. } => {
                let latency = now - request.arrival;
                assert_eq!(
                    parts.total(),
                    latency,
                    "latency components add up to the response time"
                );
                self.requests += 1;
                self.latency_ps += u128::from(latency.0);
            }
            Observation::PagesWritten { pages } => self.host_pages += u64::from(pages),
            Observation::PageMerged => self.merged += 1,
            Observation::UnwrittenRead => self.unwritten += 1,
            Observation::Collected {
                moved,
                erased,
                kind,
                ..
            } => {
                self.refreshes += u64::from(kind == GcKind::Refresh);
                self.moved += u64::from(moved);
                self.erased += u64::from(erased);
                self.collections += 1;
            }
            Observation::PageTrimmed => self.trimmed += 1,
            Observation::MetadataPage { .. } => self.own += 1,
            Observation::Replaced => self.replaced += 1,
            Observation::BlockRetired { replaced } => {
                self.retired += 1;
                self.spares_taken += u64::from(replaced);
            }
            Observation::Read { met, response: _ } => self.met.push(met),
            Observation::Retried { retries } => self.retries += u64::from(retries),
            Observation::Buffer(buffer::Observation::Accessed { hit, .. }) => {
                self.hits[usize::from(!hit)] += 1;
            }
            Observation::Buffer(buffer::Observation::Evicted { dirty, unbalanced }) => {
                self.unbalanced += u64::from(unbalanced);
                self.evictions[usize::from(dirty)] += 1;
            }
            Observation::Buffer(buffer::Observation::Destaged { .. }) => self.destaged += 1,
            Observation::Buffer(buffer::Observation::BatchSent { .. }) => self.batches += 1,
            Observation::Buffer(buffer::Observation::ReadAhead) => self.ahead[0] += 1,
            Observation::Buffer(buffer::Observation::ReadAheadUsed) => self.ahead[1] += 1,
            Observation::ReadAhead { used } => self.ahead[usize::from(used)] += 1,
            Observation::Buffer(buffer::Observation::FlushedIdly) => self.flushed_idly += 1,
            Observation::Die {
                operation: Operation::Read,
                pages,
                ..
            } => self.read += u64::from(pages),
            Observation::Admitted { .. }
            | Observation::Bus { .. }
            | Observation::Array { .. }
            | Observation::Die { .. }
            | Observation::FreeBlocks { .. }
            | Observation::TrimBegun { .. }
            | Observation::Programmed { .. }
            | Observation::PowerCut(_) => {}
        }
    }
}

/// Load of the host.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub requests: u64,
    pub read_ratio: f64,
    /// Granularity of sizes, up to `most_bytes`, and of offsets. Bytes.
    pub grain_bytes: u64,
    pub most_bytes: u64,
    /// Share of the device that is used.
    pub footprint_ratio: f64,
}

impl Load {
    pub fn next(&self, user_bytes: u64, random: &mut Rng) -> (Op, u64, u64) {
        let op = if random.unit() < self.read_ratio {
            Op::Read
        } else {
            Op::Write
        };
        let bytes = (1 + random.below(self.most_bytes / self.grain_bytes)) * self.grain_bytes;
        let bytes = bytes.min(user_bytes);
        let space = ((user_bytes as f64 * self.footprint_ratio) as u64).clamp(bytes, user_bytes);
        let offset = random.below((space - bytes) / self.grain_bytes + 1) * self.grain_bytes;
        (op, offset, bytes)
    }
}

/// Fills `fill_pages` sequentially, then keeps the device queue full of `load`. With `verify`,
/// verifies every read.
pub fn closed_loop<M: Mapping>(
    plan: &Plan,
    mapping: M,
    load: Load,
    fill_pages: u32,
    verify: bool,
) -> Result<(Tally, u64, Ssd<M>), DeviceError> {
    let next = |ssd: &Ssd<M>, _, random: &mut Rng| load.next(ssd.user_bytes(), random);
    drive(plan, mapping, load.requests, fill_pages, verify, next)
}

/// Runs a closed loop as [`closed_loop`] does, with requests that may depend on the device and on
/// their number.
pub fn drive<M: Mapping>(
    plan: &Plan,
    mapping: M,
    requests: u64,
    fill_pages: u32,
    verify: bool,
    next: impl Fn(&Ssd<M>, u64, &mut Rng) -> (Op, u64, u64),
) -> Result<(Tally, u64, Ssd<M>), DeviceError> {
    let mut ssd = Ssd::new(plan, mapping);
    let precondition = Precondition {
        fill_pages,
        scattered: false,
        overwrite_pages: 0,
        settle: None,
        seed: 1,
    };
    ssd.precondition(&precondition, |_| true)?;
    if verify {
        ssd.verify();
    }
    let mut queue = EventQueue::<Event>::default();
    let mut tally = Tally::default();
    let mut digest = Digest::default();
    let mut random = Rng::new(1, "load");
    let (mut now, mut issued) = (Time::ZERO, 0);
    loop {
        while issued < requests && ssd.can_accept(0) {
            let (op, offset, bytes) = next(&ssd, issued, &mut random);
            ssd.submit(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
                Request {
                    stream: 0,
                    op,
                    fua: false,
                    offset,
                    bytes,
                    arrival: now,
                },
            )?;
            issued += 1;
        }
        let Some((time, event)) = queue.pop() else {
            break;
        };
        assert!(time >= now, "time never decreases");
        now = time;
        digest.mix(time.0);
        event.mix(&mut digest);
        ssd.handle(
            &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
            event,
        )?;
    }
    assert_eq!(ssd.outstanding(), 0, "every request admitted is served");
    assert_eq!(
        tally.requests, requests,
        "every request generated is served"
    );
    Ok((tally, digest.value(), ssd))
}

/// Completion time and latency components of a request of [`play`], and whether it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    pub done: Time,
    pub parts: LatencyComponents,
    pub failed: bool,
}

/// Submits requests at their arrivals and runs until the device is idle. The device must accept
/// each request at once. Returns the results in the order of the requests.
pub fn play<M: Mapping>(ssd: &mut Ssd<M>, requests: &[Request]) -> (Vec<Played>, Tally) {
    let mut queue = EventQueue::<Event>::default();
    let mut tally = Tally::default();
    let mut tickets = std::collections::HashMap::new();
    let mut played = vec![None; requests.len()];
    let mut coming = requests.iter().enumerate().peekable();
    loop {
        let now;
        let due = queue.next_time();
        let first = coming.peek().map(|(_, request)| request.arrival);
        if let Some(arrival) = first
            && due.is_none_or(|due| arrival <= due)
        {
            let (number, request) = coming.next().unwrap();
            assert!(
                ssd.can_accept(request.stream),
                "the device accepts request {number}"
            );
            let ticket = ssd
                .submit(
                    &mut Context::new(arrival, &mut queue, &mut AnyProbe::new(&mut tally)),
                    *request,
                )
                .unwrap();
            tickets.insert(ticket, number);
            now = arrival;
        } else {
            let Some((at, event)) = queue.pop() else {
                break;
            };
            now = at;
            ssd.handle(
                &mut Context::new(now, &mut queue, &mut AnyProbe::new(&mut tally)),
                event,
            )
            .unwrap();
        }
        ssd.audit().unwrap();
        for completion in ssd.completions() {
            let Completion {
                ticket,
                parts,
                failed,
                ..
            } = completion;
            let done = now;
            played[tickets[&ticket]] = Some(Played {
                done,
                parts,
                failed,
            });
        }
    }
    (played.into_iter().map(Option::unwrap).collect(), tally)
}

/// Returns a request that arrives at `arrival`.
pub fn at(arrival: Time, op: Op, offset: u64, bytes: u64) -> Request {
    Request {
        stream: 0,
        op,
        fua: false,
        offset,
        bytes,
        arrival,
    }
}
