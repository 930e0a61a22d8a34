//! What is known of blocks, logical blocks and planes.

use serde::{Deserialize, Serialize};

use super::buffer::Buffer;
use super::merge::Merge;
use super::record::Record;

/// What a block is to its logical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// None: free, or something else altogether.
    None = 0,
    /// Holds merged pages.
    Data = 1,
    /// Takes writes, or has taken them.
    Update = 2,
    /// Is being filled by a merge.
    Target = 3,
    /// Belongs to the write buffer.
    Buffer = 4,
}

/// What is known of a block that belongs to a logical block.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Member {
    /// 1 + the next block of its logical block, or 0.
    pub next: u32,
    /// Pages handed out.
    pub used: u16,
    /// Its [`Role`] in the low bits, and [`STRAY`] and [`SOURCE`].
    pub bits: u8,
}

/// A page of the block is not at its own place.
pub(super) const STRAY: u8 = 8;
/// The block is emptied by a merge.
pub(super) const SOURCE: u8 = 16;

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

/// A logical block.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Logical {
    /// 1 + its block that was opened last, or 0.
    pub first: u32,
    /// 1 + the update block that takes writes, or 0.
    pub active: u32,
    /// Pages that hold something.
    pub valid: u32,
    /// Of these, pages in the write buffer.
    pub buffered: u32,
    /// All its blocks.
    pub blocks: u16,
    /// Of these, update blocks that no merge empties.
    pub updates: u16,
    /// [`MERGING`], and the lists that it is in.
    pub bits: u8,
}

pub(super) const MERGING: u8 = 1;
pub(super) const IN_RECENT: u8 = 2;
pub(super) const IN_FULL: u8 = 4;
pub(super) const IN_DELAYED: u8 = 8;

/// What a plane has at hand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PlaneState {
    /// Free blocks, those that the write buffer may still take apart.
    pub free: u32,
    pub merge: Option<Merge>,
    pub record: Record,
    pub buffer: Buffer,
}
