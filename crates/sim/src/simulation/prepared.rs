//! The store of a run, from pristine devices to what is summed up.

use super::Options;
use super::event_loop::{Ended, LoopState, Stop, simulate};
use super::host::Host;
use super::power_cuts::PowerCuts;
use super::watch::Watcher;
use crate::chip_load::ChipLoads;
use crate::devices::{self, Device};
use crate::observer::{Drawn, Several};
use crate::outcome::CacheOutcome;
use crate::record::Recorder;
use crate::timeline::Timeline;
use wordline_config::Plan;
use wordline_config::plan::{self};
use wordline_device::precondition::Preconditioned;
use wordline_device::{DeviceError, Ssd};
use wordline_ftl::Map;
use wordline_store::Array;

pub(super) fn resident_bytes() -> u64 {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64)
}

/// The devices of a run, told what they have to do for it from the start.
pub(super) fn pristine(plan: &Plan, options: &Options) -> Result<Vec<Ssd<Map>>, DeviceError> {
    let mut ssds = devices::pristine(plan);
    if options.power_cut_every.is_some() {
        ssds.iter_mut().for_each(Ssd::expect_power_cuts);
    }
    if let Some(maker) = &options.buffer_policy {
        ssds.iter_mut().try_for_each(|ssd| ssd.evict_by(maker))?;
    }
    Ok(ssds)
}

/// A run that is prepared.
pub(super) struct PreparedRun {
    pub(super) ssds: Vec<Ssd<Map>>,
    pub(super) preconditioned: Vec<Preconditioned>,
    pub(super) recorder: Recorder,
    pub(super) timeline: Option<Box<Timeline>>,
    pub(super) chip_loads: Option<ChipLoads>,
}

/// What a run has left, to be summed up.
pub(super) struct Left {
    pub(super) ended: Ended,
    /// Before anything was summed up.
    pub(super) resident_bytes: u64,
    pub(super) recorder: Recorder,
    /// What was recorded of each member of an array.
    pub(super) members: Vec<Recorder>,
    pub(super) timeline: Option<Box<Timeline>>,
    pub(super) devices: Vec<Device>,
    /// What each disk has done.
    pub(super) disks: Vec<wordline_disk::Figures>,
    /// What a cache has done, if the store is one.
    pub(super) cache: Option<CacheOutcome>,
}

impl PreparedRun {
    pub(super) fn is_stopped(&self) -> bool {
        self.preconditioned.iter().any(|done| done.stopped)
    }

    pub(super) fn on_one(
        mut self,
        host: &mut Host<'_>,
        watcher: &mut Watcher<'_>,
        cuts: Option<PowerCuts>,
    ) -> Left {
        let stopped = self.is_stopped();
        let mut ssd = self.ssds.remove(0);
        let state = LoopState::start(watcher, cuts, self.chip_loads);
        let (mut recorder, mut timeline) = (self.recorder, self.timeline);
        if let Some(timeline) = &mut timeline {
            timeline.begin([&ssd]);
        }
        let ended;
        if stopped {
            ended = Ended::new(Some(Stop::Interrupted));
        } else if let Some(drawing) = timeline {
            let mut drawn = Drawn {
                recorder,
                timeline: drawing,
            };
            ended = simulate(&mut ssd, host, &mut drawn, watcher, state);
            (recorder, timeline) = (drawn.recorder, Some(drawn.timeline));
        } else {
            ended = simulate(&mut ssd, host, &mut recorder, watcher, state);
        }
        Left::of_one(ended, recorder, timeline, &ssd, &self.preconditioned)
    }

    pub(super) fn on_array(
        mut self,
        plan: &Plan,
        array: &plan::Array,
        host: &mut Host<'_>,
        watcher: &mut Watcher<'_>,
        cuts: Option<PowerCuts>,
    ) -> Left {
        let stopped = self.is_stopped();
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(&self.ssds);
        }
        let mut observer = Several::new(plan, self.recorder, self.timeline);
        let done = &self.preconditioned;
        if stopped {
            let ended = Ended::new(Some(Stop::Interrupted));
            return Left::of_several(ended, observer, self.ssds.iter(), done);
        }
        let mut ssds = self.ssds.into_iter();
        if array.is_nested() {
            let mut store = store_of(array, &mut ssds);
            let state = LoopState::start(watcher, cuts, self.chip_loads);
            let ended = simulate(&mut store, host, &mut observer, watcher, state);
            return Left::of_several(ended, observer, store.devices(), done);
        }
        let mut store = array_of(array, &mut ssds);
        let state = LoopState::start(watcher, cuts, self.chip_loads);
        let ended = simulate(&mut store, host, &mut observer, watcher, state);
        Left::of_several(ended, observer, store.members(), done)
    }
}

impl Left {
    pub(super) fn of_one(
        ended: Ended,
        recorder: Recorder,
        timeline: Option<Box<Timeline>>,
        ssd: &Ssd<Map>,
        preconditioned: &[Preconditioned],
    ) -> Self {
        Self {
            ended,
            resident_bytes: resident_bytes(),
            recorder,
            members: Vec::new(),
            timeline,
            devices: vec![Device::of(ssd, preconditioned[0])],
            disks: Vec::new(),
            cache: None,
        }
    }
    pub(super) fn of_several<'a>(
        ended: Ended,
        observer: Several,
        ssds: impl IntoIterator<Item = &'a Ssd<Map>>,
        preconditioned: &[Preconditioned],
    ) -> Self {
        let resident_bytes = resident_bytes();
        let devices = ssds.into_iter().zip(preconditioned);
        let (recorder, members, timeline) = observer.into_parts();
        Self {
            ended,
            resident_bytes,
            recorder,
            members,
            timeline,
            devices: devices.map(|(ssd, done)| Device::of(ssd, *done)).collect(),
            disks: Vec::new(),
            cache: None,
        }
    }
}

/// An array of SSDs, which are next in `ssds`.
pub(super) fn array_of(
    array: &plan::Array,
    ssds: &mut dyn Iterator<Item = Ssd<Map>>,
) -> Array<Ssd<Map>> {
    let names = array.members.iter().map(|member| member.name.clone());
    Array::new(array.layout.clone(), names.zip(ssds))
}

/// An array of SSDs, which are next in `ssds`, and of further arrays.
pub(super) fn store_of(
    array: &plan::Array,
    ssds: &mut dyn Iterator<Item = Ssd<Map>>,
) -> wordline_store::Store<Ssd<Map>> {
    use wordline_store::Store;
    if !array.is_nested() {
        return Store::OfDevices(array_of(array, ssds));
    }
    let members = array.members.iter().filter_map(|member| {
        let store = match &member.store {
            plan::Store::Ssd(_) => Store::of_one(ssds.next()?),
            plan::Store::Cached(_) | plan::Store::Disk(_) => return None,
            plan::Store::Array(array) => store_of(array, ssds),
        };
        Some((member.name.clone(), store))
    });
    Store::OfStores(Array::new(array.layout.clone(), members))
}
