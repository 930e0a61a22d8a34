//! Replacement policies written in Python.
//!
//! A policy is an object with the methods `hit(page, write)`, `admit(page, write)`, `evict(view)`
//! and optionally `remove(page)`. A factory creates a policy for a capacity in pages. An exception
//! that a policy raises becomes a fault with the Python traceback.

use std::cell::RefCell;
use std::fmt;
use std::mem::transmute;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyTracebackMethods;
use wordline_cache::replacement::foreign::{self, Fault, Foreign, Make, Maker};

use crate::cache::CacheTrace;
use crate::fail;

/// Factory that creates policies with a Python class or another callable.
struct Factory {
    name: String,
    callable: Py<PyAny>,
}

/// Returns the factory of policies that `callable` creates. `name` identifies the policies in
/// messages.
pub fn maker(name: String, callable: Py<PyAny>) -> Maker {
    Maker::new(Factory { name, callable })
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Factory").field(&self.name).finish()
    }
}

impl Make for Factory {
    fn name(&self) -> &str {
        &self.name
    }
    fn make(&self, capacity: usize) -> Result<Box<dyn Foreign>, Fault> {
        Python::attach(|py| {
            let said = |error| fault(py, &self.name, "creation", error);
            let policy = self.callable.bind(py).call1((capacity,)).map_err(said)?;
            let method = |name: &str| match policy.getattr_opt(name).map_err(said)? {
                Some(method) if method.is_callable() => Ok(Some(method.unbind())),
                _ => Ok(None),
            };
            let needed = |name: &str| {
                method(name)?.ok_or_else(|| {
                    Fault::Failed(format!(
                        "policy {}: the method {name} is missing; a policy needs hit(page, write), admit(page, write) and evict(view)",
                        self.name
                    ))
                })
            };
            let view = View(NEXT.fetch_add(1, Ordering::Relaxed));
            Ok(Box::new(Policy {
                name: self.name.clone(),
                hit: needed("hit")?,
                admit: needed("admit")?,
                evict: needed("evict")?,
                remove: method("remove")?,
                lent: view.0,
                view: Py::new(py, view).map_err(said)?,
            }) as Box<dyn Foreign>)
        })
    }
}

/// Converts a Python exception into a fault. `doing` names the call that raised the exception.
fn fault(py: Python<'_>, name: &str, doing: &str, error: PyErr) -> Fault {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        return Fault::Interrupted;
    }
    let traceback = error
        .traceback(py)
        .and_then(|traceback| traceback.format().ok())
        .unwrap_or_default();
    Fault::Failed(format!(
        "policy {name}: {doing} failed: {error}\n{}",
        traceback.trim_end()
    ))
}

/// Python policy, represented by its bound methods.
struct Policy {
    name: String,
    hit: Py<PyAny>,
    admit: Py<PyAny>,
    evict: Py<PyAny>,
    remove: Option<Py<PyAny>>,
    /// View that `evict` receives. `lent` is its number.
    view: Py<View>,
    lent: u64,
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Policy").field(&self.name).finish()
    }
}

impl Policy {
    #[inline]
    fn tell(&self, method: &Py<PyAny>, name: &str, key: u64, write: bool) -> Result<(), Fault> {
        Python::attach(|py| match method.bind(py).call1((key, write)) {
            Ok(_) => Ok(()),
            Err(error) => Err(fault(py, &self.name, name, error)),
        })
    }
}

impl Foreign for Policy {
    #[inline]
    fn hit(&mut self, key: u64, write: bool) -> Result<(), Fault> {
        self.tell(&self.hit, "hit", key, write)
    }
    #[inline]
    fn admit(&mut self, key: u64, write: bool) -> Result<(), Fault> {
        self.tell(&self.admit, "admit", key, write)
    }
    fn evict(&mut self, view: &dyn foreign::View) -> Result<u64, Fault> {
        Python::attach(|py| {
            let called = lend(self.lent, view, || self.evict.bind(py).call1((&self.view,)));
            let named = called.map_err(|error| fault(py, &self.name, "evict", error))?;
            named.extract().map_err(|_| {
                Fault::Failed(format!(
                    "policy {}: evict returned {}; return the number of a page in the cache",
                    self.name,
                    named
                        .repr()
                        .map_or_else(|_| "an object".to_owned(), |text| text.to_string()),
                ))
            })
        })
    }
    fn removed(&mut self, key: u64) -> Result<(), Fault> {
        let Some(remove) = &self.remove else {
            return Err(Fault::Failed(format!(
                "policy {}: page {key} is trimmed, but the method remove(page) is missing; add the method",
                self.name
            )));
        };
        Python::attach(|py| match remove.bind(py).call1((key,)) {
            Ok(_) => Ok(()),
            Err(error) => Err(fault(py, &self.name, "remove", error)),
        })
    }
}

/// Number that the next view receives.
static NEXT: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Views that policies can currently use in this thread, with their numbers.
    static LENT: RefCell<Vec<(u64, &'static dyn foreign::View)>> = const { RefCell::new(Vec::new()) };
}

/// Guard that ends the loan of a view when dropped.
struct Lent(u64);

impl Drop for Lent {
    fn drop(&mut self) {
        LENT.with_borrow_mut(|lent| lent.retain(|(number, _)| *number != self.0));
    }
}

/// Lends a view, under a number, for the duration of `act`.
fn lend<T>(number: u64, view: &dyn foreign::View, act: impl FnOnce() -> T) -> T {
    // SAFETY: the loan ends before this function returns or unwinds, and `View::ask` does not keep
    // the reference.
    #[allow(unsafe_code)]
    let view = unsafe { transmute::<&dyn foreign::View, &'static dyn foreign::View>(view) };
    let _back = Lent(number);
    LENT.with_borrow_mut(|lent| lent.push((number, view)));
    act()
}

/// State of pages and dies that a policy can query during `evict`.
#[pyclass(module = "wordline._wordline", frozen)]
pub struct View(u64);

impl View {
    fn ask<T>(&self, page: u64, ask: impl FnOnce(&dyn foreign::View) -> Option<T>) -> PyResult<T> {
        LENT.with_borrow(|lent| {
            let Some((_, view)) = lent.iter().rev().find(|(number, _)| *number == self.0) else {
                return Err(PyRuntimeError::new_err(
                    "a view can only be used during the call of evict that received it",
                ));
            };
            ask(*view)
                .ok_or_else(|| PyKeyError::new_err(format!("page {page} is not in the cache")))
        })
    }
}

#[pymethods]
impl View {
    /// Returns True if a page is newer in the cache than in the layer below.
    fn is_dirty(&self, page: u64) -> PyResult<bool> {
        self.ask(page, |view| view.is_dirty(page))
    }
    /// Returns the time that a write of a page would wait for its die, in microseconds.
    fn load(&self, page: u64) -> PyResult<f64> {
        self.ask(page, |view| view.load(page))
            .map(|time| time as f64 / 1e6)
    }
    /// Returns True if the die to which a page would be written runs GC.
    fn is_collecting(&self, page: u64) -> PyResult<bool> {
        self.ask(page, |view| view.is_collecting(page))
    }
}

/// Runs a policy, which `callable` creates for `pages` pages, over a trace in memory. Returns the
/// result as JSON, and the policy's fault or None. After a fault, the result covers the requests
/// before it.
#[pyfunction]
pub fn policy_run(
    py: Python<'_>,
    trace: &CacheTrace,
    name: String,
    callable: Py<PyAny>,
    pages: u64,
) -> PyResult<(String, Option<String>)> {
    let mut raised = None;
    let (run, fault) = trace.0.run_foreign(&maker(name, callable), pages, || {
        raised = py.check_signals().err();
        raised.is_none()
    });
    match (raised, fault) {
        (Some(error), _) => Err(error),
        (None, Some(Fault::Interrupted)) => Err(PyKeyboardInterrupt::new_err(())),
        (None, fault) => {
            let run = serde_json::to_string(&run).map_err(fail)?;
            Ok((run, fault.map(|fault| fault.to_string())))
        }
    }
}
