//! Device of a store.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wordline_block::BlockDevice;
use wordline_kernel::EventQueue;

/// Device or cache of a store, with the events that it has scheduled but not yet passed to the
/// queue of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "D: Serialize + DeserializeOwned, D::Event: Copy + Default")]
pub struct Device<D: BlockDevice> {
    pub(crate) device: D,
    #[serde(skip)]
    pub(crate) scheduled: EventQueue<D::Event>,
}

impl<D: BlockDevice> Device<D> {
    pub(crate) fn boxed(device: D) -> Box<Self> {
        Box::new(Self {
            device,
            scheduled: EventQueue::default(),
        })
    }
    pub(crate) fn device(&self) -> &D {
        &self.device
    }
}
