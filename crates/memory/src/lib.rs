//! Memory that a run will take and memory that is available, determined before anything is built.

pub mod limit;

use std::fmt;

use wordline_kernel::memory::{Table, try_allocate};

pub use limit::{Limit, Limits, Of};

/// Other memory of a run: loaded code, buffers of the reader and of the allocator. Bytes.
const OTHER: u64 = 6 << 20;

/// Memory that a run will take, per table, in addition to what the process already uses. Bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    tables: Vec<(Table, &'static str)>,
}

impl Estimate {
    /// Estimates the memory of `tables`, whose size depends on the geometry of a package, and the
    /// memory of a run outside tables. More tables can be added.
    pub fn of(tables: &[Table]) -> Self {
        let other = Table::written::<u8>("everything else", OTHER);
        let mut estimate = Self { tables: Vec::new() };
        estimate.add([other], "");
        estimate.add(tables.iter().copied(), GEOMETRY);
        estimate
    }
    /// Adds tables whose size depends on `key`, a configuration key or option.
    pub fn add(&mut self, tables: impl IntoIterator<Item = Table>, key: &'static str) {
        self.tables
            .extend(tables.into_iter().map(|table| (table, key)));
    }
    /// Returns the tables, each with the key or option that its size depends on.
    pub fn tables(&self) -> impl Iterator<Item = &(Table, &'static str)> {
        self.tables.iter()
    }
    fn sum(&self, of: impl Fn(&Table) -> u64) -> u64 {
        let sum = |sum: u64, (table, _): &(Table, _)| sum.saturating_add(of(table));
        self.tables.iter().fold(0, sum)
    }
    /// Returns the address space that is taken when the devices are built. Bytes.
    pub fn reserved(&self) -> u64 {
        self.sum(|table| table.reserved)
    }
    /// Returns the resident memory after preconditioning. Bytes.
    pub fn prepared(&self) -> u64 {
        self.sum(|table| table.prepared)
    }
    /// Returns the maximum resident memory, however much is written. Bytes.
    pub fn most(&self) -> u64 {
        self.sum(|table| table.most)
    }
    /// Returns the key or option that the most bytes, as counted by `of`, depend on.
    fn to_lower(&self, of: impl Fn(&Table) -> u64) -> &'static str {
        let mut keys: Vec<(&str, u64)> = Vec::new();
        for (table, key) in self.tables.iter().filter(|(_, key)| !key.is_empty()) {
            match keys.iter_mut().find(|(known, _)| known == key) {
                Some((_, bytes)) => *bytes = bytes.saturating_add(of(table)),
                None => keys.push((key, of(table))),
            }
        }
        let most = keys.into_iter().max_by_key(|&(_, bytes)| bytes);
        most.map_or(GEOMETRY, |(key, _)| key)
    }

    /// Returns an error if the memory needed before the first request exceeds a limit, or if the
    /// system refuses the address space of the large tables.
    pub fn check(&self, limits: &Limits) -> Result<(), MemoryError> {
        for limit in limits.all() {
            let (needed, key) = match limit.of {
                Of::AddressSpace => (self.reserved(), self.to_lower(|table| table.reserved)),
                Of::Resident => (self.prepared(), self.to_lower(|table| table.prepared)),
            };
            if needed > limit.left {
                return Err(MemoryError {
                    needed,
                    what: limit.of,
                    left: limit.left,
                    source: limit.source.clone(),
                    lower: key,
                });
            }
        }
        self.reserve()
    }

    /// Returns a warning if the run may exceed the resident memory available once the whole device
    /// is written; `None` if it fits even then, or if no limit of resident memory is known.
    pub fn note(&self, limits: &Limits) -> Option<String> {
        let resident = limits.all().filter(|limit| limit.of == Of::Resident);
        let tightest = resident.min_by_key(|limit| limit.left)?;
        (self.most() > tightest.left).then(|| {
            format!(
                "If the whole device is written, the run takes {} of memory, but only {} are available ({}); \
                 {}.",
                bytes(self.most()),
                bytes(tightest.left),
                tightest.source,
                advice(self.to_lower(|table| table.most))
            )
        })
    }

    /// Reserves the address space of all large tables at the same time, and releases it. A
    /// reservation that is refused here would otherwise be refused in the middle of the run.
    fn reserve(&self) -> Result<(), MemoryError> {
        let mut held: Vec<Vec<u8>> = Vec::new();
        let large = self
            .tables
            .iter()
            .filter(|(table, _)| table.reserved > LARGE);
        for (table, key) in large {
            let Some(room) = try_allocate(table.reserved) else {
                return Err(MemoryError {
                    needed: self.reserved(),
                    what: Of::AddressSpace,
                    left: held.iter().map(|room| room.capacity() as u64).sum(),
                    source: "the system refused to reserve more".into(),
                    lower: key,
                });
            };
            held.push(room);
        }
        Ok(())
    }
}

/// Size up to which tables are not reserved in the check. Bytes.
const LARGE: u64 = 1 << 20;

/// Keys to lower or raise for tables whose size depends on the geometry, as the end of a remedy.
pub const GEOMETRY: &str = "nand.geometry.blocks_per_plane, or raise nand.geometry.page_bytes";

/// Returns the change of `key`, a configuration key or option, that reduces the memory of a run.
fn advice(key: &str) -> String {
    let verb = if key.starts_with("--") {
        "leave out"
    } else if key.ends_with(".unit_bytes") {
        "raise"
    } else {
        "lower"
    };
    format!("{verb} {key}")
}

/// Error of a run that does not fit into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryError {
    needed: u64,
    what: Of,
    left: u64,
    source: String,
    lower: &'static str,
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            Of::AddressSpace => "address space",
            Of::Resident => "memory",
        };
        let fill = match self.what {
            Of::Resident => ", or lower precondition.fill_ratio",
            Of::AddressSpace => "",
        };
        let fill = if self.lower == GEOMETRY { fill } else { "" };
        let remedy = advice(self.lower);
        write!(
            f,
            "the run needs {} of {what}, but only {} are left ({}); {remedy}{fill}",
            bytes(self.needed),
            bytes(self.left),
            self.source,
        )
    }
}

impl std::error::Error for MemoryError {}

/// Formats a number of bytes with three significant digits.
pub fn bytes(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = count as f64 / 1024.0;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    let decimals = if size < 9.995 {
        2
    } else {
        usize::from(size < 99.95)
    };
    format!("{size:.decimals$} {}", units[unit])
}
