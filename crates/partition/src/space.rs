//! What a policy is told of the flash, of what lies below it and of requests.

use serde::{Deserialize, Serialize};

/// What operations take. Microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Costs {
    /// A page is read from flash.
    pub read_us: f64,
    /// A page is programmed.
    pub program_us: f64,
    /// A collection moves a page: by copyback, or by a read and a program.
    pub copy_us: f64,
    /// A block is erased.
    pub erase_us: f64,
    /// The disk reads a page, its transfer included.
    pub disk_read_us: f64,
    /// The disk writes a page, its transfer included.
    pub disk_write_us: f64,
}

impl Costs {
    /// Of OP-FCL's table 2: SLC flash with 100 us for a page on the bus and copyback without, a disk whose mean
    /// positioning is 4.5 and 4.9 ms and which transfers 4 KiB at 72 MB/s.
    pub const PUBLISHED: Self = Self {
        read_us: 125.0,
        program_us: 300.0,
        copy_us: 225.0,
        erase_us: 1500.0,
        disk_read_us: 4500.0 + 4096.0 / 72.0,
        disk_write_us: 4900.0 + 4096.0 / 72.0,
    };
}

/// The space that is divided.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Space {
    /// All physical pages (C_total).
    pub total_pages: u32,
    /// Pages of a block (N_P).
    pub pages_per_block: u32,
    /// Pages that never hold what is cached: the free ones below which collections start, and those of block summaries.
    pub threshold_pages: u32,
    /// Size of a page.
    pub page_bytes: u32,
    /// Pages that are cached at the start.
    pub start_pages: u32,
    /// Pages that can be cached such that collections still find something to gain.
    pub most_pages: u32,
    /// What operations take.
    pub costs: Costs,
}

impl Space {
    /// Bytes of flash.
    pub fn total_bytes(&self) -> u64 {
        u64::from(self.total_pages) * u64::from(self.page_bytes)
    }
    /// Pages that are cached at the start, if collections can bear them.
    pub fn first_pages(&self) -> u32 {
        self.start_pages.min(self.most_pages)
    }
}

/// Pages of the two lists. A cache without lists of their own for reads and writes has all in `write`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sizes {
    /// For what was read and not written since.
    pub read: u32,
    /// For what was written and not destaged.
    pub write: u32,
}

impl Sizes {
    /// All that is cached.
    pub fn pages(self) -> u32 {
        self.read.saturating_add(self.write)
    }
    /// Of `pages`, a share for reads, rounded to the nearest page.
    pub fn split(pages: u32, read_ratio: f64) -> Self {
        let read = (f64::from(pages) * read_ratio).round() as u32;
        let read = read.min(pages);
        let write = pages - read;
        Self { read, write }
    }
}

/// What a page of a request is to the lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// A read of what the write list does not hold.
    Read,
    /// A read of what the write list holds.
    ReadOfWritten,
    /// A write.
    Write,
}
