//! The store of a run, from pristine devices to what is summed up.

use super::Options;
use super::event_loop::{LoopEnd, LoopState, Stop, simulate_drawn};
use super::issuer::Host;
use super::power_cuts::PowerCuts;
use super::watch::Watcher;
use crate::devices;
use crate::observer::{Observer, Recorded, Several};
use crate::timeline::{Shown, Timeline};
use serde::Serialize;
use wordline_array::{Array, Leaf, Store};
use wordline_block::BlockDevice;
use wordline_config::Plan;
use wordline_config::plan::{self};
use wordline_flash_cache::Cached;
use wordline_ftl::{Map, Mapping};
use wordline_hdd::Disk;
use wordline_host_cpu::Host as HostSide;
use wordline_recorder::Recorder;
use wordline_results::Device;
use wordline_results::outcome::CacheOutcome;
use wordline_ssd::precondition::Preconditioned;
use wordline_ssd::{DeviceError, Ssd};

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
    pub(super) timeline: Option<Box<Timeline>>,
    pub(super) cuts: Option<PowerCuts>,
}

/// What a run has left, to be summed up.
pub(super) struct RunOutput {
    pub(super) ended: LoopEnd,
    /// Before anything was summed up.
    pub(super) resident_bytes: u64,
    pub(super) recorder: Recorder,
    /// What was recorded of each device of several.
    pub(super) members: Vec<Recorder>,
    /// What was drawn, if anything was.
    pub(super) timeline: Option<Box<Timeline>>,
    pub(super) devices: Vec<Device>,
    /// What each disk has done.
    pub(super) disks: Vec<wordline_hdd::DiskStats>,
    /// What each cache has done.
    pub(super) caches: Vec<CacheOutcome>,
    /// What the host side has done, if there is one.
    pub(super) host_side: Option<wordline_host_cpu::HostStats>,
}

impl PreparedRun {
    /// Serves the requests of a host, unless the user has ended the preparation.
    fn serve<S, O>(
        &mut self,
        plan: &Plan,
        store: &mut S,
        observer: O,
        host: &mut Host<'_>,
        watcher: &mut Watcher<'_>,
    ) -> (LoopEnd, O, Option<Box<Timeline>>)
    where
        S: BlockDevice<Event: Copy + Default + Serialize, Observation: Shown> + Serialize,
        O: Observer<S::Observation> + Serialize,
    {
        let timeline = self.timeline.take();
        if self.preconditioned.iter().any(|done| done.stopped) {
            return (LoopEnd::new(Some(Stop::Interrupted)), observer, timeline);
        }
        let state = LoopState::start(plan, watcher, self.cuts.take());
        simulate_drawn(store, host, observer, timeline, watcher, state)
    }
    /// The timeline begins.
    fn begin_timeline(&mut self, free_blocks: impl IntoIterator<Item = u32>) {
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(free_blocks);
        }
    }

    pub(super) fn on_one(
        mut self,
        plan: &Plan,
        recorder: Recorder,
        host: &mut Host<'_>,
        watcher: &mut Watcher<'_>,
    ) -> RunOutput {
        let mut ssd = self.ssds.remove(0);
        self.begin_timeline([ssd.mapping().free_blocks()]);
        let (ended, recorder, timeline) = self.serve(plan, &mut ssd, recorder, host, watcher);
        RunOutput {
            timeline,
            ..RunOutput::of_one(ended, recorder, &ssd, &self.preconditioned)
        }
    }

    /// On an array of SSDs, none of which is an array.
    pub(super) fn on_array(
        mut self,
        plan: &Plan,
        array: &plan::Array,
        recorder: Recorder,
        host: &mut Host<'_>,
        watcher: &mut Watcher<'_>,
    ) -> RunOutput {
        let ssds = std::mem::take(&mut self.ssds);
        self.begin_timeline(ssds.iter().map(|ssd| ssd.mapping().free_blocks()));
        let names = array.members.iter().map(|member| member.name.clone());
        let mut store = Array::new(array.layout.clone(), names.zip(ssds));
        let observer = Several::new(plan, recorder);
        let (ended, observer, timeline) = self.serve(plan, &mut store, observer, host, watcher);
        RunOutput {
            timeline,
            ..RunOutput::of_several(ended, observer, store.members(), &self.preconditioned)
        }
    }

    /// On a store of any shape.
    pub(super) fn on_store(
        mut self,
        plan: &Plan,
        options: &Options,
        recorder: Recorder,
        host: &mut Host<'_>,
        watcher: &mut Watcher<'_>,
    ) -> RunOutput {
        let mut store = Builder {
            plan,
            options,
            ssds: std::mem::take(&mut self.ssds).into_iter(),
        }
        .build(&plan.store);
        self.begin_timeline(free_blocks(&store));
        let observer = Several::new(plan, recorder);
        if let Some(config) = &plan.host_side {
            let mut side = HostSide::new(config, store);
            side.filled(0, plan.filled_bytes());
            let (ended, observer, timeline) = self.serve(plan, &mut side, observer, host, watcher);
            return RunOutput {
                timeline,
                ..RunOutput::of_host(ended, observer, &side, &self.preconditioned)
            };
        }
        let (ended, observer, timeline) = self.serve(plan, &mut store, observer, host, watcher);
        RunOutput {
            timeline,
            ..RunOutput::of_store(ended, observer, &store, &self.preconditioned)
        }
    }
}

/// Free blocks of each device with flash.
fn free_blocks(store: &Store) -> Vec<u32> {
    let leaves = store.leaves().into_iter();
    let free = leaves.filter_map(|leaf| match leaf {
        Leaf::Ssd(ssd) => Some(ssd.mapping().free_blocks()),
        Leaf::Cached(cached) => Some(cached.flash().mapping().free_blocks()),
        Leaf::Disk(_) => None,
    });
    free.collect()
}

/// Builds a store of any shape.
struct Builder<'a> {
    plan: &'a Plan,
    options: &'a Options,
    /// The SSDs that are no caches, in their order.
    ssds: std::vec::IntoIter<Ssd<Map>>,
}

impl Builder<'_> {
    fn build(&mut self, store: &plan::Store) -> Store {
        match store {
            plan::Store::Ssd(_) => match self.ssds.next() {
                Some(ssd) => ssd.into(),
                None => unreachable!("there is an SSD for each"),
            },
            plan::Store::Disk(disk) => Disk::new(&disk.disk).into(),
            plan::Store::Cached(cached) => {
                let device = cached.ssd.device(&self.plan.streams);
                let backing = self.build(&cached.backing);
                let mut store = Cached::new(&cached.cache, &device, backing);
                if self.options.power_cut_every.is_some() {
                    store.expect_power_cuts();
                }
                if self.options.verify {
                    store.verify();
                }
                store.into()
            }
            plan::Store::Array(array) => {
                let members = array.members.iter();
                let members: Vec<_> = members
                    .map(|member| (member.name.clone(), self.build(&member.store)))
                    .collect();
                Array::new(array.layout.clone(), members).into()
            }
        }
    }
}

impl RunOutput {
    pub(super) fn of_one(
        ended: LoopEnd,
        recorder: Recorder,
        ssd: &Ssd<Map>,
        preconditioned: &[Preconditioned],
    ) -> Self {
        Self {
            ended,
            resident_bytes: resident_bytes(),
            recorder,
            members: Vec::new(),
            timeline: None,
            devices: vec![Device::of(ssd, preconditioned[0])],
            disks: Vec::new(),
            caches: Vec::new(),
            host_side: None,
        }
    }
    pub(super) fn of_several<'a>(
        ended: LoopEnd,
        observer: Several,
        ssds: impl IntoIterator<Item = &'a Ssd<Map>>,
        preconditioned: &[Preconditioned],
    ) -> Self {
        let resident_bytes = resident_bytes();
        let devices = ssds.into_iter().zip(preconditioned);
        let Recorded { whole, members, .. } = observer.into_parts();
        Self {
            ended,
            resident_bytes,
            recorder: whole,
            members,
            timeline: None,
            devices: devices.map(|(ssd, done)| Device::of(ssd, *done)).collect(),
            disks: Vec::new(),
            caches: Vec::new(),
            host_side: None,
        }
    }
    /// Of a store with a host in front of it.
    pub(super) fn of_host(
        ended: LoopEnd,
        observer: Several,
        side: &HostSide<Store>,
        preconditioned: &[Preconditioned],
    ) -> Self {
        Self {
            host_side: Some(side.figures()),
            ..Self::of_store(ended, observer, side.store(), preconditioned)
        }
    }
    pub(super) fn of_store(
        ended: LoopEnd,
        observer: Several,
        store: &Store,
        preconditioned: &[Preconditioned],
    ) -> Self {
        let resident_bytes = resident_bytes();
        let recorded = observer.into_parts();
        let (mut devices, mut disks, mut caches) = (Vec::new(), Vec::new(), Vec::new());
        let (mut done, mut hits) = (preconditioned.iter(), recorded.hits.into_iter());
        for leaf in store.leaves() {
            match leaf {
                Leaf::Ssd(ssd) => devices.extend(done.next().map(|done| Device::of(ssd, *done))),
                Leaf::Disk(disk) => disks.push(disk.figures()),
                Leaf::Cached(cached) => {
                    devices.push(Device::of(cached.flash(), Preconditioned::default()));
                    caches.extend(hits.next().map(|hits| CacheOutcome::of(cached, hits)));
                }
            }
        }
        Self {
            ended,
            resident_bytes,
            recorder: recorded.whole,
            members: recorded.members,
            timeline: None,
            devices,
            disks,
            caches,
            host_side: None,
        }
    }
}
