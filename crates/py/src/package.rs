//! Runs standalone packages.

use pyo3::prelude::*;
use wordline_package::Load;

use crate::cache::beside;
use crate::fail;

/// Runs a load, given as JSON, on a package. Returns the report as JSON.
#[pyfunction]
pub fn package_run(
    py: Python<'_>,
    config_text: String,
    config_name: String,
    overrides: Vec<(String, String)>,
    load: &str,
    seed: u64,
    strips: bool,
) -> PyResult<String> {
    let load: Load = serde_json::from_str(load).map_err(fail)?;
    let report = beside(py, None, move |_, _| {
        wordline_package::run(&config_text, &config_name, &overrides, &load, seed, strips)
    })?;
    serde_json::to_string(&report).map_err(fail)
}

/// Checks the `[nand]` tables of a configuration.
#[pyfunction]
pub fn package_check(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<()> {
    wordline_package::check(text, name, &overrides).map_err(fail)
}
