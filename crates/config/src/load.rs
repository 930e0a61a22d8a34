//! Loads a configuration from text.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};
use wordline_nand::Part;

use super::merge::{merge, parse_override};
use super::streams::{self, Stream};
use super::{
    Config, ConfigError, Origin, Plan, SCHEMA, array, check, disk, explain, limits, presets, read,
    write,
};

/// Complete configuration, and the origin of each value.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Configuration with its `base` merged in. The key `base` itself is cleared.
    pub config: Config,
    /// Configuration as a file without a base, with every key that has a value, in a fixed order.
    /// For a device without flash, tables of flash with their defaults are omitted.
    pub resolved_toml: String,
    layers: Layers,
}

/// Layers of a configuration, in ascending order of precedence.
#[derive(Clone, Debug)]
struct Layers {
    preset: Option<(String, Table)>,
    file: String,
    text: String,
    /// Parsed `text`.
    table: Table,
    overrides: Vec<(String, String)>,
}

/// Reads a configuration. The overrides, pairs of key and value in ascending precedence, override
/// the text of the file `file`, which overrides the preset that it names as its base.
///
/// The value of an override is TOML; a plain word is read as a string.
pub fn load(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Loaded, ConfigError> {
    limits::text(text).map_err(|error| ConfigError {
        origin: Origin::Default(file.to_owned()),
        ..error
    })?;
    let (said, table) = parse(text, file)?;
    says_something(&table, file, overrides)?;
    let preset = said
        .base
        .as_deref()
        .map(|name| base(name, text, file))
        .transpose()?;
    let layers = Layers {
        preset,
        file: file.to_owned(),
        text: text.to_owned(),
        table,
        overrides: overrides.to_vec(),
    };
    let mut config = layers.config()?;
    introduce(&mut config, &said, file);
    let resolved_toml = resolved(&config, file)?;
    Ok(Loaded {
        config,
        resolved_toml,
        layers,
    })
}

/// Checks that the file has a key other than `schema`, `name` and `description`, unless there are
/// overrides. A file without such a key was truncated, or is not the intended one.
fn says_something(
    table: &Table,
    file: &str,
    overrides: &[(String, String)],
) -> Result<(), ConfigError> {
    let says_nothing = |key: &String| ["schema", "name", "description"].contains(&key.as_str());
    if !table.keys().all(says_nothing) || !overrides.is_empty() {
        return Ok(());
    }
    Err(ConfigError {
        origin: Origin::Default(file.to_owned()),
        key: String::new(),
        reason: "the file has no device keys".into(),
        remedy: "name a preset to start from, such as base = \"d4\", or give device keys, such as \
                 those of [nand.geometry]; `wordline devices d4` prints a complete file"
            .into(),
        others: &[],
    })
}

fn resolved(config: &Config, file: &str) -> Result<String, ConfigError> {
    write::text(config).map_err(|error| ConfigError {
        origin: Origin::Default(file.to_owned()),
        key: String::new(),
        reason: format!("the configuration cannot be written as TOML: {error}"),
        remedy: "keep whole numbers below 2^63".into(),
        others: &[],
    })
}

impl Loaded {
    /// Checks the configuration and returns its plan. An error names the origin of the value, or of
    /// another key that contributes to the fault.
    pub fn plan(&self, seed: u64) -> Result<Plan, ConfigError> {
        Plan::new(&self.config, seed).map_err(|error| self.located(error))
    }

    /// Returns a standalone package. Checks only the `[nand]` tables. Errors are as in
    /// [`Loaded::plan`].
    pub fn part(&self, seed: u64) -> Result<Part, ConfigError> {
        check::part(&self.config, seed).map_err(|error| self.located(error))
    }

    /// Returns the configuration with streams of these names. Streams that it does not declare are
    /// appended.
    pub fn with_streams<'a>(
        mut self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ConfigError> {
        for name in names {
            if !self.config.streams.iter().any(|stream| stream.name == name) {
                self.config.streams.push(Stream::named(name));
            }
        }
        self.resolved_toml = resolved(&self.config, &self.layers.file)?;
        Ok(self)
    }

    fn located(&self, mut error: ConfigError) -> ConfigError {
        let keys = std::iter::once(error.key.as_str()).chain(error.others.iter().copied());
        let origins = keys.map(|key| self.origin(key));
        error.origin = origins.min_by_key(Origin::distance).unwrap_or(error.origin);
        error
    }

    /// Returns the origin of a key's value.
    pub fn origin(&self, key: &str) -> Origin {
        let named = streams::by_name(key, |tables, place| self.config.name_in(tables, place));
        let said = |path: &str| {
            let here = |key: &str| path == key || within(key, path);
            here(&named) || here(&streams::without_places(key))
        };
        let last = self
            .layers
            .overrides
            .iter()
            .rev()
            .find(|(path, _)| said(path));
        if let Some((path, value)) = last {
            return Origin::Override(format!("{path}={value}"));
        }
        let Layers {
            file, text, preset, ..
        } = &self.layers;
        if let Some(span) = span_of(text, key) {
            return Origin::file(file, text, span);
        }
        match preset {
            Some((name, table)) if contains(table, key) => Origin::Preset(name.clone()),
            _ => Origin::Default(file.clone()),
        }
    }
}

/// Reads a file without its base, so that an error can show the place in the file.
fn parse(text: &str, file: &str) -> Result<(Config, Table), ConfigError> {
    let fault = |message: &str, path: &str, span: Option<Range<usize>>| {
        let (reason, remedy) = explain::explain(message, path);
        ConfigError {
            origin: Origin::file(file, text, span.unwrap_or(0..0)),
            key: path.to_owned(),
            reason,
            remedy,
            others: &[],
        }
    };
    let no_toml = |error: toml::de::Error| fault(error.message(), "", error.span());
    let root = DeTable::parse(text).map_err(no_toml)?;
    let table = text.parse::<Table>();
    if let Ok(table) = &table {
        check_schema(table, text, file)?;
        limits::lists(table, "").map_err(|error| in_file(error, text, file))?;
    }
    let config =
        read::text(root).map_err(|said| fault(&said.message, said.path(), said.place.clone()))?;
    // TOML tables cannot hold some numbers that typed reading accepts, such as 2^63.
    let table = table.map_err(no_toml)?;
    Ok((config, table))
}

/// Adds the place in the file to an error.
fn in_file(mut error: ConfigError, text: &str, file: &str) -> ConfigError {
    error.origin = match span_of(text, &error.key) {
        Some(span) => Origin::file(file, text, span),
        None => Origin::Default(file.to_owned()),
    };
    error
}

/// Checks the schema version before any key is checked.
fn check_schema(table: &Table, text: &str, file: &str) -> Result<(), ConfigError> {
    let Some(version) = table.get("schema").and_then(Value::as_integer) else {
        return Ok(());
    };
    if version == i64::from(SCHEMA) {
        return Ok(());
    }
    let mut error = ConfigError::schema(version);
    if let Some(span) = span_of(text, "schema") {
        error.origin = Origin::file(file, text, span);
    }
    Err(error)
}

fn base(name: &str, text: &str, file: &str) -> Result<(String, Table), ConfigError> {
    let preset = presets::text(name).map_err(|mut error| {
        let span = span_of(text, "base").unwrap_or(0..0);
        error.origin = Origin::file(file, text, span);
        error
    })?;
    // The disk of the preset may itself come from another preset.
    let mut said = preset.parse::<Table>().unwrap_or_default();
    let mut table = Table::new();
    disk::rebase(&mut table, &mut said)?;
    merge(&mut table, said);
    Ok((name.to_owned(), table))
}

/// Names an unnamed device after its file. If the description comes from the base, states that the
/// device is based on it.
fn introduce(config: &mut Config, said: &Config, file: &str) {
    if let Some(base) = &said.base
        && said.description.is_empty()
        && !config.description.is_empty()
    {
        config.description = format!("Based on preset {base}: {}", config.description);
    }
    if config.name.is_empty() {
        let stem = std::path::Path::new(file).file_stem();
        config.name = stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    }
}

impl Layers {
    fn config(&self) -> Result<Config, ConfigError> {
        let mut table = Table::new();
        if let Some((_, preset)) = &self.preset {
            table = preset.clone();
            table.remove("name");
        }
        let mut said = self.table.clone();
        disk::rebase(&mut table, &mut said).map_err(|error| self.placed(error))?;
        merge(&mut table, said);
        table.remove("base");
        for (key, value) in &self.overrides {
            if key == "base" || key == "schema" {
                return Err(fixed(key, value));
            }
            let overriding = |error: ConfigError| ConfigError {
                origin: Origin::Override(format!("{key}={value}")),
                ..error
            };
            limits::text(value).map_err(overriding)?;
            let mut said = parse_override(key, value)?;
            limits::lists(&said, "").map_err(overriding)?;
            disk::rebase(&mut table, &mut said).map_err(overriding)?;
            merge(&mut table, said);
        }
        array::complete(&mut table).map_err(|error| self.placed(error))?;
        read::tables(&Value::Table(table)).map_err(|fault| self.override_fault(&fault))
    }

    /// Sets the origin of an error: the place of its key in the file, or otherwise the last
    /// override.
    fn placed(&self, mut error: ConfigError) -> ConfigError {
        error.origin = match (span_of(&self.text, &error.key), self.overrides.last()) {
            (Some(span), _) => Origin::file(&self.file, &self.text, span),
            (None, Some((key, value))) => Origin::Override(format!("{key}={value}")),
            (None, None) => Origin::Default(self.file.clone()),
        };
        error
    }

    /// Returns the error of an override that is invalid in combination with the preset and the
    /// file, each of which is valid alone.
    fn override_fault(&self, fault: &read::Fault) -> ConfigError {
        let path = fault.path();
        let (reason, remedy) = explain::explain(&fault.message, path);
        let named = streams::by_name(path, |tables, place| {
            let mut parts = tables.split('.');
            let first = self.table.get(parts.next()?);
            let tables = parts.fold(first, |table, part| table?.get(part));
            tables?.get(place)?.get("name")?.as_str()
        });
        let concerned = self
            .overrides
            .iter()
            .rev()
            .find(|(key, _)| *key == named || within(key, &named) || within(&named, key));
        let origin = concerned
            .or(self.overrides.last())
            .map_or(Origin::Default(self.file.clone()), |(key, value)| {
                Origin::Override(format!("{key}={value}"))
            });
        ConfigError {
            origin,
            key: path.to_owned(),
            reason,
            remedy,
            others: &[],
        }
    }
}

fn fixed(key: &str, value: &str) -> ConfigError {
    ConfigError {
        origin: Origin::Override(format!("{key}={value}")),
        key: key.to_owned(),
        reason: format!("`{key}` cannot be overridden"),
        remedy: "set it in the configuration file".into(),
        others: &[],
    }
}

/// Returns `true` if `path` is inside the table `table`.
fn within(path: &str, table: &str) -> bool {
    path.strip_prefix(table)
        .is_some_and(|rest| rest.starts_with('.'))
}

fn contains(table: &Table, key: &str) -> bool {
    let key = key.replace('[', ".").replace(']', "");
    let mut parts = key.split('.');
    let first = parts.next().and_then(|part| table.get(part));
    let found = parts.fold(first, |value, part| match value? {
        Value::Array(elements) => elements.get(part.parse::<usize>().ok()?),
        value => value.get(part),
    });
    found.is_some()
}

/// Returns the range of bytes of a key in the text of a file; `None` if the file does not set the
/// key.
fn span_of(text: &str, key: &str) -> Option<Range<usize>> {
    let parsed = DeTable::parse(text).ok()?;
    let mut table = parsed.get_ref();
    let mut parts = key.split('.').peekable();
    loop {
        let (part, place) = element(parts.next()?);
        let (name, value) = table.iter().find(|(name, _)| name.get_ref() == part)?;
        let inner = match (value.get_ref(), place) {
            (DeValue::Array(elements), Some(place)) => elements.get(place)?.get_ref(),
            (inner, _) => inner,
        };
        if parts.peek().is_none() {
            return Some(name.span());
        }
        match inner {
            DeValue::Table(inner) => table = inner,
            _ => return Some(name.span()),
        }
    }
}

/// Splits a part of a key path, `streams[1]`, into the array's name and the element's index.
fn element(part: &str) -> (&str, Option<usize>) {
    let split = part.strip_suffix(']').and_then(|part| part.split_once('['));
    match split.map(|(name, place)| (name, place.parse().ok())) {
        Some((name, Some(place))) => (name, Some(place)),
        _ => (part, None),
    }
}
