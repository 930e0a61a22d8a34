//! What a workload consists of.

use serde::Serialize;
use wordline_block::Op;
use wordline_kernel::Time;

use crate::WorkloadError;

/// A request of a recording, or of a load that is generated: what a host asks of a device, and of which volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Request {
    /// When the host issues it. Never earlier than that of the request before.
    #[serde(serialize_with = "picoseconds")]
    pub arrival: Time,
    /// First byte. Zero for [`Op::Flush`].
    pub offset: u64,
    /// Length in bytes. Zero for [`Op::Flush`] and for nothing else.
    pub bytes: u64,
    /// Volume or disk of the recording; zero where the format knows none.
    pub volume: u32,
    /// What is asked.
    pub op: Op,
    /// Of a write: whether it is done only when it is durable (force unit access). False for
    /// everything else.
    pub fua: bool,
}

impl Request {
    /// The byte behind the last one. Sources guarantee that it fits.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde demands
fn picoseconds<S: serde::Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(time.ps())
}

/// Where requests come from: pulled one by one, in order of arrival, in bounded memory.
pub trait Source {
    /// The next request, or `None` at the end.
    ///
    /// After an error the source is at its end.
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError>;

    /// The fraction of the input consumed, 0 to 1: bytes of the files on disk, or requests
    /// generated. `None` when it cannot be known.
    fn fraction(&self) -> Option<f64>;

    /// Whether arrivals carry meaning. A source without time stamps has all arrivals at zero; it
    /// can be played closed loop only.
    fn timed(&self) -> bool;

    /// Hash of what has been read so far; `None` of what is not read but generated.
    fn read_digest(&self) -> Option<u64> {
        None
    }

    /// From when on the host issues none of its requests, in simulated time.
    fn until(&self) -> Time {
        Time::MAX
    }

    /// Place of the file that the request returned last came from, from 0; 0 for a source without files.
    fn file(&self) -> u32 {
        0
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        (**self).next_request()
    }
    fn fraction(&self) -> Option<f64> {
        (**self).fraction()
    }
    fn timed(&self) -> bool {
        (**self).timed()
    }
    fn read_digest(&self) -> Option<u64> {
        (**self).read_digest()
    }
    fn until(&self) -> Time {
        (**self).until()
    }
    fn file(&self) -> u32 {
        (**self).file()
    }
}
