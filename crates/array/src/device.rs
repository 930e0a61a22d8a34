//! A device of a store.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wordline_block::BlockDevice;
use wordline_kernel::EventQueue;

/// A device or a cache of a store, with the events that it has scheduled and not yet passed on to the queue of the run.
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
