//! Cycles of a command in sequence: first command, address, data, confirm command.

use super::{Addressing, Cells, Data, DataRegister, Effect, Hold, Machine, Outcome};
use super::{PlaneRegisters, Row, Sheet, State, Step};
use crate::command::{Command, Cycle, Rule};

impl Machine {
    /// Executes a cycle of a ready die, or returns the rule that it violates.
    pub(super) fn take(
        &mut self,
        sheet: &Sheet,
        cells: &mut Cells,
        hold: Hold,
        cycle: Cycle,
        state: State,
    ) -> Outcome {
        match (self.step, cycle) {
            (_, Cycle::Command(code)) => {
                let command = Command::try_from(code).map_err(|_| Rule::Unknown)?;
                self.command(sheet, cells, hold, command, state)
            }
            (
                Step::Address {
                    first,
                    given,
                    address,
                },
                Cycle::Address(byte),
            ) => {
                let address = address | u128::from(byte) << (8 * given);
                self.address(sheet, first, given + 1, address)
            }
            (
                Step::Addressed {
                    first: Command::Program,
                    row,
                    loaded,
                },
                Cycle::DataIn { bytes, content },
            ) => self.data_in(sheet, row, loaded, bytes, content),
            (Step::Start, Cycle::DataOut { bytes }) if state.gives_data() => {
                self.data_out(sheet, bytes)
            }
            (_, Cycle::DataOut { .. }) if state == State::StatusAsked => Err(Rule::StatusIsAByte),
            _ => Err(Rule::OutOfPlace),
        }
    }

    fn command(
        &mut self,
        sheet: &Sheet,
        cells: &mut Cells,
        hold: Hold,
        command: Command,
        state: State,
    ) -> Outcome {
        if !state.commands().contains(&command) {
            return Err(out_of_place(state, command));
        }
        if let Step::Addressed { first, row, .. } = self.step {
            self.step = Step::Start;
            return self.confirm(sheet, cells, hold.ends, (first, command), row);
        }
        match command {
            Command::ReadCache => self.cache_read_on(sheet, cells, hold.ends),
            Command::ReadCacheEnd => Ok(self.cache_read_end(sheet, hold.ends)),
            Command::ProgramResume | Command::EraseResume => Ok(self.resume(sheet, hold.ends)),
            first => self.open(sheet, first),
        }
    }
    /// Starts a command sequence.
    fn open(&mut self, sheet: &Sheet, first: Command) -> Outcome {
        let copies = |plane: &PlaneRegisters| matches!(plane.data, DataRegister::Copy(_));
        if first == Command::CopybackProgram && !self.planes.iter().any(copies) {
            return Err(Rule::NothingToCopy);
        }
        self.address(sheet, first, 0, 0)
    }

    /// Records that `given` cycles of an address have arrived. Decodes and checks the address after
    /// its last cycle.
    fn address(&mut self, sheet: &Sheet, first: Command, given: u32, address: u128) -> Outcome {
        self.step = Step::Address {
            first,
            given,
            address,
        };
        if given == needed(&sheet.addressing, first) {
            let row = decode(&sheet.addressing, first, address)?;
            self.check_planes(sheet, first, row)?;
            self.step = Step::Addressed {
                first,
                row,
                loaded: 0,
            };
        }
        Ok(Effect::default())
    }
    /// Returns an error if a copyback program addresses a plane without a page to copy, or if the
    /// address cannot join the planes queued before it.
    fn check_planes(&self, sheet: &Sheet, first: Command, row: Row) -> Result<(), Rule> {
        let plane = row.plane;
        let register = self.planes[plane as usize].data;
        if first == Command::CopybackProgram && !matches!(register, DataRegister::Copy(_)) {
            return Err(Rule::NothingToCopyIn { plane });
        }
        let Some(&leader) = self.queued.first() else {
            return Ok(());
        };
        if self.queued.iter().any(|queued| queued.plane == plane) {
            return Err(Rule::PlaneTwice { plane });
        }
        let erase = first == Command::Erase;
        let place = |row: Row| (row.block, if erase { 0 } else { row.page });
        if sheet.plane_rule.allows(place(leader), place(row)) {
            return Ok(());
        }
        Err(Rule::Planes {
            block: row.block,
            page: row.page,
            first_block: leader.block,
            first_page: leader.page,
            demanded: sheet.plane_rule,
        })
    }

    fn data_in(
        &mut self,
        sheet: &Sheet,
        row: Row,
        loaded: u64,
        bytes: u32,
        content: u64,
    ) -> Outcome {
        let loaded = fill(sheet, loaded, bytes)?;
        self.planes[row.plane as usize].cache = Some(content);
        self.step = Step::Addressed {
            first: Command::Program,
            row,
            loaded,
        };
        Ok(Effect::default())
    }
    fn data_out(&mut self, sheet: &Sheet, bytes: u32) -> Outcome {
        let plane = self.selected;
        let page = self.planes[plane as usize].cache;
        let content = page.ok_or(Rule::Empty { plane })?;
        self.given_out = fill(sheet, self.given_out, bytes)?;
        let data = Some(Data::Page(content));
        Ok(Effect { data, work: None })
    }
}

/// Returns the number of address cycles that a first command needs.
pub(super) fn needed(addressing: &Addressing, first: Command) -> u32 {
    match first {
        Command::Erase => addressing.row_cycles,
        Command::ChangeReadColumn => addressing.column_cycles,
        _ => addressing.column_cycles + addressing.row_cycles,
    }
}

/// Returns the row of a complete address; the first row of the die if the address has only column
/// cycles.
fn decode(addressing: &Addressing, first: Command, address: u128) -> Result<Row, Rule> {
    if first == Command::Erase {
        return addressing.decode(address);
    }
    let bits = 8 * addressing.column_cycles;
    let row = address.checked_shr(bits).unwrap_or(0);
    let column = address ^ row.checked_shl(bits).unwrap_or(0);
    addressing.check_column(column)?;
    addressing.decode(row)
}

/// Returns the number of bytes transferred after `bytes` more, or an error if they exceed the
/// register or `bytes` is 0.
fn fill(sheet: &Sheet, before: u64, bytes: u32) -> Result<u64, Rule> {
    let all = before + u64::from(bytes);
    if bytes == 0 {
        return Err(Rule::NoBytes);
    }
    if all > sheet.register {
        return Err(Rule::TooMuchData {
            bytes: all,
            register: sheet.register,
        });
    }
    Ok(all)
}

fn out_of_place(state: State, command: Command) -> Rule {
    let confirms = State::ProgramLoaded.commands().contains(&command);
    if state == State::ProgramAddressed && confirms {
        return Rule::NoData;
    }
    Rule::OutOfPlace
}
