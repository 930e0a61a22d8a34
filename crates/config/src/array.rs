//! The `[array]` table: several devices under one address space.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use wordline_dram_buffer::config::Buffer;
use wordline_host_link::config::Host;
use wordline_ssd::config::Ssd;

use super::merge::merge;
use super::{Config, ConfigError, Nand, Precondition, disk, presets};

/// Maximum number of members of an array. The limit bounds memory, because each member takes
/// several megabytes.
pub(super) const MAX_MEMBERS: usize = 256;

/// Mapping of an array's addresses to its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Layout")]
pub enum ArrayLayout {
    /// RAID-0: distributes stripes over the members in turn.
    Striped,
    /// Places the addresses of each trace disk on the member that names the disk.
    ByDisk,
}

/// Several stores that the host addresses as a single device (`[array]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Array {
    /// Mapping of addresses to members. `striped`: stripes go to the members in turn (RAID-0), and
    /// every member contributes as many stripes as the smallest member has. `by-disk`: each disk of
    /// a trace (its volume) is on the member that names the disk; requests that name no disk use
    /// the addresses of the concatenated members.
    pub layout: ArrayLayout,
    /// Size of a stripe, a multiple of the page size of every member. Bytes.
    #[schemars(range(min = 512, max = 1_000_000_000_000_000_000_u64))]
    pub stripe_bytes: u64,
    /// Members of the array: SSDs, hard disks, RAM disks, caches, arrays.
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

/// Member of an array, or several identical members. Its device is described by the tables at the
/// top of the file, or by a preset. The member's own tables override both. A member with only a
/// `[disk]` table is a hard disk, and one with only a `[ram]` table is a RAM disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Member {
    /// Unique name of the member: up to 64 letters, digits, `-` and `_`. Identical members get this
    /// name followed by their number, from 0. A member without a name is called `ssd`, `disk`,
    /// `ram` or `cache`, followed by its position in the array.
    pub name: String,
    /// Number of identical members. Count.
    #[schemars(range(min = 1, max = 256))]
    pub count: u32,
    /// Preset that describes the member, instead of the tables of this file: a device, an array or
    /// a cached store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// With layout `by-disk`: numbers of the trace disks that the member holds, in this order. By
    /// default, the member holds the disk whose number is the member's position in the array.
    #[schemars(inner(range(min = 0, max = 4_294_967_295_u32)))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<u32>,
    /// Size of each of `disks`, in their order. By default, the disks share the member equally.
    /// Bytes.
    #[schemars(inner(range(min = 512, max = 1_000_000_000_000_000_000_u64)))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disk_bytes: Vec<u64>,
    /// Array that is the member itself, or the backing store of its cache, as in `[array]`. Without
    /// a cache, the member's other tables describe the devices of that array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<Array>,
    /// Flash packages of the member, as in `[nand]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nand: Option<Nand>,
    /// Wiring of the member's packages, as in `[ssd]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssd: Option<Ssd>,
    /// Queue and interface of the member, as in `[host]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// DRAM buffer of the member, as in `[buffer]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Buffer>,
    /// Flash translation layer of the member, as in `[ftl]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ftl: Option<wordline_ftl::Config>,
    /// Flash cache in front of the member's disk or array, as in `[cache]`. The member's other
    /// tables then describe the flash of the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<wordline_flash_cache::Config>,
    /// Hard disk that is the member itself, or the backing store of its cache, as in `[disk]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<wordline_hdd::Config>,
    /// RAM disk that is the member itself, or the backing store of its cache, as in `[ram]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ram: Option<wordline_ram_disk::Config>,
    /// Preconditioning of the member, as in `[precondition]`.
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
            ram: None,
            precondition: None,
        }
    }
}

impl Array {
    /// Returns the array whose members are at the path `tables`; `None` if there is none.
    /// `array.members` is this array, and `array.members[1].array.members` is the array of its
    /// second member.
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

/// Tables that describe flash.
const FLASH: [&str; 6] = ["nand", "ssd", "host", "buffer", "ftl", "precondition"];
const ARRAY: &str = "array";
const CACHE: &str = "cache";

/// Returns `true` if a table describes a device.
fn is_of_device(table: &str) -> bool {
    FLASH.contains(&table) || LEAVES.contains(&table)
}

/// Returns `true` if a table describes a store.
fn is_of_store(table: &str) -> bool {
    [ARRAY, CACHE].contains(&table) || is_of_device(table)
}

/// Defines the list of the tables that describe devices without flash, and the methods that apply
/// to all of them.
macro_rules! leaves {
    ($($table:ident),+ $(,)?) => {
        /// Tables that describe a device without flash.
        const LEAVES: &[&str] = &[$(stringify!($table)),+];

        impl Config {
            /// Returns the tables of [`LEAVES`] that the configuration has.
            pub(super) fn leaf_tables(&self) -> Vec<&'static str> {
                let tables = [$(self.$table.as_ref().map(|_| stringify!($table))),+];
                tables.into_iter().flatten().collect()
            }
            /// Replaces all tables of [`LEAVES`] with the tables of a member.
            pub(super) fn take_leaves(&mut self, member: &Member) {
                $(self.$table.clone_from(&member.$table);)+
            }
        }

        impl Member {
            /// Returns the tables of [`LEAVES`] that the member has.
            pub(super) fn leaf_tables(&self) -> Vec<&'static str> {
                let tables = [$(self.$table.as_ref().map(|_| stringify!($table))),+];
                tables.into_iter().flatten().collect()
            }
        }
    };
}

leaves!(disk, ram);

impl Member {
    /// Returns `true` if the member has a table that describes flash.
    pub(super) fn has_flash(&self) -> bool {
        FLASH.iter().any(|table| self.has_own(table))
    }
    /// Returns `true` unless the member of an array in `config` is a single device without flash.
    pub(super) fn is_flash(&self, config: &Config) -> bool {
        let is_more = self.cache.is_some() || self.array.is_some();
        let is_plain = !config.leaf_tables().is_empty() && !self.has_flash();
        is_more || (self.leaf_tables().is_empty() && !is_plain)
    }
    /// Returns `true` if the member has the table that contains `key`.
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

/// Completes the members' tables. A table of a member is merged over the same table of its base.
/// Without a base, it is merged over the same table of the enclosing configuration, and a table
/// that the member leaves out stays absent.
pub(super) fn complete(config: &mut Table) -> Result<(), ConfigError> {
    let enclosing = around_members(config, &Table::new());
    let Some(Value::Table(array)) = config.get_mut("array") else {
        return Ok(());
    };
    complete_members(array, &enclosing)
}

/// Completes the members of an array. `enclosing`: tables of the device that contains the array.
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

/// Returns the tables that enclose the members of an array. The tables of the store that contains
/// the array override those that enclose the store. With a cache, the tables of flash describe the
/// cache and are dropped.
fn around_members(store: &Table, enclosing: &Table) -> Table {
    let mut around = enclosing.clone();
    around.extend(tables(store, is_of_device));
    if store.contains_key(CACHE) {
        around.retain(|table, _| LEAVES.contains(&table));
    }
    around
}

/// Returns the tables of a configuration for which `of` is `true`.
fn tables(config: &Table, of: fn(&str) -> bool) -> Table {
    let tables = config.iter().filter(|(key, _)| of(key));
    tables
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Returns the tables of a store in the preset that a member names as its base, and removes the key
/// `base` from the member. Returns `None` if the member names no preset.
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

/// Merges the disk of a store over the disk of the preset that it names. Returns `false` if it
/// names no preset.
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

/// Merges the member's tables over those of `under`. With `all`, it takes all tables of `under` and
/// adds missing tables of flash as empty ones. Otherwise, it takes only the tables that the member
/// also has.
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
