//! What each channel, die, plane and hard disk did when, for Perfetto.

mod cache;
mod disk;
mod ssd;

use std::collections::BTreeMap;
use std::path::PathBuf;

use wordline_array::{OfDevice, behind_cache};
use wordline_block::Member;
use wordline_config::Plan;
use wordline_config::plan::{BEHIND, Device, Leaf};
use wordline_flash_cache as flash_cache;
use wordline_kernel::{Probe, Time};
use wordline_observe::{CounterId, ObserveError, TimelineFile, Window};
use wordline_workload::grouped;

use self::cache::CacheTracks;
use self::disk::DiskTracks;
use self::ssd::SsdTracks;
use crate::error::SimulationError;

/// How long a timeline is unless its end is given.
pub const DEFAULT_LENGTH: Time = Time::from_ms(100);
/// Events that a timeline holds at most: a slice has two, a value of a counter is one.
pub const MAX_EVENTS: u64 = 5_000_000;

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

/// Writes the timeline of a run: of each device with flash a track for each channel (its bus), die (from
/// first command to last bus cycle) and plane (its array), of each hard disk one of its mechanism, and
/// counters of what is in them.
#[derive(Debug)]
pub struct Timeline {
    file: TimelineFile,
    window: Window,
    /// In the order of the store.
    devices: Vec<Tracks>,
    /// By the number of a device: its place in `devices`.
    places: BTreeMap<u32, usize>,
    /// Requests at the host side, if there is one.
    host_side: Option<CounterId>,
    at_host: u32,
}

/// The tracks of a device.
#[derive(Debug)]
enum Tracks {
    Ssd(SsdTracks),
    Disk(DiskTracks),
    Cache(CacheTracks),
}

impl Tracks {
    fn new(plan: &Plan, leaf: &Leaf<'_>, file: &mut TimelineFile) -> Self {
        let track = file.timeline().track(None, &name(plan, leaf));
        match leaf.of {
            Device::Ssd(ssd) => Self::Ssd(SsdTracks::new(track, "queue depth", ssd, file)),
            Device::Disk(disk) => Self::Disk(DiskTracks::new(track, &disk.disk, file)),
            Device::Cached(cached) => Self::Cache(CacheTracks::new(track, cached, file)),
        }
    }
}

/// A group is called as its device; what stands behind a cache by itself has the name of the store, as the cache has.
fn name(plan: &Plan, leaf: &Leaf<'_>) -> String {
    if leaf.is_behind && leaf.name == plan.name {
        return format!("{}.{BEHIND}", leaf.name);
    }
    leaf.name.clone()
}

impl Timeline {
    /// An empty timeline of a run of `plan`. Fails if the file cannot be written or the window is
    /// empty.
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

    /// The run begins. Each device with flash, in the order of the store, has so many free blocks.
    pub fn begin(&mut self, free_blocks: impl IntoIterator<Item = u32>) {
        self.count_at_host(Time::ZERO, 0);
        let mut free = free_blocks.into_iter();
        let file = &mut self.file;
        for device in &mut self.devices {
            match device {
                Tracks::Ssd(ssd) => ssd.begin(free.next(), file),
                Tracks::Disk(disk) => disk.begin(file),
                Tracks::Cache(cache) => cache.begin(free.next(), file),
            }
        }
    }

    fn device(&mut self, number: u32, now: Time, heard: OfDevice) {
        let device = self
            .places
            .get(&number)
            .map(|place| &mut self.devices[*place]);
        let file = &mut self.file;
        match (device, heard) {
            (Some(Tracks::Ssd(tracks)), OfDevice::Ssd(heard)) => tracks.observe(now, heard, file),
            (Some(Tracks::Disk(tracks)), OfDevice::Disk(heard)) => tracks.observe(now, heard, file),
            (Some(Tracks::Cache(tracks)), OfDevice::Cache(heard)) => {
                tracks.observe(now, heard, file);
            }
            _ => unreachable!("a device is heard of under its number in the plan"),
        }
    }
    fn count_at_host(&mut self, now: Time, held: u32) {
        self.at_host = held;
        if let Some(counter) = self.host_side {
            let timeline = self.file.timeline();
            timeline.count(counter, now, i64::from(held));
        }
    }

    /// Completes the file; the note says what is missing from it. The run went from `start` to `end`.
    pub fn finish(mut self, start: Time, end: Time) -> (Option<String>, Result<(), ObserveError>) {
        let Window { from, until } = self.window;
        let timeline = self.file.timeline();
        let note = if let Some(full) = timeline.full() {
            let most = grouped(MAX_EVENTS);
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

/// Of an array of devices of one kind.
type OfArray<T> = wordline_block::ArrayObservation<T>;
/// Of a host in front of a store.
type OfHost = wordline_host_cpu::Observation<OfArray<OfDevice>>;

impl Probe<wordline_ssd::Observation> for Timeline {
    fn observe(&mut self, now: Time, heard: wordline_ssd::Observation) {
        self.device(0, now, OfDevice::Ssd(heard));
    }
}

impl Probe<OfArray<wordline_ssd::Observation>> for Timeline {
    fn observe(&mut self, now: Time, heard: OfArray<wordline_ssd::Observation>) {
        if let OfArray::Device(Member { member, of }) = heard {
            self.device(member, now, OfDevice::Ssd(of));
        }
    }
}

impl Probe<OfArray<wordline_hdd::Observation>> for Timeline {
    fn observe(&mut self, now: Time, heard: OfArray<wordline_hdd::Observation>) {
        if let OfArray::Device(Member { member, of }) = heard {
            self.device(member, now, OfDevice::Disk(of));
        }
    }
}

impl Probe<flash_cache::Observation<OfArray<wordline_hdd::Observation>>> for Timeline {
    fn observe(
        &mut self,
        now: Time,
        heard: flash_cache::Observation<OfArray<wordline_hdd::Observation>>,
    ) {
        match heard.apart() {
            Ok(own) => self.device(0, now, OfDevice::Cache(own)),
            Err(heard) => self.observe(now, behind_cache(heard)),
        }
    }
}

impl Probe<OfArray<OfDevice>> for Timeline {
    fn observe(&mut self, now: Time, heard: OfArray<OfDevice>) {
        if let OfArray::Device(Member { member, of }) = heard {
            self.device(member, now, of);
        }
    }
}

impl Probe<OfHost> for Timeline {
    fn observe(&mut self, now: Time, heard: OfHost) {
        use wordline_host_cpu::Observation as Of;
        match heard {
            Of::Store(heard) => self.observe(now, heard),
            Of::Admitted { held } => self.count_at_host(now, held),
            Of::Request { .. } => self.count_at_host(now, self.at_host - 1),
        }
    }
}
