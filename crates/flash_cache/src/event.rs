//! What a cached store schedules, what a probe hears of it, and how it can fail.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_block::{
    ArrayObservation, BeyondEnd, DeviceObservation, Failure, Member, MemberObservation, Nested,
    Parts, PowerCut, Request, RequestObservation,
};
use wordline_kernel::Digest;
use wordline_ssd::DeviceError;

/// An event of one of the two tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event<B> {
    /// Of the flash.
    Flash(wordline_ssd::Event),
    /// Of the store below.
    Backing(B),
}

impl<B> Default for Event<B> {
    fn default() -> Self {
        Self::Flash(wordline_ssd::Event::default())
    }
}

impl<B: wordline_block::Event> wordline_block::Event for Event<B> {
    #[inline]
    fn mix(self, digest: &mut Digest) {
        match self {
            Self::Flash(event) => event.mix(digest),
            Self::Backing(event) => {
                digest.mix(1);
                event.mix(digest);
            }
        }
    }
}

impl<B: wordline_block::Event> Nested for Event<B> {
    type Outside = Member<Self>;
    #[inline]
    fn outside(self, member: u32, _members: u32) -> Member<Self> {
        Member { member, of: self }
    }
    #[inline]
    fn inside(event: Member<Self>, _members: u32) -> (u32, Self) {
        (event.member, event.of)
    }
}

impl<B: Copy> MemberObservation for Observation<B> {
    type Device = Self;
    #[inline]
    fn outside(self, member: u32, _members: u32) -> ArrayObservation<Self> {
        ArrayObservation::Device(Member { member, of: self })
    }
}

impl<B: Copy> DeviceObservation for Observation<B> {
    fn of_requests(self) -> Option<RequestObservation> {
        match self {
            Self::Admitted { in_flight } => Some(RequestObservation::Admitted { held: in_flight }),
            Self::Request { request, parts, .. } => {
                Some(RequestObservation::Request { request, parts })
            }
            Self::PowerCut(cut) => Some(RequestObservation::PowerCut(cut)),
            Self::Flash(_) | Self::Backing(_) | Self::Found(_) | Self::Lists(_) | Self::Held(_) => {
                None
            }
        }
    }
}

/// Pages of reads by what was found of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// The cache held them.
    pub resident: u64,
    /// They had been evicted and could still be read.
    pub suspected: u64,
    /// Another request was fetching them.
    pub joined: u64,
    /// They are fetched, and maybe taken in.
    pub missed: u64,
}

/// Pages in the lists; all in that of writes if there is one only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lists {
    /// Of what was read.
    pub reads: u32,
    /// Of what was written.
    pub writes: u32,
    /// The sizes that were chosen for them.
    pub chosen: Chosen,
}

/// Pages that each part of the flash is to have. The lists follow as pages leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The list of what is read; zero where there is one list for all.
    pub reads: u32,
    /// The list of what is written, or the only one.
    pub writes: u32,
    /// Neither: over-provisioning.
    pub spare: u32,
}

/// Pages that the cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// In its lists.
    pub resident: u32,
    /// Newer than the store below, with those that are leaving.
    pub dirty: u32,
}

/// Something that happened in a cached store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation<B> {
    /// In the flash, whose addresses are those of entries.
    Flash(wordline_ssd::Observation),
    /// In the store below.
    Backing(B),
    /// A request has come in.
    Admitted {
        /// Requests that are not complete, with this one.
        in_flight: u32,
    },
    /// A read has begun: what was found of its pages.
    Found(Pages),
    /// A request has begun: what the lists hold.
    Lists(Lists),
    /// What is held, when a request has begun or is complete, when a group has been destaged, and behind a power cut;
    /// to probes that hear pieces ([`wordline_kernel::Probe::WANTS_FRAGMENTS`]).
    Held(Holding),
    /// A request is complete.
    Request {
        /// What was asked.
        request: Request,
        /// Where its time went.
        parts: Parts,
        /// Whether the flash alone has served it.
        hit: bool,
    },
    /// The power has failed.
    PowerCut(PowerCut),
}

impl<B> Observation<B> {
    /// What is heard of the cache itself, or, as an error, of the store below.
    #[inline]
    pub fn apart(self) -> Result<Observation<Infallible>, B> {
        Ok(match self {
            Self::Backing(heard) => return Err(heard),
            Self::Flash(heard) => Observation::Flash(heard),
            Self::Admitted { in_flight } => Observation::Admitted { in_flight },
            Self::Found(pages) => Observation::Found(pages),
            Self::Lists(lists) => Observation::Lists(lists),
            Self::Held(pages) => Observation::Held(pages),
            Self::Request {
                request,
                parts,
                hit,
            } => Observation::Request {
                request,
                parts,
                hit,
            },
            Self::PowerCut(cut) => Observation::PowerCut(cut),
        })
    }
}

/// A run of a cached store that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CachedError<E> {
    /// A request outside the store.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
    /// The flash failed.
    #[error("the flash of the cache: {0}")]
    Flash(DeviceError),
    /// The store below failed.
    #[error("the store below the cache: {0}")]
    Backing(E),
    /// More pages are known than there are numbers.
    #[error("the cache knows too many pages: {0}; take larger pages or a smaller cache")]
    Full(wordline_cache::Full),
    /// A tier held what is not the latest version.
    #[error(
        "a read of page {page} was served with version {found} of it from {tier}, and version {written} was written: a fault of the simulator"
    )]
    Stale {
        /// The page of the store below.
        page: u64,
        /// Who served it.
        tier: &'static str,
        /// What that held.
        found: u64,
        /// What it had to hold.
        written: u64,
    },
}

impl<E: Failure> Failure for CachedError<E> {
    fn is_interruption(&self) -> bool {
        match self {
            Self::Flash(error) => error.is_interruption(),
            Self::Backing(error) => error.is_interruption(),
            Self::BeyondEnd(_) | Self::Full(_) | Self::Stale { .. } => false,
        }
    }
}
