//! What the controller of a disk and its bus take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// What the controller takes for a command (`[disk.overhead.after_read]` and `[disk.overhead.after_write]`: by what came before).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Commands {
    /// For a read whose sectors are in the buffer. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub read_hit_us: f64,
    /// For another read, before the arm moves. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub read_miss_us: f64,
    /// For a write that is a hit, as `disk.buffer.write_hit` says. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub write_hit_us: f64,
    /// For another write. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub write_miss_us: f64,
}

/// What the controller of a disk and its bus take (`[disk.overhead]`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Overhead {
    /// Commands behind a read.
    pub after_read: Commands,
    /// Commands behind a write.
    pub after_write: Commands,
    /// Time of the bus for a sector. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub bus_us_per_sector: f64,
    /// Whether the disk holds the bus from the command to the completion, while the arm moves and the platter turns: no other command comes
    /// in meanwhile. If not, it lets go of the bus whenever it has nothing to transfer, and the buffer serves others.
    pub bus_held: bool,
    /// To tell the host that a read is complete, behind its data. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub read_completion_us: f64,
    /// To tell the host that a write is complete, behind its data. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub write_completion_us: f64,
}

/// In integer time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timed {
    /// By whether the command before was a write: of hits and misses of reads, then of writes.
    commands: [[Time; 4]; 2],
    sector: Time,
    /// Whether the bus is held from a command to its completion.
    pub bus_held: bool,
    /// Of reads and of writes.
    completion: [Time; 2],
}

fn microseconds(value: f64) -> Time {
    Time((value * 1e6).round() as u64)
}

impl Timed {
    pub fn new(overhead: &Overhead) -> Self {
        let of = |commands: &Commands| {
            [
                microseconds(commands.read_hit_us),
                microseconds(commands.read_miss_us),
                microseconds(commands.write_hit_us),
                microseconds(commands.write_miss_us),
            ]
        };
        Self {
            commands: [of(&overhead.after_read), of(&overhead.after_write)],
            sector: microseconds(overhead.bus_us_per_sector),
            bus_held: overhead.bus_held,
            completion: [
                microseconds(overhead.read_completion_us),
                microseconds(overhead.write_completion_us),
            ],
        }
    }
    /// Of a command.
    pub fn command(&self, behind_write: bool, write: bool, hit: bool) -> Time {
        let kind = 2 * usize::from(write) + usize::from(!hit);
        self.commands[usize::from(behind_write)][kind]
    }
    /// Of so many sectors on the bus.
    pub fn bus(&self, sectors: u64) -> Time {
        self.sector * sectors
    }
    /// Behind the data of a command.
    pub fn completion(&self, write: bool) -> Time {
        self.completion[usize::from(write)]
    }
    /// Of what is left on the bus when the last of some sectors has passed under the head: each goes over the bus in the order of their
    /// numbers, when it has, and the one before is over. `wrapped` of them have passed before the first.
    pub fn tail(&self, sectors: u64, wrapped: u64, transfer: Time) -> Time {
        let each = Time(transfer.0 / sectors.max(1));
        let before = each * (wrapped + 1);
        let bus = before + self.bus(sectors);
        (transfer + self.sector).max(bus) - transfer
    }
}
