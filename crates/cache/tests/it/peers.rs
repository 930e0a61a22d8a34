//! Hit counts of libCacheSim 0.3.5 on a reproducible trace.
//!
//! Policies that differ from their papers in libCacheSim are left out. Its S3-FIFO admits to the
//! main queue until the cache is full for the first time. Its LIRS also demotes a LIR entry at a
//! hit of a HIR entry outside the stack, and bounds the whole stack by twice the capacity. Its
//! LFU-DA adds the smallest rank to the rank instead of to the count.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use crate::zipf;

use wordline_cache::{Replace, Replacement, Replacing, Requests};

const CAPACITIES: [usize; 3] = [300, 3_000, 30_000];

fn hits(policy: &str, requests: &Requests) -> [u64; 3] {
    let policy: Replacement = serde_json::from_str(policy).unwrap();
    CAPACITIES.map(|capacity| Replacing::new(&policy, capacity).replay(requests).hits)
}

#[test]
fn hit_counts_of_a_million_requests_match_libcachesim() {
    let requests = Requests::from_keys(zipf::keys(1_000_000)).unwrap();
    let expected = [
        (r#""lru""#, [310_363, 488_818, 669_840]),
        (r#""fifo""#, [274_553, 452_996, 638_546]),
        (r#""clock""#, [321_461, 498_801, 677_488]),
        (r#""arc""#, [419_458, 573_865, 708_290]),
        (r#""sieve""#, [423_856, 567_497, 701_506]),
        (r#""two-q""#, [405_959, 560_296, 688_099]),
        (r#""lfu""#, [418_581, 567_427, 701_506]),
        (r#""belady""#, [474_020, 632_470, 765_830]),
    ];
    for (policy, expected) in expected {
        assert_eq!(hits(policy, &requests), expected, "{policy}");
    }
}
