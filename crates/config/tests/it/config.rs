//! Valid configurations, and error messages for faulty ones.

#![allow(clippy::expect_used, reason = "a test that cannot continue fails")]

use wordline_config::plan::{Replay, Series, Settle};
use wordline_config::{Config, Loaded, Origin, Plan, presets};
use wordline_nand::Operation;

fn load(text: &str, overrides: &[(&str, &str)]) -> Result<Loaded, String> {
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let overrides: Vec<_> = overrides.iter().map(owned).collect();
    wordline_config::load(text, "device.toml", &overrides).map_err(|error| error.to_string())
}

fn plan(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, String> {
    load(text, overrides)?
        .plan(1)
        .map_err(|error| error.to_string())
}

fn fault(text: &str) -> String {
    plan(text, &[]).expect_err("the text is faulty")
}

fn override_fault(key: &str, value: &str) -> String {
    plan("base = \"d4\"", &[(key, value)]).expect_err("the override is faulty")
}

fn config(text: &str, overrides: &[(&str, &str)]) -> Config {
    load(text, overrides).expect("the text is valid").config
}

fn victim(text: &str, overrides: &[(&str, &str)]) -> String {
    let table = toml::to_string(&config(text, overrides).ftl.gc.victim);
    table
        .expect("a policy is a table")
        .trim()
        .replace('\n', " ")
}

/// Asserts the whole message: one line, then the line of the file and a caret.
macro_rules! says {
    ($text:expr, $($line:literal)+) => {
        assert_eq!(fault($text), [$($line),+].join("\n"))
    };
}

#[test]
fn every_preset_is_complete_and_valid() {
    for preset in presets::all() {
        let file = format!("{}.toml", preset.name);
        let loaded = wordline_config::load(preset.text, &file, &[]).expect(preset.name);
        assert_eq!(loaded.config.name, preset.name);
        assert_eq!(
            loaded.config.base, None,
            "{}: a preset has no base",
            preset.name
        );
        assert!(
            !preset.description.is_empty() && !preset.source.is_empty(),
            "{}",
            preset.name
        );
        assert!(preset.text.contains("schema = 1\n"), "{}", preset.name);
        if let Err(error) = loaded.plan(1) {
            panic!("{}: {error}", preset.name);
        }
    }
}

/// Worst-case latencies depend on the GC schedule, so every SSD preset sets it explicitly.
#[test]
fn every_ssd_preset_sets_the_gc_schedule() {
    let mut devices = 0;
    for preset in presets::all() {
        let table: toml::Table = preset.text.parse().expect(preset.name);
        if table.contains_key("nand") || table.contains_key("ssd") {
            devices += 1;
            let gc = table.get("ftl").and_then(|ftl| ftl.get("gc"));
            let schedule = gc.and_then(|gc| gc.get("schedule"));
            assert!(schedule.is_some(), "{}: ftl.gc.schedule", preset.name);
        }
    }
    assert!(devices > 20, "{devices}");
}

#[test]
fn every_preset_file_is_found_by_its_name() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../presets");
    let files = folder
        .read_dir()
        .expect("the presets are in the repository");
    let mut files: Vec<String> = files
        .filter_map(|file| file.ok()?.path().file_stem()?.to_str().map(str::to_owned))
        .collect();
    let mut known: Vec<&str> = presets::all().iter().map(|preset| preset.name).collect();
    files.sort();
    known.sort_unstable();
    assert_eq!(known, files);
}

#[test]
fn resolved_configuration_has_the_top_level_keys_and_is_equivalent() {
    for preset in presets::all() {
        let first = wordline_config::load(preset.text, "a.toml", &[]).expect(preset.name);
        let again = wordline_config::load(&first.resolved_toml, "b.toml", &[]).expect(preset.name);
        assert_eq!(first.config, again.config, "{}", preset.name);
        assert_eq!(first.resolved_toml, again.resolved_toml, "{}", preset.name);
        for key in wordline_config::keys::all() {
            let table = matches!(
                key.kind,
                wordline_config::keys::Kind::Table | wordline_config::keys::Kind::Slot(_)
            );
            let optional = ["base", "workload", "streams"].contains(&key.path.as_str());
            if !table && !optional && !key.path.contains('.') {
                assert!(
                    first.resolved_toml.contains(&format!("{} = ", key.path)),
                    "{}",
                    key.path
                );
            }
        }
        assert!(!first.resolved_toml.contains("base ="), "{}", preset.name);
    }
}

#[test]
fn empty_table_is_the_default_device() {
    let config = config("[ssd]", &[]);
    assert_eq!(
        Config {
            name: "device".into(),
            ..Config::default()
        },
        config
    );
}

#[test]
fn d4_has_the_parameters_of_the_benchmarks() {
    let plan = plan("base = \"d4\"", &[]).expect("d4 is valid");
    let ssd = plan.first().unwrap();
    assert_eq!(plan.capacity_bytes(), 8 << 30);
    assert_eq!(ssd.device.part.layout.planes(), 64);
    assert_eq!(ssd.device.ftl.user_pages, (2_097_152.0_f64 * 0.85) as u32);
    assert_eq!(ssd.device.ftl.start_blocks, 26, "5.2 % of 512 blocks");
    assert_eq!(ssd.device.ftl.reserve_blocks, 2, "0.5 % of 512 blocks");
    assert_eq!(ssd.device.queue_depth, 32);
    assert_eq!(plan.replay, Replay::OpenLoop { time_scale: 1.0 });
    assert_eq!(ssd.precondition.fill_pages, ssd.device.ftl.user_pages);
    assert_eq!(
        (ssd.precondition.overwrite_pages, ssd.precondition.settle),
        (0, Settle::No)
    );
    assert_eq!(plan.series, Series::Automatic { intervals: 512 });
    assert_eq!(plan.workload, None);
    // 50 us + 12.3 us of transfer at 333 MT/s + nine cycles of 25 ns.
    assert_eq!(
        ssd.device.part.chains.unloaded(Operation::Read, 0).ps(),
        50_000_000 + 12_300_300 + 225_000
    );
}

#[test]
fn overrides_have_precedence_over_the_file_and_the_file_over_its_base() {
    let text = "base = \"d4\"\n[host]\nqueue_depth = 8\n[ssd]\nways = 2\n";
    let config = config(
        text,
        &[("host.queue_depth", "4"), ("host.queue_depth", "2")],
    );
    assert_eq!(
        config.host.queue_depth, 2,
        "the last override has precedence"
    );
    assert_eq!((config.ssd.channels, config.ssd.ways), (8, 2));
    assert_eq!(
        config.ftl.gc.start_free_ratio, 0.052,
        "the value is from the preset, not the default"
    );
    assert_eq!(config.name, "device", "a changed device is not called d4");
    assert!(config.description.starts_with("Based on preset d4: "));
}

#[test]
fn policy_can_be_set_by_name_table_or_override() {
    let base = "base = \"d4\"\n";
    let d3 = "[ftl.gc.victim.d-choices]\nd = 3\n";
    let greedy = "[greedy] ties = \"longest\"";
    assert_eq!(victim(base, &[]), greedy);
    assert_eq!(victim("ftl.gc.victim = \"fifo\"", &[]), "[fifo]");
    assert_eq!(victim(d3, &[]), "[d-choices] d = 3");
    assert_eq!(victim(&format!("{base}{d3}"), &[]), "[d-choices] d = 3");
    assert_eq!(victim(base, &[("ftl.gc.victim", "random")]), "[random]");
    assert_eq!(
        victim(base, &[("ftl.gc.victim.d-choices.d", "4")]),
        "[d-choices] d = 4"
    );
    assert_eq!(
        victim(d3, &[("ftl.gc.victim", "{ d-choices = { d = 5 } }")]),
        "[d-choices] d = 5"
    );
    assert_eq!(victim(d3, &[("ftl.gc.victim.fifo", "{}")]), "[fifo]");
    assert_eq!(
        victim(d3, &[("ftl.gc.victim", "d-choices")]),
        "[d-choices] d = 10",
        "a bare name"
    );
}

#[test]
fn table_of_the_same_policy_is_merged_and_another_replaces_it() {
    let base = "base = \"d4\"\n[ftl.allocate.static]\norder = \"PDWC\"";
    let order = |overrides| config(base, overrides).ftl.allocate;
    assert_eq!(
        toml::to_string(&order(&[])).unwrap(),
        "[static]\norder = \"PDWC\"\non_issue = false\n"
    );
    let dynamic = order(&[("ftl.allocate", "dynamic")]);
    assert_eq!(
        toml::to_string(&dynamic).unwrap(),
        "[dynamic]\norder = \"CWDP\"\n"
    );
}

#[test]
fn error_for_an_unknown_key_shows_its_place_and_a_suggestion() {
    says!("base = \"d4\"\n\n[host]\n  queu_depth = 3 # many\n",
        "device.toml:4:3: unknown key `queu_depth` in [host]; did you mean `queue_depth`?"
        "  |"
        "4 |   queu_depth = 3 # many"
        "  |   ^^^^^^^^^^");
    says!("[host]\nspeed = 3\n",
        "device.toml:2:1: unknown key `speed` in [host]; known keys: queue_depth, interface"
        "  |"
        "2 | speed = 3"
        "  | ^^^^^");
}

#[test]
fn error_for_a_misplaced_key_suggests_its_table() {
    says!("[gc]\nvictim = \"fifo\"\n",
        "device.toml:1:2: unknown key `gc` at the top level; did you mean `ftl.gc`?"
        "  |"
        "1 | [gc]"
        "  |  ^^");
    says!("[ssd]\npage_bytes = 4096\n",
        "device.toml:2:1: unknown key `page_bytes` in [ssd]; did you mean `nand.geometry.page_bytes`?"
        "  |"
        "2 | page_bytes = 4096"
        "  | ^^^^^^^^^^");
}

#[test]
fn error_for_a_wrong_type_names_the_expected_type() {
    says!("[host]\nqueue_depth = \"many\"\n",
        "device.toml:2:15: host.queue_depth: expected a whole number from 0 to 4294967295, found the text \"many\"; queue_depth is: Maximum number of requests that the device holds at once. Further requests wait outside the device: with `nvme` in the submission queues of their streams, with the other interfaces first come, first served. Count"
        "  |"
        "2 | queue_depth = \"many\""
        "  |               ^^^^^^");
    says!("nand.timing.read_ns = 5e4\n",
        "device.toml:1:23: nand.timing.read_ns: expected a whole number, or a list of them with one per page type, found the number 50000.0; read_ns is: Page read, cell array to register (tR): one number, or a list with one number per page type, least significant bit first. Nanoseconds"
        "  |"
        "1 | nand.timing.read_ns = 5e4"
        "  |                       ^^^");
    says!("[nand.timing]\nprogram_ns = [250_000, \"slow\"]\n",
        "device.toml:2:24: nand.timing.program_ns[1]: expected a whole number from 0 to 9223372036854775807, found the text \"slow\"; program_ns is: Page program, register to cell array (tPROG): one number, or a list with one number per page type, least significant bit first. Nanoseconds"
        "  |"
        "2 | program_ns = [250_000, \"slow\"]"
        "  |                        ^^^^^^");
    says!("nand.timing.model = \"tipical\"\n",
        "device.toml:1:21: nand.timing.model: unknown value `tipical`; did you mean `typical`? choose one of variation, typical, worst"
        "  |"
        "1 | nand.timing.model = \"tipical\""
        "  |                     ^^^^^^^^^");
    let model = fault("nand.timing.model = 3");
    assert!(
        model.contains(
            "nand.timing.model: expected one of variation, typical, worst; model is: Array time"
        ),
        "{model}"
    );
    let rule = override_fault("nand.plane_rule", "3");
    let expected =
        "nand.plane_rule: expected one of page-offset, page-and-block-offset; plane_rule is:";
    assert!(rule.contains(expected), "{rule}");
    assert!(
        override_fault("nand.cell", "3")
            .contains("expected one of slc, mlc-alpha, mlc-beta, tlc, qlc, found the number 3")
    );
    assert!(fault("nand.timing.read_ns = -1").contains("found the number -1;"));
    assert!(
        fault("nand.timing.read_ns = 99999999999999999999")
            .contains("number 99999999999999999999;")
    );
    assert!(
        fault("nand.timing.transfer_spare = 1")
            .contains("expected true or false, found the number 1")
    );
    assert!(fault("ssd = 3").contains("ssd: expected a table [ssd], found the number 3"));
    assert!(fault("[name]\n").contains("name: expected text in quotes, found a table"));
}

#[test]
fn error_for_a_value_of_an_unsupported_type_names_its_place() {
    let date = fault("[ssd]\nchannels = 1979-05-27\n");
    let expected = "device.toml:2:12: ssd.channels: expected a whole number from 0 to 4294967295, found a date;";
    assert!(date.starts_with(expected), "{date}");
    let table = fault("[ssd]\nscheduler = 07:32:00\n");
    assert!(
        table.starts_with("device.toml:2:13: ssd.scheduler: expected one of "),
        "{table}"
    );
    let huge = fault("nand.plane_rule = 1e400\n");
    assert!(
        huge.starts_with("device.toml:1:19: nand.plane_rule: expected one of page-offset"),
        "{huge}"
    );
    let long =
        fault("base = \"atlas-10k\"\n[disk.model.positioned]\nseek = [[1, 0.5], [2, 1.0, 3]]\n");
    assert!(
        long.starts_with("device.toml:3:19: disk.model.positioned.seek[1]: "),
        "{long}"
    );
}

#[test]
fn page_times_are_one_number_or_one_per_page_type() {
    let of = |cell: &str, times: &str| {
        let overrides = [("nand.cell", cell), ("nand.timing.program_ns", times)];
        plan("base = \"d4\"", &overrides)
    };
    for (cell, times) in [
        ("slc", "1000"),
        ("slc", "[1000]"),
        ("mlc-alpha", "1000"),
        ("mlc-alpha", "[1000, 5000]"),
        ("mlc-beta", "[1000, 5000]"),
        ("tlc", "[1000, 2000, 5000]"),
        ("qlc", "[1, 2, 3, 10_000_000_000]"),
    ] {
        assert!(of(cell, times).is_ok(), "{cell} {times}");
    }
    let program = |overrides| {
        let plan = plan("base = \"d4\"", overrides).expect("the overrides are valid");
        [0, 1, 2, 3].map(|offset| {
            plan.first()
                .unwrap()
                .device
                .part
                .chains
                .latencies()
                .program(offset)
                .ns()
        })
    };
    let times = ("nand.timing.program_ns", "[10, 20, 30]");
    assert_eq!(program(&[("nand.cell", "tlc"), times]), [10, 20, 30, 10]);
    assert_eq!(
        of("slc", "[1000, 2000]").unwrap_err(),
        "--set nand.timing.program_ns=[1000, 2000]: nand.timing.program_ns = [1000, 2000]: 2 times are given, and cell slc has one page type; give one number, or set nand.cell to the cell of the part"
    );
    assert_eq!(
        of("tlc", "[1000, 2000]").unwrap_err(),
        "--set nand.timing.program_ns=[1000, 2000]: nand.timing.program_ns = [1000, 2000]: 2 times are given, and cell tlc has 3 page types; give one number, or 3 in a list, least significant bit first"
    );
    assert!(
        of("mlc-alpha", "[]")
            .unwrap_err()
            .contains("0 times are given")
    );
    assert!(
        of("mlc-alpha", "[1, 0]")
            .unwrap_err()
            .contains("program_ns = 0: too small")
    );
    let mlc = "base = \"jung2013-mlc1\"";
    let message = plan(mlc, &[("nand.cell", "slc")]).unwrap_err();
    assert!(
        message.starts_with(
            "--set nand.cell=slc: nand.timing.program_ns = [250000, 2200000]: 2 times"
        ),
        "{message}"
    );
}

/// A QLC block in single-level mode has a quarter of its pages. Devices that cannot have an SLC
/// cache are rejected.
#[test]
fn slc_cache_is_planned_for_qlc_and_rejected_for_unsupported_devices() {
    let with = |base: &str, more: &[(&str, &str)]| {
        let cache = ("ftl.slc_cache", "dynamic");
        plan(&format!("base = \"{base}\""), &[more, &[cache]].concat())
    };
    let found = with("onfi4-qlc", &[("nand.slc_mode.program_ns", "123")]).unwrap();
    let device = &found.first().unwrap().device;
    assert_eq!(device.ftl.slc_pages, 1024 / 4);
    let ns = device
        .part
        .chains
        .single_level()
        .map(|all| all.map(wordline_kernel::Time::ns));
    assert_eq!(ns, Some([25_000, 123]));
    let without = plan("base = \"onfi4-qlc\"", &[]).unwrap();
    let device = &without.first().unwrap().device;
    assert_eq!(device.part.chains.single_level(), None);
    let erring = with("onfi4-qlc", &[("nand.reliability.errors", "analytic")]).unwrap();
    let reader = erring.first().unwrap().device.part.reader.clone().unwrap();
    assert!(reader.single_level.is_some());
    for (base, more, told) in [
        (
            "d4",
            vec![],
            "single-bit cells have no faster single-level mode",
        ),
        (
            "onfi4-qlc",
            vec![("ftl.mapping", "dftl")],
            "ftl.mapping = \"dftl\" does not support an SLC cache",
        ),
        (
            "onfi4-qlc",
            vec![("nand.programming", "table")],
            "nand.programming gives costs for multi-level mode only",
        ),
        (
            "onfi4-qlc",
            vec![("nand.reliability.read_limit", "100")],
            "failures, read reclaim and refresh are not modelled in single-level mode",
        ),
    ] {
        let message = with(base, &more).unwrap_err();
        assert!(message.contains(told), "{message}");
    }
}

/// Table 2.1 of the thesis states 250 to 2,200 us for MLC1 and 440 to 5,000 us for MLC2. The data
/// sheet states a tPROG of 650 us.
#[test]
fn mlc_parts_of_the_thesis_have_the_published_page_times() {
    let us = |base: &str, model: &str| {
        let plan = plan(
            &format!("base = \"{base}\""),
            &[("nand.timing.model", model)],
        );
        let plan = plan.expect("the preset is valid");
        let latencies = plan.first().unwrap().device.part.chains.latencies();
        let mut times = [0, 1, 2, 3, 4, 5, 6, 7].map(|offset| latencies.program(offset).as_us());
        times.sort_by(f64::total_cmp);
        (times[0], times[7])
    };
    assert_eq!(us("jung2013-mlc1", "variation"), (250.0, 2200.0));
    assert_eq!(us("jung2013-mlc1", "typical"), (650.0, 650.0));
    assert_eq!(us("jung2013-mlc1", "worst"), (2200.0, 2200.0));
    assert_eq!(us("jung2013-mlc2", "variation"), (440.0, 5000.0));
    assert_eq!(us("jung2013-slc", "variation"), (250.0, 250.0));
}

#[test]
fn error_for_invalid_toml_shows_its_place() {
    says!("[host\nqueue_depth = 3\n",
        "device.toml:1:6: unclosed table, expected `]`; close the name of the table with ]"
        "  |"
        "1 | [host"
        "  |      ^");
    says!("a = 1\n[host]\nqueue_depth =\n",
        "device.toml:3:14: expected a value; write text in \"quotes\""
        "  |"
        "3 | queue_depth ="
        "  |              ^");
    says!("name = \"a\"\nname = \"b\"\n",
        "device.toml:2:1: duplicate key; keep one of the two lines"
        "  |"
        "2 | name = \"b\""
        "  | ^^^^");
}

#[test]
fn error_for_an_unknown_policy_lists_the_choices() {
    says!("[ftl.gc]\nvictim = \"gredy\"\n",
        "device.toml:2:10: ftl.gc.victim: unknown value `gredy`; did you mean `greedy`? choose one of greedy, fifo, random, d-choices"
        "  |"
        "2 | victim = \"gredy\""
        "  |          ^^^^^^^");
    assert!(
        fault("[ftl.gc.victim.fifo]\n[ftl.gc.victim.greedy]\n")
            .contains("ftl.gc.victim: both `fifo` and `greedy` are given; keep one")
    );
    assert!(fault("ftl.gc.victim = {}").contains("name one of greedy"));
    assert!(fault("[ftl.allocate.static]\norder = \"CWDD\"").contains("write each of C (channel)"));
}

#[test]
fn other_schema_version_is_rejected_first() {
    says!("schema = 2\nunheard_of = true\n",
        "device.toml:1:1: schema = 2: this program reads version 1; write schema = 1 and the keys of docs/reference/config.md, or use the program version for which the file was written"
        "  |"
        "1 | schema = 2"
        "  | ^^^^^^");
}

#[test]
fn unknown_base_and_base_path_are_rejected() {
    let message = fault("\nbase = \"jung2013-slx\"\n");
    let first = "device.toml:2:1: base = \"jung2013-slx\": unknown preset; did you mean `jung2013-slc`? choose one of d4, ";
    assert!(message.starts_with(first), "{message}");
    assert!(fault("base = \"../d4.toml\"").contains("unknown preset"));
}

#[test]
fn error_in_an_override_names_the_override() {
    assert_eq!(
        override_fault("host.queue_depth", "many"),
        "--set host.queue_depth=many: host.queue_depth: expected a whole number from 0 to 4294967295, found the text \"many\"; queue_depth is: Maximum number of requests that the device holds at once. Further requests wait outside the device: with `nvme` in the submission queues of their streams, with the other interfaces first come, first served. Count"
    );
    assert_eq!(
        override_fault("host.queue_dept", "3"),
        "--set host.queue_dept=3: unknown key `queue_dept` in [host]; did you mean `queue_depth`?"
    );
    assert_eq!(
        override_fault("queue_depth", "3"),
        "--set queue_depth=3: unknown key `queue_depth` at the top level; did you mean `host.queue_depth`?"
    );
    assert_eq!(
        override_fault("ftl.gc.victim", "fifu"),
        "--set ftl.gc.victim=fifu: ftl.gc.victim: unknown value `fifu`; did you mean `fifo`? choose one of greedy, fifo, random, d-choices"
    );
    assert_eq!(
        override_fault("ftl.gc.victim.d-choices.d", "0"),
        "--set ftl.gc.victim.d-choices.d=0: ftl.gc.victim.d-choices.d = 0: too small; give a whole number from 1 to 65536"
    );
    for value in ["nan", "inf", "-inf"] {
        for key in [
            "ssd.scheduler.read-first.age_bound_us",
            "host.interface.sata.gigabits_per_s",
        ] {
            let message = override_fault(key, value);
            let start =
                format!("--set {key}={value}: {key} = {value}: out of range; give a number from ");
            assert!(message.starts_with(&start), "{message}");
        }
    }
    assert_eq!(
        override_fault("precondition.fill_ratio", "nan"),
        "--set precondition.fill_ratio=nan: precondition.fill_ratio = nan: out of range; give a number from 0 to 1"
    );
    assert!(override_fault("host", "3").contains("expected a table [host], found the number 3"));
    assert!(override_fault("a b", "3").contains("`a b` is not a key"));
    assert!(override_fault("name", "[1").contains("the value is not TOML"));
    assert!(
        override_fault("base", "tb1")
            .contains("`base` cannot be overridden; set it in the configuration file")
    );
}

#[test]
fn error_names_the_origin_of_the_value() {
    let text = "base = \"d4\"\n[nand.geometry]\npage_bytes = 1000\n";
    says!(text,
        "device.toml:3:1: nand.geometry.page_bytes = 1000: a page must hold whole sectors of 512 bytes; give a multiple of 512, such as 512 or 1024"
        "  |"
        "3 | page_bytes = 1000"
        "  | ^^^^^^^^^^");
    let loaded = load(text, &[("ssd.ways", "3")]).unwrap();
    let origin = |key| loaded.origin(key).to_string();
    assert_eq!(origin("nand.geometry.page_bytes"), "device.toml:3");
    assert_eq!(origin("ssd.ways"), "--set ssd.ways=3");
    assert_eq!(origin("ftl.gc.start_free_ratio"), "preset d4");
    assert_eq!(
        loaded.origin("series.intervals"),
        Origin::Default("device.toml".into())
    );
}

#[test]
fn error_of_several_keys_names_the_key_that_the_user_set() {
    says!("base = \"d4\"\n[nand.geometry]\nblocks_per_plane = 3\n",
        "device.toml:3:1: ftl.over_provisioning_ratio = 0.15: the 164 user pages of a plane fill 2 of its 3 blocks, and garbage collection needs 4 (free-block threshold 2, active blocks 2); raise ftl.over_provisioning_ratio, lower ftl.gc.start_free_ratio, or give a plane more blocks"
        "  |"
        "3 | blocks_per_plane = 3"
        "  | ^^^^^^^^^^^^^^^^");
    assert_eq!(
        override_fault("ssd.channels", "1000000"),
        "--set ssd.channels=1000000: ssd.channels = 1000000: too large; give a whole number from 1 to 1024"
    );
    assert_eq!(
        plan(
            "base = \"tb1\"",
            &[("nand.geometry.blocks_per_plane", "65536")]
        )
        .unwrap_err(),
        "--set nand.geometry.blocks_per_plane=65536: nand.geometry.blocks_per_plane = 65536: the device has 8589934592 pages (8 x 8 x 2 x 4 x 65536 x 256: channels, ways, dies, planes, blocks, pages), and at most 4294967294 can be addressed; use fewer blocks or larger pages"
    );
    assert!(plan("base = \"tb1\"", &[("ssd.channels", "1024")])
        .unwrap_err()
        .starts_with("--set ssd.channels=1024: nand.geometry.blocks_per_plane = 2048: the device has 34359738368 pages"));
}

/// Tries a value beyond and a value within each listed bound.
#[test]
fn numbers_beyond_bounds_are_rejected_and_numbers_within_are_accepted() {
    let bounds = [
        ("ssd.channels", "0", "1"),
        ("ssd.ways", "0", "1"),
        ("nand.geometry.dies_per_package", "0", "1"),
        ("nand.geometry.planes_per_die", "0", "1"),
        ("nand.geometry.blocks_per_plane", "0", "512"),
        ("nand.geometry.pages_per_block", "0", "1"),
        ("nand.geometry.pages_per_block", "65536", "65535"),
        ("nand.geometry.page_bytes", "0", "512"),
        ("nand.geometry.page_bytes", "66048", "65536"),
        ("nand.geometry.page_bytes", "4097", "4608"),
        ("nand.geometry.spare_bytes", "65537", "0"),
        ("nand.endurance_cycles", "0", "1"),
        ("nand.timing.read_ns", "0", "1"),
        ("nand.timing.program_ns", "10000000001", "10000000000"),
        ("nand.timing.read_ns", "[0]", "[1]"),
        ("nand.timing.typical_read_ns", "10000000001", "0"),
        ("nand.timing.typical_program_ns", "10000000001", "650000"),
        ("nand.timing.jitter_ratio", "0.91", "0.9"),
        ("nand.timing.jitter_ratio", "-0.1", "0"),
        ("nand.timing.cache_busy_ns", "1000001", "0"),
        ("nand.timing.plane_busy_ns", "1000001", "0"),
        ("nand.partial_programs", "0", "1"),
        ("nand.partial_programs", "9", "8"),
        ("nand.cell.mlc-alpha.lambda", "3", "4"),
        ("nand.cell.mlc-beta.lambda", "0", "2"),
        ("nand.suspend.program_suspend_ns", "10000000001", "0"),
        ("nand.suspend.erase_suspend_ns", "10000000001", "0"),
        ("nand.suspend.resume_ns", "10000000001", "0"),
        ("nand.suspend.most", "0", "1"),
        ("nand.energy.supply_v", "-1", "0"),
        ("nand.energy.io_supply_v", "20.1", "1.8"),
        ("nand.energy.read_ma", "nan", "10000"),
        ("nand.energy.program_ma", "10001", "20"),
        ("nand.energy.erase_ma", "-1", "0.5"),
        ("nand.energy.io_ma", "inf", "7"),
        ("nand.energy.standby_ua", "1000001", "1e6"),
        ("nand.timing.erase_ns", "9223372036854775807", "1"),
        ("nand.timing.command_cycle_ns", "1000001", "0"),
        ("nand.timing.address_cycles", "17", "16"),
        ("nand.timing.row_address_cycles", "17", "0"),
        ("nand.timing.bus_width_bits", "12", "16"),
        ("nand.timing.bus_mt_per_s", "0", "0.01"),
        ("nand.timing.bus_mt_per_s", "-333", "333"),
        ("nand.timing.bus_mt_per_s", "nan", "1e6"),
        ("nand.timing.bus_mt_per_s", "inf", "1.5"),
        ("host.queue_depth", "0", "1"),
        ("host.queue_depth", "1000001", "1000000"),
        ("ftl.over_provisioning_ratio", "1", "0.999"),
        ("ftl.over_provisioning_ratio", "nan", "0.5"),
        ("ftl.gc.start_free_ratio", "-0.1", "0"),
        ("ftl.gc.hard_free_ratio", "1.5", "0"),
        ("ftl.gc.victim.d-choices.d", "0", "1"),
        ("replay.mode.closed-loop.queue_depth", "0", "1000000"),
        ("replay.mode.open-loop.time_scale", "0", "1e-9"),
        ("replay.mode.open-loop.time_scale", "inf", "1e6"),
        ("precondition.fill_ratio", "1.01", "1"),
        ("precondition.fill_ratio", "-1", "0"),
        ("precondition.overwrite_ratio", "1001", "1000"),
        ("precondition.settle_tolerance_ratio", "0", "1"),
        ("precondition.settle_limit_ratio", "0", "0.5"),
        ("series.interval_ms", "-1", "0"),
        ("series.interval_ms", "1e-9", "1e-6"),
        ("series.intervals", "1", "2"),
        ("observe.worst_case_interval_s", "-1", "0"),
        ("observe.worst_case_interval_s", "1e-10", "86400"),
        ("observe.worst_case_interval_s", "nan", "0.5"),
        ("observe.marginal_response_ms", "-1", "0"),
        ("observe.marginal_response_ms", "inf", "30"),
        ("observe.warm_up_s", "-1", "0"),
        ("observe.warm_up_s", "8640001", "8640000"),
        ("observe.warm_up_s", "1e-10", "1e-9"),
        ("workload.requests", "0", "1"),
        ("workload.read_ratio", "1.1", "1"),
        ("workload.request_bytes", "1000", "1024"),
    ];
    for (key, bad, good) in bounds {
        let message = override_fault(key, bad);
        assert!(
            message.starts_with(&format!("--set {key}={bad}: {key}")),
            "{message}"
        );
        assert_eq!(message.lines().count(), 1, "{message}");
        if let Err(message) = plan("base = \"d4\"", &[(key, good)]) {
            panic!("{key} = {good} is allowed: {message}");
        }
    }
}

#[test]
fn only_one_warm_up_key_may_be_set() {
    for (text, second) in [
        (
            "warm_up_s = 1.0\nwarm_up_requests = 5",
            "observe.warm_up_requests = 5",
        ),
        (
            "warm_up_requests = 5\nwarm_up_files = 2",
            "observe.warm_up_files = 2",
        ),
    ] {
        let message = fault(&format!("[observe]\n{text}\n"));
        assert!(
            message.starts_with(&format!("device.toml:3:1: {second}: ")),
            "{message}"
        );
        assert!(message.contains("; set only one of the two\n"), "{message}");
    }
}

#[test]
fn overwrites_without_a_fill_are_rejected() {
    let text = "[precondition]\nfill_ratio = 0.0\nsettle = true\n";
    assert!(
        fault(text).starts_with("device.toml:2:1: precondition.fill_ratio = 0: no page is filled")
    );
    assert!(plan("precondition.fill_ratio = 0.0", &[]).is_ok());
}

#[test]
fn error_shortens_a_long_line_around_the_fault() {
    let text = format!("name = \"{}\"; x", "y".repeat(5000));
    let message = fault(&text);
    assert!(message.starts_with("device.toml:1:5010: "), "{message}");
    assert!(
        message.lines().all(|line| line.chars().count() < 200),
        "{message}"
    );
}

#[test]
fn schema_has_every_key_of_a_resolved_configuration() {
    let text = wordline_config::load("base = \"d4\"\n[workload]\n", "a.toml", &[])
        .unwrap()
        .resolved_toml;
    let table: toml::Table = text.parse().unwrap();
    let mut open = vec![(String::new(), table)];
    while let Some((prefix, table)) = open.pop() {
        for (key, value) in table {
            let path = format!("{prefix}{key}");
            assert!(wordline_config::keys::find(&path).is_some(), "{path}");
            if let toml::Value::Table(table) = value {
                open.push((format!("{path}."), table));
            }
        }
    }
}

#[test]
fn every_key_and_policy_has_a_description() {
    for key in wordline_config::keys::all() {
        assert!(!key.description.is_empty(), "{}", key.path);
    }
    for policy in wordline_config::policies() {
        assert!(
            !policy.description.is_empty(),
            "{} {}",
            policy.family,
            policy.name
        );
        let slot = wordline_config::keys::find(policy.family).map(|key| &key.kind);
        let Some(wordline_config::keys::Kind::Slot(names)) = slot else {
            panic!("{} is a slot", policy.family);
        };
        assert!(names.iter().any(|name| name == policy.name));
    }
}

#[test]
fn number_that_toml_cannot_hold_is_rejected() {
    let text = "base = \"demo\"\n[nand.timing]\nprogram_ns = 9223372036854775808\n";
    let error = load(text, &[]).map(|_| ()).unwrap_err();
    assert!(error.starts_with("device.toml:3:"), "{error}");
}

/// The policies of a configuration include the policy of each slot, except of slots without effect.
#[test]
fn policy_of_every_slot_with_effect_is_listed() {
    let cited = |text: &str| {
        let chosen = wordline_config::chosen(&config(text, &[]));
        chosen
            .iter()
            .map(|one| (one.family, one.name))
            .collect::<Vec<_>>()
    };
    for policy in wordline_config::policies() {
        let (family, name) = (policy.family, policy.name);
        let slot = format!("{family} = \"{name}\"\n");
        let text = format!("schema = 1\nbuffer.capacity_kib = 64\n{slot}");
        let idle = family == "nand.scheduler"; // of a standalone package
        assert_eq!(cited(&text).contains(&(family, name)), !idle, "{slot}");
        let (tables, inner) = match family.split('.').next() {
            Some("cache") => ("array.members", "disk = {}\n"),
            Some("disk") => ("array.members", ""),
            Some("workload" | "replay") => ("streams", "name = \"a\"\n"),
            Some("host_side") => continue, // of the whole store
            _ => ("array.members", "buffer.capacity_kib = 64\n"),
        };
        let text = format!("schema = 1\n[[{tables}]]\n{inner}{slot}");
        assert_eq!(cited(&text).contains(&(family, name)), !idle, "{text}");
    }
    let cache = cited("schema = 1\n[cache]\nreplacement = \"arc\"\n[disk]\n");
    assert!(cache.contains(&("buffer.replacement", "arc")), "{cache:?}");
    let off = cited("schema = 1\nbuffer.replacement = \"arc\"\n");
    assert!(
        off.iter()
            .all(|&(family, _)| family != "buffer.replacement"),
        "the buffer is off"
    );
}

/// Valid flash cache in front of a disk, to which tests add overrides.
const CACHED: &str = "schema = 1\n[cache]\n[disk]\n";

#[test]
fn unsupported_settings_of_flash_caches_and_disks_are_rejected() {
    let fault = |text: &str, overrides: &[(&str, &str)]| {
        let overrides: Vec<(String, String)> = overrides
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let loaded = wordline_config::load(text, "cached.toml", &overrides);
        loaded.and_then(|loaded| loaded.plan(1)).unwrap_err()
    };
    let loaded = wordline_config::load(CACHED, "cached.toml", &[]).unwrap();
    assert!(loaded.plan(1).unwrap().cached().is_some());
    let cases = [
        ("schema = 1\n[cache]\n", "cache", "no backing store"),
        (
            "schema = 1\n[ssd]\nchannels = 3\n[disk]\n",
            "ssd",
            "describes flash",
        ),
        (
            "schema = 1\nbase = \"d4\"\n[disk]\nbase = \"atlas-10k\"\n",
            "ftl",
            "add [cache]",
        ),
        (
            "schema = 1\n[nand]\npartial_programs = 2\n[[array.members]]\ndisk = {}\n",
            "nand",
            "describes flash",
        ),
        (
            "schema = 1\n[[array.members]]\n[[array.members]]\ndisk = {}\nhost = { queue_depth = 3 }\n",
            "array.members[1].host",
            "add [cache]",
        ),
        (
            "schema = 1\n[[array.members]]\ncache = {}\n",
            "array.members[0].cache",
            "no backing store",
        ),
        (
            "schema = 1\n[[array.members]]\ncache = {}\ndisk = {}\nftl = { mapping = \"dftl\" }\n",
            "array.members[0].ftl.mapping",
            "which a flash cache requires",
        ),
        (
            "schema = 1\n[cache]\n[array]\nstripe_bytes = 6144\n[[array.members]]\ncache = {}\ndisk = {}\n",
            "array.stripe_bytes",
            "a multiple of 4096",
        ),
    ];
    for (text, key, words) in cases {
        let error = fault(text, &[]);
        assert_eq!(error.key, key, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    for (key, value) in [
        ("cache.replacement", "belady"),
        ("ftl.mapping", "dftl"),
        ("buffer.capacity_kib", "4096"),
        ("host.interface", "nvme"),
        ("ftl.gc.start_free_pages", "2000000"),
        ("disk.capacity_bytes", "1000"),
        ("disk.model", "{ constant = { access_ms = -1.0 } }"),
    ] {
        let error = fault(CACHED, &[(key, value)]);
        assert!(error.key.starts_with(key), "{key}: {error}");
        assert!(error.to_string().contains(key), "{error}");
    }
    for value in ["zero-migration", "conditional"] {
        let error = fault("schema = 1\n", &[("ftl.gc.reclaim", value)]);
        assert_eq!(error.key, "ftl.gc.reclaim");
    }
}

#[test]
fn disk_table_overrides_the_disk_of_a_preset() {
    let model = |text: &str, overrides: &[(&str, &str)]| {
        let overrides: Vec<(String, String)> = overrides
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let loaded = wordline_config::load(text, "cached.toml", &overrides)?;
        let disk = loaded.config.disk.unwrap();
        Ok::<_, wordline_config::ConfigError>((
            disk.serial,
            disk.model.name(),
            disk.capacity_bytes.unwrap_or_default(),
        ))
    };
    let named = "schema = 1\n[cache]\n[disk]\nbase = \"xia2017-read-cache\"\n";
    let capacity = 17_179_869_184;
    assert_eq!(model(named, &[]).unwrap(), (false, "constant", capacity));
    let other = format!("{named}capacity_bytes = 4096\n");
    assert_eq!(model(&other, &[]).unwrap(), (false, "constant", 4096));
    // A later base replaces the whole disk, and later keys override it.
    let own = "schema = 1\n[cache]\n[disk]\nserial = true\nmodel = \"average\"\n";
    let over = [("disk.base", "xia2017-read-cache")];
    assert_eq!(model(own, &over).unwrap(), (false, "constant", capacity));
    let over = [over[0], ("disk.serial", "true")];
    assert_eq!(model(own, &over).unwrap(), (true, "constant", capacity));
    for (name, words) in [("d4", "has no disk"), ("nothing", "unknown preset")] {
        let error = model(&named.replace("xia2017-read-cache", name), &[]).unwrap_err();
        assert_eq!(error.key, "disk.base");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.to_string().contains("cached.toml"), "{error}");
    }
}

#[test]
fn conflicting_tables_and_invalid_values_of_a_ram_disk_are_rejected() {
    let cases = [
        (
            "schema = 1\n[ssd]\nchannels = 3\n[ram]\n",
            "ssd",
            "a disk without a cache",
        ),
        (
            "schema = 1\n[disk]\n[ram]\n",
            "ram",
            "[ram] and [disk] describe two devices; leave one of them out",
        ),
        (
            "schema = 1\n[ram]\ncapacity_bytes = 1000\n",
            "ram.capacity_bytes",
            "1000 bytes are not a whole number of sectors",
        ),
        (
            "schema = 1\n[ram]\nchannels = 0\n",
            "ram.channels",
            "give a whole number from 1 to 65536",
        ),
        (
            "schema = 1\n[ram]\noverhead_ns = 0\n",
            "ram.overhead_ns",
            "too small",
        ),
        (
            "schema = 1\n[ram]\nns_per_byte = -0.5\n",
            "ram.ns_per_byte",
            "out of range",
        ),
        (
            "schema = 1\n[[array.members]]\ndisk = {}\nram = {}\n",
            "array.members[0].ram",
            "describe two devices",
        ),
    ];
    for (text, key, words) in cases {
        let loaded = wordline_config::load(text, "ram.toml", &[]);
        let error = loaded.and_then(|loaded| loaded.plan(1)).unwrap_err();
        assert_eq!(error.key, key, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn unknown_key_of_a_ram_disk_is_rejected_with_a_suggestion() {
    let error = wordline_config::load("schema = 1\n[ram]\nchanels = 2\n", "ram.toml", &[]);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("ram.toml:3") && error.contains("channels"),
        "{error}"
    );
}

/// Tables of two kinds of devices at the top of a file are defaults for the members of each kind. A
/// member takes only the table of its kind.
#[test]
fn member_takes_the_top_level_table_of_its_own_kind_only() {
    let text = "schema = 1\n[disk]\nqueue_depth = 3\n[ram]\nchannels = 2\noverhead_ns = 700\n[array]\n\
                members = [{ disk = {} }, { ram = { channels = 5 } }, { base = \"demo\" }, { base = \"disk-5ms\" }, \
                { cache = {}, ram = {}, host = { interface = \"direct\" } }]\n";
    let plan = wordline_config::load(text, "two.toml", &[])
        .unwrap()
        .plan(1)
        .unwrap();
    let leaves = plan.leaves();
    let names: Vec<&str> = leaves.iter().map(|leaf| leaf.name.as_str()).collect();
    assert_eq!(
        names,
        ["disk0", "ram1", "ssd2", "disk3", "cache4", "cache4.disk"]
    );
    assert_eq!(plan.disks()[0].disk.queue_depth, 3);
    let rams: Vec<&wordline_ram_disk::Plan> = leaves
        .iter()
        .filter_map(|leaf| leaf.of.try_into().ok())
        .collect();
    let channels: Vec<u32> = rams.iter().map(|ram| ram.channels).collect();
    assert_eq!(channels, [5, 2]);
    assert!(rams.iter().all(|ram| ram.overhead.ns() == 700));
}

/// Disks are described by top-level tables, presets and member tables, also behind a cache.
#[test]
fn disk_can_be_a_store_a_member_or_a_backing_store() {
    let plan = |text: &str| {
        let loaded = wordline_config::load(text, "disks.toml", &[]).unwrap();
        loaded.plan(1).unwrap()
    };
    let one = plan("schema = 1\nbase = \"atlas-10k\"\n");
    assert_eq!(one.disks().len(), 1);
    assert_eq!(one.user_bytes(), 17_938_986 * 512);
    assert!(one.first().is_none());
    assert_eq!(one.slots(), Some(64));
    let members = "[array]\nlayout = \"by-disk\"\n[[array.members]]\nname = \"a\"\ncount = 2\n\
                   [[array.members]]\nbase = \"disk-5ms\"\n\
                   [[array.members]]\ndisk = { base = \"nearline-7200\", queue_depth = 3 }\n";
    let several = plan(&format!(
        "schema = 1\n[disk]\nbase = \"atlas-iii\"\n{members}"
    ));
    let names: Vec<String> = several.disks().into_iter().map(|leaf| leaf.name).collect();
    assert_eq!(names, ["a0", "a1", "disk2", "disk3"]);
    assert_eq!(several.disks()[1].disk.capacity_bytes, 17_783_250 * 512);
    assert_eq!(several.disks()[3].disk.queue_depth, 3);
    assert_eq!(several.volumes().len(), 4);
    let behind = plan(&format!(
        "schema = 1\n[cache]\n[disk]\nbase = \"atlas-iii\"\n{members}"
    ));
    assert_eq!(behind.disks().len(), 4);
    assert_eq!(behind.user_bytes(), several.user_bytes());
    assert_eq!(behind.volumes(), several.volumes());
    assert_eq!(behind.ssds().count(), 1);
}

/// Checks kind, name and number of each device in nested stores.
#[test]
fn stores_nest_in_arrays_and_behind_caches() {
    use wordline_config::plan::{Device, Shape};
    let plan = |text: &str| {
        let loaded = wordline_config::load(text, "nested.toml", &[]).unwrap();
        let again = wordline_config::load(&loaded.resolved_toml, "nested.toml", &[]).unwrap();
        let plan = loaded.plan(1).unwrap();
        assert_eq!(again.plan(1).unwrap(), plan, "{}", loaded.resolved_toml);
        plan
    };
    let devices = |plan: &Plan| -> Vec<(String, &str, u32, bool)> {
        let leaves = plan.leaves().into_iter().map(|leaf| {
            let kind = match leaf.of {
                Device::Ssd(_) => "ssd",
                Device::Disk(_) => "disk",
                Device::RamDisk(_) => "ram",
                Device::Cached(_) => "cache",
            };
            (leaf.name, kind, leaf.number, leaf.is_behind)
        });
        leaves.collect()
    };
    let row = |name: &str, kind, number, behind| (name.to_owned(), kind, number, behind);

    let caches = plan(
        "schema = 1\n[nand]\npartial_programs = 2\n[disk]\nbase = \"nearline-7200\"\n\
         [array]\n[[array.members]]\ncount = 2\ncache = { mode = \"write-back\" }\n",
    );
    assert_eq!(caches.shape(), Shape::Mixed);
    assert_eq!(
        devices(&caches),
        [
            row("cache0", "cache", 0, false),
            row("cache0.disk", "disk", 2, true),
            row("cache1", "cache", 1, false),
            row("cache1.disk", "disk", 3, true),
        ]
    );
    assert!(
        caches
            .ssds()
            .all(|ssd| ssd.device.part.partial_programs == 2)
    );
    assert_eq!(caches.own_ssds().len(), 0);

    let tiers = plan(
        "schema = 1\nname = \"top\"\n[nand]\npartial_programs = 3\n[cache]\n[disk]\nbase = \"nearline-7200\"\n\
         [[array.members]]\nname = \"a\"\ncache = {}\nnand = { partial_programs = 2 }\n\
         [[array.members]]\nname = \"b\"\n\
         [[array.members]]\nname = \"c\"\nbase = \"demo\"\n",
    );
    assert_eq!(
        devices(&tiers),
        [
            row("top", "cache", 0, false),
            row("a", "cache", 1, true),
            row("a.disk", "disk", 7, true),
            row("b", "disk", 3, true),
            row("c", "ssd", 5, true),
        ]
    );
    let programs: Vec<u32> = tiers
        .ssds()
        .map(|ssd| ssd.device.part.partial_programs)
        .collect();
    assert_eq!(
        programs,
        [3, 2, 1],
        "tables around a cache do not apply to its backing members"
    );

    let beside = plan(
        "schema = 1\n[ssd]\nchannels = 2\n[array]\nlayout = \"by-disk\"\n[[array.members]]\nname = \"fast\"\n\
         [[array.members]]\nname = \"slow\"\ndisk = { base = \"nearline-7200\" }\n\
         [[array.members]]\nname = \"tiers\"\narray = { members = [{ base = \"demo-store\", name = \"x\" }] }\n",
    );
    assert_eq!(
        devices(&beside),
        [
            row("fast", "ssd", 0, false),
            row("slow", "disk", 1, false),
            row("tiers.x", "cache", 2, false),
            row("tiers.x.disk", "disk", 5, true),
        ]
    );
    assert_eq!(beside.volumes().len(), 3);
    assert_eq!(beside.own_ssds()[0].1.dimensions.channels, 2);
    let single = plan("schema = 1\nbase = \"demo-store\"\n");
    assert_eq!(single.shape(), Shape::CachedDisks);
}

/// Checks the complete configurations in two how-to pages.
#[test]
fn stores_in_the_how_to_pages_on_arrays_and_caches_are_valid() {
    let pages = [
        include_str!("../../../../docs/how-to/array.md"),
        include_str!("../../../../docs/how-to/flash-cache.md"),
    ];
    let blocks = pages
        .iter()
        .flat_map(|page| page.split("```toml\n").skip(1));
    let blocks = blocks.map(|block| block.split("```").next().unwrap());
    let mut planned = 0;
    for text in blocks.filter(|text| text.starts_with("schema = 1")) {
        let loaded = wordline_config::load(text, "page.toml", &[]);
        let plan = loaded.and_then(|loaded| loaded.plan(1));
        assert!(plan.is_ok(), "{:?}\n{text}", plan.unwrap_err());
        planned += 1;
    }
    assert!(planned >= 6, "{planned} found");
}

#[test]
fn reliability_settings_are_checked_against_other_keys() {
    const CACHED: &str = "[cache]\nmode = \"write-back\"\n[disk]\nbase = \"nearline-7200\"\n[host]\ninterface = \"direct\"\n";
    const FAILS: &str = "base = \"d4\"\n[nand.reliability.failures.weibull]\n";
    for (text, words) in [
        (
            "base = \"d4\"\n[nand.reliability]\nfactory_bad_ratio = 0.02\n[ftl]\nspare_blocks = 3\n".to_owned(),
            "factory-bad blocks",
        ),
        (
            "base = \"d4\"\n[ftl]\nspare_blocks = 512\n".to_owned(),
            "a plane has 512 blocks, so none would be left",
        ),
        (
            "base = \"d4\"\n[ftl]\nspare_blocks = 500\n".to_owned(),
            "ftl.over_provisioning_ratio",
        ),
        (
            "base = \"d4\"\n[nand.reliability.failures.table]\ncycles = [0.0, 1.0]\nerase = [0.5]\n".to_owned(),
            "there are 1 values for 2 points",
        ),
        (
            "base = \"d4\"\n[nand.reliability]\nlevel_factors = [1.0, 2.0]\n[nand.reliability.errors.analytic]\n".to_owned(),
            "2 numbers are given, but cell slc has 1 page types",
        ),
    ] {
        let said = fault(&text);
        assert!(said.contains(words), "{said}");
    }
    // A cache in front of a disk reads from the disk the data that its flash cannot correct.
    let text = format!("base = \"d4\"\n{CACHED}[nand.reliability]\nerrors = \"analytic\"\n");
    plan(&text, &[]).expect("read errors of a flash cache are valid");
    // Read reclaim and refresh work without read errors if the mapping supports them.
    for key in ["read_limit", "refresh_days"] {
        let text = format!("base = \"d4\"\n[nand.reliability]\n{key} = 1000\n");
        let of = plan(&text, &[]).expect(key);
        let reader = of.first().expect("an SSD").device.part.reader.as_ref();
        let reader = reader.expect("read reclaim needs the reader");
        assert!(reader.read_limit > 0 || reader.refresh_days > 0.0);
        for mapping in ["block", "hybrid", "buffered"] {
            let said = plan(&text, &[("ftl.mapping", mapping)]).expect_err(mapping);
            assert!(said.contains(key) && said.contains("ftl.mapping"), "{said}");
        }
    }
    // Failures can be combined with each of these settings.
    for more in [
        "[ftl]\nmapping = \"dftl\"\n".to_owned(),
        "[buffer]\ncapacity_kib = 1024\n".to_owned(),
        CACHED.to_owned(),
        CACHED.replace("write-back", "write-through"),
        CACHED.replace("[disk]", "journal = \"none\"\n[disk]"),
    ] {
        plan(&format!("{FAILS}{more}"), &[]).expect(&more);
    }
    // Factory-bad blocks can be combined with each of these settings. Spare blocks reduce
    // over-provisioning, not the user capacity.
    for more in [
        "mapping = \"dftl\"",
        "mapping = \"hybrid\"",
        "[buffer]\ncapacity_kib = 1024",
    ] {
        let text = format!(
            "base = \"d4\"\n[nand.reliability]\nfactory_bad_ratio = 0.01\n[ftl]\nspare_blocks = 24\n{more}\n"
        );
        plan(&text, &[]).expect(more);
    }
    let pages = |spare: &str| {
        let plan =
            plan("base = \"d4\"", &[("ftl.spare_blocks", spare)]).expect("the spare blocks fit");
        let ssd = plan.first().expect("an SSD");
        (
            ssd.device.ftl.user_pages,
            ssd.device.ftl.layout.blocks_per_plane,
        )
    };
    let ((all, blocks), (fewer, used)) = (pages("0"), pages("20"));
    assert_eq!((all, blocks - used), (fewer, 20));
}

#[test]
fn allocation_on_issue_needs_a_write_queue_and_page_mapping() {
    let text = "base = \"d4\"\nftl.allocate.static.on_issue = true\n";
    let fault = plan(text, &[]).expect_err("the default scheduler does not queue writes");
    assert!(fault.contains("does not queue writes"), "{fault}");
    let fault = plan(text, &[("ssd.scheduler", "paq0")]).expect_err("paq0 does not queue writes");
    assert!(fault.contains("ssd.scheduler = \"paq0\""), "{fault}");
    let hybrid = [("ssd.scheduler", "ncq"), ("ftl.mapping", "dftl")];
    let fault = plan(text, &hybrid).expect_err("the mapping is not page mapping");
    assert!(fault.contains("ftl.mapping"), "{fault}");
    assert!(plan(text, &[("ssd.scheduler", "ncq")]).is_ok());
}

#[test]
fn scattered_layout_needs_allocation_independent_of_the_address() {
    let text = "base = \"d4\"\nprecondition.layout = \"scattered\"\n";
    let fault =
        plan(text, &[("ftl.allocate", "static")]).expect_err("static allocation is by address");
    assert!(fault.contains("ftl.allocate"), "{fault}");
    for allocate in ["dynamic", "least-busy"] {
        let planned = plan(text, &[("ftl.allocate", allocate)]).expect("anywhere");
        assert!(planned.ssds().all(|ssd| ssd.precondition.scattered));
    }
}

#[test]
fn first_read_layout_needs_page_mapping_and_no_overwrites() {
    let text = "base = \"d4\"\nprecondition.layout = \"first-read\"\n";
    let fault = plan(text, &[("precondition.overwrite_ratio", "0.5")]).expect_err("overwritten");
    assert!(fault.contains("overwritten after the fill"), "{fault}");
    let fault = plan(
        text,
        &[
            ("precondition.overwrite_ratio", "0"),
            ("ftl.mapping", "dftl"),
        ],
    );
    let fault = fault.expect_err("the mapping is not page mapping");
    assert!(fault.contains("ftl.mapping"), "{fault}");
    let settled = [
        ("precondition.overwrite_ratio", "0"),
        ("precondition.settle", "false"),
    ];
    let planned = plan(text, &settled).expect("a fill without overwrites is valid");
    assert!(
        planned
            .ssds()
            .all(|ssd| ssd.device.first_read_pages == ssd.precondition.fill_pages)
    );
}
