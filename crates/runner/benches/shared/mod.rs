//! Execution and instruction ceiling of the benchmarks that simulate whole runs.

use gungraun::{Callgrind, EntryPoint, EventKind, LibraryBenchmarkConfig};
use wordline_runner::{Done, RunSpec};

/// Returns the specification of a run with this configuration.
pub fn spec(config: String) -> RunSpec {
    RunSpec {
        config,
        config_name: "bench.toml".into(),
        seed: 1,
        ..RunSpec::default()
    }
}

/// Executes a run. Panics if the run fails.
pub fn done(spec: &RunSpec) -> Done {
    let done = spec.run(&mut |_| true);
    done.unwrap_or_else(|error| unreachable!("{error}"))
}

/// Counts only the event loop, and fails the benchmark above `each` instructions for each of `count`
/// requests or pages. `each` is about 5 % above the measured value.
pub fn ceiling(each: u64, count: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.entry_point(EntryPoint::Custom(
        "wordline_runner::simulation::event_loop::serve*".into(),
    ));
    tool.hard_limits([(EventKind::Ir, each * count)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}
