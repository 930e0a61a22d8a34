//! Replies of the transmission phase: simple replies, and structured replies of one chunk.

use super::context::ALLOCATION;
use super::{Fault, Terms};

/// Maximum number of extents in a block status reply. The client asks again for the rest.
pub const MAX_EXTENTS: usize = 16_384;

const SIMPLE_MAGIC: u32 = 0x6744_6698;
const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Flag of the last chunk of a reply.
const DONE: u16 = 1 << 0;

const OFFSET_DATA: u16 = 1;
const BLOCK_STATUS: u16 = 5;
const ERROR: u16 = (1 << 15) + 1;

const HOLE: u32 = 1 << 0;
const ZERO: u32 = 1 << 1;

/// Consecutive bytes of a device with the same status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Length. Bytes.
    pub bytes: u32,
    /// Whether the range takes no space, and reads as zeros.
    pub is_hole: bool,
}

/// Encoder of the replies of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Replies {
    structured: bool,
}

impl Replies {
    /// Creates the encoder of a connection with these terms.
    pub fn new(terms: Terms) -> Self {
        Self {
            structured: terms.structured_replies,
        }
    }
    /// Appends a reply without content to a successful command.
    pub fn done(self, cookie: u64, out: &mut Vec<u8>) {
        simple(cookie, 0, out);
    }
    /// Appends the reply to a command that failed. A structured reply includes a message.
    pub fn failed(self, cookie: u64, fault: Fault, out: &mut Vec<u8>) {
        if !self.structured {
            return simple(cookie, fault.number(), out);
        }
        let message = fault.message().as_bytes();
        chunk(cookie, ERROR, 6 + message.len() as u32, out);
        out.extend(fault.number().to_be_bytes());
        out.extend((message.len() as u16).to_be_bytes());
        out.extend(message);
    }
    /// Appends the start of the reply to a successful read. The caller appends the `bytes` bytes of
    /// data.
    pub fn read(self, cookie: u64, offset: u64, bytes: u32, out: &mut Vec<u8>) {
        if !self.structured {
            return simple(cookie, 0, out);
        }
        chunk(cookie, OFFSET_DATA, 8 + bytes, out);
        out.extend(offset.to_be_bytes());
    }
    /// Appends the reply to a successful query of the block status.
    pub fn extents(self, cookie: u64, extents: &[Extent], out: &mut Vec<u8>) {
        chunk(cookie, BLOCK_STATUS, 4 + 8 * extents.len() as u32, out);
        out.extend(ALLOCATION.to_be_bytes());
        for extent in extents {
            let status = if extent.is_hole { HOLE | ZERO } else { 0 };
            out.extend(extent.bytes.to_be_bytes());
            out.extend(status.to_be_bytes());
        }
    }
}

fn simple(cookie: u64, error: u32, out: &mut Vec<u8>) {
    out.extend(SIMPLE_MAGIC.to_be_bytes());
    out.extend(error.to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// Appends the header of the only chunk of a structured reply.
fn chunk(cookie: u64, kind: u16, bytes: u32, out: &mut Vec<u8>) {
    out.extend(CHUNK_MAGIC.to_be_bytes());
    out.extend(DONE.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(bytes.to_be_bytes());
}
