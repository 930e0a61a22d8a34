//! Traces that are read once and played many times.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::trace::Requests;
use crate::{Recordings, Trace, TraceOptions, WorkloadError};

/// Requests of a longer trace are not kept: so many take 80 MB.
const MOST: usize = 2 << 20;
/// Traces that are kept; those used longest ago go first.
const KEPT: usize = 8;

/// What a trace is known by: its files with their sizes and times, and how it is read.
type Key = (Vec<(PathBuf, u64, Option<SystemTime>)>, TraceOptions);

/// Traces and their requests, those used last at the end.
type Known = Vec<(Key, Arc<Requests>)>;

/// The requests of traces that were opened with it, for those who open them again. Copies share them.
#[derive(Clone, Default)]
pub struct Decoded(Arc<Mutex<Known>>);

impl std::fmt::Debug for Decoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decoded")
    }
}

impl Decoded {
    /// Opens a trace as [`Trace::of`] does, with the requests that were read before, or are read now: all
    /// of them, so that what is wrong with one is an error now. `None` if the trace is too long to be
    /// kept, or no file.
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
        let Some(requests) = open()?.decode(MOST)? else {
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

    /// What can be seen of a trace after each request, and beyond its end.
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
    fn a_trace_opened_again_is_as_one_that_is_read() {
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
    fn a_file_that_changes_is_read_anew_and_faults_are_said_at_once() {
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
