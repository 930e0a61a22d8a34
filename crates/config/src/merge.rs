//! Merges TOML tables.

use toml::{Table, Value};

use super::ConfigError;
use super::Origin;
use super::keys::{self, Kind, join};

/// Merges `over` into `under`, key by key. Values of `over` have precedence.
///
/// In a policy slot, a table of the same policy is merged; any other value replaces the slot. A
/// bare name is the policy with its defaults. A table merged into an array of tables is merged into
/// the elements that its keys name, or appended: `streams.log` is the stream named `log`.
pub(super) fn merge(under: &mut Table, over: Table) {
    merge_at(under, over, "");
}

fn merge_at(under: &mut Table, over: Table, prefix: &str) {
    for (key, value) in over {
        let path = join(prefix, &key);
        match (under.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) if refines(&path, old, &new) => {
                merge_at(old, new, &path);
            }
            (Some(Value::Array(old)), Value::Table(new)) if is_tables(&path) => {
                merge_by_name(old, new, &path);
            }
            (None, Value::Table(new)) if is_tables(&path) => {
                let mut named = Vec::new();
                merge_by_name(&mut named, new, &path);
                under.insert(key, Value::Array(named));
            }
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// Merges each table of `over` into the element with its name. Appends it if there is none.
fn merge_by_name(under: &mut Vec<Value>, over: Table, path: &str) {
    for (name, value) in over {
        let named = |table: &Value| table.get("name").and_then(Value::as_str) == Some(&name);
        let place = under.iter().position(named).unwrap_or_else(|| {
            let called = [("name".to_owned(), Value::String(name.clone()))];
            under.push(Value::Table(Table::from_iter(called)));
            under.len() - 1
        });
        match (&mut under[place], value) {
            (Value::Table(old), Value::Table(new)) => merge_at(old, new, path),
            (old, value) => *old = value,
        }
    }
}

fn is_tables(path: &str) -> bool {
    keys::find(path).is_some_and(|key| key.kind == Kind::Tables)
}

fn refines(path: &str, old: &Table, new: &Table) -> bool {
    !keys::is_slot(path) || old.keys().eq(new.keys())
}

/// Returns the table that an override represents.
///
/// The value is parsed as TOML. In addition, numbers that TOML rejects, such as .5, are accepted,
/// and a plain word is read as a string.
pub(super) fn parse_override(key: &str, value: &str) -> Result<Table, ConfigError> {
    let fault = |reason: &str, remedy: &str| ConfigError {
        origin: Origin::Override(format!("{key}={value}")),
        key: key.to_owned(),
        reason: reason.to_owned(),
        remedy: remedy.to_owned(),
        others: &[],
    };
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    if !key.split('.').all(plain) {
        return Err(fault(
            &format!("`{key}` is not a key"),
            "write key=value with a key path such as host.queue_depth",
        ));
    }
    let value = parse_value(value).ok_or_else(|| {
        fault(
            "the value is not TOML",
            "write a number, true, false, a word, a \"string\", an [array] or an { inline = \"table\" }",
        )
    })?;
    let mut parts = key.rsplit('.');
    let innermost = Table::from_iter([(parts.next().unwrap_or(key).to_owned(), value)]);
    Ok(parts.fold(innermost, |table, part| {
        Table::from_iter([(part.to_owned(), Value::Table(table))])
    }))
}

fn parse_value(text: &str) -> Option<Value> {
    let mut parsed = format!("value = {text}")
        .parse::<Table>()
        .unwrap_or_default();
    match parsed.remove("value") {
        Some(value) if parsed.is_empty() => Some(value),
        _ if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            let number = text.trim().parse().map(Value::Float);
            number
                .ok()
                .or_else(|| is_word(text).then(|| Value::String(text.trim().to_owned())))
        }
        _ if is_word(text) => Some(Value::String(text.trim().to_owned())),
        _ => None,
    }
}

fn is_word(text: &str) -> bool {
    !text.contains(['"', '\'', '[', ']', '{', '}', '=', '\n', '\r', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(under: &str, over: &str) -> Table {
        let mut under: Table = under.parse().unwrap();
        merge(&mut under, over.parse().unwrap());
        under
    }

    #[test]
    fn merging_replaces_values_and_merges_tables() {
        let table = merged("a = 1\n[t]\nb = 2\nc = 3", "[t]\nc = 4\nd = 5");
        assert_eq!(table, "a = 1\n[t]\nb = 2\nc = 4\nd = 5".parse().unwrap());
    }

    #[test]
    fn merging_refines_the_same_policy_and_replaces_another() {
        let under = "[ftl.allocate.static]\norder = 'CWDP'";
        let other = "[ftl.allocate.dynamic]\norder = 'PDWC'";
        assert_eq!(merged(under, other), other.parse().unwrap());
        let same = "[ftl.allocate.static]";
        assert_eq!(merged(under, same), under.parse().unwrap());
        let bare = "ftl.allocate = 'static'";
        assert_eq!(merged(under, bare), bare.parse().unwrap());
    }

    #[test]
    fn override_values_are_toml_or_plain_words() {
        let parse = |key, value| parse_override(key, value).unwrap();
        assert_eq!(parse("a.b", "1"), "[a]\nb = 1".parse().unwrap());
        assert_eq!(parse("a", "fifo"), "a = 'fifo'".parse().unwrap());
        assert_eq!(parse("a", "\"1\""), "a = '1'".parse().unwrap());
        assert_eq!(parse("a", "{ b = 2 }"), "a.b = 2".parse().unwrap());
        assert_eq!(parse("a", ".5"), "a = 0.5".parse().unwrap());
        assert_eq!(parse("a", "50us"), "a = '50us'".parse().unwrap());
        assert_eq!(parse("a", ""), "a = ''".parse().unwrap());
        for (key, value) in [
            ("", "1"),
            ("a..b", "1"),
            ("a b", "1"),
            ("a", "[1"),
            ("a", "1\nb = 2"),
        ] {
            assert!(parse_override(key, value).is_err(), "{key}={value}");
        }
    }
}
