//! What a device schedules for itself.

/// Something a device will have to deal with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A bus phase ends on this channel.
    BusDone(u32),
    /// The array phase ends on this die.
    ArrayDone(u32),
}

impl Event {
    /// For the digest of a run.
    #[inline]
    pub const fn code(self) -> u64 {
        match self {
            Self::BusDone(channel) => (channel as u64) << 1,
            Self::ArrayDone(die) => (die as u64) << 1 | 1,
        }
    }
}
