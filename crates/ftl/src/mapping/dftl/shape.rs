//! Dimensions of a map in flash.

use serde::{Deserialize, Serialize};

use super::Dftl;
use crate::plan::{Plan, PlanError};

/// Dimensions of a map in flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Number of map entries per translation page.
    pub entries: u32,
    /// Number of translation pages.
    pub pages: u32,
    /// Number of blocks per plane for translation pages.
    pub blocks: u32,
    /// Capacity of the cache. Entries.
    pub cache_entries: u32,
    /// Maximum number of protected entries in the cache.
    pub protected_entries: u32,
    /// Whether all changed entries of a translation page that are in the cache are written
    /// together.
    pub batch_update: bool,
}

impl Dftl {
    /// Returns the dimensions that the configuration yields on an array. All are at least 1, except
    /// for the number of protected entries.
    pub(crate) fn shape(&self, plan: &Plan) -> Shape {
        let layout = plan.layout;
        let entries = (plan.page_bytes / self.entry_bytes.max(1)).max(1);
        let pages = plan.user_pages.div_ceil(entries).max(1);
        let of_plane = f64::from(pages.div_ceil(layout.planes()));
        let filled =
            of_plane * (1.0 + self.spare_ratio.max(0.0)) / f64::from(layout.pages_per_block);
        let cached = match self.cache_bytes {
            Some(bytes) => bytes / (2 * u64::from(self.entry_bytes.max(1))),
            None => u64::from(plan.user_pages.div_ceil(32)),
        };
        let cache_entries = cached.clamp(1, u64::from(plan.user_pages.max(1))) as u32;
        Shape {
            entries,
            pages,
            blocks: (filled as u32).saturating_add(2),
            cache_entries,
            protected_entries: (f64::from(cache_entries) * self.protected_ratio) as u32,
            batch_update: self.batch_update,
        }
    }

    /// Rejects parameters that are invalid for pages of `page_bytes`.
    pub(super) fn check_parameters(&self, page_bytes: u32) -> Result<(), PlanError> {
        let error = |key, reason: String, remedy: &str| {
            let remedy = remedy.into();
            Err(PlanError {
                key,
                reason,
                remedy,
            })
        };
        if self.entry_bytes > page_bytes {
            return error(
                "ftl.mapping.dftl.entry_bytes",
                format!(
                    "a map entry of {} bytes does not fit into a page of {page_bytes} bytes",
                    self.entry_bytes
                ),
                "set ftl.mapping.dftl.entry_bytes to 4 or 8",
            );
        }
        let least = 2 * u64::from(self.entry_bytes);
        if let Some(bytes) = self.cache_bytes.filter(|bytes| *bytes < least) {
            return error(
                "ftl.mapping.dftl.cache_bytes",
                format!(
                    "{bytes} bytes are too few for one cached map entry, which takes {least} bytes"
                ),
                &format!("set `cache_bytes` to at least {least}, or leave it out"),
            );
        }
        Ok(())
    }
}
