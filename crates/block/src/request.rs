//! What a host asks for.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::Time;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Return the bytes of a range.
    Read,
    /// Replace the bytes of a range.
    Write,
    /// Forget the bytes of a range (TRIM, discard, UNMAP).
    Trim,
    /// Make everything written so far durable; has no range.
    Flush,
}

/// A request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The stream of the host that it belongs to; 0 if there is one only.
    pub stream: u32,
    /// What is asked.
    pub op: Op,
    /// Whether a write is complete only when it is durable (force unit access).
    pub fua: bool,
    /// First byte.
    pub offset: u64,
    /// Length in bytes, at least 1; 0 for a flush, and for nothing else.
    pub bytes: u64,
    /// When the host issued it.
    pub arrival: Time,
}

impl Request {
    /// Whether a device of so many bytes can serve it.
    #[inline]
    pub fn fit(&self, capacity: u64) -> Result<(), BeyondEnd> {
        let Self { offset, bytes, .. } = *self;
        let end = offset.checked_add(bytes);
        let empty = bytes == 0 && self.op != Op::Flush;
        if end.is_none_or(|end| end > capacity) || empty {
            return Err(BeyondEnd {
                offset,
                bytes,
                capacity,
            });
        }
        Ok(())
    }
}

/// A request outside the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "request at byte {offset} of {bytes} bytes ends beyond the device's {capacity} bytes; fit the requests to the device"
)]
pub struct BeyondEnd {
    /// First byte.
    pub offset: u64,
    /// Length.
    pub bytes: u64,
    /// What the host can address.
    pub capacity: u64,
}
