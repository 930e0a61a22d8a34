//! Replays the leading requests of a trace through the lists of a division and the model of the
//! disk. The flash is a separate queue. Results are the response times of requests and the cost of
//! a page on the disk.

use wordline_block::Op;
use wordline_cache::Entry;
use wordline_cache::list::Lists;
use wordline_kernel::Time;
use wordline_partition::Space;
use wordline_partition::cost::Model;

use super::devices::Flash;
use super::spindle::{Access, Spindle, Tag};
use super::stacks::Stopped;
use crate::source::{Asked, Pages};

/// Number of requests between two progress reports.
const BEAT: usize = 1 << 12;
/// Minimum number of blocks per die. A smaller flash has fewer dies.
const BLOCKS_OF_A_DIE: u32 = 64;
/// Index of the read list.
const READS: usize = 0;
/// Index of the write list.
const WRITES: usize = 1;

/// Leading requests to replay, and the disk.
pub(super) struct Played<'a> {
    pub(super) pages: &'a Pages,
    pub(super) requests: &'a [Asked],
    /// Whether requests arrive at their time stamps. Otherwise each arrives when the previous one
    /// completes.
    pub(super) timed: bool,
    pub(super) page_bytes: u64,
    pub(super) disk: &'a wordline_hdd::Plan,
}

/// Response times of requests and times of their disk accesses. Microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Took {
    pub(super) reads: Mean,
    pub(super) writes: Mean,
    /// Times per page: of pages read from the disk (`fetched`) and of pages destaged (`destaged`).
    pub(super) fetched: Mean,
    pub(super) destaged: Mean,
    /// Requests that exceeded the end of the disk. Count.
    pub(super) wrapped: u64,
}

/// Sum and count of times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    us: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, took: Time, count: u64) {
        self.us += took.as_us();
        self.count += count;
    }
    /// Returns the mean; `None` without values. Microseconds.
    pub(super) fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.us / self.count as f64)
    }
    fn and(&self, other: &Self) -> Self {
        Self {
            us: self.us + other.us,
            count: self.count + other.count,
        }
    }
}

impl Took {
    /// Returns the mean response time of all requests; `None` without requests. Microseconds.
    pub(super) fn request_us(&self) -> Option<f64> {
        self.reads.and(&self.writes).value()
    }
    /// Returns the sum of the response times of all requests. Microseconds.
    pub(super) fn all_us(&self) -> f64 {
        self.reads.us + self.writes.us
    }
}

/// Capacities of the lists. Pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lengths {
    /// One list for reads and writes.
    One(u64),
    /// Read list and write list.
    Two(u64, u64),
}

/// Flash and its division into lists.
pub(super) struct Divided<'a> {
    pub(super) lengths: Lengths,
    pub(super) space: &'a Space,
    pub(super) flash: &'a Flash,
}

/// Host request in progress.
#[derive(Clone, Copy)]
struct Job {
    arrival: Time,
    write: bool,
    /// Number of disk requests and other events that the job waits for.
    left: u32,
    /// Time at which the flash has completed the reads that the job waits for.
    hits: Time,
    /// Pages to program when the disk is done. A write waits for these programs; the fills of a
    /// read do not delay it.
    programs: u32,
}

/// Group of pages being destaged.
#[derive(Clone, Copy)]
struct Group {
    /// Write that waits until the group is destaged.
    job: Option<u32>,
    begun: Time,
    pages: u32,
    left: u32,
    flushes: bool,
}

/// Purpose of a disk request.
#[derive(Clone, Copy)]
enum Purpose {
    /// Reads pages that a job missed.
    Fetch { job: u32, pages: u32 },
    /// Serves a host request directly, without the flash.
    Direct { job: u32 },
    /// Writes a group, or flushes the disk's write cache after it.
    Destage { group: u32 },
}

/// Flash as a queue that is served at the combined rate of all dies. An operation takes at least
/// its time on one die.
struct FlashQueue {
    free: Time,
    dies: u64,
    read: Time,
    program: Time,
    /// GC time per program. It applies once the flash has been filled.
    collection: Time,
    /// Programs that remain until the flash has been filled.
    fresh: u64,
}

fn us(us: f64) -> Time {
    Time((us * 1e6).round() as u64)
}

impl FlashQueue {
    fn new(divided: &Divided<'_>) -> Self {
        let Divided { space, flash, .. } = divided;
        let cached = match divided.lengths {
            Lengths::One(pages) => pages,
            Lengths::Two(reads, writes) => reads + writes,
        };
        let blocks = space.total_pages / space.pages_per_block;
        let mut dies = flash.dies.max(1);
        while blocks / dies < BLOCKS_OF_A_DIE && dies.is_multiple_of(2) {
            dies /= 2;
        }
        let utilisation = cached as f64 / f64::from(space.total_pages);
        let write_us = Model::of(space).page_write_us(utilisation.min(0.999));
        Self {
            free: Time::ZERO,
            dies: dies.into(),
            read: us(flash.read_us),
            program: us(flash.program_us),
            collection: us(write_us - flash.program_us),
            fresh: space.total_pages.into(),
        }
    }
    /// Reads and programs pages, starting at `at`, or as soon as the flash is free if that is
    /// later. Returns the completion time.
    fn serve(&mut self, at: Time, reads: u32, programs: u32) -> Time {
        if reads + programs == 0 {
            return at;
        }
        let paid = u64::from(programs).saturating_sub(self.fresh);
        self.fresh -= u64::from(programs) - paid;
        let work = self.read * u64::from(reads)
            + self.program * u64::from(programs)
            + self.collection * paid;
        let one = if programs > 0 {
            self.program
        } else {
            self.read
        };
        let begun = self.free.max(at);
        self.free = begun + Time(work.0 / self.dies);
        self.free.max(begun + one)
    }
}

impl Played<'_> {
    /// Replays the requests without flash.
    pub(super) fn disk_alone(&self, goes_on: &mut dyn FnMut(f64) -> bool) -> Result<Took, Stopped> {
        let mut tier = Tier::new(self, None);
        tier.play(goes_on)
    }
    /// Replays the requests with a divided flash.
    pub(super) fn with_flash(
        &self,
        divided: &Divided<'_>,
        goes_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Took, Stopped> {
        let mut tier = Tier::new(self, Some(divided));
        tier.play(goes_on)
    }
}

/// Page that a request accesses.
#[derive(Clone, Copy)]
struct Page {
    entry: Entry,
    /// Page number on the disk.
    number: u64,
    /// Whether the request covers the whole page.
    whole: bool,
}

/// State of a replay: lists, flash and disk.
struct Tier<'a> {
    played: &'a Played<'a>,
    spindle: Spindle,
    flash: Option<FlashQueue>,
    lists: Lists<2>,
    /// Capacity of each list in pages. A single list uses the entry of the write list.
    limits: [usize; 2],
    is_split: bool,
    group_pages: usize,
    durable: bool,
    volatile: bool,
    dirty: Vec<bool>,
    /// Page number on the disk, by entry.
    numbers: Vec<u64>,
    jobs: Vec<Job>,
    groups: Vec<Group>,
    purposes: Vec<(Purpose, Time)>,
    leaving: Vec<u64>,
    /// Completion time of the latest job.
    over: Time,
    took: Took,
}

impl<'a> Tier<'a> {
    fn new(played: &'a Played<'a>, divided: Option<&Divided<'_>>) -> Self {
        let footprint = played.pages.footprint() as usize;
        let (limits, is_split) = match divided.map(|divided| divided.lengths) {
            None => ([0, 0], false),
            Some(Lengths::One(pages)) => ([0, pages as usize], false),
            Some(Lengths::Two(reads, writes)) => ([reads as usize, writes as usize], true),
        };
        let flash = divided.map(|divided| divided.flash);
        let held = if flash.is_some() { footprint } else { 0 };
        Self {
            played,
            spindle: Spindle::new(played.disk),
            flash: divided.map(FlashQueue::new),
            lists: Lists::new(),
            limits,
            is_split,
            group_pages: flash.map_or(1, |flash| flash.group_pages as usize),
            durable: flash.is_some_and(|flash| flash.durable_destages),
            volatile: played.disk.buffer.write_cache,
            dirty: vec![false; held],
            numbers: vec![0; held],
            jobs: Vec::with_capacity(played.requests.len()),
            groups: Vec::new(),
            purposes: Vec::new(),
            leaving: Vec::new(),
            over: Time::ZERO,
            took: Took::default(),
        }
    }
    fn play(&mut self, goes_on: &mut dyn FnMut(f64) -> bool) -> Result<Took, Stopped> {
        let played = self.played;
        let mut trims = played.pages.trims.iter().peekable();
        for (place, mut asked) in played.requests.iter().copied().enumerate() {
            if place % BEAT == 0 && !goes_on(place as f64 / played.requests.len() as f64) {
                return Err(Stopped);
            }
            while let Some(trim) = trims.next_if(|trim| trim.place <= asked.place) {
                self.forget(trim.entry);
            }
            let arrival = if played.timed {
                asked.arrival
            } else {
                self.finish_job()
            };
            self.run_until(arrival);
            asked.arrival = arrival;
            self.begin(&asked);
            self.settle();
        }
        self.run_until(Time::MAX);
        self.took.wrapped = self.spindle.wrapped;
        Ok(self.took)
    }
    /// Runs the disk until the latest job completes, and returns the completion time. No other job
    /// may be outstanding.
    fn finish_job(&mut self) -> Time {
        while self.jobs.last().is_some_and(|job| job.left > 0) && self.spindle.next_time().is_some()
        {
            self.spindle.step();
            self.settle();
        }
        self.over
    }
    /// Processes all disk events before `end`.
    fn run_until(&mut self, end: Time) {
        while self.spindle.next_time().is_some_and(|due| due < end) {
            self.spindle.step();
            self.settle();
        }
    }
    fn forget(&mut self, entry: Entry) {
        if self.flash.is_some() && self.lists.contains(entry) {
            self.lists.unlink(entry);
            self.dirty[entry.index()] = false;
        }
    }

    fn begin(&mut self, asked: &Asked) {
        let job = self.jobs.len() as u32;
        self.jobs.push(Job {
            arrival: asked.arrival,
            write: asked.write,
            left: 1,
            hits: asked.arrival,
            programs: 0,
        });
        if self.flash.is_none() || asked.write && self.limits[WRITES] == 0 {
            self.pass_by(asked, job);
        } else if asked.write {
            self.write(asked, job);
        } else {
            self.read(asked, job);
        }
        self.done(job, asked.arrival);
    }
    fn pass_by(&mut self, asked: &Asked, job: u32) {
        if self.flash.is_some() {
            for page in self.pages(asked) {
                self.forget(page.entry);
            }
        }
        let access = Access {
            op: if asked.write { Op::Write } else { Op::Read },
            fua: asked.fua,
            offset: asked.offset,
            bytes: asked.bytes,
        };
        self.expect(job);
        self.ask(asked.arrival, access, Purpose::Direct { job });
    }
    fn pages(&self, asked: &Asked) -> impl Iterator<Item = Page> + use<'a> {
        let (bytes, offset, end) = (
            self.played.page_bytes,
            asked.offset,
            asked.offset + asked.bytes,
        );
        let first = offset / bytes;
        let count = (end.div_ceil(bytes) - first) as usize;
        let place = asked.place as usize;
        let numbers = self.played.pages.requests.numbers();
        numbers[place..place + count]
            .iter()
            .zip(first..)
            .map(move |(&entry, number)| Page {
                entry: Entry(entry),
                number,
                whole: offset <= number * bytes && (number + 1) * bytes <= end,
            })
    }
    /// Starts a read. Hits are read from flash. Missed pages are read from the disk in one access,
    /// from the first to the last missed page.
    fn read(&mut self, asked: &Asked, job: u32) {
        let (mut hits, mut missed, mut fills) = (0, None::<(u64, u64, u32)>, 0);
        let takes = !self.is_split || self.limits[READS] > 0;
        let list = if self.is_split { READS } else { WRITES };
        for page in self.pages(asked) {
            if self.lists.contains(page.entry) {
                self.lists
                    .move_to_front(self.list_of(page.entry), page.entry);
                hits += 1;
                continue;
            }
            let (first, _, count) = missed.unwrap_or((page.number, 0, 0));
            missed = Some((first, page.number, count + 1));
            if takes {
                fills += 1;
                self.make_room(list, asked.arrival, None);
                self.take_in(page, list);
            }
        }
        let begun = asked.arrival;
        let read = self.flash.as_mut().map(|flash| flash.serve(begun, hits, 0));
        let job_of = &mut self.jobs[job as usize];
        job_of.hits = read.unwrap_or(begun);
        job_of.programs = fills;
        if let Some((first, last, pages)) = missed {
            self.expect(job);
            self.fetch(begun, first, last, Purpose::Fetch { job, pages });
        }
    }
    /// Starts a write. All pages are programmed. Before that, the pages evicted for them are
    /// destaged, and the rest of a partially written page that is not cached is read.
    fn write(&mut self, asked: &Asked, job: u32) {
        let mut programs = 0;
        for page in self.pages(asked) {
            programs += 1;
            let held = self.lists.list(page.entry);
            if held == Some(WRITES) {
                self.lists.move_to_front(WRITES, page.entry);
            } else {
                if held.is_some() {
                    self.lists.unlink(page.entry);
                }
                self.make_room(WRITES, asked.arrival, Some(job));
                self.take_in(page, WRITES);
            }
            self.dirty[page.entry.index()] = true;
            if held.is_none() && !page.whole {
                self.expect(job);
                let purpose = Purpose::Fetch { job, pages: 1 };
                self.fetch(asked.arrival, page.number, page.number, purpose);
            }
        }
        self.jobs[job as usize].programs = programs;
    }
    fn list_of(&self, entry: Entry) -> usize {
        self.lists.list(entry).unwrap_or(WRITES)
    }
    fn take_in(&mut self, page: Page, list: usize) {
        self.lists.push_front(list, page.entry);
        self.numbers[page.entry.index()] = page.number;
    }
    /// Evicts a group of the least recently used pages if the list is full. Dirty pages are
    /// destaged.
    fn make_room(&mut self, list: usize, at: Time, job: Option<u32>) {
        if self.lists.len(list) < self.limits[list] {
            return;
        }
        self.leaving.clear();
        for _ in 0..self.group_pages {
            let Some(entry) = self.lists.pop_back(list) else {
                break;
            };
            if std::mem::take(&mut self.dirty[entry.index()]) {
                self.leaving.push(self.numbers[entry.index()]);
            }
        }
        if !self.leaving.is_empty() {
            self.destage(at, job);
        }
    }
    /// Writes the pages of `leaving` to the disk, adjacent pages in one access. If destaged pages
    /// must be durable, the accesses are FUA; several accesses to a disk with a write cache are
    /// followed by a flush instead.
    fn destage(&mut self, at: Time, job: Option<u32>) {
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.sort_unstable();
        let pages = leaving.len() as u32;
        let begun = match &mut self.flash {
            Some(flash) => flash.serve(at, pages, 0),
            None => at,
        };
        // The disk requires requests in order of time, so the accesses start at `at` and not after
        // the flash reads. The job waits for the flash reads separately.
        let delay = begun - at;
        let runs: Vec<(u64, u64)> = leaving
            .chunk_by(|before, after| before + 1 == *after)
            .map(|run| (run[0], run.len() as u64))
            .collect();
        let flushes = self.durable && self.volatile && runs.len() > 1;
        let group = self.groups.len() as u32;
        if let Some(job) = job {
            self.expect(job);
            let hits = &mut self.jobs[job as usize].hits;
            *hits = (*hits).max(at + delay);
        }
        self.groups.push(Group {
            job,
            begun: at,
            pages,
            left: runs.len() as u32,
            flushes,
        });
        let bytes = self.played.page_bytes;
        for (first, count) in runs {
            let access = Access {
                op: Op::Write,
                fua: self.durable && !flushes,
                offset: first * bytes,
                bytes: count * bytes,
            };
            self.ask(at, access, Purpose::Destage { group });
        }
        self.leaving = leaving;
    }
    fn fetch(&mut self, at: Time, first: u64, last: u64, purpose: Purpose) {
        let bytes = self.played.page_bytes;
        let access = Access {
            op: Op::Read,
            fua: false,
            offset: first * bytes,
            bytes: (last + 1 - first) * bytes,
        };
        self.ask(at, access, purpose);
    }
    fn expect(&mut self, job: u32) {
        self.jobs[job as usize].left += 1;
    }
    fn ask(&mut self, at: Time, access: Access, purpose: Purpose) {
        let tag = self.purposes.len() as Tag;
        self.purposes.push((purpose, at));
        self.spindle.ask(at, access, tag);
    }

    /// Handles all completed disk requests.
    fn settle(&mut self) {
        while let Some((tag, now)) = self.spindle.ended() {
            let (purpose, since) = self.purposes[tag as usize];
            match purpose {
                Purpose::Direct { job } => self.done(job, now),
                Purpose::Fetch { job, pages } => {
                    self.took.fetched.add(now - since, pages.into());
                    self.done(job, now);
                }
                Purpose::Destage { group } => self.destaged(group, now),
            }
        }
    }
    fn destaged(&mut self, number: u32, now: Time) {
        let group = &mut self.groups[number as usize];
        group.left -= 1;
        if group.left > 0 {
            return;
        }
        if std::mem::take(&mut group.flushes) {
            group.left = 1;
            self.ask(now, Access::FLUSH, Purpose::Destage { group: number });
            return;
        }
        let Group {
            job, begun, pages, ..
        } = *group;
        self.took.destaged.add(now - begun, pages.into());
        if let Some(job) = job {
            self.done(job, now);
        }
    }
    /// Handles one event that a job waits for. After the last event, programs the job's pages and
    /// records its response time.
    fn done(&mut self, number: u32, now: Time) {
        let job = &mut self.jobs[number as usize];
        job.left -= 1;
        if job.left > 0 {
            return;
        }
        let ready = job.hits.max(now);
        let Job {
            arrival,
            write,
            programs,
            ..
        } = *job;
        let programmed = match &mut self.flash {
            Some(flash) => flash.serve(now.max(if write { ready } else { now }), 0, programs),
            None => now,
        };
        let over = if write { programmed.max(ready) } else { ready };
        let mean = if write {
            &mut self.took.writes
        } else {
            &mut self.took.reads
        };
        mean.add(over - arrival, 1);
        self.over = over;
    }
}
