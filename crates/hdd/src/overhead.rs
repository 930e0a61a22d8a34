//! Times of a disk's controller and bus.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Command times of the controller (`[disk.overhead.after_read]` and `[disk.overhead.after_write]`,
/// depending on the previous command).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Commands {
    /// Command time of a read whose sectors are in the buffer. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub read_hit_us: f64,
    /// Command time of any other read, before the arm moves. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub read_miss_us: f64,
    /// Command time of a write hit, as defined by `disk.buffer.write_hit`. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub write_hit_us: f64,
    /// Command time of any other write. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub write_miss_us: f64,
}

/// Times of a disk's controller and bus (`[disk.overhead]`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Overhead {
    /// Command times after a read.
    pub after_read: Commands,
    /// Command times after a write.
    pub after_write: Commands,
    /// Transfer time on the bus per sector. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub bus_us_per_sector: f64,
    /// Whether the disk holds the bus from command to completion, even while the arm moves and the
    /// platter rotates; no other command can then arrive. Otherwise it releases the bus whenever it
    /// transfers nothing, and the buffer can serve other commands.
    pub bus_held: bool,
    /// Time to complete a read after its data has been transferred. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub read_completion_us: f64,
    /// Time to complete a write after its data has been transferred. Microseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub write_completion_us: f64,
}

/// Times of the controller and the bus, in picoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timed {
    /// Command times of a read hit, read miss, write hit and write miss, by whether the previous
    /// command was a write.
    commands: [[Time; 4]; 2],
    sector: Time,
    /// Whether the bus is held from a command to its completion.
    pub bus_held: bool,
    /// Completion times of reads and of writes.
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
    /// Returns the time of a command. `behind_write` states whether the previous command was a
    /// write.
    pub fn command(&self, behind_write: bool, write: bool, hit: bool) -> Time {
        let kind = 2 * usize::from(write) + usize::from(!hit);
        self.commands[usize::from(behind_write)][kind]
    }
    /// Returns the bus time of `sectors` sectors.
    pub fn bus(&self, sectors: u64) -> Time {
        self.sector * sectors
    }
    /// Returns the completion time of a command after its data.
    pub fn completion(&self, write: bool) -> Time {
        self.completion[usize::from(write)]
    }
    /// Returns the bus time that remains when the last of `sectors` sectors has passed under the
    /// head. Sectors cross the bus in order of their numbers, each after it has passed and after
    /// the previous one. The last `wrapped` sectors passed before the first one.
    pub fn tail(&self, sectors: u64, wrapped: u64, transfer: Time) -> Time {
        let each = Time(transfer.0 / sectors.max(1));
        let before = each * (wrapped + 1);
        let bus = before + self.bus(sectors);
        (transfer + self.sector).max(bus) - transfer
    }
}
