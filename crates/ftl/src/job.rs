//! Jobs: work that a mapping requests from the flash, such as GC runs and fetches of map entries.
//!
//! A job is a sequence of steps. The device fetches one step after another and executes it, in
//! simulated time or untimed. It can pause a job between any two steps.

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane, Ppn};

/// Number of a job. The GC run of a plane has the number of its plane, so that a plane has at most
/// one GC run. Other jobs of a mapping have higher numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobId(pub u32);

impl JobId {
    /// Returns the job of a plane's GC run.
    #[inline]
    pub fn of(plane: Plane) -> Self {
        Self(plane.0)
    }
    /// Returns the number as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number of a logical block: a set of pages that share data and update blocks. Not every mapping
/// family has logical blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LogicalBlock(pub u32);

/// Space that a GC run is to gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpaceRequest {
    /// Free blocks in a plane (free-block reclaim).
    Free(Plane),
    /// Free blocks in any plane.
    Anywhere,
    /// Free pages for a logical block of a plane (update-block reclaim).
    Update(Plane, LogicalBlock),
}

/// Next step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Read a page. Once it has been read, [`crate::Mapping::relocate`] returns the target of its
    /// copy, if the page is still valid.
    Move(Ppn),
    /// Read a metadata page.
    Read(Ppn),
    /// Program a metadata page.
    Program {
        /// Target page.
        place: Ppn,
        /// Label of the metadata page, recorded in its spare area.
        label: u32,
    },
    /// Erase a block. Report its completion with [`crate::Mapping::erased`].
    Erase(Block),
    /// Barrier: all issued steps complete before the next step.
    Wait,
    /// The job has ended.
    Done,
}

/// Kind of a GC run, by the way in which it gains space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GcKind {
    /// The valid pages of a block are moved (page mapping).
    Move,
    /// An update or replacement block becomes the data block unchanged (switch merge).
    Switch,
    /// Some blocks of a logical block remain, and its other valid pages are copied (partial merge).
    /// In block mapping, the pages before a write are copied into the replacement block.
    Partial,
    /// The valid pages of a logical block are copied into free blocks (full merge). In block
    /// mapping, the remaining valid pages are copied into the replacement block.
    Full,
    /// A block is moved by wear levelling.
    Wear,
    /// A block is moved to refresh its data.
    Refresh,
    /// The valid pages of a block in single-level mode are moved to blocks in normal mode
    /// (folding).
    Fold,
}

impl GcKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Move,
        Self::Switch,
        Self::Partial,
        Self::Full,
        Self::Wear,
        Self::Refresh,
        Self::Fold,
    ];
    /// Returns the name of the kind.
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

/// GC run that has been started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    /// Job that executes the GC run.
    pub job: JobId,
    /// Kind of the GC run.
    pub kind: GcKind,
    /// Expected cost, as far as known at the start.
    pub cost: Cost,
}

/// Expected cost of a GC run (Jung 2013, eq. 7.2:
/// `(load + write) n_valid + (erase + write') kappa`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Pages to read and program. Count.
    pub pages: u32,
    /// Blocks to erase. Count.
    pub blocks: u32,
    /// Metadata pages to program. Count.
    pub metadata_pages: u32,
}
