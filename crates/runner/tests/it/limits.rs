//! Memory limits, read from files in Linux's formats.
#![allow(clippy::unwrap_used)] // the whole file is test code

use std::fs;
use std::path::Path;

use wordline_memory::{Limits, Of};
use wordline_runner::memory::{Checks, estimate};

const GIB: u64 = 1 << 30;

fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = root.path().join(name);
        fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(file, text).unwrap();
    }
    root
}

fn found(files: &[(&str, &str)]) -> Vec<(Of, u64, String)> {
    let root = root(files);
    let limits = Limits::at(root.path());
    let base = root.path().display().to_string();
    let all = limits.all();
    all.map(|limit| (limit.of, limit.left, limit.source.replace(&base, "")))
        .collect()
}

#[test]
fn ulimit_bounds_the_address_space() {
    let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
        Max data size             unlimited            unlimited            bytes\n\
        Max address space         4294967296           unlimited            bytes\n";
    let status = "Name:\twordline\nVmSize:\t 1048576 kB\nVmData:\t  524288 kB\n";
    let found = found(&[("proc/self/limits", limits), ("proc/self/status", status)]);
    let (of, left, source) = &found[0];
    assert_eq!((*of, *left, found.len()), (Of::AddressSpace, 3 * GIB, 1));
    assert!(source.contains("ulimit -v"), "{source}");
}

#[test]
fn free_memory_is_available_memory_plus_swap() {
    let text =
        "MemTotal: 16777216 kB\nMemFree: 1024 kB\nMemAvailable: 8388608 kB\nSwapFree: 1048576 kB\n";
    let found = found(&[("proc/meminfo", text)]);
    assert_eq!((found[0].0, found[0].1), (Of::Resident, 9 * GIB));
}

#[test]
fn cgroup_v2_limits_apply_from_all_ancestors() {
    let found = found(&[
        ("proc/self/cgroup", "0::/user.slice/run.scope\n"),
        (
            "proc/self/mountinfo",
            "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
        ),
        ("sys/fs/cgroup/user.slice/memory.max", "2147483648\n"),
        ("sys/fs/cgroup/user.slice/memory.current", "1610612736\n"),
        (
            "sys/fs/cgroup/user.slice/memory.stat",
            "anon 5\ninactive_file 536870912\n",
        ),
        ("sys/fs/cgroup/user.slice/run.scope/memory.max", "max\n"),
        (
            "sys/fs/cgroup/user.slice/run.scope/memory.current",
            "4096\n",
        ),
    ]);
    let place = "the control group, /sys/fs/cgroup/user.slice/memory.max".to_owned();
    assert_eq!(found, [(Of::Resident, GIB, place)]);
}

#[test]
fn cgroup_v1_limit_applies_inside_a_container() {
    for (path, base, own) in [("/job/7", "/", "job/7/"), ("/job/7", "/job/7", "")] {
        let mounts =
            format!("40 35 0:30 {base} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
        let group = format!("3:cpu:/\n4:memory:{path}\n");
        let most = format!("sys/fs/cgroup/memory/{own}memory.limit_in_bytes");
        let used = format!("sys/fs/cgroup/memory/{own}memory.usage_in_bytes");
        let found = found(&[
            ("proc/self/cgroup", &group),
            ("proc/self/mountinfo", &mounts),
            (&most, "3221225472\n"),
            (&used, "1073741824\n"),
        ]);
        assert_eq!(found.len(), 1, "{path} {base}");
        assert_eq!((found[0].0, found[0].1), (Of::Resident, 2 * GIB));
    }
}

#[test]
fn absent_and_unlimited_memory_limits_are_ignored() {
    assert!(found(&[]).is_empty());
    let none = found(&[
        ("proc/self/cgroup", "4:memory:/\n"),
        (
            "proc/self/mountinfo",
            "40 35 0:30 / /m rw - cgroup cgroup rw,memory\n",
        ),
        ("m/memory.limit_in_bytes", "9223372036854771712\n"),
        ("m/memory.usage_in_bytes", "1\n"),
    ]);
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn refusal_states_the_memory_needed_the_memory_left_and_a_remedy() {
    let plan = |fill: &str| {
        let text = format!("base = \"tb1\"\n[precondition]\nfill_ratio = {fill}\n");
        let loaded = wordline_config::load(&text, "a.toml", &[]).unwrap();
        estimate(&loaded.plan(1).unwrap(), Checks::default())
    };
    let text = "MemAvailable: 61440 kB\n";
    let small = root(&[("proc/meminfo", text)]);
    let limits = Limits::at(small.path());
    let message = plan("1.0").check(&limits).unwrap_err().to_string();
    for part in [
        "the run needs ",
        "of memory",
        "60.0 MiB are left",
        "free memory",
        "precondition.fill_ratio",
    ] {
        assert!(message.contains(part), "{message}");
    }
    // Memory that might not suffice causes a note, not a refusal.
    assert!(plan("0.0").check(&limits).is_ok());
    let note = plan("0.0").note(&limits).unwrap();
    assert!(note.contains("If the whole device is written"), "{note}");
}
