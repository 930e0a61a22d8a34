//! Timeline tracks of a flash cache.

use std::convert::Infallible;

use wordline_block::DeviceObservation;
use wordline_config::plan;
use wordline_flash_cache::config::Mode;
use wordline_flash_cache::{Holding, Observation};
use wordline_kernel::Time;
use wordline_observe::{CounterId, TimelineFile, TrackId};

use super::Requests;
use super::ssd::SsdTracks;

/// Tracks of a cache: the tracks of its flash, and counters of its contents.
#[derive(Debug)]
pub(super) struct CacheTracks {
    resident: CounterId,
    /// Counter of dirty pages, if writes stay in flash.
    dirty: Option<CounterId>,
    told: Holding,
    /// Counter of the requests in the flash.
    queue: Requests,
    flash: SsdTracks,
}

impl CacheTracks {
    /// Creates the tracks below the track of a device.
    pub(super) fn new(device: TrackId, plan: &plan::Cached, file: &mut TimelineFile) -> Self {
        let tracks = file.timeline();
        let resident = tracks.counter(Some(device), "cached pages", "pages");
        let keeps_writes = matches!(plan.cache.mode, Mode::WriteBack | Mode::WriteOnly);
        let dirty = keeps_writes.then(|| tracks.counter(Some(device), "dirty pages", "pages"));
        Self {
            resident,
            dirty,
            told: Holding::default(),
            queue: Requests::new(device, "flash queue depth", file),
            flash: SsdTracks::new(device, &plan.ssd, file),
        }
    }
    /// Starts the run with the given number of free blocks in the flash.
    pub(super) fn begin_flash(&mut self, free_blocks: Option<u32>, file: &mut TimelineFile) {
        self.queue.count(Time::ZERO, 0, file);
        self.flash.begin(free_blocks, file);
    }
    /// Starts the run with an empty cache.
    pub(super) fn begin(&mut self, file: &mut TimelineFile) {
        self.count_pages(Time::ZERO, Holding::default(), file);
    }

    pub(super) fn observe(
        &mut self,
        now: Time,
        observation: Observation<Infallible>,
        file: &mut TimelineFile,
    ) {
        match observation {
            Observation::Flash(observation) => {
                if let Some(observation) = observation.of_requests() {
                    self.queue.observe(now, observation, file);
                }
                self.flash.observe(now, observation, file);
            }
            Observation::Held(holding) if holding != self.told => {
                self.count_pages(now, holding, file);
            }
            Observation::Backing(never) => match never {},
            Observation::Admitted { .. }
            | Observation::Request { .. }
            | Observation::PowerCut(_)
            | Observation::Held(_)
            | Observation::Found(_)
            | Observation::Lists(_) => {}
        }
    }
    fn count_pages(&mut self, now: Time, holding: Holding, file: &mut TimelineFile) {
        self.told = holding;
        let timeline = file.timeline();
        timeline.count(self.resident, now, i64::from(holding.resident));
        if let Some(dirty) = self.dirty {
            timeline.count(dirty, now, i64::from(holding.dirty));
        }
    }
}
