//! What a device schedules for itself.

/// Something a device will have to deal with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something on a channel or a die.
    Flash(wordline_nand::Event),
    /// Idle dies begin with what has been enqueued at this instant.
    Begin,
    /// The scheduler chooses what is committed to the dies.
    Schedule,
    /// The device looks at whether it is idle.
    Idle,
    /// Something in the buffer.
    Buffer(crate::buffer::Event),
    /// Something between the host and the device.
    Host(crate::host::Event),
}

impl Event {
    /// For the digest of a run.
    #[inline]
    pub fn code(self) -> u64 {
        match self {
            Self::Flash(event) => event.code(),
            Self::Begin => u64::MAX,
            Self::Schedule => u64::MAX - 1,
            Self::Idle => u64::MAX - 2,
            Self::Buffer(event) => 1 << 61 | event.code(),
            Self::Host(event) => 1 << 62 | event.code(),
        }
    }
}
