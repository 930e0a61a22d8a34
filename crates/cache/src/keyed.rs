//! What a hash table takes of memory.

/// Bytes of a table with room for `keys` entries: a power of two of places of which seven in eight are
/// used, each an entry and a byte of its hash, as the standard library builds them.
pub fn bytes<T>(keys: u64) -> u64 {
    if keys == 0 {
        return 0;
    }
    let places = (keys.max(3).saturating_mul(8) / 7).next_power_of_two();
    places.saturating_mul(size_of::<T>() as u64 + 1)
}
