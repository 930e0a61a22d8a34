//! How many pages go to the flash together, and when their memory comes back.

pub mod batches;
pub mod one_by_one;

/// How dirty pages go to the flash.
pub trait Flushes {
    /// Bytes that go together; none if each page goes by itself.
    fn batch_bytes(&self) -> Option<u64> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How do dirty pages go to the flash?
            pub enum Flush at "buffer.flush" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Flush {
            /// The member, as it flushes.
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
