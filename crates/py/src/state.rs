//! Saved states: checkpoints of runs, and prepared devices.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use wordline_runner::simulation::CheckpointOptions;
use wordline_runner::{JobError, Progress, state};

use crate::{Raised, fail, memory, option, spec, tell};
use wordline_kernel::memory::is_short;

/// Returns the checkpoint settings of `options`; `None` if they have no path. `checkpoint` is the
/// path, `checkpoint_every_s` the interval, and `command` is JSON that is stored in the file.
pub(crate) fn checkpoint_options(
    options: &Bound<'_, PyDict>,
) -> PyResult<Option<CheckpointOptions>> {
    let Some(path) = option(options, "checkpoint")? else {
        return Ok(None);
    };
    let every: f64 = option(options, "checkpoint_every_s")?.unwrap_or(60.0);
    let command: String = option(options, "command")?.unwrap_or_default();
    Ok(Some(CheckpointOptions {
        path,
        every: Duration::try_from_secs_f64(every).map_err(fail)?,
        command: serde_json::from_str(&command).map_err(fail)?,
    }))
}

/// Returns the header of a saved state as JSON.
#[pyfunction]
pub(crate) fn state_header(path: PathBuf) -> PyResult<String> {
    let header = state::header(&path).map_err(fail)?;
    serde_json::to_string(&header).map_err(fail)
}

/// Preconditions a device and saves its state. Returns the size of the file in bytes. `command` is
/// JSON that is stored in the file. No file is written if a signal or `progress` raises an
/// exception.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes them individually")]
pub(crate) fn prepare(
    py: Python<'_>,
    config_text: String,
    config_name: String,
    overrides: Vec<(String, String)>,
    path: PathBuf,
    spare_areas: bool,
    command: &str,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let job = spec(config_text, config_name, overrides, Vec::new(), options)?;
    let command = serde_json::from_str(command).map_err(fail)?;
    let raised = Raised::default();
    memory::reserve();
    let mut watch = |now: &Progress| {
        !is_short() && Python::attach(|py| raised.is_none(py, tell(py, progress.as_ref(), now)))
    };
    let done = py.detach(|| job.prepare(&path, spare_areas, &command, &mut watch));
    if let Some(error) = raised.take() {
        return Err(error);
    }
    match done {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) if is_short() => Err(fail(memory::SHORT_OF)),
        Ok(None) => Err(PyKeyboardInterrupt::new_err(())),
        Err(JobError::Simulation(error)) if error.is_interruption() => {
            Err(PyKeyboardInterrupt::new_err(()))
        }
        Err(error) => Err(fail(error)),
    }
}

/// Returns a key that is equal for devices whose preconditioning has equal results; None if there
/// is nothing to prepare.
#[pyfunction]
pub(crate) fn preparation(
    config_text: String,
    config_name: String,
    overrides: Vec<(String, String)>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Option<String>> {
    let job = spec(config_text, config_name, overrides, Vec::new(), options)?;
    job.preparation().map_err(fail)
}

/// Returns the identifier of the sources of this build. Builds with another identifier may give
/// other results.
#[pyfunction]
pub(crate) fn build() -> &'static str {
    state::BUILD
}

/// Cache of decoded traces, which several runs share.
#[pyclass(module = "wordline._wordline", frozen)]
pub(crate) struct Decoded(wordline_workload::Decoded);

#[pymethods]
impl Decoded {
    #[new]
    fn new() -> Self {
        Self(wordline_workload::Decoded::default())
    }
}

/// Returns the cache of decoded traces in `options`; `None` if there is none.
pub(crate) fn decoded(options: &Bound<'_, PyDict>) -> PyResult<Option<wordline_workload::Decoded>> {
    let Some(given) = options
        .get_item("decoded")?
        .filter(|given| !given.is_none())
    else {
        return Ok(None);
    };
    Ok(Some(given.cast::<Decoded>()?.get().0.clone()))
}
