//! What the `[cache]` table means on a given flash device.

use serde::{Deserialize, Serialize};
use wordline_cache::Replacement;
use wordline_ftl::PlanError;
use wordline_ftl::gc::reclaim::Reclaiming;

use wordline_partition::{Costs, Divide, Partition, Partitioning, Space};

use super::admission::Admission;
use super::config::{Config, Mode, Reply};
use super::journal::JournalPlan;

/// A cache that can be built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What becomes of reads and writes.
    pub mode: Mode,
    /// How the flash is divided.
    pub partition: Partition,
    /// What is divided.
    pub space: Space,
    /// Seed of what the division samples.
    pub seed: u64,
    /// Which page leaves.
    pub replacement: Replacement,
    /// Pages that the cache holds at the start.
    pub capacity: u32,
    /// Suspected pages at most (Xia 2017, equation 2.2); 0 without a suspected queue.
    pub most_suspected: u32,
    /// Whether dropped pages become ghosts.
    pub ghosts_of_dropped: bool,
    /// Whether collections ask which pages are hot.
    pub halves: bool,
    /// Which misses are taken in.
    pub admission: Admission,
    /// When the host hears of a request.
    pub reply: Reply,
    /// Pages that leave together.
    pub group_pages: u32,
    /// Shares of dirty pages between which pages are cleaned in idle time: above the first, down to the second.
    pub marks: (f64, f64),
    /// How dead pages are recorded, if writes stay in flash and that is done.
    pub journal: Option<JournalPlan>,
    /// Whether the store behind it completes writes that it may lose with the power: one that has a write cache.
    pub is_backing_volatile: bool,
    /// Requests that the store holds at once.
    pub queue_depth: u32,
    /// Size of a page.
    pub page_bytes: u32,
}

impl Plan {
    /// Whether a policy can choose who leaves: not one that knows the future, or has no size.
    pub fn takes(policy: &Replacement) -> bool {
        !matches!(policy, Replacement::Belady(_) | Replacement::Unbounded(_))
    }
    /// The flash of a cache, of a device as it would be by itself; an error of the key to change if it has no room.
    pub fn flash(
        config: &Config,
        device: wordline_ssd::Plan,
    ) -> Result<wordline_ssd::Plan, PlanError> {
        let ftl = if config.block_summaries {
            device.ftl.with_summaries()?
        } else {
            device.ftl
        };
        Ok(wordline_ssd::Plan { ftl, ..device })
    }
    /// A cache in a translation layer, that of [`Plan::flash`]. It holds as many pages as the over-provisioning leaves; `N_SQ = (OP - GC_th) * C_total` of all others
    /// can be suspected.
    pub fn new(config: &Config, device: &wordline_ssd::Plan, costs: Costs) -> Self {
        let ftl = &device.ftl;
        let pages = ftl.layout.pages();
        let per_block = ftl.layout.pages_per_block;
        let of_summaries = ftl.layout.blocks() * ftl.summaries.pages;
        // Collections need what they keep free and the blocks that are open.
        let kept = ftl.layout.planes() * (ftl.rest_blocks() + 2) * ftl.data_pages();
        let kept = kept + of_summaries;
        let free = match ftl.start_pages {
            0 => ftl.start_blocks * ftl.data_pages() * ftl.layout.planes(),
            pages => pages * ftl.layout.planes(),
        };
        let threshold = free + of_summaries;
        let suspected = pages.saturating_sub(ftl.user_pages + threshold);
        let marks = &config.destage;
        let records = config.keeps_records();
        let planes = ftl.layout.planes();
        let journal =
            records.then(|| JournalPlan::new(pages, ftl.user_pages, planes, ftl.page_bytes));
        let user_pages = journal.map_or(ftl.user_pages, |journal| {
            ftl.user_pages.saturating_sub(journal.reserve()).max(1)
        });
        let most = pages.saturating_sub(kept).max(ftl.user_pages);
        Self {
            mode: config.mode,
            partition: config.partition.clone(),
            space: Space {
                total_pages: pages,
                pages_per_block: per_block,
                threshold_pages: threshold,
                page_bytes: ftl.page_bytes,
                start_pages: user_pages,
                most_pages: most - (ftl.user_pages - user_pages),
                costs,
            },
            seed: ftl.seed,
            replacement: config.replacement.clone(),
            capacity: user_pages,
            most_suspected: if config.suspected_queue { suspected } else { 0 },
            ghosts_of_dropped: config.ghosts_of_dropped,
            halves: matches!(ftl.config.gc.reclaim, Reclaiming::Conditional(_)),
            admission: config.admission.clone(),
            reply: config.reply,
            group_pages: config.destage.group_pages,
            marks: (marks.high_ratio, marks.low_ratio),
            journal,
            is_backing_volatile: false,
            queue_depth: device.queue_depth,
            page_bytes: ftl.page_bytes,
        }
    }
    /// The pages that the lists may hold at the start: of one for all, or of that of reads and that of writes.
    pub fn lists(&self) -> Vec<u32> {
        let policy = Partitioning::new(&self.partition, &self.space, self.seed);
        let sizes = policy.start();
        if policy.is_split() {
            vec![sizes.read, sizes.write]
        } else {
            vec![sizes.pages()]
        }
    }
}
