//! Rewords the messages of the TOML parser.

use super::keys::join;
use super::keys::{self, Key, Kind};
use super::streams::without_places;

/// Returns the fault and the remedy for the parser's message about the key at `path`.
pub(super) fn explain(message: &str, path: &str) -> (String, String) {
    let message = message.trim();
    if let Some(rest) = message.strip_prefix("unknown field `") {
        let key = rest.split('`').next().unwrap_or_default();
        return unknown_key(key, parent_of(path, key));
    }
    if let Some(rest) = message.strip_prefix("unknown variant `") {
        let name = rest.split('`').next().unwrap_or_default();
        return unknown_choice(name, path);
    }
    // These are the TOML parser's messages for a value that is not a string.
    let no_word = [
        "wanted string or table",
        "unit variant, expected string only",
    ];
    if let Some(Kind::Choice(words)) = keys::find(&without_places(path)).map(|key| &key.kind)
        && no_word.iter().any(|end| message.ends_with(end))
    {
        let reason = format!("{path}: expected one of {}", words.join(", "));
        return (reason, meaning(path));
    }
    for start in ["invalid type: ", "invalid value: "] {
        if let Some(rest) = message.strip_prefix(start) {
            return mismatch(rest, path);
        }
    }
    if message.starts_with("string values must be quoted") {
        return ("expected a value".into(), "write text in \"quotes\"".into());
    }
    let at = if path.is_empty() {
        String::new()
    } else {
        format!("{path}: ")
    };
    let line = message.replace('\n', ", ");
    (format!("{at}{line}"), syntax(&line).to_owned())
}

/// Returns the remedy for a text that is not TOML, chosen by the parser's message.
fn syntax(message: &str) -> &'static str {
    const REMEDIES: &[(&str, &str)] = &[
        ("duplicate key", "keep one of the two lines"),
        ("duplicate", "keep one of them"),
        (
            "basic string",
            "end the text with \" on the same line, and write \\\\ for a backslash",
        ),
        ("literal string", "end the text with ' on the same line"),
        ("string", "write text in \"quotes\""),
        (
            "escape",
            "write \\\\ for a backslash, or the text in 'single quotes'",
        ),
        ("unclosed table", "close the name of the table with ]"),
        ("unclosed array", "close the list with ]"),
        ("unclosed inline table", "close the table with }"),
        ("array", "write a list as [1, 2, 3]"),
        (
            "inline table",
            "write a table as { key = value, other = value }",
        ),
        (
            "table",
            "write the name of a table as [nand.geometry], on a line of its own",
        ),
        ("float", "write a number as 0.5 or 1e3"),
        ("integer", "write a whole number in digits, such as 4096"),
        ("number", "write a number in digits, such as 4096 or 0.5"),
        ("leading zero", "write the number without a zero in front"),
        ("underscore", "put _ between two digits only"),
        (
            "newline",
            "end the line here; a key and its value must be on one line",
        ),
        ("key with no value", "write key = value"),
        (
            "key",
            "write key = value; a key has letters, digits, - and _, or is in \"quotes\"",
        ),
        ("equals", "write key = value"),
        ("`=`", "write key = value"),
        (
            "`.`",
            "write key = value; parts of a key are joined by single dots",
        ),
        ("carriage return", "end lines with a line feed"),
        ("control", "remove the invisible character"),
        ("comment", "remove the invisible character from the comment"),
        (
            "date",
            "write a number, or text in \"quotes\"; no key is a date",
        ),
    ];
    let message = message.to_lowercase();
    let known = REMEDIES.iter().find(|(word, _)| message.contains(word));
    known.map_or(
        "write one key = value per line; `wordline devices d4` prints a valid file",
        |(_, remedy)| remedy,
    )
}

/// Returns the path of the table that contains `key`. `path` may end with the key itself or not.
fn parent_of<'a>(path: &'a str, key: &str) -> &'a str {
    match path.strip_suffix(key) {
        Some("") => "",
        Some(parent) if parent.ends_with('.') => &parent[..parent.len() - 1],
        _ => path,
    }
}

fn unknown_key(key: &str, table: &str) -> (String, String) {
    let place = if table.is_empty() {
        "at the top level".to_owned()
    } else if table.ends_with(']') {
        format!("in {table}")
    } else {
        format!("in [{table}]")
    };
    let reason = format!("unknown key `{key}` {place}");
    let table = &without_places(table);
    let table = keys::in_schema(table);
    let siblings: Vec<&str> = children(table).map(last).collect();
    let element = element_of(table);
    let homes: Vec<&str> = keys::all()
        .iter()
        .filter(|other| last(other) == key && element_of(&other.path) == element)
        .map(|other| other.path.as_str())
        .collect();
    let remedy = if let Some(near) = nearest(key, &siblings) {
        format!("did you mean `{near}`?")
    } else if let [home, ..] = homes[..] {
        format!("did you mean `{home}`?")
    } else if siblings.is_empty() {
        "remove the key; the table has no keys".to_owned()
    } else {
        format!("known keys: {}", siblings.join(", "))
    };
    (reason, remedy)
}

/// Returns the array of tables that contains a path; `None` if there is none.
fn element_of(path: &str) -> Option<&'static str> {
    let tables = keys::all().iter().filter(|key| key.kind == Kind::Tables);
    let mut names = tables.map(|key| key.path.as_str());
    names.find(|tables| {
        let rest = path.strip_prefix(tables);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn unknown_choice(name: &str, path: &str) -> (String, String) {
    let path = parent_of(path, name);
    let names = match keys::find(&without_places(path)).map(|key| &key.kind) {
        Some(Kind::Slot(names) | Kind::Choice(names)) => names.as_slice(),
        _ => &[],
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = nearest(name, &names);
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    (
        format!("{path}: unknown value `{name}`"),
        format!("{near}choose one of {}", names.join(", ")),
    )
}

fn mismatch(found_and_expected: &str, path: &str) -> (String, String) {
    let (found, expected) = found_and_expected
        .rsplit_once(", expected ")
        .unwrap_or((found_and_expected, "something else"));
    let reason = format!(
        "{path}: expected {}, found {}",
        wanted(expected, path),
        given(found)
    );
    (reason, meaning(path))
}

/// Returns the description of a key, as the remedy for a wrong value. An element of a list has the
/// description of its list.
fn meaning(path: &str) -> String {
    let list = path.rsplit_once('[').map_or(path, |(list, _)| list);
    let key = keys::find(&without_places(path)).or_else(|| keys::find(&without_places(list)));
    let key = key.filter(|key| !key.description.is_empty());
    key.map_or(String::new(), |key| {
        let description = key.description.trim_end_matches('.');
        format!("{} is: {description}", last(key))
    })
}

/// Describes what the parser expected, in the terms of the reference.
fn wanted(expected: &str, path: &str) -> String {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => {
            let most = match expected {
                "u8" => u64::from(u8::MAX),
                "u16" => u64::from(u16::MAX),
                "u32" => u64::from(u32::MAX),
                _ => i64::MAX as u64,
            };
            format!("a whole number from 0 to {most}")
        }
        "i8" | "i16" | "i32" | "i64" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a string" => "text in quotes".into(),
        _ if expected.starts_with("struct ") => format!("a table [{path}]"),
        _ => expected.to_owned(),
    }
}

/// Describes what the parser found, in the terms of the reference.
fn given(found: &str) -> String {
    match found {
        "map" => "a table".to_owned(),
        "sequence" => "an array".to_owned(),
        _ => found
            .replace("floating point ", "the number ")
            .replace("integer ", "the number ")
            .replace("boolean ", "")
            .replace("string ", "the text ")
            .replace(" as i128", "")
            .replace('`', ""),
    }
}

/// Returns the keys that a table may contain. For a policy slot, these are the policies.
fn children(table: &str) -> impl Iterator<Item = &'static Key> {
    keys::all()
        .iter()
        .filter(move |key| key.path == join(table, last(key)))
}

fn last(key: &Key) -> &str {
    key.path.rsplit('.').next().unwrap_or_default()
}

/// Returns the most similar of `names`; `None` if none is similar enough to be meant.
pub fn nearest<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase().replace('-', "_");
    names
        .iter()
        .map(|name| {
            let plain = name.replace('-', "_");
            (strsim::normalized_damerau_levenshtein(&word, &plain), *name)
        })
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
