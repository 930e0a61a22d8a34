//! What a die waits for, and what it takes.

use std::fmt;

use crate::command::Command::{
    self, ChangeReadColumn, ChangeReadColumnConfirm, ChangeReadColumnEnhanced, CopybackProgram,
    CopybackRead, Erase, EraseConfirm, EraseQueue, EraseResume, Program, ProgramCache,
    ProgramConfirm, ProgramQueue, ProgramResume, Read, ReadCache, ReadCacheEnd, ReadConfirm,
    ReadQueue, ReadStatus, Reset,
};
use serde::{Deserialize, Serialize};

/// What a die that is ready waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// A command.
    Idle,
    /// Pages of a cache read, or its end.
    CacheRead,
    /// Pages of a cache program, while the array programs the one before.
    CacheProgram,
    /// Reads, while a program is suspended.
    SuspendedProgram,
    /// Reads, while an erase is suspended.
    SuspendedErase,
    /// The next plane of a multi-plane command.
    Queued {
        /// The command that each plane begins with.
        first: Command,
        /// Planes so far.
        planes: u32,
    },
    /// Address cycles.
    Address {
        /// The command that they belong to.
        first: Command,
        /// Those that came.
        given: u32,
        /// Those that have to come.
        needed: u32,
    },
    /// The confirming command of a read.
    ReadAddressed(Reads),
    /// Data of a program.
    ProgramAddressed,
    /// More data, or the confirming command of a program.
    ProgramLoaded,
    /// The confirming command of a copyback program, an erase, a choice of plane or column.
    Addressed {
        /// The command that it belongs to.
        first: Command,
    },
    /// The status byte to be taken.
    StatusAsked,
    /// A reset, after a cycle that was refused.
    Failed,
}

/// Which reads a die does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reads {
    /// All.
    All,
    /// Those of the open cache read.
    Cache,
    /// Legacy ones, as an operation is suspended.
    Legacy,
}

/// Cycles other than commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moves {
    Nothing,
    Address,
    DataIn,
    DataOut,
    Status,
}

impl State {
    /// The commands that the state takes. Some of them need more: see the rules.
    pub const fn commands(self) -> &'static [Command] {
        match self {
            Self::Idle => &[
                Read,
                Program,
                Erase,
                CopybackProgram,
                ReadCache,
                ChangeReadColumn,
                ChangeReadColumnEnhanced,
                ReadStatus,
                Reset,
            ],
            Self::CacheRead => &[
                ReadCache,
                ReadCacheEnd,
                Read,
                ChangeReadColumn,
                ChangeReadColumnEnhanced,
                ReadStatus,
                Reset,
            ],
            Self::CacheProgram => &[Program, ReadStatus, Reset],
            Self::SuspendedProgram => &[
                Read,
                ProgramResume,
                ChangeReadColumn,
                ChangeReadColumnEnhanced,
                ReadStatus,
                Reset,
            ],
            Self::SuspendedErase => &[
                Read,
                EraseResume,
                ChangeReadColumn,
                ChangeReadColumnEnhanced,
                ReadStatus,
                Reset,
            ],
            Self::Queued { first, .. } => queued(first),
            Self::Address { .. } | Self::ProgramAddressed => &[Reset],
            Self::ReadAddressed(reads) => reads.confirms(),
            Self::ProgramLoaded => &[ProgramConfirm, ProgramCache, ProgramQueue, Reset],
            Self::Addressed { first } => confirms(first),
            Self::StatusAsked | Self::Failed => &[ReadStatus, Reset],
        }
    }
    /// Whether data can be asked for.
    pub const fn gives_data(self) -> bool {
        matches!(self.moves(), Moves::DataOut)
    }
    const fn moves(self) -> Moves {
        match self {
            Self::Idle | Self::CacheRead | Self::SuspendedProgram | Self::SuspendedErase => {
                Moves::DataOut
            }
            Self::Address { .. } => Moves::Address,
            Self::ProgramAddressed | Self::ProgramLoaded => Moves::DataIn,
            Self::StatusAsked => Moves::Status,
            _ => Moves::Nothing,
        }
    }
    /// What the state takes, in words.
    pub fn takes(self) -> String {
        let moves = match self.moves() {
            Moves::Nothing => None,
            Moves::Address => Some("an address cycle".to_owned()),
            Moves::DataIn => Some("data in".to_owned()),
            Moves::DataOut => Some("data out".to_owned()),
            Moves::Status => Some("data out of one byte".to_owned()),
        };
        let commands = self.commands().iter().map(ToString::to_string);
        let all: Vec<String> = moves.into_iter().chain(commands).collect();
        all.join(", ")
    }
}

impl Reads {
    const fn confirms(self) -> &'static [Command] {
        match self {
            Self::All => &[ReadConfirm, ReadCache, ReadQueue, CopybackRead, Reset],
            Self::Cache => &[ReadCache, ReadQueue, Reset],
            Self::Legacy => &[ReadConfirm, ReadQueue, Reset],
        }
    }
}

const fn queued(first: Command) -> &'static [Command] {
    match first {
        Read => &[Read, ReadStatus, Reset],
        Program => &[Program, ReadStatus, Reset],
        CopybackProgram => &[CopybackProgram, ReadStatus, Reset],
        _ => &[Erase, ReadStatus, Reset],
    }
}

const fn confirms(first: Command) -> &'static [Command] {
    match first {
        CopybackProgram => &[ProgramConfirm, ProgramQueue, Reset],
        Erase => &[EraseConfirm, EraseQueue, Reset],
        _ => &[ChangeReadColumnConfirm, Reset],
    }
}

impl fmt::Display for State {
    /// Goes on "the die, which ...".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => write!(f, "is idle"),
            Self::CacheRead => write!(f, "is in a cache read"),
            Self::CacheProgram => write!(f, "programs in cache mode"),
            Self::SuspendedProgram => write!(f, "has a suspended program"),
            Self::SuspendedErase => write!(f, "has a suspended erase"),
            Self::Queued { first, planes } => {
                write!(f, "has {planes} planes queued for {first}")
            }
            Self::Address {
                first,
                given,
                needed,
            } => write!(f, "has {given} of {needed} address cycles of {first}"),
            Self::ReadAddressed(_) => write!(f, "has the address of a read"),
            Self::ProgramAddressed => write!(f, "has the address of a program"),
            Self::ProgramLoaded => write!(f, "has address and data of a program"),
            Self::Addressed { first } => write!(f, "has the address of {first}"),
            Self::StatusAsked => write!(f, "was asked for its status"),
            Self::Failed => write!(f, "has failed"),
        }
    }
}
