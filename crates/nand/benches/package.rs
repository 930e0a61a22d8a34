//! Instructions a transaction costs on a package by itself: a block erased, its pages programmed in
//! order, block after block, on one die and on eight.
#![allow(missing_docs, unused_qualifications)] // what the macros below make

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use wordline_nand::{
    Cell, Geometry, Layout, Operation, Package, Part, Plane, Ppn, Timing, Transaction,
};

const TRANSACTIONS: u64 = 20_000;

struct Idle {
    layout: Layout,
    package: Package,
}

fn dies(count: u32) -> Idle {
    let geometry = Geometry {
        dies_per_package: count,
        ..Geometry::default()
    };
    let layout = Layout::new(&geometry, 1).unwrap_or_else(|| unreachable!("it is small"));
    let part = Part::new(layout, &geometry, &Timing::default(), &Cell::default());
    Idle {
        layout,
        package: Package::new(&part, true),
    }
}

/// Dies in turn; each erases a block and programs its pages in order.
fn step(layout: &Layout, number: u64) -> (Operation, Ppn) {
    let (dies, pages) = (u64::from(layout.dies), u64::from(layout.pages_per_block));
    let (die, step) = ((number % dies) as u32, number / dies);
    let (block, step) = (step / (pages + 1), (step % (pages + 1)) as u32);
    let block = layout.block(Plane(die * layout.planes_per_die), block as u32);
    if step == 0 {
        return (Operation::Erase, layout.page(block, 0));
    }
    (Operation::Program, layout.page(block, step - 1))
}

/// Fails the benchmark above this many instructions a transaction.
fn ceiling(instructions: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.hard_limits([(EventKind::Ir, instructions * TRANSACTIONS)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

#[library_benchmark]
#[bench::one_die(args = (dies(1)), config = ceiling(1_643))]
#[bench::eight_dies(args = (dies(8)), config = ceiling(2_040))]
fn legacy(mut idle: Idle) -> Idle {
    let Idle { layout, package } = &mut idle;
    let (mut submitted, mut completed) = (0, 0);
    while completed < TRANSACTIONS {
        while submitted < TRANSACTIONS && package.outstanding() < u64::from(2 * layout.dies) {
            let (operation, page) = step(layout, submitted);
            let transaction = Transaction {
                operation,
                pages: &[page],
                targets: &[],
                planes: 1,
            };
            let taken = package.submit(package.now(), &transaction);
            assert!(taken.is_ok(), "the transaction is legal");
            submitted += 1;
        }
        let done = package.next_completion();
        completed += u64::from(done.is_some_and(|done| done.result.is_ok()));
    }
    idle
}

library_benchmark_group!(name = package, benchmarks = legacy);
main!(library_benchmark_groups = package);
