//! Effects of an accepted cycle at its end.

use super::{ArrayBusy, Cycle, Decode, Die, Kind, Output, Register};
use crate::reference::{Part, Place};

/// Duration of a reset that aborts a read, a program or an erase (ONFI tRST: 5, 10 and 500 us).
/// Ticks.
const RESETS: [u32; 3] = [5, 10, 500];

impl Die {
    /// Makes the die fail after a refused cycle.
    pub fn fail(&mut self) {
        self.failed = true;
        self.status_asked = false;
        self.decode = Decode::Start;
        self.queue.clear();
    }
    /// Applies an accepted cycle that ends at the current tick.
    pub fn obey(&mut self, part: &Part, cycle: Cycle) -> Output {
        match cycle {
            Cycle::Command(0xff) => self.reset(),
            Cycle::Command(0x70) => self.status_asked = true,
            Cycle::Command(0x61 | 0x84) => self.suspend(part, cycle),
            Cycle::Command(command) => self.obey_command(part, command),
            Cycle::Address(byte) => self.obey_address(part, byte),
            Cycle::DataIn { bytes, content } => {
                if let Decode::Addressed { place, data, .. } = &mut self.decode {
                    *data += bytes;
                    self.cache[place.plane] = Register::Loaded(content);
                }
            }
            Cycle::DataOut { .. } if self.status_asked => {
                self.status_asked = false;
                return Output::Status(self.status());
            }
            Cycle::DataOut { bytes } => {
                self.bytes_out += bytes;
                if let Register::Page(content) = self.cache[self.selected] {
                    return Output::Content(content);
                }
            }
        }
        Output::None
    }
    fn obey_address(&mut self, part: &Part, byte: u8) {
        let Decode::Address { first, bytes } = &mut self.decode else {
            return;
        };
        bytes.push(byte);
        if bytes.len() < part.address_cycles(*first) {
            return;
        }
        let first = *first;
        if let Some(place) = part.address(first, bytes) {
            self.decode = Decode::Addressed {
                first,
                place,
                data: 0,
            };
        }
    }
    fn obey_command(&mut self, part: &Part, command: u8) {
        match std::mem::replace(&mut self.decode, Decode::Start) {
            Decode::Addressed { first, place, .. } => self.confirm(part, first, place, command),
            _ if command == 0x31 => self.cache_read(part, self.successors()),
            _ if command == 0x3f => self.end_cache_read(part),
            _ if command == 0x13 || command == 0xd2 => self.resume(part),
            _ => {
                self.decode = Decode::Address {
                    first: command,
                    bytes: Vec::new(),
                }
            }
        }
    }
    fn confirm(&mut self, part: &Part, first: u8, place: Place, confirm: u8) {
        if matches!(first, 0x00 | 0x06) {
            self.selected = place.plane;
            self.bytes_out = 0;
        }
        match confirm {
            0xe0 => self.bytes_out = 0,
            0x11 | 0x32 | 0xd1 => {
                self.queue.push(place);
                self.queue_first = first;
                self.plane_busy = part.plane_busy;
            }
            _ => {
                let mut pages = std::mem::take(&mut self.queue);
                pages.push(place);
                self.begin(part, first, confirm, pages);
            }
        }
    }
    fn begin(&mut self, part: &Part, first: u8, confirm: u8, pages: Vec<Place>) {
        let longest = |ticks: &[u32]| pages.iter().map(|page| ticks[page.page]).max();
        let read = longest(&part.read).unwrap_or(0);
        let program = longest(&part.program).unwrap_or(0);
        match confirm {
            0x30 => {
                self.last_read.clone_from(&pages);
                self.bytes_out = 0;
                self.work(Kind::Read, pages, (0, read, read));
            }
            0x31 => self.cache_read(part, pages),
            0x35 => {
                self.last_read.clear();
                self.work(Kind::CopyRead, pages, (0, read, read));
            }
            0xd0 => {
                for page in &pages {
                    self.cells.erase(*page);
                }
                self.work(Kind::Erase, pages, (0, part.erase, part.erase));
            }
            0x15 => {
                let register = part.register;
                self.program(Kind::CacheProgram, &pages, (register, register, program));
            }
            _ if first == 0x85 => self.program(Kind::CopyProgram, &pages, (0, program, program)),
            _ => self.program(Kind::Program, &pages, (0, program, program)),
        }
    }
    fn cache_read(&mut self, part: &Part, pages: Vec<Place>) {
        let ticks = pages.iter().map(|page| part.read[page.page]).max();
        let left = part.register + ticks.unwrap_or(0);
        self.session = true;
        self.last_read.clone_from(&pages);
        self.bytes_out = 0;
        self.work(Kind::CacheRead, pages, (part.register, part.register, left));
    }
    fn end_cache_read(&mut self, part: &Part) {
        let pages = std::mem::take(&mut self.last_read);
        let register = part.register;
        self.session = false;
        self.bytes_out = 0;
        self.work(Kind::EndOfCacheRead, pages, (register, register, register));
    }
    fn program(&mut self, kind: Kind, pages: &[Place], ticks: (u32, u32, u32)) {
        let mut filled = Vec::new();
        for page in pages {
            self.cells.program(*page);
            let register = match kind {
                Kind::CopyProgram => self.data[page.plane],
                _ => self.cache[page.plane],
            };
            if let Register::Loaded(content) | Register::Copy(content) = register {
                filled.push((*page, content));
            }
        }
        self.queue_work(kind, filled, ticks);
    }
    fn work(&mut self, kind: Kind, pages: Vec<Place>, ticks: (u32, u32, u32)) {
        let pages = pages.into_iter().map(|page| (page, 0)).collect();
        self.queue_work(kind, pages, ticks);
    }
    /// Starts the operation when the array is free. `ticks` are the times until the page registers
    /// have moved, until RDY, and until ARDY.
    fn queue_work(&mut self, kind: Kind, pages: Vec<(Place, u64)>, ticks: (u32, u32, u32)) {
        let (moving, ready, left) = ticks;
        let work = ArrayBusy {
            kind,
            pages,
            moving,
            ready,
            left,
        };
        if self.work.is_some() {
            self.next = Some(work);
        } else {
            self.start(work);
        }
    }
    fn reset(&mut self) {
        let suspending = self.suspended.first().map(|suspended| suspended.kind);
        let ticks = match self.work.as_ref().map(|work| match work.kind {
            Kind::Suspending => suspending.unwrap_or(Kind::Suspending),
            kind => kind,
        }) {
            Some(Kind::Program | Kind::CacheProgram | Kind::CopyProgram) => RESETS[1],
            Some(Kind::Erase) => RESETS[2],
            _ => RESETS[0],
        };
        self.fail();
        self.failed = false;
        self.session = false;
        self.suspended.clear();
        self.next = None;
        self.plane_busy = 0;
        self.last_read.clear();
        self.data.fill(Register::Empty);
        self.cache.fill(Register::Empty);
        self.bytes_out = 0;
        self.work = None;
        self.work(Kind::Reset, Vec::new(), (0, ticks, ticks));
    }
    fn suspend(&mut self, part: &Part, cycle: Cycle) {
        let Some(latency) = self.suspend_latency(part, cycle) else {
            return;
        };
        self.status_asked = false;
        let ticks = |work: &Option<ArrayBusy>| work.as_ref().map_or(0, |work| work.left);
        let left = ticks(&self.work) + ticks(&self.next);
        if left <= latency {
            return;
        }
        self.suspended.extend(self.work.take());
        self.suspended.extend(self.next.take());
        self.work(Kind::Suspending, Vec::new(), (0, latency, latency));
    }
    fn resume(&mut self, part: &Part) {
        let mut works = std::mem::take(&mut self.suspended).into_iter();
        self.work = works.next();
        self.next = works.next();
        if let Some(work) = &mut self.work {
            work.left += part.resume;
            work.ready = work.left;
        }
    }
}
