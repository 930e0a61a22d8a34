//! Adapter for traces of several volumes.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::Refusal;
use crate::record_counts::Counts;
use wordline_trace_format::Record;

/// Alignment of the start of a stacked volume. Bytes.
const STACK_UNIT: u64 = 4096;

/// Treatment of the volumes of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Volumes {
    /// Expect one volume. Stop with an error at a request to a second volume.
    #[default]
    One,
    /// Concatenate the volumes in the order of their numbers. The length of each is its highest
    /// address, rounded up to 4 KiB. Reads the trace twice.
    Stack,
    /// Map all volumes to the same addresses.
    Shared,
    /// Use only this volume. Drop and count requests to the others.
    Only(u32),
}

impl FromStr for Volumes {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "one" => Ok(Self::One),
            "stack" => Ok(Self::Stack),
            "shared" => Ok(Self::Shared),
            _ => word.parse().map(Self::Only).map_err(|_| {
                format!("volumes: `{word}` is not one, stack, shared or a volume's number")
            }),
        }
    }
}

impl fmt::Display for Volumes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("one"),
            Self::Stack => f.write_str("stack"),
            Self::Shared => f.write_str("shared"),
            Self::Only(number) => write!(f, "{number}"),
        }
    }
}

/// Adapter that maps the volumes of a trace to one address space.
pub(crate) struct Mapper {
    volumes: Volumes,
    first: Option<u32>,
    starts: BTreeMap<u32, u64>,
}

impl Mapper {
    /// Creates the mapping. `ends`: end of each volume's addresses; only [`Volumes::Stack`] needs
    /// it.
    pub(crate) fn new(volumes: Volumes, ends: &BTreeMap<u32, u64>) -> Result<Self, Refusal> {
        let mut starts = BTreeMap::new();
        if volumes == Volumes::Stack {
            let mut next = 0_u64;
            for (&volume, end) in ends {
                starts.insert(volume, next);
                let length = end.checked_next_multiple_of(STACK_UNIT);
                next = length
                    .and_then(|length| next.checked_add(length))
                    .ok_or_else(|| {
                        Refusal::new(
                            "the volumes together exceed 2^64 bytes",
                            "pass --volumes shared, or the number of one volume",
                        )
                    })?;
            }
        }
        Ok(Self {
            volumes,
            first: None,
            starts,
        })
    }

    /// Returns the end of all mapped addresses.
    pub(crate) fn end(&self, ends: &BTreeMap<u32, u64>) -> u64 {
        match self.volumes {
            Volumes::One | Volumes::Shared => ends.values().copied().max().unwrap_or(0),
            Volumes::Only(number) => ends.get(&number).copied().unwrap_or(0),
            Volumes::Stack => {
                let end = |(volume, end): (&u32, &u64)| self.starts.get(volume).map(|s| s + end);
                ends.iter().filter_map(end).max().unwrap_or(0)
            }
        }
    }

    /// Returns `true` if it is certain that the record keeps its address.
    #[inline]
    pub(crate) fn keeps(&self, record: &Record) -> bool {
        match self.volumes {
            Volumes::Shared => true,
            Volumes::One => self.first == Some(record.volume),
            Volumes::Stack | Volumes::Only(_) => false,
        }
    }

    /// Maps the record to its address. Returns `false` if the record must be dropped.
    #[inline]
    pub(crate) fn map(
        &mut self,
        record: &mut Record,
        counts: &mut Counts,
    ) -> Result<bool, Refusal> {
        match self.volumes {
            Volumes::Shared => {}
            Volumes::One => {
                if *self.first.get_or_insert(record.volume) != record.volume {
                    return Err(self.second(record.volume));
                }
            }
            Volumes::Only(number) => {
                if record.volume != number {
                    counts.other_volumes += 1;
                    return Ok(false);
                }
            }
            Volumes::Stack => {
                let start = self.starts.get(&record.volume).copied().unwrap_or(0);
                if start > 0 && record.bytes > 0 {
                    counts.stacked += 1;
                    record.offset = record.offset.saturating_add(start);
                }
            }
        }
        Ok(true)
    }

    #[cold]
    fn second(&self, volume: u32) -> Refusal {
        let first = self.first.unwrap_or_default();
        Refusal::new(
            format!("the trace has several volumes: volume {volume} follows volume {first}"),
            format!(
                "pass --volumes stack (one after the other), --volumes shared (all use the same \
                 addresses), or the number of one, such as --volumes {first}"
            ),
        )
    }
}
