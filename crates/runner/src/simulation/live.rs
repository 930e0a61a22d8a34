//! Live runs: requests arrive while the run proceeds.
//!
//! A live run and a run on its recorded requests have the same digest. A request therefore arrives
//! later than the last event that the device has handled, and not earlier than the request before.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use wordline_block::{BlockDevice, Event, Op, PowerCut, Ticket};
use wordline_kernel::{Context, EventQueue, Probe, Time};
use wordline_recorder::{Lanes, Recorder};
use wordline_results::summary::Reference;
use wordline_workload::{Request, Source, WorkloadError};

use super::event_loop::{CLOCK_END, LoopEnd, LoopState, Stop, finish, read};
use super::issuer::Host;
use super::shape::RunShape;
use super::snapshot::{Origin, Snapshot};
use super::watch::Watcher;
use crate::observer::{Observer, Summed};
use crate::timeline::Timeline;

/// Request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveRequest {
    /// Number that identifies the request when it completes.
    pub id: u64,
    /// Operation of the request.
    pub op: Op,
    /// Whether a write completes only when it is durable.
    pub fua: bool,
    /// Offset of the first byte.
    pub offset: u64,
    /// Length, at least 1; 0 for a flush. Bytes.
    pub bytes: u64,
    /// Time at which the request arrives, unless the device has already handled a later event.
    pub arrival: Time,
}

/// Next step of a live run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A request has arrived.
    Request(LiveRequest),
    /// The next event of the device is due.
    Event,
    /// There is no next step yet. The run reports its progress and calls [`Clients::turn`] again.
    Pause,
    /// The power fails. This step is allowed only in runs with power cuts on demand
    /// ([`super::Options`]).
    PowerCut,
    /// A die of the store becomes slower ([`BlockDevice::slow_die`]).
    SlowDie {
        /// Number of the die.
        die: u32,
        /// Factor of the die's array times, in thousandths, at least 1.
        slowness: u32,
    },
    /// The clients request the measurements of the run so far.
    Status,
    /// No request will follow. The device completes all requests.
    End,
}

/// Test for data that a power cut would lose now. It returns `true` for a byte range, given by its
/// offset and length, if the latest write of any of its bytes would be lost.
pub type Volatile<'a> = &'a dyn Fn(u64, u64) -> bool;

/// Clients of a live run, and its clock.
pub trait Clients {
    /// Returns the next step, and waits for it if necessary. `now` is the simulated time, and `due`
    /// the time of the device's next event, or [`Time::MAX`]. Without an event, [`Turn::Event`] is
    /// not allowed.
    fn turn(&mut self, now: Time, due: Time) -> Turn;
    /// Reports the time at which a request arrived. Requests are reported in order of arrival.
    fn arrived(&mut self, request: &Request);
    /// Reports that the store takes a request next.
    fn submitted(&mut self, _id: u64, _volatile: Volatile<'_>) {}
    /// Completes a request of the clients at `now`. `failed`: whether it ended with an error.
    fn complete(&mut self, now: Time, id: u64, failed: bool);
    /// Reports whether the store has made a die slower.
    fn slowed(&mut self, _exists: bool) {}
    /// Passes on the measurements of the run until `now`, after [`Turn::Status`].
    fn status(&mut self, _now: Time, _snapshot: Box<Snapshot>) {}
    /// Reports that power fails: no request that has arrived will complete.
    fn power_fails(&mut self, _volatile: Volatile<'_>) {}
    /// Reports the losses of a power cut, and the time at which the store has recovered.
    fn power_returns(&mut self, _now: Time, _cut: &PowerCut) {}
}

/// Number for a ticket that is not in progress.
const NO_REQUEST: u64 = u64::MAX;

/// Requests that have arrived but have not been submitted.
#[derive(Debug, Default)]
struct Waiting {
    requests: VecDeque<Request>,
    ended: bool,
}

/// Source of the requests that have arrived.
#[derive(Debug, Default)]
pub(super) struct Arrivals(Rc<RefCell<Waiting>>);

impl Source for Arrivals {
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.borrow_mut().requests.pop_front())
    }
    fn fraction(&self) -> Option<f64> {
        None
    }
    fn timed(&self) -> bool {
        true
    }
    fn is_pending(&self) -> bool {
        !self.0.borrow().ended
    }
    fn is_live(&self) -> bool {
        true
    }
}

/// Observer of a live run. If live runs used the observer type of other runs, the event handlers of
/// a device would be called in two places, and the compiler would not inline them into the event
/// loop (5 % of a run).
struct Apart<R>(R);

impl<O, R: Probe<O>> Probe<O> for Apart<R> {
    const WANTS_FRAGMENTS: bool = R::WANTS_FRAGMENTS;
    fn wants_fragments(&self) -> bool {
        self.0.wants_fragments()
    }
    fn observe(&mut self, now: Time, event: O) {
        self.0.observe(now, event);
    }
}

impl<O, R: Observer<O>> Observer<O> for Apart<R> {
    fn recorder(&self) -> &Recorder {
        self.0.recorder()
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        self.0.recorder_mut()
    }
    fn next_look(&self) -> Time {
        self.0.next_look()
    }
    fn look(&mut self, until: Time, lanes: Lanes<'_>) {
        self.0.look(until, lanes);
    }
    fn break_off(&mut self, now: Time, lanes: Lanes<'_>) {
        self.0.break_off(now, lanes);
    }
    fn begin_measuring(&mut self, now: Time, lanes: Lanes<'_>) {
        self.0.begin_measuring(now, lanes);
    }
}

/// State of a live run outside the store.
pub(super) struct Live<'a> {
    clients: &'a mut dyn Clients,
    waiting: Rc<RefCell<Waiting>>,
    /// Whether the store sees flushes. Otherwise they complete at once.
    flushes: bool,
    /// Numbers of the waiting requests, excluding flushes that the store does not see.
    ids: VecDeque<u64>,
    /// Number of the request of each ticket in progress, or [`NO_REQUEST`].
    by_ticket: Vec<u64>,
    /// Earliest time at which the next request can arrive.
    earliest: Time,
    ended: bool,
    /// Policies that are based on a paper, for the summary.
    references: Vec<Reference>,
}

impl<'a> Live<'a> {
    pub(super) fn new(
        clients: &'a mut dyn Clients,
        arrivals: &Arrivals,
        flushes: bool,
        references: Vec<Reference>,
    ) -> Self {
        Self {
            clients,
            waiting: Rc::clone(&arrivals.0),
            flushes,
            ids: VecDeque::new(),
            by_ticket: Vec::new(),
            earliest: Time::ZERO,
            ended: false,
            references,
        }
    }

    /// Simulates a live run to its end.
    pub(super) fn simulate<S: RunShape>(
        mut self,
        store: &mut S,
        host: &mut Host<'_>,
        observer: S::Recorder,
        watcher: &mut Watcher<'_>,
        state: LoopState<S::Event>,
        origin: &Origin<'_>,
    ) -> (LoopEnd, S::Recorder, Option<Box<Timeline>>) {
        store.begin_measuring(Time::ZERO);
        if observer.recorder().keeps_rows() {
            host.keep_numbers();
        }
        let mut apart = Apart(observer);
        let ended = self.serve(store, host, &mut apart, watcher, state, origin);
        let Apart(mut observer) = apart;
        let ended = finish(store, host, &mut observer, ended);
        (ended, observer, None)
    }

    /// Runs the event loop of a live run until the clients or an error end it.
    fn serve<S: RunShape>(
        &mut self,
        store: &mut S,
        host: &mut Host<'_>,
        observer: &mut Apart<S::Recorder>,
        watcher: &mut Watcher<'_>,
        state: LoopState<S::Event>,
        origin: &Origin<'_>,
    ) -> LoopEnd {
        let LoopState {
            mut ended,
            mut queue,
            ..
        } = state;
        let cx = &mut Context::new(ended.now, &mut queue, observer);
        watcher.report(&host.progress(ended.now));
        loop {
            let due = cx.queue.next_time().unwrap_or(Time::MAX);
            let mut is_due = watcher.is_due(1);
            let step = if let Some(request) = host.next(store, ended.now, due) {
                self.submit(store, host, cx, &mut ended, request)
            } else {
                match self.turn(ended.now, due) {
                    Turn::Event if due == Time::MAX => break,
                    Turn::Event => self.handle(store, host, cx, &mut ended),
                    Turn::Request(request) => {
                        self.arrive(ended.now, request);
                        Ok(())
                    }
                    Turn::Pause => {
                        is_due = true;
                        Ok(())
                    }
                    Turn::PowerCut => {
                        is_due = true;
                        self.cut_power(store, host, cx, &mut ended)
                    }
                    Turn::SlowDie { die, slowness } => {
                        let exists = store.slow_die(die, slowness);
                        self.clients.slowed(exists);
                        Ok(())
                    }
                    Turn::Status => {
                        let recorder = cx.probe.0.summed();
                        self.report(store, host, recorder, &mut ended, origin);
                        Ok(())
                    }
                    Turn::End => {
                        self.ended = true;
                        self.waiting.borrow_mut().ended = true;
                        Ok(())
                    }
                }
            };
            ended.stop = step.err();
            if is_due && ended.stop.is_none() && !watcher.report(&host.progress(ended.now)) {
                ended.stop = Some(Stop::Interrupted);
            }
            if ended.stop.is_some() {
                break;
            }
        }
        ended
    }

    fn turn(&mut self, now: Time, due: Time) -> Turn {
        if self.ended {
            return Turn::Event;
        }
        self.clients.turn(now, due)
    }

    /// Queues a request for the store.
    fn arrive(&mut self, now: Time, request: LiveRequest) {
        let LiveRequest {
            id,
            op,
            fua,
            offset,
            bytes,
            arrival,
        } = request;
        self.earliest = arrival.max(self.earliest);
        let request = Request {
            arrival: self.earliest,
            offset,
            bytes,
            volume: 0,
            op,
            fua,
        };
        self.clients.arrived(&request);
        self.waiting.borrow_mut().requests.push_back(request);
        if op == Op::Flush && !self.flushes {
            self.clients.complete(now.max(self.earliest), id, false);
        } else {
            self.ids.push_back(id);
        }
    }

    /// Submits a request to the store.
    fn submit<S, O>(
        &mut self,
        store: &mut S,
        host: &mut Host<'_>,
        cx: &mut Context<'_, S::Event, O>,
        ended: &mut LoopEnd,
        request: wordline_block::Request,
    ) -> Result<(), Stop>
    where
        S: BlockDevice,
        O: Observer<S::Observation>,
    {
        let now = ended.now.max(request.arrival);
        if now > CLOCK_END {
            return Err(Stop::Clock);
        }
        (ended.now, cx.now) = (now, now);
        ended.look(now, store, host, cx.probe);
        if host.ends_warm_up() {
            ended.begin_measuring(now, store, host, cx.probe);
        }
        ended.mix_request(&request);
        let id = self.ids.pop_front().unwrap_or(NO_REQUEST);
        let volatile = |offset, bytes| store.volatile_pages(offset, bytes) > 0;
        self.clients.submitted(id, &volatile);
        let ticket = store
            .submit(cx, request)
            .map_err(|error| Stop::of(&error))?;
        let place = ticket as usize;
        if self.by_ticket.len() <= place {
            self.by_ticket.resize(place + 1, NO_REQUEST);
        }
        self.by_ticket[place] = id;
        host.take(now, (&request, ticket), cx.probe.recorder());
        self.complete(now, store, host, cx.probe);
        Ok(())
    }

    /// Handles the next event of the store.
    fn handle<S, O>(
        &mut self,
        store: &mut S,
        host: &mut Host<'_>,
        cx: &mut Context<'_, S::Event, O>,
        ended: &mut LoopEnd,
    ) -> Result<(), Stop>
    where
        S: BlockDevice,
        O: Observer<S::Observation>,
    {
        let due = cx.queue.next_time().unwrap_or(Time::MAX);
        if due > CLOCK_END {
            return Err(Stop::Clock);
        }
        ended.look(due, store, host, cx.probe);
        let Some((now, event)) = cx.queue.pop() else {
            return Ok(());
        };
        (ended.now, cx.now) = (now, now);
        self.earliest = self.earliest.max(now + Time(1));
        ended.digest.mix(now.0);
        event.mix(&mut ended.digest);
        let handled = store.handle(cx, event);
        if ended.events.ends() {
            ended.events.begin();
        }
        handled.map_err(|error| Stop::of(&error))?;
        self.complete(now, store, host, cx.probe);
        Ok(())
    }

    /// Passes completions to the clients.
    fn complete<S: BlockDevice>(
        &mut self,
        now: Time,
        store: &mut S,
        host: &mut Host<'_>,
        observer: &mut impl Observer<S::Observation>,
    ) {
        if !store.has_completions() {
            return;
        }
        let (clients, by_ticket) = (&mut *self.clients, &mut self.by_ticket);
        host.completed_live(now, store, observer.recorder_mut(), |done| {
            let id = std::mem::replace(&mut by_ticket[done.ticket as usize], NO_REQUEST);
            clients.complete(now, id, done.failed);
        });
    }

    /// Passes the measurements of the run so far to the clients. Does not change the run;
    /// `recorder` is a copy.
    #[cold]
    #[inline(never)]
    fn report<S: RunShape>(
        &mut self,
        store: &S,
        host: &Host<'_>,
        mut recorder: S::Recorder,
        ended: &mut LoopEnd,
        origin: &Origin<'_>,
    ) {
        recorder.break_off(ended.now, read(&mut ended.busy, store));
        let measured = (ended.so_far(), recorder);
        let snapshot = Snapshot::of_live(origin, &self.references, measured, store, host);
        self.clients.status(ended.now, Box::new(snapshot));
    }

    /// Cuts the power. All requests that have arrived are lost.
    #[cold]
    #[inline(never)]
    fn cut_power<S, O>(
        &mut self,
        store: &mut S,
        host: &mut Host<'_>,
        cx: &mut Context<'_, S::Event, O>,
        ended: &mut LoopEnd,
    ) -> Result<(), Stop>
    where
        S: BlockDevice,
        O: Observer<S::Observation>,
    {
        let volatile = |offset, bytes| store.volatile_pages(offset, bytes) > 0;
        self.clients.power_fails(&volatile);
        self.waiting.borrow_mut().requests.clear();
        self.ids.clear();
        host.drop_next();
        *cx.queue = EventQueue::default();
        ended.break_off(store, cx.probe);
        let cut = store.cut_power(ended.now, cx.probe);
        let cut = cut.map_err(|error| Stop::of(&error))?;
        ended.now += cut.time;
        cx.now = ended.now;
        self.earliest = self.earliest.max(ended.now + Time(1));
        ended.digest.mix(ended.now.0);
        let by_ticket = &mut self.by_ticket;
        host.lost(ended.now, store, |lost| {
            by_ticket[lost.ticket as usize] = NO_REQUEST;
        });
        let queued = (0..).zip(&*by_ticket).filter(|(_, id)| **id != NO_REQUEST);
        let queued: Vec<Ticket> = queued.map(|(ticket, _)| ticket).collect();
        store.cancel(&queued);
        host.cancelled(queued.len() as u64);
        by_ticket.fill(NO_REQUEST);
        let resumed = store.resume(cx);
        resumed.map_err(|error| Stop::of(&error))?;
        self.clients.power_returns(ended.now, &cut);
        self.complete(ended.now, store, host, cx.probe);
        Ok(())
    }
}
