//! Batches of pages that are destaged together. No memory of a batch is freed before all its pages
//! are on flash.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_cache::Entry;

/// Batch in progress, and the dirty pages collected for the next batches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// Pages per batch; 0 if pages are destaged one by one.
    pub size: usize,
    /// Pages in the order in which they became dirty. Some may have become clean since. An entry
    /// that was reused for another page may be listed twice.
    pub dirty: VecDeque<Entry>,
    /// Pages of the batch in progress.
    pub sent: Vec<Entry>,
    /// Number of pages of the batch that are not on flash yet.
    pub left: usize,
    /// Whether the next batch need not be full, because an evicted page waits for it.
    pub wanted: bool,
}

impl Batch {
    pub fn new(size: u32) -> Self {
        Self {
            size: size as usize,
            ..Self::default()
        }
    }
    /// Returns `true` if pages are destaged in batches.
    #[inline]
    pub fn gathers(&self) -> bool {
        self.size > 0
    }
    /// Resets the batches after a power failure.
    pub fn clear(&mut self) {
        *self = Self::new(self.size as u32);
    }
}
