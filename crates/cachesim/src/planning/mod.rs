//! Plans of flash in front of a disk: its size, its division and its cost, from a trace, the cost models, and a replay of the leading
//! requests on the model of the disk.

mod devices;
mod models;
mod replay;
mod spindle;
mod stacks;

use serde::{Deserialize, Serialize};
use wordline_partition::{Costs, Space};

pub use devices::{Device, Disk, Flash};
use models::Answers;
use replay::{Divided, Lengths, Played, Took};
use stacks::{Sampled, Stopped};

use crate::{CacheError, Input, Pages, Phase, Progress, Size, Watch};

/// Blocks of a flash at least: with fewer, whole blocks are too coarse for what a model says of shares.
const MIN_BLOCKS: u64 = 64;
/// Pages of the leading requests at most.
const MAX_LEADING_PAGES: u64 = 1 << 20;
/// Share of the work on a size that is the cost models; the rest is the replays.
const MODELS: f64 = 0.5;
/// Pages of a sample for a segment at least.
const MIN_PAGES: f64 = 2.0;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The flash, but for its size.
    pub flash: Device,
    /// The disk.
    pub disk: Device,
    /// Sizes of the flash: all its pages, over-provisioning included.
    pub sizes: Vec<Size>,
    /// Share of the pages of the trace that is looked at; 1 for all.
    pub rate: f64,
    /// Chooses them.
    pub seed: u64,
    /// Steps of a flash in which divisions are compared.
    pub steps: u32,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct CachePlan {
    pub input: Input,
    pub flash: Flash,
    pub disk: Disk,
    /// From the first request to the last; none in a trace without times.
    pub seconds: Option<f64>,
    pub rate: f64,
    pub steps: u32,
    /// The leading requests, which were played; none of a trace of keys, which says nothing of a disk.
    pub replay: Option<Replay>,
    /// A page without any flash.
    pub disk_only_us: f64,
    /// A request without any flash.
    pub disk_only: Requests,
    pub sizes: Vec<OfSize>,
    pub notes: Vec<String>,
}

/// The leading requests of a trace, which were played on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Replay {
    pub requests: u64,
    pub pages: u64,
    /// Whether they arrive by the times of the trace; if not, one after the other.
    pub timed: bool,
    pub volumes: usize,
}

/// The mean response time of the leading requests; none of what there were none of, or if none were played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Requests {
    pub request_us: Option<f64>,
    pub read_us: Option<f64>,
    pub write_us: Option<f64>,
}

impl Requests {
    fn of(took: &Took) -> Self {
        Self {
            request_us: took.request_us(),
            read_us: took.reads.value(),
            write_us: took.writes.value(),
        }
    }
}

/// A size of the flash.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct OfSize {
    pub flash_pages: u64,
    pub flash_bytes: u64,
    pub footprint_ratio: f64,
    /// As it was asked for; whole blocks are at least as large.
    pub asked: Vec<String>,
    /// A page that is read from the disk, and one that is destaged, in the mean.
    pub disk_read_us: f64,
    pub disk_write_us: f64,
    pub answers: Vec<Answer>,
    pub map: Map,
}

/// How a policy would divide the flash, and what that would cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Answer {
    /// As in `cache.partition`; `unified-best` is one list of the size that costs least.
    pub policy: String,
    pub flash_pages: u64,
    /// The list of reads; none in one list.
    pub read_pages: Option<u64>,
    /// The list of writes, or the one list.
    pub write_pages: u64,
    pub over_provisioning_ratio: f64,
    /// Of a page of a request, in the mean.
    pub page_us: f64,
    /// Expected mean response time of a request: of the leading ones where they were played, else of pages one after the other.
    pub request_us: f64,
    pub read_request_us: Option<f64>,
    pub write_request_us: Option<f64>,
    /// Of reads, those that flash serves.
    pub read_hit_ratio: Option<f64>,
    /// Of writes, those of what flash holds.
    pub write_hit_ratio: Option<f64>,
    /// Pages that the host and fills program, by pages of requests.
    pub programs_per_page: f64,
    /// Mean share of valid pages in the blocks that collections take.
    pub victim_utilisation: f64,
    /// Pages programmed, with those that collections move, by those that the host and fills program.
    pub write_amplification: f64,
    /// Bytes that the host and fills program per day; none without times.
    pub written_bytes_per_day: Option<f64>,
    /// In the time of the trace.
    pub erases: f64,
    /// How long the flash lasts at this load; none without times, or without an erase.
    pub lifetime_years: Option<f64>,
}

/// The cost of a page by the share of the flash that is cached and by the share of reads in it (C_HY), of op-fcl; and by the cached share
/// alone of one list and of a write cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Map {
    pub utilisations: Vec<f64>,
    pub read_ratios: Vec<f64>,
    /// By read ratio, then by utilisation.
    pub page_us: Vec<Vec<f64>>,
    pub unified_us: Vec<f64>,
    pub locality_us: Vec<f64>,
}

/// Refuses pages of another size than those of the flash, and a share of them that is none.
fn check(pages: &Pages, flash: &Flash, question: &Question) -> Result<(), CacheError> {
    if u64::from(flash.page_bytes) != pages.input.page_bytes {
        return Err(CacheError::argument(
            format!("page_bytes = {}", pages.input.page_bytes),
            format!("{} has pages of {} bytes", flash.name, flash.page_bytes),
            "leave page_bytes out",
        ));
    }
    let rate = question.rate;
    if !(rate > 0.0 && rate <= 1.0) {
        let remedy = "give a share of the pages above 0 and at most 1";
        return Err(CacheError::argument(
            format!("rate = {rate}"),
            "it is out of range",
            remedy,
        ));
    }
    Ok(())
}

/// The plan of a trace.
pub fn plan_cache(
    pages: &Pages,
    question: &Question,
    watch: &mut Watch<'_>,
) -> Result<CachePlan, CacheError> {
    let flash = Flash::of(&question.flash)?;
    let disk = Disk::of(&question.disk, pages.input.page_bytes)?;
    check(pages, &flash, question)?;
    let sizes = sizes(pages, &flash, question)?;
    let sampled = Sampled::new(pages, question.rate, question.seed);
    let input = &pages.input;
    let seconds = Some(pages.span.as_secs()).filter(|&seconds| seconds > 0.0);
    let played = Played::of(pages, &disk);
    let share = 1.0 / (sizes.len() + 1) as f64;
    let mut watched = |place: usize, part: f64| {
        watch(Progress {
            phase: Phase::Plan,
            requests: input.page_requests,
            fraction: Some((place as f64 + part) * share),
        })
    };
    let stopped = |Stopped| CacheError::Interrupted;
    let alone = match &played {
        Some(played) => played
            .disk_alone(&mut |part| watched(0, part))
            .map_err(stopped)?,
        None => Took::default(),
    };
    let mut notes = Vec::new();
    if alone.wrapped > 0 {
        notes.push(format!(
            "{} of the leading requests lie beyond the end of {} ({} bytes) and were wrapped around it",
            alone.wrapped, disk.name, disk.plan.capacity_bytes
        ));
    }
    let mut found = Vec::new();
    for (place, (flash_pages, asked)) in (1..).zip(sizes) {
        let case = Case {
            input,
            flash: &flash,
            disk: &disk,
            seconds,
            played: played.as_ref(),
        };
        let of_size = case
            .size(&sampled, flash_pages, question.steps, &mut |part| {
                watched(place, part)
            })
            .map_err(stopped)?;
        notes.extend(case.clipped(&of_size));
        found.push(OfSize { asked, ..of_size });
    }
    let all = input.page_requests.max(1) as f64;
    let (reads, writes) = (
        input.page_reads as f64 / all,
        input.page_writes as f64 / all,
    );
    let idle_us = reads * disk.read_us + writes * disk.write_us;
    let disk_only_us = match &played {
        Some(played) => alone.all_us() / played.page_requests().max(1) as f64,
        None => idle_us,
    };
    let requests = (input.reads + input.writes).max(1) as f64;
    let disk_only = match &played {
        Some(_) => Requests::of(&alone),
        None => Requests {
            request_us: Some(idle_us * all / requests),
            ..Requests::default()
        },
    };
    Ok(CachePlan {
        disk_only_us,
        disk_only,
        replay: played.as_ref().map(Played::summary),
        input: input.clone(),
        flash,
        disk,
        seconds,
        rate: question.rate,
        steps: question.steps,
        sizes: found,
        notes,
    })
}

impl<'a> Played<'a> {
    /// As many of the leading requests as have no more than a number of pages.
    fn of(pages: &'a Pages, disk: &'a Disk) -> Option<Self> {
        let all = &pages.leading.requests;
        let first = all.first()?.place;
        let within = |place: u32| u64::from(place - first) <= MAX_LEADING_PAGES;
        let count = all.partition_point(|asked| within(asked.place));
        Some(Self {
            pages,
            requests: &all[..count],
            timed: pages.leading.timed,
            page_bytes: pages.input.page_bytes,
            disk: &disk.plan,
        })
    }
    /// Pages that the requests ask for.
    fn page_requests(&self) -> u64 {
        let bytes = self.page_bytes;
        let of = |asked: &crate::source::Asked| {
            (asked.offset + asked.bytes).div_ceil(bytes) - asked.offset / bytes
        };
        self.requests.iter().map(of).sum()
    }
    fn summary(&self) -> Replay {
        Replay {
            requests: self.requests.len() as u64,
            pages: self.page_requests(),
            timed: self.timed,
            volumes: self.pages.leading.volumes(),
        }
    }
}

/// What an answer is about: a trace and the flash.
struct Case<'a> {
    input: &'a Input,
    flash: &'a Flash,
    disk: &'a Disk,
    seconds: Option<f64>,
    played: Option<&'a Played<'a>>,
}

impl Case<'_> {
    /// The answers at a size. What a page costs the disk is what it cost in a replay with one list.
    fn size(
        &self,
        sampled: &Sampled,
        flash_pages: u32,
        steps: u32,
        goes_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<OfSize, Stopped> {
        let mut space = space(flash_pages, self.flash, self.disk);
        let mut replays = 0.0;
        let mut replay = |space: &Space, lengths, goes_on: &mut dyn FnMut(f64) -> bool| {
            let Some(played) = self.played else {
                return Ok(None);
            };
            let before = replays;
            replays += 1.0;
            let divided = Divided {
                lengths,
                space,
                flash: self.flash,
            };
            let mut part = |part: f64| goes_on(MODELS + (1.0 - MODELS) * (before + part) / 6.0);
            played.with_flash(&divided, &mut part).map(Some)
        };
        let own = Lengths::One(space.first_pages().into());
        if let Some(took) = replay(&space, own, &mut |_| goes_on(0.0))? {
            let costs = &mut space.costs;
            costs.disk_read_us = took.fetched.value().unwrap_or(costs.disk_read_us);
            costs.disk_write_us = took.destaged.value().unwrap_or(costs.disk_write_us);
        }
        let answers = Answers::of(sampled, &space, steps, &mut |part| goes_on(MODELS * part))?;
        let mut all = answers.all(self);
        for answer in &mut all {
            if let Some(took) = replay(&space, answer.lengths(), goes_on)? {
                let requests = Requests::of(&took);
                answer.request_us = requests.request_us.unwrap_or(answer.request_us);
                answer.read_request_us = requests.read_us;
                answer.write_request_us = requests.write_us;
            }
        }
        Ok(OfSize {
            flash_pages: flash_pages.into(),
            flash_bytes: u64::from(flash_pages) * self.input.page_bytes,
            footprint_ratio: f64::from(flash_pages) / self.input.distinct_pages.max(1) as f64,
            asked: Vec::new(),
            disk_read_us: space.costs.disk_read_us,
            disk_write_us: space.costs.disk_write_us,
            answers: all,
            map: answers.map(),
        })
    }
    /// The note on an over-provisioning that is too small for collections at a size.
    fn clipped(&self, size: &OfSize) -> Option<String> {
        let unified = size.answers.iter().find(|one| one.policy == "unified")?;
        let asked = self.flash.over_provisioning_ratio;
        let planned = unified.over_provisioning_ratio;
        let step = 1.0 / size.flash_pages as f64;
        (planned > asked + step).then(|| {
            format!(
                "{} pages of flash: collections need more room than the over-provisioning of {} ({:.3} %) leaves; unified and rw-fcl are \
                 planned with {:.3} %",
                size.flash_pages,
                self.flash.name,
                100.0 * asked,
                100.0 * planned
            )
        })
    }
}

impl Answer {
    /// The lists of the division.
    fn lengths(&self) -> Lengths {
        match self.read_pages {
            None => Lengths::One(self.write_pages),
            Some(reads) => Lengths::Two(reads, self.write_pages),
        }
    }
}

/// The sizes in whole blocks, ascending, each once, and how they were asked for.
fn sizes(
    pages: &Pages,
    flash: &Flash,
    question: &Question,
) -> Result<Vec<(u32, Vec<String>)>, CacheError> {
    let mut sizes = std::collections::BTreeMap::<u32, Vec<String>>::new();
    for &size in &question.sizes {
        let found = flash_pages(pages, flash, size, question)?;
        let asked = sizes.entry(found).or_default();
        let text = size.to_string();
        if !asked.contains(&text) {
            asked.push(text);
        }
    }
    Ok(sizes.into_iter().collect())
}

/// A size in whole blocks, checked. A share of the pages of the trace is at least the smallest flash; a size in pages or bytes that is less is
/// refused.
fn flash_pages(
    pages: &Pages,
    flash: &Flash,
    size: Size,
    question: &Question,
) -> Result<u32, CacheError> {
    let per_block = u64::from(flash.pages_per_block);
    let blocks = pages.size(size)?.div_ceil(per_block);
    if blocks < MIN_BLOCKS && !matches!(size, Size::Share(_)) {
        let least = MIN_BLOCKS * per_block;
        return Err(CacheError::argument(
            format!("size `{size}`"),
            format!(
                "a flash has {MIN_BLOCKS} blocks at least, which are {least} pages of {}",
                flash.name
            ),
            format!("give {least}p or more, or a flash with smaller blocks"),
        ));
    }
    let whole = blocks.max(MIN_BLOCKS) * per_block;
    let what = || format!("flash of {whole} pages");
    let sampled = whole as f64 * question.rate / f64::from(question.steps);
    if sampled < MIN_PAGES {
        return Err(CacheError::argument(
            what(),
            format!("a step of it is {sampled:.2} pages of the sample, and {MIN_PAGES} are needed"),
            "look at a larger share of the pages (rate), compare fewer steps, or take a larger size",
        ));
    }
    u32::try_from(whole).map_err(|_| {
        CacheError::argument(what(), "it is more than 2^32 - 1", "take a smaller size")
    })
}

/// A flash of that size.
fn space(total_pages: u32, flash: &Flash, disk: &Disk) -> Space {
    let share = |ratio: f64| (f64::from(total_pages) * ratio).round() as u32;
    let threshold_pages = share(flash.free_ratio).max(flash.pages_per_block);
    Space {
        total_pages,
        pages_per_block: flash.pages_per_block,
        threshold_pages,
        page_bytes: flash.page_bytes,
        start_pages: total_pages - share(flash.over_provisioning_ratio),
        most_pages: total_pages.saturating_sub(threshold_pages + flash.pages_per_block),
        costs: Costs {
            read_us: flash.read_us,
            program_us: flash.program_us,
            copy_us: flash.copy_us,
            erase_us: flash.erase_us,
            disk_read_us: disk.read_us,
            disk_write_us: disk.write_us,
        },
    }
}
