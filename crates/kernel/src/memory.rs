//! Memory that data structures will take, estimated before they are built.
//!
//! A table of zeroes takes address space when it is built, and memory only where it is written. A
//! limit on address space (`ulimit -v`) therefore counts more bytes than a limit on the memory of a
//! machine or control group.

use std::cell::Cell;
use std::mem::size_of;
use std::sync::atomic::{AtomicBool, Ordering};

static SHORT: AtomicBool = AtomicBool::new(false);

thread_local! {
    static ALLOCATING: Cell<bool> = const { Cell::new(false) };
    static DENSE: Cell<bool> = const { Cell::new(false) };
}

/// Reserves `bytes` of untouched memory, or returns `None`. Unlike an ordinary allocation, failure
/// does not abort the process.
pub fn try_allocate(bytes: u64) -> Option<Vec<u8>> {
    let mut room = Vec::new();
    let size = usize::try_from(bytes).ok()?;
    ALLOCATING.set(true);
    let given = room.try_reserve_exact(size);
    ALLOCATING.set(false);
    given.is_ok().then_some(room)
}

/// Returns `true` if this thread is in [`try_allocate`], so that the allocator may refuse.
pub fn is_trying() -> bool {
    ALLOCATING.try_with(Cell::get).unwrap_or(false)
}

/// Runs `build`. If `is_dense` is set, the structure that it builds will be written nearly
/// everywhere before it is used. An allocator may back its large tables with huge pages, which cost
/// less than many small pages but take memory where a small page would not.
pub fn dense<T>(is_dense: bool, build: impl FnOnce() -> T) -> T {
    let before = DENSE.replace(is_dense);
    let built = build();
    DENSE.set(before);
    built
}

/// Returns `true` if this thread is in [`dense`] with `is_dense` set.
pub fn is_dense() -> bool {
    DENSE.try_with(Cell::get).unwrap_or(false)
}

/// Records whether memory is short. The allocator sets `true` when it has refused memory and keeps
/// the remainder for an orderly end of the work, and `false` when there is enough again.
pub fn set_short(short: bool) {
    SHORT.store(short, Ordering::Relaxed);
}

/// Returns the last value of [`set_short`]; `false` at first. If it is `true`, the work must end
/// before it needs more memory.
#[inline]
pub fn is_short() -> bool {
    SHORT.load(Ordering::Relaxed)
}

/// Table and the memory that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Content of the table, in a few words.
    pub name: &'static str,
    /// Address space. Bytes.
    pub reserved: u64,
    /// Resident memory after preconditioning. Bytes.
    pub prepared: u64,
    /// Maximum resident memory, when the whole table has been written. Bytes.
    pub most: u64,
}

impl Table {
    /// Estimates a table of `count` elements that start as zero and are untouched until they are
    /// written. The share `prepared` is written before the run.
    pub fn zeroed<T>(name: &'static str, count: u64, prepared: f64) -> Self {
        let bytes = count.saturating_mul(size_of::<T>() as u64);
        Self {
            name,
            reserved: bytes,
            prepared: (bytes as f64 * prepared.clamp(0.0, 1.0)) as u64,
            most: bytes,
        }
    }
    /// Estimates a table of `count` elements that are written when the table is built.
    pub fn written<T>(name: &'static str, count: u64) -> Self {
        Self::zeroed::<T>(name, count, 1.0)
    }
    /// Estimates a table of up to `count` elements that are added one by one during the run.
    pub fn grown<T>(name: &'static str, count: u64) -> Self {
        let most = Self::written::<T>(name, count).most;
        Self {
            name,
            reserved: 0,
            prepared: 0,
            most,
        }
    }
}

/// Shares of a device that are in use at the start of a run. Ratios, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fill {
    /// Share of logical pages that have been written.
    pub logical: f64,
    /// Share of physical pages that have been programmed at least once.
    pub physical: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroed_tables_take_address_space_at_once_and_memory_when_written() {
        let table = Table::zeroed::<u32>("map", 1000, 0.25);
        assert_eq!(
            (table.reserved, table.prepared, table.most),
            (4000, 1000, 4000)
        );
    }

    #[test]
    fn dense_setting_applies_only_while_the_structure_is_built() {
        assert!(!is_dense());
        let inner = dense(true, || (is_dense(), dense(false, is_dense), is_dense()));
        assert_eq!(inner, (true, false, true));
        assert!(!is_dense());
    }

    #[test]
    fn table_sizes_saturate_at_the_maximum() {
        assert_eq!(Table::written::<u64>("map", u64::MAX).most, u64::MAX);
    }
}
