//! Validated parameters of the `[cache]` table for a given flash device.

use serde::{Deserialize, Serialize};
use wordline_cache::Replacement;
use wordline_ftl::PlanError;
use wordline_ftl::gc::reclaim::Reclaiming;

use wordline_partition::{Costs, Divide, Partition, Partitioning, Space};

use super::admission::Admission;
use super::config::{Config, Mode, Reply};
use super::journal::JournalPlan;

/// Validated parameters of a flash cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Handling of reads and writes.
    pub mode: Mode,
    /// Partition policy.
    pub partition: Partition,
    /// Space that the partition policy divides.
    pub space: Space,
    /// Seed of the partition policy's sample.
    pub seed: u64,
    /// Replacement policy.
    pub replacement: Replacement,
    /// Initial capacity of the cache. Pages.
    pub capacity: u32,
    /// Maximum number of suspected pages (Xia 2017, equation 2.2); 0 without a suspected queue.
    pub most_suspected: u32,
    /// Whether pages that GC drops become ghosts.
    pub ghosts_of_dropped: bool,
    /// Whether GC asks the cache which pages are hot.
    pub halves: bool,
    /// Admission policy.
    pub admission: Admission,
    /// Completion rule for requests that are not served from flash alone.
    pub reply: Reply,
    /// Number of pages evicted together, and maximum number of dirty pages cleaned together.
    pub group_pages: u32,
    /// Share of dirty pages above which cleaning starts while the backing store is idle, and share
    /// at which it stops.
    pub marks: (f64, f64),
    /// Parameters of the journal, if writes stay in flash and dead pages are recorded.
    pub journal: Option<JournalPlan>,
    /// Whether the backing store has a write cache, and may lose completed writes in a power cut.
    pub is_backing_volatile: bool,
    /// Maximum number of outstanding requests.
    pub queue_depth: u32,
    /// Size of a page. Bytes.
    pub page_bytes: u32,
}

impl Plan {
    /// Returns `true` if a replacement policy is supported: it must not need future accesses, and
    /// must have a limited capacity.
    pub fn takes(policy: &Replacement) -> bool {
        !matches!(policy, Replacement::Belady(_) | Replacement::Unbounded(_))
    }
    /// Adapts the plan of a stand-alone device to the flash of a cache. If there is too little
    /// space, the error names the key to change.
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
    /// Creates the plan of a cache on a flash with the plan of [`Plan::flash`]. The cache holds the
    /// pages that the over-provisioning and the journal leave. Of the over-provisioned pages, `N_SQ
    /// = (OP - GC_th) * C_total` can be suspected.
    pub fn new(config: &Config, device: &wordline_ssd::Plan, costs: Costs) -> Self {
        let ftl = &device.ftl;
        let pages = ftl.layout.pages();
        let per_block = ftl.layout.pages_per_block;
        let of_summaries = ftl.layout.blocks() * ftl.summaries.pages;
        // Pages of the free blocks and active blocks that GC needs.
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
    /// Returns the initial capacities of the lists: of the only list, or of the read list and the
    /// write list, which may share their pages. Pages.
    pub fn lists(&self) -> Vec<u32> {
        let policy = Partitioning::new(&self.partition, &self.space, self.seed);
        let sizes = policy.start();
        if policy.starts_undivided() {
            vec![sizes.pages(), sizes.pages()]
        } else if policy.is_split() {
            vec![sizes.read, sizes.write]
        } else {
            vec![sizes.pages()]
        }
    }
}
