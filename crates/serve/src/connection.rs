//! A connection: one thread that reads commands, and one that writes replies.

use std::io::{self, BufReader, BufWriter, Cursor, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use crate::control::Asked;
use crate::data::Data;
use crate::protocol::{
    Command, Export, Fault, HEADER_BYTES, Handshake, Operation, Query, Received, Replies, Stage,
    Terms,
};
use crate::stream::Stream;
use crate::undo::{Serial, Undo};

/// Time that a client may take for each message of the negotiation.
const NEGOTIATION: Duration = Duration::from_secs(10);
/// Maximum number of commands of a connection without a reply. Further commands wait in the socket.
const MAX_PENDING: usize = 4096;
const BUFFER: usize = 256 << 10;
/// Message for a client that is refused.
const FULL: &str = "the server already has the maximum of 256 connections; close one of them";

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

/// Message to the engine.
#[derive(Debug)]
pub(crate) enum Message {
    /// A client sent a command.
    Arrived(Arrived),
    /// A client of the control socket sent a request.
    Asked(Asked),
}

/// Command that a client sent, for the engine.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) command: Command,
    /// Serial number of a write, if power cuts are possible.
    pub(crate) serial: Option<Serial>,
    /// Time at which the whole command had been received.
    pub(crate) at: Instant,
    /// Channel for the answers to the connection.
    pub(crate) answers: Arc<Sender<Answer>>,
}

/// Parts of a server that each connection uses.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) export: Arc<Export>,
    pub(crate) data: Arc<Data>,
    /// Undo log, if power cuts are possible.
    pub(crate) undo: Option<Arc<Undo>>,
    /// Whether writes and TRIMs are rejected.
    pub(crate) is_read_only: Arc<AtomicBool>,
    pub(crate) engine: Sender<Message>,
}

impl Arrived {
    /// Refuses the command, because the connection ends.
    pub(crate) fn refuse(self) {
        let fault = Some(Fault::ShuttingDown);
        let command = self.command;
        // The client may have disconnected.
        let _ = self.answers.send(Answer::Done { command, fault });
    }
}

impl Shared {
    /// Returns `true` if a command would change data and the device is read-only.
    fn rejects(&self, command: &Command) -> bool {
        let changes = !matches!(command.operation, Operation::Read | Operation::Flush);
        changes && self.is_read_only.load(Ordering::Relaxed)
    }
    /// Applies a command to the data. Returns the serial number of a write, if power cuts are
    /// possible.
    fn apply(&self, command: &Command, payload: &[u8]) -> io::Result<Option<Serial>> {
        let data = &*self.data;
        let (offset, bytes) = (command.offset, u64::from(command.bytes));
        let may_discard = match command.operation {
            Operation::Write => {
                return match &self.undo {
                    Some(undo) => undo.write(data, offset, payload).map(Some),
                    None => data.write(offset, payload).map(|()| None),
                };
            }
            Operation::Trim => true,
            Operation::Zero { may_discard } => may_discard,
            Operation::Read | Operation::Flush => return Ok(None),
        };
        match &self.undo {
            Some(undo) => undo.zero(data, offset, bytes, may_discard)?,
            None => data.zero(offset, bytes, may_discard)?,
        }
        Ok(None)
    }
}

/// Admission decision for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The client may use the device.
    Served,
    /// There are too many clients. The negotiation reports this to the client.
    Refused,
}

/// Serves a client until it disconnects, or until the stream is shut down.
pub(crate) fn serve(stream: &Stream, shared: &Shared, admission: Admission) {
    let mut out = Vec::new();
    let handshake = match admission {
        Admission::Served => Handshake::start(&mut out),
        Admission::Refused => Handshake::refuse(FULL, &mut out),
    };
    let served = negotiate(stream, &shared.export, handshake, out).and_then(|input| match input {
        Some((terms, input)) => transmit(stream, shared, terms, input),
        None => Ok(()),
    });
    // A client that vanished or broke the protocol ends its own connection only.
    drop(served);
    // The server holds the stream as well, so dropping it here would leave the connection open.
    stream.shutdown(Shutdown::Both);
}

/// Negotiates with a client. Returns the terms and the input received after the negotiation, or
/// `None` if the connection ends.
fn negotiate(
    mut stream: &Stream,
    export: &Export,
    mut handshake: Handshake,
    mut out: Vec<u8>,
) -> io::Result<Option<(Terms, Vec<u8>)>> {
    stream.set_timeout(Some(NEGOTIATION))?;
    let mut input = Vec::new();
    let mut part = [0; 4096];
    loop {
        let mut handled = 0;
        loop {
            let step = handshake.advance(export, &input[handled..], &mut out);
            handled += step;
            if step == 0 {
                break;
            }
        }
        input.drain(..handled);
        stream.write_all(&out)?;
        out.clear();
        match handshake.stage() {
            Stage::Transmission => break,
            Stage::Closed => return Ok(None),
            Stage::Flags | Stage::Options => {}
        }
        match stream.read(&mut part)? {
            0 => return Ok(None),
            length => input.extend(&part[..length]),
        }
    }
    stream.set_timeout(None)?;
    Ok(Some((handshake.terms(), input)))
}

/// Reads commands until the client disconnects, and waits for the last reply.
fn transmit(stream: &Stream, shared: &Shared, terms: Terms, input: Vec<u8>) -> io::Result<()> {
    let mut writer = Writer {
        out: BufWriter::with_capacity(BUFFER, stream),
        data: &shared.data,
        replies: Replies::new(terms),
        reply: Vec::new(),
        is_open: true,
    };
    let (answers, replies) = mpsc::channel();
    let (pending, done) = mpsc::sync_channel(MAX_PENDING);
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("serve-write".to_owned());
        let thread = thread.spawn_scoped(scope, move || writer.write_all(&replies, &done))?;
        let rest = BufReader::with_capacity(BUFFER, stream);
        let mut reader = Reader {
            input: Cursor::new(input).chain(rest),
            shared,
            terms,
            answers: Arc::new(answers),
            pending,
            payload: Vec::new(),
        };
        let read = reader.read_all();
        // The writer ends when the engine has answered the last command.
        drop(reader);
        // If the writer has panicked, the connection has ended.
        let _ = thread.join();
        read
    })
}

struct Reader<'a, I> {
    input: I,
    shared: &'a Shared,
    terms: Terms,
    answers: Arc<Sender<Answer>>,
    pending: SyncSender<()>,
    payload: Vec<u8>,
}

impl<I: Read> Reader<'_, I> {
    fn read_all(&mut self) -> io::Result<()> {
        let mut header = [0; HEADER_BYTES];
        loop {
            self.input.read_exact(&mut header)?;
            match Received::decode(&header, self.terms, self.shared.export.bytes) {
                Received::Disconnect | Received::Garbage => return Ok(()),
                Received::Command(command) => self.execute(command)?,
                Received::Query(query) => self.answer(Answer::Extents(query))?,
                Received::Refused {
                    cookie,
                    fault,
                    payload,
                } => {
                    let mut rest = self.input.by_ref().take(u64::from(payload));
                    io::copy(&mut rest, &mut io::sink())?;
                    self.answer(Answer::Refused { cookie, fault })?;
                }
            }
        }
    }
    /// Applies a command to the data, and passes it to the engine.
    fn execute(&mut self, command: Command) -> io::Result<()> {
        if command.operation == Operation::Write {
            self.payload.resize(command.bytes as usize, 0);
            self.input.read_exact(&mut self.payload)?;
        }
        if self.shared.rejects(&command) {
            let fault = Some(Fault::Io);
            return self.answer(Answer::Done { command, fault });
        }
        let applied = self.shared.apply(&command, &self.payload);
        self.payload.clear();
        self.payload.shrink_to(BUFFER);
        let serial = match applied {
            Ok(serial) => serial,
            Err(error) => {
                let fault = match error.kind() {
                    io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge => Fault::NoSpace,
                    _ => Fault::Io,
                };
                let fault = Some(fault);
                return self.answer(Answer::Done { command, fault });
            }
        };
        self.count()?;
        let arrived = Arrived {
            command,
            serial,
            at: Instant::now(),
            answers: Arc::clone(&self.answers),
        };
        let sent = self.shared.engine.send(Message::Arrived(arrived));
        sent.or_else(|_| {
            let fault = Some(Fault::ShuttingDown);
            let answer = Answer::Done { command, fault };
            self.answers.send(answer).map_err(|_| ended())
        })
    }
    /// Sends an answer that needs no simulated time.
    fn answer(&self, answer: Answer) -> io::Result<()> {
        self.count()?;
        self.answers.send(answer).map_err(|_| ended())
    }
    /// Counts a pending command. Waits while the maximum number of commands is pending.
    fn count(&self) -> io::Result<()> {
        self.pending.send(()).map_err(|_| ended())
    }
}

fn ended() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// Writing side of a connection.
struct Writer<'a> {
    out: BufWriter<&'a Stream>,
    data: &'a Data,
    replies: Replies,
    reply: Vec<u8>,
    is_open: bool,
}

impl Writer<'_> {
    /// Writes replies until all commands are answered. After an error of the stream, replies are
    /// dropped, and the reader ends.
    fn write_all(&mut self, answers: &Receiver<Answer>, done: &Receiver<()>) {
        while let Some(answer) = self.next(answers) {
            // The reader has already counted the command.
            let _ = done.try_recv();
            if self.is_open {
                self.encode(answer);
                let written = self.out.write_all(&self.reply);
                self.check(&written);
                self.reply.clear();
                self.reply.shrink_to(BUFFER);
            }
        }
        self.flush();
    }
    /// Returns the next answer. Flushes the output before it waits.
    fn next(&mut self, answers: &Receiver<Answer>) -> Option<Answer> {
        if let Ok(answer) = answers.try_recv() {
            return Some(answer);
        }
        self.flush();
        answers.recv().ok()
    }
    fn flush(&mut self) {
        if self.is_open {
            let flushed = self.out.flush();
            self.check(&flushed);
        }
    }
    /// Closes the stream after an error.
    fn check(&mut self, result: &io::Result<()>) {
        if result.is_err() {
            self.is_open = false;
            self.out.get_ref().shutdown(Shutdown::Both);
        }
    }
    fn encode(&mut self, answer: Answer) {
        let (replies, out) = (self.replies, &mut self.reply);
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
        self.replies.read(cookie, offset, bytes, &mut self.reply);
        let start = self.reply.len();
        self.reply.resize(start + bytes as usize, 0);
        if self.data.read(offset, &mut self.reply[start..]).is_err() {
            self.reply.clear();
            self.replies.failed(cookie, Fault::Io, &mut self.reply);
        }
    }
}
