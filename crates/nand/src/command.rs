//! The words of the command interface: cycles, commands, the status byte, refusals.
//!
//! Opcodes are those of ONFI's command set (ONFI 5, chapter "Command Definition"); the commands that
//! suspend and resume are not in it, their opcodes are the ones that makers use (84h, 13h, 61h, D2h).

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::Time;

use crate::die::State;
use crate::{Die, PlaneRule, Violation};

macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $Variant:ident = $code:literal, $name:literal;)+) => {
        /// A command cycle that the interface knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Command {
            $($(#[doc = $doc])+ $Variant = $code),+
        }

        impl Command {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$Variant),+];

            /// What it is called.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name),+ }
            }
        }

        impl TryFrom<u8> for Command {
            type Error = u8;
            /// The byte itself if there is no such command.
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
    /// Opens a read; address cycles follow.
    Read = 0x00, "Read";
    /// The array reads the page or pages addressed.
    ReadConfirm = 0x30, "Read confirm";
    /// The page read goes to the cache register while the array reads the next one (Read Cache
    /// Sequential), or the one addressed (Read Cache Random).
    ReadCache = 0x31, "Read Cache";
    /// The last page of a cache read goes to the cache register (Read Cache End).
    ReadCacheEnd = 0x3F, "Read Cache End";
    /// Queues a page for a multi-plane read (Multi-plane Read).
    ReadQueue = 0x32, "Multi-plane Read queue";
    /// The array reads into the data register, to be programmed from there (Copyback Read).
    CopybackRead = 0x35, "Copyback Read confirm";
    /// Opens a choice of column; column cycles follow (Change Read Column).
    ChangeReadColumn = 0x05, "Change Read Column";
    /// Opens a choice of plane and column; address cycles follow (Change Read Column Enhanced).
    ChangeReadColumnEnhanced = 0x06, "Change Read Column Enhanced";
    /// Ends a choice of plane or column.
    ChangeReadColumnConfirm = 0xE0, "Change Read Column confirm";
    /// Opens a program; address cycles and data follow (Page Program).
    Program = 0x80, "Page Program";
    /// The array programs the page or pages.
    ProgramConfirm = 0x10, "Page Program confirm";
    /// The array programs, and the cache registers take the next pages meanwhile (Page Cache Program).
    ProgramCache = 0x15, "Page Cache Program confirm";
    /// Queues a page for a multi-plane program (Multi-plane Page Program).
    ProgramQueue = 0x11, "Multi-plane Program queue";
    /// Opens a program of the page that a copyback read left in the data register.
    CopybackProgram = 0x85, "Copyback Program";
    /// Opens an erase; row cycles follow (Block Erase).
    Erase = 0x60, "Block Erase";
    /// The array erases the block or blocks.
    EraseConfirm = 0xD0, "Block Erase confirm";
    /// Queues a block for a multi-plane erase (Multi-plane Block Erase).
    EraseQueue = 0xD1, "Multi-plane Block Erase queue";
    /// Asks for the status byte (Read Status).
    ReadStatus = 0x70, "Read Status";
    /// Stops and forgets everything (Reset).
    Reset = 0xFF, "Reset";
    /// Suspends a program.
    ProgramSuspend = 0x84, "Program Suspend";
    /// Goes on with a suspended program.
    ProgramResume = 0x13, "Program Resume";
    /// Suspends an erase.
    EraseSuspend = 0x61, "Erase Suspend";
    /// Goes on with a suspended erase.
    EraseResume = 0xD2, "Erase Resume";
}

impl Command {
    /// The byte on the bus.
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

/// What the host puts on the bus, or asks of the die, at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cycle {
    /// A command byte.
    Command(u8),
    /// An address byte.
    Address(u8),
    /// Data into the register of the plane addressed. A token stands for the bytes of the page; of
    /// several data cycles of one page the last token does.
    DataIn {
        /// Bytes, at least one.
        bytes: u32,
        /// Stands for what the page holds.
        content: u64,
    },
    /// Data out of the register of the plane selected, or the status byte after 70h.
    DataOut {
        /// Bytes, at least one.
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

/// The status byte of a die (ONFI, "Status Field Definition").
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
    /// FAIL: the last operation failed, or a cycle was refused. It stays so until a reset.
    pub const fn failed(self) -> bool {
        self.0 & Self::FAIL != 0
    }
    /// FAILC: the operation before the last failed. Never, as a die stops at its first failure.
    pub const fn failed_before(self) -> bool {
        self.0 & Self::FAILC != 0
    }
    /// ARDY: the array does nothing.
    pub const fn array_ready(self) -> bool {
        self.0 & Self::ARDY != 0
    }
    /// RDY: the die takes commands.
    pub const fn ready(self) -> bool {
        self.0 & Self::RDY != 0
    }
    /// WP_n: the part may be written. Always.
    pub const fn writable(self) -> bool {
        self.0 & Self::WP_N != 0
    }
}

/// The rule of the interface or the array that a cycle breaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Rule {
    /// A cycle that the state of the die does not take.
    #[error("it has no place here")]
    OutOfPlace,
    /// A command byte without meaning.
    #[error("there is no such command")]
    Unknown,
    /// An address beyond the geometry.
    #[error("{field} {value} is beyond the part, which has {count}")]
    Beyond {
        /// Column, page, plane or block.
        field: &'static str,
        /// What was addressed.
        value: u64,
        /// How many there are.
        count: u64,
    },
    /// Two pages of one multi-plane command in the same plane.
    #[error("plane {plane} is queued already; a multi-plane command names each plane once")]
    PlaneTwice {
        /// In the die.
        plane: u32,
    },
    /// The plane addressing rule of the part.
    #[error(
        "block {block}, page {page} cannot be beside block {first_block}, page {first_page} in a multi-plane command: the part demands {}",
        in_words(*demanded)
    )]
    Planes {
        /// In its plane.
        block: u32,
        /// In its block.
        page: u32,
        /// Of the plane queued first.
        first_block: u32,
        /// Of the plane queued first.
        first_page: u32,
        /// What has to be equal.
        demanded: PlaneRule,
    },
    /// A confirmed program without data.
    #[error("no data came in for the page; send data first")]
    NoData,
    /// More data than a page register holds.
    #[error("{bytes} bytes in all do not fit the {register} bytes of a page and its spare area")]
    TooMuchData {
        /// Since the register was addressed or selected.
        bytes: u64,
        /// What it holds.
        register: u64,
    },
    /// A data cycle that moves nothing.
    #[error("a data cycle moves at least one byte")]
    NoBytes,
    /// After 70h the die gives out one byte.
    #[error("the status is one byte")]
    StatusIsAByte,
    /// Data out of a register that holds no page.
    #[error("the cache register of plane {plane} holds no page; read one first")]
    Empty {
        /// In the die.
        plane: u32,
    },
    /// A copyback program without a copyback read.
    #[error("no data register holds a page to copy; read one with 35h first")]
    NothingToCopy,
    /// A copyback program into a plane whose data register holds no page to copy.
    #[error("the data register of plane {plane} holds no page to copy; a copy stays in its plane")]
    NothingToCopyIn {
        /// In the die.
        plane: u32,
    },
    /// A cache read that follows no read.
    #[error("no page of a completed 30h is in the data registers; a cache read begins after one")]
    NothingToContinue,
    /// A cache read of other planes than the read that it continues.
    #[error("a cache read goes on in the planes of the read before, all of them")]
    OtherPlanes,
    /// A sequential cache read past the last page of the block.
    #[error(
        "block {block} of plane {plane} has no page after {page}; end the cache read with 3Fh, or address the next page"
    )]
    EndOfBlock {
        /// In the die.
        plane: u32,
        /// In its plane.
        block: u32,
        /// The page read last.
        page: u32,
    },
    /// A read of what a suspended operation works on.
    #[error("{address} belongs to the suspended operation; resume it first")]
    Suspended {
        /// The page in words.
        address: String,
    },
    /// A rule of the array.
    #[error(transparent)]
    Array(#[from] Violation),
}

const fn in_words(rule: PlaneRule) -> &'static str {
    match rule {
        PlaneRule::PageOffset => "the same page in each block",
        PlaneRule::PageAndBlockOffset => "the same block in each plane, and the same page in each",
    }
}

/// A cycle that was refused. It has not taken any time on the bus.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// The bus moves another cycle. Nothing has changed.
    #[error("{cycle} for die {} at {} ps: the bus is held until {} ps; wait until then", die.0, now.ps(), until.ps())]
    BusBusy {
        /// What was issued.
        cycle: Cycle,
        /// To whom.
        die: Die,
        /// When.
        now: Time,
        /// From when on the bus is free.
        until: Time,
    },
    /// RDY is 0. Nothing has changed.
    #[error("{cycle} for die {} at {} ps: the die is busy until {} ps and takes 70h Read Status and FFh Reset only; wait until then", die.0, now.ps(), until.ps())]
    Busy {
        /// What was issued.
        cycle: Cycle,
        /// To whom.
        die: Die,
        /// When.
        now: Time,
        /// From when on the die is ready.
        until: Time,
    },
    /// The cycle breaks a rule. The die has failed, and takes 70h and FFh only until a reset.
    #[error("{cycle} for die {}, which {state}: {rule}; in this state the die takes {}", die.0, state.takes())]
    Broken {
        /// What was issued.
        cycle: Cycle,
        /// To whom.
        die: Die,
        /// The state of the die before.
        state: State,
        /// What it breaks.
        rule: Rule,
    },
    /// No such die. Nothing has changed.
    #[error("{cycle} for die {}: the package has {dies}, counted from 0", die.0)]
    NoDie {
        /// What was issued.
        cycle: Cycle,
        /// To whom.
        die: Die,
        /// Dies in the package.
        dies: u32,
    },
    /// An instant beyond 53 days. Nothing has changed.
    #[error("{cycle} at {} ps is beyond the clock, which ends at {} ps", now.ps(), end.ps())]
    Late {
        /// What was issued.
        cycle: Cycle,
        /// When.
        now: Time,
        /// The last instant.
        end: Time,
    },
}

impl CommandError {
    /// The rule of the array that the cycle breaks, if it is one.
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
