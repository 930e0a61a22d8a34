//! Engine of a server: passes the commands of all connections to the simulation, at the times of
//! its clock, and the completions back to the connections.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wordline_block::{Op, PowerCut};
use wordline_kernel::{Rng, Time};
use wordline_runner::simulation::{Clients, LiveRequest, Snapshot, Turn, Volatile};
use wordline_workload::Request;
use wordline_workload::convert::TraceWriter;

use crate::clock::{self, Clock, LATE_US, Lateness, Started};
use crate::connection::{Arrived, Message};
use crate::control::{self, Asked, Control, ControlRequest, Response};
use crate::data::Data;
use crate::error::ServeError;
use crate::faults::Faults;
use crate::outbox::{Answer, Outbox};
use crate::protocol::{Command, Fault, Operation, SECTOR};
use crate::server::Server;
use crate::status::{LiveFacts, Status};
use crate::undo::{Mark, Serial, Undo};

/// Maximum wall-clock time for which simulated time stands still after a completion, until a client
/// sends its next request.
const PATIENCE: Duration = Duration::from_millis(1);
/// Reciprocal of the tolerated share of requests to whose completion the client has not yet
/// responded: simulated time stands still only while the share is larger. Each wait costs a round
/// trip through the socket, and the responses of the clients arrive in groups.
const UNANSWERED: usize = 8;
/// Last part of a wait for an event, in which the engine sleeps without listening for messages.
const LAST_SLEEP: Duration = Duration::from_micros(80);
/// Shortest sleep before an event while several requests are in progress. The events that become
/// due during the sleep are executed together, at most this late, which leaves the processor to the
/// connections and to the clients of this machine: spinning, or a sleep for each event, would take
/// their time and make more replies late.
const REST: Duration = Duration::from_micros(25);
/// Maximum number of answers that are sent together.
const GROUP: usize = 32;
/// Range of the factor by which a control request may slow a die down.
const FACTORS: RangeInclusive<f64> = 0.001..=1e6;
/// Maximum wait without a progress report.
const PAUSE: Duration = Duration::from_millis(50);

/// Command that the simulation executes.
#[derive(Debug)]
struct Pending {
    command: Command,
    /// Effect of the completion on the undo log, if power cuts are possible.
    effect: Effect,
    outbox: Arc<Outbox>,
}

/// Completion whose answer has not been sent.
#[derive(Debug)]
struct Completed {
    /// Simulated time of the completion.
    at: Time,
    outbox: Arc<Outbox>,
    answer: Answer,
}

/// Effect of a command on the undo log.
#[derive(Clone, Copy, Debug)]
enum Effect {
    None,
    Write(Serial),
    Flush(Mark),
}

/// Power cuts on demand.
#[derive(Debug)]
pub(crate) struct PowerCuts {
    undo: Arc<Undo>,
    random: Rng,
    /// Pending request for a power cut, and the number of blocks that the power cut has reverted.
    asked: Option<(Sender<Response>, u64)>,
    /// Number of power cuts.
    done: u64,
}

impl PowerCuts {
    pub(crate) fn new(undo: Arc<Undo>, seed: u64) -> Self {
        Self {
            undo,
            random: Rng::new(seed, "torn writes"),
            asked: None,
            done: 0,
        }
    }
}

/// Parts of an engine.
pub(crate) struct Parts {
    pub(crate) server: Server,
    pub(crate) control: Control,
    pub(crate) arrivals: Receiver<Message>,
    pub(crate) data: Arc<Data>,
    /// Size of the device. Bytes.
    pub(crate) capacity: u64,
    pub(crate) seed: u64,
    /// Whether the connections reject writes and TRIMs.
    pub(crate) is_read_only: Arc<AtomicBool>,
    pub(crate) power: Option<PowerCuts>,
    pub(crate) clock: Clock,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) record: Option<TraceWriter>,
}

/// Engine of a live device, which represents the clients in the simulation.
pub(crate) struct Engine {
    server: Server,
    control: Control,
    /// Messages of all connections; `None` once the server is closed.
    arrivals: Option<Receiver<Message>>,
    data: Arc<Data>,
    capacity: u64,
    faults: Faults,
    /// Whether the connections reject writes and TRIMs.
    is_read_only: Arc<AtomicBool>,
    /// Reply channel of a pending control request to slow a die down.
    slowing: Option<Sender<Response>>,
    power: Option<PowerCuts>,
    stop: Arc<AtomicBool>,
    clock: Clock,
    /// Real clock, from the first turn on.
    started: Option<Started>,
    /// Commands that the simulation executes, by number, and the unused numbers.
    pending: Vec<Option<Pending>>,
    unused: Vec<usize>,
    /// Completions whose answers have not been sent. Answers that are sent together wake the thread of
    /// a connection once.
    completed: Vec<Completed>,
    /// Number of completions to which no client has responded yet, and the end of the wait for
    /// responses.
    expected: usize,
    patient_until: Instant,
    /// Whether simulated time stands still until half of the tolerated completions lack a response:
    /// the responses of the clients arrive in groups.
    stands_still: bool,
    /// Time of the completion that left no request in progress; `None` while a request is in
    /// progress.
    idle_since: Option<Instant>,
    record: Option<TraceWriter>,
    record_fault: Option<String>,
    lateness: Lateness,
    /// Pending request for the status.
    status: Option<Sender<Response>>,
}

impl Engine {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts {
            server,
            control,
            arrivals,
            data,
            capacity,
            seed,
            is_read_only,
            power,
            clock,
            stop,
            record,
        } = parts;
        Self {
            server,
            control,
            arrivals: Some(arrivals),
            data,
            capacity,
            faults: Faults::new(seed),
            is_read_only,
            slowing: None,
            power,
            stop,
            clock,
            started: None,
            pending: Vec::new(),
            unused: Vec::new(),
            completed: Vec::new(),
            expected: 0,
            patient_until: Instant::now(),
            stands_still: false,
            idle_since: None,
            record,
            record_fault: None,
            lateness: Lateness::default(),
            status: None,
        }
    }

    /// Ends all connections, and completes the recording and the data file. Returns notes for the
    /// results.
    pub(crate) fn finish(mut self) -> Result<Vec<String>, ServeError> {
        self.close();
        self.data.sync().map_err(ServeError::Unsynced)?;
        if let Some(fault) = self.record_fault.take() {
            return Err(ServeError::Record(fault));
        }
        if let Some(record) = self.record.take() {
            let done = record.finish();
            done.map_err(|error| ServeError::Record(error.to_string()))?;
        }
        Ok(self.notes())
    }
    fn close(&mut self) {
        self.send_answers();
        refuse(&mut self.pending);
        if let Some(arrivals) = self.arrivals.take() {
            self.server.close(arrivals);
        }
        self.control.close();
    }
    fn notes(&self) -> Vec<String> {
        let connections = self.server.accepted();
        let clients = format!("Live device (connections: {connections})");
        let note = match self.clock {
            Clock::Simulated { think_time: 0.0 } => {
                format!("{clients}: simulated time passed only while requests were in progress.")
            }
            Clock::Simulated { think_time } => {
                format!(
                    "{clients}: while no request was in progress, {think_time} s of simulated time passed per second."
                )
            }
            Clock::Real { scale } => {
                let share =
                    100.0 * self.lateness.late() as f64 / self.lateness.replies().max(1) as f64;
                format!(
                    "{clients}: simulated time followed the wall clock, {scale} s per simulated second. \
                     Half of the replies were sent at most {} us late, {share:.2} % at least {LATE_US} us late.",
                    self.lateness.median_us()
                )
            }
        };
        let cuts = self.power_cuts();
        let cut = (cuts > 0).then(|| {
            format!(
                "Power cuts on demand: {cuts}. A replay of the recorded requests has no power cuts, so its digest differs."
            )
        });
        std::iter::once(note).chain(cut).collect()
    }

    /// Sends the answers of all completions.
    fn send_answers(&mut self) {
        if self.completed.is_empty() {
            return;
        }
        let instant = Instant::now();
        self.patient_until = instant + PATIENCE;
        let started = self.started.filter(|_| !self.ends());
        // Another thread sends faster while more completions are to come.
        let sends_at_once = self.in_progress() == 0;
        for Completed { at, outbox, answer } in self.completed.drain(..) {
            if let Some(clock) = &started {
                self.lateness.count(clock.since(at, instant));
            }
            if sends_at_once {
                outbox.send(answer);
            } else {
                outbox.queue(answer);
            }
        }
    }
    /// Returns the number of power cuts.
    fn power_cuts(&self) -> u64 {
        self.power.as_ref().map_or(0, |power| power.done)
    }
    /// Returns the facts about the device at the simulated time `now`.
    fn facts(&self, now: Time) -> LiveFacts {
        let clock = self.started.map(|clock| clock.time(Instant::now()));
        let facts = LiveFacts {
            simulated_s: clock.unwrap_or(now).max(now).as_secs(),
            scale: None,
            connections: self.server.connected(),
            connections_accepted: self.server.accepted(),
            in_flight: self.in_progress() as u64,
            power_cuts: self.power_cuts(),
            replies: None,
            lateness_median_us: None,
            late_replies: None,
            late_ratio: None,
        };
        facts.with_lateness(self.clock, &self.lateness)
    }
    fn in_progress(&self) -> usize {
        self.pending.len() - self.unused.len()
    }
    /// Returns the next message, if there is one.
    fn receive(&self) -> Option<Message> {
        self.arrivals.as_ref()?.try_recv().ok()
    }
    /// Sends all answers, and returns the next message; waits for it for at most `longest`.
    fn wait(&mut self, longest: Duration) -> Option<Message> {
        self.send_answers();
        self.arrivals.as_ref()?.recv_timeout(longest).ok()
    }
    /// Handles a message. `arrival` returns the arrival time of a command.
    fn take(&mut self, message: Message, arrival: impl FnOnce(&Arrived) -> Time) -> Turn {
        match message {
            Message::Arrived(arrived) => {
                let arrival = arrival(&arrived);
                self.admit(arrived, arrival)
            }
            Message::Asked(asked) => self.execute(asked),
        }
    }
    /// Executes a request of the control socket.
    fn execute(&mut self, asked: Asked) -> Turn {
        let Asked { request, response } = asked;
        match (&request, &mut self.power) {
            (ControlRequest::PowerCut, Some(power)) => {
                power.asked = Some((response, 0));
                return Turn::PowerCut;
            }
            (&ControlRequest::SlowDie { die, factor }, _) if FACTORS.contains(&factor) => {
                self.slowing = Some(response);
                let slowness = (factor * 1000.0).round() as u32;
                return Turn::SlowDie { die, slowness };
            }
            _ => {}
        }
        if request == ControlRequest::Status {
            self.status = Some(response);
            return Turn::Status;
        }
        // The client may have disconnected.
        let _ = response.send(self.inject(&request).map(control::Answer::Done));
        Turn::Pause
    }
    /// Executes a request that does not involve the simulation.
    fn inject(&mut self, request: &ControlRequest) -> Result<Value, String> {
        match *request {
            ControlRequest::Status => {}
            ControlRequest::PowerCut => {
                return Err(
                    "power cuts need recovery records; start the server with --power-cuts"
                        .to_owned(),
                );
            }
            ControlRequest::ReadError { offset, bytes } => {
                let end = offset.saturating_add(bytes);
                if bytes == 0 || end > self.capacity {
                    return Err(format!(
                        "the range from byte {offset} to {end} is empty or ends beyond the device's {} bytes; correct offset or bytes",
                        self.capacity
                    ));
                }
                self.faults.add(offset, end);
            }
            ControlRequest::ReadErrorRate { rate } => {
                if !(0.0..=1.0).contains(&rate) {
                    return Err(format!(
                        "the read error rate {rate} is not between 0 and 1; give a share of the reads"
                    ));
                }
                self.faults.set_rate(rate);
            }
            ControlRequest::SlowDie { factor, .. } => {
                return Err(format!(
                    "the factor {factor} is not between 0.001 and 1 million; give a factor in that range"
                ));
            }
            ControlRequest::EndOfLife => self.is_read_only.store(true, Ordering::Relaxed),
            ControlRequest::Heal => {
                self.faults.clear();
                self.is_read_only.store(false, Ordering::Relaxed);
            }
        }
        Ok(Value::Null)
    }
    /// Passes a command to the simulation.
    fn admit(&mut self, arrived: Arrived, arrival: Time) -> Turn {
        let Arrived {
            command,
            serial,
            outbox,
            ..
        } = arrived;
        let effect = match (serial, &self.power) {
            (Some(serial), _) => Effect::Write(serial),
            (None, Some(power)) if command.operation == Operation::Flush => {
                Effect::Flush(power.undo.flush_arrives())
            }
            _ => Effect::None,
        };
        self.expected = self.expected.saturating_sub(1);
        self.idle_since = None;
        let place = self.unused.pop().unwrap_or_else(|| {
            self.pending.push(None);
            self.pending.len() - 1
        });
        self.pending[place] = Some(Pending {
            command,
            effect,
            outbox,
        });
        let (op, sectors) = simulated(&command);
        Turn::Request(LiveRequest {
            id: place as u64,
            op,
            fua: command.fua && op == Op::Write,
            offset: sectors.start,
            bytes: sectors.end - sectors.start,
            arrival,
        })
    }
    fn ends(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.record_fault.is_some()
    }

    /// Returns `true` if the command is a read that fails on demand. Writes and TRIMs make their
    /// ranges readable.
    fn fails(&mut self, command: &Command) -> bool {
        let (offset, bytes) = range(command);
        match command.operation {
            Operation::Read => self.faults.fails(offset, bytes),
            Operation::Flush => false,
            Operation::Write | Operation::Trim | Operation::Zero { .. } => {
                self.faults.remove(offset, offset + bytes);
                false
            }
        }
    }

    /// Returns the next step of the simulated clock, at the simulated time `now`.
    fn simulated(&mut self, now: Time, think_time: f64) -> Turn {
        let idle_since = self.idle_since;
        let arrival = |arrived: &Arrived| {
            let pause = idle_since.map(|since| arrived.at.saturating_duration_since(since));
            now + clock::simulated(pause.unwrap_or_default(), think_time)
        };
        if let Some(message) = self.receive() {
            return self.take(message, arrival);
        }
        if self.ends() {
            return Turn::End;
        }
        if self.in_progress() == 0 {
            self.expected = 0;
            return match self.wait(PAUSE) {
                Some(message) => self.take(message, arrival),
                None => Turn::Pause,
            };
        }
        let tolerated = (self.in_progress() + self.expected) / UNANSWERED;
        self.stands_still = self.expected
            > if self.stands_still {
                tolerated / 2
            } else {
                tolerated
            };
        if self.stands_still {
            self.send_answers();
            let left = self.patient_until.saturating_duration_since(Instant::now());
            if let Some(message) = self.wait(left) {
                return self.take(message, arrival);
            }
            self.expected = 0;
        }
        Turn::Event
    }

    fn real(&mut self, scale: f64, due: Time) -> Turn {
        let clock = *self.started.get_or_insert_with(|| {
            clock::wake_up_on_time();
            Started::now(scale)
        });
        let now = Instant::now();
        let until = now + PAUSE;
        if due == Time::MAX || !clock.until(due, now).is_zero() {
            self.send_answers();
        }
        loop {
            if let Some(message) = self.receive() {
                return self.take(message, |arrived| clock.time(arrived.at));
            }
            if self.ends() {
                return Turn::End;
            }
            let now = Instant::now();
            let wait = match due {
                Time::MAX => PAUSE,
                due => clock.until(due, now),
            };
            if due < Time::MAX && wait.is_zero() {
                return Turn::Event;
            }
            if now >= until {
                return Turn::Pause;
            }
            if wait > LAST_SLEEP {
                let wait = wait
                    .saturating_sub(LAST_SLEEP)
                    .min(until.saturating_duration_since(now));
                if let Some(message) = self.wait(wait) {
                    return self.take(message, |arrived| clock.time(arrived.at));
                }
            } else {
                let is_alone = self.in_progress() <= 1;
                thread::sleep(if is_alone { wait } else { wait.max(REST) });
            }
        }
    }
}

/// Returns the offset and the length of a command's byte range. Bytes.
fn range(command: &Command) -> (u64, u64) {
    (command.offset, u64::from(command.bytes))
}

/// Returns the operation that the device executes for a command, and its byte range in whole
/// sectors: those that the command touches or, for a TRIM, those that it covers completely. A TRIM
/// that covers no sector completely is executed as a write.
fn simulated(command: &Command) -> (Op, Range<u64>) {
    let sector = u64::from(SECTOR);
    let end = command.offset + u64::from(command.bytes);
    let touched = command.offset / sector * sector..end.next_multiple_of(sector);
    match command.operation {
        Operation::Flush => (Op::Flush, 0..0),
        Operation::Read => (Op::Read, touched),
        Operation::Write | Operation::Zero { may_discard: false } => (Op::Write, touched),
        Operation::Trim | Operation::Zero { may_discard: true } => {
            let whole = command.offset.next_multiple_of(sector)..end / sector * sector;
            if whole.is_empty() {
                (Op::Write, touched)
            } else {
                (Op::Trim, whole)
            }
        }
    }
}

/// Refuses all commands in progress, because the connections end.
fn refuse(pending: &mut Vec<Option<Pending>>) {
    for pending in pending.drain(..).flatten() {
        let Pending {
            command, outbox, ..
        } = pending;
        let fault = Some(Fault::ShuttingDown);
        outbox.queue(Answer::Done { command, fault });
    }
}

impl Clients for Engine {
    fn turn(&mut self, now: Time, due: Time) -> Turn {
        match self.clock {
            Clock::Simulated { think_time } => self.simulated(now, think_time),
            Clock::Real { scale } => self.real(scale, due),
        }
    }
    fn arrived(&mut self, request: &Request) {
        if let Some(record) = &mut self.record
            && let Err(error) = record.write(request)
        {
            self.record_fault = Some(error.to_string());
            self.record = None;
        }
    }
    fn submitted(&mut self, id: u64, volatile: Volatile<'_>) {
        let Some(power) = &self.power else {
            return;
        };
        if let Some(Some(pending)) = self.pending.get(id as usize)
            && let Effect::Write(serial) = pending.effect
        {
            power
                .undo
                .submitted(serial, range(&pending.command), volatile);
        }
    }
    fn complete(&mut self, now: Time, id: u64, failed: bool) {
        let place = id as usize;
        let Some(pending) = self.pending.get_mut(place).and_then(Option::take) else {
            return;
        };
        let Pending {
            command,
            effect,
            outbox,
        } = pending;
        if let Some(power) = &self.power {
            match effect {
                Effect::Write(serial) => {
                    let undo = &power.undo;
                    undo.completed(serial, range(&command), command.fua && !failed);
                }
                Effect::Flush(mark) => power.undo.flushed(mark, !failed),
                Effect::None => {}
            }
        }
        self.unused.push(place);
        self.expected += 1;
        let has_failed = failed || self.fails(&command);
        let fault = has_failed.then_some(Fault::Io);
        self.completed.push(Completed {
            at: now,
            outbox,
            answer: Answer::Done { command, fault },
        });
        let in_progress = self.in_progress();
        // A client's pause begins when it gets the reply, so not before this.
        self.idle_since = (in_progress == 0).then(Instant::now);
        if self.completed.len() > GROUP.min(in_progress / UNANSWERED / 2) {
            self.send_answers();
        }
    }
    fn slowed(&mut self, exists: bool) {
        if let Some(response) = self.slowing.take() {
            let fault = "the device has no flash die with this number".to_owned();
            // The client may have disconnected.
            let _ = response.send(
                exists
                    .then_some(control::Answer::Done(Value::Null))
                    .ok_or(fault),
            );
        }
    }
    fn status(&mut self, now: Time, snapshot: Box<Snapshot>) {
        if let Some(waiting) = self.status.take() {
            let facts = self.facts(now);
            control::send_status(&waiting, Status { facts, snapshot });
        }
    }
    fn power_fails(&mut self, volatile: Volatile<'_>) {
        self.send_answers();
        let (Some(power), Some(arrivals)) = (&mut self.power, &self.arrivals) else {
            return;
        };
        let (pending, mut asked) = (&mut self.pending, Vec::new());
        self.server.disconnect(|| {
            refuse(pending);
            for message in arrivals.try_iter() {
                match message {
                    Message::Arrived(arrived) => arrived.refuse(),
                    Message::Asked(other) => asked.push(other),
                }
            }
        });
        self.unused.clear();
        self.expected = 0;
        power.done += 1;
        let reverted = power.undo.revert(&self.data, volatile, &mut power.random);
        match (reverted, &mut power.asked) {
            (Ok(blocks), Some((_, reverted))) => *reverted = blocks,
            (Err(error), _) => self.record_fault = Some(error.to_string()),
            (Ok(_), None) => {}
        }
        for Asked { response, .. } in asked {
            // The client may have disconnected.
            let _ = response.send(Err("a power cut was in progress; try again".to_owned()));
        }
    }
    fn power_returns(&mut self, now: Time, cut: &PowerCut) {
        let power = self.power.as_mut();
        if let Some((response, reverted)) = power.and_then(|power| power.asked.take()) {
            let result = json!({
                "time_us": now.0 as f64 / 1e6,
                "recovery_us": cut.time.0 as f64 / 1e6,
                "requests_lost": cut.requests_lost,
                "pages_lost": cut.pages_lost,
                "pages_saved": cut.pages_saved,
                "pages_torn": cut.pages_torn,
                "erases_torn": cut.erases_torn,
                "blocks_reverted": reverted,
            });
            // The client may have disconnected.
            let _ = response.send(Ok(control::Answer::Done(result)));
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.close();
    }
}
