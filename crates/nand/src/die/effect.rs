//! Effects of confirmed commands on registers, cells and time.
//!
//! `now` is always the end of the command's last cycle. Durations and the two busy signals follow
//! from [`Registers`](crate::registers::Registers).

use wordline_kernel::Time;

use super::sheet::{RESET, Suspension};
use super::{Cells, DataRegister, Effect, Flight, Last, Machine, Mode, Outcome};
use super::{PlaneRegisters, Row, Sheet};
use crate::Ppn;
use crate::command::{Command, Rule};
use crate::registers::{Confirm, Registers};

impl Machine {
    /// Executes the confirm command of a sequence whose last address is `row`.
    pub(super) fn confirm(
        &mut self,
        sheet: &Sheet,
        cells: &mut Cells,
        now: Time,
        (first, command): (Command, Command),
        row: Row,
    ) -> Outcome {
        match command {
            Command::ReadQueue | Command::ProgramQueue | Command::EraseQueue => {
                self.queued_by = first;
                self.queued.push(row);
                return Ok(self.work(sheet, now, Confirm::QueuePlane));
            }
            Command::ChangeReadColumnConfirm => {
                if first == Command::ChangeReadColumnEnhanced {
                    self.selected = row.plane;
                }
                self.given_out = 0;
                return Ok(Effect::default());
            }
            _ => {}
        }
        let mut rows = std::mem::take(&mut self.queued);
        rows.push(row);
        match command {
            Command::ReadConfirm => self.read(sheet, cells, now, rows),
            Command::CopybackRead => self.copy_read(sheet, cells, now, &rows),
            Command::ReadCache => self.cache_read_at(sheet, cells, now, rows),
            Command::EraseConfirm => self.erase(sheet, cells, now, rows),
            _ => self.program(sheet, cells, now, (first, command), rows),
        }
    }
    fn work(&mut self, sheet: &Sheet, now: Time, confirm: Confirm) -> Effect {
        let work = self.registers.confirm(now, confirm, sheet.busy);
        let work = (work.time() > Time::ZERO).then_some(work);
        Effect { data: None, work }
    }
    fn plane(&mut self, row: Row) -> &mut PlaneRegisters {
        &mut self.planes[row.plane as usize]
    }

    /// Returns the contents of the pages, if all of them can be read.
    fn contents(&self, sheet: &Sheet, cells: &Cells, rows: &[Row]) -> Result<Vec<u64>, Rule> {
        let content = |&row: &Row| {
            if let Some(page) = self.suspended(sheet, row) {
                let address = sheet.layout.describe(page);
                return Err(Rule::Suspended { address });
            }
            Ok(cells.read(sheet.page(self.die, row))?)
        };
        rows.iter().map(content).collect()
    }
    /// Returns the page of a row, if a suspended operation works on it.
    fn suspended(&self, sheet: &Sheet, row: Row) -> Option<Ppn> {
        let Mode::Suspended { erase, .. } = self.mode else {
            return None;
        };
        let same = |other: &Row| {
            let block = (other.plane, other.block) == (row.plane, row.block);
            block && (erase || other.page == row.page)
        };
        let mut rows = self.flights.iter().flat_map(|flight| &flight.rows);
        rows.any(same).then(|| sheet.page(self.die, row))
    }
    /// Executes a page read (30h).
    fn read(&mut self, sheet: &Sheet, cells: &Cells, now: Time, rows: Vec<Row>) -> Outcome {
        for (&row, content) in rows.iter().zip(self.contents(sheet, cells, &rows)?) {
            self.plane(row).cache = Some(content);
            self.plane(row).data = DataRegister::Page(content);
        }
        let time = read_time(sheet, &rows);
        self.select_last(&rows);
        self.reads = rows;
        self.last = Last::Read;
        Ok(self.work(sheet, now, Confirm::Read(time)))
    }
    /// Executes a copyback read (35h).
    fn copy_read(&mut self, sheet: &Sheet, cells: &Cells, now: Time, rows: &[Row]) -> Outcome {
        for (&row, content) in rows.iter().zip(self.contents(sheet, cells, rows)?) {
            self.plane(row).data = DataRegister::Copy(content);
        }
        self.select_last(rows);
        self.reads.clear();
        self.last = Last::Read;
        Ok(self.work(sheet, now, Confirm::Read(read_time(sheet, rows))))
    }
    fn select_last(&mut self, rows: &[Row]) {
        self.selected = rows.last().map_or(0, |row| row.plane);
        self.given_out = 0;
    }

    /// Executes a sequential cache read (31h), which reads the pages that follow those read last.
    pub(super) fn cache_read_on(&mut self, sheet: &Sheet, cells: &Cells, now: Time) -> Outcome {
        let next = |row: &Row| {
            let page = row.page + 1;
            if page < sheet.layout.pages_per_block {
                return Ok(Row { page, ..*row });
            }
            Err(Rule::EndOfBlock {
                plane: row.plane,
                block: row.block,
                page: row.page,
            })
        };
        self.continues()?;
        let rows: Vec<Row> = self.reads.iter().map(next).collect::<Result<_, _>>()?;
        self.cache_read(sheet, cells, now, rows)
    }
    /// Executes a random cache read (31h after an address).
    fn cache_read_at(
        &mut self,
        sheet: &Sheet,
        cells: &Cells,
        now: Time,
        rows: Vec<Row>,
    ) -> Outcome {
        self.continues()?;
        let read = |row: &Row| self.reads.iter().any(|before| before.plane == row.plane);
        if rows.len() != self.reads.len() || !rows.iter().all(read) {
            return Err(Rule::OtherPlanes);
        }
        let effect = self.cache_read(sheet, cells, now, rows)?;
        let rows = std::mem::take(&mut self.reads);
        self.select_last(&rows);
        self.reads = rows;
        Ok(effect)
    }
    /// Returns an error unless the data registers hold the pages of a read that can be continued.
    fn continues(&self) -> Result<(), Rule> {
        let holds = |row: &Row| {
            let register = self.planes[row.plane as usize].data;
            matches!(register, DataRegister::Page(_))
        };
        if self.reads.is_empty() || !self.reads.iter().all(holds) {
            return Err(Rule::NothingToContinue);
        }
        Ok(())
    }
    fn cache_read(&mut self, sheet: &Sheet, cells: &Cells, now: Time, rows: Vec<Row>) -> Outcome {
        for (&row, content) in rows.iter().zip(self.contents(sheet, cells, &rows)?) {
            self.pass_on(row);
            self.plane(row).data = DataRegister::Page(content);
        }
        let time = read_time(sheet, &rows);
        self.given_out = 0;
        self.reads = rows;
        self.mode = Mode::CacheRead;
        self.last = Last::Read;
        Ok(self.work(sheet, now, Confirm::CacheRead(time)))
    }
    /// Moves the page in the data register to the cache register.
    fn pass_on(&mut self, row: Row) {
        let plane = self.plane(row);
        if let DataRegister::Page(content) = std::mem::take(&mut plane.data) {
            plane.cache = Some(content);
        }
    }
    /// Ends a cache read (3Fh).
    pub(super) fn cache_read_end(&mut self, sheet: &Sheet, now: Time) -> Effect {
        for row in std::mem::take(&mut self.reads) {
            self.pass_on(row);
        }
        self.given_out = 0;
        self.mode = Mode::Plain;
        self.work(sheet, now, Confirm::CacheReadEnd)
    }

    /// Executes a program (10h or 15h, after 80h or 85h).
    fn program(
        &mut self,
        sheet: &Sheet,
        cells: &mut Cells,
        now: Time,
        (first, command): (Command, Command),
        rows: Vec<Row>,
    ) -> Outcome {
        for &row in &rows {
            cells.array.may_program(sheet.page(self.die, row))?;
        }
        for &row in &rows {
            let content = self.spend(row, first);
            cells.program(sheet.page(self.die, row), content)?;
        }
        let times = rows.iter().map(|row| sheet.latencies.program(row.page));
        let time = times.max().unwrap_or_default();
        if command == Command::ProgramCache {
            self.mode = Mode::CacheProgram;
            self.last = Last::CacheProgram;
            return Ok(self.fly(sheet, now, Confirm::CacheProgram(time), first, rows));
        }
        self.mode = Mode::Plain;
        self.last = Last::Program;
        Ok(self.fly(sheet, now, Confirm::Program(time), first, rows))
    }
    /// Removes the page to be programmed from the registers and returns it.
    fn spend(&mut self, row: Row, first: Command) -> u64 {
        let plane = self.plane(row);
        let data = std::mem::take(&mut plane.data);
        match data {
            DataRegister::Copy(content) if first == Command::CopybackProgram => content,
            _ => plane.cache.take().unwrap_or_default(),
        }
    }
    /// Executes an erase (D0h). The registers keep their content.
    fn erase(&mut self, sheet: &Sheet, cells: &mut Cells, now: Time, rows: Vec<Row>) -> Outcome {
        for &row in &rows {
            cells.array.may_erase(sheet.block(self.die, row))?;
        }
        for &row in &rows {
            cells.erase(sheet.block(self.die, row))?;
        }
        self.last = Last::Erase;
        let confirm = Confirm::Erase(sheet.latencies.erase);
        Ok(self.fly(sheet, now, confirm, Command::Erase, rows))
    }
    /// Records the rows that the array changes until its operation ends or is stopped.
    fn fly(
        &mut self,
        sheet: &Sheet,
        now: Time,
        confirm: Confirm,
        first: Command,
        rows: Vec<Row>,
    ) -> Effect {
        let effect = self.work(sheet, now, confirm);
        let until = self.array_free();
        self.flights.retain(|flight| flight.until > now);
        self.flights.push(Flight { until, rows, first });
        self.suspensions = 0;
        effect
    }

    /// Returns `true` if the busy die accepts `command`, 84h or 61h.
    pub(super) fn may_suspend(&self, sheet: &Sheet, now: Time, command: Command) -> bool {
        let suspension = match (command, self.last) {
            (Command::ProgramSuspend, Last::Program) => sheet.program_suspend,
            (Command::EraseSuspend, Last::Erase) => sheet.erase_suspend,
            _ => Suspension::default(),
        };
        let works = self.mode == Mode::Plain && now < self.array_free();
        suspension.able && works && self.suspensions < sheet.most
    }
    /// Suspends an operation (84h, 61h). An operation that ends within the suspend latency
    /// continues.
    pub(super) fn suspend(&mut self, sheet: &Sheet, now: Time) {
        let erase = self.last == Last::Erase;
        let suspension = if erase {
            sheet.erase_suspend
        } else {
            sheet.program_suspend
        };
        let until = self.array_free();
        if until.since(now) <= suspension.latency {
            return;
        }
        self.flights.retain(|flight| flight.until > now);
        self.mode = Mode::Suspended {
            erase,
            stopped: now,
            until,
        };
        self.suspensions += 1;
        self.registers.stop(now + suspension.latency);
    }
    /// Resumes an operation (13h, D2h): the array performs the rest of it.
    pub(super) fn resume(&mut self, sheet: &Sheet, now: Time) -> Effect {
        let Mode::Suspended {
            erase,
            stopped,
            until,
        } = std::mem::take(&mut self.mode)
        else {
            return Effect::default();
        };
        self.last = if erase { Last::Erase } else { Last::Program };
        for flight in &mut self.flights {
            flight.until = now + sheet.resume + flight.until.since(stopped);
        }
        if !erase {
            self.empty_flown();
        }
        let left = sheet.resume + until.since(stopped);
        self.work(sheet, now, Confirm::Program(left))
    }
    /// Empties the registers from which the pages of a program came. For a copyback, these are only
    /// the data registers.
    fn empty_flown(&mut self) {
        for flight in &self.flights {
            for row in &flight.rows {
                let plane = &mut self.planes[row.plane as usize];
                plane.data = DataRegister::Empty;
                if flight.first == Command::Program {
                    plane.cache = None;
                }
            }
        }
    }

    /// Resets the die (FFh). The content of pages under an unfinished program is lost.
    pub(super) fn reset(&mut self, sheet: &Sheet, cells: &mut Cells, now: Time) {
        let suspended = matches!(self.mode, Mode::Suspended { .. });
        let lost = |flight: &&Flight| suspended || flight.until > now;
        for row in self.flights.iter().filter(lost).flat_map(|f| &f.rows) {
            cells.lose(sheet.page(self.die, *row));
        }
        let time = match self.last {
            Last::Program | Last::CacheProgram if self.array_free() > now => RESET.program,
            Last::Erase if self.array_free() > now => RESET.erase,
            _ => RESET.idle,
        };
        let mut registers = Registers::default();
        registers.stop(now + time);
        *self = Self {
            registers,
            ..Self::new(self.die, self.planes.len() as u32)
        };
    }
}

/// Returns the read time (tR) of the slowest page.
fn read_time(sheet: &Sheet, rows: &[Row]) -> Time {
    let times = rows.iter().map(|row| sheet.latencies.read(row.page));
    times.max().unwrap_or_default()
}
