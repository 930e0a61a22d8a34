//! Programs that wait for space of pages being destaged, or for the rest of a partially written
//! page.

use serde::{Deserialize, Serialize};
use wordline_block::{BlockDevice, LatencyComponents};
use wordline_kernel::Probe;

use super::event::Observation;
use super::residents::Held;
use super::tier::{Sub, Task};
use super::{Cached, Instant, Result};

/// Program that waits, or has waited and is in progress.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub sub: Sub,
    /// Number of events that the program still waits for.
    left: u32,
    /// Latency components of the failed read of the page's rest from flash, if the rest is then
    /// read from the backing store.
    pub earlier: LatencyComponents,
    /// Latency components of the event that ended the wait.
    parts: LatencyComponents,
}

impl<B: BlockDevice> Cached<B> {
    /// Registers a program as waiting, initially for no event. Returns its number.
    pub(super) fn hold(&mut self, mut sub: Sub) -> u32 {
        let number = self.waiting.next();
        if let Task::Fill { page, .. } = sub.task {
            self.unfilled.insert(page);
        }
        if let Task::Fill { waited, .. } | Task::Write { waited, .. } = &mut sub.task {
            *waited = Some(number);
        }
        self.waiting.add(Waiting {
            sub,
            left: 0,
            earlier: LatencyComponents::default(),
            parts: LatencyComponents::default(),
        })
    }
    /// Makes a program wait for one more event.
    pub(super) fn delay(&mut self, number: u32) {
        if let Some(waiting) = self.waiting.get_mut(number) {
            waiting.left += 1;
        }
    }
    /// Handles the completed read of the rest of a partially written page.
    pub(super) fn rest_read(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        number: u32,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let waiting = self.waiting.get_mut(number);
        let mut all = waiting.map_or_else(LatencyComponents::default, |waiting| waiting.earlier);
        all.add(parts);
        self.hasten(cx, number, &all)
    }
    /// Handles an event that a program waited for. After the last event, starts the program.
    pub(super) fn hasten(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        number: u32,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let Some(waiting) = self.waiting.get_mut(number) else {
            return Ok(());
        };
        waiting.left -= 1;
        waiting.parts = *parts;
        if waiting.left > 0 {
            return Ok(());
        }
        let mut sub = waiting.sub;
        sub.request.arrival = cx.now;
        if let Task::Fill {
            fetch, page, copy, ..
        } = sub.task
        {
            if !self.is_wanted(fetch, page, copy) {
                self.waiting.remove(number);
                self.filled(cx, fetch, parts);
                return Ok(());
            }
            self.unfilled.remove(&page);
        }
        self.ask_flash(cx, sub)
    }
    /// Returns `true` if a fetched page must still be programmed, because it has not been written
    /// or evicted since.
    fn is_wanted(&mut self, fetch: u32, page: u64, copy: wordline_ftl::Lpn) -> bool {
        let fetch = self.fetches.get_mut(fetch);
        fetch.is_some_and(|fetch| fetch.pages.contains(&page))
            && self.residents().find(page) == Some((copy, Held::Resident))
    }
    /// Returns the latency components of a completed program, including its wait if it has
    /// `waited`.
    pub(super) fn programmed(
        &mut self,
        waited: Option<u32>,
        parts: &LatencyComponents,
    ) -> LatencyComponents {
        let waiting = waited.and_then(|number| self.waiting.remove(number));
        let mut all = waiting.map_or_else(LatencyComponents::default, |waiting| waiting.parts);
        all.add(parts);
        all
    }
}
