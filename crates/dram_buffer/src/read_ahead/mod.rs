//! Read-ahead policies: which pages are read before the host requests them.

pub mod logical;
pub mod none;
pub mod physical;

pub use physical::Physical;

/// Read-ahead policy.
pub trait RunsAhead {
    /// Returns the number of pages to read ahead, by logical address, after a read that continues
    /// where the previous read ended.
    fn pages(&self) -> u32 {
        0
    }
    /// Returns the parameters of read-ahead in the dies, if it is enabled.
    fn in_dies(&self) -> Option<&Physical> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which pages are read before the host requests them?
            pub enum ReadAhead at "buffer.read_ahead" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl ReadAhead {
            /// Returns the policy as a trait object.
            pub fn policy(&self) -> &dyn RunsAhead {
                match self { $(Self::$Variant(policy) => policy),+ }
            }
        }
    };
}

members! {
    "none" => None(none),
    "logical" => Logical(logical),
    "physical" => Physical(physical),
}

impl Default for ReadAhead {
    fn default() -> Self {
        Self::None(none::None::default())
    }
}
