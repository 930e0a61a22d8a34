//! Memory available: limits of the process and of its control groups, and the free memory of the
//! machine.
//!
//! All are read from `/proc` and `/sys` of Linux (proc(5), cgroups(7)); if those are missing, no
//! limit is known.

use std::fs;
use std::path::{Path, PathBuf};

/// Kind of memory that a limit applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Address space, whether used or not.
    AddressSpace,
    /// Memory that has been written.
    Resident,
}

/// Memory limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Kind of memory.
    pub of: Of,
    /// Memory left below the limit. Bytes.
    pub left: u64,
    /// Origin of the limit, as text.
    pub source: String,
}

/// All known memory limits of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits(Vec<Limit>);

impl Limits {
    /// Returns the current limits of this process.
    pub fn now() -> Self {
        Self::at(Path::new("/"))
    }

    /// Returns the limits of the process described in `proc` and `sys` under `root`.
    pub fn at(root: &Path) -> Self {
        let mut all = Vec::new();
        all.extend(of_process(root));
        all.extend(of_groups(root));
        all.extend(free(root));
        Self(all)
    }

    /// Returns all limits.
    pub fn all(&self) -> impl Iterator<Item = &Limit> {
        self.0.iter()
    }
}

/// Returns the number of KiB after `heading`, as in `/proc/meminfo`, converted to bytes.
fn kib(text: &str, heading: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(heading))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// Returns the limits that `ulimit -v` and `ulimit -d` set for the process.
fn of_process(root: &Path) -> Vec<Limit> {
    let own = root.join("proc/self");
    let (Ok(limits), Ok(status)) = (
        fs::read_to_string(own.join("limits")),
        fs::read_to_string(own.join("status")),
    ) else {
        return Vec::new();
    };
    let limit = |heading: &str, used: &str, option: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(heading))?;
        let most: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(Limit {
            of: Of::AddressSpace,
            left: most.saturating_sub(kib(&status, used)?),
            source: format!("the limit of the process, `ulimit {option}`"),
        })
    };
    [
        limit("Max address space", "VmSize:", "-v"),
        limit("Max data size", "VmData:", "-d"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn free(root: &Path) -> Option<Limit> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let swap = kib(&text, "SwapFree:").unwrap_or(0);
    Some(Limit {
        of: Of::Resident,
        left: kib(&text, "MemAvailable:")?.saturating_add(swap),
        source: "the free memory of the machine".into(),
    })
}

/// File names of a version of control groups.
struct Version {
    most: &'static str,
    used: &'static str,
    /// Statistic of reclaimable memory: inactive file pages.
    files: &'static str,
}

const V1: Version = Version {
    most: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    files: "total_inactive_file",
};
const V2: Version = Version {
    most: "memory.max",
    used: "memory.current",
    files: "inactive_file",
};

/// Returns the limits of the process's control group and of its ancestors.
fn of_groups(root: &Path) -> Vec<Limit> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
    let mut all = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let version = match controllers {
            "" => &V2,
            _ if controllers.split(',').any(|name| name == "memory") => &V1,
            _ => continue,
        };
        if let Some((top, below)) = mount(&mounts, controllers, path) {
            let top = root.join(top.trim_start_matches('/'));
            all.extend(around(&top, &below).filter_map(|folder| limit(&folder, version)));
        }
    }
    all
}

/// Returns the mount point of the hierarchy of a group, and the path of the group below it.
fn mount(mounts: &str, controllers: &str, path: &str) -> Option<(String, String)> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (base, point) = (place.next()?, place.next()?);
        let mut kind = kind.split(' ');
        let (system, options) = (kind.next()?, kind.nth(1)?);
        let is_it = match controllers {
            "" => system == "cgroup2",
            _ => system == "cgroup" && options.split(',').any(|name| name == "memory"),
        };
        // Inside a container, the mount may start at the group itself or below it.
        let below = path.strip_prefix(base.trim_end_matches('/')).unwrap_or("");
        is_it.then(|| (point.replace("\\040", " "), below.to_owned()))
    })
}

/// Returns the folders of a group and its ancestors, up to `top`.
fn around(top: &Path, below: &str) -> impl Iterator<Item = PathBuf> {
    let own = top.join(below.trim_start_matches('/'));
    let top = top.to_owned();
    let folders: Vec<PathBuf> = own.ancestors().map(Path::to_owned).collect();
    folders
        .into_iter()
        .take_while(move |folder| folder.starts_with(&top))
}

fn limit(folder: &Path, version: &Version) -> Option<Limit> {
    let number = |name: &str| -> Option<u64> {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        text.trim().parse().ok()
    };
    let (most, used) = (number(version.most)?, number(version.used)?);
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let files = stat.lines().find_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        (name == version.files).then(|| bytes.trim().parse::<u64>().ok())?
    });
    // Without a limit, version 1 reports the largest signed 64-bit number, rounded down to whole
    // pages.
    (most < i64::MAX as u64 / 4096 * 4096).then(|| Limit {
        of: Of::Resident,
        left: most.saturating_sub(used.saturating_sub(files.unwrap_or(0))),
        source: format!("the control group, {}", folder.join(version.most).display()),
    })
}
