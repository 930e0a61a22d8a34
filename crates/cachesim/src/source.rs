//! Converts a trace to page requests.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::Serialize;
use wordline_cache::{Entry, Intake, Requests, TraceError};
use wordline_kernel::Time;
use wordline_workload::{
    InputFile, KeyTrace, Op, Recordings, Request, Source, Trace, TraceFile, TraceOptions, Volumes,
};

use super::{CacheError, Phase, Progress, Watch};

/// Number of requests between two progress reports.
const BEAT: u64 = 1 << 14;
/// Maximum number of pages per request.
const MAX_PAGES: u64 = 1 << 20;
/// Number of bits of a page number within its volume.
const PAGE_BITS: u32 = 44;

/// Parameters of the conversion from a trace to page requests.
#[derive(Clone, Debug)]
pub struct Paging {
    /// Trace files of the command. A stream, such as standard input, is read only once, because its
    /// bytes are kept here.
    pub recordings: Recordings,
    /// Files of the trace, read one after another.
    pub paths: Vec<PathBuf>,
    /// Options for reading the files.
    pub trace: TraceOptions,
    /// Size of a page. Bytes.
    pub page_bytes: u64,
    /// Maximum number of requests to read; `None` for all.
    pub max_requests: Option<u64>,
    /// Number of leading reads and writes to keep for a replay on the disk.
    pub leading: u64,
}

/// Statistics of a trace.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Input {
    pub files: Vec<InputFile>,
    pub page_bytes: u64,
    /// Reads, writes and TRIMs of the trace. Count.
    pub requests: u64,
    pub reads: u64,
    pub writes: u64,
    pub trims: u64,
    pub flushes_ignored: u64,
    pub lines_skipped: u64,
    /// Pages read or written, each counted once per request. Count.
    pub page_requests: u64,
    pub page_reads: u64,
    pub page_writes: u64,
    pub pages_trimmed: u64,
    /// Distinct pages that are read or written. An estimate if only sampled pages were counted.
    pub distinct_pages: u64,
    pub footprint_bytes: u64,
    pub notes: Vec<String>,
}

/// Receiver of the requests of a trace. Keys are page numbers.
pub(super) trait Sink {
    /// Receives reads of one page each.
    fn reads(&mut self, keys: &[u64]) -> Result<(), CacheError>;
    /// Receives a read or write of a range of pages.
    fn request(&mut self, keys: Range<u64>, write: bool) -> Result<(), CacheError>;
    /// Receives the arrival time of the next request.
    fn arrives(&mut self, _at: Time) {}
    /// Receives a read or write as recorded, before its pages.
    fn asked(&mut self, _request: &Request) {}
    /// Receives whether the requests of the trace have arrival times.
    fn timed(&mut self, _timed: bool) {}
    /// Receives a TRIM. Returns the number of its pages that had been requested.
    fn trim(&mut self, _keys: Range<u64>) -> u64 {
        0
    }
}

/// Reads a trace into a sink, to its end or to the maximum number of requests.
pub(super) fn pour(
    paging: &Paging,
    sink: &mut impl Sink,
    watch: &mut Watch<'_>,
) -> Result<Input, CacheError> {
    let mut input = Input {
        page_bytes: paging.page_bytes,
        ..Input::default()
    };
    match KeyTrace::of(&paging.recordings, &paging.paths, &paging.trace)? {
        Some(trace) => pour_keys(trace, paging, &mut input, sink, watch)?,
        None => pour_requests(paging, &mut input, sink, watch)?,
    }
    if input.page_requests == 0 {
        return Err(CacheError::Empty(paging.name()));
    }
    Ok(input)
}

fn pour_keys(
    mut trace: KeyTrace,
    paging: &Paging,
    input: &mut Input,
    sink: &mut impl Sink,
    watch: &mut Watch<'_>,
) -> Result<(), CacheError> {
    let most = paging.max_requests.unwrap_or(u64::MAX);
    input.files = files(trace.files());
    while input.requests < most {
        let keys = trace.next_keys()?;
        if keys.is_empty() {
            break;
        }
        let room = usize::try_from(most - input.requests).unwrap_or(usize::MAX);
        let keys = &keys[..keys.len().min(room)];
        sink.reads(keys)?;
        input.requests += keys.len() as u64;
        beat(watch, input.requests, trace.fraction())?;
    }
    input.reads = input.requests;
    input.page_requests = input.requests;
    input.page_reads = input.requests;
    input.lines_skipped = trace.lines_skipped();
    input.notes.extend(trace.notes());
    Ok(())
}

fn pour_requests(
    paging: &Paging,
    input: &mut Input,
    sink: &mut impl Sink,
    watch: &mut Watch<'_>,
) -> Result<(), CacheError> {
    let most = paging.max_requests.unwrap_or(u64::MAX);
    let mut trace = Trace::of(&paging.recordings, &paging.paths, &paging.trace)?;
    input.files = files(trace.files());
    if let Some(file) = trace.files().iter().find(|file| file.format.is_keys()) {
        let whole = trace.files().iter().all(|file| file.format.is_keys());
        if !whole {
            return Err(CacheError::argument(
                file.path.display().to_string(),
                format!(
                    "the file contains keys ({}), but other files contain addresses",
                    file.format
                ),
                "analyse these files separately",
            ));
        }
    }
    let mut places = Places::default();
    sink.timed(trace.timed());
    while input.requests < most {
        let Some(request) = trace.next_request()? else {
            break;
        };
        sink.arrives(request.arrival);
        places.pass(&request, paging, input, sink)?;
        if input.requests.is_multiple_of(BEAT) {
            beat(watch, input.requests, trace.fraction())?;
        }
    }
    input.lines_skipped = trace.counts().lines_skipped;
    input.notes.extend(trace.notes());
    Ok(())
}

fn beat(watch: &mut Watch<'_>, requests: u64, fraction: Option<f64>) -> Result<(), CacheError> {
    let phase = Phase::Read;
    let now = Progress {
        phase,
        requests,
        fraction,
    };
    if watch(now) {
        return Ok(());
    }
    Err(CacheError::Interrupted)
}

fn files(files: &[TraceFile]) -> Vec<InputFile> {
    files.iter().map(InputFile::of).collect()
}

impl Paging {
    /// Returns the path of the first file, by which messages refer to the trace.
    pub(super) fn name(&self) -> String {
        let first = self.paths.first();
        first.map_or_else(|| "trace".to_owned(), |path| path.display().to_string())
    }
}

/// Page ranges of the volumes. Pages of different volumes are different pages.
#[derive(Default)]
struct Places {
    volumes: BTreeMap<u32, Place>,
}

#[derive(Clone, Copy)]
struct Place {
    /// Page number of the volume's first page.
    start: u64,
    /// End of the pages requested so far, relative to `start`, exclusive.
    end: u64,
}

impl Places {
    /// Counts a request and passes its pages to the sink.
    fn pass(
        &mut self,
        request: &Request,
        paging: &Paging,
        input: &mut Input,
        sink: &mut impl Sink,
    ) -> Result<(), CacheError> {
        let bytes = paging.page_bytes;
        let write = match request.op {
            Op::Flush => {
                input.flushes_ignored += 1;
                return Ok(());
            }
            Op::Trim => {
                input.requests += 1;
                input.trims += 1;
                // The TRIM affects pages that it covers completely and that precede the end of
                // earlier requests.
                let place = self.of(request.volume);
                let end = (request.end() / bytes).min(place.end);
                let first = request.offset.div_ceil(bytes).min(end);
                let keys = place.start + first..place.start + end;
                input.pages_trimmed += sink.trim(keys);
                return Ok(());
            }
            Op::Read => false,
            Op::Write => true,
        };
        let (first, end) = (request.offset / bytes, request.end().div_ceil(bytes));
        let pages = end - first;
        if end > 1 << PAGE_BITS {
            let (path, offset) = (paging.name(), request.end());
            return Err(CacheError::Far { path, offset });
        }
        if pages > MAX_PAGES {
            let (path, offset) = (paging.name(), request.offset);
            return Err(CacheError::Long {
                path,
                pages,
                offset,
            });
        }
        let place = self.of(request.volume);
        place.end = place.end.max(end);
        let start = place.start;
        sink.asked(request);
        sink.request(start + first..start + end, write)?;
        input.requests += 1;
        input.page_requests += pages;
        if write {
            input.writes += 1;
            input.page_writes += pages;
        } else {
            input.reads += 1;
            input.page_reads += pages;
        }
        Ok(())
    }
    fn of(&mut self, volume: u32) -> &mut Place {
        let start = (self.volumes.len() as u64) << PAGE_BITS;
        let fresh = Place { start, end: 0 };
        self.volumes.entry(volume).or_insert(fresh)
    }
}

/// Page requests of a trace, over which policies run.
#[derive(Debug)]
pub struct Pages {
    pub(super) requests: Requests,
    pub(super) trims: Vec<Trim>,
    /// Page number of each entry; empty unless page numbers are kept.
    pub(super) keys: Vec<u64>,
    /// Time from the first request to the last; zero for a trace of keys.
    pub(super) span: Time,
    /// Leading requests as recorded.
    pub(super) leading: Leading,
    /// Statistics of the trace.
    pub input: Input,
}

/// Leading reads and writes of a trace, as recorded.
#[derive(Debug, Default)]
pub(super) struct Leading {
    pub(super) requests: Vec<Asked>,
    /// Whether the requests have arrival times.
    pub(super) timed: bool,
    /// End of each volume's requests, exclusive. Bytes.
    ends: BTreeMap<u32, u64>,
}

/// Read or write request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) arrival: Time,
    /// Offset of the first byte. The volumes are concatenated.
    pub(super) offset: u64,
    pub(super) bytes: u64,
    volume: u32,
    pub(super) write: bool,
    pub(super) fua: bool,
    /// Index of the request's first page among the page requests.
    pub(super) place: u32,
}

/// Alignment of concatenated volumes, as in a simulation. Bytes.
const VOLUME_UNIT: u64 = 4096;

impl Leading {
    /// Adds a request, unless there are `most` requests already.
    fn push(&mut self, request: &Request, place: usize, most: u64) {
        let end = self.ends.entry(request.volume).or_default();
        *end = (*end).max(request.end());
        if (self.requests.len() as u64) < most {
            let before = self.requests.last().map_or(Time::ZERO, |last| last.arrival);
            self.requests.push(Asked {
                arrival: request.arrival.max(before),
                offset: request.offset,
                bytes: request.bytes,
                volume: request.volume,
                write: request.op == Op::Write,
                fua: request.fua,
                place: place as u32,
            });
        }
    }
    /// Adds to each offset the start of its volume, so that the volumes are concatenated in the
    /// order of their numbers.
    fn stack(&mut self) {
        let mut next = 0_u64;
        let mut starts = BTreeMap::new();
        for (&volume, &end) in &self.ends {
            starts.insert(volume, next);
            next = next.saturating_add(end.next_multiple_of(VOLUME_UNIT));
        }
        for asked in &mut self.requests {
            asked.offset += starts.get(&asked.volume).copied().unwrap_or(0);
        }
    }
    /// Returns the number of volumes in the trace.
    pub(super) fn volumes(&self) -> usize {
        self.ends.len()
    }
}

/// TRIM of an entry, before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trim {
    /// Index of the request.
    pub(super) place: u32,
    pub(super) entry: Entry,
}

impl Pages {
    /// Reads a trace.
    pub fn read(paging: &Paging, watch: &mut Watch<'_>) -> Result<Self, CacheError> {
        let mut numbering = Numbering::new(paging);
        let input = pour(paging, &mut numbering, watch)?;
        Ok(numbering.finish(input))
    }
    /// Reads a trace and keeps its page numbers for foreign policies. Page numbers follow from the
    /// addresses, or from the keys in a trace of keys. The page numbers of each further volume
    /// begin at the next multiple of 2^44.
    pub fn read_with_keys(paging: &Paging, watch: &mut Watch<'_>) -> Result<Self, CacheError> {
        let mut numbering = Numbering::new(paging);
        let input = pour(paging, &mut numbering, watch)?;
        let span = numbering.span();
        let (requests, keys) = numbering.intake.finish_with_keys();
        let pages = Self::new(requests, numbering.trims, input);
        Ok(Self {
            keys,
            span,
            ..pages
        })
    }
    fn new(requests: Requests, mut trims: Vec<Trim>, mut input: Input) -> Self {
        leave_out_trimmed(&requests, &mut trims);
        input.pages_trimmed = trims.len() as u64;
        input.distinct_pages = requests.footprint().into();
        input.footprint_bytes = input.distinct_pages.saturating_mul(input.page_bytes);
        Self {
            requests,
            trims,
            keys: Vec::new(),
            span: Time::ZERO,
            leading: Leading::default(),
            input,
        }
    }
    /// Returns the number of distinct pages.
    pub fn footprint(&self) -> u64 {
        self.requests.footprint().into()
    }
}

/// Drops TRIMs without effect: those of pages that were not requested since their last TRIM.
fn leave_out_trimmed(requests: &Requests, trims: &mut Vec<Trim>) {
    let mut there = vec![false; requests.footprint() as usize];
    let mut seen = 0;
    trims.retain(|trim| {
        let place = trim.place as usize;
        for &number in &requests.numbers()[seen..place] {
            there[number as usize] = true;
        }
        seen = place;
        std::mem::take(&mut there[trim.entry.index()])
    });
}

/// Sink that assigns numbers to pages.
pub(super) struct Numbering {
    path: String,
    intake: Intake,
    trims: Vec<Trim>,
    /// Arrival times of the earliest and the latest request.
    times: Option<(Time, Time)>,
    leading: Leading,
    /// Maximum number of leading requests to keep.
    most_leading: u64,
    /// Whether volumes keep their recorded addresses, so that they overlap.
    overlap: bool,
}

impl Numbering {
    pub(super) fn new(paging: &Paging) -> Self {
        Self {
            path: paging.name(),
            intake: Intake::default(),
            trims: Vec::new(),
            times: None,
            leading: Leading::default(),
            most_leading: paging.leading,
            overlap: paging.trace.volumes == Volumes::Shared,
        }
    }
    fn span(&self) -> Time {
        self.times
            .map_or(Time::ZERO, |(first, last)| last.since(first))
    }
    fn push(&mut self, key: u64, write: bool) -> Result<(), CacheError> {
        let added = self.intake.push(key, write);
        self.named(added)
    }
    /// Adds the path of the trace to an error.
    fn named(&self, added: Result<(), TraceError>) -> Result<(), CacheError> {
        added.map_err(|reason| CacheError::Trace {
            path: self.path.clone(),
            reason,
        })
    }
    pub(super) fn finish(self, input: Input) -> Pages {
        let span = self.span();
        let mut leading = self.leading;
        if self.overlap {
            leading.stack();
        }
        let pages = Pages::new(self.intake.finish(), self.trims, input);
        Pages {
            span,
            leading,
            ..pages
        }
    }
}

impl Sink for Numbering {
    fn reads(&mut self, keys: &[u64]) -> Result<(), CacheError> {
        let added = self.intake.push_reads(keys);
        self.named(added)
    }
    fn request(&mut self, mut keys: Range<u64>, write: bool) -> Result<(), CacheError> {
        keys.try_for_each(|key| self.push(key, write))
    }
    fn arrives(&mut self, at: Time) {
        let (first, last) = self.times.unwrap_or((at, at));
        self.times = Some((first.min(at), last.max(at)));
    }
    fn asked(&mut self, request: &Request) {
        if self.most_leading > 0 {
            let place = self.intake.len();
            self.leading.push(request, place, self.most_leading);
        }
    }
    fn timed(&mut self, timed: bool) {
        self.leading.timed = timed;
    }
    fn trim(&mut self, keys: Range<u64>) -> u64 {
        let place = self.intake.len() as u32;
        let known = self.intake.known_in(keys);
        let before = self.trims.len();
        self.trims.extend(known.map(|entry| Trim { place, entry }));
        (self.trims.len() - before) as u64
    }
}
