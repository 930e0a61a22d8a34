//! The generated pages of docs/reference say what the source says.

use std::path::Path;

use wordline_sim::config::reference::{self, Entry};
use wordline_sim::metrics;
use wordline_workload::Format;

fn entry(name: impl Into<String>, unit: &str, description: &str) -> Entry {
    Entry {
        name: name.into(),
        unit: unit.into(),
        description: description.into(),
    }
}

fn metric_page() -> String {
    let metrics = metrics::ALL
        .iter()
        .map(|metric| entry(metric.name, metric.unit, metric.description));
    reference::list(
        "Metrics",
        "The numbers of `summary.json`, keys joined by dots. `{op}` stands for `all`, `read` and \
         `write`. The part before the run (preconditioning) is excluded from all but \
         `precondition`.",
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
        "The formats that are read, plain or compressed by gzip, Zstandard or xz. The format is told \
         by the content of the file, in this order; `--format` names it instead.",
        "format",
        &formats.collect::<Vec<_>>(),
    )
}

#[test]
fn the_reference_pages_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let pages = [
        ("config.md", reference::config()),
        ("policies.md", reference::policy_page()),
        ("presets.md", reference::preset_page()),
        ("metrics.md", metric_page()),
        ("formats.md", format_page()),
    ];
    for (name, page) in pages {
        let path = folder.join(name);
        if std::env::var_os("WORDLINE_BLESS").is_some() {
            std::fs::write(&path, &page).expect("the page can be written");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == page,
            "docs/reference/{name} is out of date; renew it with \
             WORDLINE_BLESS=1 cargo test -p wordline-sim --test reference"
        );
    }
}
