//! Runs on hard disks.

use serde::{Deserialize, Serialize};
use wordline_array::{AddressMap, Array};
use wordline_block::ArrayObservation as Observation;
use wordline_block::{DeviceObservation, FromMember, RequestObservation};
use wordline_config::Plan;
use wordline_config::plan::{Shape, Store};
use wordline_ftl::Map;
use wordline_ftl::precondition::Preconditioned;
use wordline_hdd::Disk;
use wordline_kernel::{Probe, Time};
use wordline_recorder::Recorder;
use wordline_ssd::Ssd;

use super::Options;
use super::shape::{Capabilities, RunShape, StoreOutcome};
use crate::observer::{Observer, Summed};

/// Returns the disks of a store, which is a disk or an array of disks, as an array.
pub(super) fn disks_of(store: &Store) -> Array<Disk> {
    let map = match store {
        Store::Array(array) => array.layout.clone(),
        other => AddressMap::concatenated(&[other.user_bytes()]),
    };
    let disks = store.disks().into_iter();
    Array::new(map, disks.map(|leaf| (leaf.name, Disk::new(leaf.disk))))
}

/// Recorder of hard disks.
#[derive(Serialize, Deserialize)]
pub(super) struct OfDisks {
    recorder: Recorder,
    /// Parts of requests that are in progress in the disks. Count.
    serving: u32,
}

impl Summed for OfDisks {
    fn summed(&self) -> Self {
        Self {
            recorder: self.recorder.summed(),
            serving: self.serving,
        }
    }
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
    fn observe(&mut self, now: Time, observation: Observation<wordline_hdd::Observation>) {
        match observation {
            Observation::Device(FromMember { of, .. }) => match of.of_requests() {
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

/// A single disk is an array of one.
impl RunShape for Array<Disk> {
    type Recorder = OfDisks;
    const CAN: Capabilities = Capabilities {
        name: "a hard disk",
        verify: false,
    };

    fn fits(plan: &Plan) -> bool {
        plan.shape() == Shape::Disks
    }
    fn build(plan: &Plan, _options: &Options, _ssds: Vec<Ssd<Map>>) -> Self {
        disks_of(&plan.store)
    }
    fn recorder(plan: &Plan, options: &Options) -> OfDisks {
        OfDisks {
            recorder: Recorder::new(plan, options.requests),
            serving: 0,
        }
    }
    fn free_blocks(&self) -> Vec<u32> {
        Vec::new()
    }
    fn end(&self, observer: OfDisks, _preconditioned: &[Preconditioned]) -> StoreOutcome {
        StoreOutcome {
            stats: self.members().map(Disk::figures).collect(),
            ..StoreOutcome::of(observer.recorder)
        }
    }
}
