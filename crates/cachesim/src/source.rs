//! A trace as requests for pages.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::Serialize;
use wordline_cache::{Entry, Intake, Requests};
use wordline_kernel::Time;
use wordline_workload::{
    InputFile, KeyTrace, Op, Recordings, Request, Source, Trace, TraceFile, TraceOptions, Volumes,
};

use super::{CacheError, Phase, Progress, Watch};

/// Requests between two looks at the watch.
const BEAT: u64 = 1 << 14;
/// Pages that one request may ask for.
const MAX_PAGES: u64 = 1 << 20;
/// Bits of a page's number within its volume.
const PAGE_BITS: u32 = 44;

/// How a trace becomes requests for pages.
#[derive(Clone, Debug)]
pub struct Paging {
    /// The files of the command.
    pub recordings: Recordings,
    /// Those of the trace, one after the other.
    pub paths: Vec<PathBuf>,
    /// How they are read.
    pub trace: TraceOptions,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Take no more requests than these.
    pub max_requests: Option<u64>,
    /// Number of leading reads and writes to keep as they were asked for, for a replay on the disk.
    pub leading: u64,
}

/// What a trace consists of.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Input {
    pub files: Vec<InputFile>,
    pub page_bytes: u64,
    /// Of the trace: reads, writes and trims.
    pub requests: u64,
    pub reads: u64,
    pub writes: u64,
    pub trims: u64,
    pub flushes_ignored: u64,
    pub lines_skipped: u64,
    /// For single pages, reads and writes.
    pub page_requests: u64,
    pub page_reads: u64,
    pub page_writes: u64,
    pub pages_trimmed: u64,
    /// Pages that are read or written; an estimate if only sampled ones were looked at.
    pub distinct_pages: u64,
    pub footprint_bytes: u64,
    pub notes: Vec<String>,
}

/// Where the requests of a trace go. Keys are the numbers of pages.
pub(super) trait Sink {
    /// Reads of one page each.
    fn reads(&mut self, keys: &[u64]) -> Result<(), CacheError>;
    /// A read or a write of neighbouring pages.
    fn request(&mut self, keys: Range<u64>, write: bool) -> Result<(), CacheError>;
    /// When the next request was issued.
    fn arrives(&mut self, _at: Time) {}
    /// A read or a write as the trace has it, before its pages.
    fn asked(&mut self, _request: &Request) {}
    /// Whether the requests of the trace have arrival times.
    fn timed(&mut self, _timed: bool) {}
    /// Pages are forgotten; how many of them were known.
    fn trim(&mut self, _keys: Range<u64>) -> u64 {
        0
    }
}

/// Reads a trace to its end, or as far as was said, into a sink.
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
                format!("it holds keys ({}), and other files addresses", file.format),
                "study them one by one",
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
    /// The first file, as messages call the trace.
    pub(super) fn name(&self) -> String {
        let first = self.paths.first();
        first.map_or_else(|| "trace".to_owned(), |path| path.display().to_string())
    }
}

/// Volumes and the ends of what was asked for in them, in pages. Pages of different volumes are different pages.
#[derive(Default)]
struct Places {
    volumes: BTreeMap<u32, Place>,
}

#[derive(Clone, Copy)]
struct Place {
    /// The number of its first page.
    start: u64,
    /// Pages below the last that was asked for, and this.
    end: u64,
}

impl Places {
    /// Counts a request and hands it on.
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
                // Pages that the trim covers whole, as far as anything was asked for.
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

/// A trace taken in: its requests for pages, ready for policies to run over.
#[derive(Debug)]
pub struct Pages {
    pub(super) requests: Requests,
    pub(super) trims: Vec<Trim>,
    /// By entry the number of the page; none unless they are kept.
    pub(super) keys: Vec<u64>,
    /// From the first request to the last; zero in a trace of keys.
    pub(super) span: Time,
    /// The first requests, as they were asked for.
    pub(super) leading: Leading,
    /// What it consists of.
    pub input: Input,
}

/// The first reads and writes of a trace, as they were asked for.
#[derive(Debug, Default)]
pub(super) struct Leading {
    pub(super) requests: Vec<Asked>,
    /// Whether they have arrival times.
    pub(super) timed: bool,
    /// By volume, the byte behind the last that any request of the trace asks for.
    ends: BTreeMap<u32, u64>,
}

/// A read or a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) arrival: Time,
    /// First byte; volumes are laid end to end.
    pub(super) offset: u64,
    pub(super) bytes: u64,
    volume: u32,
    pub(super) write: bool,
    pub(super) fua: bool,
    /// Place of its first page among the requests for pages.
    pub(super) place: u32,
}

/// Volumes begin at multiples of this where they are laid end to end, as in a run. Bytes.
const VOLUME_UNIT: u64 = 4096;

impl Leading {
    /// Takes no more than `most` requests.
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
    /// Lays the volumes end to end, in the order of their numbers.
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
    /// Volumes of the trace.
    pub(super) fn volumes(&self) -> usize {
        self.ends.len()
    }
}

/// An entry is forgotten before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trim {
    /// The place of the request.
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
    /// Reads a trace, and keeps the numbers of its pages for policies that are not members. They are those of
    /// the addresses (of the keys, in a trace of keys); pages of another volume begin at the next 2^44.
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
    /// Distinct pages.
    pub fn footprint(&self) -> u64 {
        self.requests.footprint().into()
    }
}

/// Leaves out trims of pages that were not requested since their last trim: there is nothing to remove.
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

/// Gives pages their numbers.
pub(super) struct Numbering {
    path: String,
    intake: Intake,
    trims: Vec<Trim>,
    /// The earliest and the latest request.
    times: Option<(Time, Time)>,
    leading: Leading,
    /// Requests that are kept in it.
    most_leading: u64,
    /// Whether volumes have the addresses that the trace gives them, so that they overlap.
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
        self.intake
            .push(key, write)
            .map_err(|reason| CacheError::Trace {
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
        keys.iter().try_for_each(|&key| self.push(key, false))
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
