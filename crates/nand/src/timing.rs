//! Durations of array and bus stages.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wordline_kernel::Time;

/// Number of nanoseconds for all pages, or one number for each page type, least significant bit
/// first.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[serde(untagged)]
pub enum PerLevel {
    /// One value for all pages. Nanoseconds.
    All(#[schemars(range(min = 1, max = 10_000_000_000_u64))] u64),
    /// One value per level, from level 0. Nanoseconds.
    Each(#[schemars(inner(range(min = 1, max = 10_000_000_000_u64)))] Vec<u64>),
}

impl PerLevel {
    /// Returns the values in order of levels; a single value if all pages are alike.
    pub fn values(&self) -> &[u64] {
        match self {
            Self::All(value) => std::slice::from_ref(value),
            Self::Each(values) => values,
        }
    }
    /// Returns the value for pages of this level; the last value if the list is shorter.
    /// Nanoseconds.
    pub fn of(&self, level: u8) -> u64 {
        let values = self.values();
        let value = values.get(usize::from(level)).or(values.last());
        value.copied().unwrap_or_default()
    }
    /// Returns the mean of the values, rounded down. It is the mean over all pages of a part that
    /// has the same number of pages per level.
    pub fn mean(&self) -> u64 {
        let values = self.values();
        let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
        (sum / values.len().max(1) as u128) as u64
    }
}

impl From<u64> for PerLevel {
    fn from(value: u64) -> Self {
        Self::All(value)
    }
}

impl fmt::Display for PerLevel {
    /// Formats the value as TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(value) => write!(f, "{value}"),
            Self::Each(values) => write!(f, "{values:?}"),
        }
    }
}

impl Serialize for PerLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(value) if serializer.is_human_readable() => value.serialize(serializer),
            Self::Each(values) if serializer.is_human_readable() => values.serialize(serializer),
            Self::All(value) => Written::All(*value).serialize(serializer),
            Self::Each(values) => Written::Each(values.clone()).serialize(serializer),
        }
    }
}

/// Serialised form in a checkpoint, whose format is not self-describing.
#[derive(Serialize, Deserialize)]
enum Written {
    All(u64),
    Each(Vec<u64>),
}

impl<'de> Deserialize<'de> for PerLevel {
    /// Implemented by hand so that an error states the value found and its position.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;
        impl<'de> de::Visitor<'de> for Numbers {
            type Value = PerLevel;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or a list of them with one per page type")
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<PerLevel, E> {
                Ok(PerLevel::All(value))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<PerLevel, E> {
                u64::try_from(value)
                    .map(PerLevel::All)
                    .map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<PerLevel, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(PerLevel::Each(values))
            }
        }
        if !deserializer.is_human_readable() {
            return Ok(match Written::deserialize(deserializer)? {
                Written::All(value) => Self::All(value),
                Written::Each(values) => Self::Each(values),
            });
        }
        deserializer.deserialize_any(Numbers)
    }
}

/// Model of the duration of an array operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Time of the page's type.
    #[default]
    Variation,
    /// Typical time of the data sheet, for every page.
    Typical,
    /// Time of the slowest page type, for every page.
    Worst,
}

/// Durations of a NAND part (`[nand.timing]`), in the terms of an ONFI data sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Timing {
    /// Page read, cell array to register (tR): one number, or a list with one number per page type,
    /// least significant bit first. Nanoseconds.
    pub read_ns: PerLevel,
    /// Page program, register to cell array (tPROG): one number, or a list with one number per page
    /// type, least significant bit first. Nanoseconds.
    pub program_ns: PerLevel,
    /// Block erase (tBERS). Nanoseconds.
    #[schemars(range(min = 1, max = 10_000_000_000_u64))]
    pub erase_ns: u64,
    /// Array time model: `variation` uses the time of the page's type; `typical`, the data sheet's
    /// typical time for every page; `worst`, the time of the slowest page type for every page.
    pub model: Model,
    /// tR under model `typical`; 0 uses the mean over the pages of a block. Nanoseconds.
    #[schemars(range(min = 0, max = 10_000_000_000_u64))]
    pub typical_read_ns: u64,
    /// tPROG under model `typical`; 0 uses the mean over the pages of a block. Nanoseconds.
    #[schemars(range(min = 0, max = 10_000_000_000_u64))]
    pub typical_program_ns: u64,
    /// Maximum random deviation of every array time, uniformly distributed. Ratio.
    #[schemars(range(min = 0.0, max = 0.9))]
    pub jitter_ratio: f64,
    /// Move of a page between the data and the cache register of a plane (tCBSY, tRCBSY); occurs
    /// with cache commands only. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub cache_busy_ns: u64,
    /// Queueing of a plane for a multi-plane command (tDBSY; tPLPBSY, tPLRBSY, tPLEBSY in ONFI).
    /// Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub plane_busy_ns: u64,
    /// One command cycle, address cycle or status byte on the bus (tWC). Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub command_cycle_ns: u64,
    /// Address cycles of a page operation; ONFI has 2 column and 3 row cycles. An erase sends only
    /// the row cycles. Count.
    #[schemars(range(min = 0, max = 16))]
    pub address_cycles: u32,
    /// Row address cycles; an erase sends only these. Count.
    #[schemars(range(min = 0, max = 16))]
    pub row_address_cycles: u32,
    /// Width of the bus. Bits per transfer.
    #[schemars(extend("enum" = [8, 16]))]
    pub bus_width_bits: u32,
    /// Data rate of the bus. Million transfers per second.
    #[schemars(range(min = 0.01, max = 1e6))]
    pub bus_mt_per_s: f64,
    /// Whether the spare bytes are transferred with the page's data.
    pub transfer_spare: bool,
    /// Whether the controller detects the end of an operation by the ready/busy pin of each die
    /// (R/B#). Otherwise it reads the status over the bus.
    pub ready_busy_pin: bool,
}

/// `cache_busy_ns` and `plane_busy_ns` are typical values of an ONFI 1.0 part (Micron
/// MT29F4G08ABADA: tCBSY and tRCBSY 3 us, tDBSY 0.5 us and at most 1 us).
impl Default for Timing {
    fn default() -> Self {
        Self {
            read_ns: PerLevel::All(50_000),
            program_ns: PerLevel::All(500_000),
            erase_ns: 3_000_000,
            model: Model::Variation,
            typical_read_ns: 0,
            typical_program_ns: 0,
            jitter_ratio: 0.0,
            cache_busy_ns: 3_000,
            plane_busy_ns: 500,
            command_cycle_ns: 25,
            address_cycles: 5,
            row_address_cycles: 3,
            bus_width_bits: 8,
            bus_mt_per_s: 333.0,
            transfer_spare: false,
            ready_busy_pin: false,
        }
    }
}

impl Timing {
    /// Returns the bus time of `bytes`, rounded to the nearest picosecond, and at least 1 ps if
    /// `bytes` is positive.
    pub fn transfer(&self, bytes: u64) -> Time {
        let transfers = (bytes * 8).div_ceil(u64::from(self.bus_width_bits));
        let ps = (transfers as f64 * 1e6 / self.bus_mt_per_s).round() as u64;
        Time::from_ps(if bytes == 0 { 0 } else { ps.max(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_4_kib_takes_12_3_us_at_333_mt_per_s() {
        assert_eq!(Timing::default().transfer(4096), Time::from_ps(12_300_300));
    }

    #[test]
    fn transfer_time_halves_on_a_16_bit_bus_and_is_never_zero() {
        let timing = Timing {
            bus_width_bits: 16,
            ..Timing::default()
        };
        assert_eq!(timing.transfer(4096), Time::from_ps(6_150_150));
        let timing = Timing {
            bus_mt_per_s: 1e12,
            ..Timing::default()
        };
        assert_eq!(timing.transfer(1), Time::from_ps(1));
    }
}
