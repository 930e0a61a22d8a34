//! State of blocks and logical blocks.

use serde::{Deserialize, Serialize};

/// Role of a block in its logical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The block is free or has another use.
    None = 0,
    /// Data block: contains merged pages.
    Data = 1,
    /// Update block: takes writes or has taken them.
    Update = 2,
    /// Target of a merge in progress.
    Target = 3,
    /// Block of the write buffer.
    Buffer = 4,
}

/// State of a block that belongs to a logical block.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Member {
    /// 1 + the next block of the logical block, or 0 if there is none.
    pub next: u32,
    /// Number of pages taken for programs.
    pub used: u16,
    /// [`Role`] in the low bits, and [`STRAY`], [`SOURCE`] and [`FILLED`].
    pub bits: u8,
    /// Part of the logical block that the block was filled with, counted in blocks, if it is
    /// [`FILLED`].
    pub part: u8,
}

/// Bit: a page of the block is not at its own offset.
pub(super) const STRAY: u8 = 8;
/// Bit: a merge is emptying the block.
pub(super) const SOURCE: u8 = 16;
/// Bit: the block was filled with a part of its logical block, in order. Entries of the tables that
/// are 0 follow from that.
pub(super) const FILLED: u8 = 32;

impl Member {
    pub fn role(self) -> Role {
        match self.bits & 7 {
            0 => Role::None,
            1 => Role::Data,
            2 => Role::Update,
            3 => Role::Target,
            _ => Role::Buffer,
        }
    }
    pub fn set_role(&mut self, role: Role) {
        self.bits = self.bits & !7 | role as u8;
    }
    pub fn is(self, bit: u8) -> bool {
        self.bits & bit != 0
    }
}

/// State of a logical block.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Logical {
    /// 1 + the block opened last, or 0 if there is none.
    pub first: u32,
    /// 1 + the update block that takes writes, or 0 if there is none.
    pub active: u32,
    /// Number of valid pages of the logical block.
    pub valid: u32,
    /// Number of valid pages in the write buffer.
    pub buffered: u32,
    /// Number of blocks of the logical block.
    pub blocks: u16,
    /// Number of update blocks that no merge is emptying.
    pub updates: u16,
    /// [`MERGING`], and a bit for each list that contains the logical block.
    pub bits: u8,
}

pub(super) const MERGING: u8 = 1;
pub(super) const IN_RECENT: u8 = 2;
pub(super) const IN_FULL: u8 = 4;
pub(super) const IN_DELAYED: u8 = 8;
