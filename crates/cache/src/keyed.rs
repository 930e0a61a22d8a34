//! Memory of hash tables.

/// Returns the memory, in bytes, of a hash table of the standard library with space for `keys`
/// entries. The number of slots is a power of two, of which at most seven in eight are used. A slot
/// holds an entry and one byte of its hash.
pub fn bytes<T>(keys: u64) -> u64 {
    if keys == 0 {
        return 0;
    }
    let places = (keys.max(3).saturating_mul(8) / 7).next_power_of_two();
    places.saturating_mul(size_of::<T>() as u64 + 1)
}
