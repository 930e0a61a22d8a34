//! Verification of the contents that flash transactions carry.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;
use wordline_kernel::Time;
use wordline_nand::{Die, Operation, Ppn};

use crate::{ContentOracle, Version};

/// Placeholder version of a transaction that needs none.
pub const NO_VERSION: Version = Version::bare(0);

/// Content oracle, with the contents and versions of transactions by slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verification {
    /// The oracle.
    pub oracle: ContentOracle,
    /// Content of each transaction.
    pub contents: Vec<u64>,
    /// Version of each transaction: for a read, the oldest version that it may return; for a write,
    /// the version that it writes.
    pub versions: Vec<Version>,
    /// Content of the page that each die last read ahead.
    ahead: BTreeMap<Die, u64>,
}

impl Verification {
    /// Creates the verification of a device without transactions.
    pub fn new(oracle: ContentOracle) -> Self {
        Self {
            oracle,
            contents: Vec::new(),
            versions: Vec::new(),
            ahead: BTreeMap::new(),
        }
    }
    /// Sets the content and version of a transaction.
    pub fn note(&mut self, slot: u32, content: u64, version: Version) {
        let slot = slot as usize;
        if self.contents.len() <= slot {
            self.contents.resize(slot + 1, 0);
            self.versions.resize(slot + 1, NO_VERSION);
        }
        self.contents[slot] = content;
        self.versions[slot] = version;
    }
    /// Checks a finished read: its content must be at least as new as the oldest version that it
    /// may return.
    pub fn check_read(
        &mut self,
        now: Time,
        slot: u32,
        page: Lpn,
        place: Ppn,
    ) -> Result<(), String> {
        let oldest = self.versions[slot as usize].number;
        let content = self.contents[slot as usize];
        self.oracle.check(now, page, oldest, content, Some(place))
    }
    /// Records that the write of a transaction has been acknowledged to the host.
    pub fn acknowledge(&mut self, now: Time, slot: u32, page: Lpn) {
        let version = self.versions[slot as usize];
        self.oracle.acknowledge(now, page, version);
    }
    /// Records the content of a page that a die reads ahead.
    pub fn read_ahead(&mut self, die: Die, place: Ppn) {
        self.ahead.insert(die, self.oracle.read(place));
    }
    /// Gives a read the content that its page had when it was read ahead.
    pub fn take_ahead(&mut self, slot: u32, die: Die) {
        self.contents[slot as usize] = self.ahead.get(&die).copied().unwrap_or_default();
    }
    /// Applies a completed array operation of a transaction to the contents.
    pub fn array_done(&mut self, slot: u32, operation: Operation, place: Ppn, target: Ppn) {
        let content = &mut self.contents[slot as usize];
        match operation {
            Operation::Read => *content = self.oracle.read(place),
            Operation::Program | Operation::Move => self.oracle.program(target, *content),
            Operation::Erase => self.oracle.erase(place),
        }
    }
}
