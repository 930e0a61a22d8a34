//! What each channel, die and plane did when, for Perfetto.

use std::path::PathBuf;

use wordline_device::{Observation, Ssd};
use wordline_ftl::{Map, Mapping};
use wordline_kernel::Time;
use wordline_nand::{Die, Layout, Operation, Ppn};
use wordline_observe::{CounterId, ObserveError, Slice, TimelineFile, TrackId, Window};
use wordline_workload::grouped;

use crate::error::SimulationError;
use wordline_config::{Plan, plan};

/// How long a timeline is unless its end is given.
pub const DEFAULT_LENGTH: Time = Time::from_ms(100);
/// Events that a timeline holds at most: a slice has two, a value of a counter is one.
pub const MOST_EVENTS: u64 = 5_000_000;

/// Which timeline to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineOptions {
    /// The file; it appears when the run has ended.
    pub path: PathBuf,
    /// Where the timeline starts.
    pub from: Time,
    /// Where it ends; without it, [`DEFAULT_LENGTH`] after its start.
    pub until: Option<Time>,
}

impl TimelineOptions {
    fn window(&self) -> Result<Window, SimulationError> {
        let from = self.from;
        let latest = from.checked_add(DEFAULT_LENGTH).unwrap_or(Time::MAX);
        let until = self.until.unwrap_or(latest);
        if from < until {
            return Ok(Window { from, until });
        }
        Err(SimulationError::Timeline(format!(
            "the timeline would end at {until} and start at {from}; give an end after its start"
        )))
    }
}

/// Writes the timeline of a run: of each device a track for each channel (its bus), die (from first
/// command to last bus cycle) and plane (its array), and counters of the requests in it and of free
/// blocks.
#[derive(Debug)]
pub struct Timeline {
    file: TimelineFile,
    window: Window,
    devices: Vec<Tracks>,
}

/// The tracks of a device.
#[derive(Debug)]
struct Tracks {
    layout: Layout,
    dies_per_way: u32,
    dies_per_channel: u32,
    channels: Vec<TrackId>,
    dies: Vec<TrackId>,
    planes: Vec<TrackId>,
    queue_depth: CounterId,
    free_blocks: CounterId,
    in_flight: u32,
}

impl Timeline {
    /// An empty timeline of a run of `plan`. Fails if the file cannot be written or the window is
    /// empty.
    pub fn create(plan: &Plan, options: &TimelineOptions) -> Result<Self, SimulationError> {
        let window = options.window()?;
        let file = TimelineFile::create(&options.path, window, MOST_EVENTS);
        let mut file = file.map_err(|error| SimulationError::Timeline(error.to_string()))?;
        let own = plan.own_ssds().into_iter();
        let devices = own.map(|(leaf, ssd)| Tracks::new(&leaf.name, ssd, &mut file));
        Ok(Self {
            devices: devices.collect(),
            file,
            window,
        })
    }

    /// The run begins with these devices.
    pub fn begin<'a>(&mut self, devices: impl IntoIterator<Item = &'a Ssd<Map>>) {
        for (device, ssd) in (0..).zip(devices) {
            let free = ssd.mapping().free_blocks();
            self.observe(device, Time::ZERO, Observation::Admitted { in_flight: 0 });
            self.observe(device, Time::ZERO, Observation::FreeBlocks { free });
        }
    }

    /// Hears a device.
    pub fn observe(&mut self, device: u32, now: Time, observation: Observation) {
        let tracks = &mut self.devices[device as usize];
        tracks.observe(now, observation, &mut self.file);
    }

    /// Completes the file; the note says what is missing from it. The run went from `start` to `end`.
    pub fn finish(mut self, start: Time, end: Time) -> (Option<String>, Result<(), ObserveError>) {
        let Window { from, until } = self.window;
        let timeline = self.file.timeline();
        let note = if let Some(full) = timeline.full() {
            let most = grouped(MOST_EVENTS);
            Some(format!(
                "The timeline ends at {full}, where it had {most} events; a later or shorter window shows more."
            ))
        } else if timeline.is_empty() {
            Some(format!(
                "The timeline shows no operation: it goes from {from} to {until}, the run went from {start} to {end}."
            ))
        } else {
            None
        };
        (note, self.file.finish())
    }
}

impl Tracks {
    fn new(name: &str, plan: &plan::Ssd, file: &mut TimelineFile) -> Self {
        let tracks = file.timeline();
        let device = tracks.track(None, name);
        let queue_depth = tracks.counter(Some(device), "queue depth", "requests");
        let free_blocks = tracks.counter(Some(device), "free blocks", "blocks");
        let mut own = Self {
            layout: plan.device.part.layout,
            dies_per_way: plan.dimensions.dies,
            dies_per_channel: plan.dimensions.ways * plan.dimensions.dies,
            channels: Vec::new(),
            dies: Vec::new(),
            planes: Vec::new(),
            queue_depth,
            free_blocks,
            in_flight: 0,
        };
        own.add_channels(device, plan.dimensions.ways, file);
        own
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
    fn count_requests(&mut self, now: Time, in_flight: u32, file: &mut TimelineFile) {
        self.in_flight = in_flight;
        let timeline = file.timeline();
        timeline.count(self.queue_depth, now, i64::from(in_flight));
    }
}

/// What something was busy with, and since when.
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
    /// Perfetto colours a slice by its name, so the name tells collection from the host.
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

impl Tracks {
    fn observe(&mut self, now: Time, observation: Observation, file: &mut TimelineFile) {
        match observation {
            Observation::Admitted { in_flight } => self.count_requests(now, in_flight, file),
            Observation::Request { .. } => self.count_requests(now, self.in_flight - 1, file),
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
            Observation::PagesWritten { .. }
            | Observation::ReadAhead { .. }
            | Observation::PageMerged
            | Observation::UnwrittenRead
            | Observation::TrimBegun { .. }
            | Observation::PageTrimmed
            | Observation::MetadataPage { .. }
            | Observation::Replaced
            | Observation::BlockRetired { .. }
            | Observation::Retried { .. }
            | Observation::Buffer(_)
            | Observation::PowerCut(_)
            | Observation::Collected { .. } => {}
        }
    }
}
