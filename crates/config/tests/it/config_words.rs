//! Error messages for wrong numbers, text that is not TOML, and files without device keys.

fn said(text: &str, overrides: &[(&str, &str)]) -> String {
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    match wordline_config::load(text, "a.toml", &overrides) {
        Err(error) => error.to_string(),
        Ok(loaded) => loaded
            .plan(1)
            .err()
            .map_or(String::new(), |error| error.to_string()),
    }
}

#[test]
fn error_shows_the_number_as_written() {
    for key in [
        "ftl.over_provisioning_ratio",
        "ftl.gc.start_free_ratio",
        "precondition.fill_ratio",
        "series.interval_ms",
        "observe.marginal_response_ms",
    ] {
        for value in ["nan", "1e300"] {
            let message = said("base = \"d4\"", &[(key, value)]);
            assert!(message.contains(&format!("{key} = {value}")), "{message}");
            let after = message.split_once(": ").map_or("", |(_, after)| after);
            assert!(!after.contains("null") && after.len() < 300, "{message}");
        }
    }
}

#[test]
fn error_for_invalid_toml_has_a_place_and_a_remedy() {
    for text in [
        "[nand",
        "[nand]]",
        "a",
        "a =",
        "= 1",
        "a = 1 2",
        "a = \"x",
        "a = 'x",
        "a = [1, 2",
        "a = { b = 1",
        "a = 01",
        "a = 1__0",
        "a = 1.",
        "a = 1e",
        "a = tru",
        "a.b. = 1",
        "a = \"\\q\"",
        "schema = 1\nschema = 1",
        "[ssd]\n[ssd]",
        "a = 0x",
        "a = \u{1}",
        "[a.]",
        "\"a = 1",
        "a == 1",
    ] {
        let message = said(text, &[]);
        let mut lines = message.lines();
        let first = lines.next().unwrap_or_default();
        assert!(first.starts_with("a.toml:"), "{text:?}: {message}");
        assert!(
            first.contains("; ") || first.contains('?'),
            "{text:?}: {message}"
        );
        assert!(lines.any(|line| line.contains('^')), "{text:?}: {message}");
    }
}

#[test]
fn file_without_device_keys_is_rejected() {
    for text in [
        "",
        "\n# a comment\n",
        "schema = 1",
        "name = \"mine\"\nschema = 1",
    ] {
        let message = said(text, &[]);
        assert!(
            message.starts_with("a.toml: the file has no device keys; "),
            "{message}"
        );
        assert!(message.contains("base = \"d4\""), "{message}");
    }
    assert_eq!(said("base = \"d4\"", &[]), "");
    assert_eq!(said("[ssd]\nchannels = 2", &[]), "");
}

#[test]
fn suspension_limit_beyond_the_range_of_the_clock_is_rejected() {
    let longest = ("nand.suspend.longest_ns", "9223372036854775807");
    let message = said(
        "base = \"d4\"",
        &[longest, ("nand.suspend.program", "true")],
    );
    assert!(
        message.contains("nand.suspend.longest_ns = 9223372036854775807: too large"),
        "{message}"
    );
}
