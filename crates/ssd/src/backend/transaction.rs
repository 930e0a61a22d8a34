//! Flash transactions and their purposes. Those of the DRAM buffer count as host operations.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Block, Die, Operation, Ppn};
use wordline_reliability::ProgramMode;

use wordline_io_scheduler::Slot;

/// Index that stands for no transaction.
pub(crate) const NONE: Slot = Slot::MAX;

/// Purpose of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// Host read.
    Read,
    /// Read-ahead of the page after one that the host has read, on an idle die.
    ReadAhead,
    /// Host write of a whole page.
    Write,
    /// Host write that does not cover its whole page; see [`super::BackEnd::fill_of`].
    PartWrite,
    /// Read of the previous copy of a page, to complete a partial write.
    Merge,
    /// Read of a page that is rewritten in a mode with faster reads.
    RewriteRead,
    /// Program of a page that is rewritten in a mode with faster reads.
    Rewrite,
    /// GC read of a valid page.
    MoveRead,
    /// GC program of a valid page.
    MoveProgram,
    /// GC copyback of a valid page.
    Move,
    /// GC read of a metadata page of the mapping.
    MetadataRead,
    /// GC program of a metadata page of the mapping.
    MetadataProgram,
    /// GC erase.
    Erase,
    /// Read of a part of the map that a request or a rewrite needs.
    MapRead,
    /// Program of a part of the map, to make room for another part or because a TRIM has changed
    /// it; or program of a block's summary.
    MapProgram,
}

impl Purpose {
    pub const fn operation(self) -> Operation {
        match self {
            Self::Read
            | Self::ReadAhead
            | Self::Merge
            | Self::MoveRead
            | Self::MetadataRead
            | Self::MapRead
            | Self::RewriteRead => Operation::Read,
            Self::Write
            | Self::PartWrite
            | Self::MoveProgram
            | Self::MetadataProgram
            | Self::MapProgram
            | Self::Rewrite => Operation::Program,
            Self::Move => Operation::Move,
            Self::Erase => Operation::Erase,
        }
    }
    /// Returns `true` if the purpose is GC, or a rewrite that speeds up later reads.
    pub const fn is_gc(self) -> bool {
        matches!(
            self,
            Self::MoveRead
                | Self::MoveProgram
                | Self::Move
                | Self::MetadataRead
                | Self::MetadataProgram
                | Self::Erase
                | Self::RewriteRead
                | Self::Rewrite
        )
    }
    /// Returns `true` if the transaction may wait for the scheduler because it belongs to a
    /// request.
    pub const fn is_scheduled(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Write | Self::PartWrite | Self::Merge
        )
    }
    /// Returns the purpose of a host write that does not cover `fill` bytes of its page.
    #[inline]
    pub const fn of_write(fill: u32) -> Self {
        if fill > 0 {
            Self::PartWrite
        } else {
            Self::Write
        }
    }
    /// Returns `true` if the purpose is a host write.
    #[inline]
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::PartWrite)
    }
    /// Returns `true` if the host waits for the data, so that the operation may suspend others.
    pub(super) const fn is_urgent(self) -> bool {
        matches!(self, Self::Read | Self::Merge | Self::MapRead)
    }
}

/// Time at which a transaction entered the queue of its die, or of the scheduler.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Queued {
    pub(super) since: Time,
    /// Time for which GC had used the die when the transaction was queued.
    pub(super) gc: Time,
}

/// A flash operation in the back end. Fills one cache line of the CPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Transaction {
    pub purpose: Purpose,
    /// Flash operation that the purpose implies.
    pub(super) operation: Operation,
    pub(super) gc: bool,
    /// Whether the request incurred latency components before this transaction; see
    /// [`super::TransactionTable::earlier`].
    pub(super) is_late: bool,
    /// Plane within its die; set if a command may use several planes.
    pub(super) plane: u8,
    pub(super) die: Die,
    /// Next transaction of its queue, or of its command.
    pub(super) next: Slot,
    /// Previous transaction of its queue; not maintained for basic dies.
    pub(super) previous: Slot,
    /// Page, or the first page of the block for an erase.
    pub place: Ppn,
    /// Destination page of a move. For other operations, equal to `place`.
    pub target: Ppn,
    /// Request (host) or job (mapping) that waits for the transaction. For a rewrite, the die whose
    /// queue held the page, if one did.
    pub owner: u32,
    /// For a merge, or a write without a page so far, the index of the pending write. For other
    /// host operations, the logical page. For the program of a metadata page, its label. For a GC
    /// program of a valid page, the page that it copies. For a summary page, the number of pages
    /// that it describes. For a rewritten page, the logical page when it is read, and its former
    /// physical page when it is programmed.
    pub tag: u32,
    /// For a host write or a rewrite, the block of the copy that it supersedes.
    pub superseded: MaybeBlock,
    pub(super) queued: Queued,
    /// Sequence number; not maintained for basic dies ([`super::TransactionTable::number`]).
    pub(super) number: u64,
}

/// Page conditions of an operation: the program mode of its page, the errors of a read, and the
/// outcome of a program or an erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // independent conditions
pub(crate) struct PageConditions {
    /// Program mode of the page.
    pub mode: ProgramMode,
    /// Whether the page is read from a block in single-level mode.
    pub single_read: bool,
    /// Whether the page is programmed in single-level mode.
    pub single_program: bool,
    /// Sense level with which the read starts.
    pub first: u8,
    /// Retries that the read needs. Count.
    pub retries: u8,
    /// Whether the page is unreadable: no retry corrected it, or its data was lost before.
    pub failed: bool,
    /// Duration of the last decoding, of a read or of the read that completed a partial write.
    pub decode: Time,
    /// Outcome of a program or an erase.
    pub outcome: Outcome,
    /// Array operations that follow the failing program of a command until all its pages are in a
    /// spare block. Set for the first transaction. Count.
    pub following: u32,
    /// Whether the failing program of the command has ended.
    pub has_failed: bool,
}

/// Outcome of a program or an erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// Success.
    #[default]
    Done,
    /// Failure; a spare block replaces the block. For a program, the earlier pages of the block are
    /// copied there first.
    Replaced {
        /// Pages that are copied. Count.
        copies: u16,
    },
    /// Failure without a spare block.
    Failed,
}

impl PageConditions {
    /// Returns conditions with this program mode and defaults otherwise.
    pub fn of(mode: ProgramMode) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }
}

/// Optional block that takes no more memory than a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MaybeBlock(Option<NonZeroU32>);

impl MaybeBlock {
    /// No block.
    pub const NONE: Self = Self(None);
    /// Returns the block, if there is one.
    #[inline]
    pub fn get(self) -> Option<Block> {
        self.0.map(|one_more| Block(one_more.get() - 1))
    }
}

impl From<Option<Block>> for MaybeBlock {
    #[inline]
    fn from(block: Option<Block>) -> Self {
        Self(block.and_then(|block| NonZeroU32::new(block.0 + 1)))
    }
}

/// An operation for [`super::BackEnd::enqueue`] or [`super::BackEnd::admit`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub purpose: Purpose,
    pub place: Ppn,
    pub target: Ppn,
    pub owner: u32,
    pub tag: u32,
    pub superseded: MaybeBlock,
}

impl Transaction {
    /// An unused slot.
    pub(super) const BLANK: Self = Self {
        purpose: Purpose::Read,
        operation: Operation::Read,
        gc: false,
        is_late: false,
        plane: 0,
        die: Die(0),
        next: NONE,
        previous: NONE,
        place: Ppn(0),
        target: Ppn(0),
        owner: 0,
        tag: 0,
        superseded: MaybeBlock::NONE,
        queued: Queued {
            since: Time::ZERO,
            gc: Time::ZERO,
        },
        number: 0,
    };
    /// Returns the next transaction of the same command.
    #[inline]
    pub fn joined(&self) -> Option<Slot> {
        (self.next != NONE).then_some(self.next)
    }
}

impl Order {
    /// Creates an operation on a single page or block.
    #[inline]
    pub fn new(purpose: Purpose, place: Ppn, owner: u32, tag: u32) -> Self {
        Self {
            purpose,
            place,
            target: place,
            owner,
            tag,
            superseded: MaybeBlock::NONE,
        }
    }
}
