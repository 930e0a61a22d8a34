//! Errors that occur when results are kept or written.

use std::io;
use std::path::PathBuf;

/// Error of keeping or writing a result. Every message is one line that states the place, the fault
/// and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// A file operation failed.
    #[error("{}: cannot {action}: {reason}; {remedy}", path.display())]
    File {
        /// File that was requested (not the temporary one next to it).
        path: PathBuf,
        /// Operation, as a verb.
        action: &'static str,
        /// Reason, mostly from the operating system.
        reason: io::Error,
        /// Remedy.
        remedy: &'static str,
    },
    /// The rows do not match the schema of the file.
    #[error("{}: the table cannot be written as Parquet: {reason}; write it in another format, or report this as a bug", path.display())]
    Parquet {
        /// File that was requested.
        path: PathBuf,
        /// Reason that the encoder reported.
        reason: String,
    },
    /// A table could not be converted to bytes, or bytes to a table.
    #[error("the bytes of a table cannot be {action}: {reason}; save the result again")]
    Bytes {
        /// Operation, as a participle.
        action: &'static str,
        /// Reason that Arrow reported.
        reason: String,
    },
    /// A column does not fit its table.
    #[error("column {column}: {reason}; {remedy}")]
    Column {
        /// Name of the column.
        column: String,
        /// Mismatch, with its numbers.
        reason: String,
        /// Remedy.
        remedy: &'static str,
    },
}

impl ObserveError {
    /// Creates the error of an operation on `path`, with the remedy for the kind of `reason`.
    pub(crate) fn file(path: &std::path::Path, action: &'static str, reason: io::Error) -> Self {
        let remedy = remedy(reason.kind());
        Self::File {
            path: path.to_owned(),
            action,
            reason,
            remedy,
        }
    }
}

fn remedy(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind as Kind;
    match kind {
        Kind::NotFound | Kind::NotADirectory => "create the folder, or choose another one",
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => "choose a folder you may write to",
        Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => {
            "free space there, or choose another folder"
        }
        Kind::IsADirectory | Kind::InvalidInput => "give the name of a regular file",
        _ => "choose another folder and try again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn messages_are_one_line_with_path_and_remedy() {
        let full = ObserveError::file(
            Path::new("out/requests.parquet"),
            "write",
            io::ErrorKind::StorageFull.into(),
        );
        assert_eq!(
            full.to_string(),
            "out/requests.parquet: cannot write: no storage space; \
             free space there, or choose another folder"
        );
        let denied = ObserveError::file(
            Path::new("x.parquet"),
            "create",
            io::ErrorKind::PermissionDenied.into(),
        );
        assert!(
            denied
                .to_string()
                .ends_with("choose a folder you may write to")
        );
    }
}
