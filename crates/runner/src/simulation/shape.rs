//! Shapes of stores that a run is compiled for.

use serde::Serialize;
use serde::de::DeserializeOwned;
use wordline_array::{Array, Store};
use wordline_block::BlockDevice;
use wordline_config::Plan;
use wordline_flash_cache::Cached;
use wordline_ftl::Map;
use wordline_hdd::{Disk, DiskStats};
use wordline_host_cpu::{Host as HostSide, HostStats};
use wordline_recorder::Recorder;
use wordline_results::Device;
use wordline_results::outcome::CacheOutcome;
use wordline_ssd::Ssd;
use wordline_ssd::precondition::Preconditioned;
use wordline_state::Kept;

use super::Options;
use super::event_loop::LoopEnd;
use crate::observer::{Observed, Observer};
use crate::timeline::{Shown, Timeline};

/// What can be asked of a run on a shape beside simulating.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capabilities {
    /// What messages call such a store.
    pub(super) name: &'static str,
    /// Whether the data of reads can be checked.
    pub(super) verify: bool,
}

/// A store, as a run builds it, records it and sums it up.
pub(super) trait RunShape:
    BlockDevice<Event: Copy + Default + Serialize + DeserializeOwned, Observation: Shown> + Kept
{
    /// What records it.
    type Recorder: Observer<Self::Observation> + Serialize + DeserializeOwned;
    /// What it can do.
    const CAN: Capabilities;

    /// Whether the store of a plan has this shape.
    fn fits(plan: &Plan) -> bool;
    /// The store of a plan that fits; `ssds` are those in it that are not caches, in their order.
    fn build(plan: &Plan, options: &Options, ssds: Vec<Ssd<Map>>) -> Self;
    /// An empty record of a run of a plan that fits.
    fn recorder(plan: &Plan, options: &Options) -> Self::Recorder;
    /// Free blocks of each device with flash.
    fn free_blocks(&self) -> Vec<u32>;
    /// What is to be summed up at the end; its SSDs that are not caches were `preconditioned`.
    fn end(&self, recorder: Self::Recorder, preconditioned: &[Preconditioned]) -> StoreOutcome;
}

/// Something that is done with the type of a shape.
pub(super) trait OnShape {
    /// What comes of it.
    type Output;
    /// Does it.
    fn on<S: RunShape>(self) -> Self::Output;
}

/// Makes of the list of shapes the choice of the first that a plan fits; `else` is for all others.
macro_rules! shapes {
    ($($Shape:ty),+; else $Any:ty) => {
        /// Does something with the type of the shape that a plan fits.
        pub(super) fn on_shape<T: OnShape>(plan: &Plan, task: T) -> T::Output {
            $(
                if <$Shape>::fits(plan) {
                    return task.on::<$Shape>();
                }
            )+
            task.on::<$Any>()
        }
    };
}

// Each is a loop of its own, as fast as its devices are.
shapes!(
    Ssd<Map>,
    Array<Ssd<Map>>,
    Cached<Array<Disk>>,
    Array<Disk>,
    HostSide<Store>;
    else Store
);

/// What a store has left, to be summed up.
pub(super) struct StoreOutcome {
    pub(super) recorder: Recorder,
    /// What was recorded of each device of several.
    pub(super) members: Vec<Recorder>,
    pub(super) devices: Vec<Device>,
    /// What each disk has done.
    pub(super) disks: Vec<DiskStats>,
    /// What each cache has done.
    pub(super) caches: Vec<CacheOutcome>,
    /// What the host side has done, if there is one.
    pub(super) host_side: Option<HostStats>,
}

impl StoreOutcome {
    /// Of a store of which nothing but its requests was recorded.
    pub(super) fn of(recorder: Recorder) -> Self {
        Self {
            recorder,
            members: Vec::new(),
            devices: Vec::new(),
            disks: Vec::new(),
            caches: Vec::new(),
            host_side: None,
        }
    }
}

/// What a run has left, to be summed up.
pub(super) struct RunOutput {
    pub(super) ended: LoopEnd,
    /// Before anything was summed up.
    pub(super) resident_bytes: u64,
    /// What was drawn, if anything was.
    pub(super) timeline: Option<Box<Timeline>>,
    pub(super) store: StoreOutcome,
}

impl RunOutput {
    /// Of a run that ended so.
    pub(super) fn new<S: RunShape>(
        ended: LoopEnd,
        observed: Observed<S::Recorder>,
        store: &S,
        preconditioned: &[Preconditioned],
    ) -> Self {
        Self {
            ended,
            resident_bytes: resident_bytes(),
            timeline: observed.timeline,
            store: store.end(observed.observer, preconditioned),
        }
    }
}

/// Memory of the process. Bytes.
pub(super) fn resident_bytes() -> u64 {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64)
}
