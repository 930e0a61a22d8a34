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

/// Ends a live device from another thread.
#[pyclass(module = "wordline._wordline", frozen)]
pub struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }
    /// Ends the device: it completes the requests that have arrived.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// TCP port on 127.0.0.1 for the clients of one live device.
#[pyclass(module = "wordline._wordline", frozen)]
pub struct Loopback {
    unused: Mutex<Option<wordline_serve::Loopback>>,
    /// Port.
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

/// Serves a device until `stop` is set or a signal arrives, and returns the outcome.
///
/// `progress` is called as by `run`; its first call in the phase `run` means that clients are
/// served. From then on the first KeyboardInterrupt ends the device as `stop` does. An earlier or a
/// second one interrupts the run, which the outcome reports.
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
    let serve = ServeOptions {
        socket: option(options, "socket")?.unwrap_or_else(|| PathBuf::from("wordline.sock")),
        tcp: loopback(options)?,
        data: option(options, "data")?,
        record: option(options, "record")?,
        clock: scale.map_or(Clock::Simulated, |scale| Clock::Real { scale }),
    };
    let raised = Raised::default();
    memory::reserve();
    let mut is_interrupted = false;
    let mut watch = |now: &Progress| {
        if is_short() {
            return false;
        }
        if Python::attach(|py| raised.is_none(py, tell(py, progress.as_ref(), now))) {
            return true;
        }
        stop.set();
        let is_first = !std::mem::replace(&mut is_interrupted, true);
        is_first && now.phase == Phase::Run
    };
    let done = py.detach(|| wordline_serve::serve(&job, &serve, &stop.0, &mut watch));
    if let Some(error) = raised.take() {
        return Err(error);
    }
    done.map(told_of_memory).map_err(refused)
}
