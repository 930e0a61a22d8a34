//! Hit counts on which independent simulators agree exactly.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use crate::zipf;

use wordline_cache::{Replace, Replacement, Replacing, Requests};

/// Cache sizes: 1, 10 and 50 % of the 763,274 distinct keys.
const SIZES: [usize; 3] = [7_632, 76_327, 381_637];

fn hits(policy: &str, requests: &Requests) -> [u64; 3] {
    let policy: Replacement = serde_json::from_str(policy).unwrap();
    SIZES.map(|size| Replacing::new(&policy, size).replay(requests).hits)
}

#[test]
fn zipf_hit_counts_equal_those_of_other_simulators() {
    let requests = Requests::from_keys(zipf::keys(10_000_000)).unwrap();
    assert_eq!(requests.footprint(), 763_274);
    let expected = [
        (r#""lru""#, [5_632_348, 7_538_588, 8_889_420]),
        (r#""fifo""#, [5_281_005, 7_231_162, 8_711_632]),
        (r#""arc""#, [6_417_156, 7_927_995, 8_943_724]),
        (
            r#"{"arc": {"p": "integer"}}"#,
            [6_417_156, 7_927_876, 8_942_080],
        ),
    ];
    for (policy, expected) in expected {
        assert_eq!(hits(policy, &requests), expected, "{policy}");
    }
}
