//! Threads on cores, and the lock between them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_kernel::Time;

use crate::stats::{HostStats, Shares};

/// A thread of the host: [`FLASH_SOFTWARE`], or a worker by its stream.
pub type Thread = u32;

/// The thread that does the steps of collections.
pub const FLASH_SOFTWARE: Thread = 0;

/// The thread of a worker.
pub const fn worker(stream: u32) -> Thread {
    stream + 1
}

/// What a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// A request on its way to the store.
    Submit(Ticket),
    /// A request on its way back.
    Complete(Ticket),
    /// A collection.
    Collect,
}

/// What a thread has to do: first without the lock, then under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// What for.
    pub purpose: Purpose,
    /// CPU time without the lock.
    pub free: Shares,
    /// CPU time under it.
    pub locked: Shares,
    /// Time that it has waited: for its thread, for a core, for the lock.
    pub waited: Time,
    /// Since when it is where it is.
    since: Time,
}

impl Job {
    /// One that has not begun.
    pub fn new(now: Time, purpose: Purpose, free: Shares, locked: Shares) -> Self {
        Self {
            purpose,
            free,
            locked,
            waited: Time::ZERO,
            since: now,
        }
    }
    /// Its CPU time.
    pub fn work(&self) -> Time {
        self.free.total() + self.locked.total()
    }
}

/// The jobs of a thread, the first of which it is at, and whether that is under the lock.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Jobs {
    jobs: VecDeque<Job>,
    is_locked: bool,
}

/// Cores, on which threads run until they are done or have to wait; and one lock, which is given to those who wait in their order.
/// Who waits for the lock has no core; who gets it may wait for one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cpu {
    idle_cores: u32,
    threads: Vec<Jobs>,
    /// Threads that could run, in the order in which they became ready.
    ready: VecDeque<Thread>,
    is_lock_held: bool,
    /// Threads that wait for it, in their order.
    at_lock: VecDeque<Thread>,
    /// Threads that have begun to run, and until when, to be scheduled.
    pub started: Vec<(Time, Thread)>,
    /// Jobs that are done, to be followed up.
    pub done: VecDeque<Job>,
}

impl Cpu {
    /// Idle cores.
    pub fn new(cores: u32) -> Self {
        Self {
            idle_cores: cores,
            threads: Vec::new(),
            ready: VecDeque::new(),
            is_lock_held: false,
            at_lock: VecDeque::new(),
            started: Vec::new(),
            done: VecDeque::new(),
        }
    }
    /// The power fails: no thread is at anything.
    pub fn stop(&mut self) {
        let running = self
            .threads
            .iter()
            .filter(|own| !own.jobs.is_empty())
            .count();
        let waiting = self.ready.len() + self.at_lock.len();
        let cores = self.idle_cores + (running - waiting) as u32;
        *self = Self::new(cores);
    }
    /// Gives a job to a thread, which does it behind those that it has. Collections that wait behind one under way are done together,
    /// so that the one thread that does them keeps up with many workers at the lock.
    pub fn add(&mut self, now: Time, thread: Thread, job: Job) {
        if job.work() == Time::ZERO {
            self.done.push_back(job);
            return;
        }
        let place = thread as usize;
        if self.threads.len() <= place {
            self.threads.resize_with(place + 1, Jobs::default);
        }
        let jobs = &mut self.threads[place].jobs;
        if jobs.len() > 1
            && job.purpose == Purpose::Collect
            && let Some(last) = jobs.back_mut()
        {
            last.free = last.free.plus(&job.free);
            last.locked = last.locked.plus(&job.locked);
            return;
        }
        jobs.push_back(job);
        if self.threads[place].jobs.len() == 1 {
            self.begin(thread);
            self.run(now);
        }
    }
    /// The first job of a thread begins.
    fn begin(&mut self, thread: Thread) {
        let own = &mut self.threads[thread as usize];
        own.is_locked = own.jobs[0].free.total() == Time::ZERO;
        if !own.is_locked || self.takes_lock(thread) {
            self.ready.push_back(thread);
        }
    }
    /// Whether a thread has the lock; if not, it waits for it.
    fn takes_lock(&mut self, thread: Thread) -> bool {
        if self.is_lock_held {
            self.at_lock.push_back(thread);
            return false;
        }
        self.is_lock_held = true;
        true
    }
    /// Threads that are ready run on cores that are idle.
    fn run(&mut self, now: Time) {
        while self.idle_cores > 0
            && let Some(thread) = self.ready.pop_front()
        {
            self.idle_cores -= 1;
            self.start(now, thread);
        }
    }
    /// A thread runs on a core.
    fn start(&mut self, now: Time, thread: Thread) {
        let Jobs { jobs, is_locked } = &mut self.threads[thread as usize];
        let job = &mut jobs[0];
        job.waited += now - job.since;
        let work = if *is_locked { job.locked } else { job.free };
        self.started.push((now + work.total(), thread));
    }
    /// A thread has done on its core what it was at.
    pub fn ended(&mut self, now: Time, thread: Thread, figures: &mut HostStats) {
        let Jobs { jobs, is_locked } = &mut self.threads[thread as usize];
        let job = &mut jobs[0];
        job.since = now;
        if *is_locked {
            figures.cpu = figures.cpu.plus(&job.locked);
            figures.locked += job.locked.total();
            self.unlock();
        } else {
            figures.cpu = figures.cpu.plus(&job.free);
            if job.locked.total() > Time::ZERO {
                *is_locked = true;
                if self.takes_lock(thread) {
                    self.start(now, thread);
                } else {
                    self.leave_core(now);
                }
                return;
            }
        }
        let own = &mut self.threads[thread as usize].jobs;
        self.done.extend(own.pop_front());
        if !own.is_empty() {
            self.begin(thread);
        }
        self.leave_core(now);
    }
    fn leave_core(&mut self, now: Time) {
        self.idle_cores += 1;
        self.run(now);
    }
    fn unlock(&mut self) {
        self.is_lock_held = false;
        if let Some(next) = self.at_lock.pop_front() {
            self.is_lock_held = true;
            self.ready.push_back(next);
        }
    }
}
