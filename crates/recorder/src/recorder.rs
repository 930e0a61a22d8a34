//! Probe that records a run.

use super::Record;
use super::counters::{CacheCounts, CacheLists, Cell, Power};
use super::rows::{MEMBER_ROW, ROW, Rows, Unnumbered, rows};
use super::served::Served;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_block::{LatencyComponents, Op, PowerCut, Request};
use wordline_config::Plan;
use wordline_config::plan::{Device, Observe, Series, Shape, Ssd};
use wordline_flash_cache as flash_cache;
use wordline_kernel::memory;
use wordline_kernel::{BusyTime, Probe, Time};
use wordline_observe::{Busy, Grid, Intervals, Merge, ObserveError, Table};
use wordline_ssd::Observation;

/// Maximum number of intervals of the longest response times if their width is automatic.
pub(super) const WORST_INTERVALS: usize = 64;

/// Maximum number of intervals of the longest response times if their width is configured; a longer
/// run doubles the width.
pub(super) const MAX_WORST_INTERVALS: usize = 1024;

pub(super) fn worst_grid(observe: &Observe) -> Grid {
    match observe.worst_case_interval {
        Some(width) => Grid::growing(width, MAX_WORST_INTERVALS),
        None => Grid::growing(Time::from_us(1), WORST_INTERVALS),
    }
}

/// Busy times of the buses and dies of a device, or of several devices in order.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<'a> {
    /// Busy time of each channel's bus.
    pub buses: &'a [BusyTime],
    /// Busy time of each die, or of each disk.
    pub dies: &'a [BusyTime],
}

/// Recorder of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Recorder {
    pub(super) record: Record,
    /// Empty record for the measured part, until measuring begins.
    unmeasured: Option<Box<Record>>,
    /// Requests completed before measuring began, by stream.
    warm_up: Vec<u64>,
    /// Outstanding requests. Count.
    pub(super) in_flight: u32,
    /// Time since which requests have been outstanding.
    pub(super) busy_since: Time,
    pub(super) rows: Option<Rows>,
    /// Rows of completed requests whose numbers are not known yet. Empty between two events.
    #[serde(skip)]
    unnumbered: VecDeque<Unnumbered>,
    /// Error of the request rows, if they could not be kept. A run with this error is not saved as
    /// a state.
    #[serde(skip)]
    pub(super) rows_error: Option<ObserveError>,
}

impl Recorder {
    /// Creates an empty record of a run of `plan`. If `requests` is set, a row is kept for each
    /// request, in about 210 bytes of memory.
    pub fn new(plan: &Plan, requests: bool) -> Self {
        let ssds: Vec<_> = plan.ssds().collect();
        let rows = requests.then(|| Rows::new(plan.array().is_some()));
        let leaves = plan.leaves();
        // A cache in front of disks reports only the busy times of its flash.
        let disks = match plan.shape() {
            Shape::CachedDisks => 0,
            _ => leaves.iter().filter(|leaf| leaf.of.ssd().is_none()).count(),
        };
        Self::of(plan, &ssds, disks, plan.streams.len().max(1), rows)
    }
    /// Creates an empty record of one device of a run, which does not distinguish streams.
    pub fn of_device(plan: &Plan, device: Device<'_>) -> Self {
        match device.ssd() {
            Some(ssd) => Self::of(plan, &[ssd], 0, 1, None),
            None => Self::of(plan, &[], 1, 1, None),
        }
    }
    /// Creates a record of SSDs and disks; the mechanism of a disk counts as a die.
    pub(super) fn of(
        plan: &Plan,
        ssds: &[&Ssd],
        disks: usize,
        streams: usize,
        rows: Option<Rows>,
    ) -> Self {
        let grid = match plan.series {
            Series::Automatic { intervals } => Grid::growing(Time::from_us(1), intervals as usize),
            Series::Fixed { interval } => Grid::fixed(interval),
        };
        let channels = ssds.iter().map(|ssd| ssd.dimensions.channels);
        let channels = channels.sum::<u32>() as usize;
        let dies = ssds.iter().map(|ssd| ssd.device.part.layout.dies);
        let dies = dies.sum::<u32>() as usize + disks;
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
            reads_met: None,
        };
        Self {
            unmeasured: plan.observe.warm_up.map(|_| Box::new(record.clone())),
            warm_up: vec![0; streams],
            record,
            in_flight: 0,
            busy_since: Time::ZERO,
            rows,
            unnumbered: VecDeque::new(),
            rows_error: None,
        }
    }
    /// Returns a copy from which a summary can be computed, but no series and no rows of requests.
    #[must_use]
    pub fn summed(&self) -> Self {
        Self {
            record: self.record.summed(),
            unmeasured: None,
            warm_up: self.warm_up.clone(),
            in_flight: self.in_flight,
            busy_since: self.busy_since,
            rows: None,
            unnumbered: VecDeque::new(),
            rows_error: None,
        }
    }
    /// Returns the memory of a record of a run, with `rows` rows of requests if they are kept.
    pub fn memory(plan: &Plan, rows: Option<u64>) -> [memory::Table; 4] {
        let intervals = match plan.series {
            Series::Automatic { intervals } => u64::from(intervals),
            Series::Fixed { .. } => 0, // depends on the length of the run
        };
        let sum = |of: fn(&Ssd) -> u32| plan.ssds().map(|ssd| u64::from(of(ssd))).sum();
        let dies: u64 = sum(|ssd| ssd.device.part.layout.dies);
        let channels: u64 = sum(|ssd| ssd.dimensions.channels);
        let streams = plan.streams.len().max(1) as u64 + 1;
        let columns = if plan.array().is_some() {
            MEMBER_ROW
        } else {
            ROW
        };
        [
            memory::Table::grown::<u64>("rows of requests", rows.unwrap_or(0) * columns as u64),
            memory::Table::grown::<u64>("busy times", intervals * (dies + channels)),
            memory::Table::grown::<Cell>("time series", intervals),
            memory::Table::grown::<[u64; 1 << 15]>("response times", streams),
        ]
    }
    /// Records the look-up of a read's pages in a cache.
    #[inline]
    pub fn found(&mut self, now: Time, pages: flash_cache::Pages) {
        let found = CacheCounts(pages);
        self.record.series.at(now).cache.merge(&found);
    }
    /// Records the lengths of a partitioned cache's lists when a request starts.
    #[inline]
    pub fn lists(&mut self, now: Time, lists: flash_cache::Lists) {
        let lists = CacheLists(Some(lists));
        self.record.series.at(now).lists.merge(&lists);
    }
    /// Ends the record at `end`. Returns the record, and the rows of requests if they were kept.
    pub fn finish(mut self, end: Time) -> (Record, Result<Option<Table>, ObserveError>) {
        if self.in_flight > 0 {
            self.rest(end);
        }
        self.record.close(end);
        (self.record, rows(self.rows, self.rows_error))
    }
    /// Returns the requests completed so far, by stream, including those before measuring began.
    pub fn completed(&self) -> impl Iterator<Item = u64> + '_ {
        let measured = self.record.streams.iter().zip(&self.warm_up);
        measured.map(|(served, before)| {
            before + served.count() + served.trims.count() + served.flushes.count()
        })
    }
    /// Ends the warm-up: the record begins at `now`, with the busy times of buses and dies in
    /// `lanes`. Does nothing in a run without a warm-up, and after the first call.
    pub fn begin_measuring(&mut self, now: Time, lanes: Lanes<'_>) {
        let Some(empty) = self.unmeasured.take() else {
            return;
        };
        self.warm_up = self.completed().collect();
        self.record = empty.starting(now, lanes);
        self.busy_since = now;
        self.rows = self.rows.take().map(Rows::emptied);
    }
    /// Returns the bytes read and written since the record began, by stream.
    pub fn bytes(&self) -> Vec<u64> {
        let streams = self.record.streams.iter();
        streams.map(|served| served.bytes.iter().sum()).collect()
    }

    /// Returns the time at which the next interval of the busy times ends.
    #[inline]
    pub fn next_look(&self) -> Time {
        let Record { channels, dies, .. } = &self.record;
        channels.until().min(dies.until())
    }
    /// Reads the busy times of the intervals that end before `until`. Nothing has happened since
    /// the last event, and nothing will before `until`.
    pub fn look(&mut self, until: Time, lanes: Lanes<'_>) {
        self.record.channels.pass(until, lanes.buses);
        self.record.dies.pass(until, lanes.dies);
    }
    /// Discards the operations in progress on buses and dies, because power fails or the run ends.
    pub fn break_off(&mut self, now: Time, lanes: Lanes<'_>) {
        self.record.channels.break_off(now, lanes.buses);
        self.record.dies.break_off(now, lanes.dies);
    }

    /// Records an observation as [`Probe::observe`] does, for probes that forward observations.
    #[inline]
    pub fn forward(&mut self, now: Time, observation: Observation) {
        self.observe(now, observation);
    }

    /// Records a request that was admitted; `in_flight` requests are outstanding.
    #[inline]
    pub fn admitted(&mut self, now: Time, in_flight: u32) {
        if in_flight == 1 {
            self.busy_since = now;
        }
        self.in_flight = in_flight;
    }

    /// Records the end of an outstanding request.
    #[inline]
    pub fn left(&mut self, now: Time) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.in_flight == 0 {
            self.rest(now);
        }
    }

    /// Records a power cut, after which no request is outstanding.
    pub fn power_cut(&mut self, now: Time, cut: &PowerCut) {
        if self.in_flight > 0 {
            self.rest(now);
            self.in_flight = 0;
        }
        self.record.power.add(now, cut);
    }

    /// Records that the device was busy until now.
    pub(super) fn rest(&mut self, now: Time) {
        let add = |cell: &mut Cell, part| cell.busy += part;
        self.record.series.span(self.busy_since, now, add);
    }

    /// Records a request that an SSD completed. If it is a write that did not fail, its bytes count
    /// as written to the SSD.
    #[inline(always)]
    pub fn written(&mut self, now: Time, request: &Request, failed: bool) {
        if request.op == Op::Write && !failed {
            self.record.series.at(now).flash.host_written_bytes += request.bytes;
        }
    }

    /// Records a completed request. In an array, `member` served the part that completed last.
    #[inline(always)]
    pub fn request(
        &mut self,
        now: Time,
        request: &Request,
        parts: &LatencyComponents,
        member: u32,
    ) {
        let Request {
            stream,
            op,
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
            // With copies, values that are only added to sums stay in registers.
            let (request, parts) = (*request, *parts);
            self.keep_row(&request, latency, &parts, member);
        }
    }

    /// Keeps the row of a request until its number is known.
    #[cold]
    #[inline(never)]
    fn keep_row(
        &mut self,
        request: &Request,
        latency: Time,
        parts: &LatencyComponents,
        member: u32,
    ) {
        let row = Unnumbered::new(request, latency, parts, member);
        self.unnumbered.push_back(row);
    }
    /// Gives `number` to the oldest row that has none, and adds the row. If `number` is `None`,
    /// because the store failed while accepting the request, the row is dropped.
    pub fn number_row(&mut self, number: Option<u64>) {
        let (Some(rows), Some(row), Some(number)) =
            (&mut self.rows, self.unnumbered.pop_front(), number)
        else {
            return;
        };
        if let Err(error) = rows.push(row, number) {
            self.rows_error = Some(error);
            self.rows = None;
        }
    }
    /// Returns `true` if a row is kept for each request.
    #[inline]
    pub fn keeps_rows(&self) -> bool {
        self.rows.is_some()
    }
}

impl Probe<Observation> for Recorder {
    const WANTS_FRAGMENTS: bool = false;
    // The kind of an observation is known where it is made; inlining removes the code of all other
    // kinds.
    #[inline(always)]
    fn observe(&mut self, now: Time, observation: Observation) {
        match observation {
            // Passed by reference, to avoid another copy of the latency components.
            Observation::Request {
                ref request,
                ref parts,
                failed,
            } => {
                self.left(now);
                self.request(now, request, parts, 0);
                self.written(now, request, failed);
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
            Observation::Buffer(ref observation) => {
                self.record.series.at(now).buffer.observe(now, observation);
            }
            Observation::Programmed { of, bytes } => {
                self.record.series.at(now).flash.programmed[of as usize] += bytes;
            }
            Observation::Collected {
                kind,
                trigger,
                moved,
                erased,
                from,
                ..
            } => {
                self.record.series.at(now).flash.observe(now, &observation);
                self.record
                    .collected(kind, trigger, moved, erased, now - from);
            }
            Observation::Read { met, response } => self.record.met(met, response),
            Observation::Admitted { in_flight } => self.admitted(now, in_flight),
            Observation::PowerCut(cut) => self.power_cut(now, &cut),
            Observation::Bus { .. }
            | Observation::Array { .. }
            | Observation::FreeBlocks { .. } => {}
            _ => self.record.series.at(now).flash.observe(now, &observation),
        }
    }
}
