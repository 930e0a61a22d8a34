//! Checks the `[array]` table: members and the placement of their bytes.

use wordline_array::AddressMap;
use wordline_hdd::SECTOR_BYTES;
use wordline_kernel::Rng;
use wordline_workload::Disk;

use super::cached::cached;
use super::device::without_flash;
use super::name;
use crate::array::{Array, ArrayLayout, MAX_MEMBERS, Member};
use crate::plan::{self, Store};
use crate::{Config, ConfigError};

impl Store {
    /// Returns the plan of the store that a configuration describes.
    pub(crate) fn new(config: &Config, seed: u64) -> Result<Self, ConfigError> {
        Ok(match (&config.cache, &config.array) {
            (Some(table), _) => Self::Cached(Box::new(cached(config, table, seed)?)),
            (None, Some(table)) => Self::Array(array(config, table, seed)?),
            (None, None) => Self::of_one(config, seed)?,
        })
    }
}

/// Maximum number of devices of a store, over all nested arrays; see `MAX_MEMBERS`.
const MAX_DEVICES: u64 = 4096;

/// Member, with the index of its table.
struct Single<'a> {
    place: usize,
    said: &'a Member,
    name: String,
}

/// Returns the plan of a configuration with an array. The first member gets the seed of the run, so
/// that an array of one device behaves like that device.
fn array(config: &Config, array: &Array, seed: u64) -> Result<plan::Array, ConfigError> {
    check_size(array)?;
    let singles = singles(array)?;
    let mut members = Vec::new();
    for (number, single) in singles.iter().enumerate() {
        let seed = match number {
            0 => seed,
            _ => Rng::new(seed, &format!("array.{number}")).bits(),
        };
        let said = single.said;
        let place = |error: ConfigError| {
            if said.has_own(&error.key) {
                return error.at_member(single.place);
            }
            error
        };
        let of_member = store_of(config, said);
        let store = Store::new(&of_member, seed).map_err(place)?;
        if said.has_flash() && store.ssds().is_empty() {
            without_flash(&of_member).map_err(place)?;
        }
        check_stripe(array, single, &store)?;
        members.push(plan::Member {
            name: single.name.clone(),
            disks: disks_of(array, single, number)?,
            store,
        });
    }
    let sizes: Vec<u64> = members
        .iter()
        .map(|member| member.store.user_bytes())
        .collect();
    let layout = match array.layout {
        ArrayLayout::Striped => AddressMap::striped(array.stripe_bytes, &sizes),
        ArrayLayout::ByDisk => AddressMap::concatenated(&sizes),
    };
    if layout.user_bytes() == 0 {
        return Err(ConfigError::rule(
            "array.stripe_bytes",
            array.stripe_bytes,
            format!(
                "a stripe is longer than the smallest member, which has {} bytes",
                sizes.iter().min().unwrap_or(&0)
            ),
            "reduce array.stripe_bytes",
        ));
    }
    let disks = match array.layout {
        ArrayLayout::Striped => Vec::new(),
        ArrayLayout::ByDisk => disks(&singles, &members)?,
    };
    let array = plan::Array {
        layout,
        disks,
        members,
    };
    check_depth(&array)?;
    Ok(array)
}

/// Maximum number of device numbers. The limit bounds memory, because each number takes 4 bytes.
const MAX_NUMBERS: u64 = 1 << 24;

/// Checks that a nested store needs at most [`MAX_NUMBERS`] device numbers.
fn check_depth(array: &plan::Array) -> Result<(), ConfigError> {
    let numbers = Store::Array(array.clone()).numbers();
    if numbers <= MAX_NUMBERS {
        return Ok(());
    }
    Err(ConfigError::conflict(
        "array.members",
        format!(
            "the nested arrays and caches need {numbers} device numbers, and at most {MAX_NUMBERS} are supported"
        ),
        "nest fewer arrays and caches",
    ))
}

/// Checks the number of members, and of devices in all members.
fn check_size(array: &Array) -> Result<(), ConfigError> {
    let members: u64 = array.members.iter().map(|said| u64::from(said.count)).sum();
    if !(1..=MAX_MEMBERS as u64).contains(&members) {
        return Err(ConfigError::conflict(
            "array.members",
            format!("the array has {members} members"),
            format!(
                "define 1 to {MAX_MEMBERS} members, each by an [[array.members]] table, or several equal ones by a table with `count`"
            ),
        ));
    }
    let devices = devices(array);
    if devices > MAX_DEVICES {
        return Err(ConfigError::conflict(
            "array.members",
            format!("the store has {devices} devices, including those of nested arrays"),
            format!("give at most {MAX_DEVICES} devices"),
        ));
    }
    Ok(())
}

/// Returns the number of devices of an array, including nested arrays. A cache counts as the
/// devices behind it.
fn devices(array: &Array) -> u64 {
    let of_member = |said: &Member| {
        let inside = said.array.as_ref().map_or(1, devices);
        inside.saturating_mul(said.count.into())
    };
    let members = array.members.iter().map(of_member);
    members.fold(0, u64::saturating_add)
}

/// Returns each member separately, with its name. Identical members are repeated.
fn singles(array: &Array) -> Result<Vec<Single<'_>>, ConfigError> {
    let mut singles: Vec<Single<'_>> = Vec::new();
    for (place, said) in array.members.iter().enumerate() {
        let key = |key: &str| format!("array.members[{place}].{key}");
        for number in 0..said.count {
            let kind = match said.leaf_tables().first() {
                _ if said.cache.is_some() => "cache",
                Some(table) => table,
                None => "ssd",
            };
            let name = match (said.name.as_str(), said.count) {
                ("", _) => format!("{kind}{}", singles.len()),
                (name, 1) => name.to_owned(),
                (name, _) => format!("{name}{number}"),
            };
            let others: Vec<&str> = singles.iter().map(|single| single.name.as_str()).collect();
            name::name("member", &key("name"), &name, &others)?;
            singles.push(Single { place, said, name });
        }
    }
    Ok(singles)
}

/// Returns the configuration of a single member, without the keys of the array. From the enclosing
/// tables, a disk takes the tables of disks, an SSD takes the tables of flash, and a cache or an
/// array takes both.
fn store_of(config: &Config, member: &Member) -> Config {
    let Member {
        nand,
        ssd,
        host,
        buffer,
        ftl,
        cache,
        array,
        precondition,
        ..
    } = member.clone();
    let around = if member.is_flash(config) {
        config.clone()
    } else {
        Config::default()
    };
    let is_ssd = cache.is_none() && array.is_none() && member.has_flash();
    let mut of_member = Config {
        nand: nand.unwrap_or(around.nand),
        ssd: ssd.unwrap_or(around.ssd),
        host: host.unwrap_or(around.host),
        buffer: buffer.unwrap_or(around.buffer),
        ftl: ftl.unwrap_or(around.ftl),
        precondition: precondition.unwrap_or(around.precondition),
        cache,
        array,
        workload: None,
        streams: Vec::new(),
        ..config.clone()
    };
    if is_ssd || !member.leaf_tables().is_empty() {
        of_member.take_leaves(member);
    }
    of_member
}

fn check_stripe(array: &Array, single: &Single<'_>, store: &Store) -> Result<(), ConfigError> {
    let stripe = array.stripe_bytes;
    let pages = store.ssds().into_iter();
    let pages = pages.map(|ssd| u64::from(ssd.geometry.page_bytes));
    let others = store.leaves().into_iter();
    let others = others.filter(|leaf| leaf.of.ssd().is_none());
    let sectors = others.map(|_| SECTOR_BYTES);
    let mut pages = pages.chain(sectors);
    let Some(page) = pages.find(|&page| !stripe.is_multiple_of(page)) else {
        return Ok(());
    };
    let near = (stripe / page).max(1) * page;
    Err(ConfigError::rule(
        "array.stripe_bytes",
        stripe,
        format!(
            "a stripe must hold whole pages, and member {} has pages of {page} bytes",
            single.name
        ),
        format!("give a multiple of {page}, such as {near}"),
    ))
}

/// Returns the trace disks that member `number` holds. Empty in a striped array.
fn disks_of(array: &Array, single: &Single<'_>, number: usize) -> Result<Vec<u32>, ConfigError> {
    let Single { place, said, .. } = single;
    let key = |key: &str| format!("array.members[{place}].{key}");
    let (disks, lengths) = (&said.disks, &said.disk_bytes);
    let fault = |name: &str, reason: &str, remedy: &str| {
        Err(ConfigError::conflict(
            &key(name),
            format!("{}: {reason}", key(name)),
            remedy,
        ))
    };
    if array.layout == ArrayLayout::Striped {
        return match (disks.is_empty(), lengths.is_empty()) {
            (true, true) => Ok(Vec::new()),
            (false, _) => fault(
                "disks",
                "a striped array spreads every disk over all members",
                "set array.layout to \"by-disk\", or omit `disks`",
            ),
            _ => fault(
                "disk_bytes",
                "the member sets `disk_bytes`, but no `disks`",
                "omit `disk_bytes`, or set array.layout to \"by-disk\" and give `disks`",
            ),
        };
    }
    if !lengths.is_empty() && lengths.len() != disks.len() {
        return fault(
            "disk_bytes",
            &format!(
                "{} sizes are given for {} disks",
                lengths.len(),
                disks.len()
            ),
            "give one size per disk, or omit `disk_bytes`",
        );
    }
    if disks.is_empty() {
        return Ok(vec![number as u32]);
    }
    if said.count > 1 {
        return fault(
            "disks",
            &format!("{} members would hold the same disks", said.count),
            "give each member its own table, or omit `disks`",
        );
    }
    Ok(disks.clone())
}

/// Returns the address ranges of the trace disks. The members are concatenated.
fn disks(singles: &[Single<'_>], members: &[plan::Member]) -> Result<Vec<Disk>, ConfigError> {
    let mut disks: Vec<Disk> = Vec::new();
    let mut start = 0;
    for (single, member) in singles.iter().zip(members) {
        let key = |key: &str| format!("array.members[{}].{key}", single.place);
        let user = member.store.user_bytes();
        let pages = member.store.ssds().into_iter();
        let page = pages.map(|ssd| u64::from(ssd.geometry.page_bytes)).max();
        let page = page.unwrap_or(SECTOR_BYTES);
        let equal = user / member.disks.len() as u64 / page * page;
        let mut end = start;
        for (place, &number) in member.disks.iter().enumerate() {
            if disks.iter().any(|disk| disk.number == number) {
                return Err(ConfigError::rule(
                    &key("disks"),
                    number,
                    "the disk is assigned twice",
                    "name each disk once; a member that does not set disks holds the disk whose number is the member's position",
                ));
            }
            let bytes = single.said.disk_bytes.get(place).copied().unwrap_or(equal);
            if bytes == 0 || !bytes.is_multiple_of(page) || bytes > start + user - end {
                return Err(ConfigError::rule(
                    &key("disk_bytes"),
                    bytes,
                    format!(
                        "disk {number} needs whole pages of {page} bytes, and member {} has {} bytes left for it",
                        single.name,
                        start + user - end
                    ),
                    "name fewer disks, or give each disk a multiple of the page size, in all no more than the member holds",
                ));
            }
            disks.push(Disk {
                number,
                start: end,
                bytes,
            });
            end += bytes;
        }
        start += user;
    }
    Ok(disks)
}
