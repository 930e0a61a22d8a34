//! What single operations of flash and disks take, for models that weigh one against the other.

use wordline_disk::SECTOR_BYTES;
use wordline_disk::extent::Extent;
use wordline_disk::model::Mechanism;
use wordline_kernel::{Stream, Time};
use wordline_nand::transaction::Operation;
use wordline_partition::Costs;

/// Accesses from which the mean of a disk is taken.
const PROBES: u64 = 1 << 12;

/// Of an idle flash device, with its bus, and an idle disk, with its controller. Microseconds.
pub fn costs(flash: &wordline_device::Plan, disk: &wordline_disk::Plan) -> Costs {
    let (chains, layout) = (&flash.part.chains, &flash.part.layout);
    let mean = |operation| {
        let of = |offset| chains.unloaded(operation, offset).as_us();
        (0..layout.pages_per_block).map(of).sum::<f64>() / f64::from(layout.pages_per_block.max(1))
    };
    let (read_us, program_us) = (mean(Operation::Read), mean(Operation::Program));
    let page_bytes = u64::from(flash.page_bytes);
    Costs {
        read_us,
        program_us,
        copy_us: if flash.internal_data_move {
            mean(Operation::Move)
        } else {
            read_us + program_us
        },
        erase_us: chains.unloaded(Operation::Erase, 0).as_us(),
        disk_read_us: disk_us(disk, page_bytes, false),
        disk_write_us: disk_us(disk, page_bytes, true),
    }
}

/// The mean time of accesses to pages at random places, some time after each other, so that platters stand anywhere.
fn disk_us(disk: &wordline_disk::Plan, page_bytes: u64, write: bool) -> f64 {
    let mut model = disk.model.clone();
    let sectors = page_bytes.div_ceil(SECTOR_BYTES);
    let places = (disk.capacity_bytes / SECTOR_BYTES / sectors).max(1);
    let mut random = Stream::new(0, "costs.disk");
    let (mut now, mut busy) = (Time::ZERO, Time::ZERO);
    for _ in 0..PROBES {
        now = now + Time::from_us(random.below(1 << 14));
        let extent = Extent {
            lbn: random.below(places) * sectors,
            sectors,
        };
        let took = model.access(now, extent, write, now).total();
        now = now + took;
        busy = busy + took;
    }
    busy.as_us() / PROBES as f64 + disk.command_us(write)
}
