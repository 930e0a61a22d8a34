//! Limits on the size of a configuration and on the length of its error messages.

#![allow(clippy::expect_used, reason = "a test that cannot continue fails")]

use std::time::{Duration, Instant};

/// Returns the error of a device. The error must be found immediately, before anything oversized is
/// built.
fn fault(text: &str, overrides: &[(String, String)]) -> String {
    let start = Instant::now();
    let planned = wordline_config::load(text, "device.toml", overrides)
        .and_then(|loaded| loaded.plan(1).map(drop));
    let fault = planned
        .expect_err("the configuration exceeds a limit")
        .to_string();
    assert!(start.elapsed() < Duration::from_secs(20), "{fault}");
    assert!(fault.len() < 4_000, "{} bytes", fault.len());
    fault
}

fn numbers(count: usize) -> String {
    let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    format!("[{}]", numbers.join(","))
}

#[test]
fn too_many_streams_are_rejected_before_any_is_built() {
    let text = format!("base = \"d4\"\n{}", "[[streams]]\n".repeat(100_000));
    let fault = fault(&text, &[]);
    assert!(
        fault.contains("streams has 100000 elements; give at most 256"),
        "{fault}"
    );
    assert!(fault.starts_with("device.toml:2:"), "{fault}");
}

#[test]
fn too_many_members_are_rejected_before_any_is_built() {
    let many = format!("base = \"d4\"\n{}", "[[array.members]]\n".repeat(10_000));
    assert!(fault(&many, &[]).contains("array.members has 10000 elements; give at most 256"));
    let count = "base = \"d4\"\n[[array.members]]\ncount = 256\n";
    let twice = format!("{count}{}", count.trim_start_matches("base = \"d4\"\n"));
    assert!(fault(&twice, &[]).contains("the array has 512 members; define 1 to 256"));
}

#[test]
fn number_of_devices_in_nested_arrays_is_limited() {
    let text = "base = \"d4\"\n[[array.members]]\ncount = 100\n[[array.members.array.members]]\n\
                count = 100\n[[array.members.array.members.array.members]]\ncount = 100\n";
    let fault = fault(text, &[]);
    assert!(fault.contains("the store has 1000000 devices"), "{fault}");
    assert!(fault.contains("give at most 4096"), "{fault}");
}

#[test]
fn overlong_list_is_rejected_with_its_key() {
    let long = numbers(100_000);
    let text = format!("base = \"d4\"\nnand.timing.read_ns = {long}\n");
    let said = "nand.timing.read_ns has 100000 elements; give at most 65536";
    assert!(fault(&text, &[]).contains(said));
    let overrides = [("nand.timing.read_ns".to_owned(), long)];
    let fault = fault("base = \"d4\"", &overrides);
    assert!(fault.contains(said), "{fault}");
    assert!(
        fault.starts_with("--set nand.timing.read_ns=[0,1,2,3"),
        "{fault}"
    );
}

#[test]
fn text_of_many_megabytes_is_not_parsed() {
    let long = numbers(3_000_000);
    let text = format!("base = \"d4\"\nnand.timing.read_ns = {long}\n");
    assert!(fault(&text, &[]).contains("give at most 4194304"));
    let overrides = [("nand.timing.read_ns".to_owned(), long)];
    assert!(fault("base = \"d4\"", &overrides).contains("give at most 4194304"));
}

#[test]
fn errors_shorten_long_names_and_values() {
    let long = "x".repeat(100_000);
    for text in [
        format!("base = \"d4\"\nssd.{long} = 1\n"),
        format!("base = \"{long}\"\n"),
        format!("base = \"d4\"\nssd.channels = \"{long}\"\n"),
        format!("base = \"d4\"\nftl.gc.victim = \"{long}\"\n"),
    ] {
        assert!(fault(&text, &[]).contains('…'), "{}", &text[..40]);
    }
    let overrides = [("ftl.gc.victim".to_owned(), long)];
    assert!(fault("base = \"d4\"", &overrides).contains('…'));
}
