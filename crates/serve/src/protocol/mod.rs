//! The server side of the network block device protocol (NBD, `doc/proto.md` of the project
//! NetworkBlockDevice/nbd), without input and output: fixed newstyle negotiation, block status,
//! simple and structured replies.

mod command;
mod context;
mod handshake;
mod option;
mod reply;

pub use command::{Command, Fault, HEADER_BYTES, Operation, Query, Received};
pub use handshake::{Handshake, Stage};
pub use reply::{Extent, MAX_EXTENTS, Replies};

/// Maximum payload of a command. Bytes.
pub const MAX_PAYLOAD: u32 = 32 << 20;
/// Unit of the size of a device, and of the requests that it executes. Bytes.
pub const SECTOR: u32 = 512;

/// Device that a server offers. Its name is empty, as clients expect by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Size, a multiple of [`SECTOR`]. Bytes.
    pub bytes: u64,
    /// Description, for clients that list the exports.
    pub description: String,
}

/// Terms of a connection, which the client chooses in the negotiation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Whether the answer to `NBD_OPT_EXPORT_NAME` ends without zeroes.
    pub no_zeroes: bool,
    /// Whether replies to reads are structured, and replies to failed commands have a message.
    pub structured_replies: bool,
    /// Whether the client may query the context `base:allocation`.
    pub allocation: bool,
}

impl Terms {
    /// Returns the flags of the transmission phase.
    fn flags(self) -> u16 {
        const HAS_FLAGS: u16 = 1 << 0;
        const SEND_FLUSH: u16 = 1 << 2;
        const SEND_FUA: u16 = 1 << 3;
        const SEND_TRIM: u16 = 1 << 5;
        const SEND_WRITE_ZEROES: u16 = 1 << 6;
        const SEND_DF: u16 = 1 << 7;
        const CAN_MULTI_CONN: u16 = 1 << 8;
        let abilities =
            HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_TRIM | SEND_WRITE_ZEROES | CAN_MULTI_CONN;
        if self.structured_replies {
            abilities | SEND_DF
        } else {
            abilities
        }
    }
}

/// Returns the first `N` bytes of `input`, or `None` if there are fewer.
fn first<const N: usize>(input: &[u8]) -> Option<[u8; N]> {
    input.first_chunk::<N>().copied()
}

/// Splits a length and that number of bytes off the start of `input`. Returns `None` if there are
/// fewer bytes.
fn counted(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_be_bytes(first(input)?) as usize;
    input[4..].split_at_checked(length)
}
