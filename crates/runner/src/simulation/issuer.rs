//! All that issue requests to the store.

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

/// When the first request could be issued, [`Time::MAX`] if there is none; and of those that the device
/// takes, the stream whose request is issued first, and when. Of equals, the first stream.
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
        if first.is_none_or(|(_, first)| arrival < first) && store.takes(intake.stream) {
            first = Some((place, arrival));
        }
    }
    (soonest, first)
}

/// Where a host is: of values, or of references to be written. The fields are those of [`Host`], if not said otherwise.
#[derive(Serialize, Deserialize)]
pub(super) struct HostParts<Stream, Contended, Numbers> {
    streams: Vec<Stream>,
    soonest: Time,
    calm_until: Time,
    left: u64,
    contention: Contended,
    numbers: Option<Numbers>,
    /// Whether the warm-up lasts.
    is_warming_up: bool,
}

/// Where a host is, as it is read.
pub(super) type HostState = HostParts<IntakeState<Position>, Contention, Vec<u64>>;

/// The warm-up that the host watches for; one that ends at a time is up to the loop.
fn warm_up(plan: &Plan) -> Option<WarmUp> {
    let warm_up = plan.observe.warm_up;
    warm_up.filter(|warm_up| !matches!(warm_up, WarmUp::Until(_)))
}

/// All that ask the device for something.
pub(super) struct Host<'a> {
    pub(super) intakes: Vec<Intake<'a>>,
    /// Requests that may still be issued.
    pub(super) left: u64,
    /// Before it there are only events, whatever the device takes, until a request is issued or completes.
    pub(super) soonest: Time,
    /// Before it nobody else has anything to do beside events.
    pub(super) calm_until: Time,
    pub(super) contention: Contention,
    /// The warm-up, while it lasts and does not end at a time.
    warm_up: Option<WarmUp>,
    /// By ticket of the store: the place of the request in the input of its stream; if rows of requests are kept.
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
    /// Goes on where a host was.
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
    /// Where it is.
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
    /// A stream that should be issued by time stamps that it does not have.
    pub(super) fn untimed(&self, plan: &Plan) -> Option<SimulationError> {
        let intake = self.intakes.iter().find(|intake| intake.is_untimed())?;
        let own = plan.streams.get(intake.stream as usize);
        Some(SimulationError::Untimed(own.map_or_else(
            || "replay".to_owned(),
            |stream| format!("streams.{}.replay", stream.name),
        )))
    }
    /// What keeps the run from beginning: a bad input, or none at all.
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
                "the input holds no read or write; check the trace, and the volume if one was chosen".into(),
            )
        })
    }
    /// The first error of a source.
    pub(super) fn error(&mut self) -> Option<WorkloadError> {
        self.intakes
            .iter_mut()
            .find_map(|intake| intake.error.take())
    }
    /// Of the requests that the device takes, the one issued first, and of equals that of the first
    /// stream: its stream, and when it is issued.
    #[inline(always)]
    pub(super) fn next_arrival(&mut self, store: &impl BlockDevice) -> Option<(usize, Time)> {
        let first;
        (self.soonest, first) = match self.intakes.as_mut_slice() {
            [single] => {
                let arrival = single.next_arrival();
                let first = arrival
                    .filter(|_| store.takes(0))
                    .map(|arrival| (0, arrival));
                (arrival.unwrap_or(Time::MAX), first)
            }
            several => earliest(several, store),
        };
        first
    }
    /// The next request, no later than `due` and no earlier than `now`; its place in time is the later
    /// of its arrival and `now`.
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
    /// Whether the warm-up ends with the request that is issued next.
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
    /// Whether it watches for the end of a warm-up.
    pub(super) fn warms_up(&self) -> bool {
        self.warm_up.is_some()
    }
    /// The warm-up is over: what is issued is counted from now on.
    pub(super) fn begin_measuring(&mut self) {
        self.warm_up = None;
        (self.soonest, self.calm_until) = (Time::ZERO, Time::ZERO);
        self.intakes.iter_mut().for_each(Intake::begin_measuring);
        if self.intakes.len() > 1 {
            let active = self.intakes.iter_mut().map(Intake::has_more).collect();
            self.contention.begin_measuring(active);
        }
    }
    /// Numbers of requests are kept from now on, for their rows.
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
    /// The device has taken the request that was next, under a ticket.
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
    /// Tells the store what follows a request of a stream.
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
            self.hear_completed(now, store, recorder);
        }
    }
    /// Numbers the row of a request. Rows and completions are in the same order.
    #[cold]
    fn number_row(numbers: &[u64], done: &Completion, recorder: &mut Recorder) {
        recorder.number_row(numbers.get(done.ticket as usize).copied());
    }
    #[inline]
    fn hear_completed(&mut self, now: Time, store: &mut impl BlockDevice, recorder: &mut Recorder) {
        self.soonest = Time::ZERO;
        let [single] = self.intakes.as_mut_slice() else {
            return self.hear_of_several(now, store, recorder);
        };
        if self.numbers.is_some() || single.samples_responses() {
            return self.hear_each(now, store, recorder);
        }
        for _ in store.completions() {
            single.completed(now);
        }
    }
    /// Completions of the only stream where their response times or their numbers are needed. Each is copied, which costs a closed
    /// loop without rows more than all else here.
    #[inline(never)]
    fn hear_each(&mut self, now: Time, store: &mut impl BlockDevice, recorder: &mut Recorder) {
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
    #[inline(never)]
    fn hear_of_several(
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
    /// The power has failed: what was under way is lost, and closed loops go on with the next.
    pub(super) fn lost(&mut self, now: Time, store: &mut impl BlockDevice) {
        self.soonest = Time::ZERO;
        for done in store.completions() {
            let intake = &mut self.intakes[done.stream as usize];
            intake.at.lost += 1;
            intake.completed(now);
        }
    }
    /// Tells the device what comes next, as far as it wants to hear of it.
    #[cold]
    pub(super) fn look_ahead<S: BlockDevice>(
        &mut self,
        cx: &mut Context<'_, S::Event, impl Probe<S::Observation>>,
        store: &mut S,
    ) {
        let most = store.tags() as usize;
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
    /// Requests issued.
    pub(super) fn issued(&self) -> u64 {
        self.intakes
            .iter()
            .map(|intake| intake.counts().issued())
            .sum()
    }
    /// Share of the input consumed, if all sources know it: their mean.
    pub(super) fn fraction(&self, now: Time) -> Option<f64> {
        let fractions = self.intakes.iter().map(|intake| intake.fraction(now));
        let sum = fractions.sum::<Option<f64>>()?;
        Some(sum / self.intakes.len() as f64)
    }
}
