//! Tests of policy runs over traces: page requests, sizes, policies by name, and TRIMs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use tempfile::TempDir;
use wordline_cachesim::{
    CacheError, Methods, Pages, Paging, Progress, Size, choose, curve_table, mrc, run_table,
};
use wordline_kernel::Rng;
use wordline_workload::{Recordings, TraceOptions};

const HEADER: &str = "time_ns,op,offset_bytes,size_bytes,volume\n";

/// Writes a trace in Wordline's own format. Returns its path.
fn written(folder: &TempDir, lines: &str) -> PathBuf {
    let path = folder.path().join("trace.csv");
    std::fs::write(&path, format!("{HEADER}{lines}")).unwrap();
    path
}

fn paging(path: PathBuf) -> Paging {
    Paging {
        recordings: Recordings::default(),
        paths: vec![path],
        trace: TraceOptions::as_recorded(),
        page_bytes: 4096,
        max_requests: None,
        leading: 0,
    }
}

fn taken(lines: &str) -> Result<Pages, CacheError> {
    let folder = TempDir::new().unwrap();
    Pages::read(&paging(written(&folder, lines)), &mut |_| true)
}

fn sizes(size: &str) -> Result<Size, String> {
    size.parse().map_err(|error: CacheError| error.to_string())
}

fn refusal(policy: &str) -> String {
    choose([policy]).unwrap_err().to_string()
}

#[test]
fn sizes_are_parsed_with_their_units() {
    let of = |text: &str| sizes(text).unwrap().pages(4096, 763_274).unwrap();
    assert_eq!(of("4096p"), 4096);
    assert_eq!(of("64MiB"), 16_384);
    assert_eq!(of("64mib"), 16_384);
    assert_eq!(of("1GB"), 244_140);
    assert_eq!(of("0.5 GiB"), 131_072);
    assert_eq!(of("0.01"), 7_632);
    assert_eq!(of("1%"), 7_632);
    assert_eq!(of("50%"), 381_637);
    assert_eq!(of("1.0"), 763_274);
    assert_eq!(
        of("0.0000001"),
        1,
        "a share is rounded up to at least one page"
    );
}

#[test]
fn invalid_sizes_are_rejected_with_a_remedy() {
    let remedy = "give pages (4096p), bytes (64MiB, 1GB) or a share of the distinct pages \
                  (0.01, 1%)";
    for (text, reason) in [
        ("4096", "the unit is missing"),
        ("1", "the unit is missing"),
        ("p", "the size does not begin with a number"),
        ("", "the size does not begin with a number"),
        ("-1p", "the size does not begin with a number"),
        ("1.2.3", "the size does not begin with a number"),
        ("0p", "the size is 0"),
        ("0.0", "the size is 0"),
        ("1.5", "the share is above 1 (100 %)"),
        ("101%", "the share is above 1 (100 %)"),
        ("1.5p", "the number of pages is not whole"),
        ("3 parsecs", "unknown unit `parsecs`"),
        ("99999999999999999999p", "the size is too large"),
        ("9999999TiB", "the size is too large"),
    ] {
        let said = sizes(text).unwrap_err();
        assert_eq!(said, format!("size `{text}`: {reason}; {remedy}"));
    }
    let small = sizes("4095B").unwrap().pages(4096, 10).unwrap_err();
    assert!(
        small.to_string().contains("the cache is smaller"),
        "{small}"
    );
    assert!(sizes("5000000000p").unwrap().pages(4096, 10).is_err());
}

#[test]
fn policies_are_parsed_with_their_parameters() {
    let names = |list: &[&str]| -> Vec<String> {
        let chosen = choose(list.iter().copied()).unwrap();
        chosen.into_iter().map(|one| one.label).collect()
    };
    assert_eq!(
        names(&["lru", "arc:p=integer", "lru"]),
        ["lru", "arc:p=integer"]
    );
    let all = names(&["all"]);
    for name in ["lru", "fifo", "arc", "belady", "unbounded", "cflru"] {
        assert!(all.iter().any(|other| other == name), "{name}");
    }
    for name in ["gcar-cflru", "lcr"] {
        assert!(!all.iter().any(|other| other == name), "{name}");
    }
    let chosen = choose(["two-q:in_ratio=0.3:out_ratio=0.6", "lfu:aging=true"]).unwrap();
    assert!(format!("{:?}", chosen[0].policy).contains("in_ratio: 0.3, out_ratio: 0.6"));
}

#[test]
fn invalid_policies_are_rejected_with_a_remedy() {
    let said = refusal("lrz");
    assert!(
        said.starts_with("policy `lrz`: unknown policy; did you mean lru? Known policies: lru,")
    );
    assert!(refusal("1%").contains("this is a size; put a policy before the size"));
    assert!(refusal("zzzzzz").contains("; known policies: lru, fifo,"));
    assert_eq!(
        refusal("arc:q=1"),
        "arc:q=1: unknown parameter `q`; use a parameter of arc: p"
    );
    assert_eq!(
        refusal("lru:p=1"),
        "lru:p=1: unknown parameter `p`; remove it, because lru has no parameters"
    );
    assert_eq!(
        refusal("arc:p=half"),
        "arc:p=half: `half` is not a valid value of p; give one of real, integer"
    );
    assert_eq!(
        refusal("cflru:window_ratio=2"),
        "cflru:window_ratio=2: `2` is not a valid value of window_ratio; give a number from 0 to 1"
    );
    assert_eq!(
        refusal("arc:integer"),
        "arc:integer: `integer` is not a parameter; write arc:PARAMETER=VALUE, such as arc:p=integer"
    );
    for name in ["gcar-cflru", "lcr"] {
        let said = refusal(name);
        assert!(
            said.contains("the policy needs the state of the flash"),
            "{said}"
        );
        assert!(
            said.contains(&format!("buffer.replacement={name}")),
            "{said}"
        );
    }
}

#[test]
fn requests_are_split_into_pages() {
    let lines = "0,read,0,4096,0\n1,write,4095,2,0\n2,read,8191,1,1\n3,read,4096,12288,0\n\
                 4,flush,0,0,0\n5,write,4096,4096,0\n";
    let pages = taken(lines).unwrap();
    let input = &pages.input;
    assert_eq!((input.requests, input.reads, input.writes), (5, 3, 2));
    assert_eq!((input.page_reads, input.page_writes), (5, 3));
    assert_eq!(input.flushes_ignored, 1);
    assert_eq!(
        pages.footprint(),
        5,
        "pages 0 to 3 of a volume, and page 1 of another"
    );
    let chosen = choose(["unbounded"]).unwrap();
    let run = pages.run(&chosen[0], 1);
    // Read 0; write 0 and 1; read 1 of the other volume; read 1, 2, 3; write 1.
    assert_eq!((run.requests, run.hits), (8, 3));
    assert_eq!((run.read_hits, run.write_hits), (1, 2));
    assert_eq!(run.read_miss_ratio, Some(0.8));
    assert_eq!(run.write_miss_ratio, Some(1.0 / 3.0));
}

#[test]
fn pages_can_be_larger_than_4_kib() {
    let folder = TempDir::new().unwrap();
    let mut paging = paging(written(&folder, "0,read,0,4096,0\n1,read,4096,8192,0\n"));
    paging.page_bytes = 8192;
    let pages = Pages::read(&paging, &mut |_| true).unwrap();
    assert_eq!((pages.input.page_requests, pages.footprint()), (3, 2));
    paging.max_requests = Some(1);
    let pages = Pages::read(&paging, &mut |_| true).unwrap();
    assert_eq!(pages.input.requests, 1);
}

/// Runs a naive implementation of LRU with TRIMs. Returns read hits, write hits, evictions and
/// write-backs.
fn by_hand(requests: &[(char, u64, u64)], capacity: usize) -> (u64, u64, u64, u64) {
    let mut cache: Vec<u64> = Vec::new();
    let mut dirty = BTreeSet::new();
    let (mut reads, mut writes, mut evictions, mut back) = (0, 0, 0, 0);
    for &(op, first, count) in requests {
        for page in first..first + count {
            let place = cache.iter().position(|&other| other == page);
            if let Some(place) = place {
                cache.remove(place);
            }
            if op == 't' {
                dirty.remove(&page);
                continue;
            }
            let hit = u64::from(place.is_some());
            if place.is_none() && cache.len() == capacity {
                let oldest = cache.remove(0);
                evictions += 1;
                back += u64::from(dirty.remove(&oldest));
            }
            cache.push(page);
            if op == 'w' {
                writes += hit;
                dirty.insert(page);
            } else {
                reads += hit;
            }
        }
    }
    (reads, writes, evictions, back)
}

#[test]
fn lru_with_trims_matches_a_naive_implementation() {
    let mut draw = Rng::new(3, "trims");
    let chosen = choose(["lru"]).unwrap();
    for trims in [false, true] {
        let requests: Vec<(char, u64, u64)> = (0..4000)
            .map(|_| {
                let ops = if trims { 10 } else { 9 };
                let op =
                    ['r', 'r', 'r', 'r', 'r', 'w', 'w', 'w', 'w', 't'][draw.below(ops) as usize];
                (op, draw.below(200), 1 + draw.below(4))
            })
            .collect();
        let mut lines = String::new();
        for (time, (op, first, count)) in requests.iter().enumerate() {
            let word = match op {
                'r' => "read",
                'w' => "write",
                _ => "trim",
            };
            let (offset, bytes) = (first * 4096, count * 4096);
            writeln!(lines, "{time},{word},{offset},{bytes},0").unwrap();
        }
        let pages = taken(&lines).unwrap();
        assert_eq!(pages.input.trims > 0, trims);
        for size in [1, 2, 7, 50, 150, 203, 1000] {
            let run = pages.run(&chosen[0], size);
            let found = (
                run.read_hits,
                run.write_hits,
                run.evictions,
                run.write_backs,
            );
            assert_eq!(found, by_hand(&requests, size as usize), "{size}");
        }
    }
}

/// Belady's policy prefers to evict a page that is trimmed before its next request.
#[test]
fn belady_evicts_pages_that_are_trimmed_before_their_next_request() {
    // With room for two pages: page 0 is trimmed before it is read again; pages 1 and 2 are not
    // trimmed.
    let lines = "0,read,0,4096,0\n1,read,4096,4096,0\n2,read,8192,4096,0\n3,trim,0,4096,0\n\
                 4,read,0,4096,0\n5,read,4096,4096,0\n6,read,8192,4096,0\n";
    let pages = taken(lines).unwrap();
    let run = |name: &str| pages.run(&choose([name]).unwrap()[0], 2).hits;
    // The third read evicts page 0. The next read of page 0 evicts page 2, whose next request is
    // the last one. Only page 1 hits.
    assert_eq!(run("belady"), 1);
    assert_eq!(run("lru"), 0);
}

#[test]
fn partially_covered_pages_are_not_trimmed() {
    let lines =
        "0,write,0,8192,0\n1,trim,1,8190,0\n2,read,0,8192,0\n3,trim,0,18446744073709551615,0\n";
    let pages = taken(lines).unwrap();
    assert_eq!((pages.input.trims, pages.input.pages_trimmed), (2, 2));
    assert_eq!(pages.run(&choose(["lru"]).unwrap()[0], 10).hits, 2);
}

#[test]
fn repeated_trims_of_a_page_count_once() {
    let lines = "0,trim,0,4096,0\n1,write,0,8192,0\n2,trim,0,4096,0\n3,trim,0,4096,0\n\
                 4,read,4096,4096,0\n5,trim,0,8192,0\n6,read,0,4096,0\n7,trim,0,8192,0\n";
    let pages = taken(lines).unwrap();
    // TRIMs take effect on pages 0, 1 and 0; the other pages had been trimmed already.
    assert_eq!((pages.input.trims, pages.input.pages_trimmed), (5, 3));
}

#[test]
fn unusable_traces_are_rejected_with_a_reason() {
    let said = |lines: &str| taken(lines).unwrap_err().to_string();
    assert!(
        said("0,flush,0,0,0\n")
            .ends_with("the trace has neither reads nor writes; choose another trace")
    );
    let long = said("0,read,0,8589934592,0\n");
    assert!(
        long.contains("the request at byte 0 covers 2097152 pages, and at most 2^20 are supported; use larger pages"),
        "{long}"
    );
    let far = said("0,read,1152921504606846976,512,0\n");
    assert!(
        far.contains("is beyond the 2^44 pages that are supported"),
        "{far}"
    );
}

#[test]
fn progress_callback_can_stop_reading_the_trace() {
    let folder = TempDir::new().unwrap();
    let mut lines = String::new();
    for time in 0..100_000 {
        writeln!(lines, "{time},read,{},4096,0", time % 977 * 4096).unwrap();
    }
    let paging = paging(written(&folder, &lines));
    let mut seen: Vec<Progress> = Vec::new();
    let ended = Pages::read(&paging, &mut |now| {
        seen.push(now);
        seen.len() < 3
    });
    assert!(matches!(ended, Err(CacheError::Interrupted)));
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|now| now.requests < 100_000));
    let methods = Methods {
        exact: true,
        ..Methods::default()
    };
    let ended = mrc(&paging, &methods, &mut |now| now.phase.name() == "read");
    assert!(matches!(ended, Err(CacheError::Interrupted)));
}

/// The exact curve, and those of samples of all pages, have the hits of LRU, including writes.
#[test]
fn curves_equal_lru_at_the_requested_sizes() {
    let folder = TempDir::new().unwrap();
    let mut draw = Rng::new(9, "curve");
    let mut lines = String::new();
    for time in 0..5000 {
        let op = if draw.below(3) == 0 { "write" } else { "read" };
        let page = draw.below(30) * draw.below(30);
        let bytes = 512 + draw.below(20_000);
        writeln!(
            lines,
            "{time},{op},{},{bytes},{}",
            page * 4096,
            draw.below(2)
        )
        .unwrap();
    }
    let paging = paging(written(&folder, &lines));
    let pages = Pages::read(&paging, &mut |_| true).unwrap();
    let asked = ["1p", "2p", "10p", "100p", "50%", "100%"];
    let methods = Methods {
        exact: true,
        aet: true,
        shards_rate: Some(1.0),
        shards_pages: Some(1 << 20),
        hashes: 3,
        seed: 1,
        sizes: asked.iter().map(|size| size.parse().unwrap()).collect(),
    };
    let found = mrc(&paging, &methods, &mut |_| true).unwrap();
    let lru = &choose(["lru"]).unwrap()[0];
    for curve in found.curves.iter().filter(|curve| curve.method != "AET") {
        for at in &curve.sizes {
            assert_eq!(
                at.hits,
                pages.run(lru, at.size_pages).hits,
                "{}",
                curve.method
            );
        }
    }
    assert_eq!(found.curves.len(), 4);
    assert_eq!(found.input.distinct_pages, pages.footprint());
    for one in &found.accuracy {
        assert!(one.method == "AET" || one.error_max < 1e-12, "{one:?}");
        assert_eq!(one.error_half_width.is_none(), one.method == "AET");
    }
    // Sampling without the exact curve gives the same result, although it does not number all
    // pages.
    let alone = Methods {
        exact: false,
        aet: false,
        hashes: 0,
        ..methods
    };
    let sampled = mrc(&paging, &alone, &mut |_| true).unwrap();
    assert_eq!(sampled.curves, found.curves[1..3]);
    let points: usize = found.curves.iter().map(|curve| curve.points.len()).sum();
    assert_eq!(curve_table(&found.curves).unwrap().rows(), points);
    assert_eq!(run_table(&[pages.run(lru, 5)]).unwrap().rows(), 1);
}
