//! Runs replacement policies over traces, computes miss-ratio curves of traces and plans flash
//! caches. Does not simulate flash over time.
//!
//! A trace becomes requests for pages ([`Pages`]). Each policy runs over them with each size
//! ([`Pages::run`]). [`mrc`] reads the trace once for all estimators of its miss-ratio curve.
//! [`plan_cache`] estimates the cost of every division of a flash in front of a disk. It uses cost
//! models, the LRU stacks of a trace and a replay of the trace's leading requests on the disk.

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

/// Error of a cache simulation, a curve or a plan.
#[derive(Debug, Error)]
pub enum CacheError {
    /// The trace cannot be read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The trace is too large.
    #[error("{path}: {reason}")]
    Trace {
        /// First file of the trace.
        path: String,
        /// Exceeded limit.
        reason: TraceError,
    },
    /// A request covers an implausible number of pages.
    #[error(
        "{path}: the request at byte {offset} covers {pages} pages, and at most 2^20 are supported; use larger pages (--page-bytes), or correct the trace"
    )]
    Long {
        /// First file of the trace.
        path: String,
        /// Number of pages of the request.
        pages: u64,
        /// Offset of the request's first byte.
        offset: u64,
    },
    /// An address exceeds the range of page numbers of a volume.
    #[error(
        "{path}: byte {offset} is beyond the 2^44 pages that are supported; use larger pages (--page-bytes)"
    )]
    Far {
        /// First file of the trace.
        path: String,
        /// End of the request, exclusive.
        offset: u64,
    },
    /// The trace has neither reads nor writes.
    #[error("{0}: the trace has neither reads nor writes; choose another trace")]
    Empty(String),
    /// A policy, a size or a number is invalid.
    #[error("{what}: {reason}; {remedy}")]
    Argument {
        /// The argument, with its value.
        what: String,
        /// The fault.
        reason: String,
        /// The remedy.
        remedy: String,
    },
    /// The user interrupted the computation.
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

/// Phase of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading the trace.
    Read,
    /// Computing the exact curve.
    Exact,
    /// Computing the AET curve.
    Aet,
    /// Comparing divisions of the flash.
    Plan,
    /// Comparing estimates with the exact curve.
    Accuracy,
}

impl Phase {
    /// Returns the name of the phase in the progress display.
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

/// Progress of a computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Current phase.
    pub phase: Phase,
    /// Requests processed in this phase. For a plan, all page requests of the trace; 0 when
    /// estimates are compared.
    pub requests: u64,
    /// Share of the phase that is done, 0 to 1; `None` if it is unknown.
    pub fraction: Option<f64>,
}

/// Callback that receives the progress from time to time, and returns `false` to stop the
/// computation.
pub type Watch<'a> = dyn FnMut(Progress) -> bool + 'a;
