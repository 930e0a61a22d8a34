//! Server that accepts connections and ends them.

use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::connection::{Admission, Message, Shared, serve};
use crate::socket::CHECK;
use crate::stream::{Listeners, Stream};

/// Maximum number of connections at a time.
const MAX_CONNECTIONS: usize = 256;
/// Maximum number of additional connections at a time that are refused with a reason. Connections
/// beyond these are closed at once.
const MAX_REFUSALS: usize = 64;
/// Maximum time that the server, when it closes, waits for clients to receive their last replies.
const LAST_REPLIES: Duration = Duration::from_secs(2);

/// Connection: its stream, to shut it down, and its thread.
type Connection = (Arc<Stream>, JoinHandle<()>);

/// Connections of a server.
#[derive(Debug, Default)]
struct Connections {
    open: Mutex<Vec<Connection>>,
    accepted: AtomicU64,
    ends: AtomicBool,
}

/// Server that accepts connections in its own thread until it is closed.
#[derive(Debug)]
pub(crate) struct Server {
    connections: Arc<Connections>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts to accept connections.
    pub(crate) fn start(listeners: Listeners, shared: Shared) -> std::io::Result<Self> {
        let connections = Arc::<Connections>::default();
        let own = Arc::clone(&connections);
        let thread = thread::Builder::new().name("serve-accept".to_owned());
        let accepting = thread.spawn(move || accept(&listeners, &shared, &own))?;
        Ok(Self {
            connections,
            accepting: Some(accepting),
        })
    }
    /// Returns the number of connections served so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.connections.accepted.load(Ordering::Relaxed)
    }
    /// Returns the number of open connections.
    pub(crate) fn connected(&self) -> u64 {
        let open = &self.connections.open;
        let open = open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter()
            .filter(|(_, thread)| !thread.is_finished())
            .count() as u64
    }
    /// Disconnects all clients at once, without replies; new clients can connect afterwards.
    /// `drain` handles the messages that the connections have sent to the engine; it is called
    /// until all connections have ended.
    pub(crate) fn disconnect(&self, mut drain: impl FnMut()) {
        let open = &self.connections.open;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        for (stream, _) in &*open {
            stream.shutdown(Shutdown::Both);
        }
        while !open.iter().all(|(_, thread)| thread.is_finished()) {
            drain();
            thread::sleep(Duration::from_micros(200));
        }
        drain();
        open.clear();
    }
    /// Ends all connections. Commands that have arrived are refused: those in `arrivals`, which the
    /// engine has not received, and those that a connection still has to read. Clients get up to
    /// two seconds to receive their last replies.
    pub(crate) fn close(&mut self, arrivals: Receiver<Message>) {
        self.connections.ends.store(true, Ordering::Relaxed);
        if let Some(accepting) = self.accepting.take() {
            // If the thread has panicked, it has ended.
            let _ = accepting.join();
        }
        let open = &self.connections.open;
        let open = std::mem::take(&mut *open.lock().unwrap_or_else(PoisonError::into_inner));
        for (stream, _) in &open {
            stream.shutdown(Shutdown::Read);
        }
        let until = Instant::now() + LAST_REPLIES;
        loop {
            let has_ended = open.iter().all(|(_, thread)| thread.is_finished());
            for message in arrivals.try_iter() {
                if let Message::Arrived(arrived) = message {
                    arrived.refuse();
                }
            }
            if has_ended || Instant::now() >= until {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        // Connections that have not ended get an error when they send a message, and end.
        drop(arrivals);
        for (stream, thread) in open {
            stream.shutdown(Shutdown::Both);
            let _ = thread.join();
        }
    }
}

fn accept(listeners: &Listeners, shared: &Shared, connections: &Connections) {
    while !connections.ends.load(Ordering::Relaxed) {
        let streams = listeners.accept(&CHECK);
        let open = connections.open.lock();
        let mut open = open.unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, thread)| !thread.is_finished());
        for stream in streams {
            let admission = if open.len() < MAX_CONNECTIONS {
                Admission::Served
            } else if open.len() < MAX_CONNECTIONS + MAX_REFUSALS {
                Admission::Refused
            } else {
                continue;
            };
            let stream = Arc::new(stream);
            let (own, shared) = (Arc::clone(&stream), shared.clone());
            let thread = thread::Builder::new().name("serve-read".to_owned());
            if let Ok(thread) = thread.spawn(move || serve(&own, &shared, admission)) {
                let served = u64::from(admission == Admission::Served);
                connections.accepted.fetch_add(served, Ordering::Relaxed);
                open.push((stream, thread));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::sync::mpsc;

    use super::*;
    use crate::data::Data;
    use crate::protocol::Export;
    use crate::socket::Socket;

    const COMMANDS: u64 = 20;
    const ESHUTDOWN: u32 = 108;

    /// Connects and negotiates with `NBD_OPT_EXPORT_NAME`.
    fn connect(path: &Path) -> UnixStream {
        let mut client = UnixStream::connect(path).unwrap();
        client.read_exact(&mut [0; 18]).unwrap();
        let flags = [0, 0, 0, 3];
        let option = [&b"IHAVEOPT"[..], &[0, 0, 0, 1, 0, 0, 0, 0]].concat();
        client.write_all(&[&flags[..], &option].concat()).unwrap();
        client.read_exact(&mut [0; 10]).unwrap();
        client
    }

    #[test]
    fn commands_that_the_engine_has_not_received_are_refused_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let (engine, arrivals) = mpsc::channel();
        let shared = Shared {
            export: Arc::new(Export {
                bytes: 1 << 20,
                description: String::new(),
            }),
            data: Arc::new(Data::in_memory()),
            undo: None,
            is_read_only: Arc::default(),
            engine: engine.clone(),
        };
        let listeners = Listeners {
            socket: Socket::bind(&path).unwrap(),
            loopback: None,
        };
        let mut server = Server::start(listeners, shared).unwrap();
        let mut client = connect(&path);
        for cookie in 0..COMMANDS {
            let mut command = [0; 28];
            command[..4].copy_from_slice(&0x2560_9513_u32.to_be_bytes());
            command[8..16].copy_from_slice(&cookie.to_be_bytes());
            command[24..].copy_from_slice(&512_u32.to_be_bytes());
            client.write_all(&command).unwrap();
        }
        // All commands have been read, and are in the channel again.
        let read = arrivals.iter().take(COMMANDS as usize);
        for message in read.collect::<Vec<_>>() {
            engine.send(message).unwrap();
        }
        server.close(arrivals);
        let mut replies = Vec::new();
        client.read_to_end(&mut replies).unwrap();
        let (replies, rest) = replies.as_chunks::<16>();
        assert!(rest.is_empty());
        let fields = replies.iter().map(|reply| {
            let error = u32::from_be_bytes(reply[4..8].try_into().unwrap());
            let cookie = u64::from_be_bytes(reply[8..].try_into().unwrap());
            (error, cookie)
        });
        let refused = (0..COMMANDS).map(|cookie| (ESHUTDOWN, cookie));
        assert!(fields.eq(refused));
    }
}
