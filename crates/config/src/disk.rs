//! Merges the `[disk]` table over the disk of a preset.

use toml::{Table, Value};

use super::{ConfigError, presets};

/// Replaces the disk of `under` by the disk of a preset if `over` names the preset as the base of
/// its disk. Removes the base from `over`.
pub(super) fn rebase(under: &mut Table, over: &mut Table) -> Result<(), ConfigError> {
    let Some(Value::Table(disk)) = over.get_mut("disk") else {
        return Ok(());
    };
    let Some(base) = disk.remove("base") else {
        return Ok(());
    };
    let name = base.as_str().unwrap_or_default();
    let text = presets::text(name).map_err(|error| ConfigError {
        key: "disk.base".into(),
        ..error
    })?;
    let preset = text.parse::<Table>().unwrap_or_default();
    let Some(disk) = preset.get("disk") else {
        return Err(ConfigError::rule(
            "disk.base",
            format!("\"{name}\""),
            "the preset has no disk",
            "name the preset of a disk; `wordline devices` lists all presets",
        ));
    };
    under.insert("disk".to_owned(), disk.clone());
    Ok(())
}
