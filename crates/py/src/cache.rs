//! Runs replacement policies over traces, computes miss-ratio curves and plans flash caches.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use wordline_cachesim::{
    self, CacheError, CachePlan, Chosen, Device, Disk, Flash, Methods, Mrc, Pages, Paging,
    Progress, Question, Run, Size, Watch, choose,
};
use wordline_workload::{Recordings, TraceOptions};

use crate::memory;
use crate::{PyTable, fail, option, trace_options};
use wordline_kernel::memory::is_short;

/// Trace in memory, over which policies run.
#[pyclass(module = "wordline._wordline", frozen)]
pub struct CacheTrace(pub(crate) Arc<Pages>);

#[pymethods]
impl CacheTrace {
    /// Returns the statistics of the trace, as JSON.
    fn input_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.input).map_err(fail)
    }
    /// Returns the number of pages in a cache of a given size, such as `64MiB` or `1%`.
    fn size(&self, size: &str) -> PyResult<u64> {
        let size: Size = size.parse().map_err(fail)?;
        self.0.size(size).map_err(fail)
    }
    /// Runs a policy, given by its name and parameters, with a cache of `pages` pages. Returns the
    /// result as JSON.
    fn run(&self, py: Python<'_>, policy: &str, pages: u64) -> PyResult<String> {
        let chosen = one(policy)?;
        let trace = Arc::clone(&self.0);
        let run = beside(py, None, move |_, _| {
            Ok::<_, CacheError>(trace.run(&chosen, pages))
        })?;
        serde_json::to_string(&run).map_err(fail)
    }
}

fn one(policy: &str) -> PyResult<Chosen> {
    let mut chosen = choose([policy]).map_err(fail)?;
    chosen
        .pop()
        .ok_or_else(|| fail("no policy is given; name one, such as lru"))
}

/// Checks policy names and sizes. Returns the policy names, with `all` expanded.
#[pyfunction]
pub fn cache_check(policies: Vec<String>, sizes: Vec<String>) -> PyResult<Vec<String>> {
    for size in &sizes {
        size.parse::<Size>().map_err(fail)?;
    }
    let chosen = choose(policies.iter().map(String::as_str)).map_err(fail)?;
    Ok(chosen.into_iter().map(|one| one.label).collect())
}

/// Returns the configuration table, as JSON, of a policy given by its name and parameters.
#[pyfunction]
pub fn cache_policy(policy: &str) -> PyResult<String> {
    serde_json::to_string(&one(policy)?.policy).map_err(fail)
}

/// Reads a trace into memory.
#[pyfunction]
pub fn cache_open(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<CacheTrace> {
    let mut reading = reading(paths, options)?;
    let read = if option(options, "keys")?.unwrap_or(false) {
        Pages::read_with_keys
    } else {
        Pages::read
    };
    let pages = beside(py, progress, move |recordings, watch| {
        reading.recordings = recordings;
        read(&reading, watch)
    })?;
    Ok(CacheTrace(Arc::new(pages)))
}

/// Returns the table of runs. Each run is given as JSON.
#[pyfunction]
pub fn cache_table(runs: Vec<String>) -> PyResult<PyTable> {
    let runs: Vec<Run> = runs
        .iter()
        .map(|run| serde_json::from_str(run))
        .collect::<Result<_, _>>()
        .map_err(fail)?;
    wordline_cachesim::run_table(&runs)
        .map(PyTable)
        .map_err(fail)
}

/// Miss-ratio curves of a trace.
#[pyclass(module = "wordline._wordline", frozen)]
pub struct Curves(Mrc);

#[pymethods]
impl Curves {
    /// Returns the trace, the curves and the errors of estimates, as JSON.
    fn summary_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(fail)
    }
    /// Returns the table of the corners of all curves.
    fn table(&self) -> PyResult<PyTable> {
        wordline_cachesim::curve_table(&self.0.curves)
            .map(PyTable)
            .map_err(fail)
    }
}

/// Computes the curves of a trace.
#[pyfunction]
pub fn curves_open(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Curves> {
    let mut reading = reading(paths, options)?;
    let sizes: Vec<String> = option(options, "sizes")?.unwrap_or_default();
    let sizes = sizes.iter().map(|size| size.parse());
    let methods = Methods {
        exact: option(options, "exact")?.unwrap_or(false),
        shards_rate: option(options, "shards_rate")?,
        shards_pages: option(options, "shards_pages")?,
        aet: option(options, "aet")?.unwrap_or(false),
        hashes: option(options, "hashes")?.unwrap_or(0),
        seed: option(options, "seed")?.unwrap_or(1),
        sizes: sizes.collect::<Result<_, CacheError>>().map_err(fail)?,
    };
    beside(py, progress, move |recordings, watch| {
        reading.recordings = recordings;
        wordline_cachesim::mrc(&reading, &methods, watch)
    })
    .map(Curves)
}

/// Plan of a flash cache in front of a disk.
#[pyclass(module = "wordline._wordline", frozen)]
pub struct Plan(CachePlan);

#[pymethods]
impl Plan {
    /// Returns the trace, the devices and the results of the plan, as JSON.
    fn summary_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(fail)
    }
    /// Returns a table with a row per policy and size.
    fn table(&self) -> PyResult<PyTable> {
        wordline_cachesim::plan_table(&self.0)
            .map(PyTable)
            .map_err(fail)
    }
}

/// Configuration: name, text and overrides.
type Named = (String, String, Vec<(String, String)>);

fn device((name, text, overrides): Named) -> Device {
    Device {
        name,
        text,
        overrides,
    }
}

/// Checks the flash and the disk of a plan, and the sizes. Returns the page size of the flash in
/// bytes.
#[pyfunction]
pub fn plan_check(flash: Named, disk: Named, sizes: Vec<String>) -> PyResult<u32> {
    for size in &sizes {
        size.parse::<Size>().map_err(fail)?;
    }
    let flash = Flash::of(&device(flash)).map_err(fail)?;
    Disk::of(&device(disk), flash.page_bytes.into()).map_err(fail)?;
    Ok(flash.page_bytes)
}

/// Plans a flash cache in front of a disk for a trace.
#[pyfunction]
pub fn plan_open(
    py: Python<'_>,
    trace: &CacheTrace,
    flash: Named,
    disk: Named,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plan> {
    let sizes: Vec<String> = option(options, "sizes")?.unwrap_or_default();
    let sizes = sizes.iter().map(|size| size.parse());
    let question = Question {
        flash: device(flash),
        disk: device(disk),
        sizes: sizes.collect::<Result<_, CacheError>>().map_err(fail)?,
        rate: option(options, "rate")?.unwrap_or(1.0),
        seed: option(options, "seed")?.unwrap_or(1),
        steps: option(options, "steps")?.unwrap_or(100),
    };
    let trace = Arc::clone(&trace.0);
    beside(py, progress, move |_, watch| {
        wordline_cachesim::plan_cache(&trace, &question, watch)
    })
    .map(Plan)
}

fn reading(paths: Vec<PathBuf>, options: &Bound<'_, PyDict>) -> PyResult<Paging> {
    Ok(Paging {
        recordings: Recordings::default(),
        paths,
        trace: trace_options(TraceOptions::as_recorded(), options)?,
        page_bytes: option(options, "page_bytes")?.unwrap_or(4096),
        max_requests: option(options, "max_requests")?,
        leading: option(options, "leading")?.unwrap_or(0),
    })
}

/// Interval at which the interpreter handles signals during background work.
const BEAT: Duration = Duration::from_millis(100);

/// State that the work shares with the caller that waits for it.
#[derive(Default)]
struct Shared {
    ended: AtomicBool,
    now: Mutex<Option<Progress>>,
}

/// Runs work in a separate thread, with the interpreter released. Calls `progress` about ten times
/// a second. An exception from `progress` or from a signal handler is raised immediately, and the
/// work stops the next time it checks its watch. A single run of a policy never checks: it
/// continues, and its result is dropped.
pub(crate) fn beside<T: Send + 'static, E: Display + Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Recordings, &mut Watch<'_>) -> Result<T, E> + Send + 'static,
) -> PyResult<T> {
    beside_until(py, progress, || true, work)
}

/// Runs work as [`beside`] does, but calls `stop` after an exception. If `stop` returns `false`,
/// the exception is dropped and the work continues to its end.
pub(crate) fn beside_until<T: Send + 'static, E: Display + Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    stop: impl Fn() -> bool,
    work: impl FnOnce(Recordings, &mut Watch<'_>) -> Result<T, E> + Send + 'static,
) -> PyResult<T> {
    memory::reserve();
    let shared = Arc::new(Shared::default());
    let (sender, mut receiver) = channel();
    let told = Arc::clone(&shared);
    let started = std::thread::Builder::new().spawn(move || {
        let mut watch = |now: Progress| {
            if let Ok(mut last) = told.now.lock() {
                *last = Some(now);
            }
            !told.ended.load(Ordering::Relaxed)
        };
        // Sending fails if the caller no longer waits.
        let ended = Arc::clone(&told);
        let stop = move || ended.ended.load(Ordering::Relaxed);
        let _ = sender.send(work(Recordings::new(Arc::new(stop)), &mut watch));
    });
    let thread = started.map_err(|error| {
        fail(format_args!(
            "no thread can be started: {error}; raise the limits (ulimit -u, ulimit -v)"
        ))
    })?;
    loop {
        let waited = py.detach(move || (receiver.recv_timeout(BEAT), receiver));
        receiver = waited.1;
        match waited.0 {
            Ok(done) => {
                // A signal that arrived after the end of the work is dropped.
                if done.is_ok() && !stop() {
                    let _ = py.check_signals();
                }
                return done.map_err(fail);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => {
                    return Err(fail(
                        "the background work ended without a result; report this as a bug",
                    ));
                }
            },
        }
        if is_short() {
            shared.ended.store(true, Ordering::Relaxed);
            return Err(fail(memory::SHORT_OF));
        }
        let now = shared.now.lock().ok().and_then(|now| *now);
        let heard = py
            .check_signals()
            .and_then(|()| tell(py, progress.as_ref(), now));
        if let Err(error) = heard
            && stop()
        {
            shared.ended.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}

fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, now: Option<Progress>) -> PyResult<()> {
    let (Some(progress), Some(now)) = (progress, now) else {
        return Ok(());
    };
    let report = PyDict::new(py);
    report.set_item("phase", now.phase.name())?;
    report.set_item("requests", now.requests)?;
    report.set_item("fraction", now.fraction)?;
    progress.call1(py, (report,)).map(drop)
}
