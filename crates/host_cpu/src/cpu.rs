//! Threads, cores and the lock of the host.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_kernel::{Plus, Time};

use crate::stats::{HostStats, Shares};

/// Number of a host thread: [`FLASH_SOFTWARE`], or the worker of a stream.
pub type Thread = u32;

/// Thread of the flash software, which runs GC steps.
pub const FLASH_SOFTWARE: Thread = 0;

/// Returns the worker thread of a stream.
pub const fn worker(stream: u32) -> Thread {
    stream + 1
}

/// Purpose of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Submits a request to the store.
    Submit(Ticket),
    /// Handles the completion of a request.
    Complete(Ticket),
    /// Runs GC steps.
    Collect,
}

/// A job of a thread, in two parts: the first without the lock, the second under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Purpose of the job.
    pub purpose: Purpose,
    /// CPU time without the lock.
    pub free: Shares,
    /// CPU time under the lock.
    pub locked: Shares,
    /// Time spent waiting for the thread, a core and the lock.
    pub waited: Time,
    /// Start of the current or the last wait.
    since: Time,
}

impl Job {
    /// Creates a job that has not started.
    pub fn new(now: Time, purpose: Purpose, free: Shares, locked: Shares) -> Self {
        Self {
            purpose,
            free,
            locked,
            waited: Time::ZERO,
            since: now,
        }
    }
    /// Returns the CPU time of both parts.
    pub fn work(&self) -> Time {
        self.free.total() + self.locked.total()
    }
}

/// Jobs of a thread, in order. The first job is in progress, or waits for a core or the lock.
/// `is_locked` is set while that job is in its second part or waits for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Jobs {
    jobs: VecDeque<Job>,
    is_locked: bool,
}

/// Cores and one lock. A thread runs on a core until its job is done or it has to wait for the
/// lock. The lock is granted in FIFO order. A thread that waits for the lock has no core; a thread
/// that gets the lock may still wait for a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cpu {
    idle_cores: u32,
    threads: Vec<Jobs>,
    /// Ready threads, in the order in which they became ready.
    ready: VecDeque<Thread>,
    is_lock_held: bool,
    /// Threads that wait for the lock, in FIFO order.
    at_lock: VecDeque<Thread>,
    /// Threads that have started to run, with the end of their current part, for the caller to
    /// schedule.
    pub started: Vec<(Time, Thread)>,
    /// Finished jobs, for the caller to continue their requests.
    pub done: VecDeque<Job>,
}

impl Cpu {
    /// Creates a CPU with idle cores.
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
    /// Handles a power failure: drops all jobs.
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
    /// Appends a job to those of a thread. Merges a GC job into the last waiting one, if any, so
    /// that the single GC thread keeps up with many workers at the lock. A job without work is done
    /// immediately.
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
            last.free = last.free.plus(job.free);
            last.locked = last.locked.plus(job.locked);
            return;
        }
        jobs.push_back(job);
        if self.threads[place].jobs.len() == 1 {
            self.begin(thread);
            self.run(now);
        }
    }
    /// Makes a thread ready for its first job. If the job has only a locked part, the thread must
    /// acquire the lock first.
    fn begin(&mut self, thread: Thread) {
        let own = &mut self.threads[thread as usize];
        own.is_locked = own.jobs[0].free.total() == Time::ZERO;
        if !own.is_locked || self.takes_lock(thread) {
            self.ready.push_back(thread);
        }
    }
    /// Acquires the lock for a thread. If the lock is held, queues the thread for it and returns
    /// `false`.
    fn takes_lock(&mut self, thread: Thread) -> bool {
        if self.is_lock_held {
            self.at_lock.push_back(thread);
            return false;
        }
        self.is_lock_held = true;
        true
    }
    /// Runs ready threads on idle cores.
    fn run(&mut self, now: Time) {
        while self.idle_cores > 0
            && let Some(thread) = self.ready.pop_front()
        {
            self.idle_cores -= 1;
            self.start(now, thread);
        }
    }
    /// Starts the current part of a thread's first job on a core.
    fn start(&mut self, now: Time, thread: Thread) {
        let Jobs { jobs, is_locked } = &mut self.threads[thread as usize];
        let job = &mut jobs[0];
        job.waited += now - job.since;
        let work = if *is_locked { job.locked } else { job.free };
        self.started.push((now + work.total(), thread));
    }
    /// Ends the current part of a thread's job, and counts its CPU time in `figures`. Starts the
    /// next part or the next job if it does not have to wait.
    pub fn ended(&mut self, now: Time, thread: Thread, figures: &mut HostStats) {
        let Jobs { jobs, is_locked } = &mut self.threads[thread as usize];
        let job = &mut jobs[0];
        job.since = now;
        if *is_locked {
            figures.cpu = figures.cpu.plus(job.locked);
            figures.locked += job.locked.total();
            self.unlock();
        } else {
            figures.cpu = figures.cpu.plus(job.free);
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
