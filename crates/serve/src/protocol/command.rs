//! The transmission phase: commands, and simple replies.

use super::{MAX_PAYLOAD, SECTOR, first};

/// Length of a command without its payload. Bytes.
pub const HEADER_BYTES: usize = 28;

const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;

const FUA: u16 = 1 << 0;
const NO_HOLE: u16 = 1 << 1;

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
    /// Operation.
    pub operation: Operation,
    /// Whether the reply means that the written data is durable.
    pub fua: bool,
    /// Offset of the first byte.
    pub offset: u64,
    /// Length. Bytes.
    pub bytes: u32,
}

/// Error of a command, as an error number of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Fault {
    /// The device could not read or write the data.
    Io = 5,
    /// The command is invalid.
    Invalid = 22,
    /// The range of a write ends beyond the device, or its data file is full.
    NoSpace = 28,
    /// The server ends.
    ShuttingDown = 108,
}

/// Header that a client sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A command to execute. The payload of a write follows it.
    Command(Command),
    /// A command to answer with an error.
    Refused {
        /// Number by which the client recognises the reply.
        cookie: u64,
        /// Error of the command.
        fault: Fault,
        /// Length of the payload that follows. Bytes.
        payload: u32,
    },
    /// The client ends the connection once all its commands are answered.
    Disconnect,
    /// Not a command. The connection cannot continue.
    Garbage,
}

impl Received {
    /// Decodes a header for a device of `capacity` bytes.
    pub fn decode(header: &[u8; HEADER_BYTES], capacity: u64) -> Self {
        let word = |from: usize| first(&header[from..]).map_or(0, u32::from_be_bytes);
        let half = |from: usize| first(&header[from..]).map_or(0, u16::from_be_bytes);
        let long = |from: usize| u64::from(word(from)) << 32 | u64::from(word(from + 4));
        if word(0) != REQUEST_MAGIC {
            return Self::Garbage;
        }
        let (flags, kind, cookie) = (half(4), half(6), long(8));
        let (offset, bytes) = (long(16), word(24));
        let operation = match kind {
            0 => Some(Operation::Read),
            1 => Some(Operation::Write),
            2 => return Self::Disconnect,
            3 => Some(Operation::Flush),
            4 => Some(Operation::Trim),
            6 => Some(Operation::Zero {
                may_discard: flags & NO_HOLE == 0,
            }),
            _ => None,
        };
        let command = operation.map(|operation| Command {
            cookie,
            operation,
            fua: flags & FUA != 0,
            offset,
            bytes,
        });
        let checked = command.ok_or(Fault::Invalid).and_then(|command| {
            command.check(flags, capacity)?;
            Ok(command)
        });
        match checked {
            Ok(command) => Self::Command(command),
            Err(fault) => Self::Refused {
                cookie,
                fault,
                payload: if kind == 1 { bytes } else { 0 },
            },
        }
    }
}

impl Command {
    /// Returns the error of an invalid command.
    fn check(&self, flags: u16, capacity: u64) -> Result<(), Fault> {
        let allowed = match self.operation {
            Operation::Zero { .. } => FUA | NO_HOLE,
            _ => FUA,
        };
        let is_payload = matches!(self.operation, Operation::Read | Operation::Write);
        if flags & !allowed != 0 || is_payload && self.bytes > MAX_PAYLOAD {
            return Err(Fault::Invalid);
        }
        if self.operation == Operation::Flush {
            return match (self.offset, self.bytes) {
                (0, 0) => Ok(()),
                _ => Err(Fault::Invalid),
            };
        }
        let sector = u64::from(SECTOR);
        let (offset, bytes) = (self.offset, u64::from(self.bytes));
        if bytes == 0 || !offset.is_multiple_of(sector) || !bytes.is_multiple_of(sector) {
            return Err(Fault::Invalid);
        }
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= capacity);
        match self.operation {
            _ if fits => Ok(()),
            Operation::Write | Operation::Zero { .. } => Err(Fault::NoSpace),
            _ => Err(Fault::Invalid),
        }
    }
}

/// Returns the header of a simple reply. The data of a successful read follows it.
pub fn reply(cookie: u64, fault: Option<Fault>) -> [u8; 16] {
    let mut reply = [0; 16];
    reply[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
    reply[4..8].copy_from_slice(&fault.map_or(0, |fault| fault as u32).to_be_bytes());
    reply[8..].copy_from_slice(&cookie.to_be_bytes());
    reply
}
