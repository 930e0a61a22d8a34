//! Work that a mapping has done by the flash: collections, and what a page's map needs first.
//!
//! A job is a row of steps. The device asks for one step after the other and carries them out, in
//! simulated time or at once; between any two of them it can leave the job and take it up again.

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane, Ppn};

/// The number of a job. Collections of a plane have the number of their plane, so that a plane has
/// one at most; what else a mapping does has numbers above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobId(pub u32);

impl JobId {
    /// The collection of a plane.
    #[inline]
    pub fn of(plane: Plane) -> Self {
        Self(plane.0)
    }
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A logical block: the pages that share data and update blocks. Families without such blocks have
/// none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LogicalBlock(pub u32);

/// What a collection is to gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpaceRequest {
    /// Free blocks in a plane (free-block reclaim).
    Free(Plane),
    /// Free blocks in any plane.
    Anywhere,
    /// Free pages for a logical block of a plane (update-block reclaim).
    Update(Plane, LogicalBlock),
}

/// What a job does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Read a page; when it has been read, [`crate::Mapping::relocate`] says where its copy goes.
    Move(Ppn),
    /// Read a page of metadata.
    Read(Ppn),
    /// Program a page of metadata; `label` is what its spare area says.
    Program {
        /// The page.
        place: Ppn,
        /// Which of pages of metadata it is.
        label: u32,
    },
    /// Erase a block; tell [`crate::Mapping::erased`] of it.
    Erase(Block),
    /// All that was handed out has to be done before the next step.
    Wait,
    /// The job is over.
    Done,
}

/// How a collection gains room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GcKind {
    /// The valid pages of a block are moved elsewhere (page mapping).
    Move,
    /// An update block becomes the data block as it is.
    Switch,
    /// What an update block lacks is copied into it, and it becomes the data block.
    Partial,
    /// The valid pages of a logical block are copied into free blocks.
    Full,
    /// A block is moved for the sake of even wear.
    Wear,
    /// A block is moved for the sake of its data.
    Refresh,
    /// The valid pages of a block in single-level mode are moved to others.
    Fold,
}

impl GcKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Move,
        Self::Switch,
        Self::Partial,
        Self::Full,
        Self::Wear,
        Self::Refresh,
        Self::Fold,
    ];
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Move => "move",
            Self::Switch => "switch",
            Self::Partial => "partial",
            Self::Full => "full",
            Self::Wear => "wear",
            Self::Refresh => "refresh",
            Self::Fold => "fold",
        }
    }
}

/// A collection that has been started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    /// The job that carries it out.
    pub job: JobId,
    /// How it gains room.
    pub kind: GcKind,
    /// What it will cost, as far as it is known when it starts.
    pub cost: Cost,
}

/// What a collection will cost (Jung 2013, eq. 7.2: `(load + write) n_valid + (erase + write') kappa`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Pages to read and program.
    pub pages: u32,
    /// Blocks to erase.
    pub blocks: u32,
    /// Pages of metadata to program.
    pub metadata_pages: u32,
}
