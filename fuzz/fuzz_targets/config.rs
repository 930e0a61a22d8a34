//! Reads arbitrary text as a configuration file and as an override. A configuration must not change
//! in a round trip through its resolved form.

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
        let again = load(&loaded.resolved_toml, "fuzz.toml", &[])
            .expect("a resolved configuration is valid");
        assert_eq!(loaded.resolved_toml, again.resolved_toml);
        let planned = loaded.plan(1).is_ok();
        assert_eq!(planned, again.plan(1).is_ok());
    }
});
