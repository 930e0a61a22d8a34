//! Parses policies of the command line, such as `lru` and `arc:p=integer`.

use serde_json::{Map, Value};
use wordline_cache::Replacement;

use super::{CacheError, Size};
use wordline_config::keys::{self, Key, Kind};
use wordline_config::nearest;

/// Policy and its name with parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Name as given by the user.
    pub label: String,
    /// The policy with its parameters.
    pub policy: Replacement,
}

/// Name that selects every policy that needs only a trace.
const ALL: &str = "all";

/// Parses policy names. Parameters follow after colons. `all` selects every policy that needs only
/// a trace, with default parameters. Duplicates are removed.
pub fn choose<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Chosen>, CacheError> {
    let mut chosen: Vec<Chosen> = Vec::new();
    for name in names {
        let named = match name.trim() {
            ALL => all(),
            name => vec![one(name)?],
        };
        for policy in named {
            if !chosen.iter().any(|other| other.label == policy.label) {
                chosen.push(policy);
            }
        }
    }
    Ok(chosen)
}

fn all() -> Vec<Chosen> {
    Replacement::defaults()
        .into_iter()
        .filter(|policy| !needs_device(policy))
        .map(|policy| Chosen {
            label: policy.name().to_owned(),
            policy,
        })
        .collect()
}

fn one(text: &str) -> Result<Chosen, CacheError> {
    let mut words = text.split(':');
    let name = words.next().unwrap_or_default();
    if !Replacement::NAMES.contains(&name) {
        return Err(unknown(name));
    }
    let mut parameters = Map::new();
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| {
            let remedy = format!("write {name}:PARAMETER=VALUE, such as arc:p=integer");
            CacheError::argument(text, format!("`{word}` is not a parameter"), remedy)
        })?;
        let value = parameter(text, name, key.trim(), value.trim())?;
        parameters.insert(key.trim().to_owned(), value);
    }
    let table = Value::Object(Map::from_iter([(
        name.to_owned(),
        Value::Object(parameters),
    )]));
    let policy: Replacement = serde_json::from_value(table).map_err(|error| {
        let remedy = "see `wordline policies buffer.replacement`";
        CacheError::argument(text, error.to_string(), remedy)
    })?;
    if needs_device(&policy) {
        return Err(CacheError::argument(
            name,
            "the policy needs the state of the flash, which a trace does not contain",
            format!(
                "simulate a device: `wordline run d4 --set buffer.replacement={name}`, with \
                 buffer.capacity_kib"
            ),
        ));
    }
    Ok(Chosen {
        label: text.to_owned(),
        policy,
    })
}

fn unknown(name: &str) -> CacheError {
    let known = Replacement::NAMES.join(", ");
    let remedy = match nearest(name, Replacement::NAMES) {
        _ if name.parse::<Size>().is_ok() => {
            "this is a size; put a policy before the size, as in `wordline cache disk.csv lru 1%`"
                .into()
        }
        Some(near) => format!("did you mean {near}? Known policies: {known}, all"),
        None => format!("known policies: {known}, all"),
    };
    CacheError::argument(format!("policy `{name}`"), "unknown policy", remedy)
}

/// Parses the value of a parameter, and checks its type and range.
fn parameter(text: &str, policy: &str, key: &str, value: &str) -> Result<Value, CacheError> {
    let table = format!("{}.{policy}.", Replacement::PATH);
    let Some(found) = keys::find(&format!("{table}{key}")) else {
        let known: Vec<&str> = keys::all()
            .iter()
            .filter_map(|key| key.path.strip_prefix(&table))
            .collect();
        let remedy = match known[..] {
            [] => format!("remove it, because {policy} has no parameters"),
            _ => format!("use a parameter of {policy}: {}", known.join(", ")),
        };
        let reason = format!("unknown parameter `{key}`");
        return Err(CacheError::argument(text, reason, remedy));
    };
    let wrong = || {
        let reason = format!("`{value}` is not a valid value of {key}");
        CacheError::argument(text, reason, format!("give {}", values(found)))
    };
    let number = |number: f64| {
        let range = found.range.as_ref();
        number.is_finite() && range.is_none_or(|range| range.contains(number))
    };
    match &found.kind {
        Kind::Choice(words) if words.iter().any(|word| word == value) => Ok(value.into()),
        Kind::Boolean => value.parse::<bool>().map(Value::from).map_err(|_| wrong()),
        Kind::Integer => match value.parse::<u64>() {
            Ok(whole) if number(whole as f64) => Ok(whole.into()),
            _ => Err(wrong()),
        },
        Kind::Number => match value.parse::<f64>() {
            Ok(real) if number(real) => Ok(real.into()),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// Describes the valid values of a parameter.
fn values(key: &Key) -> String {
    let range = key.range.as_ref();
    let range = range.map_or_else(String::new, |range| format!(" {range}"));
    match &key.kind {
        Kind::Choice(words) => format!("one of {}", words.join(", ")),
        Kind::Boolean => "true or false".to_owned(),
        Kind::Integer => format!("a whole number{range}"),
        _ => format!("a number{range}"),
    }
}

/// Returns `true` if a policy queries device state: the load of the flash and GC in progress.
fn needs_device(policy: &Replacement) -> bool {
    matches!(policy, Replacement::GcarCflru(_) | Replacement::Lcr(_))
}
