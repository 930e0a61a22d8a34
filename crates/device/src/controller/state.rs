//! The state of a device in two parts: what the flash keeps when the power fails, and what is lost.

use serde::{Deserialize, Serialize};
use wordline_ftl::recovery::Journal;
use wordline_nand::Array;

use super::die_loads::DieLoads;
use super::idle::Idling;
use super::issue::IssueStage;
use super::job::Jobs;
use super::pending::PendingWrites;
use super::requests::{Done, Requests};
use super::spare::Carried;
use crate::backend::{BackEnd, Usage};
use crate::plan::Plan;

/// What survives a power cut.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NonVolatile {
    pub array: Array,
    /// Spare areas, if the power may fail.
    pub journal: Option<Box<Journal>>,
    /// By die: what it was used for up to the last power cut.
    pub usage: Vec<Usage>,
}

impl NonVolatile {
    /// Pristine flash.
    pub fn new(plan: &Plan) -> Self {
        let part = &plan.part;
        Self {
            array: Array::new(part.layout, part.endurance_cycles)
                .with_partial_programs(part.partial_programs),
            journal: None,
            usage: vec![Usage::default(); part.layout.dies as usize],
        }
    }
}

/// What a power cut loses: the memory of the controller and everything on its way. The map is lost too, and
/// [`Mapping::recover`](wordline_ftl::Mapping::recover) builds it anew in its place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Volatile {
    pub backend: BackEnd,
    /// The scheduler, if operations wait for one.
    pub issue: Option<Box<IssueStage>>,
    pub requests: Requests,
    /// Requests that are done with, in the order in which they were; the owner clears it.
    pub done: Vec<Done>,
    pub jobs: Jobs,
    pub die_loads: DieLoads,
    /// What the device does when it is idle; `None` if its schedule never asks.
    pub idling: Option<Box<Idling>>,
    /// By block: programs on their way that supersede a page of it. Until they are done, the block
    /// is not erased: if the power failed, the data before them would be lost.
    #[serde(with = "wordline_kernel::dense")]
    pub superseding: Vec<u16>,
    /// Writes without a place.
    pub pending: PendingWrites,
    /// What the spare areas of pages on their way will say.
    pub carried: Carried,
    /// Free blocks, as last observed.
    pub free_blocks: u32,
}

impl Volatile {
    /// An idle device.
    pub fn new(plan: &Plan, backend: BackEnd, free_blocks: u32) -> Self {
        let layout = plan.part.layout;
        let planes = layout.planes() as usize;
        Self {
            backend,
            issue: IssueStage::new(plan),
            requests: Requests::default(),
            done: Vec::new(),
            jobs: Jobs::new(planes),
            die_loads: DieLoads::new(plan),
            idling: Idling::new(plan),
            superseding: vec![0; layout.blocks() as usize],
            pending: PendingWrites::new(planes),
            carried: Carried::default(),
            free_blocks,
        }
    }
}
