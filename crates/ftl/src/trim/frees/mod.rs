//! Policies that determine which pages a TRIM frees.

pub mod ascending_run;
pub mod each_page;

use std::ops::Range;

pub use ascending_run::Run;

/// Treatment of TRIM ranges by the firmware.
pub trait Free {
    /// Returns the state kept from one TRIM to the next, for a device of `user_bytes` bytes in
    /// pages of `page_bytes`. Returns `None` if every TRIM is independent.
    fn run(&self, _page_bytes: u64, _user_bytes: u64) -> Option<Run> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which of the pages that TRIMs cover are freed?
            pub enum Frees at "ftl.trim.frees" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Free for Frees by [$($Variant),+] {
                fn run(&self, page_bytes: u64, user_bytes: u64) -> Option<Run>;
            }
        }
    };
}

members! {
    "each-page" => EachPage(each_page),
    "ascending-run" => AscendingRun(ascending_run),
}

impl Default for Frees {
    fn default() -> Self {
        Self::EachPage(each_page::EachPage::default())
    }
}

/// Returns the pages that are entirely in a byte range, by their numbers. Partially covered pages
/// are not included.
pub fn whole_pages(bytes: Range<u64>, page_bytes: u64) -> Range<u64> {
    let (first, end) = (bytes.start.div_ceil(page_bytes), bytes.end / page_bytes);
    first..end.max(first)
}
