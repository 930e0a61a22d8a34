//! Command interface of a package: dies that share a bus and a chip enable, ONFI's *target*.
//!
//! The host issues single cycles at times of its choice. A cycle holds the bus for its duration;
//! the work that it starts begins at its end. Array times have no jitter.

use thiserror::Error;
use wordline_kernel::Time;

use crate::command::{Command, CommandError, Cycle, Status};
use crate::die::{Addressing, Cells, Data, Hold, Machine, Refusal, Sheet, State};
use crate::registers::ArrayBusy;
use crate::{Cell, Die, Geometry, PlaneRule, Suspend, Timing};

/// Last time at which a cycle can be issued: 53 days.
const END: Time = Time::from_ps(1 << 62);

/// Properties of a package, in the terms of its data sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSheet {
    /// Division of the package.
    pub geometry: Geometry,
    /// Durations of its operations.
    pub timing: Timing,
    /// Page types.
    pub cell: Cell,
    /// Rule for the pages that a multi-plane command may address.
    pub plane_rule: PlaneRule,
    /// Suspension of programs and erases.
    pub suspend: Suspend,
    /// Erases that a block endures. Count.
    pub endurance_cycles: u32,
    /// Programs of a page between two erases of its block (NOP). Count.
    pub partial_programs: u32,
}

impl Default for DataSheet {
    fn default() -> Self {
        Self {
            geometry: Geometry::default(),
            timing: Timing::default(),
            cell: Cell::default(),
            plane_rule: PlaneRule::default(),
            suspend: Suspend::default(),
            endurance_cycles: 100_000,
            partial_programs: 1,
        }
    }
}

/// Error of a data sheet from which no package can be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DataSheetError {
    /// A count is zero.
    #[error("{key} is 0; give at least 1")]
    Zero {
        /// Key of the count.
        key: &'static str,
    },
    /// The package has too many pages.
    #[error("the package has more than 2^32 - 2 pages; make it smaller")]
    TooManyPages,
    /// A block has too many pages.
    #[error("pages_per_block is above 65535; lower it")]
    LongBlock,
    /// The row address does not fit its address cycles.
    #[error(
        "{cycles} row address cycles carry {} bits, but a row of this geometry has {bits}; raise row_address_cycles",
        8 * cycles
    )]
    ShortRow {
        /// Row address cycles. Count.
        cycles: u32,
        /// Bits of a row address. Count.
        bits: u32,
    },
    /// There are too many address cycles to decode.
    #[error(
        "{cycles} address cycles are given, and at most 16 are supported; lower address_cycles or row_address_cycles"
    )]
    LongAddress {
        /// Address cycles. Count.
        cycles: u32,
    },
    /// A number is not finite or out of range.
    #[error("{key} is out of range; give {range}")]
    Number {
        /// Key of the number.
        key: &'static str,
        /// Range of the number, as text.
        range: &'static str,
    },
    /// A duration is too long.
    #[error("{key} makes an operation longer than 17 s; lower the duration or raise the rate")]
    Long {
        /// Key of the duration.
        key: &'static str,
    },
}

/// Result of an accepted cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// End of the cycle: the bus is free, and the work of the cycle starts.
    pub ends: Time,
    /// Data that the cycle returned, if it transfers data out.
    pub data: Option<Data>,
    /// Interval of the array work that the cycle starts, unless a suspend or reset shortens it.
    pub work: Option<ArrayBusy>,
}

/// Dies that share one bus.
#[derive(Clone, Debug)]
pub struct Target {
    sheet: Sheet,
    timing: Timing,
    cells: Cells,
    dies: Vec<Machine>,
    bus_free: Time,
}

impl Target {
    /// Creates an erased package, ready at time zero.
    pub fn new(part: &DataSheet) -> Result<Self, DataSheetError> {
        let sheet = Sheet::new(part)?;
        let layout = sheet.layout;
        let machine = |die| Machine::new(Die(die), layout.planes_per_die);
        Ok(Self {
            cells: Cells::new(layout, part.endurance_cycles, part.partial_programs),
            dies: (0..layout.dies).map(machine).collect(),
            timing: part.timing.clone(),
            bus_free: Time::ZERO,
            sheet,
        })
    }
    /// Issues a cycle to a die at `now`. A refused cycle takes no time on the bus. A cycle that
    /// violates a rule ([`CommandError::Broken`]) leaves the die failed until a reset.
    pub fn issue(&mut self, now: Time, die: Die, cycle: Cycle) -> Result<Output, CommandError> {
        let dies = self.dies.len() as u32;
        let Some(machine) = self.dies.get_mut(die.index()) else {
            return Err(CommandError::NoDie { cycle, die, dies });
        };
        if now < self.bus_free {
            let until = self.bus_free;
            return Err(CommandError::BusBusy {
                cycle,
                die,
                now,
                until,
            });
        }
        let status = machine.is_status(cycle);
        let time = if status {
            self.sheet.cycle
        } else {
            duration(&self.timing, self.sheet.cycle, cycle)
        };
        let late = CommandError::Late {
            cycle,
            now,
            end: END,
        };
        let ends = now.checked_add(time).filter(|_| now <= END).ok_or(late)?;
        let hold = Hold { now, ends };
        let issued = machine.issue(&self.sheet, &mut self.cells, hold, cycle);
        let effect = issued.map_err(|refusal| refused(refusal, now, die, cycle))?;
        self.bus_free = ends;
        Ok(Output {
            ends,
            data: effect.data,
            work: effect.work,
        })
    }
    /// Reads the status: 70h and one byte, from `now` to [`Target::bus_free`].
    pub fn status(&mut self, now: Time, die: Die) -> Result<Status, CommandError> {
        let asked = self.issue(now, die, Command::ReadStatus.into())?;
        let cycle = Cycle::DataOut { bytes: 1 };
        match self.issue(asked.ends, die, cycle)?.data {
            Some(Data::Status(status)) => Ok(status),
            _ => Ok(Status::new(false, false, true)),
        }
    }
    /// Returns the time from which the bus is free.
    pub fn bus_free(&self) -> Time {
        self.bus_free
    }
    /// Returns the time from which the die is ready (RDY = 1); [`Time::MAX`] if the die does not
    /// exist.
    pub fn ready_at(&self, die: Die) -> Time {
        self.dies.get(die.index()).map_or(Time::MAX, Machine::ready)
    }
    /// Returns the time from which the array is idle (ARDY = 1); [`Time::MAX`] if the die does not
    /// exist.
    pub fn array_free_at(&self, die: Die) -> Time {
        self.dies
            .get(die.index())
            .map_or(Time::MAX, Machine::array_free)
    }
    /// Returns the state of a die at `now`; `None` if the die does not exist. The state is valid
    /// only if the die is ready ([`Target::ready_at`]).
    pub fn state(&self, now: Time, die: Die) -> Option<State> {
        let machine = self.dies.get(die.index())?;
        Some(machine.state(&self.sheet.addressing, now))
    }
    /// Returns the cells of the package.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }
    /// Returns the division of addresses into cycles.
    pub fn addressing(&self) -> &Addressing {
        &self.sheet.addressing
    }
}

/// Returns the bus time of a cycle.
fn duration(timing: &Timing, command: Time, cycle: Cycle) -> Time {
    match cycle {
        Cycle::Command(_) | Cycle::Address(_) => command,
        Cycle::DataIn { bytes, .. } | Cycle::DataOut { bytes } => timing.transfer(u64::from(bytes)),
    }
}

fn refused(refusal: Refusal, now: Time, die: Die, cycle: Cycle) -> CommandError {
    match refusal {
        Refusal::Busy(until) => CommandError::Busy {
            cycle,
            die,
            now,
            until,
        },
        Refusal::Broken(state, rule) => CommandError::Broken {
            cycle,
            die,
            state,
            rule,
        },
    }
}
