//! All keys of a configuration, derived from its JSON schema.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::range::Range;

/// Key of a configuration, as the reference describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Path, such as `host.queue_depth`.
    pub path: String,
    /// Kind of value.
    pub kind: Kind,
    /// Unit of the value, derived from the suffix of the key's name. Empty if the name has no unit.
    pub unit: &'static str,
    /// Default value; null if the key has none.
    pub default: Value,
    /// Doc comment of the key.
    pub description: String,
    /// Range of the number, or of the numbers in the list; `None` if the key does not take a
    /// number, or the number has no bound.
    pub range: Option<Range>,
    /// Maximum number of elements of the list; `None` if the field declares no bound.
    pub longest: Option<usize>,
}

/// Kind of value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Table of further keys.
    Table,
    /// Policy slot: a name, or a table whose only key is the name.
    Slot(Vec<String>),
    /// One of several words.
    Choice(Vec<String>),
    /// Whole number.
    Integer,
    /// Number.
    Number,
    /// True or false.
    Boolean,
    /// Text.
    Text,
    /// List.
    Array,
    /// Array of tables. The keys below it are those of each table.
    Tables,
    /// Value of one of several kinds.
    Either(Vec<Kind>),
    /// Any other value that the schema allows.
    Other,
}

static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let schema = super::schema();
    let mut keys = Vec::new();
    walk(&schema, &[&schema], "", &mut keys);
    keys
});

/// First key that has each path.
static BY_PATH: LazyLock<HashMap<&'static str, &'static Key>> = LazyLock::new(|| {
    let keys = all().iter().rev();
    keys.map(|key| (key.path.as_str(), key)).collect()
});

/// Returns all keys in the order of the schema. Tables precede their contents.
pub fn all() -> &'static [Key] {
    &KEYS
}

/// Returns the key at a path; `None` if there is none.
pub fn find(path: &str) -> Option<&'static Key> {
    BY_PATH.get(in_schema(path)).copied()
}

/// Maps a path to the path in the schema, which describes nested arrays once, at the outermost
/// `array.members`.
pub(super) fn in_schema(mut path: &str) -> &str {
    while let Some(inner) = path.strip_prefix("array.members.")
        && inner.starts_with("array")
    {
        path = inner;
    }
    path
}

/// Returns `true` if the key at this path is a policy slot.
pub(super) fn is_slot(path: &str) -> bool {
    matches!(
        find(path),
        Some(Key {
            kind: Kind::Slot(_),
            ..
        })
    )
}

/// Returns the path of `key` inside the table `prefix`.
pub(super) fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() {
        key.to_owned()
    } else {
        format!("{prefix}.{key}")
    }
}

/// Adds the keys of the last of `tables`, which is nested in the tables before it. A recursive
/// table is described once.
fn walk<'a>(root: &'a Value, tables: &[&'a Value], prefix: &str, keys: &mut Vec<Key>) {
    let Some((&table, around)) = tables.split_last() else {
        return;
    };
    if around.iter().any(|outer| std::ptr::eq(*outer, table)) {
        return;
    }
    let Some(properties) = table.get("properties").and_then(Value::as_object) else {
        return;
    };
    let below = |inner: &'a Value| [tables, &[inner]].concat();
    for (name, property) in properties {
        let path = join(prefix, name);
        let target = resolve(root, property);
        let mut key = describe(&path, property, target);
        if element(root, target).is_some() {
            key.kind = Kind::Tables;
        }
        keys.push(key);
        walk(root, &below(target), &path, keys);
        if let Some(element) = element(root, target) {
            walk(root, &below(element), &path, keys);
        }
        for policy in choices(target) {
            walk(root, &below(policy), &path, keys);
        }
        for other in target["anyOf"].as_array().into_iter().flatten() {
            if let Some(element) = element(root, other) {
                walk(root, &below(element), &path, keys);
            }
        }
    }
}

/// Follows references in a schema, and unwraps the nullable form of an optional value.
pub(super) fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(pointer.trim_start_matches('#'));
        return target.map_or(schema, |target| resolve(root, target));
    }
    match schema
        .get("anyOf")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        Some([only, null]) if null["type"] == "null" => resolve(root, only),
        _ => schema,
    }
}

/// Returns the schema of an array's elements if they are tables; `None` otherwise.
fn element<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let element = resolve(root, schema.get("items")?);
    element.get("properties").is_some().then_some(element)
}

fn choices(schema: &Value) -> &[Value] {
    let choices = schema.get("oneOf").and_then(Value::as_array);
    choices.map_or(&[], Vec::as_slice)
}

fn describe(path: &str, property: &Value, target: &Value) -> Key {
    let of = |name: &str| property.get(name).or_else(|| target.get(name));
    let text = of("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Key {
        path: path.to_owned(),
        kind: kind(target),
        unit: unit(path),
        default: of("default").cloned().unwrap_or_default(),
        description: text.replace('\n', " "),
        range: range(property).or_else(|| range(target)),
        longest: of("maxItems")
            .and_then(Value::as_u64)
            .and_then(|most| usize::try_from(most).ok()),
    }
}

/// Returns the range of a number, of a numeric alternative or of the numbers of a list; `None` for
/// other kinds.
fn range(schema: &Value) -> Option<Range> {
    let mut kinds = schema["anyOf"].as_array().into_iter().flatten();
    Range::of(schema)
        .or_else(|| kinds.find_map(Range::of))
        .or_else(|| Range::of(schema.get("items")?))
}

fn kind(schema: &Value) -> Kind {
    let words = |value: &Value| -> Vec<String> {
        let words = value.as_array().into_iter().flatten();
        words
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect()
    };
    if let Some(names) = choices(schema).first().and_then(|first| first.get("enum")) {
        return Kind::Slot(words(names));
    }
    let constants = choices(schema).iter().filter_map(|word| word.get("const"));
    let constants: Vec<String> = constants
        .filter_map(|word| word.as_str().map(str::to_owned))
        .collect();
    if !constants.is_empty() {
        return Kind::Choice(constants);
    }
    if let Some(kinds) = schema.get("anyOf").and_then(Value::as_array) {
        return Kind::Either(kinds.iter().map(kind).collect());
    }
    if let Some(names) = schema
        .get("enum")
        .map(words)
        .filter(|names| !names.is_empty())
    {
        return Kind::Choice(names);
    }
    let kind = schema.get("type");
    let first = kind.and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
    match first {
        Some("object") => Kind::Table,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("string") => Kind::Text,
        Some("array") => Kind::Array,
        _ => Kind::Other,
    }
}

fn unit(path: &str) -> &'static str {
    const UNITS: [(&str, &str); 20] = [
        ("_ns", "ns"),
        ("ns_per_byte", "ns/byte"),
        ("_us", "us"),
        ("_ms", "ms"),
        ("_s", "s"),
        ("_mt_per_s", "million transfers/s"),
        ("gigabits_per_s", "Gbit/s"),
        ("iops", "requests/s"),
        ("mb_per_s", "MB/s"),
        ("megabytes_per_s", "MB/s"),
        ("us_per_sector", "us/sector"),
        ("_per_s", "1/s"),
        ("_bytes", "bytes"),
        ("_bits", "bits"),
        ("_cycles", "cycles"),
        ("_ratio", "ratio"),
        ("_scale", "factor"),
        ("_v", "V"),
        ("_ma", "mA"),
        ("_ua", "uA"),
    ];
    let longest = UNITS.iter().filter(|(end, _)| path.ends_with(end));
    longest
        .max_by_key(|(end, _)| end.len())
        .map_or("", |(_, unit)| unit)
}
