//! Queueing laws of the host model, in front of a store with a fixed service time.
//!
//! All times are fixed, so closed loops become periodic. The throughput equals the asymptotic bound
//! min(N / R, 1 / D) instead of staying below it (P. J. Denning, J. P. Buzen, The operational
//! analysis of queueing network models, ACM Computing Surveys 10(3), 1978).

#![allow(clippy::expect_used)] // test code, also outside test functions

use std::cell::Cell;
use std::collections::VecDeque;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use wordline_block::{
    BlockDevice, Completion, Failure, GcObservation, LatencyComponents, Op, PowerCut, Request,
    Ticket,
};
use wordline_host_cpu::architecture::bridge::Bridge;
use wordline_host_cpu::architecture::flash_software::FlashSoftware;
use wordline_host_cpu::cpu::FLASH_SOFTWARE;
use wordline_host_cpu::mapping::cached_table::CachedTable;
use wordline_host_cpu::{
    Architecture, Cause, Config, Event, Host, HostStats, Mapping, Observation,
};
use wordline_kernel::{Context, Digest, EventQueue, Probe, Time};

/// Event of the store: completion of a request.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Done(Ticket);

impl wordline_block::Event for Done {
    fn mix(self, digest: &mut Digest) {
        digest.mix(self.0.into());
    }
}

#[derive(Clone, Copy, Debug)]
struct Collected(u32);

impl GcObservation for Collected {
    fn collection_steps(&self) -> u32 {
        self.0
    }
}

#[derive(Debug)]
struct Never;

impl std::fmt::Display for Never {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

impl Failure for Never {
    fn is_interruption(&self) -> bool {
        false
    }
}

/// Store with a fixed service time per request, `slots` requests at the same time, and GC steps
/// with each request.
#[derive(Debug, Serialize, Deserialize)]
struct Fixed {
    time: Time,
    slots: usize,
    /// Whether each stream has its own `slots`.
    slots_by_stream: bool,
    collects: u32,
    held: Vec<Option<Request>>,
    /// Number of requests in progress, by stream.
    under_way: Vec<usize>,
    /// Calls of `can_accept`. Count.
    questions: Cell<u64>,
    /// All requests submitted so far: operation, first byte, number of bytes.
    asked: Vec<(Op, u64, u64)>,
    done: Vec<Completion>,
}

impl Fixed {
    fn new(ns: u64) -> Self {
        Self {
            time: Time::from_ns(ns),
            slots: 1 << 10,
            slots_by_stream: false,
            collects: 0,
            held: Vec::new(),
            under_way: Vec::new(),
            questions: Cell::new(0),
            asked: Vec::new(),
            done: Vec::new(),
        }
    }
    fn under_way(&self, stream: u32) -> usize {
        if self.slots_by_stream {
            return self.under_way.get(stream as usize).copied().unwrap_or(0);
        }
        self.under_way.iter().sum()
    }
}

impl BlockDevice for Fixed {
    type Event = Done;
    type Observation = Collected;
    type Error = Never;

    fn begin_measuring(&mut self, _now: Time) {}

    fn user_bytes(&self) -> u64 {
        1 << 30
    }
    fn can_accept(&self, stream: u32) -> bool {
        self.questions.set(self.questions.get() + 1);
        self.under_way(stream) < self.slots
    }
    fn submit(
        &mut self,
        cx: &mut Context<'_, Done, impl Probe<Collected>>,
        request: Request,
    ) -> Result<Ticket, Never> {
        self.held.push(Some(request));
        let stream = request.stream as usize;
        if self.under_way.len() <= stream {
            self.under_way.resize(stream + 1, 0);
        }
        self.under_way[stream] += 1;
        self.asked.push((request.op, request.offset, request.bytes));
        let ticket = self.held.len() as Ticket - 1;
        self.done.reserve(1);
        cx.schedule(cx.now + self.time, Done(ticket));
        if self.collects > 0 {
            cx.observe(Collected(self.collects));
        }
        // A request that waited outside the store counts from the start of its wait.
        self.held[ticket as usize] = Some(Request {
            bytes: (cx.now - request.arrival).0,
            ..request
        });
        Ok(ticket)
    }
    fn handle(
        &mut self,
        _cx: &mut Context<'_, Done, impl Probe<Collected>>,
        Done(ticket): Done,
    ) -> Result<(), Never> {
        let Some(request) = self.held[ticket as usize].take() else {
            return Ok(());
        };
        self.under_way[request.stream as usize] -= 1;
        self.done.push(Completion {
            ticket,
            stream: request.stream,
            parts: LatencyComponents {
                host_queue: Time(request.bytes),
                cell: self.time,
                ..LatencyComponents::default()
            },
            failed: false,
        });
        Ok(())
    }
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.done.drain(..)
    }
    fn has_completions(&self) -> bool {
        !self.done.is_empty()
    }
    fn cut_power(
        &mut self,
        _now: Time,
        _probe: &mut impl Probe<Collected>,
    ) -> Result<PowerCut, Never> {
        self.under_way.clear();
        for (ticket, held) in (0..).zip(&mut self.held) {
            self.done.extend(held.take().map(|request| Completion {
                ticket,
                stream: request.stream,
                parts: LatencyComponents::default(),
                failed: false,
            }));
        }
        Ok(PowerCut {
            time: Time::from_us(1),
            ..PowerCut::default()
        })
    }
    fn volatile_pages(&self, _offset: u64, _bytes: u64) -> u32 {
        0
    }
}

/// Completion time and latency components of each completed request. Checks that the components add
/// up to the response time.
#[derive(Default)]
struct Observations(Vec<(Time, LatencyComponents)>);

impl Probe<Observation<Collected>> for Observations {
    fn observe(&mut self, now: Time, observation: Observation<Collected>) {
        if let Observation::Request { request, parts } = observation {
            assert_eq!(parts.total(), now - request.arrival);
            self.0.push((now, parts));
        }
    }
}

/// Result of a run of closed loops.
struct Loops {
    observations: Observations,
    figures: HostStats,
    end: Time,
}

fn request(stream: u32, number: u64, now: Time) -> Request {
    Request {
        stream,
        op: if number.is_multiple_of(3) {
            Op::Read
        } else {
            Op::Write
        },
        fua: false,
        offset: number * 7 % 1000 * 512,
        bytes: 512,
        arrival: now,
    }
}

fn run(config: &Config, store: Fixed, workers: u32, depth: u32, requests: u64) -> Loops {
    let mut host = Host::new(config, store);
    let (mut queue, mut observations) = (
        EventQueue::<Event<Done>>::default(),
        Observations::default(),
    );
    let mut issued = 0;
    let mut now = Time::ZERO;
    let mut due: Vec<u32> = (0..depth).flat_map(|_| 0..workers).collect();
    loop {
        for stream in std::mem::take(&mut due) {
            if issued < requests {
                let cx = &mut Context::new(now, &mut queue, &mut observations);
                host.submit(cx, request(stream, issued, now))
                    .expect("the store never fails");
                issued += 1;
            }
        }
        due.extend(host.completions().map(|done| done.stream));
        if !due.is_empty() {
            continue;
        }
        let Some((at, event)) = queue.pop() else {
            break;
        };
        now = at;
        let cx = &mut Context::new(now, &mut queue, &mut observations);
        host.handle(cx, event).expect("the store never fails");
        due.extend(host.completions().map(|done| done.stream));
    }
    assert_eq!(observations.0.len() as u64, requests);
    Loops {
        figures: host.figures(),
        observations,
        end: now,
    }
}

impl Loops {
    /// Returns the interval between completions in the last third of the run, or `None` if the
    /// intervals differ.
    fn period(&self) -> Option<Time> {
        let times = self.observations.0.iter().map(|(at, _)| *at);
        let late: Vec<Time> = times.skip(self.observations.0.len() * 2 / 3).collect();
        let mut gaps = late.windows(2).map(|pair| pair[1] - pair[0]);
        let first = gaps.next()?;
        gaps.all(|gap| gap == first).then_some(first)
    }
    /// Returns the throughput in the last two thirds of the run. Requests per second.
    fn throughput(&self) -> f64 {
        let first = self.observations.0.len() / 3;
        let time =
            self.observations.0[self.observations.0.len() - 1].0 - self.observations.0[first].0;
        (self.observations.0.len() - 1 - first) as f64 / time.as_secs()
    }
}

/// Returns a configuration with 38 us without the lock and 45 us under it, and the time in the
/// store, 17 us. The times are fitted to chapter 4 of Jung's thesis.
fn shares() -> (Config, u64) {
    let config = Config {
        submit_ns: 38_000,
        locked_ns: 45_000,
        complete_ns: 0,
        ..Config::default()
    };
    (config, 17_000)
}

/// Returns the throughput of `workers` by mean value analysis, in requests per second. The lock is
/// a server and the rest is think time, all exponential (M. Reiser, S. S. Lavenberg, Mean-value
/// analysis of closed multichain queueing networks, Journal of the ACM 27(2), 1980).
fn mean_value_analysis(think: f64, lock: f64, workers: u32) -> f64 {
    let (mut queue, mut throughput) = (0.0, 0.0);
    for population in 1..=workers {
        let response = lock * (1.0 + queue);
        throughput = f64::from(population) / (think + response);
        queue = throughput * response;
    }
    throughput
}

#[test]
fn workers_with_a_lock_reach_the_asymptotic_bound() {
    let (config, store) = shares();
    // There is a core per worker, so all time without the lock is think time.
    let config = Config { cores: 8, ..config };
    for workers in 1..=8 {
        let loops = run(&config, Fixed::new(store), workers, 1, 3000);
        let bound = (f64::from(workers) / 100e-6).min(1.0 / 45e-6);
        let exponential = mean_value_analysis(55e-6, 45e-6, workers);
        let throughput = loops.throughput();
        assert!(
            (throughput / bound - 1.0).abs() < 2e-3,
            "{workers}: {throughput} of {bound}"
        );
        assert!(
            throughput > exponential * 0.998,
            "{workers}: {throughput}, {exponential}"
        );
    }
    let three = run(&config, Fixed::new(store), 3, 1, 3000);
    assert_eq!(three.period(), Some(Time::from_us(45)));
}

#[test]
fn lock_limits_the_speedup_of_four_and_eight_workers_equally() {
    let (config, store) = shares();
    let of = |workers| run(&config, Fixed::new(store), workers, 1, 3000).throughput();
    let one = of(1);
    for workers in [4, 8] {
        assert!((of(workers) / one - 100.0 / 45.0).abs() < 0.01);
    }
}

#[test]
fn cpu_time_limits_throughput_of_a_worker_with_queued_requests() {
    let (config, store) = shares();
    let loops = run(&config, Fixed::new(store), 1, 128, 3000);
    assert_eq!(loops.period(), Some(Time::from_us(83)));
    // By Little's law, the response time is the number of outstanding requests times the period.
    let (_, late) = loops.observations.0[2800];
    assert_eq!(late.total(), Time::from_us(128 * 83));
}

#[test]
fn cpu_time_of_all_workers_limits_throughput_on_one_core() {
    let (config, store) = shares();
    let config = Config { cores: 1, ..config };
    let loops = run(&config, Fixed::new(store), 8, 1, 3000);
    assert!((loops.throughput() * 83e-6 - 1.0).abs() < 1e-3);
}

fn bridge(queue_depth: u32) -> Config {
    Config {
        submit_ns: 0,
        complete_ns: 0,
        architecture: Architecture::Bridge(Bridge {
            protocol_ns: 50_000,
            queue_depth,
            ..Bridge::default()
        }),
        ..Config::default()
    }
}

#[test]
fn bridge_without_a_queue_serves_one_request_at_a_time() {
    for workers in [1, 2, 4, 8] {
        let loops = run(&bridge(1), Fixed::new(15_000), workers, 1, 900);
        assert_eq!(loops.period(), Some(Time::from_us(65)));
        let (_, last) = loops.observations.0[800];
        assert_eq!(last.total(), Time::from_us(65 * u64::from(workers)));
    }
}

#[test]
fn conversion_time_limits_throughput_of_a_bridge_with_a_queue() {
    let loops = run(&bridge(128), Fixed::new(15_000), 1, 128, 3000);
    assert_eq!(loops.period(), Some(Time::from_us(50)));
}

#[test]
fn bridge_time_is_proportional_to_stripes() {
    let mut host = Host::new(&bridge(8), Fixed::new(0));
    let (mut queue, mut observations) = (
        EventQueue::<Event<Done>>::default(),
        Observations::default(),
    );
    let crossing = Request {
        offset: 65_536 - 512,
        bytes: 65_536 + 1024,
        ..request(0, 0, Time::ZERO)
    };
    let cx = &mut Context::new(Time::ZERO, &mut queue, &mut observations);
    host.submit(cx, crossing).expect("the store never fails");
    // 64 KiB plus 1 KiB, which touch three stripes: the end of the first, the second, and the start
    // of the third.
    assert_eq!(queue.next_time(), Some(Time::from_us(150)));
}

fn software(collects: u32) -> (Config, Fixed) {
    let config = Config {
        architecture: Architecture::FlashSoftware(FlashSoftware {
            lookup_ns: 300,
            update_ns: 700,
            collection_ns: 1_100,
            ..FlashSoftware::default()
        }),
        ..shares().0
    };
    let mut store = Fixed::new(17_000);
    store.collects = collects;
    (config, store)
}

#[test]
fn flash_software_time_is_the_number_of_steps_times_their_cost() {
    let (config, store) = software(3);
    let HostStats {
        cpu,
        lookups,
        updates,
        collection_steps,
        ..
    } = run(&config, store, 4, 1, 900).figures;
    // 512 bytes are one table entry. Every third request is a read.
    assert_eq!((lookups, updates, collection_steps), (900, 600, 2700));
    assert_eq!(cpu.get(Cause::LookUp), Time::from_ns(300 * 900));
    assert_eq!(cpu.get(Cause::Update), Time::from_ns(700 * 600));
    assert_eq!(cpu.get(Cause::Collection), Time::from_ns(1_100 * 2700));
    assert_eq!(cpu.get(Cause::Worker), Time::from_ns(83_000 * 900));
    assert_eq!(FLASH_SOFTWARE, 0);
}

#[test]
fn gc_steps_compete_with_workers_for_the_lock() {
    // Time under the lock per request: 45 us for the worker, 0.3 us for the look-up, 0.7 us for an
    // update in two of three requests, and the GC steps.
    for (collects, period) in [(0, 45_766.67), (10, 56_766.67)] {
        let (config, store) = software(collects);
        let loops = run(&config, store, 8, 1, 3000);
        let mean = 1e9 / loops.throughput();
        assert!((mean - period).abs() < 60.0, "{mean} for {period}");
    }
}

/// Returns the configuration of a cached table with 64 entries per page for units of 512 bytes, and
/// with memory for `pages` pages.
fn cached(pages: u64) -> Config {
    let table = CachedTable {
        entry_bytes: 8,
        page_bytes: 512,
        ..CachedTable::default()
    };
    let least = table.least_memory(1 << 30, 512);
    let memory_bytes = least + (pages - 1) * 512;
    Config {
        submit_ns: 0,
        locked_ns: 0,
        complete_ns: 0,
        architecture: Architecture::FlashSoftware(FlashSoftware {
            mapping: Mapping::CachedTable(CachedTable {
                memory_bytes,
                ..table
            }),
            lookup_ns: 300,
            update_ns: 700,
            ..FlashSoftware::default()
        }),
        ..Config::default()
    }
}

/// Bytes that the map reserves in a store of 2^30 bytes: 32,264 pages of 512 bytes take 15.75 MiB,
/// rounded up to 16 MiB.
const RESERVED: u64 = 16 << 20;

/// A host with its observations, and the position in the list of its store requests.
struct Session {
    host: Host<Fixed>,
    queue: EventQueue<Event<Done>>,
    observations: Observations,
    now: Time,
    /// Number of store requests that `asked` has returned before.
    before: usize,
}

impl Session {
    fn new(config: &Config) -> Self {
        Self {
            host: Host::new(config, Fixed::new(17_000)),
            queue: EventQueue::default(),
            observations: Observations::default(),
            now: Time::ZERO,
            before: 0,
        }
    }
    /// Serves simultaneous requests for single units, each from its own worker. Returns response
    /// times and waits on the host, in order of completion.
    fn serve(&mut self, requests: &[(Op, u64)]) -> Vec<(Time, Time)> {
        for (stream, &(op, unit)) in (0..).zip(requests) {
            let request = Request {
                op,
                offset: unit * 512,
                ..request(stream, 0, self.now)
            };
            let cx = &mut Context::new(self.now, &mut self.queue, &mut self.observations);
            self.host
                .submit(cx, request)
                .expect("the store never fails");
        }
        while let Some((at, event)) = self.queue.pop() {
            self.now = at;
            let cx = &mut Context::new(at, &mut self.queue, &mut self.observations);
            self.host.handle(cx, event).expect("the store never fails");
        }
        let completed = self.host.completions().count();
        assert_eq!(completed, requests.len());
        let observations = self.observations.0.drain(..);
        observations
            .map(|(_, parts)| (parts.total(), parts.host_side_wait))
            .collect()
    }
    /// Returns operation and offset of the requests to the store since the last call.
    fn asked(&mut self) -> Vec<(Op, u64)> {
        let all = &self.host.store().asked;
        let before = std::mem::replace(&mut self.before, all.len());
        let new = all[before..].iter();
        new.map(|(op, offset, _)| (*op, *offset)).collect()
    }
}

#[test]
fn map_cache_miss_writes_the_evicted_page_and_reads_the_missing_one() {
    let mut session = Session::new(&cached(1));
    assert_eq!(session.host.user_bytes(), (1 << 30) - RESERVED);
    let us = |store: u64, cpu: u64| Time::from_ns(store * 17_000 + cpu);
    // A look-up of one unit in one page takes two steps of 300 ns, an update one of 700 ns. The
    // write creates its page in memory.
    assert_eq!(
        session.serve(&[(Op::Write, 3)]),
        [(us(1, 1_300), Time::ZERO)]
    );
    assert_eq!(session.asked(), [(Op::Write, RESERVED + 3 * 512)]);
    // The next write evicts that page to create its own.
    assert_eq!(
        session.serve(&[(Op::Write, 64)]),
        [(us(2, 1_300), Time::ZERO)]
    );
    assert_eq!(
        session.asked(),
        [(Op::Write, 0), (Op::Write, RESERVED + 64 * 512)]
    );
    // The read evicts the second page and reads the first from the store.
    assert_eq!(session.serve(&[(Op::Read, 5)]), [(us(3, 600), Time::ZERO)]);
    assert_eq!(
        session.asked(),
        [
            (Op::Write, 512),
            (Op::Read, 0),
            (Op::Read, RESERVED + 5 * 512)
        ]
    );
    // The first page stays in memory for the next read. A page that was never created is not read.
    // The last read evicts the first page without a write, because it is clean.
    assert_eq!(session.serve(&[(Op::Read, 63)]), [(us(1, 600), Time::ZERO)]);
    assert_eq!(
        session.serve(&[(Op::Read, 640)]),
        [(us(1, 600), Time::ZERO)]
    );
    assert_eq!(session.serve(&[(Op::Read, 65)]), [(us(2, 600), Time::ZERO)]);
    let loads = session.host.figures().loads;
    assert_eq!((loads.hits, loads.misses, loads.write_backs), (1, 2, 2));
}

#[test]
fn requests_wait_for_the_request_that_loads_their_map_page() {
    let config = Config {
        architecture: match cached(1).architecture {
            Architecture::FlashSoftware(software) => Architecture::FlashSoftware(FlashSoftware {
                lookup_ns: 0,
                update_ns: 0,
                ..software
            }),
            other => other,
        },
        ..cached(1)
    };
    let mut session = Session::new(&config);
    session.serve(&[(Op::Write, 0)]);
    session.serve(&[(Op::Write, 64)]);
    session.asked();
    // Page 1 is written and page 0 read on behalf of both first requests. The third replaces page 0
    // only after it was read.
    let us = |us: u64| Time::from_us(us);
    let requests = [(Op::Read, 1), (Op::Read, 2), (Op::Read, 66)];
    assert_eq!(
        session.serve(&requests),
        [(us(51), us(0)), (us(51), us(34)), (us(68), us(34))]
    );
    let [write, read] = [(Op::Write, 512), (Op::Read, 0)];
    assert_eq!(session.asked()[..2], [write, read]);
}

/// Returns a host configuration without CPU time: submitted requests wait for the store at once.
fn idle() -> Config {
    Config {
        submit_ns: 0,
        locked_ns: 0,
        complete_ns: 0,
        ..Config::default()
    }
}

/// Submits one request per item of `streams` at the same time to a host that takes no time, and
/// serves them all.
fn serve_backlog(store: Fixed, streams: &[u32]) -> Host<Fixed> {
    let mut host = Host::new(&idle(), store);
    let (mut queue, mut observations) = (
        EventQueue::<Event<Done>>::default(),
        Observations::default(),
    );
    for (number, &stream) in (0..).zip(streams) {
        let request = Request {
            offset: number * 512,
            ..request(stream, number, Time::ZERO)
        };
        let cx = &mut Context::new(Time::ZERO, &mut queue, &mut observations);
        host.submit(cx, request).expect("the store never fails");
    }
    while let Some((at, event)) = queue.pop() {
        let cx = &mut Context::new(at, &mut queue, &mut observations);
        host.handle(cx, event).expect("the store never fails");
    }
    assert_eq!(host.completions().count(), streams.len());
    host
}

/// Returns the numbers of requests in the order in which a store with `slots` slots per stream
/// accepts them. At each arrival and completion, all waiting requests are tried in order of
/// arrival.
fn in_order_of_looking(streams: &[u32], slots: usize) -> Vec<u64> {
    let mut free = [slots; 8];
    let mut waiting: Vec<(u64, u32)> = Vec::new();
    let (mut taken, mut under_way) = (Vec::new(), VecDeque::new());
    let mut look =
        |waiting: &mut Vec<(u64, u32)>, freed: Option<u32>, under_way: &mut VecDeque<u32>| {
            if let Some(stream) = freed {
                free[stream as usize] += 1;
            }
            waiting.retain(|&(number, stream)| {
                let takes = free[stream as usize] > 0;
                if takes {
                    free[stream as usize] -= 1;
                    taken.push(number);
                    under_way.push_back(stream);
                }
                !takes
            });
        };
    for (number, &stream) in (0..).zip(streams) {
        waiting.push((number, stream));
        look(&mut waiting, None, &mut under_way);
    }
    while let Some(stream) = under_way.pop_front() {
        look(&mut waiting, Some(stream), &mut under_way);
    }
    taken
}

/// Returns the number of calls of `can_accept` while a backlog with these streams drains.
fn questions(streams: &[u32]) -> u64 {
    let mut store = Fixed::new(17_000);
    (store.slots, store.slots_by_stream) = (4, true);
    serve_backlog(store, streams).store().questions.get()
}

#[test]
fn cost_of_a_request_is_independent_of_the_backlog() {
    for streams in 1..=8 {
        let backlog: Vec<u32> = (0..4_000).map(|number| number % streams).collect();
        // Each request causes two calls of `advance`, on arrival and on completion. Each of them
        // asks the store once per stream, and once more for the request that the store accepts.
        let most = backlog.len() as u64 * (2 * u64::from(streams) + 1);
        let asked = questions(&backlog);
        assert!(
            asked <= most,
            "{streams} streams: {asked} calls of can_accept, expected at most {most}"
        );
    }
}

proptest! {
    #[test]
    fn store_accepts_requests_in_the_order_they_became_ready(
        streams in prop::collection::vec(0_u32..8, 0..200), slots in 1_usize..5,
    ) {
        let mut store = Fixed::new(17_000);
        (store.slots, store.slots_by_stream) = (slots, true);
        let host = serve_backlog(store, &streams);
        let taken: Vec<u64> = host.store().asked.iter().map(|(_, offset, _)| offset / 512).collect();
        prop_assert_eq!(taken, in_order_of_looking(&streams, slots));
    }

    #[test]
    fn response_times_satisfy_littles_law_and_conserve_work(
        cores in 1_u32..5, workers in 1_u32..9, depth in 1_u32..9, submit_ns in 0_u64..20_000, locked_ns in 0_u64..20_000,
        complete_ns in 0_u64..9_000, collects in 0_u32..4, slots in 1_usize..9, kind in 0..4, pages in 1_u64..6,
    ) {
        let architecture = match kind {
            0 => Architecture::default(),
            1 => bridge(depth).architecture,
            2 => software(0).0.architecture,
            _ => cached(pages).architecture,
        };
        let config = Config { cores, submit_ns, locked_ns, complete_ns, architecture };
        let mut store = Fixed::new(17_000);
        (store.collects, store.slots) = (collects, slots);
        let Loops { observations, figures, end } = run(&config, store, workers, depth, 200);
        // Little's law, N = X R, with both sides multiplied by the length of the run, holds
        // exactly.
        prop_assert_eq!(figures.held_time, figures.response);
        prop_assert_eq!(figures.completed, 200);
        let parts = |of: fn(&LatencyComponents) -> Time| observations.0.iter().map(|(_, parts)| of(parts)).sum::<Time>();
        let response = parts(LatencyComponents::total);
        prop_assert_eq!(u128::from(response.0), figures.response);
        // Host time of requests is the CPU time without GC, plus the busy time of the bridge.
        let own = figures.cpu.total() - figures.cpu.get(Cause::Collection);
        prop_assert_eq!(parts(|parts| parts.host_side), own + figures.bridge);
        // Neither a core nor the lock nor the bridge is busy longer than the run.
        prop_assert!(figures.cpu.total() <= end * u64::from(cores));
        prop_assert!(figures.locked <= end && figures.bridge <= end);
    }

    #[test]
    fn power_cut_loses_all_held_requests(events in 0_usize..60, kind in 0..4, workers in 1_u32..6) {
        let config = match kind {
            0 => shares().0,
            1 => bridge(2),
            2 => software(0).0,
            _ => cached(2),
        };
        let mut host = Host::new(&config, Fixed::new(17_000));
        let (mut queue, mut observations) = (EventQueue::<Event<Done>>::default(), Observations::default());
        for number in 0..30 {
            let cx = &mut Context::new(Time::ZERO, &mut queue, &mut observations);
            host.submit(cx, request(number % workers, number.into(), Time::ZERO)).expect("the store never fails");
        }
        let mut now = Time::ZERO;
        for _ in 0..events {
            let Some((at, event)) = queue.pop() else { break };
            now = at;
            host.handle(&mut Context::new(now, &mut queue, &mut observations), event).expect("the store never fails");
        }
        let done = host.completions().count();
        let cut = host.cut_power(now, &mut observations).expect("the store never fails");
        prop_assert_eq!(host.completions().count(), 30 - done);
        prop_assert_eq!(cut.requests_lost as usize, 30 - done);
        // The host serves requests again after the power cut.
        let mut queue = EventQueue::<Event<Done>>::default();
        now += cut.time;
        host.resume(&mut Context::new(now, &mut queue, &mut observations)).expect("the store never fails");
        host.submit(&mut Context::new(now, &mut queue, &mut observations), request(0, 1, now)).expect("the store never fails");
        while let Some((at, event)) = queue.pop() {
            host.handle(&mut Context::new(at, &mut queue, &mut observations), event).expect("the store never fails");
        }
        prop_assert_eq!(host.completions().count(), 1);
    }
}
