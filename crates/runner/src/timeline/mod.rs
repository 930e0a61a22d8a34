//! Timeline of the activity of channels, dies, planes and hard disks, for Perfetto.

mod cache;
mod disk;
mod ssd;

use std::collections::BTreeMap;
use std::path::PathBuf;

use wordline_array::{OfDevice, behind_cache};
use wordline_block::{ArrayObservation, DeviceObservation, FromMember, RequestObservation};
use wordline_config::Plan;
use wordline_config::plan::{BEHIND, Device, Leaf};
use wordline_flash_cache as flash_cache;
use wordline_kernel::Time;
use wordline_observe::{CounterId, ObserveError, TimelineFile, TrackId, Window};
use wordline_workload::grouped;

use self::cache::CacheTracks;
use self::disk::DiskTracks;
use self::ssd::SsdTracks;
use crate::error::SimulationError;

/// Length of a timeline without a given end.
pub const DEFAULT_LENGTH: Time = Time::from_ms(100);
/// Maximum number of events in a timeline. A slice takes two events, and a counter value takes one.
pub const MAX_EVENTS: u64 = 5_000_000;

/// Options of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineOptions {
    /// Path of the file, which appears when the run has ended.
    pub path: PathBuf,
    /// Start of the timeline.
    pub from: Time,
    /// End of the timeline; by default, [`DEFAULT_LENGTH`] after its start.
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
            "the timeline would end at {until}, but start at {from}; give an end (--timeline-until) after its start (--timeline-from)"
        )))
    }
}

/// Writer of the timeline of a run. A device with flash has a track per channel (its bus), die (its
/// operations, including waits for the bus) and plane (its array). A hard disk has a track for its
/// mechanism, and one each for the components of an access and for the buffer, if it has them.
/// Counters show queue depths and contents.
#[derive(Debug)]
pub struct Timeline {
    file: TimelineFile,
    window: Window,
    /// Tracks of the devices, in the order of the store.
    devices: Vec<Tracks>,
    /// Index in `devices` by device number.
    places: BTreeMap<u32, usize>,
    /// Counter of the requests at the host side, if there is one.
    host_side: Option<CounterId>,
    at_host: u32,
}

/// Tracks of a device.
#[derive(Debug)]
struct Tracks {
    requests: Requests,
    /// Tracks of the device's internals; `None` if only its requests are shown.
    inside: Option<Inside>,
}

/// Tracks of a device's internals.
#[derive(Debug)]
enum Inside {
    Ssd(SsdTracks),
    Disk(DiskTracks),
    Cache(CacheTracks),
}

impl Tracks {
    fn new(plan: &Plan, leaf: &Leaf<'_>, file: &mut TimelineFile) -> Self {
        let track = file.timeline().track(None, &name(plan, leaf));
        Self {
            requests: Requests::new(track, "queue depth", file),
            inside: Inside::new(track, leaf.of, file),
        }
    }
    fn begin(&mut self, free: &mut impl Iterator<Item = u32>, file: &mut TimelineFile) {
        if let Some(Inside::Cache(cache)) = &mut self.inside {
            cache.begin_flash(free.next(), file);
        }
        self.requests.count(Time::ZERO, 0, file);
        match &mut self.inside {
            Some(Inside::Ssd(ssd)) => ssd.begin(free.next(), file),
            Some(Inside::Cache(cache)) => cache.begin(file),
            Some(Inside::Disk(_)) | None => {}
        }
    }
    fn observe(&mut self, now: Time, observation: OfDevice, file: &mut TimelineFile) {
        if let Some(observation) = observation.of_requests() {
            self.requests.observe(now, observation, file);
        }
        match (&mut self.inside, observation) {
            (Some(Inside::Ssd(tracks)), OfDevice::Ssd(observation)) => {
                tracks.observe(now, observation, file);
            }
            (Some(Inside::Disk(tracks)), OfDevice::Disk(observation)) => {
                tracks.observe(now, observation, file);
            }
            (Some(Inside::Cache(tracks)), OfDevice::Cached(observation)) => {
                tracks.observe(now, observation, file);
            }
            (None, _) => {}
            (Some(_), _) => unreachable!("observations carry the device's number in the plan"),
        }
    }
}

impl Inside {
    fn new(track: TrackId, of: Device<'_>, file: &mut TimelineFile) -> Option<Self> {
        Some(if let Device::Ssd(ssd) = of {
            Self::Ssd(SsdTracks::new(track, ssd, file))
        } else if let Device::Disk(disk) = of {
            Self::Disk(DiskTracks::new(track, &disk.plan, file))
        } else if let Device::Cached(cached) = of {
            Self::Cache(CacheTracks::new(track, cached, file))
        } else {
            return None;
        })
    }
}

/// Counter of the requests in a device.
#[derive(Debug)]
struct Requests {
    counter: CounterId,
    held: u32,
}

impl Requests {
    /// Creates a counter of this name below the track of a device.
    fn new(device: TrackId, name: &str, file: &mut TimelineFile) -> Self {
        let counter = file.timeline().counter(Some(device), name, "requests");
        Self { counter, held: 0 }
    }
    fn observe(&mut self, now: Time, observation: RequestObservation, file: &mut TimelineFile) {
        let held = match observation {
            RequestObservation::Admitted { held } => held,
            RequestObservation::Request { .. } => self.held - 1,
            RequestObservation::PowerCut(_) => 0,
        };
        self.count(now, held, file);
    }
    fn count(&mut self, now: Time, held: u32, file: &mut TimelineFile) {
        self.held = held;
        file.timeline().count(self.counter, now, i64::from(held));
    }
}

/// Returns the name of a device's group. If the store is a cache with a single device behind it,
/// both have the name of the store, so the name of the device gets a suffix.
fn name(plan: &Plan, leaf: &Leaf<'_>) -> String {
    if leaf.is_behind && leaf.name == plan.name {
        return format!("{}.{BEHIND}", leaf.name);
    }
    leaf.name.clone()
}

impl Timeline {
    /// Creates an empty timeline of a run of `plan`. Fails if the file cannot be written or the
    /// window is empty.
    pub fn create(plan: &Plan, options: &TimelineOptions) -> Result<Self, SimulationError> {
        let window = options.window()?;
        let file = TimelineFile::create(&options.path, window, MAX_EVENTS);
        let mut file = file.map_err(|error| SimulationError::Timeline(error.to_string()))?;
        let host_side = plan.host_side.as_ref().map(|_| {
            let tracks = file.timeline();
            let host = tracks.track(None, "host side");
            tracks.counter(Some(host), "queue depth", "requests")
        });
        let leaves = plan.leaves();
        let devices = leaves.iter().map(|leaf| Tracks::new(plan, leaf, &mut file));
        Ok(Self {
            devices: devices.collect(),
            places: leaves.iter().map(|leaf| leaf.number).zip(0..).collect(),
            file,
            window,
            host_side,
            at_host: 0,
        })
    }

    /// Starts the run. `free_blocks` has the number of free blocks of each device with flash, in
    /// the order of the store.
    pub fn begin(&mut self, free_blocks: impl IntoIterator<Item = u32>) {
        self.count_at_host(Time::ZERO, 0);
        let mut free = free_blocks.into_iter();
        for device in &mut self.devices {
            device.begin(&mut free, &mut self.file);
        }
    }

    fn device(&mut self, number: u32, now: Time, observation: OfDevice) {
        let Some(place) = self.places.get(&number) else {
            unreachable!("observations carry the device's number in the plan");
        };
        self.devices[*place].observe(now, observation, &mut self.file);
    }
    fn count_at_host(&mut self, now: Time, held: u32) {
        self.at_host = held;
        if let Some(counter) = self.host_side {
            let timeline = self.file.timeline();
            timeline.count(counter, now, i64::from(held));
        }
    }

    /// Completes the file. The run covered `start` to `end`. Returns a note if something is missing
    /// from the timeline.
    pub fn finish(mut self, start: Time, end: Time) -> (Option<String>, Result<(), ObserveError>) {
        let Window { from, until } = self.window;
        let timeline = self.file.timeline();
        let note = if let Some(full) = timeline.full() {
            let most = grouped(MAX_EVENTS);
            Some(format!(
                "The timeline ends at {full}, where it reached its limit of {most} events; choose a later or shorter window (--timeline-from, --timeline-until)."
            ))
        } else if timeline.is_empty() {
            Some(format!(
                "The timeline shows no operation: it covers {from} to {until}, but the run covers {start} to {end}. Choose a window during the run."
            ))
        } else {
            None
        };
        (note, self.file.finish())
    }
}

/// An observation that a timeline can show.
pub(crate) trait Shown: Copy {
    /// Adds the observation to a timeline.
    fn show(self, now: Time, timeline: &mut Timeline);
}

/// A single device is the whole store, with number 0.
impl Shown for wordline_ssd::Observation {
    fn show(self, now: Time, timeline: &mut Timeline) {
        timeline.device(0, now, self.into());
    }
}

impl<T: Copy + Into<OfDevice>> Shown for ArrayObservation<T> {
    fn show(self, now: Time, timeline: &mut Timeline) {
        if let Self::Device(FromMember { member, of }) = self {
            timeline.device(member, now, of.into());
        }
    }
}

impl<T: Copy + Into<OfDevice>> Shown for flash_cache::Observation<ArrayObservation<T>> {
    fn show(self, now: Time, timeline: &mut Timeline) {
        match self.apart() {
            Ok(own) => timeline.device(0, now, OfDevice::Cached(own)),
            Err(observation) => behind_cache(observation).show(now, timeline),
        }
    }
}

impl<T: Shown> Shown for wordline_host_cpu::Observation<T> {
    fn show(self, now: Time, timeline: &mut Timeline) {
        match self {
            Self::Store(observation) => observation.show(now, timeline),
            Self::Admitted { held } => timeline.count_at_host(now, held),
            Self::Request { .. } => timeline.count_at_host(now, timeline.at_host - 1),
        }
    }
}
