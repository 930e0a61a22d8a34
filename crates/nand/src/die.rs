//! A die behind the command interface: which cycles it takes, and what they do (ONFI, "Command
//! Definition").
//!
//! Commands come as sequences of cycles: a first command, address cycles, data, a confirming
//! command (`sequence`). What a confirmed command does to registers, cells and time is in `effect`.
//! A cycle that has no place, or that breaks a rule, fails the die: it answers 70h with FAIL and
//! waits for FFh.

mod address;
mod cells;
mod effect;
mod sequence;
mod sheet;
mod state;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

pub use address::{Addressing, Row};
pub use cells::Cells;
pub(crate) use sheet::Sheet;
pub use state::{Reads, State};

use crate::Die;
use crate::command::{Command, Cycle, Rule, Status};
use crate::registers::{ArrayBusy, Registers};

/// What comes out of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// What the page in the cache register holds.
    Page(u64),
    /// The status byte.
    Status(Status),
}

/// What a cycle does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    pub data: Option<Data>,
    pub work: Option<ArrayBusy>,
}

/// What a cycle comes to, unless a rule refuses it.
type Outcome = Result<Effect, Rule>;

/// Why a die does not take a cycle.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// RDY is 0 until then.
    Busy(Time),
    /// A rule is broken in a state; the die has failed.
    Broken(State, Rule),
}

/// When a cycle holds the bus.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Hold {
    pub now: Time,
    pub ends: Time,
}

/// What a data register holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DataRegister {
    #[default]
    Empty,
    /// A page read with 30h or 31h.
    Page(u64),
    /// A page read with 35h.
    Copy(u64),
}

/// The registers of a plane.
#[derive(Clone, Copy, Debug, Default)]
struct PlaneRegisters {
    cache: Option<u64>,
    data: DataRegister,
}

/// The last work of the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    Read,
    Program,
    CacheProgram,
    Erase,
}

/// Rows that the array programs or erases until an instant.
#[derive(Clone, Debug)]
struct Flight {
    until: Time,
    rows: Vec<Row>,
    /// The command that the rows were addressed with.
    first: Command,
}

/// What goes on across commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Plain,
    CacheRead,
    CacheProgram,
    /// Stopped with work left to do until `until`, seen from `stopped`.
    Suspended {
        erase: bool,
        stopped: Time,
        until: Time,
    },
}

/// Where a die is within a command.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
enum Step {
    #[default]
    Start,
    /// Address cycles come: bytes so far, the first in the lowest place.
    Address {
        first: Command,
        given: u32,
        address: u128,
    },
    /// The address is there; bytes of data so far.
    Addressed {
        first: Command,
        row: Row,
        loaded: u64,
    },
}

/// The state of a die.
#[derive(Clone, Debug)]
pub struct Machine {
    die: Die,
    registers: Registers,
    planes: Vec<PlaneRegisters>,
    mode: Mode,
    step: Step,
    failed: bool,
    /// 70h came; a byte of status may follow.
    status_asked: bool,
    /// Planes queued for a multi-plane command, and the command that each began with.
    queued: Vec<Row>,
    queued_by: Command,
    /// The pages that the last read left in the data registers, if it can be continued by 31h.
    reads: Vec<Row>,
    selected: u32,
    /// Bytes given out since the plane was selected.
    given_out: u64,
    last: Last,
    flights: Vec<Flight>,
    suspensions: u32,
}

impl Machine {
    pub(crate) fn new(die: Die, planes: u32) -> Self {
        Self {
            die,
            registers: Registers::default(),
            planes: vec![PlaneRegisters::default(); planes as usize],
            mode: Mode::default(),
            step: Step::default(),
            failed: false,
            status_asked: false,
            queued: Vec::new(),
            queued_by: Command::Read,
            reads: Vec::new(),
            selected: 0,
            given_out: 0,
            last: Last::default(),
            flights: Vec::new(),
            suspensions: 0,
        }
    }
    /// RDY = 1 from then on.
    pub fn ready(&self) -> Time {
        self.registers.ready()
    }
    /// ARDY = 1 from then on.
    pub fn array_free(&self) -> Time {
        self.registers.array_free()
    }
    /// What the die waits for at `now`, once it is ready.
    pub fn state(&self, addressing: &Addressing, now: Time) -> State {
        if self.failed {
            return State::Failed;
        }
        if self.status_asked {
            return State::StatusAsked;
        }
        match self.step {
            Step::Start if !self.queued.is_empty() => State::Queued {
                first: self.queued_by,
                planes: self.queued.len() as u32,
            },
            Step::Start => self.between(now),
            Step::Address { first, given, .. } => State::Address {
                first,
                given,
                needed: sequence::needed(addressing, first),
            },
            Step::Addressed { first, loaded, .. } => self.addressed(first, loaded),
        }
    }
    /// The state between commands.
    fn between(&self, now: Time) -> State {
        match self.mode {
            Mode::CacheRead => State::CacheRead,
            Mode::CacheProgram if now < self.array_free() => State::CacheProgram,
            Mode::Plain | Mode::CacheProgram => State::Idle,
            Mode::Suspended { erase: false, .. } => State::SuspendedProgram,
            Mode::Suspended { erase: true, .. } => State::SuspendedErase,
        }
    }
    fn addressed(&self, first: Command, loaded: u64) -> State {
        match (first, self.mode) {
            (Command::Read, Mode::CacheRead) => State::ReadAddressed(Reads::Cache),
            (Command::Read, Mode::Suspended { .. }) => State::ReadAddressed(Reads::Legacy),
            (Command::Read, _) => State::ReadAddressed(Reads::All),
            (Command::Program, _) if loaded == 0 => State::ProgramAddressed,
            (Command::Program, _) => State::ProgramLoaded,
            _ => State::Addressed { first },
        }
    }
    /// Whether a cycle moves a byte of status.
    pub(crate) fn is_status(&self, cycle: Cycle) -> bool {
        self.status_asked && cycle == Cycle::DataOut { bytes: 1 }
    }

    /// Takes a cycle, or refuses it.
    pub(crate) fn issue(
        &mut self,
        sheet: &Sheet,
        cells: &mut Cells,
        hold: Hold,
        cycle: Cycle,
    ) -> Result<Effect, Refusal> {
        let command = match cycle {
            Cycle::Command(code) => Command::try_from(code).ok(),
            _ => None,
        };
        if command == Some(Command::Reset) {
            self.reset(sheet, cells, hold.ends);
            return Ok(Effect::default());
        }
        if command == Some(Command::ReadStatus) && matches!(self.step, Step::Start) {
            self.status_asked = true;
            return Ok(Effect::default());
        }
        if self.is_status(cycle) {
            self.status_asked = false;
            let data = Some(Data::Status(self.status(hold.ends)));
            return Ok(Effect { data, work: None });
        }
        if hold.now < self.ready() {
            let suspend = command.is_some_and(|command| self.may_suspend(sheet, hold.now, command));
            if !suspend {
                return Err(Refusal::Busy(self.ready()));
            }
            self.suspend(sheet, hold.ends);
            self.status_asked = false;
            return Ok(Effect::default());
        }
        if self.mode == Mode::CacheProgram && self.array_free() <= hold.now {
            self.mode = Mode::Plain;
        }
        let state = self.state(&sheet.addressing, hold.now);
        let taken = self.take(sheet, cells, hold, cycle, state);
        self.status_asked = false;
        taken.map_err(|rule| {
            self.fail();
            Refusal::Broken(state, rule)
        })
    }
    fn status(&self, now: Time) -> Status {
        let ready = self.ready() <= now;
        Status::new(ready, self.array_free() <= now, self.failed)
    }
    fn fail(&mut self) {
        self.failed = true;
        self.step = Step::Start;
    }
}
