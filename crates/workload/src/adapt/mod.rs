//! Adapters between the records of a trace and the requests to the device. They are applied in this
//! order: time gaps, bad lines, time order, volumes, alignment, fit into the device or into the
//! range of the record's disk. By default, time gaps are kept, disks have no separate ranges, and
//! the other adapters refuse irregular records.

/// Implements `FromStr` and `Display` for an enum whose variants are words; messages name it by
/// `key`.
macro_rules! words {
    ($Enum:ident at $key:literal { $($name:literal => $Variant:ident),+ $(,)? }) => {
        impl std::str::FromStr for $Enum {
            type Err = String;
            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($name => Ok(Self::$Variant),)+
                    _ => Err(format!(
                        "{}: `{word}` is not one of {}", $key, [$($name),+].join(", "))),
                }
            }
        }
        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$Variant => $name),+ })
            }
        }
    };
}
mod align;
mod bad_line;
mod disks;
mod fit;
mod time_gaps;
mod time_order;
mod volumes;

pub use align::Align;
pub use bad_line::OnBadLine;
pub use disks::Disk;
pub use fit::Fit;
pub use time_gaps::TimeGaps;
pub use time_order::TimeOrder;
pub use volumes::Volumes;

pub(crate) use align::{aligned, is_aligned};
pub(crate) use disks::Disks;
pub(crate) use fit::Fitter;
pub(crate) use time_gaps::Gaps;
pub(crate) use time_order::Orderer;
pub(crate) use volumes::Mapper;

/// Reason why an adapter refuses a request, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

impl Refusal {
    #[cold]
    pub(crate) fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}
