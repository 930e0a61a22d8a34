//! Whether a plane has room for page mapping.

use crate::gc::check::Check;
use crate::plan::{Plan, PlanError};
use crate::slc_cache::Caches;

/// Blocks that a plane has to have.
pub(in crate::mapping) struct Demand {
    /// Filled by its share of the user pages.
    pub filled: u32,
    /// Blocks that are open when collection can gain nothing more.
    active: u32,
    /// Free ones then: as the threshold asks for, and one that a write finds beyond the reserve.
    free: u32,
    /// For garbage collection: both.
    pub collection: u64,
    /// For metadata.
    metadata: u32,
    /// In single-level mode only.
    dedicated: u32,
}

impl Demand {
    /// That of a plan; an error if it leaves the host no page.
    pub fn of(plan: &Plan, metadata: u32) -> Result<Self, PlanError> {
        if plan.user_pages == 0 {
            return Err(PlanError {
                key: "ftl.over_provisioning_ratio",
                reason: "no page is left for the host".into(),
                remedy: "lower it or enlarge the device".into(),
            });
        }
        let config = &plan.config;
        let user = plan.user_pages.div_ceil(plan.layout.planes());
        // While a write waits the host has no open block, and none when its block is full, unless collections have opened it for their copies.
        let copies = plan.reserve_blocks > 0;
        let opens = !config.gc.own_block && copies;
        let is_host_full =
            plan.collects_for_writes_only() || config.gc.check == Check::FullBlock && !opens;
        let others = [
            !is_host_full,
            config.gc.own_block && copies,
            config.wear.moves_data(),
            config.allocate.is_on_issue(),
            config.slc_cache.size().is_some(),
        ];
        let active = others.map(u32::from).iter().sum();
        let free = plan.rest_blocks();
        Ok(Self {
            filled: user / plan.data_pages(),
            active,
            free,
            collection: u64::from(free) + u64::from(active),
            metadata,
            dedicated: plan.dedicated_blocks(),
        })
    }
    /// Whether collection can reach its threshold, in whatever order pages are written.
    ///
    /// It can go on while a closed block of the plane has an invalid page, and each such block it
    /// erases leaves fewer invalid pages in the plane. When it cannot go on, every closed block is
    /// full of valid pages, so no more are closed than the plane's user pages fill; beside them
    /// there are only the active blocks, whatever they hold, blocks of metadata, and free ones. If
    /// all of them fit with the threshold's count of free blocks, that count is reached, and because
    /// it is above the reserve, the host can write again.
    ///
    /// Dynamic allocation may gather more than its share of the user pages on a plane, which then
    /// takes no more. All planes cannot be so at once: each would hold more than its share.
    pub fn fits(&self, plan: &Plan) -> bool {
        let beside = u64::from(self.metadata) + u64::from(self.dedicated);
        let kept = u64::from(self.filled) + self.collection + beside;
        kept <= u64::from(plan.layout.blocks_per_plane)
    }
    /// That a plane of page mapping has too few blocks, of the key that asks for the most.
    pub fn fault(&self, plan: &Plan) -> PlanError {
        let user = plan.user_pages.div_ceil(plan.layout.planes());
        let (key, remedy) = if plan.start_pages > 0 {
            (
                "ftl.gc.start_free_pages",
                "lower it, raise ftl.over_provisioning_ratio",
            )
        } else if plan.config.gc.start_free_blocks.is_none() {
            (
                "ftl.over_provisioning_ratio",
                "raise it, lower ftl.gc.start_free_ratio",
            )
        } else if plan.start_blocks > plan.reserve_blocks + 1 {
            (
                "ftl.gc.start_free_blocks",
                "lower it, raise ftl.over_provisioning_ratio",
            )
        } else {
            ("ftl.over_provisioning_ratio", "raise it")
        };
        let of_cache = match self.dedicated {
            0 => String::new(),
            blocks => format!(", the SLC cache has {blocks} of them"),
        };
        PlanError {
            key,
            reason: format!(
                "the {user} user pages of a plane fill {} of its {} blocks{of_cache}, and garbage collection \
                 needs {} (threshold {}, active {})",
                self.filled, plan.layout.blocks_per_plane, self.collection, self.free, self.active
            ),
            remedy: format!("{remedy}, or give a plane more blocks"),
        }
    }
}
