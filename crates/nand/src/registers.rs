//! The cache register and the data register of a die: what they let overlap.
//!
//! Every plane has one of each; the planes of a command use theirs in step, so one pair of instants
//! describes a die. The bus fills and empties the cache register. The array works on the data
//! register alone, so while it works the cache register is free for the bus: that is the whole of
//! cache mode (Jung 2013, section 2.3.1; ONFI status bits RDY and ARDY).

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::transaction::Operation;

/// Short busy times of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    /// A page moves between data and cache register (tCBSY, tRCBSY).
    pub cache: Time,
    /// A plane of a multi-plane command is queued (tPLPBSY, tPLRBSY, tPLEBSY).
    pub plane: Time,
}

/// What the last cycle of a command sets going. Array times are those of the command's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confirm {
    /// The array reads into the data registers, and the page is passed on to the cache registers
    /// (30h); or it stays in the data registers, to be programmed from there (35h).
    Read(Time),
    /// The page in the data registers goes to the cache registers, then the array reads the next
    /// one into the data registers (31h).
    CacheRead(Time),
    /// The same (31h) while nobody wants the die: it is let alone until the array has read the next one.
    ReadAhead(Time),
    /// The page in the data registers goes to the cache registers (3Fh).
    CacheReadEnd,
    /// The data registers take the page from the cache registers and the array programs it (10h),
    /// or the array programs the page that the data registers hold (10h after 85h).
    Program(Time),
    /// Like a program, but the cache registers are free again as soon as they are empty (15h).
    CacheProgram(Time),
    /// The array erases (D0h).
    Erase(Time),
    /// A plane joins the command to come (11h, 32h, D1h).
    QueuePlane,
}

impl Confirm {
    /// What the array does, if anything; a move reads first and then programs.
    #[inline]
    pub const fn operation(self) -> Option<Operation> {
        match self {
            Self::Read(_) | Self::CacheRead(_) | Self::ReadAhead(_) => Some(Operation::Read),
            Self::Program(_) | Self::CacheProgram(_) => Some(Operation::Program),
            Self::Erase(_) => Some(Operation::Erase),
            Self::CacheReadEnd | Self::QueuePlane => None,
        }
    }
}

/// A spell of work of the array, from `from` until `until`; empty if the two are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayBusy {
    /// Start.
    pub from: Time,
    /// End.
    pub until: Time,
}

impl ArrayBusy {
    /// How long the array works.
    #[inline]
    pub fn time(self) -> Time {
        self.until - self.from
    }
}

/// When the registers of a die are free or filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registers {
    cache: Time,
    data: Time,
}

impl Registers {
    /// When the cache registers are free, or hold the page asked for: the die takes commands from
    /// then on (RDY = 1).
    #[inline]
    pub const fn ready(&self) -> Time {
        self.cache
    }
    /// When the array has finished with the data registers (ARDY = 1).
    #[inline]
    pub const fn array_free(&self) -> Time {
        self.data
    }
    /// The last cycle of a command ends at `now`, not before [`Registers::ready`].
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
    /// The last cycle of a command that leaves the die ready before the array is, or without it.
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
    /// The die is let alone until the array has finished with the data registers.
    #[inline]
    pub fn wait_for_array(&mut self, now: Time) {
        self.cache = now.max(self.data);
    }
    /// The array stops at `now` with work left to do, and the die takes commands (suspend).
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
    fn a_second_page_is_loaded_while_the_first_is_programmed() {
        let mut registers = Registers::default();
        let first = registers.confirm(US(50), Confirm::CacheProgram(US(250)), BUSY);
        assert_eq!((first.from, first.until), (US(50), US(300)));
        assert_eq!(registers.ready(), US(53));
        // The next page is in the cache register at 103 us and waits there for the data register.
        let second = registers.confirm(US(103), Confirm::Program(US(250)), BUSY);
        assert_eq!((second.from, second.until), (US(300), US(550)));
        assert_eq!(registers.ready(), US(550));
    }

    #[test]
    fn a_page_goes_out_while_the_next_is_read() {
        let mut registers = Registers::default();
        registers.confirm(US(0), Confirm::Read(US(25)), BUSY);
        let second = registers.confirm(US(25), Confirm::CacheRead(US(25)), BUSY);
        assert_eq!(registers.ready(), US(28));
        assert_eq!((second.from, second.until), (US(28), US(53)));
        registers.confirm(US(40), Confirm::CacheReadEnd, BUSY);
        assert_eq!(registers.ready(), US(56));
    }

    #[test]
    fn queueing_a_plane_leaves_the_array_as_it_is() {
        let mut registers = Registers::default();
        registers.confirm(US(0), Confirm::CacheProgram(US(250)), BUSY);
        let none = registers.confirm(US(60), Confirm::QueuePlane, BUSY);
        assert_eq!(none.time(), Time::ZERO);
        assert_eq!(registers.ready(), Time::from_ns(60_500));
        assert_eq!(registers.array_free(), US(250));
    }
}
