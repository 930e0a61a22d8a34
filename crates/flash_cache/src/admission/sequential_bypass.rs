//! Admission of all but long sequential streams.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_block::Request;
use wordline_kernel::slot::Cited;

use super::Admit;

/// Admits every page except those of long sequential streams (`sequential_cutoff` of bcache). A
/// disk serves such pages as fast as flash does, and they would evict pages that are requested
/// again. The bypass begins with the request that reaches the cutoff, and includes all pages of
/// that request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SequentialBypass {
    /// Length at which a stream begins to bypass the cache. A length beyond the size of the store
    /// disables the bypass. Bytes.
    #[schemars(range(min = 1, max = 1_000_000_000_000_000_000_u64))]
    pub cutoff_bytes: u64,
    /// Maximum number of streams tracked at the same time. The least recently continued stream is
    /// dropped first. Count.
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

/// Tracked streams; the most recently continued one is last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    cutoff: u64,
    most: usize,
    /// End offset and length of each stream. Bytes.
    streams: VecDeque<(u64, u64)>,
    /// Whether the latest request has brought its stream to the cutoff, or continues a stream
    /// beyond it.
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
        self.bypasses = bytes >= self.cutoff;
    }
    fn bypasses(&self) -> bool {
        self.bypasses
    }
    fn admits(&mut self, _page: u64) -> bool {
        !self.bypasses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_block::Op;
    use wordline_kernel::Time;

    /// bcache's `check_should_bypass` includes the current request and skips the cache if the
    /// stream has at least `sequential_cutoff` bytes. With 12 KiB, the third of three sequential
    /// requests of 4 KiB is the first to bypass, and a single request of 12 KiB bypasses, too.
    #[test]
    fn stream_bypasses_the_cache_once_it_reaches_the_cutoff() {
        let policy = SequentialBypass {
            cutoff_bytes: 12_288,
            ..SequentialBypass::default()
        };
        let mut state = State::new(&policy, 0);
        let mut bypasses = |offset, bytes| {
            state.comes(&Request {
                stream: 0,
                op: Op::Read,
                fua: false,
                offset,
                bytes,
                arrival: Time::ZERO,
            });
            state.bypasses()
        };
        assert!(!bypasses(0, 4_096));
        assert!(!bypasses(4_096, 4_096), "8 KiB");
        assert!(bypasses(8_192, 4_096), "12 KiB");
        assert!(bypasses(12_288, 4_096), "16 KiB");
        assert!(!bypasses(1 << 20, 12_287));
        assert!(bypasses(2 << 20, 12_288));
    }
}
