//! The server side of the network block device protocol (NBD, `doc/proto.md` of the project
//! NetworkBlockDevice/nbd), without input and output: fixed newstyle negotiation and simple replies.

mod command;
mod handshake;
mod option;

pub use command::{Command, Fault, HEADER_BYTES, Operation, Received, reply};
pub use handshake::{Handshake, Stage};

/// Maximum payload of a command. Bytes.
pub const MAX_PAYLOAD: u32 = 32 << 20;
/// Granularity of offsets and lengths. Bytes.
pub const SECTOR: u32 = 512;

/// Device that a server offers. Its name is empty, which is the default of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Size, a multiple of [`SECTOR`]. Bytes.
    pub bytes: u64,
    /// Description, for clients that list the exports.
    pub description: String,
}

/// Flags of the transmission phase.
mod transmission {
    const HAS_FLAGS: u16 = 1 << 0;
    const SEND_FLUSH: u16 = 1 << 2;
    const SEND_FUA: u16 = 1 << 3;
    const SEND_TRIM: u16 = 1 << 5;
    const SEND_WRITE_ZEROES: u16 = 1 << 6;
    const CAN_MULTI_CONN: u16 = 1 << 8;
    /// Abilities of each export.
    pub(super) const FLAGS: u16 =
        HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_TRIM | SEND_WRITE_ZEROES | CAN_MULTI_CONN;
}

/// Takes the first `N` bytes of `input`; `None` if there are fewer.
fn first<const N: usize>(input: &[u8]) -> Option<[u8; N]> {
    input.first_chunk::<N>().copied()
}
