//! The generated pages of docs/reference and the Python types match the source.

use std::path::Path;

use serde_json::Value;
use wordline_config::reference::{self, Entry};
use wordline_runner::{metrics, python_types};
use wordline_workload::Format;

fn entry(name: impl Into<String>, unit: &str, description: &str) -> Entry {
    Entry {
        name: name.into(),
        unit: unit.into(),
        description: description.into(),
    }
}

fn metric_page() -> String {
    let metrics = metrics::all()
        .into_iter()
        .map(|metric| entry(metric.name, metric.unit, &metric.description));
    reference::list(
        "Metrics",
        "The numbers of `summary.json`, with keys joined by dots. `{op}` stands for `all`, `read` and \
         `write`. Metrics outside `precondition` exclude preconditioning unless their \
         description says otherwise.",
        "metric",
        &metrics.collect::<Vec<_>>(),
    )
}

fn format_page() -> String {
    let formats = Format::ALL
        .iter()
        .map(|format| entry(format.name(), "", format.description()));
    reference::list(
        "Trace formats",
        "The supported formats, uncompressed or compressed by gzip, bzip2, Zstandard or xz. The format is detected \
         from the content of the file, in this order; `--format` overrides it.",
        "format",
        &formats.collect::<Vec<_>>(),
    )
}

#[test]
fn generated_files_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = [
        ("docs/reference/config.md", reference::config()),
        ("docs/reference/policies.md", reference::policy_page()),
        ("docs/reference/presets.md", reference::preset_page()),
        ("docs/reference/metrics.md", metric_page()),
        ("docs/reference/formats.md", format_page()),
        ("python/wordline/summary.py", python_types::module()),
    ];
    for (name, page) in pages {
        let path = root.join(name);
        if std::env::var_os("WORDLINE_BLESS").is_some() {
            std::fs::write(&path, &page).expect("the page can be written");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == page,
            "{name} is out of date; regenerate it with \
             WORDLINE_BLESS=1 cargo test -p wordline-runner --test it reference"
        );
    }
}

/// Adds the paths of all keys below `table` that are not tables.
fn leaves(root: &Value, table: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(name) = table["$ref"].as_str() {
        return leaves(root, &root["$defs"][&name["#/$defs/".len()..]], path, found);
    }
    if path == "array.members.array" {
        // An array in an array has the keys of an array, recursively.
        return found.push(path.to_owned());
    }
    let alternatives = ["anyOf", "oneOf"].map(|word| table[word].as_array());
    let alternatives: Vec<&Value> = alternatives.into_iter().flatten().flatten().collect();
    let inner = || alternatives.iter().copied().chain(table.get("items"));
    let mut below = Vec::new();
    inner().for_each(|one| leaves(root, one, path, &mut below));
    for (key, property) in table["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        leaves(root, property, &path, &mut below);
    }
    let is_table = table.get("properties").is_some() || !below.is_empty();
    if !is_table && !path.is_empty() && table["type"] != "null" {
        below.push(path.to_owned());
    }
    found.append(&mut below);
}

/// Walks the schema itself, because the source of the pages might omit a part of it.
#[test]
fn every_key_of_the_schema_is_documented() {
    let schema = wordline_config::schema();
    let mut keys = Vec::new();
    leaves(&schema, &schema, "", &mut keys);
    assert!(keys.len() > 150, "the schema was not walked: {keys:?}");
    let pages = reference::config() + &reference::policy_page();
    // Tables of a member or a stream are documented once, at the table of the device.
    let repeated = ["array.members.", "streams."];
    for key in &keys {
        let own = repeated.iter().find_map(|tables| key.strip_prefix(tables));
        let own = own.unwrap_or(key);
        // All caches share one policy family.
        let shared = own
            .replace("cache.replacement.", "buffer.replacement.")
            .replace(
                "host_side.architecture.flash-software.mapping.cached-table.replacement.",
                "buffer.replacement.",
            );
        let places = [key.as_str(), own, &shared].into_iter();
        let mut anchors = places.map(|place| format!("<a id=\"{place}\"></a>"));
        assert!(
            anchors.any(|anchor| pages.contains(&anchor)),
            "{key} is on no page"
        );
    }
}
