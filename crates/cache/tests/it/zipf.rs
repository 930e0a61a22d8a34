//! Reproducible trace over 1,000,000 keys, numbered from 1. Key i has a probability proportional to
//! 1/i.

/// Performs one step of splitmix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the first `count` keys of the trace.
pub fn keys(count: usize) -> Vec<u64> {
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=1_000_000_u32)
        .map(|i| {
            sum += 1.0 / f64::from(i);
            sum
        })
        .collect();
    let mut state = 42;
    let draw = |_| {
        let unit = (next(&mut state) >> 11) as f64 / (1_u64 << 53) as f64;
        1 + sums.partition_point(|&below| below <= unit * sum) as u64
    };
    (0..count).map(draw).collect()
}
