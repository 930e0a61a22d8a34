//! Tests the note that an open loop offers more load than its store can serve.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use crate::shared;

/// Flash of four dies, each of which reads at most 20,000 pages per second (50 us per page).
const FLASH: &str = "schema = 1\nname = \"flash\"\n[ssd]\nchannels = 2\nways = 2\n\
    [nand.geometry]\nblocks_per_plane = 32\npages_per_block = 32\ndies_per_package = 1\npage_bytes = 4096\n\
    [ftl]\nover_provisioning_ratio = 0.35\n[host]\ninterface = \"direct\"\nqueue_depth = 64\n";
const DISK: &str = "disk = { capacity_bytes = 67_108_864 }";
const OVERLOADED: &str = "the offered load exceeds the throughput of this store";
const CROWDED: &str = "waiting for a slot of the device queue";

/// Returns the notes of a run of reads with the arrival process `arrival`.
fn notes(store: &str, requests: u32, arrival: &str) -> Vec<String> {
    let load = format!("[workload]\nrequests = {requests}\nread_ratio = 1.0\narrival.{arrival}\n");
    shared::run(format!("{store}{load}")).summary.notes
}

fn says(notes: &[String], words: &str) -> bool {
    notes.iter().any(|note| note.contains(words))
}

/// Returns a store of each kind, with a rate that it cannot serve and one that leaves it mostly
/// idle.
fn stores() -> Vec<(String, [u32; 2])> {
    let flash = [800_000, 1_000];
    // Every default disk takes between 1 and 100 ms to position its heads.
    let disk = [10_000, 2];
    let members = "stripe_bytes = 16384\n[[array.members]]\ncount = 2\n";
    let cache = "[cache]\nmode = \"write-around\"\n";
    vec![
        (FLASH.to_owned(), flash),
        (format!("{FLASH}[array]\n{members}"), flash),
        (
            format!("{FLASH}[host_side]\ncores = 2\nsubmit_ns = 0\ncomplete_ns = 0\n"),
            flash,
        ),
        (format!("{FLASH}[host_side]\n"), [1_000_000, 1_000]),
        (
            format!("{FLASH}[host_side.architecture.bridge]\nprotocol_ns = 20_000\n"),
            flash,
        ),
        (format!("schema = 1\n{DISK}\n"), disk),
        (format!("schema = 1\n[array]\n{members}{DISK}\n"), disk),
        (
            format!("{FLASH}{cache}[disk]\ncapacity_bytes = 67_108_864\n"),
            disk,
        ),
        (
            format!("{FLASH}[array]\n{members}cache = {{ mode = \"write-back\" }}\n{DISK}\n"),
            disk,
        ),
        (
            format!("{FLASH}[host_side]\n{cache}[disk]\ncapacity_bytes = 67_108_864\n"),
            disk,
        ),
    ]
}

#[test]
fn overload_is_noted_for_every_kind_of_store() {
    for (store, [too_fast, slow]) in stores() {
        let overloaded = notes(&store, 2_000, &format!("constant.iops = {too_fast}"));
        assert!(says(&overloaded, OVERLOADED), "{store}: {overloaded:?}");
        let calm = notes(&store, 2_000, &format!("constant.iops = {slow}"));
        assert!(!says(&calm, OVERLOADED), "{store}: {calm:?}");
    }
}

#[test]
fn closed_loop_is_never_overloaded() {
    for (store, _) in stores() {
        let notes = notes(&store, 2_000, "closed-loop.queue_depth = 256");
        assert!(!says(&notes, OVERLOADED), "{store}: {notes:?}");
    }
}

/// One die under Poisson reads is an M/D/1 queue with a service time of 62.525 us, so its capacity
/// is known.
#[test]
fn overload_note_follows_the_utilisation_of_a_single_server() {
    let die = "schema = 1\n[ssd]\nchannels = 1\nways = 1\n[nand.geometry]\ndies_per_package = 1\n";
    for (load, expected) in [
        (0.7, false),
        (0.9, false),
        (1.15, true),
        (1.5, true),
        (8.0, true),
    ] {
        let iops = load / 62.525e-6;
        let notes = notes(die, 20_000, &format!("poisson.iops = {iops}"));
        assert_eq!(says(&notes, OVERLOADED), expected, "{load}: {notes:?}");
    }
}

#[test]
fn short_burst_is_not_an_overload() {
    for (store, [too_fast, _]) in stores() {
        let notes = notes(&store, 900, &format!("constant.iops = {too_fast}"));
        assert!(!says(&notes, OVERLOADED), "{store}: {notes:?}");
    }
    // The wait for the device queue is still noted.
    let notes = notes(FLASH, 900, "constant.iops = 1_000_000");
    assert!(says(&notes, CROWDED), "{notes:?}");
}

#[test]
fn overload_note_has_the_numbers_of_the_run() {
    let summary = shared::run(format!(
        "{FLASH}[workload]\nrequests = 5_001\nread_ratio = 1.0\narrival.constant.iops = 1_000_000\n"
    ))
    .summary;
    let served = format!(
        "5,001 requests arrived in 0.005 s and were served in {:.3} s",
        summary.time.last_completion_s
    );
    assert!(says(&summary.notes, &served), "{:?}", summary.notes);
    assert!(
        says(&summary.notes, "workload.arrival"),
        "{:?}",
        summary.notes
    );
}

/// Two streams share a device: an open loop that is too fast, and a closed loop.
#[test]
fn overload_note_names_the_stream() {
    let stream = |name: &str, arrival: &str| {
        format!(
            "[[streams]]\nname = \"{name}\"\n[streams.workload]\nrequests = 3_000\nread_ratio = 1.0\narrival.{arrival}\n"
        )
    };
    let both = stream("fast", "constant.iops = 1_000_000")
        + &stream("patient", "closed-loop.queue_depth = 4");
    let notes = shared::run(format!("{FLASH}{both}")).summary.notes;
    let overloaded: Vec<_> = notes
        .iter()
        .filter(|note| note.contains(OVERLOADED))
        .collect();
    assert_eq!(overloaded.len(), 1, "{notes:?}");
    assert!(overloaded[0].starts_with("Stream fast: "), "{notes:?}");
}
