//! Arrays, from the configuration to the summary.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // the whole file is test code

use std::path::PathBuf;

use wordline_runner::summary::MemberSummary;
use wordline_runner::{Results, RunSpec, Summary, TimelineOptions};
use wordline_workload::Volumes;

fn job(config: &str) -> RunSpec {
    RunSpec {
        config: config.into(),
        config_name: "test.toml".into(),
        seed: 1,
        ..RunSpec::default()
    }
}

fn done(job: &RunSpec) -> Results {
    let done = job.run(&mut |_| true);
    let results = done.unwrap_or_else(|error| panic!("{error}")).results;
    assert_eq!(results.summary.error, None);
    results
}

fn fault(job: &RunSpec) -> String {
    let said = job.run(&mut |_| true).map(|_| ()).unwrap_err().to_string();
    said.lines().next().unwrap().to_owned()
}

/// Four single-die packages on two buses, filled with data, part of which is overwritten.
const DEVICE: &str = "schema = 1\nname = \"small\"\n[ssd]\nchannels = 2\nways = 2\n\
    [nand.geometry]\nblocks_per_plane = 32\npages_per_block = 32\n[host]\nqueue_depth = 8\n\
    [ftl]\nover_provisioning_ratio = 0.25\n[precondition]\noverwrite_ratio = 0.2\n";
const LOAD: &str = "[workload]\nrequests = 6000\nread_ratio = 0.5\n\
    request_bytes = [{ bytes = 4096, weight = 1 }, { bytes = 98304, weight = 1 }]\n\
    arrival.poisson.iops = 400\n";

fn striped(members: &str) -> String {
    format!("{DEVICE}[array]\nstripe_bytes = 16384\nmembers = {members}\n")
}

/// Returns the numbers that do not depend on the devices' names and nesting.
fn numbers(summary: &Summary) -> serde_json::Value {
    let mut all = serde_json::to_value(summary).unwrap();
    for changes in ["digest", "members", "speed"] {
        all[changes].take();
    }
    for device in all["smart"].as_array_mut().unwrap() {
        device["name"].take();
    }
    all
}

#[test]
fn array_of_one_device_has_the_numbers_of_that_device() {
    for layout in ["striped", "by-disk"] {
        let single = done(&job(&format!("{DEVICE}{LOAD}"))).summary;
        let array = format!("[array]\nlayout = \"{layout}\"\nmembers = [{{ name = \"only\" }}]\n");
        let array = done(&job(&format!("{DEVICE}{array}{LOAD}"))).summary;
        assert_eq!(numbers(&array), numbers(&single));
        let member = serde_json::to_value(&array.members[0]).unwrap();
        let single = serde_json::to_value(&single).unwrap();
        for same in [
            "latency",
            "breakdown",
            "worst_case",
            "throughput",
            "flash",
            "collections",
            "commands",
            "utilisation",
            "execution",
            "energy",
            "precondition",
        ] {
            assert_eq!(member[same], single[same], "{same}");
        }
    }
}

/// Two striped pairs of devices equal four striped devices, also with power cuts.
#[test]
fn nested_striped_arrays_equal_a_flat_one() {
    let pairs = "[array]\nstripe_bytes = 32768\n\
        [[array.members]]\nname = \"pair\"\ncount = 2\n\
        array = { stripe_bytes = 16384, members = [{ name = \"x\" }, { name = \"y\" }] }\n";
    for cuts in [None, Some(500)] {
        let of = |array: &str| {
            let mut job = job(&format!("{DEVICE}{array}{LOAD}"));
            // Random numbers depend on seeds, which are derived from the position in the arrays.
            job.overrides = vec![("precondition.overwrite_ratio".into(), "0.0".into())];
            job.power_cut_every = cuts;
            job.verify = true;
            done(&job).summary
        };
        let flat = of("[array]\nstripe_bytes = 16384\nmembers = [{ count = 4 }]\n");
        let nested = of(pairs);
        assert_eq!(numbers(&nested), numbers(&flat));
        let names: Vec<_> = nested.members.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["pair0.x", "pair0.y", "pair1.x", "pair1.y"]);
        for (one, alike) in nested.members.iter().zip(&flat.members) {
            let numbers = |member: &MemberSummary| {
                let mut all = serde_json::to_value(member).unwrap();
                all["name"].take();
                all
            };
            assert_eq!(numbers(one), numbers(alike));
        }
    }
}

/// Devices and arrays are members of one array, at any depth, and each has separate results.
#[test]
fn arrays_and_devices_can_be_members_of_one_array() {
    let text = format!(
        "{DEVICE}[array]\nlayout = \"by-disk\"\n\
         [[array.members]]\nname = \"solo\"\n\
         [[array.members]]\nname = \"deep\"\ndisks = [7]\nhost.queue_depth = 5\n\
         [array.members.array]\nstripe_bytes = 16384\n\
         [[array.members.array.members]]\nname = \"a\"\n\
         [[array.members.array.members]]\nname = \"b\"\n\
         array.members = [{{ name = \"c\", ssd = {{ channels = 1 }} }}, {{ name = \"d\" }}]\n{LOAD}"
    );
    let overrides = vec![
        (
            "array.members.deep.array.members.a.host.queue_depth".into(),
            "3".into(),
        ),
        (
            "array.members.deep.array.members.b.array.members.d.ftl.gc.victim.d-choices.d".into(),
            "4".into(),
        ),
    ];
    let loaded = wordline_config::load(&text, "test.toml", &overrides).unwrap();
    let plan = loaded.plan(1).unwrap();
    let leaves = plan.leaves();
    let names: Vec<_> = leaves.iter().map(|leaf| leaf.name.as_str()).collect();
    assert_eq!(names, ["solo", "deep.a", "deep.b.c", "deep.b.d"]);
    let disks: Vec<_> = leaves.iter().map(|leaf| leaf.disks).collect();
    assert_eq!(disks, [&[0][..], &[7], &[7], &[7]]);
    let depths: Vec<_> = plan.ssds().map(|ssd| ssd.device.queue_depth).collect();
    assert_eq!(depths, [8, 3, 5, 5]);
    let channels: Vec<_> = plan.ssds().map(|ssd| ssd.dimensions.channels).collect();
    assert_eq!(channels, [2, 2, 1, 2]);
    assert_eq!(
        leaves[3]
            .of
            .ssd()
            .unwrap()
            .device
            .ftl
            .config
            .gc
            .victim
            .name(),
        "d-choices"
    );
    let again = wordline_config::load(&loaded.resolved_toml, "again.toml", &[]).unwrap();
    assert_eq!(again.config, loaded.config);
    assert_eq!(again.plan(1).unwrap().store, plan.store);

    let mut job = job(&text);
    job.overrides = overrides;
    job.verify = true;
    job.requests = true;
    let results = done(&job);
    assert_eq!(results.summary.members.len(), 4);
    let served: u64 = results
        .summary
        .members
        .iter()
        .map(|one| one.input.requests)
        .sum();
    assert!(served >= results.summary.input.requests);

    for (key, value, said) in [
        (
            "array.members.deep.array.members.b.array.members.d.ssd.channels",
            "0",
            "array.members[1].array.members[1].array.members[1].ssd.channels",
        ),
        (
            "array.members.deep.array.members.b.array.members.d.ssd.chanels",
            "1",
            "did you mean `channels`?",
        ),
        (
            "array.members.deep.array.stripe_bytes",
            "1000",
            "array.members[1].array.stripe_bytes = 1000",
        ),
        (
            "array.members.deep.array.members.a.array.members",
            "[]",
            "the array has 0 members",
        ),
        (
            "array.members.deep.array.members.a.base",
            "nothing",
            "nothing",
        ),
    ] {
        let overrides = [(key.to_owned(), value.to_owned())];
        let loaded = wordline_config::load(&text, "test.toml", &overrides);
        let error = loaded
            .and_then(|loaded| loaded.plan(1))
            .unwrap_err()
            .to_string();
        assert!(error.contains(said), "{key}: {error}");
        assert!(
            error.starts_with(&format!("--set {key}={value}")),
            "{key}: {error}"
        );
    }
}

#[test]
fn member_results_add_up_to_the_whole() {
    let text = striped("[{ count = 3 }, { name = \"wide\", ssd = { channels = 4 } }]") + LOAD;
    let job = RunSpec {
        verify: true,
        ..job(&text)
    };
    let summary = done(&job).summary;
    let sum = |of: &dyn Fn(&MemberSummary) -> u64| summary.members.iter().map(of).sum::<u64>();
    assert_eq!(summary.input.requests, 6000);
    assert!(
        sum(&|one| one.input.requests) > 6000,
        "some requests are split"
    );
    assert_eq!(sum(&|one| one.input.read_bytes), summary.input.read_bytes);
    assert_eq!(
        sum(&|one| one.input.written_bytes),
        summary.input.written_bytes
    );
    let flash = &summary.flash;
    assert_eq!(sum(&|one| one.flash.page_programs), flash.page_programs);
    assert_eq!(sum(&|one| one.flash.page_reads), flash.page_reads);
    assert_eq!(sum(&|one| one.flash.erases), flash.erases);
    assert_eq!(sum(&|one| one.flash.gc_runs), flash.gc_runs);
    assert_eq!(sum(&|one| one.flash.valid_pages), flash.valid_pages);
    assert_eq!(sum(&|one| one.flash.free_blocks), flash.free_blocks);
    assert!(flash.gc_runs > 0, "GC has run");
    let runs: u64 = summary.collections.iter().map(|one| one.runs).sum();
    assert_eq!(runs, flash.gc_runs);
    assert_eq!(sum(&|one| one.commands.total), summary.commands.total);
    assert_eq!(
        sum(&|one| one.device.blocks.into()),
        u64::from(summary.device.blocks)
    );
    assert_eq!(
        sum(&|one| one.precondition.pages_filled),
        summary.precondition.pages_filled
    );
    let energy: f64 = summary.members.iter().map(|one| one.energy.total_mj).sum();
    assert!((energy / summary.energy.total_mj - 1.0).abs() < 1e-9);
    let longest = summary
        .members
        .iter()
        .filter_map(|one| one.latency.all.max_us);
    assert_eq!(longest.reduce(f64::max), summary.latency.all.max_us);
    let busy = summary.members.iter().map(|one| one.busy_s);
    assert!(summary.time.busy_s >= busy.clone().reduce(f64::max).unwrap());
    assert!(summary.time.busy_s <= busy.sum());
    assert!(summary.verification.unwrap().reads_checked > 0);
    let names: Vec<&str> = summary
        .members
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["ssd0", "ssd1", "ssd2", "wide"]);
    assert_eq!(summary.members[3].device.channels, 4);
}

/// Results of the whole array cover all members; properties that differ are reported per member.
#[test]
fn results_of_a_heterogeneous_array_cover_all_members() {
    let members = "[array]\nlayout = \"by-disk\"\nmembers = [{ name = \"a\", ftl = { over_provisioning_ratio = 0.5 } }, \
        { name = \"b\", ftl = { over_provisioning_ratio = 0.25 }, ssd = { ways = 4 }, nand.geometry.pages_per_block = 64, \
        host.queue_depth = 4 }]\n";
    let summary = done(&job(&format!("{DEVICE}{members}{LOAD}"))).summary;
    let device = &summary.device;
    let user = summary.members.iter().map(|one| one.device.user_bytes);
    assert_eq!(device.user_bytes, user.sum::<u64>());
    // One fifth of the flash has an over-provisioning ratio of 0.5, the rest 0.25.
    assert!((device.over_provisioning_ratio - (0.5 + 4.0 * 0.25) / 5.0).abs() < 1e-4);
    assert_eq!((device.ways, device.pages_per_block), (None, None));
    assert_eq!(device.page_bytes, Some(4096));
    assert_eq!(summary.input.queue_depth, None);
    let of_members = summary.members.iter().map(|one| {
        (
            one.device.over_provisioning_ratio,
            one.device.ways,
            one.device.pages_per_block,
        )
    });
    let told: Vec<_> = of_members.collect();
    assert_eq!(told, [(0.5, Some(2), Some(32)), (0.25, Some(4), Some(64))]);
}

/// Random single-page requests on n members: the share of each member is binomial with p = 1/n.
#[test]
fn equal_members_share_a_uniform_load_equally() {
    let load = "[workload]\nrequests = 12000\nread_ratio = 1.0\narrival.poisson.iops = 2000\n";
    let text = striped("[{ count = 4 }]") + load;
    let summary = done(&job(&text)).summary;
    let deviation = (0.25 * 0.75 / 12_000.0_f64).sqrt();
    for member in &summary.members {
        let share = member.bytes_share.unwrap();
        assert!((share - 0.25).abs() < 4.0 * deviation, "{share}");
    }
}

/// A long request completes sooner if more members share it.
#[test]
fn striped_read_uses_all_members_at_once() {
    let load = "[workload]\nrequests = 200\nread_ratio = 1.0\nrequest_bytes = 131072\n\
        align_bytes = 131072\narrival.closed-loop.queue_depth = 1\n";
    let mean = |members: u32| {
        let text = striped(&format!("[{{ count = {members} }}]")) + load;
        done(&job(&text)).summary.latency.all.mean_us.unwrap()
    };
    // The channel bus is the bottleneck: twice the buses take about half the time.
    let (one, two, four) = (mean(1), mean(2), mean(4));
    assert!(one / two > 1.5 && two / four > 1.3, "{one} {two} {four}");
}

#[test]
fn runs_are_reproducible_and_members_draw_different_numbers() {
    let text = striped("[{ count = 2 }]") + LOAD;
    let text = text.replace("overwrite_ratio = 0.2", "overwrite_ratio = 2.0");
    let (one, other) = (done(&job(&text)).summary, done(&job(&text)).summary);
    assert_eq!(one.digest, other.digest);
    let moved = |member: usize| one.members[member].precondition.pages_moved;
    assert_ne!(
        moved(0),
        moved(1),
        "each member draws its own random overwrites"
    );
}

/// Writes a trace in Wordline's native format, with disk numbers.
fn trace(folder: &tempfile::TempDir, lines: &str) -> PathBuf {
    let path = folder.path().join("disks.csv");
    std::fs::write(
        &path,
        format!("time_ns,op,offset_bytes,size_bytes,volume\n{lines}"),
    )
    .unwrap();
    path
}

const LINES: &str = "0,write,0,4096,0\n1000,read,4096,4096,2\n2000,write,8192,4096,1\n\
    3000,read,0,8192,5\n4000,write,4096,4096,0\n";

#[test]
fn requests_go_to_the_member_that_names_their_disk() {
    let folder = tempfile::tempdir().unwrap();
    let members =
        "[{ name = \"a\", disks = [0, 1] }, { name = \"b\", disks = [5, 2] }, { disks = [7] }]";
    let text = format!("{DEVICE}[array]\nlayout = \"by-disk\"\nmembers = {members}\n");
    let job = RunSpec {
        traces: vec![trace(&folder, LINES)],
        requests: true,
        ..job(&text)
    };
    let results = done(&job);
    let summary = &results.summary;
    let of = |member: usize| {
        let input = &summary.members[member].input;
        (input.reads, input.writes)
    };
    assert_eq!([of(0), of(1), of(2)], [(0, 3), (2, 0), (0, 0)]);
    assert_eq!(summary.members[1].disks, [5, 2]);
    assert_eq!(summary.members[2].flash.page_programs, 0);
    assert_eq!(summary.input.requests, 5);
    // The disks of a member share it equally, one after another.
    let plan = wordline_config::load(&text, "test.toml", &[])
        .unwrap()
        .plan(1)
        .unwrap();
    let array = plan.array().unwrap();
    let places: Vec<_> = array
        .disks
        .iter()
        .map(|disk| (disk.number, disk.start))
        .collect();
    let (user, half) = (array.members[0].store.user_bytes(), array.disks[0].bytes);
    assert_eq!(half, user / 2 / 4096 * 4096);
    assert_eq!(
        places,
        [
            (0, 0),
            (1, half),
            (5, user),
            (2, user + half),
            (7, 2 * user)
        ]
    );
    assert!(results.table("members").unwrap().unwrap().rows() >= 3);
    assert_eq!(results.table("requests").unwrap().unwrap().rows(), 5);
    assert_eq!(results.table("dies").unwrap().unwrap().rows(), 12);
    let blocks: u32 = summary.members.iter().map(|one| one.device.blocks).sum();
    assert_eq!(
        results.table("blocks").unwrap().unwrap().rows(),
        blocks as usize
    );
}

#[test]
fn request_for_a_disk_without_a_member_is_rejected_or_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{DEVICE}[array]\nlayout = \"by-disk\"\nmembers = [{{ count = 2 }}]\n");
    let mut job = RunSpec {
        traces: vec![trace(&folder, LINES)],
        ..job(&text)
    };
    let said = fault(&job);
    assert!(
        said.contains(
            ":3: the request is for disk 2, which is not among the disks of the members: 0, 1"
        ),
        "{said}"
    );
    job.trace_options.volumes = Volumes::Stack;
    let said = fault(&job);
    assert!(
        said.contains("--volumes stack: every disk of the trace has its own address range"),
        "{said}"
    );
    job.trace_options.volumes = Volumes::Only(1);
    assert_eq!(done(&job).summary.members[1].input.writes, 1);
    job.traces = vec![trace(&folder, "0,write,1000000000000,4096,1\n")];
    job.trace_options.volumes = Volumes::One;
    assert!(fault(&job).contains("ends beyond the device's"));
}

#[test]
fn stream_can_be_bound_to_a_disk() {
    let stream = |name: &str, disk: u32| {
        format!("[[streams]]\nname = \"{name}\"\ndisk = {disk}\nworkload.requests = 400\n")
    };
    let text = format!(
        "{DEVICE}[array]\nlayout = \"by-disk\"\nmembers = [{{ disks = [3, 4] }}, {{ disks = [8] }}, {{}}]\n{}{}",
        stream("a", 4),
        stream("b", 8)
    );
    let job = RunSpec {
        slowdown: true,
        ..job(&text)
    };
    let summary = done(&job).summary;
    let asked: Vec<u64> = summary
        .members
        .iter()
        .map(|one| one.input.requests)
        .collect();
    assert_eq!(asked, [400, 400, 0]);
    // Streams on different members cannot slow each other down.
    for stream in &summary.streams {
        assert_eq!(stream.slowdown.unwrap().all, Some(1.0), "{}", stream.name);
    }
}

#[test]
fn run_alone_issues_as_many_trims_as_the_stream_did() {
    let stream = |name: &str, disk: u32| {
        format!(
            "[[streams]]\nname = \"{name}\"\ndisk = {disk}\n\
             workload = {{ requests = 400, read_ratio = 0.5, trim_ratio = 0.5 }}\n"
        )
    };
    let text = format!(
        "{DEVICE}[array]\nlayout = \"by-disk\"\nmembers = [{{ disks = [0] }}, {{ disks = [1] }}]\n{}{}",
        stream("a", 0),
        stream("b", 1)
    );
    let job = RunSpec {
        slowdown: true,
        ..job(&text)
    };
    for stream in &done(&job).summary.streams {
        assert!(stream.input.trims > 100, "{}", stream.name);
        assert_eq!(stream.slowdown.unwrap().all, Some(1.0), "{}", stream.name);
    }
}

#[test]
fn timeline_shows_every_member() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pftrace");
    let job = RunSpec {
        timeline: Some(TimelineOptions {
            path: path.clone(),
            from: wordline_kernel::Time::ZERO,
            until: None,
        }),
        ..job(&(striped("[{ name = \"left\" }, { name = \"right\" }]") + LOAD))
    };
    done(&job);
    let shown = std::fs::read(path).unwrap();
    for name in [b"left".as_slice(), b"right"] {
        assert!(shown.windows(name.len()).any(|bytes| bytes == name));
    }
}

#[test]
fn members_are_based_on_the_file_or_a_preset_and_overridden_by_name() {
    let text = "schema = 1\nbase = \"d4\"\n[array]\n[[array.members]]\nname = \"a\"\n\
        [[array.members]]\nname = \"b\"\nftl.gc.victim = \"fifo\"\n\
        [[array.members]]\nname = \"c\"\nbase = \"demo\"\nhost.queue_depth = 3\n";
    let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let overrides = [
        set("array.members.b.ssd.channels", "3"),
        set("host.queue_depth", "9"),
    ];
    let loaded = wordline_config::load(text, "test.toml", &overrides).unwrap();
    let plan = loaded.plan(1).unwrap();
    let members: Vec<_> = plan.ssds().collect();
    let demo = wordline_config::load("schema = 1\nbase = \"demo\"", "demo.toml", &[]).unwrap();
    let demo = demo.plan(1).unwrap();
    assert_eq!(members[0].device.queue_depth, 9);
    assert_eq!(members[1].device.ftl.config.gc.victim.name(), "fifo");
    assert_eq!(members[1].dimensions.channels, 3);
    assert_eq!(members[1].geometry, members[0].geometry);
    assert_eq!(members[2].geometry, demo.first().unwrap().geometry);
    assert_eq!(members[2].device.queue_depth, 3);
    let again = wordline_config::load(&loaded.resolved_toml, "again.toml", &[]).unwrap();
    assert_eq!(again.config, loaded.config);
    assert_eq!(again.plan(1).unwrap().store, plan.store);
}

/// Returns the buffer size of each member. Pages.
fn buffers(text: &str) -> Vec<Option<u32>> {
    let plan = wordline_config::load(text, "test.toml", &[])
        .unwrap()
        .plan(1)
        .unwrap();
    let pages =
        |ssd: &wordline_config::plan::Ssd| ssd.device.buffer.as_ref().map(|buffer| buffer.pages);
    plan.ssds().map(pages).collect()
}

#[test]
fn members_have_their_own_buffers() {
    let whole = |top: &str, members: &str| {
        let array = striped(members);
        format!("{array}[buffer]\n{top}\n{LOAD}flush_every_requests = 9\n")
    };
    let members = "[{ name = \"a\", buffer.capacity_kib = 64 }, { name = \"b\" }, \
        { name = \"c\", base = \"demo\" }]";
    let text = whole("", members);
    assert_eq!(buffers(&text), [Some(16), None, None]);
    let all = whole("capacity_kib = 128", members);
    assert_eq!(buffers(&all), [Some(16), Some(32), None]);
    // A flush goes to all members, with or without a buffer.
    let mut one = job(&text);
    one.verify = true;
    let summary = done(&one).summary;
    assert!(summary.latency.flush.count > 0);
    let small = whole(
        "",
        "[{ name = \"a\" }, { name = \"b\", buffer.capacity_kib = 3 }]",
    );
    assert!(fault(&job(&small)).contains("array.members[1].buffer.capacity_kib"));
}

#[test]
fn faulty_arrays_are_rejected() {
    let says = |array: &str, words: &str| {
        let said = fault(&job(&format!("{DEVICE}{array}\n{LOAD}")));
        assert!(
            said.starts_with("test.toml:") && said.contains(words),
            "{said}"
        );
    };
    says("[array]", "the array has 0 members; define 1 to 256");
    says(
        "[array]\nmembers = [{ count = 300 }]",
        "array.members[0].count = 300: too large",
    );
    says(
        "[array]\nmembers = [{ nmae = \"a\" }]",
        "unknown key `nmae` in array.members[0]; did you mean `name`?",
    );
    says(
        "[array]\nmembers = [{ name = \"a\" }, { name = \"a\" }]",
        "array.members[1].name = \"a\": another member has this name",
    );
    says(
        "[array]\nmembers = [{}, { ssd = { chanels = 3 } }]",
        "unknown key `chanels` in [array.members[1].ssd]; did you mean `channels`?",
    );
    says(
        "[array]\nmembers = [{}, { ssd = { channels = 0 } }]",
        "array.members[1].ssd.channels = 0: too small",
    );
    says(
        "[array]\nmembers = [{ base = \"dmo\" }]",
        "unknown preset; did you mean `demo`?",
    );
    says(
        "[array]\nstripe_bytes = 5000\nmembers = [{}]",
        "array.stripe_bytes = 5000: a stripe must hold whole pages, and member ssd0 has pages of 4096 bytes",
    );
    says(
        "[array]\nstripe_bytes = 1073741824\nmembers = [{ count = 2 }]",
        "array.stripe_bytes = 1073741824: a stripe is longer than the smallest member",
    );
    says(
        "[array]\nmembers = [{ disks = [1] }]",
        "array.members[0].disks: a striped array spreads every disk over all members",
    );
    let by_disk = |members: &str, words: &str| {
        says(
            &format!("[array]\nlayout = \"by-disk\"\nmembers = {members}"),
            words,
        );
    };
    by_disk(
        "[{ disks = [1, 2] }, { disks = [2] }]",
        "array.members[1].disks = 2: the disk is assigned twice",
    );
    by_disk(
        "[{ disks = [1], count = 2 }]",
        "2 members would hold the same disks",
    );
    by_disk(
        "[{ disks = [1], disk_bytes = [4096, 4096] }]",
        "2 sizes are given for 1 disks",
    );
    by_disk(
        "[{ disks = [1], disk_bytes = [5000] }]",
        "array.members[0].disk_bytes = 5000",
    );
    says(
        "[array]\nlayout = \"by-dsk\"\nmembers = [{}]",
        "array.layout: unknown value `by-dsk`; did you mean `by-disk`?",
    );
    let stream = "[array]\nlayout = \"by-disk\"\nmembers = [{}]\n[[streams]]\nname = \"a\"\ndisk = 3\nworkload.requests = 3";
    let said = fault(&job(&format!("{DEVICE}{stream}")));
    assert!(said.contains("streams[0].disk = 3: no member of an array holds this disk; name the disk in array.members.disks, or choose one of 0"), "{said}");
}
