//! Standalone packages, compared with closed forms and bounds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use wordline_package::{
    Load, Migrate, MigrateMode, PackageError, Report, Stream, StreamOperation, check, run,
};

// Durations of the part under test, in nanoseconds. A page of 2,112 bytes is transferred at 40
// MB/s, and a cycle takes 25 ns.
const CYCLE: u64 = 25;
const DATA: u64 = 2112 * 25;
const READ: u64 = 25_000;
const PROGRAM: u64 = 250_000;
const ERASE: u64 = 1_500_000;
const PLANE_BUSY: u64 = 500;
const CACHE_BUSY: u64 = 3_000;
const STATUS: u64 = 2 * CYCLE;
/// A command cycle, five address cycles and a confirm cycle.
const COMMAND: u64 = 7 * CYCLE;

fn config(dies: u32, planes: u32, scheduler: &str) -> String {
    format!(
        r#"
base = "jung2013-slc"
[nand]
scheduler = "{scheduler}"
[nand.geometry]
dies_per_package = {dies}
planes_per_die = {planes}
blocks_per_plane = 64
[nand.timing]
transfer_spare = true
plane_busy_ns = {PLANE_BUSY}
"#
    )
}

fn report(text: &str, load: &Load) -> Result<Report, PackageError> {
    run(text, "part.toml", &[], load, 1, false)
}

fn stream(operation: StreamOperation, requests: u32) -> Stream {
    Stream {
        operation,
        request_bytes: 2048,
        requests,
        queue_depth: 1,
        cache_rows: 1,
        interleaved: true,
    }
}

fn told(text: &str, stream: Stream) -> Report {
    report(text, &Load::Stream(stream)).unwrap()
}

const fn ps(ns: u64) -> u64 {
    ns * 1000
}

#[test]
fn legacy_operations_of_a_die_are_sequential() {
    let one = config(1, 1, "die-first");
    for (operation, each) in [
        (StreamOperation::Read, COMMAND + READ + STATUS + DATA),
        (StreamOperation::Program, COMMAND + DATA + PROGRAM + STATUS),
        (StreamOperation::Erase, 5 * CYCLE + ERASE + STATUS),
    ] {
        let report = told(&one, stream(operation, 50));
        assert_eq!(report.elapsed_ps, ps(50 * each), "{operation:?}");
        assert_eq!(report.latency.mean_ps, ps(each));
        assert_eq!(report.latency.max_ps, ps(each));
        assert_eq!(report.bus_wait_ps, 0);
        assert_eq!((report.transactions, report.pages), (50, 50));
    }
    let bandwidth = told(&one, stream(StreamOperation::Program, 50)).bandwidth_mb_per_s;
    let expected = 2048.0 * 1e3 / (COMMAND + DATA + PROGRAM + STATUS) as f64;
    assert!((bandwidth / expected - 1.0).abs() < 1e-12, "{bandwidth}");
}

#[test]
fn cache_programs_keep_the_array_busy() {
    // tPROG is longer than the transfer, so the next page arrives while the array programs a page.
    // The total is one transfer, all programs without a pause, and one status read.
    let report = told(
        &config(1, 1, "die-first"),
        Stream {
            queue_depth: 40,
            cache_rows: 40,
            ..stream(StreamOperation::Program, 40)
        },
    );
    assert_eq!(report.transactions, 1);
    assert_eq!(
        report.elapsed_ps,
        ps(COMMAND + DATA + 40 * PROGRAM + STATUS)
    );
}

#[test]
fn cache_reads_are_limited_by_the_data_transfer() {
    // A transfer is longer than tR. After the first array read, each page takes its transfer, a
    // status read, 31h (or 3Fh) and tRCBSY.
    let report = told(
        &config(1, 1, "die-first"),
        Stream {
            queue_depth: 40,
            cache_rows: 40,
            ..stream(StreamOperation::Read, 40)
        },
    );
    // The second 31h would find the array busy only if a transfer were shorter than tR.
    let first = COMMAND + READ + STATUS + CYCLE + CACHE_BUSY;
    let each = STATUS + DATA + CYCLE + CACHE_BUSY;
    assert_eq!(report.elapsed_ps, ps(first + 39 * each + STATUS + DATA));
}

#[test]
fn two_planes_halve_the_array_operations() {
    let depth = |planes| Stream {
        queue_depth: planes,
        ..stream(StreamOperation::Program, 40)
    };
    let report = told(&config(1, 2, "plane-first"), depth(2));
    assert_eq!(report.transactions, 20);
    let row = 2 * (COMMAND + DATA) + PLANE_BUSY + PROGRAM + STATUS;
    assert_eq!(report.elapsed_ps, ps(20 * row));
    assert_eq!(report.stage_ps.0[4].ns(), 20 * PROGRAM);
    // With one request at a time, no other page can share the command.
    assert_eq!(
        told(&config(1, 2, "plane-first"), depth(1)).transactions,
        40
    );
}

#[test]
fn interleaved_dies_reach_the_lower_of_two_bounds() {
    // The bounds are the program or read rate of n dies, and the rate of the bus.
    let program = COMMAND + DATA + PROGRAM + STATUS;
    let read = COMMAND + READ + STATUS + DATA;
    for dies in [1, 2, 4, 8, 16] {
        for (operation, each, bus) in [
            (StreamOperation::Program, program, COMMAND + DATA + STATUS),
            (StreamOperation::Read, read, COMMAND + DATA + STATUS),
        ] {
            let report = told(
                &config(dies, 1, "die-first"),
                Stream {
                    queue_depth: 2 * dies,
                    ..stream(operation, 800)
                },
            );
            let roof = (f64::from(dies) / each as f64).min(1.0 / bus as f64) * 1e9;
            let share = report.requests_per_s / roof;
            // With first-come arbitration, dies can run in phase: all send data, then all receive
            // commands, and the bus waits for the array once per round.
            let step = f64::from(dies) * bus as f64;
            let least = step / (step + (each - bus) as f64) * 0.98;
            let least = least.min(f64::from(dies) / each as f64 * 1e9 / roof * 0.98);
            assert!(
                (least..1.0 + 1e-9).contains(&share),
                "{operation:?} on {dies}: {share}"
            );
            let eager = config(dies, 1, "die-first")
                .replace("[nand]\n", "[nand]\narbitration = \"commands-first\"\n");
            let eager = told(
                &eager,
                Stream {
                    queue_depth: 2 * dies,
                    ..stream(operation, 800)
                },
            );
            let share = eager.requests_per_s / roof;
            // With two dies, one sends data while the other can only follow.
            let least = if dies == 2 { least } else { 0.98 };
            assert!(
                (least..1.0 + 1e-9).contains(&share),
                "commands first, {operation:?} on {dies}: {share}"
            );
            let alone = told(
                &config(dies, 1, "die-first"),
                Stream {
                    interleaved: false,
                    queue_depth: 2 * dies,
                    ..stream(operation, 80)
                },
            );
            assert_eq!(alone.elapsed_ps, ps(80 * each), "not interleaved");
        }
    }
}

#[test]
fn migrations_copy_every_page_in_the_time_of_their_commands() {
    let (blocks, pages) = (4_u64, 4 * 64);
    let text = config(1, 2, "die-first");
    let of = |mode| {
        let load = Load::Migrate(Migrate {
            blocks: blocks as u32,
            mode,
            interleaved: false,
        });
        report(&text, &load).unwrap()
    };
    let erases = 2 * blocks * (5 * CYCLE + ERASE + STATUS);
    let legacy = (COMMAND + READ + STATUS + DATA) + (COMMAND + DATA + PROGRAM + STATUS);
    assert_eq!(
        of(MigrateMode::Legacy).elapsed_ps,
        ps(erases + pages * legacy)
    );
    let moved = (COMMAND + READ) + STATUS + COMMAND + PROGRAM + STATUS;
    assert_eq!(of(MigrateMode::Move).elapsed_ps, ps(erases + pages * moved));
    let legacy = of(MigrateMode::Legacy);
    for mode in [
        MigrateMode::Cache,
        MigrateMode::MultiPlane,
        MigrateMode::MultiPlaneCache,
        MigrateMode::MultiPlaneMove,
    ] {
        let report = of(mode);
        assert_eq!(report.bytes, pages * 2048);
        assert!(report.elapsed_ps < legacy.elapsed_ps, "{mode:?}");
        // Every active plane draws its current, so the array energy does not depend on the mode.
        assert!((report.energy_nj.program / legacy.energy_nj.program - 1.0).abs() < 1e-12);
        assert!((report.energy_nj.erase / legacy.energy_nj.erase - 1.0).abs() < 1e-12);
    }
    // The energy per page is 3.3 V x 10 mA x 250 us.
    assert!((legacy.energy_nj.program / (pages as f64 * 8250.0) - 1.0).abs() < 1e-12);
}

#[test]
fn invalid_load_is_rejected_with_a_remedy() {
    let text = config(1, 1, "die-first");
    let fault = |stream| {
        report(&text, &Load::Stream(stream))
            .unwrap_err()
            .to_string()
    };
    let program = stream(StreamOperation::Program, 64 * 64);
    assert!(report(&text, &Load::Stream(program.clone())).is_ok());
    assert_eq!(
        fault(Stream {
            requests: 64 * 64 + 1,
            ..program.clone()
        }),
        "requests = 4097: the requests need 4097 erased pages, and the package has 4096; ask for fewer \
         requests, or raise nand.geometry.blocks_per_plane"
    );
    for (stream, key) in [
        (
            Stream {
                queue_depth: 0,
                ..program.clone()
            },
            "queue_depth = 0",
        ),
        (
            Stream {
                requests: 0,
                ..program.clone()
            },
            "requests = 0",
        ),
        (
            Stream {
                cache_rows: 0,
                ..program.clone()
            },
            "cache_rows = 0",
        ),
        (
            Stream {
                request_bytes: 0,
                ..program.clone()
            },
            "request_bytes = 0",
        ),
        (
            Stream {
                request_bytes: u64::MAX,
                ..program
            },
            "request_bytes = ",
        ),
        (
            Stream {
                cache_rows: 2,
                ..stream(StreamOperation::Erase, 1)
            },
            "cache_rows = 2",
        ),
    ] {
        let fault = fault(stream);
        assert!(fault.starts_with(key), "{fault}");
    }
    let load = Load::Migrate(Migrate {
        blocks: 33,
        mode: MigrateMode::Legacy,
        interleaved: false,
    });
    let fault = report(&text, &load).unwrap_err().to_string();
    assert!(
        fault.starts_with("blocks = 33: it must be from 1 to 32"),
        "{fault}"
    );
    assert!(run("base = \"none\"", "x.toml", &[], &load, 1, false).is_err());
}

#[test]
fn part_without_internal_data_moves_rejects_them() {
    let text =
        config(1, 2, "die-first").replace("[nand]\n", "[nand]\ninternal_data_move = false\n");
    let of = |mode| {
        let load = Load::Migrate(Migrate {
            blocks: 2,
            mode,
            interleaved: false,
        });
        report(&text, &load)
    };
    for mode in [MigrateMode::Move, MigrateMode::MultiPlaneMove] {
        let fault = of(mode).unwrap_err();
        assert!(matches!(fault, PackageError::NoMove { mode: of } if of == mode));
        assert_eq!(
            fault.to_string(),
            format!(
                "mode = {mode}: the part cannot move pages inside its planes; set \
                 nand.internal_data_move to true, or choose another mode"
            )
        );
    }
    for mode in [
        MigrateMode::Legacy,
        MigrateMode::Cache,
        MigrateMode::MultiPlane,
        MigrateMode::MultiPlaneCache,
    ] {
        assert_eq!(of(mode).unwrap().bytes, 2 * 64 * 2048);
    }
}

#[test]
fn mode_names_match_their_serialised_form() {
    for name in [
        "legacy",
        "cache",
        "move",
        "multi-plane",
        "multi-plane-cache",
        "multi-plane-move",
    ] {
        let text = format!("\"{name}\"");
        let mode: MigrateMode = serde_json::from_str(&text).unwrap();
        assert_eq!(mode.name(), name);
    }
}

#[test]
fn only_the_nand_tables_are_used() {
    // Four blocks per plane leave an FTL no room, and an SSD cannot have 0 channels.
    let text = format!(
        "{}\n[ssd]\nchannels = 0\n[host]\nqueue_depth = 0\n[ftl]\nover_provisioning_ratio = 7.0\n",
        config(1, 1, "die-first").replace("blocks_per_plane = 64", "blocks_per_plane = 4")
    );
    let report = told(&text, stream(StreamOperation::Program, 4 * 64));
    assert_eq!((report.pages, report.dies), (4 * 64, 1));
    let load = Load::Migrate(Migrate {
        blocks: 2,
        mode: MigrateMode::Legacy,
        interleaved: false,
    });
    assert_eq!(self::report(&text, &load).unwrap().pages, 2 * (2 + 2 * 64));
    assert!(check(&text, "part.toml", &[]).is_ok());
    for (key, value, words) in [
        ("nand.geometry.page_bytes", "1000", "whole sectors"),
        ("nand.timing.jitter_ratio", "1.5", "0 to 0.9"),
        (
            "nand.geometry.blocks_per_plane",
            "16777216",
            "the package has",
        ),
    ] {
        let wide = (
            "nand.geometry.pages_per_block".to_owned(),
            "65535".to_owned(),
        );
        let overrides = [wide, (key.to_owned(), value.to_owned())];
        let fault = check(&text, "part.toml", &overrides)
            .unwrap_err()
            .to_string();
        assert!(fault.contains(key) && fault.contains(words), "{fault}");
        assert!(run(&text, "part.toml", &overrides, &load, 1, false).is_err());
    }
}

fn any_stream() -> impl Strategy<Value = (Stream, String)> {
    (
        prop_oneof![
            Just(StreamOperation::Read),
            Just(StreamOperation::Program),
            Just(StreamOperation::Erase)
        ],
        (1_u32..5, 1_u32..5),
        prop_oneof![Just("die-first"), Just("plane-first")],
        prop_oneof![Just("page-offset"), Just("page-and-block-offset")],
        (1_u64..20_000, 1_u32..200, 1_u32..40, 1_u32..12),
        any::<bool>(),
    )
        .prop_map(
            |(operation, (dies, planes), scheduler, rule, numbers, interleaved)| {
                let (request_bytes, requests, queue_depth, rows) = numbers;
                let erase = operation == StreamOperation::Erase;
                let stream = Stream {
                    operation,
                    request_bytes,
                    requests: if erase { requests.min(64) } else { requests },
                    queue_depth,
                    cache_rows: if erase { 1 } else { rows },
                    interleaved,
                };
                let text = config(dies, planes, scheduler)
                    .replace("[nand]\n", &format!("[nand]\nplane_rule = \"{rule}\"\n"));
                (stream, text)
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// For any stream: every page is completed once, no rule of the part is broken, the bus serves
    /// one die at a time, stages add up, and two runs are equal.
    #[test]
    fn any_stream_completes_every_page_within_the_rules((stream, text) in any_stream()) {
        let load = Load::Stream(stream.clone());
        let report = run(&text, "part.toml", &[], &load, 1, true).unwrap();
        let each = if stream.operation == StreamOperation::Erase {
            1
        } else {
            stream.request_bytes.div_ceil(2048)
        };
        prop_assert_eq!(report.pages, u64::from(stream.requests) * each);
        prop_assert!(report.bus_busy_ps <= report.elapsed_ps);
        let stages: u64 = report.stage_ps.0.iter().map(|time| time.ps()).sum();
        let array: u64 = report.per_die.iter().map(|die| die.array_busy_ps).sum();
        prop_assert_eq!(stages, report.bus_busy_ps + array);
        for die in &report.per_die {
            prop_assert!(die.array_busy_ps <= report.elapsed_ps);
        }
        let strips: u64 = report.strips.iter().map(|strip| strip.until_ps - strip.from_ps).sum();
        prop_assert_eq!(strips, stages);
        let again = run(&text, "part.toml", &[], &load, 1, true).unwrap();
        prop_assert_eq!(again.strips, report.strips);
    }
}
