//! How many legacy transactions the die model alone carries out in a CPU second.
//!
//! `cargo run --release -p wordline-nand --example speed [TRANSACTIONS]`
#![allow(clippy::print_stdout)]

use std::time::Instant;

use wordline_kernel::Time;
use wordline_nand::{
    Cell, Geometry, Layout, Operation, Package, Part, Plane, Ppn, Timing, Transaction,
};

/// Dies in turn; each erases a block and programs its pages in order, block after block.
fn step(layout: &Layout, number: u64) -> (Operation, Ppn) {
    let (dies, pages) = (u64::from(layout.dies), u64::from(layout.pages_per_block));
    let (die, step) = ((number % dies) as u32, number / dies);
    let (block, step) = (step / (pages + 1), (step % (pages + 1)) as u32);
    let plane = Plane(die * layout.planes_per_die);
    let block = layout.block(plane, (block % u64::from(layout.blocks_per_plane)) as u32);
    if step == 0 {
        return (Operation::Erase, layout.page(block, 0));
    }
    (Operation::Program, layout.page(block, step - 1))
}

fn main() {
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let count: u64 = count.unwrap_or(5_000_000);
    for dies in [1, 2, 8] {
        let geometry = Geometry {
            dies_per_package: dies,
            ..Geometry::default()
        };
        let Some(layout) = Layout::new(&geometry, 1) else {
            return;
        };
        let part = Part::new(layout, &geometry, &Timing::default(), &Cell::default());
        let mut package = Package::new(&part, true);
        let begun = Instant::now();
        let (mut submitted, mut completed) = (0, 0);
        while completed < count {
            while submitted < count && package.outstanding() < u64::from(2 * dies) {
                let (operation, page) = step(&layout, submitted);
                let transaction = Transaction {
                    operation,
                    pages: &[page],
                    targets: &[],
                    planes: 1,
                };
                if package.submit(package.now(), &transaction).is_err() {
                    return;
                }
                submitted += 1;
            }
            let done = package.next_completion();
            completed += u64::from(done.is_some_and(|done| done.result.is_ok()));
        }
        let seconds = begun.elapsed().as_secs_f64();
        let rate = count as f64 / seconds / 1e6;
        println!(
            "{dies} dies: {rate:.2} M transactions/s, simulated {}",
            package.now().since(Time::ZERO)
        );
    }
}
