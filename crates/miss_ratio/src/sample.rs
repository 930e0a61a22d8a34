//! Samples keys by their hash.

use std::error::Error;
use std::fmt;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_kernel::random::splitmix;

use wordline_cache::Entry;
use wordline_cache::keyed;

/// Share of the keys that is sampled: above 0, at most 1.
#[derive(Copy, Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Rate(f64);

/// Error: the number is not a sampling rate.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RateError(f64);

impl Rate {
    /// Rate of a sample of all keys.
    pub const ALL: Self = Self(1.0);

    /// Creates a rate. Fails unless it is above 0 and at most 1.
    pub fn new(rate: f64) -> Result<Self, RateError> {
        if rate > 0.0 && rate <= 1.0 {
            return Ok(Self(rate));
        }
        Err(RateError(rate))
    }
    /// Returns the share, above 0 and at most 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(rate) = self;
        write!(
            f,
            "sampling rate {rate}: out of range; give a number above 0 and at most 1"
        )
    }
}

impl Error for RateError {}

/// Selects the sampled keys, which are those whose hash does not exceed a limit.
///
/// The hash is splitmix64 of the key and a salt of 64 random bits drawn from the seed. It is a
/// bijection, so no two keys share a hash. The seed is not combined with the key directly, because
/// keys are often small numbers: the seed would only permute them, and samples of different seeds
/// would be equal.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sample {
    salt: u64,
    limit: u64,
}

impl Sample {
    pub(super) fn new(rate: Rate, seed: u64) -> Self {
        Self {
            salt: Rng::new(seed, "curve.sample").bits(),
            limit: ((rate.0 * 2.0_f64.powi(64)) as u64).saturating_sub(1),
        }
    }
    /// Returns the share of all hashes that is sampled.
    pub(super) fn rate(self) -> f64 {
        (self.limit as f64 + 1.0) / 2.0_f64.powi(64)
    }
    /// Returns the hash of a key if the key is sampled.
    #[inline]
    pub(super) fn take(self, key: u64) -> Option<u64> {
        let hash = splitmix(key ^ self.salt);
        (hash <= self.limit).then_some(hash)
    }
    /// Excludes `hash` and all higher hashes from the sample.
    pub(super) fn end_below(&mut self, hash: u64) {
        self.limit = hash.saturating_sub(1);
    }
}

/// Assigns small numbers to the sampled keys, which are identified by their hashes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Numbers(FxHashMap<u64, Entry>);

impl Numbers {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
    pub(super) fn bytes(&self) -> u64 {
        keyed::bytes::<(u64, Entry)>(self.0.capacity() as u64)
    }
    /// Returns the number of a hash; assigns the next number if the hash has none.
    #[inline]
    pub(super) fn of(&mut self, hash: u64) -> Entry {
        let next = Entry(self.0.len() as u32);
        *self.0.entry(hash).or_insert(next)
    }
    pub(super) fn get(&self, hash: u64) -> Option<Entry> {
        self.0.get(&hash).copied()
    }
    pub(super) fn insert(&mut self, hash: u64, entry: Entry) {
        self.0.insert(hash, entry);
    }
    pub(super) fn remove(&mut self, hash: u64) {
        self.0.remove(&hash);
    }
}
