//! Errors of a server.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Error that prevents a server from starting, or from completing its files.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The data file cannot be used.
    #[error("--data {}: {fault}", .path.display())]
    Data {
        /// Data file.
        path: PathBuf,
        /// Fault, with the remedy.
        fault: String,
    },
    /// The socket cannot be created.
    #[error("--socket {}: {fault}", .path.display())]
    Socket {
        /// Path of the socket.
        path: PathBuf,
        /// Fault, with the remedy.
        fault: String,
    },
    /// The TCP port cannot be used.
    #[error("--tcp {port}: {fault}; choose another port, or 0 for a free one")]
    Tcp {
        /// TCP port.
        port: u16,
        /// Fault, without the remedy.
        fault: String,
    },
    /// The data file could not be made durable.
    #[error("--data: the data may not be durable, because the file could not be synchronised: {0}")]
    Unsynced(std::io::Error),
    /// The recorded trace cannot be written.
    #[error("--record: {0}")]
    Record(String),
}

impl ServeError {
    pub(crate) fn data(path: &Path, fault: impl Into<String>) -> Self {
        Self::Data {
            path: path.to_owned(),
            fault: fault.into(),
        }
    }
    pub(crate) fn socket(path: &Path, fault: impl Into<String>) -> Self {
        Self::Socket {
            path: path.to_owned(),
            fault: fault.into(),
        }
    }
}
