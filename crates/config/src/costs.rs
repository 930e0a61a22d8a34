//! Mean times of single flash and disk operations, for models that compare their costs.

use wordline_block::Specification;
use wordline_nand::transaction::Operation;
use wordline_partition::Costs;

/// Times of operations on an idle flash device, including the bus. Means over the pages of a block.
/// Microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct FlashCosts {
    pub read_us: f64,
    pub program_us: f64,
    /// Time of a page relocation by GC, by copyback if the device uses it.
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

/// Returns the costs of a flash device and of an idle disk with its controller. A disk access has
/// the size of a flash page.
pub fn costs(flash: &wordline_ssd::Plan, disk: &wordline_hdd::Plan) -> Costs {
    let page_bytes = u64::from(flash.page_bytes);
    before(
        flash,
        disk.page_us(page_bytes, false),
        disk.page_us(page_bytes, true),
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
