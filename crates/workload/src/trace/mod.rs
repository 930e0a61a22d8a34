//! Traces: one or more files that are read as one sequence of requests.

mod files;
mod open_file;
mod options;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use wordline_kernel::{Digest, Time};

use crate::adapt::{
    Disks, Fit, Fitter, Mapper, OnBadLine, Orderer, Refusal, TimeOrder, Volumes, aligned,
    is_aligned,
};
use crate::look_ahead::{LookAhead, ReadPosition};
use crate::record_counts::Counts;
use crate::{Request, Source, WorkloadError};
use wordline_trace_format::Place;
use wordline_trace_format::{Placed, Record};
use wordline_trace_format::{Recording, Recordings};

pub use files::{InputFile, TraceFile};
use open_file::OpenFile;
pub use options::TraceOptions;

/// Trace of one or more files. Files are read one after the other, and the clock of each file
/// starts where the clock of the previous file ended. The clock of a file starts with its first
/// record, except in Wordline's own CSV, whose times are absolute.
pub struct Trace {
    options: TraceOptions,
    origins: Vec<Recording>,
    files: Vec<TraceFile>,
    timed: bool,
    next_file: usize,
    open: Option<OpenFile>,
    orderer: Orderer,
    mapper: Mapper,
    fitter: Fitter,
    disks: Disks,
    carried: Option<Request>,
    clock: Time,
    last: Time,
    /// Recorded completion of the previous request, and the sum of the think times so far.
    thinking: (Time, Time),
    counts: Counts,
    first_skipped: Option<WorkloadError>,
    /// Error that ended the reading of the file, kept while earlier records wait to be sorted.
    failure: Option<WorkloadError>,
    /// Size of all files on disk; `None` if the length of any file is unknown. Bytes.
    bytes_total: Option<u64>,
    bytes_done: u64,
    digest: Digest,
    /// The first file, which is opened before it is needed.
    first: Option<OpenFile>,
    /// Requests that were read ahead.
    ahead: Option<LookAhead>,
    /// Position at the end of the trace, if the whole trace was read ahead.
    end: Option<ReadPosition>,
    /// Whether the end of the trace has been reached.
    ended: bool,
}

/// All requests of a trace, and the other results of its reader.
pub(crate) struct Requests {
    ahead: LookAhead,
    end: ReadPosition,
    first_skipped: Option<WorkloadError>,
}

impl Trace {
    /// Opens a trace of one or more files. Reads only the start of each file, unless the options
    /// need the highest address ([`Volumes::Stack`], [`Fit::Scale`]).
    pub fn open<P: AsRef<Path>>(
        paths: &[P],
        options: &TraceOptions,
    ) -> Result<Self, WorkloadError> {
        Self::of(&Recordings::default(), paths, options)
    }

    /// Opens a trace from the files of a command, like [`Trace::open`] in all other respects.
    pub fn of<P: AsRef<Path>>(
        recordings: &Recordings,
        paths: &[P],
        options: &TraceOptions,
    ) -> Result<Self, WorkloadError> {
        let found = paths.iter().map(|path| recordings.find(path.as_ref()));
        Self::recorded(found.collect::<Result<_, _>>()?, options)
    }

    /// Reads `requests` requests ahead, so that an error in one of them is returned now. Results
    /// are the same as without this call.
    pub fn read_ahead(mut self, requests: u64) -> Result<Self, WorkloadError> {
        let mut ahead = LookAhead::new(self.position());
        while (ahead.len() as u64) < requests
            && let Some(request) = self.next_request()?
        {
            ahead.push(request, self.counts, (self.bytes(), self.file()), || {
                self.digest()
            });
        }
        self.ahead = Some(ahead);
        Ok(self)
    }

    /// Reads all requests. Returns `None` if there are more than `most`.
    pub(crate) fn decode(mut self, most: usize) -> Result<Option<Requests>, WorkloadError> {
        let mut ahead = LookAhead::new(self.position());
        while let Some(request) = self.next_request()? {
            if ahead.len() == most {
                return Ok(None);
            }
            ahead.push(request, self.counts, (self.bytes(), self.file()), || {
                self.digest()
            });
        }
        Ok(Some(Requests {
            ahead,
            end: self.position(),
            first_skipped: self.first_skipped,
        }))
    }
    /// Provides a trace that has not been read yet with the decoded requests of the same trace.
    pub(crate) fn with(mut self, requests: &Requests) -> Self {
        self.ahead = Some(requests.ahead.clone());
        self.end = Some(requests.end);
        self.first_skipped.clone_from(&requests.first_skipped);
        self
    }
    /// Returns the position after the request returned last; `None` if no requests were read ahead.
    fn read_before(&self) -> Option<ReadPosition> {
        let end = self.end.filter(|_| self.ended);
        end.or_else(|| self.ahead.as_ref().map(LookAhead::position))
    }

    /// Opens a trace with one file in memory. `name` replaces its path in messages.
    pub fn from_bytes(
        name: &str,
        bytes: impl Into<Arc<[u8]>>,
        options: &TraceOptions,
    ) -> Result<Self, WorkloadError> {
        Self::recorded(vec![Recording::memory(name, bytes.into())], options)
    }

    fn recorded(origins: Vec<Recording>, options: &TraceOptions) -> Result<Self, WorkloadError> {
        let Some(first) = origins.first() else {
            return Err(WorkloadError::new(
                Path::new("trace"),
                "no file is given",
                "name at least one file",
            ));
        };
        let mut files = Vec::new();
        let mut timed = true;
        let mut first_file = None;
        for origin in &origins {
            let open = OpenFile::new(origin, options)?;
            timed &= open.tick_ps != 0;
            files.push(TraceFile {
                path: origin.path().to_owned(),
                format: open.format,
                recognised_by: options.recognised_by(open.format),
                time_unit: match &options.columns {
                    Some(columns) => columns.time_unit(),
                    None => open.format.time_unit(),
                },
                warning: open.warning.clone(),
            });
            first_file.get_or_insert(open);
        }
        let bounded = options.capacity_bytes.is_some() || !options.disks.is_empty();
        let twice = options.volumes == Volumes::Stack || (options.fit == Fit::Scale && bounded);
        let ends = if twice {
            ends(&origins, options)?
        } else {
            BTreeMap::new()
        };
        let mapper = volumes(options)
            .and_then(|volumes| Mapper::new(volumes, &ends))
            .map_err(|refusal| WorkloadError::new(first.path(), refusal.reason, refusal.remedy))?;
        let fitter = Fitter::new(options.fit, options.capacity_bytes, mapper.end(&ends));
        let disks = Disks::new(&options.disks, options.fit, &ends);
        Ok(Self {
            options: options.clone(),
            disks,
            files,
            timed,
            next_file: 0,
            open: None,
            orderer: Orderer::new(options.time_order),
            mapper,
            fitter,
            carried: None,
            clock: Time::ZERO,
            last: Time::ZERO,
            thinking: (Time::ZERO, Time::ZERO),
            counts: Counts::default(),
            first_skipped: None,
            failure: None,
            bytes_total: origins.iter().map(Recording::length).sum(),
            bytes_done: 0,
            digest: Digest::default(),
            origins,
            first: first_file,
            ahead: None,
            end: None,
            ended: false,
        })
    }

    /// Returns the files and their formats, in order.
    pub fn files(&self) -> &[TraceFile] {
        &self.files
    }
    /// Iterates over warnings about ambiguous formats, one sentence per file.
    pub fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        self.files.iter().filter_map(|file| file.warning.clone())
    }
    /// Returns the counts of the records read so far and of changes to them.
    pub fn counts(&self) -> Counts {
        self.read_before().map_or(self.counts, |at| at.counts)
    }
    /// Returns the error of the first line that was skipped; `None` if none was.
    pub fn first_skipped(&self) -> Option<&WorkloadError> {
        let skipped = self.counts().lines_skipped > 0;
        self.first_skipped.as_ref().filter(|_| skipped)
    }
    /// Returns the digest of the bytes read from disk so far, before decompression. At the end of
    /// the trace, it covers all files.
    pub fn digest(&self) -> u64 {
        if let Some(at) = self.read_before() {
            return at.digest;
        }
        let mut digest = self.digest;
        if let Some(open) = &self.open {
            digest.mix(open.input.stream().digest());
        }
        digest.value()
    }

    /// Returns the number of bytes read from disk so far.
    fn bytes(&self) -> u64 {
        if let Some(at) = self.read_before() {
            return at.bytes;
        }
        let open = self.open.as_ref();
        self.bytes_done + open.map_or(0, |open| open.input.stream().bytes())
    }
    fn position(&self) -> ReadPosition {
        ReadPosition {
            counts: self.counts(),
            bytes: self.bytes(),
            digest: self.digest(),
            file: self.file(),
        }
    }

    /// Opens the next file. Returns `false` if there is none.
    fn next_file(&mut self) -> Result<bool, WorkloadError> {
        let Some(origin) = self.origins.get(self.next_file) else {
            return Ok(false);
        };
        let open = if let Some(first) = self.first.take() {
            first
        } else {
            let mut options = self.options.clone();
            options.format = Some(self.files[self.next_file].format);
            OpenFile::new(origin, &options)?
        };
        self.next_file += 1;
        self.orderer.restart(open.tick_ps);
        self.open = Some(open);
        self.clock = self.last;
        Ok(true)
    }

    fn close_file(&mut self) {
        if let Some(open) = self.open.take() {
            self.bytes_done += open.input.stream().bytes();
            self.digest.mix(open.input.stream().digest());
        }
    }

    /// Returns the next record in time order, from this file or a later one.
    #[inline(always)]
    fn next_record(&mut self) -> Result<Option<Placed>, WorkloadError> {
        loop {
            let Some(open) = &mut self.open else {
                if self.next_file()? {
                    continue;
                }
                return Ok(None);
            };
            let (bad, skipped) = (self.options.on_bad_line, &mut self.first_skipped);
            let failure = &mut self.failure;
            let path = self.origins[self.next_file - 1].path();
            let placed = self.orderer.next(
                &mut self.counts,
                |counts| {
                    if failure.is_some() {
                        return Ok(None);
                    }
                    open.next(bad, counts, skipped).or_else(|error| {
                        *failure = Some(error);
                        Ok(None)
                    })
                },
                |place, refusal| refused(path, place, refusal),
            )?;
            if placed.is_some() {
                return Ok(placed);
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            self.close_file();
        }
    }

    /// Returns the arrival of a record of the open file; `None` if it is beyond the range of the
    /// clock.
    #[inline(always)]
    fn arrival(&mut self, ticks: u64) -> Option<Time> {
        let open = self.open.as_mut()?;
        let since = ticks.checked_sub(*open.zero.get_or_insert(ticks))?;
        self.clock
            .checked_add(Time::from_ps(since.checked_mul(open.tick_ps)?))
    }

    fn refused(&self, place: Place, refusal: Refusal) -> WorkloadError {
        let file = self.next_file.saturating_sub(1);
        refused(self.origins[file].path(), place, refusal)
    }

    /// Returns the error for a request beyond the capacity. The error states the highest address of
    /// the whole trace, or of the record's disk if each disk has its own range.
    #[cold]
    fn beyond(&self, placed: &Placed, fitter: &Fitter) -> WorkloadError {
        let highest = ends(&self.origins, &self.options).ok();
        let highest = highest.map(|ends| {
            if self.disks.is_empty() {
                return self.mapper.end(&ends);
            }
            ends.get(&placed.record.volume).copied().unwrap_or(0)
        });
        self.refused(placed.place, fitter.refusal(&placed.record, highest))
    }

    /// Returns the start of a record's volume, and the fitter of its requests.
    #[inline]
    fn place(&self, record: &Record) -> Result<(u64, Fitter), Refusal> {
        if self.disks.is_empty() {
            return Ok((0, self.fitter));
        }
        self.disks.find(record.volume)
    }

    /// Returns the next request if its record has been read and needs no change, which holds for
    /// nearly all records. [`Self::next_request`] handles the others with all adapters.
    #[inline]
    fn plain(&mut self) -> Option<Request> {
        if self.options.think_times {
            return None;
        }
        let open = self.open.as_mut()?;
        let record = open.records.get(open.returned)?.record;
        let zero = open.zero.unwrap_or(record.ticks);
        let since = record.ticks.checked_sub(zero)?.checked_mul(open.tick_ps)?;
        let arrival = self.clock.checked_add(Time::from_ps(since))?;
        let kept = self.disks.is_empty()
            && self.mapper.keeps(&record)
            && is_aligned(self.options.align, &record)
            && self.fitter.keeps(&record)
            && open.accepts(&record)
            && self.orderer.passes(record.ticks);
        if !kept {
            return None;
        }
        open.zero = Some(zero);
        open.returned += 1;
        self.counts.records += 1;
        self.last = arrival;
        Some(request(&record, 0, arrival))
    }

    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        while let Some(mut placed) = self.next_record()? {
            let place = placed.place;
            let record = &mut placed.record;
            let untimed =
                self.options.time_order == TimeOrder::File || self.options.times_may_be_unknown;
            let arrival = self.arrival(record.ticks);
            let Some(arrival) = arrival.or_else(|| untimed.then_some(self.last)) else {
                let reason = "the time is beyond the clock's 213 days from the start of the run";
                let remedy = "replay fewer files at once, or pass --time-gaps cut=1s";
                return Err(self.refused(place, Refusal::new(reason, remedy)));
            };
            self.last = arrival;
            let kept = self.mapper.map(record, &mut self.counts);
            if !kept.map_err(|refusal| self.refused(place, refusal))? {
                continue;
            }
            let kept = aligned(self.options.align, record, &mut self.counts);
            if !kept.map_err(|refusal| self.refused(place, refusal))? {
                continue;
            }
            let arrival = if self.options.think_times {
                let thought = self.thought(record.response, arrival);
                thought.map_err(|refusal| self.refused(place, refusal))?
            } else {
                arrival
            };
            if self.disks.is_empty() && self.fitter.keeps(record) {
                return Ok(Some(request(record, 0, arrival)));
            }
            return self.fitted(&placed, arrival).map(Some);
        }
        Ok(None)
    }

    /// Returns the sum of the think times up to a request that was recorded at `arrival` and took
    /// `response` ticks.
    fn thought(&mut self, response: u64, arrival: Time) -> Result<Time, Refusal> {
        let tick_ps = self.open.as_ref().map_or(0, |open| open.tick_ps);
        let took = (response != Record::UNSTATED).then(|| response.checked_mul(tick_ps));
        let Some(complete) = took
            .flatten()
            .and_then(|took| arrival.checked_add(Time(took)))
        else {
            return Err(Refusal::new(
                "the response time, which a replay with think times needs, is missing or exceeds the clock",
                "use a trace in the format msr, or in the format wordline with the column response_ns; or remove replay.mode",
            ));
        };
        let (before, sum) = self.thinking;
        let sum = sum + arrival.since(before);
        self.thinking = (complete, sum);
        Ok(sum)
    }

    /// Returns the request of a record that is changed or whose volume has its own range.
    #[inline(never)]
    fn fitted(&mut self, placed: &Placed, arrival: Time) -> Result<Request, WorkloadError> {
        let found = self.place(&placed.record);
        let (start, fitter) = found.map_err(|refusal| self.refused(placed.place, refusal))?;
        if fitter.refuses(&placed.record) {
            return Err(self.beyond(placed, &fitter));
        }
        let fitted = fitter.fit(placed.record, &mut self.counts);
        let fitted = fitted.map_err(|refusal| self.refused(placed.place, refusal))?;
        self.carried = fitted.wrapped.map(|rest| request(&rest, start, arrival));
        Ok(request(&fitted.record, start, arrival))
    }
}

impl Source for Trace {
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        if let Some(ahead) = &mut self.ahead {
            if let Some(next) = ahead.next() {
                return Ok(Some(next));
            }
            if self.end.is_some() {
                self.ended = true;
                return Ok(None);
            }
            self.ahead = None;
        }
        if let Some(rest) = self.carried.take() {
            return Ok(Some(rest));
        }
        if let Some(request) = self.plain() {
            return Ok(Some(request));
        }
        let next = self.next();
        if next.is_err() {
            self.close_file();
            self.next_file = self.origins.len();
        }
        next
    }

    fn fraction(&self) -> Option<f64> {
        let total = self.bytes_total.filter(|&total| total > 0)?;
        Some((self.bytes() as f64 / total as f64).min(1.0))
    }

    fn timed(&self) -> bool {
        self.timed && self.counts().times_unknown == 0
    }

    fn file(&self) -> u32 {
        let at = self.read_before();
        at.map_or(self.next_file.saturating_sub(1) as u32, |at| at.file)
    }
}

/// Returns the mapping of volumes. Fails if volumes have their own ranges and the options map them
/// otherwise.
fn volumes(options: &TraceOptions) -> Result<Volumes, Refusal> {
    match options.volumes {
        volumes if options.disks.is_empty() => Ok(volumes),
        Volumes::One => Ok(Volumes::Shared),
        Volumes::Only(number) => Ok(Volumes::Only(number)),
        other => Err(Refusal::new(
            format!("--volumes {other}: every disk of the trace has its own address range"),
            "omit --volumes, or give the number of one disk",
        )),
    }
}

/// Returns the request of a record whose volume starts at `start`. A flush keeps offset 0 and size
/// 0.
#[inline]
fn request(record: &Record, start: u64, arrival: Time) -> Request {
    let Record {
        offset,
        bytes,
        volume,
        op,
        fua,
        ..
    } = *record;
    Request {
        arrival,
        offset: if bytes > 0 { offset + start } else { offset },
        bytes,
        volume,
        op,
        fua,
    }
}

#[cold]
fn refused(path: &Path, place: Place, refusal: Refusal) -> WorkloadError {
    WorkloadError::at(path, place, None, refusal.reason, refusal.remedy)
}

/// Returns the end of each volume's addresses, over all files. Bad lines are ignored.
fn ends(
    origins: &[Recording],
    options: &TraceOptions,
) -> Result<BTreeMap<u32, u64>, WorkloadError> {
    let mut ends = BTreeMap::new();
    for origin in origins {
        let mut open = OpenFile::new(origin, options)?;
        let mut counts = Counts::default();
        while let Some(placed) = open.next(OnBadLine::Skip, &mut counts, &mut None)? {
            let end = ends.entry(placed.record.volume).or_insert(0_u64);
            *end = (*end).max(placed.record.offset + placed.record.bytes);
        }
    }
    Ok(ends)
}
