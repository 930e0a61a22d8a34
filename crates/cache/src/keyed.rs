//! Memory of hash tables.

/// Returns the bytes of a hash table with space for `keys` entries, as built by the standard
/// library: a power of two of places, of which seven in eight are used, each with an entry and a
/// byte of its hash.
pub fn bytes<T>(keys: u64) -> u64 {
    if keys == 0 {
        return 0;
    }
    let places = (keys.max(3).saturating_mul(8) / 7).next_power_of_two();
    places.saturating_mul(size_of::<T>() as u64 + 1)
}
