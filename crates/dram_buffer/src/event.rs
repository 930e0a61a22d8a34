//! Events of the buffer.

use serde::{Deserialize, Serialize};
use wordline_cache::Entry;

/// Event that the buffer schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The data of a request's part, given by its index, has been moved into or out of memory.
    Moved(u32),
    /// The data of a page being destaged has left the memory.
    Sent(Entry),
    /// The idle time may have passed without a request.
    Idle,
}

impl Event {
    /// Returns the code of the event for the digest of a run; below 2^40.
    #[inline]
    pub fn code(self) -> u64 {
        match self {
            Self::Moved(part) => u64::from(part),
            Self::Sent(entry) => 1 << 32 | u64::from(entry.0),
            Self::Idle => 2 << 32,
        }
    }
    /// Returns the event with a code that [`Event::code`] returned.
    #[inline]
    pub fn of(code: u64) -> Self {
        let number = code as u32;
        match code >> 32 {
            0 => Self::Moved(number),
            1 => Self::Sent(Entry(number)),
            _ => Self::Idle,
        }
    }
}
