//! Inputs of a partition policy: flash, backing store and requests.

use serde::{Deserialize, Serialize};

/// Costs of operations. Microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Costs {
    /// Time to read a page from flash.
    pub read_us: f64,
    /// Time to program a page.
    pub program_us: f64,
    /// Time to relocate a page in GC: copyback, or a read and a program.
    pub copy_us: f64,
    /// Time to erase a block.
    pub erase_us: f64,
    /// Time to read a page from the disk, including its transfer.
    pub disk_read_us: f64,
    /// Time to write a page to the disk, including its transfer.
    pub disk_write_us: f64,
}

impl Costs {
    /// Costs in OP-FCL's table 2. The SLC flash takes 100 us per page on the bus, and has copyback
    /// without a transfer. The disk has mean positioning times of 4.5 and 4.9 ms, and transfers 4
    /// KiB at 72 MB/s.
    pub const PUBLISHED: Self = Self {
        read_us: 125.0,
        program_us: 300.0,
        copy_us: 225.0,
        erase_us: 1500.0,
        disk_read_us: 4500.0 + 4096.0 / 72.0,
        disk_write_us: 4900.0 + 4096.0 / 72.0,
    };
}

/// Flash space that a policy divides.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Space {
    /// Physical pages (C_total).
    pub total_pages: u32,
    /// Pages per block (N_P).
    pub pages_per_block: u32,
    /// Pages that never hold cached data: the free pages below which GC starts, and those of block
    /// summaries.
    pub threshold_pages: u32,
    /// Size of a page. Bytes.
    pub page_bytes: u32,
    /// Initial number of cached pages.
    pub start_pages: u32,
    /// Maximum number of cached pages that GC can sustain.
    pub most_pages: u32,
    /// Costs of operations.
    pub costs: Costs,
}

impl Space {
    /// Returns the size of the flash in bytes.
    pub fn total_bytes(&self) -> u64 {
        u64::from(self.total_pages) * u64::from(self.page_bytes)
    }
    /// Returns the initial number of cached pages, limited to what GC can sustain.
    pub fn first_pages(&self) -> u32 {
        self.start_pages.min(self.most_pages)
    }
}

/// Sizes of the two lists in pages. A cache with one list has all pages in `write`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sizes {
    /// Pages in the read list, which were read and have not been written since.
    pub read: u32,
    /// Pages in the write list, which were written and have not been destaged.
    pub write: u32,
}

impl Sizes {
    /// Returns the number of cached pages.
    pub fn pages(self) -> u32 {
        self.read.saturating_add(self.write)
    }
    /// Divides `pages` between the lists: the share `read_ratio` for reads, rounded to the nearest
    /// page.
    pub fn split(pages: u32, read_ratio: f64) -> Self {
        let read = (f64::from(pages) * read_ratio).round() as u32;
        let read = read.min(pages);
        let write = pages - read;
        Self { read, write }
    }
}

/// Kind of a page access, as seen by the lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// Read of a page that is not in the write list.
    Read,
    /// Read of a page in the write list.
    ReadOfWritten,
    /// Write of a page.
    Write,
}
