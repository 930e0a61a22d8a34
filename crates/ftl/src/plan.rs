//! What the `[ftl]` table means on a given array, checked.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_nand::Layout;

use crate::Config;
use crate::allocate::Dimensions;
use crate::gc::check::Check;
use crate::gc::reclaim::Reclaim;
use crate::mapping::{Build, Family};
use crate::share::share;
use crate::slc_cache::Caches;
use crate::summary::Summaries;

/// A translation layer that can be built: every number checked, nothing optional.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The array, without the spare blocks of its planes, which are the last ones.
    pub layout: Layout,
    /// How its planes are wired.
    pub dimensions: Dimensions,
    /// Size of a page.
    pub page_bytes: u32,
    /// Pages the host can address.
    pub user_pages: u32,
    /// Threshold: a plane collects while it has fewer free blocks than this. Up to the reserve, it collects only when a write finds no room.
    pub start_blocks: u32,
    /// A plane collects while it has so many free pages or fewer, and then has fewer free blocks than `start_blocks`; 0
    /// if the blocks alone decide.
    pub start_pages: u32,
    /// Free blocks that only collection may take.
    pub reserve_blocks: u32,
    /// What of each block its summary takes.
    pub summaries: Summaries,
    /// Pages of a block in single-level mode.
    pub slc_pages: u32,
    /// The policies.
    pub config: Config,
    /// Seed of the policies' random streams.
    pub seed: u64,
}

/// A translation layer that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {reason}; {remedy}")]
pub struct PlanError {
    /// The key to change.
    pub key: &'static str,
    /// What is wrong, with the numbers.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}

/// What of an array is left when spare blocks stand by in every plane.
fn without_spares(layout: Layout, spare_blocks: u32) -> Result<Layout, PlanError> {
    let all = layout.blocks_per_plane;
    if spare_blocks >= all {
        return Err(PlanError {
            key: "ftl.spare_blocks",
            reason: format!("a plane has {all} blocks, and none would be left"),
            remedy: "lower it".into(),
        });
    }
    Ok(Layout {
        blocks_per_plane: all - spare_blocks,
        ..layout
    })
}

/// Free blocks of a plane that only collection may take.
fn reserve_blocks(config: &Config, layout: &Layout) -> Result<u32, PlanError> {
    let (gc, family) = (&config.gc, &config.mapping);
    let Some(blocks) = gc.hard_free_blocks else {
        let share = share(gc.hard_free_ratio, layout.blocks_per_plane);
        return Ok(share.max(family.reserve_blocks()));
    };
    let moves = gc.reclaim.needs_room() || config.wear.moves_data();
    let least = if moves { family.reserve_blocks() } else { 0 };
    if blocks >= least {
        return Ok(blocks);
    }
    Err(PlanError {
        key: "ftl.gc.hard_free_blocks",
        reason: format!(
            "a collection moves pages to {least} free block{} before it frees one",
            if least == 1 { "" } else { "s" }
        ),
        remedy: format!("give at least {least}"),
    })
}

/// Free blocks below which a plane collects.
fn start_blocks(config: &Config, layout: &Layout, reserve_blocks: u32) -> Result<u32, PlanError> {
    let (gc, family) = (&config.gc, &config.mapping);
    let moves_data = config.wear.moves_data();
    let wear_blocks = if moves_data { family.wear_blocks() } else { 0 };
    let least = reserve_blocks + 1 + wear_blocks;
    let Some(blocks) = gc.start_free_blocks else {
        let blocks = match gc.start_free_pages {
            0 => share(gc.start_free_ratio, layout.blocks_per_plane),
            pages => pages / layout.pages_per_block.max(1) + 1,
        };
        return Ok(blocks.max(least));
    };
    let key = "ftl.gc.start_free_blocks";
    if gc.start_free_pages > 0 {
        return Err(PlanError {
            key,
            reason: "ftl.gc.start_free_pages is another threshold".into(),
            remedy: "give one of them".into(),
        });
    }
    let waits_for_writes = family.abilities().free_pages
        && !moves_data
        && !config.allocate.is_on_issue()
        && config.slc_cache.size().is_none();
    if blocks >= least || waits_for_writes {
        return Ok(blocks);
    }
    Err(PlanError {
        key,
        reason: format!(
            "only plain page mapping collects no earlier than a write finds no room; with ftl.mapping = \"{}\", ftl.wear = \"{}\", \
             ftl.slc_cache = \"{}\" and this ftl.allocate a plane keeps {} blocks",
            family.name(),
            config.wear.name(),
            config.slc_cache.name(),
            least - 1
        ),
        remedy: format!("give at least {least}"),
    })
}

impl Plan {
    /// Checks `config` against an array of pages of 4096 bytes.
    pub fn new(
        config: &Config,
        layout: Layout,
        dimensions: Dimensions,
        seed: u64,
    ) -> Result<Self, PlanError> {
        Self::of_pages(config, layout, 4096, dimensions, seed)
    }

    /// Checks `config`, whose numbers are in the ranges of their fields, against an array of pages of `page_bytes`.
    pub fn of_pages(
        config: &Config,
        layout: Layout,
        page_bytes: u32,
        dimensions: Dimensions,
        seed: u64,
    ) -> Result<Self, PlanError> {
        let user_pages = share(1.0 - config.over_provisioning_ratio, layout.pages());
        let layout = without_spares(layout, config.spare_blocks)?;
        let family = &config.mapping;
        let reserve_blocks = reserve_blocks(config, &layout)?;
        let start_pages = config.gc.start_free_pages;
        let start_blocks = start_blocks(config, &layout, reserve_blocks)?;
        let plan = Self {
            layout,
            dimensions,
            page_bytes,
            user_pages,
            start_blocks,
            start_pages,
            reserve_blocks,
            summaries: Summaries::default(),
            slc_pages: layout.pages_per_block,
            config: config.clone(),
            seed,
        };
        plan.check_shape()?;
        plan.check_full_blocks()?;
        plan.check_cache()?;
        family.check(&plan)?;
        plan.check_trim()?;
        Ok(plan)
    }

    /// The same with block summaries: what the host may address stays as it is, and over-provisioning gives up their space. For page
    /// mapping.
    pub fn with_summaries(self) -> Result<Self, PlanError> {
        let per_block = self.layout.pages_per_block;
        let summaries = Summaries::of(per_block, self.page_bytes);
        if summaries.pages >= per_block {
            return Err(PlanError {
                key: "nand.geometry.pages_per_block",
                reason: format!("its summary would take all {per_block} pages of a block"),
                remedy: "give a block more pages, or have no block summaries".into(),
            });
        }
        let mut plan = Self { summaries, ..self };
        if plan.start_pages > 0 {
            let start = plan.start_pages / plan.data_pages() + 1;
            plan.start_blocks = plan.start_blocks.max(start);
        }
        plan.config.mapping.check(&plan)?;
        Ok(plan)
    }
    /// Pages of a block that hold something else than its summary.
    pub fn data_pages(&self) -> u32 {
        self.layout.pages_per_block - self.summaries.pages
    }

    /// Blocks of a plane that its share of the host's pages does not fill.
    pub fn spare_blocks(&self) -> u32 {
        let user = self.user_pages.div_ceil(self.layout.planes());
        let filled = user.div_ceil(self.data_pages());
        let taken = filled.saturating_add(self.config.mapping.metadata_blocks(self));
        let taken = taken.saturating_add(self.dedicated_blocks());
        self.layout.blocks_per_plane.saturating_sub(taken)
    }

    /// The same of cells of so many bits: in single-level mode each has one of them, and its block as many pages less.
    #[must_use]
    pub fn of_cells(mut self, bits: u32) -> Self {
        self.slc_pages = (self.layout.pages_per_block / bits.max(1)).max(1);
        self
    }

    /// Whether a plane is below its threshold only when a write finds no room in it.
    pub fn collects_for_writes_only(&self) -> bool {
        self.start_blocks <= self.reserve_blocks
    }

    /// Free blocks of a plane with which neither its threshold nor a write asks for a collection.
    pub fn rest_blocks(&self) -> u32 {
        self.start_blocks.max(self.reserve_blocks + 1)
    }

    /// Only page mapping looks at its free blocks when a block is full.
    fn check_full_blocks(&self) -> Result<(), PlanError> {
        let config = &self.config;
        let is_plain = config.mapping.abilities().free_pages
            && config.slc_cache.size().is_none()
            && !config.allocate.is_on_issue();
        if config.gc.check == Check::EachPage || is_plain {
            return Ok(());
        }
        Err(PlanError {
            key: "ftl.gc.check",
            reason: "only page mapping without an SLC cache and with places given at once knows when the open block of the host is full"
                .into(),
            remedy: "set it to \"each-page\"".into(),
        })
    }

    /// An SLC cache needs page mapping, an order of programs by the block, and an active block of collection's own: what is folded never
    /// goes to where the host writes.
    fn check_cache(&self) -> Result<(), PlanError> {
        let config = &self.config;
        let Some(size) = config.slc_cache.size() else {
            return Ok(());
        };
        let fault = |key, reason: String, remedy: &str| {
            Err(PlanError {
                key,
                reason,
                remedy: remedy.into(),
            })
        };
        if !config.mapping.abilities().any_place {
            let name = config.mapping.name();
            let reason = format!("with ftl.mapping = \"{name}\" there is no SLC cache");
            let able = Family::able(|can| can.any_place);
            let remedy = format!("set it to \"off\", or ftl.mapping to {able}");
            return fault("ftl.slc_cache", reason, &remedy);
        }
        if !config.gc.own_block {
            let reason = "what is folded would go to the block that the host writes to".into();
            let remedy = "set it to true, or ftl.slc_cache to \"off\"";
            return fault("ftl.gc.own_block", reason, remedy);
        }
        if config.allocate.is_on_issue() {
            let reason = "places given on issue are not in single-level mode".into();
            let remedy = "choose \"static\" or \"dynamic\", or set ftl.slc_cache to \"off\"";
            return fault("ftl.allocate", reason, remedy);
        }
        let blocks = self.layout.blocks_per_plane;
        if size.dedicated(blocks) >= blocks {
            let reason = format!("all {blocks} blocks of a plane would be in single-level mode");
            return fault("ftl.slc_cache", reason, "lower its share of the blocks");
        }
        Ok(())
    }

    /// Blocks of a plane that are only used in single-level mode.
    pub fn dedicated_blocks(&self) -> u32 {
        let size = self.config.slc_cache.size();
        size.map_or(0, |size| size.dedicated(self.layout.blocks_per_plane))
    }

    /// Only page mapping knows when a block holds nothing any more.
    fn check_trim(&self) -> Result<(), PlanError> {
        let family = &self.config.mapping;
        if self.config.trim.answer.policy().erases() && !family.abilities().whole_blocks {
            return Err(PlanError {
                key: "ftl.trim.answer",
                reason: format!(
                    "with ftl.mapping = \"{}\" no block is erased for a TRIM",
                    family.name()
                ),
                remedy: format!(
                    "choose ideal or invalidate, or set ftl.mapping to {}",
                    Family::able(|can| can.whole_blocks)
                ),
            });
        }
        Ok(())
    }

    /// The books count the pages of a block in 16 bits, and allocation walks the planes by their
    /// dimensions.
    fn check_shape(&self) -> Result<(), PlanError> {
        let (pages, planes) = (self.layout.pages_per_block, self.layout.planes());
        if pages > u32::from(u16::MAX) {
            return Err(PlanError {
                key: "nand.geometry.pages_per_block",
                reason: format!(
                    "a block has {pages} pages, at most {} can be kept",
                    u16::MAX
                ),
                remedy: "use more, smaller blocks".into(),
            });
        }
        if self.dimensions.total() != planes {
            return Err(PlanError {
                key: "ssd.channels",
                reason: format!(
                    "channels, ways, dies and planes make {} planes, the array has {planes}",
                    self.dimensions.total()
                ),
                remedy: "describe the same device in both".into(),
            });
        }
        Ok(())
    }
}
