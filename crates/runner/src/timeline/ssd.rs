//! Timeline tracks of flash: channels, dies and planes.

use wordline_config::plan;
use wordline_kernel::Time;
use wordline_nand::{Die, Layout, Operation, Ppn};
use wordline_observe::{CounterId, Slice, TimelineFile, TrackId};
use wordline_ssd::Observation;

/// Tracks of an SSD, or of the flash of a cache.
#[derive(Debug)]
pub(super) struct SsdTracks {
    layout: Layout,
    dies_per_way: u32,
    dies_per_channel: u32,
    channels: Vec<TrackId>,
    dies: Vec<TrackId>,
    planes: Vec<TrackId>,
    free_blocks: CounterId,
}

impl SsdTracks {
    /// Creates the tracks below the track of a device.
    pub(super) fn new(device: TrackId, plan: &plan::Ssd, file: &mut TimelineFile) -> Self {
        let tracks = file.timeline();
        let free_blocks = tracks.counter(Some(device), "free blocks", "blocks");
        let mut own = Self {
            layout: plan.device.part.layout,
            dies_per_way: plan.dimensions.dies,
            dies_per_channel: plan.dimensions.ways * plan.dimensions.dies,
            channels: Vec::new(),
            dies: Vec::new(),
            planes: Vec::new(),
            free_blocks,
        };
        own.add_channels(device, plan.dimensions.ways, file);
        own
    }

    /// Starts the run with the given number of free blocks.
    pub(super) fn begin(&mut self, free_blocks: Option<u32>, file: &mut TimelineFile) {
        if let Some(free) = free_blocks {
            self.observe(Time::ZERO, Observation::FreeBlocks { free }, file);
        }
    }

    fn add_channels(&mut self, device: TrackId, ways: u32, file: &mut TimelineFile) {
        let tracks = file.timeline();
        for channel in 0..self.layout.dies.div_ceil(self.dies_per_channel) {
            let channel = tracks.track(Some(device), &format!("channel {channel}"));
            self.channels.push(channel);
            for way in 0..ways {
                let way = tracks.track(Some(channel), &format!("way {way}"));
                for die in 0..self.dies_per_way {
                    let die = tracks.track(Some(way), &format!("die {die}"));
                    self.dies.push(die);
                    let planes = (0..self.layout.planes_per_die)
                        .map(|plane| tracks.track(Some(die), &format!("plane {plane}")));
                    self.planes.extend(planes);
                }
            }
        }
    }

    fn bus(&self, now: Time, channel: u32, die: Die, work: Activity, file: &mut TimelineFile) {
        let die = die.0 % self.dies_per_channel;
        let values = [
            ("way", u64::from(die / self.dies_per_way)),
            ("die", u64::from(die % self.dies_per_way)),
        ];
        work.show(self.channels[channel as usize], now, &values, file);
    }
    fn array(&self, now: Time, place: Ppn, work: Activity, file: &mut TimelineFile) {
        let block = self.layout.block_of(place);
        let values = [
            ("block", u64::from(self.layout.block_in_plane(block))),
            ("page", u64::from(self.layout.page_in_block(place))),
        ];
        let known = if work.operation == Operation::Erase {
            &values[..1]
        } else {
            &values
        };
        let plane = self.planes[self.layout.plane_of(block).index()];
        work.show(plane, now, known, file);
    }
}

/// Completed use of a bus, die or plane by an operation, with its start.
#[derive(Clone, Copy)]
struct Activity {
    from: Time,
    operation: Operation,
    gc: bool,
}

impl Activity {
    fn show(self, track: TrackId, now: Time, values: &[(&str, u64)], file: &mut TimelineFile) {
        let slice = Slice {
            name: self.name(),
            category: if self.gc { "gc" } else { "host" },
            from: self.from,
            until: now,
            values,
        };
        file.timeline().slice(track, &slice);
    }
    /// Returns the name of the slice. Perfetto colours slices by name, so the name distinguishes GC
    /// from host operations.
    fn name(self) -> &'static str {
        match (self.operation, self.gc) {
            (Operation::Read, false) => "read",
            (Operation::Read, true) => "gc read",
            (Operation::Program, false) => "program",
            (Operation::Program, true) => "gc program",
            (Operation::Erase, false) => "erase",
            (Operation::Erase, true) => "gc erase",
            (Operation::Move, false) => "move",
            (Operation::Move, true) => "gc move",
        }
    }
}

impl SsdTracks {
    pub(super) fn observe(&mut self, now: Time, observation: Observation, file: &mut TimelineFile) {
        match observation {
            Observation::FreeBlocks { free } => {
                let timeline = file.timeline();
                timeline.count(self.free_blocks, now, i64::from(free));
            }
            Observation::Bus {
                channel,
                from,
                die,
                operation,
                gc,
            } => {
                let work = Activity {
                    from,
                    operation,
                    gc,
                };
                self.bus(now, channel, die, work, file);
            }
            Observation::Die {
                die,
                from,
                operation,
                gc,
                ..
            } => {
                let work = Activity {
                    from,
                    operation,
                    gc,
                };
                work.show(self.dies[die.index()], now, &[], file);
            }
            Observation::Array {
                place,
                from,
                operation,
                gc,
            } => {
                let work = Activity {
                    from,
                    operation,
                    gc,
                };
                self.array(now, place, work, file);
            }
            Observation::Admitted { .. }
            | Observation::Request { .. }
            | Observation::PowerCut(_)
            | Observation::PagesWritten { .. }
            | Observation::ReadAhead { .. }
            | Observation::PageMerged
            | Observation::UnwrittenRead
            | Observation::TrimBegun { .. }
            | Observation::PageTrimmed
            | Observation::MetadataPage { .. }
            | Observation::Programmed { .. }
            | Observation::Replaced
            | Observation::BlockRetired { .. }
            | Observation::Read { .. }
            | Observation::Retried { .. }
            | Observation::Buffer(_)
            | Observation::Collected { .. } => {}
        }
    }
}
