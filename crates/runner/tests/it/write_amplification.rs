//! Bytes programmed, by purpose. They add up to the bytes that the dies programmed, and their ratio
//! to the bytes written by the host is the write amplification.
#![allow(clippy::unwrap_used, clippy::panic)] // the whole file is test code

use wordline_config::presets;
use wordline_runner::summary::FlashSummary;
use wordline_runner::{RunSpec, Summary};

const DEVICE: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 2\nways = 2\n\
    [nand.geometry]\nplanes_per_die = 2\nblocks_per_plane = 32\npages_per_block = 16\npage_bytes = 4096\n\
    [ftl]\nover_provisioning_ratio = 0.4\n[precondition]\nfill_ratio = 0.8\noverwrite_ratio = 0.1\n\
    [workload]\nrequests = 3000\nread_ratio = 0.3\nalign_bytes = 512\nworking_set_ratio = 0.6\n\
    request_bytes = [{ bytes = 512, weight = 1 }, { bytes = 4096, weight = 2 }, { bytes = 20480, weight = 1 }]\n\
    arrival.closed-loop.queue_depth = 8\n";
const PAGE: u64 = 4096;

fn run_with(config: &str, overrides: &[(&str, &str)], cuts: Option<u64>) -> Summary {
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let job = RunSpec {
        config: config.into(),
        config_name: "test.toml".into(),
        overrides: overrides.iter().map(owned).collect(),
        seed: 1,
        power_cut_every: cuts,
        ..RunSpec::default()
    };
    let done = job
        .run(&mut |_| true)
        .unwrap_or_else(|error| panic!("{overrides:?}: {error}"));
    assert_eq!(done.results.summary.error, None, "{overrides:?}");
    done.results.summary
}

fn run(overrides: &[(&str, &str)]) -> Summary {
    run_with(DEVICE, overrides, None)
}

/// Returns the bytes programmed, by purpose.
fn parts(flash: &FlashSummary) -> [u64; 11] {
    let of = &flash.programmed;
    [
        of.host_bytes,
        of.fill_bytes,
        of.gc_bytes,
        of.merge_bytes,
        of.wear_bytes,
        of.fold_bytes,
        of.refresh_bytes,
        of.rewrite_bytes,
        of.map_bytes,
        of.summary_bytes,
        of.spare_bytes,
    ]
}

/// Checks any flash with pages of `page_bytes`: `page_programs` counts the programs of the dies for
/// every purpose except spare blocks.
fn assert_adds_up(flash: &FlashSummary, page_bytes: u64, of: &str) {
    let sum: u64 = parts(flash).iter().sum();
    assert_eq!(sum, flash.programmed_bytes, "{of}");
    assert_eq!(
        sum - flash.programmed.spare_bytes,
        flash.page_programs * page_bytes,
        "{of}: {:?}",
        flash.programmed
    );
    let expected =
        (flash.host_written_bytes > 0).then(|| sum as f64 / flash.host_written_bytes as f64);
    assert_eq!(flash.write_amplification, expected, "{of}");
}

/// Checks the additional equations of runs without failed programs and power cuts.
fn assert_explained(summary: &Summary, page_bytes: u64, of: &str) {
    let (flash, parts) = (&summary.flash, &summary.flash.programmed);
    assert_adds_up(flash, page_bytes, of);
    assert_eq!(
        parts.map_bytes + parts.summary_bytes,
        flash.own_page_programs * page_bytes,
        "{of}"
    );
    assert_eq!(
        parts.host_bytes + parts.fill_bytes,
        flash.host_page_writes * page_bytes,
        "{of}"
    );
    assert_eq!(parts.spare_bytes, 0, "{of}");
}

/// Without a buffer, each host byte is programmed for the host once, by its write.
#[test]
fn programmed_host_bytes_equal_bytes_written_under_every_mapping() {
    for mapping in ["page", "block", "log-block", "hybrid", "buffered", "dftl"] {
        let summary = run(&[("ftl.mapping", &format!("\"{mapping}\""))]);
        assert_explained(&summary, PAGE, mapping);
        let flash = &summary.flash;
        assert_eq!(
            flash.host_written_bytes, summary.input.of.written_bytes,
            "{mapping}"
        );
        assert_eq!(
            flash.programmed.host_bytes, flash.host_written_bytes,
            "{mapping}"
        );
        assert!(flash.programmed.fill_bytes > 0, "{mapping}");
        let moved = flash.programmed.gc_bytes + flash.programmed.merge_bytes;
        assert_eq!(moved, flash.gc_pages_moved * PAGE, "{mapping}");
        assert!(mapping != "dftl" || flash.programmed.map_bytes > 0);
        assert!(
            flash.write_amplification > flash.page_write_amplification,
            "{mapping}"
        );
    }
}

#[test]
fn whole_page_writes_have_equal_byte_and_page_amplification() {
    let whole = [
        ("workload.request_bytes", "8192"),
        ("workload.align_bytes", "4096"),
    ];
    let flash = run(&whole).flash;
    assert!(flash.write_amplification.unwrap() > 1.0);
    assert_eq!(flash.write_amplification, flash.page_write_amplification);
    assert_eq!(flash.programmed.fill_bytes, 0);
}

/// A page of 16 KiB is programmed for each write of 4 KiB.
#[test]
fn quarter_page_write_costs_four_times_its_bytes() {
    let quarter = [
        ("nand.geometry.page_bytes", "16384"),
        ("workload.request_bytes", "4096"),
        ("workload.align_bytes", "4096"),
        ("precondition.fill_ratio", "0.1"),
        ("precondition.overwrite_ratio", "0"),
        ("workload.working_set_ratio", "0.1"),
        ("workload.requests", "500"),
    ];
    let flash = run(&quarter).flash;
    assert_eq!(flash.gc_runs, 0);
    assert_eq!(flash.page_write_amplification, Some(1.0));
    assert_eq!(flash.write_amplification, Some(4.0));
    assert_eq!(flash.programmed.fill_bytes, 3 * flash.programmed.host_bytes);
}

#[test]
fn read_only_load_has_no_write_amplification() {
    let flash = run(&[("workload.read_ratio", "1.0")]).flash;
    assert_eq!(flash.host_written_bytes, 0);
    assert_eq!(flash.write_amplification, None);
    assert_eq!(flash.page_write_amplification, None);
}

/// Writes that a buffer absorbs are not programmed. Of a programmed page, the sectors in the buffer
/// count as host bytes, the others as fill.
#[test]
fn buffer_that_absorbs_writes_has_amplification_below_one() {
    let hot = [
        ("buffer.capacity_kib", "4096"),
        ("workload.working_set_ratio", "0.05"),
        ("workload.read_ratio", "0.0"),
    ];
    let summary = run(&hot);
    let flash = &summary.flash;
    assert_explained(&summary, PAGE, "buffer");
    assert_eq!(flash.host_written_bytes, summary.input.of.written_bytes);
    assert!(flash.write_amplification.unwrap() < 1.0);
    assert_eq!(
        summary.buffer.unwrap().write_amplification,
        flash.write_amplification
    );

    let small = [
        ("buffer.capacity_kib", "64"),
        ("workload.request_bytes", "512"),
    ];
    let summary = run(&small);
    let (flash, buffer) = (&summary.flash, summary.buffer.unwrap());
    assert_explained(&summary, PAGE, "small buffer");
    assert_eq!(flash.host_page_writes, buffer.pages_destaged);
    assert!(flash.programmed.host_bytes <= flash.host_written_bytes);
    assert!(flash.programmed.host_bytes >= 512 * buffer.pages_destaged);
    assert!(flash.programmed.fill_bytes > 3 * flash.programmed.host_bytes);
}

/// Each case programs pages for a different purpose.
#[test]
fn program_purposes_are_counted_separately() {
    type Part = fn(&FlashSummary) -> u64;
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], Part);
    let cases: [Case<'_>; 5] = [
        (
            "wear",
            &[
                ("ftl.wear", "{ static = { threshold_erases = 1 } }"),
                ("workload.working_set_ratio", "0.1"),
                ("workload.requests", "6000"),
            ],
            |flash| flash.programmed.wear_bytes,
        ),
        (
            "read reclaim",
            &[
                ("nand.reliability.read_limit", "50"),
                ("workload.read_ratio", "0.9"),
                ("workload.working_set_ratio", "0.05"),
            ],
            |flash| flash.programmed.refresh_bytes,
        ),
        (
            "fold",
            &[
                ("nand.cell", "\"tlc\""),
                ("ftl.slc_cache", "\"dynamic\""),
                ("precondition.fill_ratio", "0.3"),
                ("precondition.overwrite_ratio", "0.0"),
            ],
            |flash| flash.programmed.fold_bytes,
        ),
        (
            "rewrite",
            &[
                ("nand.programming", "\"table\""),
                ("ftl.regulation", "\"r-w\""),
            ],
            |flash| flash.programmed.rewrite_bytes,
        ),
        (
            "inside planes",
            &[
                ("nand.internal_data_move", "true"),
                ("ftl.gc.internal_data_move", "true"),
            ],
            |flash| flash.programmed.gc_bytes,
        ),
    ];
    for (name, overrides, part) in cases {
        let summary = run(overrides);
        assert_explained(&summary, PAGE, name);
        assert!(
            part(&summary.flash) > 0,
            "{name}: {:?}",
            summary.flash.programmed
        );
        let moved = parts(&summary.flash)[2..7].iter().sum::<u64>();
        assert_eq!(moved, summary.flash.gc_pages_moved * PAGE, "{name}");
    }
}

/// A failed program is repeated in a spare block, after the data of its old block are copied there.
#[test]
fn copies_to_spare_blocks_after_failed_programs_are_counted() {
    let failing = [
        ("ftl.spare_blocks", "8"),
        (
            "nand.reliability.failures",
            "{ table = { cycles = [0.0], erase = [0.002], program = [0.002] } }",
        ),
    ];
    let summary = run(&failing);
    let bad = summary.bad_blocks.unwrap();
    assert!(
        bad.program_failures > 3 && bad.read_only_s.is_none(),
        "{bad:?}"
    );
    assert_adds_up(&summary.flash, PAGE, "failures");
    assert_eq!(
        summary.flash.programmed.spare_bytes,
        (bad.pages_copied + bad.program_failures) * PAGE
    );
}

/// Programs that a power cut interrupts count neither by purpose nor as programs of the dies.
#[test]
fn bytes_by_purpose_add_up_with_power_cuts() {
    for overrides in [
        &[][..],
        &[("buffer.capacity_kib", "64")],
        &[("ftl.mapping", "\"dftl\"")],
        &[("ftl.mapping", "\"log-block\"")],
    ] {
        let summary = run_with(DEVICE, overrides, Some(50));
        assert!(summary.power.unwrap().cuts > 20);
        assert_adds_up(&summary.flash, PAGE, &format!("{overrides:?}"));
        assert!(summary.flash.host_written_bytes <= summary.input.of.written_bytes);
    }
}

/// Results of an array are the sums over its members; results of a cache cover its flash.
#[test]
fn bytes_by_purpose_add_up_in_arrays_and_caches() {
    const STORES: [&str; 5] = [
        "[cache]\nmode = \"write-back\"\nblock_summaries = true\n[disk]\ncapacity_bytes = 67_108_864\n",
        "[array]\nstripe_bytes = 8192\n[[array.members]]\ncount = 2\n[[array.members]]\nname = \"odd\"\nnand.geometry.page_bytes = 8192\n",
        "[cache]\nmode = \"write-back\"\n[disk]\ncapacity_bytes = 67_108_864\n",
        "[cache]\nmode = \"write-around\"\nreplacement = \"arc\"\n[disk]\ncapacity_bytes = 67_108_864\n",
        "[array]\nstripe_bytes = 8192\n[[array.members]]\nname = \"flash\"\n[[array.members]]\nname = \"tier\"\ncache = { mode = \"write-back\" }\ndisk = { capacity_bytes = 67_108_864 }\nhost.interface = \"direct\"\n",
    ];
    for store in STORES {
        let (head, load) = DEVICE.split_once("[precondition]").unwrap();
        let load = load.split_once("[workload]").unwrap().1;
        let config = format!("{head}{store}[workload]{load}");
        let summary = run_with(&config, &[], None);
        let pages = |name: &str| if name == "odd" { 2 * PAGE } else { PAGE };
        let members = || summary.members.iter();
        for member in members() {
            assert_adds_up(
                &member.flash,
                pages(&member.name),
                &format!("{store}{}", member.name),
            );
        }
        let flash = &summary.flash;
        // A cache drops clean pages that GC would otherwise move.
        let moves = !store.contains("write-around");
        assert_eq!(flash.write_amplification.unwrap() > 1.0, moves, "{store}");
        assert_eq!(flash.gc_pages_moved > 0, moves, "{store}");
        if summary.members.is_empty() {
            assert_explained(&summary, PAGE, store);
            assert_eq!(
                flash.programmed.host_bytes, flash.host_written_bytes,
                "{store}"
            );
            let summarizes = store.contains("block_summaries");
            assert_eq!(summarizes, flash.programmed.summary_bytes > 0, "{store}");
            continue;
        }
        let sum = |of: fn(&FlashSummary) -> u64| members().map(|one| of(&one.flash)).sum::<u64>();
        assert_eq!(
            sum(|one| one.programmed_bytes),
            flash.programmed_bytes,
            "{store}"
        );
        assert_eq!(
            sum(|one| one.host_written_bytes),
            flash.host_written_bytes,
            "{store}"
        );
        assert_eq!(
            parts(flash).iter().sum::<u64>(),
            flash.programmed_bytes,
            "{store}"
        );
    }
}

#[test]
fn bytes_by_purpose_add_up_for_every_flash_preset() {
    let mut seen = 0;
    for preset in presets::all() {
        let config = format!("schema = 1\nbase = \"{}\"\n", preset.name);
        let plan = wordline_config::load(&config, "test.toml", &[]).and_then(|one| one.plan(1));
        let ssd = plan.as_ref().ok().and_then(|plan| plan.first());
        let Some(page_bytes) = ssd.map(|ssd| u64::from(ssd.geometry.page_bytes)) else {
            continue;
        };
        let short = [
            ("workload.requests", "400"),
            ("workload.read_ratio", "0.3"),
            ("workload.request_bytes", "4096"),
            ("workload.align_bytes", "4096"),
            ("workload.working_set_ratio", "0.001"),
            ("precondition.fill_ratio", "0.001"),
            ("precondition.overwrite_ratio", "0.0"),
            ("precondition.settle", "false"),
        ];
        let summary = run_with(&config, &short, None);
        assert_adds_up(&summary.flash, page_bytes, preset.name);
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}
