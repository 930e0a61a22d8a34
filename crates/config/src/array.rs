//! The `[array]` table: several devices as one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use wordline_ssd::config::{Buffer, Host, Ssd};

use super::merge::merge;
use super::{Config, ConfigError, Nand, Precondition, disk, presets};

/// Most members: a bound on memory, of which each takes some megabytes.
pub(super) const MAX_MEMBERS: usize = 256;

/// Where the requests of an array go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Layout")]
pub enum ArrayLayout {
    /// RAID-0: stripes go to the members in turn.
    Striped,
    /// Each disk of a trace goes to the member that names it.
    ByDisk,
}

/// Several stores in place of one (`[array]`), which the host sees as a single device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Array {
    /// Where requests go: `striped`, stripes to the members in turn (RAID-0), as long as the smallest member has any; `by-disk`, each disk of a trace (its volume) to the member that names it, and what knows no disks to the members one behind the other.
    pub layout: ArrayLayout,
    /// Length of a stripe; a multiple of the page of every member. Bytes.
    #[schemars(range(min = 512, max = 1_000_000_000_000_000_000_u64))]
    pub stripe_bytes: u64,
    /// The members: SSDs, hard disks, caches, arrays.
    #[schemars(length(max = MAX_MEMBERS))]
    pub members: Vec<Member>,
}

impl Default for Array {
    fn default() -> Self {
        Self {
            layout: ArrayLayout::Striped,
            stripe_bytes: 64 * 1024,
            members: Vec::new(),
        }
    }
}

/// A member of an array, or several equal ones. It is the device that the tables at the top of the file
/// describe, or that of a preset, with what its own tables say on top. A member that says nothing but what its disk is like is a hard
/// disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Member {
    /// Its name, of which there is one only: up to 64 letters, digits, `-` and `_`. Several equal ones are numbered behind it, from 0; an empty name is `ssd`, `disk` or `cache` and its place in the array.
    pub name: String,
    /// How many of this kind there are. Count.
    #[schemars(range(min = 1, max = 256))]
    pub count: u32,
    /// Preset whose device, array or cached store it is, in place of the device of this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Layout `by-disk`: the numbers of the disks of a trace that it holds, one behind the other in this order; left out, the number of its place in the array.
    #[schemars(inner(range(min = 0, max = 4_294_967_295_u32)))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<u32>,
    /// How long each of `disks` is, in their order; left out, all are equal parts of the member. Bytes.
    #[schemars(inner(range(min = 512, max = 1_000_000_000_000_000_000_u64)))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disk_bytes: Vec<u64>,
    /// The array that it is itself, or that stands behind its cache, as in `[array]`. Without a cache its tables describe the devices of that array.
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
    /// That it is flash in front of its disk or its array, as in `[cache]`; its other tables then describe the flash of the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<wordline_flash_cache::Config>,
    /// The hard disk that it is, or that stands behind its cache, as in `[disk]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<wordline_hdd::Config>,
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
            cache: None,
            disk: None,
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

/// The tables that describe flash.
const FLASH: [&str; 6] = ["nand", "ssd", "host", "buffer", "ftl", "precondition"];
const ARRAY: &str = "array";
const CACHE: &str = "cache";

/// Whether a table describes a device.
fn is_of_device(table: &str) -> bool {
    FLASH.contains(&table) || LEAVES.contains(&table)
}

/// Whether a table describes a store.
fn is_of_store(table: &str) -> bool {
    [ARRAY, CACHE].contains(&table) || is_of_device(table)
}

/// Makes of the tables that describe a device without flash what a configuration and a member do with all of them.
macro_rules! leaves {
    ($($table:ident),+ $(,)?) => {
        /// The tables that describe a device without flash.
        const LEAVES: &[&str] = &[$(stringify!($table)),+];

        impl Config {
            /// Those of [`LEAVES`] that it has.
            pub(super) fn leaf_tables(&self) -> Vec<&'static str> {
                let tables = [$(self.$table.as_ref().map(|_| stringify!($table))),+];
                tables.into_iter().flatten().collect()
            }
            /// Has those that a member has, and no others.
            pub(super) fn take_leaves(&mut self, member: &Member) {
                $(self.$table.clone_from(&member.$table);)+
            }
        }

        impl Member {
            /// Those of [`LEAVES`] that it has.
            pub(super) fn leaf_tables(&self) -> Vec<&'static str> {
                let tables = [$(self.$table.as_ref().map(|_| stringify!($table))),+];
                tables.into_iter().flatten().collect()
            }
        }
    };
}

leaves!(disk);

impl Member {
    /// Whether it says itself what flash is like.
    pub(super) fn has_flash(&self) -> bool {
        FLASH.iter().any(|table| self.has_own(table))
    }
    /// Whether it has flash in an array in `config`: all but a device without flash by itself have.
    pub(super) fn is_flash(&self, config: &Config) -> bool {
        let is_more = self.cache.is_some() || self.array.is_some();
        let is_plain = !config.leaf_tables().is_empty() && !self.has_flash();
        is_more || (self.leaf_tables().is_empty() && !is_plain)
    }
    /// Whether it says itself what the table of `key` holds.
    pub(super) fn has_own(&self, key: &str) -> bool {
        match key.split('.').next().unwrap_or_default() {
            "array" => self.array.is_some(),
            "nand" => self.nand.is_some(),
            "ssd" => self.ssd.is_some(),
            "host" => self.host.is_some(),
            "buffer" => self.buffer.is_some(),
            "ftl" => self.ftl.is_some(),
            "cache" => self.cache.is_some(),
            "precondition" => self.precondition.is_some(),
            table => self.leaf_tables().contains(&table),
        }
    }
}

/// Completes the tables of members in a configuration: below what a member says of a table goes what
/// its base says, or the configuration around it. A member that says nothing of a table has none.
pub(super) fn complete(config: &mut Table) -> Result<(), ConfigError> {
    let enclosing = around_members(config, &Table::new());
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
        let mut enclosing = enclosing.clone();
        if complete_disk(member).map_err(|error| error.at_member(place))? {
            enclosing.retain(|table, _| !LEAVES.contains(&table));
        }
        match base(member, place)? {
            None => complete_member(member, &enclosing, false),
            Some(base) => complete_member(member, &base, true),
        }
        let around = around_members(member, &enclosing);
        if let Some(Value::Table(array)) = member.get_mut("array") {
            complete_members(array, &around).map_err(|error| error.at_member(place))?;
        }
    }
    Ok(())
}

/// What is around the members of an array: the tables of the store that has it, and those around that. Where there is a cache,
/// tables of flash describe the cache, and no member.
fn around_members(store: &Table, enclosing: &Table) -> Table {
    let mut around = enclosing.clone();
    around.extend(tables(store, is_of_device));
    if store.contains_key(CACHE) {
        around.retain(|table, _| LEAVES.contains(&table));
    }
    around
}

/// Those of the tables of a configuration.
fn tables(config: &Table, of: fn(&str) -> bool) -> Table {
    let tables = config.iter().filter(|(key, _)| of(key));
    tables
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// What the preset that a member names says of a store.
fn base(member: &mut Table, place: usize) -> Result<Option<Table>, ConfigError> {
    let Some(Value::String(name)) = member.get("base") else {
        return Ok(None);
    };
    let name = name.clone();
    let preset = presets::text(&name).map_err(|error| error.at_member(place))?;
    member.remove("base");
    let mut table = preset.parse::<Table>().unwrap_or_default();
    complete_disk(&mut table).map_err(|error| error.at_member(place))?;
    complete(&mut table)?;
    Ok(Some(tables(&table, is_of_store)))
}

/// Lays the disk of a store on top of that of the preset that it names. Whether it names one.
fn complete_disk(store: &mut Table) -> Result<bool, ConfigError> {
    let mut whole = Table::new();
    disk::rebase(&mut whole, store)?;
    if whole.is_empty() {
        return Ok(false);
    }
    let said = store.remove("disk").map(|said| ("disk".to_owned(), said));
    merge(&mut whole, said.into_iter().collect());
    store.extend(whole);
    Ok(true)
}

/// Lays the member's tables on top of those of `under`: all of them, or those that it has.
fn complete_member(member: &mut Table, under: &Table, all: bool) {
    let all_tables = [ARRAY, CACHE].iter().chain(&FLASH).chain(LEAVES);
    for &table in all_tables {
        let own = member.remove(table);
        let below = under.get(table).cloned();
        let must_be = all && FLASH.contains(&table);
        if own.is_none() && !must_be && !(all && below.is_some()) {
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
