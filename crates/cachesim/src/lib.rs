//! Replacement policies over traces, miss-ratio curves of traces, plans of flash caches: no device, no time.
//!
//! A trace becomes requests for pages ([`Pages`]); then each policy and size is played over them
//! ([`Pages::run`]), or the trace goes once past the estimators of a curve ([`mrc`]). What flash in front of a disk would cost,
//! divided in any way, cost models say of the stacks of a trace and of what its leading requests take the disk ([`plan_cache`]).

mod curves;
mod foreign;
mod planning;
mod play;
mod policy;
mod size;
mod source;
mod tables;

use thiserror::Error;
use wordline_cache::TraceError;
use wordline_workload::WorkloadError;

pub use curves::{AccuracyOf, CurveAt, CurveOf, Methods, Mrc, PointOf, mrc};
pub use planning::{
    Answer, CachePlan, Device, Disk, Flash, Map, OfSize, Question, Replay, Requests, plan_cache,
};
pub use play::{FlashSide, Run, play};
pub use policy::{Chosen, choose};
pub use size::Size;
pub use source::{Input, Pages, Paging};
pub use tables::{curve_table, plan_table, run_table};

/// Why a trace cannot be studied.
#[derive(Debug, Error)]
pub enum CacheError {
    /// The trace cannot be read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The trace is too large.
    #[error("{path}: {reason}")]
    Trace {
        /// Its first file.
        path: String,
        /// What is too large.
        reason: TraceError,
    },
    /// A request for more pages than any host asks for.
    #[error(
        "{path}: a request for {pages} pages at byte {offset}; take larger pages (--page-bytes), or correct the trace"
    )]
    Long {
        /// The first file of the trace.
        path: String,
        /// Pages it touches.
        pages: u64,
        /// Where it begins.
        offset: u64,
    },
    /// An address beyond what a page number can hold beside that of its volume.
    #[error("{path}: byte {offset} lies beyond 2^44 pages; take larger pages (--page-bytes)")]
    Far {
        /// The first file of the trace.
        path: String,
        /// The byte behind the last one of the request.
        offset: u64,
    },
    /// Nothing to count.
    #[error("{0}: the trace has neither reads nor writes; name another")]
    Empty(String),
    /// A policy, a size or a number that cannot be.
    #[error("{what}: {reason}; {remedy}")]
    Argument {
        /// What was given.
        what: String,
        /// What is wrong with it.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
}

impl CacheError {
    fn argument(
        what: impl Into<String>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Argument {
            what: what.into(),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The trace is read.
    Read,
    /// The exact curve is found.
    Exact,
    /// The AET curve is found.
    Aet,
    /// Divisions of a flash are compared.
    Plan,
    /// Estimates are held against the exact curve.
    Accuracy,
}

impl Phase {
    /// As progress is told.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Exact => "exact",
            Self::Aet => "aet",
            Self::Plan => "plan",
            Self::Accuracy => "accuracy",
        }
    }
}

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Requests passed in this phase.
    pub requests: u64,
    /// The share of the phase that is done, 0 to 1, where it can be known.
    pub fraction: Option<f64>,
}

/// Hears how far the work is, some thousand requests apart; ends it by answering false.
pub type Watch<'a> = dyn FnMut(Progress) -> bool + 'a;
