//! The control socket of a server: status, and faults on demand. Each connection sends one request,
//! a line of JSON, and receives one line of JSON.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::ServeError;
use crate::socket::{CHECK, Socket};
use crate::status::Status;

/// Time that a client may take to send its request, or to receive the response.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum length of a request. Bytes.
const MAX_REQUEST: u64 = 4096;

/// Request on the control socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ControlRequest {
    /// Returns the status: the results of the run so far.
    Status,
    /// Cuts the power: all clients are disconnected, and data that is not durable is lost. Clients
    /// can connect again after the response.
    PowerCut,
    /// Makes a byte range unreadable until it is written.
    ReadError {
        /// Offset of the first byte. Bytes.
        offset: u64,
        /// Length, at least 1. Bytes.
        bytes: u64,
    },
    /// Sets the share of reads that fail at random.
    ReadErrorRate {
        /// Share of the reads, from 0 to 1. Ratio.
        rate: f64,
    },
    /// Multiplies the operation times of a flash die by a factor, for operations that start after
    /// the request.
    SlowDie {
        /// Number of the die.
        die: u32,
        /// Factor, from 0.001 to 1 million; 1 restores the configured times.
        factor: f64,
    },
    /// Makes the device read-only: it rejects writes and TRIMs.
    EndOfLife,
    /// Ends all read errors, and makes the device writable.
    Heal,
}

/// Request that waits for its response.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) request: ControlRequest,
    pub(crate) response: Sender<Response>,
}

/// Result of a request, or the reason why it was refused.
pub(crate) type Response = Result<Answer, String>;

/// Result of a request.
pub(crate) enum Answer {
    Done(Value),
    /// Status. Its JSON is computed later, so that it does not delay the engine.
    Status(Status),
}

impl Answer {
    fn json(self) -> serde_json::Result<String> {
        match self {
            Self::Done(value) => serde_json::to_string(&value),
            Self::Status(status) => status.json(),
        }
    }
}

/// Sends the status to the client that waits for it.
pub(crate) fn send_status(waiting: &Sender<Response>, status: Status) {
    // The client may have disconnected.
    let _ = waiting.send(Ok(Answer::Status(status)));
}

/// Returns the path of the control socket of a server.
pub fn control_socket(socket: &Path) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(".control");
    path.into()
}

/// Control socket, served by its own thread.
#[derive(Debug)]
pub(crate) struct Control {
    ends: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl Control {
    /// Serves the control socket of the server at `socket`. `pass_on` passes a request to the engine.
    pub(crate) fn start(
        socket: &Path,
        pass_on: impl Fn(Asked) + Send + 'static,
    ) -> Result<Self, ServeError> {
        let path = control_socket(socket);
        let listening = Socket::bind_named(&path)?;
        let ends = Arc::<AtomicBool>::default();
        let own = Arc::clone(&ends);
        let thread = thread::Builder::new().name("serve-control".to_owned());
        let serving = thread.spawn(move || {
            while !own.load(Ordering::Relaxed) {
                if let Some(stream) = listening.accept(&CHECK) {
                    // A client that vanished ends its own connection only.
                    let _ = answer(&stream, &pass_on);
                }
            }
        });
        let failed = |error: io::Error| ServeError::socket(&path, error.to_string());
        Ok(Self {
            ends,
            serving: Some(serving.map_err(failed)?),
        })
    }
    /// Closes the control socket. Requests without a response must have been dropped.
    pub(crate) fn close(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(serving) = self.serving.take() {
            // If the thread has panicked, it has ended.
            let _ = serving.join();
        }
    }
}

/// Answers the request of a client.
fn answer(mut stream: &UnixStream, pass_on: &impl Fn(Asked)) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_REQUEST)).read_line(&mut line)?;
    let answer =
        ask(&line, pass_on).and_then(|answer| answer.json().map_err(|error| error.to_string()));
    let response = match answer {
        Ok(result) => format!("{{\"result\":{result}}}"),
        Err(error) => json!({ "error": error }).to_string(),
    };
    stream.write_all(format!("{response}\n").as_bytes())
}

/// Passes a request to the engine, and waits for its response.
fn ask(line: &str, pass_on: &impl Fn(Asked)) -> Response {
    let request = serde_json::from_str(line)
        .map_err(|error| format!("the request is not valid ({error})"))?;
    let (response, result) = mpsc::channel();
    pass_on(Asked { request, response });
    let ended = |_| "the live device has ended".to_owned();
    result.recv().map_err(ended)?
}
