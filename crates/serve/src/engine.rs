//! The side of the engine: hands the commands of all connections to the simulation, at the times of
//! its clock, and its completions to the connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use wordline_block::Op;
use wordline_kernel::Time;
use wordline_runner::simulation::{Clients, LiveRequest, Turn};
use wordline_workload::Request;
use wordline_workload::convert::TraceWriter;

use crate::clock::{Clock, LATE_US, Lateness, Started};
use crate::connection::{Answer, Arrived};
use crate::data::Data;
use crate::error::ServeError;
use crate::protocol::{Command, Fault, Operation};
use crate::server::Server;

/// Time of the machine for which simulated time stands still after a completion, until a client
/// sends its next request.
const PATIENCE: Duration = Duration::from_millis(1);
/// Completions without a response for which simulated time does not stand still: one in this many
/// requests in flight. Each wait costs a round trip through the socket, and the responses of the
/// clients arrive in groups.
const UNANSWERED: usize = 8;
/// Last part of a wait, in which the processor does not sleep.
const SPIN: Duration = Duration::from_micros(80);
/// Longest wait without a report.
const PAUSE: Duration = Duration::from_millis(50);

/// Command that the simulation executes.
#[derive(Debug)]
struct Pending {
    command: Command,
    answers: Arc<Sender<Answer>>,
}

/// Clients of a live device.
pub(crate) struct Engine {
    server: Server,
    /// Commands of all connections; `None` once the server is closed.
    arrivals: Option<Receiver<Arrived>>,
    data: Arc<Data>,
    stop: Arc<AtomicBool>,
    clock: Clock,
    /// Real clock, from the first turn on.
    started: Option<Started>,
    /// Commands that the simulation executes, by number, and the unused numbers.
    pending: Vec<Option<Pending>>,
    unused: Vec<usize>,
    /// Completions to which no client has responded yet, and the end of the wait for them.
    expected: usize,
    patient_until: Instant,
    record: Option<TraceWriter>,
    record_fault: Option<String>,
    lateness: Lateness,
}

impl Engine {
    pub(crate) fn new(
        server: Server,
        arrivals: Receiver<Arrived>,
        data: Arc<Data>,
        (clock, stop): (Clock, Arc<AtomicBool>),
        record: Option<TraceWriter>,
    ) -> Self {
        Self {
            server,
            arrivals: Some(arrivals),
            data,
            stop,
            clock,
            started: None,
            pending: Vec::new(),
            unused: Vec::new(),
            expected: 0,
            patient_until: Instant::now(),
            record,
            record_fault: None,
            lateness: Lateness::default(),
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
        for pending in self.pending.drain(..).flatten() {
            let Pending { command, answers } = pending;
            let fault = Some(Fault::ShuttingDown);
            // The client may have disconnected.
            let _ = answers.send(Answer { command, fault });
        }
        if let Some(arrivals) = self.arrivals.take() {
            self.server.close(arrivals);
        }
    }
    fn notes(&self) -> Vec<String> {
        let connections = self.server.accepted();
        let clients = format!("Live device (connections: {connections})");
        let note = match self.clock {
            Clock::Simulated => {
                format!("{clients}: simulated time passed only while requests were in progress.")
            }
            Clock::Real { scale } => {
                let share =
                    100.0 * self.lateness.late() as f64 / self.lateness.replies().max(1) as f64;
                format!(
                    "{clients}: simulated time followed the clock of the machine, {scale} s per simulated second. \
                     Half of the replies were sent at most {} us late, {share:.2} % at least {LATE_US} us late.",
                    self.lateness.median_us()
                )
            }
        };
        vec![note]
    }

    fn in_progress(&self) -> usize {
        self.pending.len() - self.unused.len()
    }
    /// Returns the next command of a client; waits for it until `until`.
    fn receive(&self, until: Option<Duration>) -> Option<Arrived> {
        let arrivals = self.arrivals.as_ref()?;
        match until {
            None => arrivals.try_recv().ok(),
            Some(wait) => arrivals.recv_timeout(wait).ok(),
        }
    }
    /// Passes a command to the simulation.
    fn admit(&mut self, arrived: Arrived, arrival: Time) -> Turn {
        let Arrived {
            command, answers, ..
        } = arrived;
        self.expected = self.expected.saturating_sub(1);
        let place = self.unused.pop().unwrap_or_else(|| {
            self.pending.push(None);
            self.pending.len() - 1
        });
        self.pending[place] = Some(Pending { command, answers });
        let op = match command.operation {
            Operation::Read => Op::Read,
            Operation::Write | Operation::Zero { may_discard: false } => Op::Write,
            Operation::Trim | Operation::Zero { may_discard: true } => Op::Trim,
            Operation::Flush => Op::Flush,
        };
        Turn::Request(LiveRequest {
            id: place as u64,
            op,
            fua: command.fua && op == Op::Write,
            offset: command.offset,
            bytes: u64::from(command.bytes),
            arrival,
        })
    }
    fn ends(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.record_fault.is_some()
    }

    fn simulated(&mut self, now: Time) -> Turn {
        if let Some(arrived) = self.receive(None) {
            return self.admit(arrived, now);
        }
        if self.ends() {
            return Turn::End;
        }
        if self.in_progress() == 0 {
            self.expected = 0;
            return match self.receive(Some(PAUSE)) {
                Some(arrived) => self.admit(arrived, now),
                None => Turn::Pause,
            };
        }
        if self.expected > (self.in_progress() + self.expected) / UNANSWERED {
            let left = self.patient_until.saturating_duration_since(Instant::now());
            if let Some(arrived) = self.receive(Some(left)) {
                return self.admit(arrived, now);
            }
            self.expected = 0;
        }
        Turn::Event
    }

    fn real(&mut self, scale: f64, due: Time) -> Turn {
        let clock = *self.started.get_or_insert_with(|| Started::now(scale));
        let until = Instant::now() + PAUSE;
        loop {
            if let Some(arrived) = self.receive(None) {
                let arrival = clock.time(arrived.at);
                return self.admit(arrived, arrival);
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
            if wait > SPIN {
                let wait = wait
                    .saturating_sub(SPIN)
                    .min(until.saturating_duration_since(now));
                if let Some(arrived) = self.receive(Some(wait)) {
                    let arrival = clock.time(arrived.at);
                    return self.admit(arrived, arrival);
                }
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

impl Clients for Engine {
    fn turn(&mut self, now: Time, due: Time) -> Turn {
        match self.clock {
            Clock::Simulated => self.simulated(now),
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
    fn complete(&mut self, now: Time, id: u64, failed: bool) {
        let place = id as usize;
        let Some(Pending { command, answers }) = self.pending.get_mut(place).and_then(Option::take)
        else {
            return;
        };
        self.unused.push(place);
        self.expected += 1;
        let instant = Instant::now();
        self.patient_until = instant + PATIENCE;
        if let Some(clock) = &self.started
            && !self.ends()
        {
            self.lateness.count(clock.since(now, instant));
        }
        let fault = failed.then_some(Fault::Io);
        // The client may have disconnected.
        let _ = answers.send(Answer { command, fault });
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.close();
    }
}
