//! Which of the pages that TRIMs cover are freed.

pub mod ascending_run;
pub mod each_page;

use std::ops::Range;

pub use ascending_run::Run;

/// What firmware makes of the ranges of TRIMs.
pub trait Free {
    /// What it remembers of TRIMs from one to the next, on a device of so many bytes in pages of so many; nothing where every TRIM is taken
    /// by itself.
    fn run(&self, _page_bytes: u64, _user_bytes: u64) -> Option<Run> {
        None
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which pages that TRIMs cover are freed?
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

/// The whole pages in a range of bytes, by their numbers; the others hold bytes beyond the range, and stay valid.
pub fn whole_pages(bytes: Range<u64>, page_bytes: u64) -> Range<u64> {
    let (first, end) = (bytes.start.div_ceil(page_bytes), bytes.end / page_bytes);
    first..end.max(first)
}
