//! Statistics of a disk.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request};
use wordline_kernel::{Time, since};

use crate::model::Access;

/// Number of bins of the histogram of seek distances.
pub const BINS: usize = 24;

/// Counts and times of a disk since the start of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskStats {
    /// Reads by the host. Count.
    pub reads: u64,
    /// Writes by the host. Count.
    pub writes: u64,
    /// Bytes read by the host.
    pub bytes_read: u64,
    /// Bytes written by the host.
    pub bytes_written: u64,
    /// Reads served from the on-board buffer alone. Count.
    pub reads_buffered: u64,
    /// Writes that completed in the on-board buffer. Count.
    pub writes_buffered: u64,
    /// Sectors read ahead. Count.
    pub sectors_ahead: u64,
    /// Destages of the on-board buffer. Count.
    pub destages: u64,
    /// Accesses of the mechanism, for requests and destages. Count.
    pub accesses: u64,
    /// Accesses by seek distance: 0, 1, 2 to 3, 4 to 7 cylinders, and so on. Count.
    pub seeks: [u64; BINS],
    /// Sum of the seek distances. Cylinders.
    pub cylinders: u64,
    /// Time of commands and completions in the controller.
    pub overhead: Time,
    /// Time of arm movement, head switches and write settling.
    pub seek: Time,
    /// Time of rotation until the sectors reach the head.
    pub rotation: Time,
    /// Time in which sectors passed under the head.
    pub transfer: Time,
    /// Maximum number of outstanding requests. Count.
    pub held_most: u32,
    /// Integral of the number of outstanding requests over time, in requests × picoseconds.
    pub held_time: u128,
}

since!(DiskStats: reads, writes, bytes_read, bytes_written, reads_buffered, writes_buffered, sectors_ahead, destages, accesses, seeks,
    cylinders, overhead, seek, rotation, transfer, held_time; but held_most);

impl DiskStats {
    /// Counts a submitted request.
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
    /// Counts an access of the mechanism.
    pub(crate) fn accessed(&mut self, access: &Access) {
        self.accesses += 1;
        self.seek += access.seek;
        self.rotation += access.rotation;
        self.transfer += access.transfer;
        self.cylinders += u64::from(access.distance);
        let bin = (u32::BITS - access.distance.leading_zeros()) as usize;
        self.seeks[bin.min(BINS - 1)] += 1;
    }
    /// Returns the busy time of the mechanism.
    pub fn busy(&self) -> Time {
        self.seek + self.rotation + self.transfer
    }
}
