//! Disk of a plan with its queue, buffer and arm. Accepts requests and returns completions.

use std::collections::VecDeque;

use wordline_block::{BlockDevice, Op, Request};
use wordline_hdd::{Disk, Event};
use wordline_kernel::{Context, EventQueue, Time};

/// Number that the owner assigns to a disk request.
pub(super) type Tag = u32;

/// Disk, its pending events and the requests that it cannot accept yet.
pub(super) struct Spindle {
    disk: Disk,
    capacity: u64,
    queue: EventQueue<Event>,
    outside: VecDeque<(Request, Tag)>,
    /// Tag of the request, by ticket.
    tags: Vec<Tag>,
    done: VecDeque<(Tag, Time)>,
    now: Time,
    /// Requests beyond the end of the disk, which were wrapped to its start. Count.
    pub(super) wrapped: u64,
}

/// Disk request of the replay.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) op: Op,
    pub(super) fua: bool,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl Access {
    /// Request that makes all completed writes durable.
    pub(super) const FLUSH: Self = Self {
        op: Op::Flush,
        fua: false,
        offset: 0,
        bytes: 0,
    };
}

impl Spindle {
    pub(super) fn new(plan: &wordline_hdd::Plan) -> Self {
        Self {
            disk: Disk::new(plan),
            capacity: plan.capacity_bytes,
            queue: EventQueue::default(),
            outside: VecDeque::new(),
            tags: Vec::new(),
            done: VecDeque::new(),
            now: Time::ZERO,
            wrapped: 0,
        }
    }
    /// Submits a request at `at`. All earlier events must have been processed.
    pub(super) fn ask(&mut self, at: Time, access: Access, tag: Tag) {
        self.now = self.now.max(at);
        let Access {
            op,
            fua,
            offset,
            bytes,
        } = access;
        let fitting = self.fitting(offset, bytes);
        self.wrapped += u64::from(fitting != (offset, bytes));
        let (offset, bytes) = fitting;
        let request = Request {
            stream: 0,
            op,
            fua,
            offset,
            bytes,
            arrival: self.now,
        };
        self.outside.push_back((request, tag));
        self.start();
    }
    /// Returns the offset and size of a request on the disk; a request beyond the end is wrapped to
    /// the start.
    fn fitting(&self, offset: u64, bytes: u64) -> (u64, u64) {
        let bytes = bytes.min(self.capacity);
        if offset.saturating_add(bytes) <= self.capacity {
            return (offset, bytes);
        }
        let offset = offset % self.capacity;
        (offset.min(self.capacity - bytes), bytes)
    }
    fn start(&mut self) {
        while self.disk.can_accept(0)
            && let Some((request, tag)) = self.outside.pop_front()
        {
            let probe = &mut ();
            let cx = &mut Context::new(self.now, &mut self.queue, probe);
            // A request within the capacity of the disk is always accepted.
            let Ok(ticket) = self.disk.submit(cx, request) else {
                self.done.push_back((tag, self.now));
                continue;
            };
            let ticket = ticket as usize;
            if self.tags.len() <= ticket {
                self.tags.resize(ticket + 1, 0);
            }
            self.tags[ticket] = tag;
            self.collect();
        }
    }
    fn collect(&mut self) {
        for completion in self.disk.completions() {
            let tag = self.tags[completion.ticket as usize];
            self.done.push_back((tag, self.now));
        }
    }
    /// Returns the time of the next event; `None` if no event is pending.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }
    /// Processes the next event.
    pub(super) fn step(&mut self) {
        let Some((now, event)) = self.queue.pop() else {
            return;
        };
        self.now = now;
        let probe = &mut ();
        let cx = &mut Context::new(now, &mut self.queue, probe);
        // Disk events cannot fail.
        let _ = self.disk.handle(cx, event);
        self.collect();
        self.start();
    }
    /// Returns a completed request with its completion time; `None` if none is left. Each is
    /// returned once.
    pub(super) fn ended(&mut self) -> Option<(Tag, Time)> {
        self.done.pop_front()
    }
}
