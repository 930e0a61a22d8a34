//! Events that a device schedules.

use serde::{Deserialize, Serialize};
use wordline_block::{FromMember, Nested};
use wordline_kernel::Digest;

use wordline_dram_buffer as buffer;

use wordline_host_link as host;

/// Event of a device, as one word: the queue holds it in the form that enters the digest of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event(u64);

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// Event of a channel or a die.
    Flash(wordline_nand::Event),
    /// Event of the DRAM buffer.
    Buffer(buffer::Event),
    /// Event of the host interface.
    Host(host::Event),
    /// Idle dies start their queued operations, or read ahead.
    Begin,
    /// The scheduler commits operations to dies.
    Schedule,
    /// Infrequent work: decoded pages, and the check for idle work.
    Look,
}

/// Context of a device at an event.
pub(crate) type Context<'a, P> = wordline_kernel::Context<'a, Event, P>;

/// Position of the bits that identify the owner of an event, above the owner's own code. Bits.
const OWNER: u32 = 61;
const FLASH: u64 = 0;
const BUFFER: u64 = 1;
const HOST: u64 = 2;
const BEGIN: u64 = u64::MAX;
const SCHEDULE: u64 = u64::MAX - 1;

impl Event {
    #[inline]
    pub(crate) fn kind(self) -> Kind {
        let code = self.0 & ((1 << OWNER) - 1);
        match self.0 >> OWNER {
            FLASH => Kind::Flash(wordline_nand::Event::of(code)),
            BUFFER => Kind::Buffer(buffer::Event::of(code)),
            HOST => Kind::Host(host::Event::of(code)),
            _ => match self.0 {
                BEGIN => Kind::Begin,
                SCHEDULE => Kind::Schedule,
                _ => Kind::Look,
            },
        }
    }
}

impl wordline_block::Event for Event {
    #[inline]
    fn mix(self, digest: &mut Digest) {
        digest.mix(self.0);
    }
}

impl Nested for Event {
    type Wrapped = FromMember<Self>;
    #[inline]
    fn wrap(self, member: u32, _members: u32) -> FromMember<Self> {
        FromMember { member, of: self }
    }
    #[inline]
    fn unwrap(event: FromMember<Self>, _members: u32) -> (u32, Self) {
        (event.member, event.of)
    }
}

impl From<Kind> for Event {
    #[inline]
    fn from(kind: Kind) -> Self {
        Self(match kind {
            Kind::Flash(event) => FLASH << OWNER | event.code(),
            Kind::Buffer(event) => BUFFER << OWNER | event.code(),
            Kind::Host(event) => HOST << OWNER | event.code(),
            Kind::Begin => BEGIN,
            Kind::Schedule => SCHEDULE,
            Kind::Look => SCHEDULE - 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_cache::Entry;
    use wordline_nand::Event as Flash;

    #[test]
    fn event_round_trips_through_its_code() {
        let mut kinds = vec![Kind::Begin, Kind::Schedule, Kind::Look];
        for number in [0, 1, u32::MAX - 1, u32::MAX] {
            kinds.extend([Flash::BusDone(number), Flash::Ready(number)].map(Kind::Flash));
            let buffer = [
                buffer::Event::Moved(number),
                buffer::Event::Sent(Entry(number)),
            ];
            kinds.extend(buffer.map(Kind::Buffer));
            let host = [
                host::Event::Rung(number),
                host::Event::Arrived(number),
                host::Event::Answered(number),
                host::Event::Sent(number),
                host::Event::Posted(number),
                host::Event::Done(number),
            ];
            kinds.extend(host.map(Kind::Host));
        }
        for kind in &kinds {
            assert_eq!(Event::from(*kind).kind(), *kind);
        }
    }
}
