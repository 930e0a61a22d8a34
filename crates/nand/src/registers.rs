//! Cache register and data register of a die, and the overlap that they allow.
//!
//! Every plane has one of each. The planes of a command use theirs at the same time, so one pair of
//! times describes a die. The bus fills and empties the cache register. The array uses only the
//! data register, so the bus can use the cache register while the array works. All cache modes
//! follow from this (Jung 2013, section 2.3.1; ONFI status bits RDY and ARDY).

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::transaction::Operation;

/// Short busy times of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    /// Move of a page between data and cache register (tCBSY, tRCBSY).
    pub cache: Time,
    /// Queueing of a plane for a multi-plane command (tPLPBSY, tPLRBSY, tPLEBSY).
    pub plane: Time,
}

/// Work that the last cycle of a command starts. Array times are those of the command's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confirm {
    /// The array reads into the data registers. The pages then move to the cache registers (30h),
    /// or stay in the data registers to be programmed from there (35h).
    Read(Time),
    /// The pages in the data registers move to the cache registers; then the array reads the next
    /// pages into the data registers (31h).
    CacheRead(Time),
    /// Speculative `CacheRead` (31h): the die stays busy until the array has read the next page.
    ReadAhead(Time),
    /// The pages in the data registers move to the cache registers (3Fh).
    CacheReadEnd,
    /// The data registers take the pages from the cache registers and the array programs them
    /// (10h), or the array programs the pages already in the data registers (10h after 85h).
    Program(Time),
    /// Like `Program`, but the cache registers accept the next pages as soon as they are empty
    /// (15h).
    CacheProgram(Time),
    /// The array erases (D0h).
    Erase(Time),
    /// A plane is queued for the multi-plane command (11h, 32h, D1h).
    QueuePlane,
}

impl Confirm {
    /// Returns the array operation that the command starts, if any. A move starts a read, then a
    /// program.
    #[inline]
    pub const fn operation(self) -> Option<Operation> {
        match self {
            Self::Read(_) | Self::CacheRead(_) | Self::ReadAhead(_) => Some(Operation::Read),
            Self::Program(_) | Self::CacheProgram(_) => Some(Operation::Program),
            Self::Erase(_) => Some(Operation::Erase),
            Self::CacheReadEnd | Self::QueuePlane => None,
        }
    }
    /// Returns the array time of the command, if it starts an array operation.
    pub const fn array_time(&mut self) -> Option<&mut Time> {
        match self {
            Self::Read(time)
            | Self::CacheRead(time)
            | Self::ReadAhead(time)
            | Self::Program(time)
            | Self::CacheProgram(time)
            | Self::Erase(time) => Some(time),
            Self::CacheReadEnd | Self::QueuePlane => None,
        }
    }
}

/// Interval during which the array works, from `from` to `until`; empty if both are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayBusy {
    /// Start of the work.
    pub from: Time,
    /// End of the work.
    pub until: Time,
}

impl ArrayBusy {
    /// Returns the length of the interval.
    #[inline]
    pub fn time(self) -> Time {
        self.until - self.from
    }
}

/// Times at which the registers of a die become available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registers {
    cache: Time,
    data: Time,
}

impl Registers {
    /// Returns the time at which the cache registers are free, or hold the page requested. The die
    /// accepts commands from then on (RDY = 1).
    #[inline]
    pub const fn ready(&self) -> Time {
        self.cache
    }
    /// Returns the time at which the array has finished with the data registers (ARDY = 1).
    #[inline]
    pub const fn array_free(&self) -> Time {
        self.data
    }
    /// Starts the work of a command whose last cycle ends at `now`, which must not be earlier than
    /// [`Registers::ready`].
    #[inline]
    pub fn confirm(&mut self, now: Time, confirm: Confirm, busy: Busy) -> ArrayBusy {
        let free = now.max(self.data);
        if let Confirm::Read(time) | Confirm::Program(time) | Confirm::Erase(time) = confirm {
            self.data = free + time;
            self.cache = self.data;
            return ArrayBusy {
                from: free,
                until: self.data,
            };
        }
        self.confirm_short(now, confirm, busy)
    }
    /// Starts a cache command, or queues a plane.
    #[cold]
    fn confirm_short(&mut self, now: Time, confirm: Confirm, busy: Busy) -> ArrayBusy {
        let free = now.max(self.data);
        match confirm {
            Confirm::CacheProgram(time) => {
                self.data = free + time;
                self.cache = free + busy.cache;
                ArrayBusy {
                    from: free,
                    until: self.data,
                }
            }
            Confirm::CacheRead(time) => {
                self.cache = free + busy.cache;
                self.data = self.cache + time;
                ArrayBusy {
                    from: self.cache,
                    until: self.data,
                }
            }
            Confirm::ReadAhead(time) => {
                let from = free + busy.cache;
                self.data = from + time;
                self.cache = self.data;
                ArrayBusy {
                    from,
                    until: self.data,
                }
            }
            Confirm::QueuePlane => {
                self.cache = self.cache.max(now + busy.plane);
                ArrayBusy::default()
            }
            _ => {
                self.cache = free + busy.cache;
                self.data = self.cache;
                ArrayBusy::default()
            }
        }
    }
    /// Keeps the die busy until the array has finished with the data registers.
    #[inline]
    pub fn wait_for_array(&mut self, now: Time) {
        self.cache = now.max(self.data);
    }
    /// Stops the array at `now` before its work ends (suspend, abort or reset); the die accepts
    /// commands from then on.
    #[inline]
    pub fn stop(&mut self, now: Time) {
        self.cache = now;
        self.data = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Busy = Busy {
        cache: Time::from_us(3),
        plane: Time::from_ns(500),
    };
    const US: fn(u64) -> Time = Time::from_us;

    #[test]
    fn second_page_is_loaded_while_the_first_is_programmed() {
        let mut registers = Registers::default();
        let first = registers.confirm(US(50), Confirm::CacheProgram(US(250)), BUSY);
        assert_eq!((first.from, first.until), (US(50), US(300)));
        assert_eq!(registers.ready(), US(53));
        // The second page is in the cache register at 103 us and waits there for the data register.
        let second = registers.confirm(US(103), Confirm::Program(US(250)), BUSY);
        assert_eq!((second.from, second.until), (US(300), US(550)));
        assert_eq!(registers.ready(), US(550));
    }

    #[test]
    fn page_is_transferred_out_while_the_next_is_read() {
        let mut registers = Registers::default();
        registers.confirm(US(0), Confirm::Read(US(25)), BUSY);
        let second = registers.confirm(US(25), Confirm::CacheRead(US(25)), BUSY);
        assert_eq!(registers.ready(), US(28));
        assert_eq!((second.from, second.until), (US(28), US(53)));
        registers.confirm(US(40), Confirm::CacheReadEnd, BUSY);
        assert_eq!(registers.ready(), US(56));
    }

    #[test]
    fn queueing_a_plane_does_not_change_the_array() {
        let mut registers = Registers::default();
        registers.confirm(US(0), Confirm::CacheProgram(US(250)), BUSY);
        let none = registers.confirm(US(60), Confirm::QueuePlane, BUSY);
        assert_eq!(none.time(), Time::ZERO);
        assert_eq!(registers.ready(), Time::from_ns(60_500));
        assert_eq!(registers.array_free(), US(250));
    }
}
