//! Verification beside the transactions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;
use wordline_kernel::Time;
use wordline_nand::{Die, Operation, Ppn};

use crate::error::{DeviceError, Result};
use crate::shadow::{Shadow, Version};
use wordline_io_scheduler::Slot;

/// Of what is no write.
pub(super) const NO_VERSION: Version = Version::bare(0);

/// The shadow store, and what the transactions carry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Verification {
    pub shadow: Shadow,
    /// By transaction: the content it carries.
    pub contents: Vec<u64>,
    /// By transaction: the oldest version a read may return, or the version a write carries.
    pub versions: Vec<Version>,
    /// By die: the content of the page that it has read ahead last.
    ahead: BTreeMap<Die, u64>,
}

impl Verification {
    pub fn new(shadow: Shadow) -> Self {
        Self {
            shadow,
            contents: Vec::new(),
            versions: Vec::new(),
            ahead: BTreeMap::new(),
        }
    }
    /// What a transaction carries.
    pub fn note(&mut self, slot: Slot, content: u64, version: Version) {
        let slot = slot as usize;
        if self.contents.len() <= slot {
            self.contents.resize(slot + 1, 0);
            self.versions.resize(slot + 1, NO_VERSION);
        }
        self.contents[slot] = content;
        self.versions[slot] = version;
    }
    /// A read of a page is over: its content may be no older than was noted.
    pub fn check_read(&mut self, now: Time, slot: Slot, page: Lpn, place: Ppn) -> Result<()> {
        let oldest = self.versions[slot as usize].number;
        let content = self.contents[slot as usize];
        let checked = self.shadow.check(now, page, oldest, content, Some(place));
        checked.map_err(DeviceError::Verification)
    }
    /// The write of a page is done.
    pub fn acknowledge(&mut self, now: Time, slot: Slot, page: Lpn) {
        let version = self.versions[slot as usize];
        self.shadow.acknowledge(now, page, version);
    }
    /// A die has read a page that nobody has asked for.
    pub fn read_ahead(&mut self, die: Die, place: Ppn) {
        self.ahead.insert(die, self.shadow.read(place));
    }
    /// A read of such a page takes it as it was then.
    pub fn take_ahead(&mut self, slot: Slot, die: Die) {
        self.contents[slot as usize] = self.ahead.get(&die).copied().unwrap_or_default();
    }
    /// The array has worked for a transaction.
    pub fn array_done(&mut self, slot: Slot, operation: Operation, place: Ppn, target: Ppn) {
        let content = &mut self.contents[slot as usize];
        match operation {
            Operation::Read => *content = self.shadow.read(place),
            Operation::Program | Operation::Move => self.shadow.program(target, *content),
            Operation::Erase => self.shadow.erase(place),
        }
    }
}
