//! What pages hold: for verification, and for recovery from a power cut.

use serde::{Deserialize, Serialize};
use wordline_ftl::recovery::SpareWriter;
use wordline_io_scheduler::Slot;
use wordline_kernel::Time;
use wordline_nand::Ppn;

use super::pending::PageWrite;
use super::power::LosesPower;
use super::spare::Carried;
use super::verification::Verification;
use crate::plan::Plan;

/// Spare areas and the shadow store, where the run asks for them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Contents {
    /// Spare areas, if the power may fail.
    pub journal: Option<Box<SpareWriter>>,
    /// What the spare areas of pages on their way will say.
    pub carried: Carried,
    pub verification: Option<Box<Verification>>,
}

impl Contents {
    /// What a transaction carries, if the run is verified.
    pub fn of(&self, slot: Slot) -> Option<u64> {
        let verification = self.verification.as_ref()?;
        Some(verification.contents[slot as usize])
    }

    /// What a host write carries.
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
            let content = verification.shadow.write(page, version, base, place);
            verification.note(slot, content, version);
        }
    }

    /// What pages held, or were to hold, cannot be read.
    pub fn spoil(&mut self, pages: std::ops::Range<u32>) {
        for page in pages.map(Ppn) {
            if let Some(journal) = &mut self.journal {
                journal.spare.clear(page);
            }
            if let Some(verification) = &mut self.verification {
                verification.shadow.tear(page);
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
