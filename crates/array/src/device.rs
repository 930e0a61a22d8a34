//! A device of a store.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wordline_block::BlockDevice;
use wordline_kernel::EventQueue;

/// What is not an array, with what it has scheduled and its owner does not know yet.
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
