//! What a probe hears of an array.

use wordline_device::{Op, Parts};
use wordline_kernel::Time;

/// Something that happened in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// Something happened in a member. The requests that it tells of are the parts of the array's, at
    /// the addresses of the member.
    Member {
        /// Which member.
        member: u32,
        /// What it was.
        device: wordline_device::Observation,
    },
    /// The last part of a request is done, and with it the request.
    Request {
        /// The stream of the host that it belongs to.
        stream: u32,
        /// What it was.
        op: Op,
        /// First byte, of the array.
        offset: u64,
        /// Length in bytes.
        bytes: u64,
        /// When the host issued it.
        arrival: Time,
        /// Where the time of the last part went; the sum is the response time, exactly.
        parts: Parts,
        /// The member that the last part went to.
        member: u32,
    },
}
