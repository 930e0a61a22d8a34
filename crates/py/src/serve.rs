//! Live devices.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use wordline_kernel::memory::is_short;
use wordline_runner::JobError;
use wordline_runner::{Phase, Progress};
use wordline_serve::{Clock, ServeOptions};

use crate::{Outcome, Raised, memory, option, refused, spec, tell, told_of_memory};

/// Handle that ends a live device from another thread.
#[pyclass(module = "wordline._wordline", frozen)]
#[derive(Default)]
pub struct Stop {
    ends: Arc<AtomicBool>,
    aborts: AtomicBool,
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }
    /// Ends the device after it has completed the requests that have arrived.
    fn set(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }
    /// Ends the device at once: clients get errors, and the outcome reports an interruption.
    fn abort(&self) {
        self.aborts.store(true, Ordering::Relaxed);
    }
}

/// TCP port on 127.0.0.1 for the clients of one live device.
#[pyclass(module = "wordline._wordline", frozen)]
pub struct Loopback {
    unused: Mutex<Option<wordline_serve::Loopback>>,
    /// Port number.
    #[pyo3(get)]
    port: u16,
}

#[pymethods]
impl Loopback {
    /// Listens on a port; 0 chooses a free one. Raises WordlineError.
    #[new]
    fn new(port: u16) -> PyResult<Self> {
        let bound = wordline_serve::Loopback::bind(port);
        let bound = bound.map_err(|error| refused(JobError::from(error)))?;
        Ok(Self {
            port: bound.port(),
            unused: Mutex::new(Some(bound)),
        })
    }
}

/// Returns the TCP port of the options, which the server owns from then on.
fn loopback(options: &Bound<'_, PyDict>) -> PyResult<Option<wordline_serve::Loopback>> {
    let Some(given) = options.get_item("tcp")? else {
        return Ok(None);
    };
    let unused = &given.cast::<Loopback>()?.get().unused;
    let mut unused = unused.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(unused.take())
}

/// Serves a device until `stop` ends it, and returns the outcome.
///
/// `progress` is called as by `run` until its first call in the phase `run`, which means that clients
/// are served. From then on the device does not need the interpreter, so that a thread that holds it
/// cannot delay replies.
#[pyfunction]
pub fn serve(
    py: Python<'_>,
    config_text: String,
    config_name: String,
    overrides: Vec<(String, String)>,
    options: &Bound<'_, PyDict>,
    stop: &Stop,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let job = spec(config_text, config_name, overrides, Vec::new(), options)?;
    let scale: Option<f64> = option(options, "scale")?;
    let think_time = option(options, "think_time")?.unwrap_or_default();
    let serve = ServeOptions {
        socket: option(options, "socket")?.unwrap_or_else(|| PathBuf::from("wordline.sock")),
        tcp: loopback(options)?,
        data: option(options, "data")?,
        record: option(options, "record")?,
        clock: scale.map_or(Clock::Simulated { think_time }, |scale| Clock::Real {
            scale,
        }),
    };
    let raised = Raised::default();
    memory::reserve();
    let mut is_ready = false;
    let mut watch = |now: &Progress| {
        if is_short() || stop.aborts.load(Ordering::Relaxed) {
            return false;
        }
        if is_ready {
            return true;
        }
        is_ready = now.phase == Phase::Run;
        Python::attach(|py| raised.is_none(py, tell(py, progress.as_ref(), now)))
    };
    let done = py.detach(|| wordline_serve::serve(&job, &serve, &stop.ends, &mut watch));
    if let Some(error) = raised.take() {
        return Err(error);
    }
    done.map(told_of_memory).map_err(refused)
}
