//! Operations as chains of stages (Jung 2013, section 2.4).
//!
//! A stage holds either the input/output bus or the memory array of a die. Neighbouring stages on
//! the same resource run without a gap, so a chain is executed phase by phase; every legacy
//! operation has three phases: bus, array, bus.

use wordline_kernel::Time;

use crate::{Geometry, Timing};

/// What a die is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Page read.
    Read,
    /// Page program.
    Program,
    /// Block erase.
    Erase,
}

/// What a stage holds while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The bus that the dies share.
    Bus,
    /// The memory array of the die.
    Array,
}

/// A step of a command chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Command latch cycle.
    Cle,
    /// Address latch cycles.
    Ale,
    /// Data into the register.
    Tir,
    /// Data out of the register.
    Tor,
    /// Register to cell array: program.
    Tin,
    /// Cell array to register: read.
    Ton,
    /// Block erase.
    Ber,
    /// Status read: a command cycle and a status byte.
    Status,
}

impl Stage {
    /// What the stage holds.
    pub const fn resource(self) -> Resource {
        match self {
            Self::Tin | Self::Ton | Self::Ber => Resource::Array,
            _ => Resource::Bus,
        }
    }
}

/// The stages of one operation, in order, with their durations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The stages.
    pub stages: Vec<(Stage, Time)>,
    /// Bus time before the array starts: commands, addresses, data in.
    pub issue: Time,
    /// Array time.
    pub cell: Time,
    /// Bus time after the array: status, data out.
    pub collect: Time,
}

impl Chain {
    fn new(stages: Vec<(Stage, Time)>) -> Self {
        let array = stages
            .iter()
            .position(|(stage, _)| stage.resource() == Resource::Array);
        let (before, rest) = stages.split_at(array.unwrap_or(stages.len()));
        let sum = |stages: &[(Stage, Time)]| stages.iter().map(|(_, time)| *time).sum::<Time>();
        let issue = sum(before);
        let cell = rest.first().map_or(Time::ZERO, |(_, time)| *time);
        let collect = sum(rest.get(1..).unwrap_or_default());
        Self {
            stages,
            issue,
            cell,
            collect,
        }
    }
    /// Bus time of the whole chain.
    pub fn bus(&self) -> Time {
        self.issue + self.collect
    }
    /// How long the operation takes on an idle die and bus.
    pub fn unloaded(&self) -> Time {
        self.bus() + self.cell
    }
}

/// The chains of the legacy operations of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chains {
    /// CLE ALE CLE TON, status, TOR. The status read comes before the data: it tells that the
    /// register is filled.
    pub read: Chain,
    /// CLE ALE TIR CLE TIN, status.
    pub program: Chain,
    /// CLE ALE CLE BER, status.
    pub erase: Chain,
}

impl Chains {
    /// The chains of a part.
    pub fn new(geometry: &Geometry, timing: &Timing) -> Self {
        let cycles = |n: u32| Time::from_ns(timing.command_cycle_ns) * u64::from(n);
        let cle = (Stage::Cle, cycles(1));
        let ale = (Stage::Ale, cycles(timing.address_cycles));
        let row = (Stage::Ale, cycles(timing.row_address_cycles));
        let status = (Stage::Status, cycles(2));
        let spare = if timing.transfer_spare {
            geometry.spare_bytes
        } else {
            0
        };
        let data = timing.transfer(u64::from(geometry.page_bytes) + u64::from(spare));
        let ton = (Stage::Ton, Time::from_ns(timing.read_ns.mean()));
        let tin = (Stage::Tin, Time::from_ns(timing.program_ns.mean()));
        let ber = (Stage::Ber, Time::from_ns(timing.erase_ns));
        Self {
            read: Chain::new(vec![cle, ale, cle, ton, status, (Stage::Tor, data)]),
            program: Chain::new(vec![cle, ale, (Stage::Tir, data), cle, tin, status]),
            erase: Chain::new(vec![cle, row, cle, ber, status]),
        }
    }
    /// The chain of an operation.
    #[inline]
    pub const fn of(&self, operation: Operation) -> &Chain {
        match operation {
            Operation::Read => &self.read,
            Operation::Program => &self.program,
            Operation::Erase => &self.erase,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unloaded_read_is_array_transfer_and_cycles() {
        // validation.md: 50 us + 12.3 us + command and address cycles, here 7 cycles and a status read.
        let chains = Chains::new(&Geometry::default(), &Timing::default());
        let cycles = Time::from_ns(25 * (1 + 5 + 1 + 2));
        assert_eq!(
            chains.read.unloaded(),
            Time::from_us(50) + Time::from_ps(12_300_300) + cycles
        );
    }

    #[test]
    fn the_bus_is_held_in_bus_stages_only() {
        let chains = Chains::new(&Geometry::default(), &Timing::default());
        for operation in [Operation::Read, Operation::Program, Operation::Erase] {
            let chain = chains.of(operation);
            let held = |resource| {
                let held = chain
                    .stages
                    .iter()
                    .filter(|(stage, _)| stage.resource() == resource);
                held.map(|(_, time)| *time).sum::<Time>()
            };
            assert_eq!(held(Resource::Bus), chain.bus());
            assert_eq!(held(Resource::Array), chain.cell);
        }
    }
}
