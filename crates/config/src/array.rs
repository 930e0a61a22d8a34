//! The `[array]` table: several devices as one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use wordline_device::config::{Buffer, Host, Ssd};

use wordline_kernel::Stream;
use wordline_workload::Disk;

use super::merge::merge;
use super::plan::{self, Store};
use super::{Config, ConfigError, Nand, Precondition, check, presets};

/// Where the requests of an array go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// RAID-0: stripes go to the members in turn.
    Striped,
    /// Each disk of a trace goes to the member that names it.
    ByDisk,
}

/// Several devices in place of one (`[array]`), which the host sees as a single device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Array {
    /// Where requests go: `striped`, stripes to the members in turn (RAID-0), as long as the smallest member has any; `by-disk`, each disk of a trace (its volume) to the member that names it, and what knows no disks to the members one behind the other.
    pub layout: Layout,
    /// Length of a stripe; a multiple of the page of every member. Bytes.
    pub stripe_bytes: u64,
    /// The devices, or arrays of them.
    pub members: Vec<Member>,
}

impl Default for Array {
    fn default() -> Self {
        Self {
            layout: Layout::Striped,
            stripe_bytes: 64 * 1024,
            members: Vec::new(),
        }
    }
}

/// A member of an array, or several equal ones. It is the device that the tables at the top of the file
/// describe, or that of a preset, with what its own tables say on top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Member {
    /// Its name, of which there is one only: up to 64 letters, digits, `-` and `_`. Several equal ones are numbered behind it, from 0; an empty name is `ssd` and its place in the array.
    pub name: String,
    /// How many of this kind there are. Count, 1 to 256.
    #[schemars(range(min = 1, max = 256))]
    pub count: u32,
    /// Preset whose device or array it is, in place of the device of this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Layout `by-disk`: the numbers of the disks of a trace that it holds, one behind the other in this order; left out, the number of its place in the array.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<u32>,
    /// How long each of `disks` is, in their order; left out, all are equal parts of the member. Bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disk_bytes: Vec<u64>,
    /// The array that it is itself, as in `[array]`; its tables then describe the devices of that array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<Array>,
    /// Its flash packages, as in `[nand]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nand: Option<Nand>,
    /// How its packages are wired, as in `[ssd]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssd: Option<Ssd>,
    /// Its queue and interface, as in `[host]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// Its DRAM buffer, as in `[buffer]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Buffer>,
    /// Its translation layer, as in `[ftl]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ftl: Option<wordline_ftl::Config>,
    /// What happens to it before the run, as in `[precondition]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precondition: Option<Precondition>,
}

impl Default for Member {
    fn default() -> Self {
        Self {
            name: String::new(),
            count: 1,
            base: None,
            disks: Vec::new(),
            disk_bytes: Vec::new(),
            array: None,
            nand: None,
            ssd: None,
            host: None,
            buffer: None,
            ftl: None,
            precondition: None,
        }
    }
}

impl Array {
    /// The array that holds the `tables` of members at a path: itself at `array.members`, that of its second
    /// member at `array.members[1].array.members`.
    pub(super) fn at(&self, tables: &str) -> Option<&Self> {
        let inner = tables.strip_prefix("array.members")?;
        let Some((place, inner)) = inner
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("]."))
        else {
            return inner.is_empty().then_some(self);
        };
        let member = self.members.get(place.parse::<usize>().ok()?)?;
        member.array.as_ref()?.at(inner)
    }
}

/// The tables that describe a device.
const DEVICE: [&str; 6] = ["nand", "ssd", "host", "buffer", "ftl", "precondition"];
const ARRAY: &str = "array";
/// The tables that describe a store.
const STORE: [&str; 7] = [
    ARRAY,
    "nand",
    "ssd",
    "host",
    "buffer",
    "ftl",
    "precondition",
];

impl Member {
    /// Whether it says itself what the table of `key` holds.
    pub(super) fn has_own(&self, key: &str) -> bool {
        match key.split('.').next().unwrap_or_default() {
            "array" => self.array.is_some(),
            "nand" => self.nand.is_some(),
            "ssd" => self.ssd.is_some(),
            "host" => self.host.is_some(),
            "buffer" => self.buffer.is_some(),
            "ftl" => self.ftl.is_some(),
            "precondition" => self.precondition.is_some(),
            _ => false,
        }
    }
}

/// Completes the tables of members in a configuration: below what a member says of a table goes what
/// its base says, or the configuration around it. A member that says nothing of a table has none.
pub(super) fn complete(config: &mut Table) -> Result<(), ConfigError> {
    let enclosing = tables(config, &DEVICE);
    let Some(Value::Table(array)) = config.get_mut("array") else {
        return Ok(());
    };
    complete_members(array, &enclosing)
}

/// Completes the members of an array in a device that `enclosing` describes.
fn complete_members(array: &mut Table, enclosing: &Table) -> Result<(), ConfigError> {
    let members = array.get_mut("members").and_then(Value::as_array_mut);
    for (place, member) in members.into_iter().flatten().enumerate() {
        let Value::Table(member) = member else {
            continue;
        };
        match base(member, place)? {
            None => complete_member(member, enclosing, false),
            Some(base) => complete_member(member, &base, true),
        }
        let mut around = enclosing.clone();
        around.extend(tables(member, &DEVICE));
        if let Some(Value::Table(array)) = member.get_mut("array") {
            complete_members(array, &around).map_err(|error| error.at_member(place))?;
        }
    }
    Ok(())
}

/// Those of the tables of a configuration.
fn tables(config: &Table, of: &[&str]) -> Table {
    let tables = config.iter().filter(|(key, _)| of.contains(&key.as_str()));
    tables
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// What the preset that a member names says of a store.
fn base(member: &mut Table, place: usize) -> Result<Option<Table>, ConfigError> {
    let Some(Value::String(name)) = member.get("base") else {
        return Ok(None);
    };
    let preset = presets::text(name).map_err(|error| error.at_member(place))?;
    member.remove("base");
    let mut table = preset.parse::<Table>().unwrap_or_default();
    complete(&mut table)?;
    Ok(Some(tables(&table, &STORE)))
}

/// Lays the member's tables on top of those of `under`: all of them, or those that it has.
fn complete_member(member: &mut Table, under: &Table, all: bool) {
    for table in STORE {
        let own = member.remove(table);
        let below = under.get(table).cloned();
        if own.is_none() && (!all || (table == ARRAY && below.is_none())) {
            continue;
        }
        let below = below.unwrap_or_else(|| Value::Table(Table::new()));
        let mut whole = Table::from_iter([(table.to_owned(), below)]);
        if let Some(own) = own {
            merge(&mut whole, Table::from_iter([(table.to_owned(), own)]));
        }
        member.extend(whole);
    }
}

/// Most members: a bound on memory, of which each takes some megabytes.
const MOST_MEMBERS: usize = 256;

/// A member of its own, and the place of its table.
struct Single<'a> {
    place: usize,
    said: &'a Member,
    name: String,
}

/// The plan of a configuration with an array. The first member has the seed of the run itself, so that
/// an array of one device is that device.
pub(super) fn plan(config: &Config, array: &Array, seed: u64) -> Result<plan::Array, ConfigError> {
    let singles = singles(array)?;
    let mut members = Vec::new();
    for (number, single) in singles.iter().enumerate() {
        let seed = match number {
            0 => seed,
            _ => Stream::new(seed, &format!("array.{number}")).bits(),
        };
        let store = Store::new(&store_of(config, single.said), seed).map_err(|error| {
            if single.said.has_own(&error.key) {
                return error.at_member(single.place);
            }
            error
        })?;
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
        Layout::Striped => wordline_store::Layout::striped(array.stripe_bytes, &sizes),
        Layout::ByDisk => wordline_store::Layout::concatenated(&sizes),
    };
    if layout.user_bytes() == 0 {
        return Err(ConfigError::rule(
            "array.stripe_bytes",
            array.stripe_bytes,
            format!(
                "longer than a member, of {} bytes",
                sizes.iter().min().unwrap_or(&0)
            ),
            "give less",
        ));
    }
    let disks = match array.layout {
        Layout::Striped => Vec::new(),
        Layout::ByDisk => disks(&singles, &members)?,
    };
    Ok(plan::Array {
        layout,
        disks,
        members,
    })
}

/// Each member by itself, with its name.
fn singles(array: &Array) -> Result<Vec<Single<'_>>, ConfigError> {
    let mut singles: Vec<Single<'_>> = Vec::new();
    for (place, said) in array.members.iter().enumerate() {
        let key = |key: &str| format!("array.members[{place}].{key}");
        if !(1..=MOST_MEMBERS as u32).contains(&said.count) {
            return Err(ConfigError::rule(
                &key("count"),
                said.count,
                "out of range",
                format!("give a whole number from 1 to {MOST_MEMBERS}"),
            ));
        }
        for number in 0..said.count {
            let name = match (said.name.as_str(), said.count) {
                ("", _) => format!("ssd{}", singles.len()),
                (name, 1) => name.to_owned(),
                (name, _) => format!("{name}{number}"),
            };
            let others: Vec<&str> = singles.iter().map(|single| single.name.as_str()).collect();
            check::name("member", &key("name"), &name, &others)?;
            singles.push(Single { place, said, name });
        }
    }
    if (1..=MOST_MEMBERS).contains(&singles.len()) {
        return Ok(singles);
    }
    Err(ConfigError::conflict(
        "array.members",
        format!("the array has {} members", singles.len()),
        format!(
            "give 1 to {MOST_MEMBERS} ([[array.members]] with a name, or a count of equal ones)"
        ),
    ))
}

/// The configuration of a member as if it were alone; what is asked of the array is left out.
fn store_of(config: &Config, member: &Member) -> Config {
    let mut store = Config {
        array: member.array.clone(),
        workload: None,
        streams: Vec::new(),
        ..config.clone()
    };
    let Member {
        nand,
        ssd,
        host,
        buffer,
        ftl,
        precondition,
        ..
    } = member.clone();
    store.nand = nand.unwrap_or(store.nand);
    store.ssd = ssd.unwrap_or(store.ssd);
    store.host = host.unwrap_or(store.host);
    store.buffer = buffer.unwrap_or(store.buffer);
    store.ftl = ftl.unwrap_or(store.ftl);
    store.precondition = precondition.unwrap_or(store.precondition);
    store
}

fn check_stripe(array: &Array, single: &Single<'_>, store: &Store) -> Result<(), ConfigError> {
    let stripe = array.stripe_bytes;
    let pages = store.ssds().into_iter();
    let mut pages = pages.map(|ssd| u64::from(ssd.geometry.page_bytes));
    let Some(page) = pages.find(|&page| stripe == 0 || !stripe.is_multiple_of(page)) else {
        return Ok(());
    };
    let near = (stripe / page).max(1) * page;
    Err(ConfigError::rule(
        "array.stripe_bytes",
        stripe,
        format!(
            "member {} has pages of {page} bytes, and a stripe holds whole ones",
            single.name
        ),
        format!("give a multiple of {page}, such as {near}"),
    ))
}

/// The numbers of the disks of a member, which is the `number`th.
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
    if array.layout == Layout::Striped {
        return match (disks.is_empty(), lengths.is_empty()) {
            (true, true) => Ok(Vec::new()),
            (false, _) => fault(
                "disks",
                "a striped array spreads every disk over all members",
                "set array.layout to \"by-disk\", or leave this out",
            ),
            _ => fault("disk_bytes", "there are no disks", "leave this out"),
        };
    }
    if !lengths.is_empty() && lengths.len() != disks.len() {
        return fault(
            "disk_bytes",
            &format!("{} lengths for {} disks", lengths.len(), disks.len()),
            "give one for each of disks, or none",
        );
    }
    if disks.is_empty() {
        return Ok(vec![number as u32]);
    }
    if said.count > 1 {
        return fault(
            "disks",
            &format!("{} members would hold the same disks", said.count),
            "give each member a table of its own, or leave this out",
        );
    }
    Ok(disks.clone())
}

/// Where the disks lie in the addresses of the array, the members one behind the other.
fn disks(singles: &[Single<'_>], members: &[plan::Member]) -> Result<Vec<Disk>, ConfigError> {
    let mut disks: Vec<Disk> = Vec::new();
    let mut start = 0;
    for (single, member) in singles.iter().zip(members) {
        let key = |key: &str| format!("array.members[{}].{key}", single.place);
        let user = member.store.user_bytes();
        let pages = member.store.ssds().into_iter();
        let page = pages.map(|ssd| u64::from(ssd.geometry.page_bytes)).max();
        let page = page.unwrap_or(1);
        let equal = user / member.disks.len() as u64 / page * page;
        let mut end = start;
        for (place, &number) in member.disks.iter().enumerate() {
            if disks.iter().any(|disk| disk.number == number) {
                return Err(ConfigError::rule(
                    &key("disks"),
                    number,
                    "another member holds this disk, or this one twice",
                    "name each disk once; a member without disks holds that of its place",
                ));
            }
            let bytes = single.said.disk_bytes.get(place).copied().unwrap_or(equal);
            if bytes == 0 || !bytes.is_multiple_of(page) || bytes > start + user - end {
                return Err(ConfigError::rule(
                    &key("disk_bytes"),
                    bytes,
                    format!(
                        "of member {}, {} bytes are left for disk {number}, in pages of {page}",
                        single.name,
                        start + user - end
                    ),
                    "give fewer disks, or multiples of a page that fit together",
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
