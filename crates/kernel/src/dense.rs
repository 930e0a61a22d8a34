//! Serialisation of dense tables: untouched parts take no space in a checkpoint, and stay untouched
//! when the checkpoint is read.
//!
//! Apply it with `#[serde(with = "wordline_kernel::dense")]` to a `Vec` of plain words that starts
//! as zeroes. The format consists of the length of the table and its non-zero stretches, as bytes
//! in native order.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeTuple};
use serde::{Deserializer, Serialize, Serializer};

/// Size of the pieces that are written or omitted as a whole. Bytes.
const CHUNK: usize = 1 << 14;
/// Maximum size of a stretch, because a stream reader buffers one stretch at a time. Bytes.
const LONGEST: usize = 1 << 20;

/// Serialises the length of a table, then its non-zero stretches.
pub fn serialize<S: Serializer, T: Pod>(table: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    let mut all = serializer.serialize_tuple(2)?;
    all.serialize_element(&(table.len() as u64))?;
    all.serialize_element(&Stretches(cast_slice(table)))?;
    all.end()
}

/// Non-zero stretches of a table, given as bytes.
struct Stretches<'a>(&'a [u8]);

impl Serialize for Stretches<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stretches = stretches(self.0);
        let mut all = serializer.serialize_seq(Some(stretches.len()))?;
        for Range { start, end } in stretches {
            all.serialize_element(&Stretch(start, &self.0[start..end]))?;
        }
        all.end()
    }
}

/// Returns the non-zero stretches of a table. Not generic, so that it is compiled in this crate,
/// which is optimised; the crate that writes states is not.
fn stretches(table: &[u8]) -> Vec<Range<usize>> {
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut used = false;
    for (place, chunk) in table.chunks(CHUNK).enumerate() {
        let is_used = chunk.iter().any(|&byte| byte != 0);
        let start = place * CHUNK;
        let end = start + chunk.len();
        match stretches.last_mut() {
            Some(last) if used && is_used && start - last.start < LONGEST => last.end = end,
            _ if is_used => stretches.push(start..end),
            _ => {}
        }
        used = is_used;
    }
    stretches
}

/// Start of a stretch in bytes, and its bytes.
struct Stretch<'a>(usize, &'a [u8]);

impl Serialize for Stretch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_tuple(2)?;
        all.serialize_element(&(self.0 as u64))?;
        all.serialize_element(&Bytes(self.1))?;
        all.end()
    }
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Deserialises a table that [`serialize`] wrote.
pub fn deserialize<'de, D: Deserializer<'de>, T: Pod>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_tuple(2, Whole(PhantomData))
}

struct Whole<T>(PhantomData<T>);

impl<'de, T: Pod> Visitor<'de> for Whole<T> {
    type Value = Vec<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the length of a table and its stretches")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<T>, A::Error> {
        let length: u64 = all
            .next_element()?
            .ok_or_else(|| A::Error::missing_field("length"))?;
        let mut table = vec![T::zeroed(); length as usize];
        all.next_element_seed(Into(cast_slice_mut(&mut table)))?
            .ok_or_else(|| A::Error::missing_field("stretches"))?;
        Ok(table)
    }
}

/// Target table of all stretches.
struct Into<'a>(&'a mut [u8]);

impl<'de> DeserializeSeed<'de> for Into<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Into<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stretches of a table")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        while all.next_element_seed(OneInto(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// Target table of one stretch.
struct OneInto<'a>(&'a mut [u8]);

impl<'de> DeserializeSeed<'de> for OneInto<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_tuple(2, self)
    }
}

impl<'de> Visitor<'de> for OneInto<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the start of a stretch of a table, and its bytes")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut both: A) -> Result<(), A::Error> {
        let start: u64 = both
            .next_element()?
            .ok_or_else(|| A::Error::missing_field("start"))?;
        let place = self.0.get_mut(start as usize..).unwrap_or_default();
        both.next_element_seed(BytesInto(place))?
            .ok_or_else(|| A::Error::missing_field("bytes"))
    }
}

/// Slice that receives the bytes of a stretch, from its start.
struct BytesInto<'a>(&'a mut [u8]);

impl<'de> DeserializeSeed<'de> for BytesInto<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_byte_buf(self)
    }
}

impl Visitor<'_> for BytesInto<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} bytes", self.0.len())
    }
    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<(), E> {
        let room = self.0.len();
        let place = self.0.get_mut(..bytes.len());
        place
            .ok_or_else(|| E::invalid_length(bytes.len(), &format!("at most {room}").as_str()))?
            .copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde::{Deserialize, Serialize};

    use crate::Rng;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct State {
        #[serde(with = "super")]
        words: Vec<u32>,
        #[serde(with = "super")]
        links: Vec<[u32; 2]>,
        after: u8,
    }

    fn written(words: Vec<u32>) -> (State, Vec<u8>) {
        let links = words.iter().map(|&word| [word, !word]).collect();
        let state = State {
            words,
            links,
            after: 7,
        };
        let bytes = postcard::to_stdvec(&state).unwrap();
        (state, bytes)
    }

    #[test]
    fn tables_survive_a_round_trip_through_serialisation() {
        let mut random = Rng::new(1, "dense");
        for length in [0_u64, 1, 4095, 4096, 4097, 50_000] {
            for used in [0_u64, 1, 3, 1000] {
                let mut words = vec![0; length as usize];
                for _ in 0..used.min(length) {
                    words[random.below(length) as usize] = random.below(1 << 32) as u32;
                }
                let (state, bytes) = written(words);
                assert_eq!(postcard::from_bytes::<State>(&bytes).unwrap(), state);
            }
        }
    }

    #[test]
    fn serialised_stretches_fit_the_buffer_of_a_stream_reader() {
        let words = vec![7_u32; 3 << 19];
        let bytes = postcard::to_stdvec(&Words { words }).unwrap();
        let (length, stretches): (u64, Vec<(u64, Vec<u8>)>) = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(length, 3 << 19);
        let total: usize = stretches.iter().map(|(_, bytes)| bytes.len()).sum();
        assert_eq!(total, 3 << 21);
        assert!(
            stretches
                .iter()
                .all(|(_, bytes)| bytes.len() <= super::LONGEST)
        );
    }

    #[test]
    fn untouched_memory_takes_no_space_when_serialised() {
        let mut words = vec![0; 1 << 24];
        words[1 << 20] = 1;
        let bytes = postcard::to_stdvec(&Words { words }).unwrap();
        assert!(bytes.len() < super::CHUNK + 32, "{} bytes", bytes.len());
    }

    #[derive(Serialize, Deserialize)]
    struct Words {
        #[serde(with = "super")]
        words: Vec<u32>,
    }

    #[test]
    fn stretches_beyond_the_end_are_rejected() {
        let bytes = postcard::to_stdvec(&(2_u64, [(4_u64, [1_u8; 8].as_slice())].as_slice()));
        assert!(postcard::from_bytes::<Words>(&bytes.unwrap()).is_err());
    }
}
