//! What the `[ftl]` table means on a given array, checked.

use thiserror::Error;
use wordline_nand::Layout;

use crate::Config;
use crate::allocate::{Allocate, Dimensions};
use crate::mapping::Family;
use crate::mapping::logical::Rules;
use crate::wear::Wear;

/// A translation layer that can be built: every number checked, nothing optional.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The array.
    pub layout: Layout,
    /// How its planes are wired.
    pub dimensions: Dimensions,
    /// Size of a page.
    pub page_bytes: u32,
    /// Pages the host can address.
    pub user_pages: u32,
    /// A plane collects while it has fewer free blocks than this.
    pub start_blocks: u32,
    /// Free blocks that only collection may take.
    pub reserve_blocks: u32,
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

fn ratio(key: &'static str, value: f64) -> Result<f64, PlanError> {
    if (0.0..1.0).contains(&value) {
        return Ok(value);
    }
    let reason = "it is not a ratio".to_owned();
    Err(PlanError {
        key,
        reason,
        remedy: "give a number from 0 up to, not including, 1".into(),
    })
}

/// Free blocks that a collection may need before it frees any.
fn least_reserve(config: &Config) -> u32 {
    Rules::of(&config.mapping).map_or(1, |rules| rules.data_blocks)
}

/// Free blocks beyond the reserve that a move for the sake of even wear needs.
fn spare_for_wear(config: &Config) -> u32 {
    let in_reserve = matches!(config.mapping, Family::BlockMapping(_));
    u32::from(matches!(config.wear, Wear::Static(_)) && !in_reserve)
}

/// Whether the mapping can move data for the sake of even wear.
fn wear_makes_sense(config: &Config) -> Result<(), PlanError> {
    if !matches!(config.wear, Wear::Static(_)) || Rules::of(&config.mapping).is_none() {
        return Ok(());
    }
    Err(PlanError {
        key: "ftl.wear",
        reason: format!(
            "static wear levelling moves blocks, and {} empties blocks by merges only",
            config.mapping.name()
        ),
        remedy: "use dynamic, or another ftl.mapping".into(),
    })
}

/// Whether the schedule can do anything for the mapping.
fn schedule_makes_sense(config: &Config) -> Result<(), PlanError> {
    let schedule = &config.gc.schedule;
    let in_idle_time = schedule.policy().attention().is_some();
    match &config.mapping {
        Family::BlockMapping(_) if in_idle_time => Err(PlanError {
            key: "ftl.gc.schedule",
            reason: format!(
                "{} collects in idle time, and block mapping has no update blocks: nothing can be \
                 collected before the write that needs it, or be put off",
                schedule.name()
            ),
            remedy: "use on-demand or incremental, or another ftl.mapping".into(),
        }),
        _ => Ok(()),
    }
}

/// `ratio` of `count`, rounded down; a product that misses a whole number by the rounding of its
/// factors is that number, so that 0.29 of 100 is 29.
fn share(ratio: f64, count: u32) -> u32 {
    (ratio * f64::from(count) * (1.0 + 1e-12)).floor() as u32
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

    /// Checks `config` against an array of pages of `page_bytes`.
    pub fn of_pages(
        config: &Config,
        layout: Layout,
        page_bytes: u32,
        dimensions: Dimensions,
        seed: u64,
    ) -> Result<Self, PlanError> {
        let spare = ratio(
            "ftl.over_provisioning_ratio",
            config.over_provisioning_ratio,
        )?;
        let start = ratio("ftl.gc.start_free_ratio", config.gc.start_free_ratio)?;
        let hard = ratio("ftl.gc.hard_free_ratio", config.gc.hard_free_ratio)?;
        let reserve_blocks = share(hard, layout.blocks_per_plane).max(least_reserve(config));
        let start_blocks =
            share(start, layout.blocks_per_plane).max(reserve_blocks + 1 + spare_for_wear(config));
        let plan = Self {
            layout,
            dimensions,
            page_bytes,
            user_pages: share(1.0 - spare, layout.pages()),
            start_blocks,
            reserve_blocks,
            config: config.clone(),
            seed,
        };
        plan.check_shape()?;
        schedule_makes_sense(config)?;
        wear_makes_sense(config)?;
        match (&config.mapping, Rules::of(&config.mapping)) {
            (_, Some(rules)) => plan.check_logical(&rules)?,
            (Family::BlockMapping(policy), _) => policy.check(&plan)?,
            (Family::Dftl(dftl), _) => {
                dftl.check(page_bytes)?;
                plan.check_room()?;
            }
            _ => plan.check_room()?,
        }
        Ok(plan)
    }

    /// Blocks of a plane that its share of the host's pages does not fill.
    pub fn spare_blocks(&self) -> u32 {
        let user = self.user_pages.div_ceil(self.layout.planes());
        let filled = user.div_ceil(self.layout.pages_per_block);
        let taken = filled.saturating_add(self.own_blocks());
        self.layout.blocks_per_plane.saturating_sub(taken)
    }

    /// Blocks of a plane that the mapping keeps for pages of its own.
    fn own_blocks(&self) -> u32 {
        match &self.config.mapping {
            Family::Dftl(dftl) => dftl.shape(self).blocks,
            _ => 0,
        }
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

    /// Merges must be able to reach the threshold: when fewer blocks are free, some logical block has
    /// more blocks than it needs. And a merge must find free blocks for its pages, which the reserve
    /// holds.
    fn check_logical(&self, rules: &Rules) -> Result<(), PlanError> {
        if let Allocate::Dynamic(_) = self.config.allocate {
            return Err(PlanError {
                key: "ftl.allocate",
                reason: format!(
                    "{} keeps the blocks of a logical block on one plane, and dynamic allocation has \
                     no plane for a page",
                    self.config.mapping.name()
                ),
                remedy: "use ftl.allocate = \"static\"".into(),
            });
        }
        let is_buffered = matches!(self.config.mapping, Family::Buffered(_));
        let buffer_blocks = rules.buffer_blocks(self.layout.blocks_per_plane);
        let fits = (0.0..1.0).contains(&rules.buffer_ratio);
        if is_buffered && !(fits && buffer_blocks > 0) {
            return Err(PlanError {
                key: "ftl.mapping.buffered.buffer_ratio",
                reason: format!(
                    "{} of the {} blocks of a plane is no block",
                    rules.buffer_ratio, self.layout.blocks_per_plane
                ),
                remedy: "give a number below 1 that makes a block at least, or use log-block"
                    .into(),
            });
        }
        let blocks = self.layout.blocks_per_plane;
        let logical = rules.logical_blocks(self);
        let kept = rules.kept_blocks(logical, blocks);
        if self.user_pages > 0 && kept + u64::from(self.start_blocks) <= u64::from(blocks) {
            return Ok(());
        }
        Err(PlanError {
            key: "ftl.over_provisioning_ratio",
            reason: format!(
                "the data blocks of the {logical} logical blocks of a plane ({} each), {} blocks for \
                 records and {} for the write buffer take {kept} of its {blocks} blocks, and garbage \
                 collection needs {} more",
                rules.data_blocks,
                rules.record_blocks(),
                rules.buffer_blocks(blocks),
                self.start_blocks
            ),
            remedy: format!(
                "raise it, lower {}ftl.gc.start_free_ratio, or give a plane more blocks",
                match self.config.mapping {
                    Family::Hybrid(_) => "ftl.mapping.hybrid.data_blocks or ",
                    Family::Buffered(_) => "ftl.mapping.buffered.buffer_ratio or ",
                    _ => "",
                }
            ),
        })
    }

    fn no_room_for_map(&self, filled: u32, kept: u64, own: u32) -> PlanError {
        PlanError {
            key: "ftl.over_provisioning_ratio",
            reason: format!(
                "of the {} blocks of a plane, {filled} are filled by its user pages, {own} are for \
                 translation pages, and garbage collection needs {kept}",
                self.layout.blocks_per_plane
            ),
            remedy: "raise it, lower ftl.gc.start_free_ratio or ftl.mapping.dftl.spare_ratio, or \
                     give a plane more blocks"
                .into(),
        }
    }

    /// Collection must be able to reach its threshold, in whatever order pages are written.
    ///
    /// It can go on while a closed block of the plane has an invalid page, and each such block it
    /// erases leaves fewer invalid pages in the plane. When it cannot go on, every closed block is
    /// full of valid pages, so no more are closed than the plane's user pages fill; beside them
    /// there are only the active blocks, whatever they hold, blocks of the mapping's own, and free
    /// ones. If all of them fit with the threshold's count of free blocks, that count is reached,
    /// and because it is above the reserve, the host can write again.
    ///
    /// Dynamic allocation may gather more than its share of the user pages on a plane, which then
    /// takes no more. All planes cannot be so at once: each would hold more than its share.
    fn check_room(&self) -> Result<(), PlanError> {
        if self.user_pages == 0 {
            return Err(PlanError {
                key: "ftl.over_provisioning_ratio",
                reason: "no page is left for the host".into(),
                remedy: "lower it or enlarge the device".into(),
            });
        }
        let blocks = self.layout.blocks_per_plane;
        let user = self.user_pages.div_ceil(self.layout.planes());
        let filled = user / self.layout.pages_per_block;
        let active = 1 + u32::from(self.config.gc.own_block) + spare_for_wear(&self.config);
        let kept = u64::from(self.start_blocks) + u64::from(active);
        let own = self.own_blocks();
        if u64::from(filled) + kept + u64::from(own) <= u64::from(blocks) {
            return Ok(());
        }
        if own > 0 {
            return Err(self.no_room_for_map(filled, kept, own));
        }
        Err(PlanError {
            key: "ftl.over_provisioning_ratio",
            reason: format!(
                "the {user} user pages of a plane fill {filled} of its {blocks} blocks, and \
                 garbage collection needs {kept} (threshold {}, active {active})",
                self.start_blocks
            ),
            remedy: "raise it, lower ftl.gc.start_free_ratio, or give a plane more blocks".into(),
        })
    }
}
