//! A NAND package stepped tick by tick: plain, slow and obvious, to hold the event-driven one
//! against.
//!
//! Time is a count of ticks. Whatever lasts is a counter that every tick makes smaller by one;
//! there is no event queue and nobody computes when something will happen. Durations are small
//! whole numbers, so that happenings often fall on the same instant.
#![allow(dead_code)] // each test takes what it needs

pub mod bus;
pub mod cells;
pub mod chain;
pub mod die;
pub mod package;
pub mod pair;
pub mod plan;
pub mod play;
pub mod script;
pub mod sheet;

pub use bus::Bus;
pub use cells::{Cells, Place};
pub use die::{Cycle, Die, Output};

/// Picoseconds of a tick. A microsecond: the reset times of ONFI are then a few ticks.
pub const TICK_PS: u64 = 1_000_000;

/// What a part is and how long it takes. Durations in ticks.
#[derive(Clone, Debug)]
pub struct Part {
    /// Dies on the bus.
    pub dies: usize,
    /// Planes of a die.
    pub planes: usize,
    /// Blocks of a plane.
    pub blocks: usize,
    /// Pages of a block.
    pub pages: usize,
    /// User bytes of a page; a byte takes a tick on the bus.
    pub page_bytes: u32,
    /// Spare bytes of a page.
    pub spare_bytes: u32,
    /// Whether a chain moves the spare bytes too.
    pub transfer_spare: bool,
    /// Column address cycles.
    pub column_cycles: usize,
    /// Row address cycles.
    pub row_cycles: usize,
    /// tC.
    pub cycle: u32,
    /// tR, by page.
    pub read: Vec<u32>,
    /// tPROG, by page.
    pub program: Vec<u32>,
    /// tBERS.
    pub erase: u32,
    /// tREG.
    pub register: u32,
    /// tDBSY.
    pub plane_busy: u32,
    /// Suspend latency of a program; `None` if the part cannot.
    pub program_suspend: Option<u32>,
    /// Suspend latency of an erase; `None` if the part cannot.
    pub erase_suspend: Option<u32>,
    /// Resume latency.
    pub resume: u32,
    /// Programs of a page between two erases.
    pub partial_programs: u32,
    /// Erases that a block bears.
    pub endurance: u32,
    /// Whether planes that work together must work on the same block offset.
    pub same_block: bool,
    /// Whether a chain waits for R/B#, and reads no status.
    pub pins: bool,
}

impl Part {
    /// Bytes of a page with its spare.
    pub fn whole_page(&self) -> u32 {
        self.page_bytes + self.spare_bytes
    }
    /// Bytes that a chain moves for a page.
    pub fn moved_bytes(&self) -> u32 {
        self.page_bytes
            + if self.transfer_spare {
                self.spare_bytes
            } else {
                0
            }
    }
    /// Address cycles that follow a first command.
    pub fn address_cycles(&self, first: u8) -> usize {
        match first {
            0x05 => self.column_cycles,
            0x60 => self.row_cycles,
            _ => self.column_cycles + self.row_cycles,
        }
    }
    /// The place that the address cycles behind a first command name, if there is one. A column
    /// alone names the first place.
    pub fn address(&self, first: u8, bytes: &[u8]) -> Option<Place> {
        let little_endian = |bytes: &[u8]| {
            let mut value = 0_u64;
            for byte in bytes.iter().rev() {
                value = value << 8 | u64::from(*byte);
            }
            value
        };
        let columns = if first == 0x60 { 0 } else { self.column_cycles };
        let (column, row) = bytes.split_at(columns);
        if little_endian(column) >= u64::from(self.whole_page()) {
            return None;
        }
        self.place(little_endian(row))
    }
    /// The row address of a place.
    pub fn row(&self, place: Place) -> u64 {
        let pages = bits(self.pages);
        let planes = bits(self.planes);
        place.page as u64 | (place.plane as u64) << pages | (place.block as u64) << (pages + planes)
    }
    /// The place of a row address, if there is one.
    pub fn place(&self, row: u64) -> Option<Place> {
        let mut row = row;
        let mut field = |width: u32| {
            let value = row & ((1 << width) - 1);
            row >>= width;
            value as usize
        };
        let page = field(bits(self.pages));
        let plane = field(bits(self.planes));
        let block = field(32);
        let known = page < self.pages && plane < self.planes && block < self.blocks;
        known.then_some(Place { plane, block, page })
    }
}

/// Bits that count `n` things: ceil(log2 n).
pub fn bits(n: usize) -> u32 {
    let mut width = 0;
    while (1 << width) < n {
        width += 1;
    }
    width
}

/// Why a cycle is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// The bus is held by another cycle. Changes nothing.
    BusBusy,
    /// RDY = 0. Changes nothing.
    Busy,
    /// The die has failed and waits for a reset.
    Failed,
    /// This cycle has no place here.
    Sequence,
    /// An address beyond the geometry.
    Address,
    /// Planes that may not work together.
    PlaneRule,
    /// The register holds no page.
    NoPage,
    /// More bytes than a page has, or none.
    Bytes,
    /// A cache read of other planes than the session's.
    SessionPlanes,
    /// A sequential cache read beyond the end of the block.
    EndOfBlock,
    /// A cache read that follows no read.
    NothingToContinue,
    /// A read of what is being programmed or erased and suspended.
    Suspended,
    /// A program beyond the block's next page.
    OutOfOrder,
    /// A program of a page that has had its programs.
    Programmed,
    /// A read of a page that was never programmed.
    NotProgrammed,
    /// An erase of a block at its endurance.
    WornOut,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::BusBusy,
        Self::Busy,
        Self::Failed,
        Self::Sequence,
        Self::Address,
        Self::PlaneRule,
        Self::NoPage,
        Self::Bytes,
        Self::SessionPlanes,
        Self::EndOfBlock,
        Self::NothingToContinue,
        Self::Suspended,
        Self::OutOfOrder,
        Self::Programmed,
        Self::NotProgrammed,
        Self::WornOut,
    ];
}
