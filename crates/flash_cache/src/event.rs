//! Events, observations and errors of a flash cache.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_block::{
    ArrayObservation, BeyondEnd, DeviceObservation, Failure, FromMember, LatencyComponents,
    MemberObservation, Nested, PowerCut, Request, RequestObservation,
};
use wordline_kernel::Digest;
use wordline_ssd::DeviceError;

/// Event of one of the two tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event<B> {
    /// Event of the flash.
    Flash(wordline_ssd::Event),
    /// Event of the backing store.
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

impl<B: Copy> MemberObservation for Observation<B> {
    type Device = Self;
    #[inline]
    fn wrap(self, member: u32, _members: u32) -> ArrayObservation<Self> {
        ArrayObservation::Device(FromMember { member, of: self })
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

/// Number of pages of a read, by look-up result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// Pages in the lists of the cache.
    pub resident: u64,
    /// Evicted pages that could still be read from flash.
    pub suspected: u64,
    /// Pages that another request was already fetching.
    pub joined: u64,
    /// Pages to fetch from the backing store, and possibly to admit.
    pub missed: u64,
}

/// Lengths of the lists. Pages. With one list, all pages count as the write list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lists {
    /// Pages in the read list.
    pub reads: u32,
    /// Pages in the write list.
    pub writes: u32,
    /// Target sizes of the lists.
    pub chosen: Chosen,
}

/// Target sizes of the parts of the flash. Pages. The lists reach them gradually, as pages are
/// evicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// Size of the read list; 0 if there is only one list, or if both lists share their pages.
    pub reads: u32,
    /// Size of the write list, of the only list, or of both lists if they share their pages.
    pub writes: u32,
    /// Pages that remain for over-provisioning.
    pub spare: u32,
}

/// Number of pages in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// Pages in the lists.
    pub resident: u32,
    /// Pages newer than their copies in the backing store, including evicted pages that are being
    /// destaged.
    pub dirty: u32,
}

/// Observation of a flash cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation<B> {
    /// Observation of the flash. Logical pages in it are entries of the cache.
    Flash(wordline_ssd::Observation),
    /// Observation of the backing store.
    Backing(B),
    /// A request was admitted.
    Admitted {
        /// Outstanding requests, including this one.
        in_flight: u32,
    },
    /// Look-up result of a read, counted in pages.
    Found(Pages),
    /// Lengths of the lists when a request starts.
    Lists(Lists),
    /// Number of pages in the cache, observed when a request starts or completes, when a group has
    /// been destaged, and after a power cut. Only for probes that want fragments
    /// ([`wordline_kernel::Probe::WANTS_FRAGMENTS`]).
    Held(Holding),
    /// A request completed.
    Request {
        /// The request.
        request: Request,
        /// Latency components of the request.
        parts: LatencyComponents,
        /// Whether the request itself caused no operation on the backing store.
        hit: bool,
    },
    /// Power failed.
    PowerCut(PowerCut),
}

impl<B> Observation<B> {
    /// Returns an observation of the cache or its flash as `Ok`, and one of the backing store as
    /// `Err`.
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

/// Error of a run with a flash cache.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CachedError<E> {
    /// A request exceeds the capacity of the store.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
    /// The flash failed.
    #[error("the flash of the cache: {0}")]
    Flash(DeviceError),
    /// The backing store failed.
    #[error("the backing store of the cache: {0}")]
    Backing(E),
    /// There are more pages than the cache index can number.
    #[error(
        "the cache index cannot number all pages: {0}; increase the page size or reduce the cache"
    )]
    Full(wordline_cache::Full),
    /// A tier returned a version of a page other than the latest.
    #[error(
        "a read of page {page} returned version {found} from {tier}, but version {written} was written; this is a bug in Wordline, report it"
    )]
    Stale {
        /// Page of the backing store.
        page: u64,
        /// Tier that served the page.
        tier: &'static str,
        /// Version that the tier returned.
        found: u64,
        /// Latest version, which the tier should have returned.
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
