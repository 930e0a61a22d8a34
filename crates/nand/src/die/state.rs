//! States of a die and the cycles that each accepts.

use std::fmt;

use crate::command::Command::{
    self, ChangeReadColumn, ChangeReadColumnConfirm, ChangeReadColumnEnhanced, CopybackProgram,
    CopybackRead, Erase, EraseConfirm, EraseQueue, EraseResume, Program, ProgramCache,
    ProgramConfirm, ProgramQueue, ProgramResume, Read, ReadCache, ReadCacheEnd, ReadConfirm,
    ReadQueue, ReadStatus, Reset,
};
use serde::{Deserialize, Serialize};

/// State of a die that is ready; it determines the cycles that the die accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Waits for a command.
    Idle,
    /// Waits for the next page, or for the end, of a cache read.
    CacheRead,
    /// Waits for the next page of a cache program while the array programs the previous one.
    CacheProgram,
    /// A program is suspended: waits for reads or the resume command.
    SuspendedProgram,
    /// An erase is suspended: waits for reads or the resume command.
    SuspendedErase,
    /// Waits for the next plane of a multi-plane command.
    Queued {
        /// Command with which each plane starts.
        first: Command,
        /// Planes queued. Count.
        planes: u32,
    },
    /// Waits for address cycles.
    Address {
        /// Command of the address.
        first: Command,
        /// Address cycles received. Count.
        given: u32,
        /// Address cycles needed. Count.
        needed: u32,
    },
    /// Waits for the confirm command of a read.
    ReadAddressed(Reads),
    /// Waits for the data of a program.
    ProgramAddressed,
    /// Waits for more data, or for the confirm command of a program.
    ProgramLoaded,
    /// Waits for the confirm command of a copyback program, an erase or a column change.
    Addressed {
        /// First command of the sequence.
        first: Command,
    },
    /// Waits for the status byte to be read.
    StatusAsked,
    /// Waits for a reset after a cycle that violated a rule.
    Failed,
}

/// Read commands that a die accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reads {
    /// All reads.
    All,
    /// Reads that continue the open cache read.
    Cache,
    /// Reads without cache mode, because an operation is suspended.
    Legacy,
}

/// Cycle other than a command that a state accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moves {
    Nothing,
    Address,
    DataIn,
    DataOut,
    Status,
}

impl State {
    /// Returns the commands that the state accepts. Some have further conditions: see
    /// [`Rule`](crate::command::Rule).
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
    /// Returns `true` if the state accepts data out.
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
    /// Returns the cycles that the state accepts, as text for messages.
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
    /// Writes the predicate that completes "the die, which ...".
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
            Self::StatusAsked => write!(f, "has received a status command"),
            Self::Failed => write!(f, "waits for a reset after an earlier violation"),
        }
    }
}
