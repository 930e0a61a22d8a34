//! Helpers shared by several tests.
#![allow(dead_code, clippy::print_stdout)] // not every test needs all of it

use std::path::{Path, PathBuf};

/// Returns the path of a real trace. Prints a line and returns `None` if the trace is missing.
pub fn real(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/traces")
        .join(file);
    if path.exists() {
        return Some(path);
    }
    println!("SKIPPED: {file} is not in ../shared/traces (relative to the workspace)");
    None
}
