//! What a device does before it answers a TRIM.

pub mod erase;
pub mod ideal;
pub mod invalidate;

/// What is done with the pages that a TRIM frees, before it is answered.
pub trait Answers {
    /// Whether the parts of the map in which they are listed are written to flash.
    fn writes_map(&self) -> bool {
        false
    }
    /// Whether blocks that hold nothing any more are erased.
    fn erases(&self) -> bool {
        false
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// What does a device do before it answers a TRIM?
            pub enum Answer at "ftl.trim.answer" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Answer {
            /// The member, as it answers.
            pub fn policy(&self) -> &dyn Answers {
                match self { $(Self::$Variant(policy) => policy),+ }
            }
        }
    };
}

members! {
    "ideal" => Ideal(ideal),
    "invalidate" => Invalidate(invalidate),
    "erase" => Erase(erase),
}

impl Default for Answer {
    fn default() -> Self {
        Self::Ideal(ideal::Ideal::default())
    }
}
