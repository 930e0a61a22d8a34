//! The schema states the range of every number, and numbers outside are rejected with an error that
//! states the range.

#![allow(clippy::panic, reason = "a test that cannot continue fails")]

use std::collections::BTreeSet;
use std::ops::Bound;

use serde_json::Value;
use wordline_config::keys::{self, Kind};
use wordline_config::range::Range;

/// Follows references in a schema.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(pointer) => {
            let target = root.pointer(pointer.trim_start_matches('#'));
            resolve(
                root,
                target.unwrap_or_else(|| panic!("the schema does not define {pointer}")),
            )
        }
        None => schema,
    }
}

fn is_number(schema: &Value) -> bool {
    let is = |word: &Value| word == "integer" || word == "number";
    match &schema["type"] {
        Value::Array(words) => words.iter().any(is),
        word => is(word),
    }
}

fn has_both_bounds(schema: &Value) -> bool {
    let has = |inclusive: &str, exclusive: &str| {
        schema[inclusive].is_number() || schema[exclusive].is_number()
    };
    schema["enum"].is_array()
        || has("minimum", "exclusiveMinimum") && has("maximum", "exclusiveMaximum")
}

/// Collects every number that the schema allows at or below a path, and whether it has both bounds.
/// A recursive table is visited once.
fn numbers<'a>(
    root: &'a Value,
    schema: &'a Value,
    path: &str,
    seen: &mut Vec<&'a Value>,
    found: &mut Vec<(String, bool)>,
) {
    let schema = resolve(root, schema);
    if seen.iter().any(|other| std::ptr::eq(*other, schema)) {
        return;
    }
    seen.push(schema);
    if is_number(schema) {
        found.push((path.to_owned(), has_both_bounds(schema)));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let inner = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        numbers(root, property, &inner, seen, found);
    }
    let lists = ["anyOf", "oneOf", "allOf", "prefixItems"];
    let lists = lists.iter().filter_map(|list| schema[list].as_array());
    for inner in lists.flatten().chain(schema.get("items")) {
        numbers(root, inner, path, seen, found);
    }
    seen.pop();
}

/// The numbers are derived from the schema rather than from the keys, so that lists and pairs are
/// included.
#[test]
fn every_number_of_the_schema_has_both_bounds() {
    let schema = wordline_config::schema();
    let mut found = Vec::new();
    numbers(&schema, &schema, "", &mut Vec::new(), &mut found);
    assert!(found.len() > 300, "{}", found.len());
    let without: BTreeSet<&str> = found
        .iter()
        .filter(|(_, bounded)| !bounded)
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(without, BTreeSet::new(), "numbers without both bounds");
}

fn fault(text: &str, key: &str, value: &str) -> String {
    let overrides = [(key.to_owned(), value.to_owned())];
    let loaded = wordline_config::load(text, "device.toml", &overrides);
    let planned = loaded.and_then(|loaded| loaded.plan(1));
    match planned {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{key} = {value} is accepted"),
    }
}

/// Returns `true` if a key is in an array of tables whose elements cannot be overridden.
fn is_listed(path: &str) -> bool {
    let parents =
        std::iter::successors(path.rsplit_once('.'), |(parent, _)| parent.rsplit_once('.'));
    let named = ["array.members", "streams"];
    parents
        .filter(|(parent, _)| !named.contains(parent))
        .any(|(parent, _)| {
            let kind = keys::find(parent).map(|key| &key.kind);
            matches!(kind, Some(Kind::Tables | Kind::Either(_)))
        })
}

/// Returns a number beyond each bound of a range, or one that is not among its values.
fn outside(range: &Range, whole: bool) -> Vec<f64> {
    let step = if whole { 1.0 } else { 0.125 };
    let beyond = |bound: &Bound<f64>, step: f64| match bound {
        Bound::Included(bound) => bound + step * bound.abs().max(1.0),
        Bound::Excluded(bound) => *bound,
        Bound::Unbounded => f64::INFINITY.copysign(step),
    };
    match range {
        Range::Between(least, most) => vec![beyond(least, -step), beyond(most, step)],
        Range::OneOf(numbers) => vec![numbers.iter().sum()],
    }
}

/// Device with a member and a stream, so that it accepts the keys of both.
const DEVICE: &str = "base = \"d4\"\n[[array.members]]\nname = \"a\"\n[[streams]]\nname = \"a\"\n";

/// Covers every number that an override can set, except `schema`, regardless of the rest of the
/// configuration.
#[test]
fn number_out_of_range_is_rejected_with_its_range() {
    let mut tried = 0;
    for key in keys::all() {
        let Some(range) = key.range.as_ref().filter(|_| key.path != "schema") else {
            continue;
        };
        if is_listed(&key.path) {
            continue;
        }
        let name = |tables: &str| format!("{tables}.a.");
        let path = ["array.members", "streams"]
            .iter()
            .fold(key.path.clone(), |path, tables| {
                path.replacen(&format!("{tables}."), &name(tables), 1)
            });
        let whole = key.kind != Kind::Number;
        for value in outside(range, whole) {
            // A number that the type cannot hold gives a different error.
            if whole && !(0.0..=f64::from(u32::MAX)).contains(&value) {
                continue;
            }
            let value = match key.kind {
                Kind::Number => format!("{value:?}"),
                // A fixed-length list has eight elements.
                Kind::Array if key.path.ends_with("victim_utilisations") => {
                    format!("[{}]", vec![value.to_string(); 8].join(", "))
                }
                Kind::Array => format!("[{value}]"),
                _ => value.to_string(),
            };
            let message = fault(DEVICE, &path, &value);
            assert!(
                message.contains(&range.to_string()),
                "{path} = {value}: {message}"
            );
            tried += 1;
        }
        if !whole {
            let message = fault(DEVICE, &path, "nan");
            assert!(
                message.contains(&range.to_string()),
                "{path} = nan: {message}"
            );
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn range_error_names_place_value_and_range() {
    let cases = [
        (
            "workload.requests",
            "0",
            "workload.requests = 0: too small; give a whole number from 1 to 1000000000000000",
        ),
        (
            "workload.fua_ratio",
            "1.5",
            "workload.fua_ratio = 1.5: out of range; give a number from 0 to 1",
        ),
        (
            "workload.read_ratio",
            "nan",
            "workload.read_ratio = nan: out of range; give a number from 0 to 1",
        ),
        (
            "workload.trim_ratio",
            "-0.1",
            "workload.trim_ratio = -0.1: out of range; give a number from 0 to 1",
        ),
        (
            "workload.working_set_ratio",
            "0",
            "workload.working_set_ratio = 0: out of range; give a number above 0 and up to 1",
        ),
        (
            "workload.pattern.zipf.theta",
            "-1",
            "workload.pattern.zipf.theta = -1: out of range; give a number from 0 to 10",
        ),
        (
            "workload.arrival.closed-loop.queue_depth",
            "0",
            "workload.arrival.closed-loop.queue_depth = 0: too small; give a whole number from 1 to 65536",
        ),
        (
            "workload.arrival.poisson.iops",
            "0",
            "workload.arrival.poisson.iops = 0: out of range; give a number from 0.001 to 1000000000",
        ),
        (
            "workload.arrival.idle-mix.back_to_back_ratio",
            "-0.5",
            "workload.arrival.idle-mix.back_to_back_ratio = -0.5: out of range; give a number from 0 to 1",
        ),
        (
            "workload.arrival.idle-mix.long_from_s",
            "nan",
            "workload.arrival.idle-mix.long_from_s = nan: out of range; give a number from 0.000001 to 10000000",
        ),
        (
            "ftl.over_provisioning_ratio",
            "1",
            "ftl.over_provisioning_ratio = 1: out of range; give a number from 0 up to, not including, 1",
        ),
        (
            "ftl.mapping.dftl.spare_ratio",
            "101",
            "ftl.mapping.dftl.spare_ratio = 101: out of range; give a number from 0 to 100",
        ),
        (
            "nand.timing.bus_width_bits",
            "12",
            "nand.timing.bus_width_bits = 12: not one of the allowed numbers; give 8 or 16",
        ),
        (
            "nand.timing.program_ns",
            "[5, 0]",
            "nand.timing.program_ns = 0: too small; give a whole number from 1 to 10000000000",
        ),
        (
            "workload.request_bytes",
            "0",
            "workload.request_bytes = 0: too small; give a whole number from 512 to 1000000000000000000",
        ),
        (
            "workload.request_bytes",
            "[{ bytes = 512, weight = 0.0 }]",
            "workload.request_bytes[0].weight = 0: out of range; give a number above 0 and up to 1000000000000",
        ),
        (
            "disk.model.positioned.seek",
            "[[1, 0.5], [2, -1.0]]",
            "disk.model.positioned.seek[1] = -1: out of range; give a number from 0 to 10000",
        ),
        (
            "disk.model.positioned.zones",
            "[{ cylinders = 0 }]",
            "disk.model.positioned.zones[0].cylinders = 0: too small; give a whole number from 1 to 16777216",
        ),
    ];
    for (key, value, expected) in cases {
        let message = fault("base = \"d4\"\n", key, value);
        assert_eq!(message, format!("--set {key}={value}: {expected}"));
    }
    let text = "base = \"d4\"\n[[array.members]]\nname = \"a\"\nftl.gc.start_free_ratio = 2.0\n";
    let message = fault(text, "ssd.ways", "2");
    let expected = "device.toml:4:8: array.members[0].ftl.gc.start_free_ratio = 2: out of range; give a number from 0 up to, not including, 1";
    assert_eq!(message.lines().next(), Some(expected));
}
