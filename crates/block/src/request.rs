//! Host requests.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::Time;

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Returns the bytes of a range.
    Read,
    /// Replaces the bytes of a range.
    Write,
    /// Discards the bytes of a range (TRIM, discard, UNMAP).
    Trim,
    /// Makes all completed writes durable; has no range.
    Flush,
}

/// Host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Stream of the request; 0 if there is only one.
    pub stream: u32,
    /// Operation of the request.
    pub op: Op,
    /// Whether a write completes only when it is durable (force unit access, FUA).
    pub fua: bool,
    /// Offset of the first byte.
    pub offset: u64,
    /// Length, at least 1; 0 only for a flush. Bytes.
    pub bytes: u64,
    /// Time at which the host issued the request.
    pub arrival: Time,
}

impl Request {
    /// Returns an error if the request ends beyond `capacity` bytes, or is empty and not a flush.
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

/// Error of a request that ends beyond the device, or that is empty and not a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "request of {bytes} bytes at byte {offset} is empty or ends beyond the device's {capacity} bytes; correct the request, or use a larger device"
)]
pub struct BeyondEnd {
    /// Offset of the first byte.
    pub offset: u64,
    /// Length of the request. Bytes.
    pub bytes: u64,
    /// Bytes that the host can address.
    pub capacity: u64,
}
