//! The tracks of flash in front of another store.

use std::convert::Infallible;

use wordline_config::plan;
use wordline_flash_cache::config::Mode;
use wordline_flash_cache::{Holding, Observation};
use wordline_kernel::Time;
use wordline_observe::{CounterId, TimelineFile, TrackId};

use super::ssd::SsdTracks;

/// The tracks of a cache: those of its flash, and what it holds.
#[derive(Debug)]
pub(super) struct CacheTracks {
    queue_depth: CounterId,
    in_flight: u32,
    resident: CounterId,
    /// Where writes stay in flash.
    dirty: Option<CounterId>,
    told: Holding,
    flash: SsdTracks,
}

impl CacheTracks {
    /// Under the track of a device.
    pub(super) fn new(device: TrackId, plan: &plan::Cached, file: &mut TimelineFile) -> Self {
        let tracks = file.timeline();
        let queue_depth = tracks.counter(Some(device), "queue depth", "requests");
        let resident = tracks.counter(Some(device), "cached pages", "pages");
        let keeps_writes = matches!(plan.cache.mode, Mode::WriteBack | Mode::WriteOnly);
        let dirty = keeps_writes.then(|| tracks.counter(Some(device), "dirty pages", "pages"));
        Self {
            queue_depth,
            in_flight: 0,
            resident,
            dirty,
            told: Holding::default(),
            flash: SsdTracks::new(device, "flash queue depth", &plan.ssd, file),
        }
    }
    /// The run begins with so many free blocks in its flash.
    pub(super) fn begin(&mut self, free_blocks: Option<u32>, file: &mut TimelineFile) {
        self.flash.begin(free_blocks, file);
        self.count_requests(Time::ZERO, 0, file);
        self.count_pages(Time::ZERO, Holding::default(), file);
    }

    pub(super) fn observe(
        &mut self,
        now: Time,
        heard: Observation<Infallible>,
        file: &mut TimelineFile,
    ) {
        match heard {
            Observation::Flash(heard) => self.flash.observe(now, heard, file),
            Observation::Admitted { in_flight } => self.count_requests(now, in_flight, file),
            Observation::Request { .. } => self.count_requests(now, self.in_flight - 1, file),
            Observation::PowerCut(_) => self.count_requests(now, 0, file),
            Observation::Held(holding) if holding != self.told => {
                self.count_pages(now, holding, file);
            }
            Observation::Backing(never) => match never {},
            Observation::Held(_) | Observation::Found(_) | Observation::Lists(_) => {}
        }
    }
    fn count_requests(&mut self, now: Time, in_flight: u32, file: &mut TimelineFile) {
        self.in_flight = in_flight;
        let timeline = file.timeline();
        timeline.count(self.queue_depth, now, i64::from(in_flight));
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
