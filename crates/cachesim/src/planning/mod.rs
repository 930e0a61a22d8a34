//! Plans a flash cache in front of a disk: estimates the cost of each size and division of the
//! flash. The estimates follow from a trace, the cost models and a replay of the leading requests
//! on the model of the disk.

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

/// Minimum number of blocks of a flash. With fewer blocks, a block is too coarse for the shares of
/// a model.
const MIN_BLOCKS: u64 = 64;
/// Maximum number of page requests that are replayed.
const MAX_LEADING_PAGES: u64 = 1 << 20;
/// Share of the progress of a size that the cost models account for; the replays account for the
/// rest.
const MODELS: f64 = 0.5;
/// Minimum number of sampled pages per segment of a stack.
const MIN_PAGES: f64 = 2.0;

/// Parameters of a plan.
#[derive(Clone, Debug)]
pub struct Question {
    /// Flash of the cache. Its configured size is ignored.
    pub flash: Device,
    /// Disk behind the cache.
    pub disk: Device,
    /// Sizes of the flash to compare. A size counts all pages, including over-provisioning.
    pub sizes: Vec<Size>,
    /// Share of the pages of the trace that is sampled, above 0 and up to 1.
    pub rate: f64,
    /// Seed of the sample.
    pub seed: u64,
    /// Number of steps into which a flash is divided to compare divisions.
    pub steps: u32,
}

/// Plan of a flash cache: the answers for every size and policy.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct CachePlan {
    pub input: Input,
    pub flash: Flash,
    pub disk: Disk,
    /// Time from the first request to the last; `None` if the trace has no time stamps. Seconds.
    pub seconds: Option<f64>,
    pub rate: f64,
    pub steps: u32,
    /// Replay of the leading requests; `None` for a trace of keys, which has no addresses on a
    /// disk.
    pub replay: Option<Replay>,
    /// Mean cost of a page access without flash. Microseconds.
    pub disk_only_us: f64,
    /// Mean response times without flash.
    pub disk_only: Requests,
    pub sizes: Vec<OfSize>,
    pub notes: Vec<String>,
}

/// Extent of the replay of a trace's leading requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Replay {
    pub requests: u64,
    pub pages: u64,
    /// Whether requests arrive at their time stamps. Otherwise each arrives when the previous one
    /// completes.
    pub timed: bool,
    pub volumes: usize,
}

/// Mean response times of the leading requests, in microseconds. `None` if there are no such
/// requests, or no replay.
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

/// Answers for one size of the flash.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct OfSize {
    pub flash_pages: u64,
    pub flash_bytes: u64,
    pub footprint_ratio: f64,
    /// Requested sizes that give this flash after rounding up to whole blocks.
    pub asked: Vec<String>,
    /// Mean time to read a page from the disk; `disk_write_us` is the mean time to destage a page.
    /// Microseconds.
    pub disk_read_us: f64,
    pub disk_write_us: f64,
    pub answers: Vec<Answer>,
    pub map: Map,
}

/// Division of the flash by a policy, and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Answer {
    /// Name of the policy in `cache.partition`. `unified-best` is a single list with the size of
    /// lowest cost.
    pub policy: String,
    pub flash_pages: u64,
    /// Pages of the read list; `None` if there is a single list.
    pub read_pages: Option<u64>,
    /// Pages of the write list, or of the single list.
    pub write_pages: u64,
    pub over_provisioning_ratio: f64,
    /// Mean cost of a page access. Microseconds.
    pub page_us: f64,
    /// Expected mean response time of a request. Computed by the replay of the leading requests if
    /// there is one, otherwise from pages accessed one after another. Microseconds.
    pub request_us: f64,
    pub read_request_us: Option<f64>,
    pub write_request_us: Option<f64>,
    /// Share of page reads that the flash serves.
    pub read_hit_ratio: Option<f64>,
    /// Share of page writes that overwrite a page in the flash.
    pub write_hit_ratio: Option<f64>,
    /// Pages programmed for host writes and fills, per page requested.
    pub programs_per_page: f64,
    /// Mean share of valid pages in GC victims.
    pub victim_utilisation: f64,
    /// Pages programmed, including those moved by GC, per page programmed for host writes and
    /// fills.
    pub write_amplification: f64,
    /// Bytes programmed for host writes and fills, per day; `None` if the trace has no time stamps.
    pub written_bytes_per_day: Option<f64>,
    /// Blocks erased during the trace. Count.
    pub erases: f64,
    /// Lifetime of the flash at this load; `None` if the trace has no time stamps or no block is
    /// erased. Years.
    pub lifetime_years: Option<f64>,
}

/// Mean cost of a page access as a function of the division. `page_us`: two lists, by the cached
/// share of the flash and the share of reads in it (C_HY, op-fcl). `unified_us` and `locality_us`:
/// a single list and a write list, by the cached share.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Map {
    pub utilisations: Vec<f64>,
    pub read_ratios: Vec<f64>,
    /// Cost by read ratio (outer index) and utilisation (inner index). Microseconds.
    pub page_us: Vec<Vec<f64>>,
    pub unified_us: Vec<f64>,
    pub locality_us: Vec<f64>,
}

/// Checks that the page size is that of the flash, and that the sampled share is valid.
fn check(pages: &Pages, flash: &Flash, question: &Question) -> Result<(), CacheError> {
    if u64::from(flash.page_bytes) != pages.input.page_bytes {
        return Err(CacheError::argument(
            format!("page_bytes = {}", pages.input.page_bytes),
            format!("{} has pages of {} bytes", flash.name, flash.page_bytes),
            "omit page_bytes",
        ));
    }
    let rate = question.rate;
    if !(rate > 0.0 && rate <= 1.0) {
        let remedy = "give a share of the pages above 0 and at most 1";
        return Err(CacheError::argument(
            format!("rate = {rate}"),
            "the share is out of range",
            remedy,
        ));
    }
    Ok(())
}

/// Computes the plan of a trace.
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
            "{} of the replayed requests ended beyond the last byte of the disk {} ({} bytes) and were wrapped to its start",
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
    /// Selects the leading requests to replay: those within the first [`MAX_LEADING_PAGES`] page
    /// requests. Returns `None` if the trace has no leading requests.
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
    /// Returns the number of pages that the requests access.
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

/// Inputs of the answers for a trace.
struct Case<'a> {
    input: &'a Input,
    flash: &'a Flash,
    disk: &'a Disk,
    seconds: Option<f64>,
    played: Option<&'a Played<'a>>,
}

impl Case<'_> {
    /// Computes the answers for one size. The disk cost of a page comes from a replay with a single
    /// list.
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
    /// Returns the note that the over-provisioning is too small for GC at a size; `None` if it
    /// suffices.
    fn clipped(&self, size: &OfSize) -> Option<String> {
        let unified = size.answers.iter().find(|one| one.policy == "unified")?;
        let asked = self.flash.over_provisioning_ratio;
        let planned = unified.over_provisioning_ratio;
        let step = 1.0 / size.flash_pages as f64;
        (planned > asked + step).then(|| {
            format!(
                "With {} pages of flash, GC needs more free space than the over-provisioning of {} ({:.3} %) provides; unified and rw-fcl \
                 are planned with an over-provisioning of {:.3} %",
                size.flash_pages,
                self.flash.name,
                100.0 * asked,
                100.0 * planned
            )
        })
    }
}

impl Answer {
    /// Returns the lengths of the lists.
    fn lengths(&self) -> Lengths {
        match self.read_pages {
            None => Lengths::One(self.write_pages),
            Some(reads) => Lengths::Two(reads, self.write_pages),
        }
    }
}

/// Returns the sizes in whole blocks, in ascending order and without duplicates. Each comes with
/// the requested sizes that were rounded to it.
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

/// Returns a size in whole blocks. A share of the trace's pages is raised to the smallest flash; a
/// smaller size in pages or bytes is an error.
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
                "a flash needs at least {MIN_BLOCKS} blocks, which are {least} pages of {}",
                flash.name
            ),
            format!("give {least}p or more, or choose a flash with smaller blocks"),
        ));
    }
    let whole = blocks.max(MIN_BLOCKS) * per_block;
    let what = || format!("flash of {whole} pages");
    let sampled = whole as f64 * question.rate / f64::from(question.steps);
    if sampled < MIN_PAGES {
        return Err(CacheError::argument(
            what(),
            format!(
                "each step has {sampled:.2} sampled pages, and at least {MIN_PAGES} are needed"
            ),
            "increase `rate`, lower `steps`, or choose a larger size",
        ));
    }
    u32::try_from(whole).map_err(|_| {
        CacheError::argument(
            what(),
            "at most 2^32 - 1 pages are supported",
            "choose a smaller size",
        )
    })
}

/// Returns the parameters of the cost models for a flash of this size.
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
