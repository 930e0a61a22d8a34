//! A link, one way.

use serde::{Deserialize, Serialize};

use crate::Time;

/// How fast a link is: `bytes` take `ps` picoseconds. Two integers, so that no rate is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Picoseconds.
    pub ps: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Rate {
    /// The time that `bytes` take, rounded up to a picosecond.
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

/// A link that carries one thing at a time, first come, first served.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Link {
    rate: Rate,
    free_at: Time,
}

impl Link {
    /// A link that is free from the start.
    pub fn new(rate: Rate) -> Self {
        let free_at = Time::ZERO;
        Self { rate, free_at }
    }
    /// The time that `bytes` take once they are on the link.
    #[inline]
    pub fn time(&self, bytes: u64) -> Time {
        self.rate.time(bytes)
    }
    /// Takes the link for `length`, behind all that was asked for before; the wait until then.
    #[inline]
    pub fn hold(&mut self, now: Time, length: Time) -> Time {
        let start = self.free_at.max(now);
        self.free_at = start + length;
        start - now
    }
    /// Carries something short between the packets of a transfer that is under way: it does not wait, and
    /// its time is lost to whatever asks for the link next.
    #[inline]
    pub fn slip(&mut self, now: Time, length: Time) {
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
    fn times_are_rounded_up() {
        let times = [0, 1, 2, 3, 64].map(|bytes| THIRDS.time(bytes).ps());
        assert_eq!(times, [0, 1_667, 3_334, 5_000, 106_667]);
        // 3 * 2^60 bytes, where the product does not fit 64 bits: 5,000 * 2^60 ps do not either.
        assert_eq!(THIRDS.time(3 << 60), Time::MAX);
        assert_eq!(THIRDS.time(3 << 51).ps(), 5_000 << 51);
    }

    #[test]
    fn holds_stand_in_line_and_packets_slip_in_between() {
        let mut link = Link::new(THIRDS);
        let at = Time::from_ps;
        assert_eq!(link.hold(at(10), at(100)), Time::ZERO);
        assert_eq!(link.hold(at(20), at(100)), at(90));
        link.slip(at(30), at(5));
        assert_eq!(link.hold(at(215), at(100)), Time::ZERO, "free again at 215");
        assert_eq!(link.hold(at(400), at(1)), Time::ZERO);
    }
}
