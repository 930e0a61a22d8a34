//! Die: its command decoder, its registers, and the countdown of its array.

mod judge;
mod obey;

use super::{Cells, Part, Place};

/// Cycle on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycle {
    /// Command byte.
    Command(u8),
    /// Address byte.
    Address(u8),
    /// Data to the die; `content` stands for the whole page.
    DataIn {
        /// Bytes transferred.
        bytes: u32,
        /// Content of the page.
        content: u64,
    },
    /// Data or status from the die.
    DataOut {
        /// Bytes transferred.
        bytes: u32,
    },
}

/// Output of a cycle at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// No output.
    None,
    /// Content of a page.
    Content(u64),
    /// Status byte.
    Status(u8),
}

/// Content of a page register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    Empty,
    /// Page from the bus, to be programmed.
    Loaded(u64),
    /// Page that was read.
    Page(u64),
    /// Page that was read for a copyback.
    Copy(u64),
}

/// Position of the die in a sequence of cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Decode {
    /// A command may start.
    Start,
    /// Address cycles follow the first command.
    Address { first: u8, bytes: Vec<u8> },
    /// The address is complete; `data` bytes have arrived.
    Addressed { first: u8, place: Place, data: u32 },
}

/// Operation that keeps a die busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    CacheRead,
    EndOfCacheRead,
    CopyRead,
    Program,
    CacheProgram,
    CopyProgram,
    Erase,
    Reset,
    Suspending,
}

#[derive(Clone, Debug)]
struct ArrayBusy {
    kind: Kind,
    /// Pages of the operation, with the content to program.
    pages: Vec<(Place, u64)>,
    /// Ticks until the page registers have moved.
    moving: u32,
    /// Ticks until RDY = 1.
    ready: u32,
    /// Ticks until the array stops.
    left: u32,
}

/// Array time of a die. Ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// Reads (TON).
    pub reading: u64,
    /// Programs (TIN).
    pub programming: u64,
    /// Erases (BER).
    pub erasing: u64,
}

/// Reference model of a die.
#[derive(Clone, Debug)]
pub struct Die {
    /// Array of the die.
    pub cells: Cells,
    /// Array time that the die has used.
    pub worked: Worked,
    data: Vec<Register>,
    cache: Vec<Register>,
    selected: usize,
    bytes_out: u32,
    decode: Decode,
    status_asked: bool,
    queue: Vec<Place>,
    queue_first: u8,
    session: bool,
    last_read: Vec<Place>,
    /// Suspended operation, followed by the operation that waited for it.
    suspended: Vec<ArrayBusy>,
    failed: bool,
    plane_busy: u32,
    work: Option<ArrayBusy>,
    next: Option<ArrayBusy>,
}

/// Content of a page whose program has not ended.
const LOST: u64 = 0;
const RESET: Cycle = Cycle::Command(0xff);
const STATUS: Cycle = Cycle::Command(0x70);
const STATUS_BYTE: Cycle = Cycle::DataOut { bytes: 1 };

impl Die {
    /// Creates an idle die.
    pub fn new(part: &Part) -> Self {
        Self {
            cells: Cells::new(part),
            worked: Worked::default(),
            data: vec![Register::Empty; part.planes],
            cache: vec![Register::Empty; part.planes],
            selected: 0,
            bytes_out: 0,
            decode: Decode::Start,
            status_asked: false,
            queue: Vec::new(),
            queue_first: 0,
            session: false,
            last_read: Vec::new(),
            suspended: Vec::new(),
            failed: false,
            plane_busy: 0,
            work: None,
            next: None,
        }
    }
    /// Returns status bit RDY.
    pub fn ready(&self) -> bool {
        let at_work = self.work.as_ref().is_some_and(|work| work.ready > 0);
        self.plane_busy == 0 && self.next.is_none() && !at_work
    }
    /// Returns status bit ARDY.
    pub fn array_ready(&self) -> bool {
        self.work.is_none() && self.next.is_none()
    }
    /// Returns `true` if a status byte was requested but has not been transferred.
    pub fn status_asked(&self) -> bool {
        self.status_asked
    }
    /// Returns `true` if the die waits for a reset.
    pub fn failed(&self) -> bool {
        self.failed
    }
    /// Returns `true` if an operation is suspended and the die accepts commands.
    pub fn suspended(&self) -> bool {
        !self.suspended.is_empty() && self.ready()
    }
    /// Returns the command that resumes the suspended operation.
    pub fn resume_command(&self) -> u8 {
        let erases = self.suspended.iter().any(|work| work.kind == Kind::Erase);
        if erases { 0xd2 } else { 0x13 }
    }
    /// Returns the pages of the suspended operation.
    pub fn suspended_pages(&self) -> Vec<Place> {
        let pages = self.suspended.iter().flat_map(|work| &work.pages);
        pages.map(|(page, _)| *page).collect()
    }
    /// Returns `true` if the array is erasing.
    pub fn erases(&self) -> bool {
        self.work
            .as_ref()
            .is_some_and(|work| work.kind == Kind::Erase)
    }
    fn status(&self) -> u8 {
        let bit = |set: bool, place: u8| u8::from(set) << place;
        bit(self.failed, 0) | bit(self.array_ready(), 5) | bit(self.ready(), 6) | bit(true, 7)
    }

    /// Advances by one tick.
    pub fn step(&mut self) {
        self.plane_busy = self.plane_busy.saturating_sub(1);
        let Some(work) = &mut self.work else { return };
        match work.kind {
            Kind::Read | Kind::CopyRead => self.worked.reading += 1,
            Kind::CacheRead if work.moving == 0 => self.worked.reading += 1,
            Kind::Program | Kind::CacheProgram | Kind::CopyProgram => self.worked.programming += 1,
            Kind::Erase => self.worked.erasing += 1,
            _ => {}
        }
        work.ready = work.ready.saturating_sub(1);
        work.left -= 1;
        let finished = work.left == 0;
        if work.moving > 0 {
            work.moving -= 1;
            if work.moving == 0 {
                self.move_registers();
            }
        }
        if finished {
            self.finish();
        }
    }
    fn move_registers(&mut self) {
        let Some(work) = &self.work else { return };
        for (place, _) in &work.pages {
            let plane = place.plane;
            match work.kind {
                Kind::CacheRead | Kind::EndOfCacheRead => self.cache[plane] = self.data[plane],
                _ => self.cache[plane] = Register::Empty,
            }
        }
    }
    fn start(&mut self, work: ArrayBusy) {
        if matches!(work.kind, Kind::Program | Kind::CacheProgram) {
            for (place, _) in &work.pages {
                self.data[place.plane] = self.cache[place.plane];
                self.cells.fill(*place, LOST);
            }
        }
        self.work = Some(work);
    }
    fn finish(&mut self) {
        let Some(work) = self.work.take() else { return };
        for (place, token) in &work.pages {
            let plane = place.plane;
            match work.kind {
                Kind::Read => {
                    self.data[plane] = Register::Page(self.cells.content(*place));
                    self.cache[plane] = self.data[plane];
                }
                Kind::CacheRead => self.data[plane] = Register::Page(self.cells.content(*place)),
                Kind::CopyRead => self.data[plane] = Register::Copy(self.cells.content(*place)),
                Kind::Program => {
                    self.cells.fill(*place, *token);
                    self.data[plane] = Register::Empty;
                    self.cache[plane] = Register::Empty;
                }
                Kind::CacheProgram | Kind::CopyProgram => {
                    self.cells.fill(*place, *token);
                    self.data[plane] = Register::Empty;
                }
                Kind::EndOfCacheRead | Kind::Erase | Kind::Reset | Kind::Suspending => {}
            }
        }
        if let Some(next) = self.next.take() {
            self.start(next);
        }
    }
}
