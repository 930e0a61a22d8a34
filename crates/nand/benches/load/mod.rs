//! Simplest load: each die erases one block after another and programs the pages of each in order.
//! Two transactions are outstanding per die.

use wordline_nand::{
    Cell, Geometry, Layout, Operation, Package, Part, Plane, Ppn, Timing, Transaction,
};

/// Idle package, and its layout.
pub struct Idle {
    layout: Layout,
    pub package: Package,
}

/// Returns an idle package of `count` dies.
pub fn dies(count: u32) -> Idle {
    let geometry = Geometry {
        dies_per_package: count,
        ..Geometry::default()
    };
    let layout = Layout::new(&geometry, 1)
        .unwrap_or_else(|| unreachable!("a few dies have fewer than 2^32 pages"));
    let part = Part::new(layout, &geometry, &Timing::default(), &Cell::default());
    Idle {
        layout,
        package: Package::new(&part, true),
    }
}

impl Idle {
    /// Executes `transactions` transactions.
    pub fn serve(&mut self, transactions: u64) {
        let (mut submitted, mut completed) = (0, 0);
        while completed < transactions {
            while submitted < transactions
                && self.package.outstanding() < u64::from(2 * self.layout.dies)
            {
                let (operation, page) = step(&self.layout, submitted);
                let transaction = Transaction {
                    operation,
                    pages: &[page],
                    targets: &[],
                    planes: 1,
                };
                let taken = self.package.submit(self.package.now(), &transaction);
                assert!(taken.is_ok(), "the package accepts the transaction");
                submitted += 1;
            }
            let done = self.package.next_completion();
            assert!(
                done.is_some_and(|done| done.result.is_ok()),
                "the transaction violates no rule of the array"
            );
            completed += 1;
        }
    }
}

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
