//! What an array schedules for its members.

use wordline_kernel::Digest;

/// An event of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The member that will deal with it.
    pub member: u32,
    /// What it has scheduled for itself.
    pub device: wordline_device::Event,
}

impl Event {
    /// Takes the event into the digest of a run.
    #[inline]
    pub fn mix(self, digest: &mut Digest) {
        digest.mix(self.member.into());
        digest.mix(self.device.code());
    }
}
