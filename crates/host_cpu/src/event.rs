//! What the host side schedules, and what a probe hears of it.

use serde::{Deserialize, Serialize};
use wordline_block::{Parts, Request};
use wordline_kernel::Digest;

use crate::cpu::Thread;

/// Something of the host side, or of the store, is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event<E> {
    /// Of the store.
    Store(E),
    /// A thread has done on its core what it was at.
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

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation<O> {
    /// In the store, of which the requests are those that the host passes on.
    Store(O),
    /// A request has come to the host.
    Admitted {
        /// Requests that it holds, with this one.
        held: u32,
    },
    /// A request is complete.
    Request {
        /// What was asked.
        request: Request,
        /// Where its time went; the sum is the response time, exactly.
        parts: Parts,
    },
}
