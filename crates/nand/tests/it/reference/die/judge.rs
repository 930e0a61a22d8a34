//! Decides whether a die accepts a cycle.

use super::{Cycle, Decode, Die, Kind, RESET, Register, STATUS, STATUS_BYTE};
use crate::reference::{Part, Place, Refusal};

impl Die {
    /// Returns the verdict on a cycle that starts at the current tick.
    pub fn judge(&self, part: &Part, cycle: Cycle) -> Result<(), Refusal> {
        if cycle == RESET || (self.status_asked && cycle == STATUS_BYTE) {
            return Ok(());
        }
        if cycle == STATUS && (self.decode == Decode::Start || !self.ready()) {
            return Ok(());
        }
        if !self.ready() {
            let suspends = self.suspend_latency(part, cycle).is_some();
            return check(suspends, Refusal::Busy);
        }
        check(!self.failed, Refusal::Failed)?;
        check(!self.status_asked, Refusal::Sequence)?;
        match (&self.decode, cycle) {
            (Decode::Start, Cycle::Command(first)) => self.judge_first(part, first),
            (Decode::Start, Cycle::DataOut { bytes }) => self.judge_data_out(part, bytes),
            (Decode::Address { first, bytes }, Cycle::Address(byte)) => {
                self.judge_address(part, *first, bytes, byte)
            }
            (
                Decode::Addressed {
                    first: 0x80, data, ..
                },
                Cycle::DataIn { bytes, .. },
            ) => check(data + bytes <= part.whole_page(), Refusal::Bytes),
            (Decode::Addressed { first, place, data }, Cycle::Command(confirm)) => {
                self.judge_confirm(*first, *place, *data, confirm)
            }
            _ => Err(Refusal::Sequence),
        }
    }
    /// Returns the suspend latency if the cycle suspends the current operation.
    pub fn suspend_latency(&self, part: &Part, cycle: Cycle) -> Option<u32> {
        let last = self.next.as_ref().or(self.work.as_ref())?;
        match (last.kind, cycle) {
            (Kind::Program | Kind::CopyProgram, Cycle::Command(0x84)) => part.program_suspend,
            (Kind::Erase, Cycle::Command(0x61)) => part.erase_suspend,
            _ => None,
        }
    }
    fn judge_first(&self, part: &Part, first: u8) -> Result<(), Refusal> {
        if !self.queue.is_empty() {
            return check(first == self.queue_first, Refusal::Sequence);
        }
        let accepted = if !self.suspended.is_empty() {
            first == self.resume_command() || [0x00, 0x05, 0x06].contains(&first)
        } else if self.session {
            [0x00, 0x05, 0x06, 0x31, 0x3f].contains(&first)
        } else if self.programs_from_cache() {
            first == 0x80
        } else {
            [0x00, 0x05, 0x06, 0x31, 0x60, 0x80, 0x85].contains(&first)
        };
        check(accepted, Refusal::Sequence)?;
        match first {
            0x85 => {
                let copied = |data: &Register| matches!(data, Register::Copy(_));
                check(self.data.iter().any(copied), Refusal::NoPage)
            }
            0x31 => {
                check(self.may_read_cached(), Refusal::NothingToContinue)?;
                let at_end = |place: &Place| place.page + 1 == part.pages;
                check(!self.last_read.iter().any(at_end), Refusal::EndOfBlock)?;
                let next = self.successors();
                next.iter().try_for_each(|page| self.cells.may_read(*page))
            }
            _ => Ok(()),
        }
    }
    /// Returns `true` if a cache program is in progress and the die is ready.
    fn programs_from_cache(&self) -> bool {
        let kind = self.work.as_ref().map(|work| work.kind);
        kind == Some(Kind::CacheProgram)
    }
    /// Returns `true` if a cache read is open, or if the last read was a 30h whose pages are still
    /// in the data registers.
    fn may_read_cached(&self) -> bool {
        let held = |place: &Place| matches!(self.data[place.plane], Register::Page(_));
        self.session || (!self.last_read.is_empty() && self.last_read.iter().all(held))
    }
    /// Returns the pages that follow those read last.
    pub(super) fn successors(&self) -> Vec<Place> {
        let next = |place: &Place| Place {
            page: place.page + 1,
            ..*place
        };
        self.last_read.iter().map(next).collect()
    }
    fn judge_data_out(&self, part: &Part, bytes: u32) -> Result<(), Refusal> {
        let accepted = self.queue.is_empty() && !self.programs_from_cache();
        check(accepted, Refusal::Sequence)?;
        let held = matches!(self.cache[self.selected], Register::Page(_));
        check(held, Refusal::NoPage)?;
        check(self.bytes_out + bytes <= part.whole_page(), Refusal::Bytes)
    }
    fn judge_address(&self, part: &Part, first: u8, bytes: &[u8], byte: u8) -> Result<(), Refusal> {
        if bytes.len() == part.address_cycles(first) {
            return Err(Refusal::Sequence);
        }
        if bytes.len() + 1 < part.address_cycles(first) {
            return Ok(());
        }
        let mut bytes = bytes.to_vec();
        bytes.push(byte);
        let place = part.address(first, &bytes).ok_or(Refusal::Address)?;
        if matches!(first, 0x05 | 0x06) {
            return Ok(());
        }
        let copied = matches!(self.data[place.plane], Register::Copy(_));
        check(first != 0x85 || copied, Refusal::NoPage)?;
        for queued in &self.queue {
            check(queued.plane != place.plane, Refusal::PlaneRule)?;
            let same_page = first == 0x60 || queued.page == place.page;
            let same_block = !part.same_block || queued.block == place.block;
            check(same_page && same_block, Refusal::PlaneRule)?;
        }
        Ok(())
    }
    fn judge_confirm(
        &self,
        first: u8,
        place: Place,
        data: u32,
        confirm: u8,
    ) -> Result<(), Refusal> {
        let known = match first {
            0x00 if !self.suspended.is_empty() => [0x30, 0x32].contains(&confirm),
            0x00 if self.session => [0x31, 0x32].contains(&confirm),
            0x00 => [0x30, 0x31, 0x32, 0x35].contains(&confirm),
            0x05 | 0x06 => confirm == 0xe0,
            0x60 => [0xd0, 0xd1].contains(&confirm),
            0x80 => [0x10, 0x11, 0x15].contains(&confirm),
            _ => [0x10, 0x11].contains(&confirm),
        };
        check(known, Refusal::Sequence)?;
        check(first != 0x80 || data > 0, Refusal::Bytes)?;
        let mut pages = self.queue.clone();
        pages.push(place);
        match confirm {
            0x30 | 0x35 => self.judge_read(&pages),
            0x31 => {
                check(self.may_read_cached(), Refusal::NothingToContinue)?;
                let same = planes(&pages) == planes(&self.last_read);
                check(same, Refusal::SessionPlanes)?;
                self.judge_read(&pages)
            }
            0x10 | 0x15 => {
                let mut pages = pages.iter();
                pages.try_for_each(|page| self.cells.may_program(*page))
            }
            0xd0 => {
                let mut pages = pages.iter();
                pages.try_for_each(|page| self.cells.may_erase(*page))
            }
            _ => Ok(()),
        }
    }
    fn judge_read(&self, pages: &[Place]) -> Result<(), Refusal> {
        for page in pages {
            for suspended in &self.suspended {
                let erasing = suspended.kind == Kind::Erase;
                let touches = |(other, _): &(Place, u64)| {
                    let same_block = (other.plane, other.block) == (page.plane, page.block);
                    same_block && (erasing || other.page == page.page)
                };
                check(!suspended.pages.iter().any(touches), Refusal::Suspended)?;
            }
            self.cells.may_read(*page)?;
        }
        Ok(())
    }
}

fn planes(pages: &[Place]) -> Vec<usize> {
    let mut planes: Vec<_> = pages.iter().map(|page| page.plane).collect();
    planes.sort_unstable();
    planes
}

fn check(holds: bool, refusal: Refusal) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(refusal) }
}
