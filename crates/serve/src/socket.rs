//! Unix socket of a server.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, flock};

use crate::error::ServeError;

/// Maximum length of a path, so that the name in the private folder and the path of the control
/// socket fit as well. Bytes.
const MAX_PATH: usize = 90;
/// Time between two checks whether the server must end.
pub(crate) const CHECK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// Time until the next attempt to accept a client after an error.
const PAUSE: Duration = Duration::from_millis(50);

/// Socket that listens at a path. Only the user of this process can connect. The path is removed at
/// the end, unless it names another file by then.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) listener: UnixListener,
    path: PathBuf,
    inode: u64,
}

impl Socket {
    /// Creates the socket. A socket at the same path on which no server listens is replaced.
    pub(crate) fn bind(path: &Path) -> Result<Self, ServeError> {
        if path.as_os_str().len() > MAX_PATH {
            let fault = format!("the path is longer than {MAX_PATH} bytes; choose a shorter one");
            return Err(ServeError::socket(path, fault));
        }
        Self::bind_named(path)
    }
    /// Creates a socket whose path is derived from that of another socket.
    pub(crate) fn bind_named(path: &Path) -> Result<Self, ServeError> {
        let failed = |error: io::Error| ServeError::socket(path, error.to_string());
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let lock = File::open(folder).map_err(failed)?;
        // Of several servers that find the same stale socket, one replaces it, and the others then
        // find a server that listens. Without locks on this file system, the last one keeps the path.
        let _ = flock(&lock, FlockOperation::LockExclusive);
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => {
                let fault = "the file exists and is not a socket; choose another path";
                return Err(ServeError::socket(path, fault));
            }
            Ok(_) if UnixStream::connect(path).is_ok() => {
                let fault =
                    "another server listens at this path; stop that server, or choose another path";
                return Err(ServeError::socket(path, fault));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        // The socket gets its mode in a folder that only this user can enter, and then its path.
        let private = folder.join(format!(".wl{}", std::process::id()));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&private)
            .map_err(failed)?;
        let made = Self::bind_in(&private.join("s"), path);
        // Fails only if the folder is gone already.
        let _ = fs::remove_dir_all(&private);
        made.map_err(failed)
    }
    /// Waits up to `wait` for a client. Returns its connection, if there is one.
    pub(crate) fn accept(&self, wait: &Timespec) -> Option<UnixStream> {
        let mut ready = [PollFd::new(&self.listener, PollFlags::IN)];
        if poll(&mut ready, Some(wait)).is_ok_and(|ready| ready == 0) {
            return None;
        }
        self.take()
    }
    /// Accepts a waiting client, if there is one. Returns its connection.
    pub(crate) fn take(&self) -> Option<UnixStream> {
        let (stream, _) = taken(self.listener.accept())?;
        stream.set_nonblocking(false).ok()?;
        Some(stream)
    }
    fn bind_in(private: &Path, path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(private)?;
        listener.set_nonblocking(true)?;
        fs::set_permissions(private, fs::Permissions::from_mode(0o600))?;
        let inode = fs::symlink_metadata(private)?.ino();
        fs::rename(private, path)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            inode,
        })
    }
}

/// Returns an accepted connection. Waits after an error: without a free descriptor, the client would
/// wake this thread again at once.
pub(crate) fn taken<T>(accepted: io::Result<T>) -> Option<T> {
    let is_fault = |error: &io::Error| error.kind() != ErrorKind::WouldBlock;
    if accepted.as_ref().is_err_and(is_fault) {
        thread::sleep(PAUSE);
    }
    accepted.ok()
}

impl Drop for Socket {
    fn drop(&mut self) {
        let found = fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| found.ino() == self.inode) {
            // A path that cannot be removed is replaced by the next server.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_servers_replaces_a_stale_socket() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("s");
        for _ in 0..50 {
            drop(UnixListener::bind(&path).expect("the path is unused"));
            let bound: Vec<_> = thread::scope(|scope| {
                let servers: Vec<_> = (0..4)
                    .map(|_| scope.spawn(|| Socket::bind(&path)))
                    .collect();
                let results = servers.into_iter().map(thread::ScopedJoinHandle::join);
                results
                    .map(|result| result.expect("no server panics"))
                    .collect()
            });
            assert_eq!(bound.iter().filter(|result| result.is_ok()).count(), 1);
        }
    }
}
