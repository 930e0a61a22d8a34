//! Contents of pages, for verification and for recovery from power cuts.

use serde::{Deserialize, Serialize};
use wordline_content_oracle::Verification;
use wordline_ftl::carried::Carried;
use wordline_ftl::recovery::SpareWriter;
use wordline_io_scheduler::Slot;
use wordline_kernel::Time;
use wordline_nand::Ppn;

use super::loses_power::LosesPower;
use super::pending::PageWrite;
use crate::plan::Plan;

/// Spare areas and the content oracle, if enabled.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Contents {
    /// Spare areas, if power cuts are enabled.
    pub journal: Option<Box<SpareWriter>>,
    /// Spare-area records of pages that are being programmed.
    pub carried: Carried,
    pub verification: Option<Box<Verification>>,
}

impl Contents {
    /// Returns `true` if array operations affect spare areas or the content oracle.
    #[inline]
    pub fn are_followed(&self) -> bool {
        self.journal.is_some() || self.verification.is_some()
    }

    /// Returns the content that a transaction carries, if the run is verified.
    pub fn of(&self, slot: Slot) -> Option<u64> {
        let verification = self.verification.as_ref()?;
        Some(verification.contents[slot as usize])
    }

    /// Records the content of a host write.
    #[cold]
    pub fn follow_write(&mut self, slot: Slot, write: &PageWrite, place: Ppn) {
        let PageWrite {
            page,
            version,
            base,
            label,
            ..
        } = *write;
        if let Some(journal) = &mut self.journal {
            self.carried.carry_host(journal, slot, page, label);
        }
        if let Some(verification) = &mut self.verification {
            let content = verification.oracle.write(page, version, base, place);
            verification.note(slot, content, version);
        }
    }

    /// Marks pages as unreadable.
    pub fn spoil(&mut self, pages: std::ops::Range<u32>) {
        for page in pages.map(Ppn) {
            if let Some(journal) = &mut self.journal {
                journal.spare.clear(page);
            }
            if let Some(verification) = &mut self.verification {
                verification.oracle.tear(page);
            }
        }
    }
}

impl LosesPower for Contents {
    fn lose_power(&mut self, _now: Time, _plan: &Plan) {
        let Self {
            journal: _,
            carried,
            verification: _,
        } = self;
        *carried = Carried::default();
    }
}
