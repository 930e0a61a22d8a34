//! Live devices: an NBD server whose requests are timed by a simulated device. It listens on a Unix
//! socket and, on request, on a TCP port of this machine.

#![cfg(unix)]

mod clock;
mod connection;
mod control;
mod data;
mod engine;
mod error;
mod faults;
mod outbox;
pub mod protocol;
mod server;
mod socket;
mod status;
mod stream;
mod undo;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, mpsc};

pub use self::clock::Clock;
use self::connection::{Message, Shared};
use self::control::Control;
pub use self::control::{ControlRequest, control_socket};
use self::data::Data;
use self::engine::{Engine, Parts, PowerCuts};
pub use self::error::ServeError;
use self::protocol::{Export, SECTOR};
use self::server::Server;
use self::socket::Socket;
use self::stream::Listeners;
pub use self::stream::Loopback;
use self::undo::Undo;
use wordline_config::Plan;
use wordline_runner::simulation::Watch;
use wordline_runner::{Done, JobError, RunSpec};
use wordline_workload::Format;
use wordline_workload::convert::TraceWriter;

/// Options of a server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Path of the Unix socket.
    pub socket: PathBuf,
    /// TCP port on 127.0.0.1; `None` for the Unix socket only.
    pub tcp: Option<Loopback>,
    /// Sparse file that holds the data; `None` for data in memory.
    pub data: Option<PathBuf>,
    /// Trace to which the requests of the clients are written, if any.
    pub record: Option<PathBuf>,
    /// Clock of the device.
    pub clock: Clock,
}

/// Serves a device until `stop` is set, and returns the results. `watch` receives the progress; its
/// first report of the phase `Run` means that clients are served.
///
/// The device completes the requests that have arrived when `stop` is set. A watch that returns
/// `false` ends the run at once, and clients get errors.
pub fn serve(
    spec: &RunSpec,
    options: &ServeOptions,
    stop: &Arc<AtomicBool>,
    watch: Watch<'_>,
) -> Result<Done, JobError> {
    let start = |plan: &Plan| Ok(start(spec, options, stop, plan)?);
    let (mut done, engine) = spec.serve(start, watch)?;
    let notes = engine.finish()?;
    done.results.summary.notes.splice(0..0, notes);
    Ok(done)
}

impl From<ServeError> for JobError {
    fn from(error: ServeError) -> Self {
        Self::Server(error.to_string())
    }
}

/// Starts the server of a device. Returns the engine, which simulates the device.
fn start(
    spec: &RunSpec,
    options: &ServeOptions,
    stop: &Arc<AtomicBool>,
    plan: &Plan,
) -> Result<Engine, ServeError> {
    let capacity = plan.user_bytes() - plan.user_bytes() % u64::from(SECTOR);
    let export = Export {
        bytes: capacity,
        description: format!("Wordline: {}", spec.config_name),
    };
    let data = match &options.data {
        Some(path) => Data::in_file(path, capacity)?,
        None => Data::in_memory(),
    };
    let data = Arc::new(data);
    let undo = spec
        .power_cuts_on_demand
        .then(|| Arc::new(Undo::new(capacity, plan.keeps_flushed_data())));
    let record = options.record.as_ref().map(|path| {
        let created = TraceWriter::create(path, Format::Wordline, true);
        created.map_err(|error| ServeError::Record(error.to_string()))
    });
    let record = record.transpose()?;
    let socket = Socket::bind(&options.socket)?;
    let (engine, arrivals) = mpsc::channel();
    let control = {
        let engine = engine.clone();
        // After the end of the engine, the request is dropped, and its client gets an error.
        Control::start(&options.socket, move |asked| {
            drop(engine.send(Message::Asked(asked)));
        })?
    };
    let is_read_only = Arc::<AtomicBool>::default();
    let shared = Shared {
        is_read_only: Arc::clone(&is_read_only),
        export: Arc::new(export),
        data: Arc::clone(&data),
        undo: undo.clone(),
        engine,
    };
    let failed = |error: std::io::Error| ServeError::socket(&options.socket, error.to_string());
    let listeners = Listeners {
        socket,
        loopback: options.tcp.clone(),
    };
    let server = Server::start(listeners, shared).map_err(failed)?;
    let parts = Parts {
        server,
        control,
        arrivals,
        data,
        capacity,
        seed: spec.seed,
        is_read_only,
        power: undo.map(|undo| PowerCuts::new(undo, spec.seed)),
        clock: options.clock,
        stop: Arc::clone(stop),
        record,
    };
    Ok(Engine::new(parts))
}
