//! Reference model of a NAND package, stepped tick by tick. It is slow and simple, and checks the
//! event-driven model.
//!
//! Time is a count of ticks. Every duration is a counter that each tick decrements. There is no
//! event queue, and no code computes the time of a future event. Durations are small whole numbers,
//! so that events often coincide.
#![allow(dead_code)] // each test uses only some of it

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

/// Picoseconds per tick. One microsecond, so that the reset times of ONFI are a few ticks.
pub const TICK_PS: u64 = 1_000_000;

/// Properties of a part. Durations are in ticks.
#[derive(Clone, Debug)]
pub struct Part {
    /// Dies on the bus. Count.
    pub dies: usize,
    /// Planes per die. Count.
    pub planes: usize,
    /// Blocks per plane. Count.
    pub blocks: usize,
    /// Pages per block. Count.
    pub pages: usize,
    /// User bytes per page; one byte takes one tick on the bus.
    pub page_bytes: u32,
    /// Spare bytes per page.
    pub spare_bytes: u32,
    /// Whether a chain also transfers the spare bytes.
    pub transfer_spare: bool,
    /// Column address cycles. Count.
    pub column_cycles: usize,
    /// Row address cycles. Count.
    pub row_cycles: usize,
    /// Command or address cycle (tC).
    pub cycle: u32,
    /// Read time (tR) of each page of a block.
    pub read: Vec<u32>,
    /// Program time (tPROG) of each page of a block.
    pub program: Vec<u32>,
    /// Block erase (tBERS).
    pub erase: u32,
    /// Move between page registers (tREG).
    pub register: u32,
    /// Queueing of a plane (tDBSY).
    pub plane_busy: u32,
    /// Suspend latency of a program; `None` if the part cannot suspend it.
    pub program_suspend: Option<u32>,
    /// Suspend latency of an erase; `None` if the part cannot suspend it.
    pub erase_suspend: Option<u32>,
    /// Resume latency.
    pub resume: u32,
    /// Programs of a page between two erases. Count.
    pub partial_programs: u32,
    /// Erases that a block endures. Count.
    pub endurance: u32,
    /// Whether the planes of a command must use the same block offset.
    pub same_block: bool,
    /// Whether chains wait for the ready/busy pin instead of reading the status.
    pub pins: bool,
}

impl Part {
    /// Returns the number of bytes of a page with its spare area.
    pub fn whole_page(&self) -> u32 {
        self.page_bytes + self.spare_bytes
    }
    /// Returns the number of bytes that a chain transfers per page.
    pub fn moved_bytes(&self) -> u32 {
        self.page_bytes
            + if self.transfer_spare {
                self.spare_bytes
            } else {
                0
            }
    }
    /// Returns the number of address cycles that follow a first command.
    pub fn address_cycles(&self, first: u8) -> usize {
        match first {
            0x05 => self.column_cycles,
            0x60 => self.row_cycles,
            _ => self.column_cycles + self.row_cycles,
        }
    }
    /// Returns the page that the address cycles `bytes` of a first command address, if it exists. A
    /// column address alone refers to the first page.
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
    /// Returns the row address of a page.
    pub fn row(&self, place: Place) -> u64 {
        let pages = bits(self.pages);
        let planes = bits(self.planes);
        place.page as u64 | (place.plane as u64) << pages | (place.block as u64) << (pages + planes)
    }
    /// Returns the page at a row address, if it exists.
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

/// Returns the number of bits needed to number `n` values: ceil(log2 n).
pub fn bits(n: usize) -> u32 {
    let mut width = 0;
    while (1 << width) < n {
        width += 1;
    }
    width
}

/// Reason why a cycle is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Another cycle holds the bus. The state is unchanged.
    BusBusy,
    /// RDY = 0. The state is unchanged.
    Busy,
    /// The die has failed and waits for a reset.
    Failed,
    /// The cycle is not valid at this point of a sequence.
    Sequence,
    /// The address exceeds the geometry.
    Address,
    /// The planes may not be combined.
    PlaneRule,
    /// The register holds no page.
    NoPage,
    /// The data exceeds a page, or has no bytes.
    Bytes,
    /// A cache read uses other planes than the read that it continues.
    SessionPlanes,
    /// A sequential cache read passes the end of the block.
    EndOfBlock,
    /// A cache read does not follow a read.
    NothingToContinue,
    /// The page is part of a suspended program or erase.
    Suspended,
    /// The page before it in the block is not programmed.
    OutOfOrder,
    /// The page has reached its number of programs, or a later page of the block is programmed.
    Programmed,
    /// The page was never programmed.
    NotProgrammed,
    /// The block has reached its endurance.
    WornOut,
}

impl Refusal {
    /// All kinds of refusal.
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
