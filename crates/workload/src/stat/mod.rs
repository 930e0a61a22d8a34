//! Statistics of a workload, computed in one pass and bounded memory.
//!
//! Pages have 4 KiB; equal addresses of different volumes are different pages. Percentages are of
//! requests unless stated otherwise. They are absent if their denominator is zero.

mod footprint;
mod idle;
mod reuse;

use std::collections::BTreeSet;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::record_counts::Counts;
use crate::{InputFile, Op, Request, Source, Trace, WorkloadError};
use footprint::Footprint;
use idle::Idle;
use reuse::Reuse;

pub use idle::{BackToBack, IdleRule, IdleStat, Periods};

/// Size of a page in the statistics. Bytes.
pub const PAGE: u64 = 4096;
/// Maximum pages of a request that are added to the footprint. A longer request makes the footprint
/// incomplete.
const MAX_PAGES: u64 = 1 << 18; // 1 GiB
const MIB: f64 = 1_048_576.0;

/// Statistics of a workload. Names of fields contain their units.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stat {
    /// Number of reads and writes.
    pub requests: u64,
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Number of writes that are durable on completion (FUA).
    pub durable_writes: u64,
    /// Number of TRIMs. Only this field, `trimmed_bytes`, `highest_address_bytes` and `idle`
    /// include TRIMs.
    pub trims: u64,
    /// Number of flushes. Only this field and `idle` include flushes.
    pub flushes: u64,
    /// Bytes of all reads.
    pub read_bytes: u64,
    /// Bytes of all writes.
    pub written_bytes: u64,
    /// Bytes of all TRIMs.
    pub trimmed_bytes: u64,
    /// Share of reads among reads and writes.
    pub read_percent: Option<f64>,
    /// Time from the first arrival to the last. Absent if the source has no time stamps, or if a
    /// time stamp is unknown and the order of the file is kept.
    pub duration_s: Option<f64>,
    /// Requests per second over `duration_s`.
    pub mean_iops: Option<f64>,
    /// Highest end address of a read, write or TRIM in any volume.
    pub highest_address_bytes: u64,
    /// Number of volumes.
    pub volumes: u64,
    /// Sizes of reads.
    pub read_size: Option<Sizes>,
    /// Sizes of writes.
    pub write_size: Option<Sizes>,
    /// Pages that requests touched.
    pub footprint: FootprintStat,
    /// Addresses at which requests start, relative to the previous request.
    pub sequence: Sequence,
    /// Share of requests whose offset or size is not a multiple of 4 KiB.
    pub unaligned_percent: Option<f64>,
    /// Share of requests whose offset or size is not a multiple of 512 bytes.
    pub sector_unaligned_percent: Option<f64>,
    /// Times between arrivals. Absent without time stamps or with fewer than two requests.
    pub gaps: Option<Gaps>,
    /// Idle periods. Absent without time stamps or with fewer than two requests of any kind.
    pub idle: Option<IdleStat>,
    /// Numbers of distinct pages accessed between two accesses to the same page.
    pub reuse: reuse::ReuseStat,
    /// Files of the trace. Empty for a generated workload.
    pub files: Vec<InputFile>,
    /// Notes on ambiguous formats of the files, and on changes to their records.
    pub notes: Vec<String>,
    /// Counts of the trace's reader. Absent for a generated workload.
    pub trace: Option<Counts>,
}

/// Distribution of sizes. Percentiles are exact for whole sectors up to 1 MiB and accurate to 0.1 %
/// above.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sizes {
    /// Mean size of a request.
    pub mean_bytes: f64,
    /// Smallest size of a request.
    pub min_bytes: u64,
    /// Median size of the requests.
    pub p50_bytes: u64,
    /// 90th percentile of the sizes.
    pub p90_bytes: u64,
    /// 99th percentile of the sizes.
    pub p99_bytes: u64,
    /// Largest size of a request.
    pub max_bytes: u64,
}

/// Pages that requests touched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FootprintStat {
    /// Whether the footprint is complete. Otherwise the trace touched more pages than can be
    /// tracked, or a request was longer than 1 GiB, and the numbers of pages are lower bounds.
    pub complete: bool,
    /// Distinct pages read.
    pub pages_read: u64,
    /// Distinct pages written.
    pub pages_written: u64,
    /// Distinct pages both read and written.
    pub pages_read_and_written: u64,
    /// Total size of all distinct pages.
    pub mib: f64,
    /// Share of page writes that go to a page written before.
    pub rewritten_percent: Option<f64>,
    /// Share of the pages read that were also written, earlier or later.
    pub overlap_of_read_percent: Option<f64>,
    /// Share of the pages written that were also read, earlier or later.
    pub overlap_of_written_percent: Option<f64>,
}

/// Addresses at which requests start, relative to the previous read or write in the same volume.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sequence {
    /// Share of reads that start where the previous request ended.
    pub sequential_read_percent: Option<f64>,
    /// Share of writes that start where the previous request ended.
    pub sequential_write_percent: Option<f64>,
    /// Share of requests that do not start where the previous request ended.
    pub random_percent: Option<f64>,
    /// Mean length, in requests, of runs in which each request starts where the previous one ended.
    pub mean_run_requests: Option<f64>,
    /// Mean distance, in either direction, between the end of a request and the start of the next,
    /// over requests that are not sequential.
    pub mean_jump_mib: Option<f64>,
}

/// Times between consecutive arrivals of reads and writes. Percentiles are accurate to 0.1 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gaps {
    /// Mean gap between arrivals. Milliseconds.
    pub mean_ms: f64,
    /// Median gap between arrivals. Milliseconds.
    pub p50_ms: f64,
    /// 99th percentile of the gaps. Milliseconds.
    pub p99_ms: f64,
    /// Longest gap between arrivals. Seconds.
    pub max_s: f64,
    /// Gaps above 0.1 s.
    pub over_100_ms: GapShare,
    /// Gaps above 1 s.
    pub over_1_s: GapShare,
    /// Gaps above 10 s.
    pub over_10_s: GapShare,
}

/// Gaps longer than a limit, as shares of the number of gaps and of the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GapShare {
    /// Share of the number of gaps.
    pub percent_of_gaps: f64,
    /// Share of the duration that these gaps take.
    pub percent_of_time: f64,
}

const LIMITS_PS: [u64; 3] = [100_000_000_000, 1_000_000_000_000, 10_000_000_000_000];

/// Collector of the statistics of requests.
pub struct Tally {
    timed: bool,
    trims: u64,
    flushes: u64,
    durable_writes: u64,
    trimmed_bytes: u64,
    read: Direction,
    write: Direction,
    highest: u64,
    volumes: BTreeSet<u32>,
    ends: rustc_hash::FxHashMap<u32, u64>,
    runs: u64,
    jumps: u64,
    jump_bytes: f64,
    unaligned: u64,
    sector_unaligned: u64,
    footprint: Footprint,
    rewritten: u64,
    page_writes: u64,
    reuse: Reuse,
    first_ps: Option<u64>,
    last_ps: u64,
    gaps: Histogram<u64>,
    longest_ps: u64,
    long: [(u64, u64); 3],
    idle: Idle,
}

struct Direction {
    sizes: Histogram<u64>,
    requests: u64,
    bytes: u64,
    sequential: u64,
    least: u64,
    greatest: u64,
}

impl Direction {
    fn new() -> Self {
        Self {
            sizes: histogram(),
            requests: 0,
            bytes: 0,
            sequential: 0,
            least: u64::MAX,
            greatest: 0,
        }
    }
    fn add(&mut self, bytes: u64, sequential: bool) {
        record(&mut self.sizes, bytes);
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.sequential += u64::from(sequential);
        self.least = self.least.min(bytes);
        self.greatest = self.greatest.max(bytes);
    }
    fn sizes(&self) -> Option<Sizes> {
        let at = |quantile| {
            let value = self.sizes.value_at_quantile(quantile);
            self.sizes
                .lowest_equivalent(value)
                .clamp(self.least, self.greatest)
        };
        (self.requests > 0).then(|| Sizes {
            mean_bytes: self.bytes as f64 / self.requests as f64,
            min_bytes: self.least,
            p50_bytes: at(0.5),
            p90_bytes: at(0.9),
            p99_bytes: at(0.99),
            max_bytes: self.greatest,
        })
    }
}

/// Creates an empty histogram with three significant digits.
fn histogram() -> Histogram<u64> {
    let Ok(histogram) = Histogram::new(3) else {
        unreachable!("three digits are within 0 to 5")
    };
    histogram
}

/// Records a value. The histogram grows as needed.
fn record(histogram: &mut Histogram<u64>, value: u64) {
    const GREATEST: u64 = 1 << 62;
    let grown = histogram.record(value.min(GREATEST));
    debug_assert!(grown.is_ok());
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

impl Tally {
    /// Creates empty statistics. `timed`: whether arrivals are meaningful. `rule`: rule for idle
    /// periods.
    pub fn new(timed: bool, rule: IdleRule) -> Self {
        Self {
            timed,
            trims: 0,
            flushes: 0,
            durable_writes: 0,
            trimmed_bytes: 0,
            read: Direction::new(),
            write: Direction::new(),
            highest: 0,
            volumes: BTreeSet::new(),
            ends: rustc_hash::FxHashMap::default(),
            runs: 0,
            jumps: 0,
            jump_bytes: 0.0,
            unaligned: 0,
            sector_unaligned: 0,
            footprint: Footprint::default(),
            rewritten: 0,
            page_writes: 0,
            reuse: Reuse::default(),
            first_ps: None,
            last_ps: 0,
            gaps: histogram(),
            longest_ps: 0,
            long: [(0, 0); 3],
            idle: Idle::new(rule),
        }
    }

    /// Adds a request. Requests must be passed in order of arrival.
    pub fn add(&mut self, request: &Request) {
        self.idle.add(request);
        self.durable_writes += u64::from(request.fua);
        match request.op {
            Op::Flush => self.flushes += 1,
            Op::Trim => {
                self.trims += 1;
                self.trimmed_bytes = self.trimmed_bytes.saturating_add(request.bytes);
                self.highest = self.highest.max(request.end());
            }
            Op::Read | Op::Write => {
                self.arrive(request.arrival.ps());
                self.place(request);
                self.touch(request);
            }
        }
    }

    fn arrive(&mut self, ps: u64) {
        if self.first_ps.is_some() {
            let gap = ps - self.last_ps;
            record(&mut self.gaps, gap);
            self.longest_ps = self.longest_ps.max(gap);
            for (limit, (count, sum)) in LIMITS_PS.into_iter().zip(&mut self.long) {
                if gap > limit {
                    *count += 1;
                    *sum += gap;
                }
            }
        }
        self.first_ps.get_or_insert(ps);
        self.last_ps = ps;
    }

    fn place(&mut self, request: &Request) {
        let before = self.ends.insert(request.volume, request.end());
        let sequential = before == Some(request.offset);
        if let Some(before) = before.filter(|_| !sequential) {
            self.jumps += 1;
            self.jump_bytes += before.abs_diff(request.offset) as f64;
        }
        self.runs += u64::from(!sequential);
        self.volumes.insert(request.volume);
        self.highest = self.highest.max(request.end());
        let odd = request.offset | request.bytes;
        self.unaligned += u64::from(!odd.is_multiple_of(PAGE));
        self.sector_unaligned += u64::from(!odd.is_multiple_of(wordline_trace_format::SECTOR));
        let direction = if request.op == Op::Read {
            &mut self.read
        } else {
            &mut self.write
        };
        direction.add(request.bytes, sequential);
    }

    fn touch(&mut self, request: &Request) {
        let first = request.offset / PAGE;
        let mut count = (request.end() - 1) / PAGE - first + 1;
        if count > MAX_PAGES {
            count = MAX_PAGES;
            self.footprint.incomplete();
        }
        let writes = request.op == Op::Write;
        let known = self.footprint.touch(request.volume, first, count, writes);
        if writes {
            self.page_writes += count;
            self.rewritten += known;
        }
        self.reuse.touch(request.volume, first, count);
    }

    /// Returns the statistics of the requests added so far.
    pub fn stat(&self) -> Stat {
        let (reads, writes) = (self.read.requests, self.write.requests);
        let requests = reads + writes;
        let span = self
            .first_ps
            .filter(|_| self.timed)
            .map(|first| self.last_ps - first);
        let duration_s = span.map(|ps| ps as f64 / 1e12);
        Stat {
            requests,
            reads,
            writes,
            durable_writes: self.durable_writes,
            trims: self.trims,
            flushes: self.flushes,
            read_bytes: self.read.bytes,
            written_bytes: self.write.bytes,
            trimmed_bytes: self.trimmed_bytes,
            read_percent: percent(reads, requests),
            duration_s,
            mean_iops: duration_s.filter(|s| *s > 0.0).map(|s| requests as f64 / s),
            highest_address_bytes: self.highest,
            volumes: self.volumes.len() as u64,
            read_size: self.read.sizes(),
            write_size: self.write.sizes(),
            footprint: self.footprint_stat(),
            sequence: self.sequence(requests),
            unaligned_percent: percent(self.unaligned, requests),
            sector_unaligned_percent: percent(self.sector_unaligned, requests),
            gaps: span
                .filter(|_| requests > 1)
                .map(|span| self.gap_stat(span)),
            idle: self.idle.stat().filter(|_| self.timed),
            reuse: self.reuse.stat(),
            files: Vec::new(),
            notes: Vec::new(),
            trace: None,
        }
    }

    fn footprint_stat(&self) -> FootprintStat {
        let pages = self.footprint.pages();
        let all = pages.read + pages.written - pages.both;
        FootprintStat {
            complete: self.footprint.is_complete(),
            pages_read: pages.read,
            pages_written: pages.written,
            pages_read_and_written: pages.both,
            mib: (all * PAGE) as f64 / MIB,
            rewritten_percent: percent(self.rewritten, self.page_writes),
            overlap_of_read_percent: percent(pages.both, pages.read),
            overlap_of_written_percent: percent(pages.both, pages.written),
        }
    }

    fn sequence(&self, requests: u64) -> Sequence {
        let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        Sequence {
            sequential_read_percent: percent(self.read.sequential, self.read.requests),
            sequential_write_percent: percent(self.write.sequential, self.write.requests),
            random_percent: percent(self.runs, requests),
            mean_run_requests: mean(requests as f64, self.runs),
            mean_jump_mib: mean(self.jump_bytes / MIB, self.jumps),
        }
    }

    fn gap_stat(&self, span_ps: u64) -> Gaps {
        let count = self.gaps.len();
        let ms = |quantile| self.gaps.value_at_quantile(quantile) as f64 / 1e9;
        let share = |(gaps, sum): (u64, u64)| GapShare {
            percent_of_gaps: percent(gaps, count).unwrap_or(0.0),
            percent_of_time: percent(sum, span_ps).unwrap_or(0.0),
        };
        Gaps {
            mean_ms: span_ps as f64 / 1e9 / count as f64,
            p50_ms: ms(0.5),
            p99_ms: ms(0.99),
            max_s: self.longest_ps as f64 / 1e12,
            over_100_ms: share(self.long[0]),
            over_1_s: share(self.long[1]),
            over_10_s: share(self.long[2]),
        }
    }
}

/// Computes the statistics of all requests of a source, which is read to its end.
pub fn stat(source: &mut impl Source, rule: IdleRule) -> Result<Stat, WorkloadError> {
    let mut tally = Tally::new(source.timed(), rule);
    while let Some(request) = source.next_request()? {
        tally.add(&request);
    }
    tally.timed = source.timed();
    Ok(tally.stat())
}

/// Computes the statistics of all requests of a trace, including the counts of its reader. For
/// statistics of the recording itself, open the trace with [`crate::TraceOptions::as_recorded`].
pub fn stat_trace(trace: &mut Trace, rule: IdleRule) -> Result<Stat, WorkloadError> {
    let stat = stat(trace, rule)?;
    Ok(Stat {
        files: trace.files().iter().map(InputFile::of).collect(),
        notes: trace.notes(),
        trace: Some(trace.counts()),
        ..stat
    })
}
