//! Property tests: any text or override gives either a configuration or an error message.

#![allow(clippy::panic, reason = "a test that cannot continue fails")]

use proptest::prelude::*;
use proptest::sample::{Index, select};
use wordline_config::{keys, presets};

/// Change to a text.
#[derive(Clone, Debug)]
enum Edit {
    Delete(Index, usize),
    Double(Index, usize),
    Insert(Index, String),
    Swap(Index, Index),
}

fn fragment() -> impl Strategy<Value = String> {
    let key = select(keys::all()).prop_map(|key| key.path.clone());
    let text = prop_oneof![
        "[ -~\n\t]{0,8}",
        "\\PC{0,4}",
        "-?[0-9]{1,20}",
        "[0-9]e[0-9]{1,3}",
        select(vec![
            "nan", "inf", "true", "\"\"", "{}", "[]", "[[a]]", "=", "\u{feff}", "\0"
        ])
        .prop_map(str::to_owned),
    ];
    prop_oneof![
        text.clone(),
        (key.clone(), text).prop_map(|(key, value)| format!("\n{key} = {value}\n")),
        key.prop_map(|key| format!("\n[{key}]\n")),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        (at(), 1..40_usize).prop_map(|(at, length)| Edit::Delete(at, length)),
        (at(), 1..40_usize).prop_map(|(at, length)| Edit::Double(at, length)),
        (at(), fragment()).prop_map(|(at, text)| Edit::Insert(at, text)),
        (at(), at()).prop_map(|(a, b)| Edit::Swap(a, b)),
    ]
}

fn apply(text: &str, edit: &Edit) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = |index: &Index| index.index(text.chars().count() + 1);
    let range = |start: usize, length: usize, end: usize| start.min(end)..(start + length).min(end);
    let end = chars.len();
    match edit {
        Edit::Delete(start, length) => drop(chars.drain(range(at(start), *length, end))),
        Edit::Double(start, length) => {
            let part = chars[range(at(start), *length, end)].to_vec();
            chars.splice(at(start)..at(start), part);
        }
        Edit::Insert(start, part) => drop(chars.splice(at(start)..at(start), part.chars())),
        Edit::Swap(a, b) if end > 0 => chars.swap(a.index(end), b.index(end)),
        Edit::Swap(..) => {}
    }
    chars.into_iter().collect()
}

/// Reads a text. A configuration must not change in a round trip through its resolved form. An
/// error must have a message.
fn read(text: &str, overrides: &[(String, String)]) {
    match wordline_config::load(text, "device.toml", overrides) {
        Err(error) => {
            let message = error.to_string();
            let first = message.lines().next().unwrap_or_default();
            let place = first.starts_with("device.toml:") || first.starts_with("--set ");
            assert!(place && !error.reason.is_empty(), "{message}");
        }
        Ok(loaded) => {
            let again = wordline_config::load(&loaded.resolved_toml, "device.toml", &[])
                .unwrap_or_else(|error| panic!("{}\n{error}", loaded.resolved_toml));
            assert_eq!(loaded.resolved_toml, again.resolved_toml);
            let (first, second) = (loaded.plan(1), again.plan(1));
            assert_eq!(first.is_ok(), second.is_ok());
            if let Err(error) = first {
                assert!(!error.remedy.is_empty(), "{error}");
            }
        }
    }
}

proptest! {
    #[test]
    fn mutated_preset_is_accepted_or_rejected(
        preset in select(presets::all()),
        edits in prop::collection::vec(edit(), 1..8),
    ) {
        read(&edits.iter().fold(preset.text.to_owned(), |text, edit| apply(&text, edit)), &[]);
    }

    #[test]
    fn any_override_is_accepted_or_rejected(
        key in select(keys::all()),
        value in fragment(),
        preset in select(presets::all()),
    ) {
        let text = format!("base = \"{}\"\n", preset.name);
        read(&text, &[(key.path.clone(), value)]);
    }

    #[test]
    fn any_text_is_accepted_or_rejected(text in "\\PC{0,64}", key in "\\PC{0,16}", value in "\\PC{0,16}") {
        read(&text, &[]);
        read("", &[(key, value)]);
    }
}
