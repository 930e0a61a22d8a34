//! Look-ahead: reads requests of a trace before they are needed.

use std::sync::Arc;

use crate::Request;
use crate::record_counts::Counts;

/// Position of the reader in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadPosition {
    pub(crate) counts: Counts,
    /// Bytes read from disk.
    pub(crate) bytes: u64,
    /// Digest of the bytes read.
    pub(crate) digest: u64,
    /// Index of the file of the last request, from 0.
    pub(crate) file: u32,
}

/// Requests that were read ahead, and the position of the reader after each. Clones share them.
#[derive(Clone)]
pub(crate) struct LookAhead {
    requests: Arc<Vec<Request>>,
    returned: usize,
    /// Positions of the reader by number of requests read. A missing entry equals the previous one
    /// plus one record per request.
    marks: Arc<Vec<(usize, ReadPosition)>>,
    /// Index of the mark of the request returned last.
    mark: usize,
}

impl LookAhead {
    /// Creates an empty look-ahead for a trace that has been read up to `start`.
    pub(crate) fn new(start: ReadPosition) -> Self {
        Self {
            requests: Arc::default(),
            returned: 0,
            marks: Arc::new(vec![(0, start)]),
            mark: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Adds a request of file `file`, with the position of the reader after the request. Calls
    /// `digest` only if bytes were read for the request.
    pub(crate) fn push(
        &mut self,
        request: Request,
        counts: Counts,
        (bytes, file): (u64, u32),
        digest: impl FnOnce() -> u64,
    ) {
        Arc::make_mut(&mut self.requests).push(request);
        let Some((at, last)) = self.marks.last() else {
            return;
        };
        let same = bytes == last.bytes;
        if same && file == last.file && counts == grown(last, self.requests.len() - at).counts {
            return;
        }
        let digest = if same { last.digest } else { digest() };
        let position = ReadPosition {
            counts,
            bytes,
            digest,
            file,
        };
        let mark = (self.requests.len(), position);
        Arc::make_mut(&mut self.marks).push(mark);
    }

    /// Returns the next request; `None` if none is left.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Request> {
        let next = *self.requests.get(self.returned)?;
        self.returned += 1;
        if self
            .marks
            .get(self.mark + 1)
            .is_some_and(|(at, _)| *at == self.returned)
        {
            self.mark += 1;
        }
        Some(next)
    }

    /// Returns the position of the reader after the request returned last.
    pub(crate) fn position(&self) -> ReadPosition {
        let (at, last) = self.marks.get(self.mark).copied().unwrap_or_default();
        grown(&last, self.returned - at)
    }
}

/// Returns a position advanced by a number of requests, each of one record.
fn grown(position: &ReadPosition, requests: usize) -> ReadPosition {
    let mut grown = *position;
    grown.counts.records += requests as u64;
    grown
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::{OnBadLine, Request, Source, TimeOrder, Trace, TraceOptions};

    /// Returns the observable state of a trace after each request, up to two requests beyond its
    /// end.
    fn seen(mut trace: Trace) -> Vec<(Option<Request>, String)> {
        let mut after = |_| {
            let next = trace.next_request().unwrap();
            let skipped = trace.first_skipped().map(ToString::to_string);
            let state = (trace.counts(), trace.digest(), trace.fraction(), skipped);
            (next, format!("{state:?}"))
        };
        (0..20_003).map(&mut after).collect()
    }

    #[test]
    fn look_ahead_does_not_change_requests() {
        // The lines are read in several chunks. Some are late, a few are bad.
        let mut lines = "time_ns,op,offset_bytes,size_bytes,volume\n".to_owned();
        for request in 0..20_000_u64 {
            let time = request ^ u64::from(request.is_multiple_of(97));
            writeln!(lines, "{time},write,{},512,0", request * 512).unwrap();
            if request % 7_001 == 3 {
                lines += "7,erase,0,512,0\n";
            }
        }
        let options = TraceOptions {
            on_bad_line: OnBadLine::Skip,
            time_order: TimeOrder::Clamp,
            ..TraceOptions::default()
        };
        let open = || Trace::from_bytes("lines", lines.as_bytes(), &options).unwrap();
        let plain = seen(open());
        assert_ne!(plain[0].1, plain[20_000].1);
        for ahead in [0, 1, 15_000, 20_000, 30_000] {
            assert!(seen(open().read_ahead(ahead).unwrap()) == plain, "{ahead}");
        }
    }

    #[test]
    fn error_within_the_look_ahead_is_reported_when_reading_ahead() {
        let lines = "time_ns,op,offset_bytes,size_bytes,volume\n0,write,0,512,0\n7,erase,0,512,0\n";
        let open =
            || Trace::from_bytes("lines", lines.as_bytes(), &TraceOptions::default()).unwrap();
        assert!(open().read_ahead(1).is_ok());
        let fault = open().read_ahead(2).err().map(|fault| fault.to_string());
        assert!(fault.is_some_and(|fault| fault.contains("lines:3")));
    }
}
