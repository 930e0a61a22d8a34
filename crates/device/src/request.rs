//! What the host asks of a device.

use wordline_kernel::Time;

use crate::observation::Op;

/// A request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The stream of the host that it belongs to; 0 if there is one only.
    pub stream: u32,
    /// What is asked.
    pub op: Op,
    /// Whether a write is done only when it is in the flash (force unit access).
    pub fua: bool,
    /// First byte.
    pub offset: u64,
    /// Length in bytes, at least 1; 0 for a flush, and for nothing else.
    pub bytes: u64,
    /// When the host issued it.
    pub arrival: Time,
}
