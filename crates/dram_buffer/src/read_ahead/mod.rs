//! Which pages are read before the host asks for them.

pub mod logical;
pub mod none;
pub mod physical;

pub use physical::Physical;

/// How far reads run ahead.
pub trait RunsAhead {
    /// Pages behind a read, by their addresses, when it begins where the one before it ended.
    fn pages(&self) -> u32 {
        0
    }
    /// How dies run ahead by themselves, if they do.
    fn in_dies(&self) -> Option<&Physical> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which pages are read before the host asks for them?
            pub enum ReadAhead at "buffer.read_ahead" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl ReadAhead {
            /// The member, as it runs ahead.
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
