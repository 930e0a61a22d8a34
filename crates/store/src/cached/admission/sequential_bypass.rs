//! All but long sequential streams.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_block::Request;
use wordline_kernel::slot::Cited;

use super::Admit;

/// Every page but those of sequential streams beyond a length, which a disk serves as fast, and which push out what is
/// requested again (`sequential_cutoff` of bcache).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SequentialBypass {
    /// Length from which on a stream passes by; none does where it is that of the store. Bytes.
    #[schemars(range(min = 1, max = 1_000_000_000_000_000_000_u64))]
    pub cutoff_bytes: u64,
    /// Streams that are followed at once; the one that goes on first is forgotten last. Count.
    #[schemars(range(min = 1, max = 65536))]
    pub streams: u32,
}

impl Default for SequentialBypass {
    fn default() -> Self {
        Self {
            cutoff_bytes: 4 << 20,
            streams: 128,
        }
    }
}

impl Cited for SequentialBypass {
    const PAPER: &'static str = "";
}

/// The streams, the one that went on last behind.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    cutoff: u64,
    most: usize,
    /// Where each goes on, and how long it is.
    streams: VecDeque<(u64, u64)>,
    /// Whether the request that came last belongs to a stream that is long enough.
    bypasses: bool,
}

impl State {
    pub(super) fn new(policy: &SequentialBypass, _capacity: usize) -> Self {
        Self {
            cutoff: policy.cutoff_bytes,
            most: policy.streams as usize,
            streams: VecDeque::new(),
            bypasses: false,
        }
    }
}

impl Admit for State {
    fn comes(&mut self, request: &Request) {
        let mut streams = self.streams.iter();
        let place = streams.rposition(|(end, _)| *end == request.offset);
        let before = place.and_then(|place| self.streams.remove(place));
        let bytes = before.map_or(0, |(_, bytes)| bytes) + request.bytes;
        if self.streams.len() == self.most {
            self.streams.pop_front();
        }
        self.streams
            .push_back((request.offset + request.bytes, bytes));
        self.bypasses = bytes > self.cutoff;
    }
    fn bypasses(&self) -> bool {
        self.bypasses
    }
    fn admits(&mut self, _page: u64) -> bool {
        !self.bypasses
    }
}
