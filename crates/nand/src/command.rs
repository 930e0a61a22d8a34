//! Vocabulary of the command interface: cycles, commands, the status byte and errors.
//!
//! Opcodes are those of the ONFI command set (ONFI 5, chapter "Command Definition"). ONFI does not
//! define suspend and resume commands; their opcodes follow vendor practice (84h, 13h, 61h, D2h).

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::Time;

use crate::die::State;
use crate::{Die, PlaneRule, Violation};

macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $Variant:ident = $code:literal, $name:literal;)+) => {
        /// Command cycle of the interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Command {
            $($(#[doc = $doc])+ $Variant = $code),+
        }

        impl Command {
            /// All commands.
            pub const ALL: &[Self] = &[$(Self::$Variant),+];

            /// Returns the name of the command.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name),+ }
            }
        }

        impl TryFrom<u8> for Command {
            type Error = u8;
            /// Returns the command with this opcode. If there is none, the error is the byte
            /// itself.
            fn try_from(code: u8) -> Result<Self, u8> {
                match code {
                    $($code => Ok(Self::$Variant),)+
                    _ => Err(code),
                }
            }
        }
    };
}

commands! {
    /// First cycle of a read; address cycles follow.
    Read = 0x00, "Read";
    /// Starts the array read of the addressed page or pages.
    ReadConfirm = 0x30, "Read confirm";
    /// Moves the page read to the cache register while the array reads the next page (Read Cache
    /// Sequential) or the addressed one (Read Cache Random).
    ReadCache = 0x31, "Read Cache";
    /// Moves the last page of a cache read to the cache register (Read Cache End).
    ReadCacheEnd = 0x3F, "Read Cache End";
    /// Queues a page for a multi-plane read (Multi-plane Read).
    ReadQueue = 0x32, "Multi-plane Read queue";
    /// Reads a page into the data register, to be programmed from there (Copyback Read).
    CopybackRead = 0x35, "Copyback Read confirm";
    /// First cycle of Change Read Column; column address cycles follow.
    ChangeReadColumn = 0x05, "Change Read Column";
    /// First cycle of Change Read Column Enhanced, which selects plane and column; address cycles
    /// follow.
    ChangeReadColumnEnhanced = 0x06, "Change Read Column Enhanced";
    /// Last cycle of Change Read Column and Change Read Column Enhanced.
    ChangeReadColumnConfirm = 0xE0, "Change Read Column confirm";
    /// First cycle of a program; address cycles and data follow (Page Program).
    Program = 0x80, "Page Program";
    /// Starts the program of the page or pages.
    ProgramConfirm = 0x10, "Page Program confirm";
    /// Starts the program; the cache registers accept the next pages while the array works (Page
    /// Cache Program).
    ProgramCache = 0x15, "Page Cache Program confirm";
    /// Queues a page for a multi-plane program (Multi-plane Page Program).
    ProgramQueue = 0x11, "Multi-plane Program queue";
    /// First cycle of a program of the page that a copyback read left in the data register.
    CopybackProgram = 0x85, "Copyback Program";
    /// First cycle of an erase; row address cycles follow (Block Erase).
    Erase = 0x60, "Block Erase";
    /// Starts the erase of the block or blocks.
    EraseConfirm = 0xD0, "Block Erase confirm";
    /// Queues a block for a multi-plane erase (Multi-plane Block Erase).
    EraseQueue = 0xD1, "Multi-plane Block Erase queue";
    /// Requests the status byte (Read Status).
    ReadStatus = 0x70, "Read Status";
    /// Aborts all operations and clears the state of the die (Reset).
    Reset = 0xFF, "Reset";
    /// Suspends a program.
    ProgramSuspend = 0x84, "Program Suspend";
    /// Resumes a suspended program.
    ProgramResume = 0x13, "Program Resume";
    /// Suspends an erase.
    EraseSuspend = 0x61, "Erase Suspend";
    /// Resumes a suspended erase.
    EraseResume = 0xD2, "Erase Resume";
}

impl Command {
    /// Returns the opcode of the command.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02X}h {}", self.code(), self.name())
    }
}

impl From<Command> for Cycle {
    fn from(command: Command) -> Self {
        Self::Command(command.code())
    }
}

/// Cycle that the host issues on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cycle {
    /// A command byte.
    Command(u8),
    /// An address byte.
    Address(u8),
    /// Data into the register of the addressed plane. A token stands for the content of the page;
    /// the last data cycle of a page determines it.
    DataIn {
        /// Bytes transferred, at least one.
        bytes: u32,
        /// Token of the page content.
        content: u64,
    },
    /// Data out of the register of the selected plane, or the status byte after 70h.
    DataOut {
        /// Bytes transferred, at least one.
        bytes: u32,
    },
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Command(code) => match Command::try_from(code) {
                Ok(command) => write!(f, "{command}"),
                Err(code) => write!(f, "command {code:02X}h"),
            },
            Self::Address(byte) => write!(f, "address cycle {byte:02X}h"),
            Self::DataIn { bytes, .. } => write!(f, "data in ({bytes} bytes)"),
            Self::DataOut { bytes } => write!(f, "data out ({bytes} bytes)"),
        }
    }
}

/// Status byte of a die (ONFI, "Status Field Definition").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(pub u8);

impl Status {
    const FAIL: u8 = 1 << 0;
    const FAILC: u8 = 1 << 1;
    const ARDY: u8 = 1 << 5;
    const RDY: u8 = 1 << 6;
    const WP_N: u8 = 1 << 7;

    pub(crate) const fn new(ready: bool, array_ready: bool, failed: bool) -> Self {
        let byte = if ready { Self::RDY } else { 0 }
            | if array_ready { Self::ARDY } else { 0 }
            | if failed { Self::FAIL } else { 0 };
        Self(byte | Self::WP_N)
    }
    /// Returns `true` if a cycle violated a rule of the interface or of the array (FAIL). The bit
    /// remains set until a reset.
    pub const fn failed(self) -> bool {
        self.0 & Self::FAIL != 0
    }
    /// Returns `true` if the operation before the last failed (FAILC). The bit is never set,
    /// because a die stops at its first failure.
    pub const fn failed_before(self) -> bool {
        self.0 & Self::FAILC != 0
    }
    /// Returns `true` if the array is idle (ARDY).
    pub const fn array_ready(self) -> bool {
        self.0 & Self::ARDY != 0
    }
    /// Returns `true` if the die accepts commands (RDY).
    pub const fn ready(self) -> bool {
        self.0 & Self::RDY != 0
    }
    /// Returns `true` if the part is not write-protected (WP_n). The bit is always set.
    pub const fn writable(self) -> bool {
        self.0 & Self::WP_N != 0
    }
}

/// Rule of the interface or of the array that a cycle violates.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Rule {
    /// The state of the die does not accept the cycle.
    #[error("the cycle is out of sequence")]
    OutOfPlace,
    /// The command byte is not a command.
    #[error("the opcode is not a known command")]
    Unknown,
    /// The address exceeds the geometry.
    #[error("{field} {value} is out of range; use a value below {count}")]
    Beyond {
        /// Address field: column, page, plane or block.
        field: &'static str,
        /// Value of the field.
        value: u64,
        /// Number of values that the field can have.
        count: u64,
    },
    /// A multi-plane command names two pages of the same plane.
    #[error("plane {plane} is already queued; a multi-plane command names each plane once")]
    PlaneTwice {
        /// Plane in the die.
        plane: u32,
    },
    /// The pages of a multi-plane command violate the plane addressing rule of the part.
    #[error(
        "block {block}, page {page} cannot share a multi-plane command with block {first_block}, page {first_page}: the part requires {}",
        in_words(*demanded)
    )]
    Planes {
        /// Block in its plane.
        block: u32,
        /// Page in its block.
        page: u32,
        /// Block of the plane queued first.
        first_block: u32,
        /// Page of the plane queued first.
        first_page: u32,
        /// Plane addressing rule of the part.
        demanded: PlaneRule,
    },
    /// A program was confirmed without data.
    #[error("no data was sent for the page; send data first")]
    NoData,
    /// The data exceeds the page register.
    #[error(
        "{bytes} bytes in total exceed the {register} bytes of a page and its spare area; transfer fewer bytes"
    )]
    TooMuchData {
        /// Bytes since the register was addressed or selected.
        bytes: u64,
        /// Size of the register. Bytes.
        register: u64,
    },
    /// A data cycle transfers no bytes.
    #[error("the data cycle transfers no bytes; transfer at least one")]
    NoBytes,
    /// After 70h, only a data cycle of one byte is valid.
    #[error("the status is one byte; read one byte")]
    StatusIsAByte,
    /// The register to be read out holds no page.
    #[error("the cache register of plane {plane} holds no page; read one first")]
    Empty {
        /// Plane in the die.
        plane: u32,
    },
    /// A copyback program does not follow a copyback read.
    #[error("no data register holds a page to copy; read one with 35h first")]
    NothingToCopy,
    /// The data register of the plane to be programmed holds no page to copy.
    #[error(
        "the data register of plane {plane} holds no page to copy; a copyback stays in its plane"
    )]
    NothingToCopyIn {
        /// Plane in the die.
        plane: u32,
    },
    /// A cache read does not follow a read.
    #[error("the data registers hold no page of a completed 30h; a cache read starts after one")]
    NothingToContinue,
    /// A cache read uses other planes than the read that it continues.
    #[error("a cache read must use the same planes as the read before it; address all of them")]
    OtherPlanes,
    /// A sequential cache read passes the last page of the block.
    #[error(
        "block {block} of plane {plane} has no page after {page}; end the cache read with 3Fh, or address the next page"
    )]
    EndOfBlock {
        /// Plane in the die.
        plane: u32,
        /// Block in its plane.
        block: u32,
        /// Last page that was read.
        page: u32,
    },
    /// The read addresses a page of the suspended operation.
    #[error("{address} belongs to the suspended operation; resume it first")]
    Suspended {
        /// Address of the page, as text.
        address: String,
    },
    /// The operation violates a rule of the array.
    #[error(transparent)]
    Array(#[from] Violation),
}

const fn in_words(rule: PlaneRule) -> &'static str {
    match rule {
        PlaneRule::PageOffset => "the same page in each block",
        PlaneRule::PageAndBlockOffset => "the same block in each plane, and the same page in each",
    }
}

/// Error of a cycle that was refused. The cycle takes no time on the bus.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// The bus is in use. The state is unchanged.
    #[error("{cycle} for die {} at {} ps: the bus is held until {} ps; wait until then", die.0, now.ps(), until.ps())]
    BusBusy {
        /// Cycle that was issued.
        cycle: Cycle,
        /// Die that was addressed.
        die: Die,
        /// Time of issue.
        now: Time,
        /// Time from which the bus is free.
        until: Time,
    },
    /// The die is busy (RDY = 0). The state is unchanged.
    #[error("{cycle} for die {} at {} ps: the die is busy until {} ps and accepts only 70h Read Status and FFh Reset; wait until then", die.0, now.ps(), until.ps())]
    Busy {
        /// Cycle that was issued.
        cycle: Cycle,
        /// Die that was addressed.
        die: Die,
        /// Time of issue.
        now: Time,
        /// Time from which the die is ready.
        until: Time,
    },
    /// The cycle violates a rule. The die has failed and accepts only 70h and FFh until a reset.
    #[error("{cycle} for die {}, which {state}: {rule}; in this state the die accepts {}", die.0, state.takes())]
    Broken {
        /// Cycle that was issued.
        cycle: Cycle,
        /// Die that was addressed.
        die: Die,
        /// State of the die before the cycle.
        state: State,
        /// Rule that the cycle violates.
        rule: Rule,
    },
    /// The die does not exist. The state is unchanged.
    #[error("{cycle} for die {}: the die does not exist; the package has {dies}, counted from 0", die.0)]
    NoDie {
        /// Cycle that was issued.
        cycle: Cycle,
        /// Die that was addressed.
        die: Die,
        /// Dies in the package. Count.
        dies: u32,
    },
    /// The time exceeds the limit of 53 days. The state is unchanged.
    #[error("{cycle} at {} ps is after the last possible time, {} ps; issue it earlier", now.ps(), end.ps())]
    Late {
        /// Cycle that was issued.
        cycle: Cycle,
        /// Time of issue.
        now: Time,
        /// Last time at which a cycle can be issued.
        end: Time,
    },
}

impl CommandError {
    /// Returns the array rule that the cycle violates, if the error is such a violation.
    pub fn violation(&self) -> Option<&Violation> {
        match self {
            Self::Broken {
                rule: Rule::Array(violation),
                ..
            } => Some(violation),
            _ => None,
        }
    }
}
