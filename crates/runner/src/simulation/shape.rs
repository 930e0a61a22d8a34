//! Shapes of stores for which a run is compiled.

use serde::Serialize;
use serde::de::DeserializeOwned;
use wordline_array::{Array, Store, StoreStats};
use wordline_block::BlockDevice;
use wordline_config::Plan;
use wordline_flash_cache::Cached;
use wordline_ftl::Map;
use wordline_ftl::precondition::Preconditioned;
use wordline_hdd::Disk;
use wordline_host_cpu::{Host as HostSide, HostStats};
use wordline_recorder::Recorder;
use wordline_results::Device;
use wordline_results::outcome::CacheOutcome;
use wordline_ssd::Ssd;
use wordline_state::Kept;

use super::Options;
use super::event_loop::LoopEnd;
use crate::observer::{Observer, Summed};
use crate::timeline::{Shown, Timeline};

/// Capabilities of runs on a shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capabilities {
    /// Name of a store of this shape in messages.
    pub(super) name: &'static str,
    /// Whether the data of reads can be verified.
    pub(super) verify: bool,
}

/// A store that a run can build, record and summarise.
pub(super) trait RunShape:
    BlockDevice<Event: Copy + Default + Serialize + DeserializeOwned, Observation: Shown> + Kept
{
    /// Observer that records the store.
    type Recorder: Observer<Self::Observation> + Summed + Serialize + DeserializeOwned;
    /// Capabilities of runs on this shape.
    const CAN: Capabilities;

    /// Returns `true` if the store of a plan has this shape.
    fn fits(plan: &Plan) -> bool;
    /// Builds the store of a plan that fits. `ssds` are its SSDs in order, without the flash of
    /// caches.
    fn build(plan: &Plan, options: &Options, ssds: Vec<Ssd<Map>>) -> Self;
    /// Creates an empty recorder for a run of a plan that fits.
    fn recorder(plan: &Plan, options: &Options) -> Self::Recorder;
    /// Returns the number of free blocks of each device with flash.
    fn free_blocks(&self) -> Vec<u32>;
    /// Returns the outcome of the store. `preconditioned` has the counts of its SSDs, without the
    /// flash of caches.
    fn end(&self, recorder: Self::Recorder, preconditioned: &[Preconditioned]) -> StoreOutcome;
}

/// A task that is generic over the shape of a store.
pub(super) trait OnShape {
    /// Result of the task.
    type Output;
    /// Runs the task for stores of the shape `S`.
    fn on<S: RunShape>(self) -> Self::Output;
}

/// Generates the selection of the first shape that a plan fits; `else` is the shape for all other
/// plans.
macro_rules! shapes {
    ($($Shape:ty),+; else $Any:ty) => {
        /// Runs a task with the shape that a plan fits.
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

// Each shape is compiled to a separate event loop. Only those with `Store` dispatch between kinds
// of devices.
shapes!(
    Ssd<Map>,
    Array<Ssd<Map>>,
    Cached<Array<Disk>>,
    Array<Disk>,
    HostSide<Store>;
    else Store
);

/// Outcome of a store, for the results.
pub(super) struct StoreOutcome {
    pub(super) recorder: Recorder,
    /// Recorders of the devices, if the results list them separately.
    pub(super) members: Vec<Recorder>,
    pub(super) devices: Vec<Device>,
    /// Statistics of the devices without flash.
    pub(super) stats: StoreStats,
    /// Outcome of each cache.
    pub(super) caches: Vec<CacheOutcome>,
    /// Statistics of the host side, if there is one.
    pub(super) host_side: Option<HostStats>,
}

impl StoreOutcome {
    /// Creates the outcome of a store for which only requests were recorded.
    pub(super) fn of(recorder: Recorder) -> Self {
        Self {
            recorder,
            members: Vec::new(),
            devices: Vec::new(),
            stats: StoreStats::default(),
            caches: Vec::new(),
            host_side: None,
        }
    }
}

/// Outcome of a run, for the results.
pub(super) struct RunOutput {
    pub(super) ended: LoopEnd,
    /// Resident memory before the results were built. Bytes.
    pub(super) resident_bytes: u64,
    /// Timeline, if one was drawn.
    pub(super) timeline: Option<Box<Timeline>>,
    pub(super) store: StoreOutcome,
}

impl RunOutput {
    /// Creates the outcome of a run that ended with `ended`.
    pub(super) fn new<S: RunShape>(
        ended: LoopEnd,
        recorder: S::Recorder,
        timeline: Option<Box<Timeline>>,
        store: &S,
        preconditioned: &[Preconditioned],
    ) -> Self {
        Self {
            ended,
            resident_bytes: resident_bytes(),
            timeline,
            store: store.end(recorder, preconditioned),
        }
    }
}

/// Returns the resident memory of the process. Bytes.
pub(super) fn resident_bytes() -> u64 {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64)
}
