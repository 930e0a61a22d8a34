//! Statistics of a RAM disk.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request};
use wordline_histogram::Histogram;
use wordline_kernel::Time;

/// Counts and times since the start of the measurement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RamDiskStats {
    /// Read requests completed.
    pub reads: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes of completed reads.
    pub bytes_read: u64,
    /// Bytes of completed writes.
    pub bytes_written: u64,
    /// Response times of reads and writes in the disk, from submission to completion.
    pub response: Histogram,
    /// Maximum number of requests in the disk.
    pub held_most: u32,
    /// Requests in the disk, summed over time. Request-picoseconds.
    pub held_time: u128,
    /// Busy channels, summed over time. Channel-picoseconds.
    pub busy_time: u128,
}

impl RamDiskStats {
    /// Counts a completed request.
    pub(crate) fn completed(&mut self, request: &Request, response: Time) {
        match request.op {
            Op::Read => {
                self.reads += 1;
                self.bytes_read += request.bytes;
            }
            Op::Write => {
                self.writes += 1;
                self.bytes_written += request.bytes;
            }
            Op::Trim | Op::Flush => return,
        }
        self.response.record(response);
    }
}
