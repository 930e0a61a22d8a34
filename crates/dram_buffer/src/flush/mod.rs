//! Flush policies: number of pages destaged together, and when their memory is freed.

pub mod batches;
pub mod one_by_one;

/// Flush policy.
pub trait Flushes {
    /// Returns the size of a batch in bytes; `None` if each page is destaged separately.
    fn batch_bytes(&self) -> Option<u64> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How are dirty pages destaged to flash?
            pub enum Flush at "buffer.flush" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Flush {
            /// Returns the policy as a trait object.
            pub fn policy(&self) -> &dyn Flushes {
                match self { $(Self::$Variant(policy) => policy),+ }
            }
        }
    };
}

members! {
    "one-by-one" => OneByOne(one_by_one),
    "batches" => Batches(batches),
}

impl Default for Flush {
    fn default() -> Self {
        Self::OneByOne(one_by_one::OneByOne::default())
    }
}
