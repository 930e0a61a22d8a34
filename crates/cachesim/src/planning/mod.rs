//! How much flash in front of a disk, divided how, and what it would cost: from a trace and the cost models, without simulating.

mod devices;
mod models;
mod stacks;

use serde::{Deserialize, Serialize};
use wordline_partition::{Costs, Space};

pub use devices::{Device, Disk, Flash};
use models::Answers;
use stacks::{Sampled, Stopped};

use crate::{CacheError, Input, Pages, Phase, Progress, Size, Watch};

/// Blocks of a flash at least: with fewer, whole blocks are too coarse for what a model says of shares.
const FEWEST_BLOCKS: u64 = 64;
/// Pages of a sample for a segment at least.
const FEWEST_PAGES: f64 = 2.0;

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
    /// A page without any flash.
    pub disk_only_us: f64,
    pub sizes: Vec<OfSize>,
}

/// A size of the flash.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct OfSize {
    pub flash_pages: u64,
    pub flash_bytes: u64,
    pub footprint_ratio: f64,
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
    /// Of a request, its pages one after the other.
    pub request_us: f64,
    /// Of reads, those that flash serves.
    pub read_hit_ratio: Option<f64>,
    /// Of writes, those of what flash holds.
    pub write_hit_ratio: Option<f64>,
    /// Pages that the host and fills program, by pages of requests.
    pub programs_per_page: f64,
    /// Mean share of valid pages in the blocks that collections take.
    pub victim_utilisation: f64,
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

/// The plan of a trace.
pub fn plan_cache(
    pages: &Pages,
    question: &Question,
    watch: &mut Watch<'_>,
) -> Result<CachePlan, CacheError> {
    let flash = Flash::of(&question.flash)?;
    let disk = Disk::of(&question.disk, pages.input.page_bytes)?;
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
    let mut sizes = question
        .sizes
        .iter()
        .map(|size| flash_pages(pages, &flash, *size, question))
        .collect::<Result<Vec<_>, _>>()?;
    sizes.sort_unstable();
    sizes.dedup();
    let sampled = Sampled::new(pages, rate, question.seed);
    let input = &pages.input;
    let seconds = Some(pages.span.as_secs()).filter(|&seconds| seconds > 0.0);
    let mut found = Vec::new();
    for (place, &flash_pages) in sizes.iter().enumerate() {
        let space = space(flash_pages, &flash, &disk);
        let mut goes_on = |part: f64| {
            watch(Progress {
                phase: Phase::Plan,
                requests: input.page_requests,
                fraction: Some((place as f64 + part) / sizes.len() as f64),
            })
        };
        let answers = Answers::of(&sampled, &space, question.steps, &mut goes_on);
        let answers = answers.map_err(|Stopped| CacheError::Interrupted)?;
        let case = Case {
            input,
            flash: &flash,
            seconds,
        };
        found.push(OfSize {
            flash_pages: flash_pages.into(),
            flash_bytes: u64::from(flash_pages) * input.page_bytes,
            footprint_ratio: f64::from(flash_pages) / pages.footprint().max(1) as f64,
            answers: answers.all(&case),
            map: answers.map(),
        });
    }
    let all = input.page_requests.max(1) as f64;
    let (reads, writes) = (
        input.page_reads as f64 / all,
        input.page_writes as f64 / all,
    );
    Ok(CachePlan {
        disk_only_us: reads * disk.read_us + writes * disk.write_us,
        input: input.clone(),
        flash,
        disk,
        seconds,
        rate,
        steps: question.steps,
        sizes: found,
    })
}

/// What an answer is about: a trace and the flash.
struct Case<'a> {
    input: &'a Input,
    flash: &'a Flash,
    seconds: Option<f64>,
}

/// A size in whole blocks, checked.
fn flash_pages(
    pages: &Pages,
    flash: &Flash,
    size: Size,
    question: &Question,
) -> Result<u32, CacheError> {
    let per_block = u64::from(flash.pages_per_block);
    let whole = pages.size(size)?.div_ceil(per_block).max(FEWEST_BLOCKS) * per_block;
    let what = || format!("flash of {whole} pages");
    let sampled = whole as f64 * question.rate / f64::from(question.steps);
    if sampled < FEWEST_PAGES {
        return Err(CacheError::argument(
            what(),
            format!(
                "a step of it is {sampled:.2} pages of the sample, and {FEWEST_PAGES} are needed"
            ),
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
