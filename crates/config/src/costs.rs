//! Mean times of single flash and disk operations, for models that weigh one against the other.

use wordline_hdd::SECTOR_BYTES;
use wordline_hdd::extent::Extent;
use wordline_hdd::model::Mechanism;
use wordline_kernel::{Rng, Time};
use wordline_nand::transaction::Operation;
use wordline_partition::Costs;

/// Accesses over which the mean of a disk is taken.
const PROBES: u64 = 1 << 12;

/// Times of operations on an idle flash device, bus included: means over the pages of a block.
/// Microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct FlashCosts {
    pub read_us: f64,
    pub program_us: f64,
    /// GC relocation of a page, by copyback where the device uses it.
    pub copy_us: f64,
    pub erase_us: f64,
}

/// Returns the operation times of a flash device.
pub fn of_flash(flash: &wordline_ssd::Plan) -> FlashCosts {
    let (chains, per_block) = (&flash.part.chains, flash.part.layout.pages_per_block);
    let mean = |operation| {
        let of = |offset| chains.unloaded(operation, offset).as_us();
        (0..per_block).map(of).sum::<f64>() / f64::from(per_block.max(1))
    };
    let (read_us, program_us) = (mean(Operation::Read), mean(Operation::Program));
    FlashCosts {
        read_us,
        program_us,
        copy_us: if flash.internal_data_move {
            mean(Operation::Move)
        } else {
            read_us + program_us
        },
        erase_us: chains.unloaded(Operation::Erase, 0).as_us(),
    }
}

/// Returns the costs of a flash device and of an idle disk with its controller, for accesses of one
/// flash page.
pub fn costs(flash: &wordline_ssd::Plan, disk: &wordline_hdd::Plan) -> Costs {
    let page_bytes = u64::from(flash.page_bytes);
    before(
        flash,
        of_disk(disk, page_bytes, false),
        of_disk(disk, page_bytes, true),
    )
}

/// Returns the costs of a flash device in front of a disk with these mean access times.
pub(crate) fn before(flash: &wordline_ssd::Plan, disk_read_us: f64, disk_write_us: f64) -> Costs {
    let FlashCosts {
        read_us,
        program_us,
        copy_us,
        erase_us,
    } = of_flash(flash);
    Costs {
        read_us,
        program_us,
        copy_us,
        erase_us,
        disk_read_us,
        disk_write_us,
    }
}

/// Returns the mean time in which an idle disk, with its controller, reads or writes a page. The
/// accesses are at random places and spaced apart, so that the platter angle is arbitrary.
/// Microseconds.
pub fn of_disk(disk: &wordline_hdd::Plan, page_bytes: u64, write: bool) -> f64 {
    let mut model = disk.model.clone();
    let sectors = page_bytes.div_ceil(SECTOR_BYTES);
    let places = (disk.capacity_bytes / SECTOR_BYTES / sectors).max(1);
    let mut random = Rng::new(0, "costs.disk");
    let (mut now, mut busy) = (Time::ZERO, Time::ZERO);
    for _ in 0..PROBES {
        now += Time::from_us(random.below(1 << 14));
        let extent = Extent {
            lbn: random.below(places) * sectors,
            sectors,
        };
        let took = model.access(now, extent, write, now).total();
        now += took;
        busy += took;
    }
    busy.as_us() / PROBES as f64 + disk.command_us(write)
}
