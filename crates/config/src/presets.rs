//! Presets: the devices that come with Wordline.

use toml::{Table, Value};

use super::{ConfigError, explain};

/// Preset: a device that comes with Wordline, as a complete configuration without a base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name of the preset in `base` and on the command line, and of its file in `presets/`.
    pub name: &'static str,
    /// Description of the device.
    pub description: String,
    /// Sources of the values.
    pub source: String,
    /// Text of the file.
    pub text: &'static str,
}

macro_rules! embedded {
    ($($name:literal),+ $(,)?) => {
        const TEXTS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../presets/", $name, ".toml")))),+
        ];
    };
}

embedded! {
    "d4",
    "demo",
    "demo-store",
    "tb1",
    "tlc-nvme",
    "consumer-tlc",
    "enterprise-tlc",
    "consumer-qlc",
    "agcr",
    "jung2013-bssd",
    "jung2013-fssd",
    "jung2013-gc-3ssd",
    "jung2013-gc-6ssd",
    "jung2013-mlc1",
    "jung2013-mlc2",
    "jung2013-palloc",
    "jung2013-paq",
    "jung2013-slc",
    "jung2013-ssd-l",
    "jung2013-ssd-c",
    "jung2013-ssd-z",
    "jung2013-ssd-a",
    "jung2013-ssd-x",
    "jung2013-ssd-p",
    "lcr",
    "onfi2-slc",
    "onfi3-mlc",
    "onfi4-qlc",
    "onfi4-tlc",
    "onfi5-tlc",
    "opfcl-large",
    "opfcl-small",
    "xia2017-read-cache",
    "xia2017-write-cache",
    "xia2017-ecc",
    "atlas-10k",
    "atlas-iii",
    "atlas-10k-iv",
    "barracuda-4lp",
    "cheetah-4lp",
    "cheetah-9lp",
    "ultrastar-18es",
    "dec-rz26",
    "nearline-7200",
    "disk-5ms",
    "disk-average",
}

fn preset(name: &'static str, text: &'static str) -> Preset {
    let table = text.parse::<Table>().unwrap_or_default();
    let words = |key: &str| table.get(key).and_then(Value::as_str).unwrap_or_default();
    Preset {
        name,
        description: words("description").to_owned(),
        source: words("source").to_owned(),
        text,
    }
}

/// Returns all presets.
pub fn all() -> Vec<Preset> {
    TEXTS
        .iter()
        .map(|(name, text)| preset(name, text))
        .collect()
}

/// Returns the text of the preset `name`. Fails if there is no such preset; the error suggests a
/// similar name.
pub fn text(name: &str) -> Result<&'static str, ConfigError> {
    if let Some((_, text)) = TEXTS.iter().find(|(known, _)| *known == name) {
        return Ok(text);
    }
    let names: Vec<&str> = TEXTS.iter().map(|(name, _)| *name).collect();
    let near = explain::nearest(name, &names);
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let remedy = format!("{near}choose one of {}", names.join(", "));
    Err(ConfigError::rule(
        "base",
        format!("\"{name}\""),
        "unknown preset",
        remedy,
    ))
}
