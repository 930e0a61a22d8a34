//! State machine of a die behind the command interface: accepted cycles and their effects (ONFI,
//! "Command Definition").
//!
//! A command is a sequence of cycles: first command, address cycles, data, confirm command
//! (`sequence`). `effect` holds the effects of a confirmed command on registers, cells and time. An
//! invalid cycle makes the die fail: its status has FAIL set, and it accepts only 70h and FFh until
//! FFh resets it.

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

/// Data that a die returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Content of the page in the cache register.
    Page(u64),
    /// Status byte.
    Status(Status),
}

/// Effect of an accepted cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    pub data: Option<Data>,
    pub work: Option<ArrayBusy>,
}

/// Effect of a cycle, or the rule that it violates.
type Outcome = Result<Effect, Rule>;

/// Reason why a die refuses a cycle.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The die is busy (RDY = 0) until this time.
    Busy(Time),
    /// The cycle violated a rule in this state; the die has failed.
    Broken(State, Rule),
}

/// Bus time of a cycle.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Hold {
    pub now: Time,
    pub ends: Time,
}

/// Content of a data register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DataRegister {
    #[default]
    Empty,
    /// Page read with 30h or 31h.
    Page(u64),
    /// Page read with 35h.
    Copy(u64),
}

/// Registers of a plane.
#[derive(Clone, Copy, Debug, Default)]
struct PlaneRegisters {
    cache: Option<u64>,
    data: DataRegister,
}

/// Last array operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    Read,
    Program,
    CacheProgram,
    Erase,
}

/// Rows that the array programs or erases until a given time.
#[derive(Clone, Debug)]
struct Flight {
    until: Time,
    rows: Vec<Row>,
    /// Command with which the rows were addressed.
    first: Command,
}

/// Mode that spans several commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Plain,
    CacheRead,
    CacheProgram,
    /// An operation has been suspended since `stopped`; its end had been scheduled for `until`.
    Suspended {
        erase: bool,
        stopped: Time,
        until: Time,
    },
}

/// Position of a die in a command sequence.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
enum Step {
    #[default]
    Start,
    /// Address cycles are expected; `given` bytes have arrived, the first in the lowest byte.
    Address {
        first: Command,
        given: u32,
        address: u128,
    },
    /// The address is complete; `loaded` bytes of data have arrived.
    Addressed {
        first: Command,
        row: Row,
        loaded: u64,
    },
}

/// State of a die.
#[derive(Clone, Debug)]
pub struct Machine {
    die: Die,
    registers: Registers,
    planes: Vec<PlaneRegisters>,
    mode: Mode,
    step: Step,
    failed: bool,
    /// Whether 70h has arrived, so that a status byte may be read.
    status_asked: bool,
    /// Planes queued for a multi-plane command.
    queued: Vec<Row>,
    queued_by: Command,
    /// Pages that the last read left in the data registers, if 31h can continue it.
    reads: Vec<Row>,
    selected: u32,
    /// Bytes transferred out since the plane was selected.
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
    /// Returns the time from which the die is ready (RDY = 1).
    pub fn ready(&self) -> Time {
        self.registers.ready()
    }
    /// Returns the time from which the array is idle (ARDY = 1).
    pub fn array_free(&self) -> Time {
        self.registers.array_free()
    }
    /// Returns the state of the die at `now`. The state is valid only if the die is ready.
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
    /// Returns the state of the die between two commands.
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
    /// Returns `true` if the cycle transfers a status byte.
    pub(crate) fn is_status(&self, cycle: Cycle) -> bool {
        self.status_asked && cycle == Cycle::DataOut { bytes: 1 }
    }

    /// Executes a cycle or refuses it.
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
