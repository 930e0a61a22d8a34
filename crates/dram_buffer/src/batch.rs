//! Batches of pages that go to the flash together, and whose memory comes back together.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_cache::Entry;

/// The batch on its way, and the pages that the next ones will have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// Pages in a batch; 0 if pages go one by one.
    pub size: usize,
    /// Pages in the order in which they became dirty, each once; they may be clean by now.
    pub dirty: VecDeque<Entry>,
    /// The pages of the batch on its way.
    pub sent: Vec<Entry>,
    /// How many of them the flash does not hold yet.
    pub left: usize,
    /// Whether somebody waits for memory that only a batch brings.
    pub wanted: bool,
}

impl Batch {
    pub fn new(size: u32) -> Self {
        Self {
            size: size as usize,
            ..Self::default()
        }
    }
    /// Whether pages go in batches.
    #[inline]
    pub fn gathers(&self) -> bool {
        self.size > 0
    }
    /// The power has failed.
    pub fn clear(&mut self) {
        *self = Self::new(self.size as u32);
    }
}
