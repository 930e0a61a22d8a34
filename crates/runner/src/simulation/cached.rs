//! A run on flash in front of disks.

use serde::{Deserialize, Serialize};
use wordline_array::Array;
use wordline_config::Plan;
use wordline_flash_cache::{Cached, Observation};
use wordline_ftl::Mapping;
use wordline_hdd::Disk;
use wordline_kernel::{Probe, Time};
use wordline_ssd::precondition::Preconditioned;

use super::Options;
use super::disks::disks_of;
use super::event_loop::{LoopEnd, LoopState, simulate_drawn};
use super::issuer::Host;
use super::power_cuts::PowerCuts;
use super::prepared::{RunOutput, resident_bytes};
use super::watch::Watcher;
use crate::observer::Observer;
use crate::timeline::Timeline;
use wordline_recorder::{Hits, Lanes, Recorder};
use wordline_results::Device;
use wordline_results::outcome::CacheOutcome;

/// What is heard of what lies behind the cache.
type OfDisks = wordline_block::ArrayObservation<wordline_hdd::Observation>;

/// Records a cached store: its requests, and what its flash does for them.
#[derive(Serialize, Deserialize)]
pub(super) struct OfCache {
    recorder: Recorder,
    hits: Hits,
}

impl Observer<Observation<OfDisks>> for OfCache {
    fn recorder(&self) -> &Recorder {
        &self.recorder
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }
    fn begin_measuring(&mut self, now: Time, lanes: Lanes<'_>) {
        self.recorder.begin_measuring(now, lanes);
        self.hits.begin_measuring();
    }
}

impl Probe<Observation<OfDisks>> for OfCache {
    const WANTS_FRAGMENTS: bool = false;
    // As in the recorder: in line, nothing is left of the kinds that an observation is not.
    #[inline(always)]
    fn observe(&mut self, now: Time, heard: Observation<OfDisks>) {
        use wordline_ssd::Observation as OfFlash;
        match heard {
            // Requests of the cache to its flash are no requests of the host.
            Observation::Flash(OfFlash::Request {
                ref request,
                failed,
                ..
            }) => self.recorder.written(now, request, failed),
            Observation::Flash(OfFlash::Admitted { .. } | OfFlash::PowerCut(_))
            | Observation::Backing(_)
            | Observation::Held(_) => {}
            Observation::Flash(heard) => self.recorder.observe(now, heard),
            Observation::Lists(lists) => self.recorder.lists(now, lists),
            Observation::Found(pages) => self.recorder.found(now, pages),
            Observation::Admitted { in_flight } => self.recorder.admitted(now, in_flight),
            Observation::Request {
                ref request,
                ref parts,
                hit,
            } => {
                self.recorder.left(now);
                self.recorder.request(now, request, parts, 0);
                self.hits.request(request, hit, now - request.arrival);
            }
            Observation::PowerCut(cut) => self.recorder.power_cut(now, &cut),
        }
    }
}

/// The store of a cached plan.
type Store = Cached<Array<Disk>>;

/// Serves the requests of a host.
pub(super) fn run(
    plan: &Plan,
    options: &Options,
    timeline: Option<Box<Timeline>>,
    host: &mut Host<'_>,
    watcher: &mut Watcher<'_>,
) -> RunOutput {
    let Some(cached) = plan.cached() else {
        unreachable!("the plan is of a cached store");
    };
    let device = cached.ssd.device(&plan.streams);
    let mut store: Store = Cached::new(&cached.cache, &device, disks_of(&cached.backing));
    let cuts = options.power_cut_every.map(|every| {
        store.expect_power_cuts();
        PowerCuts::new(plan, every)
    });
    if options.verify {
        store.verify();
    }
    let observer = OfCache {
        recorder: Recorder::new(plan, options.requests),
        hits: Hits::new(plan, cached.cache.page_bytes),
    };
    let state = LoopState::start(plan, watcher, cuts);
    let timeline = timeline.map(|mut timeline| {
        timeline.begin([store.flash().mapping().free_blocks()]);
        timeline
    });
    let (ended, observer, timeline) =
        simulate_drawn(&mut store, host, observer, timeline, watcher, state);
    RunOutput {
        timeline,
        ..left(ended, observer, &store, &[])
    }
}

/// What such a run has left.
pub(super) fn left(
    ended: LoopEnd,
    observer: OfCache,
    store: &Store,
    _preconditioned: &[Preconditioned],
) -> RunOutput {
    RunOutput {
        ended,
        resident_bytes: resident_bytes(),
        recorder: observer.recorder,
        members: Vec::new(),
        timeline: None,
        devices: vec![Device::of(store.flash(), Preconditioned::default())],
        disks: store.backing().members().map(Disk::figures).collect(),
        caches: vec![CacheOutcome::of(store, observer.hits)],
        host_side: None,
    }
}
