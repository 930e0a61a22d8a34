//! How long the host has asked for nothing.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_cache::Entry;
use wordline_kernel::Time;

use crate::backing::Chip;

/// Idleness of the buffer, and what is made of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Idle {
    /// After how long without a request dirty pages go to the flash; never, if `None`.
    pub after: Option<Time>,
    /// Requests that have begun and are not done.
    pub serving: u32,
    /// When the last one began or was done.
    pub since: Time,
    /// Whether the buffer has flushed since.
    pub flushed: bool,
    /// When the buffer looks again.
    pub planned: Option<Time>,
    /// Pages that are to go to the flash in this idle period.
    pub left: VecDeque<Entry>,
    /// By chip, and last for pages without one: whether a page is on its way to it for this reason.
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
    /// A request begins, or is done.
    #[inline]
    pub fn begins(&mut self, now: Time) {
        self.serving += 1;
        self.since = now;
        self.flushed = false;
    }
    #[inline]
    pub fn ends(&mut self, now: Time) {
        self.serving -= 1;
        self.since = now;
    }
    /// The power has failed.
    pub fn clear(&mut self, now: Time) {
        *self = Self {
            since: now,
            ..Self::new(self.after, self.busy.len() as u32 - 1)
        };
    }
}
