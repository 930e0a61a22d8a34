//! A half-duplex link, or one direction of a full-duplex one: transfers queue, and short packets
//! interleave with them.

use serde::{Deserialize, Serialize};

use crate::Time;

/// Speed of a link: `bytes` bytes take `ps` picoseconds. Two integers express every rate without
/// rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Time in which `bytes` bytes are transferred. Picoseconds.
    pub ps: u64,
    /// Bytes transferred in `ps` picoseconds.
    pub bytes: u64,
}

impl Rate {
    /// Returns the transfer time of `bytes` bytes, rounded up to a picosecond; [`Time::MAX`] if it
    /// exceeds the range.
    #[inline]
    pub fn time(self, bytes: u64) -> Time {
        Time::from_ps(match bytes.checked_mul(self.ps) {
            Some(product) => product.div_ceil(self.bytes),
            None => self.long(bytes),
        })
    }
    #[cold]
    fn long(self, bytes: u64) -> u64 {
        let product = u128::from(bytes) * u128::from(self.ps);
        u64::try_from(product.div_ceil(u128::from(self.bytes))).unwrap_or(u64::MAX)
    }
}

/// Link that carries one transfer at a time, first come, first served.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Link {
    rate: Rate,
    free_at: Time,
}

impl Link {
    /// Creates a link that is free from time zero.
    pub fn new(rate: Rate) -> Self {
        let free_at = Time::ZERO;
        Self { rate, free_at }
    }
    /// Returns the transfer time of `bytes` bytes on the link.
    #[inline]
    pub fn time(&self, bytes: u64) -> Time {
        self.rate.time(bytes)
    }
    /// Reserves the link for `length`, after all earlier reservations. Returns the wait until the
    /// reservation starts.
    #[inline]
    pub fn reserve(&mut self, now: Time, length: Time) -> Time {
        let start = self.free_at.max(now);
        self.free_at = start + length;
        start - now
    }
    /// Sends a short packet between the packets of a transfer in progress. The packet does not
    /// wait; it delays the next transfer by `length`.
    #[inline]
    pub fn interleave(&mut self, now: Time, length: Time) {
        self.free_at = self.free_at.max(now) + length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THIRDS: Rate = Rate {
        ps: 5_000,
        bytes: 3,
    };

    #[test]
    fn transfer_times_are_rounded_up() {
        let times = [0, 1, 2, 3, 64].map(|bytes| THIRDS.time(bytes).ps());
        assert_eq!(times, [0, 1_667, 3_334, 5_000, 106_667]);
        // The product of 3 * 2^60 bytes and 5,000 ps exceeds 64 bits, and so does the transfer
        // time, 5,000 * 2^60 ps.
        assert_eq!(THIRDS.time(3 << 60), Time::MAX);
        assert_eq!(THIRDS.time(3 << 51).ps(), 5_000 << 51);
    }

    #[test]
    fn transfers_queue_and_packets_interleave() {
        let mut link = Link::new(THIRDS);
        let at = Time::from_ps;
        assert_eq!(link.reserve(at(10), at(100)), Time::ZERO);
        assert_eq!(link.reserve(at(20), at(100)), at(90));
        link.interleave(at(30), at(5));
        assert_eq!(
            link.reserve(at(215), at(100)),
            Time::ZERO,
            "the link is free again at 215 ps"
        );
        assert_eq!(link.reserve(at(400), at(1)), Time::ZERO);
    }
}
