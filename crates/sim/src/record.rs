//! Turns what a device tells into metrics.

use wordline_block::{Op, PARTS, Part, Parts, PowerCut, Request};
use wordline_device::Observation;
use wordline_ftl::GcKind;
use wordline_ftl::gc::schedule::Trigger;
use wordline_kernel::memory;
use wordline_kernel::{BusyTime, Probe, Time};
use wordline_nand::Operation;
use wordline_observe::{
    Busy, Excess, Finished, Grid, Heading, Histogram, Intervals, Kind, Merge, ObserveError,
    RowTable, Table, Tally,
};

use crate::config::Plan;
use crate::config::plan::{Observe, Series, Ssd};

const PS: &str = "ps";
/// What a row says of a request before the parts of its response time.
const HEAD: usize = 7;
const HEAD_COLUMNS: [(Heading, Kind); HEAD] = [
    (
        Heading::new("index", "", "Order of completion, from 0"),
        Kind::U64,
    ),
    (
        Heading::new("stream", "", "The stream of the host, from 0"),
        Kind::U64,
    ),
    (
        Heading::new("op", "", "read, write, trim or flush"),
        Kind::Word(&["read", "write", "trim", "flush"]),
    ),
    (
        Heading::new("offset", "B", "First byte of the request"),
        Kind::U64,
    ),
    (
        Heading::new("bytes", "B", "Length of the request"),
        Kind::U64,
    ),
    (
        Heading::new("arrival_ps", PS, "When the host issued the request"),
        Kind::I64,
    ),
    (
        Heading::new(
            "latency_ps",
            PS,
            "From arrival to completion; the sum of the columns that follow",
        ),
        Kind::I64,
    ),
];
const ROW: usize = HEAD + PARTS;

fn column(place: usize) -> (Heading, Kind) {
    HEAD_COLUMNS.get(place).copied().unwrap_or_else(|| {
        let Part {
            column, meaning, ..
        } = &Part::ALL[place - HEAD];
        (Heading::new(column, PS, meaning), Kind::I64)
    })
}

/// The columns of an array's requests: one more at the end.
const MEMBER_ROW: usize = ROW + 1;
const MEMBER: (Heading, Kind) = (
    Heading::new(
        "member",
        "",
        "The member of the array that the part done last went to, from 0",
    ),
    Kind::U64,
);

/// Rows of requests.
#[derive(Debug)]
enum Rows {
    OfDevice(Box<RowTable<ROW>>),
    OfArray(Box<RowTable<MEMBER_ROW>>),
}

impl Rows {
    fn new(of_array: bool) -> Self {
        if of_array {
            let columns =
                std::array::from_fn(|place| if place < ROW { column(place) } else { MEMBER });
            return Self::OfArray(Box::new(RowTable::in_memory(columns)));
        }
        Self::OfDevice(Box::new(RowTable::in_memory(std::array::from_fn(column))))
    }
    fn rows(&self) -> u64 {
        match self {
            Self::OfDevice(rows) => rows.rows(),
            Self::OfArray(rows) => rows.rows(),
        }
    }
    fn push(&mut self, row: [u64; ROW], member: u32) -> Result<(), ObserveError> {
        match self {
            Self::OfDevice(rows) => rows.push(row),
            Self::OfArray(rows) => {
                let value = |place| row.get(place).copied().unwrap_or(member.into());
                rows.push(std::array::from_fn(value))
            }
        }
    }
    fn finish(self) -> Result<Finished, ObserveError> {
        match self {
            Self::OfDevice(rows) => rows.finish(),
            Self::OfArray(rows) => rows.finish(),
        }
    }
}

/// Sums of the parts of response times, in picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartSums {
    /// Requests.
    pub count: u64,
    /// Sums that 64 bits hold, and what they add up to; the others are in `before`.
    recent: [u64; PARTS],
    all_recent: u64,
    before: [u128; PARTS],
}

impl PartSums {
    /// Adds the parts of a response time, which add up to it.
    #[inline]
    fn add(&mut self, parts: &Parts, latency: Time) {
        self.count += 1;
        if self.all_recent.checked_add(latency.0).is_none() {
            self.begin_again();
        }
        self.all_recent += latency.0;
        for (sum, part) in self.recent.iter_mut().zip(parts.in_order()) {
            *sum += part.0;
        }
    }
    #[cold]
    fn begin_again(&mut self) {
        self.before = self.sums();
        self.recent = [0; PARTS];
        self.all_recent = 0;
    }
    /// In the order of [`Part::ALL`].
    pub fn sums(&self) -> [u128; PARTS] {
        std::array::from_fn(|part| self.before[part] + u128::from(self.recent[part]))
    }
    /// The sums of two kinds of requests.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (own, others) = (self.sums(), other.sums());
        Self {
            count: self.count + other.count,
            before: std::array::from_fn(|part| own[part] + others[part]),
            ..Self::default()
        }
    }
    /// The mean of each part, in microseconds; zero without requests.
    pub fn means_us(&self) -> [f64; PARTS] {
        self.sums()
            .map(|sum| sum as f64 / self.count.max(1) as f64 / 1e6)
    }
}

/// What is counted of the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashCounts {
    /// Host writes of (parts of) pages.
    pub host_page_writes: u64,
    /// Pages, or blocks erased, of what dies have done, in the order of [`Operation`].
    done: [u64; 4],
    /// Collections done.
    pub gc_runs: u64,
    /// Pages that collections moved.
    pub gc_pages_moved: u64,
    /// Time from start to end of collections, summed over planes.
    pub gc_time: Time,
    /// Time that dies were occupied for collections, summed over dies.
    pub gc_die_time: Time,
    /// Reads that complete partial writes.
    pub read_modify_writes: u64,
    /// Reads of pages that were never written.
    pub unwritten_pages_read: u64,
    /// Pages discarded.
    pub pages_trimmed: u64,
    /// Pages that the mapping read for itself.
    pub own_page_reads: u64,
    /// Pages that the mapping programmed for itself.
    pub own_page_programs: u64,
    /// Free blocks that took the place of full update blocks.
    pub blocks_replaced: u64,
}

/// Collections of one kind that were started for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collections {
    /// How they gained room.
    pub kind: GcKind,
    /// What they were started for.
    pub trigger: Trigger,
    /// How many.
    pub runs: u64,
    /// Pages moved.
    pub moved: u64,
    /// Blocks erased.
    pub erased: u64,
    /// Time from start to end, summed up.
    pub time: Time,
    /// The longest.
    pub longest: Time,
}

impl FlashCounts {
    fn of(&self, operation: Operation) -> u64 {
        self.done[operation as usize]
    }
    /// Page reads done.
    pub fn page_reads(&self) -> u64 {
        self.of(Operation::Read) + self.of(Operation::Move)
    }
    /// Page programs done.
    pub fn page_programs(&self) -> u64 {
        self.of(Operation::Program) + self.of(Operation::Move)
    }
    /// Block erases done.
    pub fn erases(&self) -> u64 {
        self.of(Operation::Erase)
    }
}

impl Merge for FlashCounts {
    fn merge(&mut self, other: &Self) {
        self.host_page_writes += other.host_page_writes;
        for (own, other) in self.done.iter_mut().zip(other.done) {
            *own += other;
        }
        self.gc_runs += other.gc_runs;
        self.gc_pages_moved += other.gc_pages_moved;
        self.gc_time += other.gc_time;
        self.gc_die_time += other.gc_die_time;
        self.read_modify_writes += other.read_modify_writes;
        self.unwritten_pages_read += other.unwritten_pages_read;
        self.pages_trimmed += other.pages_trimmed;
        self.own_page_reads += other.own_page_reads;
        self.own_page_programs += other.own_page_programs;
        self.blocks_replaced += other.blocks_replaced;
    }
}

/// What is counted of the DRAM buffer. Reads come first in every pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferCounts {
    /// Pages of requests that were there.
    pub hits: [u64; 2],
    /// Pages of requests that were not.
    pub misses: [u64; 2],
    /// Pages that left: like those in the flash, and newer.
    pub evictions: [u64; 2],
    /// Pages that went to the flash.
    pub destaged: u64,
    /// Of those: pages that had to be completed from the flash.
    pub destaged_partial: u64,
}

impl BufferCounts {
    fn hear(&mut self, heard: wordline_buffer::Observation) {
        use wordline_buffer::Observation;
        match heard {
            Observation::Accessed { op, hit } => {
                let counts = if hit {
                    &mut self.hits
                } else {
                    &mut self.misses
                };
                counts[usize::from(op != Op::Read)] += 1;
            }
            Observation::Evicted { dirty } => self.evictions[usize::from(dirty)] += 1,
            Observation::Destaged { partial } => {
                self.destaged += 1;
                self.destaged_partial += u64::from(partial);
            }
        }
    }
}

impl Merge for BufferCounts {
    fn merge(&mut self, other: &Self) {
        for kind in 0..2 {
            self.hits[kind] += other.hits[kind];
            self.misses[kind] += other.misses[kind];
            self.evictions[kind] += other.evictions[kind];
        }
        self.destaged += other.destaged;
        self.destaged_partial += other.destaged_partial;
    }
}

/// What one interval of the series keeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    /// Response times of reads and of writes.
    pub latency: [Tally; 2],
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Time in which requests were in the device.
    pub busy: Time,
    /// The flash.
    pub flash: FlashCounts,
    /// The DRAM buffer.
    pub buffer: BufferCounts,
}

impl Merge for Cell {
    fn merge(&mut self, other: &Self) {
        for op in 0..2 {
            self.latency[op].merge(&other.latency[op]);
            self.bytes[op].merge(&other.bytes[op]);
        }
        self.busy.merge(&other.busy);
        self.flash.merge(&other.flash);
        self.buffer.merge(&other.buffer);
    }
}

/// The longest response times of reads and of writes that ended in an interval; none without any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest(pub [Option<Time>; 2]);

impl Merge for Longest {
    fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = (*own).max(other);
        }
    }
}

/// Requests that were served. Reads come first in every pair.
#[derive(Clone, Debug)]
pub struct Served {
    /// Response times of reads and of writes.
    pub latency: [Histogram; 2],
    /// What they have beyond the marginal response time.
    pub excess: [Excess; 2],
    /// Where the time went.
    pub parts: [PartSums; 2],
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Trims.
    pub trims: u64,
    /// Response times of flushes.
    pub flushes: Histogram,
    /// When the last request was completed.
    pub last_completion: Time,
}

impl Served {
    fn new(marginal: Time) -> Self {
        Self {
            latency: Default::default(),
            excess: [Excess::beyond(marginal), Excess::beyond(marginal)],
            parts: Default::default(),
            bytes: [0; 2],
            trims: 0,
            flushes: Histogram::default(),
            last_completion: Time::ZERO,
        }
    }
    /// Requests.
    pub fn count(&self) -> u64 {
        self.latency.iter().map(Histogram::count).sum()
    }
    /// Response times of reads and writes together.
    pub fn all(&self) -> Histogram {
        let [read, write] = &self.latency;
        let mut all = read.clone();
        all.merge(write);
        all
    }
    #[inline(always)]
    fn add(&mut self, op: usize, bytes: u64, latency: Time, parts: &Parts) {
        self.latency[op].record(latency);
        self.excess[op].record(latency);
        self.parts[op].add(parts, latency);
        self.bytes[op] += bytes;
    }
    /// Adds a trim or a flush.
    #[inline(never)]
    fn add_without_data(&mut self, op: Op, latency: Time) {
        if op == Op::Trim {
            self.trims += 1;
        } else {
            self.flushes.record(latency);
        }
    }
}

impl Merge for Served {
    fn merge(&mut self, other: &Self) {
        for op in 0..2 {
            self.latency[op].merge(&other.latency[op]);
            self.excess[op].merge(&other.excess[op]);
            self.parts[op] = self.parts[op].plus(&other.parts[op]);
            self.bytes[op] += other.bytes[op];
        }
        self.trims += other.trims;
        self.flushes.merge(&other.flushes);
        self.last_completion = self.last_completion.max(other.last_completion);
    }
}

/// What a run has recorded.
#[derive(Clone, Debug)]
pub struct Record {
    /// What was served, by stream.
    pub streams: Vec<Served>,
    /// What was served to all streams; complete once the record is closed.
    pub total: Served,
    /// The series.
    pub series: Intervals<Cell>,
    /// The longest response times, in intervals of their own.
    pub worst: Intervals<Longest>,
    /// Bus time of each channel.
    pub channels: Busy,
    /// Occupied time of each die.
    pub dies: Busy,
    /// Commands of one plane and of several, then those of each while another die of the package
    /// was occupied.
    pub commands: [u64; 4],
    /// Collections, by kind and trigger; in the order in which they came first.
    pub collections: Vec<Collections>,
    /// Power cuts.
    pub power: Power,
}

/// Power cuts and the recoveries from them. Devices that fail at the same time fail together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Power {
    /// How many.
    pub cuts: u64,
    /// When the last one was.
    last: Option<Time>,
    /// What they cost, all of them together; the time is the sum of the recoveries.
    pub cost: PowerCut,
    /// The longest recovery.
    pub longest: Time,
}

impl Power {
    fn add(&mut self, now: Time, cut: &PowerCut) {
        let together = self.last == Some(now);
        let time = self.cost.time;
        self.cost.join(cut);
        self.cost.time = if together { time } else { time + cut.time };
        self.cuts += u64::from(!together);
        self.last = Some(now);
        self.longest = self.longest.max(cut.time);
    }
}

/// Most intervals of an automatic width whose longest response times are told.
const WORST_INTERVALS: usize = 64;
/// Most intervals of a chosen width; a longer run doubles the width.
const MOST_WORST_INTERVALS: usize = 1024;

fn worst_grid(observe: &Observe) -> Grid {
    match observe.worst_case_interval {
        Some(width) => Grid::growing(width, MOST_WORST_INTERVALS),
        None => Grid::growing(Time::from_us(1), WORST_INTERVALS),
    }
}

/// How long the buses and the dies of a device have been busy, or those of several devices in their
/// order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<'a> {
    pub buses: &'a [BusyTime],
    pub dies: &'a [BusyTime],
}

/// Records a run.
#[derive(Debug)]
pub struct Recorder {
    record: Record,
    /// Requests in the device, and since when there are any.
    in_flight: u32,
    busy_since: Time,
    rows: Option<Rows>,
    rows_error: Option<ObserveError>,
}

impl Recorder {
    /// An empty record of a run of `plan`; with `requests`, a row for each request is kept (about 80
    /// bytes of memory).
    pub fn new(plan: &Plan, requests: bool) -> Self {
        let ssds: Vec<_> = plan.ssds().collect();
        let rows = requests.then(|| Rows::new(plan.array().is_some()));
        Self::of(plan, &ssds, plan.streams.len().max(1), rows)
    }
    /// An empty record of one of the SSDs of a run, which does not tell streams apart.
    pub fn of_ssd(plan: &Plan, ssd: &Ssd) -> Self {
        Self::of(plan, &[ssd], 1, None)
    }
    fn of(plan: &Plan, ssds: &[&Ssd], streams: usize, rows: Option<Rows>) -> Self {
        let grid = match plan.series {
            Series::Automatic { intervals } => Grid::growing(Time::from_us(1), intervals as usize),
            Series::Fixed { interval } => Grid::fixed(interval),
        };
        let channels = ssds.iter().map(|ssd| ssd.dimensions.channels);
        let channels = channels.sum::<u32>() as usize;
        let dies = ssds.iter().map(|ssd| ssd.part.layout.dies);
        let dies = dies.sum::<u32>() as usize;
        let grid = grid.for_lanes(dies.max(channels));
        let served = Served::new(plan.observe.marginal_response);
        let record = Record {
            streams: vec![served.clone(); streams],
            total: served,
            series: Intervals::new(grid),
            worst: Intervals::new(worst_grid(&plan.observe)),
            channels: Busy::new(grid, channels),
            dies: Busy::new(grid, dies),
            commands: [0; 4],
            collections: Vec::new(),
            power: Power::default(),
        };
        Self {
            record,
            in_flight: 0,
            busy_since: Time::ZERO,
            rows,
            rows_error: None,
        }
    }
    /// What a record of a run takes of memory, with so many rows of requests if they are kept.
    pub fn memory(plan: &Plan, rows: Option<u64>) -> [memory::Table; 4] {
        let intervals = match plan.series {
            Series::Automatic { intervals } => u64::from(intervals),
            Series::Fixed { .. } => 0, // as many as the run is long
        };
        let sum = |of: fn(&Ssd) -> u32| plan.ssds().map(|ssd| u64::from(of(ssd))).sum();
        let dies: u64 = sum(|ssd| ssd.part.layout.dies);
        let channels: u64 = sum(|ssd| ssd.dimensions.channels);
        let streams = plan.streams.len().max(1) as u64 + 1;
        [
            memory::Table::grown::<[u64; 9]>("rows of requests", rows.unwrap_or(0)),
            memory::Table::grown::<u64>("busy times", intervals * (dies + channels)),
            memory::Table::grown::<[u64; 64]>("time series", intervals),
            memory::Table::grown::<[u64; 1 << 15]>("response times", streams),
        ]
    }
    /// Ends the record at `end`: what was recorded, and the rows of single requests if they were
    /// asked for.
    pub fn finish(mut self, end: Time) -> (Record, Result<Option<Table>, ObserveError>) {
        if self.in_flight > 0 {
            self.rest(end);
        }
        self.record.close(end);
        (self.record, rows(self.rows, self.rows_error))
    }
    /// Requests completed so far, by stream.
    pub fn completed(&self) -> impl Iterator<Item = u64> + '_ {
        self.record
            .streams
            .iter()
            .map(|served| served.count() + served.trims + served.flushes.count())
    }
    /// Bytes served so far, by stream.
    pub fn bytes(&self) -> Vec<u64> {
        let streams = self.record.streams.iter();
        streams.map(|served| served.bytes.iter().sum()).collect()
    }

    /// When an interval of the busy times ends next.
    #[inline]
    pub(crate) fn next_look(&self) -> Time {
        let Record { channels, dies, .. } = &self.record;
        channels.until().min(dies.until())
    }
    /// Nothing has happened since the last event, and nothing will before `until`: reads off the busy
    /// times of the intervals that are over by then.
    pub(crate) fn look(&mut self, until: Time, lanes: Lanes<'_>) {
        self.record.channels.pass(until, lanes.buses);
        self.record.dies.pass(until, lanes.dies);
    }
    /// What buses and dies are at is broken off and does not count: the power fails, or the run ends.
    pub(crate) fn break_off(&mut self, now: Time, lanes: Lanes<'_>) {
        self.record.channels.break_off(now, lanes.buses);
        self.record.dies.break_off(now, lanes.dies);
    }

    /// The same as [`Probe::observe`], for those who pass on what they hear.
    pub(crate) fn hear(&mut self, now: Time, observation: Observation) {
        self.observe(now, observation);
    }

    /// A request begins, with which there are `in_flight`.
    #[inline]
    pub(crate) fn admitted(&mut self, now: Time, in_flight: u32) {
        if in_flight == 1 {
            self.busy_since = now;
        }
        self.in_flight = in_flight;
    }

    /// One of those in flight has ended.
    #[inline]
    pub(crate) fn left(&mut self, now: Time) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.in_flight == 0 {
            self.rest(now);
        }
    }

    /// Nothing is in flight any more.
    fn power_cut(&mut self, now: Time, cut: &PowerCut) {
        if self.in_flight > 0 {
            self.rest(now);
            self.in_flight = 0;
        }
        self.record.power.add(now, cut);
    }

    /// The device has been busy until now.
    fn rest(&mut self, now: Time) {
        let add = |cell: &mut Cell, part| cell.busy += part;
        self.record.series.span(self.busy_since, now, add);
    }

    /// A request is done, of an array in `member` last.
    #[inline(always)]
    pub(crate) fn request(&mut self, now: Time, request: &Request, parts: &Parts, member: u32) {
        let Request {
            stream,
            op,
            offset,
            bytes,
            arrival,
            ..
        } = *request;
        let index = op as usize;
        let latency = now - arrival;
        let record = &mut self.record;
        let served = &mut record.streams[stream as usize];
        served.last_completion = now;
        if index >= 2 {
            served.add_without_data(op, latency);
        } else {
            served.add(index, bytes, latency, parts);
            let cell = record.series.at(now);
            cell.latency[index].record(latency);
            cell.bytes[index] += bytes;
            let longest = &mut record.worst.at(now).0[index];
            *longest = (*longest).max(Some(latency));
        }
        if self.rows.is_some() {
            let head = [
                u64::from(stream),
                op as u64,
                offset,
                bytes,
                arrival.0,
                latency.0,
            ];
            self.keep_row(head, parts, member);
        }
    }

    /// Keeps the row of a request: its stream, operation, offset, bytes, arrival and response time
    /// (`head`), and its parts.
    #[cold]
    #[inline(never)]
    fn keep_row(&mut self, head: [u64; HEAD - 1], parts: &Parts, member: u32) {
        let Some(rows) = &mut self.rows else { return };
        let mut row = [0; ROW];
        row[0] = rows.rows();
        row[1..=head.len()].copy_from_slice(&head);
        let parts = parts.in_order().map(|part| part.0);
        row[HEAD..].copy_from_slice(&parts);
        if let Err(error) = rows.push(row, member) {
            self.rows_error = Some(error);
            self.rows = None;
        }
    }
}

fn rows(rows: Option<Rows>, error: Option<ObserveError>) -> Result<Option<Table>, ObserveError> {
    if let Some(error) = error {
        return Err(error);
    }
    let Some(rows) = rows else { return Ok(None) };
    match rows.finish()? {
        Finished::Kept(table) => Ok(Some(table)),
        Finished::Written(_) => Ok(None),
    }
}

impl Record {
    /// Sums up the streams, ends all series at `end` and gives them the same intervals.
    fn close(&mut self, end: Time) {
        let Self { streams, total, .. } = self;
        for served in streams {
            total.merge(served);
        }
        let grids = [self.series.grid(), self.channels.grid(), self.dies.grid()];
        let width = grids
            .map(|grid| grid.width())
            .into_iter()
            .max()
            .unwrap_or_default();
        self.series.widen(width);
        self.channels.widen(width);
        self.dies.widen(width);
        self.series.close(end);
        self.worst.close(end);
        self.channels.close(end);
        self.dies.close(end);
    }
    /// A die has left a command for which it was occupied from `from` until now.
    #[inline]
    fn worked(
        &mut self,
        now: Time,
        from: Time,
        operation: Operation,
        pages: u32,
        interleaved: bool,
        gc: bool,
    ) {
        if gc {
            let add = |cell: &mut Cell, part| cell.flash.gc_die_time += part;
            self.series.span(from, now, add);
        }
        if pages > 0 {
            self.commands[usize::from(pages > 1) + 2 * usize::from(interleaved)] += 1;
        }
        self.series.at(now).flash.done[operation as usize] += u64::from(pages);
    }
    /// Time in which requests were in the device.
    pub fn busy(&self) -> Time {
        self.series.iter().map(|interval| interval.value.busy).sum()
    }
    #[cold]
    fn collected(&mut self, kind: GcKind, trigger: Trigger, moved: u32, erased: u32, time: Time) {
        let collections = &mut self.collections;
        let known = collections
            .iter()
            .position(|known| (known.kind, known.trigger) == (kind, trigger));
        let place = known.unwrap_or_else(|| {
            collections.push(Collections {
                kind,
                trigger,
                runs: 0,
                moved: 0,
                erased: 0,
                time: Time::ZERO,
                longest: Time::ZERO,
            });
            collections.len() - 1
        });
        let sum = &mut collections[place];
        sum.runs += 1;
        sum.moved += u64::from(moved);
        sum.erased += u64::from(erased);
        sum.time += time;
        sum.longest = sum.longest.max(time);
    }
    /// The counters of the DRAM buffer of the whole run.
    pub fn buffer(&self) -> BufferCounts {
        let mut total = BufferCounts::default();
        self.series
            .iter()
            .for_each(|interval| total.merge(&interval.value.buffer));
        total
    }
    /// The flash counters of the whole run.
    pub fn flash(&self) -> FlashCounts {
        let mut total = FlashCounts::default();
        self.series
            .iter()
            .for_each(|interval| total.merge(&interval.value.flash));
        total
    }
}

impl Probe<Observation> for Recorder {
    const HEARS_PIECES: bool = false;
    // Where an observation is made its kind is known: in line, nothing is left of the others.
    #[inline(always)]
    fn observe(&mut self, now: Time, observation: Observation) {
        match observation {
            Observation::Request { request, parts } => {
                self.left(now);
                self.request(now, &request, &parts, 0);
            }
            Observation::Die {
                from,
                operation,
                pages,
                interleaved,
                gc,
                ..
            } => {
                self.record
                    .worked(now, from, operation, pages, interleaved, gc);
            }
            Observation::Buffer(heard) => self.record.series.at(now).buffer.hear(heard),
            Observation::PagesWritten { pages } => {
                self.record.series.at(now).flash.host_page_writes += u64::from(pages);
            }
            Observation::PageMerged => self.record.series.at(now).flash.read_modify_writes += 1,
            Observation::UnwrittenRead => {
                self.record.series.at(now).flash.unwritten_pages_read += 1;
            }
            Observation::PageTrimmed => self.record.series.at(now).flash.pages_trimmed += 1,
            Observation::MetadataPage { program } => {
                let flash = &mut self.record.series.at(now).flash;
                let pages = if program {
                    &mut flash.own_page_programs
                } else {
                    &mut flash.own_page_reads
                };
                *pages += 1;
            }
            Observation::Replaced => self.record.series.at(now).flash.blocks_replaced += 1,
            Observation::Collected {
                kind,
                trigger,
                moved,
                erased,
                from,
                ..
            } => {
                let flash = &mut self.record.series.at(now).flash;
                flash.gc_runs += 1;
                flash.gc_pages_moved += u64::from(moved);
                flash.gc_time += now - from;
                self.record
                    .collected(kind, trigger, moved, erased, now - from);
            }
            Observation::Admitted { in_flight } => self.admitted(now, in_flight),
            Observation::PowerCut(cut) => self.power_cut(now, &cut),
            Observation::Bus { .. }
            | Observation::Array { .. }
            | Observation::FreeBlocks { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_go_beyond_64_bits_without_losing_a_picosecond() {
        let long = Time::from_ps(u64::MAX / 2);
        let parts = Parts {
            host_queue: Time::from_ps(1),
            link: long,
            ..Parts::default()
        };
        let mut sums = PartSums::default();
        for _ in 0..5 {
            sums.add(&parts, parts.total());
        }
        let expected = u128::from(long.ps()) * 5;
        let of_five = sums.sums();
        assert_eq!((of_five[0], of_five[2]), (5, expected));
        let ten = sums.plus(&sums);
        assert_eq!(ten.count, 10);
        assert_eq!((ten.sums()[0], ten.sums()[2]), (10, 2 * expected));
    }
}
