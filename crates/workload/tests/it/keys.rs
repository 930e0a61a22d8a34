//! Traces of keys: the fast reader and the general reader must return the same keys.
#![allow(clippy::unwrap_used, clippy::panic)] // in helpers of the tests

use std::path::PathBuf;

use wordline_kernel::Rng;
use wordline_workload::{Format, KeyTrace, OnBadLine, Source, Trace, TraceOptions};

const PAGE: u64 = 4096;

/// File that is removed at the end of the test.
struct File(PathBuf);

impl File {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let name = format!("wordline-keys-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn drawn(count: usize, below: u64) -> Vec<u64> {
    let mut stream = Rng::new(7, "keys");
    (0..count).map(|_| stream.below(below)).collect()
}

/// Returns the keys as a file of each format.
fn written(keys: &[u64]) -> Vec<(Format, Vec<u8>)> {
    let narrow = keys.iter().flat_map(|&key| (key as u32).to_le_bytes());
    let wide = keys.iter().flat_map(|key| key.to_le_bytes());
    let record = |(index, key): (usize, &u64)| {
        let mut bytes = (index as u32).to_le_bytes().to_vec();
        bytes.extend(key.to_le_bytes());
        bytes.extend(4096_u32.to_le_bytes());
        bytes.extend((-1_i64).to_le_bytes());
        bytes
    };
    vec![
        (Format::Keys32le, narrow.collect()),
        (Format::Keys64le, wide.collect()),
        (
            Format::OracleGeneral,
            keys.iter().enumerate().flat_map(record).collect(),
        ),
    ]
}

fn fast(paths: &[&PathBuf], options: &TraceOptions) -> Vec<u64> {
    let mut trace = KeyTrace::open(paths, options).unwrap().unwrap();
    let mut all = Vec::new();
    loop {
        let keys = trace.next_keys().unwrap();
        if keys.is_empty() {
            return all;
        }
        all.extend_from_slice(keys);
    }
}

fn slow(path: &PathBuf, options: &TraceOptions) -> Vec<u64> {
    let mut trace = Trace::open(&[path], options).unwrap();
    let next = || trace.next_request().unwrap();
    std::iter::from_fn(next)
        .map(|request| request.offset / PAGE)
        .collect()
}

#[test]
fn both_readers_return_the_same_keys() {
    let keys = drawn(100_000, 1 << 20);
    let options = TraceOptions::default();
    for (format, bytes) in written(&keys) {
        let file = File::new(format.name(), &bytes);
        let trace = KeyTrace::open(&[&file.0], &options).unwrap().unwrap();
        assert_eq!(trace.files()[0].format, format);
        assert_eq!(fast(&[&file.0], &options), keys, "{format}");
        assert_eq!(slow(&file.0, &options), keys, "{format}");
        let twice = fast(&[&file.0, &file.0], &options);
        assert_eq!(twice, [&keys[..], &keys[..]].concat(), "{format}");
    }
}

#[test]
fn keys_can_be_any_64_bit_number() {
    let keys: Vec<u64> = drawn(5000, 1 << 20)
        .into_iter()
        .map(wordline_kernel::random::splitmix)
        .collect();
    for (format, bytes) in written(&keys).split_off(1) {
        let file = File::new(&format!("hashes-{format}"), &bytes);
        let options = TraceOptions {
            format: Some(format),
            ..TraceOptions::default()
        };
        assert_eq!(fast(&[&file.0], &options), keys, "{format}");
    }
}

#[test]
fn truncated_end_is_an_error_or_skipped() {
    let keys = drawn(30_000, 1 << 20);
    for (format, bytes) in written(&keys) {
        let file = File::new(&format!("torn-{format}"), &bytes[..bytes.len() - 1]);
        let mut options = TraceOptions {
            format: Some(format),
            ..TraceOptions::default()
        };
        let mut trace = KeyTrace::open(&[&file.0], &options).unwrap().unwrap();
        let error = loop {
            match trace.next_keys() {
                Ok([]) => panic!("{format}: no error"),
                Ok(_) => {}
                Err(error) => break error.to_string(),
            }
        };
        let length = bytes.len() / keys.len();
        let told = format!(
            ": record 30000 at byte {}: the file ends {} bytes into a record of {length} bytes; \
             download the file again, or pass --on-bad-line skip",
            29_999 * length,
            length - 1
        );
        assert!(error.ends_with(&told), "{error}");
        options.on_bad_line = OnBadLine::Skip;
        assert_eq!(fast(&[&file.0], &options), keys[..29_999], "{format}");
        let mut trace = KeyTrace::open(&[&file.0], &options).unwrap().unwrap();
        while !trace.next_keys().unwrap().is_empty() {}
        let note = format!("1 bad lines were skipped; the first of them: {error}");
        assert_eq!(trace.notes(), [note]);
    }
}

#[test]
fn other_formats_are_not_read_as_keys() {
    let file = File::new("msr", b"128166372003061629,hm,0,Read,4096,512,1\n");
    let trace = KeyTrace::open(&[&file.0], &TraceOptions::default()).unwrap();
    assert!(trace.is_none());
}
