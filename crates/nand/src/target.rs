//! The command interface of a package: dies that share a bus and a chip enable, ONFI's *target*.
//!
//! The host issues cycles one by one, at instants of its choice. A cycle holds the bus for its
//! duration; whatever it sets going begins at its end. Array times are taken without jitter.

use thiserror::Error;
use wordline_kernel::Time;

use crate::command::{Command, CommandError, Cycle, Status};
use crate::die::{Addressing, Cells, Data, Hold, Machine, Refusal, Sheet, State};
use crate::registers::ArrayBusy;
use crate::{Cell, Die, Geometry, PlaneRule, Suspend, Timing};

/// The last instant at which a cycle can be issued: 53 days.
const END: Time = Time::from_ps(1 << 62);

/// What a package is made of, in the words of its data sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSheet {
    /// How it is divided.
    pub geometry: Geometry,
    /// How long its operations take.
    pub timing: Timing,
    /// Which bit of its cells a page stores.
    pub cell: Cell,
    /// Which pages a multi-plane command may name.
    pub plane_rule: PlaneRule,
    /// Whether programs and erases can be suspended.
    pub suspend: Suspend,
    /// Erases that a block bears.
    pub endurance_cycles: u32,
    /// Programs of a page between two erases of its block (NOP).
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

/// A part that no package can be made of.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DataSheetError {
    /// A count of nothing.
    #[error("{key} is 0; give at least 1")]
    Zero {
        /// The key of the count.
        key: &'static str,
    },
    /// More pages than can be numbered.
    #[error("the package has more than 2^32 - 2 pages; make it smaller")]
    TooManyPages,
    /// More pages than a block can count.
    #[error("pages_per_block is above 65535; make blocks smaller")]
    LongBlock,
    /// Rows that do not fit their address cycles.
    #[error(
        "{cycles} row address cycles carry {} bits, a row of this geometry has {bits}; raise row_address_cycles",
        8 * cycles
    )]
    ShortRow {
        /// Row address cycles.
        cycles: u32,
        /// Bits of a row.
        bits: u32,
    },
    /// More address cycles than can be decoded.
    #[error("{cycles} address cycles are more than 16; lower address_cycles")]
    LongAddress {
        /// Address cycles.
        cycles: u32,
    },
    /// A number that is none, or out of its range.
    #[error("{key} is not {range}; change it")]
    Number {
        /// The key of the number.
        key: &'static str,
        /// What it has to be.
        range: &'static str,
    },
    /// A duration beyond reason.
    #[error("{key} makes an operation longer than 17 s; change it")]
    Long {
        /// The key of the duration.
        key: &'static str,
    },
}

/// A cycle that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The bus is free again, and what the cycle does begins.
    pub ends: Time,
    /// What a data cycle brought.
    pub data: Option<Data>,
    /// When the array works on it, unless it is suspended or reset meanwhile.
    pub work: Option<ArrayBusy>,
}

/// Dies behind one bus.
#[derive(Clone, Debug)]
pub struct Target {
    sheet: Sheet,
    timing: Timing,
    cells: Cells,
    dies: Vec<Machine>,
    bus_free: Time,
}

impl Target {
    /// A pristine package, ready at time zero.
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
    /// Issues a cycle to a die at `now`. A refused cycle takes no time on the bus. If the die was
    /// ready, and the bus free, a refusal leaves the die failed until a reset.
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
    /// Reads the status: 70h and a byte, from `now` until [`Target::bus_free`].
    pub fn status(&mut self, now: Time, die: Die) -> Result<Status, CommandError> {
        let asked = self.issue(now, die, Command::ReadStatus.into())?;
        let cycle = Cycle::DataOut { bytes: 1 };
        match self.issue(asked.ends, die, cycle)?.data {
            Some(Data::Status(status)) => Ok(status),
            _ => Ok(Status::new(false, false, true)),
        }
    }
    /// The bus takes a cycle from then on.
    pub fn bus_free(&self) -> Time {
        self.bus_free
    }
    /// RDY = 1 from then on; [`Time::MAX`] if there is no such die.
    pub fn ready_at(&self, die: Die) -> Time {
        self.dies.get(die.index()).map_or(Time::MAX, Machine::ready)
    }
    /// ARDY = 1 from then on; [`Time::MAX`] if there is no such die.
    pub fn array_free_at(&self, die: Die) -> Time {
        self.dies
            .get(die.index())
            .map_or(Time::MAX, Machine::array_free)
    }
    /// What a die waits for at `now`, once it is ready.
    pub fn state(&self, now: Time, die: Die) -> Option<State> {
        let machine = self.dies.get(die.index())?;
        Some(machine.state(&self.sheet.addressing, now))
    }
    /// The cells.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }
    /// How addresses become cycles.
    pub fn addressing(&self) -> &Addressing {
        &self.sheet.addressing
    }
}

/// How long a cycle holds the bus.
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
