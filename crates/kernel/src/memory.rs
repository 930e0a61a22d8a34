//! What structures will take of the memory of the machine, told before they are built.
//!
//! A table of zeroes takes address space when it is built and memory only where it is written to. What
//! counts against a limit on address space (`ulimit -v`) is therefore not what counts against the memory
//! that a machine or a control group has.

use std::cell::Cell;
use std::mem::size_of;
use std::sync::atomic::{AtomicBool, Ordering};

static SHORT: AtomicBool = AtomicBool::new(false);

thread_local! {
    static ASKING: Cell<bool> = const { Cell::new(false) };
    static DENSE: Cell<bool> = const { Cell::new(false) };
}

/// Room for `bytes`, untouched, if there is any: unlike that of a table that is simply built, its refusal
/// does not end the process.
pub fn ask(bytes: u64) -> Option<Vec<u8>> {
    let mut room = Vec::new();
    let size = usize::try_from(bytes).ok()?;
    ASKING.set(true);
    let given = room.try_reserve_exact(size);
    ASKING.set(false);
    given.is_ok().then_some(room)
}

/// Whether this thread is in [`ask`]: an allocator may refuse.
pub fn is_asking() -> bool {
    ASKING.try_with(Cell::get).unwrap_or(false)
}

/// Builds what will be written to nearly everywhere before it is used: an allocator may back its large tables with large pages,
/// which cost less to come by than as many small ones, and take memory where a small one would not.
pub fn dense<T>(is_dense: bool, build: impl FnOnce() -> T) -> T {
    let before = DENSE.replace(is_dense);
    let built = build();
    DENSE.set(before);
    built
}

/// Whether this thread is in [`dense`].
pub fn is_dense() -> bool {
    DENSE.try_with(Cell::get).unwrap_or(false)
}

/// An allocator says that memory was refused, and that what is left is for work to end itself; or that there is enough again.
pub fn set_short(short: bool) {
    SHORT.store(short, Ordering::Relaxed);
}

/// Whether memory was refused since the work began: it is to end itself, before it grows.
#[inline]
pub fn is_short() -> bool {
    SHORT.load(Ordering::Relaxed)
}

/// A table and the bytes it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// What it holds, in a few words.
    pub name: &'static str,
    /// Address space.
    pub reserved: u64,
    /// Resident memory once the device has been brought into its state.
    pub prepared: u64,
    /// Resident memory at most, when all of it has been written to.
    pub most: u64,
}

impl Table {
    /// `count` elements of a type that is zero at first, and untouched until it is written to; of
    /// which the share `prepared` is written to before the run.
    pub fn zeroed<T>(name: &'static str, count: u64, prepared: f64) -> Self {
        let bytes = count.saturating_mul(size_of::<T>() as u64);
        Self {
            name,
            reserved: bytes,
            prepared: (bytes as f64 * prepared.clamp(0.0, 1.0)) as u64,
            most: bytes,
        }
    }
    /// `count` elements of a type that are written to as the table is built.
    pub fn written<T>(name: &'static str, count: u64) -> Self {
        Self::zeroed::<T>(name, count, 1.0)
    }
    /// `count` elements of a type that come one by one, during the run.
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

/// How much of a device is in use when a run begins. Ratios, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fill {
    /// Logical pages that have been written.
    pub logical: f64,
    /// Physical pages that have been programmed at least once.
    pub physical: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroes_cost_address_space_at_once_and_memory_as_they_are_written() {
        let table = Table::zeroed::<u32>("map", 1000, 0.25);
        assert_eq!(
            (table.reserved, table.prepared, table.most),
            (4000, 1000, 4000)
        );
    }

    #[test]
    fn what_is_built_dense_is_so_while_it_is_built() {
        assert!(!is_dense());
        let inner = dense(true, || (is_dense(), dense(false, is_dense), is_dense()));
        assert_eq!(inner, (true, false, true));
        assert!(!is_dense());
    }

    #[test]
    fn more_than_can_be_counted_is_the_most_that_can() {
        assert_eq!(Table::written::<u64>("map", u64::MAX).most, u64::MAX);
    }
}
