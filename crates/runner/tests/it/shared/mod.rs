//! Runs a configuration given as text.

use wordline_runner::{Results, RunSpec};

/// Runs a configuration to its end, with seed 1.
///
/// # Panics
/// If the run cannot start, or ends early.
pub fn run(config: String) -> Results {
    let job = RunSpec {
        config,
        config_name: "test.toml".into(),
        seed: 1,
        ..RunSpec::default()
    };
    let done = job
        .run(&mut |_| true)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(done.results.summary.error, None);
    done.results
}
