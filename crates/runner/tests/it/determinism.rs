//! Equal inputs give equal digests: twice in one process, in several processes, optimised or not.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

use std::process::Command;

use wordline_runner::RunSpec;

fn digest(seed: u64, verify: bool) -> String {
    let config = "schema = 1\nbase = \"demo\"\n[precondition]\noverwrite_ratio = 0.1\n[ftl.gc.victim.d-choices]\nd = 3\n\
                  [workload]\nrequests = 20_000\nread_ratio = 0.5\nrequest_bytes = [{ bytes = 4096, weight = 3 }, { bytes = 10240, weight = 1 }]\n\
                  align_bytes = 512\npattern.zipf.theta = 0.9\narrival.poisson.iops = 20000"
        .to_owned();
    let job = RunSpec {
        config,
        config_name: "test.toml".into(),
        seed,
        verify,
        ..RunSpec::default()
    };
    let done = job
        .run(&mut |_| true)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(done.results.summary.error, None);
    done.results.summary.digest
}

#[test]
fn equal_runs_in_one_process_have_equal_digests() {
    assert_eq!(digest(1, false), digest(1, false));
    assert_ne!(digest(1, false), digest(2, false), "the seed must matter");
}

#[test]
fn verification_does_not_change_the_digest() {
    assert_eq!(digest(1, false), digest(1, true));
}

/// Digest of this run, recorded once. It is the same for every build and machine. A change of the
/// model changes it; the commit that records the new digest names the change.
const RECORDED: &str = "f50ed186098e2bad";

#[test]
fn digest_is_equal_on_every_build_and_machine() {
    assert_eq!(digest(1, false), RECORDED);
}

#[test]
fn digest_is_equal_in_another_process() {
    let itself = std::env::current_exe().unwrap();
    let output = Command::new(itself)
        .args([
            "--exact",
            "determinism::digest_is_equal_on_every_build_and_machine",
            "--nocapture",
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}
