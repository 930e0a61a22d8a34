//! The event loop of a run: requests and events in time order.

use super::issuer::Host;
use super::power_cuts::PowerCuts;
use super::watch::{STRIDE, Watcher};
use crate::observer::{Drawn, Observer};
use crate::timeline::{Shown, Timeline};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_block::{BlockDevice, Busy, Event, Failure, Request};
use wordline_config::Plan;
use wordline_config::plan::WarmUp;
use wordline_kernel::{Context, Digest, EventQueue, Time};
use wordline_recorder::Lanes;
use wordline_recorder::chip_load::ChipLoads;
use wordline_state::Kept;
use wordline_workload::WorkloadError;

/// End of simulated time, after 103 days. No event scheduled before it can overflow the clock, and
/// every time fits a signed number in a table.
pub(super) const CLOCK_END: Time = Time((1 << 63) - (1 << 58));

pub(super) const CLOCK_ENDED: &str = "simulated time has reached its end after 103 days; give the run fewer requests, or shorten the \
                           pauses of a trace (--time-gaps cut=1s, replay.mode.open-loop.time_scale)";

/// Reason why a run ended early, or measured nothing.
#[derive(Debug, Error)]
pub(super) enum Stop {
    #[error("{CLOCK_ENDED}")]
    Clock,
    #[error("interrupted")]
    Interrupted,
    #[error(
        "the run ended during its warm-up, so nothing was measured; shorten the warm-up ([observe]), or give the run more requests"
    )]
    WarmUp,
    #[error(transparent)]
    Workload(WorkloadError),
    /// Error message of the store.
    #[error("{0}")]
    Store(String),
}

impl Stop {
    /// Returns the reason for an error of the input.
    pub(super) fn of_source(error: WorkloadError) -> Self {
        if error.is_interruption() {
            return Self::Interrupted;
        }
        Self::Workload(error)
    }
    /// Returns the reason for an error of the store.
    pub(super) fn of(error: &impl Failure) -> Self {
        if error.is_interruption() {
            return Self::Interrupted;
        }
        Self::Store(error.to_string())
    }
}

/// Event counter that reports the end of each stride.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Count {
    /// Events in earlier strides.
    pub(super) before: u64,
    pub(super) stride: u32,
    /// Events left in this stride.
    pub(super) left: u32,
}

impl Count {
    pub(super) fn new(stride: u32) -> Self {
        Self {
            before: 0,
            stride,
            left: stride,
        }
    }
    pub(super) fn total(&self) -> u64 {
        self.before + u64::from(self.stride - self.left)
    }
    /// Counts an event; returns `true` if it was the last of its stride.
    #[inline]
    pub(super) fn ends(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }
    pub(super) fn begin(&mut self) {
        self.before = self.total();
        self.left = self.stride;
    }
}

/// Reads the busy times of buses and dies into a reused buffer.
pub(super) fn read<'a>(busy: &'a mut Busy, store: &impl BlockDevice) -> Lanes<'a> {
    busy.buses.clear();
    busy.dies.clear();
    store.busy(busy);
    Lanes {
        buses: &busy.buses,
        dies: &busy.dies,
    }
}

/// State of the loop, and the reason for its end.
#[derive(Serialize, Deserialize)]
pub(super) struct LoopEnd {
    pub(super) now: Time,
    pub(super) events: Count,
    pub(super) digest: Digest,
    #[serde(skip)]
    pub(super) stop: Option<Stop>,
    pub(super) chip_loads: Option<ChipLoads>,
    #[serde(skip)]
    pub(super) busy: Busy,
    /// Time of the next sample, or of the end of the warm-up if that is earlier. Time zero until
    /// it is determined.
    pub(super) next_look: Time,
    /// End of the warm-up in progress, if it ends at a simulated time; otherwise [`Time::MAX`].
    warm_until: Time,
    /// End of the warm-up, if there was one.
    pub(super) measured_from: Option<Time>,
}

impl LoopEnd {
    pub(super) fn new(stop: Option<Stop>) -> Self {
        Self {
            now: Time::ZERO,
            events: Count::new(STRIDE),
            digest: Digest::default(),
            stop,
            chip_loads: None,
            busy: Busy::default(),
            next_look: Time::ZERO,
            warm_until: Time::MAX,
            measured_from: None,
        }
    }
    /// Returns a copy of the state that the results need, as if the run ended now.
    pub(super) fn so_far(&self) -> Self {
        Self {
            now: self.now,
            events: self.events,
            digest: self.digest,
            chip_loads: self.chip_loads.clone(),
            measured_from: self.measured_from,
            ..Self::new(None)
        }
    }
    fn looking(plan: &Plan, stride: u32) -> Self {
        Self {
            events: Count::new(stride),
            chip_loads: plan
                .observe
                .chip_load_interval
                .filter(|_| plan.ssds().next().is_some())
                .map(ChipLoads::every),
            warm_until: match plan.observe.warm_up {
                Some(WarmUp::Until(end)) => end,
                _ => Time::MAX,
            },
            ..Self::new(None)
        }
    }
    /// Ends the warm-up at `at`, which is not later than the next event.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_measuring<S: BlockDevice>(
        &mut self,
        at: Time,
        store: &mut S,
        host: &mut Host<'_>,
        observer: &mut impl Observer<S::Observation>,
    ) {
        self.warm_until = Time::MAX;
        self.measured_from = Some(at);
        store.begin_measuring(at);
        observer.begin_measuring(at, read(&mut self.busy, store));
        host.begin_measuring();
        if let Some(loads) = &mut self.chip_loads {
            loads.begin_measuring();
        }
        self.next_look = Time::ZERO;
    }
    /// Mixes a request that is submitted now into the digest.
    #[inline(always)]
    pub(super) fn mix_request(&mut self, request: &Request) {
        self.digest.mix(self.now.0);
        self.digest.mix(request.offset);
        self.digest.mix(request.bytes);
        self.digest
            .mix(u64::from(request.stream) << 32 | u64::from(request.fua) << 8 | request.op as u64);
    }
    /// Returns the time up to which only requests and device events are due. At this time, a
    /// sample, the end of the warm-up or the end of the clock is due.
    pub(super) fn uneventful_until(&self) -> Time {
        self.next_look.min(CLOCK_END)
    }
    /// Takes due samples, and ends a due warm-up, before something happens at `until`.
    #[inline]
    pub(super) fn look<S: BlockDevice>(
        &mut self,
        until: Time,
        store: &mut S,
        host: &mut Host<'_>,
        observer: &mut impl Observer<S::Observation>,
    ) {
        if self.next_look < until {
            self.look_now(until, store, host, observer);
        }
    }
    #[cold]
    #[inline(never)]
    fn look_now<S: BlockDevice>(
        &mut self,
        until: Time,
        store: &mut S,
        host: &mut Host<'_>,
        observer: &mut impl Observer<S::Observation>,
    ) {
        if self.warm_until < until {
            self.begin_measuring(self.warm_until, store, host, observer);
        }
        if let Some(loads) = &mut self.chip_loads
            && loads.next() < until
        {
            loads.look(until, |times| store.die_backlog(times));
        }
        if observer.next_look() < until {
            observer.look(until, read(&mut self.busy, store));
        }
        let loads = self.chip_loads.as_ref();
        let next = loads.map_or(Time::MAX, ChipLoads::next);
        self.next_look = next.min(observer.next_look()).min(self.warm_until);
    }
    /// Discards the operations in progress on buses and dies from the busy times.
    pub(super) fn break_off<S: BlockDevice>(
        &mut self,
        store: &S,
        observer: &mut impl Observer<S::Observation>,
    ) {
        observer.break_off(self.now, read(&mut self.busy, store));
    }
}

/// State of the loop without store and host: as values, or as references for writing.
#[derive(Serialize, Deserialize)]
pub(super) struct LoopParts<End, Queue, Cuts> {
    pub(super) ended: End,
    pub(super) queue: Queue,
    cuts: Option<Cuts>,
    /// Whether the loop has announced the first requests to the store.
    begun: bool,
}

/// State of the loop as values, with events `E`.
pub(super) type LoopState<E> = LoopParts<LoopEnd, EventQueue<E>, PowerCuts>;

impl<E: Copy + Default> LoopState<E> {
    pub(super) fn start(plan: &Plan, watcher: &Watcher<'_>, cuts: Option<PowerCuts>) -> Self {
        // A power cut may follow any event.
        let stride = if cuts.is_some() { 1 } else { watcher.stride };
        Self {
            ended: LoopEnd::looking(plan, stride),
            queue: EventQueue::default(),
            cuts,
            begun: false,
        }
    }
}

/// Serves the requests of a host, and reads the busy times at the end.
pub(super) fn simulate<S, O>(
    store: &mut S,
    host: &mut Host<'_>,
    observer: &mut O,
    watcher: &mut Watcher<'_>,
    state: LoopState<S::Event>,
) -> LoopEnd
where
    S: BlockDevice<Event: Serialize> + Kept,
    O: Observer<S::Observation> + Serialize,
{
    if !state.begun {
        store.begin_measuring(Time::ZERO);
        if observer.recorder().keeps_rows() {
            host.keep_numbers();
        }
    }
    let ended = serve(store, host, observer, watcher, state);
    finish(store, host, observer, ended)
}

/// Completes the records of a loop that has ended.
pub(super) fn finish<S: BlockDevice>(
    store: &mut S,
    host: &mut Host<'_>,
    observer: &mut impl Observer<S::Observation>,
    mut ended: LoopEnd,
) -> LoopEnd {
    // After an error, completions of the same instant must still be taken.
    host.completed(ended.now, store, observer.recorder_mut());
    if host.warms_up() || ended.warm_until < Time::MAX {
        ended.stop.get_or_insert(Stop::WarmUp);
        ended.begin_measuring(ended.now, store, host, observer);
    }
    ended.break_off(store, observer);
    ended
}

/// Simulates a run, and draws its timeline if it has one.
pub(super) fn simulate_drawn<S, O>(
    store: &mut S,
    host: &mut Host<'_>,
    mut observer: O,
    timeline: Option<Box<Timeline>>,
    watcher: &mut Watcher<'_>,
    state: LoopState<S::Event>,
) -> (LoopEnd, O, Option<Box<Timeline>>)
where
    S: BlockDevice<Event: Serialize, Observation: Shown> + Kept,
    O: Observer<S::Observation> + Serialize,
{
    let Some(timeline) = timeline else {
        let ended = simulate(store, host, &mut observer, watcher, state);
        return (ended, observer, None);
    };
    let mut drawn = Drawn { observer, timeline };
    let ended = simulate(store, host, &mut drawn, watcher, state);
    (ended, drawn.observer, Some(drawn.timeline))
}

/// Runs the event loop. Never inlined, so that the benchmarks can count it alone.
#[inline(never)]
pub(super) fn serve<S, O>(
    store: &mut S,
    host: &mut Host<'_>,
    observer: &mut O,
    watcher: &mut Watcher<'_>,
    state: LoopState<S::Event>,
) -> LoopEnd
where
    S: BlockDevice<Event: Serialize> + Kept,
    O: Observer<S::Observation> + Serialize,
{
    let LoopState {
        mut ended,
        mut queue,
        mut cuts,
        begun,
    } = state;
    let stride = ended.events.stride;
    let cx = &mut Context::new(ended.now, &mut queue, observer);
    let looks_ahead = store.lookahead_depth() > 0;
    if looks_ahead && !begun {
        host.look_ahead(cx, store);
    }
    loop {
        let due = cx.queue.next_time().unwrap_or(Time::MAX);
        if due >= host.soonest {
            if let Some(request) = host.next(store, ended.now, due) {
                let before_arrival = ended.now;
                ended.now = ended.now.max(request.arrival);
                if ended.now > CLOCK_END {
                    ended.now = before_arrival;
                    ended.stop = Some(Stop::Clock);
                    return ended;
                }
                cx.now = ended.now;
                ended.look(ended.now, store, host, cx.probe);
                if host.ends_warm_up() {
                    ended.begin_measuring(ended.now, store, host, cx.probe);
                }
                ended.mix_request(&request);
                let ticket = match store.submit(cx, request) {
                    Ok(ticket) => ticket,
                    Err(error) => {
                        ended.stop = Some(Stop::of(&error));
                        return ended;
                    }
                };
                host.take(ended.now, (&request, ticket), cx.probe.recorder());
                host.prefetch(request.stream, store);
                if looks_ahead {
                    host.look_ahead(cx, store);
                }
                host.completed(ended.now, store, cx.probe.recorder_mut());
                if watcher.is_due(1) && !goes_on(store, host, cx, watcher, &ended, cuts.as_ref()) {
                    ended.stop = Some(Stop::Interrupted);
                    return ended;
                }
                continue;
            }
            if due == Time::MAX {
                break;
            }
            if due > CLOCK_END {
                ended.stop = Some(Stop::Clock);
                return ended;
            }
            ended.look(due, store, host, cx.probe);
            host.calm_until = ended.uneventful_until() + Time(1);
            host.soonest = host.soonest.min(host.calm_until);
        }
        let Some((now, event)) = cx.queue.pop() else {
            break;
        };
        ended.now = now;
        cx.now = now;
        ended.digest.mix(now.0);
        event.mix(&mut ended.digest);
        if let Err(error) = store.handle(cx, event) {
            ended.events.ends();
            ended.stop = Some(Stop::of(&error));
            return ended;
        }
        host.completed(now, store, cx.probe.recorder_mut());
        if ended.events.ends() {
            ended.events.begin();
            if let Some(cuts) = &mut cuts
                && cuts.is_due(host.issued(), ended.events.total())
                && let Err(stop) = cut_power(store, host, cx, cuts, &mut ended)
            {
                ended.stop = Some(stop);
                return ended;
            }
            if watcher.is_due(stride) && !goes_on(store, host, cx, watcher, &ended, cuts.as_ref()) {
                ended.stop = Some(Stop::Interrupted);
                return ended;
            }
        }
    }
    ended.stop = host.error().map(Stop::of_source);
    ended
}

/// Reports the progress, and writes a checkpoint if one is due or the run is interrupted. Returns
/// `true` if the run continues.
#[cold]
#[inline(never)]
fn goes_on<S, O>(
    store: &S,
    host: &Host<'_>,
    cx: &Context<'_, S::Event, O>,
    watcher: &mut Watcher<'_>,
    ended: &LoopEnd,
    cuts: Option<&PowerCuts>,
) -> bool
where
    S: BlockDevice<Event: Serialize> + Kept,
    O: Serialize,
{
    let goes_on = watcher.report(&host.progress(ended.now));
    if let Some(checkpoints) = &mut watcher.checkpoints
        && (!goes_on || checkpoints.is_due())
    {
        let position = LoopParts {
            ended,
            queue: &*cx.queue,
            cuts,
            begun: true,
        };
        checkpoints.write(position, host.state(), &*cx.probe, store);
    }
    goes_on
}

/// Cuts the power. The host continues when the devices have recovered.
#[cold]
#[inline(never)]
pub(super) fn cut_power<S: BlockDevice>(
    store: &mut S,
    host: &mut Host<'_>,
    cx: &mut Context<'_, S::Event, impl Observer<S::Observation>>,
    cuts: &mut PowerCuts,
    ended: &mut LoopEnd,
) -> Result<(), Stop> {
    cuts.draw(host.issued());
    *cx.queue = EventQueue::default();
    ended.break_off(store, cx.probe);
    let cut = store.cut_power(ended.now, cx.probe);
    ended.now += cut.map_err(|error| Stop::of(&error))?.time;
    cx.now = ended.now;
    ended.digest.mix(ended.now.0);
    host.lost(ended.now, store, |_| ());
    let resumed = store.resume(cx);
    resumed.map_err(|error| Stop::of(&error))?;
    host.completed(ended.now, store, cx.probe.recorder_mut());
    if store.lookahead_depth() > 0 {
        host.look_ahead(cx, store);
    }
    Ok(())
}
