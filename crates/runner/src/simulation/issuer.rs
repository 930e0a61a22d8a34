//! The issuer: takes requests from all streams and submits them to the store.

use super::contention::Contention;
use super::intake::{Input, Intake, IntakeState, Position};
use super::watch::{Phase, Progress};
use crate::error::SimulationError;
use serde::{Deserialize, Serialize};
use wordline_block::{BlockDevice, Completion, Request, Ticket};
use wordline_config::Plan;
use wordline_config::plan::WarmUp;
use wordline_kernel::{Context, Probe, Time};
use wordline_recorder::Recorder;
use wordline_workload::WorkloadError;

/// Returns the earliest time at which a stream has a request, or [`Time::MAX`]. Also returns the
/// first request that the device can accept, as stream and time. If times are equal, the first
/// stream wins.
#[inline(never)]
pub(super) fn earliest(
    intakes: &mut [Intake<'_>],
    store: &impl BlockDevice,
) -> (Time, Option<(usize, Time)>) {
    let mut soonest = Time::MAX;
    let mut first: Option<(usize, Time)> = None;
    for (place, intake) in intakes.iter_mut().enumerate() {
        let Some(arrival) = intake.next_arrival() else {
            continue;
        };
        soonest = soonest.min(arrival);
        if first.is_none_or(|(_, first)| arrival < first) && store.can_accept(intake.stream) {
            first = Some((place, arrival));
        }
    }
    (soonest, first)
}

/// State of the host: as values, or as references for writing. The fields are those of [`Host`]
/// unless described.
#[derive(Serialize, Deserialize)]
pub(super) struct HostParts<Stream, Contended, Numbers> {
    streams: Vec<Stream>,
    soonest: Time,
    calm_until: Time,
    left: u64,
    contention: Contended,
    numbers: Option<Numbers>,
    /// Whether the warm-up is in progress.
    is_warming_up: bool,
}

/// State of the host, as read from a file.
pub(super) type HostState = HostParts<IntakeState<Position>, Contention, Vec<u64>>;

/// Returns the warm-up whose end the host detects. The event loop handles a warm-up that ends at a
/// simulated time.
fn warm_up(plan: &Plan) -> Option<WarmUp> {
    let warm_up = plan.observe.warm_up;
    warm_up.filter(|warm_up| !matches!(warm_up, WarmUp::Until(_)))
}

/// The host: all streams that issue requests to the store.
pub(super) struct Host<'a> {
    pub(super) intakes: Vec<Intake<'a>>,
    /// Requests that may still be issued. Count.
    pub(super) left: u64,
    /// Time before which no request is issued, unless an earlier request completes.
    pub(super) soonest: Time,
    /// Time before which no sample, end of the warm-up or end of the clock is due.
    pub(super) calm_until: Time,
    pub(super) contention: Contention,
    /// Warm-up in progress, unless it ends at a simulated time.
    warm_up: Option<WarmUp>,
    /// Index of the request in the input of its stream, by ticket of the store; `None` if rows are
    /// not recorded.
    numbers: Option<Vec<u64>>,
}

impl<'a> Host<'a> {
    pub(super) fn new(plan: &Plan, inputs: Vec<Input<'a>>, max_requests: Option<u64>) -> Self {
        let flushes = plan.takes_flushes();
        let streams = inputs.into_iter().zip(0..);
        let mut host = Self {
            warm_up: warm_up(plan),
            intakes: streams
                .map(|(input, stream)| Intake::new(input, stream, flushes))
                .collect(),
            left: max_requests.unwrap_or(u64::MAX),
            soonest: Time::ZERO,
            calm_until: Time::ZERO,
            contention: Contention::default(),
            numbers: None,
        };
        if let Some(WarmUp::Files(files)) = host.warm_up {
            let intakes = host.intakes.iter_mut();
            intakes.for_each(|intake| intake.warm_up_by_files(files));
        }
        if host.left == 0 {
            host.close();
        }
        if host.intakes.len() > 1 {
            host.contention.active = host.intakes.iter_mut().map(Intake::has_more).collect();
        }
        host
    }
    /// Restores the host of a resumed run from its saved state.
    pub(super) fn resume(
        plan: &Plan,
        inputs: Vec<Input<'a>>,
        state: HostState,
    ) -> Result<Self, SimulationError> {
        let flushes = plan.takes_flushes();
        let HostState {
            streams,
            soonest,
            calm_until,
            left,
            contention,
            numbers,
            is_warming_up,
        } = state;
        let mut intakes = Vec::new();
        for ((input, at), stream) in inputs.into_iter().zip(streams).zip(0..) {
            let mut intake = Intake::new(input, stream, flushes);
            intake.resume(at)?;
            intakes.push(intake);
        }
        Ok(Self {
            intakes,
            left,
            soonest,
            calm_until,
            contention,
            numbers,
            warm_up: warm_up(plan).filter(|_| is_warming_up),
        })
    }
    /// Returns the state of the host.
    pub(super) fn state(&self) -> HostParts<IntakeState<&Position>, &Contention, &[u64]> {
        HostParts {
            streams: self.intakes.iter().map(Intake::state).collect(),
            soonest: self.soonest,
            calm_until: self.calm_until,
            left: self.left,
            contention: &self.contention,
            numbers: self.numbers.as_deref(),
            is_warming_up: self.warm_up.is_some(),
        }
    }
    pub(super) fn close(&mut self) {
        self.intakes.iter_mut().for_each(Intake::close);
    }
    /// Returns the error of a stream whose replay needs time stamps that it does not have.
    pub(super) fn untimed(&self, plan: &Plan) -> Option<SimulationError> {
        let intake = self.intakes.iter().find(|intake| intake.is_untimed())?;
        let own = plan.streams.get(intake.stream as usize);
        Some(SimulationError::Untimed(own.map_or_else(
            || "replay".to_owned(),
            |stream| format!("streams.{}.replay", stream.name),
        )))
    }
    /// Returns the error that prevents the run from starting: a faulty or an empty input.
    pub(super) fn fault(&mut self) -> Option<SimulationError> {
        let more = self
            .intakes
            .iter_mut()
            .filter_map(|intake| intake.has_more().then_some(()))
            .count();
        if let Some(error) = self.error() {
            return Some(error.into());
        }
        (more == 0).then(|| {
            SimulationError::Empty(
                "the input has no read or write; check the trace, and --volumes if it selects a volume".into(),
            )
        })
    }
    /// Removes and returns the error of the first stream whose source has one.
    pub(super) fn error(&mut self) -> Option<WorkloadError> {
        self.intakes
            .iter_mut()
            .find_map(|intake| intake.error.take())
    }
    /// Returns the stream and time of the first request that the device accepts. If times are
    /// equal, the first stream wins.
    #[inline(always)]
    pub(super) fn next_arrival(&mut self, store: &impl BlockDevice) -> Option<(usize, Time)> {
        let first;
        (self.soonest, first) = match self.intakes.as_mut_slice() {
            [single] => {
                let arrival = single.next_arrival();
                let first = arrival
                    .filter(|_| store.can_accept(0))
                    .map(|arrival| (0, arrival));
                (arrival.unwrap_or(Time::MAX), first)
            }
            several => earliest(several, store),
        };
        first
    }
    /// Returns the next request if it is due by `due`. It is issued at its arrival or at `now`,
    /// whichever is later.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        store: &impl BlockDevice,
        now: Time,
        due: Time,
    ) -> Option<Request> {
        let (stream, arrival) = self.next_arrival(store)?;
        if arrival.max(now) > due {
            return None;
        }
        self.intakes[stream].next(arrival)
    }
    /// Returns `true` if the warm-up ends before the next request.
    #[inline]
    pub(super) fn ends_warm_up(&mut self) -> bool {
        match self.warm_up {
            None => false,
            Some(warm_up) => self.is_over(warm_up),
        }
    }
    #[cold]
    fn is_over(&mut self, warm_up: WarmUp) -> bool {
        match warm_up {
            WarmUp::Until(_) => false,
            WarmUp::Requests(requests) => self.issued() >= requests,
            WarmUp::Files(_) => self.intakes.iter_mut().all(Intake::is_past_files),
        }
    }
    /// Returns `true` during a warm-up whose end the host detects.
    pub(super) fn warms_up(&self) -> bool {
        self.warm_up.is_some()
    }
    /// Ends the warm-up: requests are counted from now on.
    pub(super) fn begin_measuring(&mut self) {
        self.warm_up = None;
        (self.soonest, self.calm_until) = (Time::ZERO, Time::ZERO);
        self.intakes.iter_mut().for_each(Intake::begin_measuring);
        if self.intakes.len() > 1 {
            let active = self.intakes.iter_mut().map(Intake::has_more).collect();
            self.contention.begin_measuring(active);
        }
    }
    /// Starts recording the indices of requests, for their rows.
    pub(super) fn keep_numbers(&mut self) {
        self.numbers = Some(Vec::new());
    }
    #[cold]
    fn keep_number(&mut self, stream: u32, ticket: Ticket) {
        let number = self.intakes[stream as usize].at.number;
        if let Some(numbers) = &mut self.numbers {
            let place = ticket as usize;
            if numbers.len() <= place {
                numbers.resize(place + 1, 0);
            }
            numbers[place] = number;
        }
    }
    /// Records that the device has accepted the next request under a ticket.
    #[inline]
    pub(super) fn take(
        &mut self,
        now: Time,
        (request, ticket): (&Request, Ticket),
        recorder: &Recorder,
    ) {
        if self.numbers.is_some() {
            self.keep_number(request.stream, ticket);
        }
        let [single] = self.intakes.as_mut_slice() else {
            self.soonest = Time::ZERO;
            return self.take_of_several(now, request, recorder);
        };
        single.take(request);
        self.soonest = if single.waits() {
            self.calm_until
        } else {
            Time::ZERO
        };
        self.left -= 1;
        if self.left == 0 {
            self.close();
        }
    }
    /// Announces the next request of a stream to the store.
    #[inline]
    pub(super) fn prefetch(&mut self, stream: u32, store: &mut impl BlockDevice) {
        let intake = &mut self.intakes[stream as usize];
        if intake.has_more()
            && let Some(next) = &intake.at.ahead
        {
            store.prefetch(next);
        }
    }
    #[inline(never)]
    pub(super) fn take_of_several(&mut self, now: Time, request: &Request, recorder: &Recorder) {
        let intake = &mut self.intakes[request.stream as usize];
        if intake.at.first_arrival.is_none() {
            self.contention.begin(now, recorder);
        }
        intake.take(request);
        let faulty = !intake.has_more() && intake.error.is_some();
        self.left -= 1;
        if self.left == 0 || faulty {
            self.close();
        }
        if !self.intakes[request.stream as usize].has_more() {
            self.contention.end(now, recorder);
        }
    }
    #[inline(always)]
    pub(super) fn completed(
        &mut self,
        now: Time,
        store: &mut impl BlockDevice,
        recorder: &mut Recorder,
    ) {
        if store.has_completions() {
            self.handle_completed(now, store, recorder);
        }
    }
    /// Sets the request index of a row. Rows and completions are in the same order.
    #[cold]
    fn number_row(numbers: &[u64], done: &Completion, recorder: &mut Recorder) {
        recorder.number_row(numbers.get(done.ticket as usize).copied());
    }
    #[inline]
    fn handle_completed(
        &mut self,
        now: Time,
        store: &mut impl BlockDevice,
        recorder: &mut Recorder,
    ) {
        self.soonest = Time::ZERO;
        let [single] = self.intakes.as_mut_slice() else {
            return self.handle_of_several(now, store, recorder);
        };
        if self.numbers.is_some() || single.samples_responses() {
            return self.handle_each(now, store, recorder);
        }
        for _ in store.completions() {
            single.completed(now);
        }
    }
    /// Handles completions of a single stream if their response times or indices are needed.
    /// Copying each completion would dominate the cost of a closed loop without rows.
    #[inline(never)]
    fn handle_each(&mut self, now: Time, store: &mut impl BlockDevice, recorder: &mut Recorder) {
        let [single] = self.intakes.as_mut_slice() else {
            return;
        };
        for done in store.completions() {
            single.served(now, &done);
            if let Some(numbers) = &self.numbers {
                Self::number_row(numbers, &done, recorder);
            }
        }
    }
    /// Handles the completions of a live run, which has one stream, and passes each to `pass_on`.
    pub(super) fn completed_live(
        &mut self,
        now: Time,
        store: &mut impl BlockDevice,
        recorder: &mut Recorder,
        mut pass_on: impl FnMut(&Completion),
    ) {
        for done in store.completions() {
            self.intakes[0].served(now, &done);
            if let Some(numbers) = &self.numbers {
                Self::number_row(numbers, &done, recorder);
            }
            pass_on(&done);
        }
    }
    #[inline(never)]
    fn handle_of_several(
        &mut self,
        now: Time,
        store: &mut impl BlockDevice,
        recorder: &mut Recorder,
    ) {
        for done in store.completions() {
            if let Some(numbers) = &self.numbers {
                Self::number_row(numbers, &done, recorder);
            }
            if self.intakes[done.stream as usize].served(now, &done) {
                self.contention.end(now, recorder);
            }
        }
    }
    /// Handles a power cut: requests in progress are lost, and closed loops continue with the next.
    /// Passes each lost request to `pass_on`.
    pub(super) fn lost(
        &mut self,
        now: Time,
        store: &mut impl BlockDevice,
        mut pass_on: impl FnMut(&Completion),
    ) {
        self.soonest = Time::ZERO;
        for done in store.completions() {
            pass_on(&done);
            let intake = &mut self.intakes[done.stream as usize];
            intake.at.lost += 1;
            intake.completed(now);
        }
    }
    /// Drops the request that a live run, which has one stream, would submit next.
    pub(super) fn drop_next(&mut self) {
        self.soonest = Time::ZERO;
        self.intakes[0].drop_next();
    }
    /// Counts submitted requests of a live run that a power cut has cancelled.
    pub(super) fn cancelled(&mut self, requests: u64) {
        self.intakes[0].at.lost += requests;
    }
    /// Announces the next requests to the device, as many as it looks ahead.
    #[cold]
    pub(super) fn look_ahead<S: BlockDevice>(
        &mut self,
        cx: &mut Context<'_, S::Event, impl Probe<S::Observation>>,
        store: &mut S,
    ) {
        let most = store.lookahead_depth() as usize;
        let mut upcoming = Vec::with_capacity(most * self.intakes.len());
        for intake in &mut self.intakes {
            intake.look_ahead(most, &mut upcoming);
        }
        upcoming.sort_by_key(|request| request.arrival);
        upcoming.truncate(most);
        store.look_ahead(cx, &upcoming);
    }
    pub(super) fn progress(&self, now: Time) -> Progress {
        Progress {
            phase: Phase::Run,
            now,
            done: self.issued(),
            fraction: self.fraction(now),
        }
    }
    /// Returns the number of issued requests.
    pub(super) fn issued(&self) -> u64 {
        self.intakes
            .iter()
            .map(|intake| intake.counts().issued())
            .sum()
    }
    /// Returns the mean share of the inputs that is consumed, if all sources know it.
    pub(super) fn fraction(&self, now: Time) -> Option<f64> {
        let fractions = self.intakes.iter().map(|intake| intake.fraction(now));
        let sum = fractions.sum::<Option<f64>>()?;
        Some(sum / self.intakes.len() as f64)
    }
}
