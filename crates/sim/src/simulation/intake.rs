//! Where the requests of a stream come from.

use crate::outcome::{InputCounts, Issued};
use std::collections::VecDeque;
use wordline_block::{Op, Request};
use wordline_config::plan::Replay;
use wordline_kernel::Time;
use wordline_workload::{Source, WorkloadError};

/// The requests of a stream, and when they are issued.
pub struct Input<'a> {
    /// The requests.
    pub source: &'a mut dyn Source,
    /// When they are issued.
    pub replay: Replay,
}

/// Where the requests of a stream are taken from, one ahead.
pub(super) struct Intake<'a> {
    pub(super) source: &'a mut dyn Source,
    pub(super) stream: u32,
    /// Requests issued, in the order of [`Op`].
    pub(super) issued: [u64; 4],
    pub(super) durable_writes: u64,
    pub(super) lost: u64,
    pub(super) flushes_ignored: u64,
    pub(super) first_arrival: Option<Time>,
    /// When the source has the first and the last of the requests that were issued, times scaled.
    pub(super) recorded: Option<(Time, Time)>,
    pub(super) open: bool,
    /// Whether flushes are issued; without a buffer they change nothing.
    pub(super) flushes: bool,
    pub(super) ahead: Option<Request>,
    /// What follows it, as far as the device wants to hear of it.
    pub(super) beyond: VecDeque<Request>,
    pub(super) replay: Replay,
    /// Closed loop: when the next requests are issued.
    pub(super) tokens: VecDeque<Time>,
    pub(super) error: Option<WorkloadError>,
}

impl<'a> Intake<'a> {
    pub(super) fn new(input: Input<'a>, stream: u32, flushes: bool) -> Self {
        let Input { source, replay } = input;
        let tokens = match replay {
            Replay::OpenLoop { .. } => VecDeque::new(),
            Replay::ClosedLoop { queue_depth } => vec![Time::ZERO; queue_depth as usize].into(),
        };
        Self {
            source,
            stream,
            issued: [0; 4],
            durable_writes: 0,
            lost: 0,
            flushes_ignored: 0,
            first_arrival: None,
            recorded: None,
            open: true,
            flushes,
            ahead: None,
            beyond: VecDeque::new(),
            replay,
            tokens,
            error: None,
        }
    }

    /// When the host issues the next request; `None` if there is none, or none before another
    /// completes. After the end or an error there is never one.
    #[inline(always)]
    pub(super) fn next_arrival(&mut self) -> Option<Time> {
        self.fill();
        let arrival = self.ahead.as_ref()?.arrival;
        match self.replay {
            Replay::OpenLoop { .. } => Some(arrival),
            Replay::ClosedLoop { .. } => self.tokens.front().copied(),
        }
    }
    /// The next request, which is issued at `arrival`.
    #[inline(always)]
    pub(super) fn next(&self, arrival: Time) -> Option<Request> {
        self.ahead.map(|ahead| Request { arrival, ..ahead })
    }
    /// Whether there is another request, be it that it waits for one before it.
    #[inline]
    pub(super) fn has_more(&mut self) -> bool {
        self.fill();
        self.ahead.is_some()
    }
    #[inline]
    pub(super) fn take(&mut self, request: &Request) {
        if let Some(ahead) = self.ahead.take() {
            self.recorded
                .get_or_insert((ahead.arrival, ahead.arrival))
                .1 = ahead.arrival;
        }
        self.tokens.pop_front();
        self.first_arrival.get_or_insert(request.arrival);
        self.issued[request.op as usize] += 1;
        self.durable_writes += u64::from(request.fua && request.op == Op::Write);
    }
    pub(super) fn counts(&self) -> InputCounts {
        let [reads, writes, trims, flushes] = self.issued;
        InputCounts {
            reads,
            writes,
            durable_writes: self.durable_writes,
            trims,
            flushes,
            lost: self.lost,
            flushes_ignored: self.flushes_ignored,
        }
    }
    /// Whether it should be issued by time stamps that it does not have.
    pub(super) fn is_untimed(&self) -> bool {
        matches!(self.replay, Replay::OpenLoop { .. }) && !self.source.timed()
    }
    /// Whether the next request is issued when another completes.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        matches!(self.replay, Replay::ClosedLoop { .. }) && self.tokens.is_empty()
    }
    /// A request has completed.
    #[inline]
    pub(super) fn completed(&mut self, now: Time) {
        if let Replay::ClosedLoop { .. } = self.replay {
            self.tokens.push_back(now);
        }
    }
    pub(super) fn issued_so_far(&self) -> Issued {
        Issued {
            replay: self.replay,
            counts: self.counts(),
            first_arrival: self.first_arrival,
            recorded: self.recorded.filter(|_| self.source.timed()),
        }
    }
    /// No further request is issued.
    pub(super) fn close(&mut self) {
        self.open = false;
        self.ahead = None;
        self.beyond.clear();
    }
    /// Adds up to `most` of the requests that come next to `upcoming`; none whose time is not known.
    pub(super) fn look_ahead(&mut self, most: usize, upcoming: &mut Vec<Request>) {
        if let Replay::ClosedLoop { .. } = self.replay {
            return;
        }
        self.fill();
        while self.beyond.len() + 1 < most && self.open {
            match self.fetch() {
                Some(request) => self.beyond.push_back(request),
                None => break,
            }
        }
        upcoming.extend(self.ahead.iter().chain(&self.beyond).take(most));
    }

    #[inline]
    pub(super) fn fill(&mut self) {
        if self.ahead.is_none() {
            self.advance();
        }
    }
    #[inline(never)]
    pub(super) fn advance(&mut self) {
        if !self.beyond.is_empty() {
            self.ahead = self.beyond.pop_front();
        } else if self.open {
            self.ahead = self.fetch();
        }
    }
    #[inline(always)]
    pub(super) fn fetch(&mut self) -> Option<Request> {
        loop {
            let next = match self.source.next_request() {
                Ok(Some(next)) => next,
                Ok(None) => {
                    self.open = false;
                    return None;
                }
                Err(error) => {
                    self.error = Some(error);
                    self.open = false;
                    return None;
                }
            };
            if next.op == Op::Flush && !self.flushes {
                self.flushes_ignored += 1;
                continue;
            }
            let arrival = match self.replay {
                Replay::OpenLoop { time_scale } if time_scale != 1.0 => {
                    Time((next.arrival.0 as f64 * time_scale).round() as u64)
                }
                _ => next.arrival,
            };
            return Some(Request {
                stream: self.stream,
                op: next.op,
                fua: next.fua,
                offset: next.offset,
                bytes: next.bytes,
                arrival,
            });
        }
    }
}
