//! Extension module `wordline._wordline`, through which Python uses the simulator. It only converts
//! arguments and results; the public interface is the package `wordline` around it.

mod bench;
mod cache;
mod growth;
mod memory;
mod package;
mod policy;
#[cfg(unix)]
mod serve;
mod state;
mod text;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use serde_json::{Value, json};
use wordline_block::{LatencyComponent, Shown};
use wordline_config::presets;
use wordline_kernel::Time;
use wordline_kernel::memory::is_short;
use wordline_observe::Table;
use wordline_runner::{Done, JobError, Phase, Progress, RunSpec, TimelineOptions};
use wordline_workload::convert::{Cancellation, convert_trace_until};
use wordline_workload::stat::{IdleRule, stat_trace};
use wordline_workload::{Format, Recordings, Trace, TraceOptions, WorkloadError};

use crate::cache::{beside, beside_until};

pyo3::create_exception!(
    wordline,
    WordlineError,
    pyo3::exceptions::PyException,
    "The request cannot be fulfilled. The message names the place, the fault and the remedy."
);

/// Returns an error as a Python exception. Names of parameters are spelled for the caller
/// (`wordline._api.spelling`).
fn fail(error: impl std::fmt::Display) -> PyErr {
    let text = error.to_string();
    let spelled = Python::attach(|py| {
        let spelling = py.import("wordline._api.spelling")?;
        let message = spelling.call_method1("message", (&text,))?;
        message.extract::<String>()
    });
    WordlineError::new_err(spelled.unwrap_or(text))
}

/// Table of results, which supports `__arrow_c_stream__`.
#[pyclass(name = "Table", module = "wordline._wordline", frozen)]
struct PyTable(Table);

#[pymethods]
impl PyTable {
    /// Returns the table as an Arrow C stream capsule that shares its memory.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        PyCapsule::new_with_value(py, self.0.stream(), c"arrow_array_stream")
    }
    fn __len__(&self) -> usize {
        self.0.rows()
    }
    /// Returns the table as an Arrow IPC stream.
    fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_ipc()).map_err(fail)?;
        Ok(PyBytes::new(py, &bytes))
    }
    /// Reads a table from an Arrow IPC stream.
    #[staticmethod]
    fn from_ipc(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| Table::from_ipc(bytes)).map(Self).map_err(fail)
    }
    /// Writes the table as a Parquet file, atomically.
    fn write_parquet(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.write_parquet(&path)).map_err(fail)
    }
}

/// Outcome of a run.
#[pyclass(module = "wordline._wordline", frozen)]
struct Outcome(Done);

#[pymethods]
impl Outcome {
    /// Whether the run ended before the end of its input.
    #[getter]
    fn partial(&self) -> bool {
        self.0.results.summary.partial
    }
    /// Reason why the run ended early; None if it did not.
    #[getter]
    fn error(&self) -> Option<String> {
        self.0.results.summary.error.clone()
    }
    /// Whether the user interrupted the run.
    #[getter]
    fn interrupted(&self) -> bool {
        self.0.results.interrupted
    }
    /// Names of the run's tables.
    #[getter]
    fn tables(&self) -> Vec<&'static str> {
        self.0.results.tables()
    }
    /// Number of simulated requests of all streams.
    #[getter]
    fn requests(&self) -> u64 {
        self.0.results.summary.input.requests
    }
    /// Returns the summary, which is the content of summary.json.
    fn summary_text(&self) -> String {
        text::python_json(&self.0.results.summary_json())
    }
    /// Returns the complete configuration as TOML.
    fn config_toml(&self) -> String {
        self.0.resolved_toml.clone()
    }
    /// Returns the table of this name. Raises KeyError if the run does not have it.
    fn table(&self, name: &str) -> PyResult<PyTable> {
        self.find(name).map(PyTable)
    }
    /// Writes a table as a Parquet file, atomically.
    fn write_table(&self, py: Python<'_>, name: &str, path: PathBuf) -> PyResult<()> {
        let table = self.find(name)?;
        py.detach(|| table.write_parquet(&path)).map_err(fail)
    }
}

impl Outcome {
    fn find(&self, name: &str) -> PyResult<Table> {
        match self.0.results.table(name) {
            Some(table) => table.map_err(fail),
            None => Err(PyKeyError::new_err(format!("this run has no table {name}"))),
        }
    }
}

/// Returns `read` with the trace-reading settings of `options`.
fn trace_options(mut read: TraceOptions, options: &Bound<'_, PyDict>) -> PyResult<TraceOptions> {
    for key in [
        "format",
        "columns",
        "on_bad_line",
        "time_gaps",
        "time_order",
        "align",
        "volumes",
        "fit",
    ] {
        if let Some(word) = option::<String>(options, key)? {
            read.set(key, &word).map_err(fail)?;
        }
    }
    Ok(read)
}

/// Returns the timeline settings of `options`; `None` if no timeline is requested.
fn timeline_options(options: &Bound<'_, PyDict>) -> PyResult<Option<TimelineOptions>> {
    let Some(path) = option(options, "timeline")? else {
        return Ok(None);
    };
    let from: Option<u64> = option(options, "timeline_from_ps")?;
    let until: Option<u64> = option(options, "timeline_until_ps")?;
    Ok(Some(TimelineOptions {
        path,
        from: Time(from.unwrap_or(0)),
        until: until.map(Time),
    }))
}

fn option<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    options: &Bound<'py, PyDict>,
    key: &str,
) -> PyResult<Option<T>> {
    match options.get_item(key)? {
        Some(value) if !value.is_none() => value.extract().map(Some),
        _ => Ok(None),
    }
}

/// Runs a device on traces, on the load of its `[workload]` table, or on the `streams` of the
/// options. A stream is given as a name and its traces.
///
/// The interpreter is released while the simulator runs, unless the buffer has a Python policy
/// (option `buffer`: a name and a callable; see `policy`). `progress` is called about ten times a
/// second. An exception from it, or Ctrl-C, ends the run with the results so far. A
/// KeyboardInterrupt is not raised; the outcome reports `interrupted` instead. Other exceptions are
/// raised. If the options have a list `kept`, the outcome is appended to the list, so that a later
/// signal cannot lose the outcome.
#[pyfunction]
fn run(
    py: Python<'_>,
    config_text: String,
    config_name: String,
    overrides: Vec<(String, String)>,
    traces: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<Outcome>> {
    let job = spec(config_text, config_name, overrides, traces, options)?;
    let raised = Raised::default();
    memory::reserve();
    let mut watch = |now: &Progress| {
        if is_short() {
            return false;
        }
        Python::attach(|py| raised.is_none(py, tell(py, progress.as_ref(), now)))
    };
    let recordings = raised.recordings();
    let done = if job.buffer_policy.is_some() {
        // Python is called at every request. The code of the policy lets other threads run.
        job.run_of(&recordings, &mut watch)
    } else {
        py.detach(|| job.run_of(&recordings, &mut watch))
    };
    if let Some(error) = raised.take() {
        return Err(error);
    }
    let outcome = done.map(told_of_memory).map_err(refused)?;
    let outcome = Py::new(py, outcome)?;
    if let Some(kept) = options.get_item("kept")? {
        kept.cast::<PyList>()?.append(&outcome)?;
    }
    Ok(outcome)
}

/// Returns the exception of a run that could not start or that ended with an error.
fn refused(error: JobError) -> PyErr {
    match error {
        JobError::Simulation(error) if error.is_interruption() => PyKeyboardInterrupt::new_err(()),
        JobError::Workload(error) => unreadable(error),
        error => fail(error),
    }
}

/// Returns the specification of a run from its Python arguments.
fn spec(
    config: String,
    config_name: String,
    overrides: Vec<(String, String)>,
    traces: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
) -> PyResult<RunSpec> {
    Ok(RunSpec {
        config,
        config_name,
        overrides,
        traces,
        streams: option(options, "streams")?.unwrap_or_default(),
        trace_options: trace_options(TraceOptions::default(), options)?,
        seed: option(options, "seed")?.unwrap_or(1),
        requests: option(options, "requests")?.unwrap_or(false),
        verify: option(options, "verify")?.unwrap_or(false),
        max_requests: option(options, "max_requests")?,
        power_cut_every: option(options, "power_cut_every")?,
        power_cuts_on_demand: option(options, "power_cuts")?.unwrap_or_default(),
        timeline: timeline_options(options)?,
        slowdown: option(options, "slowdown")?.unwrap_or(false),
        buffer_policy: option(options, "buffer")?
            .map(|(name, callable)| policy::maker(name, callable)),
        checkpoint: state::checkpoint_options(options)?,
        decoded: state::decoded(options)?,
        prepared: option(options, "prepared")?,
        resume: option(options, "resume")?,
        watch_events: false,
    })
}

/// Exception raised while the simulator runs. A KeyboardInterrupt also ends the run, but is not
/// stored, because the run reports it.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Returns `true` if the calls raised no exception, so that the run may continue. Otherwise
    /// stores the exception.
    fn is_none(&self, py: Python<'_>, heard: PyResult<()>) -> bool {
        let Err(error) = heard else { return true };
        if !error.is_instance_of::<PyKeyboardInterrupt>(py)
            && let Ok(mut raised) = self.0.lock()
        {
            *raised = Some(error);
        }
        false
    }
    fn take(&self) -> Option<PyErr> {
        self.0.lock().ok()?.take()
    }
    /// Returns trace files whose reading stops when a signal raises an exception.
    fn recordings(&self) -> Recordings {
        let raised = self.clone();
        Recordings::new(Arc::new(move || {
            Python::attach(|py| !raised.is_none(py, py.check_signals()))
        }))
    }
}

/// Checker of the inputs of runs, which checks each input once.
#[pyclass(module = "wordline._wordline", frozen)]
struct Inputs {
    decoded: wordline_workload::Decoded,
    known: Mutex<HashMap<String, Option<String>>>,
}

#[pymethods]
impl Inputs {
    #[new]
    fn new() -> Self {
        Self {
            decoded: wordline_workload::Decoded::default(),
            known: Mutex::default(),
        }
    }
    /// Returns the error if the input of a run cannot be read to its end or does not fit the
    /// device; None if it is valid. The parameters are those of `run`.
    fn fault(
        &self,
        py: Python<'_>,
        config_text: String,
        config_name: String,
        overrides: Vec<(String, String)>,
        traces: Vec<PathBuf>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Option<String>> {
        let mut job = spec(config_text, config_name, overrides, traces, options)?;
        job.decoded = Some(self.decoded.clone());
        let key = job.input_key().map_err(refused)?;
        if let Some(fault) = self.known.lock().map_err(fail)?.get(&key) {
            return Ok(fault.clone());
        }
        let recordings = Raised::default().recordings();
        let fault = match py.detach(|| job.check_input(&recordings)) {
            Ok(()) => None,
            Err(JobError::Workload(error)) if error.is_interruption() => {
                return Err(unreadable(error));
            }
            Err(error) => Some(error.to_string()),
        };
        self.known.lock().map_err(fail)?.insert(key, fault.clone());
        Ok(fault)
    }
}

/// Returns the exception for a trace that cannot be read, or whose reading the user interrupted.
fn unreadable(error: WorkloadError) -> PyErr {
    if error.is_interruption() {
        return PyKeyboardInterrupt::new_err(());
    }
    fail(error)
}

/// Adds the error to the outcome if the run ended because memory ran out.
fn told_of_memory(mut done: Done) -> Outcome {
    let results = &mut done.results;
    if is_short() && results.summary.partial {
        results.interrupted = false;
        results.summary.error = Some(memory::SHORT_OF.to_owned());
    }
    Outcome(done)
}

fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, now: &Progress) -> PyResult<()> {
    py.check_signals()?;
    let Some(progress) = progress else {
        return Ok(());
    };
    let report = PyDict::new(py);
    let phase = match now.phase {
        Phase::Precondition => "precondition",
        Phase::Run => "run",
        Phase::Alone => "alone",
    };
    report.set_item("phase", phase)?;
    report.set_item("simulated_s", now.now.as_secs())?;
    report.set_item("requests", now.done)?;
    report.set_item("requests_total", py.None())?;
    report.set_item("fraction", now.fraction)?;
    progress.call1(py, (report,)).map(drop)
}

/// Returns the statistics of a trace as JSON.
#[pyfunction]
fn trace_stat(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let rule = idle_rule(options)?;
    let mut options = trace_options(TraceOptions::as_recorded(), options)?;
    options.times_may_be_unknown = true;
    let stat = beside(py, None, move |recordings, _| {
        stat_trace(&mut Trace::of(&recordings, &paths, &options)?, rule)
    })?;
    serde_json::to_string(&stat).map_err(fail)
}

/// Returns the rule for idle periods in `options`.
fn idle_rule(options: &Bound<'_, PyDict>) -> PyResult<IdleRule> {
    let number = |key, default| Ok::<f64, PyErr>(option(options, key)?.unwrap_or(default));
    IdleRule::new(
        number("idle_threshold_s", 1.0)?,
        number("page_read_us", 0.0)?,
        number("page_program_us", 0.0)?,
    )
    .map_err(fail)
}

/// Writes a trace in another format. Returns as JSON what was lost. A signal that raises an
/// exception stops the conversion, and no file remains.
#[pyfunction]
fn trace_convert(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    out: PathBuf,
    to: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let options = trace_options(TraceOptions::as_recorded(), options)?;
    let to: Format = to.parse().map_err(fail)?;
    let stop = Cancellation::default();
    let heard = stop.clone();
    let done = beside_until(
        py,
        None,
        || stop.stop(),
        move |recordings, _| {
            let mut trace = Trace::of(&recordings, &paths, &options)?;
            convert_trace_until(&mut trace, &out, to, &heard)
        },
    )?;
    serde_json::to_string(&done).map_err(fail)
}

/// Returns the trace formats as JSON.
#[pyfunction]
fn formats() -> String {
    let all = Format::ALL.iter().map(|format| {
        json!({
            "name": format.name(),
            "extension": format.extension(),
            "description": format.description(),
        })
    });
    Value::from_iter(all).to_string()
}

/// Returns the policies of all slots as JSON.
#[pyfunction]
fn policies() -> String {
    let all = wordline_config::policies().into_iter().map(|member| {
        json!({
            "family": member.family,
            "question": member.question,
            "name": member.name,
            "description": member.description,
            "paper": member.paper,
        })
    });
    Value::from_iter(all).to_string()
}

/// Returns the presets, as JSON.
#[pyfunction(name = "presets")]
fn all_presets() -> String {
    let all = presets::all().into_iter().map(|preset| {
        json!({
            "name": preset.name,
            "description": preset.description,
            "source": preset.source,
            "text": preset.text,
        })
    });
    Value::from_iter(all).to_string()
}

/// Returns the TOML text of the preset of this name; None if there is no such preset.
#[pyfunction]
fn preset_text(name: &str) -> Option<&'static str> {
    presets::text(name).ok()
}

/// Returns the names of all tables that a run may produce.
#[pyfunction]
fn tables() -> Vec<&'static str> {
    wordline_runner::TABLES.to_vec()
}

/// Returns the metrics of a summary as JSON.
#[pyfunction]
fn metrics() -> String {
    let all = wordline_runner::metrics::all().into_iter().map(|metric| {
        json!({
            "name": metric.name,
            "unit": metric.unit,
            "description": metric.description,
        })
    });
    Value::from_iter(all).to_string()
}

/// Returns the latency components as JSON.
#[pyfunction]
fn parts() -> String {
    let all = LatencyComponent::ALL.iter().map(|part| {
        json!({
            "name": part.name,
            "figure": part.figure,
            "colour": part.colour,
            "always": part.shown == Shown::Always,
        })
    });
    Value::from_iter(all).to_string()
}

/// Checks a configuration. Raises WordlineError if it is invalid.
#[pyfunction]
fn config_check(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<()> {
    let loaded = wordline_config::load(text, name, &overrides).map_err(fail)?;
    loaded.plan(0).map(drop).map_err(fail)
}

/// Returns the capacity of a device that the host can address, in bytes.
#[pyfunction]
fn config_capacity(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<u64> {
    let loaded = wordline_config::load(text, name, &overrides).map_err(fail)?;
    loaded.plan(0).map(|plan| plan.user_bytes()).map_err(fail)
}

/// Returns the JSON schema of a configuration.
#[pyfunction]
fn config_schema() -> String {
    wordline_config::schema().to_string()
}

/// Returns a configuration as TOML with every key.
#[pyfunction]
fn config_resolved(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    Ok(wordline_config::load(text, name, &overrides)
        .map_err(fail)?
        .resolved_toml)
}

#[pymodule]
mod _wordline {
    /// Version of Wordline.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::bench::{bench_access, bench_queue};
    #[pymodule_export]
    use super::cache::{
        CacheTrace, Curves, Plan, cache_check, cache_open, cache_policy, cache_table, curves_open,
        plan_check, plan_open,
    };
    #[pymodule_export]
    use super::growth::MemoryTable;
    #[pymodule_export]
    use super::memory::config_memory;
    #[pymodule_export]
    use super::package::{package_check, package_run};
    #[pymodule_export]
    use super::policy::{View, policy_run};
    #[cfg(unix)]
    #[pymodule_export]
    use super::serve::{Loopback, Stop, serve};
    #[pymodule_export]
    use super::state::{Decoded, build, preparation, prepare, state_header};
    #[pymodule_export]
    use super::text::python_json;
    #[pymodule_export]
    use super::{
        Inputs, Outcome, PyTable, WordlineError, all_presets, config_capacity, config_check,
        config_resolved, config_schema, formats, metrics, parts, policies, preset_text, run,
        tables, trace_convert, trace_stat,
    };
}
