//! Map look-ups on a read-only device: cached entries stay in memory, and every other entry is read
//! from flash.

use serde::{Deserialize, Serialize};

use super::DftlMap;
use crate::job::{JobId, Step};

/// State of map reads on a read-only device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Frozen {
    /// Translation pages that are being read.
    reading: Vec<Reading>,
    /// Translation page that was read last and is still in memory.
    at_hand: Option<u32>,
}

/// Translation page that is being read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Reading {
    label: u32,
    /// Whether the read has been issued.
    is_begun: bool,
    /// Whether the job has waited for the completion of the read.
    is_awaited: bool,
}

impl DftlMap {
    /// Handles a look-up of the entry of a page. Returns the job that reads the entry, or `None` if
    /// the entry needs no read.
    pub(super) fn fetch_frozen(&mut self, page: u32) -> Option<JobId> {
        let label = self.label(page);
        let (is_cached, id) = (self.cache.is_in_memory(page), self.fetch_of(label));
        let is_on_flash = self.directory(label).is_some();
        let frozen = self.frozen.as_mut()?;
        if is_cached || !is_on_flash || frozen.at_hand == Some(label) {
            self.cache.counts.hits += 1;
            return None;
        }
        self.cache.counts.misses += 1;
        if !frozen.reading.iter().any(|reading| reading.label == label) {
            frozen.reading.push(Reading {
                label,
                is_begun: false,
                is_awaited: false,
            });
        }
        Some(id)
    }
    /// Returns the next step of a fetch. A fetch that started before the device became read-only
    /// has no steps left.
    pub(super) fn step_frozen(&mut self, id: JobId) -> Step {
        let label = id.0 - self.layout().planes();
        let place = self.directory(label);
        let Some(frozen) = &mut self.frozen else {
            return Step::Done;
        };
        let place_of = frozen.reading.iter().position(|one| one.label == label);
        let Some(turn) = place_of else {
            return Step::Done;
        };
        let reading = &mut frozen.reading[turn];
        if !std::mem::replace(&mut reading.is_begun, true)
            && let Some(place) = place
        {
            return Step::Read(place);
        }
        if !std::mem::replace(&mut reading.is_awaited, true) {
            return Step::Wait;
        }
        frozen.reading.swap_remove(turn);
        frozen.at_hand = Some(label);
        Step::Done
    }
}
