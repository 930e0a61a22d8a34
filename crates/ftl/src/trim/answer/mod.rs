//! Work that a device performs before it completes a TRIM.

pub mod erase;
pub mod ideal;
pub mod invalidate;

/// Handling of the pages that a TRIM frees, before the TRIM completes.
pub trait Answers {
    /// Returns `true` if the translation pages that list the freed pages are written to flash.
    fn writes_map(&self) -> bool {
        false
    }
    /// Returns `true` if blocks left without valid pages are erased.
    fn erases(&self) -> bool {
        false
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// What does a device do before it completes a TRIM?
            pub enum Answer at "ftl.trim.answer" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        impl Answer {
            /// Returns the selected policy as a trait object.
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
