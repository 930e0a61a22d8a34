//! Every number of a configuration, set to the limits of its type and beyond, gives an error or a
//! run.

#![allow(clippy::panic, reason = "a test that cannot continue fails")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use wordline_config::Loaded;
use wordline_config::keys::{self, Kind};
use wordline_runner::RunSpec;

const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "255",
    "65535",
    "4294967295",
    "9223372036854775807",
    "0.0",
    "-0.0",
    "1e-300",
    "1e300",
    "nan",
    "inf",
    "-inf",
];

/// Devices small enough to be run for every number, the second with many optional features.
const BASES: &[&str] = &[
    "base = \"demo\"\n[ssd]\nchannels = 2\nways = 1\n[nand.geometry]\nblocks_per_plane = 32\n\
     [precondition]\nfill_ratio = 0.5\n[workload]\nrequests = 20\n",
    "base = \"demo\"\n[ssd]\nchannels = 2\nways = 1\nscheduler = \"out-of-order\"\n\
     [nand.geometry]\nblocks_per_plane = 32\n[nand.suspend]\nprogram = true\nerase = true\n\
     [buffer]\ncapacity_kib = 64\n[precondition]\nfill_ratio = 0.5\n[workload]\nrequests = 20\n",
];

fn tried(text: &str, key: &str, value: &str) -> Result<(), String> {
    let job = RunSpec {
        config: text.to_owned(),
        config_name: "device.toml".to_owned(),
        overrides: vec![(key.to_owned(), value.to_owned())],
        max_requests: Some(20),
        ..RunSpec::default()
    };
    // A run begins with loading the configuration, so a configuration that cannot be loaded is not
    // run.
    let error = catch_unwind(AssertUnwindSafe(|| {
        match wordline_config::load(text, "device.toml", &job.overrides) {
            Err(error) => Some(error.to_string()),
            Ok(loaded) if is_large(&loaded) => None,
            Ok(_) => job.run(&mut |_| true).err().map(|error| error.to_string()),
        }
    }));
    match error {
        Err(_) => Err(format!("{key} = {value}: panic")),
        Ok(Some(error)) if error.is_empty() => Err(format!("{key} = {value}: silence")),
        Ok(_) => Ok(()),
    }
}

/// Returns `true` if a device is too large for this test. Other tests cover large devices.
fn is_large(loaded: &Loaded) -> bool {
    loaded.plan(1).is_ok_and(|plan| {
        plan.capacity_bytes() > 64 << 30
            || plan.ssds().any(|ssd| {
                let buffer = ssd.device.buffer.as_ref();
                ssd.precondition.overwrite_pages > 1 << 22
                    || buffer.is_some_and(|buffer| buffer.pages > 1 << 24)
            })
    })
}

fn is_number(kind: &Kind) -> bool {
    match kind {
        Kind::Integer | Kind::Number => true,
        Kind::Either(kinds) => kinds.iter().any(is_number),
        _ => false,
    }
}

#[test]
fn every_number_at_the_limits_of_its_type_gives_an_error_or_a_run() {
    let mut wrong = Vec::new();
    let mut tries = 0;
    for base in BASES {
        let numbers = keys::all().iter().filter(|key| is_number(&key.kind));
        for key in numbers {
            for value in VALUES {
                tries += 1;
                wrong.extend(tried(base, &key.path, value).err());
            }
        }
    }
    assert!(tries > 500, "{tries}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
