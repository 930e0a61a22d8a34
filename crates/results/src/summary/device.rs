//! Section `device` of the summary: the device, or the array as a whole.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_config::Plan;
use wordline_config::plan::{Device, DevicePlan, Shape, Ssd};

/// Simulated device. For an array, sums over its members; a value that cannot be added is null
/// unless all members share it. For hard disks, the metrics of flash are 0 or null.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Device")]
pub struct DeviceSummary {
    /// Name of the configuration.
    pub name: String,
    /// Capacity of all pages of the device. For an array, capacity of all flash of its members, and
    /// of all disks that are not behind a cache.
    pub capacity_bytes: u64,
    /// Capacity that the host can address, without over-provisioning.
    pub user_bytes: u64,
    /// Over-provisioning: (capacity - user capacity) / capacity. For one SSD, and for the flash of
    /// a cache, the configured value. For an array, computed from the sums over its members; for
    /// devices of several kinds, from the sums over their flash.
    pub over_provisioning_ratio: f64,
    /// Channels of the whole device.
    pub channels: u32,
    /// Packages per channel.
    pub ways: Option<u32>,
    /// Dies of the whole device.
    pub dies: u32,
    /// Planes of the whole device.
    pub planes: u32,
    /// Erase blocks of the whole device.
    pub blocks: u32,
    /// Pages per block.
    pub pages_per_block: Option<u32>,
    /// User bytes per page.
    pub page_bytes: Option<u32>,
}

impl DeviceSummary {
    /// Describes a single device, or an array by the sums and the common values of its members.
    pub(crate) fn new(plan: &Plan) -> Self {
        let sum = |of: fn(&Ssd) -> u32| plan.ssds().map(of).sum();
        let common = |of: fn(&Ssd) -> u32| {
            let mut all = plan.ssds().map(of);
            let first = all.next().unwrap_or_default();
            all.all(|other| other == first).then_some(first)
        };
        Self {
            name: plan.name.clone(),
            capacity_bytes: plan.capacity_bytes(),
            user_bytes: plan.user_bytes(),
            channels: sum(|ssd| ssd.dimensions.channels),
            dies: sum(|ssd| ssd.device.part.layout.dies),
            planes: sum(|ssd| ssd.device.part.layout.planes()),
            blocks: sum(|ssd| ssd.device.part.layout.blocks()),
            over_provisioning_ratio: over_provisioning(plan),
            ways: common(|ssd| ssd.dimensions.ways),
            pages_per_block: common(|ssd| ssd.device.part.layout.pages_per_block),
            page_bytes: common(|ssd| ssd.geometry.page_bytes),
        }
    }
    /// Describes a member of a multi-device store.
    pub(crate) fn of_device(plan: Device<'_>) -> Self {
        let flash = plan.ssd().map(Self::of_ssd).unwrap_or_default();
        let plan = plan.plan();
        Self {
            name: plan.name().to_owned(),
            capacity_bytes: plan.capacity_bytes(),
            user_bytes: plan.user_bytes(),
            ..flash
        }
    }
    fn of_ssd(plan: &Ssd) -> Self {
        let layout = &plan.device.part.layout;
        Self {
            name: plan.name.clone(),
            capacity_bytes: plan.capacity_bytes(),
            user_bytes: plan.user_bytes(),
            over_provisioning_ratio: plan.device.ftl.config.over_provisioning_ratio,
            channels: plan.dimensions.channels,
            ways: Some(plan.dimensions.ways),
            dies: layout.dies,
            planes: layout.planes(),
            blocks: layout.blocks(),
            pages_per_block: Some(layout.pages_per_block),
            page_bytes: Some(plan.geometry.page_bytes),
        }
    }
}

/// Returns the share of the flash that the host cannot address; 0 without flash.
fn over_provisioning(plan: &Plan) -> f64 {
    let mut ssds = plan.ssds();
    match (ssds.next(), ssds.next()) {
        (None, _) => 0.0,
        (Some(only), None) => only.device.ftl.config.over_provisioning_ratio,
        (Some(_), Some(_)) => {
            let (capacity, user) = match plan.shape() {
                Shape::Mixed => (
                    plan.ssds().map(Ssd::capacity_bytes).sum(),
                    plan.ssds().map(Ssd::user_bytes).sum(),
                ),
                _ => (plan.capacity_bytes(), plan.user_bytes()),
            };
            capacity.saturating_sub(user) as f64 / capacity as f64
        }
    }
}
