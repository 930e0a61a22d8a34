//! Host that issues cycles back to back. It waits for the die only if the test calls [`Host::wait`]
//! or [`Host::rest`].
#![allow(dead_code)] // each test file uses only some of it

use wordline_kernel::Time;
use wordline_nand::command::Rule;
use wordline_nand::die::{Data, Row};
use wordline_nand::{
    Command, CommandError, Cycle, DataSheet, Die, Geometry, Output, Target, Timing,
};

pub const DIE: Die = Die(0);

/// Bytes of a page and its spare area.
pub const REGISTER: u32 = 2112;
/// Command or address cycle (tC).
pub const CYCLE: Time = Time::from_ns(25);
/// Transfer time of a page with its spare area: 25 ns per byte.
pub const DATA: Time = Time::from_ns(2112 * 25);
/// Page read (tR).
pub const READ: Time = Time::from_us(60);
/// Page program (tPROG).
pub const PROGRAM: Time = Time::from_us(250);
/// Block erase (tBERS).
pub const ERASE: Time = Time::from_us(1500);
/// Move between page registers (tREG).
pub const MOVE: Time = Time::from_us(3);
/// Queueing of a plane (tDBSY).
pub const QUEUE: Time = Time::from_ns(700);
/// Suspend latency of a program (tSUS).
pub const PROGRAM_SUSPEND: Time = Time::from_us(20);
/// Suspend latency of an erase (tSUS).
pub const ERASE_SUSPEND: Time = Time::from_us(50);
/// Resume latency (tRES).
pub const RESUME: Time = Time::from_us(15);

/// Returns the duration of `n` command or address cycles.
pub fn cycles(n: u64) -> Time {
    CYCLE * n
}

/// Returns a part with pages of 2 KiB, 4 planes of 5 blocks of 6 pages, and an asynchronous bus of
/// 40 MB/s.
pub fn part() -> DataSheet {
    let mut part = DataSheet {
        geometry: Geometry {
            dies_per_package: 2,
            planes_per_die: 4,
            blocks_per_plane: 5,
            pages_per_block: 6,
            page_bytes: 2048,
            spare_bytes: 64,
        },
        timing: Timing {
            read_ns: (READ.ns()).into(),
            program_ns: (PROGRAM.ns()).into(),
            erase_ns: ERASE.ns(),
            cache_busy_ns: MOVE.ns(),
            plane_busy_ns: QUEUE.ns(),
            command_cycle_ns: CYCLE.ns(),
            bus_mt_per_s: 40.0,
            ..Timing::default()
        },
        ..DataSheet::default()
    };
    part.suspend.program = true;
    part.suspend.erase = true;
    part.suspend.program_suspend_ns = PROGRAM_SUSPEND.ns();
    part.suspend.erase_suspend_ns = ERASE_SUSPEND.ns();
    part.suspend.resume_ns = RESUME.ns();
    part
}

pub const fn row(plane: u32, block: u32, page: u32) -> Row {
    Row { plane, block, page }
}

/// Returns the content that the tests write to the page.
pub const fn token(row: Row) -> u64 {
    1_000_000 + (row.plane as u64) * 10_000 + (row.block as u64) * 100 + row.page as u64
}

/// Command interface, with the time at which the last cycle ended.
#[derive(Clone)]
pub struct Host {
    pub target: Target,
    pub die: Die,
    pub now: Time,
}

impl Host {
    pub fn new(part: &DataSheet) -> Self {
        Self {
            target: Target::new(part).unwrap(),
            die: DIE,
            now: Time::ZERO,
        }
    }
    /// Issues a sequence of cycles. Returns the output of the last one, or the error of the first
    /// refused one.
    pub fn issue(
        &mut self,
        cycles: impl IntoIterator<Item = Cycle>,
    ) -> Result<Option<Output>, CommandError> {
        let mut last = None;
        for cycle in cycles {
            let output = self.target.issue(self.now, self.die, cycle)?;
            self.now = output.ends;
            last = Some(output);
        }
        Ok(last)
    }
    /// Issues cycles that must be accepted.
    pub fn send(&mut self, cycles: impl IntoIterator<Item = Cycle>) {
        self.issue(cycles).unwrap();
    }
    /// Waits until the die is ready.
    pub fn wait(&mut self) -> &mut Self {
        self.now = self.now.max(self.target.ready_at(self.die));
        self
    }
    /// Waits until the array is idle.
    pub fn rest(&mut self) -> &mut Self {
        self.now = self.now.max(self.target.array_free_at(self.die));
        self.wait()
    }
    pub fn command(&mut self, command: Command) {
        self.send([command.into()]);
    }
    /// Returns the cycles of a command: first command, address and confirm command.
    pub fn addressed(&self, first: Command, row: Row, confirm: Command) -> Vec<Cycle> {
        let addressing = self.target.addressing();
        let mut sequence = vec![first.into()];
        sequence.extend(match first {
            Command::Erase => addressing.row(row),
            _ => addressing.page(row, 0),
        });
        sequence.push(confirm.into());
        sequence
    }
    pub fn read(&mut self, row: Row, confirm: Command) {
        self.send(self.addressed(Command::Read, row, confirm));
    }
    pub fn erase(&mut self, row: Row, confirm: Command) {
        self.send(self.addressed(Command::Erase, row, confirm));
    }
    pub fn copy_to(&mut self, row: Row, confirm: Command) {
        self.send(self.addressed(Command::CopybackProgram, row, confirm));
    }
    /// Returns the cycles that program a page with its token.
    pub fn program_cycles(&self, row: Row, confirm: Command) -> Vec<Cycle> {
        let mut sequence = self.addressed(Command::Program, row, confirm);
        let data = Cycle::DataIn {
            bytes: REGISTER,
            content: token(row),
        };
        sequence.insert(sequence.len() - 1, data);
        sequence
    }
    pub fn program(&mut self, row: Row, confirm: Command) {
        self.send(self.program_cycles(row, confirm));
    }
    /// Programs the first `pages` pages of a block and waits for the end.
    pub fn fill(&mut self, plane: u32, block: u32, pages: u32) {
        for page in 0..pages {
            self.rest()
                .program(row(plane, block, page), Command::ProgramConfirm);
        }
        self.rest();
    }
    /// Selects a plane to read data from.
    pub fn select(&mut self, plane: u32) {
        let row = row(plane, 0, 0);
        let (first, confirm) = (
            Command::ChangeReadColumnEnhanced,
            Command::ChangeReadColumnConfirm,
        );
        self.send(self.addressed(first, row, confirm));
    }
    /// Reads and returns the content of the page in the register of the selected plane.
    pub fn data(&mut self) -> u64 {
        let out = self.issue([Cycle::DataOut { bytes: REGISTER }]).unwrap();
        match out.unwrap().data {
            Some(Data::Page(content)) => content,
            other => panic!("expected a page, got {other:?}"),
        }
    }
    /// Returns the rule that the last cycle of a sequence violates. Panics if an earlier cycle is
    /// refused, or if no cycle is.
    pub fn broken(&mut self, sequence: Vec<Cycle>) -> Rule {
        let last = *sequence.last().unwrap();
        match self.issue(sequence) {
            Err(CommandError::Broken { rule, cycle, .. }) if cycle == last => rule,
            other => panic!("not refused at the last cycle: {other:?}"),
        }
    }
}
