//! Outbox of a connection: encodes answers as replies, and sends them to the client.
//!
//! Two threads send. The engine sends a short reply itself if the socket takes it at once, which
//! saves a switch to another thread; all other replies are queued for the thread of the outbox,
//! which waits for slow clients.

use std::io::{self, Write};
use std::net::Shutdown;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::data::Data;
use crate::protocol::{Command, Fault, Operation, Query, Replies, Terms};
use crate::stream::Stream;

/// Maximum number of commands of a connection without a reply. Further commands wait in the socket.
const MAX_PENDING: usize = 4096;
/// Number of encoded bytes that are sent even if more answers are queued.
const BATCH: usize = 256 << 10;
/// Maximum data of a reply that the thread with the answer may send itself. Bytes.
const SHORT: u32 = 64 << 10;

/// Answer for a client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// A command was executed, or failed.
    Done {
        command: Command,
        fault: Option<Fault>,
    },
    /// A command was invalid.
    Refused { cookie: u64, fault: Fault },
    /// A block status query, which is answered from the data.
    Extents(Query),
}

impl Answer {
    /// Returns the number of bytes of data that the reply contains.
    fn data_bytes(&self) -> u32 {
        match self {
            Self::Done {
                command,
                fault: None,
            } if command.operation == Operation::Read => command.bytes,
            _ => 0,
        }
    }
}

/// Entry of the queue.
#[derive(Debug)]
enum Queued {
    Answer(Answer),
    /// The socket has not taken all encoded bytes.
    Rest,
}

/// Outbox of a connection.
#[derive(Debug)]
pub(crate) struct Outbox {
    queue: Sender<Queued>,
    output: Arc<Mutex<Output>>,
    pending: Arc<Pending>,
    /// Whether data can be read without waiting for a disk.
    reads_at_once: bool,
}

/// Thread's side of an outbox.
#[derive(Debug)]
pub(crate) struct OutboxThread {
    queue: Receiver<Queued>,
    output: Arc<Mutex<Output>>,
    pending: Arc<Pending>,
}

/// Encoder of a connection, and the encoded bytes that have not been sent.
#[derive(Debug)]
struct Output {
    stream: Arc<Stream>,
    data: Arc<Data>,
    replies: Replies,
    bytes: Vec<u8>,
    is_open: bool,
}

/// Number of commands without a reply.
#[derive(Debug, Default)]
struct Pending {
    count: Mutex<usize>,
    decreased: Condvar,
}

impl Outbox {
    /// Creates the outbox of a connection. The thread's side sends the queued answers.
    pub(crate) fn new(stream: Arc<Stream>, data: Arc<Data>, terms: Terms) -> (Self, OutboxThread) {
        let (queue, queued) = mpsc::channel();
        let reads_at_once = data.is_in_memory();
        let output = Arc::new(Mutex::new(Output {
            stream,
            data,
            replies: Replies::new(terms),
            bytes: Vec::new(),
            is_open: true,
        }));
        let pending = Arc::<Pending>::default();
        let thread = OutboxThread {
            queue: queued,
            output: Arc::clone(&output),
            pending: Arc::clone(&pending),
        };
        let outbox = Self {
            queue,
            output,
            pending,
            reads_at_once,
        };
        (outbox, thread)
    }
    /// Counts a command. Waits while the maximum number of commands has no reply.
    pub(crate) fn expect(&self) {
        self.pending.add();
    }
    /// Queues the answer to a command that was counted. The connection may have ended.
    pub(crate) fn queue(&self, answer: Answer) {
        self.push(Queued::Answer(answer));
    }
    /// Sends the answer to a command that was counted, if the reply is short and the socket takes it
    /// at once; queues it otherwise. Never waits for the client.
    pub(crate) fn send(&self, answer: Answer) {
        let bytes = answer.data_bytes();
        if bytes > SHORT || (bytes > 0 && !self.reads_at_once) {
            return self.queue(answer);
        }
        match self.output.try_lock() {
            Ok(mut output) if output.bytes.is_empty() => {
                self.pending.subtract();
                output.append(answer);
                if !output.send_now() {
                    self.push(Queued::Rest);
                }
            }
            _ => self.queue(answer),
        }
    }
    fn push(&self, queued: Queued) {
        // The thread may have ended.
        let _ = self.queue.send(queued);
    }
}

impl OutboxThread {
    /// Sends answers until all outboxes of the connection are dropped. After an error of the stream,
    /// answers are dropped, and the stream is shut down, so no further commands arrive.
    pub(crate) fn run(self) {
        while let Ok(first) = self.queue.recv() {
            let mut output = locked(&self.output);
            for queued in std::iter::once(first).chain(self.queue.try_iter()) {
                if let Queued::Answer(answer) = queued {
                    self.pending.subtract();
                    output.append(answer);
                }
                if output.bytes.len() >= BATCH {
                    output.send_all();
                }
            }
            output.send_all();
        }
    }
}

impl Output {
    /// Encodes an answer, and appends the bytes to those that are to be sent.
    fn append(&mut self, answer: Answer) {
        if !self.is_open {
            return;
        }
        let (replies, out) = (self.replies, &mut self.bytes);
        match answer {
            Answer::Refused { cookie, fault } => replies.failed(cookie, fault, out),
            Answer::Done {
                command,
                fault: Some(fault),
            } => replies.failed(command.cookie, fault, out),
            Answer::Done { command, .. } if command.operation == Operation::Read => {
                self.read(command);
            }
            Answer::Done { command, .. } => replies.done(command.cookie, out),
            Answer::Extents(query) => match self.data.extents(query) {
                Ok(extents) => replies.extents(query.cookie, &extents, out),
                Err(_) => replies.failed(query.cookie, Fault::Io, out),
            },
        }
    }
    fn read(&mut self, command: Command) {
        let Command {
            cookie,
            offset,
            bytes,
            ..
        } = command;
        let start = self.bytes.len();
        self.replies.read(cookie, offset, bytes, &mut self.bytes);
        let data = self.bytes.len();
        self.bytes.resize(data + bytes as usize, 0);
        if self.data.read(offset, &mut self.bytes[data..]).is_err() {
            self.bytes.truncate(start);
            self.replies.failed(cookie, Fault::Io, &mut self.bytes);
        }
    }
    /// Sends all bytes. Waits until the socket takes them.
    fn send_all(&mut self) {
        if !self.bytes.is_empty() {
            let sent = (&*self.stream).write_all(&self.bytes);
            self.bytes.clear();
            self.check(&sent);
        }
        self.bytes.shrink_to(BATCH);
    }
    /// Sends the bytes that the socket takes at once. Returns `false` if bytes are left.
    fn send_now(&mut self) -> bool {
        match self.stream.write_now(&self.bytes) {
            Ok(sent) if sent == self.bytes.len() => self.bytes.clear(),
            Ok(sent) => drop(self.bytes.drain(..sent)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                self.bytes.clear();
                self.check(&Err(error));
            }
        }
        self.bytes.is_empty()
    }
    /// Shuts the stream down after an error.
    fn check(&mut self, sent: &io::Result<()>) {
        if sent.is_err() {
            self.is_open = false;
            self.stream.shutdown(Shutdown::Both);
        }
    }
}

impl Pending {
    fn add(&self) {
        let count = locked(&self.count);
        let waited = self
            .decreased
            .wait_while(count, |count| *count >= MAX_PENDING);
        *waited.unwrap_or_else(PoisonError::into_inner) += 1;
    }
    fn subtract(&self) {
        let mut count = locked(&self.count);
        *count -= 1;
        if *count == MAX_PENDING - 1 {
            self.decreased.notify_one();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
