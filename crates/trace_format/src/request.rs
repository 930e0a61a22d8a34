//! Requests and sources of requests.

use serde::Serialize;
use wordline_block::Op;
use wordline_kernel::Time;

use crate::WorkloadError;

/// Request of a trace or of a generated load, with its volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Request {
    /// Time at which the host issues the request. It is never earlier than in the previous request.
    #[serde(serialize_with = "picoseconds")]
    pub arrival: Time,
    /// Offset of the first byte. Zero for [`Op::Flush`]. Bytes.
    pub offset: u64,
    /// Length; zero only for [`Op::Flush`]. Bytes.
    pub bytes: u64,
    /// Number of the volume or disk in the trace; 0 if the format has no volumes.
    pub volume: u32,
    /// Operation of the request.
    pub op: Op,
    /// Whether a write is durable on completion (force unit access). `false` for all other
    /// operations.
    pub fua: bool,
}

impl Request {
    /// Returns the end of the range, exclusive. Sources guarantee that it does not overflow.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // signature required by serde
fn picoseconds<S: serde::Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(time.ps())
}

/// Source of requests. Requests are pulled one by one, in order of arrival, in bounded memory.
pub trait Source {
    /// Returns the next request, or `None` at the end.
    ///
    /// After an error the source is at its end.
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError>;

    /// Returns the fraction of the input consumed, 0 to 1. The input is bytes on disk, or requests
    /// to generate. `None` if the fraction is unknown.
    fn fraction(&self) -> Option<f64>;

    /// Returns `true` if arrivals are meaningful. Otherwise, the requests can only be replayed in a
    /// closed loop.
    fn timed(&self) -> bool;

    /// Returns the digest of the bytes read so far; `None` for a source without one, such as a
    /// generated load.
    fn read_digest(&self) -> Option<u64> {
        None
    }

    /// Returns the simulated time from which the host issues no further requests.
    fn until(&self) -> Time {
        Time::MAX
    }

    /// Returns `true` if the source has no request yet, but may have one later. Only sources of
    /// live runs return `true`.
    fn is_pending(&self) -> bool {
        false
    }

    /// Returns `true` for the requests of the clients of a live run.
    fn is_live(&self) -> bool {
        false
    }

    /// Returns the index of the file of the request returned last, from 0. Returns 0 for a source
    /// without files.
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
    fn is_pending(&self) -> bool {
        (**self).is_pending()
    }
    fn is_live(&self) -> bool {
        (**self).is_live()
    }
    fn file(&self) -> u32 {
        (**self).file()
    }
}
