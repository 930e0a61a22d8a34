//! What a run will take of memory, and what there is: told before anything is built.

pub mod limit;

use std::fmt;

use wordline_kernel::memory::{Table, ask};

pub use limit::{Limit, Limits, Of};

/// What else a run takes: code that is loaded, buffers of the reader and of the allocator. Bytes.
const BESIDE: u64 = 6 << 20;

/// What a run will take of memory, table by table. Bytes, beside what the process has already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    tables: Vec<(Table, &'static str)>,
}

impl Estimate {
    /// Of these tables alone, whose size is that of a package.
    pub fn of(tables: &[Table]) -> Self {
        let beside = Table::written::<u8>("everything else", BESIDE);
        let mut estimate = Self { tables: Vec::new() };
        estimate.add([beside], "");
        estimate.add(tables.iter().copied(), GEOMETRY);
        estimate
    }
    /// Adds tables that grow with `key`, a key or an option.
    pub fn add(&mut self, tables: impl IntoIterator<Item = Table>, key: &'static str) {
        self.tables
            .extend(tables.into_iter().map(|table| (table, key)));
    }
    /// The tables, and for each the key or option that it grows with.
    pub fn tables(&self) -> impl Iterator<Item = &(Table, &'static str)> {
        self.tables.iter()
    }
    fn sum(&self, of: impl Fn(&Table) -> u64) -> u64 {
        let sum = |sum: u64, (table, _): &(Table, _)| sum.saturating_add(of(table));
        self.tables.iter().fold(0, sum)
    }
    /// Address space that is taken when the devices are built.
    pub fn reserved(&self) -> u64 {
        self.sum(|table| table.reserved)
    }
    /// Resident memory once the devices have been brought into their state.
    pub fn prepared(&self) -> u64 {
        self.sum(|table| table.prepared)
    }
    /// Resident memory at most, however much is written.
    pub fn most(&self) -> u64 {
        self.sum(|table| table.most)
    }
    /// The key or option that the most grows with, of what `of` says.
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

    /// Refuses what cannot fit into memory: what is needed before the first request.
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

    /// What is said of a run that fits when it begins, and may not when more is written.
    pub fn note(&self, limits: &Limits) -> Option<String> {
        let resident = limits.all().filter(|limit| limit.of == Of::Resident);
        let tightest = resident.min_by_key(|limit| limit.left)?;
        (self.most() > tightest.left).then(|| {
            format!(
                "If all of the device is written to, the run takes {} of memory, and {} are left ({}): \
                 lower {}.",
                bytes(self.most()),
                bytes(tightest.left),
                tightest.source,
                self.to_lower(|table| table.most)
            )
        })
    }

    /// Asks for the address space of every large table, all at the same time, and gives it back: what is
    /// refused to this would be refused to the tables, in the middle of the work.
    fn reserve(&self) -> Result<(), MemoryError> {
        let mut held: Vec<Vec<u8>> = Vec::new();
        let large = self
            .tables
            .iter()
            .filter(|(table, _)| table.reserved > LARGE);
        for (table, key) in large {
            let Some(room) = ask(table.reserved) else {
                return Err(MemoryError {
                    needed: self.reserved(),
                    what: Of::AddressSpace,
                    left: held.iter().map(|room| room.capacity() as u64).sum(),
                    source: "the system gives no more".into(),
                    lower: key,
                });
            };
            held.push(room);
        }
        Ok(())
    }
}

/// Tables below this many bytes are not asked for by themselves.
const LARGE: u64 = 1 << 20;

/// What the size of a device follows from.
pub const GEOMETRY: &str = "nand.geometry.blocks_per_plane, or raise nand.geometry.page_bytes";

/// A run that does not fit into memory.
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
            Of::Resident => ", or precondition.fill_ratio",
            Of::AddressSpace => "",
        };
        let fill = if self.lower == GEOMETRY { fill } else { "" };
        let advice = if self.lower.starts_with("--") {
            format!("leave out {}", self.lower)
        } else {
            format!("lower {}{fill}", self.lower)
        };
        write!(
            f,
            "the run needs {} of {what}, and {} are left ({}); {advice}",
            bytes(self.needed),
            bytes(self.left),
            self.source,
        )
    }
}

impl std::error::Error for MemoryError {}

/// Bytes in words, to three figures.
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
