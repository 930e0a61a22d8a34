//! Sectors of a page, as bit masks.

use serde::{Deserialize, Serialize};

/// Set of sectors of a page.
pub(super) type Sectors = u64;

/// Division of a page into sectors of equal size; the last one may be short.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Grid {
    pub page_bytes: u32,
    sector_bytes: u32,
}

impl Grid {
    /// Divides a page into sectors of 512 bytes, or into larger ones if the mask has fewer bits
    /// than the page has such sectors.
    pub fn new(page_bytes: u32) -> Self {
        let sector_bytes = page_bytes.div_ceil(Sectors::BITS).max(512);
        Self {
            page_bytes,
            sector_bytes,
        }
    }
    /// Returns the number of sectors per page.
    pub fn sectors(self) -> u32 {
        self.page_bytes.div_ceil(self.sector_bytes)
    }
    /// Returns the set of all sectors.
    pub fn all(self) -> Sectors {
        Sectors::MAX >> (Sectors::BITS - self.sectors())
    }
    /// Returns the set of sectors from `from` to `until`, exclusive.
    fn span(from: u32, until: u32) -> Sectors {
        let below = |sector: u32| {
            Sectors::MAX
                .checked_shl(sector)
                .map_or(Sectors::MAX, |mask| !mask)
        };
        below(until) & !below(from)
    }
    /// Returns the sectors that a byte range touches.
    pub fn touched(self, from: u32, bytes: u32) -> Sectors {
        Self::span(
            from / self.sector_bytes,
            (from + bytes).div_ceil(self.sector_bytes),
        )
    }
    /// Returns the sectors that a byte range covers completely. The last sector of a page may be
    /// short.
    pub fn covered(self, from: u32, bytes: u32) -> Sectors {
        let end = from + bytes;
        let until = if end == self.page_bytes {
            end.div_ceil(self.sector_bytes)
        } else {
            end / self.sector_bytes
        };
        let first = from.div_ceil(self.sector_bytes);
        if first >= until {
            0
        } else {
            Self::span(first, until)
        }
    }
    /// Returns the offset and length of the byte range from the first to the last sector of a set.
    /// Bytes.
    pub fn bytes_of(self, sectors: Sectors) -> (u32, u32) {
        let from = sectors.trailing_zeros() * self.sector_bytes;
        let until = (Sectors::BITS - sectors.leading_zeros()) * self.sector_bytes;
        (from, until.min(self.page_bytes) - from)
    }
    /// Returns the number of bytes in a set of sectors. The last sector of a page may be short.
    pub fn length_of(self, sectors: Sectors) -> u32 {
        let last = 1 << (self.sectors() - 1);
        let short = self.sectors() * self.sector_bytes - self.page_bytes;
        let length = sectors.count_ones() * self.sector_bytes;
        length - if sectors & last == 0 { 0 } else { short }
    }
}
