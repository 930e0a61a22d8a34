//! Files that appear complete or not at all.

use crate::ObserveError;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// File being written: `<name>.part` next to its final path, or `<name>.2.part` and so on while
/// other processes write the same file. The part is locked until it has its final name, so that no
/// two processes write to it. Parts left by killed processes are overwritten. A part that is
/// dropped is removed, and an older file at the final path stays unchanged.
#[derive(Debug)]
pub struct Part {
    target: PathBuf,
    unfinished: PathBuf,
    // Second handle of the file that the caller writes. It is closed last and keeps the lock until
    // then.
    lock: File,
}

impl Part {
    /// Creates a part of the file `target`; its directory must exist.
    pub fn of(target: &Path) -> io::Result<(Self, File)> {
        let (unfinished, file) = claimed(target)?;
        let lock = file.try_clone()?;
        let part = Self {
            target: target.to_owned(),
            unfinished,
            lock,
        };
        Ok((part, file))
    }
    /// Creates a part of the file that `path` names; its directory must exist.
    pub(crate) fn create(path: &Path) -> Result<(Self, File), ObserveError> {
        let target = target(path)?;
        Self::of(&target).map_err(|error| ObserveError::file(&target, "create", error))
    }
    /// Returns the final path.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }
    /// Creates the error of a failed operation on the file.
    pub(crate) fn refuse(&self, action: &'static str, reason: io::Error) -> ObserveError {
        ObserveError::file(&self.target, action, reason)
    }
    /// Moves the complete file to its final path.
    pub fn finish(self) -> io::Result<()> {
        fs::rename(&self.unfinished, &self.target)?;
        remove_abandoned(&self.target);
        Ok(())
    }
    /// Moves the complete file to its final path, as [`Part::finish`] does. The error names the
    /// file.
    pub(crate) fn put(self) -> Result<(), ObserveError> {
        let target = self.target.clone();
        let finished = self.finish();
        finished.map_err(|error| ObserveError::file(&target, "replace", error))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // After the move, the name of the part may belong to another process.
        if is_still(&self.unfinished, &self.lock) {
            // If the part cannot be removed, there is no way to report it.
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

fn numbered(target: &Path, number: u32) -> PathBuf {
    match number {
        1 => target.with_added_extension("part"),
        _ => target.with_added_extension(format!("{number}.part")),
    }
}

/// Creates the first part of `target` that no other process has, empty and locked.
fn claimed(target: &Path) -> io::Result<(PathBuf, File)> {
    let mut number = 1;
    loop {
        let path = numbered(target, number);
        let mut options = File::options();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            number += 1;
            continue;
        }
        // The process that held the part may have moved it to the final path before this one locked
        // it.
        if is_still(&path, &file) {
            if file.metadata()?.is_file() {
                file.set_len(0)?;
            }
            return Ok((path, file));
        }
    }
}

#[cfg(unix)]
fn is_still(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let named = fs::metadata(path).map(identity);
    matches!((named, file.metadata().map(identity)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(not(unix))]
fn is_still(_: &Path, _: &File) -> bool {
    true
}

/// Removes the parts left by killed processes.
fn remove_abandoned(target: &Path) {
    for number in 1.. {
        let path = numbered(target, number);
        let Ok(file) = File::options().write(true).open(&path) else {
            if number == 1 {
                continue;
            }
            return;
        };
        if file.try_lock().is_ok() && is_still(&path, &file) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Returns the final path: links are followed, and only a regular file is ever replaced.
fn target(path: &Path) -> Result<PathBuf, ObserveError> {
    let refuse = |error| ObserveError::file(path, "create", error);
    if path.file_name().is_none() {
        return Err(refuse(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path has no file name",
        )));
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(refuse(io::ErrorKind::IsADirectory.into())),
        Ok(found) if !found.is_file() => Err(refuse(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path is not a regular file",
        ))),
        Ok(_) if path.is_symlink() => fs::canonicalize(path).map_err(refuse),
        _ => Ok(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn concurrent_writers_do_not_share_a_part() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("aged.wls");
        let (one, mut first) = Part::of(&target).unwrap();
        let (other, mut second) = Part::of(&target).unwrap();
        first.write_all(b"one").unwrap();
        second.write_all(b"other, longer").unwrap();
        first.write_all(b" whole").unwrap();
        one.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"one whole");
        let (third, _) = Part::of(&target).unwrap();
        other.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"other, longer");
        assert_eq!(names(folder.path()), ["aged.wls", "aged.wls.part"]);
        drop(third);
        assert_eq!(names(folder.path()), ["aged.wls"]);
    }

    #[test]
    fn abandoned_parts_are_overwritten_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("aged.wls");
        fs::write(numbered(&target, 1), "left by a process that was killed").unwrap();
        fs::write(numbered(&target, 2), "and by another").unwrap();
        let (part, mut file) = Part::of(&target).unwrap();
        file.write_all(b"new").unwrap();
        part.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["aged.wls"]);
    }
}
