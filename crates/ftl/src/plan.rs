//! Validated parameters of the `[ftl]` table for a given array.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_nand::Layout;

use crate::Config;
use crate::allocate::Dimensions;
use crate::gc::check::Check;
use crate::gc::reclaim::Reclaim;
use crate::mapping::{Build, Family};
use crate::rounding::share;
use crate::slc_cache::Caches;
use crate::summary::Summaries;

/// Validated parameters of a flash translation layer, from which a map can be created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Array without the spare blocks, which are the last blocks of each plane.
    pub layout: Layout,
    /// Numbers of channels, ways, dies and planes of the array.
    pub dimensions: Dimensions,
    /// Size of a page. Bytes.
    pub page_bytes: u32,
    /// Number of pages that the host can address.
    pub user_pages: u32,
    /// Free-block threshold: GC of a plane runs while it has fewer free blocks. If it is not above
    /// the reserve, GC runs only when a write finds no room. Blocks.
    pub start_blocks: u32,
    /// Free-page threshold: GC of a plane runs while it has this number of free pages or fewer, and
    /// fewer free blocks than `start_blocks`; 0 if only free blocks count. Pages.
    pub start_pages: u32,
    /// GC reserve: free blocks that only GC may take. Blocks.
    pub reserve_blocks: u32,
    /// Size of the block summaries.
    pub summaries: Summaries,
    /// Number of pages of a block in single-level mode.
    pub slc_pages: u32,
    /// Minimum number of logical pages of a device on which page mapping represents a fill that
    /// stays (`keeps_fill`) by a formula; `u32::MAX` if it never does. Mappings with logical blocks
    /// store no entries for such a fill in any case.
    pub formula_pages: u32,
    /// Whether the device is filled in order, and most pages stay as the fill left them until the
    /// run writes them.
    pub keeps_fill: bool,
    /// Configured policies.
    pub config: Config,
    /// Seed of the policies' random number generators.
    pub seed: u64,
}

/// Error in the configuration of the flash translation layer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {reason}; {remedy}")]
pub struct PlanError {
    /// Configuration key to change.
    pub key: &'static str,
    /// Description of the fault, with its numbers.
    pub reason: String,
    /// Change that removes the fault.
    pub remedy: String,
}

/// Returns the layout of an array without the spare blocks of its planes.
fn without_spares(layout: Layout, spare_blocks: u32) -> Result<Layout, PlanError> {
    let all = layout.blocks_per_plane;
    if spare_blocks >= all {
        return Err(PlanError {
            key: "ftl.spare_blocks",
            reason: format!("a plane has {all} blocks, so none would be left for data"),
            remedy: "lower ftl.spare_blocks".into(),
        });
    }
    Ok(Layout {
        blocks_per_plane: all - spare_blocks,
        ..layout
    })
}

/// Returns the number of free blocks of a plane that only GC may take.
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
            "a GC run moves pages to {least} free block{} before it frees one",
            if least == 1 { "" } else { "s" }
        ),
        remedy: format!("set ftl.gc.hard_free_blocks to at least {least}"),
    })
}

/// Returns the free-block threshold: GC of a plane starts below it. Blocks.
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
            reason: "ftl.gc.start_free_pages also sets the free-block threshold".into(),
            remedy: "set only one of the two".into(),
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
            "with ftl.mapping = \"{}\", ftl.wear = \"{}\", ftl.slc_cache = \"{}\" and this ftl.allocate, GC must start \
             before a write finds no free block, and {} blocks of a plane are reserved",
            family.name(),
            config.wear.name(),
            config.slc_cache.name(),
            least - 1
        ),
        remedy: format!("set ftl.gc.start_free_blocks to at least {least}"),
    })
}

/// Default of [`Plan::formula_pages`]. A map of fewer pages is filled in milliseconds as an array,
/// and a look-up in an array is faster than in a formula (docs/explanation/speed.md).
const FORMULA_PAGES: u32 = 1 << 24;

impl Plan {
    /// Validates `config` for an array with pages of 4096 bytes.
    pub fn new(
        config: &Config,
        layout: Layout,
        dimensions: Dimensions,
        seed: u64,
    ) -> Result<Self, PlanError> {
        Self::of_pages(config, layout, 4096, dimensions, seed)
    }

    /// Validates `config`, whose numbers must be in the ranges of their fields, for an array with
    /// pages of `page_bytes`.
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
            formula_pages: FORMULA_PAGES,
            keeps_fill: true,
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

    /// Adds block summaries. Their space is taken from over-provisioning; the number of pages that
    /// the host can address does not change. Only for page mapping.
    pub fn with_summaries(self) -> Result<Self, PlanError> {
        let per_block = self.layout.pages_per_block;
        let summaries = Summaries::of(per_block, self.page_bytes);
        if summaries.pages >= per_block {
            return Err(PlanError {
                key: "nand.geometry.pages_per_block",
                reason: "the summary of a block would leave no page for data".into(),
                remedy:
                    "raise nand.geometry.pages_per_block, or set cache.block_summaries to false"
                        .into(),
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
    /// Returns the number of pages of a block that are not part of its summary.
    pub fn data_pages(&self) -> u32 {
        self.layout.pages_per_block - self.summaries.pages
    }

    /// Returns the number of over-provisioned blocks of a plane: those that its share of the host's
    /// pages, metadata and the dedicated blocks of an SLC cache do not take.
    pub fn spare_blocks(&self) -> u32 {
        let user = self.user_pages.div_ceil(self.layout.planes());
        let filled = user.div_ceil(self.data_pages());
        let taken = filled.saturating_add(self.config.mapping.metadata_blocks(self));
        let taken = taken.saturating_add(self.dedicated_blocks());
        self.layout.blocks_per_plane.saturating_sub(taken)
    }

    /// Sets the number of bits per cell. In single-level mode a cell stores one bit, so a block has
    /// 1 / `bits` of its pages.
    #[must_use]
    pub fn of_cells(mut self, bits: u32) -> Self {
        self.slc_pages = (self.layout.pages_per_block / bits.max(1)).max(1);
        self
    }

    /// Returns `true` if page mapping represents an in-order fill by a formula.
    pub fn keeps_formula(&self) -> bool {
        let in_turn = !self.config.allocate.is_by_work() && self.config.slc_cache.size().is_none();
        in_turn && self.keeps_fill && self.user_pages >= self.formula_pages
    }
    /// Returns `true` if GC of a plane runs only when a write finds no room in it.
    pub fn collects_for_writes_only(&self) -> bool {
        self.start_blocks <= self.reserve_blocks
    }

    /// Returns the smallest number of free blocks of a plane with which neither its threshold nor a
    /// write requires GC.
    pub fn rest_blocks(&self) -> u32 {
        self.start_blocks.max(self.reserve_blocks + 1)
    }

    /// Checks that `ftl.gc.check` is supported: only page mapping without an SLC cache and with
    /// allocation on arrival tracks when the host's active block is full.
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
            reason: "only page mapping without an SLC cache and with allocation on arrival tracks when the active block of the host is full"
                .into(),
            remedy: "set ftl.gc.check to \"each-page\"".into(),
        })
    }

    /// Checks the requirements of an SLC cache: page mapping, allocation on arrival, and a separate
    /// active block for GC, so that folded data never goes to the host's block.
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
            let reason = format!("ftl.mapping = \"{name}\" does not support an SLC cache");
            let able = Family::able(|can| can.any_place);
            let remedy = format!("set ftl.slc_cache to \"off\", or ftl.mapping to {able}");
            return fault("ftl.slc_cache", reason, &remedy);
        }
        if !config.gc.own_block {
            let reason =
                "data folded out of the SLC cache would go to the active block of the host".into();
            let remedy = "set ftl.gc.own_block to true, or ftl.slc_cache to \"off\"";
            return fault("ftl.gc.own_block", reason, remedy);
        }
        if config.allocate.is_on_issue() {
            let reason =
                "pages that are allocated on issue cannot be written to an SLC cache".into();
            let remedy = "choose \"static\" or \"dynamic\", or set ftl.slc_cache to \"off\"";
            return fault("ftl.allocate", reason, remedy);
        }
        let blocks = self.layout.blocks_per_plane;
        if size.dedicated(blocks) >= blocks {
            let reason = format!("all {blocks} blocks of a plane would be in single-level mode");
            return fault(
                "ftl.slc_cache",
                reason,
                "lower the ratio of the dedicated blocks",
            );
        }
        Ok(())
    }

    /// Returns the number of blocks per plane that are used in single-level mode only.
    pub fn dedicated_blocks(&self) -> u32 {
        let size = self.config.slc_cache.size();
        size.map_or(0, |size| size.dedicated(self.layout.blocks_per_plane))
    }

    /// Checks that `ftl.trim.answer` is supported: only page mapping tracks when a block has no
    /// valid page left.
    fn check_trim(&self) -> Result<(), PlanError> {
        let family = &self.config.mapping;
        if self.config.trim.answer.policy().erases() && !family.abilities().whole_blocks {
            return Err(PlanError {
                key: "ftl.trim.answer",
                reason: format!(
                    "ftl.mapping = \"{}\" does not erase blocks for a TRIM",
                    family.name()
                ),
                remedy: format!(
                    "choose \"ideal\" or \"invalidate\", or set ftl.mapping to {}",
                    Family::able(|can| can.whole_blocks)
                ),
            });
        }
        Ok(())
    }

    /// Checks that the number of pages per block fits in 16 bits, and that the dimensions yield the
    /// number of planes of the array.
    fn check_shape(&self) -> Result<(), PlanError> {
        let (pages, planes) = (self.layout.pages_per_block, self.layout.planes());
        if pages > u32::from(u16::MAX) {
            return Err(PlanError {
                key: "nand.geometry.pages_per_block",
                reason: format!(
                    "a block has {pages} pages, and at most {} are supported",
                    u16::MAX
                ),
                remedy: "use more, smaller blocks".into(),
            });
        }
        if self.dimensions.total() != planes {
            return Err(PlanError {
                key: "ssd.channels",
                reason: format!(
                    "channels, ways, dies and planes make {} planes, but the array has {planes}",
                    self.dimensions.total()
                ),
                remedy: "pass a layout and dimensions with the same number of planes".into(),
            });
        }
        Ok(())
    }
}
