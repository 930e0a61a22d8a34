//! Writes the reference pages in Markdown: keys, policies, presets, and lists such as the list of
//! metrics.

use std::fmt::Write;

use serde_json::Value;
use wordline_kernel::slot::PolicyInfo;
use wordline_nand::PerLevel;

use super::keys::{self, Key, Kind};
use super::presets::{self, Preset};
use super::{load, policies};

const NOTICE: &str = "<!-- Generated from the source; `WORDLINE_BLESS=1 cargo test -p wordline-runner --test it reference` regenerates it. -->\n";

/// Row of a reference page that lists metrics or trace formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the metric or format.
    pub name: String,
    /// Unit of the metric; empty if there is none.
    pub unit: String,
    /// Description of the metric or format.
    pub description: String,
}

/// Returns `config.md`: every key with type, unit, range, default and description.
pub fn config() -> String {
    let mut page = format!(
        "# Configuration\n\n{NOTICE}\n\
         A configuration is one TOML file. A key that is left out comes from the preset named by \
         `base`, or else has the default given here; `--set key=value` overrides both. An unknown \
         key is an error. A policy is chosen by its name (`ftl.gc.victim = \"fifo\"`) or by a table \
         of its name (`[ftl.gc.victim.d-choices]`); see [policies](policies.md).\n\n\
         ```toml\nschema = 1\nbase = \"d4\"\n\n[host]\nqueue_depth = 8\n\n\
         [ftl.gc.victim.d-choices]\nd = 4\n```\n"
    );
    section(&mut page, "Top level", "", "Keys outside any table.");
    for key in keys::all().iter().filter(|key| is_headed(key)) {
        let title = match key.kind {
            Kind::Tables => format!("`[[{}]]`", key.path),
            _ => format!("`[{}]`", key.path),
        };
        section(&mut page, &title, &key.path, &key.description);
    }
    page
}

/// Returns `true` if a key is a table with its own section. Tables of policy parameters have none,
/// because the page of policies describes them.
fn is_headed(key: &Key) -> bool {
    match key.kind {
        Kind::Table => !in_tables(key) && !parent(&key.path).is_some_and(is_slot),
        Kind::Tables => true,
        _ => false,
    }
}

/// Returns `true` if a key is inside an array of tables. Tables inside it that also exist elsewhere
/// are not described again.
fn in_tables(key: &Key) -> bool {
    let parents = std::iter::successors(parent(&key.path), |path| parent(path));
    let mut kinds = parents.filter_map(|path| keys::find(path).map(|key| &key.kind));
    kinds.any(|kind| *kind == Kind::Tables)
}

fn is_slot(path: &str) -> bool {
    matches!(
        keys::find(path),
        Some(Key {
            kind: Kind::Slot(_),
            ..
        })
    )
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(parent, _)| parent)
}

fn section(page: &mut String, title: &str, table: &str, description: &str) {
    let stands_in = |path: &str| parent(path).unwrap_or("") == table;
    // The keys of the tables follow the row of a value that may be either a scalar or a list of
    // tables.
    let is_listed = |key: &Key| {
        let list = parent(&key.path).filter(|list| stands_in(list));
        list.is_some_and(|list| {
            matches!(
                keys::find(list),
                Some(Key {
                    kind: Kind::Either(_),
                    ..
                })
            )
        })
    };
    let rows: Vec<&Key> = keys::all()
        .iter()
        .filter(|key| !is_headed(key) && (stands_in(&key.path) || is_listed(key)))
        .collect();
    let _ = write!(page, "\n## {title}\n\n{description}\n");
    key_table(page, table, &rows);
}

/// Writes the keys of a table as rows. Names are relative to the table.
fn key_table(page: &mut String, table: &str, rows: &[&Key]) {
    if rows.is_empty() {
        return;
    }
    page.push_str(
        "\n| key | type | unit | range | default | description |\n|---|---|---|---|---|---|\n",
    );
    for key in rows {
        let name = key.path.strip_prefix(table).unwrap_or(&key.path);
        let name = name.trim_start_matches('.');
        let _ = writeln!(
            page,
            "| <a id=\"{}\"></a>`{name}` | {} | {} | {} | {} | {} |",
            key.path,
            kind(&key.kind, &key.path),
            key.unit,
            range(key),
            default(key),
            cell(&key.description)
        );
    }
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

fn kind(what: &Kind, path: &str) -> String {
    match what {
        Kind::Table => "table".into(),
        Kind::Tables => "tables".into(),
        Kind::Slot(names) => {
            let family = family_at(path, names);
            let link = |name: &String| format!("[{name}](policies.md#{family}.{name})");
            format!(
                "policy: {}",
                names.iter().map(link).collect::<Vec<_>>().join(", ")
            )
        }
        Kind::Choice(words) if words.len() <= 6 => words.join(", "),
        Kind::Choice(words) => format!("one of {} words such as {}", words.len(), words[0]),
        Kind::Integer => "integer".into(),
        Kind::Number => "number".into(),
        Kind::Boolean => "true or false".into(),
        Kind::Text => "text".into(),
        Kind::Array => "array".into(),
        Kind::Either(kinds) => {
            let kinds: Vec<String> = kinds.iter().map(|one| kind(one, path)).collect();
            kinds.join(" or ")
        }
        Kind::Other => "value".into(),
    }
}

/// Returns the family that describes a slot. Two slots may share one.
fn family_at<'a>(path: &'a str, names: &[String]) -> &'a str {
    let all = policies();
    if all.iter().any(|member| member.family == path) {
        return path;
    }
    let same = |family: &str| {
        let members = all.iter().filter(|member| member.family == family);
        members.map(|member| member.name).eq(names)
    };
    let mut families = all.iter().map(|member| member.family);
    families.find(|family| same(family)).unwrap_or(path)
}

/// Describes the range of a numeric key.
fn range(key: &Key) -> String {
    let words = key.range.as_ref().map(ToString::to_string);
    let words = words.unwrap_or_default();
    words.strip_prefix("from ").unwrap_or(&words).to_owned()
}

fn default(key: &Key) -> String {
    match (&key.kind, &key.default) {
        (_, Value::Null) => "none".into(),
        (_, Value::String(text)) if text.is_empty() => "empty".into(),
        (Kind::Slot(_), Value::Object(choice)) => choice
            .keys()
            .next()
            .map_or_else(String::new, |name| format!("`\"{name}\"`")),
        (_, value) => format!("`{value}`"),
    }
}

/// Returns `policies.md`: every policy with its description, parameters and paper.
pub fn policy_page() -> String {
    let mut page = format!(
        "# Policies\n\n{NOTICE}\n\
         A policy makes one kind of decision; the engine carries it out. Each section is a key of \
         the configuration that selects a policy, and lists its choices.\n"
    );
    let mut family = "";
    for member in policies() {
        if member.family != family {
            family = member.family;
            let _ = write!(
                page,
                "\n## <a id=\"{family}\"></a>`{family}`\n\n{}\n",
                member.question.replace('\n', " ")
            );
        }
        policy(&mut page, &member);
    }
    page
}

fn policy(page: &mut String, member: &PolicyInfo) {
    let PolicyInfo {
        family,
        name,
        description,
        paper,
        ..
    } = member;
    let path = format!("{family}.{name}");
    let _ = write!(page, "\n### <a id=\"{path}\"></a>{name}\n\n{description}\n");
    let parameters: Vec<&Key> = keys::all()
        .iter()
        .filter(|key| parent(&key.path) == Some(&path))
        .collect();
    key_table(page, &path, &parameters);
    if !paper.is_empty() {
        let _ = write!(page, "\nSource: {paper}.\n");
    }
}

/// Returns `presets.md`: every preset with its size, description, source and assumptions.
pub fn preset_page() -> String {
    let mut page = format!(
        "# Presets\n\n{NOTICE}\n\
         Devices that come with Wordline: run one by its name, or start a configuration from it \
         with `base = \"name\"`. Each is a file of [presets](../../presets); keys that it leaves \
         out have their defaults. The user capacity is the capacity that the host can address: with \
         a flash cache, that of the backing store. In the row of an array, the number of its \
         devices comes first. Hard disks have a table of their own.\n\n\
         | preset | user capacity | channels x ways x dies x planes | page | read, program, erase |\n\
         |---|---|---|---|---|\n"
    );
    let all = presets::all();
    for preset in &all {
        summary(&mut page, preset);
    }
    page.push_str(
        "\n| hard disk | capacity | access model | queue |\n\
         |---|---|---|---|\n",
    );
    for preset in &all {
        disk_summary(&mut page, preset);
    }
    for preset in &all {
        details(&mut page, preset);
    }
    page
}

fn disk_summary(page: &mut String, preset: &Preset) {
    let Ok(loaded) = load(preset.text, preset.name, &[]) else {
        return;
    };
    let Ok(plan) = loaded.plan(0) else { return };
    let (None, Some(disk)) = (plan.first(), &loaded.config.disk) else {
        return;
    };
    let _ = writeln!(
        page,
        "| [{0}](#{0}) | {1:.1} GB | {2} | {3} |",
        preset.name,
        plan.user_bytes() as f64 / 1e9,
        disk.model.name(),
        disk.queue.name(),
    );
}

fn summary(page: &mut String, preset: &Preset) {
    let Ok(loaded) = load(preset.text, preset.name, &[]) else {
        return;
    };
    let Ok(plan) = loaded.plan(0) else { return };
    let Some(first) = plan.first() else { return };
    let d = first.dimensions;
    let several = match plan.array() {
        Some(array) => format!("{} x ", array.members.len()),
        None => String::new(),
    };
    let timing = &loaded.config.nand.timing;
    let _ = writeln!(
        page,
        "| [{0}](#{0}) | {1:.1} GiB | {several}{2} x {3} x {4} x {5} | {6} KiB | {7}, {8}, {9} us |",
        preset.name,
        plan.user_bytes() as f64 / f64::from(1 << 30),
        d.channels,
        d.ways,
        d.dies,
        d.planes,
        first.geometry.page_bytes / 1024,
        times_us(&timing.read_ns),
        times_us(&timing.program_ns),
        timing.erase_ns as f64 / 1e3,
    );
}

/// Formats one time, or the times of the page types, in microseconds.
fn times_us(times: &PerLevel) -> String {
    let us = times
        .values()
        .iter()
        .map(|&ns| (ns as f64 / 1e3).to_string());
    us.collect::<Vec<_>>().join("/")
}

fn details(page: &mut String, preset: &Preset) {
    let Preset {
        name,
        description,
        source,
        text,
    } = preset;
    let _ = write!(page, "\n## {name}\n\n{description}\n\nSource: {source}\n");
    let notes = text.lines().map_while(|line| line.strip_prefix("# "));
    let notes: Vec<&str> = notes.collect();
    if !notes.is_empty() {
        let _ = write!(page, "\n{}\n", notes.join("\n"));
    }
}

/// Returns a page that is a list, `metrics.md` or `formats.md`. `first` is the heading of the name
/// column. The unit column is omitted if no entry has a unit.
pub fn list(title: &str, introduction: &str, first: &str, entries: &[Entry]) -> String {
    let units = entries.iter().any(|entry| !entry.unit.is_empty());
    let (head, rule) = if units { (" unit |", "---|") } else { ("", "") };
    let mut page = format!(
        "# {title}\n\n{NOTICE}\n{introduction}\n\n| {first} |{head} description |\n|---|{rule}---|\n"
    );
    for Entry {
        name,
        unit,
        description,
    } in entries
    {
        let unit = if units {
            format!(" {unit} |")
        } else {
            String::new()
        };
        let _ = writeln!(page, "| `{name}` |{unit} {} |", cell(description));
    }
    page
}
