//! Events and observations of the host CPU model.

use serde::{Deserialize, Serialize};
use wordline_block::{LatencyComponents, Request};
use wordline_kernel::Digest;

use crate::cpu::Thread;

/// Event of the host, or of its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event<E> {
    /// Event of the store.
    Store(E),
    /// A thread has finished the current part of its job.
    Thread(Thread),
    /// The bridge has converted a request.
    Converted,
}

impl<E: Default> Default for Event<E> {
    fn default() -> Self {
        Self::Store(E::default())
    }
}

impl<E: wordline_block::Event> wordline_block::Event for Event<E> {
    fn mix(self, digest: &mut Digest) {
        match self {
            Self::Store(event) => event.mix(digest),
            Self::Thread(thread) => {
                digest.mix(1);
                digest.mix(thread.into());
            }
            Self::Converted => digest.mix(2),
        }
    }
}

/// Observation of the host, or of its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation<O> {
    /// Observation of the store. The requests in it are those that the host submits to the store.
    Store(O),
    /// A request has arrived at the host.
    Admitted {
        /// Number of requests that the host holds, including this one.
        held: u32,
    },
    /// A request has completed at the host.
    Request {
        /// The request.
        request: Request,
        /// Latency components; their sum is exactly the response time.
        parts: LatencyComponents,
    },
}
