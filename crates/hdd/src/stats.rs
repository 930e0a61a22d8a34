//! What a disk has done.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request};
use wordline_kernel::{Time, since};

use crate::model::Access;

/// Bins of seek distances.
pub const BINS: usize = 24;

/// Counts and times since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskStats {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Reads served from the on-board buffer alone.
    pub reads_buffered: u64,
    /// Writes that were complete in the on-board buffer.
    pub writes_buffered: u64,
    /// Sectors read ahead.
    pub sectors_ahead: u64,
    /// Times that data was written from the on-board buffer.
    pub destages: u64,
    /// Accesses of the mechanism.
    pub accesses: u64,
    /// Accesses by the distance of their seek: without one, of 1 cylinder, 2 to 3, 4 to 7, and so on.
    pub seeks: [u64; BINS],
    /// Sum of these distances. Cylinders.
    pub cylinders: u64,
    /// Time of commands in the controller.
    pub overhead: Time,
    /// Time that the arm moved, heads were switched, and writes settled.
    pub seek: Time,
    /// Time that the platter turned to the sectors.
    pub rotation: Time,
    /// Time that sectors passed under the head.
    pub transfer: Time,
    /// Requests that the disk held at once, at most.
    pub held_most: u32,
    /// Sum over the time of the requests that it held; by the time, their mean. Picoseconds.
    pub held_time: u128,
}

since!(DiskStats: reads, writes, bytes_read, bytes_written, reads_buffered, writes_buffered, sectors_ahead, destages, accesses, seeks,
    cylinders, overhead, seek, rotation, transfer, held_time; but held_most);

impl DiskStats {
    /// A request has come.
    pub(crate) fn came(&mut self, request: &Request) {
        match request.op {
            Op::Write => {
                self.writes += 1;
                self.bytes_written += request.bytes;
            }
            Op::Read => {
                self.reads += 1;
                self.bytes_read += request.bytes;
            }
            Op::Trim | Op::Flush => {}
        }
    }
    /// The mechanism is used.
    pub(crate) fn accessed(&mut self, access: &Access) {
        self.accesses += 1;
        self.seek += access.seek;
        self.rotation += access.rotation;
        self.transfer += access.transfer;
        self.cylinders += u64::from(access.distance);
        let bin = (u32::BITS - access.distance.leading_zeros()) as usize;
        self.seeks[bin.min(BINS - 1)] += 1;
    }
    /// Time of the mechanism at work.
    pub fn busy(&self) -> Time {
        self.seek + self.rotation + self.transfer
    }
}
