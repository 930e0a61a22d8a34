//! The device, or the array as one.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_config::Plan;
use wordline_config::plan::Ssd;

/// The device that was simulated; of an array, sums over its members, and of the first what adds to nothing. Of hard disks, what counts flash is 0.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Device")]
pub struct DeviceSummary {
    /// Name of the configuration.
    pub name: String,
    /// All pages of the device; of all members of an array.
    pub capacity_bytes: u64,
    /// What the host can address: the capacity less over-provisioning.
    pub user_bytes: u64,
    /// (capacity - user) / capacity, as configured; of an array that of its first member, as are the ways, the pages of a block and the bytes of a page.
    pub over_provisioning_ratio: f64,
    /// Channels.
    pub channels: u32,
    /// Packages on a channel.
    pub ways: u32,
    /// Dies of the whole device.
    pub dies: u32,
    /// Planes of the whole device.
    pub planes: u32,
    /// Erase blocks of the whole device.
    pub blocks: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// User bytes in a page.
    pub page_bytes: u32,
}

impl DeviceSummary {
    /// A device; or an array, with sums over its members, and of its first what adds to nothing.
    pub(crate) fn new(plan: &Plan) -> Self {
        let sum = |of: fn(&Ssd) -> u32| plan.ssds().map(of).sum();
        let like = plan.first().map(Self::of_ssd);
        Self {
            name: plan.name.clone(),
            capacity_bytes: plan.capacity_bytes(),
            user_bytes: plan.user_bytes(),
            channels: sum(|ssd| ssd.dimensions.channels),
            dies: sum(|ssd| ssd.device.part.layout.dies),
            planes: sum(|ssd| ssd.device.part.layout.planes()),
            blocks: sum(|ssd| ssd.device.part.layout.blocks()),
            ..like.unwrap_or_default()
        }
    }
    pub(crate) fn of_ssd(plan: &Ssd) -> Self {
        let layout = &plan.device.part.layout;
        Self {
            name: plan.name.clone(),
            capacity_bytes: plan.capacity_bytes(),
            user_bytes: plan.user_bytes(),
            over_provisioning_ratio: plan.device.ftl.config.over_provisioning_ratio,
            channels: plan.dimensions.channels,
            ways: plan.dimensions.ways,
            dies: layout.dies,
            planes: layout.planes(),
            blocks: layout.blocks(),
            pages_per_block: layout.pages_per_block,
            page_bytes: plan.geometry.page_bytes,
        }
    }
}
