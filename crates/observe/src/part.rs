//! Files that appear whole or not at all.

use crate::ObserveError;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file in the making, `<name>.part` beside its place. Dropped, it is removed and an older file
/// in its place stays as it is.
#[derive(Debug)]
pub(crate) struct Part {
    target: PathBuf,
    part: PathBuf,
}

impl Part {
    /// Starts the file `path`; its folder must exist.
    pub(crate) fn create(path: &Path) -> Result<(Self, File), ObserveError> {
        let target = target(path)?;
        let mut part = target.as_os_str().to_owned();
        part.push(".part");
        let part = part.into();
        let file =
            File::create(&part).map_err(|error| ObserveError::file(&target, "create", error))?;
        Ok((Self { target, part }, file))
    }
    /// Where the file goes.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }
    /// The refusal of the file, for messages.
    pub(crate) fn refuse(&self, action: &'static str, reason: io::Error) -> ObserveError {
        ObserveError::file(&self.target, action, reason)
    }
    /// Moves the file, which is complete and closed, to its place.
    pub(crate) fn put(self) -> Result<(), ObserveError> {
        fs::rename(&self.part, &self.target).map_err(|error| self.refuse("replace", error))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Gone already after the move; when it cannot be removed there is no one to tell.
        let _ = fs::remove_file(&self.part);
    }
}

/// Where the file goes: a link is followed, and only a regular file is ever replaced.
fn target(path: &Path) -> Result<PathBuf, ObserveError> {
    let refuse = |error| ObserveError::file(path, "create", error);
    if path.file_name().is_none() {
        return Err(refuse(io::Error::new(
            io::ErrorKind::InvalidInput,
            "no file name",
        )));
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(refuse(io::ErrorKind::IsADirectory.into())),
        Ok(found) if !found.is_file() => Err(refuse(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ))),
        Ok(_) if path.is_symlink() => fs::canonicalize(path).map_err(refuse),
        _ => Ok(path.to_owned()),
    }
}
