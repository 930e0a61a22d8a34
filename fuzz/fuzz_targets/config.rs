//! Any text, as a configuration file and as an override; what is read must come back the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wordline_config::load;

fuzz_target!(|input: (&str, &str, &str)| {
    let (text, key, value) = input;
    let overrides = [(key.to_owned(), value.to_owned())];
    for overrides in [&[][..], &overrides[..]] {
        let Ok(loaded) = load(text, "fuzz.toml", overrides) else {
            continue;
        };
        let again = load(&loaded.resolved_toml, "fuzz.toml", &[]).expect("resolved files load");
        assert_eq!(loaded.resolved_toml, again.resolved_toml);
        let planned = loaded.plan(1).is_ok();
        assert_eq!(planned, again.plan(1).is_ok());
    }
});
