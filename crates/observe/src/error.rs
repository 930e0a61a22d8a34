//! What can go wrong when results are kept or written.

use std::io;
use std::path::PathBuf;

/// A result that could not be kept or written. Every message is one line: what, where, what to do.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The operating system refused a file.
    #[error("{}: cannot {action}: {reason}; {remedy}", path.display())]
    File {
        /// The file that was asked for (not the temporary one beside it).
        path: PathBuf,
        /// What was being done to it, as a verb.
        action: &'static str,
        /// The operating system's reason.
        reason: io::Error,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The rows do not fit the schema of the file.
    #[error("{}: cannot write as Parquet: {reason}; write the table to another format or report this table", path.display())]
    Parquet {
        /// The file that was asked for.
        path: PathBuf,
        /// The encoder's reason.
        reason: String,
    },
    /// A table could not be turned into bytes, or bytes not into a table.
    #[error("the bytes of a table cannot be {action}: {reason}; store the result again")]
    Bytes {
        /// What was being done to them, as a participle.
        action: &'static str,
        /// The reason, as Arrow tells it.
        reason: String,
    },
    /// A column does not fit its table.
    #[error("column {column}: {reason}; {remedy}")]
    Column {
        /// The name of the column.
        column: String,
        /// What does not fit, with the numbers.
        reason: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

impl ObserveError {
    /// The refusal of `path`, with the remedy that goes with the kind of `reason`.
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
        Kind::NotFound | Kind::NotADirectory => "create the folder or choose another one",
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => "choose a folder you may write to",
        Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => {
            "free space there or choose another folder"
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
             free space there or choose another folder"
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
