//! A run on hard disks.

use serde::{Deserialize, Serialize};
use wordline_array::{AddressMap, Array};
use wordline_block::ArrayObservation as Observation;
use wordline_block::{DeviceObservation, Member, RequestObservation};
use wordline_config::Plan;
use wordline_config::plan::Store;
use wordline_hdd::Disk;
use wordline_kernel::{Probe, Time};
use wordline_ssd::precondition::Preconditioned;

use super::Options;
use super::event_loop::{LoopEnd, LoopState, simulate_drawn};
use super::issuer::Host;
use super::power_cuts::PowerCuts;
use super::prepared::{RunOutput, resident_bytes};
use super::watch::Watcher;
use crate::observer::Observer;
use crate::timeline::Timeline;
use wordline_recorder::Recorder;

/// The disks of a store, which is one or an array of them, as an array.
pub(super) fn disks_of(store: &Store) -> Array<Disk> {
    let map = match store {
        Store::Array(array) => array.layout.clone(),
        other => AddressMap::concatenated(&[other.user_bytes()]),
    };
    let disks = store.disks().into_iter();
    Array::new(map, disks.map(|leaf| (leaf.name, Disk::new(leaf.disk))))
}

/// Records disks.
#[derive(Serialize, Deserialize)]
pub(super) struct OfDisks {
    recorder: Recorder,
    /// Parts of requests in the disks.
    serving: u32,
}

impl Observer<Observation<wordline_hdd::Observation>> for OfDisks {
    fn recorder(&self) -> &Recorder {
        &self.recorder
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }
}

impl Probe<Observation<wordline_hdd::Observation>> for OfDisks {
    const WANTS_FRAGMENTS: bool = false;
    fn observe(&mut self, now: Time, heard: Observation<wordline_hdd::Observation>) {
        match heard {
            Observation::Device(Member { of, .. }) => match of.of_requests() {
                Some(RequestObservation::Admitted { .. }) => {
                    self.serving += 1;
                    self.recorder.admitted(now, self.serving);
                }
                Some(RequestObservation::Request { .. }) => {
                    self.serving -= 1;
                    self.recorder.left(now);
                }
                Some(RequestObservation::PowerCut(cut)) => {
                    self.serving = 0;
                    self.recorder.power_cut(now, &cut);
                }
                None => {}
            },
            Observation::Request {
                request,
                parts,
                member,
                depth: 0,
            } => self.recorder.request(now, &request, &parts, member),
            Observation::Request { .. } => {}
        }
    }
}

/// Serves the requests of a host.
pub(super) fn run(
    plan: &Plan,
    options: &Options,
    timeline: Option<Box<Timeline>>,
    host: &mut Host<'_>,
    watcher: &mut Watcher<'_>,
) -> RunOutput {
    let mut store = disks_of(&plan.store);
    let observer = OfDisks {
        recorder: Recorder::new(plan, options.requests),
        serving: 0,
    };
    let cuts = options
        .power_cut_every
        .map(|every| PowerCuts::new(plan, every));
    let state = LoopState::start(plan, watcher, cuts);
    let timeline = timeline.map(|mut timeline| {
        timeline.begin([]);
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
    observer: OfDisks,
    store: &Array<Disk>,
    _preconditioned: &[Preconditioned],
) -> RunOutput {
    RunOutput {
        ended,
        resident_bytes: resident_bytes(),
        recorder: observer.recorder,
        members: Vec::new(),
        timeline: None,
        devices: Vec::new(),
        disks: store.members().map(Disk::figures).collect(),
        caches: Vec::new(),
        host_side: None,
    }
}
