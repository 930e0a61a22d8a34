//! Commands of the transmission phase.

use super::{MAX_EXTENTS, MAX_PAYLOAD, Terms, first};

/// Length of a command without its payload. Bytes.
pub const HEADER_BYTES: usize = 28;

const MAGIC: u32 = 0x2560_9513;

const FUA: u16 = 1 << 0;
const NO_HOLE: u16 = 1 << 1;
const DONT_FRAGMENT: u16 = 1 << 2;
const REQ_ONE: u16 = 1 << 3;

const WRITE: u16 = 1;
const BLOCK_STATUS: u16 = 7;

/// Operation of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Returns the bytes of a range.
    Read,
    /// Replaces the bytes of a range with the payload.
    Write,
    /// Makes completed writes durable.
    Flush,
    /// Discards the bytes of a range.
    Trim,
    /// Fills a range with zeros.
    Zero {
        /// Whether the range may be discarded.
        may_discard: bool,
    },
}

/// Command of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Number by which the client recognises the reply.
    pub cookie: u64,
    /// Operation to execute.
    pub operation: Operation,
    /// Whether the written data must be durable before the reply is sent.
    pub fua: bool,
    /// Offset of the first byte. Bytes.
    pub offset: u64,
    /// Length. Bytes.
    pub bytes: u32,
}

/// Query of the block status of a range: the parts that hold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Number by which the client recognises the reply.
    pub cookie: u64,
    /// Offset of the first byte. Bytes.
    pub offset: u64,
    /// Length. Bytes.
    pub bytes: u32,
    /// Maximum number of extents in the reply.
    pub extents: usize,
}

/// Reason why a command fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device could not read or write the data.
    Io,
    /// The operation is unknown.
    Unknown,
    /// The operation was not negotiated.
    NotNegotiated,
    /// A flag is unknown, or is not valid for the operation.
    Flags,
    /// The length is 0, or the payload is too long.
    Length,
    /// The range of a read, TRIM or query ends beyond the device.
    Beyond,
    /// The range of a write or a write-zeroes command ends beyond the device.
    BeyondSpace,
    /// The data file is full.
    NoSpace,
    /// The server is shutting down.
    ShuttingDown,
}

impl Fault {
    /// Returns the error number of the protocol.
    pub fn number(self) -> u32 {
        match self {
            Self::Io => 5,
            Self::BeyondSpace | Self::NoSpace => 28,
            Self::ShuttingDown => 108,
            _ => 22,
        }
    }
    /// Returns a message for the user of the client.
    pub fn message(self) -> &'static str {
        match self {
            Self::Io => "the device could not read or write the data",
            Self::Unknown => "the command is not supported",
            Self::NotNegotiated => {
                "a block status command needs the metadata context base:allocation"
            }
            Self::Flags => "the command has a flag that is unknown or not valid for it",
            Self::Length => "the length is 0, or the payload exceeds 32 MiB",
            Self::Beyond | Self::BeyondSpace => "the range ends beyond the device",
            Self::NoSpace => "the data file cannot grow: its file system or quota is full",
            Self::ShuttingDown => "the server is shutting down",
        }
    }
}

/// Header that a client sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A command to execute. The payload of a write follows it.
    Command(Command),
    /// A query of the block status, which the device does not execute.
    Query(Query),
    /// A command to answer with an error.
    Refused {
        /// Number by which the client recognises the reply.
        cookie: u64,
        /// Error of the command.
        fault: Fault,
        /// Length of the payload that follows. Bytes.
        payload: u32,
    },
    /// The client asks to disconnect. The server closes the connection after it has replied to all
    /// earlier commands.
    Disconnect,
    /// Not a command. The connection cannot continue.
    Garbage,
}

/// Fields of a header.
#[derive(Clone, Copy, Debug)]
struct Header {
    flags: u16,
    kind: u16,
    cookie: u64,
    offset: u64,
    bytes: u32,
}

impl Received {
    /// Decodes a header for a device of `capacity` bytes.
    pub fn decode(header: &[u8; HEADER_BYTES], terms: Terms, capacity: u64) -> Self {
        let word = |from: usize| first(&header[from..]).map_or(0, u32::from_be_bytes);
        let half = |from: usize| first(&header[from..]).map_or(0, u16::from_be_bytes);
        let long = |from: usize| u64::from(word(from)) << 32 | u64::from(word(from + 4));
        if word(0) != MAGIC {
            return Self::Garbage;
        }
        let header = Header {
            flags: half(4),
            kind: half(6),
            cookie: long(8),
            offset: long(16),
            bytes: word(24),
        };
        header
            .decode(terms, capacity)
            .unwrap_or_else(|fault| Self::Refused {
                cookie: header.cookie,
                fault,
                payload: match header.kind {
                    WRITE => header.bytes,
                    _ => 0,
                },
            })
    }
}

impl Header {
    fn decode(self, terms: Terms, capacity: u64) -> Result<Received, Fault> {
        let operation = match self.kind {
            0 => Operation::Read,
            WRITE => Operation::Write,
            2 => return Ok(Received::Disconnect),
            3 => Operation::Flush,
            4 => Operation::Trim,
            6 => Operation::Zero {
                may_discard: self.flags & NO_HOLE == 0,
            },
            BLOCK_STATUS => return self.query(terms, capacity).map(Received::Query),
            _ => return Err(Fault::Unknown),
        };
        self.flags(match operation {
            Operation::Zero { .. } => FUA | NO_HOLE,
            Operation::Read if terms.structured_replies => FUA | DONT_FRAGMENT,
            _ => FUA,
        })?;
        match operation {
            Operation::Flush if self.offset != 0 => return Err(Fault::Beyond),
            Operation::Flush if self.bytes != 0 => return Err(Fault::Length),
            Operation::Flush => {}
            Operation::Read | Operation::Write if self.bytes > MAX_PAYLOAD => {
                return Err(Fault::Length);
            }
            Operation::Read | Operation::Trim => self.range(capacity, Fault::Beyond)?,
            Operation::Write | Operation::Zero { .. } => {
                self.range(capacity, Fault::BeyondSpace)?;
            }
        }
        Ok(Received::Command(Command {
            cookie: self.cookie,
            operation,
            fua: self.flags & FUA != 0,
            offset: self.offset,
            bytes: self.bytes,
        }))
    }
    fn query(self, terms: Terms, capacity: u64) -> Result<Query, Fault> {
        if !terms.allocation {
            return Err(Fault::NotNegotiated);
        }
        self.flags(FUA | REQ_ONE)?;
        self.range(capacity, Fault::Beyond)?;
        Ok(Query {
            cookie: self.cookie,
            offset: self.offset,
            bytes: self.bytes,
            extents: match self.flags & REQ_ONE {
                0 => MAX_EXTENTS,
                _ => 1,
            },
        })
    }
    /// Checks that only allowed flags are set.
    fn flags(self, allowed: u16) -> Result<(), Fault> {
        match self.flags & !allowed {
            0 => Ok(()),
            _ => Err(Fault::Flags),
        }
    }
    /// Checks that the range is not empty and is within the device. Returns `beyond` if it ends
    /// beyond the device.
    fn range(self, capacity: u64, beyond: Fault) -> Result<(), Fault> {
        let bytes = u64::from(self.bytes);
        if bytes == 0 {
            return Err(Fault::Length);
        }
        let fits = self
            .offset
            .checked_add(bytes)
            .is_some_and(|end| end <= capacity);
        if fits { Ok(()) } else { Err(beyond) }
    }
}
