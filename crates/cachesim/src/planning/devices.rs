//! Parameters of a plan's flash and disk, read from their configurations.

use serde::Serialize;
use wordline_block::Specification;
use wordline_config::costs::{FlashCosts, of_flash};
use wordline_config::load;
use wordline_config::plan::Store;
use wordline_hdd::SECTOR_BYTES;
use wordline_hdd::model::{Mechanism, Timed};

use crate::CacheError;

/// Configuration of the flash or the disk, as given by the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// Name of the preset or path of the file.
    pub name: String,
    /// Text of the configuration.
    pub text: String,
    /// Overridden keys and their values, in TOML syntax.
    pub overrides: Vec<(String, String)>,
}

/// Flash of a plan, independent of its size. Times are those of an idle device, including the bus.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Flash {
    pub name: String,
    pub page_bytes: u32,
    pub pages_per_block: u32,
    pub over_provisioning_ratio: f64,
    /// Share of the pages that never store cached data, because GC keeps them free or they contain
    /// block summaries.
    pub free_ratio: f64,
    pub read_us: f64,
    pub program_us: f64,
    /// Time in which GC relocates a page. Microseconds.
    pub copy_us: f64,
    pub erase_us: f64,
    pub endurance_cycles: u32,
    /// Dies that work in parallel. A small flash has fewer dies.
    pub dies: u32,
    /// Number of pages evicted together, of which the dirty ones are destaged as a group.
    pub group_pages: u32,
    /// Whether a destaged page must reach the disk's medium before it counts as clean. Otherwise
    /// the disk's write cache suffices.
    pub durable_destages: bool,
}

/// Disk of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Disk {
    pub name: String,
    /// Time of a page read, including transfer and controller; `write_us` is that of a page write.
    /// Microseconds.
    pub read_us: f64,
    pub write_us: f64,
    /// Source of the times: `keys` for a model without positions, `random-accesses` for one with an
    /// arm.
    pub found_by: String,
    /// Model of the disk.
    #[serde(skip)]
    pub(super) plan: wordline_hdd::Plan,
}

/// Capacity assumed for a disk whose model has no positions: larger than any trace. Bytes.
const WITHOUT_POSITIONS_BYTES: u64 = 1 << 50;

fn loaded(device: &Device, option: &str) -> Result<Store, CacheError> {
    let what = || format!("{option} {}", device.name);
    let wrong = |error: &dyn std::fmt::Display| {
        CacheError::argument(
            what(),
            error.to_string(),
            "correct the configuration, or choose another device",
        )
    };
    let loaded =
        load(&device.text, &device.name, &device.overrides).map_err(|error| wrong(&error))?;
    let plan = loaded.plan(0).map_err(|error| wrong(&error))?;
    Ok(plan.store)
}

/// Returns a copy of a device with its cache in write-back mode.
fn keeping_writes(device: &Device) -> Device {
    let mut keeping = device.clone();
    let mode = ("cache.mode".to_owned(), "\"write-back\"".to_owned());
    keeping.overrides.push(mode);
    keeping
}

impl Flash {
    /// Returns the flash of a configuration of an SSD, or of a flash cache in front of a disk.
    /// Fails for other devices.
    pub fn of(device: &Device) -> Result<Self, CacheError> {
        let store = match loaded(device, "flash")? {
            Store::Cached(cached) if !cached.cache.mode.keeps_writes() => {
                loaded(&keeping_writes(device), "flash")?
            }
            store => store,
        };
        let (ssd, group_pages, durable_destages) = match store {
            Store::Ssd(ssd) => (*ssd, 1, true),
            Store::Cached(cached) => {
                let cache = &cached.cache;
                (cached.ssd, cache.group_pages, cache.journal.is_some())
            }
            _ => {
                return Err(CacheError::argument(
                    format!("flash {}", device.name),
                    "this is neither an SSD nor a flash cache in front of a disk",
                    "choose such a device from `wordline devices`",
                ));
            }
        };
        let (name, device, ftl) = (&device.name, &ssd.device, &ssd.device.ftl);
        let per_block = ftl.layout.pages_per_block;
        let FlashCosts {
            read_us,
            program_us,
            copy_us,
            erase_us,
        } = of_flash(device);
        let free = match ftl.start_pages {
            0 => ftl.start_blocks * ftl.data_pages(),
            pages => pages,
        };
        let free = free + ftl.layout.blocks_per_plane * ftl.summaries.pages;
        let of_plane = f64::from(ftl.layout.blocks_per_plane) * f64::from(per_block);
        Ok(Self {
            name: name.clone(),
            page_bytes: device.page_bytes,
            pages_per_block: per_block,
            over_provisioning_ratio: ftl.config.over_provisioning_ratio,
            free_ratio: f64::from(free) / of_plane,
            read_us,
            program_us,
            copy_us,
            erase_us,
            endurance_cycles: device.part.endurance_cycles,
            dies: ftl.layout.dies,
            group_pages,
            durable_destages,
        })
    }
}

impl Disk {
    /// Returns the disk of a configuration of a disk, or of a flash cache in front of a disk, for
    /// pages of `page_bytes`. Fails for other devices.
    pub fn of(device: &Device, page_bytes: u64) -> Result<Self, CacheError> {
        let store = loaded(device, "disk")?;
        let leaf = match store {
            Store::Disk(disk) => Some(disk),
            Store::Cached(cached) => match cached.backing {
                Store::Disk(disk) => Some(disk),
                _ => None,
            },
            _ => None,
        };
        let Some(disk) = leaf else {
            return Err(CacheError::argument(
                format!("disk {}", device.name),
                "this is neither a hard disk nor a flash cache in front of one",
                "choose such a device from `wordline devices`, for example disk-average",
            ));
        };
        let mut plan = disk.plan.clone();
        if plan.model.sectors().is_none() {
            plan.capacity_bytes = plan.capacity_bytes.max(WITHOUT_POSITIONS_BYTES);
        }
        let sectors = page_bytes.div_ceil(SECTOR_BYTES);
        let places = disk.plan.capacity_bytes / SECTOR_BYTES / sectors;
        if places == 0 {
            return Err(CacheError::argument(
                format!("disk {}", device.name),
                format!("the disk is smaller than a page of {page_bytes} bytes"),
                "choose a larger disk",
            ));
        }
        Ok(Self {
            name: device.name.clone(),
            read_us: disk.plan.page_us(page_bytes, false),
            write_us: disk.plan.page_us(page_bytes, true),
            found_by: match disk.plan.model {
                Timed::Constant(_) | Timed::Average(_) => "keys",
                Timed::Positioned(_) => "random-accesses",
            }
            .to_owned(),
            plan,
        })
    }
}
