//! Input of the streams.

use super::trend::Trend;
use crate::error::SimulationError;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::Path;
use wordline_block::{Completion, Op, Request};
use wordline_config::plan::Replay;
use wordline_kernel::{Since, Time};
use wordline_results::outcome::{InputCounts, Issued};
use wordline_workload::{Source, WorkloadError};

/// Requests of a stream, and the rule by which they are issued.
pub struct Input<'a> {
    /// Source of the requests.
    pub source: &'a mut dyn Source,
    /// Rule by which the requests are issued.
    pub replay: Replay,
}

/// Intake of a stream's requests. It takes them from their source, at least one in advance.
pub(super) struct Intake<'a> {
    pub(super) source: &'a mut dyn Source,
    pub(super) stream: u32,
    /// Whether flushes are issued; without a DRAM buffer or a write cache they have no effect.
    flushes: bool,
    replay: Replay,
    /// End time of a closed loop; [`Time::MAX`] if it has none.
    until: Time,
    pub(super) error: Option<WorkloadError>,
    pub(super) at: Position,
}

/// Maximum number of completions at one instant in a closed loop with an end time. A loop with more
/// is considered endless.
const MAX_AT_ONCE: u64 = 4_000_000;

/// Progress of a stream.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Position {
    /// Issued requests, in the order of [`Op`]. Count.
    issued: [u64; 4],
    durable_writes: u64,
    pub(super) lost: u64,
    flushes_ignored: u64,
    /// Requests that were taken from the source and discarded when the stream closed. Count.
    dropped: u64,
    /// Whether the source is exhausted.
    ended: bool,
    pub(super) first_arrival: Option<Time>,
    /// Time stamps of the first and the last issued request, scaled.
    recorded: Option<(Time, Time)>,
    open: bool,
    /// Requests fetched from the source, including ignored flushes. Count.
    fetched: u64,
    pub(super) ahead: Option<Request>,
    /// Index of the next request in the source, from 0.
    pub(super) number: u64,
    /// Requests after the next one, as far as the device looks ahead, with their indices.
    beyond: VecDeque<(Request, u64)>,
    /// Times of completions after which the next request has not been issued yet; empty in an open
    /// loop.
    tokens: VecDeque<Time>,
    /// Time of the latest completion in a closed loop with an end time, and the number of
    /// completions at that instant.
    at_once: (Time, u64),
    /// Response times of an open loop.
    trend: Trend,
    /// Number of source files that are not measured, and the index of the first request after them.
    warm_up: Option<(u32, Option<u64>)>,
    /// Requests issued before measuring started. Count.
    unmeasured: InputCounts,
}

/// State of a stream's intake. `At` is its progress, or a reference to it for writing.
#[derive(Serialize, Deserialize)]
pub(super) struct IntakeState<At> {
    at: At,
    /// Digest of the bytes that the source has read, if it reads any.
    read_digest: Option<u64>,
}

impl Position {
    fn start(replay: Replay) -> Self {
        let tokens = match replay {
            Replay::OpenLoop { .. } => VecDeque::new(),
            Replay::ClosedLoop { queue_depth } => vec![Time::ZERO; queue_depth as usize].into(),
            Replay::ThinkTime { .. } => vec![Time::ZERO].into(),
        };
        Self {
            issued: [0; 4],
            durable_writes: 0,
            lost: 0,
            flushes_ignored: 0,
            dropped: 0,
            ended: false,
            first_arrival: None,
            recorded: None,
            open: true,
            fetched: 0,
            ahead: None,
            number: 0,
            beyond: VecDeque::new(),
            tokens,
            at_once: (Time::ZERO, 0),
            trend: Trend::default(),
            warm_up: None,
            unmeasured: InputCounts::default(),
        }
    }
    /// Returns the number of requests taken from the source.
    fn taken(&self) -> u64 {
        let issued: u64 = self.issued.iter().sum();
        issued + self.flushes_ignored + self.dropped + self.held()
    }
    /// Returns the number of requests taken from the source but not yet issued.
    fn held(&self) -> u64 {
        u64::from(self.ahead.is_some()) + self.beyond.len() as u64
    }
}

impl<'a> Intake<'a> {
    pub(super) fn new(input: Input<'a>, stream: u32, flushes: bool) -> Self {
        let Input { source, replay } = input;
        Self {
            until: source.until(),
            source,
            stream,
            flushes,
            replay,
            error: None,
            at: Position::start(replay),
        }
    }

    /// Excludes the requests of the first `files` files of the source from the measurements.
    pub(super) fn warm_up_by_files(&mut self, files: u32) {
        self.at.warm_up = Some((files, None));
    }
    /// Returns `true` if no request of the unmeasured files is left to issue.
    pub(super) fn is_past_files(&mut self) -> bool {
        let first = self.at.warm_up.and_then(|(_, first)| first);
        !self.has_more() || first.is_some_and(|first| self.at.number >= first)
    }
    /// Starts measuring: counts and times cover the requests from the next one on.
    pub(super) fn begin_measuring(&mut self) {
        self.fill();
        self.at.unmeasured = self.counts();
        self.at.first_arrival = None;
        let ahead = self.at.ahead.as_ref();
        if let (Some((first, _)), Some(ahead)) = (&mut self.at.recorded, ahead) {
            *first = ahead.arrival;
        }
        self.at.trend = Trend::default();
    }

    /// Resumes a stream. The source is at its start and is read up to the saved position. Fails if
    /// the source cannot be read, if its digest differs from the saved one, or if it ends at
    /// another position.
    pub(super) fn resume(&mut self, state: IntakeState<Position>) -> Result<(), SimulationError> {
        let IntakeState { at, read_digest } = state;
        for _ in 0..at.taken() {
            if self.source.next_request()?.is_none() {
                return Err(SimulationError::ChangedInput);
            }
        }
        let more = at.ended && self.source.next_request()?.is_some();
        if more || self.source.read_digest() != read_digest {
            return Err(SimulationError::ChangedInput);
        }
        self.at = at;
        Ok(())
    }
    /// Returns the state of the intake.
    pub(super) fn state(&self) -> IntakeState<&Position> {
        IntakeState {
            at: &self.at,
            read_digest: self.source.read_digest(),
        }
    }

    /// Returns the earliest time at which the host can issue the next request; `None` if there is
    /// none, or if it waits for a completion.
    #[inline(always)]
    pub(super) fn next_arrival(&mut self) -> Option<Time> {
        self.fill();
        let arrival = self.at.ahead.as_ref()?.arrival;
        match self.replay {
            Replay::OpenLoop { .. } => Some(arrival),
            Replay::ClosedLoop { .. } => self.at.tokens.front().copied(),
            Replay::ThinkTime { .. } => {
                let before = self.at.recorded.map_or(Time::ZERO, |(_, last)| last);
                let complete = self.at.tokens.front()?;
                Some(*complete + arrival.since(before))
            }
        }
    }
    /// Returns the next request, to be issued at `arrival`.
    #[inline(always)]
    pub(super) fn next(&self, arrival: Time) -> Option<Request> {
        self.at.ahead.map(|ahead| Request { arrival, ..ahead })
    }
    /// Returns `true` if there is another request, even if it waits for an earlier one.
    #[inline]
    pub(super) fn has_more(&mut self) -> bool {
        self.fill();
        self.at.ahead.is_some()
    }
    #[inline]
    pub(super) fn take(&mut self, request: &Request) {
        if let Some(ahead) = self.at.ahead.take() {
            self.at
                .recorded
                .get_or_insert((ahead.arrival, ahead.arrival))
                .1 = ahead.arrival;
        }
        self.at.tokens.pop_front();
        self.at.first_arrival.get_or_insert(request.arrival);
        self.at.issued[request.op as usize] += 1;
        self.at.durable_writes += u64::from(request.fua && request.op == Op::Write);
    }
    pub(super) fn counts(&self) -> InputCounts {
        let [reads, writes, trims, flushes] = self.at.issued;
        InputCounts {
            reads,
            writes,
            durable_writes: self.at.durable_writes,
            trims,
            flushes,
            lost: self.at.lost,
            flushes_ignored: self.at.flushes_ignored,
        }
    }
    /// Returns `true` if the replay needs time stamps that the source does not have.
    pub(super) fn is_untimed(&self) -> bool {
        !matches!(self.replay, Replay::ClosedLoop { .. }) && !self.source.timed()
    }
    /// Returns `true` if the next request waits for a completion.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        !matches!(self.replay, Replay::OpenLoop { .. }) && self.at.tokens.is_empty()
    }
    /// Returns `true` if response times are sampled, which is the case in an open loop.
    #[inline]
    pub(super) fn samples_responses(&self) -> bool {
        matches!(self.replay, Replay::OpenLoop { .. })
    }
    /// Handles a completed request whose [`Completion`] is known. An open loop samples its response
    /// time; otherwise, [`Self::completed`] handles the request. Returns `true` if a closed loop
    /// ends.
    #[inline]
    pub(super) fn served(&mut self, now: Time, done: &Completion) -> bool {
        if let Replay::OpenLoop { .. } = self.replay {
            self.at.trend.completed(|| done.parts.total());
            return false;
        }
        self.completed(now)
    }
    /// Handles a completed request: a closed loop may issue the next one, or ends. Returns `true`
    /// if it ends.
    #[inline]
    pub(super) fn completed(&mut self, now: Time) -> bool {
        if let Replay::OpenLoop { .. } = self.replay {
            return false;
        }
        if self.until == Time::MAX {
            self.at.tokens.push_back(now);
            return false;
        }
        self.completed_before_end(now)
    }
    #[cold]
    fn completed_before_end(&mut self, now: Time) -> bool {
        let (instant, completions) = &mut self.at.at_once;
        if now > *instant {
            (*instant, *completions) = (now, 0);
        }
        *completions += 1;
        if now < self.until && *completions <= MAX_AT_ONCE {
            self.at.tokens.push_back(now);
            return false;
        }
        if now < self.until {
            self.error = Some(WorkloadError::new(
                Path::new("workload.duration_s"),
                format!(
                    "more than {MAX_AT_ONCE} requests took no time at a simulated time of {} s, so the load would never end",
                    now.as_secs()
                ),
                "reads and TRIMs of pages that were never written take no time; raise precondition.fill_ratio, \
                 or set workload.requests instead of workload.duration_s",
            ));
        }
        let open = self.at.ahead.is_some() || self.at.open;
        self.close();
        open
    }
    /// Returns the consumed share of the input, or the elapsed share of the time until its end,
    /// whichever is larger; `None` if the source does not know its share.
    pub(super) fn fraction(&self, now: Time) -> Option<f64> {
        let of_time = now.0 as f64 / self.until.0 as f64;
        Some(self.source.fraction()?.max(of_time).min(1.0))
    }
    pub(super) fn issued_so_far(&self) -> Issued {
        Issued {
            is_live: self.source.is_live(),
            replay: self.replay,
            counts: self.counts().since(&self.at.unmeasured),
            unmeasured: self.at.unmeasured.issued(),
            first_arrival: self.at.first_arrival,
            recorded: self.at.recorded.filter(|_| {
                self.source.timed() && !matches!(self.replay, Replay::ThinkTime { .. })
            }),
            response_quarters: self.at.trend.quarters(),
        }
    }
    /// Drops the requests that have been fetched but not issued.
    pub(super) fn drop_next(&mut self) {
        self.at.dropped += self.at.held();
        self.at.ahead = None;
        self.at.beyond.clear();
    }
    /// Stops issuing requests.
    pub(super) fn close(&mut self) {
        self.drop_next();
        self.at.open = false;
    }
    /// Appends up to `most` of the next requests to `upcoming`, if their times are known.
    pub(super) fn look_ahead(&mut self, most: usize, upcoming: &mut Vec<Request>) {
        let Replay::OpenLoop { .. } = self.replay else {
            return;
        };
        self.fill();
        while self.at.beyond.len() + 1 < most && self.at.open {
            match self.fetch() {
                Some(request) => self.at.beyond.push_back((request, self.at.fetched - 1)),
                None => break,
            }
        }
        let beyond = self.at.beyond.iter().map(|(request, _)| request);
        upcoming.extend(self.at.ahead.iter().chain(beyond).take(most));
    }

    #[inline]
    pub(super) fn fill(&mut self) {
        if self.at.ahead.is_none() {
            self.advance();
        }
    }
    #[inline(never)]
    pub(super) fn advance(&mut self) {
        if let Some((request, number)) = self.at.beyond.pop_front() {
            (self.at.ahead, self.at.number) = (Some(request), number);
        } else if self.at.open {
            self.at.ahead = self.fetch();
            self.at.number = self.at.fetched.saturating_sub(1);
        }
    }
    #[inline(always)]
    pub(super) fn fetch(&mut self) -> Option<Request> {
        loop {
            let next = match self.source.next_request() {
                Ok(Some(next)) => next,
                Ok(None) if self.source.is_pending() => return None,
                Ok(None) => {
                    (self.at.open, self.at.ended) = (false, true);
                    return None;
                }
                Err(error) => {
                    self.error = Some(error);
                    self.at.open = false;
                    return None;
                }
            };
            self.at.fetched += 1;
            if let Some((files, first @ None)) = &mut self.at.warm_up
                && self.source.file() >= *files
            {
                *first = Some(self.at.fetched - 1);
            }
            if next.op == Op::Flush && !self.flushes {
                self.at.flushes_ignored += 1;
                continue;
            }
            let arrival = match self.replay {
                Replay::OpenLoop { time_scale } | Replay::ThinkTime { time_scale }
                    if time_scale != 1.0 =>
                {
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
