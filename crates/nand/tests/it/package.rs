//! Transactions that a package rejects: invalid ones, those that the state of the array forbids,
//! and those submitted in the past.
#![allow(clippy::unwrap_used, clippy::panic)] // test code, also outside test functions

use wordline_kernel::Time;
use wordline_nand::{
    Cell, Completion, Geometry, Layout, Operation, Package, Part, Plane, PlaneRule, Ppn,
    SubmitError, Timing, Transaction, TransactionError, Violation,
};

const LAYOUT: Layout = Layout {
    dies: 2,
    planes_per_die: 2,
    blocks_per_plane: 3,
    pages_per_block: 4,
};

fn part() -> Part {
    Part::new(
        LAYOUT,
        &Geometry::default(),
        &Timing::default(),
        &Cell::default(),
    )
}

/// Returns the page at offset `place` of a block; planes are numbered over both dies.
fn page(plane: u32, block: u32, place: u32) -> Ppn {
    LAYOUT.page(LAYOUT.block(Plane(plane), block), place)
}

fn refusal(operation: Operation, pages: &[Ppn], targets: &[Ppn], planes: u32) -> TransactionError {
    let transaction = Transaction {
        operation,
        pages,
        targets,
        planes,
    };
    transaction
        .check(&LAYOUT, PlaneRule::PageAndBlockOffset)
        .unwrap_err()
}

#[test]
fn invalid_transaction_is_rejected_with_its_fault() {
    use Operation::{Erase, Move, Program, Read};
    let ok = page(0, 0, 0);
    let says = |error: TransactionError, words: &str| {
        assert!(error.to_string().contains(words), "{error}");
    };
    says(
        refusal(Read, &[], &[], 1),
        "0 pages cannot be divided into rows of 1",
    );
    says(refusal(Read, &[ok], &[], 0), "rows of 0");
    says(
        refusal(Read, &[ok, ok, ok], &[], 2),
        "3 pages cannot be divided",
    );
    says(
        refusal(Read, &[Ppn(48)], &[], 1),
        "page 48 is out of range; the part has 48 pages",
    );
    says(
        refusal(Erase, &[ok, page(0, 1, 0)], &[], 1),
        "erase of 2 rows",
    );
    says(
        refusal(Move, &[ok], &[], 1),
        "move of 1 pages with 0 targets",
    );
    says(
        refusal(Read, &[ok], &[ok], 1),
        "read of 1 pages with 1 targets",
    );
    says(
        refusal(Read, &[ok, page(2, 0, 0)], &[], 2),
        "die 1, plane 0, block 0, page 0 and die 0, plane 0",
    );
    says(
        refusal(Read, &[ok, page(0, 1, 0)], &[], 2),
        "is in the same plane as die 0, plane 0, block 0",
    );
    says(
        refusal(Program, &[ok, page(1, 0, 1)], &[], 2),
        "violate the plane rule",
    );
    says(
        refusal(Program, &[ok, page(1, 1, 0)], &[], 2),
        "violate the plane rule",
    );
    says(
        refusal(Erase, &[ok, page(1, 1, 0)], &[], 2),
        "violate the plane rule",
    );
    says(
        refusal(Read, &[ok, page(1, 0, 0)], &[], 1),
        "the rows of a cache read use the same planes",
    );
    says(
        refusal(Move, &[ok], &[page(1, 0, 0)], 1),
        "the data register belongs to one plane",
    );
    // The page offset of an erase does not matter, and under the weaker rule block offsets may
    // differ.
    let erase = Transaction {
        operation: Erase,
        pages: &[ok, page(1, 1, 3)],
        targets: &[],
        planes: 2,
    };
    assert_eq!(erase.check(&LAYOUT, PlaneRule::PageOffset), Ok(()));
}

fn done(package: &mut Package, operation: Operation, pages: &[Ppn], planes: u32) -> Completion {
    let transaction = Transaction {
        operation,
        pages,
        targets: &[],
        planes,
    };
    package.submit(package.now(), &transaction).unwrap();
    package.next_completion().unwrap()
}

#[test]
fn an_operation_forbidden_by_the_array_ends_with_a_status_read() {
    let mut package = Package::new(&part(), true);
    let failed = done(&mut package, Operation::Program, &[page(0, 0, 1)], 1);
    assert!(matches!(failed.result, Err(Violation::OutOfOrder { .. })));
    // The bus carries 7 cycles of 25 ns and 4,096 bytes at 333 MT/s, then a status read of 2
    // cycles. No array time is used.
    let bus = Time::from_ns(9 * 25) + Time::from_ps(12_300_300);
    assert_eq!(failed.completed - failed.started, bus);
    let failed = done(&mut package, Operation::Read, &[page(0, 0, 0)], 1);
    assert!(matches!(
        failed.result,
        Err(Violation::NotProgrammed { .. })
    ));
    // The failed operations have no effect: the die accepts the next one.
    let program = done(&mut package, Operation::Program, &[page(0, 0, 0)], 1);
    assert_eq!(program.result, Ok(()));
    assert_eq!(
        program.completed - program.started,
        bus + Time::from_us(500)
    );
    let failed = done(&mut package, Operation::Program, &[page(0, 0, 0)], 1);
    assert!(matches!(failed.result, Err(Violation::NotErased { .. })));
}

#[test]
fn a_multi_plane_command_changes_all_planes_or_none() {
    let mut package = Package::new(&part(), true);
    done(&mut package, Operation::Program, &[page(1, 0, 0)], 1);
    let both = [page(0, 0, 0), page(1, 0, 0)];
    let failed = done(&mut package, Operation::Program, &both, 2);
    assert!(matches!(failed.result, Err(Violation::NotErased { .. })));
    assert_eq!(package.array().programmed(LAYOUT.block_of(both[0])), 0);
    let endurance = Part {
        endurance_cycles: 1,
        ..part()
    };
    let mut package = Package::new(&endurance, true);
    assert_eq!(
        done(&mut package, Operation::Erase, &[both[1]], 1).result,
        Ok(())
    );
    let failed = done(&mut package, Operation::Erase, &both, 2);
    assert!(matches!(failed.result, Err(Violation::WornOut { .. })));
    assert_eq!(package.array().erases().iter().sum::<u32>(), 1);
}

#[test]
fn a_cache_program_ends_at_its_first_failure() {
    let mut package = Package::new(&part(), true);
    let rows = [page(0, 0, 0), page(0, 0, 1), page(0, 0, 3), page(0, 1, 0)];
    let failed = done(&mut package, Operation::Program, &rows, 1);
    assert!(matches!(
        failed.result,
        Err(Violation::OutOfOrder { expected: 2, .. })
    ));
    assert_eq!(package.array().programmed(LAYOUT.block_of(rows[0])), 2);
    assert_eq!(package.array().programmed(LAYOUT.block_of(rows[3])), 0);
}

#[test]
fn transactions_cannot_be_submitted_in_the_past() {
    let mut package = Package::new(&part(), true);
    done(&mut package, Operation::Erase, &[page(0, 0, 0)], 1);
    let late = Transaction {
        operation: Operation::Erase,
        pages: &[page(0, 1, 0)],
        targets: &[],
        planes: 1,
    };
    let error = package.submit(Time::ZERO, &late).unwrap_err();
    assert!(matches!(error, SubmitError::Late { at: Time::ZERO, .. }));
}
