//! Tests of flash cache plans: sizes, errors, interruption. The Python tests check the numbers of
//! the plans.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use tempfile::TempDir;
use wordline_cachesim::{
    CacheError, CachePlan, Device, Pages, Paging, Phase, Question, plan_cache, plan_table,
};
use wordline_kernel::Rng;
use wordline_workload::{Recordings, TraceOptions};

fn pages() -> Pages {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("trace.csv");
    let mut lines = "time_ns,op,offset_bytes,size_bytes,volume\n".to_owned();
    let mut random = Rng::new(1, "planning");
    for place in 0..5_000_u64 {
        let page = (random.unit().powi(2) * 6_000.0) as u64;
        let op = if random.below(3) == 0 {
            "write"
        } else {
            "read"
        };
        writeln!(lines, "{},{op},{},4096,0", place * 1_000_000, page * 4096).unwrap();
    }
    std::fs::write(&path, lines).unwrap();
    let paging = Paging {
        recordings: Recordings::default(),
        paths: vec![path],
        trace: TraceOptions::as_recorded(),
        page_bytes: 4096,
        max_requests: None,
        leading: 1 << 20,
    };
    Pages::read(&paging, &mut |_| true).unwrap()
}

fn device(name: &str) -> Device {
    Device {
        name: name.to_owned(),
        text: wordline_config::presets::text(name).unwrap().to_owned(),
        overrides: Vec::new(),
    }
}

fn question(sizes: &[&str]) -> Question {
    Question {
        flash: device("opfcl-small"),
        disk: device("disk-average"),
        sizes: sizes.iter().map(|size| size.parse().unwrap()).collect(),
        rate: 1.0,
        seed: 1,
        steps: 20,
    }
}

fn plan(question: &Question) -> Result<CachePlan, CacheError> {
    plan_cache(&pages(), question, &mut |_| true)
}

#[test]
fn flash_sizes_are_rounded_to_whole_blocks_and_merged_if_equal() {
    let found = plan(&question(&["5000p", "1%", "2%", "32MiB", "8192p"])).unwrap();
    let of = |size: &wordline_cachesim::OfSize| (size.flash_pages, size.asked.join(" "));
    let sizes: Vec<(u64, String)> = found.sizes.iter().map(of).collect();
    let expected = [(64 * 64, "1% 2%"), (5_056, "5000p"), (8_192, "32MiB 8192p")];
    assert_eq!(
        sizes,
        expected.map(|(pages, asked)| (pages, asked.to_owned()))
    );
    for size in &found.sizes {
        for answer in &size.answers {
            let cached = answer.read_pages.unwrap_or(0) + answer.write_pages;
            assert!(cached < size.flash_pages, "{answer:?}");
        }
    }
    assert_eq!(plan_table(&found).unwrap().rows(), 15);
}

#[test]
fn variable_division_costs_no_more_than_a_fixed_one() {
    for size in plan(&question(&["16MiB", "24MiB"])).unwrap().sizes {
        let cost = |policy: &str| {
            let mut answers = size.answers.iter();
            answers
                .find(|answer| answer.policy == policy)
                .unwrap()
                .page_us
        };
        assert!(cost("unified-best") <= cost("unified"));
        assert!(cost("op-fcl") <= cost("rw-fcl"));
    }
}

#[test]
fn impossible_plans_are_rejected_with_a_reason() {
    let of = |change: fn(&mut Question)| {
        let mut question = question(&["16MiB"]);
        change(&mut question);
        plan(&question).unwrap_err().to_string()
    };
    assert!(
        of(|asked| asked.flash = device("nearline-7200"))
            .contains("this is neither an SSD nor a flash cache in front of a disk")
    );
    assert!(
        of(|asked| asked.disk = device("d4"))
            .contains("this is neither a hard disk nor a flash cache in front of one")
    );
    assert!(of(|asked| asked.rate = 0.001).contains("increase `rate`"));
    assert!(of(|asked| asked.sizes = vec!["1p".parse().unwrap()]).contains("at least 64 blocks"));
    assert!(of(|asked| asked.rate = 2.0).contains("out of range"));
    assert!(of(|asked| asked.flash = device("consumer-tlc")).contains("has pages of 16384 bytes"));
}

#[test]
fn plan_can_be_interrupted() {
    let mut heard = Vec::new();
    let ended = plan_cache(&pages(), &question(&["16MiB"]), &mut |now| {
        heard.push(now);
        heard.len() < 3
    });
    assert!(matches!(ended, Err(CacheError::Interrupted)));
    assert!(heard.iter().all(|now| now.phase == Phase::Plan));
    assert!(heard.is_sorted_by_key(|now| (now.fraction.unwrap() * 1e9) as u64));
}
