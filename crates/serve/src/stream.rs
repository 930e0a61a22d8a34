//! Streams to clients, and the listeners that accept them: the Unix socket, and a TCP port on
//! request.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendFlags, send};

use crate::error::ServeError;
use crate::socket::{Socket, taken};

/// Flags of a write that neither waits nor raises SIGPIPE. std sets `SO_NOSIGPIPE` on
/// sockets of Apple's systems, which lack the flag.
#[cfg(not(target_vendor = "apple"))]
const AT_ONCE: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
#[cfg(target_vendor = "apple")]
const AT_ONCE: SendFlags = SendFlags::DONTWAIT;

/// TCP port that listens on 127.0.0.1, where every user of this machine can connect.
#[derive(Clone, Debug)]
pub struct Loopback {
    listener: Arc<TcpListener>,
    port: u16,
}

impl Loopback {
    /// Opens a listener on a port of 127.0.0.1; 0 chooses a free port.
    pub fn bind(port: u16) -> Result<Self, ServeError> {
        let failed = |error: io::Error| ServeError::Tcp {
            port,
            fault: error.to_string(),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self {
            listener: Arc::new(listener),
            port,
        })
    }
    /// Returns the number of the TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }
    /// Accepts a waiting client, if there is one. Returns its connection.
    fn take(&self) -> Option<Stream> {
        let (stream, _) = taken(self.listener.accept())?;
        // A reply is sent at once, even if the client has not acknowledged the previous reply.
        stream.set_nodelay(true).ok()?;
        stream.set_nonblocking(false).ok()?;
        Some(Stream::Tcp(stream))
    }
}

/// Listeners of a server.
#[derive(Debug)]
pub(crate) struct Listeners {
    pub(crate) socket: Socket,
    pub(crate) loopback: Option<Loopback>,
}

impl Listeners {
    /// Waits up to `wait` for clients. Returns at most one connection per listener.
    pub(crate) fn accept(&self, wait: &Timespec) -> impl Iterator<Item = Stream> {
        let mut places = vec![PollFd::new(&self.socket.listener, PollFlags::IN)];
        let loopback = self.loopback.as_ref();
        places.extend(loopback.map(|port| PollFd::new(&*port.listener, PollFlags::IN)));
        let is_ready = poll(&mut places, Some(wait)).is_ok_and(|ready| ready > 0);
        let (unix, tcp) = if is_ready {
            (self.socket.take(), loopback.and_then(Loopback::take))
        } else {
            (None, None)
        };
        unix.map(Stream::Unix).into_iter().chain(tcp)
    }
}

/// Stream to a client.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Sets the time that each read and write may take.
    pub(crate) fn set_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => {
                stream.set_read_timeout(time)?;
                stream.set_write_timeout(time)
            }
            Self::Tcp(stream) => {
                stream.set_read_timeout(time)?;
                stream.set_write_timeout(time)
            }
        }
    }
    /// Writes the bytes that the socket takes at once, and returns their number. Fails with
    /// `WouldBlock` if it takes none.
    pub(crate) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let sent = match self {
            Self::Unix(stream) => send(stream, bytes, AT_ONCE),
            Self::Tcp(stream) => send(stream, bytes, AT_ONCE),
        };
        sent.map_err(io::Error::from)
    }
    /// Ends the stream. The client may have closed it already.
    pub(crate) fn shutdown(&self, how: Shutdown) {
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(how),
            Self::Tcp(stream) => stream.shutdown(how),
        };
    }
}

impl Read for &Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&*stream).read(bytes),
            Stream::Tcp(stream) => (&*stream).read(bytes),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&*stream).write(bytes),
            Stream::Tcp(stream) => (&*stream).write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
