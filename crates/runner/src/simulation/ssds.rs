//! Runs on an SSD, and on an array of SSDs.

use wordline_array::Array;
use wordline_config::Plan;
use wordline_config::plan::Shape;
use wordline_ftl::precondition::Preconditioned;
use wordline_ftl::{Map, Mapping};
use wordline_recorder::Recorder;
use wordline_results::Device;
use wordline_ssd::Ssd;

use super::Options;
use super::shape::{Capabilities, RunShape, StoreOutcome};
use crate::observer::{Recorded, Several};

impl RunShape for Ssd<Map> {
    type Recorder = Recorder;
    const CAN: Capabilities = Capabilities {
        name: "an SSD",
        verify: true,
    };

    fn fits(plan: &Plan) -> bool {
        plan.shape() == Shape::Ssd
    }
    fn build(_plan: &Plan, _options: &Options, mut ssds: Vec<Self>) -> Self {
        ssds.remove(0)
    }
    fn recorder(plan: &Plan, options: &Options) -> Recorder {
        Recorder::new(plan, options.requests)
    }
    fn free_blocks(&self) -> Vec<u32> {
        vec![self.mapping().free_blocks()]
    }
    fn end(&self, recorder: Recorder, preconditioned: &[Preconditioned]) -> StoreOutcome {
        StoreOutcome {
            devices: vec![Device::of(self, preconditioned[0])],
            ..StoreOutcome::of(recorder)
        }
    }
}

/// Array of SSDs that is not nested.
impl RunShape for Array<Ssd<Map>> {
    type Recorder = Several;
    const CAN: Capabilities = Capabilities {
        name: "an array of SSDs",
        verify: true,
    };

    fn fits(plan: &Plan) -> bool {
        let array = plan.array().filter(|array| !array.is_nested());
        array.is_some() && plan.shape() == Shape::Ssds
    }
    fn build(plan: &Plan, _options: &Options, ssds: Vec<Ssd<Map>>) -> Self {
        let Some(array) = plan.array() else {
            unreachable!("the plan is of an array");
        };
        let names = array.members.iter().map(|member| member.name.clone());
        Self::new(array.layout.clone(), names.zip(ssds))
    }
    fn recorder(plan: &Plan, options: &Options) -> Several {
        Several::new(plan, Recorder::new(plan, options.requests))
    }
    fn free_blocks(&self) -> Vec<u32> {
        let ssds = self.members();
        ssds.map(|ssd| ssd.mapping().free_blocks()).collect()
    }
    fn end(&self, observer: Several, preconditioned: &[Preconditioned]) -> StoreOutcome {
        let devices = self.members().zip(preconditioned);
        let Recorded { whole, members, .. } = observer.into_parts();
        StoreOutcome {
            members,
            devices: devices.map(|(ssd, done)| Device::of(ssd, *done)).collect(),
            ..StoreOutcome::of(whole)
        }
    }
}
