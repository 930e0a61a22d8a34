//! Runs on flash in front of disks.

use serde::{Deserialize, Serialize};
use wordline_array::Array;
use wordline_config::Plan;
use wordline_config::plan::{self, Shape};
use wordline_flash_cache::{Cached, Observation};
use wordline_ftl::precondition::Preconditioned;
use wordline_ftl::{Map, Mapping};
use wordline_hdd::Disk;
use wordline_kernel::{Probe, Time};
use wordline_recorder::{Hits, Lanes, Recorder};
use wordline_results::Device;
use wordline_results::outcome::CacheOutcome;
use wordline_ssd::Ssd;

use super::Options;
use super::disks::disks_of;
use super::shape::{Capabilities, RunShape, StoreOutcome};
use crate::observer::{Observer, Summed};

/// Observation of the devices behind the cache.
type OfDisks = wordline_block::ArrayObservation<wordline_hdd::Observation>;

/// Recorder of a cached store: its requests, and the operations of its flash.
#[derive(Serialize, Deserialize)]
pub(super) struct OfCache {
    recorder: Recorder,
    hits: Hits,
}

impl Summed for OfCache {
    fn summed(&self) -> Self {
        Self {
            recorder: self.recorder.summed(),
            hits: self.hits.clone(),
        }
    }
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
    // Inlined for the same reason as in the recorder: the compiler then drops the cases that cannot
    // occur.
    #[inline(always)]
    fn observe(&mut self, now: Time, observation: Observation<OfDisks>) {
        use wordline_ssd::Observation as OfFlash;
        match observation {
            // Requests of the cache to its flash are not host requests.
            Observation::Flash(OfFlash::Request {
                ref request,
                failed,
                ..
            }) => self.recorder.written(now, request, failed),
            Observation::Flash(OfFlash::Admitted { .. } | OfFlash::PowerCut(_))
            | Observation::Backing(_)
            | Observation::Held(_) => {}
            Observation::Flash(observation) => self.recorder.observe(now, observation),
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

impl RunShape for Cached<Array<Disk>> {
    type Recorder = OfCache;
    const CAN: Capabilities = Capabilities {
        name: "flash in front of a disk",
        verify: true,
    };

    fn fits(plan: &Plan) -> bool {
        plan.shape() == Shape::CachedDisks
    }
    fn build(plan: &Plan, options: &Options, _ssds: Vec<Ssd<Map>>) -> Self {
        let cached = cached(plan);
        let device = cached.ssd.device(&plan.streams);
        let mut store = Self::new(&cached.cache, &device, disks_of(&cached.backing));
        if options.has_power_cuts() {
            store.expect_power_cuts();
        }
        if options.verify {
            store.verify();
        }
        store
    }
    fn recorder(plan: &Plan, options: &Options) -> OfCache {
        OfCache {
            recorder: Recorder::new(plan, options.requests),
            hits: Hits::new(plan, cached(plan).cache.page_bytes),
        }
    }
    fn free_blocks(&self) -> Vec<u32> {
        vec![self.flash().mapping().free_blocks()]
    }
    fn end(&self, observer: OfCache, _preconditioned: &[Preconditioned]) -> StoreOutcome {
        StoreOutcome {
            devices: vec![Device::of(self.flash(), Preconditioned::default())],
            stats: self.backing().members().map(Disk::figures).collect(),
            caches: vec![CacheOutcome::of(self, observer.hits)],
            ..StoreOutcome::of(observer.recorder)
        }
    }
}

fn cached(plan: &Plan) -> &plan::Cached {
    let Some(cached) = plan.cached() else {
        unreachable!("the plan is of a cached store");
    };
    cached
}
