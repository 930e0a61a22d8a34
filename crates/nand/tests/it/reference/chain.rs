//! Transactions as bus cycles: the bus grants, and whether the die waits for RDY after each.

use super::{Cycle, Part, Place};

/// Mode of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Read of one page.
    Read,
    /// Read of several rows through the cache register.
    CacheRead,
    /// Read of one row of several planes.
    MultiPlaneRead,
    /// Read of several rows of several planes through the cache registers.
    MultiPlaneCacheRead,
    /// Program of one page.
    Program,
    /// Program of several rows through the cache register.
    CacheProgram,
    /// Program of one row of several planes.
    MultiPlaneProgram,
    /// Program of several rows of several planes through the cache registers.
    MultiPlaneCacheProgram,
    /// Erase of one block.
    Erase,
    /// Erase of blocks in several planes.
    MultiPlaneErase,
    /// Move of a page within its plane.
    Move,
    /// Moves of pages in several planes, each within its plane.
    MultiPlaneMove,
}

impl Mode {
    /// All twelve modes.
    pub const ALL: [Self; 12] = [
        Self::Read,
        Self::CacheRead,
        Self::MultiPlaneRead,
        Self::MultiPlaneCacheRead,
        Self::Program,
        Self::CacheProgram,
        Self::MultiPlaneProgram,
        Self::MultiPlaneCacheProgram,
        Self::Erase,
        Self::MultiPlaneErase,
        Self::Move,
        Self::MultiPlaneMove,
    ];
    /// Returns `true` if rows have several planes.
    pub fn multi_plane(self) -> bool {
        matches!(
            self,
            Self::MultiPlaneRead
                | Self::MultiPlaneCacheRead
                | Self::MultiPlaneProgram
                | Self::MultiPlaneCacheProgram
                | Self::MultiPlaneErase
                | Self::MultiPlaneMove
        )
    }
    /// Returns `true` if the mode uses cache registers for several rows.
    pub fn cached(self) -> bool {
        self.reads_cached() || self.programs_cached()
    }
    fn reads_cached(self) -> bool {
        matches!(self, Self::CacheRead | Self::MultiPlaneCacheRead)
    }
    fn programs_cached(self) -> bool {
        matches!(self, Self::CacheProgram | Self::MultiPlaneCacheProgram)
    }
    /// Returns `true` if pages are read and transferred out.
    pub fn reads(self) -> bool {
        self.reads_cached() || matches!(self, Self::Read | Self::MultiPlaneRead)
    }
    /// Returns `true` if pages are transferred in and programmed.
    pub fn programs(self) -> bool {
        self.programs_cached() || matches!(self, Self::Program | Self::MultiPlaneProgram)
    }
    /// Returns `true` if blocks are erased.
    pub fn erases(self) -> bool {
        matches!(self, Self::Erase | Self::MultiPlaneErase)
    }
    /// Returns `true` if pages are moved.
    pub fn moves(self) -> bool {
        matches!(self, Self::Move | Self::MultiPlaneMove)
    }
}

/// Transaction of a die.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Mode of the operation.
    pub mode: Mode,
    /// Pages, row by row; the pages of a row are processed at the same time.
    pub rows: Vec<Vec<Place>>,
    /// Targets of a move.
    pub targets: Vec<Place>,
}

/// Cycles of one bus grant.
#[derive(Clone, Debug, Default)]
pub struct Hold {
    /// Cycles on the bus.
    pub cycles: Vec<Cycle>,
    /// Rows that are complete at the end of the bus grant.
    pub completes: Vec<usize>,
    /// Whether the next bus grant waits for RDY.
    pub waits: bool,
}

/// Builder of a chain.
struct Writer<'a> {
    part: &'a Part,
    token: &'a mut dyn FnMut() -> u64,
    holds: Vec<Hold>,
    open: Hold,
}

impl Writer<'_> {
    fn command(&mut self, command: u8) {
        self.open.cycles.push(Cycle::Command(command));
    }
    fn address(&mut self, first: u8, place: Place) {
        self.command(first);
        if first != 0x60 {
            for _ in 0..self.part.column_cycles {
                self.open.cycles.push(Cycle::Address(0));
            }
        }
        let mut row = self.part.row(place);
        for _ in 0..self.part.row_cycles {
            self.open.cycles.push(Cycle::Address(row as u8));
            row >>= 8;
        }
    }
    fn status(&mut self) {
        if self.part.pins {
            return;
        }
        self.command(0x70);
        self.open.cycles.push(Cycle::DataOut { bytes: 1 });
    }
    fn data_in(&mut self) {
        let content = (self.token)();
        let bytes = self.part.moved_bytes();
        self.open.cycles.push(Cycle::DataIn { bytes, content });
    }
    fn data_out(&mut self) {
        let bytes = self.part.moved_bytes();
        self.open.cycles.push(Cycle::DataOut { bytes });
    }
    fn end(&mut self, waits: bool) {
        let mut hold = std::mem::take(&mut self.open);
        hold.waits = waits;
        self.holds.push(hold);
    }
    /// Ends the bus grant; the next one waits for RDY.
    fn wait(&mut self) {
        self.end(true);
    }
    /// Ends the bus grant without a wait.
    fn give_up(&mut self) {
        self.end(false);
    }
    fn completes(&mut self, row: usize) {
        self.open.completes.push(row);
    }
    /// Appends a row: every plane but the last is queued, and the last is confirmed.
    fn row(&mut self, first: u8, row: &[Place], queue: u8, confirm: u8) {
        for (nth, place) in row.iter().enumerate() {
            self.address(first, *place);
            if first == 0x80 {
                self.data_in();
            }
            let last = nth + 1 == row.len();
            self.command(if last { confirm } else { queue });
            self.wait();
        }
    }
    /// Appends the data transfer of a row that was read.
    fn row_out(&mut self, row: &[Place]) {
        if row.len() == 1 {
            return self.data_out();
        }
        for place in row {
            self.address(0x06, *place);
            self.command(0xe0);
            self.data_out();
        }
    }
    fn read(&mut self, rows: &[Vec<Place>]) {
        self.row(0x00, &rows[0], 0x32, 0x30);
        self.status();
        for (n, row) in rows.iter().enumerate().skip(1) {
            if follows(&rows[n - 1], row) {
                self.command(0x31);
                self.wait();
            } else {
                self.row(0x00, row, 0x32, 0x31);
            }
            self.status();
            self.row_out(&rows[n - 1]);
            self.completes(n - 1);
        }
        if rows.len() > 1 {
            self.command(0x3f);
            self.wait();
            self.status();
        }
        self.row_out(&rows[rows.len() - 1]);
        self.completes(rows.len() - 1);
        self.give_up();
    }
    fn program(&mut self, rows: &[Vec<Place>]) {
        for (n, row) in rows.iter().enumerate() {
            let last = n + 1 == rows.len();
            self.row(0x80, row, 0x11, if last { 0x10 } else { 0x15 });
            self.status();
            if n > 0 {
                self.completes(n - 1);
            }
            if last {
                self.completes(n);
            }
            self.give_up();
        }
    }
    fn last_status(&mut self) {
        self.status();
        self.completes(0);
        self.give_up();
    }
}

/// Returns `true` if each page of `row` is the successor of the page of `before` in the same
/// position.
fn follows(before: &[Place], row: &[Place]) -> bool {
    let behind = |(before, place): (&Place, &Place)| {
        let next = Place {
            page: before.page + 1,
            ..*before
        };
        next == *place
    };
    before.iter().zip(row).all(behind)
}

/// Returns the bus grants of a transaction. `token` supplies the content of each programmed page.
pub fn chain(part: &Part, transaction: &Transaction, token: &mut dyn FnMut() -> u64) -> Vec<Hold> {
    let mut writer = Writer {
        part,
        token,
        holds: Vec::new(),
        open: Hold::default(),
    };
    let Transaction {
        mode,
        rows,
        targets,
    } = transaction;
    if mode.reads() {
        writer.read(rows);
    } else if mode.programs() {
        writer.program(rows);
    } else if mode.erases() {
        writer.row(0x60, &rows[0], 0xd1, 0xd0);
        writer.last_status();
    } else {
        writer.row(0x00, &rows[0], 0x32, 0x35);
        writer.status();
        writer.row(0x85, targets, 0x11, 0x10);
        writer.last_status();
    }
    writer.holds
}
