//! Idle time of the host.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_cache::Entry;
use wordline_kernel::Time;

use crate::backing::Chip;

/// Idle state of the host, and the flush that idleness triggers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Idle {
    /// Idle time after which dirty pages are destaged; `None` disables the flush.
    pub after: Option<Time>,
    /// Number of outstanding requests.
    pub serving: u32,
    /// Time at which the last request began or completed.
    pub since: Time,
    /// Whether dirty pages have been destaged in the current idle period.
    pub flushed: bool,
    /// Time of the next check.
    pub planned: Option<Time>,
    /// Pages still to be destaged in this idle period.
    pub left: VecDeque<Entry>,
    /// Whether a page of an idle flush is in progress, by die. The last item stands for pages
    /// without a die.
    pub busy: Vec<bool>,
}

impl Idle {
    pub fn new(after: Option<Time>, chips: u32) -> Self {
        Self {
            after,
            busy: vec![false; chips as usize + 1],
            ..Self::default()
        }
    }
    pub fn place(&self, chip: Option<Chip>) -> usize {
        chip.map_or(self.busy.len() - 1, Chip::index)
    }
    /// Counts a request that begins, which ends the idle period and its flush.
    #[inline]
    pub fn begins(&mut self, now: Time) {
        self.serving += 1;
        self.since = now;
        self.flushed = false;
        self.left.clear();
    }
    #[inline]
    pub fn ends(&mut self, now: Time) {
        self.serving -= 1;
        self.since = now;
    }
    /// Resets the state after a power failure.
    pub fn clear(&mut self, now: Time) {
        *self = Self {
            since: now,
            ..Self::new(self.after, self.busy.len() as u32 - 1)
        };
    }
}
