//! Row and column addresses as bus cycles (ONFI, "Addressing").

use serde::{Deserialize, Serialize};

use crate::command::{Cycle, Rule};
use crate::{Geometry, Timing};

/// Page of a die. In an erase, it stands for its block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Row {
    /// Plane in the die.
    pub plane: u32,
    /// Block in its plane.
    pub block: u32,
    /// Page in its block.
    pub page: u32,
}

/// Division of an address into cycles: column cycles, then row cycles, the least significant byte
/// first. From the least significant bit, a row consists of page in block, plane, and block in
/// plane. Each field has the bits that its count needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// Column address cycles. Count.
    pub column_cycles: u32,
    /// Row address cycles. Count.
    pub row_cycles: u32,
    columns: u64,
    pages: u32,
    planes: u32,
    blocks: u32,
}

impl Addressing {
    /// Builds the addressing of a part. If there are more row cycles than address cycles, all row
    /// cycles are kept and there are no column cycles.
    pub fn new(geometry: &Geometry, timing: &Timing) -> Self {
        Self {
            column_cycles: timing
                .address_cycles
                .saturating_sub(timing.row_address_cycles),
            row_cycles: timing.row_address_cycles,
            columns: u64::from(geometry.page_bytes) + u64::from(geometry.spare_bytes),
            pages: geometry.pages_per_block,
            planes: geometry.planes_per_die,
            blocks: geometry.blocks_per_plane,
        }
    }
    /// Returns the number of bits of a row address.
    pub fn row_bits(&self) -> u32 {
        bits(self.pages) + bits(self.planes) + bits(self.blocks)
    }
    /// Returns the column and row cycles of a page address.
    pub fn page(&self, row: Row, column: u64) -> Vec<Cycle> {
        let mut cycles = self.column(column);
        cycles.extend(self.row(row));
        cycles
    }
    /// Returns the column cycles alone, as used by 05h.
    pub fn column(&self, column: u64) -> Vec<Cycle> {
        cycles(u128::from(column), self.column_cycles)
    }
    /// Returns the row cycles alone, as used by 60h.
    pub fn row(&self, row: Row) -> Vec<Cycle> {
        let plane = u128::from(row.plane) << bits(self.pages);
        let block = u128::from(row.block) << (bits(self.pages) + bits(self.planes));
        cycles(u128::from(row.page) | plane | block, self.row_cycles)
    }
    /// Returns the row that the row cycles `row` address, or an error that names the field out of
    /// range.
    pub(super) fn decode(&self, row: u128) -> Result<Row, Rule> {
        let (row, page) = cut(row, self.pages);
        let (block, plane) = cut(row, self.planes);
        Ok(Row {
            page: field("page", page, self.pages)?,
            plane: field("plane", plane, self.planes)?,
            block: field("block", block, self.blocks)?,
        })
    }
    /// Returns an error if the column is outside the page and its spare area.
    pub(super) fn check_column(&self, column: u128) -> Result<(), Rule> {
        if column < u128::from(self.columns) {
            return Ok(());
        }
        Err(Rule::Beyond {
            field: "column",
            value: u64::try_from(column).unwrap_or(u64::MAX),
            count: self.columns,
        })
    }
}

/// Returns the number of bits needed to number `count` values: the logarithm to base 2, rounded up.
const fn bits(count: u32) -> u32 {
    u32::BITS - count.saturating_sub(1).leading_zeros()
}

/// Splits `row` into the bits above a field of `count` values, and the field.
fn cut(row: u128, count: u32) -> (u128, u128) {
    let bits = bits(count);
    (row >> bits, row & ((1 << bits) - 1))
}

fn field(field: &'static str, value: u128, count: u32) -> Result<u32, Rule> {
    match u32::try_from(value) {
        Ok(value) if value < count => Ok(value),
        _ => Err(Rule::Beyond {
            field,
            value: u64::try_from(value).unwrap_or(u64::MAX),
            count: u64::from(count),
        }),
    }
}

fn cycles(address: u128, count: u32) -> Vec<Cycle> {
    let byte = |cycle: u32| address.checked_shr(8 * cycle).unwrap_or(0) as u8;
    (0..count)
        .map(|cycle| Cycle::Address(byte(cycle)))
        .collect()
}
