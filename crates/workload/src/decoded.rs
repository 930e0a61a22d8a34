//! Cache of decoded traces, so that a trace is read once and replayed many times.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::trace::Requests;
use crate::{Recordings, Trace, TraceOptions, WorkloadError};

/// Maximum number of requests of a cached trace. They take 64 MiB.
const MAX_REQUESTS: usize = 2 << 20;
/// Maximum number of cached traces. The least recently used one is evicted.
const KEPT: usize = 8;

/// Identity of a trace: its files with their sizes and modification times, and the options for
/// reading them.
type Key = (Vec<(PathBuf, u64, Option<SystemTime>)>, TraceOptions);

/// Cached traces with their requests, the most recently used last.
type Known = Vec<(Key, Arc<Requests>)>;

/// Cache of decoded requests for traces that are opened several times. Clones share the cache.
#[derive(Clone, Default)]
pub struct Decoded(Arc<Mutex<Known>>);

impl std::fmt::Debug for Decoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decoded")
    }
}

impl Decoded {
    /// Opens a trace as [`Trace::of`] does. Takes its requests from the cache, or reads all of them
    /// now, so that a bad request is an error now. Returns `None` if the trace is too long for the
    /// cache, or is not in files.
    pub fn open(
        &self,
        recordings: &Recordings,
        paths: &[PathBuf],
        options: &TraceOptions,
    ) -> Result<Option<Trace>, WorkloadError> {
        let Some(key) = key(paths, options) else {
            return Ok(None);
        };
        let open = || Trace::of(recordings, paths, options);
        if let Some(known) = self.find(&key) {
            return Ok(Some(open()?.with(&known)));
        }
        let Some(requests) = open()?.decode(MAX_REQUESTS)? else {
            return Ok(None);
        };
        let requests = Arc::new(requests);
        self.keep(key, Arc::clone(&requests));
        Ok(Some(open()?.with(&requests)))
    }

    fn find(&self, key: &Key) -> Option<Arc<Requests>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.iter().position(|(one, _)| one == key)?;
        let found = known.remove(place);
        let requests = Arc::clone(&found.1);
        known.push(found);
        Some(requests)
    }

    fn keep(&self, key: Key, requests: Arc<Requests>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == KEPT {
            known.remove(0);
        }
        known.push((key, requests));
    }
}

fn key(paths: &[PathBuf], options: &TraceOptions) -> Option<Key> {
    let file = |path: &PathBuf| {
        let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((path.clone(), metadata.len(), metadata.modified().ok()))
    };
    let files = paths.iter().map(file).collect::<Option<_>>()?;
    Some((files, options.clone()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{OnBadLine, Source};

    /// Returns the observable state of a trace after each request and beyond its end.
    fn seen(mut trace: Trace) -> Vec<String> {
        let mut after = |_| {
            let next = trace.next_request().unwrap();
            let skipped = trace.first_skipped().map(ToString::to_string);
            format!(
                "{next:?} {:?} {} {:?} {skipped:?}",
                trace.counts(),
                trace.digest(),
                trace.fraction()
            )
        };
        (0..5_003).map(&mut after).collect()
    }

    fn lines(bad: &str) -> String {
        let head = "time_ns,op,offset_bytes,size_bytes,volume\n".to_owned();
        (0..5_000).fold(head, |text, n| {
            format!(
                "{text}{n},write,{},512,0\n{}",
                n * 512,
                if n % 999 == 3 { bad } else { "" }
            )
        })
    }

    #[test]
    fn trace_from_the_cache_equals_the_trace_read_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, lines("7,erase,0,512,0\n")).unwrap();
        let options = TraceOptions {
            on_bad_line: OnBadLine::Skip,
            ..TraceOptions::default()
        };
        let plain = seen(Trace::open(&[&path], &options).unwrap());
        let decoded = Decoded::default();
        for _ in 0..3 {
            let again = decoded.open(
                &Recordings::default(),
                std::slice::from_ref(&path),
                &options,
            );
            assert!(seen(again.unwrap().unwrap()) == plain);
        }
    }

    #[test]
    fn changed_file_is_read_again_and_its_errors_are_reported_on_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let decoded = Decoded::default();
        let open = || {
            decoded.open(
                &Recordings::default(),
                std::slice::from_ref(&path),
                &TraceOptions::default(),
            )
        };
        std::fs::write(&path, lines("")).unwrap();
        assert!(open().unwrap().is_some());
        std::fs::write(&path, lines("7,erase,0,512,0\n")).unwrap();
        let fault = open().err().map(|fault| fault.to_string());
        assert!(fault.is_some_and(|fault| fault.contains("a.csv:6")));
    }
}
