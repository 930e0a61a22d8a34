//! One flash operation, and what it is for.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Block, Die, Operation, Ppn};
use wordline_reliability::ProgramMode;

use wordline_io_scheduler::Slot;

/// The index of no transaction.
pub(crate) const NONE: Slot = Slot::MAX;

/// Who waits for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// A host read.
    Read,
    /// The read of a page behind one that the host has read, while nobody wants the die.
    ReadAhead,
    /// A host write of a whole page.
    Write,
    /// A host write of a page of which bytes are not the host's: [`super::BackEnd::fill_of`].
    PartWrite,
    /// The read of a page of which the host writes a part.
    Merge,
    /// The read of a page that is written again for the sake of later reads.
    RewriteRead,
    /// The program of such a page.
    Rewrite,
    /// The read of a page that is collected.
    MoveRead,
    /// The program of a page that is collected.
    MoveProgram,
    /// The move of a page that is collected, inside its plane.
    Move,
    /// The read of a page that the mapping keeps for itself, for a collection.
    MetadataRead,
    /// The program of a page that the mapping keeps for itself, for a collection.
    MetadataProgram,
    /// The erase of a collection.
    Erase,
    /// The read of a part of the map that a request needs.
    MapRead,
    /// The program of a part of the map: one that makes room for one that a request needs, or a block's summary.
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
    /// Whether it is the device's own work: of collections, or for the sake of later reads.
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
    /// Whether it may wait for the scheduler: it belongs to a request.
    pub const fn is_scheduled(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Write | Self::PartWrite | Self::Merge
        )
    }
    /// The host write of a page with `fill` bytes that are not the host's.
    #[inline]
    pub const fn of_write(fill: u32) -> Self {
        if fill > 0 {
            Self::PartWrite
        } else {
            Self::Write
        }
    }
    /// Whether it is a host write.
    #[inline]
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::PartWrite)
    }
    /// Whether a host waits for the data, so that the operation is worth suspending another for.
    pub(super) const fn is_urgent(self) -> bool {
        matches!(self, Self::Read | Self::Merge | Self::MapRead)
    }
}

/// When a transaction entered the queue of its die, or the scheduler's.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Queued {
    pub(super) since: Time,
    /// How long collection had had the die then.
    pub(super) gc: Time,
}

/// One flash operation on its way through the back end: a line of a processor's cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Transaction {
    pub purpose: Purpose,
    /// As the purpose says.
    pub(super) operation: Operation,
    pub(super) gc: bool,
    /// Whether its request had been through something before: [`super::TransactionTable::earlier`].
    pub(super) is_late: bool,
    pub(super) die: Die,
    /// The next of its queue, or of its command.
    pub(super) next: Slot,
    /// The one before it in its queue, where transactions leave queues from elsewhere than the front.
    pub(super) previous: Slot,
    /// The page; for an erase the first of its block.
    pub place: Ppn,
    /// Where a move goes; otherwise the same page.
    pub target: Ppn,
    /// The request (host) or the command (mapping) that waits for it.
    pub owner: u32,
    /// For a merge: its place in the table of fragments. For a host page: the logical page. For a
    /// page of metadata: its label. For a page of a summary: how many pages it tells of. For a page written again: the page, when it is read; where it was, when it is programmed.
    pub tag: u32,
    /// For a host write, and a page written again: the block of the copy that it supersedes.
    pub superseded: MaybeBlock,
    pub(super) queued: Queued,
    /// Which came before which; with basic dies none is counted ([`super::TransactionTable::number`]).
    pub(super) number: u64,
}

/// What there is to know of the page of an operation, where not all are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // each looked at by itself
pub(crate) struct PageConditions {
    /// How the page was programmed that is read, or is to be.
    pub mode: ProgramMode,
    /// Whether it is read from a block in single-level mode.
    pub single_read: bool,
    /// Whether it is programmed in single-level mode.
    pub single_program: bool,
    /// The level of the decoder's ladder that the read begins with.
    pub first: u8,
    /// How many more it needs.
    pub retries: u8,
    /// Whether none was enough.
    pub failed: bool,
    /// What the last decoding takes: of a read, and of a write whose rest was read before.
    pub decode: Time,
    /// What comes of a program or an erase.
    pub outcome: Outcome,
    /// Of the first of a command of which a program fails: array operations that follow on it, until all its pages are elsewhere.
    pub following: u32,
    /// Whether that program has failed.
    pub has_failed: bool,
}

/// What comes of a program or an erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// It is done.
    #[default]
    Done,
    /// It fails, and a spare block takes the place of its own: of a program, one that then holds these pages before its own.
    Replaced {
        /// Pages that are copied.
        copies: u16,
    },
    /// It fails, and there is no spare block.
    Failed,
}

impl PageConditions {
    /// Of a page in this mode, of which nothing else is known.
    pub fn of(mode: ProgramMode) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }
}

/// A block, or none, as large as a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MaybeBlock(Option<NonZeroU32>);

impl MaybeBlock {
    /// No block.
    pub const NONE: Self = Self(None);
    /// The block, if there is one.
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

/// An operation for [`BackEnd::enqueue`].
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
    /// A place to be filled in.
    pub(super) const BLANK: Self = Self {
        purpose: Purpose::Read,
        operation: Operation::Read,
        gc: false,
        is_late: false,
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
    /// The next of the same command.
    #[inline]
    pub fn joined(&self) -> Option<Slot> {
        (self.next != NONE).then_some(self.next)
    }
}

impl Order {
    /// An operation in one place.
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
