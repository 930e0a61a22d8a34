//! The disk of a plan with its queue, its buffer and its arm: requests in, completions out.

use std::collections::VecDeque;

use wordline_block::{BlockDevice, Op, Request};
use wordline_hdd::{Disk, Event};
use wordline_kernel::{Context, EventQueue, Time};

/// A request of the disk, by the number under which its owner knows it.
pub(super) type Tag = u32;

/// A disk, the events to come, and the requests that it has no room for yet.
pub(super) struct Spindle {
    disk: Disk,
    capacity: u64,
    queue: EventQueue<Event>,
    outside: VecDeque<(Request, Tag)>,
    /// By ticket.
    tags: Vec<Tag>,
    done: VecDeque<(Tag, Time)>,
    now: Time,
    /// Requests beyond the end of the disk, which were wrapped around.
    pub(super) wrapped: u64,
}

/// Request of the disk.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) op: Op,
    pub(super) fua: bool,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl Access {
    /// Makes what was written durable.
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
    /// A request arrives; no event before that is left.
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
    /// The addresses of a request on the disk: as they are, or wrapped around its end.
    fn fitting(&self, offset: u64, bytes: u64) -> (u64, u64) {
        let bytes = bytes.min(self.capacity);
        if offset.saturating_add(bytes) <= self.capacity {
            return (offset, bytes);
        }
        let offset = offset % self.capacity;
        (offset.min(self.capacity - bytes), bytes)
    }
    fn start(&mut self) {
        while self.disk.takes(0)
            && let Some((request, tag)) = self.outside.pop_front()
        {
            let probe = &mut ();
            let cx = &mut Context::new(self.now, &mut self.queue, probe);
            // A request that fits is taken.
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
    /// When the next event is due.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }
    /// Deals with the next event.
    pub(super) fn step(&mut self) {
        let Some((now, event)) = self.queue.pop() else {
            return;
        };
        self.now = now;
        let probe = &mut ();
        let cx = &mut Context::new(now, &mut self.queue, probe);
        // The events of a disk cannot fail.
        let _ = self.disk.handle(cx, event);
        self.collect();
        self.start();
    }
    /// A request that has ended since this was last asked, and when.
    pub(super) fn ended(&mut self) -> Option<(Tag, Time)> {
        self.done.pop_front()
    }
}
