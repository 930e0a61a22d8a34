//! Space requirements of page mapping.

use crate::gc::check::Check;
use crate::plan::{Plan, PlanError};
use crate::slc_cache::Caches;

/// Number of blocks that a plane needs, by purpose.
pub(in crate::mapping) struct Demand {
    /// Blocks filled by the plane's share of the user pages.
    pub filled: u32,
    /// Active blocks when GC can gain no more space.
    active: u32,
    /// Free blocks needed when GC can gain no more space: the threshold, and one beyond the reserve
    /// for a write.
    free: u32,
    /// Blocks for GC: `active` plus `free`.
    pub collection: u64,
    /// Blocks for metadata.
    metadata: u32,
    /// Blocks that are used in single-level mode only.
    dedicated: u32,
}

impl Demand {
    /// Computes the demand of a plan. Returns an error if no page is left for the host.
    pub fn of(plan: &Plan, metadata: u32) -> Result<Self, PlanError> {
        if plan.user_pages == 0 {
            return Err(PlanError {
                key: "ftl.over_provisioning_ratio",
                reason: "no page is left for the host".into(),
                remedy: "lower ftl.over_provisioning_ratio, or enlarge the device".into(),
            });
        }
        let config = &plan.config;
        let user = plan.user_pages.div_ceil(plan.layout.planes());
        // While a write waits, the host has no active block. It also has none when its block is
        // full, unless GC has opened one for copies.
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
    /// Returns `true` if GC can reach its threshold, regardless of the order in which pages are
    /// written.
    ///
    /// GC can continue while a closed block of the plane has an invalid page, and each such block
    /// that it erases leaves fewer invalid pages in the plane. When GC cannot continue, every
    /// closed block is full of valid pages, so there are no more closed blocks than the plane's
    /// user pages fill. The other blocks are active blocks, regardless of their content, metadata
    /// blocks and free blocks. If all of them fit together with the threshold's number of free
    /// blocks, GC reaches that number. Because the threshold is above the reserve, the host can
    /// then write again.
    ///
    /// Dynamic allocation may put more than its share of the user pages on a plane, which then
    /// accepts no more. Not all planes can be in that state at once, because each would contain
    /// more than its share.
    pub fn fits(&self, plan: &Plan) -> bool {
        let reserved = u64::from(self.metadata) + u64::from(self.dedicated);
        let kept = u64::from(self.filled) + self.collection + reserved;
        kept <= u64::from(plan.layout.blocks_per_plane)
    }
    /// Returns the error that a plane has too few blocks for page mapping. It names the threshold
    /// in pages or blocks if one is configured and can be lowered, or else the over-provisioning.
    pub fn fault(&self, plan: &Plan) -> PlanError {
        let user = plan.user_pages.div_ceil(plan.layout.planes());
        let (key, remedy) = if plan.start_pages > 0 {
            (
                "ftl.gc.start_free_pages",
                "lower ftl.gc.start_free_pages, raise ftl.over_provisioning_ratio",
            )
        } else if plan.config.gc.start_free_blocks.is_none() {
            (
                "ftl.over_provisioning_ratio",
                "raise ftl.over_provisioning_ratio, lower ftl.gc.start_free_ratio",
            )
        } else if plan.start_blocks > plan.reserve_blocks + 1 {
            (
                "ftl.gc.start_free_blocks",
                "lower ftl.gc.start_free_blocks, raise ftl.over_provisioning_ratio",
            )
        } else {
            (
                "ftl.over_provisioning_ratio",
                "raise ftl.over_provisioning_ratio",
            )
        };
        let of_cache = match self.dedicated {
            0 => String::new(),
            blocks => format!(" (the SLC cache uses {blocks} of these)"),
        };
        PlanError {
            key,
            reason: format!(
                "the {user} user pages of a plane fill {} of its {} blocks{of_cache}, and garbage collection \
                 needs {} (free-block threshold {}, active blocks {})",
                self.filled, plan.layout.blocks_per_plane, self.collection, self.free, self.active
            ),
            remedy: format!("{remedy}, or give a plane more blocks"),
        }
    }
}
