//! What the `[ftl]` table means on a given array, checked.

use thiserror::Error;
use wordline_nand::Layout;

use crate::Config;
use crate::allocate::Dimensions;

/// A translation layer that can be built: every number checked, nothing optional.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The array.
    pub layout: Layout,
    /// How its planes are wired.
    pub dimensions: Dimensions,
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
    let reason = format!("{value} is not a ratio");
    Err(PlanError {
        key,
        reason,
        remedy: "give a number from 0 up to, not including, 1".into(),
    })
}

impl Plan {
    /// Checks `config` against the array.
    pub fn new(
        config: &Config,
        layout: Layout,
        dimensions: Dimensions,
        seed: u64,
    ) -> Result<Self, PlanError> {
        let spare = ratio(
            "ftl.over_provisioning_ratio",
            config.over_provisioning_ratio,
        )?;
        let start = ratio("ftl.gc.start_free_ratio", config.gc.start_free_ratio)?;
        let hard = ratio("ftl.gc.hard_free_ratio", config.gc.hard_free_ratio)?;
        let blocks = layout.blocks_per_plane;
        let share = |ratio: f64| (ratio * f64::from(blocks)).floor() as u32;
        let reserve_blocks = share(hard).max(1);
        let start_blocks = share(start).max(reserve_blocks + 1);
        let user_pages = (f64::from(layout.pages()) * (1.0 - spare)).floor() as u32;
        let plan = Self {
            layout,
            dimensions,
            user_pages,
            start_blocks,
            reserve_blocks,
            config: config.clone(),
            seed,
        };
        plan.check_room()?;
        Ok(plan)
    }

    /// Collection must always find a page that is no longer valid, so the user's pages of a plane
    /// may not fill all the blocks beside the threshold and the active blocks.
    fn check_room(&self) -> Result<(), PlanError> {
        let user = self.user_pages.div_ceil(self.layout.planes());
        let active = 1 + u32::from(self.config.gc.own_block);
        let kept = self.start_blocks + active;
        let room = u64::from(self.layout.blocks_per_plane.saturating_sub(kept))
            * u64::from(self.layout.pages_per_block);
        if user == 0 {
            return Err(PlanError {
                key: "ftl.over_provisioning_ratio",
                reason: "no page is left for the host".into(),
                remedy: "lower it or enlarge the device".into(),
            });
        }
        if u64::from(user) < room {
            return Ok(());
        }
        Err(PlanError {
            key: "ftl.over_provisioning_ratio",
            reason: format!(
                "a plane holds {user} user pages but only {room} fit beside its {} blocks for \
                 garbage collection (threshold {}, active {active}) out of {}",
                kept, self.start_blocks, self.layout.blocks_per_plane
            ),
            remedy: "raise it, lower ftl.gc.start_free_ratio, or give a plane more blocks".into(),
        })
    }
}
