//! A connection: the negotiation, and the thread that reads commands.

use std::io::{self, BufReader, Cursor, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use crate::control::Asked;
use crate::data::Data;
use crate::outbox::{Answer, Outbox};
use crate::protocol::{
    Command, Export, Fault, HEADER_BYTES, Handshake, Operation, Received, Stage, Terms,
};
use crate::stream::Stream;
use crate::undo::{Serial, Undo};

/// Time that a client may take for the negotiation.
const NEGOTIATION: Duration = Duration::from_secs(10);
const BUFFER: usize = 256 << 10;
/// Message for a client that is refused.
const FULL: &str = "the server already has the maximum of 256 connections; close one of them";

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
    /// Outbox of the connection, for the answer.
    pub(crate) outbox: Arc<Outbox>,
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
        self.outbox.queue(Answer::Done { command, fault });
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
pub(crate) fn serve(stream: &Arc<Stream>, shared: &Shared, admission: Admission) {
    let mut out = Vec::new();
    let handshake = match admission {
        Admission::Served => Handshake::start(&mut out),
        Admission::Refused => Handshake::refuse(FULL, &mut out),
    };
    let served =
        negotiate(stream, &shared.export, handshake, out, NEGOTIATION).and_then(
            |input| match input {
                Some((terms, input)) => transmit(stream, shared, terms, input),
                None => Ok(()),
            },
        );
    // A client that vanished or broke the protocol ends its own connection only.
    drop(served);
    // The server holds the stream as well, so dropping it here would leave the connection open.
    stream.shutdown(Shutdown::Both);
}

/// Negotiates with a client, which may take `patience`. Returns the terms and the input received
/// after the negotiation, or `None` if the connection ends.
fn negotiate(
    mut stream: &Stream,
    export: &Export,
    mut handshake: Handshake,
    mut out: Vec<u8>,
    patience: Duration,
) -> io::Result<Option<(Terms, Vec<u8>)>> {
    let until = Instant::now() + patience;
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
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_timeout(Some(left))?;
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
fn transmit(stream: &Arc<Stream>, shared: &Shared, terms: Terms, input: Vec<u8>) -> io::Result<()> {
    let (outbox, sender) = Outbox::new(Arc::clone(stream), Arc::clone(&shared.data), terms);
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("serve-write".to_owned());
        let thread = thread.spawn_scoped(scope, move || sender.run())?;
        let rest = BufReader::with_capacity(BUFFER, &**stream);
        let mut reader = Reader {
            input: Cursor::new(input).chain(rest),
            shared,
            terms,
            outbox: Arc::new(outbox),
            payload: Vec::new(),
        };
        let read = reader.read_all();
        // The other thread ends when the engine has answered the last command.
        drop(reader);
        // If that thread has panicked, the connection has ended.
        let _ = thread.join();
        read
    })
}

struct Reader<'a, I> {
    input: I,
    shared: &'a Shared,
    terms: Terms,
    outbox: Arc<Outbox>,
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
                Received::Query(query) => self.answer(Answer::Extents(query)),
                Received::Refused {
                    cookie,
                    fault,
                    payload,
                } => {
                    let mut rest = self.input.by_ref().take(u64::from(payload));
                    io::copy(&mut rest, &mut io::sink())?;
                    self.answer(Answer::Refused { cookie, fault });
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
            self.answer(Answer::Done { command, fault });
            return Ok(());
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
                self.answer(Answer::Done { command, fault });
                return Ok(());
            }
        };
        self.outbox.expect();
        let arrived = Arrived {
            command,
            serial,
            at: Instant::now(),
            outbox: Arc::clone(&self.outbox),
        };
        if self.shared.engine.send(Message::Arrived(arrived)).is_err() {
            let fault = Some(Fault::ShuttingDown);
            self.outbox.queue(Answer::Done { command, fault });
        }
        Ok(())
    }
    /// Queues an answer that needs no simulated time.
    fn answer(&self, answer: Answer) {
        self.outbox.expect();
        self.outbox.queue(answer);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_client_that_sends_byte_by_byte_cannot_prolong_the_negotiation() {
        let (mut client, server) = UnixStream::pair().unwrap();
        let server = Stream::Unix(server);
        let negotiation = thread::spawn(move || {
            let export = Export {
                bytes: 4096,
                description: String::new(),
            };
            let mut out = Vec::new();
            let handshake = Handshake::start(&mut out);
            let patience = Duration::from_millis(100);
            negotiate(&server, &export, handshake, out, patience).map(|_| ())
        });
        // The flags, and the start of an option with 4096 bytes of data.
        let message = [&[0, 0, 0, 3][..], b"IHAVEOPT", &[0, 0, 0, 6, 0, 0, 16, 0]].concat();
        let mut bytes = message.into_iter().chain(std::iter::repeat_n(0, 4096));
        while !negotiation.is_finished() {
            let next = bytes
                .next()
                .expect("the negotiation ends before the message");
            // The server has closed the stream once it has ended.
            let _ = client.write_all(&[next]);
            thread::sleep(Duration::from_millis(5));
        }
        let kind = negotiation.join().unwrap().unwrap_err().kind();
        assert!(matches!(
            kind,
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
        ));
    }
}
